"""LRN: each element divided by a power of the squares in the channels around it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.nn.layer_normalization import with_specials
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator


@operator(
    "LRN",
    since=(13, 1),
    alpha=(OMITTED, 0.75),
    beta=(OMITTED, 1.25),
    bias=(OMITTED, 0.4),
    size=(1, 2, 3, 4, 7),
    # All three are given or none: what is left is tried with every size in every type.
    constraints=[
        lambda alpha, bias: (alpha is OMITTED) == (bias is OMITTED),
        lambda alpha, beta: (alpha is OMITTED) == (beta is OMITTED),
    ],
)
def lrn(X: np.ndarray, *, alpha: Any, beta: Any, bias: Any, size: int) -> np.ndarray:
    """``Y = X / (bias + alpha / size * square_sum) ^ beta``.

    ``square_sum[n, c, …]`` is the sum of ``X[n, i, …] ^ 2`` where
    ``max(0, c - floor((size - 1) / 2)) <= i <= min(C - 1, c + ceil((size - 1) / 2))``.
    """
    before, after = (size - 1) // 2, size // 2
    y = np.empty_like(X)
    for c in range(X.shape[1]):
        around = X[:, max(0, c - before) : c + after + 1]
        y[:, c] = X[:, c] / (bias + alpha / size * (around * around).sum(axis=1)) ** beta
    return y


SHAPE = (2, 5, 3, 1)
"""More channels than instances."""


@lrn.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Ordinary values; more channels than instances, and fewer than the widest regions have.

    Then a large channel among small ones: it is felt as far as regions reach, and no further.
    """
    yield {"X": draw.T.ordinary(SHAPE)}
    x = draw.T.ordinary(SHAPE).astype(np.float64) / 8
    x[:, 1] *= 64
    yield {"X": draw.T(x)}


@lrn.inputs(T="tensor(float)")
def shapes(draw: Draw) -> Iterator[Inputs]:
    """One axis beside N and C, or three; fewer channels than instances, a single channel; no instances."""
    every = {1: (5, 3, 2), 2: (2, 4, 1, 3, 2), 3: (5, 2, 3, 1), 4: (0, 3, 2, 4), 7: (4, 1, 3)}
    yield {"X": draw.T.ordinary(every[draw.attributes["size"]])}


@lrn.inputs(T=("tensor(float)", "tensor(double)"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, then infinity, at one place: infinity becomes NaN, and makes 0 of others in its region."""
    yield from ({"X": x} for x in with_specials(draw.T.ordinary(SHAPE)))
