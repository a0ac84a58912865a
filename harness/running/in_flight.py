"""A case on its way through a worker: the request, the files it names, and the outcome of each data set."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from harness.backend.protocol import Answer, Files, RunCase
from harness.judging.outcome import Outcome, Status, Task
from harness.running.process import ProtocolViolation, excerpt
from harness.text import shortened

_MOST_BYTES = 1 << 30
"""Of an output's file."""
_LONGEST_MESSAGE = 1000


class CaseInFlight:
    """A task that a worker has."""

    def __init__(self, task: Task, number: int, scratch: str) -> None:
        self.task = task
        self.answered = 0
        """Data sets that have an outcome; they get theirs in order."""
        self.heard = 0
        """Answers that came."""
        case, folder = task.case, task.folder
        inputs, outputs = range(len(case.inputs)), range(len(case.outputs))
        self.request = RunCase(
            number,
            f"{folder}/model.onnx",
            case.inputs,
            case.outputs,
            tuple(
                Files(
                    tuple([f"{folder}/{case.folder_of(data_set)}/input_{i}.pb" for i in inputs]),
                    tuple([f"{scratch}/{number}_{data_set}_{i}.pb" for i in outputs]),
                )
                for data_set in task.data_sets
            ),
        )

    @property
    def is_over(self) -> bool:
        """Whether every data set has its outcome."""
        return self.answered == len(self.task.data_sets)

    def take(self, answer: Answer, line: bytes) -> Iterator[Outcome]:
        """The outcomes in an answer: one, or one for each data set left. Raises Misbehaved where it makes no sense."""
        if answer.id != self.request.id:
            raise ProtocolViolation(f"an answer to request {answer.id}, want {self.request.id}: {excerpt(line)}")
        self.heard += 1
        if answer.data_set is None:
            if answer.status == "ok":
                raise ProtocolViolation(f"an answer without a data set, {excerpt(line)}")
            yield from self.give_up(answer.status, _tidy(answer.message), answer)
            return
        if answer.data_set != self.answered:
            raise ProtocolViolation(f"an answer to data set {answer.data_set}, want {self.answered}: {excerpt(line)}")
        outputs = self._read_outputs(self.answered, len(answer.outputs)) if answer.status == "ok" else ()
        yield self._next(answer.status, _tidy(answer.message), answer, outputs)

    def fail(self, status: Status, message: str) -> Outcome:
        """The outcome of the next data set where no answer will come."""
        return self._next(status, message)

    def give_up(self, status: Status, message: str, answer: Answer | None = None) -> Iterator[Outcome]:
        """The same outcome for every data set that has none."""
        while not self.is_over:
            yield self._next(status, message, answer)
            answer = None  # its seconds count once

    def discard(self) -> None:
        """Remove what the worker may have written already for data sets without an outcome."""
        for files in self.request.data_sets[self.answered :]:
            for path in files.outputs:
                _remove(path)

    def _next(
        self, status: Status, message: str, answer: Answer | None = None, outputs: tuple[bytes, ...] = ()
    ) -> Outcome:
        first = self.answered == 0
        self.answered += 1
        return Outcome(
            self.task.case,
            self.task.folder,
            self.task.data_sets[self.answered - 1],
            status,
            answer.outputs if answer else (),
            outputs,
            max(answer.seconds, 0.0) if answer else 0.0,
            max(answer.prepare_seconds, 0.0) if answer else 0.0,
            message,
            f"the worker went at first ({self.task.crash}), and not again alone"
            if first and self.task.crash and answer
            else "",
        )

    def _read_outputs(self, number: int, given: int) -> tuple[bytes, ...]:
        """The files of a data set, which are gone afterwards. Raises Misbehaved."""
        paths = self.request.data_sets[number].outputs
        contents = tuple([_take_file(path, i) for i, path in enumerate(paths[:given])])
        for path in paths[given:]:
            _remove(path)
        return contents


def _take_file(path: str, number: int) -> bytes:
    """The contents of a file that a worker wrote, and remove it; links are not followed. Raises Misbehaved."""
    try:
        # Without O_NONBLOCK a named pipe would hold us.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ProtocolViolation(f"ok, but wrote no file for output_{number} ({error.strerror})") from None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise ProtocolViolation(f"ok, but what it wrote for output_{number} is no file")
        if found.st_size > _MOST_BYTES:
            raise ProtocolViolation(f"ok, but wrote {found.st_size:,} bytes for output_{number}")
        return os.read(file, found.st_size)
    finally:
        os.close(file)
        _remove(path)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):  # it is not there, or is a folder, which goes with the scratch folder
        os.unlink(path)  # noqa: PTH108 - once an output


def _tidy(message: str) -> str:
    return shortened(" ".join(message.split()), _LONGEST_MESSAGE)
