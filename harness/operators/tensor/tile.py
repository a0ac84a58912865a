"""Tile: copies of a tensor beside one another along its axes, or along one of them before version 6."""

from collections.abc import Iterator, Sequence

import numpy as np

from harness.operators.tensor.values import Make, try_sizes, try_wide_values
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


tile = operator("Tile", since=13, moves=True)(tiled)
tile_6 = operator("Tile", since=6, moves=True)(tiled)


COPIES, ELEMENTS = "copies of the tensor one after the other", "copies of each element beside it"


@operator("Tile", since=1, moves=True, readings=(COPIES, ELEMENTS))
def tile_1(input: np.ndarray, tiles: np.ndarray, axis: np.ndarray, *, reading: str) -> np.ndarray:
    """``tiles`` "repeated copies to make of the input tensor", as in version 6, or "Repeat the elements of a tensor".

    Both numbers are of the type T, as the signature has it, although a constraint that no input bears calls them int64.
    """
    along, times = int(axis), int(tiles)
    if reading == COPIES:
        return repeated(input, along, times)
    return np.take(input, np.arange(input.shape[along] * times) // times, axis=along)


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


def _wide(draw: Draw, make: Make) -> Iterator[Inputs]:
    yield {**asked(draw, SHAPE, 2, 1, 3), "input": make(SHAPE)}


def _large(draw: Draw, make: Make) -> Iterator[Inputs]:
    for shape, repeats in (((1, 1031), (1, 4)), ((5, 33, 7), (2, 1, 3)), ((1, 2, 1, 3, 5, 17), (2, 1, 2, 1, 1, 2))):
        yield {**asked(draw, shape, *repeats), "input": make(shape)}


for _op in (tile, tile_6):
    _op.inputs()(ordinary)
    _op.inputs(T="tensor(float)")(shapes)
    try_wide_values(_op, _wide)
    try_sizes(_op, _large)
tile.inputs(T="tensor(float)")(every_count)
tile.inputs(T="tensor(float)")(empty)


@tile_1.inputs()
def along_one_axis(draw: Draw) -> Iterator[Sample]:
    """Each axis of two, one copy to four."""
    for axis, tiles in ((0, 2), (1, 3), (1, 1), (0, 4)):
        yield Sample({"input": draw.T.ordinary((3, 4)), "tiles": draw.T(tiles), "axis": draw.T(axis)})


def _wide_along(draw: Draw, make: Make) -> Iterator[Inputs]:
    yield {"input": make((3, 4)), "tiles": draw.T(3), "axis": draw.T(1)}


def _large_along(draw: Draw, make: Make) -> Iterator[Inputs]:
    for shape, axis in (((1031, 2), 1), ((2, 1031), 0), ((2, 3, 1, 2, 5, 17), 5)):
        yield {"input": make(shape), "tiles": draw.T(3), "axis": draw.T(axis)}


try_wide_values(tile_1, _wide_along)
try_sizes(tile_1, _large_along)


def _int64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


tile.example("test_tile_example", [[1, 2], [3, 4]], _int64(1, 2), gives=[[1, 2, 1, 2], [3, 4, 3, 4]])
tile.example(
    "test_tile_precomputed",
    np.array([[0, 1], [2, 3]], np.float32),
    _int64(2, 2),
    gives=np.array([[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]], np.float32),
)
