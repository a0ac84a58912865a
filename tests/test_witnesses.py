"""Every oracle against three witnesses: a disagreement needs a ruling, and a ruling a disagreement."""

import fcntl
import tomllib
from pathlib import Path

import msgspec
import onnx
import pytest

from harness.results.lines import UNSCORED, Result
from harness.running.run import Options, run
from harness.suite.fingerprint import fingerprint, is_up_to_date
from harness.suite.generate import EVERYTHING, generate, request_text
from harness.suite.manifest import Suite, open_suite
from harness.suite.official import generate_official
from harness.suite.select import Selection


class Ruling(msgspec.Struct, forbid_unknown_fields=True):
    witness: str
    select: str
    verdict: str
    right: str
    clause: str
    why: str
    suite: str = "matrix"
    sometimes: bool = False
    """Whether it may match nothing: what a witness takes from memory that it has not written, say."""


HERE = Path(__file__).parent
RULINGS = [
    ruling
    for file in (HERE / "rulings.toml", *sorted((HERE / "rulings").glob("*.toml")))
    for ruling in msgspec.convert(tomllib.loads(file.read_text())["ruling"], list[Ruling])
]


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Suite:
    """The suite in testdata if it is up to date, else one that the processes of a test run share."""
    there = HERE.parent / "testdata" / "matrix"
    made = fingerprint(request_text("pairs", EVERYTHING))
    if is_up_to_date(there, made):
        return open_suite(there)
    shared = tmp_path_factory.getbasetemp().parent / f"shared-{testrun_uid}"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other processes wait until one has generated it
        if is_up_to_date(shared / "matrix", made):
            return open_suite(shared / "matrix")
        return generate(shared / "matrix", jobs=2)[0]


REFUSED = {
    "MeanVarianceNormalization": "its function body adds a float, whatever T is",
    "RMSNormalization": "its function body gives Y the type of X, whatever V is",
    "ConvTranspose": "inference breaks off amid the shape where output_shape is less than the input's",
}
"""Operators of which onnx's own inference refuses models that the text allows, and why."""


def test_every_model_is_valid(matrix: Suite):
    """By onnx's checker, with the types and shapes that it infers, unless the text leaves open what these are."""
    refused: set[str] = set()
    for case in matrix.cases():
        try:
            onnx.checker.check_model(onnx.load(matrix.path / case.name / "model.onnx"), full_check=True)
        except onnx.shape_inference.InferenceError:
            assert case.labels.op in REFUSED or all(one.unspecified for one in case.data_sets), case.name
            refused.add(case.labels.op)
    assert refused >= REFUSED.keys()


def disagreements(suite: Suite, witness: str, folder: Path) -> list[Result]:
    """What the witness says otherwise: not what it declines, what is silent or what the machine lacks."""
    finished = run(suite, witness, Options(), folder, quiet=True)
    return [r for r in finished.results if r.verdict not in ("passed", "unsupported", *UNSCORED) and not r.known]


def settle(suite: Suite, witness: str, folder: Path) -> None:
    rulings = [r for r in RULINGS if (r.witness, r.suite) == (witness, suite.name)]
    met: set[str] = set()
    open_questions: list[str] = []
    for result in disagreements(suite, witness, folder):
        for ruling in rulings:
            selection = Selection.parse(ruling.select)
            if ruling.verdict == result.verdict and selection.matches(result.case, result.labels, result.data_set):
                met.add(ruling.select)
                break
        else:
            open_questions.append(f"{result.case} {result.data_set}: {result.verdict}, {result.message}")
    assert not open_questions
    assert {r.select for r in rulings if not r.sometimes} <= met


@pytest.mark.parametrize("witness", ["onnx-reference", "onnxruntime", "numpy"])
def test_runtimes_agree_or_there_is_a_ruling(witness: str, matrix: Suite, tmp_path: Path):
    """numpy is the oracle itself in float64: what its roundings come to must pass everywhere."""
    settle(matrix, witness, tmp_path)


def test_the_official_expected_values_agree_or_there_is_a_ruling(tmp_path: Path):
    suite, _ = generate_official(tmp_path / "official")
    settle(suite, "numpy", tmp_path / "results")


def test_rulings_say_who_is_right():
    assert {r.right for r in RULINGS} <= {"oracle", "witness", "neither", "both"}
    assert all(r.clause and r.why for r in RULINGS)
