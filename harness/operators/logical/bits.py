"""BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot: operations on the bits of integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.broadcasting import ALIKE, Family, Pair, Shape, binary, crossed, group, ordinary
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import Inputs, Sample, operator
from harness.oracles.sweep import sweep
from harness.spec.element_types import ElementType

DIRECTIONS = ("LEFT", "RIGHT")


def bit_shift(x: np.ndarray, y: np.ndarray, /, *, direction: str, T: ElementType) -> Any:
    """The bits moved left, those past the end lost, or right, copies of the sign bit behind them.

    Amounts that are negative or reach the width of T move all bits out.
    """
    amount = np.where((y < 0) | (y >= T.bits), T.bits, y)
    return x << amount if direction == "LEFT" else x >> amount


shift_28 = operator("BitShift", since=28, exact=True, direction=DIRECTIONS)(bit_shift)
# A plan each, for an older version gets each type once, and each needs both directions.
shifts_11 = tuple(operator("BitShift", since=11, exact=True, direction=(way,))(bit_shift) for way in DIRECTIONS)


def any_bits(values: Values, shape: Shape) -> np.ndarray:
    """Integers from the whole range of a type."""
    return values.integers(values.element.minimum, values.element.maximum - 1, shape)


def shifts(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Any bits, moved by less than the width."""
    return any_bits(draw.T, a), draw.T.integers(0, draw.T.element.bits - 1, b)


ordinary(Family(shift_28, shifts_11), shifts)


@group(shift_28, *shifts_11)
def every_amount(draw: Draw, a: Shape, b: Shape) -> Pair:
    """All bits, the outer ones, the inner ones, by every amount from 0 to one less than the width."""
    of = draw.T.element
    patterns = draw.T([of.maximum, of.minimum, of.maximum - 1, 1, of.maximum // 3])
    return np.resize(patterns, a), np.resize(draw.T(range(of.bits)), b)


@group(shift_28)
def beyond(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Amounts of the width and more, and negative ones: -1 for a right shift of what is negative, else 0."""
    of = draw.T.element
    amounts = [of.bits, of.bits + 1, 2 * of.bits - 1, of.maximum, of.maximum - 1, 0]
    negative = [-1, -2, 1 - of.bits, -of.bits, of.minimum] if of.kind == "signed" else []
    return crossed(draw.T.specials(), draw.T([*amounts, *negative]), a, b)


def beyond_the_width(draw: Draw) -> Iterator[Sample | Inputs]:
    """Amounts up to the width less one, of the outer bits; then the width itself and more."""
    of = draw.T.element
    x, y = every_amount(draw, ALIKE, ALIKE)
    yield {"X": x[::-1].copy(), "Y": y}
    amounts = draw.T([of.bits, of.bits + 1, 2 * of.bits - 1, of.maximum])
    x, y = crossed(draw.T.specials(), amounts, ALIKE, ALIKE)
    yield Sample(
        {"X": x, "Y": y}, unspecified="BitShift-11 does not say what is left of bits moved by the width or more."
    )


def _bytes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint8)


for shift_11 in shifts_11:
    shift_11.inputs()(beyond_the_width)


for direction, gives in (("LEFT", _bytes(32, 16, 8)), ("RIGHT", _bytes(8, 1, 0))):
    example = f"test_bitshift_{direction.lower()}_uint8"
    shift_28.example(example, _bytes(16, 4, 1), _bytes(1, 2, 3), direction=direction, gives=gives)


def both(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Any bits beside any."""
    return any_bits(draw.T, a), any_bits(draw.T, b)


for name, function in (
    ("BitwiseAnd", lambda a, b, _: a & b),
    ("BitwiseOr", lambda a, b, _: a | b),
    ("BitwiseXor", lambda a, b, _: a ^ b),
):
    bitwise = binary(name, function, newest=18, exact=True)
    ordinary(bitwise, both)

    @group(bitwise.newest)
    def extremes(draw: Draw, a: Shape, b: Shape) -> Pair:
        """All bits, the outer ones, the inner ones and none, each beside each."""
        return crossed(draw.T.specials(), draw.T.specials(), a, b)


@operator("BitwiseNot", since=18, exact=True)
def bitwise_not(X: np.ndarray) -> np.ndarray:
    """Each bit of each element turned."""
    return ~X


@bitwise_not.inputs()
def any_bits_at_all(draw: Draw) -> Iterator[Inputs]:
    """Any bits, then all, the outer ones, the inner ones and none."""
    yield {"X": any_bits(draw.T, ALIKE)}
    yield {"X": np.resize(draw.T.specials(), ALIKE)}


@bitwise_not.inputs(T="int32")
def every_rank(draw: Draw) -> Iterator[Inputs]:
    """0-D, one axis to five, axes of length 1, no elements."""
    for shape in ((), (1,), (17,), (3, 4), (2, 1, 3, 1, 5), (0,), (2, 0, 3)):
        yield {"X": any_bits(draw.T, shape)}


sweep(bitwise_not)
