"""Transpose: the axes of a tensor in another order."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator
from harness.spec.schema import schema

FLOAT = "tensor(float)"


def _transposed(data: np.ndarray, *, perm: list[int] | None) -> np.ndarray:
    """By default ``(n-1, ..., 0)``; "axis ``i`` of the output tensor corresponds to axis ``perm[i]`` of the input"."""
    order = list(range(data.ndim))[::-1] if perm is None else perm
    transposed = np.empty_like(data, shape=[data.shape[axis] for axis in order])
    for index in np.ndindex(transposed.shape):
        place = dict(zip(order, index, strict=True))
        transposed[index] = data[tuple(place[axis] for axis in range(data.ndim))]
    return transposed


CYCLE = [2, 0, 1]
"""Another order than that of its inverse; every type meets it."""
LONG: tuple[list[int], ...] = ([4, 2, 0, 3, 1], [1, 2, 3, 4, 0], [5, 3, 1, 4, 2, 0], [0, 2, 4, 1, 3, 5])
EVERY = tuple(list(order) for rank in range(5) for order in itertools.permutations(range(rank)))
"""Every order of up to four axes."""
SOME: tuple[Any, ...] = (
    OMITTED,
    [0],
    [1, 0],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
    [0, 2, 3, 1],
    [0, 3, 1, 2],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
    [3, 1, 0, 2],
    *LONG[:2],
)
"""No more than the types that the oldest version has, so that they cost no cases."""

TYPES = schema("Transpose", 25).variables["T"]


def _dealt(T: str, perm: Any) -> bool:
    """Float meets all orders of up to three axes and long ones, each order of four axes some type; int32 none."""
    if perm is OMITTED:
        return T in (FLOAT, "tensor(int32)")
    if len(perm) == 4:
        return TYPES[EVERY.index(perm) % len(TYPES)] == T
    return T == FLOAT or perm == CYCLE


newest = operator(
    "Transpose",
    since=25,
    exact=True,
    full_product=True,
    constraints=[_dealt],
    perm=(OMITTED, *EVERY, *LONG),
)(_transposed)
older = operator("Transpose", since=(24, 23, 21, 13, 1), exact=True, perm=SOME)(_transposed)

SHAPES: tuple[Shape, ...] = ((), (5,), (3, 5), (3, 5, 7), (2, 3, 4, 5), (2, 3, 1, 4, 5), (2, 3, 1, 4, 5, 6))
"""By rank."""


def rank(draw: Draw) -> int:
    """That of the tensor which the row's order is one of."""
    return 3 if draw.attributes["perm"] is OMITTED else len(draw.attributes["perm"])


@newest.inputs()
@older.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Distinct sizes, as many as the order has axes, of three axes an odd number of elements."""
    yield {"data": draw.T.ordinary(SHAPES[rank(draw)])}


@newest.inputs(T="int32")
def axes_reversed(draw: Draw) -> Iterator[Inputs]:
    """Without an order, 0-D and 1-D, which stay as they are, five and six axes."""
    if draw.attributes["perm"] is OMITTED:
        yield from ({"data": draw.T.ordinary(shape)} for shape in (SHAPES[0], SHAPES[1], SHAPES[5], SHAPES[6]))


@older.inputs(T="int32")
def other_sizes(draw: Draw) -> Iterator[Inputs]:
    """An axis of size 1 among others, as many as the order has."""
    yield {"data": draw.T.ordinary((3, 1, 2, 4, 5, 6)[: rank(draw)])}


@newest.inputs(T="int32")
def single_and_no_elements(draw: Draw) -> Iterator[Inputs]:
    """Axes of size 1 beside others, so that all elements stay where they are, or some; no elements."""
    if draw.attributes["perm"] in (OMITTED, CYCLE):
        yield from ({"data": draw.T.ordinary(shape)} for shape in ((4, 1, 3), (1, 1, 3), (2, 0, 3)))


@newest.inputs(T="float")
def single(draw: Draw) -> Iterator[Inputs]:
    """An axis of size 1 beside others, in the other orders of three axes."""
    if draw.types["T"] == FLOAT and draw.attributes["perm"] in ([0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 1, 0]):
        yield {"data": draw.T.ordinary((4, 1, 3))}


@newest.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and extremes, which are moved as they are."""
    if draw.types["T"] != FLOAT or draw.attributes["perm"] == [1, 2, 0]:
        yield {"data": np.resize(draw.T.specials(), SHAPES[rank(draw)])}
