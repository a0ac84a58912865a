"""The commands that run backends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from harness.commands.reporting import write_reports
from harness.commands.shared import AS_EXPECTED, NOT_AS_EXPECTED, find_case, note, suites_asked_for
from harness.errors import UsageError


def run(options: argparse.Namespace) -> int:
    """Runs backends over suites."""
    from harness.backend.loading import expectations_path
    from harness.running.pool import Limits
    from harness.running.run import Options, folder_name
    from harness.running.run import run as run_backend
    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection

    chosen = Options(
        selection=Selection.parse(options.select),
        quick=options.profile == "quick",
        shard=options.shard,
        limits=Limits(options.limit, int(options.memory * (1 << 30))),
        workers=options.workers,
    )
    if options.expected and len(options.backend) > 1:
        raise UsageError("--expected belongs to one backend.", "Run the backends one at a time.")
    suites = [open_suite(options.testdata / name) for name in suites_asked_for(options)]
    unexpected = False
    for backend in options.backend:
        for suite in suites:
            finished = run_backend(
                suite,
                backend,
                chosen,
                options.reports / suite.name / folder_name(backend),
                expectations=options.expected or expectations_path(backend),
                resume=options.resume,
                write_expected=options.write_expected,
                quiet=options.quiet,
            )
            unexpected |= not options.write_expected and any(f.unexpected or f.stale for f in finished.footers)
            for line in _departures(finished) if not options.quiet and not options.write_expected else ():
                note(line)
    if options.report:
        write_reports(options.reports, [options.reports], options.testdata)
    return NOT_AS_EXPECTED if unexpected else AS_EXPECTED


def _departures(finished: Any) -> Iterator[str]:
    """What was not as the backend's expectations say, in a few lines."""
    for footer in finished.footers:
        if footer.unexpected:
            yield f"  {footer.unexpected} results are no passes and not expected: onnx-conformance report shows them."
        for entry in footer.stale:
            yield f"  This expectation matches nothing, or no longer holds: {entry}"
        if footer.unexpected or footer.stale:
            yield "  If it is all known, --write-expected writes it down."


def repro(options: argparse.Namespace) -> int:
    """Prints a script."""
    from harness.authoring.repro import repro_script

    folder, case = find_case(options)
    sys.stdout.write(repro_script(folder, case, options.backend, options.data_set))
    return AS_EXPECTED


def backends(options: argparse.Namespace) -> int:
    """Lists the backends that are installed."""
    from tabulate import tabulate

    from harness.backend.loading import backend_names, load_backend
    from harness.schemas.documents import schema_text

    if options.protocol:
        sys.stdout.write(schema_text("protocol"))
        return AS_EXPECTED

    rows: list[tuple[str, str, str]] = []
    for name in backend_names():
        try:
            description = load_backend(name).describe()
        except UsageError as error:
            rows.append((name, "does not load", str(error)))
        else:
            rows.append((name, description.version, " ".join(f"{k}={v}" for k, v in description.configuration.items())))
    print(tabulate(rows, ["backend", "version", "configuration"]))
    print("\nAlso: package.module:Class, onnx:package.module[:Class] and command:program with its arguments.")
    return AS_EXPECTED


def check(options: argparse.Namespace) -> int:
    """Tries an adapter."""
    from harness.authoring.check import check_backend

    report, faults = check_backend(options.backend)
    print(report)
    return NOT_AS_EXPECTED if faults else AS_EXPECTED
