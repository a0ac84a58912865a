"""Trilu: the upper or the lower triangle of each matrix."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, Inputs, operator

SOME = ("float16", "double", "int64", "uint8", "string")
"""Types that meet what is not about types."""


@operator("Trilu", since=14, exact=True, upper=FLAG)
def trilu(input: np.ndarray, k: np.ndarray | None = None, *, upper: int) -> np.ndarray:
    """The elements on and above the ``k``-th diagonal, or on and below it; all others are zero (``""`` for strings)."""
    rows, columns = input.shape[-2:]
    diagonal = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    bound = 0 if k is None else int(k)
    return np.where(diagonal >= bound if upper else diagonal <= bound, input, np.zeros_like(input))


@trilu.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A matrix with more columns than rows: the main diagonal by default, then one inside the matrix."""
    yield {"input": draw.T.ordinary((3, 4))}
    yield {"input": draw.T.ordinary((3, 4)), "k": np.array(draw.integer(-2, 3))}


@trilu.inputs(T=SOME)
def every_diagonal(draw: Draw) -> Iterator[Inputs]:
    """Each diagonal from one beyond the lower left corner to one beyond the upper right one."""
    for k in range(-4, 6):
        yield {"input": draw.T.ordinary((4, 5)), "k": np.array(k)}


@trilu.inputs(T=SOME)
def distant_diagonals(draw: Draw) -> Iterator[Inputs]:
    """Diagonals far outside, where 32 bits or ``k ± size`` overflow: all of the matrix remains, or nothing."""
    for k in (2**31 - 1, -(2**31), 2**40, -(2**40), 2**63 - 1, -(2**63)):
        yield {"input": draw.T.ordinary((2, 3)), "k": np.array(k)}


@trilu.inputs(T=SOME)
def shapes(draw: Draw) -> Iterator[Inputs]:
    """Tall, single-row, single-column and single-element matrices, and batches of rank 3 and 4."""
    for shape in ((5, 2), (1, 4), (4, 1), (1, 1), (2, 3, 4), (3, 1, 5), (2, 3, 5, 4)):
        yield {"input": draw.T.ordinary(shape)}
        for k in (-1, 1):
            yield {"input": draw.T.ordinary(shape), "k": np.array(k)}


@trilu.inputs(T=SOME)
def empty(draw: Draw) -> Iterator[Inputs]:
    """No rows, no columns, no matrices."""
    for shape in ((0, 5), (4, 0), (0, 0), (3, 0, 5), (0, 2, 3)):
        yield {"input": draw.T.ordinary(shape)}
        yield {"input": draw.T.ordinary(shape), "k": np.array(6)}


@trilu.inputs(T=("float", "signed", "unsigned"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """The type's special values at every place: what is cut off is zero even where it was NaN or an infinity."""
    specials = draw.T.specials()
    matrices = np.stack([np.roll(np.resize(specials, 12), shift).reshape(3, 4) for shift in range(len(specials))])
    for k in (-1, 0, 1):
        yield {"input": matrices, "k": np.array(k)}


WIDE = [[4, 7, 3, 7, 9], [1, 2, 8, 6, 9], [9, 4, 0, 8, 7], [4, 3, 4, 2, 4]]
ZEROS = np.zeros((4, 5), np.int64)
SQUARES = [[[4, 6, 9], [7, 5, 4], [8, 1, 2]], [[1, 4, 9], [9, 6, 3], [8, 9, 8]]]
LOWER_SQUARES = [[[0, 4, 3], [2, 0, 9], [8, 2, 5]], [[2, 7, 2], [2, 6, 0], [2, 6, 5]]]

trilu.example("test_triu", WIDE, gives=[[4, 7, 3, 7, 9], [0, 2, 8, 6, 9], [0, 0, 0, 8, 7], [0, 0, 0, 2, 4]])
trilu.example("test_triu_neg", WIDE, -1, gives=[[4, 7, 3, 7, 9], [1, 2, 8, 6, 9], [0, 4, 0, 8, 7], [0, 0, 4, 2, 4]])
trilu.example("test_triu_out_neg_out", WIDE, -7, gives=WIDE)
trilu.example("test_triu_pos", WIDE, 2, gives=[[0, 0, 3, 7, 9], [0, 0, 0, 6, 9], [0, 0, 0, 0, 7], [0, 0, 0, 0, 0]])
trilu.example("test_triu_out_pos", WIDE, 6, gives=ZEROS)
trilu.example("test_triu_square", SQUARES, gives=[[[4, 6, 9], [0, 5, 4], [0, 0, 2]], [[1, 4, 9], [0, 6, 3], [0, 0, 8]]])
trilu.example(
    "test_triu_square_neg", SQUARES, -1, gives=[[[4, 6, 9], [7, 5, 4], [0, 1, 2]], [[1, 4, 9], [9, 6, 3], [0, 9, 8]]]
)
trilu.example(
    "test_triu_one_row",
    [[[1, 4, 9, 7, 1]], [[9, 2, 8, 8, 4]], [[3, 9, 7, 4, 2]]],
    1,
    gives=[[[0, 4, 9, 7, 1]], [[0, 2, 8, 8, 4]], [[0, 9, 7, 4, 2]]],
)
trilu.example("test_triu_zero", np.zeros((0, 5), np.int64), 6, gives=np.zeros((0, 5), np.int64))

TALL = [[4, 7, 3, 7, 9], [1, 2, 8, 6, 9], [9, 4, 1, 8, 7], [4, 3, 4, 2, 4]]
trilu.example("test_tril", TALL, upper=0, gives=[[4, 0, 0, 0, 0], [1, 2, 0, 0, 0], [9, 4, 1, 0, 0], [4, 3, 4, 2, 0]])
trilu.example(
    "test_tril_neg", TALL, -1, upper=0, gives=[[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [9, 4, 0, 0, 0], [4, 3, 4, 0, 0]]
)
trilu.example("test_tril_out_neg", TALL, -7, upper=0, gives=ZEROS)
trilu.example(
    "test_tril_pos", TALL, 2, upper=0, gives=[[4, 7, 3, 0, 0], [1, 2, 8, 6, 0], [9, 4, 1, 8, 7], [4, 3, 4, 2, 4]]
)
trilu.example("test_tril_out_pos", TALL, 6, upper=0, gives=TALL)
trilu.example(
    "test_tril_square",
    LOWER_SQUARES,
    upper=0,
    gives=[[[0, 0, 0], [2, 0, 0], [8, 2, 5]], [[2, 0, 0], [2, 6, 0], [2, 6, 5]]],
)
trilu.example(
    "test_tril_square_neg",
    LOWER_SQUARES,
    -1,
    upper=0,
    gives=[[[0, 0, 0], [2, 0, 0], [8, 2, 0]], [[0, 0, 0], [2, 0, 0], [2, 6, 0]]],
)
trilu.example(
    "test_tril_one_row_neg",
    [[[6, 2, 4, 1, 6]], [[8, 3, 8, 7, 0]], [[2, 2, 9, 5, 9]]],
    upper=0,
    gives=[[[6, 0, 0, 0, 0]], [[8, 0, 0, 0, 0]], [[2, 0, 0, 0, 0]]],
)
trilu.example("test_tril_zero", np.zeros((3, 0, 5), np.int64), 6, upper=0, gives=np.zeros((3, 0, 5), np.int64))
