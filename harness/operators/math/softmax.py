"""Softmax, LogSoftmax and Hardmax: along one axis since version 13, before that over all axes from it on."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from harness.numbers.branches import argsort, greater
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, operator

Along = Callable[[np.ndarray, int], np.ndarray]
"""A function of an array, taken along one axis of it, that keeps its shape."""


def _below_greatest(x: np.ndarray, axis: int) -> np.ndarray:
    """``x`` less its greatest along the axis, which leaves a quotient of exponentials as it is and within any range.

    The greatest less itself is nothing, not two roundings; it is no number where the greatest is infinite.
    """
    greatest = np.take(argsort(x, axis, descending=True), [0], axis)
    difference = x - np.take_along_axis(x, greatest, axis)
    np.put_along_axis(difference, greatest, 0 * np.take_along_axis(x, greatest, axis), axis)
    return difference


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    """``Exp(input) / ReduceSum(Exp(input), axis=axis, keepdims=1)``."""
    if not x.size:
        return x
    powers = np.exp(_below_greatest(x, axis))
    return powers / powers.sum(axis=axis, keepdims=True)


def log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    """``Log(Softmax(input, axis=axis))``."""
    if not x.size:
        return x
    difference = _below_greatest(x, axis)
    return difference - np.log(np.exp(difference).sum(axis=axis, keepdims=True))


def hardmax(x: np.ndarray, axis: int) -> np.ndarray:
    """1 if the element is the first maximum value along the specified axis, 0 otherwise."""
    y = np.zeros_like(x)
    lines, marks = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    for at in np.ndindex(lines.shape[:-1] if x.size else 0):
        first = 0
        for i, value in enumerate(lines[at]):
            if greater(value, lines[at][first]):
                first = i
        marks[at][first] = 1
    return y


def _operators(name: str, function: Along, *, exact: bool) -> list[Operator]:
    """The meanings of an operator: along ``axis``, or over all axes from it on; in version 1 it is not negative."""

    def along(x: np.ndarray, /, *, axis: int) -> np.ndarray:
        return function(x, axis)

    def flattened(x: np.ndarray, /, *, axis: int) -> np.ndarray:
        """The input coerced into a matrix ``[a_0 * ... * a_{k-1}, a_k * ... * a_{n-1}]``; the output has its shape."""
        rows = math.prod(x.shape[:axis])
        columns = math.prod(x.shape[axis:])
        return function(x.reshape(rows, columns), 1).reshape(x.shape)

    along.__doc__ = function.__doc__
    every = (OMITTED, 0, 1, 2, -1, -2, -3)
    return [
        operator(name, since=13, exact=exact, axis=every)(along),
        operator(name, since=11, exact=exact, axis=every)(flattened),
        operator(name, since=1, exact=exact, axis=every[:4])(flattened),
    ]


SHAPE = (2, 3, 4)
"""Of three distinct sizes, so that every axis, and every way to flatten, is another grouping of the elements."""


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Values of either sign in a tensor of three distinct sizes."""
    yield {"input": draw.T.ordinary(SHAPE)}


def ranks(draw: Draw) -> Iterator[Inputs]:
    """Ranks 1, 2 and 4, where they have the axis."""
    axis = 1 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]
    for shape in ((5,), (3, 4), (2, 4, 3, 5)):
        if -len(shape) <= axis < len(shape):
            yield {"input": draw.T.ordinary(shape)}


def length_one(draw: Draw) -> Iterator[Inputs]:
    """Axes of length 1, where a share is all there is."""
    yield {"input": draw.T.ordinary((1, 3, 1))}


def empty(draw: Draw) -> Iterator[Inputs]:
    """No elements: the output has none either, and the shape of the input."""
    yield {"input": draw.T.ordinary((2, 0, 3))}


def large(draw: Draw) -> Iterator[Inputs]:
    """Values around 1000 and -1000, whose exponentials no type holds, though the quotients are ordinary."""
    far = draw.T.integers(-2, 2, SHAPE).astype(np.float64)
    for centre in (1000, -1000):
        yield {"input": draw.T(centre + 4 * far)}
    mixed = 1000 * draw.T.integers(-1, 1, SHAPE).astype(np.float64)
    yield {"input": draw.T(mixed + far)}
    yield {"input": draw.T(np.resize([draw.T.largest, 0, -draw.T.largest, 1, draw.T.largest], SHAPE))}


