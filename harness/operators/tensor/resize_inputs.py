"""Inputs of Resize: scales, sizes and regions by which arithmetic in floats comes to the places that the text means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import msgspec
import numpy as np

from harness.operators.tensor.resize import (
    CROP,
    NEAREST,
    Line,
    coordinates,
    resize_10,
    resize_11,
    resize_13,
    resize_18,
    resize_19,
    sized,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample

FRACTIONAL = (
    'Resize-19, "`length_resized` as the length of the resized tensor in axis x", is whole in this formula, while '
    "test_resize_downsample_scales_linear_align_corners has in its place the fraction that the scale asks for."
)
ROUNDED = (
    'Resize-19, "`out_size[d] = round_int(scale * in_size[d])`" and "`scale = length_resized / length_original`", '
    "state two scales where the size is rounded."
)
ONE_CORNER = (
    'Resize-19, "`x_original = x_resized * (length_original - 1) / (length_resized - 1)`", divides zero by zero for '
    "one element."
)
CROPPED_BY_SCALES = (
    'Resize-19, "`output_dimension = floor(input_dimension * (roi_end - roi_start) * scale)`": shape inference leaves '
    "the region out."
)
CROPPED_FILTER = (
    'Resize-19, "stretching the resampling filter by a factor max(1, 1 / scale)", does not say whether the region, '
    "which is another part of the input, has another scale."
)

SHAPE = (4, 6)
"""Of most tensors, or of their last two axes where a third and a fourth are listed."""
SCALES = ((2, 0.5), (0.5, 2), (1.75, 1.5), (0.5, 1.5), (1.25, 0.5))
SIZES = ((8, 3), (2, 12), (7, 9), (3, 5), (6, 4), (4, 11))
IMAGES = (1, 2, 3, 4)
"""Where scales are all that is asked for."""
ALL = (0.0, 1.0)
NEAR = Fraction(1, 256)
"""How far places, and widths, lie from where another element, or size, begins, unless they lie there exactly."""

Pair = tuple[float, float]


class Row:
    """A row of a plan: what is asked for, and what the text then decides."""

    def __init__(self, draw: Draw, *, required: bool) -> None:
        self.draw, self.required = draw, required
        self.mode: str = self._given("mode", "nearest")
        self.transform: str = self._given("coordinate_transformation_mode", "half_pixel")
        self.nearest_mode: str = self._given("nearest_mode", "round_prefer_floor")
        self.policy: str = self._given("keep_aspect_ratio_policy", "stretch")
        self.listed: list[int] | None = self._given("axes", None)
        self.antialias = self._given("antialias", 0) == 1
        self.excludes = self._given("exclude_outside", 0) == 1
        self.crops = self.transform == CROP
        self.averages = self.mode != "nearest"
        element = draw.T1.element
        self.integers = element.kind in ("signed", "unsigned")
        self.words = element.kind in ("string", "bool")
        self.exactly = self.averages and (self.integers or element.name in ("double", "complex128"))
        """Whether places must be exact in float: integers are not rounded, double shows what coordinates are not."""

    def _given(self, name: str, default: Any) -> Any:
        value = self.draw.attributes.get(name, OMITTED)
        return default if value is OMITTED else value

    def axes(self, rank: int) -> list[int]:
        """The axes that are resized; none where the tensor lacks one that is listed."""
        listed = list(range(rank)) if self.listed is None else self.listed
        return [axis % rank for axis in listed] if all(-rank <= axis < rank for axis in listed) else []

    def shape(self, *last: int) -> tuple[int, ...]:
        """Two axes, after two more where those are listed."""
        return last if self.axes(2) else (1, 2, *last)

    def elements(self, shape: Sequence[int]) -> np.ndarray:
        """Elements that tell places apart; multiples of 16 where integers are averaged, by weights of 1/4."""
        values, signed = self.draw.T1, self.draw.T1.lowest < 0 if self.integers else False
        if not self.integers:
            return values.ordinary(shape)
        if self.averages:
            return values.integers(*((-8, 7) if signed else (0, 15)), shape) * values.element.dtype.type(16)
        return values.integers(*((-100, 100) if signed else (0, 120)), shape)

    def by_scales(self, shape: Sequence[int], scales: Mapping[int, float], **more: Any) -> Iterator[Sample]:
        """The set of these scales by axis, 1 for all others; of sizes with a policy, which is none of scales.

        Its text has "it is not applicable when the `scales` input is used", and shape inference forbids both.
        """
        chosen = self.axes(len(shape))
        if self.policy != "stretch":
            yield from self.to_sizes(shape, {axis: int(v * shape[axis]) for axis, v in scales.items()}, **more)
            return
        held = np.array([scales.get(axis, 1) for axis in chosen], np.float32)
        yield from self._random_outputs(shape, chosen, [Fraction(float(v)) for v in held], {"scales": held}, **more)

    def to_sizes(self, shape: Sequence[int], sizes: Mapping[int, int], **more: Any) -> Iterator[Sample]:
        """The set of these sizes by axis, the others as long as they are."""
        chosen = self.axes(len(shape))
        asked = [int(sizes.get(axis, shape[axis])) for axis in chosen]
        if not chosen or 0 in (*(shape[axis] for axis in chosen), *asked):
            return  # Scales take values greater than 0.
        found = sized([shape[axis] for axis in chosen], asked, self.policy)
        more |= {"resized": [size for size, _ in found]}
        yield from self._random_outputs(
            shape, chosen, [scale for _, scale in found], {"sizes": np.array(asked)}, **more
        )

    def _random_outputs(
        self,
        shape: Sequence[int],
        chosen: Sequence[int],
        scales: Sequence[Fraction],
        inputs: dict[str, np.ndarray],
        *,
        resized: Sequence[int] | None = None,
        region: Mapping[int, Pair] | None = None,
        x: np.ndarray | None = None,
        alike: bool = False,
        unspecified: str = "",
    ) -> Iterator[Sample]:
        """The set, unless floats may come to another place; of elements ``alike``, none of which lies anywhere."""
        if not chosen:
            return
        ends = [(region or {}).get(axis, ALL) for axis in chosen]
        doubts: list[str] = []
        for i, (axis, scale) in enumerate(zip(chosen, scales, strict=True)):
            start, end = (Fraction(v) for v in (ends[i] if self.crops else ALL))
            width = shape[axis] * scale * (1 if resized else end - start)
            line = Line(shape[axis], resized[i] if resized else floor(width), width, scale, start, end)
            doubt = self._doubt(line, by_size=resized is not None, alike=alike)
            if doubt is None:
                return
            doubts.append(doubt)
        x = self.elements(shape) if x is None else x
        given = {"X": np.broadcast_to(x.reshape(-1)[:1], shape).copy() if alike else x}
        needed = self.crops or self.draw.T2.element.name != "float" or region is not None
        if needed or self.required:
            given["roi"] = self.draw.T2([v for side in zip(*ends, strict=True) for v in side] if needed else [])
        if self.required:
            given["scales"] = np.zeros(0, np.float32)
        yield Sample(given | inputs, unspecified=unspecified or next(filter(None, doubts), ""))

    def _doubt(self, line: Line, *, by_size: bool, alike: bool) -> str | None:
        """Why the text leaves open what becomes of an axis, if it does; None where floats may not come to it."""
        if not (_clear(line.width + Fraction(1, 2), line.scale) if by_size else _clear(line.width, line.scale)):
            return None
        if not line.resized or (line.length == 1 and not self.crops and not self.exactly):
            return ""  # There are no places, or there is but one.
        if line.resized > line.width and (self.crops or (self.excludes and self.transform == "align_corners")):
            return None  # The last lies outside.
        if alike:
            # Weights that are no floats may sum to less than 1, and how that is rounded into an integer is not said.
            return None if self.averages and self.integers else ""
        if self.crops and self.words and self._beyond(line).any():
            return None  # What the extrapolation value, a number, is among words is not said.
        doubt = self._reading(line, by_size=by_size)
        if doubt or self._steady(line):
            return doubt
        return None

    def _reading(self, line: Line, *, by_size: bool) -> str:
        """Why the text can be read in two ways that differ; empty where it cannot."""
        if self.transform == "align_corners" and line.resized == 1 < line.length:
            return ONE_CORNER
        if line.width != line.resized and (by_size or self._reads_width(line)):
            literal = msgspec.structs.replace(
                line, width=Fraction(line.resized), scale=Fraction(line.resized, line.length)
            )
            if self.averages or self.crops or not np.array_equal(self._nearest(line), self._nearest(literal)):
                return ROUNDED if by_size else FRACTIONAL
        region = line.end - line.start
        return CROPPED_FILTER if self.antialias and self.crops and line.scale * region < 1 and region != 1 else ""

    def _reads_width(self, line: Line) -> bool:
        """Whether the formula has the length of the axis in itself."""
        return self.transform in ("align_corners", CROP) or (
            self.transform == "pytorch_half_pixel" and line.resized == 1
        )

    def _places(self, line: Line, of: type[np.floating[Any]]) -> np.ndarray:
        numbers = {name: of(float(getattr(line, name))) for name in ("width", "scale", "start", "end")}
        plain = msgspec.structs.replace(line, **numbers)
        return coordinates(plain, self.transform, np.arange(line.resized, dtype=of))

    def _nearest(self, line: Line) -> np.ndarray:
        return np.clip(NEAREST[self.nearest_mode](self._places(line, np.float64)), 0, line.length - 1)

    def _beyond(self, line: Line) -> np.ndarray:
        x = self._places(line, np.float64)
        return (x < 0) | (x > line.length - 1)

    def _steady(self, line: Line) -> bool:
        """Whether arithmetic in floats, by a quotient or by its reciprocal, comes to the places that matter."""
        x, last = self._places(line, np.float64), line.length - 1
        corners = self.transform in ("align_corners", CROP)
        if corners:
            ratio = (line.end - line.start) * last / (line.resized - 1) if line.resized > 1 else Fraction(0)
        else:
            ratio = 1 / line.scale
        steps = np.arange(line.resized) + (0.5 if "half_pixel" in self.transform else 0)
        once = steps.astype(np.float32) * np.float32(float(ratio)) == steps * float(ratio)
        exact = once & (self._places(line, np.float32) == x)
        exact &= corners or (line.width == line.resized and _is_float(line.scale))
        if self.exactly:
            quarters = np.clip(x, 0, last) * 4 % 1 == 0
            if self.integers and (not quarters.all() or (self.antialias and line.scale < 1)):
                return False
            return bool(exact.all())
        turns = [np.abs(x), np.abs(x - last)] if self.crops else []
        if not self.averages:
            halves = x - 0.5 if "round" in self.nearest_mode else x
            turns.append(np.abs(halves - np.rint(halves)))
        return all(bool((exact | (turn > NEAR)).all()) for turn in turns)


def _is_float(value: Fraction) -> bool:
    return Fraction(float(np.float32(float(value)))) == value


def _clear(width: Fraction, scale: Fraction) -> bool:
    """Whether the floor of a width is what floats come to."""
    return abs(width - round(width)) > NEAR or (width == round(width) and _is_float(scale))


def last_two(shape: Sequence[int], values: Sequence[Any]) -> dict[int, Any]:
    """Values for the last two axes."""
    return {len(shape) - 2: values[0], len(shape) - 1: values[1]}


class Groups(msgspec.Struct, frozen=True):
    """The input groups of some versions."""

    required: bool
    """Whether the region and the scales are required inputs."""

    def register(self, one: Operator) -> None:
        """Gives the versions their groups."""
        attributes = {a.name for version in one.schemas for a in version.attributes}
        one.inputs()(self.ordinary)
        one.inputs()(self.sizes)
        one.inputs(T1=("float", "uint8"))(self.images)
        one.inputs(T1=("float", "int32"))(self.great_factors)
        one.inputs(T1=("float", "uint8", "string"))(self.fractional_scales)
        if "keep_aspect_ratio_policy" in attributes:
            one.inputs(T1=("float", "int32", "string"))(self.rounded_sizes)
        one.inputs(T1=("float", "int64", "bool"))(self.one_element)
        one.inputs(T1=("float", "uint8", "int32"))(self.other_ranks)
        one.inputs(T1=("float", "int8", "string"))(self.regions)
        one.inputs(T1=("float", "signed", "unsigned"))(self.special_values)
        one.inputs(T1=("float", "int16", "string"))(self.empty)

    def _row(self, draw: Draw) -> Row:
        return Row(draw, required=self.required)

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """By scales that double, halve and reach other whole sizes; regions as long as the input."""
        row = self._row(draw)
        shape = row.shape(*SHAPE)
        for i, scales in enumerate(SCALES):
            regions = (ALL,) if row.words else (ALL, (0.25, 1.25), (-0.5, 0.5))
            region = last_two(shape, (regions[i % len(regions)], regions[(i // 2) % len(regions)]))
            yield from row.by_scales(shape, last_two(shape, scales), region=region if row.crops else None)

    def sizes(self, draw: Draw) -> Iterator[Sample]:
        """To sizes that are greater, less, or as they were; regions inside the input."""
        row = self._row(draw)
        shape = row.shape(*SHAPE)
        for i, sizes in enumerate(SIZES):
            regions = ((ALL, (0.125, 0.875))[i % 2], ((0.5, 0.75), ALL)[i // 2 % 2])
            yield from row.to_sizes(
                shape, last_two(shape, sizes), region=last_two(shape, regions) if row.crops else None
            )

    def images(self, draw: Draw) -> Iterator[Sample]:
        """Two channels of an image, which stay what they are; channels last where the first axes are resized."""
        row = self._row(draw)
        shape = (*SHAPE, 2, 1) if row.listed in ([0, 1], [1, 0]) else (1, 2, *SHAPE)
        sized = [axis for axis, length in enumerate(shape) if length in SHAPE]
        for scales in SCALES[:3]:
            yield from row.by_scales(shape, dict(zip(sized, scales, strict=True)))

    def great_factors(self, draw: Draw) -> Iterator[Sample]:
        """Lines that are shortened by so much that filters do not reach every element, and one that grows."""
        row = self._row(draw)
        shape = row.shape(2, 16)
        for scales in ((1, 0.125), (2, 0.25), (1, 0.1875), (8, 0.0625)):
            yield from row.by_scales(shape, last_two(shape, scales))

    def fractional_scales(self, draw: Draw) -> Iterator[Sample]:
        """By scales after which a fraction of an element is cut off; elements alike where its place is open."""
        row = self._row(draw)
        shape = row.shape(*SHAPE)
        for scales in ((0.7, 0.6), (1.3, 1.4), (1.6, 0.35), (0.99, 0.95)):
            found = list(row.by_scales(shape, last_two(shape, scales)))
            yield from found
            if any(one.unspecified for one in found):
                yield from row.by_scales(shape, last_two(shape, scales), alike=True)

    def rounded_sizes(self, draw: Draw) -> Iterator[Sample]:
        """To sizes that keeping the ratio rounds, halfway cases up; elements alike where their place is open."""
        row = self._row(draw)
        shape = row.shape(*SHAPE)
        for sizes in ((3, 5), (7, 9), (5, 7), (1, 5), (7, 8)):
            found = list(row.to_sizes(shape, last_two(shape, sizes)))
            yield from found
            if not found or found[0].unspecified:
                yield from row.to_sizes(shape, last_two(shape, sizes), alike=True)

    def one_element(self, draw: Draw) -> Iterator[Sample]:
        """From one element to several, and from several to one."""
        row = self._row(draw)
        shape = row.shape(1, 4)
        region = last_two(shape, ((0.25, 0.5), (0.25, 0.75)))
        for scales in ((4, 0.25), (2, 0.5), (1, 0.25)):
            yield from row.by_scales(shape, last_two(shape, scales))
        for sizes in ((3, 1), (5, 2), (2, 1)):
            yield from row.to_sizes(shape, last_two(shape, sizes), region=region if row.crops else None)

    def other_ranks(self, draw: Draw) -> Iterator[Sample]:
        """One, three, four and five axes, of which all or the listed ones are resized."""
        row = self._row(draw)
        shapes = ((6,), (4, 6, 3), (2, 1, 4, 6)) if row.listed != [3, 2] else ((2, 1, 4, 6, 3),)
        for shape in shapes:
            for by_length in ({4: 2, 6: 0.5}, {2: 2, 3: 2, 4: 0.5, 6: 1.5}):
                scales = {axis: by_length.get(length, 1) for axis, length in enumerate(shape)}
                yield from row.by_scales(shape, scales)

    def regions(self, draw: Draw) -> Iterator[Sample]:
        """Regions inside the input, across each of its ends, outside, backwards, of no extent; of one element.

        Where nothing is cropped they change nothing.
        """
        row = self._row(draw)
        shape = row.shape(*SHAPE)
        for sizes, regions in (
            ((5, 9), ((0.125, 0.875), (0.25, 0.5))),
            ((5, 9), (ALL, ALL)),
            ((5, 9), ((0.875, 0.125), (1, 0))),
            ((4, 9), ((0.25, 0.75), (0.5, 0.5))),
            ((5, 9), ((-0.5, 1.5), ALL)),
            ((5, 9), ((0.5, 1.25), (-0.25, 0.75))),
            ((5, 9), (ALL, (1.25, 1.5))),
            ((1, 3), ((0.25, 0.75), ALL)),
            ((1, 3), ((0.875, 1.25), ALL)),
        ):
            yield from row.to_sizes(shape, last_two(shape, sizes), region=last_two(shape, regions))
        if row.axes(1) and row.crops and row.policy == "stretch":
            yield from row.by_scales((6,), {0: 2}, region={0: (0.25, 0.75)}, unspecified=CROPPED_BY_SCALES)

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """The type's special values, moved as they are; zeros and the smallest ones among those that are averaged."""
        row = self._row(draw)
        shape = row.shape(*SHAPE)
        values = draw.T1.specials()
        if row.averages:
            small = values[:0] if row.integers else values[np.abs(values.astype(np.float64)) < 1]
            values = np.concatenate([small, row.elements((8,))])
        for scales in SCALES[:3]:
            yield from row.by_scales(shape, last_two(shape, scales), x=np.resize(values, shape))

    def empty(self, draw: Draw) -> Iterator[Sample]:
        """No elements in another axis; an axis of which nothing is left."""
        row = self._row(draw)
        shape = (4, 6, 0) if row.listed in ([0, 1], [1, 0]) else (0, 2, *SHAPE)
        scales = {axis: {4: 2, 6: 0.5}.get(length, 1) for axis, length in enumerate(shape)}
        yield from row.by_scales(shape, scales)
        shape = row.shape(*SHAPE)
        yield from row.by_scales(shape, last_two(shape, (2, 0.125)))


