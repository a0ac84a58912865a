"""QuantizeLinear: a division, a rounding and a shift into a narrow type that saturates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.numbers.branches import clip, rint, round_to
from harness.numbers.rounding import round_array, ulp
from harness.operators.quantization.granularity import AXES, BLOCK_SIZES, SHAPE, Granularity, each, integers
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import FLAG, OMITTED, Operator, Sample, TypeOf, operator
from harness.spec.element_types import BY_CODE, BY_NAME, ElementType

PRECISIONS = (OMITTED, *(BY_NAME[name].code for name in ("float", "float16", "bfloat16")))


def _quantized(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None,
    to: ElementType,
    *,
    axis: int = 1,
    block_size: int = 0,
    saturate: int = 1,
) -> np.ndarray:
    """``saturate((x / y_scale) + y_zero_point)``, where ``x / y_scale`` "rounds to the nearest even".

    Operands have at most 32 significant bits: no quotient of theirs is so near to a tie that float64 falls on it.
    NaN, which the text leaves open where the type has none, is 0.
    """
    quotient = np.asarray(x / each(y_scale, x.shape, axis, block_size), np.float64)
    zero_point = 0 if y_zero_point is None else each(y_zero_point, x.shape, axis, block_size).astype(np.float64)
    if not (to.format and to.format.nan):
        quotient = np.where(np.isnan(quotient), 0, quotient)
    if to.format:
        return round_to(quotient + zero_point, to, saturate=bool(saturate))
    return clip(rint(quotient) + zero_point, to.minimum, to.maximum)


def _of_float8(T3: str, saturate: Any) -> bool:
    """``saturate`` "only applies for float 8 quantization": older versions are not asked to ignore it elsewhere."""
    return saturate != 0 or "float8" in T3


def _by_scale_type(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None = None,
    *,
    axis: int,
    block_size: int,
    saturate: int,
    T3: ElementType,
    **_: Any,
) -> np.ndarray:
    """The type of ``y_scale``, or ``precision``, is that of the division; inputs are such that it changes no result."""
    return _quantized(x, y_scale, y_zero_point, T3, axis=axis, block_size=block_size, saturate=saturate)


_NEWEST: Any = {
    "axis": AXES,
    "block_size": BLOCK_SIZES,
    "output_dtype": (OMITTED, TypeOf("T3")),
    "precision": PRECISIONS,
    "saturate": FLAG,
}
quantize_linear_28 = operator("QuantizeLinear", since=28, exact=True, **_NEWEST)(_by_scale_type)
quantize_linear_23 = operator("QuantizeLinear", since=(25, 24, 23), exact=True, constraints=[_of_float8], **_NEWEST)(
    _by_scale_type
)


@operator(
    "QuantizeLinear",
    since=21,
    exact=True,
    constraints=[lambda T2, saturate: _of_float8(T3=T2, saturate=saturate)],
    axis=AXES,
    block_size=BLOCK_SIZES,
    output_dtype=(OMITTED, TypeOf("T2")),
    saturate=FLAG,
)
def quantize_linear_21(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None = None,
    *,
    axis: int,
    block_size: int,
    saturate: int,
    T2: ElementType,
    **_: Any,
) -> np.ndarray:
    """``x`` and ``y_scale`` have one type."""
    return _quantized(x, y_scale, y_zero_point, T2, axis=axis, block_size=block_size, saturate=saturate)


@operator(
    "QuantizeLinear",
    since=19,
    exact=True,
    constraints=[lambda T2, saturate: _of_float8(T3=T2, saturate=saturate)],
    axis=AXES,
    saturate=FLAG,
)
def quantize_linear_19(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None = None,
    *,
    axis: int,
    saturate: int,
    T2: ElementType,
) -> np.ndarray:
    """Per tensor or per axis."""
    return _quantized(x, y_scale, y_zero_point, T2, axis=axis, saturate=saturate)


@operator("QuantizeLinear", since=13, exact=True, axis=AXES)
def quantize_linear_13(
    x: np.ndarray, y_scale: np.ndarray, y_zero_point: np.ndarray | None = None, *, axis: int, T2: ElementType
) -> np.ndarray:
    """Into 8-bit integers, by a scale in float."""
    return _quantized(x, y_scale, y_zero_point, T2, axis=axis)


@operator("QuantizeLinear", since=10, exact=True)
def quantize_linear_10(
    x: np.ndarray, y_scale: np.ndarray, y_zero_point: np.ndarray | None = None, *, T2: ElementType
) -> np.ndarray:
    """Per tensor only."""
    return _quantized(x, y_scale, y_zero_point, T2)


UNSIGNED = (
    'QuantizeLinear-28: "The type of `y_scale` determines the precision of the division operation", '
    "but float8e8m0 has neither a sign nor a fraction to divide in."
)
INTEGER = (
    'QuantizeLinear-28: "The type of `y_scale` determines the precision of the division operation", '
    "but int32 has no infinity and no NaN to divide."
)
NO_NAN = "QuantizeLinear-28 does not say what NaN becomes in a type that has none."
HUGE = 2.0**17
"""A quotient that is beyond every type quantized to, whatever its zero point, even as an infinity."""


class Frame(Granularity, frozen=True):
    """A row of a plan: its granularity and the types that play a part in it."""

    x: Values
    scale: Values
    y: Values

    @property
    def target(self) -> ElementType:
        """The type that is quantized to."""
        return self.y.element

    @property
    def precision(self) -> ElementType | None:
        """What the division is asked to be done in beside the types of the operands."""
        return BY_CODE[self.draw.attributes["precision"]] if self.given("precision") else None

    @property
    def types(self) -> list[ElementType]:
        """Those in which the division may be done: results are meant to be the same in all of them."""
        found = [self.x.element, self.scale.element, *([self.precision] if self.precision else [])]
        return [of for of in found if of.name != "float8e8m0"]

    @property
    def whole(self) -> bool:
        """Whether an operand is an integer."""
        return any(of.format is None for of in self.types)

    @property
    def divides_integers(self) -> bool:
        """Whether the division may be one of integers, since the text says no more than that the scale is one."""
        return self.scale.element.format is None and self.precision is None

    @property
    def divides_powers(self) -> bool:
        """Whether the division may be one of powers of two, whose type has neither a sign nor a fraction."""
        return self.scale.element.name == "float8e8m0" and self.precision is None

    def inputs(self, quotient: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, unspecified: str = "") -> Sample:
        """The set whose quotients are these, or what the types make of them; a zero point of 0 may be left out."""
        product = quotient * self.each(scale, quotient.shape)
        x = np.rint(product) if self.x.element.format is None else product
        found = {"x": self.x(x), "y_scale": scale}
        stated = self.given("output_dtype") or self.target.name == "uint8"
        if not stated or zero_point.astype(np.float64).any() or self.draw.integer(0, 1):
            found["y_zero_point"] = zero_point
        powers = np.exp2(np.rint(np.log2(np.where(quotient > 0, quotient, 3))))
        if self.divides_powers and not np.array_equal(quotient, powers):
            unspecified = unspecified or UNSIGNED
        return Sample(found, unspecified=unspecified)

    def powers(self, shape: Sequence[int]) -> np.ndarray:
        """Scales by which nothing is rounded, not even ``x`` where it becomes float16: it is no less than quotients."""
        narrowed = any(of.name == "float16" for of in self.types) and self.x.element.name != "float16"
        base = (1024 if self.target.format else 4) if self.whole else 1 if narrowed else 0.125
        return self.scale(np.resize(base * np.array([1, 4, 2]), shape))

    def reachable(self, quotient: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The nearest quotients that are exact in every type that plays a part, with this scale of powers of two."""
        scales = self.each(scale, quotient.shape)
        found = quotient
        if self.divides_integers:
            found = np.rint(found)
        elif self.x.element.format is None:
            found = np.rint(found * scales) / scales
        for of in self.types:
            if of.format:
                rounded = round_array(found, of)
                found = np.where(np.isfinite(rounded), rounded, found)
        narrow = min(map(_reach, self.types)) / np.maximum(scales, 1)
        between = (np.abs(found) > narrow) & ((np.abs(found) < HUGE) | self.divides_integers)
        found = np.where(between, np.copysign(narrow, found), found)
        own = _reach(self.x.element) / scales
        return np.clip(found, -own, own)

    def step(self, at: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """How far the next quotient is that every type can tell from this one."""
        steps = [ulp(at, of) for of in self.types if of.format]
        if self.x.element.format is None:
            steps.append(1 / self.each(scale, at.shape))
        return np.max(steps, axis=0)

    def between(self, shape: Sequence[int], zero_points: np.ndarray) -> np.ndarray:
        """Quotients well between the ties of the type, so small that the rounding of any division leaves them there.

        For floats some are far beyond either end, since what becomes of those is an attribute's matter.
        """
        if self.divides_powers:
            return np.exp2(integers(self.draw, 0, 4, shape))
        fractions = integers(self.draw, -250, 250, shape) * (0 if self.divides_integers else 0.001)
        if self.target.format is None:
            offset = self.each(zero_points, shape)
            low, high = self.target.minimum - offset - 3, self.target.maximum - offset + 3
            return np.clip(integers(self.draw, -16, 16, shape), low.clip(-16, 16), high.clip(-16, 16)) + fractions
        values = _finite(self.target)
        values = values[(np.abs(values) <= 16) & ((np.abs(values) >= 0.25) | (values == 0))]
        if self.divides_integers:
            values = values[values == np.rint(values)]
        picked = values[integers(self.draw, 0, len(values) - 1, shape).astype(int)]
        found = picked + fractions / 2 * ulp(picked, self.target)  # below a power of two there is half as much room
        found.reshape(-1)[::29] = HUGE
        found.reshape(-1)[1::29] = -HUGE
        return found

    def scales(self, shape: Sequence[int]) -> np.ndarray:
        """Scales like any others: no powers of two but where the type has no others."""
        if self.scale.element.name == "float8e8m0":
            return self.scale(np.exp2(integers(self.draw, *((9, 11) if self.whole else (-3, 3)), shape)))
        if self.whole:
            return self.scale(integers(self.draw, 700, 1300, shape))
        return self.scale(integers(self.draw, 100, 900, shape) / 300)

    def ordinary(self, shape: Sequence[int], *, per_axis: bool = False) -> Sample:
        """A set of quotients between ties."""
        granular = self.shape(shape, per_axis=per_axis)
        zero_points = self.zero_points(self.y, granular)
        return self.inputs(self.between(shape, zero_points), self.scales(granular), zero_points)


def _reach(of: ElementType) -> float:
    """A power of two that the type holds, and with it what is near."""
    return {"float16": 2.0**15, "int32": 2.0**30}.get(of.name, 2.0**100)


def _finite(of: ElementType) -> np.ndarray:
    """Every finite value of a float type of at most 8 bits, ascending."""
    values = np.arange(1 << of.bits, dtype=np.uint8).view(of.dtype).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def _edges(of: Frame, zero_points: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Quotients at both ends of a type and beyond, as far as they wrap around in 8, 16, 32 and 64 bits."""
    beyond = np.exp2([8, 16, 17, 20, 31, 32, 40, 64])
    target = of.target
    if target.format is None:
        ends = np.array([-1.5, -1, -0.75, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 1 << target.bits])
        around = [target.minimum - ends, target.maximum + ends, beyond, -beyond, beyond + 1, [0.0, -0.0]]
        return np.resize(np.concatenate(around), SHAPE) - zero_points
    largest = target.format.maximum
    ends = largest + ulp(np.array(largest), target) * np.array([-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 2])
    least = 2.0**target.format.smallest * np.array([0.25, 0.5, 0.75, 1, 1.25, 1.5, 2])
    asked = np.concatenate([ends, least, beyond, [2 * largest, 0.0]])
    return np.stack([asked, -asked], axis=-1).ravel()


def _ties(of: Frame, zero_points: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Quotients halfway between neighbours of the type, and the nearest there are on both sides."""
    target = of.target
    if target.format is None:
        inner = np.arange(-4.5, 5)
        outer = np.array([target.minimum - 0.5, target.minimum + 0.5, target.maximum - 0.5, target.maximum + 0.5])
        middles = np.where(np.arange(60) % 20 < 16, np.resize(inner, 60), np.resize(outer, 60) - zero_points.ravel())
        middles = middles.reshape(SHAPE)
    else:
        values = _finite(target)
        middles = ((values[1:] + values[:-1]) / 2)[np.linspace(0, len(values) - 2, 60).astype(int)].reshape(SHAPE)
    aside = np.resize([0, 1, 0, -1, 1, 0, -1], SHAPE)
    near = of.reachable(middles, scale)
    return near + aside * of.step(near, scale)


class Groups(msgspec.Struct, frozen=True):
    """The input groups of some versions: what their variables for the types of scale and result are called."""

    scale: str
    """Empty where the scale is always float."""
    y: str

    def frame(self, draw: Draw) -> Frame:
        """What the groups draw from."""
        scale = getattr(draw, self.scale) if self.scale else Values(draw, BY_NAME["float"])
        return Frame(draw, draw.T1, scale, getattr(draw, self.y))

    def register(self, one: Operator) -> None:
        """Gives the versions the groups that are about them."""
        attributes = {a.name for version in one.schemas for a in version.attributes}
        one.inputs()(self.edges_and_ties)
        one.inputs()(self.ordinary)
        if "axis" in attributes:
            one.inputs()(self.per_axis)
        one.inputs()(self.shapes)
        one.inputs(T1="float")(self.special_values)
        if "saturate" in attributes:
            one.inputs(**{self.y: "float"})(self.float_zero_point)
        if "precision" in attributes:
            one.inputs(T1=("float", "bfloat16"), **{self.scale: "float16"})(self.precise_division)

    def edges_and_ties(self, draw: Draw) -> Iterator[Sample]:
        """Exact quotients: around both ends of the type and far beyond, halfway between two results, beside that.

        The first reach to where 8, 16, 32 and 64 bits wrap around; zero points beside ties are odd, so that it matters
        that the quotient is rounded before one is added.
        """
        of = self.frame(draw)
        if of.divides_powers:
            yield of.ordinary(SHAPE)
        granular = of.shape(SHAPE)
        scale = of.powers(granular)
        for asked, odd in ((_edges, False), (_ties, True)):
            zero_points = of.zero_points(of.y, granular, odd=odd)
            quotients = np.resize(asked(of, of.each(zero_points, SHAPE), scale), SHAPE)
            yield of.inputs(of.reachable(quotients, scale), scale, zero_points)

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """Quotients that are no ties, near zero; a scale for the tensor, or for each block where there are."""
        yield self.frame(draw).ordinary(SHAPE)

    def per_axis(self, draw: Draw) -> Iterator[Sample]:
        """A scale and a zero point for each index of the axis; for each block where there are."""
        yield self.frame(draw).ordinary(SHAPE, per_axis=True)

    def shapes(self, draw: Draw) -> Iterator[Sample]:
        """Four axes; 0-D, one axis, no elements."""
        of = self.frame(draw)
        for shape in of.shapes():
            yield of.ordinary(shape)

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """Infinities saturate, or are what a float type has for them; zeros, the smallest numbers, and NaN."""
        of = self.frame(draw)
        granular = of.shape(SHAPE)
        form, target = of.x.element.format, of.target.format
        smallest = 2.0**form.smallest if form else 0
        open_division = INTEGER if of.divides_integers else ""
        if of.divides_powers or open_division:
            yield of.ordinary(SHAPE)
        asked = np.resize([np.inf, 0, -np.inf, 1, -0.0, smallest, -smallest, 2], SHAPE)
        for shift in (0, 3):
            zero_points = of.zero_points(of.y, granular)
            yield of.inputs(np.roll(asked, shift), of.scale(np.ones(granular)), zero_points, open_division)
        unspecified = open_division if target and target.nan else NO_NAN
        asked = np.resize([1, np.nan, 0, 2], SHAPE)
        yield of.inputs(asked, of.scale(np.ones(granular)), of.zero_points(of.y, granular), unspecified)

    def float_zero_point(self, draw: Draw) -> Iterator[Sample]:
        """A zero point of a float type is added like any other: sums that nothing rounds, and some far beyond."""
        of = self.frame(draw)
        granular = of.shape(SHAPE)
        asked = [HUGE, 1, 2] if of.divides_powers else [-HUGE, HUGE, 0, 1, -1]
        if not (of.divides_powers or of.divides_integers):
            asked += [0.5, -0.5]
        yield of.inputs(np.resize(asked, SHAPE), of.powers(granular), of.y(np.resize([0.5, 1, -0.5], granular)))

    def precise_division(self, draw: Draw) -> Iterator[Sample]:
        """Values that the type of the scale cannot hold, where a precision is asked for that does."""
        of = self.frame(draw)
        granular = of.shape(SHAPE)
        zero_points = of.zero_points(of.y, granular)
        asked = of.between(SHAPE, zero_points)
        wide = of.precision and of.precision.name != "float16"
        yield of.inputs(asked, of.scale(np.full(granular, 2.0**15 if wide else 0.5)), zero_points)


for _one in (quantize_linear_28, quantize_linear_23):
    Groups("T2", "T3").register(_one)
for _one in (quantize_linear_21, quantize_linear_19):
    Groups("T1", "T2").register(_one)
for _one in (quantize_linear_13, quantize_linear_10):
    Groups("", "T2").register(_one)

quantize_linear_28.example(
    "test_quantizelinear",
    np.array([0, 2, 3, 1000, -254, -1000], np.float32),
    np.float32(2),
    np.uint8(128),
    gives=np.array([128, 129, 130, 255, 1, 0], np.uint8),
)
quantize_linear_28.example(
    "test_quantizelinear_axis",
    np.array(
        [
            [
                [[-162, 10], [-100, 232], [-20, -50]],
                [[-76, 0], [0, 252], [32, -44]],
                [[245, -485], [-960, -270], [-375, -470]],
            ]
        ],
        np.float32,
    ),
    np.array([2, 4, 5], np.float32),
    np.array([84, 24, 196], np.uint8),
    gives=np.array(
        [[[[3, 89], [34, 200], [74, 59]], [[5, 24], [24, 87], [32, 13]], [[245, 99], [4, 142], [121, 102]]]], np.uint8
    ),
)
