"""The job summary for GitHub Actions: unexpected failures first, within GitHub's size limit."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.reports.gather import Note, Report, SuiteSummary
from harness.reports.groups import group_text
from harness.reports.tables import Failure, OperatorTable, Tally
from harness.reports.text import format_count, format_measure, one_line, percent, plural, verdict_text

LIMIT = 1_000_000
"""The maximum size in bytes. GitHub does not show a step summary above 1 MiB; a step may add more text."""
MAX_UNEXPECTED, MAX_KNOWN = 10, 3
"""The maximum number of unexpected and known failures shown for an operator version."""
MAX_CAUSES = 30
"""The maximum number of causes shown."""
_RESERVED = 1_000
"""Bytes that are reserved for the number of omitted data sets."""


class _Block(msgspec.Struct, frozen=True):
    """A part of the summary that is written completely or not at all."""

    text: str
    data_sets: int = 0
    """The number of failures in it, which are counted if it is omitted."""


def github(report: Report, limit: int = LIMIT) -> str:
    """The summary in at most ``limit`` bytes: rates by suite and backend, causes, failures by operator version.

    It is HTML inside Markdown, so that HTML escaping is enough for text from backends and models. If it does not fit,
    it ends with the number of omitted data sets.
    """
    room = limit - _RESERVED
    written: list[str] = []
    left = 0
    full = False
    for block in _blocks(report):
        size = len(block.text.encode())
        full |= size > room
        if full:
            left += block.data_sets
        else:
            written.append(block.text)
            room -= size
    if full:
        more = f"{plural(left, 'more data set')}" if left else "The rest does not fit here"
        written.append(f"\n<p><b>{more}: see report.html.</b></p>\n")
    return "".join(written)


def _blocks(report: Report) -> Iterator[_Block]:
    summary = report.summary
    yield _Block("## ONNX conformance\n\n")
    if summary.selection:
        yield _Block(f"<p>Selection: {_code(summary.selection)}.</p>\n\n")
    for suite in summary.suites:
        yield from _overview(suite)
    pairs = [(suite, table) for suite in summary.suites for table in suite.operators if table.failures]
    if not pairs:
        yield _Block("<p>No failures.</p>\n" if summary.suites else "<p>No results.</p>\n")
    yield from _causes(summary.suites)
    for known, heading in ((False, "Unexpected failures"), (True, "Known failures")):
        found = [(suite, table, _of(table, known=known)) for suite, table in pairs]
        found = [one for one in found if one[2]]
        total = sum(map(_data_sets, (failures for *_, failures in found)))
        if total:
            where = f"{plural(total, 'data set')} in {plural(len(found), 'operator version')}"
            yield _Block(f"\n### {heading}: {where}\n\n")
        for suite, table, failures in sorted(found, key=lambda one: -_data_sets(one[2])):
            yield _operator(suite, table, failures, MAX_KNOWN if known else MAX_UNEXPECTED)


def _code(text: str, width: int = 300) -> str:
    """Text from backends and models. In ``<code>`` GitHub creates no links, mentions or emoji."""
    return f"<code>{html.escape(one_line(text, width))}</code>"


def _overview(suite: SuiteSummary) -> Iterator[_Block]:
    headers = [
        "backend",
        "passed",
        "rate",
        "unexpected",
        "known",
        "unsupported",
        "not scored",
        "worst error in bounds",
    ]
    rows = [_row("th", map(html.escape, headers))]
    rows += [
        _row("td", (_code(run.label, 100), *_cells(tally)))
        for run, tally in zip(suite.runs, suite.tallies, strict=True)
    ]
    yield _Block(f"<p><b>Suite {_code(suite.name, 100)}</b></p>\n<table>\n{''.join(rows)}</table>\n\n")
    for note in suite.notes:
        yield _Block(f"<p>Note: {_note(note)}</p>\n\n")


def _causes(suites: Sequence[SuiteSummary]) -> Iterator[_Block]:
    """The groups of failures, those with the most unexpected failures first."""
    found = [(suite, group) for suite in suites for group in suite.groups]
    found.sort(key=lambda one: (one[1].known - one[1].failures, -one[1].failures))
    items = [
        f"<li>{_code(suite.runs[group.run].label, 100)} in {_code(suite.name, 100)}: {group_text(group, _code)}"
        f"{f'; {format_count(group.known)} known' if group.known else ''}</li>\n"
        for suite, group in found[:MAX_CAUSES]
    ]
    if len(found) > MAX_CAUSES:
        items.append(f"<li>{plural(len(found) - MAX_CAUSES, 'more cause')}</li>\n")
    if items:
        yield _Block(f"\n### Failures by cause: {format_count(len(found))}\n\n<ul>\n{''.join(items)}</ul>\n\n")


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>\n"


def _cells(tally: Tally) -> Iterator[str]:
    yield tally.rate
    yield html.escape(percent(tally.passed, tally.scored))
    unsupported = tally.verdicts.get("unsupported", 0)
    yield from map(format_count, (tally.unexpected, tally.known, unsupported, tally.total - tally.scored))
    yield html.escape(format_measure(tally.error))


def _note(note: Note) -> str:
    parts = (note.run and _code(note.run, 100), html.escape(note.text), note.detail and _code(note.detail))
    return " ".join(filter(None, parts))


def _of(table: OperatorTable, *, known: bool) -> list[Failure]:
    return [failure for failure in table.failures if bool(failure.result.known) == known]


def _data_sets(failures: Sequence[Failure]) -> int:
    return sum(1 + failure.duplicates for failure in failures)


def _operator(suite: SuiteSummary, table: OperatorTable, failures: Sequence[Failure], maximum: int) -> _Block:
    heading = f"{_code(table.title, 100)} in {_code(suite.name, 100)}: {plural(_data_sets(failures), 'data set')}"
    items = [_failure(suite, failure) for failure in failures[:maximum]]
    if rest := _data_sets(failures[maximum:]):
        items.append(f"<li>{plural(rest, 'more data set')}</li>\n")
    text = f"<details><summary>{heading}</summary>\n<ul>\n{''.join(items)}</ul>\n</details>\n\n"
    return _Block(text, _data_sets(failures))


def _failure(suite: SuiteSummary, failure: Failure) -> str:
    result = failure.result
    lines = [f"{_code(suite.runs[failure.run].label, 100)}: {verdict_text(result.verdict)}"]
    lines[0] += f" ({plural(failure.duplicates, 'more data set')} with the same message)" if failure.duplicates else ""
    lines += [_code(result.message)] if result.message.strip() else []
    lines += [f"known: {_code(result.known)}"] if result.known and result.known != result.message else []
    lines += [_code(failure.node), f"reproduce: {_code(failure.reproduce, 1000)}"]
    return f"<li>{'<br>'.join(lines)}</li>\n"
