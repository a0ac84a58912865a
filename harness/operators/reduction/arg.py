"""ArgMax and ArgMin: where along an axis the greatest or the least element is."""

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Operator, Sample, operator

Better = Callable[[np.ndarray, np.ndarray], np.ndarray]
SHAPE = (2, 3, 4)
AXES = (OMITTED, 0, 1, 2)
NAN = "The document does not say how NaN compares with other elements."


def _found(data: np.ndarray, axis: int, better: Better, *, keepdims: int, last: int = 0) -> np.ndarray:
    lines = np.moveaxis(data, axis, 0)
    found, best = np.zeros(lines.shape[1:], np.int64), lines[0]
    for i in range(1, len(lines)):
        taken = better(lines[i], best) | (last & (lines[i] == best))
        found, best = np.where(taken, i, found), np.where(taken, lines[i], best)
    return np.expand_dims(found, axis) if keepdims else found


def _selecting(name: str, better: Better) -> Operator:
    @operator(name, since=(13, 12), exact=True, keepdims=FLAG, select_last_index=FLAG, axis=(OMITTED, 0, 1, 2, -1, -3))
    def oracle(data: np.ndarray, *, axis: int, keepdims: int, select_last_index: int) -> np.ndarray:
        """The index of the first occurrence of the extreme along the axis, or of the last one."""
        return _found(data, axis, better, keepdims=keepdims, last=select_last_index)

    return oracle


def _old(name: str, since: int, better: Better, axes: Sequence[int | str]) -> Operator:
    @operator(name, since=since, exact=True, keepdims=FLAG, axis=axes)
    def oracle(data: np.ndarray, *, axis: int, keepdims: int) -> np.ndarray:
        """The index of the extreme along the axis."""
        return _found(data, axis, better, keepdims=keepdims)

    return oracle


def distinct(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Values no two of which are equal, at most 100 of them."""
    order = np.argsort(draw.words(prod(shape))).reshape(shape)
    kind = draw.T.element.kind
    return draw.T(order * 0.75 - 8 if kind == "float" else order - 8 if kind == "signed" else order)


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Lines of distinct values along the axis."""
    yield {"data": distinct(draw, SHAPE)}


def ranks(draw: Draw) -> Iterator[Inputs]:
    """One of the other ranks that have the axis, or a tensor with an axis of length 1."""
    shapes = [s for s in ((5,), (3, 4), (3, 1, 2), (2, 3, 1, 4)) if -len(s) <= _axis(draw) < len(s)]
    yield {"data": distinct(draw, shapes[draw.integer(0, len(shapes) - 1)])}


def ties(draw: Draw) -> Iterator[Inputs]:
    """The extreme at two or more places of a line, next to each other and apart, and lines of one value."""
    for values in ([5, 1], [3], [2, 2, 7, 7, 2, 2, 7]):
        yield {"data": draw.T(np.resize(values, SHAPE))}


def equal_specials(draw: Draw) -> Iterator[Inputs]:
    """Zeros of both signs, which are equal, and lines of one infinity alone."""
    for values in ([0.0, -0.0], [-0.0, -0.0, 0.0], [np.inf], [-np.inf]):
        yield {"data": draw.T(np.resize(values, SHAPE))}


def infinities(draw: Draw) -> Iterator[Inputs]:
    """Infinities, the largest numbers and a zero, each at each place, no two equal in a line."""
    largest = draw.T.largest
    yield from _cycled(draw, [-np.inf, -largest, -1, 0, 2.0**-14, 1, largest, np.inf, 2])


def extremes(draw: Draw) -> Iterator[Inputs]:
    """Both ends of the range and their neighbours, which no double can tell apart in 64 bits."""
    least, largest = int(draw.T.lowest), int(draw.T.largest)
    yield from _cycled(draw, [largest - 1, least + 1, largest, least, largest - 2, least + 2, largest // 2])


def nan(draw: Draw) -> Iterator[Inputs | Sample]:
    """Ordinary lines, then with NaN at some places."""
    data = distinct(draw, SHAPE)
    yield {"data": data.copy()}
    data[draw.words(24).reshape(SHAPE) % np.uint64(3) == 0] = np.nan
    yield Sample({"data": data}, unspecified=NAN)


def empty(draw: Draw) -> Iterator[Inputs]:
    """No elements beside the axis: no indices."""
    beside = (_axis(draw) - 1) % 3
    shape = [0 if axis == beside else size for axis, size in enumerate(SHAPE)]
    yield {"data": draw.T.ordinary(shape)}


def _axis(draw: Draw) -> int:
    return 0 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]


def _cycled(draw: Draw, values: list[float]) -> Iterator[Inputs]:
    for start in range(0, len(values), 3):
        yield {"data": draw.T([values[(start + i) % len(values)] for i in range(24)]).reshape(SHAPE)}


def _add_inputs(op: Operator) -> None:
    op.inputs()(ordinary)
    op.inputs()(ranks)
    op.inputs(T="float")(infinities)
    op.inputs(T=("signed", "unsigned"))(extremes)
    op.inputs(T="float")(nan)
    if op.since[0] >= 12:  # which are the first to say what is taken of equal elements
        op.inputs()(ties)
        op.inputs(T="float")(equal_specials)
    if op.since[0] != 11:  # "The input tensor must not be empty."
        op.inputs()(empty)


for _name, _better in (("ArgMax", np.greater), ("ArgMin", np.less)):
    _add_inputs(_selecting(_name, _better))
    _add_inputs(_old(_name, 11, _better, (*AXES, -1, -3)))
    # Version 1 does not say what a negative axis is.
    _add_inputs(_old(_name, 1, _better, AXES))
