"""Compress: the slices along an axis that a condition selects."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

FLOAT = "tensor(float)"


def _compress(input: np.ndarray, condition: np.ndarray, *, axis: int | None) -> np.ndarray:
    """The slices "where condition evaluates to True for each axis index", without an axis of the input "flattened".

    Those "exceeding the condition length are discarded".
    """
    slices = input.reshape(-1) if axis is None else np.moveaxis(input, axis, 0)
    selected = slices[np.array([i for i, true in enumerate(condition) if true], np.int64)]
    return selected if axis is None else np.moveaxis(selected, 0, axis)


newest = operator(
    "Compress",
    since=28,
    exact=True,
    full_product=True,
    constraints=[lambda T, axis: T == FLOAT or axis == 1 or (T == "tensor(int32)" and axis in (OMITTED, -1))],
    axis=(OMITTED, 0, 1, 2, -1, -2, -3),
)(_compress)
older = operator("Compress", since=11, exact=True, axis=(OMITTED, 0, 1, 2, -1, -2, -3))(_compress)
oldest = operator("Compress", since=9, exact=True, axis=(OMITTED, 0, 1, 2))(_compress)

SHAPE = (3, 5, 4)


def selected(draw: Draw, shape: Shape, condition: Any) -> Inputs:
    """Ordinary values."""
    return {"input": draw.T.ordinary(shape), "condition": np.array(condition, bool)}


@newest.inputs()
@older.inputs()
@oldest.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """The first and the third of the elements or slices, of which there may be more than the condition speaks of."""
    yield selected(draw, SHAPE, [1, 0, 1])


@newest.inputs(T="int32")
@older.inputs(T="int32")
@oldest.inputs(T="int32")
def lengths(draw: Draw) -> Iterator[Inputs]:
    """Conditions as long as the axis or the flattened input, and of no elements."""
    axis = draw.attributes["axis"]
    length = 60 if axis is OMITTED else SHAPE[axis]
    yield selected(draw, SHAPE, [*np.resize([1, 1, 0], length - 1), 1])
    yield selected(draw, SHAPE, [])


@newest.inputs(T="int32")
@older.inputs(T="int32")
@oldest.inputs(T="int32")
def all_and_none(draw: Draw) -> Iterator[Inputs]:
    """All that the condition speaks of, nothing, the last alone."""
    for condition in ([1, 1, 1], [0, 0, 0], [0, 0, 1]):
        yield selected(draw, SHAPE, condition)


@newest.inputs(T="int32")
def other_ranks(draw: Draw) -> Iterator[Inputs]:
    """One and four axes; no slices, and slices of no elements."""
    axis: Any = draw.attributes["axis"]
    if axis == 1:
        return
    for shape in ((6,), (2, 3, 4, 5), (0, 2), (3, 0)):
        length = math.prod(shape) if axis == OMITTED else shape[axis]
        yield selected(draw, shape, np.resize([0, 1, 1], length))


@newest.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and extremes, which are moved as they are."""
    if draw.types["T"] != FLOAT or draw.attributes["axis"] == 0:
        yield {"input": np.resize(draw.T.specials(), SHAPE), "condition": np.array([True, False, True])}


_MATRIX = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
newest.example("test_compress_0", _MATRIX, [False, True, True], axis=0, gives=_MATRIX[1:])
newest.example(
    "test_compress_default_axis",
    _MATRIX,
    [False, True, False, False, True],
    gives=np.array([2, 5], np.float32),
)
newest.example("test_compress_negative_axis", _MATRIX, [False, True], axis=-1, gives=_MATRIX[:, 1:])
