"""Scripts run on their own, contain the exact bytes, and judge as the harness does."""

import ast
import base64
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import msgspec
import numpy as np
import onnx
import pytest

from harness.authoring.repro import NoScript, NoSuchDataSet, repro_script
from harness.backend.interface import BrokenAdapter, UnknownBackend
from harness.backend.worker import infer_type
from harness.errors import UsageError
from harness.judging.judge import BrokenSuite, bound_type, judge
from harness.judging.outcome import Outcome
from harness.running.process import NoProgram
from harness.spec.codec import encode
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES, Bits
from harness.spec.values import ValueType, parse_type, proto_of_type
from harness.suite.cases import Case, DataSet, Labels, finish, mask_type
from harness.suite.directories import write_case

HERE = Path(__file__).parent
PROGRAM = f"command:{shlex.join([sys.executable, str(HERE.parent / 'support' / 'program.py')])}"


@pytest.fixture(autouse=True)
def _adapters_are_importable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(HERE)


class Answer(NamedTuple):
    """The input of Identity, which is also its output, and the expected output."""

    of: str
    got: Any
    want: Any
    bound: Any = None
    judged: str = "bounds"
    mask: Any = None
    alternatives: Sequence[Any] = ()
    readings: Sequence[tuple[Any, Any]] = ()
    """Value and bound by each other reading."""
    bits: Bits = ""


