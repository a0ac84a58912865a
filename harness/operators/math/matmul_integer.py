"""MatMulInteger: the matrix product of 8-bit integers less their zero points, in 32 bits."""

from collections.abc import Iterator

import numpy as np

from harness.operators.math.matmul import EMPTY, RANKS, product
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator


def per_row(parameter: np.ndarray) -> np.ndarray:
    """A zero point or scale of ``A`` as it broadcasts against ``A``: a vector has one for each row."""
    return parameter[:, np.newaxis] if parameter.ndim == 1 else parameter


@operator("MatMulInteger", since=10, exact=True)
def matmul_integer(
    A: np.ndarray, B: np.ndarray, a_zero_point: np.ndarray | None = None, b_zero_point: np.ndarray | None = None
) -> np.ndarray:
    """The product of ``A`` and ``B``, each less its zero point, which "MUST never overflow"."""
    a = A if a_zero_point is None else A - per_row(a_zero_point)
    b = B if b_zero_point is None else B - b_zero_point
    return product(a, b)


@matmul_integer.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Matrices with a zero point each, with one of them, and with none."""
    points = {"a_zero_point": draw.T1(draw.integer(1, 9)), "b_zero_point": draw.T2(draw.integer(1, 9))}
    for given in (("a_zero_point", "b_zero_point"), ("a_zero_point",), ("b_zero_point",), ()):
        yield _operands(draw, (3, 4), (4, 5)) | {name: points[name] for name in given}


@matmul_integer.inputs()
def per_row_and_column(draw: Draw) -> Iterator[Inputs]:
    """A zero point for each row of A, for each column of B, and both: vectors, and tensors beside stacks."""
    rows, columns = draw.T1.ordinary((3,)), draw.T2.ordinary((5,))
    yield _operands(draw, (3, 4), (4, 5)) | {"a_zero_point": rows}
    yield _operands(draw, (3, 4), (4, 5)) | {"b_zero_point": columns}
    yield _operands(draw, (3, 4), (4, 5)) | {"a_zero_point": rows, "b_zero_point": columns}
    stacks = {"a_zero_point": draw.T1.ordinary((2, 3, 1)), "b_zero_point": draw.T2.ordinary((2, 1, 5))}
    yield _operands(draw, (2, 3, 4), (2, 4, 5)) | stacks


@matmul_integer.inputs()
def extremes(draw: Draw) -> Iterator[Inputs]:
    """Products of the ends of both types, whose pairs do not fit into 16 bits, with zero points at the other ends."""
    a = draw.T1([[draw.T1.largest] * 4, [draw.T1.lowest] * 4, [draw.T1.largest, draw.T1.lowest] * 2])
    b = draw.T2(
        [[draw.T2.largest, draw.T2.lowest, draw.T2.largest, 1, 0], [draw.T2.largest, draw.T2.lowest, 1, 1, 0]] * 2
    )
    yield {"A": a, "B": b}
    for end in (min, max):
        points = {
            "a_zero_point": draw.T1(end(draw.T1.lowest, draw.T1.largest)),
            "b_zero_point": draw.T2(end(draw.T2.lowest, draw.T2.largest)),
        }
        yield {"A": a, "B": b} | points


@matmul_integer.inputs()
def ranks(draw: Draw) -> Iterator[Inputs]:
    """Vectors and stacks on either side, and stacks whose shapes broadcast, with scalar zero points."""
    every = draw.T1.element.name == "uint8" != draw.T2.element.name
    points = {"a_zero_point": draw.T1(3), "b_zero_point": draw.T2(5)}
    for a, b in RANKS if every else (RANKS[draw.integer(0, len(RANKS) - 1)],):
        yield _operands(draw, a, b) | points


@matmul_integer.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """An empty inner axis, which makes zeros, and empty outputs."""
    for a, b in EMPTY:
        yield _operands(draw, a, b) | {"a_zero_point": draw.T1(3), "b_zero_point": draw.T2(5)}


def _operands(draw: Draw, a: tuple[int, ...], b: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {"A": draw.T1.ordinary(a), "B": draw.T2.ordinary(b)}


matmul_integer.example(
    "test_matmulinteger",
    np.array([[11, 7, 3], [10, 6, 2], [9, 5, 1], [8, 4, 0]], np.uint8),
    np.array([[1, 4], [2, 5], [3, 6]], np.uint8),
    np.array([12], np.uint8),
    np.array([0], np.uint8),
    gives=np.array([[-38, -83], [-44, -98], [-50, -113], [-56, -128]], np.int32),
)
