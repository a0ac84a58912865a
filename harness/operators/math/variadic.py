"""Sum, Mean, Max, Min: one number of any number of tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from harness.oracles.broadcasting import ALIKE, FLAT, Shape, crossed, neighbours
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample, operator

MULTIDIRECTIONAL: Final[tuple[tuple[Shape, ...], ...]] = (
    ((2, 3, 4),),
    ((),),
    ((0, 2),),
    ((2, 3, 4), (2, 3, 4)),
    ((), (2, 3, 4)),
    ((2, 3, 4), (4,)),
    ((3, 1), (4,)),
    ((2, 1, 1), (1, 3, 1), (1, 1, 4)),
    ((4,), (3, 1), (2, 1, 1)),
    ((1,), (2, 3, 4), ()),
    ((), (), ()),
    ((2, 0, 4), (1, 4), ()),
    ((), (5,), (3, 5), (2, 1, 1)),
    ((3, 5), (1,), (5,), (3, 1)),
    ((2, 3),) * 9,
)
"""Shapes of one to nine tensors, which NumPy's rules broadcast to one another."""

UNIFORM: Final = tuple((ALIKE,) * count for count in (1, 2, 4))


def declared(
    name: str, function: Callable[[Sequence[Any]], Any], *, older: tuple[int, ...], exact: bool
) -> tuple[Operator, Operator, Operator]:
    """The versions that broadcast, the newest apart, and those before 8, whose tensors are all of one shape."""

    def oracle(*data_0: np.ndarray, **_: Any) -> Any:
        """The function of the elements at each place of the tensors."""
        return function(data_0)

    return (
        operator(name, since=13, exact=exact)(oracle),
        operator(name, since=older, exact=exact)(oracle),
        operator(name, since=(6, 1), exact=exact, consumed_inputs=(OMITTED, [0]))(oracle),
    )


def total(tensors: Sequence[Any]) -> Any:
    """The sum of the tensors."""
    return functools.reduce(np.add, tensors)


def mean(tensors: Sequence[Any]) -> Any:
    """The sum of the tensors over their number."""
    return total(tensors) / len(tensors)


def greatest(tensors: Sequence[Any]) -> Any:
    """The greatest of the tensors; of NaN and a number NaN, which no text says."""
    return functools.reduce(np.maximum, tensors)


def least(tensors: Sequence[Any]) -> Any:
    """The least of the tensors; of NaN and a number NaN, which no text says."""
    return functools.reduce(np.minimum, tensors)


SUM = declared("Sum", total, older=(8,), exact=False)
MEAN = declared("Mean", mean, older=(8,), exact=False)
MAX = declared("Max", greatest, older=(12, 8), exact=True)
MIN = declared("Min", least, older=(12, 8), exact=True)
FAMILIES = (SUM, MEAN, MAX, MIN)
EVERY = tuple(each for family in FAMILIES for each in family)


def some(draw: Draw, *shapes: Shape) -> Inputs:
    """Ordinary values."""
    return {"data_0": tuple(draw.T.ordinary(shape) for shape in shapes)}


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three tensors of one shape."""
    yield some(draw, *(ALIKE,) * 3)


def uniform(draw: Draw) -> Iterator[Inputs]:
    """One, two and four tensors of one shape."""
    yield from (some(draw, *shapes) for shapes in UNIFORM)


def broadcast(draw: Draw) -> Iterator[Inputs]:
    """One to nine tensors, of shapes that are broadcast to one another, others for each type."""
    yield some(draw, *MULTIDIRECTIONAL[draw.integer(0, len(MULTIDIRECTIONAL) - 1)])


def every_shape(draw: Draw) -> Iterator[Inputs]:
    """One to nine tensors, in every way for their shapes to meet."""
    if draw.types["T"] == "tensor(float)":
        yield from (some(draw, *shapes) for shapes in MULTIDIRECTIONAL)


for newest, older, legacy in FAMILIES:
    for each in (newest, older, legacy):
        each.inputs()(ordinary)
    legacy.inputs()(uniform)
    newest.inputs()(broadcast)
    older.inputs()(broadcast)
    newest.inputs(T="float")(every_shape)


def beside(draw: Draw, values: np.ndarray, shape: Shape) -> Iterator[Inputs]:
    """Each of the values beside each in two of three tensors, the first and last of them, with ordinary ones."""
    first, second = crossed(values, values, shape, shape)
    third = draw.T.ordinary(shape)
    yield {"data_0": (first, second, third)}
    yield {"data_0": (third, first, second)}


def special_terms(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros, subnormals and the largest numbers, each beside each: IEEE 754 decides."""
    yield from beside(draw, draw.T.specials(), FLAT)


