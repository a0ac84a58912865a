"""What is run and what came of it: the task of a case and the outcome of each of its data sets."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.suite.cases import Case

Status: TypeAlias = Literal["ok", "unsupported", "error", "missing_requirement", "crashed", "timed_out", "not_run"]


class Task(msgspec.Struct, frozen=True):
    """Data sets of a case to be run."""

    case: Case
    folder: str
    """The case's directory, absolute."""
    data_sets: tuple[int, ...]
    crash: str = ""
    """How a worker went at the first of these data sets; set, it is tried again alone in a fresh one."""
    crashes: int = 0
    """Data sets of this case that are known to crash."""

    def after(self, answered: int) -> Task:
        """What is left after so many answers."""
        return msgspec.structs.replace(self, data_sets=self.data_sets[answered:])


class Outcome(msgspec.Struct, frozen=True):
    """What became of one data set."""

    case: Case
    folder: str
    data_set: int
    status: Status
    types: tuple[str, ...] = ()
    """Stated type of each value that the backend gave."""
    outputs: tuple[bytes, ...] = ()
    """The file of each declared output, in their order; as many as were given."""
    seconds: float = 0.0
    prepare_seconds: float = 0.0
    message: str = ""
    note: str = ""
    """What is to be known of an answer that stands."""
