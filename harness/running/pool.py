"""The pool: cases run in worker processes, and each hang, crash, leak and lie stays with the case it happened in."""

from __future__ import annotations

import selectors
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import TracebackType
from typing import Literal, Self

import msgspec

from harness.backend.interface import Description
from harness.backend.loading import COMMAND
from harness.backend.protocol import CANNOT_WRITE, PROTOCOL
from harness.errors import ConformanceError, UsageError
from harness.judging.outcome import Outcome, Task
from harness.running.in_flight import CaseInFlight
from harness.running.process import Process, ProtocolViolation, command_of
from harness.running.scratch import NoScratchFolder, scratch_folder
from harness.running.slot import Slot

_IN_FLIGHT = 2
"""Cases that a worker has, so that it never waits for us."""
_TICK = 0.25
"""Seconds between looks at clocks and memory."""
_START_LIMIT = 120.0
"""Seconds to load a backend."""
_MOST_FAILED_STARTS = 3
"""In a row, after which no more are tried."""
_MOST_CRASHES = 3
"""Confirmed ones in a case; each costs two starts of a worker, so a case that goes on so is given up."""


class Limits(msgspec.Struct, frozen=True):
    """What a backend may use."""

    seconds: float = 10.0
    """For a case."""
    memory: int = 4 << 30
    """Bytes; 0 for any."""


class StartFailed(ConformanceError):
    """A backend whose process does not start or does not say what it is."""


class BackendRefused(UsageError):
    """A backend that says itself why it cannot be started."""


