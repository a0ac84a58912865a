"""Slice: every so many elements of some axes, between starts and ends, which were attributes before version 10."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator


def sliced(
    data: np.ndarray, starts: Any, ends: Any, axes: Sequence[int] | None = None, steps: Sequence[int] | None = None
) -> np.ndarray:
    """What each step from a start meets before the end, where both are first brought to what can be copied.

    Slice-13: "`starts[axes[i]]` is clamped to range `[0, dims[axes[i]]]` for positive stepping, or to range
    `[0, dims[axes[i]]-1]` for negative stepping"; ends "for positive stepping" to "`[0, dims[axes[i]]]`, while for
    negative stepping" to "`[-1, dims[axes[i]]-1]`". Versions 10 and 11 say it by example and by "similar to numpy";
    their shape inference clamps in the same way.
    """
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        size, step = data.shape[axis], 1 if steps is None else steps[i]
        start, end = (place + size if place < 0 else place for place in (starts[i], ends[i]))
        least, greatest = (0, size) if step > 0 else (-1, size - 1)
        chosen = range(min(max(start, 0), greatest), min(max(end, least), greatest), step)
        data = np.take(data, np.array(chosen, np.int64), axis=axis)
    return data


BOTH = ("tensor(float)", "tensor(int32)", "tensor(string)")
"""Types that meet indices of both types in the newest version; the others meet those of int64."""

slice_13 = operator("Slice", since=13, exact=True, constraints=[lambda T, Tind: T in BOTH or Tind == "tensor(int64)"])(
    sliced
)
slice_11, slice_10 = (operator("Slice", since=since, exact=True)(sliced) for since in (11, 10))


@operator(
    "Slice",
    since=1,
    exact=True,
    axes=(OMITTED, [0, 1], [1, 0], [2], [2, 0, 1]),
    ends=([2, 3], [-1, 1000], [2**63 - 1], [1], [-4], [2**31 - 1, -1, 2**63 - 1]),
    starts=([1, 0], [-3, 1], [2], [-2], [0, -4, 1], [1, 1000, 0]),
    constraints=[
        lambda starts, ends: len(starts) == len(ends),
        lambda axes, starts: axes is OMITTED or len(axes) == len(starts),
    ],
)
def slice_1(data: np.ndarray, *, axes: list[int] | None, ends: list[int], starts: list[int]) -> np.ndarray:
    """Forward and one by one; omitted axes are ``[0, 1, ..., len(starts) - 1]``."""
    return sliced(data, starts, ends, axes)


SHAPE = (4, 5, 6)
FOUR = (3, 4, 5, 6)
"""The shape of all that is about places on an axis, of which four are tried at a time."""
BOUNDS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 2))
"""Places on an axis, each as a multiple of its length and what is added."""


def at(place: tuple[int, int], size: int) -> int:
    """The place on an axis of this length."""
    return place[0] * size + place[1]


def numbered(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """A tensor no two of whose elements are equal."""
    return draw.T(np.arange(np.prod(shape, dtype=int)).reshape(shape))


def asked(
    draw: Draw,
    data: np.ndarray,
    places: Sequence[tuple[int, int, int]],
    axes: Sequence[int] | None = None,
    unspecified: str = "",
) -> Sample:
    """The tensor between starts and ends, with steps; all of its axes unless some are given."""
    starts, ends, steps = (draw.Tind([place[i] for place in places]) for i in range(3))
    of = draw.Tind(range(data.ndim) if axes is None else axes)
    return Sample({"data": data, "starts": starts, "ends": ends, "axes": of, "steps": steps}, unspecified=unspecified)


def some_places(draw: Draw, size: int) -> tuple[int, int, int]:
    """All but an element or two of an axis, forward or backward, one by one or every other one."""
    low, high, step = draw.integer(0, 1), draw.integer(size - 1, size), draw.integer(1, 2)
    return (low, high, step) if draw.integer(0, 1) else (high - 1, low - size - 1, -step)


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Three axes in another order, each forward or backward, one by one or every other element."""
    axes = ((1, 2, 0), (2, 0, 1), (0, 2, 1))[draw.integer(0, 2)]
    yield asked(draw, draw.T.ordinary(SHAPE), [some_places(draw, SHAPE[axis]) for axis in axes], axes)


