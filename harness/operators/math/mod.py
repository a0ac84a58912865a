"""Mod: the remainder of a division, of the sign of the divisor or of the dividend."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from harness.numbers.balls import are_balls
from harness.numbers.branches import ceil, floor, greater, less, less_equal, where
from harness.oracles.broadcasting import APART, Family, Pair, Shape, crossed, group, ordinary, some_but_zero
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, operator
from harness.spec.element_types import ElementType


def whole_remainder(a: Any, b: Any, fmod: int) -> Any:
    """``A - floor(A / B) * B``, or with ``trunc`` for ``fmod``, of integers; 0 for a divisor 0, which no text says."""
    divisor = np.where(b == 0, 1, b)
    if not fmod:
        return a - a // divisor * divisor
    return np.where(a < 0, -1, 1) * (np.abs(a) % np.abs(divisor))


def remainder(a: Any, b: Any, fmod: int) -> Any:
    """``A - floor(A / B) * B``, or with ``trunc`` for ``fmod``, of floats, and the special cases of Mod-28."""
    quotient = a / b
    multiple = where(less(quotient, 0.0), ceil(quotient), floor(quotient)) if fmod else floor(quotient)
    by_infinity = less_equal(np.abs(a), sys.float_info.max) & greater(np.abs(b), sys.float_info.max)
    limit = a if fmod else where((less(a, 0.0) == less(b, 0.0)) | less_equal(np.abs(a), 0.0), a, b)
    found = where(by_infinity, limit, a - multiple * b)
    return found if are_balls(found) else np.where(found == 0, np.copysign(found, a if fmod else b), found)


@operator("Mod", since=28, fmod=FLAG)
def mod_28(A: np.ndarray, B: np.ndarray, *, fmod: int, T: ElementType) -> Any:
    """``A - floor(A / B) * B`` of the sign of ``B``, or ``A - trunc(A / B) * B`` of the sign of ``A`` for ``fmod``."""
    return remainder(A, B, fmod) if T.format else whole_remainder(A, B, fmod)


def fmod_of_floats_alone(T: str, fmod: object) -> bool:
    """For Mod-13 ``fmod=1`` constrains T to floating point types, ``fmod=0`` to integers."""
    return (T in FLOATS) == (fmod == 1)


def floats_by_fmod_alone(T: str, fmod: object) -> bool:
    """Mod-10: "If the input type is floating point, then `fmod` attribute must be set to 1."."""
    return T not in FLOATS or fmod == 1


FLOATS = ("tensor(float16)", "tensor(bfloat16)", "tensor(float)", "tensor(double)")


def exact_remainder(A: np.ndarray, B: np.ndarray, *, fmod: int, T: ElementType) -> Any:
    """Python's ``%`` of integers; C's ``fmod``, "exactly the value x - n * y", of the sign of ``x``."""
    return np.fmod(A, B) if T.format else whole_remainder(A, B, fmod)


mod_13 = operator("Mod", since=13, exact=True, constraints=[fmod_of_floats_alone], fmod=FLAG)(exact_remainder)
mod_10 = operator("Mod", since=10, exact=True, constraints=[floats_by_fmod_alone], fmod=FLAG)(exact_remainder)
EVERY = (mod_28, mod_13, mod_10)


def divisible(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Ordinary values of every sign, none zero: Mod-10 leaves a zero dividend to the platform."""
    return some_but_zero(draw.T, a), some_but_zero(draw.T, b)


ordinary(Family(mod_28, (mod_13, mod_10)), divisible)


@group(*EVERY, T=("signed", "unsigned"))
def every_sign(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Small dividends and divisors of every sign that do and do not divide."""
    numbers = draw.T([n for n in range(-7, 8) if abs(n) not in {0, 4}] if draw.T.lowest < 0 else range(1, 13))
    return crossed(numbers, numbers, a, b)


@group(*EVERY, T="float")
def multiples(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Floats of every sign that divide without remainder, or leave a quarter, a half or three of them."""
    numbers = draw.T([sign * n for sign in (1, -1) for n in (0.25, 0.5, 0.75, 1, 1.5, 2.5)])
    return crossed(numbers, numbers[::-1], a, b)


@group(*EVERY, T=("signed", "unsigned"))
def large_dividends(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Dividends from the whole range of the type: a remainder taken through float or double is off."""
    of = draw.T.element
    dividends = draw.T.integers(of.minimum + 1, of.maximum, a)
    return np.where(dividends == 0, np.ones_like(dividends), dividends), some_but_zero(draw.T, b)


@group(*EVERY, T=("signed", "unsigned"))
def extreme_operands(draw: Draw, a: Shape, b: Shape) -> Pair:
    """The extremes of the type by each other, by what lies halfway and by 1."""
    specials = draw.T.specials()
    return crossed(specials[specials != 0], specials[specials != 0], a, b)


@group(mod_13, mod_10, T="float")
def large_quotients(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Quotients of more digits than the type has, whose remainder C's fmod still gives exactly."""
    widths = 2.0 ** draw.T.integers(4, 14, a).astype(np.float64)
    return draw.T(draw.T.ordinary(a).astype(np.float64) * widths), draw.T.ordinary(b)


@group(mod_28, T="float")
def special_values(draw: Draw, a: Shape, b: Shape) -> Pair:
    """NaN, infinities and zeros of each sign, as dividends and as divisors, beside ordinary numbers."""
    numbers = draw.T([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2.5, -2.5, 0.75])
    return crossed(numbers, numbers, a, b)


@group(mod_13, T="float")
def special_operands(draw: Draw, a: Shape, b: Shape) -> Pair:
    """NaN, infinities, zeros, subnormals and the largest numbers, each by each."""
    return crossed(draw.T.specials(), draw.T.specials(), a, b)


@group(mod_10, T="float")
def special_operands_but_zero(draw: Draw, a: Shape, b: Shape) -> Pair:
    """NaN, infinities, subnormals and the largest numbers, each by each, and by zeros."""
    specials = draw.T.specials()
    return crossed(specials[specials != 0], specials, a, b)


@group(mod_28, T=("signed", "unsigned"))
def zero_dividends(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Zero by every divisor."""
    return np.zeros(a, draw.T.element.dtype), some_but_zero(draw.T, b)


@group(mod_28, mod_13, shape=(5, 2), T="signed")
def least_by_minus_one(draw: Draw, a: Shape, b: Shape) -> Pair:
    """The least integer by -1: nothing remains, though the quotient is beyond the range of the type."""
    return np.full(a, draw.T.lowest, draw.T.element.dtype), np.full(b, -1, draw.T.element.dtype)


@group(mod_28, shape=APART, T=("signed", "unsigned"), unspecified="Mod-28 does not say what an integer by zero leaves.")
def zero_divisors(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Remainders of integers by zero."""
    return draw.T.ordinary(a), np.zeros(b, draw.T.element.dtype)


def _integers(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


MIXED = _integers(-4, 7, 5, 4, -7, 8), _integers(2, -3, 8, -2, 3, 5)
mod_28.example("test_mod_mixed_sign_int64", *MIXED, gives=_integers(0, -2, 5, 0, 2, 3))
mod_28.example("test_mod_int64_fmod", *MIXED, fmod=1, gives=_integers(0, 1, 5, 0, -1, 3))
