"""Tallies by operator version, element type and attribute combination, for several runs side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from harness.reports.coverage import Coverage, coverage, label_values
from harness.reports.groups import SEVERITY, FailureGroup, data_set_text, result_sort_key, version_groups
from harness.reports.text import OMITTED, SEVERAL_NODES, format_count, operator_title, repro_command, verdict_text
from harness.results.lines import UNSCORED, VERDICTS, Measure, Result, Verdict
from harness.spec.element_types import BY_NAME

Runs = Sequence[Sequence[Result]]
"""For each run the results of one suite, or of a part of it, sorted by case and data set."""

_KINDS = ("float", "complex", "signed", "unsigned", "bool", "string")
K = TypeVar("K", bound=Hashable)


class Tally(msgspec.Struct, frozen=True):
    """Counts and worst errors of some results of one run. The unit of the counts is data sets."""

    total: int
    scored: int
    """The denominator of the rate: all but unspecified and insensitive. Unsupported and not run are included."""
    supported: int
    """Scored, without unsupported."""
    passed: int
    verdicts: dict[Verdict, int]
    """Verdict → data sets, for each verdict that occurs. The sum is ``total``."""
    known: int
    """Failures that the backend's expectations list."""
    unexpected: int
    """All other failures."""
    onnx_tolerance: int
    """Scored data sets that pass with ONNX's own tolerance (rtol 1e-3, atol 1e-7)."""
    error: Measure | None
    """The worst error of scored data sets, in bounds. Up to 4 passes."""
    ulps: Measure | None
    """The worst error in units in the last place (ulps)."""

    def __str__(self) -> str:
        rest = (
            f"{format_count(n)} {verdict_text(verdict)}" for verdict, n in self.verdicts.items() if verdict != "passed"
        )
        return " · ".join([*([self.rate] if self.scored else []), *rest])

    @property
    def rate(self) -> str:
        """``12/16``: passed / scored."""
        return f"{format_count(self.passed)}/{format_count(self.scored)}"

    @property
    def complete(self) -> bool:
        """Whether all scored data sets passed."""
        return self.passed == self.scored


class TypeRow(msgspec.Struct, frozen=True):
    """One value of one type variable."""

    variable: str
    type: str
    """Empty if the node does not use the variable."""
    tallies: tuple[Tally, ...]
    """One per run, in the order of the suite's runs."""


class AttributeRow(msgspec.Struct, frozen=True):
    """One combination of attribute values."""

    values: dict[str, str]
    """Attribute → its value or ``omitted``, for each attribute of the operator version in schema order."""
    tallies: tuple[Tally, ...]


class CategoryRow(msgspec.Struct, frozen=True):
    """One of ONNX's categories of operators."""

    category: str
    tallies: tuple[Tally, ...]


class Failure(msgspec.Struct, frozen=True):
    """A failed result. It also stands for results with the same verdict and message."""

    run: int
    """Index of the run in the suite's runs."""
    result: Result
    node: str
    """The node under test, and the data set if it is not the first."""
    reproduce: str
    duplicates: int
    """The number of other results of this run and operator version with the same verdict and message."""


class OperatorTable(msgspec.Struct, frozen=True):
    """The results of one operator version."""

    op: str
    """Empty for graphs of several nodes, which share one table."""
    domain: str
    since: int
    category: str
    coverage: Coverage
    tallies: tuple[Tally, ...]
    types: tuple[TypeRow, ...]
    """The rows of each type variable add up to ``tallies``."""
    attributes: tuple[AttributeRow, ...]
    """The rows add up to ``tallies``. Empty if the operator has no attributes."""
    groups: tuple[FailureGroup, ...]
    """Groups of failures with a common cause, by run and most severe first."""
    failures: tuple[Failure, ...]
    """Unexpected failures first, then by severity and case."""

    @property
    def title(self) -> str:
        """``Trilu-14``."""
        return operator_title(self.op, self.domain, self.since)

    @property
    def not_passed(self) -> int:
        """Scored results of all runs that did not pass."""
        return sum(tally.scored - tally.passed for tally in self.tallies)


def tally(results: Sequence[Result]) -> Tally:
    """The counts and the worst errors of some results of one run."""
    verdicts = [result.verdict for result in results]
    found: dict[Verdict, int] = {verdict: times for verdict in VERDICTS if (times := verdicts.count(verdict))}
    passed = found.get("passed", 0)
    scored = len(results) - sum(found.get(verdict, 0) for verdict in UNSCORED)
    known = len([result for result in results if result.known and result.verdict in SEVERITY])
    return Tally(
        total=len(results),
        scored=scored,
        supported=scored - found.get("unsupported", 0),
        passed=passed,
        verdicts=found,
        known=known,
        unexpected=scored - passed - known,
        onnx_tolerance=len([result for result in results if result.onnx_tolerance and result.verdict not in UNSCORED]),
        error=_worst([result.error for result in results if result.verdict not in UNSCORED]),
        ulps=_worst([result.ulps for result in results if result.verdict not in UNSCORED]),
    )


