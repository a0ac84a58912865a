"""The pytest plugin: its options. The rest is imported only if ``--onnx-suite`` is used."""

from __future__ import annotations

import pytest

_MARKER = (
    "onnx(suite, backend, op, domain, since, category, group, <type variables and attributes>): the labels of a data "
    "set of a conformance suite. Example: -m \"onnx(op='CumProd', T='float16')\""
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options. All start with ``--onnx-``."""
    group = parser.getgroup("onnx-conformance", "conformance of ONNX backends")
    group.addoption(
        "--onnx-suite",
        action="append",
        default=[],
        metavar="DIR",
        help="run the data sets of this suite as tests, e.g. testdata/matrix (can be repeated)",
    )
    group.addoption(
        "--onnx-backend",
        action="append",
        default=[],
        metavar="NAME",
        help="backend to test: a name, package.module:Class, onnx:package.module or command:program (can be repeated)",
    )
    group.addoption(
        "--onnx-select",
        action="append",
        default=[],
        metavar="TERM",
        help="select data sets by label, e.g. op=CumProd; more exact than -k (can be repeated; all terms must match)",
    )
    group.addoption(
        "--onnx-expected", metavar="FILE", help="expectations file with known failures (default: that of the adapter)"
    )
    group.addoption("--onnx-limit", type=float, default=10.0, metavar="SECONDS", help="per case (default: 10)")
    group.addoption("--onnx-memory", type=float, default=4.0, metavar="GIB", help="per worker (default: 4)")


def pytest_configure(config: pytest.Config) -> None:
    """Adds the suites to the collection. Raises pytest.UsageError if a suite or a backend is not available."""
    config.addinivalue_line("markers", _MARKER)
    option = config.option
    if option.onnx_suite:
        from harness.pytest_plugin.session import Conformance  # noqa: PLC0415 - takes half a second

        config.pluginmanager.register(Conformance(config), "onnx-conformance-session")
    elif option.onnx_backend or option.onnx_select or option.onnx_expected:
        raise pytest.UsageError("No suite is given.\n  Add one: --onnx-suite testdata/matrix.")
