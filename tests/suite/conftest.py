from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.suite.cases import Case
from harness.suite.generate import generate
from harness.suite.manifest import Suite
from harness.suite.select import Selection

TWO = Selection.parse("op=CumProd,Trilu")
"""The operators whose documents are at hand; what the mechanism does with them it does with all."""


@pytest.fixture(scope="session")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    suite, _ = generate(tmp_path_factory.mktemp("testdata") / "matrix", selection=TWO)
    return suite


@pytest.fixture(scope="session")
def cases(matrix: Suite) -> Mapping[str, Case]:
    return {case.name: case for case in matrix.cases()}


@pytest.fixture(scope="session")
def documents() -> Path:
    return Path(__file__).parent / "documents"
