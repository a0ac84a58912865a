"""A pytest session over suites: what it was asked for, and the hooks that collect and run it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from harness.backend.loading import backend_names, expectations_path
from harness.errors import ConformanceError, UsageError
from harness.pytest_plugin.items import DataSetTest, Subject, SuiteFile, SuiteFolder, told
from harness.pytest_plugin.worker import PersistentWorker
from harness.results.expectations import read_expectations
from harness.running.folders import folder_name
from harness.running.pool import Limits
from harness.suite.manifest import MANIFEST, Suite, open_suite
from harness.suite.select import NothingSelected, Selection, select_cases


class Conformance:
    """The plugin of a session that was given a suite."""

    def __init__(self, config: pytest.Config) -> None:
        """Raises pytest.UsageError for what is not there."""
        self._config = config
        option = config.option
        with _usage_errors():
            self._selection = Selection.parse(option.onnx_select)
            self._suites = {suite.path: suite for suite in map(self._open, option.onnx_suite)}
            self._subjects = _subjects(option.onnx_backend, _limits(config), option.onnx_expected)
            self._require_selected()
        self._add_arguments()

    def _open(self, path: str) -> Suite:
        return open_suite(Path(os.path.abspath(self._config.invocation_params.dir / path)))  # noqa: PTH100 - no links

    def _require_selected(self) -> None:
        """Raise NothingSelected where no suite has anything of the selection."""
        refusals: list[NothingSelected] = []
        for suite in self._suites.values() if self._selection.terms else ():
            try:
                next(select_cases(suite.cases(), self._selection))
            except NothingSelected as refusal:
                refusals.append(refusal)
            else:
                return
        if refusals:
            raise refusals[0]

    def _add_arguments(self) -> None:
        """Collect the suites after what the person named, or alone where that is nothing; and parts where named."""
        config = self._config
        if config.args_source != config.ArgsSource.ARGS:
            config.args, config.args_source = [], config.ArgsSource.ARGS
        here = config.invocation_params.dir
        named = {os.path.abspath(here / argument.partition("::")[0]) for argument in config.args}  # noqa: PTH100
        for path in self._suites:
            if str(path) not in named and str(path / MANIFEST) not in named:
                config.args.append(str(path))

    # Workers.

    def pytest_sessionstart(self) -> None:
        """Start loading the backends, which goes on while tests are collected.

        The process that only hands out tests to others, of pytest-xdist, asks whether the backends load, and that is
        all it needs them for.
        """
        for subject in self._subjects:
            self._config.add_cleanup(subject.worker.close)
        if self._config.option.collectonly:
            return
        with _usage_errors():
            for subject in self._subjects:
                subject.worker.begin()
            if self._config.pluginmanager.has_plugin("dsession"):
                for subject in self._subjects:
                    subject.worker.start()
                    subject.worker.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Require that the backends load; in a worker of pytest-xdist that is for the tests to say."""
        if self._config.option.collectonly or hasattr(self._config, "workerinput"):
            return
        if not any(isinstance(item, DataSetTest) for item in session.items):
            return
        with _usage_errors():
            for subject in self._subjects:
                subject.worker.start()

    # Collecting.

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The folder of a suite."""
        return SuiteFolder.from_parent(parent, path=path) if path in self._suites else None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The manifest of a suite."""
        suite = self._suites.get(file_path.parent)
        if suite is None or file_path.name != MANIFEST:
            return None
        inside = file_path.is_relative_to(self._config.rootpath)
        return SuiteFile.from_parent(
            parent,
            path=file_path,
            nodeid=None if inside else file_path.as_posix(),  # pytest's own would not tell two suites apart
            suite=suite,
            selection=self._selection,
            subjects=self._subjects,
        )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell each test what comes right after it, now that nothing is added, removed or moved any more."""
        behind: DataSetTest | None = None
        for item in reversed(session.items):
            if isinstance(item, DataSetTest):
                item.join(behind)
                behind = item
            else:
                behind = None

    # Running.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Have the backends work on a test and on what is known to come after it."""
        if isinstance(item, DataSetTest):
            item.order()
            if nextitem is item.behind:
                item.order_more()
                return
        if isinstance(nextitem, DataSetTest):
            nextitem.order()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Report the seconds that the backend took, of which it may have taken some before the test's turn."""
        report = yield
        if call.when == "call" and isinstance(item, DataSetTest) and item.seconds:
            report.duration = item.seconds
        return report


def _limits(config: pytest.Config) -> Limits:
    seconds, gibibytes = config.option.onnx_limit, config.option.onnx_memory
    for name, value in (("limit", seconds), ("memory", gibibytes)):
        if not value > 0:
            raise UsageError(f"--onnx-{name} {value:g} is no positive number.", "See pytest --help.")
    return Limits(seconds, int(gibibytes * (1 << 30)))


def _subjects(specs: Sequence[str], limits: Limits, expected: str | None) -> tuple[Subject, ...]:
    """The backends asked for, each once."""
    if not specs:
        raise UsageError("There is no backend to test.", f"Name one: --onnx-backend {' or '.join(backend_names())}.")
    if expected and len(specs) > 1:
        raise UsageError("--onnx-expected belongs to one backend.", "Test the backends one at a time.")
    if expected and not Path(expected).is_file():
        raise UsageError(f"There are no expectations at {expected}.", "Name a file that is there.")
    named: dict[str, Subject] = {}
    for spec in dict.fromkeys(specs):
        name = folder_name(spec)
        if name in named:
            raise UsageError(
                f"{named[name].spec!r} and {spec!r} are both {name} in the names of tests.", "Test them one at a time."
            )
        entries = read_expectations(Path(expected) if expected else expectations_path(spec))
        named[name] = Subject(spec, name, entries, PersistentWorker(spec, limits))
    return tuple(named.values())


@contextlib.contextmanager
def _usage_errors() -> Generator[None]:
    """Our errors as pytest's, which end it with a message."""
    try:
        yield
    except ConformanceError as error:
        raise pytest.UsageError(told(error)) from error
