"""The report in the Common Test Report Format: a JSON document a run, as its specification 0.0.0 has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from harness.reports.ci import Check, details, lasted, outcome, seconds, started
from harness.reports.ci import checks as checks_of
from harness.reports.file_names import file_names
from harness.reports.gather import Report, RunFacts
from harness.reports.text import node, reproduce, title
from harness.results.lines import Header, Measure, Result

VERSION = "0.0.0"
"""Of the specification."""

Status = Literal["passed", "failed", "skipped", "pending", "other"]
"""``pending`` and ``other`` never occur: what did not run has failed to, as the exit status says."""


class _Struct(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Part of a document."""


class Tool(_Struct, frozen=True):
    """What produced the results: onnx-conformance, in the version of the run."""

    name: str
    version: str


class Summary(_Struct, frozen=True):
    """The counts; times are in milliseconds, the first two since 1970."""

    tests: int
    passed: int
    failed: int
    skipped: int
    pending: int
    other: int
    suites: int
    start: int
    stop: int


class Measured(_Struct, frozen=True):
    """What the result line measures of an answer."""

    seconds: float
    error: Measure | None = None
    ulps: Measure | None = None
    onnx_tolerance: bool | None = None


class TestExtra(_Struct, frozen=True):
    """What the format has no place for, under a name of ours."""

    measured: Measured = msgspec.field(name="onnx-conformance.result")


class Test(_Struct, frozen=True):
    """A data set, or a check of the run itself."""

    test_id: str
    name: str
    status: Status
    raw_status: str
    """The verdict."""
    duration: int
    """Milliseconds."""
    suite: tuple[str, ...]
    message: str = ""
    trace: str = ""
    """The node and the command that reproduces it."""
    tags: tuple[str, ...] = ()
    labels: dict[str, str | int] = {}
    """The labels by the keys of the selection language."""
    extra: TestExtra | None = None


class Facts(_Struct, frozen=True):
    """The headers of the run: one, or one a shard."""

    headers: tuple[Header, ...] = msgspec.field(name="onnx-conformance.headers")


class Environment(_Struct, frozen=True):
    """The backend as the application under test, and the machine."""

    report_name: str
    app_name: str
    app_version: str
    os_platform: str
    extra: Facts


class Results(_Struct, frozen=True):
    """One run."""

    tool: Tool
    summary: Summary
    tests: Sequence[Test]
    environment: Environment


class Document(_Struct, frozen=True):
    """A whole file."""

    results: Results
    report_format: Literal["CTRF"]
    spec_version: str
    generated_by: str


def ctrf(report: Report) -> Iterator[tuple[str, str]]:
    """``ctrf/<suite>-<backend>.json`` for each run, since a document has one environment.

    A status is decided as in JUnit XML, and ``rawStatus`` is the verdict.
    """
    pairs = [(suite.name, run) for suite in report.summary.suites for run in suite.runs]
    names = file_names(f"{suite}-{run.label}" for suite, run in pairs)
    results = (of_run for runs in report.results for of_run in runs)
    for name, (suite, run), of_run in zip(names, pairs, results, strict=True):
        document = Document(_results(suite, run, of_run), "CTRF", VERSION, "onnx-conformance")
        yield f"ctrf/{name}.json", msgspec.json.encode(document).decode() + "\n"


def _results(suite: str, run: RunFacts, results: Sequence[Result]) -> Results:
    tests = [*(_check(suite, check) for check in checks_of(run)), *(_test(suite, run, result) for result in results)]
    found = Counter(test.status for test in tests)
    start = round(started(run).timestamp() * 1000)
    header = run.headers[0]
    summary = Summary(
        tests=len(tests),
        passed=found["passed"],
        failed=found["failed"],
        skipped=found["skipped"],
        pending=0,
        other=0,
        suites=len({test.suite for test in tests}),
        start=start,
        stop=start + round(lasted(run) * 1000),
    )
    environment = Environment(
        report_name=f"{suite} / {run.label}",
        app_name=header.description.name,
        app_version=header.description.version,
        os_platform=header.machine.get("system", "").lower(),
        extra=Facts(run.headers),
    )
    return Results(Tool("onnx-conformance", header.versions.get("onnx-conformance", "")), summary, tests, environment)


def _check(suite: str, check: Check) -> Test:
    return Test(f"{suite}/run/{check.name}", check.name, "failed", check.kind, 0, (suite, "run"), check.outcome.reason)


def _test(suite: str, run: RunFacts, result: Result) -> Test:
    name = f"{result.case}[{result.data_set}]"
    labels = result.labels
    found = outcome(result)
    trace = ""
    if found.status in {"failed", "erred"}:
        trace = f"{node(labels)}\nreproduce: {reproduce(suite, result.case, run.backend, result.data_set)}"
    return Test(
        test_id=f"{suite}/{name}",
        name=name,
        status="failed" if found.status == "erred" else found.status,
        raw_status=result.verdict,
        duration=round(seconds(result) * 1000),
        suite=(suite, labels.category, title(labels.op, labels.domain, labels.since)),
        message=details(found.reason),
        trace=trace,
        tags=("known",) if result.known else (),
        labels=_labels(result),
        extra=TestExtra(Measured(seconds(result), result.error, result.ulps, result.onnx_tolerance)),
    )


def _labels(result: Result) -> dict[str, str | int]:
    labels = result.labels
    return {
        "op": labels.op,
        "domain": labels.domain or "ai.onnx",
        "since": labels.since,
        "category": labels.category,
        "group": labels.group,
        **{f"types.{name}": of for name, of in labels.types.items()},
        **{f"attributes.{name}": value for name, value in labels.attributes.items()},
        **({"omitted": " ".join(labels.omitted)} if labels.omitted else {}),
    }
