"""FlexAttention: attention whose scores and probabilities a graph may modify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.rounding import round_array, to_storage
from harness.operators.draw import Draw
from harness.operators.graph import Graph
from harness.operators.nn.attention import computed_in, mean, scores, shares
from harness.operators.nn.attention_inputs import PRECISIONS, ordinary_values, v_values
from harness.operators.operator import OMITTED, Inputs, operator
from harness.spec.element_types import BY_CODE, BY_NAME, ElementType
from harness.spec.values import TensorType, Typed


def _plain(x: Any) -> np.ndarray:
    """An input: beside graphs it comes with its type, in which it is stored."""
    return np.asarray(x.value).astype(np.float64) if isinstance(x, Typed) else x


def _modified(x: np.ndarray, modifier: Graph | None, of: ElementType) -> np.ndarray:
    """A tensor of a type as a graph gives it back, or as it is where there is none."""
    return _plain(modifier(Typed(TensorType(of), to_storage(round_array(x, of), of)))[0]) if modifier else x


def _attended(
    Q: Any,
    K: Any,
    V: Any,
    *,
    scale: Any,
    score_mod: Graph | None,
    prob_mod: Graph | None,
    softmax_precision: int | None,
    T1: ElementType,
) -> np.ndarray:
    """``Probs @ V`` with ``Probs = prob_mod(Softmax(score_mod((Q @ K^T) * scale)))``, as far as there are modifiers.

    Probabilities are float by default, double for double; the function body casts V to that type for the product, and
    scales as Attention does.
    """
    q, k, v = map(_plain, (Q, K, V))
    default = T1 if T1.name == "double" else BY_NAME["float"]
    of = default if softmax_precision is None else BY_CODE[softmax_precision]
    scored = _modified(scores(q, k, scale), score_mod, of)
    everything = np.ones(scored.shape, bool)
    probabilities = _modified(shares(scored, everything, of), prob_mod, of)
    with computed_in(of):
        return mean(probabilities, +v, everything)


flex_attention = operator(
    "FlexAttention",
    since=1,
    domain="ai.onnx.preview",
    scale=(OMITTED, 0.3),
    softmax_precision=PRECISIONS,
    score_mod=(OMITTED,),
    prob_mod=(OMITTED,),
)(_attended)


def drawn(
    draw: Draw,
    *,
    heads: tuple[int, int] = (6, 3),
    batch: int = 2,
    queries: int = 4,
    keys: int = 7,
    size: int = 5,
    v_size: int = 9,
) -> dict[str, np.ndarray]:
    """Inputs of these sizes."""
    return {
        "Q": ordinary_values(draw, draw.T1, (batch, heads[0], queries, size)),
        "K": ordinary_values(draw, draw.T1, (batch, heads[1], keys, size)),
        "V": v_values(draw, draw.T1, (batch, heads[1], keys, v_size)),
    }


@flex_attention.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Two query heads to a key head, heads of values of another size."""
    yield drawn(draw)


@flex_attention.inputs()
def numbers_of_heads(draw: Draw) -> Iterator[Inputs]:
    """As many query heads as key heads, all of them at one key head, and a single one."""
    for heads in ((3, 3), (6, 1), (1, 1)):
        yield drawn(draw, heads=heads)


@flex_attention.inputs()
def lengths(draw: Draw) -> Iterator[Inputs]:
    """More queries than keys, one query, one key, heads of size 1, and no queries."""
    yield drawn(draw, queries=7, keys=4)
    yield drawn(draw, queries=1)
    yield drawn(draw, keys=1)
    yield drawn(draw, size=1, v_size=1)
    yield drawn(draw, queries=0)


@flex_attention.inputs()
def large_scores(draw: Draw) -> Iterator[Inputs]:
    """Scores of hundreds and thousands of both signs, far from each other: the greatest takes all."""
    given = drawn(draw)
    signs, steps = [32.0, -32, -32], [0.0, 8, -16, -8, 16, 24, -24]
    pairs = (("Q", np.resize(signs, (2, 6, 4, 1))), ("K", np.resize(steps, (2, 3, 7, 1))))
    yield given | {name: draw.T1(np.repeat(x, 5, axis=-1)) for name, x in pairs}


@flex_attention.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN and infinities among the values, NaN in a query: what has a share of them is spoilt, all else is not."""
    given = drawn(draw)
    v, q = given["V"].copy(), given["Q"].copy()
    v[0, 0, 3, 1], v[1, 2, 6, 2], v[0, 1, 0, 0] = np.nan, np.inf, -np.inf
    yield given | {"V": v}
    q[1, 2, 3, 4] = np.nan
    yield given | {"Q": q}
