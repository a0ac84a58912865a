"""MatMul: the matrix product of stacks of matrices, which also takes vectors."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Operator, operator

RANKS = (
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (2, 3, 4)),
    ((2, 4, 3), (3,)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((1, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((3, 1), (1, 4)),
    ((1, 3), (3, 1)),
)
"""Vectors, matrices, stacks and stacks of distinct shapes that broadcast; inner axes and others of length 1."""

EMPTY = (((3, 0), (0, 4)), ((0,), (0,)), ((0, 3), (3, 4)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 4)), ((2, 3, 0), (0,)))
"""No terms in the sums, no rows, no columns, no matrices."""


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The product of numpy.matmul: ``Y[…, i, j]`` sums ``A[…, i, k] B[…, k, j]`` over ``k``; the axes before broadcast.

    A vector ``A`` is a row and a vector ``B`` a column, whose added axis is taken away again.
    """
    rows = A if A.ndim > 1 else A[np.newaxis]
    columns = B if B.ndim > 1 else B[:, np.newaxis]
    y = (rows[..., :, :, np.newaxis] * columns[..., np.newaxis, :, :]).sum(axis=-2)
    y = y[..., 0] if B.ndim == 1 else y
    if A.ndim > 1:
        return y
    return y[..., 0] if B.ndim == 1 else y[..., 0, :]


matmul: Operator = operator("MatMul", since=13)(product)
matmul_9: Operator = operator("MatMul", since=(9, 1))(product)
"""The same in fewer types, of which the newest version's many shapes are kept away."""


@matmul.inputs()
@matmul_9.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Two matrices of three distinct sizes."""
    yield {"A": draw.T.ordinary((3, 4)), "B": draw.T.ordinary((4, 5))}


@matmul.inputs()
def ranks(draw: Draw) -> Iterator[Inputs]:
    """Vectors with vectors, with matrices and with stacks on either side, and stacks whose shapes broadcast."""
    every = draw.T.element.name in ("float", "int64")
    for a, b in RANKS if every else (RANKS[draw.integer(0, len(RANKS) - 1)],):
        yield {"A": draw.T.ordinary(a), "B": draw.T.ordinary(b)}


@matmul_9.inputs()
def one_rank(draw: Draw) -> Iterator[Inputs]:
    """Vectors, matrices or stacks: one pair of shapes of those that the newest version gets."""
    a, b = RANKS[draw.integer(0, len(RANKS) - 1)]
    yield {"A": draw.T.ordinary(a), "B": draw.T.ordinary(b)}


@matmul.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """An empty inner axis, which makes zeros, and empty outputs."""
    every = draw.T.element.name in ("float", "int32")
    for a, b in EMPTY if every else EMPTY[:1]:
        yield {"A": draw.T.ordinary(a), "B": draw.T.ordinary(b)}


@matmul.inputs(T="float")
@matmul_9.inputs(T="float")
def long_sums(draw: Draw) -> Iterator[Inputs]:
    """Sums of many terms of both signs: 16 in bfloat16, 64 in others."""
    terms = 16 if draw.T.element.name == "bfloat16" else 64
    yield {"A": draw.T.ordinary((2, terms)), "B": draw.T.ordinary((terms, 3))}


@matmul.inputs(T="float")
@matmul_9.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs and small numbers, each at each place of a row, then of a column."""
    lines = one_special_each(draw)
    yield {"A": lines, "B": draw.T.ordinary((4, 2))}
    yield {"A": lines, "B": draw.T([[1, 0], [np.inf, -0.0], [-2, 0], [0, 1]])}
    yield {"A": draw.T.ordinary((2, 4)), "B": lines.T.copy()}


@matmul.inputs(T="float")
@matmul_9.inputs(T="float")
def overflow(draw: Draw) -> Iterator[Inputs]:
    """Sums whose every term, or whose end, is beyond the largest finite value: infinities of both signs."""
    largest = draw.T.largest
    a = [[largest, largest, 1, 1], [-largest, 1, 1, -largest], [1, 2, 3, 4]]
    yield {"A": draw.T(a), "B": draw.T([[2, 1, 1, 0, -2], [2, 1, 1, 0, -2], [1, 1, 0, 1, 0], [2, 1, 1, 0, -2]])}


@matmul.inputs(T=("signed", "unsigned"))
@matmul_9.inputs(T=("signed", "unsigned"))
def wide_integers(draw: Draw) -> Iterator[Inputs]:
    """Sums that fit into the type, but not into the fraction of a float of its width."""
    root = 2 ** (draw.T.element.bits // 2 - 2)
    low, high = -root + 1, root - 1
    a, b = (np.array([draw.integer(max(root // 2, 1), high) | 1 for _ in range(n)]) for n in (12, 20))
    signs = 1 if draw.T.lowest == 0 else np.resize([1, -1, 1, 1, -1], 12)
    yield {"A": draw.T(a * signs).reshape(3, 4), "B": draw.T(b).reshape(4, 5)}
    if draw.T.lowest < 0:
        yield {"A": draw.T([[low] * 4, [high] * 4, [low, high] * 2]), "B": draw.T([[low, high, -1, 1, 0]] * 4)}


@matmul.inputs(
    T=("signed", "unsigned"),
    unspecified="MatMul-13 does not say what a sum is that T cannot hold; two's complement is what most return.",
)
def wrap_around(draw: Draw) -> Iterator[Inputs]:
    """Sums beyond the range of an integer type."""
    ends = draw.T([draw.T.largest, 1, draw.T.lowest, 3, draw.T.largest, 7, draw.T.lowest])
    yield {"A": np.resize(ends, (3, 4)), "B": np.resize(ends, (4, 5))}


def one_special_each(draw: Draw) -> np.ndarray:
    """Lines of four ordinary values [n, 4], of which one is special: each special that is not large, at each place."""
    specials = [v for v in draw.T.specials() if not np.isfinite(v) or abs(v) < 1]
    lines = draw.T.near(1, (4 * len(specials), 4))
    for line, special in enumerate(np.repeat(specials, 4)):
        lines[line, line % 4] = special
    return lines
