"""The inputs of Cast and CastLike: where a conversion has edges, and of which of them the text says what they give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from harness.numbers.rounding import format_of, last_bit, round_exact, wrap
from harness.oracles.draw import WORDS, Draw
from harness.oracles.operator import OMITTED
from harness.spec.element_types import ElementType

LITERALS = {"+inf": math.inf, "inf": math.inf, "-inf": -math.inf, "nan": math.nan}

NARROW = 8
"""Types of so many bits, or fewer, are tried with every value that they have."""

SPELLINGS = (
    *("3.14", "1000", "1e-5", "1E8", "100.5", "314.15926", "0.5", "-2.25", "1.5e3", "-7.5E-1", "2.5e+2", "0.1", "1e39"),
    *("0", "1", "-1", "6", "-7", "12", "100", "127", "-128", "255", "2049", "2051", "2053", "16777217", "16777219"),
    *("+INF", "INF", "-INF", "NaN", "+inf", "inf", "+Inf", "InF", "nan", "NAN", "Hello World!", "2.718", ""),
)
"""Numbers in the document's own spellings, ties of float16 and float, literals in each case, and what is no number."""

DECIMALS = (0.5, -2.25, 0.75, 1.5, -0.25, 6.5, 100.5, 314.15625, -1234.5, 0.0625, 1.0, 1000.0, 0.1, -1e-5, 1e20)
"""Floats that are short in decimal, whole, long, and of magnitudes that may ask for an exponent."""

# What integers wrap around at, and the binades in which they are wider than some float types.
POWERS = (0, 1, 2, 3, 4, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64)
BINADES = (-24, -1, 0, 1, 15, 24, 25, 26, 30, 31, 40, 53, 54, 61, 62, 63)


def edges(draw: Draw, of: ElementType, to: ElementType) -> np.ndarray:
    """The values of ``of`` at which the conversion into ``to`` is tried, each bit pattern once: [n]."""
    match of.kind:
        case "string":
            return np.array(_texts(to), object)
        case "bool":
            return np.array([False, True])
        case "float":
            return _floats(draw, of, to)
        case _:
            return _integers(draw, of, to)


def _floats(draw: Draw, of: ElementType, to: ElementType) -> np.ndarray:
    if of.bits <= NARROW:
        return np.arange(1 << of.bits, dtype=np.uint8).view(of.dtype)
    values = [*draw.T1.specials().astype(np.float64), *draw.T1.ordinary((16,)).astype(np.float64), *DECIMALS]
    for point in _points(draw, of, to):
        nearest = round_exact(point, of)
        if math.isfinite(nearest):
            at = np.array(nearest).astype(of.dtype)
            values += [float(np.nextafter(at, of.dtype.type(end))) for end in (-math.inf, math.inf)]
            values.append(nearest)
    with np.errstate(over="ignore"):  # what is short in decimal may be much for float16
        found = np.array([*(v for v in values if not math.isnan(v)), math.nan]).astype(of.dtype)
    return np.unique(found.view(f"u{of.dtype.itemsize}")).view(of.dtype)


def _integers(draw: Draw, of: ElementType, to: ElementType) -> np.ndarray:
    if of.bits <= NARROW:
        return np.array(range(of.minimum, of.maximum + 1)).astype(of.dtype)
    values = {int(v) for v in wrap(draw.words(24).astype(object), of)} | {of.minimum, of.maximum}
    for point in _points(draw, of, to):
        values |= {math.ceil(point) - 1, math.floor(point), math.ceil(point), math.floor(point) + 1}
    return np.array(sorted(v for v in values if of.minimum <= v <= of.maximum), of.dtype)


def _texts(to: ElementType) -> Iterable[str]:
    if to.kind == "string":
        return WORDS
    ends = (to.minimum, to.maximum, to.minimum - 1, to.maximum + 1) if to.format is None else ()
    return (*SPELLINGS, *(str(end) for end in ends if str(end) not in SPELLINGS))


