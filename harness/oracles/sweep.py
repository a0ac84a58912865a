"""The sweep of an operator of one tensor: every value of its 8- and 16-bit types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Group, Inputs, Operator
from harness.spec.element_types import BY_NAME

Decided: TypeAlias = Callable[[Draw, np.ndarray], np.ndarray]
"""Of which values the text has an answer, and honest arithmetic an accurate one: Booleans, for values as float64."""

NARROW = tuple(t.name for t in BY_NAME.values() if t.kind in ("float", "signed", "unsigned") and 8 <= t.bits <= 16)


def every_answer(_: Draw, x: np.ndarray) -> np.ndarray:
    """The text decides all values."""
    return np.ones(x.shape, bool)


def sweep(to: Operator, decided: Decided = every_answer) -> None:
    """Gives an operator of one tensor its sweep."""
    name = to.schemas[0].inputs[0].name

    def generate(draw: Draw) -> Iterator[Inputs]:
        x = draw.T.all_values()
        with np.errstate(invalid="ignore"):  # of signalling NaN
            plain = x.astype(np.float64)
        yield {name: np.where(decided(draw, plain), x, draw.T(1))}

    about = "Every value of an 8- or 16-bit type, in the order of their bits; 1 for those whose answer is open."
    to.sweeps.append(Group("every_value", about, generate, {"T": NARROW}, ""))
