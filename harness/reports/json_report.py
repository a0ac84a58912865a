"""The JSON report: the summary, for programs."""

import msgspec

from harness.reports.gather import Report


def json_report(report: Report) -> str:
    """The summary as indented JSON. Single results are in the results files of the runs."""
    return msgspec.json.format(msgspec.json.encode(report.summary), indent=1).decode() + "\n"
