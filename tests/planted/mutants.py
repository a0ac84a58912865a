"""``make mutants``: faults planted in every oracle, one at a time; what no scored data set notices is a survivor.

A mutant is one change of a line that an oracle executes. It is tried on the data sets of an operator version that reach
the function, those first that have noticed most, in a fork of this process. Survivors are listed, with a reason, in
``tests/mutants.toml``; the exit status is 1 if one is not listed, or if a listed one is noticed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import msgspec
from changes import Mutant, Swap, compiled, mutants
from data import Trial, trials

import harness.operators
from harness.oracles.operator import Operator, operators
from harness.spec.schema import newest
from harness.suite.cases import Case, Labels
from harness.suite.manifest import Suite, open_suite
from harness.suite.select import Selection

OPERATORS = Path(harness.operators.__file__).parent
LISTED = Path(__file__).parent.parent / "mutants.toml"
_MOST_TRIALS = 400
"""Data sets on which a mutant is tried; the first are those that notice most."""
_SECONDS = 20
"""For all trials of a mutant: what hangs is noticed."""


class Found(msgspec.Struct, frozen=True):
    """What came of the mutants of one operator version."""

    title: str
    newest: bool
    total: int
    survivors: tuple[Mutant, ...]
    seconds: float


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of ``tests/mutants.toml``."""

    file: str
    function: str
    change: str
    reason: str
    versions: tuple[str, ...] = ()
    """``Pad-2``; all that the function serves if empty."""


def examine(suite: Suite, operator: Operator, number: int, cases: Sequence[Case]) -> Found:
    """Plants every mutant in one version's oracle."""
    began = time.monotonic()
    version = operator.schemas[number]
    every = list(trials(suite, version, cases))
    reached = _reached(every)
    swap = Swap(OPERATORS)
    kills: Counter[str] = Counter()
    total = 0
    survivors: list[Mutant] = []
    for path, lines in sorted(reached.items()):
        original = compiled(path)
        for mutant, tree in mutants(path, path.relative_to(OPERATORS).as_posix()):
            meeting = lines.get(mutant.line)
            if not meeting:
                continue
            total += 1
            chosen = sorted(meeting, key=lambda t: -kills[t.title])[:_MOST_TRIALS]
            killer = _tried(swap, original, compiled(path, tree), chosen)
            if killer:
                kills[killer] += 1
            else:
                survivors.append(mutant)
    return Found(version.title, version.since == newest(version), total, tuple(survivors), time.monotonic() - began)


def _reached(every: Sequence[Trial]) -> dict[Path, dict[int, list[Trial]]]:
    """Lines of the operators' files → the trials that execute them."""
    found: dict[Path, dict[int, list[Trial]]] = defaultdict(lambda: defaultdict(list))
    root = str(OPERATORS)
    for trial in every:
        lines: set[tuple[str, int]] = set()

        def trace(frame: Any, event: str, _: Any, lines: set[tuple[str, int]] = lines) -> Any:
            if not frame.f_code.co_filename.startswith(root):
                return None
            if event in ("call", "line"):
                lines.add((frame.f_code.co_filename, frame.f_lineno))
            return trace

        sys.settrace(trace)
        try:
            wrong = trial.is_noticed()
        finally:
            sys.settrace(None)
        if wrong:
            sys.exit(f"{trial.title} is wrong without a fault: the suite and the oracles do not fit together.")
        for file, line in lines:
            found[Path(file)][line].append(trial)
    return found


def _tried(swap: Swap, old: Any, new: Any, chosen: Sequence[Trial]) -> str:
    """The title of the first trial that notices; empty if none does. In a fork, so that nothing of it stays."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            signal.alarm(_SECONDS)
            swap.put(old, new)
            killer = next((trial.title for trial in chosen if trial.is_noticed()), "")
            os.write(writing, killer.encode() or b"-")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(child, 0)
    return "" if told == "-" else told or chosen[0].title


def _examined(path: str, index: int, number: int) -> Found:
    suite = open_suite(Path(path))
    operator = operators()[index]
    version = operator.schemas[number]
    key = (version.domain, version.op, version.since)
    cases = [c for c in _cases(suite) if (c.labels.domain, c.labels.op, c.labels.since) == key]
    return examine(suite, operator, number, cases)


_KEPT: dict[str, list[Case]] = {}


def _cases(suite: Suite) -> list[Case]:
    if suite.digest not in _KEPT:
        _KEPT[suite.digest] = list(suite.cases())
    return _KEPT[suite.digest]


def listed() -> list[Survivor]:
    """The survivors that have a reason."""
    if not LISTED.is_file():
        return []
    return msgspec.convert(tomllib.loads(LISTED.read_text(encoding="utf-8")).get("survivor", []), list[Survivor])


def _report(found: Sequence[Found], whole: bool) -> Iterator[str]:
    """What is unlisted, what is listed and noticed, and the rates."""
    known = listed()
    by_key: dict[tuple[str, str, str], list[Survivor]] = defaultdict(list)
    for one in known:
        by_key[one.file, one.function, one.change].append(one)
    met: set[int] = set()
    for of in found:
        for mutant in of.survivors:
            excused = [s for s in by_key[mutant.key] if not s.versions or of.title in s.versions]
            met |= {id(s) for s in excused}
            if not excused:
                yield f"survives  {of.title:<28} {mutant.file}:{mutant.line} {mutant.function}: {mutant.change}"
    titles = {of.title for of in found}
    for one in known:
        if id(one) not in met and (whole or set(one.versions) & titles):
            yield f"noticed   {one.file} {one.function}: {one.change} (listed as: {one.reason})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=Path, default=Path("testdata/matrix"), help="default: testdata/matrix")
    parser.add_argument("--select", nargs="*", default=[], metavar="TERM", help="op=Pad since=2, category=nn …")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    selection = Selection.parse(" ".join(options.select))
    units = [
        (i, n)
        for i, operator in enumerate(operators())
        for n, v in enumerate(operator.schemas)
        if selection.matches("", Labels(v.op, v.domain, v.since, v.category))
    ]
    began = time.monotonic()
    found: list[Found] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for future in as_completed([pool.submit(_examined, str(options.suite), *unit) for unit in units]):
            found.append(future.result())
            if sys.stderr.isatty():
                print(f"\r\033[K{len(found)} of {len(units)} versions: {found[-1].title}", end="", file=sys.stderr)
    found.sort(key=lambda of: of.title)
    lines = list(_report(found, whole=not options.select))
    print(*lines, sep="\n")
    for title, group in (
        ("newest versions", [f for f in found if f.newest]),
        ("older versions", [f for f in found if not f.newest]),
    ):
        total, left = sum(f.total for f in group), sum(len(f.survivors) for f in group)
        if total:
            rate = (total - left) / total
            print(f"{title}: {total - left:,} of {total:,} mutants noticed ({rate:.2%}), {left:,} survive")
    print(f"{len(lines):,} lines above; {time.monotonic() - began:.0f} s")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
