"""Which runs stand side by side in a report, under what names, and what a reader must know about them first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from harness.errors import UsageError
from harness.reports import tables
from harness.reports.tables import CategoryRow, OperatorTable, Tally
from harness.reports.text import count, counted, plain, plain_lines, plain_tree
from harness.running.results import Description, Footer, Header, Result, Run
from harness.suite.select import Selection, select_results

ALL = Selection()


class NoHeader(UsageError):
    """A results file that does not say what was run."""


class RunFacts(msgspec.Struct, frozen=True):
    """What a run was: one column of every table of its suite."""

    label: str
    """The backend's name and version, with what tells it apart from the other runs of the suite."""
    headers: tuple[Header, ...]
    """One, or one a shard."""
    path: str
    """The results file, which has every result."""
    data_sets: int
    """What the run was to cover, of the suite's ``suite_data_sets``."""
    ran: int
    """Result lines there are; fewer than ``data_sets`` where the run did not finish."""
    finished: bool
    seconds: float
    """Wall time of the finished parts."""
    stale: tuple[str, ...]
    """Expectations that match nothing or no longer hold."""

    @property
    def backend(self) -> str:
        """The name it was asked for by."""
        return self.headers[0].backend

    @property
    def description(self) -> Description:
        """What the backend says of itself."""
        return self.headers[0].description

    @property
    def complete(self) -> bool:
        """Whether it finished with a result for each data set it was to cover, and at least one."""
        return self.finished and self.ran == self.data_sets > 0


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
    clean = [_clean(run) for run in runs]
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
            pairs.sort(key=lambda pair: _order(pair[0]))
            suites.append(_suite(name, [run for run, _ in pairs], [results for _, results in pairs]))
            results.append(tuple(results for _, results in pairs))
    return Report(Summary(1, str(selection), tuple(suites)), tuple(results), testdata)


def _clean(run: Run) -> Run:
    if not run.headers:
        raise NoHeader(f"{plain(run.path)} has no header line.", "Run again: onnx-conformance run writes it first.")
    results = sorted(map(_clean_result, run.results), key=lambda result: (result.case, result.data_set))
    headers = [msgspec.convert(plain_tree(msgspec.to_builtins(header)), Header) for header in run.headers]
    footers = [msgspec.convert(plain_tree(msgspec.to_builtins(footer)), Footer) for footer in run.footers]
    headers.sort(key=lambda header: (sorted(header.options.items()), header.started))
    return Run(plain(run.path), tuple(headers), tuple(results), tuple(footers))


def _clean_result(result: Result) -> Result:
    labels = result.labels
    texts = (result.case, result.message, result.known, labels.op, labels.domain, labels.category, labels.group)
    named = (*labels.omitted, *chain.from_iterable((*labels.types.items(), *labels.attributes.items())))
    if all(map(str.isprintable, texts)) and all(map(str.isprintable, named)):
        return result
    return msgspec.convert(
        {**plain_tree(msgspec.to_builtins(result)), "message": plain_lines(result.message)},
        Result,
    )


def _suite(name: str, runs: Sequence[Run], results: Sequence[Sequence[Result]]) -> SuiteSummary:
    facts = tuple(_facts(run, label) for run, label in zip(runs, _labels(runs), strict=True))
    operators = tables.operator_tables(name, [run.backend for run in facts], results)
    return SuiteSummary(
        name=name,
        runs=facts,
        notes=(*_disagreement(facts), *(note for run in facts for note in _notes(run))),
        tallies=tables.tallies(results),
        categories=tables.categories(results),
        operators=operators,
    )


def _order(run: Run) -> tuple[object, ...]:
    header = run.headers[0]
    configuration = sorted(header.description.configuration.items())
    return _name(header), header.backend, configuration, header.started, run.path


def _name(header: Header) -> str:
    return " ".join(filter(None, (header.description.name or header.backend, header.description.version)))


def _labels(runs: Sequence[Run]) -> list[str]:
    """A different label for each run: its name, with what else it takes to tell it apart."""
    headers = [run.headers[0] for run in runs]
    configurations = [set(header.description.configuration.items()) for header in headers]
    shared = configurations[0].intersection(*configurations)
    labels = [_name(header) for header in headers]
    for facts in (
        [header.backend for header in headers],
        [", ".join(f"{key}={value}" for key, value in sorted(own - shared)) for own in configurations],
        [f"#{n}" for n in range(1, len(runs) + 1)],
    ):
        twins: dict[str, list[int]] = defaultdict(list)
        for n, label in enumerate(labels):
            twins[label].append(n)
        for label, group in twins.items():
            if len({facts[n] for n in group}) > 1:
                for n in group:
                    labels[n] = f"{label} ({facts[n]})" if facts[n] else label
    return labels


def _facts(run: Run, label: str) -> RunFacts:
    parts = {tuple(sorted(header.options.items())): header.data_sets for header in run.headers}
    return RunFacts(
        label=label,
        headers=run.headers,
        path=run.path,
        data_sets=sum(parts.values()),
        ran=len(run.results),
        finished=run.finished,
        seconds=math.fsum(footer.seconds for footer in run.footers),
        stale=tuple(sorted({stale for footer in run.footers for stale in footer.stale})),
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
