"""Reading and writing ``results.jsonl``: whole, in shards laid one after another, cut short or resumed."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from harness.errors import ConformanceError, UsageError
from harness.results.lines import FORMAT, Footer, Header, Line, Result, Run

RESULTS = "results.jsonl"

_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_encoder = msgspec.json.Encoder()


class NoResults(UsageError):
    """A results file that is not there or holds no header."""

    advice = "Write one: onnx-conformance run."


class BrokenResults(ConformanceError):
    """A line of a results file that is no result, or files of different runs laid together."""


class OtherFormat(UsageError):
    """Results that another version of this project wrote, in a format that this version does not read."""

    advice = "Run the backend again, or read them with the version that wrote them."


class CannotWrite(ConformanceError):
    """Results that cannot be written: the disk is full, or the folder is not ours."""

    advice = "Make room, then go on from there with --resume; every line already written is kept."


class InUse(UsageError):
    """A results file that another run is writing."""


def read_run(path: Path) -> Run:
    """The run in a results file: shards laid together are one run, and of two lines on one data set the later counts.

    A last line that was cut short is left out. Raises NoResults or BrokenResults.
    """
    headers: list[Header] = []
    footers: list[Footer] = []
    results: dict[tuple[str, int], Result] = {}
    for line in read_lines(path):
        if isinstance(line, Header):
            headers.append(line)
        elif isinstance(line, Footer):
            footers.append(line)
        elif line.verdict != "not_run" or (line.case, line.data_set) not in results:
            results[line.case, line.data_set] = line
    if not headers:
        raise NoResults(f"{path} has no header: it holds no run.")
    for header in headers[1:]:
        _require_alike(headers[0], header, path)
    ordered = tuple(results[key] for key in sorted(results))
    return Run(str(path), tuple(headers), ordered, tuple(footers))


def _require_alike(one: Header, other: Header, path: Path) -> None:
    for name in ("digest", "backend", "description"):
        if getattr(one, name) != getattr(other, name):
            raise BrokenResults(
                f"{path} mixes runs: {name} is {getattr(one, name)!r} in one and {getattr(other, name)!r} in another.",
                "Lay together only shards of one suite and one backend in one version.",
            )


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a results file as they stand, but for a last one cut short.

    Raises NoResults, OtherFormat or BrokenResults.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise NoResults(f"There are no results at {path}.") from None
    except OSError as error:
        raise NoResults(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        for number, line in enumerate(file, 1):
            try:
                if number == 1:
                    _require_format(line, path)
                yield _decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                if not line.endswith(b"\n"):
                    return  # whoever wrote it was killed
                raise BrokenResults(
                    f"{path}:{number} is no line of results: {error}.", "Remove that line, or run anew."
                ) from error


class _Format(msgspec.Struct, frozen=True):
    format: int = FORMAT


def _require_format(header: bytes, path: Path) -> None:
    if (found := msgspec.json.decode(header, type=_Format).format) != FORMAT:
        raise OtherFormat(f"{path} has format {found}; this version reads format {FORMAT}.")


class Recorder:
    """A results file that is being written, by one run at a time: each line is whole on disk or not there at all."""

    def __init__(self, path: Path) -> None:
        """Open it to add lines, and lock it. Raises CannotWrite or InUse."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CannotWrite(f"{path} cannot be written: {error.strerror}.", "Choose another folder.") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise InUse(f"Another run is writing {path}.", "Wait for it, or choose another folder.") from None
        self._end = os.lseek(self._file, 0, os.SEEK_END)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def clear(self) -> None:
        """Begin anew."""
        os.ftruncate(self._file, 0)
        self._end = 0

    def keep(self, change: Callable[[Line], Line | None]) -> None:
        """Rewrite the file with what ``change`` makes of each line, None leaving it out; a cut last line goes.

        The new text replaces the old at once, so nothing is lost if this is interrupted.
        """
        fresh = self.path.with_name(f"{self.path.name}.resuming")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        with Recorder(fresh) as copy:
            try:
                for line in read_lines(self.path):
                    kept = change(line)
                    if kept is not None:
                        copy.write(kept)
                fresh.replace(self.path)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise
            # The lock belongs to the file, so from now on ours is the new one's.
            self._file, copy._file = copy._file, self._file
            self._end = copy._end

    def write(self, line: Line) -> None:
        """Add a line. Raises CannotWrite, and then takes back what there is of it."""
        data = _encoder.encode(line) + b"\n"
        try:
            written = os.write(self._file, data)
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise CannotWrite(f"{self.path} cannot be written: {error.strerror}.") from error
        self._end += len(data)
