"""Equal, Greater, Less, GreaterOrEqual, LessOrEqual: comparisons of pairs of elements."""

from __future__ import annotations

from typing import Any

from harness.oracles.broadcasting import Pair, Shape, binary, crossed, group, neighbours, ordinary
from harness.oracles.draw import Draw

EQUAL = binary("Equal", lambda a, b, _: a == b, newest=19, older=(13, 11, 7), legacy=(1,), exact=True)
FAMILIES = (
    EQUAL,
    binary("Greater", lambda a, b, _: a > b, newest=13, older=(9, 7), legacy=(1,), exact=True),
    binary("Less", lambda a, b, _: a < b, newest=13, older=(9, 7), legacy=(1,), exact=True),
    binary("GreaterOrEqual", lambda a, b, _: a >= b, newest=16, older=(12,), exact=True),
    binary("LessOrEqual", lambda a, b, _: a <= b, newest=16, older=(12,), exact=True),
)
EVERY = tuple(each for family in FAMILIES for each in family.all)


def often_equal(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Whole numbers of small range, Booleans and words, many of them equal."""
    if draw.T.element.kind in {"bool", "string"}:
        return draw.T.ordinary(a), draw.T.ordinary(b)
    low = -2 if draw.T.lowest < 0 else 0
    return draw.T.integers(low, low + 4, a), draw.T.integers(low, low + 4, b)


for family in FAMILIES:
    ordinary(family, often_equal)


@group(*EVERY, T="float")
def special_values(draw: Draw, a: Shape, b: Shape) -> Pair:
    """IEEE 754: NaN is unordered and equals nothing, itself included, zeros are equal, infinities are beyond all."""
    return crossed(draw.T.specials(), draw.T.specials(), a, b)


@group(*EVERY, T=("signed", "unsigned"))
def extremes(draw: Draw, a: Shape, b: Shape) -> Pair:
    """The extremes of the type, what lies halfway, 0 and 1, each beside each: signed ones are no unsigned ones."""
    return crossed(draw.T.specials(), draw.T.specials(), a, b)


@group(*EVERY, T=("float", "signed", "unsigned"))
def near_equal(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Numbers beside themselves and what lies next to them in the type, which narrower types could not tell apart."""
    return neighbours(draw.T, a, b)


@group(EQUAL.newest, T="string")
def words(draw: Draw, a: Shape, b: Shape) -> Pair:
    """Each word beside each: they differ in case, accents, in a blank or a letter at the end, or not at all."""
    found: Any = draw.T(["", " ", "a", "A", "onnx", "onnx ", "onn", "Grüße", "Grusse", "\u00e9", "e\u0301", "日本語"])
    return crossed(found, found, a, b)
