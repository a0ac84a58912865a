"""Conv, ConvInteger and QLinearConv: a kernel slides over an image, and each window is summed by its weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.numbers.branches import clip, rint
from harness.operators.nn.sliding import (
    AUTO_PADS,
    CONSTRAINTS,
    DILATIONS,
    GROUPS,
    KERNELS,
    OMITTED,
    PADS,
    STRIDES,
    Planned,
    Sizes,
    Sliding,
    padded,
    sliding,
    special_images,
)
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import Inputs, operator
from harness.spec.element_types import BY_NAME, ElementType


def convolved(x: np.ndarray, w: np.ndarray, of: Sliding, group: int) -> np.ndarray:
    """``y[n, m, o]`` sums ``w[m, c, k] x[n, c, o * stride + k * dilation - begin]`` over ``k`` and m's group of ``c``.

    What is added to the image is zero: no text says so, but the official data, where integers are less their zero
    points. ``kernel_shape`` is that of ``w``.
    """
    count = of.windows(x.shape[2:])
    image = padded(x, of)
    per_group, ones = w.shape[1], [1] * len(count)

    def terms(position: Sizes) -> np.ndarray:
        met = image[of.met(position, count)].reshape(len(x), group, 1, per_group, *count)
        weights = w[(..., *position)].reshape(1, group, len(w) // group, per_group, *ones)
        return (met * weights).sum(axis=3)

    y: Any = sum(map(terms, of.positions()))
    return y.reshape(len(x), len(w), *count)


def per_channel(b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One value for each channel, or one for all, against ``[N, C, …]``."""
    return b.reshape(-1, *[1] * (x.ndim - 2)) if b.ndim else b


_PLANNED: Any = {
    "group": GROUPS,
    "pads": PADS,
    "auto_pad": AUTO_PADS,
    "strides": STRIDES,
    "dilations": DILATIONS,
    "kernel_shape": KERNELS,
}


@operator("Conv", since=(22, 11), constraints=CONSTRAINTS, **_PLANNED)
def conv(
    X: np.ndarray,
    W: np.ndarray,
    B: np.ndarray | None = None,
    *,
    group: int,
    pads: Sequence[int] | None,
    auto_pad: str,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    **_: Any,
) -> np.ndarray:
    """The convolution of X with W, and the "bias to be added to the convolution"."""
    y = convolved(X, W, sliding(X.shape[2:], W.shape[2:], strides, dilations, pads, auto_pad), group)
    return y if B is None else y + per_channel(B, y)


def _same_without_strides(auto_pad: Any, strides: Any) -> bool:
    """SAME of version 1 is "so that the output spatial size match the input", which strides do not allow."""
    return strides is OMITTED or auto_pad not in ("SAME_UPPER", "SAME_LOWER")


conv_1 = operator("Conv", since=1, constraints=[*CONSTRAINTS, _same_without_strides], **_PLANNED)(conv.oracle)


N = 2
CHANNELS = {1: (4, 6), 2: (8, 6), 3: (3, 6)}
"""Channels of the image and of the output by the number of groups; three groups have a channel each."""


class _Layer(Planned):
    """Shapes for a planned row."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.batch = N if self.rank < 3 else 1
        self.channels, self.out_channels = CHANNELS[self.group]

    def shapes(self, kernel: Sizes | None = None) -> tuple[Sizes, Sizes]:
        """Those of the image and of the weights."""
        sizes = self.sizes((self.batch, self.channels), (self.batch, self.out_channels), kernel)
        return (self.batch, self.channels, *sizes), self.weights(kernel or self.kernel)

    def weights(self, kernel: Sizes) -> Sizes:
        return (self.out_channels, self.channels // self.group, *kernel)

    def little(self) -> Iterator[tuple[Sizes, Sizes]]:
        """Those of the smallest image there can be, for the row's kernel and, if it is free, one of a single pixel."""
        for kernel in (self.kernel,) if "kernel_shape" in self.given else (self.kernel, (1,) * self.rank):
            of = self.over(kernel, kernel)
            needed = zip(of.extents, of.begin, of.end, strict=True)
            sizes = tuple(max(extent - begin - end, 1) for extent, begin, end in needed)
            yield (self.batch, self.channels, *sizes), self.weights(kernel)


