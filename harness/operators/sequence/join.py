"""ConcatFromSequence and SplitToSequence: a tensor of a sequence's tensors along an axis, and back."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from harness.operators.sequence.construct import of_tensors, position_in_turn
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator
from harness.spec.values import element_in, parse_type

FLOAT = "tensor(float)"

Way: TypeAlias = tuple[Any, Any]
"""Values of axis and of new_axis or keepdims. Element types take turns with them; float meets more."""

JOINED: tuple[Way, ...] = (
    *((0, OMITTED), (2, OMITTED), (1, 0), (-1, 0), (-3, 0)),
    *((0, 1), (2, 1), (3, 1), (-1, 1), (-2, 1), (-4, 1)),
)
PARTED: tuple[Way, ...] = (
    *((OMITTED, OMITTED), (1, OMITTED), (-2, OMITTED), (2, OMITTED)),
    *((OMITTED, 0), (1, 0), (-3, 0), (-1, 1), (0, 1)),
)


def in_turn(ways: Sequence[Way], T: str, way: Way) -> bool:
    """The way of this element type, the next one's of the next."""
    return way == ways[element_in(parse_type(T)).code % len(ways)]


JOINED_FLOATS: Mapping[Way, Sequence[Sequence[tuple[int, ...]]]] = {
    (-1, 0): [[(2, 3, 4)], [(2,), (4,), (1,)]],
    (1, 0): [[(2, 0, 3), (2, 2, 3), (2, 0, 3)], [(0, 1, 3), (0, 2, 3)]],
    (0, 1): [[(), (), ()]],
    (-1, 1): [[(), ()]],
    (-2, 1): [[(2, 0)] * 3],
}
"""Way → the shapes of the tensors in each sequence."""


def _concat(input_sequence: list[np.ndarray], *, axis: int, new_axis: int) -> np.ndarray:
    """The tensors one behind the other along the axis, or each at an index of a new axis, which is then ``axis``."""
    rank = input_sequence[0].ndim + new_axis
    place = axis % rank
    parts = [np.expand_dims(tensor, place) if new_axis else tensor for tensor in input_sequence]
    ends = np.cumsum([part.shape[place] for part in parts])
    result = np.empty([ends[-1] if k == place else size for k, size in enumerate(parts[0].shape)], parts[0].dtype)
    for part, end in zip(parts, ends, strict=True):
        np.moveaxis(result, place, 0)[end - part.shape[place] : end] = np.moveaxis(part, place, 0)
    return result


_declare_concat = partial(
    operator,
    "ConcatFromSequence",
    since=11,
    exact=True,
    full_product=True,
    axis=(0, 1, 2, 3, -1, -2, -3, -4),
    new_axis=(OMITTED, 0, 1),
)
concat = _declare_concat(
    constraints=[of_tensors, lambda T, axis, new_axis: in_turn(JOINED, T, (axis, new_axis))],
)(_concat)
concat_floats = _declare_concat(
    constraints=[of_tensors, lambda T, axis, new_axis: T == FLOAT and (axis, new_axis) in JOINED_FLOATS],
)(_concat)


