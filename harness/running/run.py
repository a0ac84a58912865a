"""A run: one backend over one suite, from the manifest to a finished results file."""

from __future__ import annotations

import datetime as dt
import itertools
import os
import platform
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import msgspec

from harness.backend.interface import Description
from harness.errors import ConformanceError, UsageError
from harness.judging.judge import judge
from harness.judging.outcome import Outcome, Task
from harness.results.expectations import Expectation, Expectations, read_expectations, write_expectations
from harness.results.lines import FORMAT, Footer, Header, Line, Result, Run
from harness.results.proposals import propose_expectations
from harness.results.recording import RESULTS, Recorder, read_run
from harness.running.pool import Limits, Pool
from harness.running.progress import Display
from harness.running.saved_outputs import SavedOutputs
from harness.running.transport import differs_in_bits_alone, probe_transport
from harness.spec.element_types import Bits
from harness.suite.cases import Case
from harness.suite.manifest import Suite
from harness.suite.quick import each_value_once
from harness.suite.select import NothingSelected, Selection, select_cases


class Options(msgspec.Struct, frozen=True):
    """What a person may choose about a run."""

    selection: Selection = Selection()
    quick: bool = False
    """Of the newest versions each value once (``harness.suite.quick``), of which the selection is taken."""
    shard: tuple[int, int] = (1, 1)
    """Which of how many, from 1: ``(2, 4)`` runs every fourth of the selected cases, from the second on."""
    limits: Limits = Limits()
    workers: int = 1

    def told(self) -> dict[str, str]:
        """What changes results; the number of workers does not."""
        return {
            "select": str(self.selection),
            "profile": "quick" if self.quick else "standard",
            "shard": "/".join(map(str, self.shard)),
            "limit": f"{self.limits.seconds:g} s",
            "memory": f"{self.limits.memory / (1 << 30):g} GiB" if self.limits.memory else "any",
        }


class Interrupted(ConformanceError):
    """A run that a person or a signal stopped; what it had done is kept."""

    advice = "Every result so far is kept: the same command with --resume goes on from there."


class NothingRun(ConformanceError):
    """A run that executed nothing, which is never a success."""


class OtherRun(UsageError):
    """Results that cannot be resumed, for they are those of another run."""

    advice = "Run without --resume, which begins anew, or choose another folder."


