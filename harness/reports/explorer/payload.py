"""The results of a suite as columns, in the form in which the page reads them: every text once, and numbers for it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeAlias, TypeVar

import msgspec

from harness.reports.gather import RunFacts, SuiteSummary
from harness.reports.groups import FailureGroup
from harness.reports.tables import OperatorTable, type_order
from harness.reports.text import count, measure, title
from harness.results.lines import VERDICTS, Measure, Result, Verdict
from harness.spec.element_types import BY_NAME

LETTERS: dict[Verdict, str] = dict(zip(VERDICTS, "pvhtnuecorsi", strict=True))
"""A letter a verdict."""
Pairs: TypeAlias = tuple[tuple[str, str], ...]
LACKING = " "
"""In place of a letter where a run has no result."""
UNBOUNDED = -1.0
"""In place of an infinite error, which JSON cannot say."""


K = TypeVar("K", bound=Hashable)


class Numbered(Generic[K]):
    """Things by number, each once, in the order in which they came."""

    def __init__(self, *first: K) -> None:
        self._numbers: dict[K, int] = {thing: n for n, thing in enumerate(first)}

    def number(self, thing: K) -> int:
        """The number of a thing."""
        return self._numbers.setdefault(thing, len(self._numbers))

    def all(self) -> list[K]:
        """Every thing, in the order of their numbers."""
        return list(self._numbers)


class RunColumn(msgspec.Struct, frozen=True):
    """What one run says, a place a row."""

    label: str
    backend: str
    facts: dict[str, str]
    """What is to be known of the run: version, device, machine …"""
    verdicts: str
    """A letter of ``LETTERS`` each, or ``LACKING``."""
    errors: list[float | None]
    """In bounds, to three digits and never less than was measured; ``UNBOUNDED`` for inf."""
    ulps: list[float | None]
    tolerated: str
    """What ONNX's own tolerance says: ``1``, ``0``, or a blank where there was nothing to compare."""
    messages: list[int]
    known: list[int]


class Cause(msgspec.Struct, frozen=True):
    """What some failures of a run have in common."""

    run: int
    words: str
    select: str
    failures: int
    known: int
    verdicts: dict[str, int]


class OperatorRow(msgspec.Struct, frozen=True):
    """One operator version."""

    title: str
    op: str
    domain: str
    since: int
    category: str
    causes: list[Cause]


class SuiteColumns(msgspec.Struct, frozen=True):
    """A suite and what every run says of it."""

    name: str
    digest: str
    exercised: str
    notes: list[str]
    causes: list[Cause]
    runs: list[RunColumn]
    operators: list[OperatorRow]
    types: list[dict[str, str]]
    """Every combination of types that occurs, type variable → element type."""
    attributes: list[dict[str, str]]
    omitted: list[tuple[str, ...]]
    categories: list[str]
    """As labels have them."""
    names: list[str]
    """Of the cases, in order."""
    case_operators: list[int]
    case_types: list[int]
    case_attributes: list[int]
    case_omitted: list[int]
    case_categories: list[int]
    cases: list[int]
    """The case of each row; a row is a data set."""
    data_sets: list[int]
    groups: list[int]
    details: list[str]
    """Titles of the operator versions of which tensors are enclosed."""
    left_out: int
    """Data sets whose tensors there was no room for."""


class Payload(msgspec.Struct, frozen=True):
    """All that the page knows but for the tensors."""

    version: str
    """Of onnx-conformance."""
    selection: str
    letters: dict[str, str]
    """Letter → verdict."""
    element_types: list[str]
    """Those of the standard, in the order in which tables have them."""
    texts: list[str]
    """What messages, known and groups are numbers of."""
    suites: list[SuiteColumns]


ELEMENT_TYPES = sorted(BY_NAME, key=type_order)


class Enclosed(msgspec.Struct, frozen=True):
    """Which tensors of a suite go along."""

    titles: list[str]
    left_out: int


