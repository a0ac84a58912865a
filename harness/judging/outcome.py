"""A task to run on a backend, and the outcome of each of its data sets."""

from __future__ import annotations

from typing import Literal, Self, TypeAlias

import msgspec

from harness.suite.cases import Case

Status: TypeAlias = Literal["ok", "unsupported", "error", "missing_requirement", "crashed", "timed_out", "not_run"]


class Task(msgspec.Struct, frozen=True):
    """Data sets of a case to run."""

    case: Case
    folder: str
    """The absolute path of the case's directory."""
    data_sets: tuple[int, ...]
    crash: str = ""
    """How the worker ended when it first ran the first of these data sets. Such a task runs alone in a new worker."""
    crashes: int = 0
    """Number of data sets of this case that have crashed twice."""

    @classmethod
    def of_suite(cls, root: str, case: Case, data_sets: tuple[int, ...]) -> Self:
        """The task for a case of the suite in ``root``, an absolute path."""
        return cls(case, f"{root}/{case.name}", data_sets)

    def without_first(self, count: int) -> Task:
        """The task without its first ``count`` data sets."""
        return msgspec.structs.replace(self, data_sets=self.data_sets[count:])


class Outcome(msgspec.Struct, frozen=True):
    """What happened to one data set."""

    case: Case
    folder: str
    data_set: int
    status: Status
    types: tuple[str, ...] = ()
    """Actual type of each value that the backend returned."""
    outputs: tuple[bytes, ...] = ()
    """Contents of the output files, in order: one per value that the backend returned, at most one per graph output."""
    seconds: float = 0.0
    prepare_seconds: float = 0.0
    message: str = ""
    note: str = ""
    """A remark on an answer that counts nevertheless, such as a crash that did not happen again."""
