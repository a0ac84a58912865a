"""What commands share: exit statuses, the suites and the case that the options name, and writing."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from harness.errors import ConformanceError, UsageError

AS_EXPECTED, NOT_AS_EXPECTED, WRONG_USAGE, HARNESS_FAILED = range(4)
"""Exit statuses. A command that a signal stops exits with 128 plus the number of the signal."""


class NoSuchCase(UsageError):
    """A case that the suite does not have."""


class SeveralFolders(UsageError):
    """Suites in different folders, for a report that looks for suites in one folder."""


def open_suites(options: argparse.Namespace) -> list[Any]:
    """The suites of ``--suite``; without it, all suites in ``--testdata`` that have a case of ``--select``.

    Raises NoSuite and NothingSelected.
    """
    from harness.suite.manifest import INCOMPLETE, MANIFEST, open_suite
    from harness.suite.select import NothingSelected, Selection, select_cases

    if options.suite:
        return [_open_named(name, options.testdata) for name in options.suite]
    found = sorted(
        folder
        for folder in (options.testdata.iterdir() if options.testdata.is_dir() else ())
        if (folder / MANIFEST).exists() or (folder / INCOMPLETE).exists()
    )
    suites = [open_suite(folder) for folder in found or [options.testdata / "matrix"]]
    if len(suites) < 2 or not getattr(options, "select", None):
        return suites
    selected: list[Any] = []
    refusals: list[NothingSelected] = []
    for suite in suites:
        try:
            next(iter(select_cases(suite.cases(), Selection.parse(options.select))))
            selected.append(suite)
        except NothingSelected as refusal:
            refusals.append(refusal)
    if not selected:
        raise refusals[0]
    return selected


def is_path(name: str) -> bool:
    """Whether a value of ``--suite`` is the path of a folder, not the name of a suite."""
    return os.sep in name or name in {".", ".."}


def suite_path(name: str, testdata: Path) -> Path:
    """The folder that a value of ``--suite`` means."""
    if not is_path(name):
        return testdata / name
    path = Path(name).expanduser()
    return path if path.name not in {"", ".."} else path.resolve()  # a suite bears the name of its folder


def _open_named(name: str, testdata: Path) -> Any:
    from harness.suite.manifest import MANIFEST, NoSuite, open_suite

    path = suite_path(name, testdata)
    if path.is_dir():
        return open_suite(path)
    if is_path(name):
        advice = f"Name a folder that holds a {MANIFEST}. To write suites: onnx-conformance generate --testdata DIR."
    else:
        there = sorted(file.parent.name for file in testdata.glob(f"*/{MANIFEST}"))
        advice = f"{testdata} holds {', '.join(there)}. " if there else ""
        advice += f"To write suites: onnx-conformance generate. To use another folder: --suite ./{name}."
    raise NoSuite(f"There is no suite at {path}.", advice)


def suites_folder(options: argparse.Namespace) -> Path:
    """The folder in which reports look for suites: the one of ``--suite`` if it is a path, else ``--testdata``.

    Raises SeveralFolders.
    """
    folders = {suite_path(name, options.testdata).parent for name in options.suite or ()} or {options.testdata}
    if len({folder.resolve() for folder in folders}) > 1:
        raise SeveralFolders(
            f"The suites are in several folders: {', '.join(sorted(map(str, folders)))}.",
            "A report needs all of them in one folder. Report one suite at a time.",
        )
    return folders.pop()


def find_case(options: argparse.Namespace) -> tuple[Path, Any]:
    """The folder and the case of the name that the command was given, with or without its leading ``test_``."""
    import difflib

    names: list[str] = []
    suites = open_suites(options)
    for suite in suites:
        for case in suite.cases():
            if case.name in (options.case, f"test_{options.case}"):
                return suite.path / case.name, case
            names.append(case.name)
    near = difflib.get_close_matches(options.case, names, 1)
    raise NoSuchCase(
        f"There is no case {options.case} in {' or '.join(suite.name for suite in suites)}.",
        f"Did you mean {near[0]}?" if near else "To see the names of all cases: onnx-conformance list.",
    )


def write_file(path: Path, text: str) -> None:
    """Write a text as UTF-8 without changing line ends; missing folders are created. Raises ConformanceError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise ConformanceError(
            f"Cannot write {path}: {error.strerror}.", "Choose another place with --output. No results are lost."
        ) from error


def note(text: str) -> None:
    """Print a line to standard error, beside a command's output."""
    print(text, file=sys.stderr)
