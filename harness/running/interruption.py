"""Stopping a run by a signal without losing a result."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from harness.errors import ConformanceError


class Interrupted(ConformanceError):
    """A run that a signal stopped, such as Ctrl-C; its results so far are saved. Exit status 128 + signal."""

    advice = "The results so far are saved. To continue, run the same command with --resume."

    def __init__(self, number: int, done: int, total: int) -> None:
        super().__init__(f"Stopped by {signal.Signals(number).name} after {done:,} of {total:,} data sets.")
        self.status = 128 + number


class Interruption:
    """A context in which Ctrl-C and similar signals stop a run between two results; a second one stops it at once."""

    def __init__(self) -> None:
        self._signal = 0
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            handled = [n for n in _STOPPING if signal.getsignal(n) is not signal.SIG_IGN]  # nohup ignores SIGHUP
            self._former = {number: signal.signal(number, self._note) for number in handled}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._signal:
            if callable(former := self._former[number]):
                former(number, frame)
            raise KeyboardInterrupt
        self._signal = number

    def check(self, done: int, total: int) -> None:
        """Raise Interrupted if a signal has come."""
        if self._signal:
            raise Interrupted(self._signal, done, total)


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
