"""CastMap: the values of a map as a tensor, in the order of their keys or with the keys as indices."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator
from harness.spec.values import element_in, parse_type

CASTS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "TO_FLOAT": (float, 0),
    "TO_INT64": (int, 0),
    "TO_STRING": (str, ""),
}
"""What casts a value, and the zero of its type."""
TARGETS = {
    OMITTED: "tensor(float)",
    "TO_FLOAT": "tensor(float)",
    "TO_INT64": "tensor(int64)",
    "TO_STRING": "tensor(string)",
}

SPELLING = (
    'CastMap-1, cast_to: "A string indicating the desired element type of the output tensor". How a number is spelt is '
    "not said."
)
GAPS = (
    'CastMap-1, map_form: "position the input based on using the key of the map as the index of the output (sparse)". '
    "What stands at an index that is no key is not said."
)


@operator(
    "CastMap",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    full_product=True,
    constraints=[
        lambda T2, cast_to: TARGETS[cast_to] == T2,
        lambda map_form, max_map: map_form == "SPARSE" or max_map == OMITTED,
        lambda T1, T2, map_form: map_form != "DENSE" or (T1, T2) == ("map(int64, float)", "tensor(float)"),
    ],
    cast_to=tuple(TARGETS),
    map_form=(OMITTED, "DENSE", "SPARSE"),
    max_map=(OMITTED, 5),
)
def cast_map(X: dict[int, np.ndarray], *, cast_to: str, map_form: str, max_map: int) -> np.ndarray:
    """The values "in ascending order based on this key", or at the index that is their key, of ``max_map`` in all.

    "The output is a 1-D tensor of string, float, or integer."
    """
    cast, zero = CASTS[cast_to]
    values = {key: cast(value.item()) for key, value in X.items()}
    if map_form == "DENSE":
        return np.array([values[key] for key in sorted(values)], object)
    return np.array([values.get(key, zero) for key in range(max_map)], object)


@cast_map.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Keys in no order, one of them negative; where they are indices, each index once."""
    yield _given(draw, range(_length(draw)) if _sparse(draw) else (7, -3, 0, 2, 40))


@cast_map.inputs(T2=("float", "string"))
def keys(draw: Draw) -> Iterator[Sample]:
    """One key, keys of which 64 bits are needed, keys that sort otherwise as text; no keys."""
    if not _sparse(draw) and ("string" in draw.types["T1"]) == ("string" in draw.types["T2"]):
        for some in ((5,), (2**63 - 1, -(2**63), 2**32, 1, 2**32 + 1), (9, 10, 100, 11, 1, 2), ()):
            yield _given(draw, some)


@cast_map.inputs()
def gaps(draw: Draw) -> Iterator[Sample]:
    """Indices that are no keys, or no index that is one."""
    if _sparse(draw):
        for some in (range(_length(draw))[1:4], ()):
            yield _given(draw, some, GAPS)


def _given(draw: Draw, keys: Any, unspecified: str = "") -> Sample:
    source = element_in(parse_type(draw.types["T1"]))
    target = element_in(parse_type(draw.types["T2"]))
    numbers = {"int64": (3, -2, 0, 15, -127, 1), "float": (0.5, -2.0, 1024.0, -0.125, 0.0, 3.75)}
    values: list[Any] = list(numbers.get(target.name, numbers["float"]))
    if source.kind == "string":
        values = ["", "b", "Grüße", "a", "日本語", "3.0"] if target.kind == "string" else [f"{v:g}" for v in values]
    elif target.kind == "string":
        unspecified = unspecified or SPELLING
    shuffled = sorted(keys, key=lambda key: key * 7 % 5)
    made = {key: np.array(value, source.dtype) for key, value in zip(shuffled, values, strict=False)}
    return Sample({"X": made}, unspecified=unspecified)


def _sparse(draw: Draw) -> bool:
    return draw.attributes["map_form"] == "SPARSE"


def _length(draw: Draw) -> int:
    return 1 if draw.attributes["max_map"] == OMITTED else draw.attributes["max_map"]
