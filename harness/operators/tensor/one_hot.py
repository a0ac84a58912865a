"""OneHot: an axis on which one place is marked for each index."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, operator

FLOAT, INT8, INT32, INT64 = "tensor(float)", "tensor(int8)", "tensor(int32)", "tensor(int64)"
BESIDE = ((INT64, FLOAT), (INT64, INT32), (INT32, INT64), (INT8, INT64), (FLOAT, INT64))


def _met(indices: np.ndarray, depth: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The indices with room for the new axis, the places along it, and the number of these.

    What is "of non-integer type" is "casted to int64 before use".
    """
    whole = np.trunc(indices) if indices.dtype == np.float64 else indices
    count = int(depth.item())
    index = np.expand_dims(whole, axis)
    along = axis % index.ndim
    return index, np.arange(count).reshape([count if of == along else 1 for of in range(index.ndim)]), count


def _one_hot(indices: np.ndarray, depth: np.ndarray, values: np.ndarray, *, axis: int) -> np.ndarray:
    """Off but where ``output[input[i, j, k], i, j, k]`` is, for axis 0; "outside the range [-depth, depth-1]" all off.

    That a negative index counts from the end is what ``test_onehot_negative_indices`` settles.
    """
    index, place, count = _met(indices, depth, axis)
    return values[((index == place) | (index == place - count)).astype(np.int64)]


def _one_hot_9(indices: np.ndarray, depth: np.ndarray, values: np.ndarray, *, axis: int) -> np.ndarray:
    """All is off for an index "outside the range [0, depth)"."""
    index, place, _ = _met(indices, depth, axis)
    return values[(index == place).astype(np.int64)]


newest = operator(
    "OneHot",
    since=28,
    exact=True,
    full_product=True,
    # The product of three type variables is large: types of indices and depth are alike, or a few that are usual.
    constraints=[
        lambda T1, T2: T1 == T2 or (T1, T2) in BESIDE,
        lambda T1, T3: INT64 == T1 or T3 == FLOAT,
        lambda T2, T3: INT64 == T2 or T3 == FLOAT,
        lambda T1, axis: axis is OMITTED or T1 == INT64,
        lambda T2, axis: axis is OMITTED or T2 == INT64,
        lambda T3, axis: axis is OMITTED or T3 == FLOAT,
    ],
    axis=(OMITTED, 0, 1, 2, -1, -2, -3),
)(_one_hot)
older = operator("OneHot", since=11, exact=True, axis=(OMITTED, 0, 1, 2, -1, -2, -3))(_one_hot)
oldest = operator("OneHot", since=9, exact=True, axis=(OMITTED, 0, 1, 2, -1))(_one_hot_9)

SHAPE, DEPTH = (2, 3), 5
SHAPES: tuple[Shape, ...] = ((4,), (2, 0, 3), (2, 3, 1, 4))
"""A line, no elements, rank 4; onnx's shape inference refuses 0-D, of which the text says nothing."""
FRACTIONS = (
    "OneHot: \"In case 'indices' is of non-integer type, the values will be casted to int64 before use\", and so is "
    "depth, but Cast does not say what becomes of a fraction."
)
NEGATIVE = (
    'OneHot-9 says that indices "must be non-negative integers" and, next to it, that "any entries … with values '
    "outside the range [0, depth) will result in one-hot representation with all 'off_value' values\"."
)
NO_CLASSES = 'OneHot does not say whether "the number of classes" may be none.'


def asked(draw: Draw, indices: Any, depth: Any = DEPTH, unspecified: str = "") -> Sample:
    """Indices and depth in the row's types, and two values that differ."""
    values = draw.T3.ordinary((2,))
    while values[0] == values[1]:
        values = draw.T3.ordinary((2,))
    return Sample({"indices": draw.T1(indices), "depth": draw.T2(depth), "values": values}, unspecified=unspecified)


def outside(draw: Draw) -> np.ndarray:
    """Indices next to the range and far outside: the type's extremes, and what fewer bits or a sign would bring in."""
    of = draw.T1.element
    if of.format:
        far = [2**10, -(2**10), 257] if of.name == "float16" else [2**32, -(2**32), 2**16]
    else:
        far = [of.maximum, of.minimum, of.maximum + 1 - DEPTH, 2**32 + 1, 2**16 + 1, 257]
        far = [index for index in far if of.minimum <= index <= of.maximum and not -DEPTH <= index < DEPTH]
    near = [DEPTH] if of.kind == "unsigned" else [DEPTH, -DEPTH - 1]
    return np.resize(np.array(near + far, object), SHAPE)


