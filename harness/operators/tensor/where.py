"""Where: elements of one tensor or of another, as a condition has it."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator


def _where(condition: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Broadcasting all three: "When True (nonzero), yield X, otherwise yield Y"."""
    return np.where(condition, X, Y)


newest = operator("Where", since=16, exact=True)(_where)
older = operator("Where", since=9, exact=True)(_where)

SHAPE = (3, 5, 7)
MEETING: tuple[tuple[Shape, Shape, Shape], ...] = (
    ((), (), ()),
    ((), (2, 3), (2, 3)),
    ((), (3, 1), (4,)),
    ((2, 3), (), ()),
    ((2, 3), (), (2, 3)),
    ((2, 3), (3,), (2, 1)),
    ((3, 5), (1, 5), (3, 1)),
    ((5,), (3, 1), (3, 5)),
    ((2, 1, 1), (3, 1), (4,)),
    ((4,), (2, 1, 1), (3, 1)),
    ((3, 1), (4,), (2, 1, 1)),
    ((2, 1, 3, 1), (1, 4, 1, 5), (5,)),
    ((0,), (), (1,)),
    ((1,), (1, 3), (0, 1)),
    ((0, 1), (1, 0), (1, 1)),
    ((2, 1, 1), (2, 0, 4), (4,)),
)
"""Shapes of the condition and the tensors: 0-D, sizes of 1, missing leading axes, no elements, each on any side."""


def chosen(draw: Draw, *shapes: Shape) -> Inputs:
    """Ordinary values, either as likely."""
    condition, x, y = shapes
    even = (draw.words(int(np.prod(condition))) % np.uint64(2) == 0).reshape(condition)
    return {"condition": even, "X": draw.T.ordinary(x), "Y": draw.T.ordinary(y)}


@newest.inputs()
@older.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three tensors of one shape."""
    yield chosen(draw, SHAPE, SHAPE, SHAPE)


@older.inputs(T="int32")
def broadcast(draw: Draw) -> Iterator[Inputs]:
    """Some of the ways for three shapes to meet."""
    for shapes in MEETING[1::6]:
        yield chosen(draw, *shapes)


@newest.inputs(T="int32")
def every_shape(draw: Draw) -> Iterator[Inputs]:
    """Every way for three shapes to meet: each may be 0-D, have sizes of 1, lack leading axes, have no elements."""
    for shapes in MEETING:
        yield chosen(draw, *shapes)


@newest.inputs(T=("float", "int64", "uint64"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and extremes on the side chosen and on the other: no arithmetic lets them through."""
    specials = draw.T.specials()
    inputs = chosen(draw, SHAPE, SHAPE, SHAPE)
    yield {**inputs, "X": np.resize(specials, SHAPE), "Y": np.resize(specials[::-1], SHAPE)}


newest.example(
    "test_where_long_example",
    [[True, False], [True, True]],
    [[1, 2], [3, 4]],
    [[9, 8], [7, 6]],
    gives=[[1, 8], [3, 4]],
)
