"""CategoryMapper: strings for integers, or integers for strings."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

STRINGS = [text.encode() for text in ("cat", "", "Cat", "日本語", "two words", "-7")]
INTEGERS = [3, -7, 2**53 + 1, 0, 2**63 - 1, -(2**63)]
FAR_STRINGS = ("CAT", "cat ", "cats", " ", "_Unused", "3")
FAR_INTEGERS = (4, 7, 2**53, 1, 2**63 - 2, -(2**53) - 1)
"""What is near a category and none."""


@operator(
    "CategoryMapper",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    constraints=[
        lambda T1, T2: T1 != T2,
        # "One and only one of the 'default_*' attributes must be defined": that of what comes out.
        lambda T2, default_int64: (T2 == "tensor(int64)") == (default_int64 != OMITTED),
        lambda T2, default_string: (T2 == "tensor(string)") == (default_string != OMITTED),
    ],
    cats_int64s=(INTEGERS,),
    cats_strings=(STRINGS,),
    default_int64=(OMITTED, 42, -(2**63)),
    default_string=(OMITTED, "none", ""),
)
def category_mapper(
    X: np.ndarray, *, cats_int64s: list[int], cats_strings: list[bytes], default_int64: int, default_string: str
) -> np.ndarray:
    """The string or integer "at the same index", or the default that is not found."""
    strings = [text.decode() for text in cats_strings]
    to_strings = X.dtype == object
    pairs = zip(cats_int64s, strings, strict=True) if to_strings else zip(strings, cats_int64s, strict=True)
    found, default = dict(pairs), default_string if to_strings else default_int64
    return np.array([found.get(x, default) for x in X.ravel().tolist()], object).reshape(X.shape)


@category_mapper.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Every category, and between them what is near one and none."""
    known, near = _either(draw)
    yield {"X": draw.T1([known, near[::-1], known[::-1]])}


@category_mapper.inputs()
def shapes(draw: Draw) -> Iterator[Inputs]:
    """A vector, a single element, no rows, no elements."""
    known, near = _either(draw)
    for shape in ((7,), (1, 1), (0, 3), (0,)):
        yield {"X": draw.T1(np.resize(np.array([*known, *near], object), shape))}


def _either(draw: Draw) -> tuple[list[str] | list[int], tuple[str, ...] | tuple[int, ...]]:
    if draw.types["T1"] == "tensor(string)":
        return [text.decode() for text in STRINGS], FAR_STRINGS
    return INTEGERS, FAR_INTEGERS
