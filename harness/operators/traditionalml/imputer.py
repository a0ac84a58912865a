"""Imputer: another value in place of the one that stands for nothing."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Types, operator

FLOATS = ("tensor(float)", "tensor(double)")


def _least(types: Types) -> int:
    return -(2**31) if types["T"] == "tensor(int32)" else -(2**63)


@operator(
    "Imputer",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    full_product=True,
    constraints=[
        lambda T, imputed_value_floats: (T in FLOATS) == (imputed_value_floats is not OMITTED),
        lambda T, replaced_value_float: (T in FLOATS) == (replaced_value_float is not OMITTED),
        lambda T, imputed_value_int64s: (T not in FLOATS) == (imputed_value_int64s is not OMITTED),
        lambda T, replaced_value_int64: (T not in FLOATS) == (replaced_value_int64 is not OMITTED),
    ],
    imputed_value_floats=(OMITTED, [1.5], [-2.0, float("inf"), 0.25]),
    imputed_value_int64s=(OMITTED, [17], [-5, 2**31 - 1, 0]),
    replaced_value_float=(OMITTED, float("nan"), 0.0, 0.1, float("-inf")),
    replaced_value_int64=(OMITTED, -1, _least),
)
def imputer(
    X: np.ndarray,
    *,
    imputed_value_floats: list[float] | None,
    imputed_value_int64s: list[int] | None,
    replaced_value_float: float,
    replaced_value_int64: int,
) -> np.ndarray:
    """Another value in place of "inputs that equal one value"; NaN is one of those that the text names.

    "In other words, if the input tensor has the shape [*,F], then the length of the attribute array may be 1 or F."
    """
    if imputed_value_floats is None:
        return np.where(np.equal(X, replaced_value_int64), np.array(imputed_value_int64s, object), X)
    is_replaced = np.isnan(X) if np.isnan(replaced_value_float) else np.equal(X, np.float32(replaced_value_float))
    return np.where(is_replaced, np.array(imputed_value_floats), X)


@imputer.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Values of which every other is to be replaced, in every column; then all of them; then none."""
    x = draw.T.ordinary((5, 3))
    yield {"X": x.copy()}
    replaced = _replaced(draw)
    x.reshape(-1)[::2] = replaced
    yield {"X": x}
    yield {"X": np.full_like(x, replaced)}


@imputer.inputs(T=("tensor(float)", "int64"))
def vectors(draw: Draw) -> Iterator[Inputs]:
    """A vector, whose elements are features."""
    x = draw.T.ordinary((3,))
    x[1:] = _replaced(draw)
    yield {"X": x}


@imputer.inputs(T=("tensor(float)", "int64"))
def no_rows(draw: Draw) -> Iterator[Inputs]:
    """No rows."""
    yield {"X": draw.T.ordinary((0, 3))}


@imputer.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs, which equal one another, subnormals and the largest numbers."""
    specials = draw.T.specials()
    yield {"X": np.resize(specials, (5, 3))}


@imputer.inputs(T="float")
def neighbours(draw: Draw) -> Iterator[Inputs]:
    """The value that is replaced, and beside it its neighbours in the type, which are not equal to it."""
    at = _replaced(draw)
    if np.isfinite(at):
        some = [at, np.nextafter(at, draw.T(-np.inf)), np.nextafter(at, draw.T(np.inf)), -at]
        yield {"X": np.resize(np.array(some, draw.T.element.dtype), (5, 3))}


@imputer.inputs(T="signed")
def extremes(draw: Draw) -> Iterator[Inputs]:
    """Both ends of the range, their neighbours, which no double tells apart in 64 bits, and what the value imputes."""
    least, largest = int(draw.T.lowest), int(draw.T.largest)
    yield {"X": draw.T(np.resize([least, least + 1, largest, largest - 1, -1, 0, 1], (5, 3)))}


def _replaced(draw: Draw) -> Any:
    value = draw.attributes["replaced_value_int64"]
    return draw.T(value) if value is not OMITTED else draw.T(np.float32(draw.attributes["replaced_value_float"]))[()]
