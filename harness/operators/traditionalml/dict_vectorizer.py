"""DictVectorizer: the values of a map, each at the index that its key has in the vocabulary."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, Types, operator
from harness.spec.element_types import ElementType
from harness.spec.values import MapType, element_in, parse_type

STRINGS = [text.encode() for text in ("a", "c", "", "b", "日本語")]
INTEGERS = [10, -7, 2**40, 0, 3]

NO_ZERO = (
    'DictVectorizer-1: "Any keys not present in the input dictionary, will be zero in the output array." Which string '
    "is zero is not said."
)


def _keys(types: Types) -> str:
    of = parse_type(types["T1"])
    assert isinstance(of, MapType)
    return of.key.name


@operator(
    "DictVectorizer",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    readings=("A 1-D tensor", "It's shape will be [1,C]"),
    constraints=[lambda T1, T2: element_in(parse_type(T1)) is element_in(parse_type(T2))],
    int64_vocabulary=(lambda types: INTEGERS if _keys(types) == "int64" else OMITTED,),
    string_vocabulary=(lambda types: STRINGS if _keys(types) == "string" else OMITTED,),
)
def dict_vectorizer(
    X: dict[Any, np.ndarray],
    *,
    int64_vocabulary: list[int] | None,
    string_vocabulary: list[bytes] | None,
    T2: ElementType,
    reading: str,
) -> np.ndarray:
    """Each value at "The index into the vocabulary array at which the key is found", zeros elsewhere.

    Y is "A 1-D tensor", and "It's shape will be [1,C]": one contradicts the other, so both are accepted.
    """
    keys = int64_vocabulary or [text.decode() for text in string_vocabulary or ()]
    zero = "" if T2.kind == "string" else 0
    line = np.array([X[key].item() if key in X else zero for key in keys], object)
    return line[np.newaxis] if "[1,C]" in reading else line


@dict_vectorizer.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Every word of the vocabulary, in another order."""
    yield _given(draw, [3, 0, 4, 2, 1])


@dict_vectorizer.inputs()
def missing(draw: Draw) -> Iterator[Sample]:
    """Some words, then one, which is not the first, then none: zeros stand for the others."""
    for places in ([4, 1, 2], [3], []):
        yield _given(draw, places, NO_ZERO if draw.types["T2"] == "tensor(string)" else "")


def _given(draw: Draw, places: Sequence[int], unspecified: str = "") -> Sample:
    words: list[Any] = INTEGERS if _keys(draw.types) == "int64" else [text.decode() for text in STRINGS]
    some = draw.T2.ordinary((len(places),))
    return Sample(
        {"X": {words[place]: np.array(some[i], some.dtype) for i, place in enumerate(places)}}, unspecified=unspecified
    )
