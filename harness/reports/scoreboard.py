"""The scoreboard in Markdown, to commit: rates, accuracy and speed of each backend on complete suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from harness.errors import UsageError
from harness.reports.gather import Report, RunInfo, SuiteSummary
from harness.reports.markdown_text import code_span, inline, table_lines
from harness.reports.tables import Tally, type_sort_key
from harness.reports.text import format_count, format_measure, percent, plural, verdict_text
from harness.results.lines import UNSCORED, VERDICTS, Result, Verdict
from harness.spec.element_types import BY_NAME

INTRODUCTION = """\
# Scoreboard

Conformance of ONNX backends. The unit is data sets: `12/16 (75.0 %)` means that 12 of 16 scored data sets passed.
*Unspecified* data sets, for which the specification leaves the answer open, and *insensitive* ones, whose bounds are
too wide to fail, are not scored. Unsupported data sets and those that did not run are scored and count as not passed.
In the tables by element type, a data set is counted once for each element type of its node's type variables.

**Accuracy.** Errors are measured in *bounds*: |actual - expected| divided by the error that rounding alone may cause.
An error of 0 means equal, and up to 4 passes. The tables count scored data sets that are compared by bounds, passed or
not, by the error of their worst element. Outputs with a wrong shape or type have no error, and neither have those that
are compared by a tolerance or by a statistical test.

**Speed.** The medians are over the time that the backend's own calls took. Data sets per second are for the whole run,
including the time the harness needs to read, compare and write. The tensors are small, so these numbers show overhead,
not throughput. They differ between runs and machines, unlike everything else on this page."""

REPRODUCTION = """\
## Reproduce this page

```console
$ make conformance     # generate the suites and run the backends on them
$ make exhaustive      # the same for the suite of all values; optional
$ make scoreboard      # write this page from the results
```

The digest of a suite is the SHA-256 of its `manifest.jsonl`. Two suites with the same digest have the same models,
inputs, expected values and bounds. A scoreboard requires complete runs.

## Files in this folder