def _worst(measures: list[Measure | None]) -> Measure | None:
    worst = max([float(measure) for measure in measures if measure is not None], default=None)
    return "inf" if worst == float("inf") else worst


def tallies(runs: Runs) -> tuple[Tally, ...]:
    """One tally per run."""
    return tuple(map(tally, runs))


def categories(runs: Runs) -> tuple[CategoryRow, ...]:
    """One row per category, graphs of several nodes last."""
    rows = _group(runs, _category)
    return tuple(CategoryRow(name, tallies(rows[name])) for name in sorted(rows, key=_last_if_several_nodes))


def operator_tables(suite: str, backends: Sequence[str], runs: Runs) -> tuple[OperatorTable, ...]:
    """One table per operator version, sorted by category and name. Graphs of several nodes come last.

    ``backends`` are the backend specs of the runs, for the commands that reproduce failures.
    """
    tables = (_operator_table(suite, backends, results) for results in _group(runs, _version).values())
    return tuple(
        sorted(tables, key=lambda table: (_last_if_several_nodes(table.category), table.op, table.domain, table.since))
    )


def _version(result: Result) -> tuple[str, str, int]:
    labels = result.labels
    return (labels.op, labels.domain, labels.since) if labels.op else ("", "", 0)


def _last_if_several_nodes(category: str) -> tuple[bool, str]:
    return category == SEVERAL_NODES, category


def _category(result: Result) -> str:
    return (result.labels.category or "other") if result.labels.op else SEVERAL_NODES


def _group(runs: Runs, key: Callable[[Result], K]) -> dict[K, list[list[Result]]]:
    """Key → the results of each run. Keys are in order of first occurrence."""
    groups: dict[K, list[list[Result]]] = defaultdict(lambda: [[] for _ in runs])
    for n, results in enumerate(runs):
        for result in results:
            groups[key(result)][n].append(result)
    return groups


def _operator_table(suite: str, backends: Sequence[str], runs: Runs) -> OperatorTable:
    everything = list(chain.from_iterable(runs))
    op, domain, since = _version(everything[0])
    variables = dict.fromkeys(name for result in everything for name in result.labels.types) if op else {}
    attributes = dict.fromkeys(name for result in everything for name in result.labels.attributes) if op else {}
    return OperatorTable(
        op=op,
        domain=domain,
        since=since,
        category=_category(everything[0]),
        coverage=coverage(everything, variables, attributes),
        tallies=tallies(runs),
        types=tuple(row for variable in variables for row in _type_rows(variable, runs)),
        attributes=_attribute_rows(tuple(attributes), runs),
        groups=version_groups(suite, backends, runs),
        failures=_failures(suite, backends, runs),
    )


def _type_rows(variable: str, runs: Runs) -> list[TypeRow]:
    rows = _group(runs, lambda result: result.labels.types.get(variable, ""))
    ordered = sorted(rows, key=type_sort_key)
    return [TypeRow(variable, of, tallies(rows[of])) for of in ordered]


def type_sort_key(name: str) -> tuple[int, int, str]:
    """Sorts element types by kind and width, then other types, then no type."""
    of = BY_NAME.get(name)
    return (_KINDS.index(of.kind), of.bits, name) if of else (len(_KINDS), 0 if name else 1, name)


def _attribute_rows(names: tuple[str, ...], runs: Runs) -> tuple[AttributeRow, ...]:
    if not names:
        return ()
    rows = _group(runs, lambda result: label_values(result.labels.attributes, names, OMITTED))
    ordered = sorted(rows, key=lambda values: [_natural(value) for value in values])
    return tuple(AttributeRow(dict(zip(names, values, strict=True)), tallies(rows[values])) for values in ordered)


def _natural(value: str) -> tuple[bool, float, str]:
    """Sorts omitted first, then numbers by value, then text."""
    try:
        return value != OMITTED, float(value), value
    except ValueError:
        return value != OMITTED, float("inf"), value


def _failures(suite: str, backends: Sequence[str], runs: Runs) -> tuple[Failure, ...]:
    same_message: dict[tuple[int, str, str, str], list[Result]] = defaultdict(list)
    for n, results in enumerate(runs):
        for result in results:
            if result.verdict in SEVERITY:
                same_message[n, result.verdict, result.message, result.known].append(result)
    failures = [
        Failure(
            n,
            same[0],
            data_set_text(same[0]),
            repro_command(suite, same[0].case, backends[n], same[0].data_set),
            len(same) - 1,
        )
        for (n, *_), same in same_message.items()
    ]
    return tuple(sorted(failures, key=failure_sort_key))


def failure_sort_key(failure: Failure) -> tuple[bool, int, str, int, int]:
    """Sorts failures: unexpected first, then by severity, case, data set and run."""
    return (*result_sort_key(failure.result), failure.run)
