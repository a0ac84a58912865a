"""What pytest collects of a suite: its folder, its manifest, and a test for each backend and data set."""

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
from harness.reports.text import node, plain, plain_lines, reproduce, verdict_words
from harness.results.expectations import Expectation, Expectations
from harness.results.lines import Result
from harness.suite.cases import Case, Labels
from harness.suite.manifest import MANIFEST, BrokenManifest, Suite
from harness.suite.select import NothingSelected, Selection, select_cases

_AHEAD = 2
"""Cases that are worked on, or wait to be, while a test is reported."""
_HELD = frozenset(("skip", "skipif", "xfail"))
"""Markers of tests that may never be run."""


class NotPassed(Exception):
    """A test that fails; its text is all there is to say, and where our code raised it says nothing."""


class Subject(msgspec.Struct, frozen=True, eq=False):
    """A backend under test."""

    spec: str
    name: str
    """In node ids and keywords."""
    entries: tuple[Expectation, ...]
    """What it is known to fail."""
    worker: PersistentWorker


class SuiteFolder(pytest.Directory):
    """A suite's folder, of whose thousands of folders none is looked at."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The manifest alone."""
        return self.ihook.pytest_collect_file(file_path=self.path / MANIFEST, parent=self)


class SuiteFile(pytest.File):
    """A manifest: the tests of each backend in turn, in its order."""

    def __init__(self, *, suite: Suite, selection: Selection, subjects: Sequence[Subject], **rest: Any) -> None:
        super().__init__(**rest)
        self.suite = suite
        self._selection = selection
        self._subjects = subjects

    def collect(self) -> Iterable[pytest.Item]:
        """A test for each subject, case and data set. Raises CollectError where the manifest is broken."""
        try:
            with _garbage_kept():
                return list(self._tests())
        except BrokenManifest as error:
            raise self.CollectError(told(error)) from error

    def _tests(self) -> Iterator[DataSetTest]:
        chosen = list(self._chosen())
        for subject in self._subjects:
            book = Expectations(subject.entries, self.suite.name)
            for case, data_sets in chosen:
                facts = _Facts(self.suite, subject, book, case)
                for number in data_sets:
                    name = f"{case.name}[{subject.name}-{number}]"
                    # Of the name alone pytest would not know that its brackets are parameters, and --lf not the test.
                    node_id = f"{self.nodeid}::{name}"
                    yield DataSetTest.from_parent(self, name=name, nodeid=node_id, facts=facts, data_set=number)

    def _chosen(self) -> Iterator[tuple[Case, tuple[int, ...]]]:
        if not self._selection.terms:
            yield from ((case, tuple(range(len(case.data_sets)))) for case in self.suite.cases())
            return
        with contextlib.suppress(NothingSelected):  # another suite has something
            yield from select_cases(self.suite.cases(), self._selection)


class _Facts:
    """What the tests of a case on one backend share."""

    def __init__(self, suite: Suite, subject: Subject, book: Expectations, case: Case) -> None:
        self.suite = suite
        self.subject = subject
        self.book = book
        self.case = case
        self._markers: dict[str, pytest.MarkDecorator] = {}

    def marker(self, group: str) -> pytest.MarkDecorator:
        """The labels of a data set of this input group.

        As in selections a fixed label comes before a type variable, and that before an attribute.
        """
        if group not in self._markers:
            labels = self.case.labels
            told: dict[str, Any] = {
                **labels.attributes,
                **labels.types,
                "suite": self.suite.name,
                "backend": self.subject.name,
                "op": labels.op,
                "domain": labels.domain or "ai.onnx",
                "since": labels.since,
                "category": labels.category,
                "group": group,
            }
            told.pop("self", None)  # which Python could not pass on
            self._markers[group] = pytest.mark.onnx(**told)
        return self._markers[group]


