"""Concat: tensors one after the other along an axis."""

from collections.abc import Iterator, Sequence

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

SOME = ("tensor(float)", "tensor(string)")
"""Types that meet every axis; the others meet the last."""


def joined(tensors: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """Each tensor where those before it end."""
    first = tensors[0]
    end = sum(tensor.shape[axis] for tensor in tensors)
    result = np.empty_like(first, shape=(end, *np.delete(first.shape, axis)))
    start = 0
    for tensor in tensors:
        lines = np.moveaxis(tensor, axis, 0)
        result[start : start + len(lines)] = lines
        start += len(lines)
    return np.moveaxis(result, 0, axis % first.ndim)


@operator(
    "Concat",
    since=13,
    exact=True,
    axis=(0, 2, -1, -2),
    constraints=[lambda T, axis: T in SOME or axis == -1],
)
def concat(*inputs: np.ndarray, axis: int) -> np.ndarray:
    """Tensors of "the same shape, except for the dimension size of the axis", counted from either end."""
    return joined(inputs, axis)


@operator("Concat", since=11, exact=True, axis=(0, 1, 2, -1, -2, -3))
def concat_11(*inputs: np.ndarray, axis: int) -> np.ndarray:
    """As version 13."""
    return joined(inputs, axis)


@operator("Concat", since=4, exact=True, axis=(0, 1, 2))
def concat_4(*inputs: np.ndarray, axis: int) -> np.ndarray:
    """As later ones, without negative axes."""
    return joined(inputs, axis)


@operator("Concat", since=1, exact=True, axis=(OMITTED, 0, 1, 2))
def concat_1(*inputs: np.ndarray, axis: int | None) -> np.ndarray:
    """As version 4; "Default value is 1", which the schema does not hold."""
    return joined(inputs, 1 if axis is None else axis)


def asked(draw: Draw, shape: Sequence[int], *sizes: int) -> Inputs:
    """Tensors of this shape, but for their sizes on the axis."""
    axis = 1 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]
    shapes = [list(shape) for _ in sizes]
    for one, size in zip(shapes, sizes, strict=True):
        one[axis] = size
    return {"inputs": tuple(map(draw.T.ordinary, shapes))}


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three tensors of three axes, each of another size on the axis."""
    yield asked(draw, (3, 4, 5), 2, 1, 6)


def one_to_many(draw: Draw) -> Iterator[Inputs]:
    """One tensor, nine."""
    yield asked(draw, (3, 4, 5), 2)
    yield asked(draw, (2, 4, 3), 1, 5, 1, 2, 1, 1, 3, 1, 1)


def empty(draw: Draw) -> Iterator[Inputs]:
    """Tensors of no size on the axis, first, between others and last; no size on another axis."""
    yield asked(draw, (3, 4, 5), 0, 2, 0, 1, 0)
    yield asked(draw, (0, 0, 0), 2, 3)


def ranks(draw: Draw) -> Iterator[Inputs]:
    """Tensors of one axis, two, four and five, as far as they have the axis."""
    axis = 1 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]
    for shape in ((4,), (3, 5), (2, 1, 3, 4), (3, 2, 1, 4, 1)):
        if -len(shape) <= axis < len(shape):
            yield asked(draw, shape, 2, 3)


def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs, subnormal and largest numbers come through as they are."""
    inputs = asked(draw, (3, 4, 5), 2, 1, 6)["inputs"]
    yield {"inputs": tuple(np.resize(draw.T.specials()[i:], x.shape) for i, x in enumerate(inputs))}


for _op in (concat, concat_11, concat_4, concat_1):
    _op.inputs()(ordinary)
for _op in (concat, concat_11, concat_4):
    _op.inputs(T="tensor(float)")(empty)
concat.inputs(T="tensor(float)")(ranks)
concat.inputs(T="tensor(float)")(one_to_many)
concat_1.inputs()(empty)
concat_1.inputs()(ranks)
concat.inputs(T="double")(special_values)


def _floats(*values: object) -> np.ndarray:
    return np.array(values, np.float32)


concat.example("test_concat_1d_axis_0", _floats(1, 2), _floats(3, 4), axis=0, gives=_floats(1, 2, 3, 4))
concat.example(
    "test_concat_2d_axis_1",
    _floats([1, 2], [3, 4]),
    _floats([5, 6], [7, 8]),
    axis=1,
    gives=_floats([1, 2, 5, 6], [3, 4, 7, 8]),
)
concat.example(
    "test_concat_3d_axis_negative_3",
    _floats([[1, 2], [3, 4]], [[5, 6], [7, 8]]),
    _floats([[9, 10], [11, 12]], [[13, 14], [15, 16]]),
    axis=-3,
    gives=_floats([[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]], [[13, 14], [15, 16]]),
)
