"""A slot of the pool: runs one worker at a time, and holds the cases that the worker is running."""

from __future__ import annotations

import contextlib
import selectors
import time
from collections import deque

import msgspec

from harness.backend.protocol import CaseAnswer, DescribeAnswer, DescribeRequest
from harness.judging.outcome import Outcome, Task
from harness.running.in_flight import CaseInFlight
from harness.running.process import ProtocolViolation, WorkerProcess, excerpt

_encoder = msgspec.json.Encoder()
_description_decoder: msgspec.json.Decoder[DescribeAnswer] = msgspec.json.Decoder(DescribeAnswer)
_answer_decoder: msgspec.json.Decoder[CaseAnswer] = msgspec.json.Decoder(CaseAnswer)


class Slot:
    """Its process is None, starting, or ready. A ready process has described itself and may have cases in flight."""

    def __init__(self, command: list[str], scratch: str, selector: selectors.BaseSelector) -> None:
        self._command = command
        self._scratch = scratch
        self._selector = selector
        self.process: WorkerProcess | None = None
        self.ready = False
        self.started_at = 0.0
        """When the process was started or, if cases are in flight, when the first of them started."""
        self.in_flight: deque[CaseInFlight] = deque()
        self.retry: Task | None = None
        """A task that crashed. The next worker runs it first, and nothing else meanwhile."""
        self.has_spoken = False
        """Output arrived in this round of the pool. More may wait in the pipe, so time limits do not apply yet."""
        self.idle_memory = 0
        """Bytes of memory that the worker used right after it had loaded the backend."""
        self.memory_is_high = False
        """The worker gets no new case until its memory has been checked between two cases."""

    def launch(self) -> None:
        """Start a worker and ask it to describe itself. Raises OSError."""
        self.ready = self.memory_is_high = False
        self.started_at = time.monotonic()
        self.process = WorkerProcess(self._command, self._scratch)
        self._selector.register(self.process.answers, selectors.EVENT_READ, self)
        self._write(self.process, _encoder.encode(DescribeRequest()))

    def send(self, task: Task, request_id: int) -> None:
        """Send a task to the worker, under an id that no other request has."""
        assert self.process
        current = CaseInFlight(task, request_id, self._scratch)
        if not self.in_flight:
            self.started_at = time.monotonic()
        self.in_flight.append(current)
        self._write(self.process, _encoder.encode(current.request))

    def flush(self) -> None:
        """Send what the pipe had no room for."""
        if self.process and self.process.flush():
            with contextlib.suppress(KeyError):
                self._selector.unregister(self.process.requests)

    def read_description(self, line: bytes) -> DescribeAnswer:
        """Decode the first line of a starting worker. Raises ProtocolViolation."""
        try:
            description = _description_decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ProtocolViolation(f"an invalid description, {excerpt(line)} ({error})") from None
        self.idle_memory = self.process.memory_usage() if self.process else 0
        return description

    def read_answer(self, line: bytes) -> list[Outcome]:
        """Decode a line of a ready worker, an answer to its first case.

        When that case is complete, the clock of the next one starts. Raises ProtocolViolation.
        """
        try:
            answer = _answer_decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ProtocolViolation(f"an invalid answer, {excerpt(line)} ({error})") from None
        if not self.in_flight:
            raise ProtocolViolation(f"an answer without a request, {excerpt(line)}")
        outcomes = list(self.in_flight[0].accept(answer, line))
        if self.in_flight[0].is_complete:
            self.in_flight.popleft()
            self.started_at = time.monotonic()
        return outcomes

    def stop(self) -> None:
        """End the worker. Its cases stay in flight."""
        process, self.process = self.process, None
        if process:
            for file in (process.answers, process.requests):
                with contextlib.suppress(KeyError):
                    self._selector.unregister(file)
            process.close()

    def take_back(self) -> tuple[CaseInFlight, list[Task]]:
        """Remove the cases in flight: the one that the worker was running, and the tasks that it had not started."""
        current, *waiting = self.in_flight
        self.in_flight.clear()
        for one in (current, *waiting):
            one.remove_files()
        return current, [one.task for one in waiting]

    def _write(self, process: WorkerProcess, line: bytes) -> None:
        if not process.send(line + b"\n") and process.requests not in self._selector.get_map():
            self._selector.register(process.requests, selectors.EVENT_WRITE, self)
