"""The pytest collectors and items of a suite: its folder, its manifest, and a test per backend and data set."""

from __future__ import annotations

import contextlib
import gc
import os
import shlex
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.errors import ConformanceError
from harness.judging.judge import judge
from harness.judging.outcome import Task
from harness.pytest_plugin.worker import PersistentWorker
from harness.reports.text import node_text, printable, printable_lines, repro_command, verdict_text
from harness.results.expectations import Expectation, Expectations
from harness.results.lines import Result
from harness.suite.cases import Case, Labels
from harness.suite.manifest import MANIFEST, BrokenManifest, Suite
from harness.suite.select import NothingSelected, Selection, select_cases

_CASES_AHEAD = 2
"""The number of cases that are submitted to the backend ahead of the current test."""
_SKIP_MARKERS = frozenset(("skip", "skipif", "xfail"))
"""Tests with one of these markers are not run ahead of their turn, because they may not run at all."""


class NotPassed(Exception):
    """A failed test. Its message is shown without a traceback."""


class TestedBackend(msgspec.Struct, frozen=True, eq=False):
    """A backend under test."""

    spec: str
    name: str
    """The name in node ids and keywords."""
    expectations: tuple[Expectation, ...]
    """The known failures."""
    worker: PersistentWorker


class SuiteFolder(pytest.Directory):
    """The folder of a suite. Only the manifest in it is collected."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Collects the manifest."""
        return self.ihook.pytest_collect_file(file_path=self.path / MANIFEST, parent=self)


class SuiteFile(pytest.File):
    """A manifest. Tests are ordered by backend, then as in the manifest."""

    def __init__(self, *, suite: Suite, selection: Selection, backends: Sequence[TestedBackend], **rest: Any) -> None:
        super().__init__(**rest)
        self.suite = suite
        self._selection = selection
        self._backends = backends

    def collect(self) -> Iterable[pytest.Item]:
        """Collects a test for each backend and data set. Raises CollectError if the manifest is broken."""
        try:
            with _gc_disabled():
                return list(self._tests())
        except BrokenManifest as error:
            raise self.CollectError(error_text(error)) from error

    def _tests(self) -> Iterator[DataSetTest]:
        chosen = list(self._chosen())
        for backend in self._backends:
            expectations = Expectations(backend.expectations, self.suite.name)
            for case, data_sets in chosen:
                context = _CaseContext(self.suite, backend, expectations, case)
                for number in data_sets:
                    name = f"{case.name}[{backend.name}-{number}]"
                    # With an explicit node id pytest treats the brackets as parameters, and --lf finds the test.
                    node_id = f"{self.nodeid}::{name}"
                    yield DataSetTest.from_parent(self, name=name, nodeid=node_id, context=context, data_set=number)

    def _chosen(self) -> Iterator[tuple[Case, tuple[int, ...]]]:
        if not self._selection.terms:
            yield from ((case, tuple(range(len(case.data_sets)))) for case in self.suite.cases())
            return
        with contextlib.suppress(NothingSelected):  # another suite has matches
            yield from select_cases(self.suite.cases(), self._selection)


class _CaseContext:
    """The data that all tests of a case on one backend share."""

    def __init__(self, suite: Suite, backend: TestedBackend, expectations: Expectations, case: Case) -> None:
        self.suite = suite
        self.backend = backend
        self.expectations = expectations
        self.case = case
        self._markers: dict[str, pytest.MarkDecorator] = {}

    def marker(self, group: str) -> pytest.MarkDecorator:
        """The marker with the labels of a data set of this input group.

        If names collide, fixed labels take precedence over type variables, and those over attributes, as in selections.
        """
        if group not in self._markers:
            labels = self.case.labels
            labels_by_name: dict[str, Any] = {
                **labels.attributes,
                **labels.types,
                "suite": self.suite.name,
                "backend": self.backend.name,
                "op": labels.op,
                "domain": labels.domain or "ai.onnx",
                "since": labels.since,
                "category": labels.category,
                "group": group,
            }
            labels_by_name.pop("self", None)  # not possible as a keyword argument of a method
            self._markers[group] = pytest.mark.onnx(**labels_by_name)
        return self._markers[group]