def folder_name(backend: str) -> str:
    """The folder of a backend's results: its name, or as much of what it was asked for by as a file name may hold."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", backend).strip("-.")
    return name[:100] or "backend"


def run(
    suite: Suite,
    backend: str,
    options: Options,
    folder: Path,
    *,
    expectations: Path | None = None,
    resume: bool = False,
    write_expected: bool = False,
    quiet: bool = False,
) -> Run:
    """Run a backend over what is selected of a suite and write ``<folder>/results.jsonl``; what was written comes back.

    ``folder`` is usually ``reports/<suite>/<folder_name(backend)>``. With ``resume`` what is there already is not run
    again. With ``write_expected`` the expectations are rewritten so that this run is as expected.

    Raises UsageError for what cannot be run, Interrupted, NothingRun, and ConformanceError where the harness fails.
    """
    if write_expected and expectations is None:
        raise UsageError(f"There is no place for the expectations of {backend}.", "Name a file for them.")
    began = time.monotonic()
    entries = read_expectations(expectations)
    book = Expectations(entries, suite.name)
    survey = _Survey()
    counts: Counter[str] = Counter()
    display = Display(f"{backend} over {suite.name}", counts, quiet=quiet)
    with _Interruption() as interruption:

        def tick() -> None:
            display.show()
            interruption.check(counts.total(), survey.data_sets)

        with Pool(backend, options.workers, options.limits, tick) as pool:
            pool.start_workers()
            survey.look_at(suite, options, book)  # while the workers load the backend
            display.total = survey.data_sets
            header = _header(suite, backend, options, survey, pool.wait_until_ready())
            with Recorder(folder / RESULTS) as recorder, display:
                done = _resume(recorder, header, book, counts) if resume else set[Key]()
                if not done:
                    recorder.clear()
                    recorder.write(header)
                saved = SavedOutputs(folder, fresh=not done)
                transport: dict[str, Bits] = {}
                for outcome, judged in _judged(pool, _tasks(suite, options, done), transport):
                    result = book.annotate(judged)
                    recorder.write(result)
                    counts[result.verdict] += 1
                    if result.verdict != "passed":
                        saved.save(outcome)
                footer = Footer(
                    dict(sorted(counts.items())), book.unexpected, book.stale(), time.monotonic() - began, transport
                )
                recorder.write(footer)
    finished = read_run(folder / RESULTS)
    if set(counts) == {"not_run"}:
        raise NothingRun(f"The run of {backend} over {suite.name} executed nothing: {finished.results[0].message}")
    if write_expected and expectations:
        _rewrite(expectations, backend, entries, book, finished)
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
    """What a run will cover."""

    suite_data_sets: int = 0
    cases: int = 0
    data_sets: int = 0

    def look_at(self, suite: Suite, options: Options, book: Expectations) -> None:
        """Go through the whole manifest once, so that totals stand in the header. Raises NothingSelected."""

        def every_case() -> Iterator[Case]:
            for case in suite.cases():
                self.suite_data_sets += len(case.data_sets)
                book.add_case(case)
                yield case

        for _, data_sets in _chosen(every_case(), options):
            self.cases += 1
            self.data_sets += len(data_sets)
        if not self.cases:
            raise NothingSelected(f"Shard {options.told()['shard']} of the selection is empty.", "Take fewer shards.")


def _chosen(cases: Iterator[Case], options: Options) -> Iterator[tuple[Case, tuple[int, ...]]]:
    """The cases and data sets that the selection and the shard leave."""
    which, of = options.shard
    if options.quick:
        cases = each_value_once(cases)
    if options.selection.terms:
        chosen = select_cases(cases, options.selection)
    else:  # as nearly always, and the labels of each data set need not be made
        chosen = ((case, tuple(range(len(case.data_sets)))) for case in cases)
    return itertools.islice(chosen, which - 1, None, of)


def _tasks(suite: Suite, options: Options, done: set[Key]) -> Iterator[Task]:
    """What is left to run, read as it is asked for: however many cases there are, few are in memory."""
    root = str(suite.path.absolute())
    for case, chosen in _chosen(suite.cases(), options):
        data_sets = tuple([n for n in chosen if (case.name, n) not in done]) if done else chosen
        if data_sets:
            yield Task.of_suite(root, case, data_sets)


def _resume(recorder: Recorder, header: Header, book: Expectations, counts: Counter[str]) -> set[Key]:
    """What an earlier run has done, counted; its file is left with that and ready for more. Raises OtherRun."""
    done: set[Key] = set()

    def keep(line: Line) -> Line | None:
        if isinstance(line, Header):
            _require_same(line, header, recorder.path)
            return line
        if isinstance(line, Footer) or line.verdict == "not_run" or (line.case, line.data_set) in done:
            return None
        line = book.annotate(line)
        done.add((line.case, line.data_set))
        counts[line.verdict] += 1
        return line

    recorder.rewrite(keep)
    return done


def _require_same(old: Header, new: Header, path: Path) -> None:
    for name in ("digest", "backend", "description", "options"):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            raise OtherRun(f"{path} cannot be resumed, it is another run's: {name} {_plain(was)}, now {_plain(now)}.")


def _plain(value: object) -> str:
    told = msgspec.to_builtins(value)
    return " ".join(f"{key}={item!r}" for key, item in told.items()) if isinstance(told, dict) else str(told)


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
        options=options.told(),
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _rewrite(path: Path, backend: str, entries: Iterable[Expectation], book: Expectations, finished: Run) -> None:
    kept = [entry for entry in entries if not book.is_stale(entry)]
    fresh = Expectations(kept, finished.headers[0].suite)
    unexplained = [fresh.annotate(result) for result in finished.results]
    write_expectations(path, backend, [*kept, *propose_expectations(unexplained, finished.headers[0].suite)])


class _Interruption:
    """While it lasts, Ctrl-C and the like stop the run where nothing is half done; a second one stops it at once."""

    def __init__(self) -> None:
        self._signal = 0
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            heeded = [n for n in _STOPPING if signal.getsignal(n) is not signal.SIG_IGN]  # nohup's hangup is not
            self._former = {number: signal.signal(number, self._note) for number in heeded}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self._signal:
            raise KeyboardInterrupt
        self._signal = number

    def check(self, done: int, total: int) -> None:
        """Raise Interrupted where a signal has come."""
        if self._signal:
            name = signal.Signals(self._signal).name
            raise Interrupted(f"Stopped by {name} after {done} of {total} data sets.")


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
