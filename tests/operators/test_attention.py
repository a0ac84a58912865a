"""What the documents of Attention, its kin and RotaryEmbedding say, in numbers, and mistakes that their data show."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.operators.nn import attention as module
from harness.oracles.draw import Draw
from harness.oracles.evaluate import Expected, answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Inputs, Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema

F = np.float32


def call(op: str, since: int, inputs: Inputs, domain: str = "", **attributes: Any) -> Call:
    version, one = schema(op, since, domain), find(op, since, domain)
    assert one
    types = dict.fromkeys(version.variables, "tensor(float)")
    types |= {
        p.type_str: f"tensor({element_type(inputs[p.name].dtype).name})" for p in version.inputs if p.name in inputs
    }
    return Call(one, version, types, inputs, dict.fromkeys((a.name for a in version.attributes), OMITTED) | attributes)


def attention(since: int, inputs: Inputs, **attributes: Any) -> list[Expected]:
    return list(expected(call("Attention", since, inputs, **attributes)))


def attended(since: int, queries: int, keys: int, **given: Any) -> list[list[str]]:
    """Per batch and query the keys that have a share, drawn as in the documents' pictures."""
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    attributes = {name: value for name, value in given.items() if name not in arrays}
    batch = len(given.get("nonpad_kv_seqlen", [0]))
    zeros = {name: np.zeros((batch, 1, n, 3), F) for name, n in (("Q", queries), ("K", keys), ("V", keys))}
    y, *_, shares = attention(since, zeros | arrays, qk_matmul_output_mode=3, **attributes)
    assert isinstance(shares.value, np.ndarray)
    assert isinstance(y.value, np.ndarray)
    rows = shares.value[:, 0]
    assert set(rows.sum(axis=-1).round(5).ravel()) <= {0.0, 1.0}
    return [["".join(" #"[int(share > 0)] for share in row) for row in one] for one in rows]


def test_the_picture_of_causal_masks_with_a_cache_outside():
    found = attended(24, 4, 8, is_causal=1, nonpad_kv_seqlen=np.array([4, 8]))
    assert found[0] == ["#       ", "##      ", "###     ", "####    "]
    assert found[1] == ["#####   ", "######  ", "####### ", "########"]


def test_more_queries_than_cached_keys_leave_the_first_ones_nothing():
    (found,) = attended(25, 4, 5, is_causal=1, nonpad_kv_seqlen=np.array([2]))
    assert found == ["     ", "     ", "#    ", "##   "]
    (found,) = attended(25, 4, 5, nonpad_kv_seqlen=np.array([2]))
    assert found == ["##   "] * 4


@pytest.mark.parametrize("since", [23, 24, 25])
def test_with_a_past_the_causal_mask_is_at_the_lower_right(since: int):
    past: Any = {name: np.zeros((1, 1, 3, 3), F) for name in ("past_key", "past_value")}
    assert attended(since, 2, 2, is_causal=1, **past) == [["#### ", "#####"]]
    assert attended(since, 2, 4, is_causal=1) == [["#   ", "##  "]]


def test_the_picture_of_windows():
    (found,) = attended(25, 4, 6, left_window_size=2, right_window_size=1)
    assert found == ["##    ", "###   ", "####  ", " #### "]
    (found,) = attended(25, 4, 6, left_window_size=2, right_window_size=1, is_causal=1)
    assert found == ["#     ", "##    ", "###   ", " ###  "]
    (found,) = attended(25, 2, 4, left_window_size=1, nonpad_kv_seqlen=np.array([3]))
    assert found == ["### ", " ## "]
    (found,) = attended(25, 2, 4, left_window_size=2**63 - 1, right_window_size=-1)
    assert found == ["####", "####"]


def test_a_short_mask_goes_on_with_minus_infinity_since_24_and_one_key_is_broadcast_before():
    mask = np.array([[True, False], [True, True]])
    assert attended(24, 2, 4, attn_mask=mask) == [["#   ", "##  "]]
    assert attended(25, 2, 4, attn_mask=np.array([[0, -np.inf], [1, 1]], F)) == [["#   ", "##  "]]
    assert attended(23, 2, 4, attn_mask=np.array([[True], [False]])) == [["####", "    "]]


@pytest.mark.parametrize("since", [23, 24, 25])
def test_what_attends_nothing_is_zero(since: int):
    given: dict[str, Any] = {name: np.ones((1, 1, n, 2), F) for name, n in (("Q", 2), ("K", 3), ("V", 3))}
    for mask in (np.array([[False] * 3, [True] * 3]), np.array([[-np.inf] * 3, [0] * 3], F)):
        for mode, row in ((2, -np.inf), (3, 0)):
            y, _, _, scores = attention(since, given | {"attn_mask": mask}, qk_matmul_output_mode=mode)
            assert np.asarray(y.value).tolist() == [[[[0, 0], [1, 1]]]]
            assert np.asarray(scores.value)[0, 0, 0].tolist() == [row] * 3
            assert scores.bound is not None
            assert np.isfinite(scores.bound).all()


