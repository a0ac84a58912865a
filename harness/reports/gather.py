"""Which runs stand side by side in a report, under what names, and what a reader must know about them first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from harness.reports import tables
from harness.reports.groups import FailureGroup, run_groups
from harness.reports.runs import RunFacts, clean_run, run_facts, run_labels, run_order
from harness.reports.tables import CategoryRow, OperatorTable, Tally
from harness.reports.text import count, counted
from harness.results.lines import Result, Run
from harness.suite.select import Selection, select_results

ALL = Selection()


class Note(msgspec.Struct, frozen=True):
    """What a reader must know before believing a rate."""

    run: str
    """The label of the run concerned; empty where it is about all of them."""
    text: str
    detail: str = ""
    """Words from the run, such as its selection."""


class SuiteSummary(msgspec.Struct, frozen=True):
    """All runs over one suite; wherever there are ``tallies``, there is one a run, in this order."""

    name: str
    runs: tuple[RunFacts, ...]
    notes: tuple[Note, ...]
    tallies: tuple[Tally, ...]
    categories: tuple[CategoryRow, ...]
    operators: tuple[OperatorTable, ...]
    groups: tuple[FailureGroup, ...]
    """What failures have in common over all operators, run by run and the gravest first."""

    @property
    def exercised(self) -> str:
        """What the suite's scored cases exercise in all, in words."""
        coverages = [table.coverage for table in self.operators]
        types = sum(sum(coverage.types.values()) for coverage in coverages)
        return (
            f"{counted(types, '(type variable, element type) pair')}, "
            f"{counted(sum(coverage.attribute_values for coverage in coverages), 'attribute value')}, "
            f"{count(sum(coverage.combinations for coverage in coverages))} types × attributes"
        )


class Summary(msgspec.Struct, frozen=True):
    """A report's content but for the single results; the JSON report is this."""

    format: int
    """1: this layout."""
    selection: str
    """What the report was narrowed to; empty for everything in the runs."""
    suites: tuple[SuiteSummary, ...]


class Report(msgspec.Struct, frozen=True):
    """What every format is made from."""

    summary: Summary
    results: tuple[tuple[tuple[Result, ...], ...], ...]
    """For each suite and each of its runs the results, in the order of case and data set."""
    testdata: Path = Path("testdata")
    """Where the suites may be, for the formats that show more of a case than its result line."""


def gather(runs: Sequence[Run], selection: Selection = ALL, testdata: Path = Path("testdata")) -> Report:
    """The report over any runs: any number of backends, any suites, in any order, narrowed to a selection.

    Text from backends is spelt in printable characters and line feeds here, once for all formats.
    Raises NoHeader, and NothingSelected where no result of any run matches.
    """
    clean = [clean_run(run) for run in runs]
    if selection.terms:
        chosen = {id(result) for result in select_results(chain.from_iterable(r.results for r in clean), selection)}
        shown = [tuple(result for result in run.results if id(result) in chosen) for run in clean]
    else:
        shown = [run.results for run in clean]
    suites: list[SuiteSummary] = []
    results: list[tuple[tuple[Result, ...], ...]] = []
    for name in sorted({run.headers[0].suite for run in clean}):
        pairs = [pair for pair in zip(clean, shown, strict=True) if pair[0].headers[0].suite == name]
        if any(results for _, results in pairs) or not selection.terms:
            pairs.sort(key=lambda pair: run_order(pair[0]))
            suites.append(_suite(name, [run for run, _ in pairs], [results for _, results in pairs]))
            results.append(tuple(results for _, results in pairs))
    return Report(Summary(2, str(selection), tuple(suites)), tuple(results), testdata)


def _suite(name: str, runs: Sequence[Run], results: Sequence[Sequence[Result]]) -> SuiteSummary:
    facts = tuple(run_facts(run, label) for run, label in zip(runs, run_labels(runs), strict=True))
    backends = [run.backend for run in facts]
    return SuiteSummary(
        name=name,
        runs=facts,
        notes=(*_disagreement(facts), *(note for run in facts for note in _notes(run))),
        tallies=tables.tallies(results),
        categories=tables.categories(results),
        operators=tables.operator_tables(name, backends, results),
        groups=run_groups(name, backends, results),
    )


def _disagreement(runs: Sequence[RunFacts]) -> list[Note]:
    digests = {run.label: run.headers[0].digest[:12] for run in runs}
    if len({header.digest for run in runs for header in run.headers}) < 2:
        return []
    found = ", ".join(f"{digest} ({label})" for label, digest in digests.items())
    return [Note("", "The runs are not over the same suite: their rates do not compare. Digests:", found)]


_ALL = {"select": "", "shard": "1/1", "profile": "standard"}
"""Options of a run that leave out part of a suite, and the values that leave out nothing."""


def _notes(run: RunFacts) -> list[Note]:
    whole = run.headers[0].suite_data_sets
    notes: list[Note] = []
    if not run.ran:
        notes.append(Note(run.label, f"executed nothing: 0 of {count(run.data_sets)} run."))
    elif not run.complete:
        notes.append(Note(run.label, f"is unfinished: {count(run.ran)} of {count(run.data_sets)} run."))
    if run.data_sets < whole:
        part = f"{count(run.data_sets)} of {count(whole)} data sets."
        chosen = dict.fromkeys(
            f"{key} {value}"
            for header in run.headers
            for key, value in header.options.items()
            if key in _ALL and value not in ("", _ALL[key])
        )
        notes.append(Note(run.label, f"covers part of the suite: {part}", ", ".join(chosen)))
    notes.extend(Note(run.label, "expects failures that no longer occur:", stale) for stale in run.stale)
    return notes
