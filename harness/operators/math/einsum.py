"""Einsum: sums of products of tensors, by Einstein's convention."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Operator, operator

SIZES: dict[str, int] = dict(zip("abcijklABZ", (2, 5, 4, 2, 3, 4, 5, 3, 4, 5), strict=True))
"""How long the axis of each letter is; those of one equation differ."""

CORE = ("ij->ji", "ij->i", "ii", "ij,jk->ik", "...ij,...jk->...ik")
"""The equations that every type gets."""

MORE = (
    "ji",
    "ij->",
    "kji->ijk",
    "ii->",
    "ii->i",
    "iji->j",
    "...ii ->...i",
    "i...j->j...i",
    "...i->...",
    "...ji",
    "i,i",
    "i,i->i",
    "i,j",
    "ij,jk",
    "ii,i->i",
    "bij,bjk->bik",
    " b i j , b j k -> b k i ",
    "...,...",
    "i...,ij...->j...",
    "...ij,...jk",
    "aA",
    "aA,Ac->ac",
    "Za,aB",
    "->",
    ",i->i",
    "i,j,k->kji",
    "ij,jk,kl->li",
    "i,ij,j",
)
OLDER = ("ij->ji", "ij->i", "ii", "ii->i", "...ij,...jk->...ik", "bij,bjk->bik", "Za,aB", "ij,jk,kl->li")

BROADCAST = ((5, 1), (1, 7))
"""What the ellipsis of the first and of the second input stands for; both together (5, 7)."""

EMPTY = {"ij->ji": "i", "ij->i": "j", "ij,jk->ik": "j", "bij,bjk->bik": "i"}
"""The index without values."""


def _core_or_float(T: str, equation: str) -> bool:
    return equation in CORE or T == "tensor(float)"


def _einsum(*Inputs: np.ndarray, equation: str) -> Any:
    """``output[output-term] = reduce-sum(input1[term1] * input2[term2])``, over the indices not in output-term.

    Without "->", output-term is the ellipsis and then, in ASCII order, the indices that appear exactly once.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    ranks = [x.ndim - len(term) + len("...") for x, term in zip(Inputs, terms, strict=True) if "..." in term]
    ellipsis = "0123456789"[: max(ranks, default=0)]
    terms = [term.replace("...", ellipsis) for term in terms]
    indices = "".join(terms)
    once = (i for i in sorted(set(indices)) if i.isalpha() and indices.count(i) == 1)
    output = right.replace("...", ellipsis) if arrow else ellipsis + "".join(once)
    order = output + "".join(i for i in dict.fromkeys(indices) if i not in output)
    products = np.asarray(prod(_aligned(x, term, order) for x, term in zip(Inputs, terms, strict=True)))
    return products.sum(axis=tuple(range(len(output), len(order))))


def _aligned(x: np.ndarray, term: str, order: str) -> np.ndarray:
    """The axes in this order, of length 1 for an index that the term lacks; a repeated index takes the diagonal."""
    while repeated := [i for i in term if term.count(i) > 1]:
        first, second = [place for place, i in enumerate(term) if i == repeated[0]][:2]
        x = np.diagonal(x, axis1=first, axis2=second)
        term = "".join(i for place, i in enumerate(term) if place not in (first, second)) + repeated[0]
    x = x.transpose([term.index(i) for i in order if i in term])
    return x[tuple(slice(None) if i in term else np.newaxis for i in order)]


einsum: Operator = operator("Einsum", since=28, equation=(*CORE, *MORE), constraints=(_core_or_float,))(_einsum)
einsum_12: Operator = operator("Einsum", since=12, equation=OLDER)(_einsum)


@einsum.inputs()
@einsum_12.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Axes of distinct lengths; an ellipsis is two axes, which broadcast between two inputs."""
    yield {"Inputs": tuple(draw.T.ordinary(shape) for shape in _shapes(draw, BROADCAST))}


@einsum.inputs()
def ellipses(draw: Draw) -> Iterator[Inputs]:
    """An ellipsis of no axis, of one, and of three."""
    if draw.attributes["equation"] in ("...ij,...jk", "...,..."):
        for sizes in (((), ()), ((5,), (1,)), ((5, 1, 2), (1, 3, 2))):
            yield {"Inputs": tuple(draw.T.ordinary(shape) for shape in _shapes(draw, sizes))}


@einsum.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """An index without values: zeros where it is summed over, and nothing where it is not."""
    index = EMPTY.get(draw.attributes["equation"])
    if index:
        shapes = _shapes(draw, (), SIZES | {index: 0})
        yield {"Inputs": tuple(draw.T.ordinary(shape) for shape in shapes)}


@einsum.inputs(T="float")
@einsum_12.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs and small numbers among the ordinary values of the first input.

    Sums of three factors may be parted in ways that meet different infinities.
    """
    if draw.attributes["equation"].count(",") > 1:
        return
    small = [v for v in draw.T.specials() if not np.isfinite(v) or abs(v) < 1]
    for start in range(2):
        first, *others = (draw.T.ordinary(shape) for shape in _shapes(draw, BROADCAST))
        if first.size > start:
            first.reshape(-1)[start::2] = np.resize(np.roll(small, start), len(first.reshape(-1)[start::2]))
            yield {"Inputs": (first, *others)}


@einsum.inputs(T=("signed", "unsigned"))
@einsum_12.inputs(T=("signed", "unsigned"))
def wide_integers(draw: Draw) -> Iterator[Inputs]:
    """Integers whose sums and products fit into the type, but not into the fraction of a float of its width."""
    shapes = _shapes(draw, BROADCAST)
    top = 2 ** ((draw.T.element.bits - 4) // len(shapes))
    yield {
        "Inputs": tuple(
            draw.T([top - draw.integer(1, max(top // 4, 1)) for _ in range(prod(shape))]).reshape(shape)
            for shape in shapes
        )
    }


@einsum.inputs(
    T=("signed", "unsigned"),
    unspecified="Einsum-28 does not say what a sum is that T cannot hold; two's complement is what most return.",
)
def wrap_around(draw: Draw) -> Iterator[Inputs]:
    """Sums and products beyond the range of an integer type."""
    if "ij->i" in draw.attributes["equation"] or "," in draw.attributes["equation"]:
        yield {"Inputs": tuple(draw.T(np.full(shape, draw.T.largest)) for shape in _shapes(draw, BROADCAST))}


def _shapes(draw: Draw, ellipses: tuple[tuple[int, ...], ...], sizes: dict[str, int] = SIZES) -> list[tuple[int, ...]]:
    """The shapes of the inputs of the row's equation; one input alone has all axes of the broadcast ellipsis."""
    terms = draw.attributes["equation"].replace(" ", "").partition("->")[0].split(",")
    found: list[tuple[int, ...]] = []
    for term, ellipsis in zip(terms, (*ellipses, (), (), ()), strict=False):
        whole = tuple(map(max, *ellipses)) if len(terms) == 1 and ellipses else ellipsis
        before, dots, after = (tuple(sizes.get(i, 0) for i in part) for part in term.partition("..."))
        found.append(before + (whole if dots else ()) + after)
    return found
