"""The progress of a run: a bar on a terminal, otherwise a line every 10 seconds; and one line at the end."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from harness.results.lines import UNSCORED, VERDICTS
from harness.throttle import Throttle


class Display:
    """A context manager. Call ``show`` several times a second; counting a result draws nothing."""

    def __init__(
        self, title: str, counts: Counter[str], *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``counts`` maps verdicts to data sets and may change at any time; ``clock`` returns seconds."""
        self.title = title
        self.total = 0
        """Data sets in the run; set it before entering."""
        self._counts = counts
        self._quiet = quiet
        self._throttle = Throttle(clock=clock)
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(
                *columns,
                TextColumn("{task.fields[aside]}"),
                console=Console(stderr=True),
                auto_refresh=False,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, aside="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        if kind is None and not self._quiet:
            _write(f"{self.title}: {counts_text(self._counts) or 'nothing'}")

    def show(self) -> None:
        """Show what has been counted so far."""
        if self._quiet:
            return
        if self._bar:
            aside = f"{self._not_passed():,} not passed"
            self._bar.update(self._task, completed=self._counts.total(), aside=aside, refresh=True)
        elif not sys.stderr.isatty() and self._throttle.allows():
            done = f"{self._counts.total():,} of {self.total:,} data sets"
            _write(f"{self.title}: {done}, {self._not_passed():,} not passed")

    def _not_passed(self) -> int:
        """Data sets that count and did not pass."""
        return sum(number for verdict, number in self._counts.items() if verdict not in {"passed", *UNSCORED})


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def counts_text(counts: Counter[str]) -> str:
    """``1,740 passed, 22 wrong_value``."""
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if counts[verdict])
