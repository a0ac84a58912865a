"""The summary for the terminal: rates, failures by cause, and the commands that reproduce them."""

from __future__ import annotations

import itertools
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tabulate import SEPARATING_LINE, tabulate

from harness.reports.gather import Note, Report, RunInfo, SuiteSummary
from harness.reports.groups import FailureGroup, cause_text, group_sort_key, verdicts_text
from harness.reports.tables import Tally
from harness.reports.text import format_count, format_measure, one_line, percent, plural, verdict_text
from harness.results.lines import VERDICTS

WIDTH = 100
MAX_OPERATORS = 20
"""The maximum number of operator versions with failures that are listed."""
MAX_GROUPS = 12
"""The maximum number of groups of failures shown per suite, each with an example."""

LEGEND = """\
rate: passed / scored. Unsupported and not run count as failures.
Not scored: unspecified (the specification leaves the answer open), insensitive (cannot fail).
worst error: in bounds; up to 4 passes.
known: failures that the backend's expectations list; unexpected: all other failures."""

_BROKEN_HEADERS = {"unsupported": "unsup-\nported", "unspecified": "unspec-\nified", "insensitive": "insen-\nsitive"}
"""Verdicts that are hyphenated in column headers to save width. Other verdicts are one word per line."""

_BOLD, _RED, _PLAIN = "\033[1m", "\033[31m", "\033[0m"


def console(report: Report, *, colours: bool = False) -> str:
    """The summary. Lines have at most ``WIDTH`` characters, except for messages and commands."""
    style = _Style(colours)
    lines = [f"Selection: {report.summary.selection}\n"] if report.summary.selection else []
    for suite in report.summary.suites:
        lines.extend(_suite(suite, style))
    return "\n".join(lines)


class _Style:
    def __init__(self, colours: bool) -> None:
        self.colours = colours

    def heading(self, text: str) -> str:
        return f"{_BOLD}{text}{_PLAIN}" if self.colours else text

    def error(self, text: str) -> str:
        return f"{_RED}{text}{_PLAIN}" if self.colours else text


def _suite(suite: SuiteSummary, style: _Style) -> Iterator[str]:
    data_sets = sum(table.coverage.data_sets for table in suite.operators)
    digests = ", ".join(sorted({header.digest[:12] for run in suite.runs for header in run.headers}))
    versions = plural(sum(1 for table in suite.operators if table.op), "operator version")
    yield style.heading(f"Suite {suite.name}: {plural(data_sets, 'scored data set')}, {versions} (digest {digests})")
    yield textwrap.fill(f"Coverage: {suite.coverage_text}", WIDTH)
    yield ""
    yield from (style.error(f"! {_note(note)}") for note in suite.notes)
    yield from [""] if suite.notes else []
    yield from _overview(suite)
    yield LEGEND
    yield ""
    yield from _tables(suite, style)
    yield from _failures(suite, style)


def _note(note: Note) -> str:
    return " ".join(filter(None, (note.run, note.text, one_line(note.detail, 2 * WIDTH))))


def _overview(suite: SuiteSummary) -> Iterator[str]:
    tallies = suite.tallies
    columns = [
        ("passed", [tally.rate for tally in tallies]),
        ("rate", [percent(tally.passed, tally.scored) for tally in tallies]),
        ("rate of\nsupported", [percent(tally.passed, tally.supported) for tally in tallies]),
        ("worst\nerror", [format_measure(tally.error) for tally in tallies]),
    ]
    for verdict in VERDICTS[1:]:
        cells = [format_count(tally.verdicts.get(verdict, 0)) for tally in tallies]
        if any(tally.verdicts.get(verdict) for tally in tallies):
            columns.append((_BROKEN_HEADERS.get(verdict, verdict_text(verdict).replace(" ", "\n")), cells))
    columns.append(("known", [format_count(tally.known) for tally in tallies]))
    columns.append(("unex-\npected", [format_count(tally.unexpected) for tally in tallies]))
    yield from _wrapped_table("backend", [run.label for run in suite.runs], columns)


