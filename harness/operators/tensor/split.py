"""Split: the parts of a tensor along an axis, of given lengths or equal ones."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator

Parts = tuple[np.ndarray, ...]
SOME = "tensor(float)"
"""The type that meets every combination of attributes; the others meet two."""


def parted(input: np.ndarray, axis: int, lengths: Any) -> Parts:
    """Each part begins where those before it end."""
    ends = np.cumsum(lengths, dtype=int)
    return tuple(np.take(input, np.arange(end - n, end), axis=axis) for n, end in zip(lengths, ends, strict=True))


def equal(size: int, count: int) -> list[int]:
    """The lengths of as many equal parts."""
    return [size // count] * count


@operator(
    "Split",
    since=18,
    exact=True,
    axis=(OMITTED, 1, -1),
    num_outputs=(OMITTED, 1, 2, 3, 4),
    constraints=[
        lambda T, axis, num_outputs: T == SOME or (axis, num_outputs) in ((OMITTED, OMITTED), (-1, 3)),
    ],
)
def split_18(input: np.ndarray, split: np.ndarray | None = None, *, axis: int, num_outputs: int | None) -> Parts:
    """The lengths that ``split`` states, or ``num_outputs`` "equal sized parts", of which "the last … will be smaller".

    How long the others are where the size is no multiple is by shape inference and the official tests the least that
    leaves no more than that for the last one.
    """
    if split is not None:
        return parted(input, axis, split)
    assert num_outputs
    size = input.shape[axis]
    length = -(-size // num_outputs)
    return parted(input, axis, [max(min(length, size - i * length), 0) for i in range(num_outputs)])


@operator("Split", since=13, exact=True, axis=(OMITTED, 0, 1, 2, -1, -2))
def split_13(input: np.ndarray, split: np.ndarray | None = None, *, axis: int, outputs: int) -> Parts:
    """The lengths that ``split`` states; "otherwise, the tensor is split to equal sized parts", one an output."""
    return parted(input, axis, equal(input.shape[axis], outputs) if split is None else split)


LENGTHS: tuple[Any, ...] = (OMITTED, [2, 1, 3], [5], [1, 1], [3, 1, 1, 2])


def split_by_attribute(input: np.ndarray, *, axis: int, split: list[int] | None, outputs: int) -> Parts:
    """As version 13, with lengths from an attribute."""
    return parted(input, axis, split or equal(input.shape[axis], outputs))


split_11 = operator("Split", since=11, exact=True, axis=(OMITTED, 0, 1, 2, -1, -3), split=(*LENGTHS, [0, 2, 0, 3, 0]))(
    split_by_attribute
)
split_2 = operator("Split", since=2, exact=True, axis=(OMITTED, 0, 1, 2), split=LENGTHS)(split_by_attribute)


@operator(
    "Split",
    since=1,
    exact=True,
    axis=(OMITTED, 0, 1, 2),
    split=LENGTHS,
    constraints=[lambda T, axis: axis != OMITTED or T == "tensor(double)"],
)
def split_1(
    input: np.ndarray, split: np.ndarray | None = None, /, *, axis: int | None, **lengths: list[int] | None
) -> Parts:
    """Lengths from the attribute, or from an input of the tensor's type; otherwise equal parts.

    Of these there are two here, for the schema calls the outputs ``outputs...``, which no parameter can be called.
    """
    axis = axis or 0
    of = lengths["split"] if split is None else [int(n) for n in split]
    return parted(input, axis, of or equal(input.shape[axis], 2))


def tensor(draw: Draw, size: int, shape: Sequence[int] = (3, 4, 5)) -> np.ndarray:
    """Ordinary elements, with this size on the axis."""
    axis = 0 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]
    sizes = list(shape)
    sizes[axis] = size
    return draw.T.ordinary(sizes)


def asked(draw: Draw, lengths: Sequence[int], shape: Sequence[int] = (3, 4, 5)) -> Sample:
    """A tensor as long on the axis as these parts."""
    return Sample({"input": tensor(draw, sum(lengths), shape), "split": np.array(lengths, np.int64)})


def by_length(draw: Draw) -> bool:
    """Whether the lengths may be stated by the input."""
    return draw.attributes.get("num_outputs", OMITTED) == OMITTED


@split_18.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Three parts of lengths that differ, or as many equal ones as the attribute says."""
    yield asked(draw, (2, 1, 3)) if by_length(draw) else Sample({"input": tensor(draw, 12)})


