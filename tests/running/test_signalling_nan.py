"""A backend that returns signalling NaN costs no run: with warnings as errors, every command works to its end."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from miniatures import signalling_nans

from harness.judging.judge import bound_type
from harness.numbers.distributions import Normal
from harness.results.recording import read_run
from harness.spec.codec import encode
from harness.spec.element_types import element_type
from harness.spec.values import parse_type
from harness.suite.cases import Case, DataSet, Labels, finish
from harness.suite.directories import write_case
from harness.suite.manifest import open_suite
from harness.suite.show import show

TYPES = [element_type(np.dtype(t)) for t in ("f2", "f4", "f8", ml_dtypes.bfloat16, "c8", "c16")]


def cases(root: Path) -> Iterator[Case]:
    """Identity in each type and way of judging, with a second data set whose input holds signalling NaNs."""
    for of in TYPES:
        text = f"tensor({of.name})"
        infos = [onnx.helper.make_tensor_value_info(name, of.code, None) for name in "xy"]
        graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", infos[:1], infos[1:])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 16)], ir_version=8)
        ones = np.ones((3, 13)).astype(of.dtype)
        tensors = [encode(x, parse_type(text)) for x in (ones, signalling_nans(of.dtype, ones.shape))]
        wide = of.name in ("double", "complex128")
        bounds = encode(np.ones(ones.shape, np.float64 if wide else np.float32), bound_type(parse_type(text)))
        for judged in ("bounds", "tolerance", *(["property"] if of.kind == "float" else [])):
            files = {"model.onnx": model.SerializeToString()}
            for n, tensor in enumerate(tensors):
                files[f"test_data_set_{n}/input_0.pb"] = tensor
                files[f"test_data_set_{n}/output_0.pb"] = tensors[0]
                if judged == "bounds":
                    files[f"test_data_set_{n}/bound_0.pb"] = bounds
            built = finish(
                Case(
                    f"test_identity_{of.name}_{judged}",
                    Labels("Identity", since=16, category="tensor", types={"V": of.name}),
                    (text,),
                    (text,),
                    (DataSet("ordinary", elements=39), DataSet("signalling", elements=39)),
                    1e-3,
                    1e-7,
                    judged,
                    (Normal(0.0, 1.0),) if judged == "property" else (),
                ),
                files,
            )
            write_case(root, built)
            yield built.case


@pytest.fixture
def folder(tools, tmp_path):
    """A folder with the suite ``signalling`` in its test data."""
    root = tmp_path / "testdata" / "signalling"
    root.mkdir(parents=True)
    tools.write_suite(root, list(cases(root)))
    return tmp_path


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the program in a process of its own; warnings are errors in its worker processes too."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "harness", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("backend", ["miniatures:SignallingNan", "numpy", "onnxruntime"])
def test_a_run_and_its_reports_work(folder, backend):
    ended = command(folder, "run", "--backend", backend, "--workers", "1")
    assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
    (path,) = (folder / "reports").rglob("results.jsonl")
    results = read_run(path).results
    assert len(results) == 32
    assert not [result.message for result in results if "Warning" in result.message]
    if backend == "miniatures:SignallingNan":
        assert {result.verdict for result in results} == {"wrong_value"}
        assert all(result.message.startswith("y[0,0] = nan") for result in results)
    ended = command(folder, "report")
    assert ended.returncode == 0, ended.stderr


def test_a_case_can_be_shown(folder):
    suite = open_suite(folder / "testdata" / "signalling")
    for case in suite.cases():
        assert "nan" in show(suite.path / case.name, case, bounds=True)
