"""The formats by name, and the file that each is written to."""

from collections.abc import Callable

from harness.reports.console import console
from harness.reports.csv_report import csv_report
from harness.reports.gather import Report
from harness.reports.json_report import json_report
from harness.reports.junit import junit
from harness.reports.markdown import markdown

FORMATS: dict[str, Callable[[Report], str]] = {
    "console": console,
    "markdown": markdown,
    "json": json_report,
    "csv": csv_report,
    "junit": junit,
}
"""To be written as UTF-8 and byte for byte: CSV has its own line ends."""

FILE_NAMES = {"markdown": "report.md", "json": "report.json", "csv": "report.csv", "junit": "junit.xml"}
"""Where each format goes in a folder of reports."""
