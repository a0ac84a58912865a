"""The compliance report to publish, in Markdown: every operator version by element type and attribute combination."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.reports.gather import Report, RunFacts, SuiteSummary
from harness.reports.groups import FailureGroup, told, urgency
from harness.reports.markdown_text import code, grid, shown
from harness.reports.tables import Failure, OperatorTable
from harness.reports.text import OMITTED, count, counted, measure, one_line, percent, verdict_words
from harness.results.lines import VERDICTS, Verdict

FAILURES = 10
"""Groups of failures and single ones shown for an operator version."""
GROUPS = 20
"""Groups of failures shown for each run over a suite, of all operators."""

LEGEND = """\
**How to read this.** `12/16 · 4 unsupported` means that 12 of 16 scored data sets passed. Silent data sets, where the
specification leaves the answer open, are not scored; what a backend does not support or did not run is, and is never a
pass. An error is measured in *bounds*: |got - expected| divided by what rounding alone may do, 0 for results that need
no rounding; at most 4 passes. An *ulp* is a unit in the last place of the expected value. *Known* failures are those
that the backend's expectations name. – stands for what a node leaves out; an empty cell has no result."""


def markdown(report: Report) -> str:
    """The whole report. Text from backends and models stands in code spans unless it is plain words and numbers."""
    summary = report.summary
    lines = ["# ONNX conformance", "", LEGEND, ""]
    if summary.selection:
        lines += [f"This report shows only {code(summary.selection)}.", ""]
    for suite in summary.suites:
        lines.extend(_suite(suite))
    return "\n".join(lines)


def _suite(suite: SuiteSummary) -> Iterator[str]:
    labels = [shown(run.label) for run in suite.runs]
    yield f"## Suite {shown(suite.name)}"
    yield ""
    for note in suite.notes:
        words = filter(None, [note.run and f"**{shown(note.run)}**", note.text, note.detail and code(note.detail)])
        yield f"- {' '.join(words)}"
    yield from [""] if suite.notes else []
    yield f"Exercised by these runs: {suite.exercised}."
    yield ""
    yield from grid(list(_facts(suite.runs)), ["", *labels], labels=1 + len(labels))
    yield "### Overview"
    yield ""
    yield from _overview(suite, labels)
    yield from _groups(suite, labels)
    yield "### Categories"
    yield ""
    yield from grid([[shown(row.category), *map(str, row.tallies)] for row in suite.categories], ["category", *labels])
    yield "### Operator versions"
    yield ""
    yield from grid(
        [[_link(t, suite), t.coverage.product, *map(str, t.tallies)] for t in suite.operators],
        ["operator", "types × attributes", *labels],
    )
    for table in suite.operators:
        yield f"### {_heading(table, suite)}"
        yield ""
        yield from operator_lines(table, labels)


def _facts(runs: Sequence[RunFacts]) -> Iterator[list[str]]:
    """Rows of what was run; a fact that differs between the shards of a run is given for each."""

    def row(name: str, facts: list[list[str]]) -> list[str]:
        return [name, *("; ".join(shown(fact) for fact in dict.fromkeys(cell) if fact) for cell in facts)]

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
    yield row("digest of the suite", [[h.digest[:12] for h in hs] for hs in headers])
    yield row("started", [[h.started for h in hs] for hs in headers])
    yield ["took", *(f"{measure(run.seconds)} s" if run.finished else "unfinished" for run in runs)]
    yield ["data sets run", *(f"{count(run.ran)} of {count(run.data_sets)}" for run in runs)]


def _overview(suite: SuiteSummary, labels: Sequence[str]) -> list[str]:
    found: list[Verdict] = [v for v in VERDICTS[1:] if any(tally.verdicts.get(v) for tally in suite.tallies)]
    headers = ["backend", "passed", "rate", "of those supported", *map(verdict_words, found)]
    headers += ["worst error in bounds", "in ulps", "passes ONNX's tolerance", "known", "unexpected"]
    return grid(
        [
            [
                label,
                tally.rate,
                percent(tally.passed, tally.scored),
                percent(tally.passed, tally.supported),
                *(count(tally.verdicts.get(verdict, 0)) for verdict in found),
                measure(tally.error),
                measure(tally.ulps),
                f"{count(tally.onnx_tolerance)}/{count(tally.scored)}",
                count(tally.known),
                count(tally.unexpected),
            ]
            for label, tally in zip(labels, suite.tallies, strict=True)
        ],
        headers,
    )