@split_18.inputs(T=SOME)
def uneven(draw: Draw) -> Iterator[Sample]:
    """Sizes that are no multiples of the number of parts: the last one is smaller.

    What the parts are where nothing is left for the last, as of 5 in 4 parts, is not said.
    """
    if by_length(draw):
        return
    count = draw.attributes["num_outputs"]
    yield Sample({"input": tensor(draw, 7)})
    if count == 3:
        yield Sample({"input": tensor(draw, 4)})


def lengths(draw: Draw) -> Iterator[Sample]:
    """Parts of no length among others, first and last; one part; as many parts as elements."""
    if by_length(draw):
        for parts in ((0, 6, 0), (3, 0, 2), (1, 5, 0), (7,), (1, 1, 1, 1, 1)):
            yield asked(draw, parts)


def shapes(draw: Draw) -> Iterator[Sample]:
    """One axis, five; no elements, on the axis or beside it."""
    if draw.attributes.get("num_outputs", OMITTED) not in (OMITTED, 2):
        return
    axis = 0 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]
    for shape, size in (((1,), 6), ((2, 3, 1, 4, 1), 6), ((3, 4, 5), 0), ((0, 0, 0), 6)):
        if -len(shape) <= axis < len(shape):
            if by_length(draw):
                yield asked(draw, (size // 2, size // 3, size // 6), shape)
            else:
                yield Sample({"input": tensor(draw, size, shape)})


for _op in (split_18, split_13):
    _op.inputs(T=SOME)(lengths)
    _op.inputs(T=SOME)(shapes)


@split_13.inputs()
def two_ways(draw: Draw) -> Iterator[Sample]:
    """Three parts of lengths that differ, or two or three equal ones."""
    count = draw.integer(1, 3)
    yield asked(draw, (2, 1, 3)) if count == 1 else Sample({"input": tensor(draw, 6)}, outputs=count)


def from_an_attribute(draw: Draw) -> Iterator[Sample]:
    """Parts of the lengths in the attribute; without it two or three equal ones."""
    stated = draw.attributes["split"]
    if stated != OMITTED:
        yield Sample({"input": tensor(draw, sum(stated))})
    else:
        yield Sample({"input": tensor(draw, 6)}, outputs=draw.integer(2, 3))


for _op in (split_11, split_2):
    _op.inputs()(from_an_attribute)


@split_1.inputs()
def three_ways(draw: Draw) -> Iterator[Sample]:
    """Lengths from an attribute, from the input, or equal ones."""
    unspecified = 'Split-1, "Which axis to split on", does not say which it is where it is left out.'
    unspecified = unspecified if draw.attributes["axis"] == OMITTED else ""
    stated = draw.attributes["split"]
    yield Sample({"input": tensor(draw, 6 if stated == OMITTED else sum(stated))}, unspecified=unspecified)
    if stated == OMITTED:
        yield Sample({"input": tensor(draw, 6), "split": draw.T([1, 3, 2])}, unspecified=unspecified)


def _floats(*values: object) -> np.ndarray:
    return np.array(values, np.float32)


split_18.example(
    "test_split_variable_parts_1d_opset18",
    _floats(1, 2, 3, 4, 5, 6),
    np.array([2, 4], np.int64),
    axis=0,
    gives=(_floats(1, 2), _floats(3, 4, 5, 6)),
)
split_18.example(
    "test_split_1d_uneven_split_opset18",
    _floats(1, 2, 3, 4, 5, 6, 7),
    num_outputs=4,
    gives=(_floats(1, 2), _floats(3, 4), _floats(5, 6), _floats(7)),
)
