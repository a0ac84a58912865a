"""LpNormalization: each line along an axis divided by its norm."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import less_equal, where
from harness.operators.nn.layer_normalization import with_specials
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator


@operator("LpNormalization", since=(22, 1), axis=(OMITTED, -1, 0, 1, 2), p=(OMITTED, 1, 2))
def lp_normalization(input: np.ndarray, *, axis: int, p: int) -> np.ndarray:
    """``output = input / Lp_norm(input, axis)``; "when the Lp norm is zero … the output is defined to be zero".

    "Given a matrix" does not bind the rank: ONNX's own tests have one and three axes.
    """
    zero: Any = constant("0")
    powers = np.abs(input) if p == 1 else input * input
    total = powers.sum(axis=axis, keepdims=True, initial=zero)
    norm = total if p == 1 else np.sqrt(total)
    return where(np.broadcast_to(less_equal(norm, 0), input.shape), 0 * input, input / norm)


SHAPE = (2, 3, 4)


@lp_normalization.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Values of either sign under three distinct sizes."""
    yield {"input": draw.T.ordinary(SHAPE)}


@lp_normalization.inputs()
def zero_lines(draw: Draw) -> Iterator[Inputs]:
    """Lines of nothing but zeros of either sign along each axis, beside others; then nothing but zeros."""
    x = draw.T.ordinary(SHAPE)
    x[1, 2] = x[:, 0, 1] = x[0, :, 3] = draw.T(0)
    x[1, 2, 1] = -0.0
    yield {"input": x}
    yield {"input": draw.T(np.zeros(SHAPE))}


@lp_normalization.inputs()
def one_element(draw: Draw) -> Iterator[Inputs]:
    """Lines with one element that is not zero, which becomes 1 or -1; of elements of very different sizes."""
    x = np.zeros(SHAPE)
    x[0, 1, 2], x[1, 0, 3], x[1, 2, 0] = 3, -0.25, -7
    yield {"input": draw.T(x)}
    sizes = np.resize(np.array([1, -0.125, 64, 2, -16, 0.25, 8]), SHAPE)
    yield {"input": draw.T(sizes)}


@lp_normalization.inputs(T=("tensor(float)", "tensor(double)", "tensor(bfloat16)"))
def small(draw: Draw) -> Iterator[Inputs]:
    """Values far below 1, whose norm is far from zero for all that: nothing is added to it."""
    yield {"input": draw.T(draw.T.ordinary(SHAPE).astype(np.float64) * 2.0**-30)}


@lp_normalization.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, then infinity, at one place: beside infinity finite elements are 0, and it is NaN itself."""
    yield from ({"input": x} for x in with_specials(draw.T.ordinary(SHAPE)))


@lp_normalization.inputs(T="tensor(float)")
def ranks(draw: Draw) -> Iterator[Inputs]:
    """Ranks 1, 2 and 4 that have the axis, and no elements."""
    axis = -1 if draw.attributes["axis"] is OMITTED else draw.attributes["axis"]
    shapes = [shape for shape in ((5,), (4, 3), (2, 1, 5, 3), (3, 0, 2)) if axis < len(shape)]
    places = (OMITTED, -1, 0, 1, 2).index(draw.attributes["axis"]) + (OMITTED, 1, 2).index(draw.attributes["p"])
    yield {"input": draw.T.ordinary(shapes[places % len(shapes)])}
