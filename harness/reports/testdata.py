"""The suites on the disk, as far as they are those that the runs of a report were over."""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import UsageError
from harness.reports.gather import SuiteSummary
from harness.suite.manifest import NoSuite, Suite, open_suite

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class AnotherSuite(UsageError):
    """A suite of the same name as the one that was run, with other cases."""


def suite_that_ran(suite: SuiteSummary, testdata: Path) -> Suite:
    """The suite that all runs were over, in the folder ``testdata``. Raises NoSuite, AnotherSuite."""
    if not _NAME.fullmatch(suite.name):
        raise NoSuite(f"No suite can be called {suite.name[:100]!r}.")
    there = open_suite(testdata / suite.name)
    ran = {header.digest for run in suite.runs for header in run.headers}
    if ran != {there.digest}:
        raise AnotherSuite(
            f"The suite {suite.name} on the disk has the digest {there.digest[:12]}, and the results are of "
            f"{', '.join(sorted(digest[:12] for digest in ran)) or 'none'}."
        )
    return there
