import ml_dtypes
import numpy as np
import onnx
import pytest

from harness.reports.operator_pages.python_text import ELEMENTS, array_text, type_text, value_text
from harness.spec.element_types import BY_NAME
from harness.spec.values import parse_type, type_of_proto


@pytest.mark.parametrize("of", [of for of in BY_NAME.values() if 0 < of.bits <= 16], ids=lambda of: of.name)
def test_round_trip_of_all_values_of_narrow_types(of, assert_same):
    bits = np.arange(2 if of.kind == "bool" else 2**of.bits, dtype=np.uint8 if of.bits <= 8 else np.uint16)
    values = bits.view(of.dtype)
    with np.errstate(invalid="ignore"):
        assert_same(eval(array_text(values), {"np": np, "ml_dtypes": ml_dtypes}), values)  # noqa: S307


@pytest.mark.parametrize(
    "value",
    [
        np.float32([0.1, -0.0, 1e-45, 3.4028235e38, np.nan, -np.inf]),
        np.array(5e-324),
        np.complex64([[complex(-0.0, 0.1), complex(np.nan, -np.inf)]]),
        np.zeros((3, 0, 2), np.int8),
        np.array(["", 'a "b" \\', "two\nlines", "é\u202e\x00", "```"], object),
        np.array("x", object),
        np.iinfo(np.uint64).max * np.ones((2, 1, 3), np.uint64),
    ],
    ids=lambda value: f"{value.dtype}{list(value.shape)}",
)
def test_round_trip_of_values(value, assert_same):
    text = value_text(value)
    assert text
    assert_same(eval(text, {"np": np}), value)  # noqa: S307


def test_large_values_have_no_expression():
    assert value_text(np.zeros(ELEMENTS))
    assert value_text(np.zeros(ELEMENTS + 1)) is None
    assert value_text([np.zeros(ELEMENTS), np.zeros(1)]) is None
    assert value_text(np.array("x" * 10_000, object)) is None
    assert value_text({1: np.zeros(1)}) is None


def test_sequences_and_absent_optionals_are_written(assert_same):
    first, second = eval(value_text([np.zeros(1), np.ones((2, 1))]), {"np": np})  # noqa: S307
    assert_same(first, np.zeros(1))
    assert_same(second, np.ones((2, 1)))
    assert value_text(None) == "None"
    assert value_text([]) == "[]"


@pytest.mark.parametrize("text", ["tensor(bfloat16)", "seq(tensor(string))", "optional(seq(tensor(uint4)))"])
def test_round_trip_of_types(text):
    assert str(type_of_proto(eval(type_text(parse_type(text)), {"onnx": onnx}))) == text  # noqa: S307
