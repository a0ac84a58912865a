"""What operators of single elements share beyond what a kernel handles at once: sizes, and the rows that get them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import numpy as np

from harness.oracles.broadcasting import DEEP, LEAD, LONG, PERIOD, TAIL
from harness.oracles.draw import Values
from harness.oracles.operator import OMITTED

__all__ = ["DEEP", "LEAD", "LONG", "TAIL", "by_default", "repeated"]


def repeated(values: Values, shape: Sequence[int]) -> np.ndarray:
    """Ordinary values, the same again after ``PERIOD`` elements."""
    return np.resize(values.ordinary((PERIOD,)), shape)


def by_default(*attributes: str) -> Callable[..., bool]:
    """A condition of an input group: these attributes are all left out."""

    def condition(**given: object) -> bool:
        return all(value == OMITTED for value in given.values())

    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in attributes]
    condition.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return condition
