"""Gathers runs into the content of a report: their labels, notes and tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from harness.reports import tables
from harness.reports.groups import FailureGroup, run_groups
from harness.reports.runs import RunInfo, run_info, run_labels, run_sort_key, sanitized_run
from harness.reports.tables import CategoryRow, OperatorTable, Tally
from harness.reports.text import format_count, plural
from harness.results.lines import Result, Run
from harness.suite.select import Selection, select_results

EVERYTHING = Selection()


class Note(msgspec.Struct, frozen=True):
    """A warning about a run or a suite that affects how its rates are to be read."""

    run: str
    """The label of the run. Empty if the note is about all runs."""
    text: str
    detail: str = ""
    """Text from the run, such as its selection. Not trusted: formats must escape it."""


class SuiteSummary(msgspec.Struct, frozen=True):
    """All runs of one suite. All ``tallies`` are in the order of ``runs``."""

    name: str
    runs: tuple[RunInfo, ...]
    notes: tuple[Note, ...]
    tallies: tuple[Tally, ...]
    categories: tuple[CategoryRow, ...]
    operators: tuple[OperatorTable, ...]
    groups: tuple[FailureGroup, ...]
    """Groups of failures with a common cause over all operators, by run and most severe first."""

    @property
    def coverage_text(self) -> str:
        """The coverage of the suite's scored data sets as text."""
        coverages = [table.coverage for table in self.operators]
        types = sum(sum(coverage.types.values()) for coverage in coverages)
        return (
            f"{plural(types, '(type variable, element type) pair')}, "
            f"{plural(sum(coverage.attribute_values for coverage in coverages), 'attribute value')}, "
            f"{format_count(sum(coverage.combinations for coverage in coverages))} combinations of types and attributes"
        )


class Summary(msgspec.Struct, frozen=True):
    """The content of a report without the single results. This is the JSON report."""

    format: int
    """The version of this format: 2."""
    selection: str
    """The selection that the report is limited to. Empty if there is none."""
    suites: tuple[SuiteSummary, ...]


class Report(msgspec.Struct, frozen=True):
    """The input of every report format."""

    summary: Summary
    results: tuple[tuple[tuple[Result, ...], ...], ...]
    """For each suite and each of its runs the results, sorted by case and data set."""
    testdata: Path = Path("testdata")
    """The folder of the generated suites, for formats that show models and tensors."""


def gather(runs: Sequence[Run], selection: Selection = EVERYTHING, testdata: Path = Path("testdata")) -> Report:
    """The report of any number of runs, backends and suites, in any order, limited to a selection.

    Unprintable characters in text from backends are escaped here, for all formats.
    Raises NoHeader, and NothingSelected if the selection matches no result.
    """
    clean = [sanitized_run(run) for run in runs]
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
            pairs.sort(key=lambda pair: run_sort_key(pair[0]))
            suites.append(_suite(name, [run for run, _ in pairs], [results for _, results in pairs]))
            results.append(tuple(results for _, results in pairs))
    return Report(Summary(2, str(selection), tuple(suites)), tuple(results), testdata)


def _suite(name: str, runs: Sequence[Run], results: Sequence[Sequence[Result]]) -> SuiteSummary:
    facts = tuple(run_info(run, label) for run, label in zip(runs, run_labels(runs), strict=True))
    backends = [run.backend for run in facts]
    return SuiteSummary(
        name=name,
        runs=facts,
        notes=(*_digest_notes(facts), *(note for run in facts for note in _notes(run))),
        tallies=tables.tallies(results),
        categories=tables.categories(results),
        operators=tables.operator_tables(name, backends, results),
        groups=run_groups(name, backends, results),
    )


def _digest_notes(runs: Sequence[RunInfo]) -> list[Note]:
    digests = {run.label: run.headers[0].digest[:12] for run in runs}
    if len({header.digest for run in runs for header in run.headers}) < 2:
        return []
    found = ", ".join(f"{digest} ({label})" for label, digest in digests.items())
    return [
        Note("", "The runs used different versions of the suite, so their rates are not comparable. Digests:", found)
    ]


_FULL_RUN = {"select": "", "shard": "1/1", "profile": "standard"}
"""Options that limit a run to part of a suite → the value without that effect."""


_MAX_STALE = 3
"""The maximum number of stale expectations in a note. ``RunInfo.stale`` has all of them."""


def _notes(run: RunInfo) -> list[Note]:
    whole = run.headers[0].suite_data_sets
    notes: list[Note] = []
    if not run.executed:
        notes.append(Note(run.label, f"executed nothing: 0 of {format_count(run.data_sets)} data sets run."))
    elif not run.complete:
        notes.append(
            Note(
                run.label,
                f"is unfinished: {format_count(run.executed)} of {format_count(run.data_sets)} data sets run.",
            )
        )
    if run.data_sets < whole:
        part = f"{format_count(run.data_sets)} of {format_count(whole)} data sets."
        chosen = dict.fromkeys(
            f"{key} {value}"
            for header in run.headers
            for key, value in header.options.items()
            if key in _FULL_RUN and value not in ("", _FULL_RUN[key])
        )
        notes.append(Note(run.label, f"covers part of the suite: {part}", ", ".join(chosen)))
    if run.stale:
        number = len(run.stale)
        text = "has a stale expectation:" if number == 1 else f"has {format_count(number)} stale expectations, such as:"
        notes.append(Note(run.label, text, "; ".join(run.stale[:_MAX_STALE])))
    return notes