`onnx-conformance run` writes `<suite>/<backend>/results.jsonl`, one line per data set, and saves failing outputs in
`got/` next to it. `onnx-conformance report` writes reports of all results in this folder. Only this page and the
screenshots are committed."""

_NO_TYPE, _COMPOSITE = "no type variables", "sequences, optionals, maps"


class IncompleteRun(UsageError):
    """A run that is not allowed on a scoreboard: unfinished, or of part of a suite or of another version of it."""

    advice = "Run the complete suites: make conformance scoreboard."


def scoreboard(report: Report) -> str:
    """The page. Everything but the speed is the same for the same suites, backends and versions.

    Raises IncompleteRun if there are no runs, or if one does not cover its whole suite.
    """
    _require_complete(report)
    lines = [INTRODUCTION, ""]
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        lines.extend(_suite(suite, runs))
    return "\n".join([*lines, REPRODUCTION, ""])


def _require_complete(report: Report) -> None:
    summary = report.summary
    if summary.selection:
        raise IncompleteRun(f"A scoreboard cannot be limited to a selection ({summary.selection}).")
    if not summary.suites:
        raise IncompleteRun("There are no runs for a scoreboard.")
    for suite in summary.suites:
        for run in suite.runs:
            whole = run.headers[0].suite_data_sets
            if not run.complete or run.data_sets < whole:
                state = "has" if run.finished else "is unfinished and has"
                part = f"{format_count(run.executed)} of {format_count(whole)} data sets"
                raise IncompleteRun(
                    f"A scoreboard requires complete runs, but the run of {suite.name} on {run.label} {state} {part}."
                )
        digests = sorted({header.digest[:12] for run in suite.runs for header in run.headers})
        if len(digests) > 1:
            raise IncompleteRun(
                f"The runs of {suite.name} used different versions of the suite, with digests {', '.join(digests)}."
            )


def _suite(suite: SuiteSummary, runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    labels = [inline(run.label) for run in suite.runs]
    data_sets = max(tally.scored for tally in suite.tallies)
    versions = sum(1 for table in suite.operators if table.op)
    yield f"## Suite {inline(suite.name)}"
    yield ""
    yield f"Digest (SHA-256 of its manifest): {code_span(suite.runs[0].headers[0].digest)}"
    yield ""
    yield (
        f"{plural(data_sets, 'scored data set')} of {plural(versions, 'operator version')}. "
        f"Coverage: {suite.coverage_text}."
    )
    yield ""
    yield from _overview(suite, labels)
    yield from _accuracy(labels, runs)
    if len(suite.categories) > 1:
        yield "### By category"
        yield ""
        rows = [[inline(row.category), *(_rate(t.passed, t.scored) for t in row.tallies)] for row in suite.categories]
        yield from table_lines(rows, ["category", *labels])
    yield from _types(labels, runs)
    yield from _speed(suite.runs, labels, runs)


def _rate(passed: int, scored: int) -> str:
    return f"{format_count(passed)}/{format_count(scored)} ({percent(passed, scored)})" if scored else ""


def _overview(suite: SuiteSummary, labels: Sequence[str]) -> list[str]:
    found: list[Verdict] = [
        verdict for verdict in VERDICTS[1:] if any(tally.verdicts.get(verdict) for tally in suite.tallies)
    ]

    def row(label: str, run: RunInfo, tally: Tally) -> list[str]:
        rates = [_rate(tally.passed, tally.scored), percent(tally.passed, tally.supported)]
        counts = [format_count(tally.verdicts.get(verdict, 0)) for verdict in found]
        return [label, inline(_pairs(run.description.configuration)), *rates, *counts]

    rows = map(row, labels, suite.runs, suite.tallies)
    return table_lines(
        list(rows), ["backend", "configuration", "passed", "rate of supported", *map(verdict_text, found)], 2
    )


def _pairs(facts: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items())


def _accuracy(labels: Sequence[str], runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    rows: list[list[str]] = []
    for label, results in zip(labels, runs, strict=True):
        errors = [float(r.error) for r in results if r.error is not None and r.verdict not in UNSCORED]
        shares = [sum(1 for e in errors if e == 0), sum(1 for e in errors if e <= 1), sum(1 for e in errors if e <= 4)]
        worst = format_measure(max(errors)) if errors else ""
        cells = [f"{format_count(n)} ({percent(n, len(errors))})" for n in (*shares, len(errors) - shares[-1])]
        rows.append([label, format_count(len(errors)), *(cells if errors else [""] * len(cells)), worst])
    if any(row[-1] for row in rows):
        yield "### Accuracy"
        yield ""
        headers = ["backend", "measured", "equal", "≤ 1 bound", "≤ 4 bounds", "> 4 bounds", "worst"]
        yield from table_lines(rows, headers)


def _types(labels: Sequence[str], runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    scored: list[Counter[str]] = [Counter() for _ in runs]
    passed: list[Counter[str]] = [Counter() for _ in runs]
    for n, results in enumerate(runs):
        for result in results:
            if result.verdict not in UNSCORED:
                types = _element_types(result)
                scored[n].update(types)
                passed[n].update(types if result.verdict == "passed" else ())
    found = sorted({of for one in scored for of in one}, key=lambda of: (of == _NO_TYPE, type_sort_key(of)))
    yield "### By element type"
    yield ""
    rows = [
        [inline(of) if of in BY_NAME else of, *(_rate(p[of], s[of]) for p, s in zip(passed, scored, strict=True))]
        for of in found
    ]
    yield from table_lines(rows, ["element type", *labels])


def _element_types(result: Result) -> set[str]:
    types = set(result.labels.types.values())
    return {of if of in BY_NAME else _COMPOSITE for of in types} or {_NO_TYPE}


def _speed(facts: Sequence[RunInfo], labels: Sequence[str], runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    yield "### Speed"
    yield ""
    rows = [
        [
            label,
            inline(", ".join(dict.fromkeys(_pairs(header.machine) for header in run.headers))),
            _milliseconds([result.prepare_seconds for result in results]),
            _milliseconds([result.seconds for result in results]),
            format_count(round(run.executed / run.seconds)) if run.seconds else "",
        ]
        for label, run, results in zip(labels, facts, runs, strict=True)
    ]
    headers = [
        "backend",
        "machine",
        "median time to prepare a model",
        "median time to run a data set",
        "data sets per second",
    ]
    yield from table_lines(rows, headers, labels=2)


def _milliseconds(seconds: Sequence[float]) -> str:
    """The median of the times above 0. A time is 0 if the step was not reached or the model was already prepared."""
    measured = [one for one in seconds if one > 0]
    return f"{median(measured) * 1000:.3g} ms" if measured else ""
