"""A run: one backend over one suite, from the manifest to a finished results file."""

from __future__ import annotations

import datetime as dt
import itertools
import os
import platform
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import msgspec

from harness.backend.interface import Description
from harness.errors import ConformanceError, UsageError
from harness.judging.judge import judge
from harness.judging.outcome import Outcome, Task
from harness.results.expectations import Expectation, Expectations, read_expectations, write_expectations
from harness.results.lines import FORMAT, Footer, Header, Line, Result, Run
from harness.results.proposals import propose_expectations
from harness.results.recording import RESULTS, Recorder, read_run
from harness.running.interruption import Interruption
from harness.running.pool import Limits, Pool
from harness.running.progress import Display
from harness.running.saved_outputs import SavedOutputs
from harness.running.transport import differs_in_bits_alone, probe_transport
from harness.spec.element_types import Bits
from harness.suite.cases import Case
from harness.suite.fingerprint import is_complete
from harness.suite.manifest import Suite
from harness.suite.quick import each_value_once
from harness.suite.select import NothingSelected, Selection, select_cases


class Options(msgspec.Struct, frozen=True):
    """The options of a run."""

    selection: Selection = Selection()
    quick: bool = False
    """Run only the quick profile (``harness.suite.quick``); ``selection`` then applies to its cases."""
    shard: tuple[int, int] = (1, 1)
    """Which shard and how many, from 1: ``(2, 4)`` runs every fourth of the selected cases, from the second on."""
    limits: Limits = Limits()
    workers: int = 1

    def recorded_options(self) -> dict[str, str]:
        """The options that can change results, as the header records them; the number of workers cannot."""
        return {
            "select": str(self.selection),
            "profile": "quick" if self.quick else "standard",
            "shard": "/".join(map(str, self.shard)),
            "limit": f"{self.limits.seconds:g} s",
            "memory": f"{self.limits.memory / (1 << 30):g} GiB" if self.limits.memory else "any",
        }


class NothingRun(ConformanceError):
    """A run in which no data set was executed."""


class OtherRun(UsageError):
    """Results that cannot be resumed because they belong to another run."""

    advice = "Run without --resume to start again, or choose another folder with --name or --reports."


class NoExpectationsFile(UsageError):
    """``--write-expected`` for a backend that has no expectations file of its own."""

    def __init__(self, backend: str) -> None:
        command = f"onnx-conformance run --backend {shlex.quote(backend)} --expected known.toml --write-expected"
        super().__init__(
            f"The backend {backend!r} has no expectations file of its own, so --write-expected needs --expected FILE.",
            f"For example: {command}",
        )


def describe(backend: str, limits: Limits) -> Description:
    """What a backend says it is; this starts and stops a worker. Raises UsageError or StartFailed."""
    with Pool(backend, 1, limits) as pool:
        return pool.wait_until_ready()


def run(
    suite: Suite,
    backend: str,
    options: Options,
    folder: Path | Callable[[Description], Path],
    *,
    expectations: Path | None = None,
    resume: bool = False,
    write_expected: bool = False,
    quiet: bool = False,
) -> Run:
    """Run a backend over the selected cases of a suite, write ``<folder>/results.jsonl`` and return what it holds.

    ``folder`` may be a function of the backend's description. With ``resume``, data sets that already have a result
    are not run again. With ``write_expected``, the file ``expectations`` is rewritten so that it describes this run.

    Raises UsageError for what cannot be run, Interrupted, NothingRun, and ConformanceError if the harness fails.
    """
    began = time.monotonic()
    entries = read_expectations(expectations)
    expected = Expectations(entries, suite.name)
    survey = _Survey()
    counts: Counter[str] = Counter()
    display = Display(f"{backend} over {suite.name}", counts, quiet=quiet)
    with Interruption() as interruption:

        def tick() -> None:
            display.show()
            interruption.check(counts.total(), survey.data_sets)

        with Pool(backend, options.workers, options.limits, tick) as pool:
            pool.start_workers()
            survey.look_at(suite, options, expected)  # while the workers load the backend
            if expected.unmatched and not is_complete(suite.path):
                expected.skip_unmatched()
            display.total = survey.data_sets
            description = pool.wait_until_ready()
            if write_expected and expectations is None:
                raise NoExpectationsFile(backend)
            display.title = f"{description.name or backend} over {suite.name}"
            folder = folder(description) if callable(folder) else folder
            header = _header(suite, backend, options, survey, description)
            with Recorder(folder / RESULTS) as recorder, display:
                done = _resume(recorder, header, expected, counts) if resume else set[Key]()
                if not done:
                    recorder.clear()
                    recorder.write(header)
                saved = SavedOutputs(folder, fresh=not done)
                transport: dict[str, Bits] = {}
                for outcome, judged in _judged(pool, _tasks(suite, options, done), transport):
                    result = expected.annotate(judged)
                    recorder.write(result)
                    counts[result.verdict] += 1
                    if result.verdict != "passed":
                        saved.save(outcome)
                recorder.write(_footer(counts, expected, time.monotonic() - began, transport))
    finished = read_run(folder / RESULTS)
    if set(counts) == {"not_run"}:
        raise NothingRun(f"The run of {backend} over {suite.name} executed nothing: {finished.results[0].message}")
    if write_expected and expectations:
        _rewrite(expectations, backend, entries, expected, finished)
    return finished


