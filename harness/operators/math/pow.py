"""Pow: each base to the power of its exponent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from harness.numbers.balls import are_balls
from harness.numbers.branches import rint
from harness.oracles.broadcasting import (
    ALIKE,
    APART,
    FLAT,
    MULTIDIRECTIONAL,
    Pair,
    Shape,
    crossed,
    give,
    group,
    limited,
    some_but_zero,
)
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import Sample, operator
from harness.spec.element_types import ElementType


def power(x: Any, y: Any, base: ElementType, exponent: ElementType) -> Any:
    """``x^y``: of floats as IEEE 754-2008 has it (pow, and pown for whole exponents), of integers exactly."""
    if not base.format:
        return _INTEGER_POWER(x, _whole(y) if exponent.format else y)
    return x**y if are_balls(x) else x ** y.astype(np.float64)


def _whole(y: Any) -> np.ndarray:
    """Whole exponents, of balls or doubles, as Python integers."""
    numbers = np.frompyfunc(lambda v: int(v.unique_fmpz()), 1, 1) if are_balls(y) else np.frompyfunc(int, 1, 1)
    return np.asarray(numbers(rint(y)), dtype=object)


def _integer_power(x: int, y: int) -> int:
    """Exact; 1/x^-y rounded toward zero for negative ``y``, which no text says."""
    if y >= 0:
        return x**y
    return x**-y if abs(x) == 1 else 0


_INTEGER_POWER = np.frompyfunc(_integer_power, 2, 1)


def of_two_types(X: np.ndarray, Y: np.ndarray, *, T: ElementType, T1: ElementType) -> Any:
    """``f(x) = x^exponent`` of each pair of elements, in the type of the bases."""
    return power(X, Y, T, T1)


def of_one_type(A: np.ndarray, B: np.ndarray, T: ElementType) -> Any:
    """``f(x) = x^exponent`` of each pair of elements of one type."""
    return power(A, B, T, T)


newest = operator("Pow", since=15)(of_two_types)
mixed = (newest, operator("Pow", since=(13, 12))(of_two_types))


@operator("Pow", since=7)
def pow_7(X: np.ndarray, Y: np.ndarray, *, T: ElementType) -> Any:
    """``f(x) = x^exponent`` of each pair of elements of one type."""
    return of_one_type(X, Y, T)


EVERY = (*mixed, pow_7, *limited("Pow", of_one_type, (1,)))


def exponents(draw: Draw) -> Values:
    """The values of the exponents, whose type is that of the bases before version 12."""
    return draw.T1 if "T1" in draw.types else draw.T


def moderate(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Bases and exponents of ordinary size, whose powers every type holds."""
    powers = exponents(draw)
    if not draw.T.element.format:
        return some_but_zero(draw.T, a), powers.integers(0, 9, b)
    if powers.element.format:
        return draw.T(np.abs(draw.T.ordinary(a).astype(np.float64))), powers.ordinary(b)
    return draw.T.ordinary(a), powers.integers(-4 if powers.lowest < 0 else 0, 4, b)