class Pool:
    """Workers of one backend; a context manager, whose end ends every process they started."""

    def __init__(self, spec: str, workers: int, limits: Limits, tick: Callable[[], None] = lambda: None) -> None:
        """``tick`` is called several times a second, and may raise to stop everything."""
        command = command_of(spec, limits.memory)
        self._spec = spec
        self._limits = limits
        self._tick = tick
        self._selector = selectors.DefaultSelector()
        self._scratch = scratch_folder()
        self._slots = [Slot(command, self._scratch, self._selector) for _ in range(workers)]
        self._description: Description | None = None
        self._failed_starts = 0
        self._given_up = ""
        self._next_tick = 0.0
        self._ids = 0
        self._tasks: Iterator[Task] = iter(())
        self._returned: deque[Task] = deque()
        """Tasks whose worker went before it came to them."""
        self._outcomes: deque[Outcome] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        processes = [slot.process for slot in self._slots if slot.process]
        if kind is None:
            _close_inputs(processes)
        for process in processes:
            process.kill()
        for process in processes:
            process.close()
        self._selector.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def begin(self) -> None:
        """Start every worker, without waiting for any: they load the backend meanwhile."""
        for slot in self._slots:
            self._launch(slot)

    def start(self) -> Description:
        """Wait for the first worker to say what the backend is. Raises BackendRefused or NoStart."""
        if not any(slot.process for slot in self._slots):
            self.begin()
        while self._description is None:
            self._round()
            if self._given_up:
                raise StartFailed(self._given_up, "Try it alone: onnx-conformance check-backend.")
        return self._description

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """The outcome of every data set of every task, as they come; each exactly once. Call ``start`` before."""
        self._tasks = iter(tasks)
        for slot in self._slots:
            self._feed(slot)
        while any(slot.in_flight or slot.alone for slot in self._slots) or self._returned:
            self._round()
            while self._outcomes:
                yield self._outcomes.popleft()
            if self._given_up and not any(slot.in_flight for slot in self._slots):
                break
        if self._given_up:
            yield from self._not_run()

    # Rounds: wait, listen, look at clocks, hand out work.

    def _round(self) -> None:
        for key, _ in self._selector.select(_TICK):
            slot: Slot = key.data
            process = slot.process
            if process and key.fd == process.answers:
                self._listen(slot, process)
            elif process and key.fd == process.requests:
                slot.flush()
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + _TICK
            self._tick()
            for slot in self._slots:
                self._look_at(slot, now)
        for slot in self._slots:
            slot.heard = False

    def _listen(self, slot: Slot, process: Process) -> None:
        slot.heard = True
        try:
            lines = process.receive()
            for line in lines or ():
                self._hear(slot, line)
        except ProtocolViolation as error:
            self._misbehaved(slot, str(error))
            return
        if lines is None:
            self._ended(slot)
        elif slot.process is process:
            self._feed(slot)

    def _hear(self, slot: Slot, line: bytes) -> None:
        if not slot.ready:
            self._hear_description(slot, line)
            return
        self._outcomes.extend(slot.hear_answer(line))

    def _hear_description(self, slot: Slot, line: bytes) -> None:
        said = slot.hear_description(line)
        refusal = said.message or "it does not describe itself"
        if said.protocol != PROTOCOL:
            refusal = f"The backend {self._spec!r} speaks protocol {said.protocol}, want {PROTOCOL}."
        elif said.description is not None:
            refusal = ""
        if refusal and self._description is None:
            raise BackendRefused(refusal, said.advice)
        if refusal:
            raise ProtocolViolation(f"a refusal ({refusal})")
        self._description = self._description or said.description
        slot.ready = True

    # Clocks and memory.

    def _look_at(self, slot: Slot, now: float) -> None:
        process = slot.process
        if process is None:
            return
        process.trim_log()
        if not process.is_running():
            if self._drained(slot, process):
                self._ended(slot)
        elif not slot.ready:
            if now - slot.began > _START_LIMIT:
                self._failed_start(slot, f"did not say what it is within {_START_LIMIT:.0f} s")
        elif slot.in_flight and not slot.heard and now - slot.began > self._limits.seconds:
            self._timed_out(slot)
        elif self._limits.memory:
            self._weigh(slot, process)

    def _drained(self, slot: Slot, process: Process) -> bool:
        """Whether nothing more comes from a process that is gone, though its children may hold its output open."""
        before = slot.in_flight[0].heard if slot.in_flight else 0
        self._listen(slot, process)
        return slot.process is process and before == (slot.in_flight[0].heard if slot.in_flight else 0)

    def _weigh(self, slot: Slot, process: Process) -> None:
        used, allowed = process.resident(), self._limits.memory
        if slot.in_flight and used > allowed:
            slot.stop()
            self._crashed(slot, f"used {_gibibytes(used)}, {_gibibytes(allowed)} allowed")
        elif used > slot.lean + allowed / 2:
            slot.big = True
            self._feed(slot)

    # Work.

    def _feed(self, slot: Slot) -> None:
        """Give a worker what it has room for; start one where there is none and work is left."""
        process = slot.process
        if process is None:
            if not self._given_up and (slot.alone or self._has_more()):
                self._launch(slot)
            return
        if not slot.ready:
            self._has_more()  # so that the run waits for it where there is nobody else
            return
        if slot.big and not slot.in_flight:
            slot.big = False
            if process.resident() > slot.lean + self._limits.memory / 2:
                slot.stop()
                self._feed(slot)
                return
        while len(slot.in_flight) < _IN_FLIGHT and not slot.big and not self._given_up:
            if slot.alone:
                task, slot.alone = slot.alone, None
            elif slot.in_flight and slot.in_flight[0].task.crash:
                return
            else:
                task = self._next()
            if task is None:
                return
            self._ids += 1
            self._failed_starts = 0
            slot.send(task, self._ids)

    def _has_more(self) -> bool:
        if not self._returned:
            task = next(self._tasks, None)
            if task:
                self._returned.append(task)
        return bool(self._returned)

    def _next(self) -> Task | None:
        return self._returned.popleft() if self._returned else next(self._tasks, None)

    def _not_run(self) -> Iterator[Outcome]:
        alone = [slot.alone for slot in self._slots if slot.alone]
        for task in chain(alone, self._returned, self._tasks):
            yield from CaseInFlight(task, 0, self._scratch).give_up("not_run", self._given_up)

    # Workers that come and go.

    def _launch(self, slot: Slot) -> None:
        try:
            slot.launch()
        except OSError as error:
            self._failed_start(slot, f"cannot be started: {error.strerror}")

    def _ended(self, slot: Slot) -> None:
        process = slot.process
        assert process is not None
        how, words = process.end(), process.last_error_line()
        if how == f"exited with status {CANNOT_WRITE}" and not self._spec.startswith(COMMAND):
            raise NoScratchFolder(f"The answers of the backend cannot be written to {self._scratch}: {words}.")
        ready = slot.ready
        slot.stop()
        if not ready:
            self._failed_start(slot, _with(words, how))
        elif slot.in_flight:
            self._crashed(slot, how, words)
        else:
            self._feed(slot)

    def _failed_start(self, slot: Slot, how: str) -> None:
        slot.stop()
        self._failed_starts += 1
        if self._description is None or self._failed_starts >= _MOST_FAILED_STARTS:
            self._given_up = f"The backend {self._spec!r} does not start: it {how.rstrip('.')}."
        else:
            self._feed(slot)

    def _crashed(self, slot: Slot, how: str, words: str = "") -> None:
        """Try what the crash left open once more, alone in a fresh worker, and believe it where it comes again."""
        current = self._take_back(slot)
        rest = current.task.after(current.answered)
        if not current.task.crash or current.answered:
            slot.alone = msgspec.structs.replace(rest, crash=how)
        else:
            self._outcomes.append(current.fail("crashed", _with(words, f"{how}, as it did before")))
            rest = rest.after(1)
            if rest.data_sets and rest.crashes + 1 >= _MOST_CRASHES:
                reason = f"not reached: {_MOST_CRASHES} data sets of the case before it crashed"
                self._outcomes.extend(current.give_up("crashed", reason))
            elif rest.data_sets:
                self._returned.appendleft(msgspec.structs.replace(rest, crash="", crashes=rest.crashes + 1))
        self._feed(slot)

    def _timed_out(self, slot: Slot) -> None:
        self._replace(
            slot, "timed_out", f"no answer within {self._limits.seconds:g} s", "the one before it took all the time"
        )

    def _misbehaved(self, slot: Slot, what: str) -> None:
        if not slot.in_flight:  # nobody's answer, and a worker that begins so would never come to one
            self._failed_start(slot, f"answered with {what}")
        else:
            self._replace(slot, "error", f"the backend answered with {what}", "the answer to the one before it is none")

    def _replace(self, slot: Slot, status: Literal["error", "timed_out"], message: str, behind: str) -> None:
        slot.stop()
        if slot.in_flight:
            current = self._take_back(slot)
            self._outcomes.append(current.fail(status, message))
            self._outcomes.extend(current.give_up(status, f"not reached: {behind}"))
        self._feed(slot)

    def _take_back(self, slot: Slot) -> CaseInFlight:
        current, behind = slot.take_back()
        self._returned.extendleft(reversed(behind))
        return current


def _close_inputs(processes: list[Process]) -> None:
    """Give the workers of a finished run a second to end by themselves: containers die so, and not by a kill."""
    for process in processes:
        process.close_input()
    deadline = time.monotonic() + 1
    while any(process.is_running() for process in processes) and time.monotonic() < deadline:
        time.sleep(0.002)


def _with(words: str, how: str) -> str:
    return f"{how}: {words}" if words else how


def _gibibytes(amount: int) -> str:
    return f"{amount / (1 << 30):.2g} GiB"
