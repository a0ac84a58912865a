"""Col2Im: an image put together from the columns that hold its blocks, where those overlap summed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.operators.nn.sliding import Planned, Sizes, of_one_rank, padded, sliding, special_images
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator

SUMLESS = ("tensor(string)", "tensor(bool)")


def _no_overlap_nor_gap(T: str, strides: Any, dilations: Any) -> bool:
    """What has no sum meets blocks that are beside one another, or whose elements alternate."""
    return T not in SUMLESS or OMITTED in (strides, dilations)


@operator(
    "Col2Im",
    since=18,
    constraints=[_no_overlap_nor_gap, *of_one_rank("strides", "pads", "dilations")],
    strides=(OMITTED, [2, 1], [1, 3], [2, 1, 3]),
    pads=(OMITTED, [0, 1, 2, 0], [2, 1, 0, 3], [1, 0, 2, 0, 3, 1]),
    dilations=(OMITTED, [1, 2], [3, 2], [1, 3, 2]),
)
def col2im(
    input: np.ndarray,
    image_shape: np.ndarray,
    block_shape: np.ndarray,
    *,
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
) -> np.ndarray:
    """As PyTorch's fold, which the text names: "summing all values from all containing blocks".

    ``C * n-ary-product(block_shape)`` is C first; blocks are "in increasing lexicographic-order of their indices".
    """
    sizes = [int(n) for n in image_shape]
    of = sliding(sizes, [int(n) for n in block_shape], strides, dilations, pads)
    count = of.windows(sizes)
    channels = input.shape[1] // math.prod(of.kernel)
    blocks = input.reshape(len(input), channels, *of.kernel, *count)
    image = padded(np.zeros((len(input), channels, *sizes), input.dtype), of)
    for position in of.positions():
        image[of.met(position, count)] += blocks[(slice(None), slice(None), *position)]
    return image[(..., *(slice(begin, begin + size) for begin, size in zip(of.begin, sizes, strict=True)))]


N, C = 2, 3
"""Images and their channels."""


class _Blocks(Planned):
    """Blocks for a planned row; every image has at least two axes."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.rank = self.rank if self.rank > 1 else draw.integer(2, 3)
        self.block: Sizes = {2: (3, 2), 3: (2, 1, 3)}[self.rank]

    def drawn(self, block: Sizes | None = None, batch: int = N) -> dict[str, np.ndarray]:
        """All inputs, for an image that has several blocks along each axis."""
        block = block or self.block
        return self.inputs(self.sizes((batch, C), (), block), block, batch)

    def inputs(self, image: Sizes, block: Sizes, batch: int = N) -> dict[str, np.ndarray]:
        """All inputs, for an image of these sizes."""
        shape = (batch, C * math.prod(block), math.prod(self.over(image, block).windows(image)))
        return {"input": self.draw.T.ordinary(shape), "image_shape": np.array(image), "block_shape": np.array(block)}

    def beside_one_another(self) -> dict[str, np.ndarray]:
        """Blocks without overlaps or gaps: each as long as the stride, or as many as the dilation, which alternate."""
        of = self.over([9] * self.rank, self.block)
        image: list[int] = []
        block: list[int] = []
        for stride, dilation, begin, end in zip(of.strides, of.dilations, of.begin, of.end, strict=True):
            least = begin + end + 2 + len(block)
            block.append(stride if stride > 1 else -(-least // dilation))
            whole = stride * -(-least // stride) if stride > 1 else block[-1] * dilation
            image.append(whole - begin - end)
        return self.inputs(tuple(image), tuple(block))


@col2im.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Several blocks along each axis, which overlap or leave gaps; not where there are no sums."""
    blocks = _Blocks(draw)
    yield Sample(blocks.beside_one_another() if draw.types["T"] in SUMLESS else blocks.drawn())


@col2im.inputs(T=("tensor(float)", "int32"))
def other_blocks(draw: Draw) -> Iterator[Sample]:
    """Blocks of a single element, and such that there are no overlaps."""
    blocks = _Blocks(draw)
    yield Sample(blocks.drawn((1,) * blocks.rank))
    if OMITTED in (draw.attributes["strides"], draw.attributes["dilations"]):
        yield Sample(blocks.beside_one_another())


@col2im.inputs(T=("double", "uint8"))
def one_block(draw: Draw) -> Iterator[Sample]:
    """A single block, as large as the padded image; and none of no images."""
    blocks = _Blocks(draw)
    of = blocks.over([9] * blocks.rank, blocks.block)
    block = tuple(k + b + e for k, b, e in zip(blocks.block, of.begin, of.end, strict=True))
    every = zip(blocks.over([9] * blocks.rank, block).extents, of.begin, of.end, strict=True)
    image = tuple(extent - begin - end for extent, begin, end in every)
    yield Sample(blocks.inputs(image, block))
    yield Sample(blocks.inputs(image, block, batch=0))


@col2im.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, the least and large numbers at few places, of which all else is free."""
    given = _Blocks(draw).drawn()
    for x in special_images(draw, given["input"]):
        yield Sample(given | {"input": x})


@col2im.inputs(
    T=("int8", "uint16"),
    unspecified="Col2Im-18 does not say what a sum is that T cannot hold: two's complement is usual.",
)
def wrap_around(draw: Draw) -> Iterator[Sample]:
    """The ends of an integer type, whose sums it does not hold."""
    given = _Blocks(draw).drawn()
    yield Sample(given | {"input": np.resize(draw.T([draw.T.largest, draw.T.lowest]), given["input"].shape)})


@col2im.inputs(
    T=("bool", "string"),
    unspecified='Col2Im-18 lists these types among "all numeric tensor types", but does not say what their sum is.',
)
def sums_of_none(draw: Draw) -> Iterator[Sample]:
    """Strings and Booleans in blocks that overlap."""
    yield Sample(_Blocks(draw).drawn())
