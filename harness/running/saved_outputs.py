"""The tensors of answers that did not pass, kept beside the results so that a report can show them."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from harness.judging.outcome import Outcome

FOLDER = "got"
_MOST = 64 << 20
"""Bytes in a run."""
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class SavedOutputs:
    """``got/<case>/<data set>/output_<i>.pb`` in the folder of a run, until there is enough of it."""

    def __init__(self, folder: Path, *, fresh: bool) -> None:
        self._folder = folder / FOLDER
        self._left = _MOST
        if fresh:
            shutil.rmtree(self._folder, ignore_errors=True)
        else:
            self._left -= sum(file.stat().st_size for file in self._folder.rglob("*.pb"))

    def keep(self, outcome: Outcome) -> None:
        """Keep what a backend gave, as it gave it; a full disk costs no more than that."""
        size = sum(map(len, outcome.outputs))
        if not outcome.outputs or size > self._left or not _SAFE.fullmatch(outcome.case.name):
            return
        folder = self._folder / outcome.case.name / str(outcome.data_set)
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            for i, data in enumerate(outcome.outputs):
                (folder / f"output_{i}.pb").write_bytes(data)
            self._left -= size
