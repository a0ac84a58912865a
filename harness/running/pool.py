"""The pool: runs cases in worker processes, so that a hang, crash, leak or wrong answer affects only its own case."""

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
from harness.backend.loading import COMMAND_PREFIX
from harness.backend.protocol import CANNOT_WRITE_STATUS, PROTOCOL_VERSION
from harness.errors import ConformanceError, UsageError
from harness.judging.outcome import Outcome, Task
from harness.running.in_flight import CaseInFlight
from harness.running.process import ProtocolViolation, WorkerProcess, worker_command
from harness.running.scratch import NoScratchFolder, create_scratch_folder
from harness.running.slot import Slot

_MAX_IN_FLIGHT = 2
"""Cases that a worker has at a time, so that it never waits for the pool."""
_TICK_SECONDS = 0.25
"""Time between two checks of time limits and memory."""
_START_SECONDS = 120.0
"""Time limit for loading a backend."""
_MAX_FAILED_STARTS = 3
"""After this many failed starts in a row, the pool gives up."""
_MAX_CRASHES = 3
"""After this many confirmed crashes, the rest of a case is skipped, since each crash costs two starts of a worker."""


class Limits(msgspec.Struct, frozen=True):
    """Resource limits of a backend."""

    seconds: float = 10.0
    """Time for one case."""
    memory: int = 4 << 30
    """Bytes per worker; 0 for no limit."""


class StartFailed(ConformanceError):
    """The backend's process does not start or does not describe itself."""


class BackendRefused(UsageError):
    """The backend reports that it cannot start."""


