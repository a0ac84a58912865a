"""The options of every command, and their help."""

from __future__ import annotations

import argparse
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import harness
from harness.commands import comparing, reporting, running, schemas, suites
from harness.commands.shared import WRONG_USAGE

EPILOG = """\
exit status:
  0    as expected
  1    not as expected: an unexpected failure, a stale expectation, a regression or a fault of an adapter
  2    wrong usage, such as an unknown option, or a backend or suite that does not exist
  3    the harness itself failed, for example because a disk is full
  130  stopped by Ctrl-C (SIGINT); 143: stopped by SIGTERM; 129: stopped by SIGHUP

get started:
  onnx-conformance generate
  onnx-conformance run --backend onnxruntime
  onnx-conformance report

Options of a command: onnx-conformance COMMAND --help
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The parsed options, with ``call`` for the command and ``if_stopped`` for advice. Raises SystemExit."""
    return build_parser(arguments).parse_args(arguments)


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands. Only those named in ``words`` have their options: the imports of others cost time."""
    parser = _Parser("onnx-conformance", description=f"{harness.__doc__}", epilog=EPILOG)
    parser.add_argument(
        "--version", action="version", version=f"onnx-conformance {harness.__version__}", help="Print the version"
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, call, about, add_options in _COMMANDS:
        command = commands.add_parser(name, help=about)
        command.set_defaults(call=call, if_stopped=IF_STOPPED.get(name, ""))
        if name in words:
            add_options(command)
    return parser


IF_STOPPED = {
    "generate": "The suite is incomplete. To complete it, run the same command again.",
    "run": "To continue, run the same command with --resume.",
    "report": "Some reports may be missing. To write all of them, run the same command again.",
}
"""What to do after a signal stopped a command."""


class _HelpFormatter(argparse.HelpFormatter):
    """Wraps lines to the width of the terminal, but keeps line breaks and the columns of tables."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)
        self._width = min(self._width, 110)
        self._action_max_length = 18  # argparse forgets that the names of commands are indented

    def _split_lines(self, text: str, width: int) -> list[str]:
        return [wrapped for line in text.splitlines() for wrapped in _wrap(line, width)]

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + wrapped for line in text.splitlines() for wrapped in _wrap(line, width))


def _wrap(line: str, width: int) -> list[str]:
    column = re.match(r" *\S+(?: \S+)*  +(?=\S)| *", line)
    hanging = " " * len(column[0] if column else "")
    return textwrap.wrap(line, width, subsequent_indent=hanging, break_on_hyphens=False) or [""]


class _Parser(argparse.ArgumentParser):
    """Prints errors in two lines: what is wrong, and how to get help."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, formatter_class=_HelpFormatter, add_help=False, **options)
        self.add_argument("-h", "--help", action="help", help="Print this help")

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"onnx-conformance: {message}\n  For help: {self.prog} --help\n")


# Types of options.


def _shard(text: str) -> tuple[int, int]:
    which, _, of = text.partition("/")
    if not (which.isdigit() and of.isdigit() and 1 <= int(which) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shard; write 1/4 for the first of four")
    return int(which), int(of)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _folder_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder name; use letters, digits and _ . -")
    return text


# Options that several commands have.


def _add_suite(group: Any, about: str) -> None:
    group.add_argument(
        "--suite",
        action="append",
        metavar="NAME",
        help=f"{about}: a name in --testdata, or a path with a separator, such as ./my-suite. May be given several "
        "times [default: all suites in --testdata]",
    )
    _add_testdata(group)


def _add_testdata(group: Any) -> None:
    group.add_argument(
        "--testdata", type=Path, default=Path("testdata"), metavar="DIR", help="Folder of suites [default: testdata]"
    )


def _add_select(group: Any, about: str, example: str = "op=Trilu T=float16") -> None:
    group.add_argument(
        "--select",
        nargs="+",
        default=[],
        metavar="TERM",
        help=f"{about}, for example --select {example}. Terms are described below [default: all]",
    )


def _add_reports(group: Any) -> None:
    group.add_argument(
        "--reports",
        type=Path,
        default=Path("reports"),
        metavar="DIR",
        help="Folder of results and reports [default: reports]",
    )


def _describe(parser: argparse.ArgumentParser, about: str, examples: Sequence[str], *, selects: bool = False) -> None:
    """Set the text before and after the options."""
    parser.description = about
    parser.epilog = "\n".join(["examples:", *(f"  onnx-conformance {example}" for example in examples)])
    if selects:
        from harness.suite.select import GRAMMAR

        parser.epilog = f"{GRAMMAR}\n{parser.epilog}"


# Commands.


def _generate(parser: argparse.ArgumentParser) -> None:
    from harness.suite.strength import PROFILES, STRENGTHS

    _describe(
        parser,
        "Write the suites. A suite that is up to date is not written again.",
        ["generate", "generate --suite matrix --select category=nn --testdata nn", "generate --profile exhaustive"],
        selects=True,
    )
    parser.add_argument(
        "--suite",
        action="append",
        metavar="NAME",
        help="Suite to write: matrix, official or exhaustive. May be given several times [default: the suites of "
        "--profile]",
    )
    _add_testdata(parser)
    _add_select(parser, "Write only cases of these operators, by op, domain, since and category", "op=Conv,Gemm")
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default="standard",
        help="standard: matrix and official. exhaustive: also the suite exhaustive, which holds every value of the "
        "8- and 16-bit types for each operator of one tensor [default: standard]",
    )
    parser.add_argument(
        "--strength",
        choices=STRENGTHS,
        default="pairs",
        help="Coverage of the matrix suite: each value once, all pairs of values, or the full product [default: pairs]",
    )
    parser.add_argument("--force", action="store_true", help="Write suites even if they are up to date")
    _add_jobs(parser, "--jobs")


def _add_jobs(group: Any, name: str) -> None:
    cores = os.cpu_count() or 1
    group.add_argument(
        name, type=_count, default=cores, metavar="N", help=f"Number of processes [default: all cores, {cores} here]"
    )


RUN = """\
Run backends over suites. The results of a run are written to REPORTS/SUITE/NAME/results.jsonl, where NAME is the name \
that the backend describes.