@group(*EVERY)
def ordinary(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Ordinary values: positive bases to fractional powers, bases of each sign to whole ones."""
    return moderate(draw, a, b)


def every_shape(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Every way for two shapes to meet, dealt out to the types of the exponents."""
    return moderate(draw, a, b)


def _dealt(draw: Draw) -> Iterable[tuple[Shape, Shape]]:
    types = newest.schemas[0].variables["T1"]
    return MULTIDIRECTIONAL[types.index(draw.types["T1"]) :: len(types)]


give(newest, every_shape, _dealt)


def broadcast(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Shapes that are broadcast to one another, another pair for each row."""
    return moderate(draw, a, b)


for each in (mixed[1], pow_7):
    give(each, broadcast, lambda draw: [MULTIDIRECTIONAL[draw.integer(0, len(MULTIDIRECTIONAL) - 1)]])


@group(*EVERY, T="float")
def negative_bases(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Negative bases to whole powers, even and odd, whatever the type of the exponents."""
    powers = exponents(draw)
    return draw.T(-np.abs(draw.T.ordinary(a).astype(np.float64))), powers.integers(-4 if powers.lowest < 0 else 0, 4, b)


@group(*EVERY[2:], shape=FLAT, T="float")
def special_values(draw: Draw, a: Shape, b: Shape) -> Pair:
    """IEEE 754-2008, 9.2.1: powers of and by zeros, infinities, NaN and ±1, and roots of negative numbers."""
    # The bound of a power that overflows bfloat16 would hold every number.
    large = 0.75 if draw.T.element.name == "bfloat16" else draw.T.largest
    bases = draw.T([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, large])
    powers = exponents(draw)
    if powers.element.format:
        by = powers([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, 2, 3, -1, -3, 0.5, -0.5])
    else:
        by = powers(range(-4, 8) if powers.lowest < 0 else range(12))
    return crossed(bases, by, a, b)


group(*mixed, shape=FLAT, T="float", T1="float")(special_values)
group(*mixed, shape=FLAT, T="float", T1=("signed", "unsigned"))(special_values)
for name in ("float16", "bfloat16", "double"):
    group(newest, shape=FLAT, T=name, T1=name)(special_values)  # a plan of pairs need not have both of one type


_PERFECT = {
    "int64": [(3, 39), (-3, 39), (7, 22), (5, 27), (-15, 16), (2, 62), (-2, 63), (10, 18), (3037000499, 2), (0, 5)],
    "int32": [(3, 19), (-3, 19), (7, 11), (5, 13), (-13, 8), (2, 30), (-2, 31), (10, 9), (46340, 2), (0, 5)],
}
_PERFECT["int64"] += [(2**63 - 1, 1), (-(2**63), 1), (2**53 + 1, 1), (2097151, 3), (94906267, 2), (-1, 9)]
_PERFECT["int32"] += [(2**31 - 1, 1), (-(2**31), 1), (2**24 + 1, 1), (1290, 3), (4099, 2), (-1, 9)]
"""Bases and exponents whose powers the type holds, most of more digits than double or float."""


def large_powers(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Integer powers that fill the type: through double, or float, they would be off, e.g. 3^39 in int64."""
    bases, powers = zip(*_PERFECT[draw.T.element.name], strict=True)
    return np.resize(draw.T(bases), a), np.resize(draw.T1(powers), b)


for name in _PERFECT:
    group(*mixed, T=name)(large_powers)  # each type by itself, so that it meets each type of exponents


@newest.inputs(T="signed")
def undecided(draw: Draw) -> Iterator[Sample]:
    """Powers that the text does not settle in integers: too large, zero to the zero, by negative exponents."""
    bases = draw.T([2, -2, 3, 10, draw.T.largest, draw.T.lowest])
    yield Sample(
        dict(zip("XY", crossed(bases, draw.T1([63, 64, 65, 100]), ALIKE, ALIKE), strict=True)),
        unspecified="Pow-15 does not say what a power is that T cannot hold.",
    )
    yield Sample(
        {"X": draw.T(np.zeros(ALIKE)), "Y": draw.T1(np.zeros(ALIKE))},
        unspecified="Pow-15 does not say what 0^0 is; IEEE 754 says 1, but for floats alone.",
    )
    if draw.T1.lowest < 0:
        numbers = draw.T([0, 1, -1, 2, -2])
        yield Sample(
            dict(zip("XY", crossed(numbers, draw.T1([-1, -2]), APART, APART), strict=True)),
            unspecified="Pow-15 does not say how an integer to a negative power, a fraction, becomes an integer.",
        )


def _floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


newest.example("test_pow_example", _floats(1, 2, 3), _floats(4, 5, 6), gives=_floats(1, 32, 729))
newest.example(
    "test_pow_types_int32_float32",
    np.array([1, 2, 3], np.int32),
    _floats(4, 5, 6),
    gives=np.array([1, 32, 729], np.int32),
)