for _one in (resize_19, resize_18, resize_13):
    Groups(required=False).register(_one)
Groups(required=True).register(resize_11)


def placed(of: str) -> str:
    """Why a version without coordinates leaves places open."""
    return f'{of}, "Two interpolation modes: nearest (default), and linear", does not say where elements lie.'


def steadily(x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The tensor with all elements along these axes like the first, so that their places do not matter."""
    first = x[tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(x.ndim))]
    return np.broadcast_to(first, x.shape).copy()


def enlarge(x: np.ndarray, scales: Sequence[float], mode: Any, of: str) -> Iterator[tuple[np.ndarray, str]]:
    """What scales are tried on: the tensor if it is decided what becomes of it; else silent, and with lines alike.

    Whole scales repeat elements, as in "mode = "nearest" output = [[[[1, 1, 2, 2], [1, 1, 2, 2], …", and 1 leaves all.
    """
    moved = [axis for axis, scale in enumerate(scales) if scale != 1]
    decided = not moved or (mode not in ("linear", "bilinear") and all(s == int(s) for s in scales))
    yield x, "" if decided else placed(of)
    if not decided:
        yield steadily(x, moved), ""


def some(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Elements that tell places apart."""
    of = draw.T.element
    return draw.T.integers(0, 100, shape) if of.kind in ("signed", "unsigned") else draw.T.ordinary(shape)


class PlainGroups(msgspec.Struct, frozen=True):
    """The input groups of a version with scales as an input and without coordinates."""

    of: str
    """Its title."""
    least: float
    """The least scale there may be."""

    def register(self, one: Operator) -> None:
        """Gives the version its groups."""
        one.inputs()(self.ordinary)
        one.inputs(T=("float", "int32", "string"))(self.other_scales)
        one.inputs(T=("float", "int64", "bool"))(self.other_ranks)
        one.inputs(T=("float", "signed", "unsigned"))(self.special_values)
        one.inputs(T=("float", "int16", "string"))(self.empty)

    def _tried(self, draw: Draw, shape: Sequence[int], *every: Sequence[float]) -> Iterator[Sample]:
        for scales in every:
            if min(scales) >= self.least:
                for x, unspecified in enlarge(some(draw, shape), scales, draw.attributes["mode"], self.of):
                    yield Sample({"X": x, "scales": np.array(scales, np.float32)}, unspecified=unspecified)

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """Images, enlarged by whole numbers: the nearest elements repeat, linear averages of what is alike are it."""
        yield from self._tried(draw, IMAGES, (1, 1, 2, 3), (1, 1, 3, 2), (1, 1, 1, 2), (1, 1, 1, 1))

    def other_scales(self, draw: Draw) -> Iterator[Sample]:
        """By fractions, up and down, of which whole elements are kept."""
        yield from self._tried(draw, IMAGES, (1, 1, 1.5, 1.25), (1, 1, 2.5, 1.6), (1, 1, 0.5, 0.75), (1, 1, 0.6, 2))

    def other_ranks(self, draw: Draw) -> Iterator[Sample]:
        """One, two, three and five axes, any of which is resized."""
        for scales in ((3,), (2, 3), (2, 1, 3), (1, 1, 2, 3, 2)):
            yield from self._tried(draw, (2, 1, 3, 4, 5)[-len(scales) :], scales)

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """The type's special values, moved as they are; averages of what is alike."""
        plain = draw.attributes["mode"] != "linear"
        x = np.resize(draw.T.specials(), IMAGES) if plain else steadily(some(draw, IMAGES), (2, 3))
        yield Sample({"X": x, "scales": np.array([1, 1, 2, 3], np.float32)})

    def empty(self, draw: Draw) -> Iterator[Sample]:
        """No elements."""
        yield Sample({"X": draw.T.ordinary((0, 2, 3, 4)), "scales": np.array([1, 1, 2, 3], np.float32)})


PlainGroups("Resize-10", least=0).register(resize_10)
