"""Test statuses for CI servers: passed, failed, error or skipped, for each result and for the run itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from harness.reports.gather import RunInfo
from harness.reports.text import format_count, plural, verdict_text
from harness.results.lines import UNSCORED, Result

Status: TypeAlias = Literal["passed", "failed", "error", "skipped"]

_WRONG = {"wrong_value", "wrong_shape", "wrong_type", "wrong_count"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_CHARACTERS = 20_000
_MAX_SECONDS = 1e9


class Outcome(msgspec.Struct, frozen=True):
    """The status of a test, and the reason if it did not pass."""

    status: Status
    reason: str = ""


class Check(msgspec.Struct, frozen=True):
    """A failed test about the run itself, so that an incomplete run is not green."""

    name: str
    kind: Literal["unfinished", "stale"]
    outcome: Outcome


def outcome(result: Result) -> Outcome:
    """Maps a verdict to a status.

    Wrong answers are "failed". Errors, crashes, timeouts and data sets that did not run are "error". Unscored data
    sets, unsupported ones and known failures are "skipped" with a reason: if known failures were "failed", CI would
    always be red and hide new ones.
    """
    message = result.message.strip()
    if result.verdict == "passed":
        return Outcome("passed")
    if result.verdict == "unspecified":
        return Outcome("skipped", f"unspecified: the specification leaves the answer open. {message}")
    if result.verdict in UNSCORED:
        return Outcome("skipped", f"{verdict_text(result.verdict)}: {message}")
    if result.known:
        return Outcome("skipped", f"known {result.verdict}: {result.known}")
    if result.verdict == "unsupported":
        return Outcome("skipped", f"unsupported: {message}")
    return Outcome("failed" if result.verdict in _WRONG else "error", message or result.verdict)


def checks(run: RunInfo) -> list[Check]:
    """The problems of a run: it is unfinished, or some of its expectations are stale."""
    found: list[Check] = []
    if not run.complete:
        part = f"{format_count(run.executed)} of {format_count(run.data_sets)} data sets run"
        found.append(Check("finished", "unfinished", Outcome("error", part)))
    stale = Outcome("failed", "the expectation is stale: update it with --write-expected")
    return [*found, *(Check(f"expectation {entry}", "stale", stale) for entry in run.stale)]


def start_time(run: RunInfo) -> datetime:
    """When the first shard started, in UTC. 1970 if no header has a valid time."""
    return min(map(_time, (header.started for header in run.headers)), default=_EPOCH)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return _EPOCH


def result_seconds(result: Result) -> float:
    """Seconds that the backend took for a data set, including preparation of the model. 0 if out of range."""
    return _in_range(result.seconds + result.prepare_seconds)


def run_seconds(run: RunInfo) -> float:
    """Wall time of the finished shards in seconds. 0 if out of range."""
    return _in_range(run.seconds)


def _in_range(duration: float) -> float:
    return duration if 0 <= duration < _MAX_SECONDS else 0.0


def truncated(text: str) -> str:
    """The text, truncated if it is very long."""
    more = len(text) - _MAX_CHARACTERS
    return text if more <= 0 else f"{text[:_MAX_CHARACTERS]}… ({plural(more, 'more character')})"
