"""The scoreboard that is committed: each backend's rates, accuracy and speed over whole suites, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from harness.errors import UsageError
from harness.reports.gather import Report, RunFacts, SuiteSummary
from harness.reports.markdown_text import code, grid, shown
from harness.reports.tables import Tally, type_order
from harness.reports.text import count, counted, measure, percent, verdict_words
from harness.results.lines import VERDICTS, Result, Verdict
from harness.spec.element_types import BY_NAME

INTRODUCTION = """\
# Scoreboard

What ONNX backends get right, counted in data sets: `12/16 (75.0 %)` means that 12 of 16 scored data sets passed. Data
sets where the specification leaves the answer open are not scored; what a backend does not support or did not run is,
and is never a pass. In the tables by element type a data set counts for each type that a type variable of its node has.

**Accuracy.** An error is measured in *bounds*: |got - expected| divided by what rounding alone may do; 0 for a result
that is equal, and at most 4 passes. Measured are the scored answers that are judged by bounds, whether or not they
passed, each by its worst element. An answer of the wrong shape or type has no error, and neither has one that is judged
by a tolerance or by a law of randomness.

**Speed.** The medians are of the seconds that the backend's own calls took; data sets a second are those of the whole
run, with the harness's reading, comparing and writing. The tensors are small, so this tells of overhead and not of
throughput; and unlike all else on this page it differs from run to run and from machine to machine."""

AGAIN = """\
## How to make it again

```console
$ make conformance     # generates the suites, runs the backends over them
$ make exhaustive      # the same for the suite of all values, where it is to be part of this page
$ make scoreboard      # writes this page from the results
```

The digest of a suite is the SHA-256 of its `manifest.jsonl`: where it is the same, so are all models, inputs, expected
values and bounds. A run of part of a suite makes no scoreboard.

## What this folder holds

