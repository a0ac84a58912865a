"""Resize: every element a weighted average of those around its place in the input, or the nearest of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor as whole
from typing import Any

import msgspec
import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import ceil, floor, greater, less, less_equal, maximum, where
from harness.oracles.operator import FLAG, OMITTED, operator

CROP, FOR_NEAREST = "tf_crop_and_resize", "tf_half_pixel_for_nn"
NEAREST: dict[str, Callable[[Any], np.ndarray]] = {
    "round_prefer_floor": lambda x: ceil(x - 0.5),
    "round_prefer_ceil": lambda x: floor(x + 0.5),
    "floor": floor,
    "ceil": ceil,
}


class Line(msgspec.Struct, frozen=True):
    """What becomes of one axis."""

    length: int
    """``length_original``."""
    resized: int
    """"the effective output width as an integer"."""
    width: Any
    """"the target length on the axis x which can be a fractional number when it is calculated out of a scale factor".

    It is the ``length_resized`` of the formulas, as official data have it: test_resize_downsample_scales_linear and
    test_resize_downsample_scales_linear_align_corners.
    """
    scale: Any
    """``length_resized / length_original``, which is what ``scales`` says."""
    start: Any = 0
    """Where the region of interest begins, in lengths."""
    end: Any = 1


def coordinates(line: Line, mode: str, x: Any) -> Any:
    """``x_original`` of each ``x_resized``, by the formulas of ``coordinate_transformation_mode``."""
    length, width, scale, start, end = line.length, line.width, line.scale, line.start, line.end
    several = bool(greater(width, 1))
    match mode:
        case "half_pixel":
            return (x + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return length / 2 * (1 - line.resized / width) + (x + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (x + 0.5) / scale - 0.5 if several else 0 * x
        case "align_corners":
            # One element, for which the formula divides by zero, lies where the first of several does.
            return x * (length - 1) / (width - 1) if several else 0 * x
        case "asymmetric":
            return x / scale
        case "tf_half_pixel_for_nn":
            return (x + 0.5) / scale
        case _:
            if several:
                return start * (length - 1) + x * (end - start) * (length - 1) / (width - 1)
            return 0.5 * (start + end) * (length - 1) + 0 * x


def linear(t: np.ndarray) -> np.ndarray:
    """The weights of linear interpolation at these distances."""
    return maximum(1 - np.abs(t), 0)


def cubic(t: np.ndarray, a: float) -> np.ndarray:
    """The weights of cubic interpolation: equation (4) of the article that the text refers to."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return where(less_equal(t, 1), near, where(less(t, 2), far, 0 * t))


def averaged(y: np.ndarray, axis: int, x: Any, stretch: Any, a: float | None, *, antialias: int, inside: int) -> Any:
    """The averages along an axis around the places ``x``, by a filter of one length each way, of two if it is cubic.

    ``a`` is None for linear interpolation. Outside is what lies at the edge, as official data have it, or, if only the
    ``inside`` counts, what weighs nothing. A stretched filter weighs more than 1, so its weights are made to sum to 1.
    """
    reach = int(float(np.asarray(ceil((1 if a is None else 2) * stretch)).item()))
    first = np.asarray(floor(x), np.float64).astype(np.int64) + 1 - reach
    taps = first[:, np.newaxis] + np.arange(2 * reach)
    t = (taps - x[:, np.newaxis]) / stretch
    weights = linear(t) if a is None else cubic(t, a)
    if inside:
        weights = np.where((taps >= 0) & (taps < y.shape[axis]), weights, 0)
    if antialias or inside:
        weights = weights / weights.sum(axis=1, keepdims=True)
    found: Any = 0
    for tap, weight in zip(np.clip(taps, 0, y.shape[axis] - 1).T, weights.T, strict=True):
        found = found + np.take(y, tap, axis) * along(weight, axis, y.ndim)
    return found


