"""Abs, Neg, Sign, Floor, Ceil and Round: functions of each element whose results need no rounding."""

from collections.abc import Iterator

import numpy as np

from harness.numbers.rounding import format_of, ulp
from harness.operators.math.unary import (
    Row,
    Trial,
    declared,
    every_magnitude,
    give,
    ordinary,
    shapes,
    special_values,
    specials,
)
from harness.oracles.draw import Draw, Values
from harness.oracles.sweep import every_answer


def _sign(x: np.ndarray) -> np.ndarray:
    """If input > 0, output 1. If input < 0, output -1. If input == 0, output 0."""
    return np.where(x > 0, 1, np.where(x < 0, -1, 0))


def special_values_but_nan(values: Values, row: Row) -> Iterator[Trial]:
    """Infinities, zeros, the extreme subnormal, normal and finite numbers at many places; then NaN among them."""
    every = specials(values, row.shape)
    yield np.where(np.isnan(every), values(1), every)
    yield every, "Sign-13 says what is > 0, < 0 or == 0; NaN is none of them, and no operation of IEEE 754 is sign."


def integer_extremes(values: Values, row: Row) -> Iterator[Trial]:
    """The ends of an integer type, and integers that float or double cannot hold."""
    yield np.resize([*_wide(values), values(values.element.minimum)], row.shape)


def _but_the_least(draw: Draw, x: np.ndarray) -> np.ndarray:
    of = draw.T.element
    return x > of.minimum if of.kind == "signed" else every_answer(draw, x)


def _but_nan(_: Draw, x: np.ndarray) -> np.ndarray:
    return ~np.isnan(x)


def integers_but_the_least(values: Values, row: Row) -> Iterator[Trial]:
    """The ends of an integer type, and integers that float or double cannot hold; then the least signed one."""
    yield np.resize(_wide(values), row.shape)
    if values.element.kind == "signed":
        unspecified = f"{row.name}-{row.since[0]} does not say what is returned where T cannot hold the result."
        yield np.resize([*_wide(values), values(values.element.minimum)], row.shape), unspecified


def _wide(values: Values) -> np.ndarray:
    least, most = values.element.minimum, values.element.maximum
    wanted = (least + 1, -(2**53) - 1, -(2**24) - 1, -1, 0, 1, 2**24 + 1, 2**53 + 1, most // 2 + 1, most - 1, most)
    return values([v for v in wanted if least < v <= most])


def halves(values: Values, row: Row) -> Iterator[Trial]:
    """Halves between integers up to the greatest there are, their neighbours, and the integers after the last half."""
    end = 2.0 ** (format_of(values.element).precision - 1)
    ties = np.array([*np.arange(7) + 0.5, end / 2 + 0.5, end / 2 + 1.5, end - 1.5, end - 0.5])
    beside = [ties + part * ulp(ties, values.element) for part in (0, -1, -0.5, 1)]
    every = np.concatenate([*beside, end + np.arange(7)])
    for sign in (1, -1):
        yield np.resize(values(sign * every), row.shape)


ABS = Row("Abs", (13, 6, 1), np.abs, exact=True, decided=_but_the_least)
NEG = Row(
    "Neg",
    (13, 6, 1),
    np.negative,
    exact=True,
    examples=(("test_neg_example", [-4, 2], [4, -2]),),
    decided=_but_the_least,
)
SIGN = Row(
    "Sign",
    (13, 9),
    _sign,
    exact=True,
    examples=(("test_sign", [*range(-5, 6)], [-1, -1, -1, -1, -1, 0, 1, 1, 1, 1, 1]),),
    decided=_but_nan,
)
FLOOR = Row("Floor", (13, 6, 1), np.floor, exact=True, examples=(("test_floor_example", [-1.5, 1.2, 2], [-2, 1, 2]),))
CEIL = Row("Ceil", (13, 6, 1), np.ceil, exact=True, examples=(("test_ceil_example", [-1.5, 1.2], [-1, 2]),))
ROUND = Row(
    "Round",
    (22, 11),
    np.rint,
    exact=True,
    examples=(
        (
            "test_round",
            [0.1, 0.5, 0.9, 1.2, 1.5, 1.8, 2.3, 2.5, 2.7, -1.1, -1.5, -1.9, -2.2, -2.5, -2.8],
            [0, 0, 1, 1, 2, 2, 2, 2, 3, -1, -2, -2, -2, -2, -3],
        ),
    ),
)

absolute, neg, sign, floor, ceil, rounded = (declared(row) for row in (ABS, NEG, SIGN, FLOOR, CEIL, ROUND))

for to, row in ((absolute, ABS), (neg, NEG)):
    give(to, row, ordinary, shapes)
    give(to, row, special_values, every_magnitude, kinds=("float",))
    give(to, row, integers_but_the_least, kinds=("signed", "unsigned"))

give(sign, SIGN, ordinary, shapes)
give(sign, SIGN, special_values_but_nan, every_magnitude, kinds=("float",))
give(sign, SIGN, integer_extremes, kinds=("signed", "unsigned"))

for to, row in ((floor, FLOOR), (ceil, CEIL), (rounded, ROUND)):
    give(to, row, ordinary, shapes, special_values, every_magnitude, halves)
