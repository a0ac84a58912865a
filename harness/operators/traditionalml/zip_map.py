"""ZipMap: a map for each row, from the labels of the columns to the values."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED, Inputs, operator
from harness.spec.element_types import BY_NAME

STRINGS = [text.encode() for text in ("cat", "", "Grüße", "a")]
INTEGERS = [7, -3, 2**53 + 1, 0]


@operator(
    "ZipMap",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    classlabels_int64s=(lambda types: INTEGERS if "int64" in types["T"] else OMITTED,),
    classlabels_strings=(lambda types: STRINGS if "string" in types["T"] else OMITTED,),
)
def zip_map(
    X: np.ndarray, *, classlabels_int64s: list[int] | None, classlabels_strings: list[bytes] | None
) -> list[dict[Any, np.ndarray]]:
    """A map a row: "The columns of the tensor correspond one-by-one to the keys specified by the attributes"."""
    keys = classlabels_int64s or [text.decode() for text in classlabels_strings or ()]
    return [dict(zip(keys, map(np.asarray, row), strict=True)) for row in np.atleast_2d(X)]


@zip_map.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three rows, then one, then none."""
    for rows in (3, 1, 0):
        yield {"X": _floats(draw, (rows, 4))}


@zip_map.inputs()
def special_values(_: Draw) -> Iterator[Inputs]:
    """Infinities, NaN, zeros of both signs, subnormal and largest numbers."""
    single = np.finfo(np.float32)
    ends = [single.smallest_subnormal, single.tiny, single.max]
    special = np.array([np.nan, np.inf, 0.0, *ends, -np.inf, -0.0, *(-v for v in ends), 1.0], np.float32)
    yield {"X": special.reshape(3, 4)}


@zip_map.inputs(
    unspecified="ZipMap-1 speaks of columns, and shape inference takes a vector; what it gives is not said."
)
def vector(draw: Draw) -> Iterator[Inputs]:
    """A vector of values."""
    yield {"X": _floats(draw, (4,))}


def _floats(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    """Ordinary values: the input is no type variable's."""
    return Values(draw, BY_NAME["float"]).ordinary(shape)
