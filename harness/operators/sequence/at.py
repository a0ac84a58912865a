"""SequenceAt and SequenceLength: one tensor of a sequence, and how many there are."""

from collections.abc import Iterator

import numpy as np

from harness.operators.sequence.construct import FLOAT, of_tensors, position_in_turn
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator

SHAPES = ((2, 3), (4,), (2, 3))
VARIED = ((), (0, 3), (1, 2, 1, 3), (5,))
"""Of a scalar, of an empty tensor and of two more ranks."""


def from_front(position: np.ndarray, n: int) -> int:
    """A position counted from the front: "Negative value means counting positions from the back."."""
    return int(position) + (n if position < 0 else 0)


@operator("SequenceAt", since=11, exact=True, constraints=[of_tensors, position_in_turn], full_product=True)
def at(input_sequence: list[np.ndarray], position: np.ndarray) -> np.ndarray:
    """A copy of the tensor at the position, in ``[-n, n - 1]``."""
    return input_sequence[from_front(position, len(input_sequence))]


@at.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three tensors, of which two have one shape; the position any, counted from either end."""
    yield {"input_sequence": draw.value("S", *SHAPES), "position": draw.I(draw.integer(-3, 2))}


@at.inputs()
def every_position(draw: Draw) -> Iterator[Inputs]:
    """Each position from ``-n`` to ``n - 1``, of tensors of different shapes, one without elements."""
    if draw.types["S"] == FLOAT:
        sequence = draw.value("S", (2, 3), (0, 3), (1, 4), (5, 1))
        for position in range(-4, 4):
            yield {"input_sequence": sequence, "position": draw.I(position)}


@at.inputs()
def scalar(draw: Draw) -> Iterator[Inputs]:
    """A scalar among tensors of other ranks."""
    if draw.types["S"] == FLOAT:
        yield {"input_sequence": draw.value("S", *VARIED), "position": draw.I(-len(VARIED))}


@operator("SequenceLength", since=11, exact=True)
def length(input_sequence: list[np.ndarray]) -> np.ndarray:
    """A scalar: "the number of tensors in 'input_sequence'"."""
    return np.array(len(input_sequence))


@length.inputs()
def three(draw: Draw) -> Iterator[Inputs]:
    """Three tensors, whose own lengths are others."""
    yield {"input_sequence": draw.value("S", (2, 5), (4,), (1, 2))}


@length.inputs()
def lengths(draw: Draw) -> Iterator[Inputs]:
    """No tensor, and many, scalars among them."""
    if draw.types["S"] == FLOAT:
        for shapes in ((), ((),) * 12 + VARIED):
            yield {"input_sequence": draw.value("S", *shapes)}
