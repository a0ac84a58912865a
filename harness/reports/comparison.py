"""The data of a comparison of two runs: counts, and each data set whose result differs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.reports.gather import Note
from harness.reports.runs import RunInfo
from harness.reports.text import operator_title
from harness.results.lines import Measure, Verdict
from harness.suite.cases import Labels

Kind: TypeAlias = Literal["broken", "missing", "fixed", "changed", "drifted", "added", "removed", "same"]
KINDS: tuple[Kind, ...] = Kind.__args__  # pyright: ignore[reportAttributeAccessIssue]
"""How the result of a data set differs between the two runs.

- ``broken``: passed in OLD, does not pass in NEW.
- ``missing``: passed in OLD and has no result in NEW, although NEW finished, selected it and used the same suite.
- ``fixed``: passes in NEW, did not pass in OLD.
- ``changed``: another verdict, but neither broken nor fixed. Any change from or to an unscored verdict is one.
- ``drifted``: the same verdict, but a different error in bounds (see ``harness.reports.compare.drifted``).
- ``added``, ``removed``: only in NEW, only in OLD.
- ``same``: everything else. Messages are not compared.
"""
REGRESSIONS: tuple[Kind, ...] = ("broken", "missing")


class SideResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a data set in one of the two runs."""

    verdict: Verdict
    error: Measure | None = None
    """The worst error in bounds."""
    message: str = ""
    known: str = ""
    """The reason in the backend's expectations, if the failure is expected."""


class Change(msgspec.Struct, frozen=True):
    """A data set whose result differs between the two runs."""

    kind: Kind
    case: str
    data_set: int
    labels: Labels
    node: str
    """The node under test, on one line."""
    old: SideResult | None
    new: SideResult | None
    reproduce: str
    """The command that prints a script to rerun it, on the backend of NEW if NEW has a result."""


class Counts(msgspec.Struct, frozen=True):
    """Counts over some data sets of the two runs."""

    total: int
    """Data sets with a result in either run."""
    kinds: dict[Kind, int]
    """Kind → data sets, for each kind that occurs. The sum is ``total``."""
    old_passed: int
    old_scored: int
    new_passed: int
    new_scored: int

    @property
    def regressions(self) -> int:
        """Data sets that are broken or missing."""
        return sum(self.kinds.get(kind, 0) for kind in REGRESSIONS)

    @property
    def differing(self) -> int:
        """Data sets that are not the same."""
        return self.total - self.kinds.get("same", 0)


class OperatorRow(msgspec.Struct, frozen=True):
    """The counts of one operator version."""

    op: str
    """Empty for graphs of several nodes, which share one row."""
    domain: str
    since: int
    counts: Counts

    @property
    def title(self) -> str:
        """``Trilu-14``."""
        return operator_title(self.op, self.domain, self.since)


class Difference(msgspec.Struct, frozen=True):
    """A fact that differs between the headers of the two runs."""

    fact: str
    """``version``, ``options.select``, ``machine.processors`` …"""
    old: str
    """Empty if the run does not record it."""
    new: str


class SuiteComparison(msgspec.Struct, frozen=True):
    """The comparison of two runs of one suite."""

    name: str
    old: RunInfo
    new: RunInfo
    differences: tuple[Difference, ...]
    notes: tuple[Note, ...]
    """Warnings that affect how the counts are to be read. ``run`` is ``OLD``, ``NEW`` or empty."""
    counts: Counts
    operators: tuple[OperatorRow, ...]
    """Every operator version, sorted by name. Graphs of several nodes come last."""
    changes: tuple[Change, ...]
    """Data sets that are not the same, sorted by case and data set."""
    not_yet_run: int
    """If NEW is unfinished, data sets that passed in OLD and have no result in NEW yet. They may be regressions."""


class Comparison(msgspec.Struct, frozen=True):
    """The comparison of two sides over one or more suites. This is the JSON report of ``compare``."""

    format: int
    """The version of this format: 2."""
    selection: str
    """The selection that the comparison is limited to. Empty if there is none."""
    notes: tuple[Note, ...]
    regressions: int
    """Data sets that are broken or missing."""
    not_yet_run: int
    """The sum of ``not_yet_run`` over the suites."""
    suites: tuple[SuiteComparison, ...]

    @property
    def regressed(self) -> bool:
        """Whether there is a regression, or NEW is unfinished and may hide one."""
        return self.regressions + self.not_yet_run > 0
