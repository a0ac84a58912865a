"""Reads and writes ``results.jsonl``: complete, concatenated from shards, truncated or resumed."""

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
"""The file name of results."""
OUTPUTS_FOLDER = "got"
"""The folder beside the results that holds the outputs of data sets that did not pass."""

_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_encoder = msgspec.json.Encoder()


class NoResults(UsageError):
    """A results file does not exist, cannot be read or has no header."""

    advice = "To write results, run: onnx-conformance run."


class BrokenResults(ConformanceError):
    """A line of a results file is invalid, or the file mixes different runs."""


class OtherFormat(UsageError):
    """The results have a format that this version does not read."""

    advice = "Run the backend again, or read the results with the version that wrote them."


class CannotWriteResults(ConformanceError):
    """The results cannot be written: the disk is full, or the folder is not writable."""

    advice = "Free some space, then continue with --resume, which keeps every line written so far."


class ResultsInUse(UsageError):
    """Another run is writing the results file."""


def read_run(path: Path) -> Run:
    """Read the run in a results file. Concatenated shards are one run; the last line on a data set counts.

    A truncated last line is ignored. Raises NoResults, OtherFormat or BrokenResults.
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
        raise NoResults(f"{path} has no header, so it holds no run.")
    for header in headers[1:]:
        _require_same_run(headers[0], header, path)
    ordered = tuple(results[key] for key in sorted(results))
    return Run(str(path), tuple(headers), ordered, tuple(footers))


def _require_same_run(one: Header, other: Header, path: Path) -> None:
    for name in ("digest", "backend", "description"):
        if getattr(one, name) != getattr(other, name):
            raise BrokenResults(
                f"{path} mixes runs: {name} is {getattr(one, name)!r} in one and {getattr(other, name)!r} in another.",
                "Concatenate only shards of the same suite and the same backend version.",
            )


def read_lines(path: Path) -> Iterator[Line]:
    """Read the lines of a results file in order, without a truncated last line.

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
                    return  # the writer was killed
                raise BrokenResults(
                    f"{path}:{number} is not a result line: {error}.", "Remove that line, or run the backend again."
                ) from error


class _Format(msgspec.Struct, frozen=True):
    format: int = FORMAT


def _require_format(header: bytes, path: Path) -> None:
    if (found := msgspec.json.decode(header, type=_Format).format) != FORMAT:
        raise OtherFormat(f"{path} has format {found}; this version reads format {FORMAT}.")


class Recorder:
    """Writes a results file. Only one run at a time can write it, and a line is written completely or not at all."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending and lock it. Raises CannotWriteResults or ResultsInUse."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CannotWriteResults(
                f"{path} cannot be written: {error.strerror}.", "Choose another folder."
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise ResultsInUse(
                f"Another run is writing {path}.", "Wait until it ends, or choose another folder."
            ) from None
        self._end = os.lseek(self._file, 0, os.SEEK_END)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def clear(self) -> None:
        """Remove all lines."""
        os.ftruncate(self._file, 0)
        self._end = 0

    def rewrite(self, change: Callable[[Line], Line | None]) -> None:
        """Replace each line by what ``change`` returns for it; None removes the line. A truncated last line is removed.

        The new file replaces the old one atomically, so an interruption loses nothing.
        """
        fresh = self.path.with_name(f"{self.path.name}.resuming")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        with Recorder(fresh) as copy:
            try:
                for line in read_lines(self.path):
                    changed = change(line)
                    if changed is not None:
                        copy.write(changed)
                fresh.replace(self.path)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise
            # The lock belongs to the file, so this recorder takes over the new file's descriptor.
            self._file, copy._file = copy._file, self._file
            self._end = copy._end

    def write(self, line: Line) -> None:
        """Append a line. Raises CannotWriteResults, after removing a partial line."""
        data = _encoder.encode(line) + b"\n"
        try:
            written = os.write(self._file, data)
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise CannotWriteResults(f"{self.path} cannot be written: {error.strerror}.") from error
        self._end += len(data)
