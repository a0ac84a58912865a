"""What Attention is tried with: every kind of mask, heads, caches, lengths, and the values that masks let through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from harness.numbers.rounding import format_of
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import FLAG, OMITTED, Operator, Sample
from harness.spec.element_types import BY_CODE, BY_NAME, ElementType

PRECISIONS: Final = (OMITTED, *(BY_NAME[name].code for name in ("float", "float16", "double", "bfloat16")))
OLDEST: Final[dict[str, Any]] = {
    "is_causal": FLAG,
    "kv_num_heads": (OMITTED, 1, 3),
    "q_num_heads": (OMITTED, 3, 6),
    "qk_matmul_output_mode": (OMITTED, 0, 1, 2, 3),
    "scale": (OMITTED, 0.3),
    "softcap": (OMITTED, 0.0, 1.5),
    "softmax_precision": PRECISIONS,
}
"""Attributes of every version: heads are stated for inputs of three axes alone, "must be used with 3D inputs"."""
NEWEST: Final[dict[str, Any]] = OLDEST | {
    "left_window_size": (OMITTED, -1, 0, 2, 2**63 - 1),
    "right_window_size": (OMITTED, -1, 0, 1),
}

BATCH, QUERIES, KEYS, SIZE, V_SIZE = 2, 4, 7, 5, 9
GROUPED: Final = (6, 3)
"""Heads of queries, and of keys and values."""

OTHER_MASKS: Final = (
    'Attention-25: "Two types of masks are supported: a boolean mask … or a float mask of the same type as query, key, '
    'value", though U lists more types.'
)
ONE_KEY: Final = (
    'Attention-25 says of attn_mask both that its "shape must be broadcastable to" total_sequence_length, as 1 is, and '
    'that a shorter last dimension "will be padded to `total_sequence_length` with negative infinity".'
)
EMPTY_OF_THREE_AXES: Final = (
    "Attention-25 does not say that an axis may be empty, and its function body reshapes inputs of three axes to "
    "[batch, sequence, heads, -1], which Reshape cannot infer then."
)
NOT_ATTENDED: Final = (
    "Attention-25 does not say what a NaN or an infinity does where a key is not attended: added to -inf or weighted "
    "with 0, as in its picture, NaN remains NaN; a key that takes no part does nothing."
)


def heads_agree(kv_num_heads: object, q_num_heads: object) -> bool:
    """Both are given, or neither: every pair of the values above is one of a multiple and its part."""
    return (kv_num_heads == OMITTED) == (q_num_heads == OMITTED)


def supported(T1: str, U: str) -> bool:
    """A boolean mask, "or a float mask of the same type as query, key, value"."""
    return U in ("tensor(bool)", T1)


def alike(T1: str, T2: str) -> bool:
    """Values of the type of queries and keys, as nearly all have them."""
    return T1 == T2


def different(T1: str, T2: str) -> bool:
    """Values of another type than queries and keys: T1 and T2 are different variables."""
    return T1 != T2


def boolean(U: str) -> bool:
    """The plainest mask."""
    return U == "tensor(bool)"


def unsupported(T1: str, U: str) -> bool:
    """The other types that U lists, for scores in float."""
    return T1 == "tensor(float)" and not supported(T1, U)


def narrowest(draw: Draw) -> ElementType:
    """The type with the fewest bits in which some part of the formula is computed."""
    asked = draw.attributes["softmax_precision"]
    types = [getattr(draw, variable).element for variable in ("T1", "T2") if variable in draw.types]
    types += [] if asked == OMITTED else [BY_CODE[asked]]
    return min(types, key=lambda of: format_of(of).precision)


def ordinary_values(draw: Draw, of: Values, shape: Sequence[int]) -> np.ndarray:
    """Values of which scores are such that their exponentials are precise in the narrowest type too."""
    factor = {"float16": 0.5, "bfloat16": 0.25}.get(narrowest(draw).name, 1.0)
    return of(of.ordinary(shape).astype(np.float64) * factor)


def v_values(draw: Draw, of: Values, shape: Sequence[int]) -> np.ndarray:
    """Ordinary values; in bfloat16, whose sums cannot bear it if they cancel, of one sign along the keys."""
    values = of.ordinary(shape)
    if narrowest(draw).name != "bfloat16":
        return values
    return of(np.abs(values.astype(np.float64)) * np.resize([1.0, -1.0], shape[-1]))


def mask(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Booleans, or what is added to scores."""
    return ordinary_values(draw, draw.U, shape) if draw.U.element.format else draw.U.ordinary(shape)


