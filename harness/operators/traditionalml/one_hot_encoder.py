"""OneHotEncoder: for each element a row of zeros, with a one at the index of its category."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, operator

STRINGS = ["cat", "", "Cat", "日本語", "two words"]
INTEGERS = [7, -3, 0, 2**24, 12, 1]
WIDE = [2**53 + 1, -(2**63), 5, 2**63 - 1]

FRACTIONS = (
    'OneHotEncoder-1: "If the input is a tensor of float, int32, or double, the data will be cast to integers". '
    "How a fraction is cast is not said."
)


@operator(
    "OneHotEncoder",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    constraints=[
        lambda T, cats_strings: (T == "tensor(string)") == (cats_strings is not OMITTED),
        lambda T, cats_int64s: (T != "tensor(string)") == (cats_int64s is not OMITTED),
        lambda T, cats_int64s: cats_int64s is not WIDE or T == "tensor(int64)",
    ],
    cats_int64s=(OMITTED, INTEGERS, WIDE),
    cats_strings=(OMITTED, [text.encode() for text in STRINGS]),
    zeros=FLAG,
)
def one_hot_encoder(
    X: np.ndarray, *, cats_int64s: list[int] | None, cats_strings: list[bytes] | None, **_: int
) -> np.ndarray:
    """Along one more dimension "a single one is placed at the index of the category", "all zeros" without one."""
    categories = np.array(cats_int64s if cats_strings is None else [text.decode() for text in cats_strings], object)
    values = np.trunc(X) if X.dtype == np.float64 else X.astype(object)
    return np.where(values[..., np.newaxis] == categories, 1, 0)


@one_hot_encoder.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Every category, some of them twice."""
    yield {"X": _known(draw, (4, 3))}


@one_hot_encoder.inputs()
def no_category(draw: Draw) -> Iterator[Inputs]:
    """Values near the categories that are none, between others, where they "return all zeros"."""
    if draw.attributes["zeros"] != 0:
        strings = ["CAT", "cat ", "dog", "7"]
        others = [2**53, -(2**63) + 1, 2**63 - 2, 0] if _categories(draw) is WIDE else [8, -7, 2**24 - 1, 2]
        x = _known(draw, (4, 3))
        x.reshape(-1)[::3] = strings if draw.types["T"] == "tensor(string)" else others
        yield {"X": x}


@one_hot_encoder.inputs(T=("tensor(float)", "int64", "string"))
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, a vector, no elements, rank 4."""
    for shape in ((), (5,), (2, 0, 3), (2, 1, 3, 4)):
        yield {"X": _known(draw, shape)}


@one_hot_encoder.inputs(T="float", unspecified=FRACTIONS)
def fractions(draw: Draw) -> Iterator[Inputs]:
    """Fractions around the categories."""
    if draw.attributes["zeros"] != 0:
        x = _known(draw, (4, 3))
        yield {"X": draw.T(x + np.resize([0.25, 0.5, -0.25, 0.75], x.shape))}


def _categories(draw: Draw) -> list[Any]:
    return STRINGS if draw.types["T"] == "tensor(string)" else draw.attributes["cats_int64s"]


def _known(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    values = np.resize(np.array(_categories(draw)[::-1], object), shape)
    return values if draw.types["T"] == "tensor(string)" else values.astype(draw.T.element.dtype)
