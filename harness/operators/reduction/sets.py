"""Sets of values to be reduced: ordinary ones of any length for each Reduce… operator, and telling ones of three."""

from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from harness.oracles.draw import Values

FLOATS: Final = ("float",)
INTEGERS: Final = ("signed", "unsigned")
ANY: Final = ("float", "signed", "unsigned", "bool")
_LONG = 4
"""Of more values than these, those of 16 bits are chosen so that the result can be told from others."""


def ordinary_sets(name: str, T: Values, shape: tuple[int, int]) -> np.ndarray:
    """Sets [count, n] of results that T holds: no overflow, and in integers nothing to round."""
    count, n = shape
    whole, narrow = T.element.kind != "float", T.element.bits == 16 and n > _LONG
    if not count * n:
        return T(np.zeros(shape))
    match name:
        case "ReduceProd":
            if whole:
                factors = T.near(1, shape) if n <= _LONG else T.integers(1, 2, shape)
            else:
                factors = T(np.exp2(T.integers(-1, 1, shape).astype(float))) if narrow else T.near(1, shape)
            negative = (T.draw.words(count * n).reshape(shape) & np.uint64(1)).astype(bool)
            return factors if T.element.kind == "unsigned" else np.where(negative, -factors, factors)
        case "ReduceMean" if whole:
            values = T.ordinary(shape)
            values[:, 0] += (-values.sum(axis=1, dtype=np.int64) % n).astype(values.dtype)
            return values
        case "ReduceL2" if whole and n > 1:
            return _shuffled(T, [3, 4, *[0] * (n - 2)], count)
        case "ReduceLogSum" if whole:
            return _shuffled(T, [1, *[0] * (n - 1)], count)
        case "ReduceLogSumExp" if whole:
            return T(np.zeros(shape))
        case "ReduceLogSum":
            return np.abs(T.ordinary(shape))
        case "ReduceSum" | "ReduceMean" if narrow:
            return np.abs(T.ordinary(shape))
        case _:
            return T.ordinary(shape)


def _shuffled(T: Values, values: Sequence[int], count: int) -> np.ndarray:
    """Each set the same values in another order."""
    return T(values)[np.argsort(T.draw.words(count * len(values)).reshape(count, -1), axis=1)]


Make = Callable[[Values], Sequence[Sequence[float]]]


class Telling(NamedTuple):
    """An input group of sets of three values, for the operators of which they say something."""

    name: str
    about: str
    kinds: tuple[str, ...]
    sets: Mapping[str, Make]
    open: Mapping[str, Make] = MappingProxyType({})
    """Further sets, of which the document does not say what they give."""
    unspecified: str = ""
    """Why it does not."""
    shape: tuple[int, ...] = ()
    """Of the tensor, three along axis 1; that of the ordinary group by default."""
    old: bool = False
    """Whether older versions have it as well."""


NAMES = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)
_EXTREMES = ("ReduceMax", "ReduceMin")
_INF, _NAN = np.inf, np.nan


def _special(name: str) -> Make:
    """Each special value at each place of ordinary ones, all those first that are not finite."""

    def make(T: Values) -> list[list[float]]:
        specials = [float(v) for v in T.specials() if not (np.isnan(v) and name in _EXTREMES)]
        if name in ("ReduceL2", "ReduceLogSumExp"):  # whose results may be lost to an overflow on the way
            specials = [v for v in specials if abs(v) != T.largest]
        specials.sort(key=np.isfinite)
        sets = T.ordinary((3 * len(specials), 3)).astype(float)
        sets = np.sign(sets) if name == "ReduceProd" else np.abs(sets) if name == "ReduceLogSum" else sets
        for i, special in enumerate(specials):
            for turn in range(3):
                sets[turn * len(specials) + i, (i + turn) % 3] = special
        return sets.tolist()

    return make


def _alike(*values: float) -> Make:
    return lambda _: [[v] * 3 for v in values]


