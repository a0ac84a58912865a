"""The command line: what may be typed, and how it ends."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import harness
from harness.commands import comparing, reporting, running, schemas, suites
from harness.commands.shared import AS_EXPECTED, HARNESS_FAILED, WRONG_USAGE
from harness.errors import ConformanceError

EPILOG = """\
exit status: 0 as expected · 1 not as expected · 2 wrong usage · 3 the harness itself failed

a first look:
  onnx-conformance generate
  onnx-conformance run --backend onnxruntime
  onnx-conformance report
"""


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
        # Who reads our output has enough.
        _let_go_of_output()
        return AS_EXPECTED
    except OSError as error:
        if error.filename is not None or error.errno != errno.ENOSPC:
            return _bug()
        _let_go_of_output()
        print(f"onnx-conformance: the output cannot be written: {error.strerror}.", file=sys.stderr)
        return HARNESS_FAILED
    except KeyboardInterrupt:
        print("onnx-conformance: interrupted.", file=sys.stderr)
        return HARNESS_FAILED
    except Exception:  # noqa: BLE001 - Python's own exit status for it is 1, which means something else here
        return _bug()
    return status


def _let_go_of_output() -> None:
    """What is still buffered must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug() -> int:
    traceback.print_exc()
    print("onnx-conformance: this is a bug in the harness; the lines above say where.", file=sys.stderr)
    return HARNESS_FAILED


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


def _add_running(running: argparse.ArgumentParser, cores: int) -> None:
    running.add_argument(
        "--backend",
        action="append",
        required=True,
        metavar="NAME",
        help="a name, package.module:Class, onnx:package.module or command:program (may be repeated)",
    )
    running.add_argument(
        "--profile",
        choices=("standard", "quick"),
        default="standard",
        help="quick: of the newest versions, each type, attribute value and group once",
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
    running.add_argument(
        "--report", action="store_true", help="write the reports at the end, as onnx-conformance report"
    )
    running.add_argument("--quiet", action="store_true", help="say nothing but errors")


def _add_reporting(reporting: argparse.ArgumentParser) -> None:
    from harness.reports.formats import FORMATS

    usual = ", ".join(name for name, one in FORMATS.items() if one.default)
    reporting.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="results.jsonl, or folders (default: reports)"
    )
    reporting.add_argument(
        "--format",
        choices=FORMATS,
        metavar="NAME",
        help=f"one of these (default: {usual}, and the summary is printed):\n"
        + "\n".join(f"  {name:9} {one.about}" for name, one in FORMATS.items()),
    )
    reporting.add_argument(
        "--output", type=Path, metavar="PATH", help="folder for several, file for one (default: reports, or print)"
    )


COMPARING = """\
tell what is fixed and what is broken from the run OLD to the run NEW: one backend at two times or in two versions,
or two backends. A regression is a data set that passed in OLD and does not in NEW, whatever it does instead
(unsupported and not run count), or that passed and is not there in NEW, which finished and was to run it.
From one failure to another is none.

exit status: 0 without a regression · 1 with one, or where NEW is unfinished and lacks what passed · 2 wrong usage
"""


def _add_comparing(comparing: argparse.ArgumentParser) -> None:
    comparing.description = COMPARING
    for side in ("old", "new"):
        comparing.add_argument(
            side, type=Path, metavar=side.upper(), help="results.jsonl, or a folder that holds one run a suite"
        )
    comparing.add_argument("--format", choices=("markdown", "json"), default="markdown", help="(default: markdown)")
    comparing.add_argument("--output", type=Path, metavar="FILE", help="write there and print nothing")
    comparing.add_argument(
        "--force", action="store_true", help="also where the suites differ: data sets of the same name are compared"
    )


def _parser() -> argparse.ArgumentParser:
    from harness.suite.select import GRAMMAR
    from harness.suite.strength import PROFILES, STRENGTHS

    parser = _Parser(
        "onnx-conformance", description=harness.__doc__, epilog=EPILOG, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"onnx-conformance {harness.__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    cores = os.cpu_count() or 1

    def command(
        name: str, call: Callable[[argparse.Namespace], int], about: str, *shared: str
    ) -> argparse.ArgumentParser:
        added = subparsers.add_parser(
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
        if "suite" in shared or "testdata" in shared:
            added.add_argument(
                "--testdata", type=Path, default=Path("testdata"), metavar="DIR", help="where suites are"
            )
        if "select" in shared:
            added.add_argument("--select", nargs="+", default=[], metavar="TERM", help="only what matches; see below")
        if "reports" in shared:
            added.add_argument("--reports", type=Path, default=Path("reports"), metavar="DIR", help="where results are")
        return added

    generating = command("generate", suites.generate, "write the suites", "suite", "select")
    generating.add_argument(
        "--strength", choices=STRENGTHS, default="pairs", help="of the matrix suite (default: pairs)"
    )
    generating.add_argument(
        "--profile",
        choices=PROFILES,
        default="standard",
        help="exhaustive: also write the suite of that name, every value of 8- and 16-bit types\n"
        "for each operator of one tensor (half a minute at first, then kept)",
    )
    generating.add_argument("--anew", action="store_true", help="also what is there, whole, and made from what is here")
    generating.add_argument("--jobs", type=_count, default=cores, metavar="N", help="processes (default: the cores)")

    _add_running(command("run", running.run, "run backends over suites", "suite", "select", "reports"), cores)

    _add_reporting(
        command("report", reporting.report, "write the reports of what has run", "testdata", "select", "reports")
    )

    _add_comparing(
        command("compare", comparing.compare, "tell what is fixed and what is broken between two runs", "select")
    )

    listing = command("list", suites.list_cases, "list cases and their labels", "suite", "select")
    listing.add_argument("--json", action="store_true", help="the manifest lines")

    showing = command("show", suites.show, "print a case as ONNX's documents print their examples", "suite")
    showing.add_argument("case")
    showing.add_argument("--bounds", action="store_true", help="and the bound of each inexact element")

    reproducing = command("repro", running.repro, "print a script that runs one case on one backend", "suite")
    reproducing.add_argument("case")
    reproducing.add_argument("--backend", required=True, metavar="NAME")
    reproducing.add_argument("--data-set", type=int, default=0, metavar="N", help="which of the case's (default: 0)")

    covering = command("coverage", suites.coverage, "tell what suites exercise of ONNX", "suite", "select")
    covering.add_argument("--json", action="store_true", help="a line of JSON a suite")

    backends = command("backends", running.backends, "list the backends that are installed")
    backends.add_argument(
        "--protocol", action="store_true", help="print the JSON Schema of what command: programs speak"
    )

    publishing = command("schema", schemas.schema, "print the JSON Schema of a file that is written, or list them")
    publishing.add_argument("name", nargs="?", metavar="NAME")
    publishing.add_argument("--output", type=Path, metavar="DIR", help="write NAME, or all of them, into a folder")

    checking = command("check-backend", running.check, "try an adapter on a few models and tell what is wrong with it")
    checking.add_argument("backend", metavar="NAME")
    return parser
