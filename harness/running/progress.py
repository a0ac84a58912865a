"""What a person sees of a run while it runs: a bar on a terminal, one line at its end anywhere else."""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from harness.results.lines import VERDICTS


class Display:
    """A context manager; ``show`` is called several times a second, so results cost no drawing."""

    def __init__(self, title: str, counts: Counter[str], *, quiet: bool = False) -> None:
        self.total = 0
        """How many data sets there will be; to be set before it is entered."""
        self._title = title
        self._counts = counts
        self._quiet = quiet
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
            self._task = self._bar.add_task(self._title, total=self.total, aside="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        if kind is None and not self._quiet:
            sys.stderr.write(f"{self._title}: {told(self._counts) or 'nothing'}\n")

    def show(self) -> None:
        """Draw what has been counted so far."""
        if self._bar:
            done = self._counts.total()
            aside = f"{done - self._counts['passed']} not passed"
            self._bar.update(self._task, completed=done, aside=aside, refresh=True)


def told(counts: Counter[str]) -> str:
    """``1740 passed, 22 wrong_value``."""
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
