"""Correct rounding into the element types: of exact rationals, of doubles, and of Python integers."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from harness.errors import ConformanceError
from harness.spec.element_types import ElementType, FloatFormat


class Unrepresentable(ConformanceError):
    """A value that should be exact is none of the element type's."""

    advice = "Declare the operator inexact, or wrap, saturate or round its result first."


def format_of(to: ElementType) -> FloatFormat:
    """The format of a float type, or of each part of a complex one. Raises TypeError for other types."""
    if to.format is None:
        raise TypeError(f"{to.name} is no floating-point type.")
    return to.format


def last_bit(x: Fraction, form: FloatFormat) -> int:
    """The exponent of the last bit that ``x`` keeps, were the exponents unbounded above."""
    over, under = abs(x.numerator), x.denominator
    exponent = over.bit_length() - under.bit_length()
    if over << max(-exponent, 0) < under << max(exponent, 0):
        exponent -= 1
    return max(exponent, form.emin) - form.precision + 1


def round_exact(x: Fraction | int, to: ElementType, *, saturate: bool = False) -> float:
    """The value of a float type nearest to ``x``, ties to even, with gradual underflow and the sign of ``x`` on a zero.

    What rounds beyond the largest finite value becomes infinity, NaN where the type has no
    infinity, the largest finite value where it has neither (or if it shall ``saturate``).

    float8e8m0 follows Cast-25 (``round_mode`` nearest): ties go up, and without ``saturate``
    whatever lies outside [2^-127, 2^127] is NaN, with it the nearer end. Cast leaves negative
    values open; they are NaN here. Its table saturates 0 to "0", which the type lacks: taken
    as the code 0, which is 2^-127.

    Raises TypeError where ``to`` is no float type.
    """
    form, x = format_of(to), Fraction(x)
    if not form.zero:
        return _power_of_two(x, form, saturate=saturate)
    quantum = last_bit(x, form) if x else 0
    units = _nearest(abs(x.numerator) << max(-quantum, 0), x.denominator << max(quantum, 0))
    magnitude = math.ldexp(units, quantum) if units.bit_length() + quantum <= 1024 else math.inf
    if magnitude > form.maximum:
        magnitude = _beyond(form, saturate=saturate)
    return -magnitude if x < 0 and (form.negative_zero or units) else magnitude


def _nearest(over: int, under: int) -> int:
    """As ``round(Fraction(over, under))``, without its search for common divisors."""
    whole, rest = divmod(over, under)
    return whole + (2 * rest > under or (2 * rest == under and whole & 1))


def _power_of_two(x: Fraction, form: FloatFormat, *, saturate: bool) -> float:
    smallest = 2.0**form.emin
    if x < 0 or not (saturate or smallest <= x <= Fraction(form.maximum)):
        return math.nan
    if x <= Fraction(smallest):
        return smallest
    if x >= Fraction(form.maximum):
        return form.maximum
    return math.ldexp(math.floor(x / Fraction(2) ** last_bit(x, form) + Fraction(1, 2)), last_bit(x, form))


def _beyond(form: FloatFormat, *, saturate: bool) -> float:
    if saturate or not (form.infinity or form.nan):
        return form.maximum
    return math.inf if form.infinity else math.nan


def round_array(x: np.ndarray, to: ElementType, *, saturate: bool = False) -> np.ndarray:
    """The doubles ``x`` rounded as ``round_exact`` does, as doubles of the same shape.

    NaN stays NaN, infinities are beyond the largest finite value, and -0 is kept where the type
    has it. Types without NaN have no value for it: it stays, and ``to_storage`` refuses it.
    Raises TypeError where ``to`` is no float type.
    """
    form = format_of(to)
    if not saturate and to.dtype.char in "efd":  # NumPy rounds double to these once and correctly
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return x.astype(to.dtype).astype(np.float64)
    with np.errstate(invalid="ignore"):
        if not form.zero:
            return _powers_of_two(x, form, saturate=saturate)
        quantum = np.maximum(np.frexp(x)[1] - 1, form.emin) - form.precision + 1
        rounded = np.ldexp(np.rint(np.ldexp(x, -quantum)), quantum)
        beyond = np.copysign(_beyond(form, saturate=saturate), rounded)
        rounded = np.where(np.abs(rounded) > form.maximum, beyond, rounded)
    return rounded if form.negative_zero else np.asarray(rounded + 0.0)


