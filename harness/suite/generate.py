"""Generation: the matrix and the exhaustive suite from the operators' files, one process a version of an operator."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path

import msgspec

from harness.oracles.operator import Operator, operators
from harness.spec.schema import Schema, newest
from harness.suite.build import build_plan, build_rows
from harness.suite.cache import CaseCache, operator_hash
from harness.suite.cases import Built, Case, Labels
from harness.suite.directories import publish, write_case, writing
from harness.suite.fingerprint import fingerprint, request_text
from harness.suite.manifest import Suite, open_suite
from harness.suite.planning import Plan, plan, plan_sweeps
from harness.suite.select import NothingSelected, Selection
from harness.suite.strength import Planning

EVERYTHING = Selection()
CACHE = "exhaustive.cache"
"""The folder beside the exhaustive suite in which its cases stay from one generation to the next."""


class GeneratedVersion(msgspec.Struct, frozen=True):
    """What one version of an operator came to."""

    title: str
    """``CumProd-26``."""
    rows: int
    possible: int
    """Rows of the full product of types, attributes and input groups."""
    written: int
    """Cases whose files were new or had changed."""
    cases: tuple[Case, ...]


def generate(
    path: Path,
    planning: Planning = "pairs",
    jobs: int = 1,
    progress: Callable[[int, int, GeneratedVersion], None] | None = None,
    selection: Selection = EVERYTHING,
) -> tuple[Suite, tuple[GeneratedVersion, ...]]:
    """Writes the matrix suite into a folder, or the exhaustive one for ``sweeps``, and opens it.

    It touches only what changed, and keeps what the sweeps gave beside the exhaustive suite.
    The bytes depend on the operators' files, ``planning`` and ``selection`` (of operators, versions and categories)
    alone, not on ``jobs``, the machine or what was there. ``progress`` is called with versions done, versions in all
    and the newest one. Raises NothingSelected, NotASuite, SuiteBusy, WriteFailed and the errors of the operators'
    files; the suite then says that it is incomplete.
    """
    units = [
        (i, number)
        for i, operator in enumerate(operators())
        for number, version in enumerate(operator.schemas)
        if selection.matches("", Labels(version.op, version.domain, version.since, version.category))
        and (planning != "sweeps" or (operator.sweeps and version.since == newest(version)))
    ]
    if not units:
        raise NothingSelected(
            f"No operator with {'a sweep' if planning == 'sweeps' else 'an oracle'} is {selection}.",
            "Select by op, domain, since and category.",
        )
    done: list[GeneratedVersion] = []
    made = fingerprint(request_text(planning, selection))
    with writing(path):
        for planned in _results(path, planning, jobs, units):
            done.append(planned)
            if progress:
                progress(len(done), len(units), planned)
        publish(path, (case for planned in done for case in planned.cases), made)
    return open_suite(path), tuple(sorted(done, key=lambda p: p.title))


def _results(path: Path, planning: Planning, jobs: int, units: Iterable[tuple[int, int]]) -> Iterator[GeneratedVersion]:
    if jobs == 1:
        yield from (_write_version(path, planning, *unit) for unit in units)
        return
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, context, initializer=_follow_parent) as pool:
        futures = [pool.submit(_write_version, path, planning, *unit) for unit in units]
        try:
            yield from (future.result() for future in as_completed(futures))
        except BaseException:
            # The suite is incomplete anyway, so nobody need wait for the operators that are under way.
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _follow_parent() -> None:
    """Leaves Ctrl-C to the parent, and ends when the parent does, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel
        threading.Thread(target=lambda: (wait([sentinel]), os._exit(1)), daemon=True).start()


def _write_version(path: Path, planning: Planning, index: int, number: int) -> GeneratedVersion:
    operator: Operator = operators()[index]
    version: Schema = operator.schemas[number]
    if planning == "sweeps":
        planned = plan_sweeps(operator, version)
        every = _swept(operator, version, planned, CaseCache(path.with_name(CACHE)))
    else:
        # An older version is there for its own sake: each value once; the newest carries the combinations.
        planned = plan(operator, version, planning if version.since == newest(version) else "each")
        every = build_plan(operator, version, planned)
    cases: list[Case] = []
    written = 0
    for built in every:
        written += write_case(path, built)
        cases.append(built.case)
    return GeneratedVersion(version.title, len(planned.rows), planned.possible, written, tuple(cases))


def _swept(operator: Operator, version: Schema, planned: Plan, kept: CaseCache) -> Iterator[Built]:
    """The cases of an operator's sweeps, made anew where its oracle is no longer that of those kept."""
    oracle = operator_hash(operator)
    for row in planned.rows:
        name = f"{version.title} {row.types} {row.attributes} {row.group.name}"
        yield from kept.get(name, oracle, partial(build_rows, operator, version, [row]))
