"""The command that writes reports."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.commands.shared import AS_EXPECTED, note, suite_path, suites_folder, write_file
from harness.errors import UsageError


class NothingToReport(UsageError):
    """A place without results, or without results of the suites that were asked for."""


class SeveralFiles(UsageError):
    """A format of several files, but no folder to write them to."""


def report(options: argparse.Namespace) -> int:
    """Write reports of results."""
    from harness.reports.formats import FORMATS

    paths = options.paths or [options.reports]
    testdata = suites_folder(options)
    suites = {suite_path(name, testdata).name for name in options.suite or ()}
    if not options.format:
        write_reports(options.output or options.reports, paths, testdata, options.select, suites)
        return AS_EXPECTED
    files = list(FORMATS[options.format].files(_gathered(paths, testdata, options.select, suites)))
    if len(files) == 1 and not (options.output and options.output.is_dir()):
        ((_, text),) = files
        if options.output:
            write_file(options.output, text)
        else:
            sys.stdout.write(text)
    elif options.output and not options.output.is_file():
        written = _write(options.output, files, FORMATS[options.format].stale)
        note(f"Wrote {_names(written)} to {options.output}")
    else:
        raise SeveralFiles(
            f"The format {options.format} writes {len(files)} files, which need a folder.", "Name one: --output DIR."
        )
    return AS_EXPECTED


def write_reports(
    folder: Path, paths: Iterable[Path], testdata: Path, select: Sequence[str] = (), suites: Collection[str] = ()
) -> None:
    """Write the usual formats into a folder and print the summary; ``suites`` are names, empty for all."""
    from harness.reports.console import console
    from harness.reports.formats import FORMATS

    gathered = _gathered(paths, testdata, select, suites)
    written = [
        name for one in FORMATS.values() if one.default for name in _write(folder, one.files(gathered), one.stale)
    ]
    sys.stdout.write(console(gathered, colours=sys.stdout.isatty()))
    note(f"Wrote {_names(written)} to {folder}")


def _write(folder: Path, files: Iterable[tuple[str, str]], former: str) -> list[str]:
    """Write the files of a format, delete those that an earlier report left beside them, and return the names."""
    names: list[str] = []
    for name, text in files:
        write_file(folder / name, text)
        names.append(name)
    for old in folder.glob(former) if former else ():
        if old.relative_to(folder).as_posix() not in names:
            old.unlink(missing_ok=True)
    return names


_MOST_NAMES = 8
"""How many files are named."""


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _gathered(paths: Iterable[Path], testdata: Path, select: Sequence[str], suites: Collection[str]) -> Any:
    from harness.reports.gather import gather
    from harness.results.recording import read_run
    from harness.suite.select import Selection

    runs = [read_run(file) for path in paths for file in results_in(path)]
    if suites:
        there = sorted({run.headers[0].suite for run in runs})
        runs = [run for run in runs if run.headers[0].suite in suites]
        if not runs:
            raise NothingToReport(
                f"There are no results of the suite {' or '.join(sorted(suites))}.",
                f"There are results of {', '.join(there)}. To run it: onnx-conformance run --suite NAME.",
            )
    return gather(runs, Selection.parse(select), testdata)


def results_in(path: Path) -> list[Path]:
    """The results files in a folder, or the file itself. Raises NothingToReport."""
    found = sorted(path.rglob("results.jsonl")) if path.is_dir() else [path]
    if not found:
        raise NothingToReport(f"There are no results in {path}.", "Run a backend: onnx-conformance run --backend NAME.")
    return found
