"""The JUnit XML report. It is valid by both common schemas, that of Jenkins and that of Windy Road.

So it has no totals in ``testsuites`` and no type in ``skipped``, which one of the two schemas forbids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import msgspec

from harness.reports.ci import Status, checks, outcome, result_seconds, start_time, truncated
from harness.reports.gather import Report, RunInfo
from harness.reports.text import node_text, one_line, operator_title, repro_command
from harness.results.lines import Result

LIMIT = 30_000_000
"""The maximum size of a file in bytes, which is GitLab's limit."""

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
_FOOT = "</testsuites>\n"
_TAGS: dict[Status, str] = {"failed": "failure", "error": "error", "skipped": "skipped"}
_COUNTED: dict[str, Status] = {"failures": "failed", "errors": "error", "skipped": "skipped"}


class _Case(msgspec.Struct, frozen=True):
    """A testcase element."""

    text: str
    status: Status
    seconds: float

    @property
    def size(self) -> int:
        return len(self.text.encode())


class _Suite(msgspec.Struct, frozen=True):
    """A testsuite element without its id."""

    name: str
    package: str
    run: RunInfo
    cases: Sequence[_Case]

    def text(self, number: int, cases: Sequence[_Case]) -> str:
        """The XML of the testsuite with some of its cases."""
        found = Counter(case.status for case in cases)
        header = self.run.headers[0]
        facts = {
            "backend": header.backend,
            "version": header.description.version,
            "device": header.description.device,
            "digest": header.digest,
        }
        inner = "".join(_element("property", {"name": name, "value": value}) for name, value in facts.items())
        parts = [_element("properties", {}, f"\n{inner}"), *(case.text for case in cases)]
        parts += [_element("system-out", {}), _element("system-err", {})]
        attributes = {
            "name": self.name,
            "package": self.package,
            "id": str(number),
            "hostname": "localhost",
            "timestamp": f"{start_time(self.run):%Y-%m-%dT%H:%M:%S}".rjust(19, "0"),
            "tests": str(len(cases)),
            **{total: str(found[status]) for total, status in _COUNTED.items()},
            "time": f"{sum(case.seconds for case in cases):.3f}",
        }
        return _element("testsuite", attributes, "\n" + "".join(parts))


def junit(report: Report, limit: int = LIMIT) -> Iterator[tuple[str, str]]:
    """Yields name and text of files of at most ``limit`` bytes.

    There is a testsuite for each operator version and run, and a testcase for each data set. A testsuite that is too
    large for a file is split, a testcase is not. Problems of a run itself (unfinished, stale expectations) are
    testcases of an additional testsuite.
    """
    for number, suites in enumerate(_split_into_files(_suites(report), limit), 1):
        yield "junit.xml" if number == 1 else f"junit-{number}.xml", f"{_HEAD}{''.join(suites)}{_FOOT}"


def _split_into_files(suites: Iterator[_Suite], limit: int) -> Iterator[list[str]]:
    """The testsuites of each file. If there are no testsuites, there is one empty file."""
    room = limit - len(_HEAD) - len(_FOOT)
    packed: list[str] = []
    size = files = 0
    for suite in suites:
        for part, cases in enumerate(_split(suite, room), 1):
            named = suite if part == 1 else msgspec.structs.replace(suite, name=f"{suite.name} ({part})")
            text = named.text(len(packed), cases)
            more = len(text.encode())
            if packed and size + more > room:
                yield packed
                files += 1
                text = named.text(0, cases)
                packed, size = [], 0
            packed.append(text)
            size += more
    if packed or not files:
        yield packed


def _split(suite: _Suite, room: int) -> Iterator[Sequence[_Case]]:
    """The testcases of a testsuite, split so that each part fits into a file."""
    frame = len(suite.text(0, ()).encode()) + 100  # the counts and the id may get more digits
    part: list[_Case] = []
    size = frame
    for case in suite.cases:
        if part and size + case.size > room:
            yield part
            part, size = [], frame
        part.append(case)
        size += case.size
    yield part


def _suites(report: Report) -> Iterator[_Suite]:
    used: set[tuple[str, str]] = set()
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        for run, results in zip(suite.runs, runs, strict=True):
            name, package = f"{suite.name} / {run.label}", f"{suite.name}.{run.label.replace('.', '_')}"
            if found := _checks(f"{package}.run", run, used):
                yield _Suite(f"{name} / run", package, run, found)
            versions: dict[str, list[Result]] = {}
            for result in results:
                labels = result.labels
                versions.setdefault(operator_title(labels.op, labels.domain, labels.since), []).append(result)
            for version in sorted(versions):
                class_name = f"{package}.{version}"
                cases = [_testcase(class_name, suite.name, run, result, used) for result in versions[version]]
                yield _Suite(f"{name} / {version}", package, run, cases)


def _checks(class_name: str, run: RunInfo, used: set[tuple[str, str]]) -> list[_Case]:
    """The problems of the run itself as testcases."""
    cases: list[_Case] = []
    for check in checks(run):
        text = _element(_TAGS[check.outcome.status], {"type": check.kind, "message": check.outcome.reason})
        cases.append(_case(class_name, check.name, check.outcome.status, 0.0, text, used))
    return cases


def _testcase(class_name: str, suite: str, run: RunInfo, result: Result, used: set[tuple[str, str]]) -> _Case:
    found = outcome(result)
    inner = ""
    if found.status == "skipped":
        inner = _element("skipped", {"message": one_line(found.reason)})
    elif found.status != "passed":
        again = repro_command(suite, result.case, run.backend, result.data_set)
        text = "\n".join([truncated(result.message), node_text(result.labels), f"reproduce: {again}"])
        what = {"type": result.verdict, "message": one_line(found.reason)}
        inner = _element(_TAGS[found.status], what, escape(text))
    return _case(class_name, f"{result.case}[{result.data_set}]", found.status, result_seconds(result), inner, used)


def _case(class_name: str, name: str, status: Status, duration: float, inner: str, used: set[tuple[str, str]]) -> _Case:
    """A testcase with a unique name. CI servers keep only one of several with the same class and name."""
    class_name, name = " ".join(class_name.split()), " ".join(name.split())
    unique, number = name, 1
    while (class_name, unique) in used:
        number += 1
        unique = f"{name} #{number}"
    used.add((class_name, unique))
    attributes = {"classname": class_name, "name": unique, "time": f"{duration:.6f}"}
    return _Case(_element("testcase", attributes, f"\n{inner}" if inner else ""), status, duration)


def _element(tag: str, attributes: Mapping[str, str], inner: str = "") -> str:
    start = f"<{tag}{''.join(f' {name}={quoteattr(value)}' for name, value in attributes.items())}"
    return f"{start}>{inner}</{tag}>\n" if inner else f"{start}/>\n"
