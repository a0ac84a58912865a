"""What CI servers are told: whether a test passed, failed, erred or was skipped, results and the run itself alike."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from harness.reports.gather import RunFacts
from harness.reports.text import count
from harness.results.lines import Result

Status: TypeAlias = Literal["passed", "failed", "erred", "skipped"]

_WRONG = {"wrong_value", "wrong_shape", "wrong_type", "wrong_count"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 20_000
_YEARS = 1e9


class Outcome(msgspec.Struct, frozen=True):
    """How a test ended, and why where it did not pass."""

    status: Status
    reason: str = ""


class Check(msgspec.Struct, frozen=True):
    """A test of a run itself that does not hold, so that the run cannot look green."""

    name: str
    kind: Literal["unfinished", "stale"]
    outcome: Outcome


def outcome(result: Result) -> Outcome:
    """Wrong answers fail; errors, crashes, timeouts and what did not run err; the rest is skipped, with its reason.

    Skipped are what is silent, which nobody can fail; what is unsupported, which is no pass and no surprise; and known
    failures, since a server that counts failures would be red for ever, and see no new one.
    """
    message = result.message.strip()
    if result.verdict == "passed":
        return Outcome("passed")
    if result.verdict == "unspecified":
        return Outcome("skipped", f"unspecified: the specification leaves the answer open. {message}")
    if result.known:
        return Outcome("skipped", f"known {result.verdict}: {result.known}")
    if result.verdict == "unsupported":
        return Outcome("skipped", f"unsupported: {message}")
    return Outcome("failed" if result.verdict in _WRONG else "erred", message or result.verdict)


def checks(run: RunFacts) -> list[Check]:
    """What is wrong with a run: it is unfinished, or expects failures that no longer occur."""
    found: list[Check] = []
    if not run.complete:
        part = f"{count(run.ran)} of {count(run.data_sets)} data sets run"
        found.append(Check("finished", "unfinished", Outcome("erred", part)))
    stale = Outcome("failed", "expects failures that no longer occur")
    return [*found, *(Check(f"expectation {entry}", "stale", stale) for entry in run.stale)]


def started(run: RunFacts) -> datetime:
    """When the first of its parts began, in UTC; 1970 where no header tells a time."""
    return min(map(_time, (header.started for header in run.headers)), default=_EPOCH)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return _EPOCH


def seconds(result: Result) -> float:
    """What the backend took for a data set, preparing the model included; 0 where that is no time that can be."""
    return _possible(result.seconds + result.prepare_seconds)


def lasted(run: RunFacts) -> float:
    """Seconds of wall time of the run's finished parts; 0 where that is no time that can be."""
    return _possible(run.seconds)


def _possible(took: float) -> float:
    return took if 0 <= took < _YEARS else 0.0


def details(text: str) -> str:
    """A text of several lines, cut where a backend told a novel."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {count(len(text) - _LONGEST)} characters more"
