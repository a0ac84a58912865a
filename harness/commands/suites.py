"""The commands that write and show suites."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from harness.commands.shared import AS_EXPECTED, find_case, note, open_suites
from harness.errors import UsageError
from harness.throttle import Throttle


def generate(options: argparse.Namespace) -> int:
    """Write suites."""
    from harness.suite.fingerprint import fingerprint, is_up_to_date, request_text
    from harness.suite.generate import generate as generate_matrix
    from harness.suite.manifest import open_suite
    from harness.suite.official import generate_official
    from harness.suite.select import Selection
    from harness.suite.strength import PROFILES

    known = PROFILES["exhaustive"]
    if unknown := sorted(set(options.suite or ()) - set(known)):
        raise UsageError(
            f"generate cannot write a suite called {unknown[0]}.",
            f"It writes {', '.join(known[:-1])} and {known[-1]}. To write into another folder: --testdata DIR.",
        )
    for name in options.suite or PROFILES[options.profile]:
        path = options.testdata / name
        selection = Selection.parse(options.select)
        planning = "sweeps" if name == "exhaustive" else options.strength
        request = name if name == "official" else request_text(planning, selection)
        if not options.force and is_up_to_date(path, fingerprint(request)):
            note(f"{path}: up to date, sha256 {open_suite(path).digest[:16]}…")
        elif name == "official":
            note("official: onnx computes its node tests, which takes about 10 seconds …")
            suite, touched = generate_official(path)
            note(f"{path}: {touched:,} cases written, sha256 {suite.digest[:16]}…")
        else:
            with GenerationProgress(name) as progress:
                suite, planned = generate_matrix(path, planning, options.jobs, progress.show, selection)
            cases, written = sum(len(p.cases) for p in planned), sum(p.written for p in planned)
            rows, possible = sum(p.rows for p in planned), sum(p.possible for p in planned)
            note(f"{path}: {cases:,} cases, {written:,} of them written, sha256 {suite.digest[:16]}…")
            note(
                f"{' ' * len(str(path))}  {rows:,} of {possible:,} combinations of types, attributes and input groups "
                f"planned{'' if planning == 'sweeps' else f' (--strength {planning})'}"
            )
    return AS_EXPECTED


class GenerationProgress:
    """The progress of a generation: one line that changes on a terminal, otherwise a line every 10 seconds."""

    def __init__(self, suite: str, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds."""
        self._suite = suite
        self._throttle = Throttle(clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")

    def show(self, done: int, total: int, newest: Any) -> None:
        """Show how many operator versions are done; ``newest`` is the one that was finished last."""
        line = f"{self._suite}: {done:,} of {total:,} operator versions"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{line}, last {newest.title}")
            sys.stderr.flush()
        elif done < total and self._throttle.allows():
            note(line)


def list_cases(options: argparse.Namespace) -> int:
    """List cases and their labels."""
    import msgspec
    from tabulate import tabulate

    from harness.suite.quick import each_value_once
    from harness.suite.select import Selection, select_cases

    rows: list[list[str]] = []
    for suite in open_suites(options):
        cases = each_value_once(suite.cases()) if options.profile == "quick" else suite.cases()
        for case, data_sets in select_cases(cases, Selection.parse(options.select)):
            if options.json:
                sys.stdout.buffer.write(msgspec.json.encode(case) + b"\n")
                continue
            labels = case.labels
            groups = list(dict.fromkeys(case.data_sets[n].group for n in data_sets))
            version = f"{labels.op}-{labels.since}" if labels.op else "several nodes"
            kinds = " ".join(f"{k}={v}" for k, v in (labels.types | labels.attributes).items() if v != "omitted")
            rows.append([suite.name, case.name, version, kinds[:60], str(len(data_sets)), ", ".join(groups)])
    if rows:
        print(tabulate(rows, ["suite", "case", "operator", "types and attributes", "data sets", "groups"]))
    return AS_EXPECTED


def show(options: argparse.Namespace) -> int:
    """Print a case."""
    from harness.suite.show import show as shown

    folder, case = find_case(options)
    sys.stdout.write(shown(folder, case, bounds=options.bounds))
    return AS_EXPECTED


def coverage(options: argparse.Namespace) -> int:
    """Print what suites cover."""
    import msgspec

    from harness.suite.coverage import coverage as covered
    from harness.suite.coverage import render
    from harness.suite.select import Selection, select_cases

    for suite in open_suites(options):
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
