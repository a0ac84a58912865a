"""The CSV report for spreadsheets: one line per result (RFC 4180)."""

import csv
import io
from collections.abc import Mapping

from harness.reports.gather import Report
from harness.reports.text import one_line

COLUMNS = (
    "suite",
    "run",
    "backend",
    "version",
    "case",
    "data_set",
    "verdict",
    "known",
    "op",
    "domain",
    "since",
    "category",
    "group",
    "types",
    "attributes",
    "omitted",
    "error",
    "ulps",
    "onnx_tolerance",
    "elements",
    "differing",
    "zero_signs",
    "seconds",
    "prepare_seconds",
    "message",
)
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in a spreadsheet. The last four are full-width forms."""


def csv_report(report: Report) -> str:
    """A header line and one line per result, each ended by CR LF.

    Text that a spreadsheet would run as a formula gets a leading ``'``. Line feeds in messages are written as ``⏎``.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        for run, results in zip(suite.runs, runs, strict=True):
            first = [_text(text) for text in (suite.name, run.label, run.backend, run.description.version)]
            for result in results:
                labels = result.labels
                writer.writerow(
                    [
                        *first,
                        _text(result.case),
                        result.data_set,
                        result.verdict,
                        _text(result.known),
                        _text(labels.op),
                        _text(labels.domain),
                        labels.since,
                        _text(labels.category),
                        _text(labels.group),
                        _text(_pairs(labels.types)),
                        _text(_pairs(labels.attributes)),
                        _text(" ".join(labels.omitted)),
                        result.error,
                        result.ulps,
                        result.onnx_tolerance,
                        result.elements,
                        result.differing,
                        result.zero_signs,
                        result.seconds,
                        result.prepare_seconds,
                        _text(one_line(result.message)),
                    ]
                )
    return out.getvalue()


def _pairs(labels: Mapping[str, str]) -> str:
    return "; ".join(f"{key}={value}" for key, value in labels.items())


def _text(text: str) -> str:
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
