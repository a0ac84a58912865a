"""A slot of the pool: a place for a worker, one after the other, with the cases that it has."""

from __future__ import annotations

import contextlib
import selectors
import time
from collections import deque

import msgspec

from harness.backend.protocol import Answer, Describe, Described
from harness.judging.outcome import Outcome, Task
from harness.running.in_flight import CaseInFlight
from harness.running.process import Process, ProtocolViolation, excerpt

_encoder = msgspec.json.Encoder()
_described: msgspec.json.Decoder[Described] = msgspec.json.Decoder(Described)
_answer: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


class Slot:
    """Its process is None, or starting, or ready: then it has described itself, and may have cases in flight."""

    def __init__(self, command: list[str], scratch: str, selector: selectors.BaseSelector) -> None:
        self._command = command
        self._scratch = scratch
        self._selector = selector
        self.process: Process | None = None
        self.ready = False
        self.began = 0.0
        """When its process was started, or when its first case became that."""
        self.in_flight: deque[CaseInFlight] = deque()
        self.alone: Task | None = None
        """What its next worker gets first, and nothing beside it."""
        self.heard = False
        """It spoke in this round, so its clock is not looked at: what it said may be waiting still."""
        self.lean = 0
        """Bytes of memory that it used when it had loaded the backend."""
        self.big = False
        """It uses much memory: it gets no case until that has been looked at between two."""

    def launch(self) -> None:
        """Start a worker and ask what it is. Raises OSError."""
        self.ready = self.big = False
        self.began = time.monotonic()
        self.process = Process(self._command, self._scratch)
        self._selector.register(self.process.answers, selectors.EVENT_READ, self)
        self._write(self.process, _encoder.encode(Describe()))

    def send(self, task: Task, number: int) -> None:
        """Give the worker a case to run, under a number that no other has."""
        assert self.process
        current = CaseInFlight(task, number, self._scratch)
        if not self.in_flight:
            self.began = time.monotonic()
        self.in_flight.append(current)
        self._write(self.process, _encoder.encode(current.request))

    def flush(self) -> None:
        """Send on what the pipe had no room for."""
        if self.process and self.process.flush():
            with contextlib.suppress(KeyError):
                self._selector.unregister(self.process.requests)

    def hear_description(self, line: bytes) -> Described:
        """What a starting worker says. Raises Misbehaved."""
        try:
            said = _described.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ProtocolViolation(f"no description, {excerpt(line)} ({error})") from None
        self.lean = self.process.resident() if self.process else 0
        return said

    def hear_answer(self, line: bytes) -> list[Outcome]:
        """What a ready worker says of its first case; when that is over the next one's clock starts.

        Raises Misbehaved.
        """
        try:
            answer = _answer.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ProtocolViolation(f"no answer, {excerpt(line)} ({error})") from None
        if not self.in_flight:
            raise ProtocolViolation(f"an answer that nobody asked for, {excerpt(line)}")
        outcomes = list(self.in_flight[0].take(answer, line))
        if self.in_flight[0].is_over:
            self.in_flight.popleft()
            self.began = time.monotonic()
        return outcomes

    def stop(self) -> None:
        """End the worker; its cases are still here."""
        process, self.process = self.process, None
        if process:
            for file in (process.answers, process.requests):
                with contextlib.suppress(KeyError):
                    self._selector.unregister(file)
            process.close()

    def take_back(self) -> tuple[CaseInFlight, list[Task]]:
        """The case that the worker went with, and those behind it, which it did not come to."""
        current, *behind = self.in_flight
        self.in_flight.clear()
        for one in (current, *behind):
            one.discard()
        return current, [one.task for one in behind]

    def _write(self, process: Process, line: bytes) -> None:
        if not process.send(line + b"\n") and process.requests not in self._selector.get_map():
            self._selector.register(process.requests, selectors.EVENT_WRITE, self)
