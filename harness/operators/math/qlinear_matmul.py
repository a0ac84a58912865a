"""QLinearMatMul: the matrix product of quantized tensors, quantized again."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.branches import clip, rint, round_to
from harness.operators.math.matmul import product
from harness.operators.math.matmul_integer import per_row
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import Inputs, operator
from harness.spec.element_types import BY_NAME, ElementType


@operator("QLinearMatMul", since=(21, 10), working_type="TS")
def qlinear_matmul(
    a: np.ndarray,
    a_scale: np.ndarray,
    a_zero_point: np.ndarray,
    b: np.ndarray,
    b_scale: np.ndarray,
    b_zero_point: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray,
    *,
    T3: ElementType,
) -> np.ndarray:
    """``y = saturate((x / y_scale) + y_zero_point)``, the quotient rounded to nearest, ties to even.

    ``x`` is the product of the tensors that ``a`` (by rows) and ``b`` (by columns) stand for.
    """
    rows = _real(a - per_row(a_zero_point), a_scale) * per_row(a_scale)
    columns = _real(b - b_zero_point, b_scale) * b_scale
    quotient = product(rows, columns) / y_scale
    if T3.format:
        return round_to(quotient + y_zero_point, T3, saturate=True)
    return clip(rint(quotient) + _real(y_zero_point, y_scale), T3.minimum, T3.maximum)


def _real(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Whole numbers in the system in which the scales are."""
    return x.astype(scale.dtype)


LEAST_A, LEAST_B = 0.125, 0.1875
"""The least scales of a and b; others are up to twice as large."""


@qlinear_matmul.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Matrices with a scale and a zero point each; results inside the range of the output's type."""
    yield _quantized(draw, (2, 3), (3, 4))


@qlinear_matmul.inputs()
def per_row_and_column(draw: Draw) -> Iterator[Inputs]:
    """A scale and a zero point for each row of a and for each column of b: vectors, and tensors beside stacks."""
    yield _quantized(draw, (2, 3), (3, 4), rows=(2,), columns=(4,))
    yield _quantized(draw, (5, 2, 3), (5, 3, 4), rows=(5, 2, 1), columns=(5, 1, 4))


