"""Tile: copies of a tensor beside one another along its axes, or along one of them before version 6."""

from collections.abc import Iterator, Sequence

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Sample, operator


def repeated(input: np.ndarray, axis: int, times: int) -> np.ndarray:
    """What is at ``i`` on the axis is the element at ``i`` modulo its size."""
    size = input.shape[axis]
    return np.take(input, np.arange(size * times) % max(size, 1), axis=axis)


def tiled(input: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """``output_dim[i] = input_dim[i] * repeats[i]``, "the same as function `tile` in Numpy, but no broadcast"."""
    output = input
    for axis, times in enumerate(repeats):
        output = repeated(output, axis, times)
    return output


tile = operator("Tile", since=13, exact=True)(tiled)
tile_6 = operator("Tile", since=6, exact=True)(tiled)


@operator("Tile", since=1, exact=True)
def tile_1(input: np.ndarray, tiles: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """``tiles`` "repeated copies … of the input tensor" "along an axis".

    Version 6 multiplies the size by as many, in the same words. Both numbers are of the type T, as the signature has
    it, although a constraint that no input bears calls them int64.
    """
    return repeated(input, int(axis), int(tiles))


SHAPE = (2, 3, 4)


def asked(draw: Draw, shape: Sequence[int], *repeats: int) -> Inputs:
    """A tensor of ordinary elements."""
    return {"input": draw.T.ordinary(shape), "repeats": np.array(repeats, np.int64)}


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three axes, each with another number of copies."""
    yield asked(draw, SHAPE, *((2, 1, 3), (1, 3, 2), (3, 2, 1))[draw.integer(0, 2)])


def every_count(draw: Draw) -> Iterator[Inputs]:
    """Each axis alone, all together, one copy of each; none of one axis or of all."""
    for repeats in ((4, 1, 1), (1, 4, 1), (1, 1, 4), (2, 3, 4), (1, 1, 1), (0, 2, 1), (2, 1, 0), (0, 0, 0)):
        yield asked(draw, SHAPE, *repeats)


def shapes(draw: Draw) -> Iterator[Inputs]:
    """A scalar, whose repeats are an empty list, one axis, five with some of length 1."""
    yield asked(draw, ())
    yield asked(draw, (5,), 3)
    yield asked(draw, (1,), 7)
    yield asked(draw, (1, 3, 1, 2, 1), 3, 1, 2, 2, 1)


def empty(draw: Draw) -> Iterator[Inputs]:
    """No elements, however many copies are made."""
    yield asked(draw, (0,), 3)
    yield asked(draw, (2, 0, 3), 3, 2, 1)


def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs, subnormal and largest numbers come through as they are."""
    yield {"input": np.resize(draw.T.specials(), SHAPE), "repeats": np.array([2, 1, 3], np.int64)}


for _op in (tile, tile_6):
    _op.inputs()(ordinary)
    _op.inputs(T="tensor(float)")(shapes)
tile.inputs(T="tensor(float)")(every_count)
tile.inputs(T="tensor(float)")(empty)
tile.inputs(T="float")(special_values)


@tile_1.inputs()
def along_one_axis(draw: Draw) -> Iterator[Sample]:
    """Each axis of two, one copy to four."""
    for axis, tiles in ((0, 2), (1, 3), (1, 1), (0, 4)):
        yield Sample({"input": draw.T.ordinary((3, 4)), "tiles": draw.T(tiles), "axis": draw.T(axis)})


def _int64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


tile.example("test_tile_example", [[1, 2], [3, 4]], _int64(1, 2), gives=[[1, 2, 1, 2], [3, 4, 3, 4]])
tile.example(
    "test_tile_precomputed",
    np.array([[0, 1], [2, 3]], np.float32),
    _int64(2, 2),
    gives=np.array([[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]], np.float32),
)
