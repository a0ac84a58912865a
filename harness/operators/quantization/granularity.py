"""Which scale and zero point an element has: those of the tensor, of its index on an axis, or of its block there."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED

SHAPE = (3, 4, 5)
AXES = (OMITTED, 0, 2, -2)
BLOCK_SIZES = (OMITTED, 2, 3)
"""Both leave a shorter last block on some axis of ``SHAPE``."""


def each(parameter: np.ndarray, shape: Sequence[int], axis: int, block_size: int) -> np.ndarray:
    """A scale or zero point such that it broadcasts to the shape; one element alone is meant for all."""
    if block_size:
        return np.take(parameter, np.arange(shape[axis]) // block_size, axis)
    if parameter.size == 1:
        return parameter.reshape(())
    aligned = [1] * len(shape)
    aligned[axis] = -1
    return parameter.reshape(aligned)


class Granularity(msgspec.Struct, frozen=True):
    """The granularity of a row of a plan: what its ``axis`` and ``block_size`` make of scales and zero points."""

    draw: Draw

    def given(self, attribute: str) -> bool:
        """Whether the version has the attribute and the row gives it."""
        return self.draw.attributes.get(attribute, OMITTED) != OMITTED

    @property
    def block_size(self) -> int:
        """0 where there are no blocks."""
        return self.draw.attributes["block_size"] if self.given("block_size") else 0

    def axis(self, rank: int) -> int:
        """From 0, the schema's default where it is omitted."""
        return (self.draw.attributes["axis"] if self.given("axis") else 1) % max(rank, 1)

    def shape(self, shape: Sequence[int], *, per_axis: bool = False) -> tuple[int, ...]:
        """The shape of scale and zero point: blocked where there is a block size, else per axis or per tensor."""
        axis = self.axis(len(shape))
        if self.block_size:
            return (*shape[:axis], -(-shape[axis] // self.block_size), *shape[axis + 1 :])
        return (shape[axis],) if per_axis else ()

    def each(self, parameter: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """The parameter of each element, float64 of the shape."""
        spread = each(parameter.astype(np.float64), shape, self.axis(len(shape)), self.block_size)
        return np.broadcast_to(spread, shape)

    def zero_points(self, of: Values, shape: Sequence[int], *, odd: bool = False) -> np.ndarray:
        """Integers all over the type, its extremes among them, or no shift at all; floats and int32 have no other."""
        if of.element.format or of.element.name == "int32" or (not odd and self.draw.integer(0, 3) == 0):
            return of(np.zeros(shape))
        low, high = of.element.minimum, of.element.maximum
        some = [low, high, (low + high) // 2, self.draw.integer(low, high), low + 1, self.draw.integer(low, high)]
        turned = np.roll(some, self.draw.integer(0, 5))
        return of(np.resize(turned | 1 if odd else turned, shape))

    def shapes(self) -> list[tuple[int, ...]]:
        """Four axes; where neither axis nor block is stated also one of: 0-D, one axis, no elements."""
        stated = self.given("axis") or self.block_size
        others: list[tuple[int, ...]] = [(), (5,), (2, 0, 3), (1,)]
        return [(3, 2, 4, 1), *([] if stated else [others[self.draw.integer(0, 3)]])]


def integers(draw: Draw, low: int, high: int, shape: Sequence[int]) -> np.ndarray:
    """Whole numbers in [low, high], as float64."""
    return np.array([draw.integer(low, high) for _ in range(int(np.prod(shape)))], np.float64).reshape(shape)