def along(line: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """The line as an axis of a tensor of this rank."""
    return line.reshape([-1 if i == axis else 1 for i in range(rank)])


def resample(
    X: np.ndarray,
    lines: dict[int, Line],
    *,
    mode: str,
    coordinate_transformation_mode: str,
    nearest_mode: str,
    antialias: int = 0,
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
) -> np.ndarray:
    """One axis after the other: "The coordinate of each dimension is transformed individually"."""
    one: Any = constant("1")
    y, outside = X, np.zeros([1] * X.ndim, bool)
    for axis, line in lines.items():
        x = coordinates(line, coordinate_transformation_mode, one * np.arange(line.resized))
        if coordinate_transformation_mode == CROP:
            beyond = less(x, 0) | greater(x, line.length - 1)
            outside, x = outside | along(beyond, axis, X.ndim), where(beyond, 0 * x, x)
        if mode == "nearest":
            places = np.asarray(NEAREST[nearest_mode](x), np.float64).astype(np.int64)
            y = np.take(y, np.clip(places, 0, line.length - 1), axis)
        else:
            stretch = maximum(1, 1 / line.scale) if antialias else 1
            a = cubic_coeff_a if mode == "cubic" else None
            y = averaged(y, axis, x, stretch, a, antialias=antialias, inside=exclude_outside)
    return np.where(outside, extrapolation_value, y) if outside.any() else y


def scaled(length: int, scale: Any, start: Any = 0, end: Any = 1) -> Line:
    """``output_dimension = floor(input_dimension * (roi_end - roi_start) * scale)``."""
    width = length * (end - start) * scale
    return Line(length, int(float(np.asarray(floor(width)).item())), width, scale, start, end)


def sized(lengths: Sequence[int], sizes: Sequence[int], policy: str) -> list[tuple[int, Fraction]]:
    """``out_size[d]`` and the scale of each axis: ``sizes[i]``, or ``round_int(scale * in_size[d])``.

    ``scale`` is then the least or the greatest that is asked for; ``round_int`` is "rounding halfway cases up".
    """
    scales = [Fraction(size, length) for size, length in zip(sizes, lengths, strict=True)]
    if policy != "stretch":
        scales = [(min if policy == "not_larger" else max)(scales)] * len(scales)
    return [(whole(scale * length + Fraction(1, 2)), scale) for length, scale in zip(lengths, scales, strict=True)]


def resize(
    X: np.ndarray,
    roi: np.ndarray | None = None,
    scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    *,
    coordinate_transformation_mode: str,
    axes: list[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    **how: Any,
) -> np.ndarray:
    """The given axes, or all, by ``scales`` or to ``sizes``; the region matters if it is cropped to."""
    chosen = [axis % X.ndim for axis in (range(X.ndim) if axes is None else axes)]
    lengths, count = [X.shape[axis] for axis in chosen], len(chosen)
    region: list[Any] = [0] * count + [1] * count
    if coordinate_transformation_mode == CROP and roi is not None:
        region = list(roi)
    if scales is not None:
        lines = [scaled(*of) for of in zip(lengths, scales, region[:count], region[count:], strict=True)]
    else:
        assert sizes is not None
        lines: list[Line] = []
        for i, (size, scale) in enumerate(sized(lengths, sizes.tolist(), keep_aspect_ratio_policy)):
            factor = constant("1") * scale.numerator / scale.denominator
            width = constant("1") * (scale * lengths[i]).numerator / (scale * lengths[i]).denominator
            lines.append(Line(lengths[i], size, width, factor, region[i], region[count + i]))
    of = dict(zip(chosen, lines, strict=True))
    return resample(X, of, coordinate_transformation_mode=coordinate_transformation_mode, **how)


FLOATS = tuple(f"tensor({name})" for name in ("float", "double", "float16", "bfloat16", "complex64", "complex128"))
FLOAT, WORDS = FLOATS[0], ("tensor(string)", "tensor(bool)")


def averages(mode: Any) -> bool:
    """Whether elements are averaged."""
    return mode in ("linear", "bilinear", "cubic")


def moves(mode: Any) -> bool:
    """Whether elements are moved as they are: the nearest, by default."""
    return not averages(mode)


CONSTRAINTS = (
    # Words have no average, and how an average is rounded into an integer is not said: linear ones may be integers.
    lambda T1, mode: not averages(mode) or T1 in FLOATS or (mode == "linear" and T1 not in WORDS),
    # Eight bits are too few for the weights of cubic averages: no answer could be wrong.
    lambda T1, mode: mode != "cubic" or T1 != "tensor(bfloat16)",
    # Floats meet all pairs of the attributes below, other types some: it is the same elements that they move.
    lambda T1, coordinate_transformation_mode: T1 == FLOAT or coordinate_transformation_mode in (OMITTED, CROP),
    lambda T1, mode, coordinate_transformation_mode: (
        T1 == FLOAT or coordinate_transformation_mode is OMITTED or not averages(mode)
    ),
    lambda T1, T2: T1 != FLOAT or T2 == FLOAT,
    lambda T1, axes: T1 == FLOAT or axes in (OMITTED, [1, 0]),
    lambda T1, keep_aspect_ratio_policy: T1 == FLOAT or keep_aspect_ratio_policy in (OMITTED, "not_larger"),
    # What applies to one mode alone has no effect in others, which some rows try.
    lambda T1, nearest_mode: nearest_mode in (OMITTED, "ceil") or T1 == FLOAT,
    lambda T1, mode, nearest_mode: nearest_mode is OMITTED or not averages(mode) or T1 == "tensor(float16)",
    lambda T1, cubic_coeff_a: cubic_coeff_a is OMITTED or T1 in (FLOAT, "tensor(int32)"),
    lambda T1, mode, cubic_coeff_a: cubic_coeff_a is OMITTED or mode == "cubic" or T1 == "tensor(int32)",
    lambda T1, antialias: antialias != 1 or T1 in (FLOAT, "tensor(float16)", "tensor(uint8)"),
    lambda T1, mode, antialias: antialias != 1 or averages(mode) or T1 == "tensor(uint8)",
    # How weights are renormalized of which none is left, where the nearest element is outside, is not said.
    lambda T1, mode, exclude_outside: exclude_outside != 1 or (averages(mode) and T1 in (FLOAT, "tensor(float16)")),
    lambda T1, coordinate_transformation_mode, extrapolation_value: (
        extrapolation_value is OMITTED or coordinate_transformation_mode == CROP or T1 == "tensor(int16)"
    ),
    lambda T1, extrapolation_value: (
        extrapolation_value is OMITTED or T1 in FLOATS or (extrapolation_value == 2.0 and T1 not in WORDS)
    ),
    # The text says where "nn", the nearest neighbour, lies.
    lambda mode, coordinate_transformation_mode: coordinate_transformation_mode != FOR_NEAREST or not averages(mode),
)
TRANSFORMS = (OMITTED, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", CROP)
SINCE_11: dict[str, Any] = {
    "constraints": CONSTRAINTS,
    "coordinate_transformation_mode": TRANSFORMS,
    "cubic_coeff_a": (OMITTED, -0.5, -0.6),
    "exclude_outside": FLAG,
    "extrapolation_value": (OMITTED, 2.0, -1.5),
    "mode": (OMITTED, "nearest", "linear", "cubic"),
    "nearest_mode": (OMITTED, *NEAREST),
}
SINCE_18: dict[str, Any] = SINCE_11 | {
    "antialias": FLAG,
    "axes": (OMITTED, [0, 1], [1, 0], [-1], [-2], [3, 2]),
    "keep_aspect_ratio_policy": (OMITTED, "stretch", "not_larger", "not_smaller"),
}
SINCE_19: dict[str, Any] = SINCE_18 | {"coordinate_transformation_mode": (*TRANSFORMS, "half_pixel_symmetric")}

resize_19 = operator("Resize", since=19, exact=moves, **SINCE_19)(resize)
resize_18 = operator("Resize", since=18, exact=moves, **SINCE_18)(resize)


@operator("Resize", since=13, exact=moves, **SINCE_11)
def resize_13(
    X: np.ndarray,
    roi: np.ndarray | None = None,
    scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    **how: Any,
) -> np.ndarray:
    """All axes, to any ``sizes``, without antialiasing."""
    return resize(X, roi, scales, sizes, **how)


BEFORE_13: dict[str, Any] = SINCE_11 | {"coordinate_transformation_mode": (*TRANSFORMS, FOR_NEAREST)}


@operator("Resize", since=11, exact=moves, **BEFORE_13)
def resize_11(
    X: np.ndarray, roi: np.ndarray, scales: np.ndarray, sizes: np.ndarray | None = None, **how: Any
) -> np.ndarray:
    """As version 13; "If 'size' is needed, the user must set 'scales' to an empty tensor"."""
    return resize(X, roi, scales if sizes is None else None, sizes, **how)


def resample_plainly(X: np.ndarray, scales: Sequence[Any], mode: str) -> np.ndarray:
    """``output_dimension = floor(input_dimension * scale)``; the nearest element, or a linear average.

    Where an element of the output lies in the input is not said. Here it is at ``x / scale``, and the nearest is the
    one before; inputs are such that it does not matter, or silent.
    """
    lines = {axis: scaled(X.shape[axis], scale) for axis, scale in enumerate(scales)}
    return resample(X, lines, mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def floats_alone(T: str, mode: Any) -> bool:
    """Whether the type has averages that are decided without places: those of what is alike."""
    return T in FLOATS or not averages(mode)


@operator("Resize", since=10, exact=moves, constraints=[floats_alone], mode=(OMITTED, "nearest", "linear"))
def resize_10(X: np.ndarray, scales: np.ndarray, *, mode: str) -> np.ndarray:
    """By ``scales``, "If it's less than 1, it's sampling down, otherwise, it's upsampling"."""
    return resample_plainly(X, list(scales), mode)
