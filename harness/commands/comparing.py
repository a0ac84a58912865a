"""The command that compares results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.commands.reporting import results_in
from harness.commands.shared import AS_EXPECTED, NOT_AS_EXPECTED, note, write_file


def compare(options: argparse.Namespace) -> int:
    """Compare two runs, or two folders of runs."""
    from harness.reports import compare_text
    from harness.reports.compare import compare as compared
    from harness.suite.select import Selection

    selection = Selection.parse(options.select)
    comparison = compared(_runs(options.old), _runs(options.new), selection, force=options.force)
    render = compare_text.comparison_json if options.format == "json" else compare_text.comparison_markdown
    if options.output:
        write_file(options.output, render(comparison))
        note(f"Wrote {options.output}: {compare_text.summary(comparison)}")
    else:
        sys.stdout.write(render(comparison))
    return NOT_AS_EXPECTED if comparison.regressed else AS_EXPECTED


def _runs(path: Path) -> list[Any]:
    from harness.results.recording import read_run

    return [read_run(file) for file in results_in(path)]