def every_bound(draw: Draw) -> Iterator[Sample]:
    """Starts and ends inside, at the edges and beyond, from the front and from the back, with steps of 1, 2 and 3."""
    found: list[tuple[tuple[int, int], tuple[int, int], int]] = []
    for number, (start, end, sign) in enumerate(product(BOUNDS, BOUNDS, (1, -1))):
        step = sign * (1, 2, 3)[number // 2 % 3]
        before = sign < 0 and start == BOUNDS[0]
        if not before and all(sliced(np.arange(n), [at(start, n)], [at(end, n)], None, [step]).size for n in FOUR):
            found.append((start, end, step))
    for first in range(0, len(found), 4):
        four = (*found[first : first + 4], *found[:4])[:4]
        places = [(at(start, n), at(end, n), step) for n, (start, end, step) in zip(FOUR, four, strict=True)]
        yield asked(draw, numbered(draw, FOUR), places)


def nothing(draw: Draw) -> Iterator[Sample]:
    """One axis of which nothing is left: the end is the start or on its wrong side, or both are beyond the axis."""
    for number, places in enumerate(
        ((2, 2, 1), (2, 1, 1), (9, 10, 1), (-1, 0, 1), (0, -20, 2), (1, 1, -1), (1, 2, -1), (0, -1, -2), (0, 20, -1))
    ):
        every = [(0, n, 1) for n in FOUR]
        every[number % 4] = places
        yield asked(draw, numbered(draw, FOUR), every)


def long_steps(draw: Draw) -> Iterator[Sample]:
    """Steps as long as the axis, and longer by one, in both directions: one element, or two."""
    for more in (-1, 0, 1):
        yield asked(draw, numbered(draw, FOUR), [(0, n, n + more) for n in FOUR])
        yield asked(draw, numbered(draw, FOUR), [(n - 1, -n - 1, -n - more) for n in FOUR])


def extremes(draw: Draw) -> Iterator[Sample]:
    """Starts, ends and steps at both ends of their type, where sums and negations overflow; others beyond 32 bits."""
    low, high = int(draw.Tind.lowest), int(draw.Tind.largest)
    given = [
        [(low, high, 1), (low + 1, high - 1, 2), (0, high, high), (1, high, high - 1)],
        [(high, low, -1), (high - 1, low + 1, -2), (2, low, low), (-1, low, -high)],
        [(0, high, 1), (high, high, 1), (0, high, 1), (0, high, 1)],
        [(0, high, 1), (0, high, 1), (1, low, 1), (0, high, 1)],
    ]
    if high > 2**32:
        given += [
            [(2 - 2**32, 2**32, 1), (0, 2**32 + 2, 1), (0, 5, 2**32 + 1), (1, 2**31, 2**31)],
            [(2**32 + 1, low, -1), (3, -(2**32) - 2, -1), (4, -6, -(2**32) - 1), (5, -(2**31) - 1, -(2**31))],
        ]
    for places in given:
        yield asked(draw, numbered(draw, FOUR), places)


def backward_up_to_the_greatest(draw: Draw) -> Iterator[Sample]:
    """Backward to an end at the upper extreme of its type, which lies behind the start: nothing, and no way to -1."""
    high = int(draw.Tind.largest)
    for axis in (0, 3):
        places = [(0, n, 1) for n in FOUR]
        places[axis] = (axis, high, -1 - axis % 2)
        yield asked(draw, numbered(draw, FOUR), places)


@slice_13.inputs(T="tensor(float)")
def backward_from_before_the_axis(draw: Draw) -> Iterator[Sample]:
    """Backward from a start that lies before the axis, which is clamped to the first element and not passed over."""
    low = int(draw.Tind.lowest)
    yield asked(draw, numbered(draw, FOUR), [(-n - 1, low, -1) for n in FOUR])
    yield asked(draw, numbered(draw, FOUR), [(low, low, -2), (2, low, -1), (0, 9, 1), (0, 9, 1)])
    yield asked(draw, numbered(draw, FOUR), [(0, 9, 1), (0, 9, 1), (-9, -20, -3), (0, 9, 1)])


UNCLEAR = (
    'Slice-10 and Slice-11, "Similar to numpy", "a negative value … represents number of elements before the end", do '
    "not say what a start before the axis is when slicing backward: NumPy finds nothing there, while their shape "
    "inference, as the text of Slice-13, begins at the first element."
)


def backward_from_an_unsaid_place(draw: Draw) -> Iterator[Sample]:
    """Backward from the first element, and from before it."""
    yield asked(draw, numbered(draw, FOUR), [(-n, -n - 1, -1) for n in FOUR])
    yield asked(draw, numbered(draw, FOUR), [(-n - 1, -n - 1, -1) for n in FOUR], unspecified=UNCLEAR)


def left_out(draw: Draw) -> Iterator[Sample]:
    """No axes, no steps, neither: all axes in order, forward and one by one."""
    for names in (("axes",), ("steps",), ("axes", "steps")):
        places = [some_places(draw, n) if names == ("axes",) else (1, n + number, 1) for number, n in enumerate(SHAPE)]
        full = asked(draw, draw.T.ordinary(SHAPE), places)
        yield Sample({name: value for name, value in full.inputs.items() if name not in names})


FEWER = (
    'Slice, "If `axes` are omitted, they are set to `[0, ..., r-1]`", does not say what fewer starts than axes are; '
    "shape inference takes the first axes."
)


def some_axes(draw: Draw) -> Iterator[Sample]:
    """One axis, two, none at all, counted from the front; without axes too few starts."""
    data = numbered(draw, SHAPE)
    for axes in ((0,), (1,), (2,), (0, 1), (2, 0), (1, 2), ()):
        yield asked(draw, data, [some_places(draw, SHAPE[axis]) for axis in axes], axes)
    starts, ends = draw.Tind([1, 2]), draw.Tind([3, 4])
    yield Sample({"data": data, "starts": starts, "ends": ends}, unspecified=FEWER)


def negative_axes(draw: Draw) -> Iterator[Sample]:
    """Axes counted from the back, alone and together with others, in every order."""
    data = numbered(draw, SHAPE)
    for axes in ((-1,), (-2,), (-3,), (-1, 0), (1, -3), (-2, -1), (-1, -3, 1), (0, -1, -2)):
        yield asked(draw, data, [some_places(draw, SHAPE[axis]) for axis in axes], axes)


def ranks(draw: Draw) -> Iterator[Sample]:
    """One axis; six, of which some are of length 1."""
    for shape in ((7,), (2, 1, 4, 3, 1, 5)):
        backward = [(-1, -n - 1, -1) for n in shape]
        yield asked(draw, numbered(draw, shape), backward)
        yield asked(draw, numbered(draw, shape), [(i % 2, n, 1 + i % 2) for i, n in enumerate(shape)])


def scalar(draw: Draw) -> Iterator[Sample]:
    """A scalar, which has no axes to slice: starts, ends, axes and steps are of length 0."""
    yield asked(draw, numbered(draw, ()), [])


def empty(draw: Draw) -> Iterator[Sample]:
    """No elements, along an axis that is sliced in either direction or beside it."""
    for shape in ((0,), (3, 0, 5)):
        yield asked(draw, draw.T.ordinary(shape), [(-1, 9, 1) for _ in shape])
        yield asked(draw, draw.T.ordinary(shape), [(9, -9, -1) for _ in shape])


def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, zeros of both signs, subnormal and largest numbers come through as they are."""
    data = np.resize(draw.T.specials(), SHAPE)
    yield asked(draw, data, [(0, 4, 1), (-1, -6, -1), (1, 6, 1)])


for _op in (slice_13, slice_11, slice_10):
    _op.inputs()(ordinary)
    _op.inputs(T="tensor(float)")(left_out)
for _op in (slice_13, slice_10):
    _op.inputs(T="tensor(float)", Tind="int64")(some_axes)
for _op in (slice_13, slice_11):
    _op.inputs(T="tensor(float)", Tind="int32")(negative_axes)
    _op.inputs(T="tensor(float)")(backward_up_to_the_greatest)
for _op in (slice_11, slice_10):
    _op.inputs(T="tensor(float)")(backward_from_an_unsaid_place)
slice_13.inputs(T="tensor(float)")(extremes)
slice_13.inputs(T="tensor(float)", Tind="int64")(nothing)
slice_13.inputs(T="tensor(float)", Tind="int64")(every_bound)
slice_13.inputs(T="tensor(float)", Tind="int32")(long_steps)
slice_13.inputs(T="tensor(float)", Tind="int64")(ranks)
slice_13.inputs(T="tensor(float)", Tind="int64")(scalar)
slice_13.inputs(T="tensor(float)", Tind="int64")(empty)
slice_13.inputs(T="float")(special_values)


def between(draw: Draw, shape: Sequence[int]) -> Sample:
    """A tensor of this shape, or of as many of its axes as there are starts."""
    axes, starts, ends = (draw.attributes[name] for name in ("axes", "starts", "ends"))
    of = range(len(starts)) if axes is OMITTED else axes
    shape = shape[: len(starts)] if axes is OMITTED else shape
    beyond = any(place < -shape[axis] for places in (starts, ends) for place, axis in zip(places, of, strict=True))
    return Sample({"data": draw.T.ordinary(shape)}, unspecified=BEFORE if beyond else "")


BEFORE = (
    'Slice-1, "If a negative value is passed for any of the start or end indices, it represent number of elements '
    'before the end", does not say what a place before the axis is.'
)


@slice_1.inputs()
def between_attributes(draw: Draw) -> Iterator[Sample]:
    """Three axes, or as many as there are starts."""
    yield between(draw, SHAPE)


@slice_1.inputs()
def short_axes_between_attributes(draw: Draw) -> Iterator[Sample]:
    """Axes of length 1 and 0 beside longer ones."""
    yield between(draw, SHAPE)
    yield between(draw, (4, 1, 6))
    yield between(draw, (5, 4, 0))


def _int64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


DATA = [[1, 2, 3, 4], [5, 6, 7, 8]]
slice_13.example("test_slice_example_1", DATA, _int64(1, 0), _int64(2, 3), _int64(0, 1), _int64(1, 2), gives=[[5, 7]])
slice_13.example("test_slice_example_2", DATA, _int64(0, 1), _int64(-1, 1000), gives=[[2, 3, 4]])
slice_1.example("test_slice_1_example_1", DATA, axes=[0, 1], starts=[1, 0], ends=[2, 3], gives=[[5, 6, 7]])
slice_1.example("test_slice_1_example_2", DATA, starts=[0, 1], ends=[-1, 1000], gives=[[2, 3, 4]])
