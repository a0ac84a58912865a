"""The commands that make reports of what has run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.commands.shared import AS_EXPECTED, note, write_file
from harness.errors import UsageError


class NothingToReport(UsageError):
    """No results where a report should find some."""


class SeveralFiles(UsageError):
    """A format of several files where there is room for one."""


def report(options: argparse.Namespace) -> int:
    """Writes the reports of what has run."""
    from harness.reports.formats import FORMATS

    paths = options.paths or [options.reports]
    if not options.format:
        write_reports(options.output or options.reports, paths, options.testdata, options.select)
        return AS_EXPECTED
    files = list(FORMATS[options.format].files(_gathered(paths, options.testdata, options.select)))
    if len(files) == 1 and not (options.output and options.output.is_dir()):
        ((_, text),) = files
        if options.output:
            write_file(options.output, text)
        else:
            sys.stdout.write(text)
    elif options.output and not options.output.is_file():
        written = _write(options.output, files, FORMATS[options.format].stale)
        note(f"Written to {options.output}: {_told(written)}")
    else:
        raise SeveralFiles(
            f"The format {options.format} has {len(files)} files here.", "Name a folder for them: --output DIR."
        )
    return AS_EXPECTED


def write_reports(folder: Path, paths: Iterable[Path], testdata: Path, select: Sequence[str] = ()) -> None:
    """The usual formats into a folder, and the summary to standard output."""
    from harness.reports.console import console
    from harness.reports.formats import FORMATS

    gathered = _gathered(paths, testdata, select)
    written = [
        name for one in FORMATS.values() if one.default for name in _write(folder, one.files(gathered), one.stale)
    ]
    sys.stdout.write(console(gathered, colours=sys.stdout.isatty()))
    note(f"Written to {folder}: {_told(written)}")


def _write(folder: Path, files: Iterable[tuple[str, str]], former: str) -> list[str]:
    """The names of a format's files, once they are written and what a former report has left beside them is gone."""
    names: list[str] = []
    for name, text in files:
        write_file(folder / name, text)
        names.append(name)
    for old in folder.glob(former) if former else ():
        if old.relative_to(folder).as_posix() not in names:
            old.unlink(missing_ok=True)
    return names


_NAMED = 8
"""How many files are named."""


def _told(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _gathered(paths: Iterable[Path], testdata: Path, select: Sequence[str]) -> Any:
    from harness.reports.gather import gather
    from harness.results.recording import read_run
    from harness.suite.select import Selection

    files = [file for path in paths for file in results_in(path)]
    return gather([read_run(file) for file in files], Selection.parse(select), testdata)


def results_in(path: Path) -> list[Path]:
    """The results files in a folder, or the file itself. Raises NothingToReport."""
    found = sorted(path.rglob("results.jsonl")) if path.is_dir() else [path]
    if not found:
        raise NothingToReport(f"There are no results in {path}.", "Get some: onnx-conformance run --backend NAME.")
    return found
