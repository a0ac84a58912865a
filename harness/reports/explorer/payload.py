"""The results of a suite as columns for the page. Each text is stored once; columns have its index."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeAlias, TypeVar

import msgspec

from harness.reports.gather import RunInfo, SuiteSummary
from harness.reports.groups import FailureGroup
from harness.reports.tables import OperatorTable, type_sort_key
from harness.reports.text import format_count, format_measure, operator_title
from harness.results.lines import VERDICTS, Measure, Result, Verdict
from harness.spec.element_types import BY_NAME

LETTERS: dict[Verdict, str] = dict(zip(VERDICTS, "pvhtnuecorsi", strict=True))
"""Verdict → its letter in ``RunColumn.verdicts``."""
Items: TypeAlias = tuple[tuple[str, str], ...]
NO_RESULT = " "
"""The letter of a data set without a result."""
INFINITE = -1.0
"""Stands for an infinite error, which JSON has no number for."""


K = TypeVar("K", bound=Hashable)


class InternTable(Generic[K]):
    """Assigns consecutive numbers to distinct values, in the order of first use."""

    def __init__(self, *first: K) -> None:
        self._numbers: dict[K, int] = {value: n for n, value in enumerate(first)}

    def intern(self, value: K) -> int:
        """The number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[K]:
        """All values, by number."""
        return list(self._numbers)


class RunColumn(msgspec.Struct, frozen=True):
    """The results of one run. All sequences have one element per row (data set)."""

    label: str
    backend: str
    facts: dict[str, str]
    """Facts about the run: version, device, machine …"""
    verdicts: str
    """A letter of ``LETTERS`` or ``NO_RESULT`` per row."""
    errors: list[float | None]
    """In bounds, rounded up to three digits. ``INFINITE`` for inf, None if there is none."""
    ulps: list[float | None]
    onnx_tolerance: str
    """Whether the result passes with ONNX's own tolerance: ``1``, ``0``, or a blank if it was not compared."""
    messages: list[int]
    known: list[int]


class Cause(msgspec.Struct, frozen=True):
    """A group of failures of a run."""

    run: int
    text: str
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
    """A suite and the results of all its runs."""

    name: str
    digest: str
    coverage: str
    notes: list[str]
    causes: list[Cause]
    runs: list[RunColumn]
    operators: list[OperatorRow]
    types: list[dict[str, str]]
    """Type variable → element type, for every combination that occurs."""
    attributes: list[dict[str, str]]
    omitted: list[tuple[str, ...]]
    categories: list[str]
    """The category labels that occur."""
    names: list[str]
    """The names of the cases, sorted."""
    case_operators: list[int]
    case_types: list[int]
    case_attributes: list[int]
    case_omitted: list[int]
    case_categories: list[int]
    cases: list[int]
    """The index of the case of each row. A row is a data set."""
    data_sets: list[int]
    groups: list[int]
    details: list[str]
    """Titles of the operator versions whose tensors are included in the page."""
    omitted_data_sets: int
    """The number of failing data sets whose tensors are not included."""


class Payload(msgspec.Struct, frozen=True):
    """All data of the page except the tensors and the documentation."""

    version: str
    """The version of onnx-conformance."""
    selection: str
    letters: dict[str, str]
    """Letter → verdict."""
    element_types: list[str]
    """The element types of ONNX, in the order of the tables."""
    texts: list[str]
    """The texts that the numbers in messages, known and groups stand for."""
    suites: list[SuiteColumns]


ELEMENT_TYPES = sorted(BY_NAME, key=type_sort_key)


class IncludedTensors(msgspec.Struct, frozen=True):
    """Which tensors of a suite are included in the page."""

    titles: list[str]
    omitted_data_sets: int


