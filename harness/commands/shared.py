"""What commands share: exit statuses, the suites and the case that are asked for, and writing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.errors import ConformanceError, UsageError

AS_EXPECTED, NOT_AS_EXPECTED, WRONG_USAGE, HARNESS_FAILED = range(4)
"""Exit statuses."""


class NoSuchCase(UsageError):
    """A case that the suite does not have."""


def suites_asked_for(options: argparse.Namespace) -> list[str]:
    """The suites asked for, or all that are there and have something of what is selected."""
    if options.suite:
        return options.suite
    from harness.suite.manifest import INCOMPLETE, MANIFEST, open_suite
    from harness.suite.select import NothingSelected, Selection, select_cases

    there = sorted(
        folder.name
        for folder in (options.testdata.iterdir() if options.testdata.is_dir() else ())
        if (folder / MANIFEST).exists() or (folder / INCOMPLETE).exists()
    )
    if len(there) < 2 or not getattr(options, "select", None):
        return there or ["matrix"]
    having: list[str] = []
    refusals: list[NothingSelected] = []
    for name in there:
        try:
            next(iter(select_cases(open_suite(options.testdata / name).cases(), Selection.parse(options.select))))
            having.append(name)
        except NothingSelected as refusal:
            refusals.append(refusal)
    if not having:
        raise refusals[0]
    return having


def find_case(options: argparse.Namespace) -> tuple[Path, Any]:
    """The folder and the case of the name that the command was given."""
    import difflib

    from harness.suite.manifest import open_suite

    names: list[str] = []
    for suite_name in suites_asked_for(options):
        suite = open_suite(options.testdata / suite_name)
        for case in suite.cases():
            if case.name in (options.case, f"test_{options.case}"):
                return suite.path / case.name, case
            names.append(case.name)
    near = difflib.get_close_matches(options.case, names, 1)
    raise NoSuchCase(
        f"There is no case {options.case} in {' or '.join(suites_asked_for(options))}.",
        f"Did you mean {near[0]}?" if near else "onnx-conformance list names them all.",
    )


def write_file(path: Path, text: str) -> None:
    """A text as it stands, in a folder that is made for it. Raises ConformanceError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise ConformanceError(f"Cannot write {path}: {error.strerror}.", "The results themselves are kept.") from error


def note(text: str) -> None:
    """What is said beside a command's output."""
    print(text, file=sys.stderr)
