"""The pytest plugin: its options, which are all that a session without ``--onnx-suite`` pays for."""

from __future__ import annotations

import pytest

_MARKER = (
    "onnx(suite, backend, op, domain, since, category, group, <type variables and attributes>): a data set of a "
    "conformance suite, with its labels: -m \"onnx(op='CumProd', T='float16')\""
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options, all of which begin with ``--onnx-``."""
    group = parser.getgroup("onnx-conformance", "conformance of ONNX backends")
    group.addoption(
        "--onnx-suite",
        action="append",
        default=[],
        metavar="DIR",
        help="run the data sets of this suite as tests: testdata/matrix (may be repeated)",
    )
    group.addoption(
        "--onnx-backend",
        action="append",
        default=[],
        metavar="NAME",
        help="on this backend: a name, package.module:Class, onnx:package.module or command:program (may be repeated)",
    )
    group.addoption(
        "--onnx-select",
        action="append",
        default=[],
        metavar="TERM",
        help="only what matches, exactly where -k knows parts of names: op=CumProd T=float16 (may be repeated)",
    )
    group.addoption(
        "--onnx-expected", metavar="FILE", help="what the backend is known to fail (default: the adapter's)"
    )
    group.addoption("--onnx-limit", type=float, default=10.0, metavar="SECONDS", help="for a case (default: 10)")
    group.addoption("--onnx-memory", type=float, default=4.0, metavar="GIB", help="of a worker (default: 4)")


def pytest_configure(config: pytest.Config) -> None:
    """Adds the suites to what is collected. Raises pytest.UsageError where they or the backends are not to be had."""
    config.addinivalue_line("markers", _MARKER)
    option = config.option
    if option.onnx_suite:
        from harness.pytest_plugin.session import Conformance  # noqa: PLC0415 - it costs half a second

        config.pluginmanager.register(Conformance(config), "onnx-conformance-session")
    elif option.onnx_backend or option.onnx_select or option.onnx_expected:
        raise pytest.UsageError("There is no suite to run.\n  Name one: --onnx-suite testdata/matrix.")