def equal(draw: Draw) -> Iterator[Inputs]:
    """All elements equal, then pairs of equals, then zeros of both signs: shares are equal, and the first is marked."""
    yield {"input": draw.T(np.full(SHAPE, -2.5))}
    for several in ([1, 3, 3, 2, 3, 1, 1], [0.0, -0.0, -1, -0.0, 0.0], [-0.0, 0.0, -3]):
        yield {"input": draw.T(np.resize(several, SHAPE))}


def minus_infinity(draw: Draw) -> Iterator[Inputs]:
    """-inf at every place, whose exponential is 0, and along whole slices: the quotient of the sums 0 is NaN there."""
    x = draw.T.ordinary(SHAPE)
    for step in (5, 2):
        masked = x.copy()
        masked.reshape(-1)[::step] = -np.inf
        yield {"input": masked}
    masked = x.copy()
    masked[1, :, 2] = masked[0, 1] = masked[:, 0, 3] = -np.inf
    yield {"input": masked}
    yield {"input": draw.T(np.full(SHAPE, -np.inf))}


def not_a_number(draw: Draw) -> Iterator[Inputs]:
    """NaN at one place, then at several, beside ordinary values and an infinity: its slice is NaN, others are not."""
    x = draw.T.ordinary(SHAPE)
    for places in ((10,), (23,), (5, 6, 7, 13)):
        spoilt = x.copy()
        spoilt.reshape(-1)[list(places)] = np.nan
        yield {"input": spoilt}
    spoilt[0, 1, 3] = -np.inf
    yield {"input": spoilt}


def all_infinite(draw: Draw) -> Iterator[Inputs]:
    """+inf everywhere: inf / inf is NaN."""
    yield {"input": draw.T(np.full(SHAPE, np.inf))}


def plus_infinity(draw: Draw) -> Iterator[Inputs]:
    """+inf at single places beside finite values."""
    x = draw.T.ordinary(SHAPE)
    x.reshape(-1)[::5] = np.inf
    yield {"input": x}


def extremes(draw: Draw) -> Iterator[Inputs]:
    """Infinities, zeros, subnormals and the largest values at many places; equal ones count as equal."""
    specials = draw.T.specials()
    specials = specials[~np.isnan(specials)]
    for shift in range(0, len(specials), 3):
        yield {"input": np.resize(np.roll(specials, shift), SHAPE)}


SOFTMAX = _operators("Softmax", softmax, exact=False)
LOG_SOFTMAX = _operators("LogSoftmax", log_softmax, exact=False)
HARDMAX = _operators("Hardmax", hardmax, exact=True)

BESIDE_INFINITY = (
    "The formula gives exp(x) / inf = 0 beside +inf, as printed, and NaN after the greatest is subtracted, "
    "which large values need; Softmax-13 does not say which."
)
NO_ORDER = "Hardmax-13 asks for the maximum value and does not say how NaN compares."

for one in SOFTMAX + LOG_SOFTMAX:
    for group in (ordinary, ranks, large, equal, minus_infinity, not_a_number, all_infinite, empty):
        one.inputs()(group)
for one in HARDMAX:
    for group in (ordinary, ranks, equal, extremes, empty):
        one.inputs()(group)
for one in SOFTMAX + HARDMAX:
    one.inputs()(length_one)
for one in (SOFTMAX[0], LOG_SOFTMAX[0]):
    one.inputs(unspecified=BESIDE_INFINITY)(plus_infinity)
HARDMAX[0].inputs(unspecified=NO_ORDER)(not_a_number)

PAGE = np.array([[3, 0, 1, 2], [2, 5, 1, 0], [0, 1, 3, 2], [0, 1, 2, 3]], np.float32)
HARDMAX[0].example(
    "test_hardmax_example",
    PAGE,
    gives=np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32),
)
HARDMAX[0].example(
    "test_hardmax_one_hot", np.array([[3, 3, 3, 1]], np.float32), gives=np.array([[1, 0, 0, 0]], np.float32)
)
