"""The scratch folder, where backends write their outputs: in memory if there is room, and removed after the run."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from harness.errors import ConformanceError

_PREFIX = "onnx-conformance-"
_MEMORY_FOLDER = "/dev/shm"  # noqa: S108 - the run creates its own folder inside
"""A file system in memory, on which a small file costs a tenth of one on disk."""
_MIN_FREE_MEMORY = 1 << 30
"""Bytes that must be free in it. Containers often have few, and outputs may be large."""


class NoScratchFolder(ConformanceError):
    """The scratch folder cannot be created or written."""

    advice = "Free some space, or set TMPDIR to another folder. --resume keeps the results recorded so far."


def create_scratch_folder() -> str:
    """Create a new, empty folder, and remove those of runs that were killed. Raises NoScratchFolder.

    If TMPDIR is set, the folder is created there.
    """
    use_memory = "TMPDIR" not in os.environ and _has_room(_MEMORY_FOLDER)
    parent = _MEMORY_FOLDER if use_memory else tempfile.gettempdir()
    try:
        _remove_orphans(parent)
        return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)
    except OSError as error:
        raise NoScratchFolder(f"Cannot create a scratch folder in {parent}: {error.strerror}.") from error


def _has_room(folder: str) -> bool:
    try:
        stats = os.statvfs(folder)
    except OSError:
        return False
    return stats.f_bavail * stats.f_frsize >= _MIN_FREE_MEMORY and os.access(folder, os.W_OK)


def _remove_orphans(parent: str) -> None:
    with os.scandir(parent) as entries:
        for entry in entries:
            owner = re.match(rf"{_PREFIX}(\d+)-", entry.name)
            if owner and not _is_running(int(owner[1])):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