@conv.inputs()
@conv_1.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """An image of distinct sizes, with a bias."""
    yield _random_outputs(draw, *_Layer(draw).shapes())


@conv.inputs()
@conv_1.inputs()
def without_bias(draw: Draw) -> Iterator[Inputs]:
    """No bias: the sums alone. Three groups are depthwise, and make a channel each."""
    layer = _Layer(draw)
    layer.out_channels = 3 if layer.group == 3 else layer.out_channels
    given = _random_outputs(draw, *layer.shapes())
    yield {"X": given["X"], "W": given["W"]}


@conv.inputs(T=("tensor(float)", "bfloat16"))
@conv_1.inputs(T=("tensor(float)", "double"))
def little_images(draw: Draw) -> Iterator[Inputs]:
    """Images as small as can be, for which windows may lie wholly in the padding; and a batch of none."""
    shapes = list(_Layer(draw).little())
    for image, weights in shapes:
        yield _random_outputs(draw, image, weights)
    image, weights = shapes[0]
    yield _random_outputs(draw, (0, *image[1:]), weights)


@conv.inputs(T="tensor(float)")
def fast_kernels(draw: Draw) -> Iterator[Inputs]:
    """Pointwise and square kernels, channels in blocks of 8: what many have algorithms of their own for."""
    layer = _Layer(draw)
    for size, channels, out_channels in ((1, 16, 24), (3, 3, 8)):
        kernel = layer.kernel if "kernel_shape" in layer.given else (size,) * layer.rank
        layer.channels, layer.out_channels = channels * layer.group, out_channels * layer.group
        yield _random_outputs(draw, *layer.shapes(kernel))


@conv.inputs(T="float")
@conv_1.inputs(T="double")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, the least and large numbers, each at few places of the image: only windows over them change."""
    given = _random_outputs(draw, *_Layer(draw).shapes())
    for x in special_images(draw, given["X"]):
        yield given | {"X": x}


def _random_outputs(draw: Draw, image: Sizes, weights: Sizes) -> dict[str, np.ndarray]:
    return {"X": draw.T.ordinary(image), "W": draw.T.ordinary(weights), "B": draw.T.ordinary(weights[:1])}


@operator("ConvInteger", since=10, exact=True, constraints=CONSTRAINTS, **_PLANNED)
def conv_integer(
    x: np.ndarray,
    w: np.ndarray,
    x_zero_point: np.ndarray | None = None,
    w_zero_point: np.ndarray | None = None,
    *,
    group: int,
    pads: Sequence[int] | None,
    auto_pad: str,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    **_: Any,
) -> np.ndarray:
    """The convolution of x with w, each less its zero point, which w may have "per output channel".

    The official data add pixels that are the zero point.
    """
    of = sliding(x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
    return convolved(_less(x, x_zero_point), _less(w, w_zero_point), of, group)


def _less(x: np.ndarray, zero_point: np.ndarray | None) -> np.ndarray:
    return x if zero_point is None else x - _per_kernel(zero_point, x)


def _per_kernel(parameter: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A scalar, or one value for each kernel, against ``[M, …]``."""
    return parameter.reshape(-1, *[1] * (w.ndim - 1)) if parameter.ndim else parameter


@conv_integer.inputs()
def integers(draw: Draw) -> Iterator[Inputs]:
    """Numbers from the whole range, with zero points that are scalars."""
    given = _integers(draw, *_Layer(draw).shapes())
    yield given | {"x_zero_point": _anywhere(draw.T1, ()), "w_zero_point": _anywhere(draw.T2, ())}


@conv_integer.inputs()
def per_output_channel(draw: Draw) -> Iterator[Inputs]:
    """A zero point for each output channel."""
    given = _integers(draw, *_Layer(draw).shapes())
    yield given | {
        "x_zero_point": _anywhere(draw.T1, ()),
        "w_zero_point": _anywhere(draw.T2, given["w"].shape[:1]),
    }


@conv_integer.inputs()
def without_zero_points(draw: Draw) -> Iterator[Inputs]:
    """One zero point or none."""
    given = _integers(draw, *_Layer(draw).shapes())
    yield given
    yield given | {"x_zero_point": _anywhere(draw.T1, ())}
    if draw.T1.element == draw.T2.element:
        yield given | {"w_zero_point": _anywhere(draw.T2, ())}


