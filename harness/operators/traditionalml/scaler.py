"""Scaler: features less an offset, times a scale."""

from collections.abc import Iterator

import numpy as np

from harness.operators.traditionalml.post_transform import reals
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator


@operator(
    "Scaler",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    constraints=[lambda offset, scale: len(offset) == len(scale)],
    offset=([0.5, -1.0, 2.0], [0.25]),
    scale=([2.0, 0.5, -0.25], [-4.0]),
)
def scaler(X: np.ndarray, *, offset: list[float], scale: list[float]) -> np.ndarray:
    """``(X - offset) * scale``, of each feature its own: "First, offset by this", "Second, multiply by this".

    It is the difference, since the document has it "removing the mean".
    """
    return (reals(X) - reals(offset)) * reals(scale)


rounding_scaler = operator(
    "Scaler",
    domain="ai.onnx.ml",
    since=1,
    constraints=[lambda offset, scale: len(offset) == len(scale)],
    offset=([0.1, -0.3, 1.7], [0.7]),
    scale=([3.1, 0.9, -0.07], [1.3]),
)(scaler.oracle)


@scaler.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Small values, whose differences and products no type rounds."""
    yield {"X": draw.T(draw.T.integers(-8, 8, (5, 3)))}


@scaler.inputs()
def ranks(draw: Draw) -> Iterator[Inputs]:
    """A vector and rank 3 with one offset for all, "regardless of dimension count"; no rows."""
    shapes = ((7,), (2, 3, 5), (0, 3)) if len(draw.attributes["offset"]) == 1 else ((0, 3), (1, 3))
    for shape in shapes:
        yield {"X": draw.T(draw.T.integers(-8, 8, shape))}


@scaler.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities and zeros of both signs in every column."""
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    yield {"X": draw.T(np.stack([np.roll(special, shift) for shift in range(3)], axis=1))}


@rounding_scaler.inputs()
def inexact(draw: Draw) -> Iterator[Inputs]:
    """Offsets and scales that are no short binary fractions, and values away from the offsets."""
    yield {"X": draw.T.near(9, (5, 3))}


@rounding_scaler.inputs(T="float")
def around_the_offset(draw: Draw) -> Iterator[Inputs]:
    """Values of either sign and of like size."""
    yield {"X": draw.T.ordinary((5, 3))}
