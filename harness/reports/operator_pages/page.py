"""The page of an operator version, as data: documentation, results in each suite, examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.reports.gather import Report, SuiteSummary
from harness.reports.operator_pages.document import Document, operator_document
from harness.reports.operator_pages.examples import GROUPS, Example, example
from harness.reports.runs import RunInfo
from harness.reports.tables import OperatorTable
from harness.reports.testdata import SuiteMismatch, matching_suite
from harness.results.lines import Result
from harness.spec.schema import Schema, schemas
from harness.suite.cases import Case, Labels
from harness.suite.manifest import NoSuite

Version = tuple[str, str, int]
"""Domain, operator, since_version."""


class SuiteResults(msgspec.Struct, frozen=True):
    """The results of an operator version in the runs of a suite."""

    suite: str
    runs: tuple[str, ...]
    """The run labels, in the order of the table's tallies."""
    table: OperatorTable


class OperatorPage(msgspec.Struct, frozen=True):
    """The content of a page."""

    document: Document
    results: tuple[SuiteResults, ...]
    """One for each suite with results."""
    examples: tuple[Example, ...]
    missing_examples: tuple[str, ...]
    """For each suite without examples the reason."""
    others: tuple[str, ...]
    """Titles of other versions of the operator that have a page."""


def operator_page(
    of: Schema,
    results: Sequence[SuiteResults],
    examples: Sequence[Example] = (),
    missing_examples: Sequence[str] = (),
    others: Sequence[str] = (),
) -> OperatorPage:
    """The page of an operator version that the installed onnx defines."""
    return OperatorPage(operator_document(of), tuple(results), tuple(examples), tuple(missing_examples), tuple(others))


def operator_pages(report: Report) -> Iterator[OperatorPage]:
    """The pages of all operator versions that have results and that the installed onnx defines, by domain and name.

    Examples are data sets with results, if the suite on disk is the one that was run.
    Raises BrokenManifest, BrokenSuite and BrokenValue if files do not match the manifest.
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
            _example_list([suite.examples.get(version, []) for suite in suites]),
            [suite.missing_examples for suite in suites if suite.missing_examples and version in suite.versions],
            [known[other].title for other in sorted(results) if other[:2] == version[:2] and other != version],
        )


class _ExampleCase(msgspec.Struct, frozen=True):
    """A case with examples, and its results."""

    case: Case
    suite: Path
    runs: tuple[RunInfo, ...]
    results: dict[int, dict[int, Result]]
    """Data set → index of the run → result."""


class _SuiteExamples(msgspec.Struct, frozen=True):
    """The examples of a suite."""

    versions: frozenset[Version]
    """The versions with results of examples."""
    examples: dict[Version, list[_ExampleCase]]
    missing_examples: str
    """The reason if the examples cannot be read."""


def _examples(suite: SuiteSummary, results: Sequence[Sequence[Result]], testdata: Path) -> _SuiteExamples:
    wanted: dict[str, dict[int, dict[int, Result]]] = defaultdict(lambda: defaultdict(dict))
    versions: set[Version] = set()
    for run, of_run in enumerate(results):
        for result in of_run:
            if result.labels.op and result.labels.group in GROUPS:
                wanted[result.case][result.data_set][run] = result
                versions.add(_version(result.labels))
    examples: dict[Version, list[_ExampleCase]] = defaultdict(list)
    missing_examples = ""
    if wanted:
        try:
            found = matching_suite(suite, testdata)
        except NoSuite:  # its message contains a local path, which does not belong on the page
            missing_examples = f"The suite {suite.name} is not available."
        except SuiteMismatch as error:
            missing_examples = str(error)
        else:
            for case in found.cases():
                if case.name in wanted and case.labels.op and case.data_sets[0].group in GROUPS:
                    source = _ExampleCase(case, found.path, suite.runs, wanted[case.name])
                    examples[_version(case.labels)].append(source)
    return _SuiteExamples(frozenset(versions), examples, missing_examples)


def _version(labels: Labels) -> Version:
    return labels.domain, labels.op, labels.since


def _example_list(suites: Sequence[Sequence[_ExampleCase]]) -> list[Example]:
    """The examples of a version: those of the operator's file first, then ONNX's node tests.

    A node test with the same name as one of the first is the same example and is not repeated.
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
