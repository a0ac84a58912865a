"""The report for continuous integration: JUnit XML that keeps both schemas in use, Jenkins' and Windy Road's.

Of what one of them allows, the other forbids totals in ``testsuites`` and a type in ``skipped``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import msgspec

from harness.reports.ci import Status, checks, details, outcome, seconds, started
from harness.reports.gather import Report, RunFacts
from harness.reports.text import node, one_line, reproduce, title
from harness.results.lines import Result

LIMIT = 30_000_000
"""Bytes in a file: GitLab reads no more of one."""

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
_FOOT = "</testsuites>\n"
_TAGS: dict[Status, str] = {"failed": "failure", "erred": "error", "skipped": "skipped"}
_COUNTED: dict[str, Status] = {"failures": "failed", "errors": "erred", "skipped": "skipped"}


class _Case(msgspec.Struct, frozen=True):
    """A testcase as it is written."""

    text: str
    status: Status
    seconds: float

    @property
    def size(self) -> int:
        return len(self.text.encode())


class _Suite(msgspec.Struct, frozen=True):
    """A testsuite that is yet to get its number."""

    name: str
    package: str
    run: RunFacts
    cases: Sequence[_Case]

    def text(self, number: int, cases: Sequence[_Case]) -> str:
        """The testsuite with some of its cases."""
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
            "timestamp": f"{started(self.run):%Y-%m-%dT%H:%M:%S}".rjust(19, "0"),
            "tests": str(len(cases)),
            **{total: str(found[status]) for total, status in _COUNTED.items()},
            "time": f"{sum(case.seconds for case in cases):.3f}",
        }
        return _element("testsuite", attributes, "\n" + "".join(parts))


def junit(report: Report, limit: int = LIMIT) -> Iterator[tuple[str, str]]:
    """Files of at most ``limit`` bytes: a testsuite for each operator version and run, a testcase for each data set.

    A testsuite that is too big for a file is split, a testcase is not. A run that is unfinished, or that expects
    failures which no longer occur, has a testsuite of its own that says so.
    """
    for number, suites in enumerate(_packed(_suites(report), limit), 1):
        yield "junit.xml" if number == 1 else f"junit-{number}.xml", f"{_HEAD}{''.join(suites)}{_FOOT}"


def _packed(suites: Iterator[_Suite], limit: int) -> Iterator[list[str]]:
    """The testsuites of each file, as many as have room in it; one file without any where there are none."""
    room = limit - len(_HEAD) - len(_FOOT)
    packed: list[str] = []
    size = files = 0
    for suite in suites:
        for part, cases in enumerate(_parts(suite, room), 1):
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


def _parts(suite: _Suite, room: int) -> Iterator[Sequence[_Case]]:
    """The testcases of a testsuite, in as many parts as it takes for each to have room."""
    frame = len(suite.text(0, ()).encode()) + 100  # its counts and its number may have more digits
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
    taken: set[tuple[str, str]] = set()
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        for run, results in zip(suite.runs, runs, strict=True):
            name, package = f"{suite.name} / {run.label}", f"{suite.name}.{run.label.replace('.', '_')}"
            if found := _checks(f"{package}.run", run, taken):
                yield _Suite(f"{name} / run", package, run, found)
            versions: dict[str, list[Result]] = {}
            for result in results:
                labels = result.labels
                versions.setdefault(title(labels.op, labels.domain, labels.since), []).append(result)
            for version in sorted(versions):
                of = f"{package}.{version}"
                cases = [_testcase(of, suite.name, run, result, taken) for result in versions[version]]
                yield _Suite(f"{name} / {version}", package, run, cases)


def _checks(of: str, run: RunFacts, taken: set[tuple[str, str]]) -> list[_Case]:
    """What is wrong with the run itself."""
    cases: list[_Case] = []
    for check in checks(run):
        text = _element(_TAGS[check.outcome.status], {"type": check.kind, "message": check.outcome.reason})
        cases.append(_case(of, check.name, check.outcome.status, 0.0, text, taken))
    return cases


def _testcase(of: str, suite: str, run: RunFacts, result: Result, taken: set[tuple[str, str]]) -> _Case:
    found = outcome(result)
    inner = ""
    if found.status == "skipped":
        inner = _element("skipped", {"message": one_line(found.reason)})
    elif found.status != "passed":
        again = reproduce(suite, result.case, run.backend, result.data_set)
        told = "\n".join([details(result.message), node(result.labels), f"reproduce: {again}"])
        what = {"type": result.verdict, "message": one_line(found.reason)}
        inner = _element(_TAGS[found.status], what, escape(told))
    return _case(of, f"{result.case}[{result.data_set}]", found.status, seconds(result), inner, taken)


def _case(of: str, name: str, status: Status, took: float, inner: str, taken: set[tuple[str, str]]) -> _Case:
    """A testcase under a name of its own: servers keep one of those that share class and name, read as tokens."""
    of, name = " ".join(of.split()), " ".join(name.split())
    unique, number = name, 1
    while (of, unique) in taken:
        number += 1
        unique = f"{name} #{number}"
    taken.add((of, unique))
    attributes = {"classname": of, "name": unique, "time": f"{took:.6f}"}
    return _Case(_element("testcase", attributes, f"\n{inner}" if inner else ""), status, took)


def _element(tag: str, attributes: Mapping[str, str], inner: str = "") -> str:
    start = f"<{tag}{''.join(f' {name}={quoteattr(value)}' for name, value in attributes.items())}"
    return f"{start}>{inner}</{tag}>\n" if inner else f"{start}/>\n"
