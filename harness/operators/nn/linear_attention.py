"""LinearAttention: a state that keys write values to and queries read them from, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import greater, less
from harness.numbers.rounding import format_of
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED, Inputs, Sample, operator

BATCH, LENGTH, KEY_SIZE, VALUE_SIZE = 2, 4, 3, 5
DECAYS: Final = ("gated", "gated_delta")
UPDATES: Final = ("delta", "gated_delta")


def _heads(x: np.ndarray, heads: int) -> np.ndarray:
    """``(batch, sequence, heads * size)`` as ``(batch, sequence, heads, size)``."""
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads)


@operator(
    "LinearAttention",
    since=27,
    constraints=[lambda kv_num_heads, q_num_heads: q_num_heads % kv_num_heads == 0],
    chunk_size=(OMITTED, 1, 3),
    kv_num_heads=(3, 1),
    q_num_heads=(6, 3),
    scale=(OMITTED, 0.0, 0.3),
    update_rule=(OMITTED, "linear", "gated", "delta", "gated_delta"),
)
def linear_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    past_state: np.ndarray | None = None,
    decay: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    kv_num_heads: int,
    q_num_heads: int,
    scale: Any,
    update_rule: str,
    **_: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """``S_t = exp(g_t) * S_{t-1} + β_t * k_t ⊗ (v_t - exp(g_t) * S_{t-1}^T k_t)``; ``o_t = scale * q_t^T S_t``.

    Without the parts that the rule leaves out. Which query heads share a state, neighbours, is in the function body.
    """
    q, k, v = _heads(query, q_num_heads), _heads(key, kv_num_heads), _heads(value, kv_num_heads)
    batch, length, _, d_k = q.shape
    zero: Any = constant("0")
    state = np.full((batch, kv_num_heads, d_k, v.shape[3]), zero) if past_state is None else past_state
    if not (greater(scale, 0) or less(scale, 0)):
        size: Any = constant(str(d_k))
        scale = 1 / np.sqrt(size)
    y = np.full((batch, length, q_num_heads, v.shape[3]), zero)
    for t in range(length):
        write = v[:, t]
        if decay is not None and update_rule in DECAYS:
            # One for each head, or for each of its d_k rows.
            state = state * np.exp(_heads(decay, kv_num_heads)[:, t, :, :, np.newaxis])
        if beta is not None and update_rule in UPDATES:
            read = (state * k[:, t, :, :, np.newaxis]).sum(axis=2)
            write = beta[:, t, :, np.newaxis] * (v[:, t] - read)
        state = state + k[:, t, :, :, np.newaxis] * write[:, :, np.newaxis]
        shared = np.repeat(state, q_num_heads // kv_num_heads, axis=1)
        y[:, t] = scale * (q[:, t, :, :, np.newaxis] * shared).sum(axis=2)
    return y.reshape(batch, length, q_num_heads * v.shape[3]), state


def small(draw: Draw, of: Values, shape: tuple[int, ...]) -> np.ndarray:
    """Values whose products do not grow from token to token; of one sign where sums that cancel are not precise."""
    values = of.ordinary(shape).astype(np.float64) / 4
    narrow = min(format_of(draw.T.element).precision, format_of(draw.S.element).precision) < 11
    return of(np.abs(values) if narrow else values)


def rule_of(draw: Draw) -> str:
    """The rule of the row."""
    rule = draw.attributes["update_rule"]
    return "gated_delta" if rule == OMITTED else rule


def drawn(
    draw: Draw,
    *,
    batch: int = BATCH,
    length: int = LENGTH,
    per_row: bool = True,
    per_head: bool = True,
    past: bool = True,
) -> dict[str, np.ndarray]:
    """The inputs that the rule asks for: decays below 0, in log-space, and update rates between 0 and 1."""
    q_heads, kv_heads = draw.attributes["q_num_heads"], draw.attributes["kv_num_heads"]
    given = {
        "query": small(draw, draw.T, (batch, length, q_heads * KEY_SIZE)),
        "key": small(draw, draw.T, (batch, length, kv_heads * KEY_SIZE)),
        "value": small(draw, draw.T, (batch, length, kv_heads * VALUE_SIZE)),
    }
    if past:
        given["past_state"] = small(draw, draw.S, (batch, kv_heads, KEY_SIZE, VALUE_SIZE))
    if rule_of(draw) in DECAYS:
        shape = (batch, length, kv_heads * (KEY_SIZE if per_row else 1))
        given["decay"] = draw.T(-np.abs(draw.T.ordinary(shape).astype(np.float64)) / 4)
    if rule_of(draw) in UPDATES:
        rates = draw.T.ordinary((batch, length, kv_heads if per_head else 1))
        given["beta"] = draw.T(np.abs(rates.astype(np.float64)) / 4)
    return given


@linear_attention.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A state from before, a decay for each of its rows and an update rate for each head, where the rule has them."""
    yield drawn(draw)


@linear_attention.inputs()
def one_for_all(draw: Draw) -> Iterator[Inputs]:
    """A decay for each head, an update rate for all heads, where the rule has them."""
    yield drawn(draw, per_row=False)
    yield drawn(draw, per_head=False)


@linear_attention.inputs()
def no_past(draw: Draw) -> Iterator[Sample]:
    """No state from before, "defaults to zeros": the new one has the type of the values then, as in the body."""
    if draw.types["T"] == draw.types["S"]:
        yield Sample(drawn(draw, past=False))
        yield Sample(drawn(draw, past=False, length=1))


@linear_attention.inputs()
def one_token(draw: Draw) -> Iterator[Inputs]:
    """A single token after a state, as in generation, and more tokens than a chunk has."""
    yield drawn(draw, length=1)
    yield drawn(draw, batch=1, length=7)


@linear_attention.inputs()
def forgetting(draw: Draw) -> Iterator[Inputs]:
    """Decays of 0, which keep all, and far below it, which leave nothing; update rates of 0 and 1."""
    given = drawn(draw)
    several = {"decay": [0.0, -100, -0.5, 0, -30], "beta": [0.0, 1, 0.5]}
    yield given | {name: draw.T(np.resize(x, given[name].shape)) for name, x in several.items() if name in given}


@linear_attention.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN and infinities: in a value, which stays in the state from its token on, and in a query, which does not."""
    given = drawn(draw)
    for name, at, special in (("value", (0, 1, 2), np.nan), ("query", (1, 0, 1), np.nan), ("value", (1, 2, 0), np.inf)):
        x = given[name].copy()
        x[at] = special
        yield given | {name: x}
