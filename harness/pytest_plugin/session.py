"""The plugin of a pytest session with suites: options and hooks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from harness.backend.loading import backend_names, expectations_path
from harness.errors import ConformanceError, UsageError
from harness.pytest_plugin.items import DataSetTest, SuiteFile, SuiteFolder, TestedBackend, error_text
from harness.pytest_plugin.worker import PersistentWorker
from harness.results.expectations import read_expectations
from harness.running.folders import folder_name
from harness.running.pool import Limits
from harness.suite.manifest import MANIFEST, Suite, open_suite
from harness.suite.select import NothingSelected, Selection, select_cases


class Conformance:
    """The hooks that collect and run suites."""

    def __init__(self, config: pytest.Config) -> None:
        """Reads the options. Raises pytest.UsageError if a suite, a backend or a file does not exist."""
        self._config = config
        option = config.option
        with _usage_errors():
            self._selection = Selection.parse(option.onnx_select)
            self._suites = {suite.path: suite for suite in map(self._open, option.onnx_suite)}
            self._backends = _backends(option.onnx_backend, _limits(config), option.onnx_expected)
            self._require_selected()
        self._add_arguments()

    def _open(self, path: str) -> Suite:
        return open_suite(Path(os.path.abspath(self._config.invocation_params.dir / path)))  # noqa: PTH100 - does not resolve links

    def _require_selected(self) -> None:
        """Raises NothingSelected if the selection matches nothing in any suite."""
        errors: list[NothingSelected] = []
        for suite in self._suites.values() if self._selection.terms else ():
            try:
                next(select_cases(suite.cases(), self._selection))
            except NothingSelected as error:
                errors.append(error)
            else:
                return
        if errors:
            raise errors[0]

    def _add_arguments(self) -> None:
        """Adds the suites to the arguments. If there are no arguments, only the suites run, not ``testpaths``."""
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
        """Starts the backends, which load while tests are collected.

        The controller of pytest-xdist runs no tests. It only checks that the backends load.
        """
        for backend in self._backends:
            self._config.add_cleanup(backend.worker.close)
        if self._config.option.collectonly:
            return
        with _usage_errors():
            for backend in self._backends:
                backend.worker.begin()
            if self._config.pluginmanager.has_plugin("dsession"):
                for backend in self._backends:
                    backend.worker.start()
                    backend.worker.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Checks that the backends load. In a worker of pytest-xdist the tests report this."""
        if self._config.option.collectonly or hasattr(self._config, "workerinput"):
            return
        if not any(isinstance(item, DataSetTest) for item in session.items):
            return
        with _usage_errors():
            for backend in self._backends:
                backend.worker.start()

    # Collecting.

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collects the folder of a suite."""
        return SuiteFolder.from_parent(parent, path=path) if path in self._suites else None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collects the manifest of a suite."""
        suite = self._suites.get(file_path.parent)
        if suite is None or file_path.name != MANIFEST:
            return None
        inside = file_path.is_relative_to(self._config.rootpath)
        return SuiteFile.from_parent(
            parent,
            path=file_path,
            nodeid=None if inside else file_path.as_posix(),  # the default would be the same for two suites
            suite=suite,
            selection=self._selection,
            backends=self._backends,
        )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Links each test to the next one, after the list of tests is final."""
        following: DataSetTest | None = None
        for item in reversed(session.items):
            if isinstance(item, DataSetTest):
                item.link(following)
                following = item
            else:
                following = None

    # Running.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Submits a test and the following ones to the backends."""
        if isinstance(item, DataSetTest):
            item.prefetch()
            if nextitem is item.next_test:
                item.prefetch_following()
                return
        if isinstance(nextitem, DataSetTest):
            nextitem.prefetch()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Reports the time that the backend took, because it may have started before the test."""
        report = yield
        if call.when == "call" and isinstance(item, DataSetTest) and item.seconds:
            report.duration = item.seconds
        return report


def _limits(config: pytest.Config) -> Limits:
    seconds, gibibytes = config.option.onnx_limit, config.option.onnx_memory
    for name, value in (("limit", seconds), ("memory", gibibytes)):
        if not value > 0:
            raise UsageError(f"--onnx-{name} {value:g} is not a positive number.", "See pytest --help.")
    return Limits(seconds, int(gibibytes * (1 << 30)))


def _backends(specs: Sequence[str], limits: Limits, expected: str | None) -> tuple[TestedBackend, ...]:
    """The backends to test, without duplicates."""
    if not specs:
        raise UsageError("No backend is given.", f"Add one: --onnx-backend {' or '.join(backend_names())}.")
    if expected and len(specs) > 1:
        raise UsageError("--onnx-expected can be used with one backend only.", "Test the backends one at a time.")
    if expected and not Path(expected).is_file():
        raise UsageError(f"The expectations file {expected} does not exist.", "Check --onnx-expected.")
    named: dict[str, TestedBackend] = {}
    for spec in dict.fromkeys(specs):
        name = folder_name(spec)
        if name in named:
            raise UsageError(
                f"{named[name].spec!r} and {spec!r} have the same name in tests, {name}.",
                "Test them one at a time.",
            )
        expectations = read_expectations(Path(expected) if expected else expectations_path(spec))
        named[name] = TestedBackend(spec, name, expectations, PersistentWorker(spec, limits))
    return tuple(named.values())


@contextlib.contextmanager
def _usage_errors() -> Generator[None]:
    """Converts our errors to pytest.UsageError, which ends pytest with a message."""
    try:
        yield
    except ConformanceError as error:
        raise pytest.UsageError(error_text(error)) from error
