"""What a suite was made from, so that it need not be made again where nothing of that has changed."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from importlib.metadata import version
from pathlib import Path

import harness
from harness.errors import ConformanceError
from harness.suite.manifest import FINGERPRINT, open_suite
from harness.suite.select import Selection
from harness.suite.strength import Planning

PACKAGES = ("numpy", "ml_dtypes", "python-flint", "onnx", "covertable", "pillow")
"""The packages that cases are computed and planned by."""

HOUSE = Path(inspect.getfile(harness)).parent


def fingerprint(what: str) -> str:
    """The SHA-256 of the sources and packages that suites come from, and of what was asked of them."""
    return hashlib.sha256(f"{what}\0{source_hash(HOUSE / 'operators')}".encode()).hexdigest()


def request_text(planning: Planning, selection: Selection) -> str:
    """What is asked of a generated suite, as its fingerprint has it."""
    return f"{planning} {selection}"


_COMPLETE = (*(request_text(planning, Selection()) for planning in ("pairs", "full", "sweeps")), "official")


def is_complete(path: Path) -> bool:
    """Whether this version of the project wrote the suite there without ``--select``.

    False for a part of a suite, for strength ``each``, and for a suite that another version or another tool wrote.
    """
    try:
        written = (path / FINGERPRINT).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return False
    return any(written == fingerprint(request) for request in _COMPLETE)


@cache
def source_hash(operators: Path) -> str:
    """The SHA-256 of all that cases of the operators in a folder come from.

    That is the sources below it, of the rooms before it, of the operators' mechanism and of the suite, and the
    packages that compute.
    """
    found = hashlib.sha256(repr([(package, version(package)) for package in PACKAGES]).encode())
    mechanism = [file for room in ("spec", "numbers", "oracles", "suite") for file in (HOUSE / room).glob("*.py")]
    for file in sorted({*mechanism, *operators.rglob("*.py")}):
        found.update(f"\0{file.relative_to(HOUSE).as_posix()}\0".encode() + file.read_bytes())
    return found.hexdigest()


def is_up_to_date(path: Path, of: str) -> bool:
    """Whether the suite there has this fingerprint, and every file of it is the one that its manifest lists."""
    try:
        if (path / FINGERPRINT).read_text(encoding="ascii") != of:
            return False
        for case in open_suite(path).cases():
            for file, digest in case.files.items():
                if hashlib.sha256((path / case.name / file).read_bytes()).hexdigest() != digest:
                    return False
    except (OSError, UnicodeDecodeError, ConformanceError):
        return False
    return True