@qlinear_matmul.inputs()
def shapes(draw: Draw) -> Iterator[Inputs]:
    """Vectors, stacks, stacks whose shapes broadcast, and an empty inner axis."""
    every = (((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((2, 1, 3, 2), (5, 2, 3)), ((3, 0), (0, 2)))
    a, b = every[draw.integer(0, len(every) - 1)]
    yield _quantized(draw, a, b)


@qlinear_matmul.inputs()
def saturation(draw: Draw) -> Iterator[Inputs]:
    """Results on both sides beyond the range of the output's type: its ends."""
    least = 3 * LEAST_A * LEAST_B
    yield _quantized(draw, (2, 3), (3, 4), mixed=False) | {"y_scale": _scale(draw, least / 2.5 / draw.T3.largest)}


@qlinear_matmul.inputs(T3=("signed", "unsigned"))
def ties(draw: Draw) -> Iterator[Inputs]:
    """Quotients halfway between two integers, even and odd and of each sign, by scales that are powers of two."""
    zero_a, zero_b = (8 if of.element.kind == "unsigned" else 0 for of in (draw.T1, draw.T2))
    yield {
        "a": draw.T1(np.array([[1, 0, 0], [0, 0, 1]]) + zero_a),
        "a_scale": _scale(draw, 0.5),
        "a_zero_point": draw.T1(zero_a),
        "b": draw.T2(np.array([[1, 3, 5, 7], [0, 0, 0, 0], [-1, -3, -5, -7]]) + zero_b),
        "b_scale": _scale(draw, 0.25),
        "b_zero_point": draw.T2(zero_b),
        "y_scale": _scale(draw, 0.25),
        "y_zero_point": draw.T3(9),
    }


@qlinear_matmul.inputs(T1=("signed", "unsigned"), T2=("signed", "unsigned"))
def extremes(draw: Draw) -> Iterator[Inputs]:
    """Products of the ends of both types, whose pairs do not fit into 16 bits, with zero points at the same ends."""
    a = draw.T1([[draw.T1.largest, draw.T1.largest, 1], [draw.T1.lowest, draw.T1.lowest, 1]])
    b = draw.T2([[draw.T2.largest, draw.T2.largest, draw.T2.lowest, 1]] * 2 + [[draw.T2.lowest, draw.T2.largest, 1, 0]])
    for end in (min, max):
        yield {
            "a": a,
            "a_scale": _scale(draw, 2.0**-7),
            "a_zero_point": draw.T1(end(draw.T1.lowest, draw.T1.largest)),
            "b": b,
            "b_scale": _scale(draw, 2.0**-7),
            "b_zero_point": draw.T2(end(draw.T2.lowest, draw.T2.largest)),
            "y_scale": _scale(draw, 1.375),
            "y_zero_point": draw.T3(0 if draw.T3.element.format else 9),
        }


@qlinear_matmul.inputs(T1="float", T3="float")
def not_a_number(draw: Draw) -> Iterator[Inputs]:
    """NaN in one row of a, which makes NaN of that row."""
    given = _quantized(draw, (2, 3), (3, 4))
    yield given | {"a": np.where([[False, True, False], [False] * 3], draw.T1(np.nan), given["a"])}


def _quantized(
    draw: Draw,
    a: tuple[int, ...],
    b: tuple[int, ...],
    *,
    rows: tuple[int, ...] = (),
    columns: tuple[int, ...] = (),
    mixed: bool = True,
) -> dict[str, np.ndarray]:
    """Operands of these shapes, at most 6 units from their zero points; of a, every other row is below, or any element.

    Into floats, which are finer near zero than the scales' type may tell, sums never cancel, as if not ``mixed``.
    """
    any_sign = mixed and draw.T3.element.format is None
    signs_a, signs_b = (_signs(draw, shape) if any_sign else np.array(1) for shape in (a, b))
    if not any_sign and len(a) > 1:
        signs_a = (-1) ** np.arange(a[-2])[:, np.newaxis]
    zero_a, zero_b = _zero_point(draw, draw.T1, rows), _zero_point(draw, draw.T2, columns)
    units = 6 if draw.types.get("TS") == "tensor(bfloat16)" else 60
    return {
        "a": draw.T1(_magnitudes(draw, a) * signs_a + per_row(zero_a)),
        "a_scale": _scales(draw, LEAST_A, rows),
        "a_zero_point": draw.T1(zero_a),
        "b": draw.T2(_magnitudes(draw, b) * signs_b + zero_b),
        "b_scale": _scales(draw, LEAST_B, columns),
        "b_zero_point": draw.T2(zero_b),
        "y_scale": _scale(draw, 300 * LEAST_A * LEAST_B / units),
        "y_zero_point": draw.T3({"float": 0, "signed": 9, "unsigned": 121}[draw.T3.element.kind]),
    }


def _signs(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    return 1 - 2 * _below(draw, 2, shape)


def _magnitudes(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    return 1 + _below(draw, 6, shape)


def _zero_point(draw: Draw, of: Values, shape: tuple[int, ...]) -> np.ndarray:
    """Zeros for floats, of integers what is at least 6 units inside the type."""
    return (0 if of.element.format else 10) + _below(draw, 1 if of.element.format else 90, shape)


def _scales(draw: Draw, least: float, shape: tuple[int, ...]) -> np.ndarray:
    return _scale(draw, least * (1 + _below(draw, 64, shape) / 64))


def _below(draw: Draw, end: int, shape: tuple[int, ...]) -> np.ndarray:
    return (draw.words(math.prod(shape)) % np.uint64(end)).astype(np.int64).reshape(shape)


def _scale(draw: Draw, value: Any) -> np.ndarray:
    """Of the type that the version has for scales: float before 21."""
    of = draw.TS if "TS" in draw.types else Values(draw, BY_NAME["float"])
    return of(value)