class DataSetTest(pytest.Item):
    """A data set on a backend."""

    def __init__(self, *, facts: _Facts, data_set: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.facts = facts
        self.data_set = data_set
        self.behind: DataSetTest | None = None
        """The test right after it."""
        self.together: tuple[int, ...] = (data_set,)
        """Its data set and those of the same case that are tested right after it: a model is prepared once for all."""
        self.after: DataSetTest | None = None
        """The test right after those."""
        self.may_be_early = True
        self.seconds = 0.0
        """What the backend took, once it has answered."""
        labels = facts.case.labels
        group = facts.case.data_sets[data_set].group
        self.add_marker(facts.marker(group))
        self.extra_keyword_matches.update((facts.subject.name, labels.op, labels.category, group))
        self.extra_keyword_matches.update(labels.types.values())

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands: in the manifest, under its name."""
        return self.path, 0, self.name

    def join(self, behind: DataSetTest | None) -> None:
        """Learn what is tested right after it, from the last to the first."""
        # Whoever marks a test to be skipped or not to be run does not want it run ahead of its turn, either.
        self.may_be_early = _HELD.isdisjoint(mark.name for mark in self.iter_markers())
        self.behind = self.after = behind
        if behind and behind.may_be_early and self.facts is behind.facts and self.data_set < behind.data_set:
            self.together = (self.data_set, *behind.together)
            self.after = behind.after

    def order(self) -> None:
        """Have the backend work on it when it comes to it, unless it may be that it is not to be run."""
        if self.may_be_early:
            self.facts.subject.worker.order(self._task())

    def order_more(self) -> None:
        """The same with the cases that come after its own, so many that the backend never waits for us."""
        test = self.after
        for _ in range(_AHEAD):
            if test:
                test.order()
                test = test.after

    def runtest(self) -> None:
        """Ask the backend and judge its answer; a failure of the harness itself stops the session."""
        try:
            outcome = self.facts.subject.worker.answer(self._task())
            result = judge(outcome)
        except ConformanceError as error:
            self.session.shouldstop = plain(str(error))
            raise NotPassed(told(error)) from error
        self.seconds = outcome.seconds + outcome.prepare_seconds
        self._report(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is to be said of a failure, which is no traceback unless the harness is at fault."""
        ours = isinstance(excinfo.value, NotPassed | pytest.xfail.Exception)
        return str(excinfo.value) if ours else super().repr_failure(excinfo, style)

    def _task(self) -> Task:
        facts = self.facts
        return Task.of_suite(str(facts.suite.path), facts.case, self.together)

    def _report(self, result: Result) -> None:
        """Pass, skip, fail or fail as known."""
        said = plain(": ".join(filter(None, (verdict_words(result.verdict), result.message))))
        match result.verdict:
            case "passed":
                self._require_no_denial(result)
            case "unspecified":
                pytest.skip(plain(f"unspecified: {self.facts.case.data_sets[self.data_set].unspecified}"))
            case "unsupported":
                pytest.skip(said)
            case "not_run" if result.known:
                pytest.skip(plain(result.known))
            case _:
                known = self.facts.book.annotate(result).known
                if known:
                    pytest.xfail(plain(f"{verdict_words(result.verdict)}: {known}"))
                raise NotPassed("\n".join([said, *self._where(result.labels)]))

    def _require_no_denial(self, result: Result) -> None:
        """Fail where the backend is known to fail here, and does not: what is known of it no longer holds."""
        contradicting = self.facts.book.contradicting(result)
        if contradicting and not self.config.option.runxfail:
            expected = " or ".join(verdict_words(verdict) for verdict in contradicting.verdicts)
            lines = [
                f"[XPASS(strict)] expected {expected}: {contradicting.reason}",
                f"by the entry on: {contradicting.select}",
            ]
            raise NotPassed("\n".join([*map(plain, lines), *self._where(result.labels)]))

    def _where(self, labels: Labels) -> Iterator[str]:
        facts = self.facts
        yield plain(node(labels))
        command = reproduce(facts.suite.name, facts.case.name, facts.subject.spec, self.data_set)
        testdata = os.path.relpath(facts.suite.path.parent, self.config.invocation_params.dir)
        where = "" if testdata == "testdata" else f" --testdata {shlex.quote(testdata)}"
        yield plain(f"reproduce: {command}{where}")


@contextlib.contextmanager
def _garbage_kept() -> Generator[None]:
    """No garbage is collected meanwhile: there is none, and each time all the tests so far are gone through."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def told(error: ConformanceError) -> str:
    """An error and what to do next, on a line each."""
    return plain_lines(f"{error}\n  {error.advice}" if error.advice else str(error))
