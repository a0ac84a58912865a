"""The formats by name: what each is for, and the files that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from harness.reports.console import console
from harness.reports.csv_report import csv_report
from harness.reports.gather import Report
from harness.reports.json_report import json_report
from harness.reports.junit import junit
from harness.reports.markdown import markdown


class Format(msgspec.Struct, frozen=True):
    """One way to tell what has run."""

    about: str
    files: Callable[[Report], Iterable[tuple[str, str]]]
    """Path in a folder of reports → text, to be written as UTF-8 and byte for byte: CSV has its own line ends."""
    usual: bool = False
    """Whether it is written where no format is asked for."""


def _one(name: str, render: Callable[[Report], str]) -> Callable[[Report], Iterable[tuple[str, str]]]:
    return lambda report: [(name, render(report))]


FORMATS = {
    "console": Format("the summary for a terminal", _one("report.txt", console)),
    "markdown": Format("the compliance report to publish", _one("report.md", markdown), usual=True),
    "json": Format("the summary for programs", _one("report.json", json_report), usual=True),
    "csv": Format("a line a result, for spreadsheets", _one("report.csv", csv_report), usual=True),
    "junit": Format("JUnit XML, for CI servers", _one("junit.xml", junit), usual=True),
}
