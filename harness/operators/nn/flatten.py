"""Flatten: the same elements in the same order, as a matrix."""

import math
from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

FLOAT, INT32 = "tensor(float)", "tensor(int32)"
AXES = (OMITTED, 0, 1, 2, 3)


def _flattened(x: np.ndarray, /, *, axis: int) -> np.ndarray:
    """Input dimensions up to ``axis`` are the outer dimension of the output, the remaining ones the inner one.

    "Negative value means counting dimensions from the back", since version 11.
    """
    axis = axis if axis >= 0 else x.ndim + axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


NEWEST = operator(
    "Flatten",
    since=25,
    exact=True,
    axis=(*AXES, -1, -2, -3),
    constraints=[lambda T, axis: T in (FLOAT, INT32) or axis is OMITTED],
)(_flattened)
FROM_11 = operator("Flatten", since=(24, 23, 21, 13, 11), exact=True, axis=(*AXES, -1, -2, -3))(_flattened)
FROM_1 = operator("Flatten", since=(9, 1), exact=True, axis=AXES)(_flattened)


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three distinct sizes, with each axis as the first of the inner ones, and after the last."""
    yield {"input": draw.T.ordinary((2, 3, 5))}


def _axis(draw: Draw) -> int:
    return 1 if draw.attributes["axis"] is OMITTED else draw.attributes["axis"]


def ranks(draw: Draw) -> Iterator[Inputs]:
    """The other ranks that have the axis: a scalar, and tensors of one, two and four axes."""
    for shape in ((), (5,), (4, 3), (2, 3, 1, 5)):
        if -len(shape) <= _axis(draw) <= len(shape):
            yield {"input": draw.T.ordinary(shape)}


def no_elements(draw: Draw) -> Iterator[Inputs]:
    """No elements: one of the sizes of the matrix is 0, and the other is what it is."""
    yield {"input": draw.T.ordinary((4, 0, 3))}


def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and extremes, which are moved as they are."""
    yield {"input": np.resize(draw.T.specials(), (2, 3, 5))}


for _op in (NEWEST, FROM_11, FROM_1):
    _op.inputs()(ordinary)
NEWEST.inputs(T=INT32)(ranks)
NEWEST.inputs(T=INT32)(no_elements)
NEWEST.inputs(T="float")(special_values)
