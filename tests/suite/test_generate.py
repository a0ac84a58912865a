"""Generation: the same bytes however it is done, only what changed is written, and an interrupted suite says so."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from harness.spec.codec import decode
from harness.spec.values import TensorType, parse_type
from harness.suite import directories
from harness.suite.cases import Case
from harness.suite.directories import DuplicateName, NotASuite, SuiteBusy, WriteFailed, publish, writing
from harness.suite.generate import generate
from harness.suite.manifest import (
    FINGERPRINT,
    INCOMPLETE,
    MANIFEST,
    BrokenManifest,
    NoSuite,
    OtherFormat,
    Suite,
    open_suite,
)
from harness.suite.select import NothingSelected, Selection

TWO = Selection.parse("op=CumProd,Trilu")


def tree(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def command(path: Path, jobs: int) -> list[str]:
    """What generates the suite of the two operators in a process of its own."""
    where = ["--suite", path.name, "--testdata", str(path.parent)]
    return [sys.executable, "-m", "harness", "generate", *where, "--jobs", str(jobs), "--select", str(TWO)]


@pytest.mark.parametrize(("jobs", "seed"), [(1, "1"), (3, "2")])
def test_jobs_hash_seed_and_folder_do_not_matter(matrix: Suite, tmp_path: Path, jobs: int, seed: str):
    path = tmp_path / "a folder" / "matrix"
    subprocess.run(
        command(path, jobs), check=True, env=os.environ | {"PYTHONHASHSEED": seed}, stderr=subprocess.DEVNULL
    )
    other = open_suite(path)
    assert other.digest == matrix.digest
    assert tree(other.path) == tree(matrix.path)


def test_the_manifest_lists_every_file_with_its_hash(matrix: Suite):
    found = tree(matrix.path)
    del found[MANIFEST], found[FINGERPRINT]
    listed = {f"{case.name}/{file}": digest for case in matrix.cases() for file, digest in case.files.items()}
    assert listed == {file: hashlib.sha256(data).hexdigest() for file, data in found.items()}


def test_data_json_is_the_manifest_line(matrix: Suite):
    for case in matrix.cases():
        data = msgspec.json.decode((matrix.path / case.name / "data.json").read_bytes())
        line = msgspec.json.decode(msgspec.json.encode(case))
        assert data == {key: value for key, value in line.items() if key not in ("name", "files")}


def test_a_second_run_touches_nothing(tmp_path: Path):
    path = tmp_path / "matrix"
    generate(path, selection=TWO)
    before = {p: p.stat().st_mtime_ns for p in path.rglob("*.pb")}
    suite, planned = generate(path, selection=TWO)
    assert sum(p.written for p in planned) == 0
    assert {p: p.stat().st_mtime_ns for p in path.rglob("*.pb")} == before
    assert suite == open_suite(path)


def test_a_run_mends_what_was_changed_and_removes_what_is_gone(matrix: Suite, tmp_path: Path):
    path = tmp_path / "matrix"
    generate(path, selection=TWO)
    case = path / "test_cumprod_1d"
    (case / "model.onnx").write_bytes(b"rubbish")
    (case / "test_data_set_0" / "output_0.pb").unlink()
    (case / "test_data_set_7").mkdir()
    (case / "test_data_set_7" / "input_0.pb").write_bytes(b"")
    (path / "test_of_long_ago").mkdir()
    (path / "test_of_long_ago" / "model.onnx").write_bytes(b"")
    _, planned = generate(path, selection=TWO)
    assert sum(p.written for p in planned) == 1
    assert tree(path) == tree(matrix.path)


def test_what_is_selected_is_the_same_alone(matrix: Suite, tmp_path: Path):
    suite, (planned,) = generate(tmp_path / "matrix", selection=Selection.parse("op=Trilu"))
    assert planned.title == "Trilu-14"
    assert list(suite.cases()) == [case for case in matrix.cases() if case.labels.op == "Trilu"]
    with pytest.raises(NothingSelected, match="op=Trillu"):
        generate(tmp_path / "other", selection=Selection.parse("op=Trillu"))
    assert not (tmp_path / "other").exists()


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(NotASuite):
        generate(tmp_path, selection=TWO)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_nobody_else_may_write_meanwhile(tmp_path: Path):
    with writing(tmp_path / "matrix"), pytest.raises(SuiteBusy), writing(tmp_path / "matrix"):
        pass


def test_cases_that_differ_only_in_capitals_are_refused(tmp_path: Path, cases: Mapping[str, Case]):
    case = cases["test_cumprod_1d"]
    with writing(tmp_path / "matrix"), pytest.raises(DuplicateName):
        publish(tmp_path / "matrix", [case, msgspec.structs.replace(case, name="test_CumProd_1d")])


def test_an_interrupted_suite_says_so(tmp_path: Path):
    path = tmp_path / "matrix"
    with pytest.raises(KeyboardInterrupt), writing(path):
        raise KeyboardInterrupt
    with pytest.raises(NoSuite, match="incomplete"):
        open_suite(path)
    generate(path, selection=TWO)
    assert not (path / INCOMPLETE).exists()


def test_what_is_no_suite_says_so(tmp_path: Path):
    with pytest.raises(NoSuite, match="There is no suite"):
        open_suite(tmp_path / "nowhere")
    with pytest.raises(NoSuite, match="no manifest"):
        open_suite(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"format":2}',
        b'{"format":2,"name":"../x","labels":{"op":""},"inputs":[],"outputs":[],"data_sets":[],"rtol":0,"atol":0}',
        b'{"format":2,"name":"x","labels":{"op":""},"inputs":[],"outputs":[],"data_sets":[],"rtol":0,"atol":0,"files":{"../y":""}}',
    ],
)
def test_a_hostile_manifest_is_refused(line: bytes, tmp_path: Path):
    (tmp_path / MANIFEST).write_bytes(line + b"\n")
    with pytest.raises(BrokenManifest, match=f"{MANIFEST}:1"):
        list(open_suite(tmp_path).cases())


def test_another_format_is_refused_with_both_versions(tmp_path: Path):
    (tmp_path / MANIFEST).write_bytes(b'{"name":"x","labels":{"op":"Abs"}}\n')
    with pytest.raises(OtherFormat, match="has format 1; this version reads format 2"):
        open_suite(tmp_path)


def test_a_full_disk_says_so_and_leaves_the_suite_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written = 0

    def write(target: str, data: bytes) -> None:
        nonlocal written
        written += 1
        if written > 100:
            raise OSError(28, "No space left on device", target)
        Path(target).write_bytes(data)

    monkeypatch.setattr(directories, "_write", write)
    with pytest.raises(WriteFailed, match="No space left") as raised:
        generate(tmp_path / "matrix", selection=TWO)
    assert "Free some room" in raised.value.advice
    with pytest.raises(NoSuite, match="incomplete"):
        open_suite(tmp_path / "matrix")


def test_killed_at_any_moment_it_goes_on_from_what_is_there(matrix: Suite, tmp_path: Path):
    path = tmp_path / "matrix"
    moments = random.Random(7)
    for _ in range(4):
        process = subprocess.Popen(command(path, 2), stderr=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and not path.exists():
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 1.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not (path / MANIFEST).exists():
            with pytest.raises(NoSuite):
                open_suite(path)
    suite, _ = generate(path, selection=TWO)
    assert suite.digest == matrix.digest
    assert tree(path) == tree(matrix.path)


def test_every_model_is_valid(matrix: Suite):
    for case in matrix.cases():
        onnx.checker.check_model((matrix.path / case.name / "model.onnx").read_bytes(), full_check=True)


def test_onnx_loads_the_tree_and_its_comparison_passes_what_our_bounds_pass(matrix: Suite):
    """The expected outputs, and answers 4 bounds away on either side, pass ``onnx.backend.test``'s own comparison."""
    loaded = {test.name: test for test in load_model_tests(data_dir=str(matrix.path.parent), kind=matrix.path.name)}
    compared = 0
    for case in matrix.cases():
        test = loaded.pop(case.name)
        model = onnx.load(f"{test.model_dir}/model.onnx")
        for number in range(len(case.data_sets)):
            prefix = f"{test.model_dir}/{case.file_prefix(number)}"
            outputs: list[object] = []
            Runner._load_proto(None, f"{prefix}output_0.pb", outputs, model.graph.output[0].type)
            answers = [outputs[0]]
            if Path(f"{prefix}bound_0.pb").exists():
                answers += furthest(outputs[0], Path(f"{prefix}bound_0.pb"), case)
            for answer in answers:
                Runner.assert_similar_outputs(outputs, [answer], test.rtol, test.atol)
                compared += 1
    assert not loaded
    assert compared > sum(1 for case in matrix.cases() for _ in case.data_sets)


def furthest(expected: object, bound: Path, case: Case) -> list[object]:
    """The values of the element type furthest from the expected ones that still pass, on both sides."""
    import numpy as np

    from harness.numbers.rounding import round_array, to_storage

    of = parse_type(case.outputs[0])
    assert isinstance(of, TensorType)
    assert of.element.format is not None
    width = "double" if of.element.name == "double" else "float"
    bounds = np.asarray(decode(bound.read_bytes(), parse_type(f"tensor({width})")), np.float64)
    values = np.asarray(expected).astype(np.float64)
    found = []
    for sign in (1, -1):
        with np.errstate(over="ignore", invalid="ignore"):
            far = values + sign * 4 * bounds
        stored = np.clip(round_array(far, of.element), -of.element.format.maximum, of.element.format.maximum)
        inside = np.isfinite(values) & (np.abs(stored - values) <= 4 * bounds)
        found.append(to_storage(np.where(inside, stored, values), of.element))
    return found
