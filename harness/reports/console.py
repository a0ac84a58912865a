"""The summary on a terminal: what each backend got right, where it did not, and how to see it again."""

from __future__ import annotations

import itertools
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tabulate import SEPARATING_LINE, tabulate

from harness.reports.gather import Note, Report, RunFacts, SuiteSummary
from harness.reports.groups import FailureGroup, cause_told, urgency, verdicts_told
from harness.reports.tables import Tally
from harness.reports.text import count, counted, measure, one_line, percent, verdict_words
from harness.results.lines import VERDICTS

WIDTH = 100
OPERATORS = 20
"""Operator versions listed of those that are not fully right."""
GROUPS = 12
"""Groups of failures shown in a suite, each with an example."""

LEGEND = """\
rate: passed / scored. Unsupported and not run count against it; unspecified data sets are not scored.
worst error: in bounds, where 4 passes. known: expected by the backend's expectations; new: not."""

_BOLD, _RED, _PLAIN = "\033[1m", "\033[31m", "\033[0m"


def console(report: Report, *, colours: bool = False) -> str:
    """The summary in lines of at most ``WIDTH`` characters, but for messages and commands; coloured on demand."""
    paint = _Paint(colours)
    lines = [f"Only {report.summary.selection}\n"] if report.summary.selection else []
    for suite in report.summary.suites:
        lines.extend(_suite(suite, paint))
    return "\n".join(lines)


class _Paint:
    def __init__(self, colours: bool) -> None:
        self.colours = colours

    def heading(self, text: str) -> str:
        return f"{_BOLD}{text}{_PLAIN}" if self.colours else text

    def alarm(self, text: str) -> str:
        return f"{_RED}{text}{_PLAIN}" if self.colours else text


def _suite(suite: SuiteSummary, paint: _Paint) -> Iterator[str]:
    data_sets = sum(table.coverage.data_sets for table in suite.operators)
    digests = ", ".join(sorted({header.digest[:12] for run in suite.runs for header in run.headers}))
    versions = counted(sum(1 for table in suite.operators if table.op), "operator version")
    yield paint.heading(f"Suite {suite.name}: {counted(data_sets, 'scored data set')}, {versions} (digest {digests})")
    yield textwrap.fill(f"Exercised: {suite.exercised}", WIDTH)
    yield ""
    yield from (paint.alarm(f"! {_note(note)}") for note in suite.notes)
    yield from [""] if suite.notes else []
    yield from _overview(suite)
    yield LEGEND
    yield ""
    yield from _tables(suite, paint)
    yield from _failures(suite, paint)


def _note(note: Note) -> str:
    return " ".join(filter(None, (note.run, note.text, one_line(note.detail, 2 * WIDTH))))


def _overview(suite: SuiteSummary) -> Iterator[str]:
    tallies = suite.tallies
    columns = [
        ("passed", [tally.rate for tally in tallies]),
        ("rate", [percent(tally.passed, tally.scored) for tally in tallies]),
        ("of those\nsupported", [percent(tally.passed, tally.supported) for tally in tallies]),
        ("worst\nerror", [measure(tally.error) for tally in tallies]),
    ]
    for verdict in VERDICTS[1:]:
        cells = [count(tally.verdicts.get(verdict, 0)) for tally in tallies]
        if any(tally.verdicts.get(verdict) for tally in tallies):
            columns.append((verdict_words(verdict).replace(" ", "\n").replace("unsupp", "unsup-\np"), cells))
    columns.append(("known", [count(tally.known) for tally in tallies]))
    columns.append(("new", [count(tally.unexpected) for tally in tallies]))
    yield from _packed("backend", [run.label for run in suite.runs], columns)


def _packed(what: str, names: Sequence[str], columns: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A table of ``columns`` (header and cells, a cell a name) in as many parts as the width asks for."""
    first = [textwrap.fill(name, 36) for name in names]
    room = whole = WIDTH - _width([what, *first])
    parts: list[list[tuple[str, Sequence[str]]]] = [[]]
    for header, cells in columns:
        taken = _width([header, *cells]) + 2
        if room < taken and parts[-1]:
            parts.append([])
            room = whole
        parts[-1].append((header, cells))
        room -= taken
    for part in parts:
        rows = list(zip(first, *(cells for _, cells in part), strict=True))
        yield tabulate(
            [[what, *(header for header, _ in part)], SEPARATING_LINE, *rows],  # tabulate widens what it calls headers
            tablefmt="simple",
            disable_numparse=True,
            colalign=["left", *["right"] * len(part)],
        )
        yield ""


def _width(cells: Iterable[str]) -> int:
    return max(len(line) for cell in cells for line in cell.split("\n"))


def _tables(suite: SuiteSummary, paint: _Paint) -> Iterator[str]:
    if 1 < len(suite.categories) < len(suite.operators):
        yield paint.heading("By category: passed of scored")
        yield ""
        rows = [row.tallies for row in suite.categories]
        yield from _packed("category", [row.category for row in suite.categories], _by_run(suite.runs, rows))
    wanting = sorted((table for table in suite.operators if table.lost), key=lambda table: -table.lost)
    if wanting:
        shown = wanting[:OPERATORS]
        some = f", here the {len(shown)} that lose most" if len(shown) < len(wanting) else ""
        versions = counted(sum(1 for table in suite.operators if table.op), "operator version")
        yield paint.heading(f"Not fully right: {count(sum(1 for table in wanting if table.op))} of {versions}{some}")
        yield ""
        coverage = ("types ×\nattributes", [table.coverage.product for table in shown])
        columns = _by_run(suite.runs, [table.tallies for table in shown])
        yield from _packed("operator", [table.title for table in shown], [coverage, *columns])


def _by_run(runs: Sequence[RunFacts], rows: Sequence[tuple[Tally, ...]]) -> list[tuple[str, list[str]]]:
    return [
        (textwrap.fill(run.label, 11), [row[n].rate if row[n].total else "" for row in rows])
        for n, run in enumerate(runs)
    ]


def _failures(suite: SuiteSummary, paint: _Paint) -> Iterator[str]:
    if not suite.groups:
        return
    shown = sorted(_most_telling(suite.groups)[:GROUPS], key=lambda group: (group.run, *urgency(group)))
    some = f", {len(shown)} of {count(len(suite.groups))} shown" if len(shown) < len(suite.groups) else ""
    yield paint.heading(f"Failures by what they have in common{some}")
    for run, groups in itertools.groupby(shown, key=lambda group: group.run):
        yield ""
        yield suite.runs[run].label
        for group in groups:
            known = f"; {count(group.known)} known" if group.known else ""
            cause = one_line(cause_told(group), 3 * WIDTH)
            yield f"  {paint.alarm(verdicts_told(group.verdicts))}: {cause}{known}"
            example = group.example
            yield from (f"    {line}" for line in filter(None, [one_line(example.message, 3 * WIDTH), example.node]))
            yield f"    reproduce: {example.reproduce}"
    yield ""
    yield "Every result is in"
    yield from sorted({f"  {suite.runs[group.run].path}" for group in suite.groups})
    yield ""


def _most_telling(groups: Iterable[FailureGroup]) -> list[FailureGroup]:
    """The unexpected first; the largest of each run and verdict before the second largest of any."""
    largest = sorted(groups, key=lambda group: (not group.described, -group.failures, group.select))
    of_kind: dict[tuple[int, str], Iterator[int]] = defaultdict(itertools.count)
    ranks = {id(group): next(of_kind[group.run, next(iter(group.verdicts))]) for group in largest}
    return sorted(
        largest, key=lambda group: (group.known == group.failures, ranks[id(group)], urgency(group), group.run)
    )
