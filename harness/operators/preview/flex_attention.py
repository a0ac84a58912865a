"""FlexAttention: attention whose scores and probabilities a graph may modify."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx

from harness.numbers.branches import less_equal
from harness.numbers.passes import computed_in
from harness.numbers.rounding import round_array, to_storage
from harness.operators.controlflow.graphs import graph
from harness.operators.nn.attention import mean, scores, shares
from harness.operators.nn.attention_inputs import PRECISIONS, ordinary_values, v_values
from harness.oracles.draw import Draw
from harness.oracles.graph import Graph
from harness.oracles.operator import OMITTED, Inputs, Operator, Types, operator
from harness.spec.codec import to_proto
from harness.spec.element_types import BY_CODE, BY_NAME, ElementType
from harness.spec.values import TensorType, Typed, element_in, parse_type, type_code


def _plain(x: Any) -> np.ndarray:
    """An input: beside graphs it comes with its type, in which it is stored."""
    if not isinstance(x, Typed):
        return x
    value = np.asarray(x.value)
    return value if value.dtype == object else value.astype(np.float64)


def _modified(x: np.ndarray, modifier: Graph | None, of: ElementType) -> np.ndarray:
    """A tensor of a type as a graph, which computes in that type, gives it back; as it is where there is none."""
    if modifier is None:
        return x
    with computed_in(of):
        stored = +x if x.dtype == object else to_storage(round_array(x, of), of)
        return _plain(modifier(Typed(TensorType(of), stored))[0])


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
    # The exponential of -inf is 0, which balls do not know: it is no term of the sums.
    there = ~less_equal(scored, -np.inf)
    probabilities = _modified(shares(scored, there, of), prob_mod, of)
    with computed_in(of):
        return mean(probabilities, +v, there)


def _constant(name: str, value: float, of: str) -> onnx.NodeProto:
    element = element_in(parse_type(of))
    tensor = to_proto(to_storage(np.array(value, np.float64), element), TensorType(element))
    return onnx.helper.make_node("Constant", [], [name], value=tensor)


_PLACES = (
    "shape = Shape (scores)",
    "zero = Constant <value_int = 0> ()",
    "one = Constant <value_int = 1> ()",
    "two = Constant <value_int = 2> ()",
    "three = Constant <value_int = 3> ()",
    "queries = Gather (shape, two)",
    "keys = Gather (shape, three)",
    "i = Range (zero, queries, one)",
    "j = Range (zero, keys, one)",
    "column = Constant <value_ints = [-1, 1]> ()",
    "row = Reshape (i, column)",
)


def causal(of: str) -> onnx.GraphProto:
    """Keys after the query are masked: "by writing masked positions as -inf"."""
    where = ("allowed = GreaterOrEqual (row, j)", "y = Where (allowed, scores, hidden)")
    return graph("causal", {"scores": of}, {"y": of}, *_PLACES, _constant("hidden", -np.inf, of), *where)


def relative(of: str) -> onnx.GraphProto:
    """The distance of the key from the query is added."""
    steps = ("distance = Sub (row, j)", f"bias = Cast <to = {type_code(of)}> (distance)", "y = Add (scores, bias)")
    return graph("relative", {"scores": of}, {"y": of}, *_PLACES, *steps)


def capped(of: str) -> onnx.GraphProto:
    """``1.5 tanh(x / 1.5)``."""
    steps = ("part = Div (scores, cap)", "flat = Tanh (part)", "y = Mul (cap, flat)")
    return graph("capped", {"scores": of}, {"y": of}, _constant("cap", 1.5, of), *steps)


def halved(of: str) -> onnx.GraphProto:
    """Half of each probability."""
    return graph("halved", {"probs": of}, {"y": of}, _constant("half", 0.5, of), "y = Mul (probs, half)")


def squared(of: str) -> onnx.GraphProto:
    """Each probability times itself."""
    return graph("squared", {"probs": of}, {"y": of}, "y = Mul (probs, probs)")


def by_default(build: Callable[[str], onnx.GraphProto]) -> Callable[[Types], onnx.GraphProto]:
    """The graph in the type that softmax has where none is asked for."""
    return lambda types: build("tensor(double)" if types["T1"] == "tensor(double)" else "tensor(float)")


def in_float16(build: Callable[[str], onnx.GraphProto]) -> Callable[[Types], onnx.GraphProto]:
    """The graph in float16."""
    return lambda _: build("tensor(float16)")


_declare = functools.partial(operator, "FlexAttention", since=1, domain="ai.onnx.preview")
_NONE = (OMITTED,)
flex_attention = _declare(scale=(OMITTED, 0.3), softmax_precision=PRECISIONS, score_mod=_NONE, prob_mod=_NONE)(
    _attended
)


def _modifies(score_mod: object, prob_mod: object) -> bool:
    return (score_mod, prob_mod) != (OMITTED, OMITTED)


def _with_graphs(precision: object, typed: Callable[..., Callable[[Types], onnx.GraphProto]]) -> Operator:
    """Rows with modifiers, whose type follows from the precision, so that each precision has its own graphs."""
    return _declare(
        constraints=[_modifies],
        scale=_NONE,
        softmax_precision=(precision,),
        score_mod=(OMITTED, *map(typed, (causal, relative, capped))),
        prob_mod=(OMITTED, *map(typed, (halved, squared))),
    )(_attended)


modified, modified_in_float16 = _with_graphs(OMITTED, by_default), _with_graphs(BY_NAME["float16"].code, in_float16)


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


@modified.inputs()
@modified_in_float16.inputs()
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
