"""FeatureVectorizer: matrices side by side, as floats."""

from collections.abc import Iterator, Sequence

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator


@operator(
    "FeatureVectorizer",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    inputdimensions=(OMITTED, [3, 2], [4], [1, 5, 2]),
)
def feature_vectorizer(*X: np.ndarray, inputdimensions: list[int] | None) -> np.ndarray:  # noqa: ARG001 - see below
    """Side by side, "concatenated along the second dimension. 1-D tensors are treated as [1,C]."

    ``inputdimensions``, "The size of each input in the input list", says nothing that the inputs do not.
    """
    return np.concatenate([np.atleast_2d(x) for x in X], axis=1)


@feature_vectorizer.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Matrices of four rows, as many and as wide as the attribute says."""
    yield _given(draw, [(4, width) for width in _widths(draw)])


@feature_vectorizer.inputs()
def vectors(draw: Draw) -> Iterator[Inputs]:
    """Vectors alone, then beside matrices of one row."""
    widths = _widths(draw)
    yield _given(draw, [(width,) for width in widths])
    if len(widths) > 1:
        yield _given(draw, [(width,) if i % 2 else (1, width) for i, width in enumerate(widths)])


@feature_vectorizer.inputs(T1="tensor(float)")
def no_rows(draw: Draw) -> Iterator[Inputs]:
    """Matrices of no rows."""
    yield _given(draw, [(0, width) for width in _widths(draw)])


@feature_vectorizer.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """Infinities, NaN, zeros of both signs and the extremes of float; powers of two up to the end of the range."""
    of = draw.T1.element
    if of.format:
        single = np.finfo(np.float32)
        tiny, large = float(single.smallest_subnormal), float(single.max)
        values = [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -tiny, large, -large]
    else:
        values = [of.minimum, 2 ** (of.bits - 2), -(2 ** (of.bits - 3)), 2**24 - 1, 0, -1]
    widths = _widths(draw)
    flat = draw.T1(np.resize(values, (4, sum(widths))))
    yield {"X": tuple(np.ascontiguousarray(part) for part in np.split(flat, np.cumsum(widths)[:-1], axis=1))}


def _widths(draw: Draw) -> list[int]:
    widths = draw.attributes["inputdimensions"]
    return [2, 1, 3] if widths == OMITTED else widths


def _given(draw: Draw, shapes: Sequence[tuple[int, ...]]) -> Inputs:
    """Values that are floats too: "the output will be all floating point values"."""
    return {"X": tuple(draw.T1(draw.T1.integers(-9, 9, shape).astype(np.float64)) for shape in shapes)}
