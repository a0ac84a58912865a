"""ONNX's runner and onnxruntime's ``onnx_test_runner`` agree with us; `make other-runners` tries the whole suite."""

from pathlib import Path

import numpy as np
import pytest
from onnx_runner import (
    OnnxRunner,
    data_sets_of_onnx_test_runner,
    passing_cases,
    tolerances_of_onnx_test_runner,
)

from harness.running.run import Options, run
from harness.suite.generate import generate
from harness.suite.manifest import Suite
from harness.suite.select import Selection

COVERING = Selection.parse(
    "op=Abs,SequenceConstruct,SequenceInsert,SequenceEmpty,SequenceAt,OptionalGetElement,StringConcat,ZipMap,"
    "DictVectorizer,Bernoulli,Multinomial,DequantizeLinear,Gemm,Normalizer,ConstantOfShape,BitCast"
)
"""Each type, sequences, optionals, maps, strings, random answers, tolerances, open answers and readings."""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return generate(tmp_path_factory.mktemp("others") / "matrix", selection=COVERING)[0]


@pytest.mark.parametrize("backend", ["numpy", "onnxruntime"])
def test_what_passes_here_passes_with_onnx_runner(backend: str, suite: Suite, tmp_path: Path):
    results = run(suite, backend, Options(), tmp_path / backend, quiet=True).results
    passing = passing_cases(suite.cases(), results)
    assert len(passing) > 1000
    runner = OnnxRunner(suite.path, backend)
    assert not [f"{case.name}: {failure}" for case in passing if (failure := runner.failure(case.name))]


def test_onnx_runner_notices_a_wrong_answer(suite: Suite, tmp_path: Path):
    case = next(case for case in suite.cases() if case.labels.op == "Abs" and not case.data_sets[0].hidden)
    folder = tmp_path / "matrix" / case.name
    for file in case.files:
        copy = folder / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        content = (suite.path / case.name / file).read_bytes()
        copy.write_bytes(content[:-1] + bytes([content[-1] ^ 0x10]) if "output_0" in file else content)
    failure = OnnxRunner(folder.parent, "numpy").failure(case.name)
    assert "Mismatched elements" in failure


def test_onnx_test_runner_sees_the_data_sets_that_it_can_judge(suite: Suite):
    """It takes every folder for a data set, and in these every file input_*.pb and output_*.pb, numbered from 0."""
    hidden = 0
    for case in suite.cases():
        folder = suite.path / case.name
        seen = [n for n, one in enumerate(case.data_sets) if not one.hidden]
        found = data_sets_of_onnx_test_runner(folder)
        assert found == [folder / case.file_prefix(n).rstrip("/") for n in sorted(seen, key=str)]
        for data_set in found:
            for stem, count in (("input", len(case.inputs)), ("output", len(case.outputs))):
                names = {path.name for path in data_set.iterdir() if path.name.startswith(f"{stem}_")}
                assert names == {f"{stem}_{i}.pb" for i in range(count)}
        hidden += len(case.data_sets) - len(seen)
    assert hidden > 50


def test_onnx_test_runner_reads_our_tolerances(suite: Suite):
    """Those of data.json; without a config.txt its own, which pass what is equal."""
    inexact = 0
    for case in suite.cases():
        tolerances = tolerances_of_onnx_test_runner(suite.path / case.name)
        if "config.txt" in case.files:
            inexact += 1
            assert tolerances == {"per_sample_tolerance": case.atol, "relative_per_sample_tolerance": case.rtol}
            assert np.isfinite(list(tolerances.values())).all()
        else:
            assert case.rtol == case.atol == 0
    assert inexact > 100
