"""Cases that cost minutes, kept from one generation to the next for as long as nothing that they come from changes."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from harness.oracles.operator import Operator
from harness.suite.cases import Built, hashes
from harness.suite.directories import refusals
from harness.suite.fingerprint import source_hash


class _Entry(msgspec.Struct, frozen=True):
    key: str
    cases: tuple[Built, ...]


class CaseCache:
    """A folder of cases, one file for whatever is asked of it under one name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, oracle: str, make: Callable[[], Iterable[Built]]) -> tuple[Built, ...]:
        """What was made under this name by this oracle, by its ``operator_hash``; otherwise it is made now, and kept.

        Raises WriteFailed.
        """
        key = f"{name} {oracle}"
        path = self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.msgpack"
        if (found := _read(path, key)) is not None:
            return found
        made = tuple(make())
        with refusals(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")  # a suite has one writer, and a name one of its processes
            partial.write_bytes(msgspec.msgpack.encode(_Entry(key, made)))
            partial.replace(path)
        return made


def _read(path: Path, key: str) -> tuple[Built, ...] | None:
    """None where there is nothing of this key, or not as it was written."""
    try:
        entry = msgspec.msgpack.decode(path.read_bytes(), type=_Entry)
    except (OSError, msgspec.MsgspecError):
        return None
    whole = all(built.case.files == hashes(built.files) for built in entry.cases)
    return entry.cases if entry.key == key and whole else None


def operator_hash(operator: Operator) -> str:
    """The SHA-256 of all that an operator's cases come from: see ``source_hash``."""
    return source_hash(Path(inspect.getfile(operator.oracle)).parent)
