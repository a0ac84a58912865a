"""The file itself: a page, its program and the results, compressed, in one text that needs nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import jinja2
import msgspec

import harness
from harness.reports.explorer.details import Detail, detail
from harness.reports.explorer.payload import (
    ELEMENT_TYPES,
    LETTERS,
    Enclosed,
    Numbered,
    Payload,
    SuiteColumns,
    suite_columns,
)
from harness.reports.gather import Report, SuiteSummary
from harness.reports.operator_pages.document import Document, operator_document
from harness.reports.testdata import AnotherSuite, suite_that_ran
from harness.reports.text import title
from harness.results.lines import Result, Verdict
from harness.spec.schema import schemas
from harness.suite.cases import Case
from harness.suite.manifest import NoSuite

_PROGRAM = ("selection.js", "store.js", "parts.js", "charts.js", "views.js", "case.js", "main.js")
"""In the order in which they are laid together."""
_ROOM = 24 << 20
"""Characters for tensors in a suite; what is beyond is left out, and counted."""
_PICTURED: tuple[Verdict, ...] = (
    "wrong_value",
    "wrong_shape",
    "wrong_type",
    "wrong_count",
    "error",
    "crashed",
    "timed_out",
)
"""Verdicts of data sets whose tensors go along."""


def explorer(report: Report) -> str:
    """The page over all that the report holds, as text; the tensors of failures where the suites are at hand."""
    said = Numbered("")
    suites: list[SuiteColumns] = []
    chunks: dict[str, str] = {}
    for n, (suite, results) in enumerate(zip(report.summary.suites, report.results, strict=True)):
        packed, left_out = _details(suite, results, report.testdata)
        suites.append(suite_columns(suite, results, said, Enclosed(list(packed), left_out)))
        chunks |= {f"{n}/{name}": data for name, data in packed.items()}
    chunks["documents"] = _packed(_documents(report.summary.suites))
    payload = Payload(
        version=harness.__version__,
        selection=report.summary.selection,
        letters={letter: str(verdict) for verdict, letter in LETTERS.items()},
        element_types=ELEMENT_TYPES,
        texts=said.all(),
        suites=suites,
    )
    return _page(_packed(payload), chunks)


def _documents(suites: Iterable[SuiteSummary]) -> dict[str, Document]:
    """Title of an operator version → what the installed onnx says of it."""
    known = schemas()
    versions = {(table.domain, table.op, table.since) for suite in suites for table in suite.operators}
    return {known[version].title: operator_document(known[version]) for version in sorted(versions) if version in known}


def _page(payload: str, chunks: Mapping[str, str]) -> str:
    program = "".join(_asset(name) for name in _PROGRAM)
    scripts = [_asset("vendor.js"), f'"use strict";\n(() => {{\n{program}}})();\n']
    return _template().render(
        style=_asset("vendor.css") + _asset("explorer.css"),
        scripts=scripts,
        hashes=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
        payload=payload,
        chunks=chunks,
    )


def _packed(value: object) -> str:
    """A value as JSON, compressed, in characters that may stand in a page; the same for the same value."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(value), 6, mtime=0)).decode()


@cache
def _asset(name: str) -> str:
    return resources.files("harness.reports.explorer").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(_asset("page.html"))


def _details(suite: SuiteSummary, results: Sequence[Sequence[Result]], testdata: Path) -> tuple[dict[str, str], int]:
    """Title of an operator version → its data sets with tensors, packed, and how many there was no room for."""
    wanted = _wanted(results)
    path, found = _cases(suite, testdata, {case for of in wanted.values() for case, _ in of})
    packed: dict[str, str] = {}
    room, left_out = _ROOM, 0
    for name, data_sets in sorted(wanted.items()):
        details: dict[str, Detail] = {}
        for (case, n), failed in sorted(data_sets.items()) if room > 0 else ():
            if case in found and n < len(found[case].data_sets):
                runs = {run: suite.runs[run] for run in failed}
                details[f"{case}/{n}"] = detail(found[case], n, path, runs)
        if details:
            packed[name] = _packed(details)
            room -= len(packed[name])
        left_out += len(data_sets) - len(details)
    return packed, left_out


def _wanted(results: Sequence[Sequence[Result]]) -> dict[str, dict[tuple[str, int], list[int]]]:
    """Operator version → data sets that some runs did not get right → these runs."""
    wanted: dict[str, dict[tuple[str, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for n, run in enumerate(results):
        for result in run:
            if result.verdict in _PICTURED:
                labels = result.labels
                wanted[title(labels.op, labels.domain, labels.since)][result.case, result.data_set].append(n)
    return wanted


def _cases(suite: SuiteSummary, testdata: Path, names: Iterable[str]) -> tuple[Path, dict[str, Case]]:
    """The suite's folder and its cases of those names; none where it is not there, or not the one that was run."""
    sought = set(names)
    try:
        there = suite_that_ran(suite, testdata)
    except (NoSuite, AnotherSuite):
        return testdata, {}
    return there.path, {case.name: case for case in there.cases() if case.name in sought}