@concat.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three tensors of rank 3, of different lengths along the axis unless it is new."""
    axis, new = draw.attributes["axis"], draw.attributes["new_axis"] == 1
    shapes = [tuple(n if k == axis % 3 and not new else size for k, size in enumerate((2, 3, 4))) for n in (1, 3, 2)]
    yield {"input_sequence": draw.value("S", *shapes)}


@concat_floats.inputs()
def one_scalars_empty(draw: Draw) -> Iterator[Inputs]:
    """A sequence of one tensor, of vectors, of scalars, of tensors some or all of which have no elements."""
    for shapes in JOINED_FLOATS[draw.attributes["axis"], draw.attributes["new_axis"]]:
        yield {"input_sequence": draw.value("S", *shapes)}


SHAPE = (4, 5, 3)
PARTED_FLOATS: Mapping[Way, Sequence[tuple[tuple[int, ...], int | list[int] | None]]] = {
    (OMITTED, OMITTED): [(SHAPE, [4]), ((0, 2), None)],
    (1, OMITTED): [(SHAPE, [1, 3, 1]), (SHAPE, [3, 1, 1]), (SHAPE, [0, 5, 0]), (SHAPE, [2, 0, 3])],
    (-2, OMITTED): [(SHAPE, [3, 2])],
    (-3, 0): [(SHAPE, 1), (SHAPE, 2), (SHAPE, [1, 1, 1, 1]), (SHAPE, [1, 0, 2, 1])],
    (OMITTED, 0): [((5,), None), ((3, 0), None)],
    (-1, 1): [((5,), None)],
}
"""Way → the shape of each input, and ``split``."""


def _split(input: np.ndarray, split: np.ndarray | None = None, *, axis: int, keepdims: int) -> list[np.ndarray]:
    """Chunks along the axis: of length ``split`` but for the last, or of the lengths in ``split``, or of length 1.

    The last alone lose the axis if ``keepdims`` is 0: "If input 'split' is specified, this attribute is ignored."
    """
    size = input.shape[axis]
    if split is not None and split.ndim == 1:
        lengths = [int(length) for length in split]
    else:
        chunk = 1 if split is None else int(split)
        lengths = [min(chunk, size - start) for start in range(0, size, chunk)]
    ends = np.cumsum(lengths, dtype=int)
    chunks = [np.take(input, range(end - n, end), axis=axis) for n, end in zip(lengths, ends, strict=True)]
    return chunks if split is not None or keepdims else [np.squeeze(chunk, axis=axis) for chunk in chunks]


_declare_split = partial(
    operator,
    "SplitToSequence",
    exact=True,
    full_product=True,
    axis=(OMITTED, 0, 1, 2, -1, -2, -3),
    keepdims=(OMITTED, 0, 1),
)
split_to_sequence = _declare_split(
    since=(24, 11),
    constraints=[of_tensors, position_in_turn, lambda T, axis, keepdims: in_turn(PARTED, T, (axis, keepdims))],
)(_split)
split_floats = _declare_split(
    since=24,
    constraints=[
        of_tensors,
        position_in_turn,
        lambda T, axis, keepdims: T == FLOAT and (axis, keepdims) in PARTED_FLOATS,
    ],
)(_split)
split_floats_11 = _declare_split(
    since=11,
    constraints=[
        of_tensors,
        position_in_turn,
        lambda T, axis, keepdims: T == FLOAT and (axis, keepdims) in ((1, OMITTED), (-3, 0)),
    ],
)(_split)


@split_to_sequence.inputs()
def chunks(draw: Draw) -> Iterator[Inputs]:
    """Without ``split`` where ``keepdims`` is given; else chunks of 2, of 3 (the last shorter or not) and of 9."""
    if draw.attributes["keepdims"] == OMITTED:
        for length in (2, 3, 9):
            yield {"input": draw.T.ordinary(SHAPE), "split": draw.I(length)}
    else:
        yield {"input": draw.T.ordinary(SHAPE)}


ZERO = (
    'SplitToSequence says of split both "\'split\' must contain only positive numbers" and "All values must be >= 0".'
)
NONE = 'SplitToSequence gives "One or more outputs", which an axis of length 0 has not.'


@split_floats.inputs()
@split_floats_11.inputs()
def lengths(draw: Draw) -> Iterator[Sample]:
    """Lengths one by one; ``keepdims`` where it is ignored; vectors; no elements; lengths of 0, which are silent."""
    for shape, split in PARTED_FLOATS[draw.attributes["axis"], draw.attributes["keepdims"]]:
        given = {} if split is None else {"split": draw.I(split)}
        unspecified = ZERO if isinstance(split, list) and 0 in split else NONE if shape[0] == 0 else ""
        yield Sample({"input": draw.T.ordinary(shape), **given}, unspecified=unspecified)