class DataSetTest(pytest.Item):
    """A test: one data set on one backend."""

    def __init__(self, *, context: _CaseContext, data_set: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.context = context
        self.data_set = data_set
        self.next_test: DataSetTest | None = None
        """The test that runs directly after this one, if known."""
        self.data_sets: tuple[int, ...] = (data_set,)
        """Its data set and those of the same case that run directly after it. They share one prepared model."""
        self.next_batch: DataSetTest | None = None
        """The test directly after those."""
        self.may_prefetch = True
        self.seconds = 0.0
        """The time the backend took. 0 until the test has run."""
        labels = context.case.labels
        group = context.case.data_sets[data_set].group
        self.add_marker(context.marker(group))
        self.extra_keyword_matches.update((context.backend.name, labels.op, labels.category, group))
        self.extra_keyword_matches.update(labels.types.values())

    def reportinfo(self) -> tuple[Path, int, str]:
        """The location: the manifest and the name of the test."""
        return self.path, 0, self.name

    def link(self, following: DataSetTest | None) -> None:
        """Sets the test that runs directly after this one. Call it from the last test to the first."""
        self.may_prefetch = _SKIP_MARKERS.isdisjoint(mark.name for mark in self.iter_markers())
        self.next_test = self.next_batch = following
        if (
            following
            and following.may_prefetch
            and self.context is following.context
            and self.data_set < following.data_set
        ):
            self.data_sets = (self.data_set, *following.data_sets)
            self.next_batch = following.next_batch

    def prefetch(self) -> None:
        """Submits the test to the backend ahead of its turn, unless it may be skipped."""
        if self.may_prefetch:
            self.context.backend.worker.prefetch(self._task())

    def prefetch_following(self) -> None:
        """Submits the cases after its own, so that the backend does not have to wait for pytest."""
        test = self.next_batch
        for _ in range(_CASES_AHEAD):
            if test:
                test.prefetch()
                test = test.next_batch

    def runtest(self) -> None:
        """Runs the data set and judges the output. A failure of the harness itself stops the session."""
        try:
            outcome = self.context.backend.worker.outcome(self._task())
            result = judge(outcome)
        except ConformanceError as error:
            self.session.shouldstop = printable(str(error))
            raise NotPassed(error_text(error)) from error
        self.seconds = outcome.seconds + outcome.prepare_seconds
        self._report(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message of a failure. There is a traceback only for unexpected exceptions."""
        expected = isinstance(excinfo.value, NotPassed | pytest.xfail.Exception)
        return str(excinfo.value) if expected else super().repr_failure(excinfo, style)

    def _task(self) -> Task:
        context = self.context
        return Task.of_suite(str(context.suite.path), context.case, self.data_sets)

    def _report(self, result: Result) -> None:
        """Reports the verdict as passed, skipped, failed or xfailed."""
        text = printable(": ".join(filter(None, (verdict_text(result.verdict), result.message))))
        match result.verdict:
            case "passed":
                self._require_no_unexpected_pass(result)
            case "unspecified":
                pytest.skip(printable(f"unspecified: {self.context.case.data_sets[self.data_set].unspecified}"))
            case "unsupported" | "insensitive":
                pytest.skip(text)
            case "not_run" if result.known:
                pytest.skip(printable(result.known))
            case _:
                known = self.context.expectations.annotate(result).known
                if known:
                    pytest.xfail(printable(f"{verdict_text(result.verdict)}: {known}"))
                raise NotPassed("\n".join([text, *self._location(result.labels)]))

    def _require_no_unexpected_pass(self, result: Result) -> None:
        """Fails if a known failure passes: the expectation no longer holds."""
        contradicting = self.context.expectations.contradicting(result)
        if contradicting and not self.config.option.runxfail:
            expected = " or ".join(verdict_text(verdict) for verdict in contradicting.verdicts)
            lines = [
                f"[XPASS(strict)] expected {expected}: {contradicting.reason}",
                f"expectation: {contradicting.select}",
            ]
            raise NotPassed("\n".join([*map(printable, lines), *self._location(result.labels)]))

    def _location(self, labels: Labels) -> Iterator[str]:
        context = self.context
        yield printable(node_text(labels))
        command = repro_command(context.suite.name, context.case.name, context.backend.spec, self.data_set)
        testdata = os.path.relpath(context.suite.path.parent, self.config.invocation_params.dir)
        where = "" if testdata == "testdata" else f" --testdata {shlex.quote(testdata)}"
        yield printable(f"reproduce: {command}{where}")


@contextlib.contextmanager
def _gc_disabled() -> Generator[None]:
    """Disables garbage collection: it would repeatedly traverse all tests created so far and free nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def error_text(error: ConformanceError) -> str:
    """The message and the advice of an error, one line each."""
    return printable_lines(f"{error}\n  {error.advice}" if error.advice else str(error))