def _heading(table: OperatorTable, suite: SuiteSummary) -> str:
    return f"{shown(table.title)} in {shown(suite.name)}"


def _link(table: OperatorTable, suite: SuiteSummary) -> str:
    """To the section of an operator version, by the anchor that Markdown viewers give its heading."""
    anchor = re.sub(r"[^\w -]", "", _heading(table, suite).lower()).replace(" ", "-")
    return f"[{shown(table.title)}](#{anchor})"


def operator_lines(table: OperatorTable, labels: Sequence[str]) -> Iterator[str]:
    """What a suite says of one operator version, below its heading; ``labels`` are those of the runs, in Markdown."""
    if table.op:
        yield f"Exercises {table.coverage}."
        yield ""
    yield from grid(
        [
            ["all", *map(str, table.tallies)],
            ["worst error in bounds", *(measure(tally.error) for tally in table.tallies)],
            ["worst error in ulps", *(measure(tally.ulps) for tally in table.tallies)],
        ],
        ["", *labels],
    )
    if table.types:
        rows = [[shown(row.variable), shown(row.type) or "–", *map(str, row.tallies)] for row in table.types]
        yield from grid(rows, ["variable", "element type", *labels], labels=2)
    if table.attributes:
        names = list(table.attributes[0].values)
        rows = [[*map(_attribute, row.values.values()), *map(str, row.tallies)] for row in table.attributes]
        yield from grid(rows, [*map(shown, names), *labels], labels=len(names))
    elif table.op:
        yield "No attributes."
        yield ""
    yield from _failures(table, labels)


def _attribute(value: str) -> str:
    return "–" if value == OMITTED else shown(one_line(value, 60)) or code("")


def _groups(suite: SuiteSummary, labels: Sequence[str]) -> Iterator[str]:
    """For each run the largest groups over all operators."""
    if suite.groups:
        yield "### Failures by what they have in common"
        yield ""
    for run, label in enumerate(labels):
        groups = sorted((g for g in suite.groups if g.run == run), key=lambda g: (-g.failures, *urgency(g)))
        yield from (line for group in groups[:GROUPS] for line in _group(group, label))
        if len(groups) > GROUPS:
            yield f"- **{label}**, and {counted(len(groups) - GROUPS, 'group')} more, of at most "
            yield f"  {counted(groups[GROUPS].failures, 'data set')} each: they are with their operators below"
        yield from [""] if groups else []


def _group(group: FailureGroup, label: str) -> Iterator[str]:
    message = f": {code(one_line(group.example.message))}" if group.example.message else ""
    known = f"; {count(group.known)} known" if group.known else ""
    yield f"- **{label}**, {told(group, code)}{known}"
    yield f"  - such as {code(group.example.node)}{message}"
    yield f"  - reproduce: {code(group.example.reproduce)}"


def _failures(table: OperatorTable, labels: Sequence[str]) -> Iterator[str]:
    for group in table.groups[:FAILURES]:
        yield from _group(group, labels[group.run])
    room = max(FAILURES - len(table.groups), 0)
    for failure in table.failures[:room]:
        yield from _failure(failure, labels[failure.run])
    rest = sum(1 + failure.alike for failure in table.failures[room:])
    if rest:
        yield f"- and {counted(rest, 'data set')} more, in the results of the runs"
    yield from [""] if table.failures else []


def _failure(failure: Failure, label: str) -> Iterator[str]:
    result = failure.result
    alike = f" (and {counted(failure.alike, 'data set')} more that say the same)" if failure.alike else ""
    known = f", known: {code(result.known)}" if result.known else ""
    message = f": {code(one_line(result.message))}" if result.message else ""
    yield f"- **{label}**, {verdict_words(result.verdict)}{message}{alike}{known}"
    yield f"  - node: {code(failure.node)}"
    yield f"  - reproduce: {code(failure.reproduce)}"
