"""Expand: a tensor broadcast together with a shape."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator


def expand(input: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Dimensions "right alignment" with ``shape``, each the same or one of the two 1; then it is the other one."""
    aligned = zip_longest(reversed(input.shape), map(int, shape[::-1]), fillvalue=1)
    return np.broadcast_to(input, tuple(wanted if own == 1 else own for own, wanted in aligned)[::-1])


newest = operator("Expand", since=13, exact=True)(expand)
older = operator("Expand", since=8, exact=True)(expand)

GENERAL = (4, 1, 3), (2, 1, 5, 1)
"""Every kind of axis at once: new, kept by 1, expanded, kept; room for each special value."""

TARGETS: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((), (2, 3)),
    ((1,), (4,)),
    ((3,), (1,)),
    ((3, 1), (3, 4)),
    ((3, 1), (2, 1, 6)),
    ((1, 3), (4, 1)),
    ((2, 3), ()),
    ((2, 3, 4), (1,)),
    ((2, 3, 4), (3, 1)),
    ((2, 3, 4), (2, 3, 4)),
    ((2, 1, 4), (1, 3, 1)),
    ((3, 4), (2, 1, 1, 4)),
    ((2, 1, 3, 1, 1), (5,)),
    ((1, 1), (0,)),
    ((0, 3), (2, 1, 1)),
    ((1, 5), (2, 0, 5)),
    ((2, 0), (0,)),
)
"""Shapes and what to expand them to: more and fewer axes, larger and smaller ones, ones, none; no elements."""


def expansion(draw: Draw, shape: Shape, to: Shape) -> Inputs:
    """Ordinary values."""
    return {"input": draw.T.ordinary(shape), "shape": np.array(to, np.int64)}


@newest.inputs()
@older.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A tensor whose axes are expanded, kept and added."""
    yield expansion(draw, *GENERAL)


@newest.inputs()
@older.inputs()
def broadcast(draw: Draw) -> Iterator[Inputs]:
    """Another pair of shapes for each type."""
    yield expansion(draw, *TARGETS[draw.integer(0, len(TARGETS) - 1)])


@newest.inputs(T="float")
def every_shape(draw: Draw) -> Iterator[Inputs]:
    """Every way for a tensor to meet a shape: more axes, fewer, ones on either side, 0-D, no elements."""
    if draw.types["T"] == "tensor(float)":
        yield from (expansion(draw, *target) for target in TARGETS)


@newest.inputs(T=("float", "signed", "unsigned"))
@older.inputs(T=("float", "signed", "unsigned"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and extremes, which are moved as they are."""
    shape, to = GENERAL
    yield {"input": np.resize(draw.T.specials(), shape), "shape": np.array(to, np.int64)}


def _floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


COLUMN = _floats(1, 2, 3).reshape(3, 1)
newest.example(
    "test_expand_dim_unchanged", COLUMN, np.array([3, 4]), gives=np.stack([_floats(n, n, n, n) for n in (1, 2, 3)])
)
newest.example(
    "test_expand_dim_changed",
    COLUMN,
    np.array([2, 1, 6]),
    gives=np.stack([np.stack([np.full(6, n, np.float32) for n in (1, 2, 3)])] * 2),
)