def packed(draw: Draw, x: np.ndarray) -> np.ndarray:
    """As the row has it: ``(batch, heads, sequence, size)``, or ``(batch, sequence, heads * size)``."""
    if draw.attributes["q_num_heads"] == OMITTED:
        return x
    batch, heads, length, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * size).copy()


def heads_of(draw: Draw, otherwise: tuple[int, int] = GROUPED) -> tuple[int, int]:
    """The heads that the row states, or others."""
    stated = draw.attributes["q_num_heads"], draw.attributes["kv_num_heads"]
    return otherwise if OMITTED in stated else stated


def drawn(
    draw: Draw,
    *,
    heads: tuple[int, int] = GROUPED,
    batch: int = BATCH,
    queries: int = QUERIES,
    keys: int = KEYS,
    size: int = SIZE,
    v_size: int = V_SIZE,
    past: int | None = None,
    scores: bool = True,
    unspecified: str = "",
    **others: np.ndarray,
) -> Sample:
    """A set of inputs of these sizes, with the present keys and values if there are past ones."""
    q_heads, kv_heads = heads_of(draw, heads)
    given = {
        "Q": packed(draw, ordinary_values(draw, draw.T1, (batch, q_heads, queries, size))),
        "K": packed(draw, ordinary_values(draw, draw.T1, (batch, kv_heads, keys, size))),
        "V": packed(draw, v_values(draw, draw.T2, (batch, kv_heads, keys, v_size))),
    }
    if past is not None:
        given["past_key"] = ordinary_values(draw, draw.T1, (batch, kv_heads, past, size))
        given["past_value"] = v_values(draw, draw.T2, (batch, kv_heads, past, v_size))
    without = () if past is not None else ("present_key", "present_value")
    return Sample(given | others, without if scores else (*without, "qk_matmul_output"), unspecified)


