"""The full report in Markdown: every operator version by element type and attribute combination."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.reports.gather import Report, RunInfo, SuiteSummary
from harness.reports.groups import FailureGroup, group_sort_key, group_text
from harness.reports.markdown_text import code_span, inline, table_lines
from harness.reports.tables import Failure, OperatorTable
from harness.reports.text import OMITTED, format_count, format_measure, one_line, percent, plural, verdict_text
from harness.results.lines import VERDICTS, Verdict

MAX_FAILURES = 10
"""The maximum number of failures and groups of failures shown for an operator version."""
MAX_GROUPS = 20
"""The maximum number of groups of failures over all operators shown for each run."""

LEGEND = """\
**How to read this report.** `12/16 · 4 unsupported` means that 12 of 16 scored data sets passed. *Unspecified* data
sets, for which the specification leaves the answer open, and *insensitive* ones, whose bounds are too wide to fail, are
not scored. Unsupported data sets and those that did not run are scored and count as not passed. Errors are measured in
*bounds*: |actual - expected| divided by the error that rounding alone may cause. Results that need no rounding must be
exact. An error of up to 4 bounds passes. An *ulp* is a unit in the last place of the expected value. *Known* failures
are listed in the backend's expectations. – means that the node omits the attribute or type. An empty cell has no
result."""


def markdown(report: Report) -> str:
    """The full report. Text from backends and models is in code spans unless it is only words and numbers."""
    summary = report.summary
    lines = ["# ONNX conformance", "", LEGEND, ""]
    if summary.selection:
        lines += [f"Selection: {code_span(summary.selection)}.", ""]
    for suite in summary.suites:
        lines.extend(_suite(suite))
    return "\n".join(lines)


def _suite(suite: SuiteSummary) -> Iterator[str]:
    labels = [inline(run.label) for run in suite.runs]
    yield f"## Suite {inline(suite.name)}"
    yield ""
    for note in suite.notes:
        words = filter(
            None, [note.run and f"**{inline(note.run)}**", note.text, note.detail and code_span(note.detail)]
        )
        yield f"- {' '.join(words)}"
    yield from [""] if suite.notes else []
    yield f"Coverage: {suite.coverage_text}."
    yield ""
    yield from table_lines(list(_facts(suite.runs)), ["", *labels], labels=1 + len(labels))
    yield "### Overview"
    yield ""
    yield from _overview(suite, labels)
    yield from _groups(suite, labels)
    yield "### Categories"
    yield ""
    yield from table_lines(
        [[inline(row.category), *map(str, row.tallies)] for row in suite.categories], ["category", *labels]
    )
    yield "### Operator versions"
    yield ""
    yield from table_lines(
        [[_link(t, suite), t.coverage.types_by_attributes, *map(str, t.tallies)] for t in suite.operators],
        ["operator", "types × attributes", *labels],
    )
    for table in suite.operators:
        yield f"### {_heading(table, suite)}"
        yield ""
        yield from operator_lines(table, labels)


def _facts(runs: Sequence[RunInfo]) -> Iterator[list[str]]:
    """Rows of facts about the runs. If the shards of a run differ, all their values are listed."""

    def row(name: str, facts: list[list[str]]) -> list[str]:
        return [name, *("; ".join(inline(fact) for fact in dict.fromkeys(cell) if fact) for cell in facts)]

    def pairs(facts: dict[str, str]) -> str:
        return ", ".join(f"{key}: {value}" for key, value in facts.items() if value)

    headers = [run.headers for run in runs]
    yield row("backend", [[h.backend for h in hs] for hs in headers])
    yield row("version", [[h.description.version for h in hs] for hs in headers])
    yield row("device", [[h.description.device for h in hs] for hs in headers])
    yield row("configuration", [[pairs(h.description.configuration) for h in hs] for hs in headers])
    yield row("machine", [[pairs(h.machine) for h in hs] for hs in headers])
    yield row("versions", [[pairs(h.versions) for h in hs] for hs in headers])
    yield row("options", [[pairs(h.options) for h in hs] for hs in headers])
    yield row("suite digest", [[h.digest[:12] for h in hs] for hs in headers])
    yield row("started", [[h.started for h in hs] for hs in headers])
    yield ["duration", *(f"{format_measure(run.seconds)} s" if run.finished else "unfinished" for run in runs)]
    yield ["data sets run", *(f"{format_count(run.executed)} of {format_count(run.data_sets)}" for run in runs)]


def _overview(suite: SuiteSummary, labels: Sequence[str]) -> list[str]:
    found: list[Verdict] = [v for v in VERDICTS[1:] if any(tally.verdicts.get(v) for tally in suite.tallies)]
    headers = ["backend", "passed", "rate", "rate of supported", *map(verdict_text, found)]
    headers += ["worst error in bounds", "in ulps", "passed with ONNX's tolerance", "known", "unexpected"]
    return table_lines(
        [
            [
                label,
                tally.rate,
                percent(tally.passed, tally.scored),
                percent(tally.passed, tally.supported),
                *(format_count(tally.verdicts.get(verdict, 0)) for verdict in found),
                format_measure(tally.error),
                format_measure(tally.ulps),
                f"{format_count(tally.onnx_tolerance)}/{format_count(tally.scored)}",
                format_count(tally.known),
                format_count(tally.unexpected),
            ]
            for label, tally in zip(labels, suite.tallies, strict=True)
        ],
        headers,
    )


def _heading(table: OperatorTable, suite: SuiteSummary) -> str:
    return f"{inline(table.title)} in {inline(suite.name)}"


def _link(table: OperatorTable, suite: SuiteSummary) -> str:
    """A link to the section of an operator version. The anchor is the one that Markdown viewers generate."""
    anchor = re.sub(r"[^\w -]", "", _heading(table, suite).lower()).replace(" ", "-")
    return f"[{inline(table.title)}](#{anchor})"


def operator_lines(table: OperatorTable, labels: Sequence[str]) -> Iterator[str]:
    """The section of one operator version without its heading. ``labels`` are the run labels in Markdown."""
    if table.op:
        yield f"Coverage: {table.coverage}."
        yield ""
    yield from table_lines(
        [
            ["all", *map(str, table.tallies)],
            ["worst error in bounds", *(format_measure(tally.error) for tally in table.tallies)],
            ["worst error in ulps", *(format_measure(tally.ulps) for tally in table.tallies)],
        ],
        ["", *labels],
    )
    if table.types:
        rows = [[inline(row.variable), inline(row.type) or "–", *map(str, row.tallies)] for row in table.types]
        yield from table_lines(rows, ["variable", "element type", *labels], labels=2)
    if table.attributes:
        names = list(table.attributes[0].values)
        rows = [[*map(_attribute, row.values.values()), *map(str, row.tallies)] for row in table.attributes]
        yield from table_lines(rows, [*map(inline, names), *labels], labels=len(names))
    elif table.op:
        yield "No attributes."
        yield ""
    yield from _failures(table, labels)


def _attribute(value: str) -> str:
    return "–" if value == OMITTED else inline(one_line(value, 60)) or code_span("")


def _groups(suite: SuiteSummary, labels: Sequence[str]) -> Iterator[str]:
    """The largest groups of failures over all operators, for each run."""
    if suite.groups:
        yield "### Failures by cause"
        yield ""
    for run, label in enumerate(labels):
        groups = sorted((g for g in suite.groups if g.run == run), key=lambda g: (-g.failures, *group_sort_key(g)))
        yield from (line for group in groups[:MAX_GROUPS] for line in _group(group, label))
        if len(groups) > MAX_GROUPS:
            yield f"- **{label}**: {plural(len(groups) - MAX_GROUPS, 'more group')} of at most "
            yield f"  {plural(groups[MAX_GROUPS].failures, 'data set')} each, listed below by operator version"
        yield from [""] if groups else []


def _group(group: FailureGroup, label: str) -> Iterator[str]:
    message = f": {code_span(one_line(group.example.message))}" if group.example.message else ""
    known = f"; {format_count(group.known)} known" if group.known else ""
    yield f"- **{label}**, {group_text(group, code_span)}{known}"
    yield f"  - example: {code_span(group.example.node)}{message}"
    yield f"  - reproduce: {code_span(group.example.reproduce)}"


def _failures(table: OperatorTable, labels: Sequence[str]) -> Iterator[str]:
    for group in table.groups[:MAX_FAILURES]:
        yield from _group(group, labels[group.run])
    room = max(MAX_FAILURES - len(table.groups), 0)
    for failure in table.failures[:room]:
        yield from _failure(failure, labels[failure.run])
    rest = sum(1 + failure.duplicates for failure in table.failures[room:])
    if rest:
        yield f"- {plural(rest, 'more data set')}: see the results files of the runs"
    yield from [""] if table.failures else []


def _failure(failure: Failure, label: str) -> Iterator[str]:
    result = failure.result
    alike = f" ({plural(failure.duplicates, 'more data set')} with the same message)" if failure.duplicates else ""
    known = f", known: {code_span(result.known)}" if result.known else ""
    message = f": {code_span(one_line(result.message))}" if result.message else ""
    yield f"- **{label}**, {verdict_text(result.verdict)}{message}{alike}{known}"
    yield f"  - node: {code_span(failure.node)}"
    yield f"  - reproduce: {code_span(failure.reproduce)}"
