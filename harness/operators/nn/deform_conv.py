"""DeformConv: a convolution whose kernel meets the image at places that are each moved by an offset of their own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from harness.numbers.branches import floor
from harness.operators.nn.conv import per_channel
from harness.operators.nn.sliding import (
    Planned,
    Sizes,
    of_one_rank,
    sliding,
    special_images,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator


@operator(
    "DeformConv",
    since=(22, 19),
    constraints=of_one_rank("strides", "dilations", "pads", "kernel_shape"),
    strides=(OMITTED, [2], [2, 1], [1, 3], [3, 2], [2, 1, 3]),
    pads=(OMITTED, [1, 2], [0, 1, 2, 0], [4, 1, 0, 3], [2, 2, 1, 3], [1, 0, 2, 0, 3, 1]),
    offset_group=(OMITTED, 1, 2),
    kernel_shape=(OMITTED, [3], [3, 1], [1, 3], [3, 4], [1, 4, 3]),
    group=(OMITTED, 1, 2),
    dilations=(OMITTED, [2], [1, 2], [3, 1], [2, 3], [1, 3, 2]),
)
def deform_conv(
    X: np.ndarray,
    W: np.ndarray,
    offset: np.ndarray,
    B: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    *,
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    offset_group: int,
    group: int,
    dilations: Sequence[int] | None,
    **_: Any,
) -> np.ndarray:
    """``Σ_k w_k x(p + p_k + Δp_k) m_k`` of the papers, where x between pixels is by "linear interpolation".

    Channels of ``offset`` and ``mask`` are, as the official data have it, those of a group of channels of X after
    another, in a group those of a position in the kernel after another, and at a position the axes in order.
    """
    of = sliding(X.shape[2:], W.shape[2:], strides, dilations, pads)
    count = offset.shape[2:]
    rank, per_offset = len(count), X.shape[1] // offset_group
    moves = offset.reshape(len(X), offset_group, *of.kernel, rank, *count)
    weighted = None if mask is None else mask.reshape(len(X), offset_group, *of.kernel, *count)
    steps = np.meshgrid(*map(np.arange, count), indexing="ij")

    def terms(position: Sizes) -> np.ndarray:
        own = moves[(slice(None), slice(None), *position)]
        every = zip(steps, of.strides, of.begin, position, of.dilations, strict=True)
        bases = [step * stride - begin + k * dilation for step, stride, begin, k, dilation in every]
        sampled = interpolated(X, [own[:, :, axis] + base for axis, base in enumerate(bases)])
        if weighted is not None:
            sampled = sampled * np.repeat(weighted[(slice(None), slice(None), *position)], per_offset, axis=1)
        met = sampled.reshape(len(X), group, 1, W.shape[1], *count)
        weights = W[(..., *position)].reshape(1, group, len(W) // group, W.shape[1], *[1] * rank)
        return (met * weights).sum(axis=3)

    y: Any = sum(map(terms, of.positions()))
    y = y.reshape(len(X), len(W), *count)
    return y if B is None else y + per_channel(B, y)


def interpolated(x: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
    """The image at places ``[N, groups, …]`` along each axis, one for all channels of a group; zero outside of it."""
    total: Any = 0
    lows = [floor(place) for place in places]
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight: Any = math.prod(
            place - low if upper else 1 - (place - low) for place, low, upper in zip(places, lows, corner, strict=True)
        )
        per = x.shape[1] // places[0].shape[1]
        index = [np.repeat(low + upper, per, axis=1) for low, upper in zip(lows, corner, strict=True)]
        total = total + _pixels(x, index) * np.repeat(weight, per, axis=1)
    return total


def _pixels(x: np.ndarray, index: Sequence[np.ndarray]) -> np.ndarray:
    """Those at whole places ``[N, C, …]``, zeros where there are none."""
    ones = [1] * (x.ndim - 2)
    where: list[np.ndarray] = [np.arange(x.shape[0]).reshape(-1, 1, *ones), np.arange(x.shape[1]).reshape(-1, *ones)]
    inside: Any = np.True_
    for at, size in zip(index, x.shape[2:], strict=True):
        i = np.clip(at.astype(np.float64), -1, size).astype(np.int64)
        within = (i >= 0) & (i < size)
        inside = inside & within
        where.append(np.where(within, i, 0))
    found = x[tuple(where)]
    return np.where(inside, found, np.zeros_like(found))


N, CHANNELS = 3, {1: (2, 5), 2: (4, 6)}
"""Images, and channels of the image and of the output by the number of groups."""
Pool = Callable[[int, int, int], np.ndarray]
"""Of an axis's size and the padding at both ends the places that may be drawn."""