def _judged(pool: Pool, tasks: Iterable[Task], transport: dict[str, Bits]) -> Iterator[tuple[Outcome, Result]]:
    """Each outcome with its result. Those that fail by bits alone come last, when ``transport`` has been filled."""
    differing: list[Outcome] = []
    for outcome in pool.run(tasks):
        result = judge(outcome)
        if differs_in_bits_alone(outcome, result):
            differing.append(outcome)
        else:
            yield outcome, result
    transport |= probe_transport(pool, differing)
    for outcome in differing:
        yield outcome, judge(outcome, transport)


Key = tuple[str, int]
"""Case and data set."""


class _Survey(msgspec.Struct):
    """The number of cases and data sets in a run."""

    suite_data_sets: int = 0
    cases: int = 0
    data_sets: int = 0

    def look_at(self, suite: Suite, options: Options, expected: Expectations) -> None:
        """Read the whole manifest once and count, for the header. Raises NothingSelected."""

        def every_case() -> Iterator[Case]:
            for case in suite.cases():
                self.suite_data_sets += len(case.data_sets)
                expected.add_case(case)
                yield case

        for _, data_sets in _chosen(every_case(), options):
            self.cases += 1
            self.data_sets += len(data_sets)
        if not self.cases and options.shard == (1, 1):
            raise NothingSelected(f"The quick profile has no case of {suite.path}.", "Run it with --profile standard.")
        if not self.cases:
            shard = options.recorded_options()["shard"]
            raise NothingSelected(f"Shard {shard} of the selection is empty.", "Use fewer shards.")


def _chosen(cases: Iterator[Case], options: Options) -> Iterator[tuple[Case, tuple[int, ...]]]:
    """The cases and data sets in the profile, the selection and the shard."""
    which, of = options.shard
    if options.quick:
        cases = each_value_once(cases)
    if options.selection.terms:
        chosen = select_cases(cases, options.selection)
    else:  # the usual case, which does not need the labels of each data set
        chosen = ((case, tuple(range(len(case.data_sets)))) for case in cases)
    return itertools.islice(chosen, which - 1, None, of)


def _tasks(suite: Suite, options: Options, done: set[Key]) -> Iterator[Task]:
    """The tasks that are left to run, read lazily so that only a few cases are in memory."""
    root = str(suite.path.absolute())
    for case, chosen in _chosen(suite.cases(), options):
        data_sets = tuple([n for n in chosen if (case.name, n) not in done]) if done else chosen
        if data_sets:
            yield Task.of_suite(root, case, data_sets)


def _resume(recorder: Recorder, header: Header, expected: Expectations, counts: Counter[str]) -> set[Key]:
    """Count the results of the earlier run, leave only them in its file, and return their keys. Raises OtherRun."""
    done: set[Key] = set()

    def keep(line: Line) -> Line | None:
        if isinstance(line, Header):
            _require_same(line, header, recorder.path)
            return line
        if isinstance(line, Footer) or line.verdict == "not_run" or (line.case, line.data_set) in done:
            return None
        line = expected.annotate(line)
        done.add((line.case, line.data_set))
        counts[line.verdict] += 1
        return line

    recorder.rewrite(keep)
    return done


def _require_same(old: Header, new: Header, path: Path) -> None:
    for name in ("digest", "backend", "description", "options"):
        was, now = msgspec.to_builtins(getattr(old, name)), msgspec.to_builtins(getattr(new, name))
        if was != now:
            raise OtherRun(
                f"{path} cannot be resumed because it belongs to another run: "
                f"{name} {_difference(was, now)}, now {_difference(now, was)}."
            )


def _difference(value: Any, other: Any) -> str:
    """The value, or those of its fields that the other value does not have."""
    if not isinstance(value, dict):
        return str(value)
    fields = cast("dict[str, object]", value)
    return " ".join(f"{key}={field!r}" for key, field in fields.items() if key not in other or other[key] != field)


def _header(suite: Suite, backend: str, options: Options, survey: _Survey, description: Description) -> Header:
    return Header(
        format=FORMAT,
        suite=suite.name,
        digest=suite.digest,
        suite_data_sets=survey.suite_data_sets,
        cases=survey.cases,
        data_sets=survey.data_sets,
        backend=backend,
        description=description,
        versions={name: _version(name) for name in ("onnx-conformance", "onnx", "numpy", "ml_dtypes")}
        | {"python": platform.python_version()},
        machine={"system": platform.system(), "machine": platform.machine(), "processors": str(os.cpu_count() or 0)},
        options=options.recorded_options(),
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _footer(counts: Counter[str], expected: Expectations, seconds: float, transport: dict[str, Bits]) -> Footer:
    return Footer(
        counts=dict(sorted(counts.items())),
        unexpected=expected.unexpected,
        stale=expected.stale(),
        seconds=seconds,
        transport=transport,
        skipped_expectations=expected.skipped,
    )


def _rewrite(path: Path, backend: str, entries: Iterable[Expectation], expected: Expectations, finished: Run) -> None:
    """Write the expectations that are not stale, and new ones for the failures that they do not cover."""
    valid = [entry for entry in entries if not expected.is_stale(entry)]
    covered = Expectations(valid, finished.headers[0].suite)
    annotated = [covered.annotate(result) for result in finished.results]
    write_expectations(path, backend, [*valid, *propose_expectations(annotated, finished.headers[0].suite)])
