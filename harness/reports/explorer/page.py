"""Writes the interactive report: one HTML file with styles, scripts and compressed results."""

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
    IncludedTensors,
    InternTable,
    Payload,
    SuiteColumns,
    suite_columns,
)
from harness.reports.gather import Report, SuiteSummary
from harness.reports.operator_pages.document import Document, operator_document
from harness.reports.testdata import SuiteMismatch, matching_suite
from harness.reports.text import operator_title
from harness.results.lines import Result, Verdict
from harness.spec.schema import schemas
from harness.suite.cases import Case
from harness.suite.manifest import NoSuite

_PROGRAM = ("selection.js", "store.js", "parts.js", "charts.js", "views.js", "case.js", "main.js")
"""The scripts, in the order of concatenation."""
_MAX_CHARACTERS = 24 << 20
"""The maximum size of the tensors of a suite. Data sets beyond it are omitted and counted."""
_WITH_TENSORS: tuple[Verdict, ...] = (
    "wrong_value",
    "wrong_shape",
    "wrong_type",
    "wrong_count",
    "error",
    "crashed",
    "timed_out",
)
"""The verdicts of data sets whose tensors are included."""


def explorer(report: Report) -> str:
    """The HTML of the report. It includes the tensors of failures if the suites are in ``report.testdata``."""
    texts = InternTable("")
    suites: list[SuiteColumns] = []
    chunks: dict[str, str] = {}
    for n, (suite, results) in enumerate(zip(report.summary.suites, report.results, strict=True)):
        packed, omitted = _details(suite, results, report.testdata)
        suites.append(suite_columns(suite, results, texts, IncludedTensors(list(packed), omitted)))
        chunks |= {f"{n}/{name}": data for name, data in packed.items()}
    chunks["documents"] = _compressed(_documents(report.summary.suites))
    payload = Payload(
        version=harness.__version__,
        selection=report.summary.selection,
        letters={letter: str(verdict) for verdict, letter in LETTERS.items()},
        element_types=ELEMENT_TYPES,
        texts=texts.values(),
        suites=suites,
    )
    return _page(_compressed(payload), chunks)


def _documents(suites: Iterable[SuiteSummary]) -> dict[str, Document]:
    """Title of an operator version → its documentation in the installed onnx."""
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


def _compressed(value: object) -> str:
    """A value as gzipped JSON in base64. Deterministic."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(value), 6, mtime=0)).decode()


@cache
def _asset(name: str) -> str:
    return resources.files("harness.reports.explorer").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(_asset("page.html"))


def _details(suite: SuiteSummary, results: Sequence[Sequence[Result]], testdata: Path) -> tuple[dict[str, str], int]:
    """Title of an operator version → its data sets with tensors, compressed; and the number of omitted data sets."""
    wanted = _wanted(results)
    path, found = _cases(suite, testdata, {case for of in wanted.values() for case, _ in of})
    packed: dict[str, str] = {}
    room, omitted = _MAX_CHARACTERS, 0
    for name, data_sets in sorted(wanted.items()):
        details: dict[str, Detail] = {}
        for (case, n), failed in sorted(data_sets.items()) if room > 0 else ():
            if case in found and n < len(found[case].data_sets):
                runs = {run: suite.runs[run] for run in failed}
                details[f"{case}/{n}"] = detail(found[case], n, path, runs)
        if details:
            packed[name] = _compressed(details)
            room -= len(packed[name])
        omitted += len(data_sets) - len(details)
    return packed, omitted


def _wanted(results: Sequence[Sequence[Result]]) -> dict[str, dict[tuple[str, int], list[int]]]:
    """Title of an operator version → failing data set → indices of the runs in which it fails."""
    wanted: dict[str, dict[tuple[str, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for n, run in enumerate(results):
        for result in run:
            if result.verdict in _WITH_TENSORS:
                labels = result.labels
                wanted[operator_title(labels.op, labels.domain, labels.since)][result.case, result.data_set].append(n)
    return wanted


def _cases(suite: SuiteSummary, testdata: Path, names: Iterable[str]) -> tuple[Path, dict[str, Case]]:
    """The folder of the suite and its cases of these names. No cases if the suite that was run is not available."""
    wanted = set(names)
    try:
        found = matching_suite(suite, testdata)
    except (NoSuite, SuiteMismatch):
        return testdata, {}
    return found.path, {case.name: case for case in found.cases() if case.name in wanted}
