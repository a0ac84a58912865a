"""The suite on disk, as its manifest lists it: one line a case, whose digest names the suite."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness.errors import UsageError
from harness.suite.cases import FORMAT, Case

MANIFEST = "manifest.jsonl"
FINGERPRINT = "manifest.fingerprint"
"""What the suite was made from: see ``harness.suite.fingerprint``."""
INCOMPLETE = "manifest.incomplete"
"""What stands in the manifest's place while a suite is being written, and after that was interrupted."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_FILE = re.compile(
    r"model\.onnx|data\.json|config\.txt|"
    r"(test_data_set_\d+/|hidden_data_set_\d+_)(input|output|bound|unspecified|(alternative|reading|reading_bound)_\d+)_\d+\.pb"
)


class NoSuite(UsageError):
    """A folder that is no suite, or one whose generation was interrupted."""


class OtherFormat(NoSuite):
    """A suite that another version of this project wrote, in a format that this version does not read."""

    advice = "Generate it again: onnx-conformance generate."


class BrokenManifest(UsageError):
    """A manifest line that does not parse, or that names what no suite may contain."""

    advice = "Write the suite again: onnx-conformance generate."


class Suite(msgspec.Struct, frozen=True):
    """A complete suite: where it is and what its manifest's digest is."""

    path: Path
    digest: str
    """SHA-256 of the manifest."""

    @property
    def name(self) -> str:
        """The folder's name: matrix, official …"""
        return self.path.name

    def cases(self) -> Iterator[Case]:
        """Every case, in the manifest's order (by name), read as it goes. Raises BrokenManifest."""
        manifest = self.path / MANIFEST
        with manifest.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                yield _case(line, manifest, number)


_decoder = msgspec.json.Decoder(Case)


def _case(line: bytes, manifest: Path, number: int) -> Case:
    try:
        case = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BrokenManifest(f"{manifest}:{number} is no case: {error}.") from error
    if not _NAME.fullmatch(case.name) or not all(map(_FILE.fullmatch, case.files)):
        raise BrokenManifest(f"{manifest}:{number} names a file or folder that no suite may contain.")
    return case


def open_suite(path: Path) -> Suite:
    """The suite in a folder. Raises NoSuite or OtherFormat, saying which command writes one."""
    advice = "Write it: onnx-conformance generate."
    if not path.is_dir():
        raise NoSuite(f"There is no suite at {path}.", advice)
    if not (path / MANIFEST).is_file():
        if (path / INCOMPLETE).exists():
            raise NoSuite(f"The suite at {path} is incomplete: its generation was interrupted or is under way.", advice)
        raise NoSuite(f"{path} is no suite: it has no {MANIFEST}.", advice)
    with (path / MANIFEST).open("rb") as manifest:
        _require_format(manifest.readline(), path / MANIFEST)
        manifest.seek(0)
        return Suite(path, hashlib.file_digest(manifest, "sha256").hexdigest())


class _Format(msgspec.Struct, frozen=True):
    format: int = 1
    """Format 1 does not state it."""


def _require_format(first: bytes, manifest: Path) -> None:
    """Raise OtherFormat if the first line states another format; a line that is no JSON is reported when it is read."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        if first and (found := msgspec.json.decode(first, type=_Format).format) != FORMAT:
            raise OtherFormat(f"{manifest} has format {found}; this version reads format {FORMAT}.")
