"""The official tests as directories: all of them, labelled, in the form that onnx's own generator gives them."""

import json
from collections import Counter
from pathlib import Path

import onnx
import pytest
from onnx.backend.test.loader import load_model_tests

from harness.suite.cases import Case, Labels
from harness.suite.coverage import coverage
from harness.suite.manifest import Suite
from harness.suite.official import generate_official, labels_of


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return generate_official(tmp_path_factory.mktemp("testdata") / "official")[0]


@pytest.fixture(scope="module")
def cases(official: Suite) -> dict[str, Case]:
    return {case.name: case for case in official.cases()}


def test_every_test_whose_data_is_installed_is_there(cases: dict[str, Case]):
    groups = Counter(case.data_sets[0].group for case in cases.values())
    assert groups["node"] + groups["expanded"] + groups["graph"] == len(load_model_tests(kind="node")) == 1884
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        assert groups[kind] == len(load_model_tests(kind=kind))
    assert groups.total() == len(cases) == 2024


def test_names_that_differ_in_capitals_only_bear_their_kind(cases: dict[str, Case]):
    assert len({name.lower() for name in cases}) == len(cases)
    assert {"test_elu", "test_ELU_pytorch_converted"} <= cases.keys()


def test_they_are_judged_by_their_own_tolerances(official: Suite, cases: dict[str, Case]):
    assert {(case.judged, case.rtol, case.atol) for case in cases.values()} == {("tolerance", 1e-3, 1e-7)}
    data = json.loads((official.path / "test_elu" / "data.json").read_text())
    assert (data["rtol"], data["atol"]) == (1e-3, 1e-7)


def test_labels_are_read_from_the_models(cases: dict[str, Case]):
    assert cases["test_tril_neg"].labels == Labels(
        op="Trilu", since=14, category="tensor", types={"T": "int64"}, attributes={"upper": "0"}
    )
    assert cases["test_triu"].labels.omitted == ("k",)
    assert cases["test_cumprod_1d_exclusive"].labels.types == {"T": "double", "T2": "int32"}
    assert cases["test_identity_opt"].labels.types == {"V": "optional(seq(tensor(float)))"}
    assert cases["test_cast_FLOAT_to_BFLOAT16"].labels.types == {"T1": "float", "T2": "bfloat16"}
    assert cases["test_elu_expanded_ver18"].labels.op == ""


def test_what_draws_random_numbers_is_never_scored(cases: dict[str, Case]):
    unspecified = {name for name, case in cases.items() if case.data_sets[0].unspecified}
    assert {"test_bernoulli", "test_bernoulli_seed_expanded", "test_training_dropout"} <= unspecified
    assert all("ernoulli" in name or "training_dropout" in name for name in unspecified)
    assert "test_training_dropout_zero_ratio" not in unspecified, "nothing is dropped"


def test_a_model_of_an_unknown_operator_is_labelled_by_its_name():
    node = onnx.helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")
    graph = onnx.helper.make_graph([node], "g", [], [])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("com.example", 1)])
    assert labels_of(model) == Labels(op="Frobnicate", domain="com.example")


def test_files_are_those_of_the_simple_tests_as_they_are(official: Suite):
    for test in load_model_tests(kind="simple"):
        for file in Path(test.model_dir).rglob("*put_*.pb"):
            assert (official.path / test.name / file.relative_to(test.model_dir)).read_bytes() == file.read_bytes()


def test_a_second_writing_touches_nothing(official: Suite):
    again, touched = generate_official(official.path)
    assert (again, touched) == (official, 0)


def test_coverage_counts_what_they_exercise(official: Suite):
    found = coverage(official.cases(), official.name, official.digest)
    assert len(found.versions) == 654
    assert found.total("pairs_possible", newest=True) == 2986
    assert 0 < found.total("pairs", newest=True) < 2986
    (trilu,) = (v for v in found.versions if v.op == "Trilu")
    assert (trilu.pairs, trilu.pairs_possible, trilu.missing_attributes) == (1, 16, ())
    assert "T=bfloat16" in trilu.missing_pairs
