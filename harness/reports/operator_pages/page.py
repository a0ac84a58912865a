"""The page of an operator version, as plain data: its document, its results in each suite, its examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.reports.gather import Report, SuiteSummary
from harness.reports.operator_pages.document import Document, operator_document
from harness.reports.operator_pages.examples import GROUPS, Example, example
from harness.reports.runs import RunFacts
from harness.reports.tables import OperatorTable
from harness.reports.testdata import AnotherSuite, suite_that_ran
from harness.results.lines import Result
from harness.spec.schema import Schema, schemas
from harness.suite.cases import Case, Labels
from harness.suite.manifest import NoSuite

Version = tuple[str, str, int]
"""Domain, operator, since_version."""


class SuiteResults(msgspec.Struct, frozen=True):
    """What the runs of a suite made of the version."""

    suite: str
    runs: tuple[str, ...]
    """Their labels, in the order of the table's tallies."""
    table: OperatorTable


class OperatorPage(msgspec.Struct, frozen=True):
    """All there is to say about one version of one operator."""

    document: Document
    results: tuple[SuiteResults, ...]
    """One a suite that has results of it."""
    examples: tuple[Example, ...]
    lacking: tuple[str, ...]
    """Why there are no examples of a suite."""
    others: tuple[str, ...]
    """Titles of the other versions of the operator that have a page."""


def operator_page(
    of: Schema,
    results: Sequence[SuiteResults],
    examples: Sequence[Example] = (),
    lacking: Sequence[str] = (),
    others: Sequence[str] = (),
) -> OperatorPage:
    """The page of a version that the installed onnx defines."""
    return OperatorPage(operator_document(of), tuple(results), tuple(examples), tuple(lacking), tuple(others))


def operator_pages(report: Report) -> Iterator[OperatorPage]:
    """The page of each version that the report has results of and the installed onnx defines, by domain and name.

    Examples are data sets that the report has results of, from suites that are still those that ran.
    Raises BrokenManifest, BrokenSuite and BrokenValue for suites whose files are not what their manifest says.
    """
    known = schemas()
    results: dict[Version, list[SuiteResults]] = defaultdict(list)
    for suite in report.summary.suites:
        labels = tuple(run.label for run in suite.runs)
        for table in suite.operators:
            if (version := (table.domain, table.op, table.since)) in known:
                results[version].append(SuiteResults(suite.name, labels, table))
    suites = [_examples(*of, report.testdata) for of in zip(report.summary.suites, report.results, strict=True)]
    for version in sorted(results):
        yield operator_page(
            known[version],
            results[version],
            _chosen([suite.examples.get(version, []) for suite in suites]),
            [suite.lacking for suite in suites if suite.lacking and version in suite.versions],
            [known[other].title for other in sorted(results) if other[:2] == version[:2] and other != version],
        )


class _Source(msgspec.Struct, frozen=True):
    """A case that has examples, with all that it takes to show them."""

    case: Case
    suite: Path
    runs: tuple[RunFacts, ...]
    results: dict[int, dict[int, Result]]
    """Data set → place of the run → result."""


class _Examples(msgspec.Struct, frozen=True):
    """The examples of one suite."""

    versions: frozenset[Version]
    """Those that have examples among their results."""
    examples: dict[Version, list[_Source]]
    lacking: str
    """Why there are none, though there are results of some."""


def _examples(suite: SuiteSummary, results: Sequence[Sequence[Result]], testdata: Path) -> _Examples:
    wanted: dict[str, dict[int, dict[int, Result]]] = defaultdict(lambda: defaultdict(dict))
    versions: set[Version] = set()
    for run, of_run in enumerate(results):
        for result in of_run:
            if result.labels.op and result.labels.group in GROUPS:
                wanted[result.case][result.data_set][run] = result
                versions.add(_version(result.labels))
    examples: dict[Version, list[_Source]] = defaultdict(list)
    lacking = ""
    if wanted:
        try:
            there = suite_that_ran(suite, testdata)
        except NoSuite:  # whose words tell where it was sought, which is not the reader's business
            lacking = f"There is no whole suite {suite.name} beside the results."
        except AnotherSuite as error:
            lacking = str(error)
        else:
            for case in there.cases():
                if case.name in wanted and case.labels.op and case.data_sets[0].group in GROUPS:
                    source = _Source(case, there.path, suite.runs, wanted[case.name])
                    examples[_version(case.labels)].append(source)
    return _Examples(frozenset(versions), examples, lacking)


def _version(labels: Labels) -> Version:
    return labels.domain, labels.op, labels.since


def _chosen(suites: Sequence[Sequence[_Source]]) -> list[Example]:
    """The examples of a version: those of its operator's file first, as the document prints them.

    A node test that bears the name of one of these is the same example with values of its own, and is not shown twice.
    """
    sources = [source for suite in suites for source in suite]
    sources.sort(key=lambda source: GROUPS.index(source.case.data_sets[0].group))
    once = {source.case.name: source for source in reversed(sources)}
    return [
        example(source.case, data_set, source.suite, source.runs, of)
        for source in sources
        if once[source.case.name] is source
        for data_set, of in sorted(source.results.items())
        if data_set < len(source.case.data_sets)
    ]