def anywhere(size: int, begin: int, end: int) -> np.ndarray:
    """Eighths inside the padded image and outside, but where it is open whether they are in reach of a pixel."""
    x = np.arange(-begin - 2, size + end + 1.125, 0.125)
    before, after = (x > -1) & (x < 0) & (begin == 0), (x > size - 1) & (x < size) & (end == 0)
    return x[~(before | after)]


def between(size: int, begin: int, end: int) -> np.ndarray:
    """Places between pixels, of which each neighbour has a part; out of reach if there is but one pixel."""
    x = np.arange(0, size - 1, 0.125)
    return x[x % 1 != 0] if size > 1 else np.array([-2.5 - begin, size + end + 1.5])


def within_reach(size: int, begin: int, end: int) -> np.ndarray:
    """Places at the border and less than a pixel beyond, where the image is not padded."""
    x = np.arange(-1, 0.125, 0.25)
    return np.concatenate([x[(x >= 0) | (begin == 0)], size - 1 - x[(x >= 0) | (end == 0)]])


class _Layer(Planned):
    """Shapes for a planned row, and offsets."""

    inferred: ClassVar = {1: (4,), 2: (4, 3), 3: (3, 1, 4)}

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.batch = N if self.rank < 3 else 1
        self.channels, self.out_channels = CHANNELS[self.group]
        self.offset_group: int = self.given.get("offset_group", 1)

    def drawn(self, pool: Pool = anywhere, batch: int | None = None, kernel: Sizes | None = None) -> Any:
        """All inputs, but no mask of volumes, to which the text gives one size "for 2D data" and another "for nD"."""
        kernel = kernel or self.kernel
        sizes = self.sizes((self.batch, self.channels), (self.batch, self.out_channels), kernel)
        of = self.over(sizes, kernel)
        n, count, places = self.batch if batch is None else batch, of.windows(sizes), math.prod(kernel)
        some = self.draw.T.ordinary
        given = {
            "X": some((n, self.channels, *sizes)),
            "W": some((self.out_channels, self.channels // self.group, *kernel)),
            "offset": np.empty(0),
            "B": some((self.out_channels,)),
            "mask": self.draw.T.near(1, (n, self.offset_group * places, *count)),
        }
        bases = np.indices((*kernel, *count)).reshape(2, self.rank, *kernel, *count)
        pools = [pool(size, begin, end) for size, begin, end in zip(sizes, of.begin, of.end, strict=True)]
        moves = np.empty((n, self.offset_group, *kernel, self.rank, *count))
        for axis in range(self.rank):
            at = bases[1][axis] * of.strides[axis] - of.begin[axis] + bases[0][axis] * of.dilations[axis]
            words = self.draw.words(n * self.offset_group * at.size).reshape(n, self.offset_group, *at.shape)
            target = _near(at, pools[axis], words)
            moves[(slice(None),) * (2 + self.rank) + (axis,)] = target - at
        given["offset"] = self.draw.T(moves.reshape(n, self.offset_group * places * self.rank, *count))
        if self.rank == 3:
            del given["mask"]
        return given


def _near(at: np.ndarray, pool: np.ndarray, words: np.ndarray) -> np.ndarray:
    """For each word one of the pool that is at most three pixels off, or the nearest."""
    target = np.empty(words.shape)
    for place in np.ndindex(at.shape):
        distance = abs(pool - at[place])
        near = pool[distance <= max(3, distance.min())]
        target[(..., *place)] = near[words[(..., *place)] % np.uint64(len(near))]
    return target


REACH = (
    'DeformConv-22, offset: "Sampling locations outside of the padded input tensor gives zero" does not say whether a '
    "location less than a pixel outside is interpolated between zero and the pixel at the border."
)


@deform_conv.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Places on pixels, between them, in the padding and outside, with a mask, except of volumes, and a bias."""
    yield Sample(_Layer(draw).drawn())


@deform_conv.inputs()
def without_mask(draw: Draw) -> Iterator[Sample]:
    """No mask, with a bias and without; a mask without a bias."""
    given = _Layer(draw).drawn()
    names = ["X", "W", "offset"]
    some = draw.integer(0, 2)
    names += [["B"], [], ["mask"]][some] if "mask" in given else []
    yield Sample({name: given[name] for name in names})


@deform_conv.inputs(T="float")
def no_offsets(draw: Draw) -> Iterator[Sample]:
    """Offsets of zero, and a mask of ones: an ordinary convolution."""
    given = _Layer(draw).drawn()
    zeros = {"offset": np.zeros_like(given["offset"])} | (
        {"mask": np.ones_like(given["mask"])} if "mask" in given else {}
    )
    yield Sample(given | zeros)


@deform_conv.inputs(T=("double", "float16", "tensor(float)"))
def any_offsets(draw: Draw) -> Iterator[Sample]:
    """Offsets of all bits of the type, to places inside the image."""
    layer = _Layer(draw)
    given = layer.drawn(between)
    moves = given["offset"]
    yield Sample(
        given | {"offset": draw.T(moves.astype(np.float64) + draw.T.near(1, moves.shape).astype(float) / 16 - 1 / 16)}
    )


@deform_conv.inputs(T="float")
def far_outside(draw: Draw) -> Iterator[Sample]:
    """Some offsets as large as the type holds: "outside of the padded input tensor gives zero"."""
    given = _Layer(draw).drawn()
    flat = given["offset"].reshape(-1)
    for i, value in enumerate((2.0**10, -(2.0**10), draw.T.largest / 4, -draw.T.largest / 4)):
        flat[7 * i :: 31] = draw.T(value)
    yield Sample(given)


@deform_conv.inputs(T="tensor(float)", unspecified=REACH)
def reach(draw: Draw) -> Iterator[Sample]:
    """Places less than a pixel outside of the image, which has no padding there."""
    yield Sample(_Layer(draw).drawn(within_reach))


@deform_conv.inputs(T="tensor(float)")
def no_images(draw: Draw) -> Iterator[Sample]:
    """A batch of size 0, beside one."""
    yield Sample(_Layer(draw).drawn())
    yield Sample(_Layer(draw).drawn(batch=0))


@deform_conv.inputs(T=("double", "float16", "tensor(float)"))
def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, the least and large numbers at few places of the image, which are met between pixels."""
    given = _Layer(draw).drawn(between)
    for x in special_images(draw, given["X"]):
        yield Sample(given | {"X": x})


MOVES = np.zeros((1, 8, 2, 2), np.float32)
MOVES[0, 0, 0, 0], MOVES[0, 5, 0, 1] = 0.5, -0.1
deform_conv.example(
    "test_basic_deform_conv_without_padding",
    np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3),
    np.ones((1, 1, 2, 2), np.float32),
    MOVES,
    gives=np.array([[[[9.5, 11.9], [20, 24]]]], np.float32),
    kernel_shape=[2, 2],
    pads=[0, 0, 0, 0],
)
