"""What is kept is given again, and made anew when its oracle or its bytes are others."""

from pathlib import Path
from typing import Any

import pytest

from harness.oracles.operator import find
from harness.suite.cache import CaseCache, operator_hash
from harness.suite.cases import Built, Case, Labels, finish
from harness.suite.directories import WriteFailed
from harness.suite.generate import CACHE, generate
from harness.suite.select import NothingSelected, Selection

CASE = Case("test_a", Labels("Abs"), ("tensor(int8)",), ("tensor(int8)",), (), 0.0, 0.0, "bounds")


class Maker:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> list[Built]:
        self.calls += 1
        return [finish(CASE, {"model.onnx": b"model"})]


def test_it_is_made_once_for_each_oracle(tmp_path: Path):
    kept, maker = CaseCache(tmp_path / "kept"), Maker()
    first = kept.get("Abs-13 int8", "one", maker)
    assert kept.get("Abs-13 int8", "one", maker) == first == tuple(maker())
    assert maker.calls == 2, "one of them above"
    kept.get("Abs-13 int8", "another", maker)
    kept.get("Abs-13 int16", "another", maker)
    assert maker.calls == 4
    assert len(list((tmp_path / "kept").iterdir())) == 2, "what is out of date is replaced"


@pytest.mark.parametrize(
    "damage", [lambda data: data[:40], lambda data: data.replace(b"model", b"medal"), lambda _: b""]
)
def test_what_is_damaged_is_made_anew(tmp_path: Path, damage: Any):
    kept, maker = CaseCache(tmp_path), Maker()
    first = kept.get("Abs-13 int8", "one", maker)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert kept.get("Abs-13 int8", "one", maker) == first
    assert maker.calls == 2


def test_a_disk_that_refuses_is_told(tmp_path: Path):
    (tmp_path / "kept").write_text("no folder")
    with pytest.raises(WriteFailed):
        CaseCache(tmp_path / "kept").get("Abs-13 int8", "one", Maker())


def test_operators_of_one_folder_share_the_hash_and_others_do_not():
    exp, abs_, bits = (find(op, since) for op, since in (("Exp", 13), ("Abs", 13), ("BitwiseNot", 18)))
    assert exp
    assert abs_
    assert bits
    assert operator_hash(exp) == operator_hash(abs_) != operator_hash(bits)


def test_the_exhaustive_suite_is_the_same_from_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    one = Selection.parse("op=BitwiseNot,Abs")
    suite, planned = generate(tmp_path / "exhaustive", "sweeps", selection=one)
    assert {p.title for p in planned} == {"BitwiseNot-18", "Abs-13"}
    assert sum(1 for _ in suite.cases()) == 10
    monkeypatch.setattr("harness.suite.generate.build_rows", lambda *_: pytest.fail("made anew"))
    again, planned = generate(tmp_path / "exhaustive", "sweeps", selection=one)
    assert (again.digest, sum(p.written for p in planned)) == (suite.digest, 0)
    assert {p.name for p in tmp_path.iterdir()} == {"exhaustive", CACHE}
    with pytest.raises(NothingSelected, match="No operator with a sweep"):
        generate(tmp_path / "exhaustive", "sweeps", selection=Selection.parse("op=Trilu"))