def _powers_of_two(x: np.ndarray, form: FloatFormat, *, saturate: bool) -> np.ndarray:
    smallest = 2.0**form.emin
    inside = np.clip(x, smallest, form.maximum)
    mantissa, exponent = np.frexp(inside)
    rounded = np.ldexp(np.where(mantissa >= 0.75, 1.0, 0.5), exponent)
    return np.where((x >= 0) if saturate else (inside == x), rounded, np.nan)


def ulp(values: np.ndarray, to: ElementType) -> np.ndarray:
    """The spacing of a float type at each |value|, as doubles.

    It is that of the subnormals at 0, of the top binade at infinity, and NaN at NaN.
    Raises TypeError where ``to`` is no float type.
    """
    form = format_of(to)
    magnitude = np.fmin(np.abs(values), form.maximum)
    magnitude = np.fmax(magnitude, 2.0**form.emin)  # frexp(0) would be of exponent 0
    spacing = np.ldexp(1.0, np.frexp(magnitude)[1] - form.precision)
    return np.where(np.isnan(values), np.nan, spacing)


def to_storage(x: Any, to: ElementType) -> np.ndarray:
    """The array of ``to.dtype`` that holds exactly what ``x`` holds: an array of any number type, or of Python numbers.

    Signs of zero are kept where the type has them, NaN becomes the positive one; strings and bools
    stay what they are. Raises Unrepresentable for a value that the type does not have.
    """
    if to.kind == "string":
        return np.asarray(x, dtype=object)
    array = np.asarray(x)
    if to.format is None:
        return array if array.dtype == to.dtype else _whole(array, to)
    if to.kind != "complex":
        return _real(_doubles(array, to), to.dtype, to)
    stored = np.empty(array.shape, to.dtype)
    part = np.dtype(f"f{to.dtype.itemsize // 2}")
    stored.real = _real(_doubles(np.real(array), to), part, to)
    stored.imag = _real(_doubles(np.imag(array), to), part, to)
    return stored


def _doubles(array: np.ndarray, to: ElementType) -> np.ndarray:
    if array.dtype == object or array.dtype.kind in "iub":
        for v in array.ravel().tolist():
            if isinstance(v, int) and int(float(v)) != v:
                raise Unrepresentable(f"{v} is no value of {to.name}.")
    elif array.dtype.kind == "c":
        raise Unrepresentable(f"A complex array is none of {to.name}.")
    return array.astype(np.float64)


def _real(doubles: np.ndarray, dtype: np.dtype, to: ElementType) -> np.ndarray:
    canonical = np.where(np.isnan(doubles), np.nan, doubles)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # What ml_dtypes makes of a double goes through float, which is exact for a value of a narrow type.
        stored = canonical.astype(dtype)
        back = stored.astype(np.float64)
    lost = (back != canonical) & ~(np.isnan(back) & np.isnan(canonical))
    if lost.any():
        raise Unrepresentable(f"{canonical[lost].flat[0]} is no value of {to.name}.")
    return stored


def _whole(array: np.ndarray, to: ElementType) -> np.ndarray:
    values = array.ravel().tolist()
    for v in values:
        fits = isinstance(v, bool) if to.kind == "bool" else to.minimum <= v <= to.maximum and v == int(v)
        if not fits:
            raise Unrepresentable(f"{v!r} is no value of {to.name}.")
    return wrap(values, to).reshape(array.shape)


def wrap(ints: Iterable[int] | np.ndarray, to: ElementType) -> np.ndarray:
    """Python ints (an object array of any shape, or an iterable) modulo 2^bits, as an array of ``to.dtype``.

    Signed types read the rest as two's complement; bool is True for whatever is not 0 (Cast-25).
    Raises TypeError where ``to`` is no integer type or bool.
    """
    array = np.asarray(ints if isinstance(ints, np.ndarray) else list(ints), dtype=object)
    if to.kind == "bool":
        return np.array([v != 0 for v in array.ravel()], dtype=to.dtype).reshape(array.shape)
    if to.kind not in ("signed", "unsigned"):
        raise TypeError(f"{to.name} is no integer type.")
    low, modulus = to.minimum, 1 << to.bits
    wrapped = [(int(v) - low) % modulus + low for v in array.ravel()]
    wide = np.uint64 if to.kind == "unsigned" else np.int64  # ml_dtypes' narrow integers convert from these
    return np.array(wrapped, dtype=wide).reshape(array.shape).astype(to.dtype)
