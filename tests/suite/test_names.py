import re
from collections.abc import Mapping

import numpy as np
import onnx
import pytest

from harness.operators.operator import OMITTED
from harness.spec.schema import schema
from harness.suite.cases import Case
from harness.suite.names import LONGEST, attribute_label, case_name, label_type, shape_label, type_label


def test_names_of_the_suite_are_unique_short_and_plain(cases: Mapping[str, Case]):
    assert all(re.fullmatch(r"[a-z0-9_]+", name) and len(name) <= LONGEST for name in cases)
    assert len({name.lower() for name in cases}) == len(cases)


def named(attributes: Mapping[str, object], inputs: list[object] | None = None) -> str:
    return case_name(schema("Softmax", 13), {"T": "tensor(float)"}, attributes, inputs or [np.zeros((2, 3))])


def test_a_name_is_made_of_the_coordinates():
    assert named({"axis": OMITTED}) == "test_softmax_13_float_2x3"
    assert named({"axis": 1}) == "test_softmax_13_float_axis_1_2x3"
    assert named({"axis": -1}) == "test_softmax_13_float_axis_m1_2x3"
    assert named({"axis": -1}, [np.zeros(())]) == "test_softmax_13_float_axis_m1_scalar"
    assert named({}, [np.zeros((0, 3)), None]) == "test_softmax_13_float_0x3_none"


def test_other_domains_are_named():
    assert case_name(schema("Scaler", 1, "ai.onnx.ml"), {"T": "tensor(float)"}, {}, []).startswith("test_ai_onnx_ml_scaler_1")


def test_what_a_name_cannot_spell_gets_a_hash():
    names = {named({"mode": text}) for text in ("a b", "a_b", "a/b", "A_b")}
    assert len(names) == 3  # a_b is spelt as it is, and case does not tell names apart
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


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
