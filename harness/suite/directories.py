"""Suites as folders: writing what changed, removing what is gone, and saying so while a suite is incomplete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

import msgspec

from harness.errors import ConformanceError, UsageError
from harness.suite.cases import Built, Case
from harness.suite.manifest import FINGERPRINT, INCOMPLETE, MANIFEST


class NotASuite(UsageError):
    """A folder with other things in it, which generation must not touch."""


class SuiteBusy(UsageError):
    """Another process is writing the same suite."""


class WriteFailed(ConformanceError):
    """The disk refused a file of the suite: it is full, or the folder may not be written."""


class DuplicateName(ConformanceError):
    """Two cases have the same name, on this file system or on one that does not tell cases apart."""


@contextlib.contextmanager
def writing(path: Path) -> Generator[None]:
    """Holds a suite's folder for writing: it says it is incomplete until ``publish``, and nobody else may write it.

    Raises NotASuite, SuiteBusy, WriteFailed.
    """
    with refusals(path):
        path.mkdir(parents=True, exist_ok=True)
        if not (path / MANIFEST).exists() and not (path / INCOMPLETE).exists() and any(path.iterdir()):
            raise NotASuite(f"{path} has files in it and is no suite.", "Name another folder with --testdata.")
        with (path / INCOMPLETE).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SuiteBusy(f"Another process is writing {path}.", "Wait for it, or stop it.") from None
            (path / MANIFEST).unlink(missing_ok=True)
            (path / FINGERPRINT).unlink(missing_ok=True)
            yield


def publish(path: Path, cases: Iterable[Case], made: str = "") -> None:
    """Removes what is gone and puts the manifest in place: from here on the suite is complete.

    ``made`` is the fingerprint of what it was made from, where that is known.
    Raises DuplicateName, and leaves the suite incomplete.
    """
    ordered = sorted(cases, key=lambda case: case.name)
    folded: dict[str, Case] = {}
    for case in ordered:
        if (other := folded.setdefault(case.name.casefold(), case)) is not case:
            raise DuplicateName(f"Two cases of {path} are called {other.name} and {case.name}.")
    with refusals(path):
        names = {case.name for case in ordered}
        for entry in os.scandir(path):
            if entry.name not in names and entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
        encode = msgspec.json.Encoder().encode
        partial = path / f"{MANIFEST}.partial"
        partial.write_bytes(b"".join(encode(case) + b"\n" for case in ordered))
        if made:
            (path / FINGERPRINT).write_text(made, encoding="ascii")
        partial.replace(path / MANIFEST)
        (path / INCOMPLETE).unlink()


def write_case(path: Path, built: Built) -> bool:
    """Makes the case's folder hold exactly these files; tells whether it had to touch it. Raises WriteFailed."""
    folder = f"{path}/{built.case.name}"
    with refusals(path):
        try:
            os.mkdir(folder)
        except FileExistsError:
            return _rewrite(folder, built.files)
        for sub in dict.fromkeys(os.path.dirname(file) for file in built.files):
            if sub:
                os.mkdir(f"{folder}/{sub}")
        for file, data in built.files.items():
            _write(f"{folder}/{file}", data)
        return True


def _rewrite(folder: str, files: Mapping[str, bytes]) -> bool:
    touched = False
    for there, _, found in os.walk(folder):
        inside = os.path.relpath(there, folder)
        for name in found:
            if os.path.normpath(os.path.join(inside, name)) not in files:
                os.unlink(os.path.join(there, name))
                touched = True
    for file, data in files.items():
        target = f"{folder}/{file}"
        if _read(target) != data:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _write(target, data)
            touched = True
    for there, folders, found in os.walk(folder, topdown=False):
        if not folders and not found:
            os.rmdir(there)
    return touched


def _write(target: str, data: bytes) -> None:
    """With the bare calls, which cost a third of Python's file objects."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def _read(target: str) -> bytes | None:
    try:
        with open(target, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def refusals(path: Path) -> Generator[None]:
    """Turns the operating system's refusals into WriteFailed, with what to do."""
    try:
        yield
    except OSError as error:
        advice = "Free some room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Make it writable"
        raise WriteFailed(
            f"Cannot write {error.filename or path}: {error.strerror}.",
            f"{advice} and run onnx-conformance generate again: it goes on from what is there.",
        ) from error