def test_a_large_penalty_for_every_key_is_none():
    given: dict[str, Any] = {name: np.ones((1, 1, n, 2), F) for name, n in (("Q", 1), ("K", 3), ("V", 3))}
    y, *_ = attention(25, given | {"attn_mask": np.full((1, 3), -10000, F)})
    assert np.asarray(y.value).tolist() == [[[[1, 1]]]]


def test_the_scores_are_scaled_then_capped_then_biased():
    given: dict[str, Any] = {name: np.full((1, 1, n, 4), 2, F) for name, n in (("Q", 1), ("K", 2), ("V", 2))}
    given["attn_mask"] = np.array([[0.5, 0.5]], F)
    raw = 4 * 2 * 2 / 2  # the square root of a head's size is 2
    for mode, value in ((0, raw), (1, 4 * np.tanh(raw / 4)), (2, 4 * np.tanh(raw / 4) + 0.5), (3, 0.5)):
        *_, scores = attention(25, given, softcap=4.0, qk_matmul_output_mode=mode)
        assert np.asarray(scores.value).ravel().tolist() == [pytest.approx(value)] * 2
    *_, scores = attention(25, given, scale=0.25)
    assert np.asarray(scores.value)[0, 0, 0, 0] == pytest.approx(4)


def test_neighbouring_query_heads_share_a_key_head_in_both_layouts():
    values = np.arange(2, dtype=F).reshape(1, 2, 1, 1)
    four = {"Q": np.zeros((1, 6, 2, 1), F), "K": np.zeros((1, 2, 1, 1), F), "V": values}
    y, *_ = attention(23, four)
    assert np.asarray(y.value)[0, :, 0, 0].tolist() == [0, 0, 0, 1, 1, 1]
    three = {"Q": np.zeros((1, 2, 6), F), "K": np.zeros((1, 1, 2), F), "V": values.reshape(1, 1, 2)}
    y, key, *_ = attention(23, three, q_num_heads=6, kv_num_heads=2)
    assert np.asarray(y.value).tolist() == [[[0, 0, 0, 1, 1, 1]] * 2]
    assert np.asarray(key.value).shape == (1, 2, 1, 1)


def test_present_keys_and_values_begin_with_the_past():
    given: dict[str, Any] = {name: np.full((1, 1, 2, 3), 5, F) for name in ("Q", "K", "V")}
    _, key, value, _ = attention(25, given | {"past_key": 0 * given["K"][:, :, :1], "past_value": given["V"][:, :, :1]})
    assert np.asarray(key.value)[0, 0, :, 0].tolist() == [0, 5, 5]
    assert np.asarray(value.value).shape == (1, 1, 3, 3)


def test_a_narrow_softmax_is_allowed_its_roundings():
    x = np.linspace(-1, 1, 24, dtype=F)
    given: dict[str, Any] = {
        "Q": x.reshape(1, 2, 3, 4),
        "K": x[:16].reshape(1, 2, 2, 4),
        "V": x[:12].reshape(1, 2, 2, 3),
    }
    bounds = [attention(25, given, softmax_precision=code)[0] for code in (OMITTED, 11, 10, 16)]
    sizes = [float(np.max(one.bound)) for one in bounds if one.bound is not None]
    assert sizes[0] == sizes[1] < 1e-5
    assert 100 * sizes[0] < sizes[2] < 1e-2
    assert 4 * sizes[2] < sizes[3] < 4e-2
    assert len({np.asarray(one.value).tobytes() for one in bounds}) == 1


LINEAR: dict[str, list[float]] = {
    "linear": [0.5 * 3 * (8 + 2 * 5)],
    "gated": [0.5 * 3 * (4 + 2 * 5)],
    "delta": [0.5 * 3 * (8 + 0.25 * 2 * (5 - 8 * 2))],
    "gated_delta": [0.5 * 3 * (4 + 0.25 * 2 * (5 - 4 * 2))],
}


