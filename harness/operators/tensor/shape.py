"""Shape and Size: the sizes of a tensor's axes, and their product."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator


def _shape(data: np.ndarray, *, start: int, end: int | None) -> np.ndarray:
    """The sizes from ``start`` up to ``end``, "clamped to the range [0, r]", "after adding r" to negative ones."""
    rank = data.ndim
    first, last = (
        min(max(axis + rank if axis < 0 else axis, 0), rank) for axis in (start, rank if end is None else end)
    )
    return np.array(data.shape[first:last], np.int64)


FIRST, LAST = -(2**63), 2**63 - 1
SLICES: tuple[tuple[Any, Any], ...] = (
    (OMITTED, OMITTED),
    (1, OMITTED),
    (-1, OMITTED),
    (-4, OMITTED),
    (3, OMITTED),
    (LAST, OMITTED),
    (OMITTED, 0),
    (OMITTED, -1),
    (OMITTED, 4),
    (OMITTED, -4),
    (OMITTED, FIRST),
    (1, 2),
    (1, -1),
    (-2, -1),
    (-3, 2),
    (2, 1),
    (5, -4),
    (FIRST, LAST),
)
"""Ends of slices of three sizes: inside, at the ends and beyond, from either end, crossed."""
STARTS, ENDS = (tuple(dict.fromkeys(side)) for side in zip(*SLICES, strict=True))

shape_25 = operator(
    "Shape",
    since=25,
    exact=True,
    full_product=True,
    constraints=[
        lambda start, end: (start, end) in SLICES,
        lambda T, start, end: T == "tensor(float)" or (start, end) == (OMITTED, OMITTED),
    ],
    start=STARTS,
    end=ENDS,
)(_shape)
shape_15 = operator("Shape", since=(24, 23, 21, 19, 15), exact=True, start=STARTS, end=ENDS)(_shape)


@operator("Shape", since=(13, 1), exact=True)
def shape_1(data: np.ndarray) -> np.ndarray:
    """All the sizes, a "1D int64 tensor"."""
    return np.array(data.shape, np.int64)


def _size(data: np.ndarray) -> np.ndarray:
    """The "total number of elements of the input tensor", a scalar."""
    return np.array(math.prod(data.shape), np.int64)


size_25 = operator("Size", since=25, exact=True)(_size)
size_1 = operator("Size", since=(24, 23, 21, 19, 13, 1), exact=True)(_size)

SHAPES: tuple[Shape, ...] = ((), (4,), (1,), (0,), (2, 0, 3), (3, 1, 2, 5), (2, 1, 3, 1, 1, 4))
"""0-D, no elements, axes of size 1, up to rank 6."""


@shape_25.inputs()
@shape_15.inputs()
@shape_1.inputs()
@size_25.inputs()
@size_1.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three distinct sizes, whose product is odd."""
    yield {"data": draw.T.ordinary((3, 5, 7))}


@shape_15.inputs(T="int32")
@shape_1.inputs(T="int32")
@size_1.inputs(T="int32")
def another(draw: Draw) -> Iterator[Inputs]:
    """Another shape in each version: 0-D, no elements, sizes of 1, up to six axes."""
    yield {"data": draw.T.ordinary(SHAPES[draw.integer(0, len(SHAPES) - 1)])}


@shape_25.inputs(T="int32")
@size_25.inputs(T="int32")
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, no elements, sizes of 1, up to six axes."""
    yield from ({"data": draw.T.ordinary(shape)} for shape in SHAPES)


@shape_25.inputs(T="float")
def slices_of_other_ranks(draw: Draw) -> Iterator[Inputs]:
    """A slice of no sizes and of five."""
    if draw.types["T"] == "tensor(float)" and (draw.attributes["start"], draw.attributes["end"]) in OF_OTHER_RANKS:
        yield from ({"data": draw.T.ordinary(shape)} for shape in ((), (2, 1, 3, 5, 4)))


OF_OTHER_RANKS = ((-3, 2), (OMITTED, -1))

shape_25.example("test_shape_example", np.array([[1, 2, 3], [4, 5, 6]], np.float32), gives=[2, 3])
size_25.example("test_size_example", np.array([[1, 2, 3], [4, 5, 6]], np.float32), gives=6)
