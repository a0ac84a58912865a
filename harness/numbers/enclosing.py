"""Rounding balls with proof: the value of an element type to which everything a ball holds rounds."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from harness.numbers.rounding import format_of, last_bit, round_array, round_exact
from harness.spec.element_types import ElementType

_FAR = 1200
"""A power of two beyond every format: larger magnitudes round as 2^1200 does, smaller as 2^-1200."""
_TIE = 2.0**-10
"""How much of the last bit a ball on a tie may still span when it is taken for the tie."""
_SMALLEST = 2.0**-1074


def enclosed(balls: Sequence[arb], to: ElementType) -> tuple[np.ndarray, np.ndarray]:
    """The balls rounded into a float type, as doubles [n], and a mask [n] of those of which that is proved.

    A zero has the sign of its ball, + where the ball holds both. What is not finite is never proved.
    Run it at the precision at which the balls were made. Raises TypeError where ``to`` is no float type.
    """
    middle, radius = _middles(balls)
    if format_of(to).precision == 53:
        values, proved = middle.copy(), _nearest_double(balls, middle, radius)
    else:
        low, high = round_array(_reach(middle, radius), to)
        values, proved = np.copysign(low, middle), low == high
    undecided = np.flatnonzero(~proved)
    if undecided.size:
        doubles = [i for i in undecided.tolist() if balls[i] == middle[i] and balls[i].is_finite()]
        values[doubles], proved[doubles] = round_array(middle[doubles], to), True
        for i in np.flatnonzero(~proved).tolist():
            value = _ends(balls[i], to)
            if value is not None:
                values[i], proved[i] = value, True
    return values, proved


def enclosed_integers(balls: Sequence[arb]) -> tuple[np.ndarray, np.ndarray]:
    """The balls rounded to Python ints, ties to even, in an object array [n], and a mask [n] as ``enclosed``."""
    middle, radius = _middles(balls)
    low, high = np.rint(_reach(middle, radius))
    proved = (low == high) & (np.abs(middle) < 2.0**50)  # beyond, a double has no room for the fraction
    values = np.empty(len(balls), dtype=object)
    values[:] = [int(v) for v in np.where(proved, low, 0).tolist()]
    for i in np.flatnonzero(~proved).tolist():
        if balls[i].is_finite():
            values[i], last = (round(end) for end in end_fractions(balls[i]))
            proved[i] = values[i] == last
    return values, proved


def snapped(ball: arb, to: ElementType) -> float | int | None:
    """The rounding of the tie that the ball sits on, None where it is too wide to sit on one.

    For a ball that still straddles a rounding boundary at the cap (numbers.md, Rounding); an int where
    ``to`` is an integer type.
    """
    if not ball.is_finite():
        return None
    middle, radius = fraction(ball.mid()), fraction(ball.rad().upper())
    half = Fraction(2) ** ((last_bit(middle, to.format) if to.format else 0) - 1)
    if radius > half * Fraction(_TIE):
        return None
    tie = round(middle / half) * half
    return round_exact(tie, to) if to.format else round(tie)


def fraction(exact: arb) -> Fraction:
    """An exact, finite ball as a rational; what is beyond every format moves to ±2^1200 or ±2^-1200."""
    mantissa, exponent = (int(v) for v in exact.man_exp())
    top = mantissa.bit_length() + exponent
    if mantissa and abs(top) > _FAR:
        mantissa, exponent = 1 if mantissa > 0 else -1, _FAR if top > 0 else -_FAR
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _middles(balls: Sequence[arb]) -> tuple[np.ndarray, np.ndarray]:
    """The midpoints as doubles, and the radii rounded up, infinite where a ball is not known to exclude 0."""
    count = len(balls)
    middle = np.fromiter(map(float, balls), np.float64, count)
    # flint's accuracy a compares the exponents of radius and midpoint, so that radius < |midpoint| 2^-a;
    # it is four times as fast as the radius.
    accuracy = np.fromiter(map(arb.rel_accuracy_bits, balls), np.int64, count)
    relative = np.where(accuracy > 0, np.ldexp(1 + 2.0**-50, -np.clip(accuracy, 0, 1000)), np.inf)
    with np.errstate(invalid="ignore"):
        return middle, np.abs(middle) * relative + _SMALLEST


def _reach(middle: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Both ends [2, n] of intervals that hold the balls."""
    # Half an ulp since the midpoint was rounded to a double, and half for the end itself, twice over.
    slack = radius + np.abs(middle) * 2.0**-51
    with np.errstate(invalid="ignore"):
        return np.stack((middle - slack, middle + slack))


def _nearest_double(balls: Sequence[arb], middle: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Where all of a ball is nearer to the double nearest to its midpoint than to any other."""
    rest = np.fromiter(
        (float(ball - m) for ball, m in zip(balls, middle.tolist(), strict=True)), np.float64, len(balls)
    )
    reach = radius + np.abs(rest) * 2.0**-50
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        up, down = ((np.nextafter(middle, end) - middle) / 2 for end in (np.inf, -np.inf))
        return (rest + reach < up) & (rest - reach > down) & (np.abs(middle) < np.finfo(np.float64).max)


def _ends(ball: arb, to: ElementType) -> float | None:
    if not ball.is_finite():
        return None
    low, high = (round_exact(end, to) for end in end_fractions(ball))
    same = low == high or (low != low and high != high)  # noqa: PLR0124  both NaN
    return high if same else None


def end_fractions(ball: arb) -> tuple[Fraction, Fraction]:
    """Both ends of a finite ball, or a little beyond."""
    if ball.is_exact():  # lower() and upper() round to the working precision
        return fraction(ball), fraction(ball)
    return fraction(ball.lower()), fraction(ball.upper())
