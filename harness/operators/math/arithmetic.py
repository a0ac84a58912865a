"""Add, Sub, Mul, Div: arithmetic on pairs of elements."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from harness.oracles.broadcasting import APART, FLAT, Pair, Shape, binary, crossed, group, ordinary, some_but_zero
from harness.oracles.draw import Draw
from harness.spec.element_types import ElementType


def quotient(a: Any, b: Any, of: ElementType) -> Any:
    """``a / b``; for integers truncated, "rounding toward zero". By zero it is 0, which no text says."""
    if of.format:
        return a / b
    magnitude = np.abs(a) // np.where(b == 0, np.abs(a) + 1, np.abs(b))
    return np.where((a < 0) == (b < 0), magnitude, -magnitude)


declared = functools.partial(binary, newest=14, older=(13, 7), legacy=(6, 1))
add = declared("Add", lambda a, b, _: a + b)
sub = declared("Sub", lambda a, b, _: a - b)
mul = declared("Mul", lambda a, b, _: a * b)
div = declared("Div", quotient)
FAMILIES = (add, sub, mul, div)
INTEGERS = ("signed", "unsigned")


def both(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Ordinary values in both."""
    return draw.T.ordinary(a), draw.T.ordinary(b)


def descending(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Ordinary values whose difference even an unsigned type holds."""
    unsigned = draw.T.element.kind == "unsigned"
    return draw.T.integers(9, 18, a) if unsigned else draw.T.ordinary(a), draw.T.ordinary(b)


def divisible(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Ordinary values of every sign, no divisor zero."""
    return draw.T.ordinary(a), some_but_zero(draw.T, b)


for family, values in zip(FAMILIES, (both, descending, both, divisible), strict=True):
    ordinary(family, values)


@group(*(each for family in FAMILIES for each in family.all), shape=FLAT, T="float")
def special_values(draw: Draw, a: Shape, b: Shape) -> Pair:
    """NaN, infinities, zeros, subnormals and the largest numbers, each beside each: IEEE 754 decides."""
    return crossed(draw.T.specials(), draw.T.specials(), a, b)


@group(*add.all, T=INTEGERS)
def large_sums(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Integers whose sums fill the range of the type and stay inside, of more digits than floats have."""
    of = draw.T.element
    return draw.T.integers(of.minimum // 2, of.maximum // 2, a), draw.T.integers(of.minimum // 2, of.maximum // 2, b)


@group(*sub.all, T=INTEGERS)
def large_differences(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Integers whose differences fill the range of the type and stay inside, of more digits than floats have."""
    of = draw.T.element
    first = (of.minimum // 2, of.maximum // 2) if of.minimum else (of.maximum // 2, of.maximum)
    return draw.T.integers(*first, a), draw.T.integers(of.minimum // 2, of.maximum // 2, b)


@group(*mul.all, T=INTEGERS)
def large_products(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Integers whose products fill the range of the type and stay inside, of more digits than floats have."""
    of = draw.T.element
    return draw.T.integers(-(of.maximum // 9) if of.minimum else 0, of.maximum // 9, a), draw.T.ordinary(b)


@group(*div.all, T=INTEGERS)
def large_quotients(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Dividends from the whole range of the type: a quotient taken through float or double is off."""
    of = draw.T.element
    return draw.T.integers(of.minimum + 1, of.maximum, a), some_but_zero(draw.T, b)


@group(*div.all, T=INTEGERS)
def every_sign(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Small dividends and divisors of every sign that do and do not divide: quotients are truncated, not floored."""
    numbers = draw.T([n for n in range(-7, 8) if abs(n) not in {0, 4}] if draw.T.lowest < 0 else range(1, 13))
    return crossed(numbers, numbers, a, b)


@group(*div.all, T=INTEGERS)
def extreme_quotients(draw: Draw, a: Shape, b: Shape) -> Pair:
    """The extremes of the type divided by each other, by what lies halfway and by 1."""
    specials = draw.T.specials()
    return crossed(specials, specials[specials != 0], a, b)


def wrap_around(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Integers whose result the type cannot hold."""
    return crossed(draw.T.specials(), draw.T.specials(), a, b)


for family in (add, sub, mul):
    title = family.newest.schemas[0].title
    unsaid = f"{title} does not say what the result is that T cannot hold; two's complement is what most return."
    group(family.newest, T=INTEGERS, unspecified=unsaid)(wrap_around)


@group(div.newest, shape=APART, T=INTEGERS, unspecified="Div-14 does not say what an integer divided by zero is.")
def zero_divisors(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Division of integers by zero."""
    return draw.T.ordinary(a), np.zeros(b, draw.T.element.dtype)


@group(
    div.newest,
    shape=(5, 2),
    T="signed",
    unspecified="Div-14 does not say what the least integer divided by -1 is, which T cannot hold.",
)
def least_by_minus_one(draw: Draw, a: Shape, b: Shape) -> Pair:
    """The one quotient beyond the range of a signed type."""
    return np.full(a, draw.T.lowest, draw.T.element.dtype), np.full(b, -1, draw.T.element.dtype)


def _floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


sub.newest.example("test_sub_example", _floats(1, 2, 3), _floats(3, 2, 1), gives=_floats(-2, 0, 2))
mul.newest.example("test_mul_example", _floats(1, 2, 3), _floats(4, 5, 6), gives=_floats(4, 10, 18))
div.newest.example("test_div_example", _floats(3, 4), _floats(1, 2), gives=_floats(3, 2))
div.newest.example(
    "test_div_int32_trunc",
    np.array([-3, 3, -3, 3], np.int32),
    np.array([2, 2, -2, -2], np.int32),
    gives=np.array([-1, 1, 1, -1], np.int32),
)
