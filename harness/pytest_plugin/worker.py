"""The worker that a pytest process keeps for a backend: asked data set by data set, it works while pytest is busy."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec

from harness.judging.outcome import Outcome, Task
from harness.running.pool import Limits, Pool

_Key = tuple[str, int]
"""Folder of a case and data set."""


class PersistentWorker:
    """A pool of one worker, which is given work ahead of the questions."""

    def __init__(self, backend: str, limits: Limits) -> None:
        self._backend = backend
        self._limits = limits
        self._pool: Pool | None = None
        self._ends = ExitStack()
        self._orders = _Requests()
        self._outcomes: Iterator[Outcome] = iter(())
        self._pending: set[_Key] = set()
        """Ordered, and without an outcome yet."""
        self._early: dict[_Key, Outcome] = {}
        """Outcomes that nobody has asked for yet."""

    def begin(self) -> None:
        """Start loading the backend, without waiting for it. Raises NoProgram and NoScratchFolder."""
        self._pool = self._ends.enter_context(Pool(self._backend, 1, self._limits))
        self._pool.start_workers()

    def start(self) -> Pool:
        """Wait until the backend is loaded. Raises BackendRefused, StartFailed, NoProgram and NoScratchFolder."""
        if self._pool is None:
            self.begin()
        assert self._pool
        self._pool.wait_until_ready()
        return self._pool

    def close(self) -> None:
        """End the worker and what it started."""
        self._pool = None
        self._ends.close()

    def order(self, task: Task) -> None:
        """Have a task worked on when the worker comes to it, but for data sets that are ordered already."""
        keys = {number: (task.folder, number) for number in task.data_sets}
        fresh = tuple([n for n, key in keys.items() if key not in self._pending and key not in self._early])
        if fresh:
            self._pending.update(keys[number] for number in fresh)
            self._orders.tasks.append(msgspec.structs.replace(task, data_sets=fresh))

    def answer(self, task: Task) -> Outcome:
        """The outcome of a task's first data set, which is ordered now if it was not before; each is given once.

        Raises NoScratchFolder, and what ``start`` raises.
        """
        self.order(task)
        wanted = (task.folder, task.data_sets[0])
        pool = self.start()
        while wanted not in self._early:
            outcome = next(self._outcomes, None)
            if outcome is None:
                self._outcomes = pool.run(self._orders)
                continue
            key = (outcome.folder, outcome.data_set)
            self._pending.discard(key)
            self._early[key] = outcome
        return self._early.pop(wanted)


class _Requests:
    """Tasks for the pool, which looks for more whenever an answer comes, though there were none before."""

    def __init__(self) -> None:
        self.tasks: deque[Task] = deque()

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        if not self.tasks:
            raise StopIteration
        return self.tasks.popleft()
