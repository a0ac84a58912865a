"""The commands that run backends."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.commands.reporting import write_reports
from harness.commands.shared import AS_EXPECTED, NOT_AS_EXPECTED, find_case, note, open_suites, suites_folder
from harness.errors import UsageError

_STALE_SHOWN = 20
"""How many stale expectations are listed."""


class NameUsedTwice(UsageError):
    """Two backends or two suites of one command whose results would be written to the same folder."""


def run(options: argparse.Namespace) -> int:
    """Run backends over suites."""
    from harness.backend.loading import expectations_path
    from harness.running.pool import Limits
    from harness.running.run import Options
    from harness.running.run import run as run_backend
    from harness.suite.select import Selection

    chosen = Options(
        selection=Selection.parse(options.select),
        quick=options.profile == "quick",
        shard=options.shard,
        limits=Limits(options.limit, int(options.memory * (1 << 30))),
        workers=options.workers,
    )
    if options.expected and len(options.backend) > 1:
        raise UsageError("--expected applies to one backend.", "Run the backends one at a time.")
    suites = open_suites(options)
    testdata = suites_folder(options) if options.report else options.testdata
    folders = _Folders(options, suites, chosen.limits)
    unexpected = False
    for number, backend in enumerate(options.backend):
        expectations = options.expected or expectations_path(backend)
        for suite in suites:
            finished = run_backend(
                suite,
                backend,
                chosen,
                lambda description, number=number, suite=suite: folders.choose(number, suite, description),
                expectations=expectations,
                resume=options.resume,
                write_expected=options.write_expected,
                quiet=options.quiet,
            )
            unexpected |= not options.write_expected and any(f.unexpected or f.stale for f in finished.footers)
            if not options.quiet:
                for line in _summary(finished, options.write_expected, own_file=expectations is not None):
                    note(line)
    if options.report:
        write_reports(options.reports, [options.reports], testdata)
    return NOT_AS_EXPECTED if unexpected else AS_EXPECTED


class _Folders:
    """The folders of results of one command, a different one for each backend and suite."""

    def __init__(self, options: argparse.Namespace, suites: Sequence[Any], limits: Any) -> None:
        """If the names are not known in advance, several backends are started once to ask for them.

        So a collision, or a backend that does not start, is an error before anything runs.
        """
        self._options = options
        self._suites = suites
        self._names: list[str | None] = options.name or [None] * len(options.backend)
        if len(self._names) != len(options.backend):
            raise UsageError(
                f"There are {len(options.backend)} backends and {len(self._names)} names.",
                "Give --name once for each --backend, in the same order.",
            )
        for one, other in itertools.combinations(suites, 2):
            if one.name == other.name:
                raise NameUsedTwice(
                    f"Two suites are called {one.name}: {one.path} and {other.path}.",
                    "Run them one at a time, each with its own --reports DIR.",
                )
        if len(options.backend) > 1 and not options.name:
            from harness.running.run import describe

            for number, backend in enumerate(options.backend):
                self._names[number] = self._default_name(backend, describe(backend, limits))
        self._require_different()

    def choose(self, number: int, suite: Any, description: Any) -> Path:
        """The folder for a backend, by its number, and a suite. Raises FolderTaken."""
        from harness.running.folders import folder_to_resume

        backend: str = self._options.backend[number]
        name = self._names[number] or self._default_name(backend, description)
        self._names[number] = name
        folder = self._options.reports / suite.name / name
        return folder_to_resume(folder, backend) if self._options.resume and not self._options.name else folder

    def _default_name(self, backend: str, description: Any) -> str:
        from harness.running.folders import default_name, require_own

        name = default_name(backend, description)
        for suite in self._suites:
            require_own(self._options.reports / suite.name / name, backend, description)
        return name

    def _require_different(self) -> None:
        named = zip(self._names, self._options.backend, strict=True)
        for (name, one), (other_name, other) in itertools.combinations(named, 2):
            if name and name == other_name:
                raise NameUsedTwice(
                    f"The results of {one} and {other} would both be written to a folder called {name}.",
                    "Give each backend its own folder name: --name NAME, once for each --backend, in the same order.",
                )


def _summary(finished: Any, rewritten: bool, *, own_file: bool) -> Iterator[str]:
    """Where the results are, and how they differ from the backend's expectations."""
    yield f"  Results: {finished.path}"
    stale = [line for footer in finished.footers for line in footer.stale]
    unexpected = sum(footer.unexpected for footer in finished.footers)
    if skipped := sum(footer.skipped_expectations for footer in finished.footers):
        yield f"  {_counted(skipped, 'expectation matches', 'expectations match')} no case of this suite (not checked)."
    if rewritten:
        return
    if unexpected:
        counted = _counted(unexpected, "failure is", "failures are")
        yield f"  {counted} not expected. To list them: onnx-conformance report."
    if stale:
        yield f"  {_counted(len(stale), 'expectation is', 'expectations are')} stale:"
        yield from (f"    {line}" for line in stale[:_STALE_SHOWN])
        if len(stale) > _STALE_SHOWN:
            yield f"    … and {len(stale) - _STALE_SHOWN:,} more"
    if unexpected or stale:
        yield f"  To record this run as expected, add {'' if own_file else '--expected FILE '}--write-expected."


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def repro(options: argparse.Namespace) -> int:
    """Print a script that reproduces one data set."""
    from harness.authoring.repro import repro_script

    folder, case = find_case(options)
    sys.stdout.write(repro_script(folder, case, options.backend, options.data_set))
    return AS_EXPECTED


def backends(options: argparse.Namespace) -> int:
    """List the installed backends, or print the schema of the protocol."""
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
    print("\n--backend also takes package.module:Class, onnx:package.module[:Class] and command:PROGRAM ARGUMENTS.")
    return AS_EXPECTED


def check(options: argparse.Namespace) -> int:
    """Check an adapter."""
    from harness.authoring.check import check_backend

    report, faults = check_backend(options.backend)
    print(report)
    return NOT_AS_EXPECTED if faults else AS_EXPECTED