@conv_integer.inputs()
def extremes(draw: Draw) -> Iterator[Inputs]:
    """The ends of both types side by side, whose products do not fit into 16 bits, less the other ends."""
    image, weights = _Layer(draw).shapes()
    ends = [(of.lowest, of.largest) for of in (draw.T1, draw.T2)]
    x, w = (draw.T1(np.full(image, ends[0][1])), draw.T2(np.full(weights, ends[1][1])))
    w[0] = ends[1][0]
    w[1].flat[::2] = ends[1][0]
    x[..., ::3] = ends[0][0]
    for a, b in ((0, 0), (1, 1), (0, 1)):
        yield {
            "x": x,
            "w": w,
            "x_zero_point": draw.T1(ends[0][a]),
            "w_zero_point": draw.T2(ends[1][b]),
        }


@conv_integer.inputs()
def little_images_of_integers(draw: Draw) -> Iterator[Inputs]:
    """Images as small as can be, for which windows may lie wholly in the padding; and a batch of none."""
    points = {"x_zero_point": draw.T1(draw.integer(20, 90)), "w_zero_point": draw.T2(draw.integer(20, 90))}
    shapes = list(_Layer(draw).little())
    for image, weights in shapes:
        yield _integers(draw, image, weights) | points
    image, weights = shapes[0]
    yield _integers(draw, (0, *image[1:]), weights) | points


def _integers(draw: Draw, image: Sizes, weights: Sizes) -> dict[str, np.ndarray]:
    return {"x": _anywhere(draw.T1, image), "w": _anywhere(draw.T2, weights)}


def _anywhere(of: Values, shape: Sizes) -> np.ndarray:
    return of.integers(int(of.lowest), int(of.largest), shape)


