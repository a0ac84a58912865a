"""The report for programs: the summary as JSON."""

import msgspec

from harness.reports.gather import Report


def json_report(report: Report) -> str:
    """The summary, indented, UTF-8 once encoded; the single results stay in the runs' own files."""
    return msgspec.json.format(msgspec.json.encode(report.summary), indent=1).decode() + "\n"
