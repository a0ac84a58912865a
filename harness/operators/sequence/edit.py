"""SequenceInsert and SequenceErase: a sequence with one tensor more, or one less."""

from collections.abc import Iterator

import numpy as np

from harness.operators.sequence.at import SHAPES, VARIED, from_front
from harness.operators.sequence.construct import FLOAT, of_tensors, position_in_turn
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator

Sequence = list[np.ndarray]


@operator("SequenceInsert", since=11, exact=True, constraints=[of_tensors, position_in_turn], full_product=True)
def insert(input_sequence: Sequence, tensor: np.ndarray, position: np.ndarray | None = None) -> Sequence:
    """The tensor in front of the one at the position, in ``[-n, n]``; behind all "by default".

    ``-1`` is in front of the last, not behind it: what is counted from the back is the ``n`` tensors that were there,
    for ``-n`` is accepted and ``-n - 1`` is not.
    """
    n = len(input_sequence)
    place = n if position is None else from_front(position, n)
    return [*input_sequence[:place], tensor, *input_sequence[place:]]


@insert.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A tensor of another shape than the three of the sequence, anywhere, counted from either end."""
    sequence, tensor = draw.value("S", *SHAPES), draw.T.ordinary((1, 5))
    yield {"input_sequence": sequence, "tensor": tensor, "position": draw.I(draw.integer(-3, 3))}


@insert.inputs()
def without_position(draw: Draw) -> Iterator[Inputs]:
    """The position left out: to the back."""
    if draw.types["S"] == FLOAT:
        yield {"input_sequence": draw.value("S", *SHAPES), "tensor": draw.T.ordinary((1, 5))}


@insert.inputs()
def every_position(draw: Draw) -> Iterator[Inputs]:
    """Each position from ``-n`` to ``n``, in a sequence of tensors of different ranks."""
    if draw.types["S"] == FLOAT:
        sequence, tensor = draw.value("S", *VARIED), draw.T.ordinary((2, 3))
        for position in range(-len(VARIED), len(VARIED) + 1):
            yield {"input_sequence": sequence, "tensor": tensor, "position": draw.I(position)}


@insert.inputs()
def into_nothing(draw: Draw) -> Iterator[Inputs]:
    """Into a sequence of no tensors, at its only place or without one; the tensor has no elements, then it has."""
    if draw.types["S"] == FLOAT:
        yield {"input_sequence": [], "tensor": draw.T.ordinary((0, 2)), "position": draw.I(0)}
        yield {"input_sequence": [], "tensor": draw.T.ordinary((2, 3))}


@operator("SequenceErase", since=11, exact=True, constraints=[position_in_turn], full_product=True)
def erase(input_sequence: Sequence, position: np.ndarray | None = None) -> Sequence:
    """All but the tensor at the position, in ``[-n, n - 1]``: "by default it erases the last tensor"."""
    n = len(input_sequence)
    place = n - 1 if position is None else from_front(position, n)
    return [tensor for i, tensor in enumerate(input_sequence) if i != place]


@erase.inputs()
def any_position(draw: Draw) -> Iterator[Inputs]:
    """One of three tensors, counted from either end."""
    yield {"input_sequence": draw.value("S", *SHAPES), "position": draw.I(draw.integer(-3, 2))}


@erase.inputs()
def last_by_default(draw: Draw) -> Iterator[Inputs]:
    """The position left out: the last of three."""
    if draw.types["S"] == FLOAT:
        yield {"input_sequence": draw.value("S", *SHAPES)}


@erase.inputs()
def each_position(draw: Draw) -> Iterator[Inputs]:
    """Each position from ``-n`` to ``n - 1``, of tensors of different ranks."""
    if draw.types["S"] == FLOAT:
        sequence = draw.value("S", *VARIED)
        for position in range(-len(VARIED), len(VARIED)):
            yield {"input_sequence": sequence, "position": draw.I(position)}


@erase.inputs()
def the_only_one(draw: Draw) -> Iterator[Inputs]:
    """The tensor of a sequence of one: none remain."""
    if draw.types["S"] == FLOAT:
        for position in (0, -1):
            yield {"input_sequence": draw.value("S", (3, 2)), "position": draw.I(position)}