def _wrapped_table(corner: str, names: Sequence[str], columns: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A table with a row for each name, split into several tables if it is wider than ``WIDTH``.

    ``columns`` are pairs of a header and one cell per name.
    """
    first = [textwrap.fill(name, 36) for name in names]
    room = whole = WIDTH - _width([corner, *first])
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
            [
                [corner, *(header for header, _ in part)],
                SEPARATING_LINE,
                *rows,
            ],  # tabulate widens what it calls headers
            tablefmt="simple",
            disable_numparse=True,
            colalign=["left", *["right"] * len(part)],
        )
        yield ""


def _width(cells: Iterable[str]) -> int:
    return max(len(line) for cell in cells for line in cell.split("\n"))


def _tables(suite: SuiteSummary, style: _Style) -> Iterator[str]:
    if 1 < len(suite.categories) < len(suite.operators):
        yield style.heading("By category (passed / scored)")
        yield ""
        rows = [row.tallies for row in suite.categories]
        yield from _wrapped_table(
            "category", [row.category for row in suite.categories], _run_columns(suite.runs, rows)
        )
    failing = sorted((table for table in suite.operators if table.not_passed), key=lambda table: -table.not_passed)
    if failing:
        shown = failing[:MAX_OPERATORS]
        some = f" ({len(shown)} with the most failures shown)" if len(shown) < len(failing) else ""
        versions = format_count(sum(1 for table in suite.operators if table.op))
        number = format_count(sum(1 for table in failing if table.op))
        yield style.heading(f"Operator versions with failures: {number} of {versions}{some}")
        yield ""
        coverage = ("types ×\nattributes", [table.coverage.types_by_attributes for table in shown])
        columns = _run_columns(suite.runs, [table.tallies for table in shown])
        yield from _wrapped_table("operator", [table.title for table in shown], [coverage, *columns])


def _run_columns(runs: Sequence[RunInfo], rows: Sequence[tuple[Tally, ...]]) -> list[tuple[str, list[str]]]:
    return [
        (textwrap.fill(run.label, 11), [row[n].rate if row[n].total else "" for row in rows])
        for n, run in enumerate(runs)
    ]


def _failures(suite: SuiteSummary, style: _Style) -> Iterator[str]:
    if not suite.groups:
        return
    shown = sorted(_most_important(suite.groups)[:MAX_GROUPS], key=lambda group: (group.run, *group_sort_key(group)))
    some = f" ({len(shown)} of {format_count(len(suite.groups))} shown)" if len(shown) < len(suite.groups) else ""
    yield style.heading(f"Failures by cause{some}")
    for run, groups in itertools.groupby(shown, key=lambda group: group.run):
        yield ""
        yield suite.runs[run].label
        for group in groups:
            known = f"; {format_count(group.known)} known" if group.known else ""
            cause = one_line(cause_text(group), 3 * WIDTH)
            yield f"  {style.error(verdicts_text(group.verdicts))}: {cause}{known}"
            example = group.example
            yield from (f"    {line}" for line in filter(None, [one_line(example.message, 3 * WIDTH), example.node]))
            yield f"    reproduce: {example.reproduce}"
    yield ""
    yield "All results:"
    yield from sorted({f"  {suite.runs[group.run].path}" for group in suite.groups})
    yield ""


def _most_important(groups: Iterable[FailureGroup]) -> list[FailureGroup]:
    """Sorts groups: unexpected first, then the largest of each run and verdict, then the second largest, and so on."""
    largest = sorted(groups, key=lambda group: (not group.exact, -group.failures, group.select))
    of_kind: dict[tuple[int, str], Iterator[int]] = defaultdict(itertools.count)
    ranks = {id(group): next(of_kind[group.run, next(iter(group.verdicts))]) for group in largest}
    return sorted(
        largest, key=lambda group: (group.known == group.failures, ranks[id(group)], group_sort_key(group), group.run)
    )
