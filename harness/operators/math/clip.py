"""Clip: every element brought into an interval, whose ends were attributes before version 11."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.numbers.rounding import format_of, ulp
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample, operator
from harness.spec.element_types import ElementType


def ends(of: ElementType) -> tuple[float, float]:
    """``numeric_limits::lowest()`` and ``numeric_limits::max()``."""
    return (-of.format.maximum, of.format.maximum) if of.format else (of.minimum, of.maximum)


def clipped(x: np.ndarray, low: Any, high: Any, of: ElementType) -> np.ndarray:
    """``Min(max, Max(input, min))``, which is ``max`` everywhere where ``min`` is greater."""
    least, greatest = ends(of)
    return np.minimum(greatest if high is None else high, np.maximum(x, least if low is None else low))


@operator("Clip", since=13, exact=True)
def clip(x: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None, /, *, T: ElementType) -> Any:
    """``Min(max, Max(input, min))``; what is left out is the least or the greatest finite value."""
    return clipped(x, low, high, T)


@operator("Clip", since=(12, 11), exact=True)
def clip_11(x: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None, /, *, T: ElementType) -> Any:
    """An element under ``min`` is replaced by it, one above ``max`` by that; defaults as in version 13."""
    return clipped(x, low, high, T)


@operator(
    "Clip",
    since=(6, 1),
    exact=True,
    min=(OMITTED, -1.25, 1.0),
    max=(OMITTED, 2.5),
    consumed_inputs=(OMITTED, [0]),
)
def clip_1(x: np.ndarray, /, *, min: float | None, max: float | None, T: ElementType, **_: object) -> np.ndarray:
    """As version 11, with attributes; version 6 states their defaults, the ends of float, which float16 lacks."""
    return clipped(clipped(x, min, max, T), None, None, T)


SHAPE = (4, 13)
"""Of all but the shapes: 52 elements, so that each of the 11 special floats, and 2 more, meets each place of four."""

NAN = (
    'Clip, "limits the given input within an interval", "under which element is replaced by min", does not say what '
    "becomes of NaN: a comparison leaves it in place, IEEE 754-2008 minNum and maxNum return the limit."
)


def interval(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    """An interval inside the ordinary values of the type."""
    low, high = {"float": (-1.25, 2.5), "signed": (-3, 4), "unsigned": (2, 6)}[draw.T.element.kind]
    return draw.T(low), draw.T(high)


def specials(draw: Draw, nan: float) -> np.ndarray:
    """The special floats, something in place of NaN, and ordinary ones, in turn."""
    found = draw.T.specials().astype(np.float64)
    return draw.T(np.resize([*np.where(np.isnan(found), nan, found), 1.5, -0.75], SHAPE))


def limited(x: np.ndarray, *pairs: Sequence[Any], unspecified: str = "") -> Iterator[Sample]:
    """The tensor between each of the pairs of limits; None is one that is left out."""
    for pair in pairs:
        limits = zip(("min", "max"), pair, strict=True)
        given = {name: np.asarray(limit, x.dtype) for name, limit in limits if limit is not None}
        yield Sample({"input": x} | given, unspecified=unspecified)


def try_out(op: Operator, infinite_without_limits: str, crossed: str) -> None:
    """Gives a version with limits as inputs its groups; the texts say why it leaves these open, if it does."""

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Sample]:
        """Elements below, between and above the limits."""
        yield from limited(draw.T.ordinary(SHAPE), interval(draw))

    @op.inputs()
    def limits_left_out(draw: Draw) -> Iterator[Sample]:
        """No ``min``, no ``max``, neither: of ordinary elements, and of infinite ones."""
        low, high = interval(draw)
        pairs = ((low, None), (None, high), (None, None))
        yield from limited(draw.T.ordinary(SHAPE), *pairs)
        if draw.T.element.format:
            yield from limited(specials(draw, 0.5), *pairs, unspecified=infinite_without_limits)

    @op.inputs()
    def at_the_limits(draw: Draw) -> Iterator[Sample]:
        """Elements equal to a limit and next to it; limits that are equal to each other, and zero, and crossed."""
        low, high = both = np.array(interval(draw)).astype(np.float64)
        step = ulp(both, draw.T.element) if draw.T.element.format else np.ones(2)
        x = draw.T(np.resize([*both, *(both - step), *(both + step), 0], SHAPE))
        yield from limited(x, (low, high), (high, high), (0, 0))
        yield from limited(x, (high, low), unspecified=crossed)

    @op.inputs(T=("signed", "unsigned"))
    def integer_extremes(draw: Draw) -> Iterator[Sample]:
        """Limits at the extremes of the type and next to them, where those of wide types are no doubles."""
        low, high = int(draw.T.lowest), int(draw.T.largest)
        x = draw.T(np.resize(np.array([low, low + 1, low + 2, 0, high // 2, high - 2, high - 1, high], object), SHAPE))
        yield from limited(x, (low, high), (low + 1, high - 1), (high - 2, high), (low, low + 1))

    @op.inputs(T="float")
    def special_values(draw: Draw) -> Iterator[Sample]:
        """Infinities, zeros of both signs, subnormal and largest numbers, at every place and as limits; NaN."""
        low, high = interval(draw)
        smallest, largest = 2.0 ** format_of(draw.T.element).smallest, draw.T.largest
        x = specials(draw, nan=0.5)
        yield from limited(x, (low, high), (-np.inf, np.inf), (-np.inf, 0.0), (-0.0, np.inf))
        yield from limited(x, (-largest, largest), (-smallest, smallest))
        yield from limited(specials(draw, np.nan), (low, high), (np.nan, high), (low, np.nan), unspecified=NAN)

    @op.inputs(T=("double", "int64"))
    def shapes(draw: Draw) -> Iterator[Sample]:
        """0-D, no elements, rank 4."""
        for shape in ((), (2, 0, 3), (3, 2, 1, 5)):
            yield from limited(draw.T.ordinary(shape), interval(draw))


try_out(
    clip,
    infinite_without_limits='Clip-13, "They default to numeric_limits::lowest() and numeric_limits::max()", brings '
    "infinities to finite values, while its function body passes them where a limit is left out.",
    crossed="",
)
try_out(
    clip_11,
    infinite_without_limits="",
    crossed="Clip-11 and Clip-12 do not say what an interval with min above max is.",
)


@clip_1.inputs()
def between_attributes(draw: Draw) -> Iterator[Inputs]:
    """Elements below, between and above the limits."""
    yield {"input": draw.T.ordinary(SHAPE)}


@clip_1.inputs()
def special_values_between_attributes(draw: Draw) -> Iterator[Sample]:
    """Infinities, zeros of both signs, subnormal and largest numbers, at every place; NaN."""
    yield Sample({"input": draw.T.ordinary(SHAPE)})
    open_ended = OMITTED in (draw.attributes["min"], draw.attributes["max"]) and draw.T.element.name != "float"
    doubt = "Clip-1 and Clip-6 do not say whether the limits that their attributes default to are those of float or T."
    yield Sample({"input": specials(draw, nan=0.5)}, unspecified=doubt if open_ended else "")
    yield Sample({"input": specials(draw, np.nan)}, unspecified=NAN)


@clip_1.inputs()
def shapes_between_attributes(draw: Draw) -> Iterator[Inputs]:
    """0-D, no elements, rank 4."""
    for shape in ((), (2, 0, 3), (3, 2, 1, 5)):
        yield {"input": draw.T.ordinary(shape)}


def floats(*values: float) -> np.ndarray:
    """The examples are of floats."""
    return np.array(values, np.float32)


clip.example("test_clip_example", floats(-2, 0, 2), np.float32(-1), np.float32(1), gives=floats(-1, 0, 1))
clip.example("test_clip_inbounds", floats(-1, 0, 1), np.float32(-5), np.float32(5), gives=floats(-1, 0, 1))
clip.example("test_clip_outbounds", floats(-6, 0, 6), np.float32(-5), np.float32(5), gives=floats(-5, 0, 5))
clip.example("test_clip_splitbounds", floats(-1, 0, 6), np.float32(-5), np.float32(5), gives=floats(-1, 0, 5))
clip.example("test_clip_min_greater_than_max", floats(-2, 0, 2), np.float32(2), np.float32(1), gives=floats(1, 1, 1))
clip.example("test_clip_default_inbounds", floats(-1, 0, 1), gives=floats(-1, 0, 1))