A run replaces the earlier results of the same backend. It does not replace the results of another backend that \
describes the same name: use --name for one of them.
"""
EXPECTATIONS = """\
The run fails (exit status 1) if a failure is not expected, or if an expectation is stale. An expectation is stale if \
a result that it matches has another verdict, or if it matches no case of a complete suite. A suite is complete if \
this version wrote it with generate and without --select.
"""


def _run(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        RUN,
        [
            "run --backend onnxruntime",
            "run --backend onnxruntime --profile quick --report",
            "run --backend mine.adapter:Mine --suite matrix --select op=Conv,Gemm",
            "run --backend mine.adapter:Mine --expected known.toml --write-expected",
            'run --backend "command:old/bin/python -m harness.backend.worker onnxruntime" --name onnxruntime-old',
        ],
        selects=True,
    )
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--backend",
        action="append",
        required=True,
        metavar="NAME",
        help='Backend: an installed name, package.module:Class, onnx:package.module, or "command:PROGRAM ARGUMENTS". '
        "May be given several times. Installed names: onnx-conformance backends",
    )
    _add_suite(what, "Suite to run")
    _add_select(what, "Run only data sets that match all terms")
    what.add_argument(
        "--profile",
        choices=("standard", "quick"),
        default="standard",
        help="standard: all cases. quick: only the newest version of each operator, with each type, attribute value "
        "and input group at least once [default: standard]",
    )
    what.add_argument(
        "--shard", type=_shard, default=(1, 1), metavar="K/N", help="Run part K of N parts, for example 1/4"
    )
    how = parser.add_argument_group("limits")
    _add_jobs(how, "--workers")
    how.add_argument(
        "--limit", type=_positive, default=10.0, metavar="SECONDS", help="Time limit for a case [default: 10]"
    )
    how.add_argument(
        "--memory", type=_positive, default=4.0, metavar="GIB", help="Memory limit for a worker [default: 4]"
    )
    results = parser.add_argument_group("results")
    _add_reports(results)
    results.add_argument(
        "--name",
        action="append",
        type=_folder_name,
        metavar="NAME",
        help="Folder name for the results of a backend, once for each --backend and in the same order. Earlier results "
        "in that folder are replaced [default: the name that the backend describes]",
    )
    results.add_argument("--resume", action="store_true", help="Continue a run that was stopped")
    results.add_argument("--report", action="store_true", help="Write the reports afterwards, as the command report")
    results.add_argument("--quiet", action="store_true", help="Print only errors")
    expectations = parser.add_argument_group("expected failures", EXPECTATIONS)
    expectations.add_argument(
        "--expected",
        type=Path,
        metavar="FILE",
        help="Known failures of the backend, for example known.toml [default: NAME.expected.toml beside the adapter of "
        "an installed name]",
    )
    expectations.add_argument(
        "--write-expected", action="store_true", help="Rewrite that file so that this run is as expected"
    )


def _report(parser: argparse.ArgumentParser) -> None:
    from harness.reports.formats import FORMATS

    usual = ", ".join(name for name, one in FORMATS.items() if one.default)
    _describe(
        parser,
        "Write reports of results and print a summary.",
        [
            "report",
            "report reports/matrix/onnxruntime --select category=nn --format markdown --output nn.md",
            "report --suite matrix --format console",
        ],
        selects=True,
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="A results.jsonl or a folder of them [default: --reports]"
    )
    _add_suite(parser, "Suite to report")
    _add_select(parser, "Report only results that match all terms")
    _add_reports(parser)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        metavar="NAME",
        help=f"Write only this format [default: {usual}, and print the summary]\n"
        + "\n".join(f"  {name:10}  {one.about}" for name, one in FORMATS.items()),
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="A folder, or a file if the format is one file [default: --reports, or standard output with --format]",
    )


COMPARE = """\
Compare two runs: one backend at two times or in two versions, or two backends.

