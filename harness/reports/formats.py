"""The formats by name: what each is for, and the files that it writes."""

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
    """One way to tell what has run."""

    about: str
    files: Callable[[Report], Iterable[tuple[str, str]]]
    """Path in a folder of reports → text, to be written as UTF-8 and byte for byte: CSV has its own line ends."""
    usual: bool = False
    """Whether it is written where no format is asked for."""
    former: str = ""
    """A glob of files that a report of more results may have left in the folder; they go."""


def _one(name: str, render: Callable[[Report], str]) -> Callable[[Report], Iterable[tuple[str, str]]]:
    return lambda report: [(name, render(report))]


FORMATS = {
    "console": Format("the summary for a terminal", _one("report.txt", console)),
    "html": Format(
        "the explorer: one page to look into, open it in a browser", _one("report.html", explorer), usual=True
    ),
    "markdown": Format("the compliance report to publish", _one("report.md", markdown), usual=True),
    "json": Format("the summary for programs", _one("report.json", json_report), usual=True),
    "csv": Format("a line a result, for spreadsheets", _one("report.csv", csv_report), usual=True),
    "junit": Format("JUnit XML, for CI servers", junit, usual=True, former="junit-[0-9]*.xml"),
    "ctrf": Format("Common Test Report Format, a document a run", ctrf),
    "github": Format("a job summary for GitHub", _one("summary.md", github)),
    "operators": Format(
        "a page an operator version: its document, examples, who passes", operator_files, former="operators/*.md"
    ),
    "scoreboard": Format("rates, accuracy and speed over whole suites, to commit", _one("README.md", scoreboard)),
    "badges": Format("badges for Shields' endpoint, one a run", badges),
}