def unrestricted(draw: Draw) -> bool:
    """Whether the attributes let every query attend every key."""
    windows = {draw.attributes.get(f"{side}_window_size", OMITTED) for side in ("left", "right")}
    return draw.attributes["is_causal"] != 1 and windows <= {OMITTED, -1}


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Two query heads to a key head, and a mask for all of them; the scores are put out where their mode is given."""
    given = draw.attributes["qk_matmul_output_mode"] != OMITTED
    yield drawn(draw, attn_mask=mask(draw, (QUERIES, KEYS)), scores=given)


def no_mask(draw: Draw) -> Iterator[Sample]:
    """No mask; the scores are put out whether or not their mode is given, or left out though it is."""
    yield drawn(draw, scores=draw.integer(0, 1) == 1)


def numbers_of_heads(draw: Draw) -> Iterator[Sample]:
    """As many query heads as key heads, all of them at one key head, and a single one, where no attribute says it."""
    for heads in ((3, 3), (6, 1), (1, 1)) if draw.attributes["q_num_heads"] == OMITTED else (GROUPED,):
        yield drawn(draw, heads=heads, attn_mask=mask(draw, (QUERIES, KEYS)))


def mask_shapes(draw: Draw) -> Iterator[Sample]:
    """Masks of one to four axes that broadcast to batches, heads and queries."""
    heads, _ = heads_of(draw)
    shapes = [
        (KEYS,),
        (heads, QUERIES, KEYS),
        (1, KEYS),
        (BATCH, 1, 1, KEYS),
        (BATCH, heads, QUERIES, KEYS),
        (heads, 1, KEYS),
        (1, heads, QUERIES, KEYS),
        (BATCH, 1, QUERIES, KEYS),
        (1, 1, 1, KEYS),
        (1, QUERIES, KEYS),
    ]
    for shape in shapes:
        yield drawn(draw, attn_mask=mask(draw, shape), scores=False)


def masked_rows(draw: Draw) -> Iterator[Sample]:
    """Queries, and all queries of a head or of a batch, that attend nothing: their rows are zero, not NaN.

    A boolean mask is false there, a float one ``-inf``; where that is so in places only, those keys have no share.
    """
    heads, _ = heads_of(draw)
    shut = False if draw.U.element.format is None else -np.inf
    everything = (True, False, True, True, False) if shut is False else (0.5, -np.inf, 0, -0.25, -np.inf, 1)
    rows = draw.U(np.resize(everything, (QUERIES, KEYS)))
    rows[1] = shut
    yield drawn(draw, attn_mask=rows)
    spread = draw.U(np.resize(everything, (BATCH, heads, QUERIES, KEYS)))
    spread[1, 0] = spread[0, heads - 1, 2] = shut
    yield drawn(draw, attn_mask=spread)


def large_penalties(draw: Draw) -> Iterator[Sample]:
    """A float mask of 0 and -10000, which leaves a key no share beside others, and all of one in float and double."""
    rows = np.resize([0.0, -10000, -10000, 0, 0.5], (QUERIES, KEYS))
    rows[2] = -10000 if format_of(narrowest(draw)).precision >= 24 else 0
    yield drawn(draw, attn_mask=draw.U(rows))


def caches(draw: Draw) -> Iterator[Sample]:
    """Past keys and values before the new ones: one more, none yet, and many before a single new one; with masks."""
    yield drawn(draw, past=1, attn_mask=mask(draw, (QUERIES, KEYS + 1)))
    if draw.U.element.name == "bool":
        yield drawn(draw, past=0)
        yield drawn(draw, queries=1, keys=1, past=6)


def lengths(draw: Draw) -> Iterator[Sample]:
    """More queries than keys, one query, one key, as many of both, heads of size 1."""
    sizes: tuple[dict[str, Any], ...] = (
        {"queries": 7, "keys": 4},
        {"queries": 1},
        {"keys": 1},
        {"queries": 4, "keys": 4},
        {"size": 1, "v_size": 1},
        {"batch": 1, "queries": 8, "keys": 3},
    )
    for one in sizes:
        shape = (one.get("queries", QUERIES), one.get("keys", KEYS))
        yield drawn(draw, **one, attn_mask=mask(draw, shape), scores=False)


def large_scores(draw: Draw) -> Iterator[Sample]:
    """Scores of hundreds and thousands of both signs, far from each other: the greatest takes all, nothing overflows.

    Not where a soft cap makes them all alike.
    """
    if draw.attributes["softcap"] != 1.5:
        one = drawn(draw)
        q_heads, kv_heads = heads_of(draw)
        signs = np.resize([32.0, -32, -32], (BATCH, q_heads, QUERIES, 1))
        steps = np.resize([0.0, 8, -16, -8, 16, 24, -24], (BATCH, kv_heads, KEYS, 1))
        pairs = (("Q", signs), ("K", steps))
        yield Sample(
            {
                **one.inputs,
                **{name: packed(draw, draw.T1(np.repeat(x, SIZE, axis=-1))) for name, x in pairs},
            },
            one.without,
        )


def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN and infinities among the values, NaN in a query: what has a share of them is spoilt, all else is not.

    Silent where a key is not attended.
    """
    unspecified = "" if unrestricted(draw) else NOT_ATTENDED
    one = drawn(draw, scores=False, unspecified=unspecified)
    v = one.inputs["V"].copy()
    v[0, 0, ..., 1], v[1, -1, ..., 2], v[0, 1, ..., 0] = np.nan, np.inf, -np.inf
    yield Sample({**one.inputs, "V": v}, one.without, unspecified)
    q = one.inputs["Q"].copy()
    q[1, 2, ..., 0] = np.nan
    yield Sample({**one.inputs, "Q": q}, one.without, unspecified)


