"""The report for programs: the summary as JSON, and the JSON Schema that documents it."""

from typing import Any

import msgspec

from harness.reports.gather import Report, Summary


def json_report(report: Report) -> str:
    """The summary, indented, UTF-8 once encoded; the single results stay in the runs' own files."""
    return msgspec.json.format(msgspec.json.encode(report.summary), indent=1).decode() + "\n"


def json_schema() -> dict[str, Any]:
    """What ``json_report`` gives, as JSON Schema; descriptions are the docstrings of the structs."""
    return msgspec.json.schema(Summary)
