"""Attention: scaled dot products of queries and keys, masked, as the weights of a mean of values."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import greater, where
from harness.numbers.passes import computed_in
from harness.operators.math.matmul import product
from harness.operators.math.softmax import softmax
from harness.operators.nn.attention_inputs import (
    NEWEST,
    OLDEST,
    OTHER_MASKS,
    add_inputs,
    alike,
    boolean,
    different,
    heads_agree,
    other_masks,
    other_values,
    supported,
    unsupported,
)
from harness.oracles.operator import OMITTED, operator
from harness.spec.element_types import BY_CODE, BY_NAME, ElementType


def split_heads(x: np.ndarray, heads: int | None) -> np.ndarray:
    """``(batch, sequence, heads * size)`` as ``(batch, heads, sequence, size)``; what has four axes stays."""
    if heads is None or x.ndim == 4:
        return x
    batch, length, hidden = x.shape
    return x.reshape(batch, length, heads, hidden // heads).transpose(0, 2, 1, 3)


def per_query_head(x: np.ndarray, heads: int) -> np.ndarray:
    """Keys or values for each query head: head ``h`` has those of head ``h // (heads / kv_heads)``."""
    return np.repeat(x, heads // x.shape[1], axis=1)


def scores(q: np.ndarray, k: np.ndarray, scale: Any) -> np.ndarray:
    """``Q K^T`` times ``scale``, ``1/sqrt(head_size)`` by default: "scale `Q`, `K` by `sqrt(scale)` before matmul".

    The function body takes the root in float, as ``scale`` is one, for double too: so the bound allows it.
    """
    size: Any = constant(str(q.shape[-1]))
    with computed_in(BY_NAME["float"]):
        root = np.sqrt(1 / np.sqrt(size) if scale is None else scale)
    return product(q * root, np.swapaxes(per_query_head(k, q.shape[1]) * root, 2, 3))


def shares(x: np.ndarray, allowed: np.ndarray, of: ElementType | None) -> np.ndarray:
    """Softmax, in a type of its own, of the keys that are allowed; all others, and rows without any, are zero.

    A key whose bias is ``-inf`` has the weight ``exp(-inf) = 0``: it is no term of the sum.
    """
    y = np.full_like(x, constant("0"))
    with computed_in(of) as lost:
        for at in np.ndindex(x.shape[:-1]):
            if allowed[at].any():
                found = softmax(+x[at][allowed[at]], 0)
                y[at][allowed[at]] = found + flint.arb(0, lost) if lost else found
    return y


def mean(probabilities: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The product with the values of those keys that are allowed, zero where none is."""
    values = per_query_head(v, probabilities.shape[1])
    y = np.full((*probabilities.shape[:-1], v.shape[-1]), constant("0"))
    for at in np.ndindex(probabilities.shape[:-1]):
        keys = allowed[at]
        if keys.any():
            y[at] = (probabilities[at][keys, np.newaxis] * values[at[:2]][keys]).sum(axis=0)
    return y


def reach(
    queries: int, keys: int, offset: np.ndarray, valid: np.ndarray, *, is_causal: int, left: int, right: int
) -> np.ndarray:
    """Which keys a query may attend by its place: bool [batch, 1, q_sequence_length, total_sequence_length].

    A query is at ``p = offset + i``. If ``is_causal``, ``j <= p``; in windows, ``p - left <= j <= p + right`` "for each
    nonnegative bound". What is not ``valid``, padding, is not attended.
    """
    j = np.arange(keys)
    behind = offset[:, np.newaxis, np.newaxis] + np.arange(queries)[:, np.newaxis] - j
    bounds = [j < valid[:, np.newaxis, np.newaxis]]
    bounds += [behind >= 0] if is_causal else []
    bounds += [behind <= left] if left >= 0 else []
    bounds += [-behind <= right] if right >= 0 else []
    return np.logical_and.reduce(np.broadcast_arrays(*bounds, behind)[:-1], axis=0)[:, np.newaxis]


def biases(mask: np.ndarray, keys: int, of: ElementType, *, padded: bool) -> tuple[np.ndarray, Any]:
    """Which keys a mask allows, and what it adds to the scores of these.

    If ``padded``, a last dimension that is shorter than there are keys goes on with ``-inf``.
    """
    plain = mask if of.format or of.kind == "bool" else mask.astype(np.float64)
    if padded and plain.shape[-1] < keys:
        rest = np.full((*plain.shape[:-1], keys - plain.shape[-1]), False if of.kind == "bool" else -np.inf)
        plain = np.concatenate([plain, rest], axis=-1)
    if of.kind == "bool":
        return plain, 0
    allowed = greater(plain, -np.inf)
    return allowed, where(allowed, plain, 0.0)


def attend(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    attn_mask: np.ndarray | None,
    past_key: np.ndarray | None,
    past_value: np.ndarray | None,
    nonpad: np.ndarray | None,
    *,
    q_num_heads: int | None,
    kv_num_heads: int | None,
    scale: Any,
    softcap: Any,
    softmax_precision: int | None,
    qk_matmul_output_mode: int,
    is_causal: int,
    U: ElementType,
    padded: bool = True,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[np.ndarray, ...]:
    """``Y``, the keys and the values with the past ones before them, and the scores that are asked for.

    What the text leaves to the function body: neighbouring query heads share a key head; scores of mode 0 are scaled;
    those of mode 2 are ``-inf`` wherever a key is not attended, be it for padding; a row of a float mask that is
    ``-inf`` throughout is fully masked; softcap is ``softcap * tanh(x / softcap)`` before version 25 too.
    """
    flat = q.ndim == 3
    q, k, v = split_heads(q, q_num_heads), split_heads(k, kv_num_heads), split_heads(v, kv_num_heads)
    past = 0
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = np.concatenate([past_key, k], axis=2), np.concatenate([past_value, v], axis=2)
    batch, _, queries, _ = q.shape
    keys = k.shape[2]

    valid = np.full(batch, keys) if nonpad is None else nonpad.astype(np.int64)
    offset = np.full(batch, past) if nonpad is None else valid - queries
    allowed = reach(queries, keys, offset, valid, is_causal=is_causal, left=left_window_size, right=right_window_size)
    raw = scores(q, k, scale)
    biased = capped = softcap * np.tanh(raw / softcap) if greater(softcap, 0) else raw
    if attn_mask is not None:
        unmasked, bias = biases(attn_mask, keys, U, padded=padded)
        allowed, biased = allowed & unmasked, capped + bias
    allowed = np.broadcast_to(allowed, raw.shape)
    probabilities = shares(biased, allowed, None if softmax_precision is None else BY_CODE[softmax_precision])
    y = mean(probabilities, v, allowed)
    if flat:
        y = y.transpose(0, 2, 1, 3).reshape(batch, queries, y.shape[1] * y.shape[3])
    if qk_matmul_output_mode == 2:
        # The logarithm of nothing is -inf in IEEE arithmetic, and known to be beyond that of balls.
        nothing: Any = constant("0")
        asked = where(allowed, biased, np.log(nothing))
    else:
        asked = {0: raw, 1: capped, 3: probabilities}[qk_matmul_output_mode]
    return y, k, v, asked


def _newer(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    nonpad_kv_seqlen: np.ndarray | None = None,
    *,
    U: ElementType,
    **given: Any,
) -> tuple[np.ndarray, ...]:
    """Keys may come from a cache outside, and windows, since version 25, bound what a query attends."""
    return attend(Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen, U=U, **given)


_ORDINARY = (heads_agree, alike, supported)
attention = operator("Attention", since=25, constraints=_ORDINARY, **NEWEST)(_newer)
attention_24 = operator("Attention", since=24, constraints=_ORDINARY, **OLDEST)(_newer)


@operator("Attention", since=23, constraints=_ORDINARY, **OLDEST)
def attention_23(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    *,
    U: ElementType,
    **given: Any,
) -> tuple[np.ndarray, ...]:
    """A cache is inside, and masks are as long as there are keys, or broadcast."""
    return attend(Q, K, V, attn_mask, past_key, past_value, None, U=U, padded=False, **given)


for _one in (attention, attention_24, attention_23):
    add_inputs(_one)

_NOTHING: dict[str, Any] = dict.fromkeys(NEWEST, (OMITTED,))
operator("Attention", since=25, constraints=[different, boolean], **_NOTHING)(_newer).inputs()(other_values)
operator("Attention", since=25, constraints=[alike, unsupported], **_NOTHING)(_newer).inputs(unspecified=OTHER_MASKS)(
    other_masks
)
