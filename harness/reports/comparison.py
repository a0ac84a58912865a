"""What a comparison of two runs consists of: its counts, and each data set of which they say different things."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.reports.gather import Note
from harness.reports.runs import RunFacts
from harness.reports.text import title
from harness.results.lines import Measure, Verdict
from harness.suite.cases import Labels

Kind: TypeAlias = Literal["broken", "lost", "fixed", "changed", "drifted", "new", "gone", "same"]
KINDS: tuple[Kind, ...] = Kind.__args__  # pyright: ignore[reportAttributeAccessIssue]
"""What became of a data set.

``broken`` passed before and does not now, ``fixed`` passes now and did not before. ``changed`` has another verdict
without a pass won or lost among what is scored. ``drifted`` keeps its verdict while its error in bounds moved
(``harness.reports.compare.drifted``). ``new`` and ``gone`` are in one run only; ``lost`` is what passed and is gone
though the new run finished, was to cover it and is over the same suite. All else is the ``same``, whatever its message
says.
"""
REGRESSIONS: tuple[Kind, ...] = ("broken", "lost")


class Side(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one of the two runs says of a data set."""

    verdict: Verdict
    error: Measure | None = None
    """The worst error in bounds."""
    message: str = ""
    known: str = ""
    """The reason that the backend's expectations give for a failure."""


class Change(msgspec.Struct, frozen=True):
    """A data set of which the two runs say different things."""

    kind: Kind
    case: str
    data_set: int
    labels: Labels
    node: str
    """The node under test, in a line."""
    old: Side | None
    new: Side | None
    reproduce: str
    """The command that prints a script for it, on the new run's backend where that has it."""


class Counts(msgspec.Struct, frozen=True):
    """What some data sets of two runs come to."""

    total: int
    """Data sets of either run."""
    kinds: dict[Kind, int]
    """Every kind that occurs; their sum is ``total``."""
    old_passed: int
    old_scored: int
    new_passed: int
    new_scored: int

    @property
    def regressions(self) -> int:
        """All that is broken or lost."""
        return sum(self.kinds.get(kind, 0) for kind in REGRESSIONS)

    @property
    def differing(self) -> int:
        """All that is not the same."""
        return self.total - self.kinds.get("same", 0)


class OperatorRow(msgspec.Struct, frozen=True):
    """One operator version."""

    op: str
    """Empty for graphs of several nodes, which stand together in one row."""
    domain: str
    since: int
    counts: Counts

    @property
    def title(self) -> str:
        """``Trilu-14``."""
        return title(self.op, self.domain, self.since)


class Difference(msgspec.Struct, frozen=True):
    """A fact of which the headers of the two runs say different things."""

    fact: str
    """``version``, ``options.select``, ``machine.processors`` …"""
    old: str
    """Empty where the run does not tell it."""
    new: str


class SuiteComparison(msgspec.Struct, frozen=True):
    """Two runs over one suite."""

    name: str
    old: RunFacts
    new: RunFacts
    differences: tuple[Difference, ...]
    notes: tuple[Note, ...]
    """What a reader must know before believing the counts; ``run`` is ``OLD``, ``NEW`` or empty."""
    counts: Counts
    operators: tuple[OperatorRow, ...]
    """Every operator version, by name; graphs of several nodes last."""
    changes: tuple[Change, ...]
    """All that is not the same, by case and data set."""
    unreached: int
    """Where the new run is unfinished, what passed before and is not there: it may hide as many regressions."""


class Comparison(msgspec.Struct, frozen=True):
    """Two sides, one suite or several; the JSON form is this."""

    format: int
    """1: this layout."""
    selection: str
    """What was compared of the runs; empty for everything."""
    notes: tuple[Note, ...]
    regressions: int
    """Data sets that are broken or lost."""
    unreached: int
    """Data sets that passed and that an unfinished new run lacks."""
    suites: tuple[SuiteComparison, ...]

    @property
    def regressed(self) -> bool:
        """Whether there is a regression, or an unfinished run that may hide one."""
        return self.regressions + self.unreached > 0
