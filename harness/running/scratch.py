"""The folder in which backends leave their answers: in memory where there is room, and never left behind for long."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from harness.errors import ConformanceError

_PREFIX = "onnx-conformance-"
_MEMORY = "/dev/shm"  # noqa: S108 - only in a folder of our own there
"""A file system in memory, on which a small file costs a tenth."""
_ROOM = 1 << 30
"""Bytes that must be free there: containers often have few, and answers may be large."""


class NoScratchFolder(ConformanceError):
    """A folder for the backend's answers that cannot be made or written."""

    advice = "Make room, or set TMPDIR to another folder; what is already recorded is kept for --resume."


def scratch_folder() -> str:
    """A new, empty folder, after removing those of runs that were killed. Raises NoScratch.

    It is where TMPDIR says if that is set.
    """
    where = _MEMORY if "TMPDIR" not in os.environ and _has_room(_MEMORY) else tempfile.gettempdir()
    try:
        _remove_orphans(where)
        return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=where)
    except OSError as error:
        raise NoScratchFolder(f"No folder for answers can be made in {where}: {error.strerror}.") from error


def _has_room(folder: str) -> bool:
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize >= _ROOM and os.access(folder, os.W_OK)


def _remove_orphans(where: str) -> None:
    with os.scandir(where) as entries:
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