A data set is a regression if it passed in OLD and does not pass in NEW (unsupported and not_run do not pass), or if \
it passed in OLD and is missing in NEW although NEW finished and should have run it. A change from one failure to \
another is not a regression.

The exit status is 0 without regressions. It is 1 with regressions, or if NEW is unfinished and lacks a data set that \
passed in OLD.
"""


def _compare(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        COMPARE,
        [
            "compare old-reports reports",
            "compare reports/matrix/onnxruntime-old reports/matrix/onnxruntime --output compare.md",
        ],
        selects=True,
    )
    for side in ("old", "new"):
        parser.add_argument(
            side, type=Path, metavar=side.upper(), help="A results.jsonl, or a folder with one run of each suite"
        )
    _add_select(parser, "Compare only results that match all terms")
    parser.add_argument("--format", choices=("markdown", "json"), default="markdown", help="[default: markdown]")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="Write to this file [default: print to standard output]"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="Compare even if the suites differ: data sets with the same name are compared",
    )


def _list(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        "List cases and their labels.",
        ["list --select op=Trilu T=float16", "list --suite matrix --profile quick", "list --suite ./my-suite --json"],
        selects=True,
    )
    _add_suite(parser, "Suite to list")
    _add_select(parser, "List only cases with a data set that matches all terms")
    parser.add_argument(
        "--profile",
        choices=("standard", "quick"),
        default="standard",
        help="quick: only the cases that run --profile quick runs [default: standard]",
    )
    parser.add_argument("--json", action="store_true", help="Print lines of the manifest, in JSON")


def _show(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        "Print a case: its node, inputs and expected outputs, in the form of the examples in ONNX's documentation.",
        ["show test_cumprod_1d_exclusive --bounds"],
    )
    _add_case(parser)
    parser.add_argument("--bounds", action="store_true", help="Also print the bound of each inexact element")


def _add_case(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("case", metavar="CASE", help="Name of the case, with or without its leading test_")
    _add_suite(parser, "Suite to search")


def _repro(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        "Print a Python script that reproduces the result of one case on one backend, for a bug report.",
        ["repro test_cumprod_1d --backend onnxruntime > repro.py"],
    )
    _add_case(parser)
    parser.add_argument("--backend", required=True, metavar="NAME", help="Backend, as in the command run")
    parser.add_argument(
        "--data-set", type=int, default=0, metavar="N", help="Number of the data set in the case [default: 0]"
    )


def _coverage(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        "Print which operators, element types and attributes the suites cover.",
        ["coverage", "coverage --suite matrix --select category=nn --json"],
        selects=True,
    )
    _add_suite(parser, "Suite to measure")
    _add_select(parser, "Count only data sets that match all terms")
    parser.add_argument("--json", action="store_true", help="Print one line of JSON for each suite")


def _backends(parser: argparse.ArgumentParser) -> None:
    _describe(parser, "List the installed backends.", ["backends", "backends --protocol"])
    parser.add_argument(
        "--protocol", action="store_true", help="Print the JSON Schema of the protocol of command: backends instead"
    )


def _schema(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        "Print the JSON Schema of a file that this project writes. Without NAME, list the schemas.",
        ["schema", "schema results", "schema --output schemas"],
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="Name of the schema, for example results")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="Write the schema, or all schemas, to this folder instead"
    )


def _check_backend(parser: argparse.ArgumentParser) -> None:
    _describe(
        parser,
        "Check an adapter with small models whose results are known, and print its faults. The exit status is 1 if "
        "there are any.",
        ["check-backend mine.adapter:Mine"],
    )
    parser.add_argument("backend", metavar="NAME", help="Backend, as in the command run")


_COMMANDS: tuple[
    tuple[str, Callable[[argparse.Namespace], int], str, Callable[[argparse.ArgumentParser], None]], ...
] = (
    ("generate", suites.generate, "Write the suites", _generate),
    ("run", running.run, "Run backends over suites", _run),
    ("report", reporting.report, "Write reports of results", _report),
    ("compare", comparing.compare, "Compare two runs: what is fixed, what is broken", _compare),
    ("list", suites.list_cases, "List cases and their labels", _list),
    ("show", suites.show, "Print a case", _show),
    ("repro", running.repro, "Print a script that reproduces a result", _repro),
    ("coverage", suites.coverage, "Print what the suites cover", _coverage),
    ("backends", running.backends, "List the installed backends", _backends),
    ("schema", schemas.schema, "Print the JSON Schema of a file", _schema),
    ("check-backend", running.check, "Check an adapter", _check_backend),
)