def suite_columns(
    suite: SuiteSummary, results: Sequence[Sequence[Result]], said: Numbered[str], enclosed: Enclosed
) -> SuiteColumns:
    """The columns of a suite; rows are the data sets of which any run has a result, by case and data set.

    ``said`` takes the texts of all suites; its number 0 is the empty one.
    """
    labels = {(r.case, r.data_set): r.labels for run in reversed(results) for r in run}
    rows = sorted(labels)
    names = Numbered(*dict.fromkeys(case for case, _ in rows))
    first = {case: labels[case, data_set] for case, data_set in reversed(rows)}
    of = [first[name] for name in names.all()]
    titles = Numbered(*(table.title for table in suite.operators))
    types, attributes = Numbered[Pairs](), Numbered[Pairs]()
    omitted, categories = Numbered[tuple[str, ...]](), Numbered[str]()
    return SuiteColumns(
        name=suite.name,
        digest=suite.runs[0].headers[0].digest if suite.runs else "",
        exercised=suite.exercised,
        notes=[" ".join(filter(None, (note.run, note.text, note.detail))) for note in suite.notes],
        causes=_causes(suite.groups),
        runs=[_run(facts, run, rows, said) for facts, run in zip(suite.runs, results, strict=True)],
        operators=[_operator(table) for table in suite.operators],
        case_operators=[titles.number(title(one.op, one.domain, one.since)) for one in of],
        case_types=[types.number(tuple(one.types.items())) for one in of],
        case_attributes=[attributes.number(tuple(one.attributes.items())) for one in of],
        case_omitted=[omitted.number(one.omitted) for one in of],
        case_categories=[categories.number(one.category) for one in of],
        types=list(map(dict, types.all())),
        attributes=list(map(dict, attributes.all())),
        omitted=omitted.all(),
        categories=categories.all(),
        names=names.all(),
        cases=[names.number(case) for case, _ in rows],
        data_sets=[data_set for _, data_set in rows],
        groups=[said.number(labels[row].group) for row in rows],
        details=enclosed.titles,
        left_out=enclosed.left_out,
    )


def _operator(table: OperatorTable) -> OperatorRow:
    return OperatorRow(table.title, table.op, table.domain, table.since, table.category, _causes(table.groups))


def _causes(groups: Iterable[FailureGroup]) -> list[Cause]:
    return [
        Cause(g.run, g.words, g.select, g.failures, g.known, {str(verdict): n for verdict, n in g.verdicts.items()})
        for g in groups
    ]


def _run(facts: RunFacts, results: Iterable[Result], rows: Iterable[tuple[str, int]], said: Numbered[str]) -> RunColumn:
    by_row = {(result.case, result.data_set): result for result in results}
    found = [by_row.get(row) for row in rows]
    return RunColumn(
        label=facts.label,
        backend=facts.backend,
        facts=_facts(facts),
        verdicts="".join(LETTERS[r.verdict] if r else LACKING for r in found),
        errors=[_digits(r.error) if r else None for r in found],
        ulps=[_digits(r.ulps) if r else None for r in found],
        tolerated="".join(_TOLERATED[r.onnx_tolerance if r else None] for r in found),
        messages=[said.number(r.message) if r else 0 for r in found],
        known=[said.number(r.known) if r else 0 for r in found],
    )


_TOLERATED = {True: "1", False: "0", None: " "}


def _facts(run: RunFacts) -> dict[str, str]:
    header, description = run.headers[0], run.description

    def told(pairs: dict[str, str]) -> str:
        return ", ".join(f"{key}: {value}" for key, value in pairs.items() if value)

    return {
        "asked for by": run.backend,
        "version": description.version,
        "device": description.device,
        "configuration": told(description.configuration),
        "machine": told(header.machine),
        "versions": told(header.versions),
        "options": told(header.options),
        "suite digest": header.digest,
        "started": header.started,
        "took": f"{measure(run.seconds)} s" if run.finished else "unfinished",
        "data sets run": f"{count(run.ran)} of {count(run.data_sets)}",
        "results": run.path,
    }


def _digits(value: Measure | None) -> float | None:
    """To three digits, upwards: what failed by a hair does not read as what passes."""
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        return UNBOUNDED
    rounded = float(f"{number:.3g}")
    return rounded if rounded >= number else float(f"{number * 1.005:.3g}")
