"""TopK: the k greatest or least elements along an axis, and where they are."""

from collections.abc import Iterator, Sequence

import numpy as np

from harness.operators.reduction.arg import distinct
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Sample, operator

Both = tuple[np.ndarray, np.ndarray]
NAN = "TopK does not say how NaN compares with other elements."
SHAPE, K = (3, 5, 4), 2


def _top(x: np.ndarray, k: int, axis: int, *, largest: int = 1) -> Both:
    """In descending order, or ascending, the element with the lower index first among equals."""
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    indices = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, indices, axis=axis), indices


@operator("TopK", since=(24, 11), exact=True, axis=(OMITTED, 0, 1, -1, -3), largest=FLAG, sorted=FLAG)
def topk(X: np.ndarray, K: np.ndarray, *, axis: int, largest: int, **_: int) -> Both:
    """The k largest elements along the axis, or the smallest; unsorted ones may come in any order."""
    return _top(X, int(K[0]), axis, largest=largest)


@operator("TopK", since=10, exact=True, axis=(OMITTED, 0, 1, 2, -1))
def topk_10(X: np.ndarray, K: np.ndarray, *, axis: int) -> Both:
    """The k largest elements along the axis."""
    return _top(X, int(K[0]), axis)


@operator("TopK", since=1, exact=True, axis=(OMITTED, 0, 1, 2, -1), k=(1, 2, 3))
def topk_1(X: np.ndarray, *, axis: int, k: int) -> Both:
    """The k largest elements along the axis."""
    return _top(X, k, axis)


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Distinct values, of which two are taken, or one where the order is open."""
    yield _asked(draw, distinct(draw, SHAPE))


def ties(draw: Draw) -> Iterator[Sample]:
    """Equal values inside what is taken, across its end and beyond; lines of one value."""
    for values in ([5, 1, 5, 1, 5, 1, 1], [3], [2, 2, 7, 7, 2, 2, 7, 4, 4]):
        yield _asked(draw, draw.T(np.resize(values, SHAPE)))


def special_values(draw: Draw) -> Iterator[Sample]:
    """Infinities, zeros of both signs (equal ones), subnormal and extreme numbers at every place."""
    specials = [v for v in draw.T.specials() if not np.isnan(v)]
    yield from _cycled(draw, specials)


def extremes(draw: Draw) -> Iterator[Sample]:
    """Both ends of the range and their neighbours, which no double can tell apart in 64 bits."""
    least, largest = int(draw.T.lowest), int(draw.T.largest)
    yield from _cycled(draw, [largest - 1, least + 1, largest, least, largest - 2, least + 2, largest // 2])


def nan(draw: Draw) -> Iterator[Sample]:
    """Ordinary lines, then with NaN at some places."""
    x = distinct(draw, SHAPE)
    yield _asked(draw, x.copy())
    x[draw.words(x.size).reshape(SHAPE) % np.uint64(4) == 0] = np.nan
    yield Sample(_asked(draw, x).inputs, unspecified=NAN)


def all_of_them(draw: Draw) -> Iterator[Sample]:
    """The whole axis in order, or one element where the order is open."""
    yield _asked(draw, distinct(draw, (4, 2, 6)), (4, 2, 6)[_axis(draw)])


def other_ranks(draw: Draw) -> Iterator[Sample]:
    """One of the other ranks that have the axis, long enough."""
    shapes = [s for s in ((6,), (4, 5), (3, 4, 1, 5)) if -len(s) <= _axis(draw) < len(s) and s[_axis(draw)] > K]
    yield _asked(draw, distinct(draw, shapes[draw.integer(0, len(shapes) - 1)]))


def empty(draw: Draw) -> Iterator[Sample]:
    """No lines of which to take elements."""
    beside = (_axis(draw) - 1) % 3
    shape = [0 if axis == beside else size for axis, size in enumerate(SHAPE)]
    yield _asked(draw, draw.T.ordinary(shape))


def _asked(draw: Draw, x: np.ndarray, k: int = K) -> Sample:
    """The ``k`` best of a tensor; the best one where "order of returned Values and Indices are undefined"."""
    return Sample({"X": x} if "k" in draw.attributes else {"X": x, "K": np.array([k if _ordered(draw) else 1])})


def _ordered(draw: Draw) -> bool:
    return draw.attributes.get("sorted") != 0


def _axis(draw: Draw) -> int:
    return -1 if draw.attributes["axis"] == OMITTED else draw.attributes["axis"]


def _cycled(draw: Draw, values: Sequence[float]) -> Iterator[Sample]:
    for stride in (1, 3, 5):
        yield _asked(draw, draw.T([values[i * stride % len(values)] for i in range(60)]).reshape(SHAPE))


for _op in (topk, topk_10, topk_1):
    _op.inputs()(ordinary)
    _op.inputs()(ties)
    _op.inputs(T="float")(special_values)
    _op.inputs(T="float")(nan)
    _op.inputs()(other_ranks)
    _op.inputs()(empty)
for _op in (topk, topk_10):
    _op.inputs()(all_of_them)
topk.inputs(T=("signed", "unsigned"))(extremes)
