"""DequantizeLinear: the difference from the zero point, times the scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.operators.quantization.granularity import AXES, BLOCK_SIZES, SHAPE, Granularity, each, integers
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED, Operator, Sample, TypeOf, operator
from harness.spec.element_types import BY_NAME, ElementType


def _dequantized(
    x: np.ndarray, x_scale: np.ndarray, x_zero_point: np.ndarray | None, *, axis: int = 1, block_size: int = 0
) -> np.ndarray:
    """``(x - x_zero_point) * x_scale``, whose difference is exact: "the output type … determines the precision of the
    multiplication operation".
    """
    zero_point = 0 if x_zero_point is None else each(x_zero_point, x.shape, axis, block_size)
    return (x - zero_point) * each(x_scale, x.shape, axis, block_size)


def _types_agree(T2: str, T3: str, output_dtype: Any) -> bool:
    """Without ``output_dtype`` the result has the type of the scale."""
    return output_dtype != OMITTED or T2 == T3


@operator(
    "DequantizeLinear",
    since=(28, 25, 24, 23),
    axis=AXES,
    block_size=BLOCK_SIZES,
    output_dtype=(OMITTED, TypeOf("T3")),
    constraints=[_types_agree],
)
def dequantize_linear_23(
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero_point: np.ndarray | None = None,
    *,
    axis: int,
    block_size: int,
    **_: Any,
) -> np.ndarray:
    """The type of ``y`` is that of the scale, or ``output_dtype``."""
    return _dequantized(x, x_scale, x_zero_point, axis=axis, block_size=block_size)


@operator("DequantizeLinear", since=21, axis=AXES, block_size=BLOCK_SIZES)
def dequantize_linear_21(
    x: np.ndarray, x_scale: np.ndarray, x_zero_point: np.ndarray | None = None, *, axis: int, block_size: int
) -> np.ndarray:
    """The type of ``y`` is that of the scale."""
    return _dequantized(x, x_scale, x_zero_point, axis=axis, block_size=block_size)


def _by_axis(x: np.ndarray, x_scale: np.ndarray, x_zero_point: np.ndarray | None = None, *, axis: int) -> np.ndarray:
    """Per tensor or per axis."""
    return _dequantized(x, x_scale, x_zero_point, axis=axis)


dequantize_linear_19 = operator("DequantizeLinear", since=19, axis=AXES)(_by_axis)
dequantize_linear_13 = operator("DequantizeLinear", since=13, axis=AXES)(_by_axis)


@operator("DequantizeLinear", since=10)
def dequantize_linear_10(x: np.ndarray, x_scale: np.ndarray, x_zero_point: np.ndarray | None = None) -> np.ndarray:
    """Per tensor only."""
    return _dequantized(x, x_scale, x_zero_point)


_NARROW = 8
"""Bits of the types every value of which is tried."""


class Frame(Granularity, frozen=True):
    """A row of a plan: its granularity and the types that play a part in it."""

    x: Values
    scale: Values
    y: ElementType

    def inputs(self, x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> Sample:
        """The set of these; a zero point of 0 may be left out."""
        found = {"x": self.x(x), "x_scale": scale}
        if zero_point.astype(np.float64).any() or self.draw.integer(0, 1):
            found["x_zero_point"] = zero_point
        return Sample(found)

    def quantized(self, zero_points: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """Values of the type, those of more than 8 bits within 200 of the zero point, floats up to 16."""
        of = self.x.element
        if of.format:
            some = _codes(of)[np.abs(_codes(of)) <= 16]
            return some[integers(self.draw, 0, len(some) - 1, shape).astype(int)]
        if of.bits <= _NARROW:
            return integers(self.draw, of.minimum, of.maximum, shape)
        around = self.each(zero_points, shape)
        return np.clip(around + integers(self.draw, -200, 200, shape), of.minimum, of.maximum)

    def scales(self, shape: Sequence[int]) -> np.ndarray:
        """Scales from 1/8 to 8."""
        if self.scale.element.name == "float8e8m0":
            return self.scale(np.exp2(integers(self.draw, -3, 3, shape)))
        return self.scale(integers(self.draw, 100, 900, shape) / 300)

    def special_scales(self) -> np.ndarray:
        """The special values of the type of the scale, without those beyond the largest result: float64 [n]."""
        specials = self.scale.specials().astype(np.float64)
        largest = self.y.format.maximum if self.y.format else 0
        return specials[~(np.isfinite(specials) & (np.abs(specials) > largest))]

    def ordinary(self, shape: Sequence[int], *, per_axis: bool = False) -> Sample:
        """Ordinary values."""
        granular = self.shape(shape, per_axis=per_axis)
        zero_points = self.zero_points(self.x, granular)
        return self.inputs(self.quantized(zero_points, shape), self.scales(granular), zero_points)


def _codes(of: ElementType) -> np.ndarray:
    """Every value of a type of at most 8 bits, NaN and infinities too."""
    if of.format is None:
        return np.arange(of.minimum, of.maximum + 1, dtype=np.float64)
    return np.arange(1 << of.bits, dtype=np.uint8).view(of.dtype).astype(np.float64)


class Groups(msgspec.Struct, frozen=True):
    """The input groups of some versions, by the names of their variables for the types of input, scale and result."""

    x: str
    scale: str
    """Empty where it is always float, as ``y``."""
    y: str

    def frame(self, draw: Draw) -> Frame:
        """What a group draws for a row from."""
        single = Values(draw, BY_NAME["float"])
        scale, y = (getattr(draw, name) if name else single for name in (self.scale, self.y))
        return Frame(draw, getattr(draw, self.x), scale, y.element)

    def register(self, one: Operator) -> None:
        """Gives the versions the groups that are about them."""
        narrow: Any = {self.x: tuple(of.name for of in BY_NAME.values() if 0 < of.bits <= _NARROW)}
        wide: Any = {self.x: ("int16", "uint16", "int32")}
        one.inputs()(self.ordinary)
        if any(a.name == "axis" for a in one.schemas[0].attributes):
            one.inputs()(self.per_axis)
            one.inputs()(self.special_scales)
        else:
            one.inputs()(self.special_scale)
        one.inputs()(self.shapes)
        one.inputs(**narrow)(self.every_value)
        one.inputs(**wide)(self.extremes)
        if self.scale:
            one.inputs(**{self.x: "float"})(self.float_zero_point)

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """A scale for the tensor, or for each block where there are."""
        yield self.frame(draw).ordinary(SHAPE)

    def per_axis(self, draw: Draw) -> Iterator[Sample]:
        """A scale and a zero point for each index of the axis; for each block where there are."""
        yield self.frame(draw).ordinary(SHAPE, per_axis=True)

    def special_scales(self, draw: Draw) -> Iterator[Sample]:
        """NaN, infinities, zeros, the smallest numbers and the largest as scales, beside one of 1."""
        of = self.frame(draw)
        granular = of.shape(SHAPE, per_axis=True)
        specials = of.special_scales()
        others = int(np.prod(granular)) - 1
        for start in range(0, len(specials), others):
            scales = np.resize([1, *np.roll(specials, -start)[:others]], granular)
            zero_points = of.zero_points(of.x, granular)
            yield of.inputs(of.quantized(zero_points, SHAPE), of.scale(scales), zero_points)

    def special_scale(self, draw: Draw) -> Iterator[Sample]:
        """NaN, infinities and the largest numbers as scale."""
        of = self.frame(draw)
        for scale in of.special_scales():
            if not np.abs(scale) < 1:
                zero_point = of.zero_points(of.x, ())
                yield of.inputs(of.quantized(zero_point, SHAPE), of.scale(scale), zero_point)

    def shapes(self, draw: Draw) -> Iterator[Sample]:
        """Four axes; 0-D, one axis, no elements."""
        of = self.frame(draw)
        for shape in of.shapes():
            yield of.ordinary(shape)

    def every_value(self, draw: Draw) -> Iterator[Sample]:
        """Every value of a type of at most 8 bits, NaN and infinities among them."""
        of = self.frame(draw)
        granular = of.shape(SHAPE)
        zero_points, scale = of.zero_points(of.x, granular), of.scales(granular)
        codes = _codes(of.x.element)
        for start in range(0, len(codes), 60):
            yield of.inputs(np.resize(codes[start : start + 60], SHAPE), scale, zero_points)

    def extremes(self, draw: Draw) -> Iterator[Sample]:
        """The extremes of wide integers, less the extremes as zero points, where float16 can hold the difference."""
        of = self.frame(draw)
        granular = of.shape(SHAPE)
        low, high = of.x.element.minimum, of.x.element.maximum
        zero_points = of.zero_points(of.x, granular)
        asked = np.resize([low, high, 0, high - 1, low + 1, (low + high) // 2, 1], SHAPE)
        if of.y.name == "float16":
            around = of.each(zero_points, SHAPE)
            asked = np.clip(asked, around - 2.0**15, around + 2.0**15)
        yield of.inputs(asked, of.scales(granular), zero_points)

    def float_zero_point(self, draw: Draw) -> Iterator[Sample]:
        """A zero point of a float type is subtracted like any other: differences that nothing rounds."""
        of = self.frame(draw)
        granular = of.shape(SHAPE)
        zero_points = of.x(np.resize([0.5, 1, -0.5], granular))
        yield of.inputs(np.resize([0, 0.5, 1, -1, 1.5, 2, -2], SHAPE), of.scales(granular), zero_points)


Groups("T1", "T2", "T3").register(dequantize_linear_23)
for _one in (dequantize_linear_21, dequantize_linear_19):
    Groups("T1", "T2", "T2").register(_one)
for _one in (dequantize_linear_13, dequantize_linear_10):
    Groups("T", "", "").register(_one)