def _wide(T: Values) -> float:
    """What costs a third of the bits when it is added and taken off again."""
    assert T.element.format
    return 2.0 ** (T.element.format.precision // 3)


def _both(sets: Sequence[Sequence[float]]) -> list[list[float]]:
    """The sets, and those of the opposite signs."""
    return [[sign * v for v in values] for sign in (1, -1) for values in sets]


def _cancelling(T: Values) -> list[list[float]]:
    w = _wide(T)
    return _both([[w, 1.5, -w], [0.75, w, -w], [-w, w, 3], [w, -w, 1]])


def _near_one(T: Values) -> list[list[float]]:
    if T.element.name == "bfloat16":  # which has too few bits
        return []
    return [[0.5, 0.25, 0.25 + i / 16 / _wide(T)] for i in (-4, -3, -2, -1, 1, 2, 3, 4)]


def _large(T: Values) -> list[list[float]]:
    m = {"float16": 40, "double": 700}.get(T.element.name, 300)
    return [
        *([m, m - 1, 0], [m, m, m], [m / 2, m - 2, 1], [0, m - 1, m - 1]),
        *([-m, 1 - m, -m], [-m, -m, -m], [3 - m, -m / 2, -m], [-m, -m, 2 - m]),
    ]


def _sum_halfway(T: Values) -> list[list[float]]:
    m = T.largest
    return _both([[m, m, -m], [m / 2, m, -m], [m, 1024, -2048], [-m, m, m]])


def _mean_halfway(T: Values) -> list[list[float]]:
    m = T.largest
    return _both([[m, m, m], [m, m / 2, 1], [0, m, m], [m / 2, m / 2, m / 2]])


def _norm_below(T: Values) -> list[list[float]]:
    root = 2.0 ** (np.log2(T.largest) // 2)
    return [[root, 0, 0], [root / 2, -root / 4, root / 2]]


def _norm_halfway(T: Values) -> list[list[float]]:
    return [[8 * v for v in values] for values in _norm_below(T)]


def _terms(T: Values) -> list[list[int]]:
    m = int(T.largest)
    return [[m, 0, 0], [1, m - 2, 1], [m // 2, 1, m // 2], [0, 7, m - 8]]


def _signed_terms(T: Values) -> list[list[int]]:
    m = int(T.largest)
    return [*_terms(T), *([[m, -m, -9], [5, -m, 0], [m, 9, -12]] if T.element.kind == "signed" else [])]


def _thirds(T: Values) -> list[list[int]]:
    m = int(T.largest) // 3
    return [[m, m - 1, m - 2], [m - 4, m, m - 2], [m, m, m], [m - 1, m - 1, m - 4], [0, 0, 3 * (m // 3)]]


def _factors(T: Values) -> list[list[int]]:
    m, signed = int(T.largest), T.element.kind == "signed"
    return [
        [m, 1, 1],
        [1, m // 3, 3],
        [5, m // 15, 3],
        [1, 1, m - 1],
        *([[-1, m, 1], [m // 7, 7, -1]] if signed else []),
    ]


def _squares(T: Values) -> list[list[int]]:
    m = isqrt(int(T.largest) // 3)
    return [[m, m, m], [m - 1, m, m - 3], [0, isqrt(int(T.largest)), 0], [isqrt(int(T.largest)) - 1, 0, 2]]


def _beyond(T: Values) -> list[list[int]]:
    m = int(T.largest)
    return [[m, 2, 1], [3, m, m]]


def _greatest(T: Values) -> list[list[int]]:
    m = int(T.largest)
    return [[m, m, m], [m, m - 1, m - 2]]


def _ends(T: Values) -> list[list[int]]:
    m, least = int(T.largest), int(T.lowest)
    return [[m - 1, m, m - 2], [least + 2, least, least + 1], [least, m, 0], [m, m, m], [least] * 3, [least + 1, 0, 1]]


TELLING = (
    Telling(
        "special_values",
        "Each special value at each place of a set of ordinary ones.",
        FLOATS,
        {name: _special(name) for name in NAMES},
        shape=(9, 3, 4),
        old=True,
    ),
    Telling(
        "alike",
        "Sets of one value alone: infinities, NaN, zeros of both signs, ordinary ones.",
        FLOATS,
        {
            name: _alike(-_INF, _INF, *([] if name in _EXTREMES else [_NAN]), 1.5, -0.0, 0.1, 0.0, -1.5)
            for name in NAMES
        },
        old=True,
    ),
    Telling(
        "infinities",
        "Infinities of both signs beside each other, zeros and numbers: inf - inf and 0 · inf are NaN.",
        FLOATS,
        dict.fromkeys(
            NAMES,
            lambda _: [
                *([_INF, -_INF, 1], [-_INF, 2, _INF], [_INF, 0, 0.5], [0.5, -0.0, -_INF]),
                *([_INF, _INF, 1], [-_INF, -_INF, -0.5], [-_INF, 1, -_INF], [1, _INF, 0]),
            ],
        ),
        old=True,
    ),
    Telling(
        "nan",
        "Sets without NaN, then with it at each place, and nothing else.",
        FLOATS,
        dict.fromkeys(_EXTREMES, lambda _: [[2, 1, 2], [1, -0.0, 2]]),
        dict.fromkeys(_EXTREMES, lambda _: [[_NAN, 1, 2], [1, _NAN, 2], [2, 1, _NAN], [_NAN] * 3]),
        unspecified="The document does not say what the extreme of a set with NaN is: IEEE 754-2008 (maxNum, minNum) "
        "leaves a quiet NaN out, NumPy, to which the behaviour is said to be similar, gives NaN.",
    ),
    Telling(
        "cancellation",
        "Terms that all but cancel: sums far smaller than what is added, logarithms of what is nearly 1.",
        FLOATS,
        {
            **dict.fromkeys(("ReduceSum", "ReduceMean"), _cancelling),
            "ReduceLogSum": _near_one,
            "ReduceLogSumExp": lambda T: np.log(_near_one(T)).tolist(),
        },
    ),
    Telling(
        "large",
        "Exponentials that the type cannot hold, nor tell from 0, of results that it can; double holds them.",
        FLOATS,
        {"ReduceLogSumExp": _large},
        old=True,
    ),
    Telling(
        "overflow_halfway",
        "Sums beyond the largest finite value on the way to a result that is not: float16 is not enough to add in.",
        ("float16",),
        {"ReduceSum": _sum_halfway, "ReduceMean": _mean_halfway},
        old=True,
    ),
    Telling(
        "overflow_halfway",
        "Sums up to the largest finite value, then beyond it, of which the square root or the logarithm is not.",
        ("float16",),
        {"ReduceL2": _norm_below, "ReduceLogSum": lambda T: [[T.largest, 0, 0], [T.largest / 2, 0, 1]]},
        {"ReduceL2": _norm_halfway, "ReduceLogSum": lambda T: [[T.largest, T.largest, 0], [T.largest] * 3]},
        unspecified="The document does not say in what type to add up; the function body of version 18 does it in T.",
    ),
    Telling(
        "large_integers",
        "Results near the ends of the type, which float or double cannot tell from the next, then beyond them.",
        INTEGERS,
        {"ReduceSum": _signed_terms, "ReduceL1": _terms, "ReduceProd": _factors, "ReduceSumSquare": _squares},
        dict.fromkeys(("ReduceSum", "ReduceL1", "ReduceProd", "ReduceSumSquare"), _beyond),
        unspecified="The document does not say what a result is that T cannot hold; most return two's complement.",
        old=True,
    ),
    Telling(
        "large_integers",
        "Integers near the ends of the type, which float or double cannot tell from the next.",
        INTEGERS,
        {**dict.fromkeys(_EXTREMES, _ends), "ReduceMean": _thirds},
        old=True,
    ),
    Telling(
        "integer_overflow_halfway",
        "Means of integers whose sum the type cannot hold.",
        INTEGERS,
        {"ReduceMean": _greatest},
    ),
    Telling(
        "inexact_integers",
        "Integers whose mean, root or logarithm is whole, then others.",
        INTEGERS,
        {
            "ReduceMean": lambda _: [[1, 1, 1], [4, 1, 1]],
            "ReduceL2": lambda _: [[2, 1, 2], [7, 6, 6]],
            "ReduceLogSum": lambda _: [[0, 1, 0], [1, 0, 0]],
        },
        {
            "ReduceMean": lambda _: [[1, 1, 0], [1, 2, 2], [0, 1, 0], [7, 0, 1]],
            **dict.fromkeys(("ReduceL2", "ReduceLogSum"), lambda _: [[1, 1, 0], [3, 1, 2], [7, 1, 1]]),
        },
        unspecified="The document does not say how a result that is not whole becomes an integer; most truncate it.",
    ),
)
