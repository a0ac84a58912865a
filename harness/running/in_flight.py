"""A case that a worker is running: its request, its output files, and the outcome of each data set."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from harness.backend.protocol import CaseAnswer, CaseRequest, DataSetPaths
from harness.judging.outcome import Outcome, Status, Task
from harness.running.process import ProtocolViolation, excerpt
from harness.text import shortened

_MAX_FILE_BYTES = 1 << 30
_MAX_MESSAGE_LENGTH = 1000


class CaseInFlight:
    """A task that has been sent to a worker."""

    def __init__(self, task: Task, request_id: int, scratch: str) -> None:
        self.task = task
        self.completed = 0
        """Number of data sets that have an outcome, which they get in order."""
        self.answers = 0
        """Number of answers received."""
        case, folder = task.case, task.folder
        inputs, outputs = range(len(case.inputs)), range(len(case.outputs))
        self.request = CaseRequest(
            request_id,
            f"{folder}/model.onnx",
            case.inputs,
            case.outputs,
            tuple(
                DataSetPaths(
                    tuple([f"{folder}/{case.file_prefix(data_set)}input_{i}.pb" for i in inputs]),
                    tuple([f"{scratch}/{request_id}_{data_set}_{i}.pb" for i in outputs]),
                )
                for data_set in task.data_sets
            ),
        )

    @property
    def is_complete(self) -> bool:
        """Whether every data set has an outcome."""
        return self.completed == len(self.task.data_sets)

    def accept(self, answer: CaseAnswer, line: bytes) -> Iterator[Outcome]:
        """The outcomes in an answer: one, or one for each remaining data set. Raises ProtocolViolation."""
        if answer.id != self.request.id:
            raise ProtocolViolation(f"an answer to request {answer.id}, want {self.request.id}: {excerpt(line)}")
        self.answers += 1
        if answer.data_set is None:
            if answer.status == "ok":
                raise ProtocolViolation(f"status ok without a data set, {excerpt(line)}")
            yield from self.end_all(answer.status, _one_line(answer.message), answer)
            return
        if answer.data_set != self.completed:
            raise ProtocolViolation(f"an answer to data set {answer.data_set}, want {self.completed}: {excerpt(line)}")
        outputs = self._read_outputs(self.completed, len(answer.outputs)) if answer.status == "ok" else ()
        yield self._next_outcome(answer.status, _one_line(answer.message), answer, outputs)

    def end_next(self, status: Status, message: str) -> Outcome:
        """The outcome of the next data set if no answer will come."""
        return self._next_outcome(status, message)

    def end_all(self, status: Status, message: str, answer: CaseAnswer | None = None) -> Iterator[Outcome]:
        """The same outcome for every data set that has none."""
        while not self.is_complete:
            yield self._next_outcome(status, message, answer)
            answer = None  # its seconds count once

    def remove_files(self) -> None:
        """Remove what the worker may already have written for data sets without an outcome."""
        for paths in self.request.data_sets[self.completed :]:
            for path in paths.outputs:
                _remove(path)

    def _next_outcome(
        self, status: Status, message: str, answer: CaseAnswer | None = None, outputs: tuple[bytes, ...] = ()
    ) -> Outcome:
        is_retry = self.completed == 0 and bool(self.task.crash)
        self.completed += 1
        return Outcome(
            self.task.case,
            self.task.folder,
            self.task.data_sets[self.completed - 1],
            status,
            answer.outputs if answer else (),
            outputs,
            max(answer.seconds, 0.0) if answer else 0.0,
            max(answer.prepare_seconds, 0.0) if answer else 0.0,
            message,
            f"the worker {self.task.crash} at the first attempt, but not when the data set ran again alone"
            if is_retry and answer
            else "",
        )

    def _read_outputs(self, number: int, count: int) -> tuple[bytes, ...]:
        """Read the first ``count`` output files of a data set and remove all of them. Raises ProtocolViolation."""
        paths = self.request.data_sets[number].outputs
        contents = tuple([_take_file(path, i) for i, path in enumerate(paths[:count])])
        for path in paths[count:]:
            _remove(path)
        return contents


def _take_file(path: str, number: int) -> bytes:
    """Read and remove a file that a worker wrote, without following links. Raises ProtocolViolation."""
    try:
        # O_NONBLOCK, since the worker may have created a named pipe.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ProtocolViolation(f"status ok, but wrote no file for output_{number} ({error.strerror})") from None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise ProtocolViolation(f"status ok, but what it wrote for output_{number} is not a regular file")
        if status.st_size > _MAX_FILE_BYTES:
            raise ProtocolViolation(f"status ok, but wrote {status.st_size:,} bytes for output_{number}")
        return os.read(file, status.st_size)
    finally:
        os.close(file)
        _remove(path)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):  # it does not exist, or is a folder, which goes with the scratch folder
        os.unlink(path)  # noqa: PTH108 - called for every output


def _one_line(message: str) -> str:
    return shortened(" ".join(message.split()), _MAX_MESSAGE_LENGTH)
