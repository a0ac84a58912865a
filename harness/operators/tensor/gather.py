"""Gather, GatherElements and GatherND: what is at the places of a tensor that indices name."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, operator

SHAPE: Final = (3, 5, 7)
CUBES: Final = (2, 3, 5, 4)
NUMBERS: Final = ("float", "signed", "unsigned")
AXES: Final = (OMITTED, 1, 2, -1, -3)
"""Each axis of three but the first, which is the default, from the front, and of two from the back."""

INDICES: Final = {OMITTED: "int64", -1: "int32", 1: "int64", 2: "int32", -3: "int64"}
"""The type of indices that each axis is tried with."""


def is_tried(T: str, Tind: str, axis: int | str) -> bool:
    """Every axis of int64; of each other type two, with both types of indices, for what is moved does not count."""
    return Tind == f"tensor({INDICES[axis]})" and (T == "tensor(int64)" or axis in (OMITTED, -1))


def element(place: tuple[int, ...], axis: int, index: Any) -> tuple[int, ...]:
    """The place with ``index`` along the axis: ``[i][index][k]`` of ``[i][j][k]`` if axis = 1."""
    return tuple(index if i == axis else at for i, at in enumerate(place))


def gathered(data: np.ndarray, indices: np.ndarray, *, axis: int) -> np.ndarray:
    """``output[j_0, i_0 … i_{q-1}, j_1 …] = input[j_0, k, j_1 …]`` if axis = 1, ``k = indices[i_0 … i_{q-1}]``."""
    axis %= data.ndim
    before = (slice(None),) * axis
    output = np.empty((*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :]), data.dtype)
    for i in np.ndindex(indices.shape):
        output[*before, *i] = data[*before, indices[i]]
    return output


def elements_gathered(data: np.ndarray, indices: np.ndarray, *, axis: int) -> np.ndarray:
    """``out[i][j][k] = input[i][index[i][j][k]][k] if axis = 1``; nothing asks for all of the lines beside the axis."""
    output = np.empty(indices.shape, data.dtype)
    for place in np.ndindex(indices.shape):
        output[place] = data[element(place, axis % data.ndim, indices[place])]
    return output


def slices_gathered(data: np.ndarray, indices: np.ndarray, *, batch_dims: int) -> np.ndarray:
    """Each index-tuple's slice: "the gather of indexing starts from dimension of data[batch_dims:]"."""
    output = np.empty((*indices.shape[:-1], *data.shape[batch_dims + indices.shape[-1] :]), data.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        output[place] = data[*place[:batch_dims], *indices[place]]
    return output


def gathernd_11_oracle(data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Each index-tuple is mapped "to the corresponding slice of the input data"."""
    return slices_gathered(data, indices, batch_dims=0)


gather = operator("Gather", since=(13, 11), exact=True, constraints=[is_tried], axis=AXES)(gathered)
gather_1 = operator("Gather", since=1, exact=True, constraints=[is_tried], axis=AXES)(gathered)
gather_elements = operator("GatherElements", since=(13, 11), exact=True, constraints=[is_tried], axis=AXES)(
    elements_gathered
)
gathernd = operator(
    "GatherND",
    since=(13, 12),
    exact=True,
    constraints=[lambda T, batch_dims: T in ("tensor(float)", "tensor(int64)") or batch_dims == OMITTED],
    batch_dims=(OMITTED, 1, 2),
)(slices_gathered)
gathernd_11 = operator("GatherND", since=11, exact=True)(gathernd_11_oracle)


def axis_of(draw: Draw) -> int:
    """The row's axis, 0 if it is left out."""
    return 0 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]


def another_shape(draw: Draw) -> tuple[int, ...]:
    """Of rank 1, 2 or 4, as the axis allows."""
    shapes = [shape for shape in ((6,), (3, 4), (2, 3, 5, 4)) if -len(shape) <= axis_of(draw) < len(shape)]
    return shapes[draw.integer(0, len(shapes) - 1)]


def sized(shape: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """The shape with another size of an axis, which is counted round and round."""
    return element(tuple(shape), axis % len(shape), size)


def permuted(draw: Draw, shape: Sequence[int], axis: int) -> np.ndarray:
    """Each index of the axis once in each of its lines."""
    return np.argsort(draw.words(math.prod(shape)).reshape(shape), axis=axis)


def special(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """The type's special values in turn, and two ordinary ones."""
    return np.resize(np.concatenate([draw.T.specials(), draw.T.ordinary((2,))]), shape)


def anywhere(draw: Draw, size: int, shape: Sequence[int], *, negative: bool = True) -> np.ndarray:
    """Indices along an axis of this size, from both ends or from the front alone."""
    words = draw.words(math.prod(shape)).reshape(shape)
    return (words % np.uint64(2 * size if negative else size)).astype(np.int64) - (size if negative else 0)


def batches(draw: Draw) -> int:
    """The row's batch_dims, 0 where it is left out or unknown."""
    given = draw.attributes.get("batch_dims", OMITTED)
    return 0 if given == OMITTED else given


def try_gather(op: Operator, *, negative: bool) -> None:
    """The groups of Gather, whose indices may count from the back or not."""

    def asked(draw: Draw, data: np.ndarray, of_indices: Sequence[int]) -> Inputs:
        indices = anywhere(draw, data.shape[axis_of(draw)], of_indices, negative=negative)
        return {"data": data, "indices": draw.Tind(indices)}

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Three axes, one of which becomes the two of the indices; some indices more than once, some never."""
        yield asked(draw, draw.T.ordinary(SHAPE), (4, 2))

    @op.inputs(T=NUMBERS)
    def special_values(draw: Draw) -> Iterator[Inputs]:
        """NaN, infinities, zeros of both signs, subnormal and extreme numbers, which stay what they are."""
        yield asked(draw, special(draw, SHAPE), (4, 2))

    @op.inputs(T="int64")
    def scalar_index(draw: Draw) -> Iterator[Inputs]:
        """An index without axes takes its axis away: of one axis a scalar remains."""
        yield asked(draw, draw.T.ordinary(SHAPE), ())
        if axis_of(draw) in (0, -1):
            yield asked(draw, draw.T.ordinary((6,)), ())

    @op.inputs(T="int64")
    def every_index(draw: Draw) -> Iterator[Inputs]:
        """Each index that is within bounds, once."""
        size = SHAPE[axis_of(draw)]
        yield {"data": draw.T.ordinary(SHAPE), "indices": draw.Tind(np.arange(-size if negative else 0, size))}

    @op.inputs(T="int64")
    def other_ranks(draw: Draw) -> Iterator[Inputs]:
        """One, two or four axes, and three of the indices."""
        yield asked(draw, draw.T.ordinary(another_shape(draw)), (2, 3, 1))

    @op.inputs(T="int64")
    def empty(draw: Draw) -> Iterator[Inputs]:
        """No elements beside the axis; of the first axis also no indices, and no elements along it and no indices."""
        yield asked(draw, draw.T.ordinary(sized((3, 2, 4), axis_of(draw) + 1, 0)), (5,))
        if axis_of(draw):
            return
        yield asked(draw, draw.T.ordinary((3, 2, 4)), (5, 0))
        yield {"data": draw.T.ordinary(sized((3, 2, 4), axis_of(draw), 0)), "indices": draw.Tind(np.zeros(0))}


try_gather(gather, negative=True)
try_gather(gather_1, negative=False)


@gather_1.inputs(
    T="int64",
    unspecified='Gather-1, "All index values are expected to be within bounds", does not say what the bounds are; '
    "from version 11 on they are [-s, s-1].",
)
def indices_from_the_back(draw: Draw) -> Iterator[Inputs]:
    """Negative indices, as later versions have them."""
    yield {"data": draw.T.ordinary(SHAPE), "indices": draw.Tind(-1 - np.arange(SHAPE[axis_of(draw)]))}


def _elements(draw: Draw, data: np.ndarray, of_indices: Sequence[int]) -> Inputs:
    return {"data": data, "indices": draw.Tind(anywhere(draw, data.shape[axis_of(draw)], of_indices))}


@gather_elements.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """As many lines as the tensor has, each of four elements from either end, some of them more than once."""
    yield _elements(draw, draw.T.ordinary(SHAPE), sized(SHAPE, axis_of(draw), 4))


@gather_elements.inputs(T=NUMBERS)
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs, subnormal and extreme numbers, which stay what they are."""
    yield _elements(draw, special(draw, SHAPE), sized(SHAPE, axis_of(draw), 4))


@gather_elements.inputs(T="int64")
def fewer_lines(draw: Draw) -> Iterator[Inputs]:
    """Fewer indices than the tensor has lines beside the axis, and more along it."""
    yield _elements(draw, draw.T.ordinary(SHAPE), sized((2, 3, 4), axis_of(draw), 9))


@gather_elements.inputs(T="int64")
def every_index(draw: Draw) -> Iterator[Inputs]:
    """Each index that is within bounds, once in each line."""
    axis, size = axis_of(draw), SHAPE[axis_of(draw)]
    indices = permuted(draw, sized(SHAPE, axis, 2 * size), axis) - size
    yield {"data": draw.T.ordinary(SHAPE), "indices": draw.Tind(indices)}


@gather_elements.inputs(T="int64")
def other_ranks(draw: Draw) -> Iterator[Inputs]:
    """One, two or four axes."""
    shape = another_shape(draw)
    yield _elements(draw, draw.T.ordinary(shape), sized(shape, axis_of(draw), 7))


@gather_elements.inputs(T="int64")
def empty(draw: Draw) -> Iterator[Inputs]:
    """No lines of both; of the first axis also no indices along it, or beside it, and no elements and no indices."""
    shape, axis = (3, 2, 4), axis_of(draw)
    no_lines, nothing = sized(shape, axis + 1, 0), sized(shape, axis, 0)
    yield _elements(draw, draw.T.ordinary(no_lines), sized(no_lines, axis, 5))
    if axis:
        return
    yield _elements(draw, draw.T.ordinary(shape), nothing)
    yield _elements(draw, draw.T.ordinary(shape), no_lines)
    yield {"data": draw.T.ordinary(nothing), "indices": draw.Tind(np.zeros(nothing))}


def _slices(draw: Draw, data: np.ndarray, count: Sequence[int], depth: int) -> Inputs:
    """In each batch as many index-tuples as are asked for, into the next axes of the data."""
    b = batches(draw)
    axes = data.shape[b : b + depth]
    places = (*data.shape[:b], *count)
    return {"data": data, "indices": np.stack([anywhere(draw, size, places) for size in axes], axis=-1)}


def try_gathernd(op: Operator) -> None:
    """The groups of GatherND, with batches or without."""

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Four axes and pairs of indices from either end: slices, or elements where two axes are batches."""
        yield _slices(draw, draw.T.ordinary(CUBES), (6,), 2)

    @op.inputs(T=NUMBERS)
    def special_values(draw: Draw) -> Iterator[Inputs]:
        """NaN, infinities, zeros of both signs, subnormal and extreme numbers, which stay what they are."""
        yield _slices(draw, special(draw, CUBES), (6,), 2)

    @op.inputs(T="int64")
    def depths(draw: Draw) -> Iterator[Inputs]:
        """Tuples of each length, from one index, which takes a slice, to an element's whole place."""
        for depth in range(1, 5 - batches(draw)):
            yield _slices(draw, draw.T.ordinary(CUBES), (7,), depth)

    @op.inputs(T="int64")
    def every_index(draw: Draw) -> Iterator[Inputs]:
        """Each index that is within bounds, of two axes at once."""
        b = batches(draw)
        every = np.stack([np.resize(np.arange(-size, size), 10) for size in CUBES[b : b + 2]], axis=-1)
        yield {"data": draw.T.ordinary(CUBES), "indices": np.broadcast_to(every, (*CUBES[:b], 10, 2)).copy()}

    @op.inputs(T="int64")
    def ranks_of_indices(draw: Draw) -> Iterator[Inputs]:
        """One tuple in each batch, and tuples along three axes."""
        yield _slices(draw, draw.T.ordinary((2, 3, 4)), (), 1)
        yield _slices(draw, draw.T.ordinary((2, 3, 4)), (3, 1, 5), 3 - batches(draw))

    @op.inputs(T="int64")
    def empty(draw: Draw) -> Iterator[Inputs]:
        """No tuples; slices without elements; no batches."""
        yield _slices(draw, draw.T.ordinary((2, 3, 4)), (0,), 1)
        yield _slices(draw, draw.T.ordinary((2, 3, 4, 0)), (5,), 1)
        if batches(draw):
            yield _slices(draw, draw.T.ordinary((0, 3, 4)), (5,), 1)


try_gathernd(gathernd)
try_gathernd(gathernd_11)


gather.example(
    "test_gather_negative_indices",
    np.arange(10, dtype=np.float32),
    [0, -9, -10],
    gives=np.array([0, 1, 0], np.float32),
)

SQUARE = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
gather_elements.example(
    "test_gather_elements_0",
    np.array([[1, 2], [3, 4]], np.float32),
    [[0, 0], [1, 0]],
    axis=1,
    gives=np.array([[1, 1], [4, 3]], np.float32),
)
gather_elements.example(
    "test_gather_elements_1",
    SQUARE,
    [[1, 2, 0], [2, 0, 0]],
    axis=0,
    gives=np.array([[4, 8, 3], [7, 2, 3]], np.float32),
)
gather_elements.example(
    "test_gather_elements_negative_indices",
    SQUARE,
    [[-1, -2, 0], [-2, 0, 0]],
    axis=0,
    gives=np.array([[7, 5, 3], [4, 2, 3]], np.float32),
)

PAIRS = np.array([[[0, 1], [2, 3]], [[4, 5], [6, 7]]])
gathernd.example(
    "test_gathernd_example_int32",
    np.array([[0, 1], [2, 3]], np.int32),
    [[0, 0], [1, 1]],
    gives=np.array([0, 3], np.int32),
)
gathernd.example(
    "test_gathernd_example_float32",
    PAIRS.astype(np.float32),
    [[[0, 1]], [[1, 0]]],
    gives=np.array([[[2, 3]], [[4, 5]]], np.float32),
)
gathernd.example(
    "test_gathernd_example_int32_batch_dim1",
    PAIRS.astype(np.int32),
    [[1], [0]],
    batch_dims=1,
    gives=np.array([[2, 3], [4, 5]], np.int32),
)
