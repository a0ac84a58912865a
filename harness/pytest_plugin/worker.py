"""A backend worker that runs data sets ahead of the tests that need them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec

from harness.judging.outcome import Outcome, Task
from harness.running.pool import Limits, Pool

_Key = tuple[str, int]
"""(Folder of the case, data set)."""


class PersistentWorker:
    """A pool of one worker with a queue of tasks. Outcomes are kept until a test asks for them."""

    def __init__(self, backend: str, limits: Limits) -> None:
        self._backend = backend
        self._limits = limits
        self._pool: Pool | None = None
        self._exit_stack = ExitStack()
        self._queue = _TaskQueue()
        self._outcomes: Iterator[Outcome] = iter(())
        self._pending: set[_Key] = set()
        """Data sets in the queue or in the worker."""
        self._outcomes_by_key: dict[_Key, Outcome] = {}
        """Outcomes that no test has asked for yet."""

    def begin(self) -> None:
        """Starts to load the backend and does not wait. Raises NoProgram and NoScratchFolder."""
        self._pool = self._exit_stack.enter_context(Pool(self._backend, 1, self._limits))
        self._pool.start_workers()

    def start(self) -> Pool:
        """Waits until the backend is loaded. Raises BackendRefused, StartFailed, NoProgram and NoScratchFolder."""
        if self._pool is None:
            self.begin()
        assert self._pool
        self._pool.wait_until_ready()
        return self._pool

    def close(self) -> None:
        """Ends the worker and its child processes."""
        self._pool = None
        self._exit_stack.close()

    def prefetch(self, task: Task) -> None:
        """Adds the data sets of a task to the queue, except those that were added before."""
        keys = {number: (task.folder, number) for number in task.data_sets}
        new = tuple([n for n, key in keys.items() if key not in self._pending and key not in self._outcomes_by_key])
        if new:
            self._pending.update(keys[number] for number in new)
            self._queue.tasks.append(msgspec.structs.replace(task, data_sets=new))

    def outcome(self, task: Task) -> Outcome:
        """Waits for the outcome of the first data set of a task. The task is added to the queue if necessary.

        An outcome can be taken once. Raises NoScratchFolder, and what ``start`` raises.
        """
        self.prefetch(task)
        wanted = (task.folder, task.data_sets[0])
        pool = self.start()
        while wanted not in self._outcomes_by_key:
            outcome = next(self._outcomes, None)
            if outcome is None:
                self._outcomes = pool.run(self._queue)
                continue
            key = (outcome.folder, outcome.data_set)
            self._pending.discard(key)
            self._outcomes_by_key[key] = outcome
        return self._outcomes_by_key.pop(wanted)


class _TaskQueue:
    """The queue of tasks. The pool asks for the next task after each outcome, also if there was none before."""

    def __init__(self) -> None:
        self.tasks: deque[Task] = deque()

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        if not self.tasks:
            raise StopIteration
        return self.tasks.popleft()
