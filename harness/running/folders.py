"""Where results are written: ``<reports>/<suite>/<name>``, where the backend's description gives the name."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from harness.backend.interface import Description
from harness.errors import UsageError
from harness.results.recording import RESULTS


class FolderTaken(UsageError):
    """A folder that holds the results of another backend of the same name."""


def folder_name(text: str) -> str:
    """The text as a file name of ``[A-Za-z0-9_.-]``, at most 100 characters and not hidden."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")
    return name[:100] or "backend"


def default_name(backend: str, description: Description) -> str:
    """The folder name of a backend: the name that it describes, or ``--backend``'s value if it describes none."""
    return folder_name(description.name.strip() or backend)


class _Owner(msgspec.Struct, frozen=True):
    """What the header of a results file says about the backend, in any version of the format."""

    backend: str
    description: Description


def require_own(folder: Path, backend: str, description: Description) -> None:
    """Raise FolderTaken if a folder holds results of another backend.

    The backend is the same one if ``--backend`` has the same value or the description is equal, so a run of a newer
    version replaces the results of the older one. A folder without a readable header is free.
    """
    try:
        with (folder / RESULTS).open("rb") as file:
            owner = msgspec.json.decode(file.readline(), type=_Owner)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return
    if backend != owner.backend and description != owner.description:
        theirs = f"{owner.description.name} {owner.description.version}".strip()
        raise FolderTaken(
            f"{folder} holds the results of another backend: {owner.backend} ({theirs}).",
            f"Choose another folder name, such as --name {folder.name}-2, or delete that folder.",
        )


def folder_to_resume(folder: Path, backend: str) -> Path:
    """The folder, or the one that earlier versions named by ``--backend``'s value if only that one has results."""
    earlier = folder.with_name(folder_name(backend))
    return earlier if (earlier / RESULTS).exists() and not (folder / RESULTS).exists() else folder
