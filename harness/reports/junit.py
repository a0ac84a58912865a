"""The report for continuous integration: JUnit XML as Jenkins, GitLab and GitHub actions read it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from harness.reports.gather import Report, RunFacts
from harness.reports.text import count, node, one_line, reproduce, title
from harness.running.results import Result

_WRONG = {"wrong_value", "wrong_shape", "wrong_type", "wrong_count"}
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(report: Report) -> str:
    """A testsuite for each operator version and run, a testcase for each data set.

    Wrong answers are failures; errors, crashes, timeouts and what did not run are errors. Silent, unsupported and known
    failures are skipped, each with its reason. A run that is unfinished, or that expects failures which no longer
    occur, has a testsuite of its own that says so, so that it cannot look green.
    """
    suites: list[ET.Element] = []
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        for run, results in zip(suite.runs, runs, strict=True):
            suites.extend(_run(suite.name, run))
            versions: dict[str, list[Result]] = {}
            for result in results:
                labels = result.labels
                versions.setdefault(title(labels.op, labels.domain, labels.since), []).append(result)
            for version in sorted(versions):
                group = f"{suite.name}.{run.label.replace('.', '_')}.{version}"
                cases = [_testcase(group, suite.name, run, result) for result in versions[version]]
                suites.append(_testsuite(f"{suite.name} / {run.label} / {version}", run, cases))
    root = ET.Element("testsuites", name="onnx-conformance")
    for total in ("tests", *_COUNTED):
        root.set(total, str(sum(int(suite.attrib[total]) for suite in suites)))
    root.extend(suites)
    ET.indent(root, "")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _testsuite(name: str, run: RunFacts, cases: Sequence[ET.Element]) -> ET.Element:
    suite = ET.Element("testsuite", name=name, tests=str(len(cases)))
    for total, tag in _COUNTED.items():
        suite.set(total, str(sum(1 for case in cases if case.find(tag) is not None)))
    suite.set("time", f"{sum(float(case.attrib['time']) for case in cases):.6f}")
    suite.set("timestamp", run.headers[0].started)
    suite.extend(cases)
    return suite


def _testcase(group: str, suite: str, run: RunFacts, result: Result) -> ET.Element:
    seconds = result.seconds + result.prepare_seconds
    case = ET.Element("testcase", classname=group, name=f"{result.case}[{result.data_set}]", time=f"{seconds:.6f}")
    if result.verdict != "passed":
        tag, reason = _outcome(result)
        outcome = ET.SubElement(case, tag, type=result.verdict, message=one_line(reason))
        if tag != "skipped":
            again = reproduce(suite, result.case, run.backend, result.data_set)
            outcome.text = "\n".join([result.message, node(result.labels), f"reproduce: {again}"])
    return case


def _outcome(result: Result) -> tuple[str, str]:
    """The element and the reason for a verdict that is not ``passed``."""
    if result.verdict == "silent":
        return "skipped", f"silent: the specification leaves the answer open. {result.message}"
    if result.known:
        return "skipped", f"known {result.verdict}: {result.known}"
    if result.verdict == "unsupported":
        return "skipped", f"unsupported: {result.message}"
    return ("failure" if result.verdict in _WRONG else "error"), result.message.strip() or result.verdict


def _run(suite: str, run: RunFacts) -> list[ET.Element]:
    """A testsuite on the run itself, where there is something wrong with it."""
    group = f"{suite}.{run.label.replace('.', '_')}.run"
    cases: list[ET.Element] = []
    if not run.complete:
        cases.append(ET.Element("testcase", classname=group, name="finished", time="0"))
        message = f"{count(run.ran)} of {count(run.data_sets)} data sets run"
        ET.SubElement(cases[-1], "error", type="unfinished", message=message)
    for stale in run.stale:
        cases.append(ET.Element("testcase", classname=group, name=f"expectation {stale}", time="0"))
        ET.SubElement(cases[-1], "failure", type="stale", message="expects failures that no longer occur")
    return [_testsuite(f"{suite} / {run.label} / run", run, cases)] if cases else []