class Pool:
    """Workers for one backend. A context manager: leaving it ends every process that the workers started."""

    def __init__(self, spec: str, workers: int, limits: Limits, tick: Callable[[], None] = lambda: None) -> None:
        """``tick`` is called several times per second; it may raise an exception to stop the pool."""
        command = worker_command(spec, limits.memory)
        self._spec = spec
        self._limits = limits
        self._tick = tick
        self._selector = selectors.DefaultSelector()
        self._scratch = create_scratch_folder()
        self._slots = [Slot(command, self._scratch, self._selector) for _ in range(workers)]
        self._description: Description | None = None
        self._failed_starts = 0
        self._failure = ""
        """Why no more workers are started; empty while the pool works."""
        self._next_tick = 0.0
        self._last_id = 0
        self._tasks: Iterator[Task] = iter(())
        self._requeued: deque[Task] = deque()
        """Tasks whose worker ended before it started them."""
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

    def start_workers(self) -> None:
        """Start every worker without waiting, so that they load the backend in the meantime."""
        for slot in self._slots:
            self._launch(slot)

    def wait_until_ready(self) -> Description:
        """Wait until one worker has described the backend; starts the workers if necessary.

        Raises BackendRefused or StartFailed.
        """
        if not any(slot.process for slot in self._slots):
            self.start_workers()
        while self._description is None:
            self._round()
            if self._failure:
                raise StartFailed(self._failure, "Check the backend by itself: onnx-conformance check-backend.")
        return self._description

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield the outcome of every data set of every task exactly once, as they arrive.

        Call ``wait_until_ready`` first.
        """
        self._tasks = iter(tasks)
        for slot in self._slots:
            self._assign_work(slot)
        while any(slot.in_flight or slot.retry for slot in self._slots) or self._requeued:
            self._round()
            while self._outcomes:
                yield self._outcomes.popleft()
            if self._failure and not any(slot.in_flight for slot in self._slots):
                break
        if self._failure:
            yield from self._not_run()

    # Rounds: wait for output, read it, check limits, assign work.

    def _round(self) -> None:
        for key, _ in self._selector.select(_TICK_SECONDS):
            slot: Slot = key.data
            process = slot.process
            if process and key.fd == process.answers:
                self._read(slot, process)
            elif process and key.fd == process.requests:
                slot.flush()
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + _TICK_SECONDS
            self._tick()
            for slot in self._slots:
                self._check(slot, now)
        for slot in self._slots:
            slot.has_spoken = False

    def _read(self, slot: Slot, process: WorkerProcess) -> None:
        slot.has_spoken = True
        try:
            lines = process.receive()
            for line in lines or ():
                self._handle_line(slot, line)
        except ProtocolViolation as error:
            self._handle_violation(slot, str(error))
            return
        if lines is None:
            self._handle_exit(slot)
        elif slot.process is process:
            self._assign_work(slot)

    def _handle_line(self, slot: Slot, line: bytes) -> None:
        if not slot.ready:
            self._handle_description(slot, line)
            return
        self._outcomes.extend(slot.read_answer(line))

    def _handle_description(self, slot: Slot, line: bytes) -> None:
        answer = slot.read_description(line)
        refusal = answer.message or f"The backend {self._spec!r} did not describe itself."
        if answer.protocol != PROTOCOL_VERSION:
            refusal = f"The backend {self._spec!r} uses protocol {answer.protocol}, want {PROTOCOL_VERSION}."
        elif answer.description is not None:
            refusal = ""
        if refusal and self._description is None:
            raise BackendRefused(refusal, answer.advice)
        if refusal:
            raise ProtocolViolation(f"a refusal ({refusal})")
        self._description = self._description or answer.description
        slot.ready = True

    # Time limits and memory.

    def _check(self, slot: Slot, now: float) -> None:
        process = slot.process
        if process is None:
            return
        process.trim_log()
        if not process.is_running():
            if self._is_drained(slot, process):
                self._handle_exit(slot)
        elif not slot.ready:
            if now - slot.started_at > _START_SECONDS:
                self._handle_failed_start(slot, f"did not describe itself within {_START_SECONDS:.0f} s")
        elif slot.in_flight and not slot.has_spoken and now - slot.started_at > self._limits.seconds:
            self._handle_timeout(slot)
        elif self._limits.memory:
            self._check_memory(slot, process)

    def _is_drained(self, slot: Slot, process: WorkerProcess) -> bool:
        """Whether a process that has exited left no more output. Its children may still hold its output open."""
        before = slot.in_flight[0].answers if slot.in_flight else 0
        self._read(slot, process)
        return slot.process is process and before == (slot.in_flight[0].answers if slot.in_flight else 0)

    def _check_memory(self, slot: Slot, process: WorkerProcess) -> None:
        used, allowed = process.memory_usage(), self._limits.memory
        if slot.in_flight and used > allowed:
            slot.stop()
            self._handle_crash(slot, f"used {_gibibytes(used)}, {_gibibytes(allowed)} allowed")
        elif used > slot.idle_memory + allowed / 2:
            slot.memory_is_high = True
            self._assign_work(slot)

    # Work.

    def _assign_work(self, slot: Slot) -> None:
        """Send the worker as many cases as it may have; start a worker if there is none and work is left."""
        process = slot.process
        if process is None:
            if not self._failure and (slot.retry or self._has_more()):
                self._launch(slot)
            return
        if not slot.ready:
            self._has_more()  # takes the next task from the iterator, so that the run waits for this worker
            return
        if slot.memory_is_high and not slot.in_flight:
            slot.memory_is_high = False
            if process.memory_usage() > slot.idle_memory + self._limits.memory / 2:
                slot.stop()
                self._assign_work(slot)
                return
        while len(slot.in_flight) < _MAX_IN_FLIGHT and not slot.memory_is_high and not self._failure:
            if slot.retry:
                task, slot.retry = slot.retry, None
            elif slot.in_flight and slot.in_flight[0].task.crash:
                return
            else:
                task = self._next_task()
            if task is None:
                return
            self._last_id += 1
            self._failed_starts = 0
            slot.send(task, self._last_id)

    def _has_more(self) -> bool:
        if not self._requeued:
            task = next(self._tasks, None)
            if task:
                self._requeued.append(task)
        return bool(self._requeued)

    def _next_task(self) -> Task | None:
        return self._requeued.popleft() if self._requeued else next(self._tasks, None)

    def _not_run(self) -> Iterator[Outcome]:
        retries = [slot.retry for slot in self._slots if slot.retry]
        for task in chain(retries, self._requeued, self._tasks):
            yield from CaseInFlight(task, 0, self._scratch).end_all("not_run", self._failure)

    # Workers that start, exit and fail.

    def _launch(self, slot: Slot) -> None:
        try:
            slot.launch()
        except OSError as error:
            self._handle_failed_start(slot, f"cannot be executed: {error.strerror}")

    def _handle_exit(self, slot: Slot) -> None:
        process = slot.process
        assert process is not None
        how, error_line = process.end(), process.last_error_line()
        if how == f"exited with status {CANNOT_WRITE_STATUS}" and not self._spec.startswith(COMMAND_PREFIX):
            raise NoScratchFolder(f"Cannot write the backend's outputs to {self._scratch}: {error_line}.")
        ready = slot.ready
        slot.stop()
        if not ready:
            self._handle_failed_start(slot, _joined(how, error_line))
        elif slot.in_flight:
            self._handle_crash(slot, how, error_line)
        else:
            self._assign_work(slot)

    def _handle_failed_start(self, slot: Slot, how: str) -> None:
        slot.stop()
        self._failed_starts += 1
        if self._description is None or self._failed_starts >= _MAX_FAILED_STARTS:
            self._failure = f"The backend {self._spec!r} does not start: it {how.rstrip('.')}."
        else:
            self._assign_work(slot)

    def _handle_crash(self, slot: Slot, how: str, error_line: str = "") -> None:
        """Run the unfinished data sets again, alone in a new worker. A second crash there is the verdict."""
        current = self._take_back(slot)
        rest = current.task.without_first(current.completed)
        if not current.task.crash or current.completed:
            slot.retry = msgspec.structs.replace(rest, crash=how)
        else:
            self._outcomes.append(current.end_next("crashed", _joined(f"{how}, twice", error_line)))
            rest = rest.without_first(1)
            if rest.data_sets and rest.crashes + 1 >= _MAX_CRASHES:
                reason = f"not run: {_MAX_CRASHES} earlier data sets of the case crashed"
                self._outcomes.extend(current.end_all("crashed", reason))
            elif rest.data_sets:
                self._requeued.appendleft(msgspec.structs.replace(rest, crash="", crashes=rest.crashes + 1))
        self._assign_work(slot)

    def _handle_timeout(self, slot: Slot) -> None:
        self._replace(
            slot,
            "timed_out",
            f"no answer within {self._limits.seconds:g} s",
            "an earlier data set of the case timed out",
        )

    def _handle_violation(self, slot: Slot, what: str) -> None:
        if not slot.in_flight:  # no case to blame; a worker that starts like this would never get to one
            self._handle_failed_start(slot, f"answered with {what}")
        else:
            self._replace(
                slot,
                "error",
                f"the backend answered with {what}",
                "the answer to an earlier data set of the case is invalid",
            )

    def _replace(self, slot: Slot, status: Literal["error", "timed_out"], message: str, reason: str) -> None:
        """Replace the worker; ``message`` is for the next data set, ``reason`` for the others of its case."""
        slot.stop()
        if slot.in_flight:
            current = self._take_back(slot)
            self._outcomes.append(current.end_next(status, message))
            self._outcomes.extend(current.end_all(status, f"not run: {reason}"))
        self._assign_work(slot)

    def _take_back(self, slot: Slot) -> CaseInFlight:
        current, waiting = slot.take_back()
        self._requeued.extendleft(reversed(waiting))
        return current


def _close_inputs(processes: list[WorkerProcess]) -> None:
    """Give the workers of a finished run a second to exit; killing the client of a container would not end it."""
    for process in processes:
        process.close_input()
    deadline = time.monotonic() + 1
    while any(process.is_running() for process in processes) and time.monotonic() < deadline:
        time.sleep(0.002)


def _joined(how: str, error_line: str) -> str:
    return f"{how}: {error_line}" if error_line else how


def _gibibytes(amount: int) -> str:
    return f"{amount / (1 << 30):.2g} GiB"
