"""What the documents of IsInf, IsNaN and ReverseSequence say, as literal values, and what their inputs have in them."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.operators.tensor.is_special import is_inf, is_nan, nans
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, find
from harness.spec.element_types import element_type
from harness.suite.planning import plan


def of(op: str, since: int, *inputs: np.ndarray, **attributes: Any) -> np.ndarray:
    one = find(op, since)
    assert one
    version = one.schemas[one.since.index(since)]
    types = {version.inputs[0].type_str: f"tensor({element_type(inputs[0].dtype).name})", "T2": "tensor(bool)"}
    arrays = dict(zip((p.name for p in version.inputs), inputs, strict=True))
    found = answer(Call(one, version, types, arrays, attributes), exact=True)[0].value
    assert isinstance(found, np.ndarray)
    return found


VALUES = np.array([np.inf, -np.inf, np.nan, 0.0, 65504.0, -1.5])


@pytest.mark.parametrize(
    ("negative", "positive", "found"),
    [(OMITTED, OMITTED, [0, 1]), (1, 1, [0, 1]), (0, OMITTED, [0]), (OMITTED, 0, [1]), (0, 1, [0]), (0, 0, [])],
)
@pytest.mark.parametrize("since", [20, 10])
def test_infinities_are_told_by_their_signs(since: int, negative: Any, positive: Any, found: list[int]):
    got = of("IsInf", since, VALUES.astype(np.float32), detect_negative=negative, detect_positive=positive)
    assert got.dtype == np.bool_
    assert np.flatnonzero(got).tolist() == found


@pytest.mark.parametrize("since", [20, 13, 9])
def test_nan_alone_is_nan(since: int):
    assert np.flatnonzero(of("IsNaN", since, VALUES.astype(np.float16))).tolist() == [2]


@pytest.mark.parametrize(
    ("of_bits", "infinities", "nan_codes"),
    [
        (ml_dtypes.float8_e4m3fn, [], [0x7F, 0xFF]),
        (ml_dtypes.float8_e4m3fnuz, [], [0x80]),
        (ml_dtypes.float8_e5m2, [0x7C, 0xFC], [0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]),
        (ml_dtypes.float8_e5m2fnuz, [], [0x80]),
    ],
)
def test_eight_bits_have_the_codes_that_their_documents_list(of_bits: Any, infinities: list[int], nan_codes: list[int]):
    every = np.arange(256, dtype=np.uint8).view(of_bits)
    assert np.flatnonzero(of("IsInf", 20, every)).tolist() == infinities
    assert np.flatnonzero(of("IsNaN", 20, every)).tolist() == nan_codes


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("float16", [0x7C01, 0x7DFF, 0x7E00, 0x7FFF]),
        ("bfloat16", [0x7F81, 0x7FBF, 0x7FC0, 0x7FFF]),
        ("float", [0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF]),
        ("double", [0x7FF0000000000001, 0x7FF7FFFFFFFFFFFF, 0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF]),
    ],
)
def test_nans_are_of_both_kinds_and_signs(name: str, bits: list[int]):
    values = Draw("", {"T1": f"tensor({name})"}, {}).T1
    unsigned = nans(values).view(f"<u{values.element.bits // 8}").tolist()
    assert unsigned == [*bits, *(code | 1 << values.element.bits - 1 for code in bits)]
    assert of("IsNaN", 20, nans(values)).all()


@pytest.mark.parametrize("op", [is_inf, is_nan])
def test_every_value_of_eight_bits_is_met(op: Operator):
    every = {group.name: group for group in op.groups}["every_nan"]
    for name in ("float8e4m3fn", "float8e5m2fnuz"):
        (inputs,) = every.generate(Draw("", {"T1": f"tensor({name})"}, {}))
        assert isinstance(inputs, dict)
        assert set(inputs["X"].view(np.uint8).ravel().tolist()) == set(range(256))


def test_sequences_are_reversed_up_to_their_lengths():
    x = np.array([["a", "b", "c", "d"], ["e", "f", "g", "h"], ["i", "j", "k", "l"]], object)
    lengths = np.array([3, 0, 4])
    by_rows = of("ReverseSequence", 28, x, lengths, batch_axis=0, time_axis=1).tolist()
    assert by_rows == [["c", "b", "a", "d"], ["e", "f", "g", "h"], ["l", "k", "j", "i"]]
    by_columns = of("ReverseSequence", 10, x, np.array([1, 2, 3, 0])).tolist()
    assert by_columns == [["a", "f", "k", "d"], ["e", "b", "g", "h"], ["i", "j", "c", "l"]]


def test_steps_of_a_sequence_are_whole():
    x = np.arange(12).reshape(2, 3, 2)
    found = of("ReverseSequence", 28, x, np.array([2, 1, 2]), batch_axis=OMITTED, time_axis=0)
    assert found.tolist() == [[[6, 7], [2, 3], [10, 11]], [[0, 1], [8, 9], [4, 5]]]
    nothing = of("ReverseSequence", 28, np.zeros((3, 0, 2), np.int8), np.zeros(0, np.int64))
    assert nothing.shape == (3, 0, 2)


def test_batch_and_time_are_planned_on_axes_that_differ():
    one = find("ReverseSequence", 28)
    assert one
    planned = {(row.attributes["batch_axis"], row.attributes["time_axis"]) for row in plan(one, one.schemas[0]).rows}
    assert planned == {(OMITTED, OMITTED), (1, 0), (0, 1), (1, OMITTED), (OMITTED, 0)}
