"""Binarizer: 1 for what is greater than a threshold, else 0."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

SHAPE = (3, 5)
BEYOND = 2.0**24
"""From where on floats skip integers."""


@operator("Binarizer", domain="ai.onnx.ml", since=1, exact=True, threshold=(OMITTED, 1.0, 0.1, -2.5, BEYOND))
def binarizer(X: np.ndarray, *, threshold: float) -> np.ndarray:
    """Each element compared: "Values greater than this are mapped to 1, others to 0", this being a float32 value."""
    return np.where(np.greater(X, float(np.float32(threshold))).astype(bool), 1, 0)


@binarizer.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Values of either sign, then values around the threshold and equal to it."""
    yield {"X": draw.T.ordinary(SHAPE)}
    whole = np.floor(_threshold(draw)).astype(np.int64)
    around = whole + draw.T.integers(-2, 2, SHAPE).astype(np.int64)
    around[1] = whole
    yield {"X": draw.T(around)}


@binarizer.inputs(T="float")
def at_the_threshold(draw: Draw) -> Iterator[Inputs]:
    """The threshold, which is not greater than itself, and the neighbours it has in the type."""
    at = draw.T(_threshold(draw))
    low, high = (np.nextafter(at, draw.T(end)) for end in (-np.inf, np.inf))
    yield {"X": np.resize(np.array([at, low, high, -at]), SHAPE)}


@binarizer.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """Infinities, zeros of both signs, subnormal and largest numbers; NaN, which is among the others."""
    yield {"X": np.resize(draw.T.specials(), SHAPE)}


@binarizer.inputs(T="signed")
def extremes(draw: Draw) -> Iterator[Inputs]:
    """Both ends of the range, and integers between which there is no float32."""
    odd = [int(BEYOND) + i for i in (1, 2, -1, 0)]
    yield {"X": draw.T(np.resize([*draw.T.specials().tolist(), *odd], SHAPE))}


@binarizer.inputs(T=("tensor(float)", "int64"))
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, no elements, rank 4."""
    for shape in ((), (2, 0, 3), (3, 1, 2, 4)):
        yield {"X": draw.T.ordinary(shape)}


def _threshold(draw: Draw) -> float:
    threshold = draw.attributes["threshold"]
    return 0.0 if threshold == OMITTED else float(np.float32(threshold))
