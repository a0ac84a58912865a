"""Unique: each element of a tensor once, or each subtensor along an axis, and where they are."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from harness.oracles.draw import WORDS, Draw
from harness.oracles.operator import FLAG, OMITTED, Sample, operator

Four = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
SOME = "tensor(int64)"
"""The type that meets every combination of attributes; the others meet two."""
COMPLEX = ("tensor(complex64)", "tensor(complex128)")


def distinct(X: np.ndarray, *, axis: int | None, sorted: int) -> Four:
    """The first of equal elements or subtensors, ascending or as they occur, and for each of all which it equals.

    Subtensors ascend as their elements in order do: so has it numpy.unique, to which the text links ("the flattened
    subarrays are sorted in lexicographic order"), and so do the official tests.
    """
    lines = X.reshape(-1) if axis is None else np.moveaxis(X, axis, 0)
    keys = [tuple(line) for line in lines.reshape(len(lines), prod(lines.shape[1:])).tolist()]
    first: dict[tuple[Any, ...], int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    unique = list(first)
    if sorted:
        unique.sort()
    place = {key: j for j, key in enumerate(unique)}
    indices = np.array([first[key] for key in unique], np.int64)
    inverse = np.array([place[key] for key in keys], np.int64)
    counts = np.array([keys.count(key) for key in unique], np.int64)
    return np.moveaxis(lines[indices], 0, axis or 0), indices, inverse, counts


def has_order(T: str, sorted: Any) -> bool:
    """Complex numbers have no "ascending order": only that "of the first occurrence" is asked of them."""
    return T not in COMPLEX or sorted == 0


def tried(T: str, axis: Any, sorted: Any) -> bool:
    """Which combinations a type meets."""
    return T == SOME or (axis, sorted) in ((OMITTED, OMITTED), (1, 0))


unique_28 = operator(
    "Unique",
    since=28,
    exact=True,
    axis=(OMITTED, 0, 1, -1, -3),
    sorted=FLAG,
    constraints=[
        has_order,
        tried,
    ],
)(distinct)
unique_11 = operator(
    "Unique", since=11, exact=True, axis=(OMITTED, 0, 1, -1, -3), sorted=FLAG, constraints=[has_order]
)(distinct)

SHAPE = (3, 4, 5)
REPEATED = {3: (1, 0, 1), 4: (2, 0, 2, 1), 5: (3, 1, 3, 0, 1)}
"""For an axis of each length subtensors of which some are the same, and neither in ascending order nor together."""
OUTPUTS = ("indices", "inverse_indices", "counts")


def axis_of(draw: Draw) -> int | None:
    """The axis of the row, None where it is left out."""
    return None if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]


def repeating(draw: Draw, X: np.ndarray) -> np.ndarray:
    """The tensor with some of its subtensors along the axis in place of others."""
    axis = axis_of(draw)
    return X if axis is None else np.take(X, REPEATED[X.shape[axis]], axis=axis)


def few(draw: Draw) -> np.ndarray:
    """Elements out of five; strings are words that every collation has in the same order.

    The greatest of them comes before the least; subtensors ascend, which ``repeating`` will undo.
    """
    five = np.sort(draw.T(["b", "ab", "c", "a", "abc"]) if draw.T.element.kind == "string" else draw.T.ordinary((5,)))
    picked = (draw.words(60) % np.uint64(5)).astype(int).reshape(SHAPE)
    axis = axis_of(draw)
    if axis is None:
        picked[0, 0, :2] = 4, 0
    else:
        np.moveaxis(picked, axis, 0)[:, 0, 0] = np.arange(SHAPE[axis])
    return five[picked]


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Few values among many elements, or subtensors of which some are the same."""
    yield Sample({"X": repeating(draw, few(draw))})


def outputs_left_out(draw: Draw) -> Iterator[Sample]:
    """The unique elements alone; also with one or two of the other outputs."""
    yield Sample({"X": repeating(draw, few(draw))}, without=OUTPUTS)
    others = (OUTPUTS[:1], OUTPUTS[1:2], OUTPUTS[2:], OUTPUTS[:2], OUTPUTS[1:], OUTPUTS[::2])
    yield Sample({"X": repeating(draw, few(draw))}, without=others[draw.integer(0, 5)])


def how_many(draw: Draw) -> Iterator[Sample]:
    """All elements alike, no two alike, descending; zeros and ones, so that subtensors begin alike."""
    ascending = np.arange(60).reshape(SHAPE)
    for elements in (np.full(SHAPE, 7), ascending, 60 - ascending):
        yield Sample({"X": draw.T(elements)})
    yield Sample({"X": repeating(draw, draw.T.integers(0, 1, SHAPE))})


def ranks(draw: Draw) -> Iterator[Sample]:
    """A scalar, one axis, four, as far as they have the axis."""
    axis = axis_of(draw)
    for shape in ((), (9,), (3, 2, 4, 1)):
        if axis is None or -len(shape) <= axis < len(shape):
            yield Sample({"X": draw.T.integers(0, 2, shape)})


def empty(draw: Draw) -> Iterator[Sample]:
    """No elements; no subtensors, or several without elements."""
    axis = axis_of(draw)
    if axis is None:
        yield Sample({"X": draw.T.ordinary((0,))})
        yield Sample({"X": draw.T.ordinary((2, 0, 3))})
        return
    yield Sample({"X": draw.T.ordinary([0 if i == axis % 3 else n for i, n in enumerate(SHAPE)])})
    unspecified = (
        'Unique, "all unique values or subtensors", does not say whether subtensors without elements are the same.'
    )
    yield Sample(
        {"X": draw.T.ordinary([0 if i == (axis + 1) % 3 else n for i, n in enumerate(SHAPE)])}, unspecified=unspecified
    )


NAN = "Unique does not say whether NaN is the same as NaN, nor where it stands in ascending order."


def special_values(draw: Draw) -> Iterator[Sample]:
    """Infinities, subnormal and extreme numbers, zeros of both signs, which are equal; NaN."""
    specials = draw.T.specials()
    numbers = specials[~np.isnan(specials)]
    picked = (draw.words(60) % np.uint64(len(numbers))).astype(int).reshape(SHAPE)
    yield Sample({"X": repeating(draw, numbers[picked])})
    zeros = draw.T(np.ones(SHAPE))
    zeros[::2, 1::2] = 0
    zeros[:, ::3, ::2] = -0.0
    yield Sample({"X": zeros})
    yield Sample({"X": repeating(draw, specials[picked])}, unspecified=NAN)


def extremes(draw: Draw) -> Iterator[Sample]:
    """Both ends of the range and their neighbours, which no double can tell apart in 64 bits."""
    low, high = int(draw.T.lowest), int(draw.T.largest)
    values = draw.T([high, high - 1, low, high // 2 + 1, high // 2, low + 1, 0])
    yield Sample({"X": repeating(draw, values[(draw.words(60) % np.uint64(7)).astype(int)].reshape(SHAPE))})


COLLATION = 'Unique, "sorted in ascending order", does not say in which order words are that differ in case or script.'


def words(draw: Draw) -> Iterator[Sample]:
    """Words of every script, the empty one, and such as differ in case or in spaces."""
    every = draw.T([*WORDS, "A", "a ", "z", "é"])
    picked = every[(draw.words(60) % np.uint64(len(every))).astype(int)].reshape(SHAPE)
    yield Sample({"X": repeating(draw, few(draw))})
    yield Sample({"X": repeating(draw, picked)}, unspecified="" if draw.attributes["sorted"] == 0 else COLLATION)


for _op in (unique_28, unique_11):
    _op.inputs()(ordinary)
    _op.inputs(T="int64")(outputs_left_out)
    _op.inputs(T="double")(special_values)
    _op.inputs(T="string")(words)
unique_28.inputs(T="int64")(how_many)
unique_28.inputs(T="int64")(ranks)
unique_28.inputs(T="int64")(empty)
unique_28.inputs(T=("int64", "uint64"))(extremes)


def _int64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


unique_28.example(
    "test_unique_example_1",
    _int64(2, 1, 1, 3, 4, 3),
    sorted=0,
    gives=(_int64(2, 1, 3, 4), _int64(0, 1, 3, 4), _int64(0, 1, 1, 2, 3, 2), _int64(1, 2, 2, 1)),
)
unique_28.example(
    "test_unique_example_2",
    [[1, 3], [2, 3]],
    sorted=1,
    gives=(_int64(1, 2, 3), _int64(0, 2, 1), _int64(0, 2, 1, 2), _int64(1, 1, 2)),
)
unique_28.example(
    "test_unique_example_3",
    [[1, 0, 0], [1, 0, 0], [2, 3, 4]],
    sorted=1,
    axis=0,
    gives=(np.array([[1, 0, 0], [2, 3, 4]]), _int64(0, 2), _int64(0, 0, 1), _int64(2, 1)),
)
unique_28.example(
    "test_unique_example_4",
    np.array([[[1, 1], [0, 1], [2, 1], [0, 1]]] * 2, np.float32),
    sorted=1,
    axis=1,
    gives=(
        np.array([[[0, 1], [1, 1], [2, 1]]] * 2, np.float32),
        _int64(1, 0, 2),
        _int64(1, 0, 2, 0),
        _int64(2, 1, 1),
    ),
)