@pytest.mark.parametrize("rule", LINEAR)
def test_each_rule_updates_the_state_before_it_is_read(rule: str):
    """A state of 8, which decays to 4, a key of 2, a value of 5, an update rate of 1/4, a query of 3."""
    numbers = {"query": 3, "key": 2, "value": 5, "decay": -np.log(2), "beta": 0.25}
    wanted = {"gated": ("decay",), "delta": ("beta",), "gated_delta": ("decay", "beta")}.get(rule, ())
    given: dict[str, Any] = {
        name: np.full((1, 1, 1), x, F) for name, x in numbers.items() if name not in ("decay", "beta")
    }
    given |= {name: np.full((1, 1, 1), numbers[name], F) for name in wanted}
    given["past_state"] = np.full((1, 1, 1, 1), 8, F)
    rules = {rule, OMITTED} if rule == "gated_delta" else {rule}
    for one in rules:
        heads: Any = {"q_num_heads": 1, "kv_num_heads": 1}
        y, state = expected(call("LinearAttention", 27, given, scale=0.5, update_rule=one, **heads))
        assert np.asarray(y.value).ravel().tolist() == pytest.approx(LINEAR[rule], rel=1e-6)
        assert np.asarray(state.value).item() == pytest.approx(LINEAR[rule][0] / 1.5, rel=1e-6)


def test_decays_are_those_of_rows_or_of_heads():
    """Two heads of two rows and one column, each row of which holds 1, of which half is kept where it decays."""
    given: dict[str, Any] = {name: np.zeros((1, 1, n), F) for name, n in (("query", 4), ("key", 4), ("value", 2))}
    given["past_state"] = np.ones((1, 2, 2, 1), F)

    def kept(decay: list[float]) -> list[float]:
        inputs = given | {"decay": np.log(np.array([[decay]], F))}
        one = call("LinearAttention", 27, inputs, q_num_heads=2, kv_num_heads=2, update_rule="gated")
        return np.asarray(expected(one)[1].value).ravel().tolist()

    assert kept([0.5, 1]) == pytest.approx([0.5, 0.5, 1, 1])
    assert kept([1, 1, 0.5, 1]) == pytest.approx([1, 1, 0.5, 1])


def test_a_quarter_turn_in_halves_and_interleaved():
    x = np.array([[[[1, 2, 3, 4, 5, 6]]]], F)
    for interleaved, turned, y in (
        (0, 4, [-3, -4, 1, 2, 5, 6]),
        (1, 4, [-2, 1, -4, 3, 5, 6]),
        (OMITTED, OMITTED, [-4, -5, -6, 1, 2, 3]),
    ):
        half = 3 if turned == OMITTED else 2
        given: dict[str, Any] = {
            "X": x,
            "cos_cache": np.array([[1] * half, [0] * half], F),
            "position_ids": np.array([[1]]),
        }
        given["sin_cache"] = 1 - given["cos_cache"]
        one = call("RotaryEmbedding", 23, given, interleaved=interleaved, rotary_embedding_dim=turned)
        assert np.asarray(expected(one)[0].value).ravel().tolist() == y


def test_flex_attention_of_equal_scores_is_the_mean_over_balls_and_over_doubles():
    given: dict[str, Any] = {"Q": np.zeros((1, 2, 3, 5), F), "K": np.ones((1, 1, 4, 5), F)}
    given["V"] = np.arange(8, dtype=F).reshape(1, 1, 4, 2)
    one = call("FlexAttention", 1, given, "ai.onnx.preview")
    for (output,) in (expected(one), answer(one)):
        assert np.asarray(output.value).tolist() == [[[[3, 4]] * 3] * 2]


def _tiled(x: np.ndarray, heads: int) -> np.ndarray:
    return np.concatenate([x] * (heads // x.shape[1]), axis=1)


def _from_the_upper_left(*arguments: Any, **bounds: Any) -> np.ndarray:
    queries, keys, offset, valid = arguments
    return REACH(queries, keys, 0 * offset, valid, **bounds)


REACH = module.reach


@pytest.mark.parametrize(
    ("name", "mistake", "group"), [("per_query_head", _tiled, "ordinary"), ("reach", _from_the_upper_left, "padding")]
)
def test_planned_data_show_a_mistake(
    monkeypatch: pytest.MonkeyPatch, name: str, mistake: Callable[..., Any], group: str
):
    attributes = {a.name: OMITTED for a in schema("Attention", 25).attributes} | {"is_causal": 1}
    types = {"T1": "tensor(float)", "T2": "tensor(float)", "U": "tensor(bool)"}
    found = next(one for one in module.attention.groups if one.name == group)
    drawn = next(iter(found.generate(Draw("seed", types, attributes))))
    assert isinstance(drawn, Sample)
    one = call("Attention", 25, drawn.inputs, is_causal=1)
    right = expected(one)[0]
    monkeypatch.setattr(module, name, mistake)
    wrong = np.asarray(answer(one)[0].value)
    assert right.bound is not None
    assert (np.abs(wrong - np.asarray(right.value)) > 4 * right.bound).any()
