"""Saves the outputs of data sets that did not pass beside the results, so that a report can show them."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from harness.judging.outcome import Outcome
from harness.results.recording import OUTPUTS_FOLDER

_MAX_BYTES = 64 << 20
"""For all saved outputs of a run."""
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class SavedOutputs:
    """The files ``got/<case>/<data set>/output_<i>.pb`` in the folder of a run, up to a total size."""

    def __init__(self, folder: Path, *, fresh: bool) -> None:
        """``fresh`` removes the files of an earlier run."""
        self._folder = folder / OUTPUTS_FOLDER
        self._bytes_left = _MAX_BYTES
        if fresh:
            shutil.rmtree(self._folder, ignore_errors=True)
        else:
            self._bytes_left -= sum(file.stat().st_size for file in self._folder.rglob("*.pb"))

    def save(self, outcome: Outcome) -> None:
        """Save the outputs exactly as the backend wrote them. Errors, such as a full disk, are ignored."""
        size = sum(map(len, outcome.outputs))
        if not outcome.outputs or size > self._bytes_left or not _SAFE_NAME.fullmatch(outcome.case.name):
            return
        folder = self._folder / outcome.case.name / str(outcome.data_set)
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            for i, data in enumerate(outcome.outputs):
                (folder / f"output_{i}.pb").write_bytes(data)
            self._bytes_left -= size
