"""The report in the Common Test Report Format (CTRF), version 0.0.0: one JSON document per run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from harness.reports.ci import Check, outcome, result_seconds, run_seconds, start_time, truncated
from harness.reports.ci import checks as checks_of
from harness.reports.file_names import file_names
from harness.reports.gather import Report, RunInfo
from harness.reports.text import node_text, operator_title, repro_command
from harness.results.lines import Header, Measure, Result

VERSION = "0.0.0"
"""The version of the CTRF specification."""

Status = Literal["passed", "failed", "skipped", "pending", "other"]
"""``pending`` and ``other`` do not occur. Data sets that did not run are ``failed``."""


class _Struct(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The base of the parts of a document."""


class Tool(_Struct, frozen=True):
    """The tool that produced the results: onnx-conformance, with the version that ran."""

    name: str
    version: str


class Summary(_Struct, frozen=True):
    """Counts of tests. ``start`` and ``stop`` are in milliseconds since 1970."""

    tests: int
    passed: int
    failed: int
    skipped: int
    pending: int
    other: int
    suites: int
    start: int
    stop: int


class Measurements(_Struct, frozen=True):
    """The measurements in the result line."""

    seconds: float
    error: Measure | None = None
    ulps: Measure | None = None
    onnx_tolerance: bool | None = None


class TestExtra(_Struct, frozen=True):
    """Data that CTRF has no field for."""

    measurements: Measurements = msgspec.field(name="onnx-conformance.result")


class Test(_Struct, frozen=True):
    """A data set, or a problem of the run itself."""

    test_id: str
    name: str
    status: Status
    raw_status: str
    """The verdict."""
    duration: int
    """In milliseconds."""
    suite: tuple[str, ...]
    message: str = ""
    trace: str = ""
    """The node and the command that reproduces the failure."""
    tags: tuple[str, ...] = ()
    labels: dict[str, str | int] = {}
    """Selection key → label value."""
    extra: TestExtra | None = None


class RunHeaders(_Struct, frozen=True):
    """The headers of the run: one, or one per shard."""

    headers: tuple[Header, ...] = msgspec.field(name="onnx-conformance.headers")


class Environment(_Struct, frozen=True):
    """The backend (as the application under test) and the machine."""

    report_name: str
    app_name: str
    app_version: str
    os_platform: str
    extra: RunHeaders


class Results(_Struct, frozen=True):
    """The results of one run."""

    tool: Tool
    summary: Summary
    tests: Sequence[Test]
    environment: Environment


class Document(_Struct, frozen=True):
    """A CTRF file."""

    results: Results
    report_format: Literal["CTRF"]
    spec_version: str
    generated_by: str


def ctrf(report: Report) -> Iterator[tuple[str, str]]:
    """Yields path and text of ``ctrf/<suite>-<backend>.json`` for each run.

    A test has the same status as in the JUnit report. Its ``rawStatus`` is the verdict.
    """
    pairs = [(suite.name, run) for suite in report.summary.suites for run in suite.runs]
    names = file_names(f"{suite}-{run.label}" for suite, run in pairs)
    results = (of_run for runs in report.results for of_run in runs)
    for name, (suite, run), of_run in zip(names, pairs, results, strict=True):
        document = Document(_results(suite, run, of_run), "CTRF", VERSION, "onnx-conformance")
        yield f"ctrf/{name}.json", msgspec.json.encode(document).decode() + "\n"


def _results(suite: str, run: RunInfo, results: Sequence[Result]) -> Results:
    tests = [*(_check(suite, check) for check in checks_of(run)), *(_test(suite, run, result) for result in results)]
    found = Counter(test.status for test in tests)
    start = round(start_time(run).timestamp() * 1000)
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
        stop=start + round(run_seconds(run) * 1000),
    )
    environment = Environment(
        report_name=f"{suite} / {run.label}",
        app_name=header.description.name,
        app_version=header.description.version,
        os_platform=header.machine.get("system", "").lower(),
        extra=RunHeaders(run.headers),
    )
    return Results(Tool("onnx-conformance", header.versions.get("onnx-conformance", "")), summary, tests, environment)


def _check(suite: str, check: Check) -> Test:
    return Test(f"{suite}/run/{check.name}", check.name, "failed", check.kind, 0, (suite, "run"), check.outcome.reason)


def _test(suite: str, run: RunInfo, result: Result) -> Test:
    name = f"{result.case}[{result.data_set}]"
    labels = result.labels
    found = outcome(result)
    trace = ""
    if found.status in {"failed", "error"}:
        trace = f"{node_text(labels)}\nreproduce: {repro_command(suite, result.case, run.backend, result.data_set)}"
    return Test(
        test_id=f"{suite}/{name}",
        name=name,
        status="failed" if found.status == "error" else found.status,
        raw_status=result.verdict,
        duration=round(result_seconds(result) * 1000),
        suite=(suite, labels.category, operator_title(labels.op, labels.domain, labels.since)),
        message=truncated(found.reason),
        trace=trace,
        tags=("known",) if result.known else (),
        labels=_labels(result),
        extra=TestExtra(Measurements(result_seconds(result), result.error, result.ulps, result.onnx_tolerance)),
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
