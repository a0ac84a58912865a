"""The report formats by name, and the files that each writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from harness.reports.badges import badges
from harness.reports.console import console
from harness.reports.csv_report import csv_report
from harness.reports.ctrf import ctrf
from harness.reports.explorer.page import explorer
from harness.reports.gather import Report
from harness.reports.github import github
from harness.reports.json_report import json_report
from harness.reports.junit import junit
from harness.reports.markdown import markdown
from harness.reports.operator_pages.rendering import operator_files
from harness.reports.scoreboard import scoreboard


class Format(msgspec.Struct, frozen=True):
    """A report format."""

    about: str
    """The line in ``--help``."""
    files: Callable[[Report], Iterable[tuple[str, str]]]
    """Returns (path in the output folder, text) of each file. Write the text as UTF-8 without newline translation."""
    default: bool = False
    """Whether it is written if no format is selected."""
    stale: str = ""
    """A glob of files in the output folder from an earlier report. Those that are not written again are deleted."""


def _one(name: str, render: Callable[[Report], str]) -> Callable[[Report], Iterable[tuple[str, str]]]:
    return lambda report: [(name, render(report))]


FORMATS = {
    "console": Format("summary for the terminal", _one("report.txt", console)),
    "html": Format(
        "interactive report, a single page to open in a browser", _one("report.html", explorer), default=True
    ),
    "markdown": Format("full conformance report", _one("report.md", markdown), default=True),
    "json": Format("summary for programs", _one("report.json", json_report), default=True),
    "csv": Format("one line per result, for spreadsheets", _one("report.csv", csv_report), default=True),
    "junit": Format("JUnit XML for CI servers", junit, default=True, stale="junit-[0-9]*.xml"),
    "ctrf": Format("Common Test Report Format, one JSON file per run", ctrf),
    "github": Format("job summary for GitHub Actions", _one("summary.md", github)),
    "operators": Format(
        "one page per operator version: documentation, examples, results", operator_files, stale="operators/*.md"
    ),
    "scoreboard": Format("rates, accuracy and speed of complete runs, to commit", _one("README.md", scoreboard)),
    "badges": Format("badges for the Shields endpoint, one per run", badges),
}
