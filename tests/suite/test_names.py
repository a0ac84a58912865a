import re
from collections.abc import Mapping

import numpy as np
import onnx
import pytest

from harness.oracles.operator import OMITTED, Sample
from harness.spec.schema import schema
from harness.spec.values import Typed, parse_type, proto_of_type
from harness.suite.cases import Case
from harness.suite.names import LONGEST, attribute_label, case_name, label_type, shape_label, type_label


def test_names_of_the_suite_are_unique_short_and_plain(cases: Mapping[str, Case]):
    assert all(re.fullmatch(r"[a-z0-9_]+", name) and len(name) <= LONGEST for name in cases)
    assert len({name.lower() for name in cases}) == len(cases)


def named(attributes: Mapping[str, object], inputs: dict[str, object] | None = None) -> str:
    drawn = Sample({"input": np.zeros((2, 3))} | (inputs or {}))
    return case_name(schema("Softmax", 13), {"T": "tensor(float)"}, attributes, drawn)


def test_a_name_is_made_of_the_coordinates():
    assert named({"axis": OMITTED}) == "test_softmax_13_float_2x3"
    assert named({"axis": 1}) == "test_softmax_13_float_axis_1_2x3"
    assert named({"axis": -1}) == "test_softmax_13_float_axis_m1_2x3"
    assert named({"axis": -1}, {"input": np.zeros(())}) == "test_softmax_13_float_axis_m1_scalar"
    assert named({}, {"input": np.zeros((0, 3))}) == "test_softmax_13_float_0x3"


def test_omitted_inputs_and_outputs_are_named():
    trilu, types = schema("Trilu", 14), {"T": "tensor(float)"}
    x, k = np.zeros((2, 3)), np.array(1)
    assert case_name(trilu, types, {}, Sample({"input": x, "k": k})) == "test_trilu_14_float_2x3_scalar"
    assert case_name(trilu, types, {}, Sample({"input": x})) == "test_trilu_14_float_2x3_none"
    assert case_name(trilu, types, {}, Sample({"input": x}, ("output",))).endswith("2x3_none_without_output")
    assert case_name(schema("Sum", 13), types, {}, Sample({"data_0": (x, k)})) == "test_sum_13_float_2x3_scalar"


def test_other_domains_are_named():
    assert case_name(schema("Scaler", 1, "ai.onnx.ml"), {"T": "tensor(float)"}, {}, Sample({})).startswith(
        "test_ai_onnx_ml_scaler_1"
    )


def test_what_a_name_cannot_spell_gets_a_hash():
    names = {named({"mode": text}) for text in ("a b", "a_b", "a/b", "A_b")}
    assert len(names) == 3  # a_b is spelt as it is, and case does not tell names apart
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


def test_structured_values_and_graphs_are_named():
    assert shape_label(None) == "empty"
    assert shape_label([np.zeros(2), np.zeros(())]) == "seq_2_scalar"
    assert shape_label(Typed(parse_type("tensor(int64)"), np.zeros((2, 3)))) == "int64_2x3"
    assert attribute_label(onnx.GraphProto(name="loop body")) == "loop_body"
    assert attribute_label(proto_of_type(parse_type("seq(tensor(int64))"))) == "seq(tensor(int64))"
    assert attribute_label(proto_of_type(parse_type("tensor(int64)"))) == "int64"


def test_long_names_are_cut_and_told_apart_by_a_hash():
    first, second = (named({"values": list(range(start, start + 80))}) for start in (0, 1))
    assert len(first) <= LONGEST
    assert first != second


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (float(np.float32(0.1)), "0.1"),
        (1e-5, "1e-05"),
        ([1, 2], "[1,2]"),
        ([0.5], "[0.5]"),
        (b"linear", "linear"),
        ([b"a", b"b"], "[a,b]"),
        (onnx.TensorProto(dims=[2, 3]), "tensor[2, 3]"),
    ],
)
def test_attribute_labels(value: object, text: str):
    assert attribute_label(value) == text


def test_type_labels_are_short_for_tensors_and_come_back():
    for text in ("tensor(float16)", "seq(tensor(float))", "optional(seq(tensor(string)))"):
        assert label_type(type_label(text)) == text
    assert type_label("tensor(float16)") == "float16"


def test_shape_labels():
    assert shape_label([np.zeros((2,)), np.zeros(())]) == "seq_2_scalar"
    assert shape_label({1: np.zeros(2)}) == "map1"
