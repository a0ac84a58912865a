"""The commands that write and show suites."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from harness.commands.shared import AS_EXPECTED, find_case, note, suites_asked_for
from harness.errors import UsageError


def generate(options: argparse.Namespace) -> int:
    """Writes the suites."""
    from harness.suite.fingerprint import fingerprint, is_up_to_date
    from harness.suite.generate import generate as generate_matrix
    from harness.suite.generate import request_text
    from harness.suite.manifest import open_suite
    from harness.suite.official import generate_official
    from harness.suite.select import Selection
    from harness.suite.strength import PROFILES

    if unknown := set(options.suite or ()) - set(PROFILES["exhaustive"]):
        raise UsageError(f"No suite is called {min(unknown)}.", f"There are {', '.join(PROFILES['exhaustive'])}.")
    for name in options.suite or PROFILES[options.profile]:
        path = options.testdata / name
        selection = Selection.parse(options.select)
        planning = "sweeps" if name == "exhaustive" else options.strength
        what = name if name == "official" else request_text(planning, selection)
        if not options.anew and is_up_to_date(path, fingerprint(what)):
            note(f"{path}: up to date, sha256 {open_suite(path).digest[:16]}…")
        elif name == "official":
            note("official: onnx computes its node tests, which takes about 10 seconds …")
            suite, touched = generate_official(path)
            note(f"{path}: {touched} cases written, sha256 {suite.digest[:16]}…")
        else:
            try:
                suite, planned = generate_matrix(path, planning, options.jobs, _told_progress, selection)
            finally:
                _told_end()
            cases, written = sum(len(p.cases) for p in planned), sum(p.written for p in planned)
            rows, possible = sum(p.rows for p in planned), sum(p.possible for p in planned)
            note(f"{path}: {cases} cases, {written} of them written, sha256 {suite.digest[:16]}…")
            note(
                f"{' ' * len(str(path))}  {rows} of {possible} combinations of types, attributes and input groups "
                f"planned{'' if planning == 'sweeps' else f' (--strength {planning})'}"
            )
    return AS_EXPECTED


def _told_progress(done: int, total: int, planned: Any) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{done} of {total} operator versions: {planned.title}")
        sys.stderr.flush()


def _told_end() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def list_cases(options: argparse.Namespace) -> int:
    """Lists cases and their labels."""
    import msgspec
    from tabulate import tabulate

    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection, select_cases

    rows: list[list[str]] = []
    for name in suites_asked_for(options):
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


def show(options: argparse.Namespace) -> int:
    """Prints a case."""
    from harness.suite.show import show as shown

    folder, case = find_case(options)
    sys.stdout.write(shown(folder, case, bounds=options.bounds))
    return AS_EXPECTED


def coverage(options: argparse.Namespace) -> int:
    """Tells what suites exercise."""
    import msgspec

    from harness.suite.coverage import coverage as covered
    from harness.suite.coverage import render
    from harness.suite.manifest import open_suite
    from harness.suite.select import Selection, select_cases

    for name in suites_asked_for(options):
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
