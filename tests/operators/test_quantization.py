"""Quantization: the literal numbers of the documents, and what old versions and old types make of them."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.oracles.evaluate import Expected, expected
from harness.oracles.node import Call
from harness.oracles.operator import find
from harness.spec.element_types import element_type
from harness.spec.schema import schema


def evaluated(op: str, since: int, inputs: dict[str, Any], y: str, **attributes: Any) -> tuple[Expected, ...]:
    """The outputs, the first of the type ``y``."""
    version = schema(op, since)
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    types = {
        p.type_str: f"tensor({element_type(arrays[p.name].dtype).name})" for p in version.inputs if p.name in inputs
    }
    types[version.outputs[0].type_str] = f"tensor({y})"
    return expected(Call(find(op, since), version, types, arrays, attributes))


def dequantized(since: int, x: Any, scale: Any, zero_point: Any = None, y: str = "float", **attributes: Any) -> Any:
    inputs = {"x": x, "x_scale": scale} | ({} if zero_point is None else {"x_zero_point": zero_point})
    return (
        np.asarray(evaluated("DequantizeLinear", since, inputs, y, **attributes)[0].value).astype(np.float64).tolist()
    )


@pytest.mark.parametrize("since", [10, 13, 19, 21, 23, 24, 25, 28])
def test_the_difference_from_the_zero_point_is_scaled(since: int):
    x = np.array([0, 3, 128, 255], np.uint8)
    assert dequantized(since, x, np.float32(2), np.uint8(128)) == [-256, -250, 0, 254]


def test_scales_are_of_the_tensor_the_axis_or_the_block():
    x = np.arange(10, dtype=np.int8).reshape(2, 5)
    assert dequantized(13, x, np.float32([1, 2]), np.int8([0, 5]), axis=-2) == [[0, 1, 2, 3, 4], [0, 2, 4, 6, 8]]
    blocks = np.float32([[1, 10, 100], [2, 20, 200]])
    assert dequantized(21, x, blocks, axis=1, block_size=2) == [[0, 1, 20, 30, 400], [10, 12, 140, 160, 1800]]


def test_the_result_has_the_type_asked_for():
    scale = np.array(0.5, ml_dtypes.float8_e8m0fnu)
    assert dequantized(24, np.int8([3]), scale, y="bfloat16", output_dtype=16) == [1.5]


@pytest.mark.parametrize(
    ("x", "scale", "zero_point", "ends"),
    [
        ([0, 2, -3, -2.5, 1.34, 0.5], 0.0196078438, 153, (0, 255)),
        ([-1.0, -2.1, -1.3, -2.5, -3.34, -4.0], 0.0156862754, 255, (0, 191)),
        ([1, 2.1, 1.3, 2.5, 3.34, 4.0, 1.5, 2.6, 3.9, 4.0, 3.0, 2.345], 0.0156862754, 0, (64, 255)),
    ],
)
def test_scale_and_zero_point_are_those_of_its_example(
    x: list[float], scale: float, zero_point: int, ends: tuple[int, int]
):
    y, y_scale, y_zero_point = evaluated("DynamicQuantizeLinear", 11, {"x": np.float32(x)}, "uint8")
    assert y_scale.value == np.float32(scale)
    assert {int(v) for v in (y_zero_point.value, *y_zero_point.alternatives)} == {zero_point}
    assert (y.value.min(), y.value.max()) == ends


def test_a_near_tie_accepts_both_neighbours():
    """0.5 / 0.019607844 is 25.499999 exactly and 25.5 in float."""
    y, *_ = evaluated("DynamicQuantizeLinear", 11, {"x": np.float32([0, 2, -3, 0.5])}, "uint8")
    assert {int(v[3]) for v in (y.value, *y.alternatives)} == {178, 179}
    assert {int(v[1]) for v in (y.value, *y.alternatives)} == {255}


def quantized(since: int, x: Any, scale: Any, zero_point: Any = None, y: str = "uint8", **attributes: Any) -> Any:
    inputs = {"x": x, "y_scale": scale} | ({} if zero_point is None else {"y_zero_point": zero_point})
    (found,) = evaluated("QuantizeLinear", since, inputs, y, **attributes)
    assert (found.bound, found.alternatives) == (None, ())
    return np.asarray(found.value).astype(np.float64).tolist()


@pytest.mark.parametrize("since", [10, 13, 19, 21, 23, 24, 25, 28])
def test_the_quotient_is_rounded_shifted_and_saturated(since: int):
    x = np.float32([0, 2, 3, 1000, -254, -1000, 1, -1, 2**40, -np.inf])
    assert quantized(since, x, np.float32(2), np.uint8(128)) == [128, 129, 130, 255, 1, 0, 128, 128, 255, 0]
    assert quantized(since, x, np.float32(2)) == [0, 1, 2, 255, 0, 0, 0, 0, 255, 0]
    assert quantized(since, np.int32([7, -300]), np.float32(2), np.int8(1), y="int8") == [5, -128]


def test_ties_go_to_the_even_quotient_before_the_zero_point_is_added():
    assert quantized(28, np.float32([0.5, 1.5, -0.5, 2.5]), np.float32(1), np.uint8(5)) == [5, 7, 5, 7]


@pytest.mark.parametrize(
    ("y", "saturate", "gives"),
    [
        ("float8e4m3fn", 1, [448, 448, -448, 448, 1.125]),
        ("float8e4m3fn", 0, [np.nan, np.nan, np.nan, 448, 1.125]),
        ("float8e5m2", 1, [57344, 57344, -57344, 448, 1]),
        ("float8e5m2", 0, [np.inf, np.inf, -np.inf, 448, 1]),
        ("float8e5m2fnuz", 0, [np.nan, np.nan, np.nan, 448, 1]),
    ],
)
def test_float8_saturates_as_the_tables_of_cast_say(y: str, saturate: int, gives: list[float]):
    x = np.float32([np.inf, 100000, -100000, 448, 1.0625 + 2**-10])
    found = quantized(28, x, np.float32(1), y=y, output_dtype=element_type(y).code, saturate=saturate)
    np.testing.assert_array_equal(found, gives)


def test_narrow_types_have_their_own_ends():
    x = np.float32([-9, -2.5, 1.5, 3, 8])
    for y, gives in {
        "uint4": [0, 0, 2, 3, 8],
        "int4": [-8, -2, 2, 3, 7],
        "uint2": [0, 0, 2, 3, 3],
        "int2": [-2, -2, 1, 1, 1],
    }.items():
        assert quantized(28, x, np.float32(1), y=y, output_dtype=element_type(y).code) == gives


def test_blocks_have_scales_of_their_own():
    x = np.float32([[1, 2, 3, 4, 5], [10, 20, 30, 40, 50]])
    scale = np.float32([[1, 2, 5], [10, 5, 2]])
    assert quantized(21, x, scale, axis=-1, block_size=2) == [[1, 2, 2, 2, 1], [1, 2, 6, 8, 25]]
    assert quantized(13, x, np.float32([1, 10]), axis=0) == [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]
