"""EyeLike: a matrix with ones on one diagonal."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.generator.random_values import is_the_inputs_by_default
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, TypeOf, operator


@operator(
    "EyeLike",
    since=(22, 9),
    exact=True,
    # The input's type is no more than a default: each meets its own and float.
    constraints=[is_the_inputs_by_default, lambda T1, T2: T1 == T2 or "tensor(float)" in (T1, T2)],
    dtype=(OMITTED, TypeOf("T2")),
    k=(OMITTED, 1, -2, 4, 2**32 + 1),
)
def eye_like(input: np.ndarray, *, k: int, **_: Any) -> np.ndarray:
    """The matrix with "ones on the diagonal and zeros everywhere else": ``T2[i, i+k] = 1``."""
    rows, columns = input.shape
    return np.where(np.arange(columns) == np.arange(rows)[:, np.newaxis] + k, 1, 0)


@eye_like.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A matrix with more columns than rows, whose values do not matter."""
    yield {"input": draw.T1.ordinary((3, 4))}


@eye_like.inputs(T1="float16")
def shapes(draw: Draw) -> Iterator[Inputs]:
    """Tall, single-row, single-column, single-element and empty matrices."""
    for shape in ((5, 2), (1, 4), (4, 1), (1, 1), (0, 3), (4, 0)):
        yield {"input": draw.T1.ordinary(shape)}


@eye_like.inputs(T1=("float", "signed", "unsigned"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """The input's special values, of which nothing is seen."""
    yield {"input": np.resize(draw.T1.specials(), (3, 4))}
