"""Shrink: elements brought nearer to zero from both sides, and those near it made zero."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from harness.numbers.branches import greater, less, where
from harness.numbers.rounding import ulp
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator
from harness.spec.element_types import ElementType

WIDE = ("tensor(float)", "tensor(double)")


@operator(
    "Shrink",
    since=9,
    lambd=(OMITTED, 1.1, 2.0),
    bias=(OMITTED, 1.0, -2.0, 0.6),
    constraints=[
        # Of attributes that T cannot hold the text does not say whether they are rounded into it.
        lambda T, lambd: lambd != 1.1 or T in WIDE,
        lambda T, bias: bias != 0.6 or T in WIDE,
    ],
)
def shrink(input: np.ndarray, *, lambd: Any, bias: Any, T: ElementType) -> np.ndarray:
    """``x + bias`` if ``x < -lambd``, ``x - bias`` if ``x > lambd``; "Otherwise, y = 0", also for NaN."""
    if T.format is None:
        whole = Fraction(bias)  # a float would not hold what T does
        return np.where(input < -lambd, input + whole, np.where(input > lambd, input - whole, 0 * input))
    return where(less(input, -lambd), input + bias, where(greater(input, lambd), input - bias, np.zeros_like(input)))


SHAPE = (3, 8)


def _lambd(draw: Draw) -> float:
    lambd = draw.attributes["lambd"]
    return 0.5 if lambd is OMITTED else lambd


@shrink.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Values on both sides of both limits."""
    yield {"input": draw.T.ordinary(SHAPE)}


@shrink.inputs(T="float")
def at_the_limits(draw: Draw) -> Iterator[Inputs]:
    """Elements equal to a limit, which become zero, and next to it on both sides; zeros of either sign."""
    lambd = _lambd(draw)  # which double tells from the float that it is
    x = draw.T([lambd, -lambd, np.float32(lambd), -np.float32(lambd)]).astype(np.float64)
    step = ulp(x, draw.T.element)
    yield {"input": draw.T(np.resize([*x, *(x + step), *(x - step), *(x + 2 * step), *(x - 2 * step), 0, -0.0], SHAPE))}


@shrink.inputs(T=("signed", "unsigned"))
def integers(draw: Draw) -> Iterator[Inputs]:
    """Integers at the limits and beside them, and the ends of the type, as far as T holds what becomes of them."""
    of, bias = draw.T.element, draw.attributes["bias"]
    beyond = 0 if bias is OMITTED else int(bias)
    low, high = of.minimum + max(-beyond, 0), of.maximum + min(beyond, 0)
    wanted = [*range(-3, 4), low, low + 1, high - 1, high, 2**24 + 1, 2**31 + 1, 2**53 + 1, -(2**53) - 1]
    yield {"input": np.resize(draw.T([v for v in wanted if low <= v <= high]), SHAPE)}


@shrink.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, which is neither less nor greater and so becomes 0, infinities, which stay, and the smallest numbers."""
    specials = draw.T.specials()
    yield {"input": np.resize(specials[~np.isfinite(specials) | (np.abs(specials) < 1)], SHAPE)}


@shrink.inputs(T=("tensor(float)", "tensor(int32)"))
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, or more axes, or no elements: another for each row."""
    place = (OMITTED, 1.1, 2.0).index(draw.attributes["lambd"]) + (draw.attributes["bias"] is not OMITTED)
    yield {"input": draw.T.ordinary(((), (2, 1, 5, 3), (0, 3))[place % 3])}


FIVE = np.array([-2, -1, 0, 1, 2], np.float32)
shrink.example("test_shrink_hard", FIVE, lambd=1.5, gives=np.array([-2, 0, 0, 0, 2], np.float32))
shrink.example("test_shrink_soft", FIVE, lambd=1.5, bias=1.5, gives=np.array([-0.5, 0, 0, 0, 0.5], np.float32))
