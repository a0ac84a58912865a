"""Det: the determinant of each square matrix."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Sample, operator


@operator("Det", since=(22, 11))
def det(X: np.ndarray) -> Any:
    """The determinant of each matrix of the inner two axes, expanded along its first row."""
    size = X.shape[-1]
    if size == 0:
        return np.ones_like(X, shape=X.shape[:-2])
    minors = [det.oracle(np.delete(X[..., 1:, :], j, axis=-1)) for j in range(size)]
    return sum((-1) ** j * X[..., 0, j] * minors[j] for j in range(size))


@det.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A stack of 3 × 3 matrices."""
    yield {"X": _regular(draw, (2, 3, 3))}


@det.inputs()
def sizes(draw: Draw) -> Iterator[Inputs]:
    """Single matrices up to 5 × 5, and stacks of rank 1 and 2; in bfloat16 no more than four factors tell anything."""
    small = draw.T.element.name == "bfloat16"
    for size in (1, 2) if small else (1, 2, 4, 5):
        yield {"X": _regular(draw, (size, size))}
    for stack in ((4, 1, 1), (3, 4, 2, 2) if small else (2, 3, 4, 4)):
        yield {"X": _regular(draw, stack)}


@det.inputs()
def empty(draw: Draw) -> Iterator[Sample]:
    """Stacks without matrices; and matrices without elements, of which the empty product is 1."""
    open_ = 'Det-22: "square matrix" of "shape [*, M, M]", which does not say what M = 0 gives.'
    yield Sample({"X": draw.T.ordinary((2, 0, 4, 4))})
    yield Sample({"X": draw.T.ordinary((2, 0, 0))}, unspecified=open_)


@det.inputs()
def integers(draw: Draw) -> Iterator[Inputs]:
    """Small integers: every row first, rows that need exchanging, equal rows, a zero row, and rank 1 beside rank 3."""
    yield {"X": draw.T([[[0, 1, 2], [3, 0, 1], [1, 4, 0]], [[0, 0, 2], [0, 3, 1], [4, 1, 1]]])}
    yield {"X": draw.T([[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[2, 0, 1], [0, 3, 0], [1, 0, 2]]])}
    yield {"X": draw.T([[[1, 2, 3], [2, 4, 6], [-1, -2, -3]], [[1, 0, 0], [0, 0, 1], [0, 1, 0]]])}
    yield {"X": draw.T([[[1, 2, 3], [0, 0, 0], [3, 1, 2]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]])}


@det.inputs()
def near_singular(draw: Draw) -> Iterator[Inputs]:
    """A matrix of rank 2 but for one element, beside an ordinary one."""
    yield {"X": np.stack([draw.T([[1, 2, 3], [4, 5, 6], [7, 8, 9.25]]), _regular(draw, (3, 3))])}


@det.inputs(T="float")
def not_finite(draw: Draw) -> Iterator[Sample]:
    """NaN at each place of the first matrix, and an ordinary second one; infinities on the diagonal."""
    open_ = "Det-22 does not give the formula on which it depends what an infinite element leads to."
    for special, unspecified in ((np.nan, ""), (np.inf, open_)):
        for place in range(9) if np.isnan(special) else (0, 4, 8):
            x = _regular(draw, (2, 3, 3))
            x.reshape(-1)[place] = special
            yield Sample({"X": x}, unspecified=unspecified)


def _regular(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    """Matrices far from singular ones, whose largest elements are not on the diagonal."""
    size = shape[-1]
    small = draw.T.ordinary(shape).astype(np.float64) / 8
    large = draw.T.near(3, (size,)).astype(np.float64)
    return np.roll(draw.T(small + np.diag(large)), 1, axis=-1)