def not_attended(draw: Draw) -> Iterator[Sample]:
    """NaN and infinities in keys and values that a mask takes out."""
    allowed = np.ones(KEYS, bool)
    allowed[2] = False
    spoilt = drawn(draw, attn_mask=draw.U(allowed))
    where = (slice(None), 2) if spoilt.inputs["K"].ndim == 3 else (slice(None), slice(None), 2)
    for name, value in (("V", np.nan), ("K", np.nan), ("V", np.inf)):
        x = spoilt.inputs[name].copy()
        x[where] = value
        yield Sample({**spoilt.inputs, name: x}, spoilt.without)


def empty(draw: Draw) -> Iterator[Sample]:
    """No queries, and no batches: nothing comes out."""
    unspecified = "" if draw.attributes["q_num_heads"] == OMITTED else EMPTY_OF_THREE_AXES
    yield drawn(draw, queries=0, scores=False, unspecified=unspecified)
    yield drawn(draw, batch=0, scores=False, unspecified=unspecified)


def one_key_masks(draw: Draw) -> Iterator[Sample]:
    """A mask whose last dimension is 1."""
    yield drawn(draw, attn_mask=mask(draw, (QUERIES, 1)), scores=False)


def short_masks(draw: Draw) -> Iterator[Sample]:
    """A mask whose last dimension is shorter than there are keys, of two axes and of four: no one attends the rest."""
    yield drawn(draw, attn_mask=mask(draw, (QUERIES, KEYS - 2)))
    yield drawn(draw, past=1, attn_mask=mask(draw, (BATCH, 1, 1, KEYS - 1)))


def padding(draw: Draw) -> Iterator[Sample]:
    """Caches with as many tokens in them as ``nonpad_kv_seqlen`` says: all, as many as queries, fewer, none."""
    for lengths in ((KEYS, 5), (QUERIES, 2), (0, 6), (1, 3)):
        yield drawn(draw, nonpad_kv_seqlen=np.array(lengths), attn_mask=mask(draw, (QUERIES, KEYS)))
    for lengths in ((3, 6), (5, 1)):
        yield drawn(draw, nonpad_kv_seqlen=np.array(lengths), attn_mask=mask(draw, (BATCH, 1, QUERIES, KEYS - 1)))
    if draw.U.element.name == "bool":
        yield drawn(draw, queries=1, nonpad_kv_seqlen=np.array([5, 7]), scores=False)


def other_values(draw: Draw) -> Iterator[Sample]:
    """Values of another type than queries and keys: the output has the type of the latter."""
    yield drawn(draw, attn_mask=mask(draw, (QUERIES, KEYS)))


def other_masks(draw: Draw) -> Iterator[Sample]:
    """Integer masks, and floats of another type than the scores."""
    yield drawn(draw, attn_mask=draw.U(np.resize([0, 1, 1], (QUERIES, KEYS))))


def add_inputs(one: Operator) -> None:
    """Gives the versions the groups that are about them; older ones, which get few rows, most of them in float."""
    newest, newer = one.since[0] == 25, one.since[0] > 23
    types: dict[str, str] = {} if newest else {"T1": "tensor(float)"}
    one.inputs()(ordinary)
    for group in (numbers_of_heads, mask_shapes, masked_rows, caches, lengths):
        one.inputs(**types)(group)
    for group in (no_mask, large_scores, special_values, empty):
        one.inputs(U="bool", **types)(group)
    one.inputs(U="float", **types)(large_penalties)
    if newer:
        one.inputs(**types)(short_masks)
        one.inputs(**types)(padding)
    if newest:
        one.inputs(U="bool", unspecified=NOT_ATTENDED)(not_attended)
    if newest or not newer:
        one.inputs(T1="tensor(float)", unspecified=ONE_KEY if newer else "")(one_key_masks)
