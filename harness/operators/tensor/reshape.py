"""Reshape: the same elements in the same order, under another shape."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, operator

FLOAT = "tensor(float)"
"""The type that meets every attribute; the others meet it left out."""


def reshaped(data: np.ndarray, shape: Sequence[int], *, allowzero: int = 0) -> np.ndarray:
    """0 is "the actual dimension value", or itself with ``allowzero``; -1 "is inferred from … the remaining"."""
    sizes = [data.shape[axis] if size == 0 and not allowzero else int(size) for axis, size in enumerate(shape)]
    if -1 in sizes:
        sizes[sizes.index(-1)] = data.size // math.prod(size for size in sizes if size != -1)
    return data.reshape(sizes)


def _from_14(data: np.ndarray, shape: np.ndarray, *, allowzero: int) -> np.ndarray:
    return reshaped(data, list(shape), allowzero=allowzero)


newest = operator(
    "Reshape",
    since=25,
    exact=True,
    constraints=[lambda T, allowzero: T in (FLOAT, "tensor(int32)") or allowzero is OMITTED],
    allowzero=FLAG,
)(_from_14)
from_14 = operator("Reshape", since=(24, 23, 21, 19, 14), exact=True, allowzero=FLAG)(_from_14)


@operator("Reshape", since=(13, 5), exact=True)
def from_5(data: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """0 is always taken from the input."""
    return reshaped(data, list(shape))


@operator(
    "Reshape",
    since=1,
    exact=True,
    shape=(
        [7, -1],
        [105],
        [-1],
        [0, -1],
        [7, 0, 3],
        [0, 0, 0],
        [0, 0, -1, 1],
        [1, 3, 5, 1, 7],
        [],
    ),
    consumed_inputs=(OMITTED, [0]),
)
def from_1(data: np.ndarray, *, shape: list[int], **_: Any) -> np.ndarray:
    """As version 5, by an attribute; "could be an empty shape, which means converting to a scalar"."""
    return reshaped(data, shape)


SHAPE = (3, 5, 7)

TO_RANKS: tuple[tuple[Shape, tuple[Shape, ...]], ...] = (
    ((2, 3, 4), ((24,), (-1,))),
    ((2, 3, 4), ((4, 6), (-1, 8))),
    ((2, 3, 4), ((4, 2, 3), (3, -1, 2))),
    ((2, 3, 4), ((2, 1, -1, 6),)),
    ((24,), ((1, 2, 1, 3, -1), (-1, 1, 6, 2, 1))),
)
"""Shapes, and what to make of each: fewer axes, more, as many, one size of each inferred."""
SCALARS: tuple[tuple[Shape, tuple[Shape, ...]], ...] = (
    ((), ((),)),
    ((1,), ((),)),
    ((1, 1, 1), ((),)),
    ((), ((1,), (-1,))),
    ((), ((1, -1, 1),)),
)
COPIES: tuple[tuple[Shape, tuple[Shape, ...]], ...] = (
    ((2, 3, 4), ((0, -1), (8, 0), (-1, 0))),
    ((2, 3, 4), ((0, 4, 3), (4, 0, 2), (0, 0, 0))),
    ((2, 3, 4), ((0, -1, 0, 1), (1, 0, 4, 2))),
)
EMPTY: tuple[tuple[Shape, tuple[Shape, ...]], ...] = (
    ((0, 3), ((0, 3), (3, -1), (0, 5))),
    ((2, 0, 4), ((-1,),)),
    ((2, 0, 4), ((0, 0, 3), (5, 0, 1))),
)
"""No elements: sizes of 0 that are copied, or inferred from others that are none."""
ZEROS: tuple[tuple[Shape, tuple[Shape, ...]], ...] = (
    ((0, 3), ((0,),)),
    ((2, 0, 4), ((3, 0), (0, 0))),
    ((0,), ((0, 2, 3), (2, 3, 0))),
    ((3, 0, 2), ((7, -1),)),
)
"""No elements: sizes of 0 that are none of the input's, or stand elsewhere; none asked for."""


