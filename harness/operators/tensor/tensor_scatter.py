"""TensorScatter: an update written along one axis of a cache, for each sample from an index of its own on."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from harness.operators.tensor.gather import sized, special
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator

SHAPE: Final = (2, 5, 4)


def is_tried(T: str, mode: str, axis: int | str) -> bool:
    """Both modes; of one type also the default by its name, and every axis, for what is moved does not count."""
    everywhere = axis == OMITTED and mode != "linear"
    return everywhere or (T == "tensor(float16)" and (axis == -1 if mode == "linear" else mode == "circular"))


@operator(
    "TensorScatter",
    since=24,
    exact=True,
    constraints=[is_tried],
    mode=(OMITTED, "linear", "circular"),
    axis=(OMITTED, 1, 2, -1, -3),
)
def tensor_scatter(
    past_cache: np.ndarray, update: np.ndarray, write_indices: np.ndarray | None = None, *, mode: str, axis: int
) -> np.ndarray:
    """``present_cache[*prefix, write_indices[batch] + i] = update[*prefix, i]``, modulo the size if circular."""
    axis %= past_cache.ndim
    present_cache = past_cache.copy()
    for prefix in np.ndindex(past_cache.shape[:axis]):
        first = 0 if write_indices is None else write_indices[prefix[0]]
        for i in range(update.shape[axis]):
            at = (first + i) % past_cache.shape[axis] if mode == "circular" else first + i
            present_cache[*prefix, at] = update[*prefix, i]
    return present_cache


def axis_of(draw: Draw) -> int:
    """The row's axis, -2 if it is left out."""
    return -2 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]


def is_circular(draw: Draw) -> bool:
    """Whether the row's updates wrap around."""
    return draw.attributes["mode"] == "circular"


def shape_of(draw: Draw) -> tuple[int, ...]:
    """Of three axes, or four where the axis is the third from the back, for the first is that of the samples."""
    return (2, 3, 5, 4) if axis_of(draw) == -3 else SHAPE


def written(
    draw: Draw, shape: Sequence[int], length: int, indices: Sequence[int] | None, *, of_specials: bool = False
) -> Inputs:
    """A cache, an update of this length, and an index for each sample or none."""
    of_update = sized(shape, axis_of(draw), length)
    past_cache, update = (special(draw, s) if of_specials else draw.T.ordinary(s) for s in (shape, of_update))
    found = {"past_cache": past_cache, "update": update}
    return found if indices is None else found | {"write_indices": np.array(indices, np.int64)}


def asked(draw: Draw, shape: Sequence[int], length: int | None = None, *, of_specials: bool = False) -> Inputs:
    """For each sample an index of its own; those of the last wrap around, or end with the axis."""
    size = shape[axis_of(draw)]
    length = max(1, size - 2) if length is None else length
    indices = [draw.integer(0, size - length) for _ in range(shape[0])]
    if indices:
        indices[-1] = size - 1 if is_circular(draw) else size - length
    return written(draw, shape, length, indices, of_specials=of_specials)


@tensor_scatter.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Two samples, each with an index of its own; the last wraps around if that is the mode."""
    yield asked(draw, shape_of(draw))


@tensor_scatter.inputs(T=("float16", "bfloat16", "int64", "uint8"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs, subnormal and extreme numbers, which stay what they are."""
    yield asked(draw, shape_of(draw), of_specials=True)


@tensor_scatter.inputs(T="float16")
def write_indices(draw: Draw) -> Iterator[Sample]:
    """The first and the last index that there is; in circular mode also indices beyond the size, and far beyond."""
    shape, size = shape_of(draw), shape_of(draw)[axis_of(draw)]
    length = max(1, size - 2)
    yield Sample(written(draw, shape, length, (size - length, 0)))
    if is_circular(draw):
        yield Sample(written(draw, shape, length, (size, 3 * size - 1)))
        yield Sample(written(draw, shape, length, (2**62 + 1, 2**32 + 2)))
        yield Sample(
            written(draw, shape, length, (-1, -size - 2)),
            unspecified='TensorScatter-24, "the write index is modulo max_sequence_length", does not say that an index '
            "may be negative, nor of which sign its remainder is.",
        )


@tensor_scatter.inputs(T="float16")
def without_indices(draw: Draw) -> Iterator[Inputs]:
    """No indices, which are "assumed to be all zeros"."""
    if draw.attributes["axis"] in (OMITTED, -3):
        yield written(draw, shape_of(draw), 3 if axis_of(draw) == -2 else 2, None)


@tensor_scatter.inputs(T="float16")
def lengths(draw: Draw) -> Iterator[Inputs]:
    """Updates as long as the cache, of one element along the axis, and of none."""
    if draw.attributes["axis"] in (OMITTED, -3):
        for length in (shape_of(draw)[axis_of(draw)], 1, 0):
            yield asked(draw, shape_of(draw), length)


@tensor_scatter.inputs(T="float16")
def other_ranks(draw: Draw) -> Iterator[Inputs]:
    """Two axes where the last is written, else four or five."""
    match axis_of(draw):
        case 1 | -1:
            yield asked(draw, (3, 6))
        case 2:
            yield asked(draw, (3, 2, 5, 4))
        case _:
            yield asked(draw, (2, 1, 5, 4, 3))


@tensor_scatter.inputs(T="float16")
def empty(draw: Draw) -> Iterator[Inputs]:
    """No samples, or no elements behind the axis."""
    if axis_of(draw) == -2:
        yield asked(draw, (0, 5, 4))
        yield asked(draw, (2, 5, 0))


ROWS: Final = [[1, 2, 3, 4, 5], [5, 6, 7, 8, 9], [8, 7, 6, 5, 4], [4, 3, 2, 1, 0]]
tensor_scatter.example(
    "test_tensorscatter",
    np.array([[ROWS], [ROWS]], np.float32),
    np.array([[[[5] * 5]], [[[1] * 5]]], np.float32),
    [1, 2],
    mode="linear",
    gives=np.array([[[ROWS[0], [5] * 5, *ROWS[2:]]], [[*ROWS[:2], [1] * 5, ROWS[3]]]], np.float32),
)
tensor_scatter.example(
    "test_tensorscatter_circular",
    np.array([[ROWS], [ROWS]], np.float32),
    np.array([[[[5] * 5, [6] * 5]], [[[1] * 5, [2] * 5]]], np.float32),
    [1, 3],
    mode="circular",
    gives=np.array([[[ROWS[0], [5] * 5, [6] * 5, ROWS[3]]], [[[2] * 5, *ROWS[1:3], [1] * 5]]], np.float32),
)
