"""Gemm: the general matrix product of BLAS, ``alpha A' B' + beta C``."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from harness.operators.math.matmul import one_special_each, product
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Sample, operator

ALPHA, BETA = (OMITTED, 0.5, 2.0), (OMITTED, 0.25, 3.0)
M, K, N = 3, 4, 5
BROADCAST = ((), (1,), (N,), (1, N), (M, 1), (1, 1), (M, N))
"""Every shape of C that broadcasts to that of the product."""


@operator("Gemm", since=(13, 11), transA=FLAG, transB=FLAG, alpha=ALPHA, beta=BETA)
def gemm(
    A: np.ndarray, B: np.ndarray, C: np.ndarray | None = None, *, alpha: Any, beta: Any, transA: int, transB: int
) -> np.ndarray:
    """``alpha A' B' + beta C`` with ``A'`` the transpose if ``transA``, ``B'`` likewise; "as if C is a scalar 0"."""
    y = _times(product(A.T if transA else A, B.T if transB else B), alpha)
    return y if C is None else y + _times(C, beta)


@operator("Gemm", since=(9, 7), transA=FLAG, transB=FLAG, alpha=ALPHA, beta=BETA)
def gemm_7(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, *, alpha: Any, beta: Any, transA: int, transB: int
) -> np.ndarray:
    """As later, but C is there."""
    return gemm.oracle(A, B, C, alpha=alpha, beta=beta, transA=transA, transB=transB)


@operator("Gemm", since=(6, 1), broadcast=FLAG, transA=FLAG, transB=FLAG, alpha=ALPHA, beta=BETA)
def gemm_1(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, *, alpha: Any, beta: Any, transA: int, transB: int, **_: int
) -> np.ndarray:
    """As later; ``broadcast`` only says whether C may have another shape than (M, N)."""
    return gemm.oracle(A, B, C, alpha=alpha, beta=beta, transA=transA, transB=transB)


def _times(x: np.ndarray, scale: Any) -> np.ndarray:
    """Exact for integers, which a double might not hold."""
    return x * (Fraction(scale) if x.dtype == object and isinstance(scale, float) else scale)


@gemm.inputs()
@gemm_7.inputs()
@gemm_1.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Matrices of distinct sizes; integers are such that halves of the product and quarters of C are whole."""
    yield _operands(draw) | {"C": _multiples(draw, (M, N))}


@gemm.inputs()
def shapes_of_c(draw: Draw) -> Iterator[Inputs]:
    """C a scalar, a row, a column or whole, which broadcasts to (M, N)."""
    each = draw.T.element.name == "float"
    for shape in BROADCAST if each else (BROADCAST[draw.integer(0, len(BROADCAST) - 1)],):
        yield _operands(draw) | {"C": _multiples(draw, shape)}


@gemm_7.inputs()
@gemm_1.inputs()
def one_shape_of_c(draw: Draw) -> Iterator[Inputs]:
    """C of one of these shapes, before version 7 only where it is said to be broadcast."""
    shapes = BROADCAST if draw.attributes.get("broadcast", 1) == 1 else ((M, N),)
    yield _operands(draw) | {"C": _multiples(draw, shapes[draw.integer(0, len(shapes) - 1)])}


@gemm.inputs()
def without_c(draw: Draw) -> Iterator[Inputs]:
    """No C: the product alone."""
    yield _operands(draw)


@gemm.inputs()
@gemm_7.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No terms in the sums, which leaves C, and no rows."""
    each = draw.T.element.name in ("float", "int32")
    for rows, terms in ((M, 0), (0, K)) if each else ((M, 0),):
        yield _operands(draw, rows, terms) | {"C": _multiples(draw, (N,))}


@gemm.inputs(T="float")
@gemm_7.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs and small numbers in A; these and the largest in C."""
    for start in (0, 15):
        a = one_special_each(draw)[start : start + 15 : 5]
        yield _turned(draw, a, draw.T.ordinary((K, N))) | {"C": draw.T.ordinary((M, N))}
    yield _operands(draw) | {"C": np.resize(draw.T.specials(), (M, N))}


@gemm.inputs(T=("signed", "unsigned"))
@gemm_7.inputs(T=("signed", "unsigned"))
def wide_integers(draw: Draw) -> Iterator[Sample]:
    """Results that the type holds and a float of its width does not; some that it does not hold; some fractions."""
    root = 2 ** (draw.T.element.bits // 2 - 3)
    a, b = ([draw.integer(root // 4, root // 2 - 1) * 2 + 2 for _ in range(n)] for n in (M * K, K * N))
    c = draw.T([draw.integer(root // 4, root * root // 8) * 4 for _ in range(M * N)]).reshape(M, N)
    yield Sample(_turned(draw, draw.T(a).reshape(M, K), draw.T(b).reshape(K, N) - draw.T(1)) | {"C": c})
    ends = np.resize(draw.T([draw.T.largest, draw.T.lowest, draw.T.largest - 1, draw.T.lowest + 1]), (M, N))
    beyond = "Gemm-13 does not say what a result is that T cannot hold; two's complement is what most return."
    yield Sample(_operands(draw) | {"C": ends}, unspecified=beyond)
    if 0.5 in draw.attributes.values():
        fraction = "Gemm-13 does not say which integer alpha A' B' + beta C becomes where it is none."
        yield Sample(_turned(draw, draw.T.near(1, (M, K)), draw.T.near(1, (K, N))) | {"C": c}, unspecified=fraction)


def _operands(draw: Draw, rows: int = M, terms: int = K) -> dict[str, np.ndarray]:
    return _turned(draw, _multiples(draw, (rows, terms)), draw.T.ordinary((terms, N)))


def _multiples(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    """Ordinary values, of integers four times them."""
    values = draw.T.ordinary(shape)
    return values if draw.T.element.kind == "float" else np.asarray(values * draw.T(4))


def _turned(draw: Draw, a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """A and B that the row's attributes turn into these."""
    trans_a, trans_b = (draw.attributes[name] == 1 for name in ("transA", "transB"))
    return {"A": a.T.copy() if trans_a else a, "B": b.T.copy() if trans_b else b}
