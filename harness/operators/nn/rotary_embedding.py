"""RotaryEmbedding: pairs of elements of each head turned by the angle of their token's position."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, operator

BATCH, HEADS, LENGTH, SIZE, POSITIONS = 2, 3, 5, 8, 7


@operator(
    "RotaryEmbedding", since=23, interleaved=FLAG, num_heads=(OMITTED, HEADS), rotary_embedding_dim=(OMITTED, 0, 6, 8)
)
def rotary_embedding(
    X: np.ndarray,
    cos_cache: np.ndarray,
    sin_cache: np.ndarray,
    position_ids: np.ndarray | None = None,
    *,
    interleaved: int,
    num_heads: int | None,
    rotary_embedding_dim: int,
) -> np.ndarray:
    """``real = cos x1 - sin x2`` and ``imag = sin x1 + cos x2`` in the places of ``x1`` and ``x2``.

    These are the first ``rotary_embedding_dim`` elements of a head in two halves, or every other one if interleaved;
    all elements if it is 0. What follows them stays.
    """
    flat, heads = X.ndim == 3, num_heads or 1
    x = X.reshape(*X.shape[:2], heads, X.shape[2] // heads) if flat else X.transpose(0, 2, 1, 3)
    turned = rotary_embedding_dim or x.shape[3]
    first, second = slice(0, turned // 2), slice(turned // 2, turned)
    if interleaved:
        first, second = slice(0, turned, 2), slice(1, turned, 2)
    x1, x2 = x[..., first], x[..., second]
    at = slice(None) if position_ids is None else position_ids.astype(np.int64)
    cos, sin = (cache[at][:, :, np.newaxis] for cache in (cos_cache, sin_cache))
    y = x.copy()
    y[..., first] = cos * x1 - sin * x2
    y[..., second] = sin * x1 + cos * x2
    return y.reshape(X.shape) if flat else y.transpose(0, 2, 1, 3)


POSITION_IDS: Final = ((4, 0, 6, 1, 1), (6, 5, 0, 0, 3))
"""Out of order, repeated, the first and the last."""


def drawn(draw: Draw, *, batch: int = BATCH, length: int = LENGTH, by_position: bool = True) -> dict[str, np.ndarray]:
    """Inputs of the shapes that the row asks for; the caches hold cosines and sines of angles."""
    half = {6: 3}.get(draw.attributes["rotary_embedding_dim"], SIZE // 2)
    flat = draw.attributes["num_heads"] != OMITTED
    shape: Sequence[int] = (batch, length, HEADS * SIZE) if flat else (batch, HEADS, length, SIZE)
    places = (POSITIONS, half) if by_position else (batch, length, half)
    angles = draw.words(int(np.prod(places))).astype(np.float64).reshape(places) * 2.0**-61
    given = {"X": draw.T.ordinary(shape), "cos_cache": draw.T(np.cos(angles)), "sin_cache": draw.T(np.sin(angles))}
    return given | ({"position_ids": np.resize(POSITION_IDS, (batch, length))} if by_position else {})


@rotary_embedding.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Positions in two axes, by which the caches are looked up."""
    yield drawn(draw)


@rotary_embedding.inputs()
def without_positions(draw: Draw) -> Iterator[Inputs]:
    """Caches of three axes, which hold what belongs to each token of each batch."""
    yield drawn(draw, by_position=False)


@rotary_embedding.inputs()
def lengths(draw: Draw) -> Iterator[Inputs]:
    """One token at a position of its own, as in generation, and one batch."""
    yield drawn(draw, length=1)
    yield drawn(draw, batch=1)
    yield drawn(draw, length=1, by_position=False)


@rotary_embedding.inputs(T="tensor(float)")
def empty(draw: Draw) -> Iterator[Inputs]:
    """No tokens, and no batches."""
    yield drawn(draw, length=0)
    yield drawn(draw, batch=0, by_position=False)


@rotary_embedding.inputs()
def quarter_turns(draw: Draw) -> Iterator[Inputs]:
    """Cosines and sines of 0, 1 and -1: the elements are exchanged and negated, or stay, zeros of both signs too."""
    given = drawn(draw)
    turns = np.resize([0, 1, 2, 3, 1], given["cos_cache"].shape)
    for x in (given["X"], np.resize(draw.T([0, -0.0, 1, -2, 3, -0.0, 0]), given["X"].shape)):
        cos, sin = draw.T(np.choose(turns, [1, 0, -1, 0])), draw.T(np.choose(turns, [0, 1, 0, -1]))
        yield given | {"X": x, "cos_cache": cos, "sin_cache": sin}


@rotary_embedding.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, subnormals and the largest values in turn: each spoils its pair alone, or stays as it is."""
    given = drawn(draw)
    specials = np.concatenate([draw.T.specials(), draw.T([1, -2])])
    for shift in (0, 5):
        yield given | {"X": np.resize(np.roll(specials, shift), given["X"].shape)}