def identity_model(of: ValueType) -> onnx.ModelProto:
    info = [onnx.helper.make_value_info(name, proto_of_type(of)) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", info[:1], info[1:])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9)


def identity(folder: Path, *answers: Answer, model: onnx.ModelProto | None = None, **changes: Any) -> Case:
    """A case of Identity with a data set for each answer, written to ``folder/<its name>``."""
    of = parse_type(answers[0].of)
    files = {"model.onnx": (model or identity_model(of)).SerializeToString()}
    for n, answer in enumerate(answers):
        files[f"test_data_set_{n}/input_0.pb"] = encode(answer.got, infer_type(answer.got, of), "x")
        files[f"test_data_set_{n}/output_0.pb"] = encode(answer.want, infer_type(answer.want, of), "y")
        if answer.bound is not None:
            files[f"test_data_set_{n}/bound_0.pb"] = encode(answer.bound, bound_type(of))
        if answer.mask is not None:
            files[f"test_data_set_{n}/unspecified_0.pb"] = encode(answer.mask, mask_type(of))
        for i, value in enumerate(answer.alternatives):
            files[f"test_data_set_{n}/alternative_{i}_0.pb"] = encode(value, of)
        for i, (value, bound) in enumerate(answer.readings):
            files[f"test_data_set_{n}/reading_{i}_0.pb"] = encode(value, of)
            if bound is not None:
                files[f"test_data_set_{n}/reading_bound_{i}_0.pb"] = encode(bound, bound_type(of))
    case = Case(
        name="test_identity",
        labels=Labels(op="Identity", since=19, types={"V": "float"}, attributes={"axis": "omitted", "mode": "same"}),
        inputs=(str(infer_type(answers[0].got, of)),),
        outputs=(answers[0].of,),
        data_sets=tuple(
            DataSet(
                group="ordinary",
                about="Any value.",
                elements=9,
                unspecified="" if answer.mask is None else "The text is silent.",
                unspecified_elements=0 if answer.mask is None else 1,
                bits=answer.bits,
            )
            for answer in answers
        ),
        rtol=1e-3,
        atol=1e-7,
        judged=answers[0].judged,
    )
    built = finish(msgspec.structs.replace(case, **changes), files)
    write_case(folder, built)
    return built.case


def execute(text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and output of a script, in this process."""
    with pytest.raises(SystemExit) as ended, np.errstate():
        exec(compile(text, "repro", "exec"), {"__name__": "__main__"})  # noqa: S102 - the script is our own
    return ended.value.code, capsys.readouterr().out


def start(text: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a new process, outside of the checkout."""
    file = folder / "repro.py"
    file.write_text(text)
    return subprocess.run([sys.executable, *options, file], cwd=folder, capture_output=True, text=True, check=False)


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


B = f32(0.25, 0.25)
FLOAT = "tensor(float)"
ANSWERS: dict[str, Answer] = {
    "same": Answer(FLOAT, f32(1, np.nan), f32(1, np.nan)),
    "zero_signs": Answer(FLOAT, f32(0, -0.0), f32(-0.0, 0)),
    "must_be_equal": Answer(FLOAT, f32(1, 2), f32(1, np.nextafter(2, 3, dtype=np.float32))),
    "four_bounds": Answer(FLOAT, f32(1, 3), f32(1, 2), B),
    "five_bounds": Answer(FLOAT, f32(1, 3.25), f32(1, 2), B),
    "bound_0": Answer(FLOAT, f32(1, 1e-40), f32(1, 2e-40), f32(1, 0)),
    "nan_for_number": Answer(FLOAT, f32(np.nan, 1), f32(1, 1), B),
    "number_for_nan": Answer(FLOAT, f32(1, 1), f32(np.nan, 1), B),
    "overflow": Answer(FLOAT, f32(np.inf, 1), f32(3.4028234e38, 1), f32(2e31, 1)),
    "overflow_far": Answer(FLOAT, f32(np.inf, 1), f32(3e38, 1), f32(2e31, 1)),
    "wrong_infinity": Answer(FLOAT, f32(-np.inf, 1), f32(np.inf, 1), B),
    "double_overflow": Answer(
        "tensor(double)", np.array([np.inf]), np.array([np.finfo(np.float64).max]), np.array([2.0**970])
    ),
    "complex_near": Answer(
        "tensor(complex64)", np.array([3 + 4j], np.complex64), np.array([1 + 4j], np.complex64), f32(1)
    ),
    "complex_far": Answer(
        "tensor(complex64)", np.array([4 + 4j], np.complex64), np.array([1 + 1j], np.complex64), f32(1)
    ),
    "complex_exact": Answer("tensor(complex64)", np.array([4 + 4j], np.complex64), np.array([4 + 5j], np.complex64)),
    "bfloat16": Answer(
        "tensor(bfloat16)", np.array([1.5], ml_dtypes.bfloat16), np.array([1.25], ml_dtypes.bfloat16), f32(0.0625)
    ),
    "int64_exact": Answer("tensor(int64)", np.array([2**62 + 1]), np.array([2**62])),
    "int64_near_tie": Answer("tensor(int64)", np.array([2**62 + 1]), np.array([2**62]), f32(0.25)),
    "int64_off": Answer("tensor(int64)", np.array([2**62 + 2]), np.array([2**62]), f32(0.25)),
    "int2": Answer("tensor(int2)", np.array([1, -2], ml_dtypes.int2), np.array([1, -1], ml_dtypes.int2)),
    "bool": Answer("tensor(bool)", np.array([True, False]), np.array([True, True])),
    "string": Answer("tensor(string)", np.array(["ß", ""], object), np.array(["ß", " "], object)),
    "string_same": Answer("tensor(string)", np.array("ß", object), np.array("ß", object)),
    "scalar": Answer(FLOAT, np.array(1, np.float32), np.array(2, np.float32)),
    "empty": Answer(FLOAT, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)),
    "empty_shape": Answer(FLOAT, np.zeros((0, 3), np.float32), np.zeros((3, 0), np.float32)),
    "shape": Answer(FLOAT, f32(1, 2), f32(1, 2).reshape(2, 1)),
    "type": Answer("tensor(double)", f32(1, 2), np.array([1.0, 2.0])),
    "tolerance": Answer(FLOAT, f32(1, 1000), f32(1, 1000.5), None, "tolerance"),
    "tolerance_off": Answer(FLOAT, f32(1, 1000), f32(1, 1002), None, "tolerance"),
    "tolerance_infinity": Answer(FLOAT, f32(np.inf, 1), f32(1, np.inf), None, "tolerance"),
    "tolerance_bool": Answer("tensor(bool)", np.array([True]), np.array([False]), None, "tolerance"),
    "tolerance_string": Answer("tensor(string)", np.array(["a"], object), np.array(["b"], object), None, "tolerance"),
    "tolerance_int": Answer(
        "tensor(int32)", np.array([10**6], np.int32), np.array([10**6 + 9], np.int32), None, "tolerance"
    ),
    "tolerance_bfloat16": Answer(
        "tensor(bfloat16)",
        np.array([1], ml_dtypes.bfloat16),
        np.array([1.0078125], ml_dtypes.bfloat16),
        None,
        "tolerance",
    ),
    "sequence": Answer("seq(tensor(float))", [f32(1), f32(2, 3)], [f32(1), f32(2, 3)]),
    "sequence_bounds": Answer("seq(tensor(float))", [f32(1), f32(2, 4)], [f32(1), f32(2, 3)], [f32(0.25), B]),
    "sequence_value": Answer("seq(tensor(float))", [f32(1), f32(2, 4)], [f32(1), f32(2, 3)]),
    "sequence_length": Answer("seq(tensor(float))", [f32(1)], [f32(1), f32(2)]),
    "sequence_empty": Answer("seq(tensor(float))", [], []),
    "optional": Answer("optional(tensor(float))", f32(1), f32(1)),
    "optional_absent": Answer("optional(tensor(float))", None, None),
    "optional_lost": Answer("optional(tensor(float))", None, f32(1)),
    "optional_found": Answer("optional(seq(tensor(float)))", [f32(1)], None),
    "mask": Answer(FLOAT, f32(1, 9), f32(1, 2), mask=np.array([False, True])),
    "mask_of_another": Answer(FLOAT, f32(1, 9), f32(1, 2), mask=np.array([True, False])),
    "mask_and_bounds": Answer(FLOAT, f32(np.nan, 2.5), f32(1, 2), B, mask=np.array([True, False])),
    "mask_and_shape": Answer(FLOAT, f32(1, 2, 3), f32(1, 2), mask=np.array([True, True])),
    "mask_in_sequence": Answer(
        "seq(tensor(float))",
        [f32(1), f32(2, 4)],
        [f32(1), f32(2, 3)],
        mask=[np.array([False]), np.array([False, True])],
    ),
    "mask_of_strings": Answer(
        "tensor(string)", np.array(["a", "b"], object), np.array(["a", "c"], object), mask=np.array([False, True])
    ),
    "alternatives": Answer(FLOAT, f32(1, 2, 3), f32(1, 0, 0), alternatives=[f32(0, 2, 0), f32(0, 0, 3)]),
    "alternatives_off": Answer(FLOAT, f32(1, 2, 4), f32(1, 0, 0), alternatives=[f32(0, 2, 0), f32(0, 0, 3)]),
    "reading": Answer(FLOAT, f32(7, 8), f32(1, 2), readings=[(f32(3, 4), None), (f32(7, 8), None)]),
    "readings_mixed": Answer(FLOAT, f32(1, 8), f32(1, 2), readings=[(f32(7, 8), None)]),
    "reading_by_bounds": Answer(FLOAT, f32(7.5, 8), f32(1, 2), B, readings=[(f32(7, 8), B)]),
    "reading_of_another_shape": Answer(FLOAT, f32(7, 8, 9), f32(1, 2), readings=[(f32(7, 8, 9), None)]),
    "reading_and_mask": Answer(FLOAT, f32(7, 5), f32(1, 2), mask=np.array([False, True]), readings=[(f32(7, 8), None)]),
    "signs": Answer(FLOAT, f32(0, 1), f32(-0.0, 1), bits="signs"),
    "signs_same": Answer(FLOAT, f32(-0.0, np.nan), f32(-0.0, -np.nan), bits="signs"),
    "signs_complex": Answer(
        "tensor(complex64)", np.array([complex(1, -0.0)], np.complex64), np.array([1], np.complex64), bits="signs"
    ),
    "signs_bfloat16": Answer(
        "tensor(bfloat16)", -np.zeros(2, ml_dtypes.bfloat16), np.zeros(2, ml_dtypes.bfloat16), bits="signs"
    ),
    "all_bits": Answer(
        FLOAT, f32(np.nan, 1), np.array([0x7FC00001, 0x3F800000], np.uint32).view(np.float32), bits="all"
    ),
    "all_bits_same": Answer(FLOAT, f32(np.nan, -0.0), f32(np.nan, -0.0), bits="all"),
    "all_bits_of_a_scalar": Answer(FLOAT, np.array(-0.0, np.float32), np.array(0, np.float32), bits="all"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_scripts_judge_as_the_harness_does(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    answer = ANSWERS[name]
    case = identity(tmp_path, answer)
    stated = infer_type(answer.got, parse_type(answer.of))
    output = encode(answer.got, stated, "y")
    result = judge(Outcome(case, str(tmp_path / case.name), 0, "ok", (str(stated),), (output,)))
    status, text = execute(repro_script(tmp_path / case.name, case, "faulty_scripts:PassesThrough", 0), capsys)
    assert status == (result.verdict != "passed"), (result.message, text)
    assert text.splitlines()[-1] == ("failed" if status else "passed")
    by_reading = "match another reading" in text
    assert ("y is correct" in text or by_reading) == (status == 0)
    if result.differing and not by_reading:
        assert f": {result.differing} of " in text


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=str)
def test_every_element_type(element: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    value = np.array(["a", ""], object) if element.kind == "string" else np.array([1, 1]).astype(element.dtype)
    case = identity(tmp_path, Answer(f"tensor({element.name})", value, value))
    status, text = execute(repro_script(tmp_path / case.name, case, "faulty_scripts:PassesThrough", 0), capsys)
    assert status == 0, text


def test_differences_are_printed_element_by_element(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    case = identity(tmp_path, ANSWERS["five_bounds"], ANSWERS["shape"], ANSWERS["must_be_equal"])
    text = [
        execute(repro_script(tmp_path / case.name, case, "faulty_scripts:PassesThrough", n), capsys)[1]
        for n in range(3)
    ]
    assert "y[1] = 3.25, want 2.0 (5 bounds, 4 allowed)\ny: 1 of 2 differ" in text[0]
    assert "y is float32[2], want float32[2,1]" in text[1]
    assert "y[1] = 2.0, want 2.0000002" in text[2]


def test_a_wrong_number_of_outputs_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    case = identity(tmp_path, ANSWERS["same"])
    status, text = execute(repro_script(tmp_path / case.name, case, "faulty_scripts:GivesTwo", 0), capsys)
    assert status == 1
    assert "2 outputs, want 1" in text


def test_the_docstring_describes_the_case(tmp_path: Path):
    case = identity(tmp_path, ANSWERS["five_bounds"], clause="Y is X.")
    text = repro_script(tmp_path / case.name, case, "onnxruntime", 0)
    about = " ".join((ast.get_docstring(ast.parse(text)) or "").split())
    for words in (
        "test_identity (suite",
        "Identity-19",
        "V = float",
        "axis omitted, mode = same",
        "ordinary: Any value.",
        "Y is X.",
        "<= 4 * bound",
        f"onnxruntime=={sys.modules['onnxruntime'].__version__}",
        f"numpy=={np.__version__}",
    ):
        assert words in about
    assert "#     y = Identity (x)" in text
    assert "Unspecified" not in about
    unspecified = msgspec.structs.replace(case, data_sets=(DataSet(group="g", unspecified="Left open by the spec."),))
    assert "Left open by the spec." in repro_script(tmp_path / case.name, unspecified, "onnxruntime", 0)


def test_text_of_a_suite_never_becomes_code(tmp_path: Path):
    evil = '"""\nraise SystemExit(7)\n"""\\" \x00\r\'\'\' ${about} $model {0} "'
    case = identity(tmp_path, ANSWERS["same"], clause=evil, labels=Labels(op=evil, types={evil: evil}))
    graph = ast.parse(repro_script(tmp_path / case.name, case, "onnxruntime", 0))
    assert not [node for node in graph.body if isinstance(node, ast.Raise)]
    assert "raise SystemExit(7)" in (ast.get_docstring(graph) or "")


def held(text: str) -> Sequence[bytes]:
    """The data in a script, in order."""
    calls = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    found = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "b64decode"]
    found.sort(key=lambda call: call.lineno)
    return [base64.b64decode(ast.literal_eval(call.args[0])) for call in found]


def test_the_bytes_are_those_of_the_files(tmp_path: Path):
    case = identity(tmp_path, ANSWERS["same"], ANSWERS["five_bounds"])
    folder = tmp_path / case.name
    files = ["model.onnx", *(f"test_data_set_1/{stem}_0.pb" for stem in ("input", "output", "bound"))]
    assert held(repro_script(folder, case, "onnxruntime", 1)) == [(folder / file).read_bytes() for file in files]
    assert len(held(repro_script(folder, case, "onnxruntime", 0))) == 3


@pytest.mark.parametrize("backend", ["onnxruntime", "onnx-reference"])
@pytest.mark.parametrize(("name", "status"), [("four_bounds", 0), ("five_bounds", 1), ("sequence", 0), ("bfloat16", 0)])
def test_scripts_of_known_runtimes_need_no_harness(backend: str, name: str, status: int, tmp_path: Path):
    case = identity(tmp_path, ANSWERS[name])
    text = repro_script(tmp_path / case.name, case, backend, 0)
    assert "harness" not in text
    blocked = "import sys\nsys.modules['harness'] = sys.modules['backends'] = None\n"
    ended = start(text.replace("import sys\n", blocked, 1), tmp_path)
    assert (ended.returncode, ended.stderr) == (status, "")
    assert ended.stdout.endswith("failed\n" if status else "passed\n")


@pytest.mark.parametrize("name", ["string_same", "scalar", "empty", "sequence_empty", "optional_absent", "optional"])
def test_onnxruntime_gets_every_kind_of_value(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    answer = ANSWERS[name]._replace(want=ANSWERS[name].got)
    case = identity(tmp_path, answer)
    status, text = execute(repro_script(tmp_path / case.name, case, "onnxruntime", 0), capsys)
    assert status == 0, text


@pytest.mark.parametrize("name", ["int4", "uint2", "float4e2m1", "float8e5m2"])
def test_onnxruntime_gets_packed_bytes(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    value = np.array([[1, 0, 1], [0, 1, 1]]).astype(BY_NAME[name].dtype)
    info = onnx.helper.make_tensor_value_info("x", BY_NAME[name].code, [2, 3])
    model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [info], [info]), ir_version=13)
    case = identity(tmp_path, Answer(f"tensor({name})", value, value), model=model)
    status, text = execute(repro_script(tmp_path / case.name, case, "onnxruntime", 0), capsys)
    assert status == 0, text


@pytest.mark.parametrize(
    ("backend", "status", "text"),
    [
        ("miniatures:Right", 0, "y is correct"),
        ("miniatures:WrongType", 1, "y is float64[2], want float32[2]"),
        ("miniatures:Raises", 1, "axis 4"),
        ("onnx:miniatures:OnnxRight", 0, "y is correct"),
        (f"{PROGRAM} right", 0, "y is correct"),
        (f"{PROGRAM} declines", 1, "unsupported: not\n  today"),
        (f"{PROGRAM} exits", 1, "out of licences"),
    ],
)
def test_every_kind_of_backend(backend: str, status: int, text: str, tmp_path: Path):
    case = identity(tmp_path, ANSWERS["same"])
    ended = start(repro_script(tmp_path / case.name, case, backend, 0), tmp_path)
    assert ended.returncode == status, ended.stderr
    assert text in ended.stdout + ended.stderr


def test_the_script_does_not_contain_what_an_adapter_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    case = identity(tmp_path, ANSWERS["same"])
    repro_script(tmp_path / case.name, case, "faulty_scripts:PrintsWhenCreated", 0)
    assert capsys.readouterr() == ("", "welcome\n")


@pytest.mark.parametrize(
    ("backend", "data_set", "changes", "error", "text"),
    [
        ("onnxruntime", 3, {}, NoSuchDataSet, "has no data set 3: it has 3 data sets, 0 to 2"),
        ("onnxruntime", -1, {}, NoSuchDataSet, "has no data set -1"),
        ("onnxrutime", 0, {}, UnknownBackend, "Did you mean onnxruntime"),
        ("command:nosuchprogram x", 0, {}, NoProgram, "There is no program 'nosuchprogram'"),
        ("miniatures:NeedsArgument", 0, {}, BrokenAdapter, "cannot be created"),
        ("faulty_scripts:BrokenScript", 0, {}, BrokenAdapter, "is not valid Python"),
        ("onnxruntime", 0, {"outputs": ("sparse_tensor(float)",)}, NoScript, "has a sparse_tensor"),
    ],
)
def test_cases_that_cannot_be_reproduced(
    backend: str,
    data_set: int,
    changes: dict[str, Any],
    error: type[UsageError],
    text: str,
    tmp_path: Path,
):
    case = msgspec.structs.replace(identity(tmp_path, *[ANSWERS["same"]] * 3), **changes)
    with pytest.raises(error, match=text) as raised:
        repro_script(tmp_path / case.name, case, backend, data_set)
    assert raised.value.status == 2


def test_a_file_that_differs_from_the_manifest_is_refused(tmp_path: Path):
    case = identity(tmp_path, ANSWERS["same"])
    (tmp_path / case.name / "test_data_set_0" / "input_0.pb").write_bytes(b"")
    with pytest.raises(BrokenSuite, match="SHA-256"):
        repro_script(tmp_path / case.name, case, "onnxruntime", 0)