def suite_columns(
    suite: SuiteSummary, results: Sequence[Sequence[Result]], texts: InternTable[str], included: IncludedTensors
) -> SuiteColumns:
    """The columns of a suite. The rows are the data sets with a result in any run, sorted by case and data set.

    Texts are added to ``texts``, which all suites share. Its number 0 is the empty text.
    """
    labels = {(r.case, r.data_set): r.labels for run in reversed(results) for r in run}
    rows = sorted(labels)
    names = InternTable(*dict.fromkeys(case for case, _ in rows))
    first = {case: labels[case, data_set] for case, data_set in reversed(rows)}
    of = [first[name] for name in names.values()]
    titles = InternTable(*(table.title for table in suite.operators))
    types, attributes = InternTable[Items](), InternTable[Items]()
    omitted, categories = InternTable[tuple[str, ...]](), InternTable[str]()
    return SuiteColumns(
        name=suite.name,
        digest=suite.runs[0].headers[0].digest if suite.runs else "",
        coverage=suite.coverage_text,
        notes=[" ".join(filter(None, (note.run, note.text, note.detail))) for note in suite.notes],
        causes=_causes(suite.groups),
        runs=[_run(facts, run, rows, texts) for facts, run in zip(suite.runs, results, strict=True)],
        operators=[_operator(table) for table in suite.operators],
        case_operators=[titles.intern(operator_title(one.op, one.domain, one.since)) for one in of],
        case_types=[types.intern(tuple(one.types.items())) for one in of],
        case_attributes=[attributes.intern(tuple(one.attributes.items())) for one in of],
        case_omitted=[omitted.intern(one.omitted) for one in of],
        case_categories=[categories.intern(one.category) for one in of],
        types=list(map(dict, types.values())),
        attributes=list(map(dict, attributes.values())),
        omitted=omitted.values(),
        categories=categories.values(),
        names=names.values(),
        cases=[names.intern(case) for case, _ in rows],
        data_sets=[data_set for _, data_set in rows],
        groups=[texts.intern(labels[row].group) for row in rows],
        details=included.titles,
        omitted_data_sets=included.omitted_data_sets,
    )


def _operator(table: OperatorTable) -> OperatorRow:
    return OperatorRow(table.title, table.op, table.domain, table.since, table.category, _causes(table.groups))


def _causes(groups: Iterable[FailureGroup]) -> list[Cause]:
    return [
        Cause(g.run, g.text, g.select, g.failures, g.known, {str(verdict): n for verdict, n in g.verdicts.items()})
        for g in groups
    ]


def _run(
    facts: RunInfo, results: Iterable[Result], rows: Iterable[tuple[str, int]], texts: InternTable[str]
) -> RunColumn:
    by_row = {(result.case, result.data_set): result for result in results}
    found = [by_row.get(row) for row in rows]
    return RunColumn(
        label=facts.label,
        backend=facts.backend,
        facts=_facts(facts),
        verdicts="".join(LETTERS[r.verdict] if r else NO_RESULT for r in found),
        errors=[_rounded_up(r.error) if r else None for r in found],
        ulps=[_rounded_up(r.ulps) if r else None for r in found],
        onnx_tolerance="".join(_ONNX_TOLERANCE[r.onnx_tolerance if r else None] for r in found),
        messages=[texts.intern(r.message) if r else 0 for r in found],
        known=[texts.intern(r.known) if r else 0 for r in found],
    )


_ONNX_TOLERANCE = {True: "1", False: "0", None: " "}


def _facts(run: RunInfo) -> dict[str, str]:
    header, description = run.headers[0], run.description

    def pairs_text(pairs: dict[str, str]) -> str:
        return ", ".join(f"{key}: {value}" for key, value in pairs.items() if value)

    return {
        "backend": run.backend,
        "version": description.version,
        "device": description.device,
        "configuration": pairs_text(description.configuration),
        "machine": pairs_text(header.machine),
        "versions": pairs_text(header.versions),
        "options": pairs_text(header.options),
        "suite digest": header.digest,
        "started": header.started,
        "duration": f"{format_measure(run.seconds)} s" if run.finished else "unfinished",
        "data sets run": f"{format_count(run.executed)} of {format_count(run.data_sets)}",
        "results": run.path,
    }


def _rounded_up(value: Measure | None) -> float | None:
    """Rounds up to three digits, so that an error just above the limit does not look like one that passes."""
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        return INFINITE
    rounded = float(f"{number:.3g}")
    return rounded if rounded >= number else float(f"{number * 1.005:.3g}")
