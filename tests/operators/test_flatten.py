"""Flatten and Shrink: shapes and values that their documents state."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema


def of(name: str, since: int, x: np.ndarray, **attributes: Any) -> Any:
    version, one = schema(name, since), find(name, since)
    assert one
    types = {"T": f"tensor({element_type(x.dtype).name})"}
    every = dict.fromkeys((a.name for a in version.attributes), OMITTED) | attributes
    return expected(Call(one, version, types, {"input": x}, every))[0]


SHAPES = {
    OMITTED: (2, 60),
    0: (1, 120),
    1: (2, 60),
    2: (6, 20),
    3: (24, 5),
    4: (120, 1),
    -1: (24, 5),
    -2: (6, 20),
    -3: (2, 60),
    -4: (1, 120),
}


@pytest.mark.parametrize(("axis", "shape"), SHAPES.items())
def test_axes_up_to_the_given_one_are_the_rows(axis: Any, shape: tuple[int, int]):
    x = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    for since in (1, 9, 11, 13, 21, 23, 24, 25):
        if axis == OMITTED or axis >= 0 or since >= 11:
            y = of("Flatten", since, x, axis=axis).value
            assert y.shape == shape
            assert y.ravel().tolist() == list(range(120))


def test_a_scalar_and_nothing_are_matrices_too():
    assert of("Flatten", 25, np.array(3, np.int8), axis=0).value.tolist() == [[3]]
    empty = np.zeros((4, 0, 3), np.int8)
    assert [of("Flatten", 25, empty, axis=axis).value.shape for axis in (0, 1, 2, 3)] == [
        (1, 0),
        (4, 0),
        (0, 3),
        (0, 1),
    ]


@pytest.mark.parametrize("dtype", [ml_dtypes.int2, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn, np.complex64, np.bool_])
def test_elements_of_any_type_are_moved(dtype: Any):
    x = np.array([[1, 0, 1], [0, 0, 1]], dtype)
    y = of("Flatten", 25, x, axis=0).value
    assert (y.dtype, y.tolist()) == (x.dtype, [x.ravel().tolist()])


def test_at_the_limits_the_output_is_zero():
    x = np.array([-0.5, 0.5, np.nextafter(0.5, 1), -np.nextafter(0.5, 1), 0, np.nan, np.inf, -np.inf])
    y = of("Shrink", 9, x).value
    assert y.tolist() == [0, 0, x[2], x[3], 0, 0, np.inf, -np.inf]
    assert of("Shrink", 9, np.array([-2, 3], np.float32), lambd=1.5, bias=0.5).value.tolist() == [-1.5, 2.5]


def test_the_limit_is_a_float():
    between = np.array([1.1, np.nextafter(np.float64(np.float32(1.1)), 2)])
    assert of("Shrink", 9, between, lambd=1.1).value.tolist() == [0, between[1]]


def test_integers_meet_a_limit_that_is_none():
    x = np.array([-2, -1, 0, 1, 2], np.int8)
    assert of("Shrink", 9, x).value.tolist() == [-2, -1, 0, 1, 2]
    assert of("Shrink", 9, x, lambd=1.5, bias=1.0).value.tolist() == [-1, 0, 0, 0, 1]
    assert of("Shrink", 9, np.array([0, 1, 5], np.uint8), bias=1.0).value.tolist() == [0, 0, 4]


def test_wide_integers_are_no_floats():
    ends = np.array([-(2**63), 2**63 - 1, 2**53 + 1])
    assert of("Shrink", 9, ends).value.tolist() == ends.tolist()
    assert of("Shrink", 9, ends, bias=1.0).value.tolist() == [-(2**63) + 1, 2**63 - 2, 2**53]
