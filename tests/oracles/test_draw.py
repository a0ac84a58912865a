import math

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.spec.element_types import ELEMENT_TYPES, ElementType

TENSORS = [t for t in ELEMENT_TYPES if t.kind != "complex"]


def drawn(of: ElementType, seed: str = "seed") -> Draw:
    return Draw(seed, {"T": f"tensor({of.name})"}, {})


@pytest.mark.parametrize("of", ELEMENT_TYPES, ids=str)
def test_the_same_seed_draws_the_same_and_another_another(of: ElementType):
    first, again, other = (drawn(of, seed).T.ordinary((4, 5)) for seed in ("a", "a", "b"))
    assert first.dtype == of.dtype
    assert first.shape == (4, 5)
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_the_stream_is_shake_256_of_the_seed():
    assert [hex(w) for w in drawn(ELEMENT_TYPES[0]).words(2)] == [hex(w) for w in Draw("seed", {}, {}).words(2)]
    import hashlib

    expected = hashlib.shake_256(b"seed/1").digest(16)
    assert drawn(ELEMENT_TYPES[0]).words(2).tobytes() == expected


def test_later_draws_do_not_repeat_earlier_ones():
    draw = drawn(ELEMENT_TYPES[0])
    assert draw.T.ordinary((8,)).tolist() != draw.T.ordinary((8,)).tolist()


@pytest.mark.parametrize("of", [t for t in TENSORS if t.kind == "float" and t.name != "float8e8m0"], ids=str)
def test_ordinary_floats_are_of_both_signs_where_there_are_two_and_of_like_size(of: ElementType):
    values = drawn(of).T.ordinary((200,)).astype(np.float64)
    assert (values > 0).any()
    assert (values < 0).any()
    assert np.abs(values).max() <= 4
    near = drawn(of).T.near(1, (200,)).astype(np.float64)
    assert ((near >= 0.75) & (near <= 1.25)).all()


@pytest.mark.parametrize("of", TENSORS, ids=str)
def test_special_values_are_all_there_and_all_of_the_type(of: ElementType):
    if of.kind in ("string", "bool"):
        return
    values = drawn(of).T.specials()
    assert values.dtype == of.dtype
    as_numbers = values.astype(np.float64)
    if of.format is None:
        assert {of.minimum, of.maximum} <= {int(v) for v in values.tolist()}
        return
    assert np.isnan(as_numbers).any() == of.format.nan
    assert np.isinf(as_numbers).any() == of.format.infinity
    assert of.format.maximum in as_numbers
    if of.format.negative_zero and of.format.zero:
        assert any(v == 0 and math.copysign(1, v) < 0 for v in as_numbers)


def test_an_unknown_variable_says_which_there_are():
    with pytest.raises(AttributeError, match="T2 is none of the type variables"):
        _ = drawn(ELEMENT_TYPES[0]).T2


@pytest.mark.parametrize("low", [-3, 0, 5])
def test_integers_stay_in_their_range(low: int):
    draw = drawn(ELEMENT_TYPES[0])
    found = {draw.integer(low, low + 2) for _ in range(60)}
    assert found == {low, low + 1, low + 2}