class Groups(NamedTuple):
    """The input groups that all versions have."""

    negative: str = ""
    """Why the version leaves negative indices open, if it does."""
    spread: bool = False
    """Whether each group meets each axis, which is too much for some, and several types of values beside float."""

    def register(self, op: Operator) -> None:
        """Gives a version its groups."""
        op.inputs()(self.ordinary)
        op.inputs(T3="float")(self.out_of_range)
        op.inputs(T1="int64", T2=("int64", "int32", "float"), T3="float")(self.depth_of_rank_1)
        op.inputs(T1="int8", T2="int64", T3="float")(self.depths)
        op.inputs(T1="int64", T2="int64", T3="float")(self.shapes)
        op.inputs(T1="int64", T2="int64", T3=("float", "int64", "uint64"))(self.special_values)

    def of_another_axis(self, draw: Draw) -> bool:
        """Whether the row is one that is there for its axis."""
        return self.spread and draw.attributes["axis"] not in (OMITTED, 0)

    def of_another_type(self, draw: Draw) -> bool:
        """Whether the row is one that is there for its type of values."""
        return self.spread and draw.types["T3"] != FLOAT

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """Indices inside the range, its ends among them."""
        indices = draw.T1.integers(0, DEPTH - 1, SHAPE)
        indices[0, 0], indices[1, 2] = DEPTH - 1, 0
        yield asked(draw, indices)

    def out_of_range(self, draw: Draw) -> Iterator[Sample]:
        """Indices next to the range and far outside, for which all is off."""
        if self.of_another_axis(draw):
            return
        indices = outside(draw)
        below = bool((indices < 0).any())
        yield asked(draw, indices, unspecified=self.negative if below else "")
        if self.negative and below:
            yield asked(draw, np.where(indices < 0, DEPTH, indices))

    def depth_of_rank_1(self, draw: Draw) -> Iterator[Sample]:
        """Depth as a "rank 1 tensor containing exactly one element"."""
        if not (self.of_another_axis(draw) or self.of_another_type(draw)):
            yield asked(draw, draw.T1.integers(0, DEPTH - 1, SHAPE), [DEPTH])

    def depths(self, draw: Draw) -> Iterator[Sample]:
        """One class, and more than the type of the indices can count; none."""
        yield asked(draw, [[0, 1, 0], [2, 0, 127]], 1)
        yield asked(draw, [[127, 0, 99], [64, 100, 1]], 200)
        yield asked(draw, [[-128, -1, 0], [127, -73, -72]], 200, unspecified=self.negative)
        yield asked(draw, [[0, 1, 0], [2, 0, 127]], 0, unspecified=NO_CLASSES)

    def shapes(self, draw: Draw) -> Iterator[Sample]:
        """Other ranks of indices that have the axis: a line, rank 4; no indices."""
        if self.of_another_type(draw):
            return
        axis = -1 if draw.attributes["axis"] is OMITTED else draw.attributes["axis"]
        for shape in SHAPES[2:] if self.of_another_axis(draw) else SHAPES:
            if -len(shape) - 1 <= axis <= len(shape):
                yield asked(draw, draw.T1.integers(0, DEPTH - 1, shape))

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """NaN, infinities, zeros and extremes as the two values: no arithmetic makes one of the other."""
        if self.of_another_axis(draw):
            return
        one = asked(draw, [[1, 4, 0], [3, 2, 1]])
        if draw.T3.element.format:
            pairs = ((np.inf, -0.0), (draw.T3.lowest, np.nan))
        else:
            pairs = ((draw.T3.lowest, draw.T3.largest), (draw.T3.largest, 0))
        for values in pairs:
            yield Sample({**one.inputs, "values": draw.T3(values)})


Groups(spread=True).register(newest)
Groups().register(older)
Groups(NEGATIVE).register(oldest)


@newest.inputs(T1=("int64", "int32", "int8", "float"), T2="int64", T3="float")
@older.inputs(T1="int64", T2="int64", T3="float")
def negative_indices(draw: Draw) -> Iterator[Sample]:
    """Indices below zero, down to minus depth, which count from the end."""
    yield asked(draw, [[-1, 0, -5], [-2, 4, -3]])


@newest.inputs(T1="double", T2="double", T3="float", unspecified=FRACTIONS)
def fractions(draw: Draw) -> Iterator[Sample]:
    """Indices between places, and a depth between counts."""
    yield asked(draw, [[0.5, 1.5, -0.5], [3.75, 4.5, 1.0]])
    yield asked(draw, [[0, 1, 2], [3, 4, 5]], 4.5)


newest.example(
    "test_onehot_negative_indices",
    [0, -7, -8],
    np.float32(10),
    np.array([1, 3], np.float32),
    axis=1,
    gives=np.array([[3 if at == place else 1 for at in range(10)] for place in (0, 3, 2)], np.float32),
)