def to(draw: Draw, shape: Shape, target: Shape) -> Inputs:
    """Ordinary values under a shape, to be given another."""
    return {"data": draw.T.ordinary(shape), "shape": np.array(target, np.int64)}


def one_of(draw: Draw, choices: tuple[tuple[Shape, tuple[Shape, ...]], ...]) -> Inputs:
    """Ordinary values under a shape, to be given another, each of which is drawn."""
    shape, targets = choices[draw.integer(0, len(choices) - 1)]
    return to(draw, shape, targets[draw.integer(0, len(targets) - 1)])


@newest.inputs()
@from_14.inputs()
@from_5.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Fewer axes, the last size inferred, of an odd number of elements; where ``allowzero`` is given, also a 0."""
    yield to(draw, SHAPE, (7, -1))
    allowzero = draw.attributes.get("allowzero", OMITTED)
    if allowzero is not OMITTED:
        yield to(draw, *(((2, 0, 4), (0, 5)) if allowzero else (SHAPE, (0, -1))))


# Of the older versions each type meets one group: so that these cost no cases, each is about another type.


@from_14.inputs(T="int16")
@from_5.inputs(T="int16")
def another_rank(draw: Draw) -> Iterator[Inputs]:
    """A shape of as many axes, or more or fewer: another one in each version."""
    yield one_of(draw, TO_RANKS)


@from_14.inputs(T="int32")
@from_5.inputs(T="int32")
def another_scalar(draw: Draw) -> Iterator[Inputs]:
    """From or to 0-D: another shape in each version."""
    yield one_of(draw, SCALARS)


@from_14.inputs(T="int64")
@from_5.inputs(T="int64")
def another_zero(draw: Draw) -> Iterator[Inputs]:
    """Sizes of 0, copied unless ``allowzero`` is set: other ones in each version."""
    yield one_of(draw, ZEROS if draw.attributes.get("allowzero") == 1 else COPIES)


@newest.inputs(T="int32")
def ranks(draw: Draw) -> Iterator[Inputs]:
    """Fewer axes, more, as many; sizes of 1; each size inferred in turn."""
    if draw.attributes["allowzero"] is OMITTED:
        yield from (to(draw, shape, target) for shape, targets in TO_RANKS for target in targets)


@newest.inputs(T="int32")
def scalars(draw: Draw) -> Iterator[Inputs]:
    """0-D from 0-D and from sizes of 1, and back: an empty shape "means converting to a scalar"."""
    if draw.attributes["allowzero"] is OMITTED:
        yield from (to(draw, shape, target) for shape, targets in SCALARS for target in targets)


@newest.inputs(T="int32")
def copied_sizes(draw: Draw) -> Iterator[Inputs]:
    """Sizes of 0, which are those of the input at the same place, also beside an inferred one."""
    if draw.attributes["allowzero"] is OMITTED:
        yield from (to(draw, shape, target) for shape, targets in COPIES for target in targets)


@newest.inputs(T="int32")
def no_elements(draw: Draw) -> Iterator[Inputs]:
    """No elements: sizes of 0 copied from the input, or inferred."""
    if draw.attributes["allowzero"] is OMITTED:
        yield from (to(draw, shape, target) for shape, targets in EMPTY for target in targets)


@newest.inputs(T="int32")
def real_zeros(draw: Draw) -> Iterator[Inputs]:
    """With ``allowzero``, no elements: sizes of 0 that the input has elsewhere, or not so many of."""
    if draw.attributes["allowzero"] == 1:
        yield from (to(draw, shape, target) for shape, targets in ZEROS for target in targets)


@newest.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and extremes, which are moved as they are."""
    yield {"data": np.resize(draw.T.specials(), SHAPE), "shape": np.array([7, -1])}


@from_1.inputs()
def ordinary_by_attribute(draw: Draw) -> Iterator[Inputs]:
    """Three distinct sizes, or a single element where a scalar is asked for."""
    yield {"data": draw.T.ordinary(SHAPE if draw.attributes["shape"] else (1, 1))}