def _points(draw: Draw, of: ElementType, to: ElementType) -> Iterator[Fraction]:
    """Reals that the values to be tried lie at, or beside."""
    if to.kind == "string":
        return
    magnitudes = [*_ties(draw, of, to)] if to.format and to is not of else [Fraction(2) ** k for k in POWERS]
    if to.kind in ("signed", "unsigned"):
        magnitudes += [Fraction(k, 2) for k in (1, 3, 5, 7)]
        magnitudes += [Fraction(v) for v in (to.minimum, to.maximum, to.maximum - Fraction(1, 2), to.maximum + 1)]
    signs = (1,) if of.kind == "unsigned" or to.name == "float8e8m0" else (1, -1)
    yield from (sign * magnitude for magnitude in magnitudes for sign in signs)


def _ties(draw: Draw, of: ElementType, to: ElementType) -> Iterator[Fraction]:
    """Halfway between neighbours of a float type, ascending; the last is where the type overflows."""
    form = format_of(to)
    if not form.zero:
        for e in sorted({*range(-127, 128, 9), -127, -126, -25, -24, -1, 0, 1, 15, 16, 31, 62, 63, 126}):
            yield from (Fraction(2) ** e, Fraction(2) ** e * Fraction(3, 2))
        yield Fraction(2) ** 127
        return
    low, high = 1 << form.precision - 1, (1 << form.precision) - 1
    largest = Fraction(form.maximum)
    top = math.frexp(form.maximum)[1] - 1
    if to.bits <= NARROW:
        units, e = 0, form.emin
        while (value := Fraction(units) * Fraction(2) ** (e - form.precision + 1)) <= largest:
            yield value + Fraction(2) ** (e - form.precision)
            units, e = (low, e + 1) if units == high else (units + 1, e)
        return
    subnormal = Fraction(2) ** form.smallest
    yield from (subnormal * k + subnormal / 2 for k in (0, 1, 2, draw.integer(3, low - 3), low - 2, low - 1))
    whole = of.format is None
    ends = (0, of.bits - 1) if of.format is None else (of.format.emin, math.frexp(of.format.maximum)[1] - 1)
    around = {form.precision, form.precision + 1} if whole else {form.emin, form.emin + 1, top - 1}
    for e in sorted({*(BINADES if whole else BINADES[:7]), *around, top}):
        if max(form.emin, ends[0]) <= e <= min(top, ends[1]):
            unit = Fraction(2) ** (e - form.precision + 1)
            even = 2 * draw.integer(low // 2 + 1, high // 2 - 1)
            yield from (unit * k + unit / 2 for k in (low, even, even + 1, high))
    yield largest + Fraction(2) ** (top - form.precision)


def number(text: str) -> Any:
    """What a string stands for, "in plain and scientific numeric representations" or a reserved literal; else NaN."""
    if text.lower() in LITERALS:
        return LITERALS[text.lower()]
    try:
        return Fraction(text)
    except ValueError:
        return math.nan


OLD = "The documents before Cast-13 do not say what becomes of integers that are out of range, nor what is true."
NUMBER_TO_TEXT = (
    'Cast: "plain floating-point representation (such as "314.15926") would be used" does not say how many digits '
    "there are, nor how whole numbers, tiny and huge ones, NaN, infinities and Booleans are spelt."
)
TEXT_TO_NUMBER = (
    'Cast: "Converting non-numerical-literal string such as "Hello World!" is an undefined behavior. Cases of '
    'converting string representing floating-point arithmetic value, such as "2.718", to INT is an undefined '
    'behavior." It does not speak of Booleans, nor of what is out of range.'
)
TO_INTEGER = (
    'Cast: "Casting from floating point to fixed point: undefined if OOR"; it does not say in which direction '
    "fractions are rounded (onnx issue 5004)."
)
UNLIMITED = (
    'Cast: "Casting to floating point: +/- infinity if OOR", while float4e2m1 and float6 have neither infinity nor NaN.'
)
INFINITE = (
    'Cast-19 to Cast-23 have "Inf | FLT_MAX | NaN | FLT_MAX | NaN" for saturating casts, while the official data of '
    "their time had FLT_MAX in all columns (onnx issue 6220), as Cast-24 has."
)
OWN_INFINITY = (
    'Cast-24: "Inf | FLT_MAX" for saturating casts to E5M2, though saturate is about "an input value … out of range of '
    'the destination type", which an infinity of E5M2 is not.'
)
UNSIGNED = (
    'Cast: "Casting negative values to FLOAT8E8M0 gives undefined behavior", -0 is "Unspecified", and out of range '
    'the table describes "the two most common cases" alone.'
)


def doubt(x: Any, of: ElementType, to: ElementType, attributes: dict[str, Any], since: int) -> str:
    """Why the text leaves open what an element becomes; empty where it decides.

    It has "rules" for "the conversion among numerical types" from Cast-13 on.
    """
    detailed = since >= 13
    if of is to:
        infinite = of.name == "float8e5m2" and math.isinf(x) and attributes.get("saturate") != 0
        return OWN_INFINITY if infinite else ""
    if to.kind == "string":
        return "" if of.kind in ("signed", "unsigned") or unambiguous(x, of) else NUMBER_TO_TEXT
    if of.kind == "string":
        if to.kind == "bool" or not readable(x, to):
            return TEXT_TO_NUMBER
        x = number(x)
    if to.kind == "bool":
        return "" if detailed or x in (0, 1) else OLD
    if to.format is None:
        if of.kind == "float" and not (math.isfinite(x) and x == int(x) and to.minimum <= x <= to.maximum):
            return TO_INTEGER
        return "" if detailed or to.minimum <= x <= to.maximum else OLD
    return doubt_of_float(x, to, attributes, since)


def doubt_of_float(x: Any, to: ElementType, attributes: dict[str, Any], since: int) -> str:
    """Why the text leaves open what a number becomes in a float type."""
    form = format_of(to)
    if not form.zero:
        return "" if math.isnan(x) or within(x, attributes) else UNSIGNED
    if to.name.endswith("fnuz") and math.isinf(x) and attributes.get("saturate") != 0 and since < 24:
        return INFINITE
    if form.infinity or form.nan or (math.isfinite(x) and -form.maximum <= unlimited(x, to) <= form.maximum):
        return ""
    return UNLIMITED


def within(x: Any, attributes: dict[str, Any]) -> bool:
    """Whether the tables, or the modes of rounding, say what a number becomes in float8e8m0."""
    saturate, mode = (attributes.get(name, OMITTED) for name in ("saturate", "round_mode"))
    told = (saturate != 0 and mode in (OMITTED, "up")) or (saturate == 0 and mode == "nearest")
    if x == 0:
        return told and not (isinstance(x, float) and math.copysign(1, x) < 0)
    return x > 0 and (told or 2.0**-127 <= x <= 2.0**127)


def unlimited(x: Any, to: ElementType) -> Fraction:
    """A number rounded to the precision of a type as if it had no largest value."""
    unit = Fraction(2) ** last_bit(Fraction(x), format_of(to)) if x else Fraction(1)
    return round(Fraction(x) / unit) * unit


def readable(text: str, to: ElementType) -> bool:
    """Whether a string is a number that the type can be asked for: integers are in plain digits, floats in range."""
    value = number(text)
    if to.format is None:
        return text.lstrip("-").isdigit() and to.minimum <= value <= to.maximum
    if text.lower() in LITERALS:
        return to.format.nan if math.isnan(value) else to.name in ("float", "double", "float16", "bfloat16")
    return not math.isnan(value) and abs(unlimited(value, to)) <= to.format.maximum


def unambiguous(x: Any, of: ElementType) -> bool:
    """Whether a float is spelt alike by everybody: with a fraction, no exponent, and no more digits than it needs.

    All of its digits are needed to tell it from the other values of its type.
    """
    if of.kind != "float" or not (math.isfinite(x) and 1e-3 <= abs(x) < 1e6 and x != int(x)):
        return False
    digits = len(Decimal(x).normalize().as_tuple().digits)
    return digits <= 8 and all(round_exact(Fraction(f"{x:.{n}e}"), of) != x for n in range(digits - 1))


def sorted_out(draw: Draw, since: int) -> Iterator[tuple[np.ndarray, str]]:
    """The edges of a row's types in parts, each with what the text leaves open of it: first all that it decides."""
    of, to = draw.T1.element, draw.T2.element
    x = edges(draw, of, to)
    plain = [bool(v) if of.kind == "bool" else v for v in (x.astype(float) if of.format else x).tolist()]
    doubts = [doubt(v, of, to, dict(draw.attributes), since) for v in plain]
    for reason in sorted(set(doubts)):
        yield x[[d == reason for d in doubts]], reason
