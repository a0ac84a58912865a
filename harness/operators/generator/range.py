"""Range: the numbers from a start to a limit, by steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.branches import ceil
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED, Inputs, Sample, operator


@operator("Range", since=(27, 11), stash_type=(OMITTED, 1))
def range_(start: np.ndarray, limit: np.ndarray, delta: np.ndarray, **_: Any) -> np.ndarray:
    """``start + (i * delta)`` for each i from 0 to ``max(ceil((limit - start) / delta), 0)``, that excluded.

    ``stash_type`` is the precision of this formula, which an exact evaluation does not need.
    """
    first, step = start.item(), delta.item()
    count = -((first - limit.item()) // step) if isinstance(first, int) else float(ceil((limit - start) / delta).item())
    return np.array([first + i * step for i in range(int(count))], start.dtype)


COUNT = 'Range: "ceil( (limit - start) / delta )" does not say'


def of(values: Values, start: float, limit: float, delta: float) -> Inputs:
    """The three scalars in their type."""
    return {"start": values(start), "limit": values(limit), "delta": values(delta)}


@range_.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Up and down, the last step going beyond the limit: the count is far from being another."""
    for start, limit, delta in ((2, 23, 4), (-7, 30, 8), (10, -12, -3), (-2, -31, -6)):
        yield of(draw.T, start, limit, delta)


@range_.inputs(T="float")
def fractions(draw: Draw) -> Iterator[Inputs | Sample]:
    """Steps that are no powers of two, the limit half a step beyond the last element, or where rounding decides."""
    for start, delta, count in ((0.3, 0.7, 9), (-1.1, 0.3, 10), (2.9, -0.6, 8), (0.1, 1e-2, 6)):
        yield of(draw.T, start, start + (count - 0.5) * delta, delta)
    for start, limit, delta in ((0, 0.3, 0.1), (1, 2, 0.2)):
        yield Sample(
            of(draw.T, start, limit, delta), unspecified=f"{COUNT} how its operations round, which decides here."
        )


@range_.inputs()
def limit_met(draw: Draw) -> Iterator[Inputs]:
    """A whole number of steps, without any rounding: the limit is exclusive."""
    for start, limit, delta in ((3, 9, 3), (10, 4, -2), (0, 5, 1), (6, -6, -4)):
        yield of(draw.T, start, limit, delta)
    if draw.T.element.kind == "float":
        yield of(draw.T, 1, 3, 0.25)
        yield of(draw.T, 0.5, -1, -0.125)


@range_.inputs()
def no_elements(draw: Draw) -> Iterator[Inputs]:
    """A limit that is the start, or lies the other way: "max( … , 0)"."""
    for start, limit, delta in ((5, 5, 1), (3, 9, -2), (9, 3, 2), (0, 100, -7)):
        yield of(draw.T, start, limit, delta)


@range_.inputs()
def one_element(draw: Draw) -> Iterator[Inputs]:
    """Steps beyond the limit, up and down."""
    for start, limit, delta in ((1, 2, 1), (1, 2, 100), (-1, -2, -100), (3, 9, 6)):
        yield of(draw.T, start, limit, delta)


@range_.inputs(T=("float16", "bfloat16"))
def beyond_the_last_bit(draw: Draw) -> Iterator[Inputs]:
    """Steps of 1 beyond the number from which on ``x + 1 == x`` in the type: elements are rounded, the sum is not."""
    past = 2 ** (draw.T.element.format.precision if draw.T.element.format else 0)
    for start, limit, delta in ((past - 20, past + 80, 1), (20 - past, -past - 80, -1)):
        yield of(draw.T, start, limit, delta)


@range_.inputs(T="signed")
def extremes(draw: Draw) -> Iterator[Inputs | Sample]:
    """To the ends of the type, where a step too many would leave it, and where a double has not every number."""
    largest, least = int(draw.T.largest), int(draw.T.lowest)
    for start, limit, delta in (
        (largest - 7, largest, 3),
        (largest - 7, largest, largest),
        (least + 7, least, -3),
        (least, least + 10, 4),
        (largest // 2, largest // 2 + 9, 2),
        (0, largest, largest // 4),
        (largest, 0, -(largest // 3)),
    ):
        yield of(draw.T, start, limit, delta)
    for start, limit, delta in ((least, largest, largest // 2), (largest, least, -(largest // 2))):
        yield Sample(of(draw.T, start, limit, delta), unspecified=f"{COUNT} what a difference is that T cannot hold.")


range_.example(
    "test_range_float_type_positive_delta",
    *map(np.float32, (1, 5, 2)),
    gives=np.array([1, 3], np.float32),
)
range_.example(
    "test_range_int32_type_negative_delta",
    *map(np.int32, (10, 6, -3)),
    gives=np.array([10, 7], np.int32),
)
