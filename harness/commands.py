"""What each command does once its words are parsed: it calls a room, prints what comes, and returns the exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.errors import ConformanceError, UsageError

AS_EXPECTED, NOT_AS_EXPECTED, WRONG_USAGE, HARNESS_FAILED = range(4)
"""Exit statuses."""


class NoSuchCase(UsageError):
    """A case that the suite does not have."""


class NothingToReport(UsageError):
    """No results where a report should find some."""


def generate(options: argparse.Namespace) -> int:
    """Writes the suites."""
    from harness.suite.generate import generate as generate_matrix
    from harness.suite.generate import made_of
    from harness.suite.made import fingerprint, is_made
    from harness.suite.manifest import open_suite
    from harness.suite.official import generate_official
    from harness.suite.select import Selection
    from harness.suite.strength import PROFILES

    if unknown := set(options.suite or ()) - set(PROFILES["exhaustive"]):
        raise UsageError(f"No suite is called {min(unknown)}.", f"There are {', '.join(PROFILES['exhaustive'])}.")
    for name in options.suite or PROFILES[options.profile]:
        path = options.testdata / name
        selection, strength = Selection.parse(options.select), None if name == "exhaustive" else options.strength
        what = name if name == "official" else made_of(strength, selection)
        if not options.anew and is_made(path, fingerprint(what)):
            _note(f"{path}: up to date, sha256 {open_suite(path).digest[:16]}…")
        elif name == "official":
            _note("official: onnx computes its node tests, which takes about 10 seconds …")
            suite, touched = generate_official(path)
            _note(f"{path}: {touched} cases written, sha256 {suite.digest[:16]}…")
        else:
            try:
                suite, planned = generate_matrix(path, strength, options.jobs, _told_progress, selection)
            finally:
                _told_end()
            cases, written = sum(len(p.cases) for p in planned), sum(p.written for p in planned)
            rows, possible = sum(p.rows for p in planned), sum(p.possible for p in planned)
            _note(f"{path}: {cases} cases, {written} of them written, sha256 {suite.digest[:16]}…")
            _note(
                f"{' ' * len(str(path))}  {rows} of {possible} combinations of types, attributes and input groups "
                f"planned{f' (--strength {strength})' if strength else ''}"
            )
    return AS_EXPECTED


def _told_progress(done: int, total: int, planned: Any) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{done} of {total} operator versions: {planned.title}")
        sys.stderr.flush()


def _told_end() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def run(options: argparse.Namespace) -> int:
    """Runs backends over suites."""
    from harness.running.backend import expectations_of
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
    suites = [open_suite(options.testdata / name) for name in _suites(options)]
    unexpected = False
    for backend in options.backend:
        for suite in suites:
            finished = run_backend(
                suite,
                backend,
                chosen,
                options.reports / suite.name / folder_name(backend),
                expectations=options.expected or expectations_of(backend),
                resume=options.resume,
                write_expected=options.write_expected,
                quiet=options.quiet,
            )
            unexpected |= not options.write_expected and any(f.unexpected or f.stale for f in finished.footers)
            for line in _departures(finished) if not options.quiet and not options.write_expected else ():
                _note(line)
    if options.report:
        _write_reports(options.reports, options.reports)
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


def _suites(options: argparse.Namespace) -> list[str]:
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


def report(options: argparse.Namespace) -> int:
    """Writes the reports of what has run."""
    paths = options.paths or [options.reports]
    if not options.format:
        _write_reports(options.output or options.reports, *paths, select=options.select)
        return AS_EXPECTED
    from harness.reports.formats import FORMATS

    text = FORMATS[options.format](_gathered(paths, options.select))
    if options.output:
        _write(options.output, text)
    else:
        sys.stdout.write(text)
    return AS_EXPECTED


def _write_reports(folder: Path, *paths: Path, select: Sequence[str] = ()) -> None:
    """Every format into a folder, and the summary to standard output."""
    from harness.reports.console import console
    from harness.reports.formats import FILE_NAMES, FORMATS

    gathered = _gathered(paths, select)
    for name, file in FILE_NAMES.items():
        _write(folder / file, FORMATS[name](gathered))
    sys.stdout.write(console(gathered, colours=sys.stdout.isatty()))
    _note(f"Written to {folder}: {', '.join(FILE_NAMES.values())}")


def _gathered(paths: Iterable[Path], select: Sequence[str]) -> Any:
    from harness.reports.gather import gather
    from harness.running.record import read_run
    from harness.suite.select import Selection

    files = [file for path in paths for file in _results_in(path)]
    return gather([read_run(file) for file in files], Selection.parse(select))


def _results_in(path: Path) -> list[Path]:
    found = sorted(path.rglob("results.jsonl")) if path.is_dir() else [path]
    if not found:
        raise NothingToReport(f"There are no results in {path}.", "Get some: onnx-conformance run --backend NAME.")
    return found


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise ConformanceError(f"Cannot write {path}: {error.strerror}.", "The results themselves are kept.") from error


def list_cases(options: argparse.Namespace) -> int:
    """Lists cases and their labels."""
    import msgspec
    from tabulate import tabulate

    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection, select_cases

    rows: list[list[str]] = []
    for name in _suites(options):
        for case, data_sets in select_cases(
            open_suite(options.testdata / name).cases(), Selection.parse(options.select)
        ):
            if options.json:
                sys.stdout.buffer.write(msgspec.json.encode(case) + b"\n")
                continue
            labels = case.labels
            groups = list(dict.fromkeys(case.data_sets[n].group for n in data_sets))
            version = f"{labels.op}-{labels.since}" if labels.op else "several nodes"
            kinds = " ".join(f"{k}={v}" for k, v in (labels.types | labels.attributes).items() if v != "omitted")
            rows.append([name, case.name, version, kinds[:60], str(len(data_sets)), ", ".join(groups)])
    if rows:
        print(tabulate(rows, ["suite", "case", "operator", "types and attributes", "data sets", "groups"]))
    return AS_EXPECTED


def _find(options: argparse.Namespace) -> tuple[Path, Any]:
    """The folder and the case of the name that the command was given."""
    import difflib

    from harness.suite.manifest import open_suite

    names: list[str] = []
    for suite_name in _suites(options):
        suite = open_suite(options.testdata / suite_name)
        for case in suite.cases():
            if case.name in (options.case, f"test_{options.case}"):
                return suite.path / case.name, case
            names.append(case.name)
    near = difflib.get_close_matches(options.case, names, 1)
    raise NoSuchCase(
        f"There is no case {options.case} in {' or '.join(_suites(options))}.",
        f"Did you mean {near[0]}?" if near else "onnx-conformance list names them all.",
    )


def show(options: argparse.Namespace) -> int:
    """Prints a case."""
    from harness.suite.show import show as shown

    folder, case = _find(options)
    sys.stdout.write(shown(folder, case, bounds=options.bounds))
    return AS_EXPECTED


def repro(options: argparse.Namespace) -> int:
    """Prints a script."""
    from harness.running.repro import repro as script_of

    folder, case = _find(options)
    sys.stdout.write(script_of(folder, case, options.backend, options.data_set))
    return AS_EXPECTED


def coverage(options: argparse.Namespace) -> int:
    """Tells what suites exercise."""
    import msgspec

    from harness.suite.coverage import coverage as covered
    from harness.suite.coverage import render
    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection, select_cases

    for name in _suites(options):
        suite = open_suite(options.testdata / name)
        chosen = (
            msgspec.structs.replace(case, data_sets=tuple(case.data_sets[n] for n in data_sets))
            for case, data_sets in select_cases(suite.cases(), Selection.parse(options.select))
        )
        found = covered(chosen, suite.name, suite.digest)
        if options.json:
            sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        else:
            print(render(found))
    return AS_EXPECTED


def backends(options: argparse.Namespace) -> int:
    """Lists the backends that are installed."""
    import msgspec
    from tabulate import tabulate

    from harness.running.backend import backend_names, load_backend
    from harness.running.protocol import schema

    if options.protocol:
        print(msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode())
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
    from harness.running.check import check_backend

    report, faults = check_backend(options.backend)
    print(report)
    return NOT_AS_EXPECTED if faults else AS_EXPECTED


def _note(text: str) -> None:
    """What is said beside a command's output."""
    print(text, file=sys.stderr)
