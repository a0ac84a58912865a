"""Finds the generated suite that the runs of a report used."""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import UsageError
from harness.reports.gather import SuiteSummary
from harness.suite.manifest import NoSuite, Suite, open_suite

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class SuiteMismatch(UsageError):
    """The suite on disk has the same name as the one that was run, but a different digest."""


def matching_suite(suite: SuiteSummary, testdata: Path) -> Suite:
    """The suite in the folder ``testdata`` that all runs used. Raises NoSuite, SuiteMismatch."""
    if not _NAME.fullmatch(suite.name):
        raise NoSuite(f"{suite.name[:100]!r} is not a valid suite name.")
    found = open_suite(testdata / suite.name)
    digests = {header.digest for run in suite.runs for header in run.headers}
    if digests != {found.digest}:
        raise SuiteMismatch(
            f"The suite {suite.name} on disk has digest {found.digest[:12]}, but the results are from digest "
            f"{', '.join(sorted(digest[:12] for digest in digests)) or 'none'}."
        )
    return found
