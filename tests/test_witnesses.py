"""Every oracle against three witnesses: a disagreement needs a ruling, and a ruling a disagreement."""

import tomllib
from pathlib import Path

import msgspec
import onnx
import pytest

from harness.running.results import Result
from harness.running.run import Options, run
from harness.suite.generate import generate
from harness.suite.manifest import Suite
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
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return generate(tmp_path_factory.mktemp("testdata") / "matrix")[0]


def test_every_model_is_valid(matrix: Suite):
    """By onnx's checker, with the types and shapes that it infers."""
    for case in matrix.cases():
        onnx.checker.check_model(onnx.load(matrix.path / case.name / "model.onnx"), full_check=True)


def disagreements(suite: Suite, witness: str, folder: Path) -> list[Result]:
    """What the witness says otherwise: not what it declines, what is silent or what the machine lacks."""
    finished = run(suite, witness, Options(), folder, quiet=True)
    return [r for r in finished.results if r.verdict not in ("passed", "unsupported", "silent") and not r.known]


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
