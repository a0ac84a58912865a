"""Normalizer: rows divided by their greatest value, by their sum, or by the root of the sum of their squares."""

from collections.abc import Iterator
from functools import reduce

import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import greater_equal, less_equal, maximum, where
from harness.operators.traditionalml.post_transform import reals
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator

SHAPE = (3, 5)


@operator("Normalizer", domain="ai.onnx.ml", since=1, norm=(OMITTED, "MAX", "L1", "L2"))
def normalizer(X: np.ndarray, *, norm: str) -> np.ndarray:
    """``X / max(X)``, ``X / sum(X)`` or ``sqrt(X^2 / sum(X^2))`` of each row; "if the divisor is zero, Y == X"."""
    x = reals(X)
    if norm == "MAX":
        divisor = reduce(maximum, np.moveaxis(x, -1, 0))[..., np.newaxis]
    else:
        divisor = (x if norm == "L1" else x * x).sum(axis=-1, keepdims=True)
    is_zero = less_equal(divisor, 0) & greater_equal(divisor, 0)
    divisor = where(is_zero, constant("1"), divisor)
    return where(is_zero, x, np.sqrt(x * x / divisor) if norm == "L2" else x / divisor)


OF_NORMS = (
    'Normalizer-1: "L1:  Y = X / sum(X)", "L2:  Y = sqrt(X^2 / sum(X^2)}". Of negative values these are not the norms '
    "that the modes are named for, which take absolute values and keep the sign."
)


@normalizer.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Positive values of like size."""
    yield {"X": draw.T.near(4, SHAPE)}


@normalizer.inputs()
def zeros(draw: Draw) -> Iterator[Inputs]:
    """Rows of zeros between others, and rows with one value that is not zero, at each place."""
    x = draw.T.near(4, SHAPE)
    x[1] = 0
    yield {"X": x}
    yield {"X": draw.T(np.eye(*SHAPE) * 3)}
    yield {"X": draw.T(np.zeros(SHAPE))}


@normalizer.inputs()
def signs(draw: Draw) -> Iterator[Sample]:
    """Values of either sign in a row; rows whose greatest value is negative, or zero."""
    unspecified = OF_NORMS if draw.attributes["norm"] in ("L1", "L2") else ""
    yield Sample({"X": draw.T([[3, -1, 2, -6, 1], [-4, -2, -8, -1, -3], [-1, 0, -2, -5, 0]])}, unspecified=unspecified)


@normalizer.inputs(T=("tensor(float)", "int64"))
def shapes(draw: Draw) -> Iterator[Inputs]:
    """A vector, one column, one row, no rows."""
    for shape in ((6,), (4, 1), (1, 7), (0, 5)):
        yield {"X": draw.T.near(3, shape)}


@normalizer.inputs(T="float")
def sizes(draw: Draw) -> Iterator[Inputs]:
    """Rows of small and of large values, each of like size: the quotients are ordinary."""
    x = draw.T.near(1, SHAPE)
    yield {"X": draw.T(x * np.array([[2.0**-40], [2.0**20], [2.0**40]]))}
