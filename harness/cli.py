"""The command line: parse, call, print; nothing else."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import harness
from harness.errors import ConformanceError, UsageError

AS_EXPECTED, NOT_AS_EXPECTED, WRONG_USAGE, HARNESS_FAILED = range(4)

EPILOG = """\
exit status: 0 as expected · 1 not as expected · 2 wrong usage · 3 the harness itself failed

a first look:
  onnx-conformance generate
  onnx-conformance run --backend onnxruntime
  onnx-conformance report
"""


class NoSuchCase(UsageError):
    """A case that the suite does not have."""


class NothingToReport(UsageError):
    """No results where a report should find some."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status = options.call(options)
        sys.stdout.flush()
    except ConformanceError as error:
        print(f"onnx-conformance: {error}", file=sys.stderr)
        if error.advice:
            print(f"  {error.advice}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        # Who reads our output has enough; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AS_EXPECTED
    except KeyboardInterrupt:
        print("onnx-conformance: interrupted.", file=sys.stderr)
        return HARNESS_FAILED
    except Exception:  # noqa: BLE001 - Python's own exit status for it is 1, which means something else here
        traceback.print_exc()
        print("onnx-conformance: this is a bug in the harness; the lines above say where.", file=sys.stderr)
        return HARNESS_FAILED
    return status


def _generate(options: argparse.Namespace) -> int:
    from harness.suite.generate import generate
    from harness.suite.official import generate_official
    from harness.suite.select import Selection

    for name in options.suite or ["matrix", "official"]:
        path = options.testdata / name
        if name == "official":
            _note("official: onnx computes its node tests, which takes about 10 seconds …")
            suite, touched = generate_official(path)
            _note(f"{path}: {touched} cases written, sha256 {suite.digest[:16]}…")
        else:
            try:
                suite, planned = generate(
                    path, options.strength, options.jobs, _told_progress, Selection.parse(options.select)
                )
            finally:
                _told_end()
            cases, written = sum(len(p.cases) for p in planned), sum(p.written for p in planned)
            rows, possible = sum(p.rows for p in planned), sum(p.possible for p in planned)
            _note(f"{path}: {cases} cases, {written} of them written, sha256 {suite.digest[:16]}…")
            _note(
                f"{' ' * len(str(path))}  {rows} of {possible} combinations of types, attributes and input groups "
                f"planned (--strength {options.strength})"
            )
    return AS_EXPECTED


def _told_progress(done: int, total: int, planned: Any) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{done} of {total} operator versions: {planned.title}")
        sys.stderr.flush()


def _told_end() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def _run(options: argparse.Namespace) -> int:
    from harness.running.backend import expectations_of
    from harness.running.pool import Limits
    from harness.running.run import Options, folder_name, run
    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection

    chosen = Options(
        selection=Selection.parse(options.select),
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
            finished = run(
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
    """The suites asked for, or all that are there."""
    if options.suite:
        return options.suite
    from harness.suite.manifest import INCOMPLETE, MANIFEST

    there = sorted(
        folder.name
        for folder in (options.testdata.iterdir() if options.testdata.is_dir() else ())
        if (folder / MANIFEST).exists() or (folder / INCOMPLETE).exists()
    )
    return there or ["matrix"]


def _report(options: argparse.Namespace) -> int:
    from harness.reports.console import console
    from harness.reports.formats import FILE_NAMES, FORMATS
    from harness.reports.gather import gather
    from harness.running.record import read_run
    from harness.suite.select import Selection

    paths = [found for path in options.paths or [options.reports] for found in _results_in(path)]
    report = gather([read_run(path) for path in paths], Selection.parse(options.select))
    if options.format:
        text = FORMATS[options.format](report)
        if options.output:
            _write(options.output, text)
        else:
            sys.stdout.write(text)
        return AS_EXPECTED
    folder = options.output or options.reports
    for name, file in FILE_NAMES.items():
        _write(folder / file, FORMATS[name](report))
    sys.stdout.write(console(report, colours=sys.stdout.isatty()))
    _note(f"Written to {folder}: {', '.join(FILE_NAMES.values())}")
    return AS_EXPECTED


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


def _list(options: argparse.Namespace) -> int:
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


def _show(options: argparse.Namespace) -> int:
    from harness.suite.show import show

    folder, case = _find(options)
    sys.stdout.write(show(folder, case, bounds=options.bounds))
    return AS_EXPECTED


def _repro(options: argparse.Namespace) -> int:
    from harness.running.repro import repro

    folder, case = _find(options)
    sys.stdout.write(repro(folder, case, options.backend, options.data_set))
    return AS_EXPECTED


def _coverage(options: argparse.Namespace) -> int:
    import msgspec

    from harness.suite.coverage import coverage, render
    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection, select_cases

    for name in _suites(options):
        suite = open_suite(options.testdata / name)
        chosen = (
            msgspec.structs.replace(case, data_sets=tuple(case.data_sets[n] for n in data_sets))
            for case, data_sets in select_cases(suite.cases(), Selection.parse(options.select))
        )
        found = coverage(chosen, suite.name, suite.digest)
        if options.json:
            sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        else:
            print(render(found))
    return AS_EXPECTED


def _backends(options: argparse.Namespace) -> int:
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


def _check_backend(options: argparse.Namespace) -> int:
    from harness.running.check import check_backend

    report, faults = check_backend(options.backend)
    print(report)
    return NOT_AS_EXPECTED if faults else AS_EXPECTED


def _note(text: str) -> None:
    """What is said beside a command's output."""
    print(text, file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Errors in two lines: what is wrong, and where help is."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"onnx-conformance: {message}\n  See {self.prog} --help.\n")


def _shard(text: str) -> tuple[int, int]:
    which, _, of = text.partition("/")
    if not (which.isdigit() and of.isdigit() and 1 <= int(which) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is no shard; write 1/4 for the first of four")
    return int(which), int(of)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    from harness.suite.planning import STRENGTHS
    from harness.suite.select import GRAMMAR

    parser = _Parser(
        "onnx-conformance", description=harness.__doc__, epilog=EPILOG, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"onnx-conformance {harness.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    cores = os.cpu_count() or 1

    def command(
        name: str, call: Callable[[argparse.Namespace], int], about: str, *shared: str
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=about,
            description=about,
            epilog=GRAMMAR if "select" in shared else None,
            formatter_class=argparse.RawTextHelpFormatter,
        )
        added.set_defaults(call=call)
        if "suite" in shared:
            added.add_argument(
                "--suite", action="append", metavar="NAME", help="a suite (default: all; may be repeated)"
            )
            added.add_argument(
                "--testdata", type=Path, default=Path("testdata"), metavar="DIR", help="where suites are"
            )
        if "select" in shared:
            added.add_argument("--select", nargs="+", default=[], metavar="TERM", help="only what matches; see below")
        if "reports" in shared:
            added.add_argument("--reports", type=Path, default=Path("reports"), metavar="DIR", help="where results are")
        return added

    generating = command("generate", _generate, "write the suites", "suite", "select")
    generating.add_argument(
        "--strength", choices=STRENGTHS, default="pairs", help="of the matrix suite (default: pairs)"
    )
    generating.add_argument("--jobs", type=_count, default=cores, metavar="N", help="processes (default: the cores)")

    running = command("run", _run, "run backends over suites", "suite", "select", "reports")
    running.add_argument(
        "--backend",
        action="append",
        required=True,
        metavar="NAME",
        help="a name, package.module:Class, onnx:package.module or command:program (may be repeated)",
    )
    running.add_argument("--workers", type=_count, default=cores, metavar="N", help="processes (default: the cores)")
    running.add_argument("--limit", type=_positive, default=10.0, metavar="SECONDS", help="for a case (default: 10)")
    running.add_argument("--memory", type=_positive, default=4.0, metavar="GIB", help="of a worker (default: 4)")
    running.add_argument("--shard", type=_shard, default=(1, 1), metavar="K/N", help="only the K-th of N parts")
    running.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    running.add_argument("--expected", type=Path, metavar="FILE", help="what is known to fail (default: the adapter's)")
    running.add_argument(
        "--write-expected", action="store_true", help="rewrite that file so that this run is as expected"
    )
    running.add_argument("--quiet", action="store_true", help="say nothing but errors")

    reporting = command("report", _report, "write the reports of what has run", "select", "reports")
    reporting.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="results.jsonl, or folders (default: reports)"
    )
    reporting.add_argument(
        "--format", choices=["console", "markdown", "json", "csv", "junit"], help="print this one (default: write all)"
    )
    reporting.add_argument(
        "--output", type=Path, metavar="PATH", help="folder for all, file for one (default: reports, or print)"
    )

    listing = command("list", _list, "list cases and their labels", "suite", "select")
    listing.add_argument("--json", action="store_true", help="the manifest lines")

    showing = command("show", _show, "print a case as ONNX's documents print their examples", "suite")
    showing.add_argument("case")
    showing.add_argument("--bounds", action="store_true", help="and the bound of each inexact element")

    reproducing = command("repro", _repro, "print a script that runs one case on one backend", "suite")
    reproducing.add_argument("case")
    reproducing.add_argument("--backend", required=True, metavar="NAME")
    reproducing.add_argument("--data-set", type=int, default=0, metavar="N", help="which of the case's (default: 0)")

    covering = command("coverage", _coverage, "tell what suites exercise of what ONNX defines", "suite", "select")
    covering.add_argument("--json", action="store_true", help="a line of JSON a suite")

    backends = command("backends", _backends, "list the backends that are installed")
    backends.add_argument(
        "--protocol", action="store_true", help="print the JSON Schema of what command: programs speak"
    )

    checking = command("check-backend", _check_backend, "try an adapter on a few models and tell what is wrong with it")
    checking.add_argument("backend", metavar="NAME")
    return parser
