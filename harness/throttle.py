"""A limit on how often a message is written."""

from __future__ import annotations

import time
from collections.abc import Callable

PROGRESS_SECONDS = 10.0
"""Seconds between two lines of progress where standard error is no terminal."""


class Throttle:
    """Allows one message in each interval, the first one at the end of the first interval."""

    def __init__(self, seconds: float = PROGRESS_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds."""
        self._seconds = seconds
        self._clock = clock
        self._next = clock() + seconds

    def allows(self) -> bool:
        """Whether a message may be written now; if so, the next interval begins."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True
