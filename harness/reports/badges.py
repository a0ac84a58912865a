"""Badges: one JSON file per run for the Shields endpoint badge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from harness.reports.file_names import file_names
from harness.reports.gather import Report, RunInfo
from harness.reports.tables import Tally
from harness.reports.text import format_count, one_line, percent

Colour = Literal["brightgreen", "green", "yellowgreen", "yellow", "orange", "red", "lightgrey"]

_COLOURS: tuple[tuple[int, Colour], ...] = ((95, "green"), (85, "yellowgreen"), (70, "yellow"), (50, "orange"))
"""Minimum percentage of passed data sets → colour."""


class Badge(msgspec.Struct, frozen=True, rename={"schema_version": "schemaVersion", "colour": "color"}):
    """The JSON of a Shields endpoint badge."""

    label: str
    """The left part: suite and backend."""
    message: str
    """The right part: the rate with its denominator."""
    colour: Colour
    """``brightgreen`` if the whole suite passed, ``lightgrey`` if the run does not cover the whole suite."""
    schema_version: Literal[1] = 1


def badges(report: Report) -> Iterator[tuple[str, str]]:
    """Yields path and text of ``badges/<suite>-<backend>.json`` for each run."""
    selection = f" {report.summary.selection}" if report.summary.selection else ""
    found = [
        (f"{suite.name}-{run.label}", _badge(f"{suite.name}{selection} · {run.label}", run, tally))
        for suite in report.summary.suites
        for run, tally in zip(suite.runs, suite.tallies, strict=True)
    ]
    for name, (_, badge) in zip(file_names(label for label, _ in found), found, strict=True):
        yield f"badges/{name}.json", msgspec.json.format(msgspec.json.encode(badge), indent=2).decode() + "\n"


def _badge(label: str, run: RunInfo, tally: Tally) -> Badge:
    label = one_line(label, 100)
    if not run.complete:
        return Badge(
            label, f"unfinished: {format_count(run.executed)} of {format_count(run.data_sets)} run", "lightgrey"
        )
    if not tally.scored:
        return Badge(label, "nothing scored", "lightgrey")
    rate = f"{tally.rate} ({percent(tally.passed, tally.scored)})"
    whole = run.headers[0].suite_data_sets
    if run.data_sets < whole:
        return Badge(label, f"{rate}, part of {format_count(whole)}", "lightgrey")
    return Badge(label, rate, _colour(tally))


def _colour(tally: Tally) -> Colour:
    if tally.complete:
        return "brightgreen"
    for least, colour in _COLOURS:
        if tally.passed * 100 >= least * tally.scored:
            return colour
    return "red"