def special_terms_but_large(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros and subnormals, each beside each: IEEE 754 decides."""
    specials = draw.T.specials()
    yield from beside(draw, specials[[not 1 < abs(v) < np.inf for v in specials.astype(np.float64)]], ALIKE)


def special_values(draw: Draw) -> Iterator[Inputs]:
    """Infinities, zeros, subnormals, the extremes and what lies between, each beside each."""
    specials = draw.T.specials()
    yield from beside(draw, specials[specials == specials], ALIKE)  # noqa: PLR0124  NaN alone differs from itself


def near_equal(draw: Draw) -> Iterator[Inputs]:
    """Numbers and what lies next to them in the type, which float or double could not tell apart."""
    first, second = neighbours(draw.T, ALIKE, ALIKE)
    yield {"data_0": (first, second, first)}
    yield {"data_0": (second, first, second)}


def nan(draw: Draw) -> Iterator[Inputs]:
    """NaN first, in the middle and last among numbers and infinities."""
    numbers = draw.T([np.nan, 1, -1, np.inf, -np.inf, 0])
    first, second = crossed(numbers, numbers, ALIKE, ALIKE)
    yield {"data_0": (first, second, draw.T.ordinary(ALIKE))}


for each in SUM:
    each.inputs(T="float")(special_terms)
for each in MEAN:
    each.inputs(T="float")(special_terms_but_large)
for each in (*MAX, *MIN):
    each.inputs()(special_values)
    each.inputs(T=("float", "signed", "unsigned"))(near_equal)
for newest, *_ in (MAX, MIN):
    title = newest.schemas[0].title
    newest.inputs(
        T="float", unspecified=f"{title} does not say what comes of NaN: IEEE 754-2008 has maxNum, later maximum."
    )(nan)


@MEAN[0].inputs(T="float")
def sum_beyond_range(draw: Draw) -> Iterator[Sample]:
    """Terms whose sum passes the largest finite number, to the end or halfway, though the mean does not."""
    unspecified = "" if draw.T.element.name == "float16" else _UNSAID.format("Mean-13")
    a, b, c = (draw.T.largest * (0.75 + draw.T.near(1, FLAT).astype(np.float64) / 8) for _ in range(3))
    yield Sample({"data_0": (draw.T(a), draw.T(b), draw.T(c))}, unspecified=unspecified)
    yield Sample({"data_0": (draw.T(a), draw.T(b), draw.T(-c))}, unspecified=unspecified)


_UNSAID = "{} does not say in which order and precision terms are added; for this type a wider one need not be at hand."


@SUM[0].inputs(T="float", unspecified=_UNSAID.format("Sum-13"))
def overflow_halfway(draw: Draw) -> Iterator[Inputs]:
    """Terms whose sum passes the largest finite number before the last of them brings it back."""
    largest = np.full(FLAT, draw.T.largest)
    yield {"data_0": (draw.T(largest), draw.T(largest), draw.T(-largest))}


def _floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


TERMS = _floats(3, 0, 2), _floats(1, 3, 4), _floats(2, 6, 6)
SUM[0].example("test_sum_example", *TERMS, gives=_floats(6, 9, 12))
MEAN[0].example("test_mean_example", *TERMS, gives=_floats(2, 3, 4))
MAX[0].example("test_max_example", _floats(3, 2, 1), _floats(1, 4, 4), _floats(2, 5, 3), gives=_floats(3, 5, 4))
MIN[0].example("test_min_example", _floats(3, 2, 1), _floats(1, 4, 4), _floats(2, 5, 0), gives=_floats(1, 2, 0))
