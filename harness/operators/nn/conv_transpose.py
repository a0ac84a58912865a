"""ConvTranspose: each pixel of an image spreads the kernel around its place in a larger one, where all are summed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from harness.operators.nn.conv import per_channel
from harness.operators.nn.sliding import (
    AUTO_PADS,
    GROUPS,
    Choice,
    Planned,
    Sizes,
    Sliding,
    explicit_or_automatic,
    halved,
    of_one_rank,
    sliding,
    special_images,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator


def spread(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
    output_padding: Sequence[int] | None,
    output_shape: Sequence[int] | None,
) -> tuple[Sliding, Sizes]:
    """How the kernel slides over the output, and its sizes.

    ``total_padding[i] = stride[i] * (input_size[i] - 1) + output_padding[i] + ((kernel_shape[i] - 1) * dilations[i] +
    1) - output_shape[i]``, where SAME means ``output_shape[i] = input_shape[i] * strides[i]``. Its odd pixel is at the
    end for SAME_UPPER, else at the beginning. The same equation gives the output's shape for given pads. In the
    official data -1, which may be halved either way, is an element more at the end of the output.
    """
    of = sliding(sizes, kernel, strides, dilations, pads)
    more = output_padding or [0] * len(of.kernel)
    every = zip(of.strides, sizes, more, of.extents, strict=True)
    whole = tuple(stride * (size - 1) + added + extent for stride, size, added, extent in every)
    if output_shape is None and auto_pad.startswith("SAME"):
        output_shape = [size * stride for size, stride in zip(sizes, of.strides, strict=True)]
    if output_shape is None:
        return of, tuple(n - begin - end for n, begin, end in zip(whole, of.begin, of.end, strict=True))
    totals = [n - size for n, size in zip(whole, output_shape, strict=True)]
    return halved(of, totals, upper=auto_pad == "SAME_UPPER"), tuple(output_shape)


LISTS = ("strides", "pads", "output_padding", "dilations", "output_shape", "kernel_shape")


def _less_than_the_stride(strides: Any, output_padding: Any) -> bool:
    """Each value of it "must be less than the corresponding stride/dilation dimension": the stride, to be safe."""
    if output_padding is OMITTED:
        return True
    each = zip([1] * len(output_padding) if strides is OMITTED else strides, output_padding, strict=False)
    return all(padding < stride for stride, padding in each)


def _one_says_the_padding(auto_pad: Any, output_shape: Any) -> bool:
    """VALID is no padding, ``output_shape`` says how much."""
    return auto_pad != "VALID" or output_shape is OMITTED


CONSTRAINTS = [explicit_or_automatic, _less_than_the_stride, _one_says_the_padding, *of_one_rank(*LISTS)]
_PLANNED: Any = {
    "group": GROUPS,
    "auto_pad": AUTO_PADS,
    "strides": (OMITTED, [2], [3], [2, 1], [3, 2], [2, 1, 3]),
    "pads": (OMITTED, [0, 1], [2, 1], [0, 1, 2, 0], [1, 0, 1, 2], [1, 0, 0, 1, 1, 2]),
    "output_padding": (OMITTED, [1], [0, 0], [1, 0], [2, 1], [1, 0, 2]),
    "dilations": (OMITTED, [2], [3], [1, 2], [2, 3], [2, 3, 1]),
    "output_shape": (OMITTED, [9], [10], [7, 8], [8, 9], [4, 3, 7]),
    "kernel_shape": (OMITTED, [3], [4], [3, 2], [4, 3], [2, 1, 3]),
}


@operator("ConvTranspose", since=(22, 11), constraints=CONSTRAINTS, **_PLANNED)
def conv_transpose(
    X: np.ndarray,
    W: np.ndarray,
    B: np.ndarray | None = None,
    *,
    group: int,
    pads: Sequence[int] | None,
    auto_pad: str,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    output_padding: Sequence[int] | None,
    output_shape: Sequence[int] | None,
    **_: Any,
) -> np.ndarray:
    """``y[n, m, i * stride + k * dilation - begin]`` sums ``x[n, c, i] w[c, m, k]`` over m's group of ``c``."""
    count = X.shape[2:]
    of, sizes = spread(count, W.shape[2:], strides, dilations, pads, auto_pad, output_padding, output_shape)
    per_group, ones = W.shape[1], [1] * len(count)
    images = X.reshape(len(X), group, len(W) // group, 1, *count)
    every = zip(of.strides, count, of.extents, of.begin, sizes, strict=True)
    whole = [max(s * (n - 1) + extent, begin + size) for s, n, extent, begin, size in every]
    y = np.zeros((len(X), group * per_group, *whole), X.dtype)
    for position in of.positions():
        weights = W[(..., *position)].reshape(1, group, len(W) // group, per_group, *ones)
        y[of.met(position, count)] += (images * weights).sum(axis=2).reshape(len(X), group * per_group, *count)
    y = y[(..., *(slice(begin, begin + size) for begin, size in zip(of.begin, sizes, strict=True)))]
    return y if B is None else y + per_channel(B, y)


def _same_without_strides(auto_pad: Any, strides: Any) -> bool:
    """SAME of version 1 is "so that the output spatial size match the input", which strides do not allow."""
    return strides is OMITTED or auto_pad not in ("SAME_UPPER", "SAME_LOWER")


conv_transpose_1 = operator(
    "ConvTranspose",
    since=1,
    constraints=[*CONSTRAINTS, _same_without_strides],
    **_PLANNED | {"output_padding": (OMITTED, [0], [0, 0], [1, 0, 2])},
)(conv_transpose.oracle)

N = 2
CHANNELS = {1: (5, 6), 2: (8, 12), 3: (3, 6)}
"""Channels of the image and of the output by the number of groups; three groups have a channel each."""


class _Layer(Planned):
    """Shapes for a planned row."""

    inferred: ClassVar = {1: (7,), 2: (3, 4), 3: (2, 1, 4)}

    def __init__(self, draw: Draw, *, odd: bool = True) -> None:
        super().__init__(draw, "output_padding", "output_shape")
        self.odd = odd
        self.batch = N if self.rank < 3 else 1
        self.channels, self.out_channels = CHANNELS[self.group]

    def placed(self, sizes: Sequence[int], kernel: Sizes) -> tuple[Sliding, Sizes]:
        """Where the output lies."""
        names = ("strides", "dilations", "pads", "output_padding", "output_shape")
        strides, dilations, pads, output_padding, output_shape = map(self.given.get, names)
        return spread(sizes, kernel, strides, dilations, pads, self.auto_pad, output_padding, output_shape)

    def choice(self, size: int, kernel: Sizes) -> Iterator[Choice]:
        """Padding that is worked out is odd where it can be, or even where it is not to be; never negative."""
        of, sizes = self.placed([size] * self.rank, kernel)
        worked_out = self.auto_pad.startswith("SAME") or "output_shape" in self.given
        for n, begin, end in zip(sizes, of.begin, of.end, strict=True):
            bland = worked_out and (begin != end) != self.odd
            yield Choice(bland, 0 if min(begin, end) < 0 else n, size)

    def shapes(self, kernel: Sizes | None = None) -> tuple[Sizes, Sizes]:
        """Those of the image and of the weights."""
        sizes = self.sizes((self.batch, self.channels), (self.batch, self.out_channels), kernel)
        weights = (self.channels, self.out_channels // self.group, *(kernel or self.kernel))
        return (self.batch, self.channels, *sizes), weights

    def drawn(self, image: Sizes, weights: Sizes) -> dict[str, np.ndarray]:
        """Inputs of these shapes."""
        some = self.draw.T.ordinary
        return {"X": some(image), "W": some(weights), "B": some((self.out_channels,))}


@conv_transpose.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """An image of distinct sizes, with a bias; an odd pixel of padding where there can be one."""
    layer = _Layer(draw)
    yield Sample(layer.drawn(*layer.shapes()))


@conv_transpose.inputs()
def without_bias(draw: Draw) -> Iterator[Sample]:
    """No bias: the sums alone. Three groups are depthwise, and make a channel each."""
    layer = _Layer(draw)
    layer.out_channels = 3 if layer.group == 3 else layer.out_channels
    given = layer.drawn(*layer.shapes())
    yield Sample({"X": given["X"], "W": given["W"]})


ODD = (
    'ConvTranspose-1: If (auto_pads != SAME_UPPER) the odd pixel is at the end, else at the beginning; auto_pad: "add '
    'the extra padding at the end for SAME_UPPER and at the beginning for SAME_LOWER". They contradict each other.'
)
ONE_SIDE = (
    'ConvTranspose-1, output_padding: "The zero-padding added to one side of the output" does not say to which, nor '
    "whether a bias is added to it."
)


def _settled(layer: _Layer, *, with_bias: bool = True) -> Sample:
    """Inputs of version 1, silent where its text is at odds with itself or does not say enough."""
    image, weights = layer.shapes()
    of, _ = layer.placed(image[2:], weights[2:])
    worked_out = layer.auto_pad.startswith("SAME") or "output_shape" in layer.given
    unspecified = ODD if worked_out and of.begin != of.end else ""
    unspecified = ONE_SIDE if any(layer.given.get("output_padding", ())) else unspecified
    given = layer.drawn(image, weights)
    return Sample(given if with_bias else {"X": given["X"], "W": given["W"]}, unspecified=unspecified)


@conv_transpose_1.inputs()
def even_padding(draw: Draw) -> Iterator[Sample]:
    """An image of distinct sizes, with a bias; padding that is worked out is even where it can be."""
    yield _settled(_Layer(draw, odd=False))


@conv_transpose_1.inputs()
def even_padding_without_bias(draw: Draw) -> Iterator[Sample]:
    """No bias: the sums alone."""
    yield _settled(_Layer(draw, odd=False), with_bias=False)


@conv_transpose_1.inputs(T="double")
def odd_padding(draw: Draw) -> Iterator[Sample]:
    """Padding that is worked out is odd where it can be."""
    yield _settled(_Layer(draw))


@conv_transpose.inputs(T=("float16", "bfloat16", "tensor(float)"))
def gaps(draw: Draw) -> Iterator[Sample]:
    """A kernel of a single element, if it is free, so that strides leave gaps which no pixel reaches."""
    layer = _Layer(draw)
    free = "kernel_shape" not in layer.given and not layer.auto_pad.startswith("SAME")
    yield Sample(layer.drawn(*layer.shapes((1,) * layer.rank if free else None)))


@conv_transpose.inputs(T="tensor(float)")
def no_images(draw: Draw) -> Iterator[Sample]:
    """A batch of size 0, beside one."""
    layer = _Layer(draw)
    image, weights = layer.shapes()
    yield Sample(layer.drawn(image, weights))
    yield Sample(layer.drawn((0, *image[1:]), weights))


@conv_transpose.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, the least and large numbers at few places of the image, of which all else is free."""
    layer = _Layer(draw)
    given = layer.drawn(*layer.shapes())
    for x in special_images(draw, given["X"]):
        yield Sample(given | {"X": x})


conv_transpose.example(
    "test_convtranspose_1d",
    np.array([[[0, 1, 2]]], np.float32),
    np.ones((1, 2, 3), np.float32),
    gives=np.array([[[0, 1, 3, 3, 2], [0, 1, 3, 3, 2]]], np.float32),
)