@operator("QLinearConv", since=10, constraints=CONSTRAINTS, **_PLANNED)
def qlinear_conv(
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero_point: np.ndarray,
    w: np.ndarray,
    w_scale: np.ndarray,
    w_zero_point: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray,
    B: np.ndarray | None = None,
    *,
    group: int,
    pads: Sequence[int] | None,
    auto_pad: str,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    T3: ElementType,
    **_: Any,
) -> np.ndarray:
    """The convolution of what x and w stand for, quantized as QuantizeLinear does: rounded, shifted and saturated.

    The bias is "quantized using scale = x_scale * w_scale and zero_point = 0".
    """
    of = sliding(x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
    image = _real(_less(x, x_zero_point), x_scale) * x_scale
    weights = _real(_less(w, w_zero_point), w_scale) * _per_kernel(w_scale, w)
    y = convolved(image, weights, of, group)
    if B is not None:
        y = y + per_channel(_real(B, x_scale) * (x_scale * w_scale), y)
    return clip(rint(y / y_scale) + _real(y_zero_point, y_scale), T3.minimum, T3.maximum)


def _real(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Whole numbers in the system in which the scales are."""
    return x.astype(scale.dtype)


X_SCALE, W_SCALE = 0.125, 0.1875
"""The least scales of x and w; others are up to twice as large, by 64ths."""
PRIME, LARGE_PRIME = 10007, 999983
"""Of which scales of y are multiples, where there are to be no ties: it divides none of the other numbers."""
HALVES = (
    "QLinearConv-10 does not say how a quotient halfway between two integers is rounded; QuantizeLinear-10 rounds it "
    "to the even one."
)


@qlinear_conv.inputs()
def quantized(draw: Draw) -> Iterator[Inputs]:
    """Scales and zero points that are scalars, with a bias; most results are inside the range of the output's type."""
    yield _quantized(draw, *_Layer(draw).shapes())


@qlinear_conv.inputs()
def quantized_per_output_channel(draw: Draw) -> Iterator[Inputs]:
    """A scale and a zero point of w for each output channel, with a bias that has their scales."""
    image, weights = _Layer(draw).shapes()
    yield _quantized(draw, image, weights, per=weights[:1])


@qlinear_conv.inputs()
def quantized_without_bias(draw: Draw) -> Iterator[Inputs]:
    """No bias."""
    given = _quantized(draw, *_Layer(draw).shapes())
    yield {name: value for name, value in given.items() if name != "B"}


@qlinear_conv.inputs()
def saturation(draw: Draw) -> Iterator[Inputs]:
    """Results on both sides beyond the range of the output's type: its ends."""
    given = _quantized(draw, *_Layer(draw).shapes())
    yield given | {"y_scale": _scale(X_SCALE * W_SCALE * PRIME * 2.0**-21)}


@qlinear_conv.inputs()
def quantized_extremes(draw: Draw) -> Iterator[Inputs]:
    """The ends of both types side by side, whose products do not fit into 16 bits, less the other ends."""
    image, weights = _Layer(draw).shapes()
    for given in extremes(draw):
        terms = math.ceil(math.log2(math.prod(weights[1:])))
        y_scale = _scale(X_SCALE * W_SCALE * LARGE_PRIME * 2.0 ** (terms - 11))
        yield _quantized(draw, image, weights) | given | {"y_scale": y_scale}


@qlinear_conv.inputs(unspecified=HALVES)
def ties(draw: Draw) -> Iterator[Inputs]:
    """Quotients halfway between two integers, even and odd and of each sign, by scales that are powers of two."""
    given = _quantized(draw, *_Layer(draw).shapes())
    scales = {"x_scale": _scale(0.5), "w_scale": _scale(0.25), "y_scale": _scale(0.25)}
    yield {name: value for name, value in (given | scales).items() if name != "B"}


@qlinear_conv.inputs()
def little_quantized_images(draw: Draw) -> Iterator[Inputs]:
    """Images as small as can be, for which windows may lie wholly in the padding; and a batch of none."""
    shapes = list(_Layer(draw).little())
    for image, weights in shapes:
        yield _quantized(draw, image, weights)
    image, weights = shapes[0]
    yield _quantized(draw, (0, *image[1:]), weights)


def _quantized(draw: Draw, image: Sizes, weights: Sizes, per: Sizes = ()) -> dict[str, np.ndarray]:
    """Operands at most 6 units from their zero points."""
    zero_x, zero_w = draw.T1(draw.integer(10, 99)), draw.T2(_below(draw, 90, per) + 10)
    bias = Values(draw, BY_NAME["int32"]).integers(-99, 99, weights[:1])
    return {
        "x": draw.T1(_units(draw, image) + zero_x),
        "x_scale": _scales(draw, X_SCALE, ()),
        "x_zero_point": zero_x,
        "w": draw.T2(_units(draw, weights) + _per_kernel(zero_w, np.empty(weights))),
        "w_scale": _scales(draw, W_SCALE, per),
        "w_zero_point": zero_w,
        "y_scale": _scale(X_SCALE * W_SCALE * PRIME * 2.0**-11),
        "y_zero_point": draw.T3({"signed": 9, "unsigned": 121}[draw.T3.element.kind]),
        "B": bias,
    }


def _units(draw: Draw, shape: Sizes) -> np.ndarray:
    return (1 + _below(draw, 6, shape)) * (1 - 2 * _below(draw, 2, shape))


def _scales(draw: Draw, least: float, shape: Sizes) -> np.ndarray:
    return _scale(least * (1 + _below(draw, 64, shape) / 64))


def _below(draw: Draw, end: int, shape: Sizes) -> np.ndarray:
    return (draw.words(math.prod(shape)) % np.uint64(end)).astype(np.int64).reshape(shape)


def _scale(value: Any) -> np.ndarray:
    return np.asarray(value, np.float32)


SQUARE = np.arange(2, 11, dtype=np.uint8).reshape(1, 1, 3, 3)
conv_integer.example(
    "test_convinteger_without_padding",
    SQUARE,
    np.ones((1, 1, 2, 2), np.uint8),
    np.uint8(1),
    gives=np.array([[[[12, 16], [24, 28]]]], np.int32),
)
conv.example(
    "test_basic_conv_without_padding",
    np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5),
    np.ones((1, 1, 3, 3), np.float32),
    gives=np.array([[[[54, 63, 72], [99, 108, 117], [144, 153, 162]]]], np.float32),
    kernel_shape=[3, 3],
    pads=[0, 0, 0, 0],
)
