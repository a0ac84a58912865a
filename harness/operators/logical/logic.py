"""And, Or, Xor, Not: operations on Booleans."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.oracles.broadcasting import ALIKE, Pair, Shape, binary, ordinary
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator


def both(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Booleans of each kind beside each."""
    return draw.T.ordinary(a), draw.T.ordinary(b)


for name, function in (
    ("And", lambda a, b, _: a & b),
    ("Or", lambda a, b, _: a | b),
    ("Xor", lambda a, b, _: a ^ b),
):
    ordinary(binary(name, function, newest=7, legacy=(1,), exact=True), both)


@operator("Not", since=1, exact=True)
def not_1(X: np.ndarray) -> np.ndarray:
    """The negation of each element."""
    return ~X


@not_1.inputs()
def ordinary_values(draw: Draw) -> Iterator[Inputs]:
    """Booleans of each kind in tensors of every rank, and none."""
    for shape in (ALIKE, (), (1,), (17,), (3, 4), (2, 1, 3, 1, 5), (0,), (2, 0, 3)):
        yield {"X": draw.T.ordinary(shape)}
