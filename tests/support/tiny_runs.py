"""Fixtures: tiny suites, and runs of miniature backends over them."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import pytest
from onnx import TensorProto, helper

from harness.results.lines import Run
from harness.running.pool import Limits
from harness.running.run import Options, run
from harness.spec.codec import encode
from harness.spec.values import parse_type
from harness.suite.cases import Case, DataSet, Labels
from harness.suite.manifest import Suite, open_suite

HERE = Path(__file__).parent
FLOAT = "tensor(float)"
BOUND = np.float32(1e-3)


def model(op: str = "Identity") -> bytes:
    names = ["x"] if op == "Identity" else ["a", "b"]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"])],
        op,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)]).SerializeToString()


def write_case(root: Path, name: str, data: Sequence[Sequence[np.ndarray]], *, bounds: bool = True, **changes) -> Case:
    """A case of Identity, or of Add if data sets have two inputs. Expected values are computed in float."""
    op = "Identity" if len(data[0]) == 1 else "Add"
    of = parse_type(FLOAT)
    files = {"model.onnx": model(op)}
    for n, inputs in enumerate(data):
        want = inputs[0] if op == "Identity" else inputs[0] + inputs[1]
        for i, array in enumerate(inputs):
            files[f"test_data_set_{n}/input_{i}.pb"] = encode(array, of, "x")
        files[f"test_data_set_{n}/output_0.pb"] = encode(want, of, "y")
        if bounds:
            files[f"test_data_set_{n}/bound_0.pb"] = encode(np.full(want.shape, BOUND), of, "bound")
    case = Case(
        name=name,
        labels=Labels(op=op, since=14, category="math", types={"T": "float"}),
        inputs=(FLOAT,) * len(data[0]),
        outputs=(FLOAT,),
        data_sets=tuple(DataSet(group=f"group_{n % 2}", elements=int(d[0].size)) for n, d in enumerate(data)),
        rtol=1e-3,
        atol=1e-7,
        judged="bounds",
        files={path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
    )
    for path, content in files.items():
        file = root / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return msgspec.structs.replace(case, **changes)


def write_suite(root: Path, cases: Sequence[Case]) -> Suite:
    lines = [msgspec.json.encode(case) + b"\n" for case in sorted(cases, key=lambda case: case.name)]
    (root / "manifest.jsonl").write_bytes(b"".join(lines))
    return open_suite(root)


def tiny_suite(root: Path, cases: int = 3, data_sets: int = 3) -> Suite:
    """Identity cases; data set ``n`` holds ``n`` first, then a zero and a NaN."""
    root.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(cases):
        data = [[np.array([[n, 0.0, np.nan], [number, 2.5, -1.0]], np.float32)] for n in range(data_sets)]
        made.append(write_case(root, f"test_identity_{number:03d}", data))
    return write_suite(root, made)


@pytest.fixture
def tools() -> ModuleType:
    """This module, for tests that need its functions."""
    return sys.modules[__name__]


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return tiny_suite(tmp_path / "tiny")


@pytest.fixture(autouse=True)
def isolated_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("MINIATURE_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("MINIATURE_GATE", str(tmp_path / "gate"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    assert not list(tmp_path.glob("onnx-conformance-*")), "a scratch folder is left"
    assert await_gone(str(tmp_path)), "a worker is left"


def processes_with(mark: str) -> list[int]:
    """The other processes whose environment contains a text; zombies have no environment."""
    found = []
    for name in filter(str.isdigit, (entry.name for entry in Path("/proc").iterdir())):
        try:
            environment = Path(f"/proc/{name}/environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in environment and int(name) != os.getpid():
            found.append(int(name))
    return found


def await_gone(mark: str) -> bool:
    """Wait until the processes with this mark have ended; False if they have not after a time."""
    return await_true(lambda: not processes_with(mark))


def await_true(condition: Callable[[], object], seconds: float = 30.0) -> bool:
    """Wait until a condition holds; False if it does not after a time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Runs:
    """Runs miniature backends over a suite."""

    def __init__(self, suite: Suite, folder: Path) -> None:
        self.suite = suite
        self.folder = folder

    def __call__(self, name: str, **options) -> Run:
        spec = name.removeprefix("=") if ":" in name or name.startswith("=") else f"miniatures:{name}"
        spec = (
            spec.replace("program:", f"command:{shlex.join([sys.executable, str(HERE / 'program.py')])} ")
            if spec.startswith("program:")
            else spec
        )
        limits = Limits(options.pop("seconds", 10.0), options.pop("memory", 1 << 30))
        how = {key: options.pop(key) for key in ("resume", "expectations", "write_expected") if key in options}
        return run(self.suite, spec, Options(limits=limits, **options), self.folder, quiet=True, **how)


@pytest.fixture
def runs(suite: Suite, tmp_path: Path) -> Runs:
    return Runs(suite, tmp_path / "reports")