`onnx-conformance run` writes `<suite>/<backend>/results.jsonl` here, a line a data set, and keeps the answers that did
not pass in `got/` beside it; `onnx-conformance report` makes reports of all the results it finds. None of it is
committed but this page."""

_NO_TYPE, _COMPOSITE = "no type variable", "sequences, optionals, maps"


class NotWhole(UsageError):
    """Runs that cannot stand on a scoreboard: of part of a suite, unfinished, narrowed or of different suites."""

    advice = "Run whole suites, then make it again: make conformance scoreboard."


def scoreboard(report: Report) -> str:
    """The page. All of it but the speed is the same for the same suites, backends and versions.

    Raises NotWhole where there is no run, or one that is not over the whole of its suite.
    """
    _require_whole(report)
    lines = [INTRODUCTION, ""]
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        lines.extend(_suite(suite, runs))
    return "\n".join([*lines, AGAIN, ""])


def _require_whole(report: Report) -> None:
    summary = report.summary
    if summary.selection:
        raise NotWhole(f"A scoreboard is of everything, not of {summary.selection} alone.")
    if not summary.suites:
        raise NotWhole("There is no run to make a scoreboard of.")
    for suite in summary.suites:
        for run in suite.runs:
            whole = run.headers[0].suite_data_sets
            if not run.complete or run.data_sets < whole:
                state = "has run" if run.finished else "is unfinished, with"
                raise NotWhole(
                    f"A scoreboard is of whole runs, and {run.label} {state} {count(run.ran)} of the {count(whole)} "
                    f"data sets of {suite.name}."
                )
        digests = sorted({header.digest[:12] for run in suite.runs for header in run.headers})
        if len(digests) > 1:
            raise NotWhole(f"A scoreboard is over the same data, and {suite.name} has digests {', '.join(digests)}.")


def _suite(suite: SuiteSummary, runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    labels = [shown(run.label) for run in suite.runs]
    data_sets = max(tally.scored for tally in suite.tallies)
    versions = sum(1 for table in suite.operators if table.op)
    yield f"## Suite {shown(suite.name)}"
    yield ""
    yield f"SHA-256 of its manifest: {code(suite.runs[0].headers[0].digest)}"
    yield ""
    yield (
        f"It has {counted(data_sets, 'scored data set')} of {counted(versions, 'operator version')}, and exercises "
        f"{suite.exercised}."
    )
    yield ""
    yield from _overview(suite, labels)
    yield from _accuracy(labels, runs)
    if len(suite.categories) > 1:
        yield "### By category"
        yield ""
        rows = [[shown(row.category), *(_rate(t.passed, t.scored) for t in row.tallies)] for row in suite.categories]
        yield from grid(rows, ["category", *labels])
    yield from _types(labels, runs)
    yield from _speed(suite.runs, labels, runs)


def _rate(passed: int, scored: int) -> str:
    return f"{count(passed)}/{count(scored)} ({percent(passed, scored)})" if scored else ""


def _overview(suite: SuiteSummary, labels: Sequence[str]) -> list[str]:
    found: list[Verdict] = [
        verdict for verdict in VERDICTS[1:] if any(tally.verdicts.get(verdict) for tally in suite.tallies)
    ]

    def row(label: str, run: RunFacts, tally: Tally) -> list[str]:
        rates = [_rate(tally.passed, tally.scored), percent(tally.passed, tally.supported)]
        counts = [count(tally.verdicts.get(verdict, 0)) for verdict in found]
        return [label, shown(_pairs(run.description.configuration)), *rates, *counts]

    rows = map(row, labels, suite.runs, suite.tallies)
    return grid(list(rows), ["backend", "configuration", "passed", "of those supported", *map(verdict_words, found)], 2)


def _pairs(facts: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items())


def _accuracy(labels: Sequence[str], runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    rows: list[list[str]] = []
    for label, results in zip(labels, runs, strict=True):
        errors = [float(r.error) for r in results if r.error is not None and r.verdict != "unspecified"]
        shares = [sum(1 for e in errors if e == 0), sum(1 for e in errors if e <= 1), sum(1 for e in errors if e <= 4)]
        worst = measure(max(errors)) if errors else ""
        cells = [f"{count(n)} ({percent(n, len(errors))})" for n in (*shares, len(errors) - shares[-1])]
        rows.append([label, count(len(errors)), *(cells if errors else [""] * len(cells)), worst])
    if any(row[-1] for row in rows):
        yield "### Accuracy"
        yield ""
        headers = ["backend", "measured", "equal", "within 1 bound", "within 4", "above 4", "worst"]
        yield from grid(rows, headers)


def _types(labels: Sequence[str], runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    scored: list[Counter[str]] = [Counter() for _ in runs]
    passed: list[Counter[str]] = [Counter() for _ in runs]
    for n, results in enumerate(runs):
        for result in results:
            if result.verdict != "unspecified":
                types = _kinds(result)
                scored[n].update(types)
                passed[n].update(types if result.verdict == "passed" else ())
    found = sorted({of for one in scored for of in one}, key=lambda of: (of == _NO_TYPE, type_order(of)))
    yield "### By element type"
    yield ""
    rows = [
        [shown(of) if of in BY_NAME else of, *(_rate(p[of], s[of]) for p, s in zip(passed, scored, strict=True))]
        for of in found
    ]
    yield from grid(rows, ["element type", *labels])


def _kinds(result: Result) -> set[str]:
    types = set(result.labels.types.values())
    return {of if of in BY_NAME else _COMPOSITE for of in types} or {_NO_TYPE}


def _speed(facts: Sequence[RunFacts], labels: Sequence[str], runs: Sequence[Sequence[Result]]) -> Iterator[str]:
    yield "### Speed"
    yield ""
    rows = [
        [
            label,
            shown(", ".join(dict.fromkeys(_pairs(header.machine) for header in run.headers))),
            _milliseconds([result.prepare_seconds for result in results]),
            _milliseconds([result.seconds for result in results]),
            count(round(run.ran / run.seconds)) if run.seconds else "",
        ]
        for label, run, results in zip(labels, facts, runs, strict=True)
    ]
    headers = [
        "backend",
        "machine",
        "median of preparing a model",
        "median of running a data set",
        "data sets a second",
    ]
    yield from grid(rows, headers, labels=2)


def _milliseconds(seconds: Sequence[float]) -> str:
    """The median of what was measured; the rest did not get so far, or shares its model with a data set before it."""
    measured = [one for one in seconds if one > 0]
    return f"{median(measured) * 1000:.3g} ms" if measured else ""
