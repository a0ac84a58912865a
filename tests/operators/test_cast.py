"""The sentences and tables of Cast, CastLike and BitCast as literal values, and mistakes that their inputs show."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from harness.operators.tensor.cast_inputs import doubt, sorted_out
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, find
from harness.spec.codec import decode
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES
from harness.spec.values import parse_type
from harness.suite.build import build_rows
from harness.suite.planning import Plan, plan

NAN, INF = math.nan, math.inf
FLT_MAX = {"float8e4m3fn": 448.0, "float8e4m3fnuz": 240.0, "float8e5m2": 57344.0, "float8e5m2fnuz": 57344.0}


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


@cache
def planned(op: str, since: int, strength: Any = "pairs") -> Plan:
    one = operator(op, since)
    return plan(one, one.schemas[one.since.index(since)], strength)


def array(values: Any, of: str) -> np.ndarray:
    if of == "string":
        return np.array(values, object)
    plain = np.array(values, object if BY_NAME[of].format is None else np.float64)
    return plain.astype(BY_NAME[of].dtype)


def cast(values: Any, of: str, to: str, op: str = "Cast", since: int = 28, **attributes: Any) -> list[Any]:
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    types = {"T1": f"tensor({of})", "T2": f"tensor({to})"}
    inputs = {"input": array(values, of)}
    if op == "CastLike":
        inputs["target_type"] = np.zeros(0, BY_NAME[to].dtype)
    given = {a.name: OMITTED for a in version.attributes} | {"to": BY_NAME[to].code} | attributes
    found = np.asarray(expected(Call(one, version, types, inputs, given))[0].value)
    assert (found.dtype, found.shape) == (BY_NAME[to].dtype, inputs["input"].shape)
    return found.astype(np.float64).tolist() if BY_NAME[to].format else found.tolist()


def same(found: list[Any], wanted: list[Any]) -> bool:
    return np.array_equal(np.array(found, float), np.array(wanted, float), equal_nan=True)


def test_integers_discard_higher_bits():
    assert cast([200, 127, -129, 256], "int16", "int8") == [-56, 127, 127, 0]
    assert cast([-1, -(2**63), 2**63 - 1], "int64", "uint64") == [2**64 - 1, 2**63, 2**63 - 1]
    assert cast([2**64 - 1, 2**32, 7], "uint64", "int2") == [-1, 0, -1]
    assert cast([8, -9, 15], "int8", "int4") == [-8, 7, -1]


def test_only_zeros_are_false():
    assert cast([0.0, -0.0, NAN, 0.25, -INF, 2.0**-149], "float", "bool") == [False, False, True, True, True, True]
    assert cast([0, 256, 2**32, -1], "int64", "bool") == [False, True, True, True]
    assert cast([2.0**-127, NAN], "float8e8m0", "bool") == [True, True]
    assert cast([True, False], "bool", "double") == [1.0, 0.0]
    assert cast([True, False], "bool", "uint2") == [1, 0]


def test_everything_is_rounded_once():
    assert cast([1 + 2**-11 + 2**-40, 1 + 2**-11], "double", "float16") == [1 + 2**-10, 1]
    assert cast([2**24 + 2**16 + 1, 2**24 + 2**16], "int64", "bfloat16") == [2**24 + 2**17, 2**24]
    assert cast([2**62 + 2**38 + 1, 2**53 + 1], "int64", "float") == [2**62 + 2**39, 2**53]
    assert cast([2**53 + 1, 2**63 - 1, -(2**53) - 3], "int64", "double") == [2**53, 2**63, -(2**53) - 4]
    assert cast([2**26 + 1], "uint64", "float8e8m0") == [2**27]


def test_what_is_out_of_range_is_infinite():
    assert cast([65504, 65519.99, 65520, -1e300], "double", "float16") == [65504, 65504, INF, -INF]
    assert cast([65519, 65520, 2**64 - 1], "uint64", "float16") == [65504, INF, INF]
    assert cast([2.0**-25, 2.0**-25 * 1.5, 3 * 2.0**-26], "float", "float16") == [0, 2.0**-24, 2.0**-24]


@pytest.mark.parametrize("to", FLT_MAX)
@pytest.mark.parametrize("saturate", [OMITTED, 1, 0])
def test_float8_is_as_its_tables_say(to: str, saturate: Any):
    largest = FLT_MAX[to]
    spacing = {448.0: 32, 240.0: 16, 57344.0: 8192}[largest]
    x = [0.0, NAN, INF, -INF, 1e6, -1e6, largest + spacing * 0.49, largest + spacing * 0.51]
    beyond = largest if saturate != 0 else INF if to == "float8e5m2" else NAN
    wanted = [0.0, NAN, beyond, -beyond, beyond, -beyond, largest, beyond]
    assert same(cast(x, "float", to, saturate=saturate), wanted)
    assert same(cast(x, "double", to, "CastLike", 25, saturate=saturate), wanted)
    tie = largest if to == "float8e4m3fn" else beyond
    assert same(cast([largest + spacing / 2], "float", to, saturate=saturate), [tie]), "to even, here 1.75 * 2^8"
    if "e4" in to:
        assert cast([1.0625, 1.1875, -1.3125], "float", to, saturate=saturate) == [1.0, 1.25, -1.25]


E8M0_MIN, E8M0_MAX = 2.0**-127, 2.0**127


def test_float8e8m0_is_as_its_table_says():
    x = [0.0, NAN, INF, 1.5 * E8M0_MAX, E8M0_MIN / 2]
    assert same(cast(x, "double", "float8e8m0"), [E8M0_MIN, NAN, E8M0_MAX, E8M0_MAX, E8M0_MIN])
    assert same(cast(x, "double", "float8e8m0", saturate=0, round_mode="nearest"), [NAN] * 5)


@pytest.mark.parametrize("op", ["Cast", "CastLike"])
def test_float8e8m0_has_three_modes(op: str):
    x = [1.0, 1.0000001, 1.4999999, 1.5, 1.9999999, E8M0_MIN, E8M0_MAX, 0.75 * E8M0_MAX]
    modes = {
        OMITTED: [1, 2, 2, 2, 2, E8M0_MIN, E8M0_MAX, E8M0_MAX],
        "up": [1, 2, 2, 2, 2, E8M0_MIN, E8M0_MAX, E8M0_MAX],
        "down": [1, 1, 1, 1, 1, E8M0_MIN, E8M0_MAX, E8M0_MAX / 2],
        "nearest": [1, 1, 1, 2, 2, E8M0_MIN, E8M0_MAX, E8M0_MAX],
    }
    for mode, wanted in modes.items():
        for saturate in (OMITTED, 0):
            assert cast(x, "double", "float8e8m0", op, 25, round_mode=mode, saturate=saturate) == wanted


def test_narrow_floats_round_to_even():
    assert cast([0.25, 0.75, 1.25, 2.5, 3.5, 5, -6.9], "float", "float4e2m1") == [0, 1, 1, 2, 4, 4, -6]
    assert cast([0.0625, 0.1875, 7.74], "float", "float6e2m3") == [0, 0.25, 7.5]
    assert cast([18, 22, -28], "int8", "float6e3m2") == [16, 24, -28]


def test_strings_are_numbers_in_the_text_s_spellings():
    texts = ["3.14", "1000", "1e-5", "1E8", "+INF", "INF", "-INF", "NaN", "inf", "nAn"]
    assert same(cast(texts, "string", "double"), [3.14, 1000, 1e-5, 1e8, INF, INF, -INF, NAN, INF, NAN])
    assert same(cast(["3.14"], "string", "float"), [np.float32(3.14)])
    assert cast(["-9223372036854775808", "12"], "string", "int64") == [-(2**63), 12]
    assert cast([-(2**63), 0, 12], "int64", "string") == ["-9223372036854775808", "0", "12"]
    assert cast([314.15625, -2.25, 0.5], "float", "string", since=9) == ["314.15625", "-2.25", "0.5"]
    assert cast(["Grüße", "NaN", ""], "string", "string") == ["Grüße", "NaN", ""]


def test_cast_1_has_a_name_for_the_type():
    (row, *_) = [row for row in planned("Cast", 1, "each").rows if row.types["T2"] == "tensor(float16)"]
    assert row.attributes == {"to": "FLOAT16"}
    assert onnx.TensorProto.DataType.Value("FLOAT16") == BY_NAME["float16"].code


OPEN = [
    (2.5, "float", "int8", 28),
    (NAN, "float", "int8", 28),
    (128.0, "float", "int8", 28),
    (-1.0, "float", "uint64", 28),
    (7.0, "float", "float4e2m1", 28),
    (NAN, "float", "float6e3m2", 28),
    (-0.0, "float", "float8e8m0", 28),
    (-1, "int8", "float8e8m0", 28),
    (INF, "float8e5m2", "float8e5m2", 28),
    (INF, "float", "float8e5m2fnuz", 23),
    (200, "int16", "int8", 9),
    (2, "int16", "bool", 9),
    (1.0, "float", "string", 28),
    (0.1, "float", "string", 28),
    (314.25, "float16", "string", 28),
    (True, "bool", "string", 28),
    ("1", "string", "bool", 28),
    ("2.718", "string", "int32", 28),
    ("1e3", "string", "int32", 28),
    ("128", "string", "int8", 28),
    ("Hello World!", "string", "float", 28),
    ("1e39", "string", "float", 28),
]
DECIDED = [
    (127.0, "float", "int8", 28),
    (6.9, "float", "float4e2m1", 28),
    (0.0, "float", "float8e8m0", 28),
    (INF, "float8e5m2", "float16", 28),
    (INF, "float", "float8e5m2fnuz", 24),
    (INF, "float", "float8e5m2", 19),
    (200, "int16", "int8", 13),
    (2, "int16", "bool", 13),
    (1, "int16", "bool", 1),
    (1e300, "double", "float16", 1),
    (0.5, "float8e8m0", "string", 28),
    (314.25, "float", "string", 28),
    ("127", "string", "int8", 28),
    ("1e-5", "string", "float8e5m2", 28),
]


@pytest.mark.parametrize("case", OPEN, ids=str)
def test_the_text_leaves_open(case: tuple[Any, str, str, int]):
    x, of, to, since = case
    assert doubt(x, BY_NAME[of], BY_NAME[to], {}, since)


@pytest.mark.parametrize("case", DECIDED, ids=str)
def test_the_text_decides(case: tuple[Any, str, str, int]):
    x, of, to, since = case
    assert not doubt(x, BY_NAME[of], BY_NAME[to], {}, since)


def test_out_of_range_only_the_two_common_modes_are_told():
    e8m0, double = BY_NAME["float8e8m0"], BY_NAME["double"]
    for mode, saturate, told in (("up", 1, 1), ("nearest", 0, 1), ("nearest", 1, 0), ("up", 0, 0), ("down", 1, 0)):
        attributes = {"round_mode": mode, "saturate": saturate}
        assert [not doubt(x, double, e8m0, attributes, 28) for x in (0.0, INF, 1e40, 1e-40)] == [bool(told)] * 4
        assert not doubt(1.25, double, e8m0, attributes, 28)
        assert not doubt(NAN, double, e8m0, attributes, 28)


def test_every_pair_of_types_is_planned_at_the_newest_versions():
    for op, since, types in (("Cast", 28, 26), ("CastLike", 25, 24)):
        rows = planned(op, since).rows
        assert len({tuple(row.types.values()) for row in rows}) == types**2
        for row in rows:
            assert "float8" in row.types["T2"] or row.attributes["saturate"] is OMITTED
            assert "float8e8m0" in row.types["T2"] or row.attributes["round_mode"] is OMITTED


@pytest.mark.parametrize("of", ["float16", "bfloat16", "int32", "float8e8m0", "float6e3m2", "uint2", "bool", "string"])
def test_something_is_decided_of_every_pair(of: str):
    for to in ELEMENT_TYPES:
        if to.kind != "complex" and {of, to.name} != {"bool", "string"}:
            draw = Draw("", {"T1": f"tensor({of})", "T2": f"tensor({to.name})"}, {})
            x, doubts = next(sorted_out(draw, 28))
            assert not doubts, to.name
            assert len(x), to.name


def scored(of: str, to: str, **attributes: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """The scored inputs of one pair and what they give."""
    one = operator("Cast", 28)
    rows = [row for row in planned("Cast", 28).rows if list(row.types.values()) == [f"tensor({of})", f"tensor({to})"]]
    given = {"saturate": OMITTED, "round_mode": OMITTED} | attributes
    rows = [row for row in rows if row.attributes == row.attributes | given]
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for built in build_rows(one, one.schemas[0], rows):
        for number, data_set in enumerate(built.case.data_sets):
            if not data_set.unspecified:
                folder = f"test_data_set_{number}"
                files = ((f"{folder}/input_0.pb", of), (f"{folder}/output_0.pb", to))
                x, y = (decode(built.files[name], parse_type(f"tensor({type_})")) for name, type_ in files)
                found.append((np.asarray(x), np.asarray(y)))
    assert found
    return found


def via(*types: Any) -> Callable[[np.ndarray], np.ndarray]:
    """A conversion that rounds on its way."""

    def convert(x: np.ndarray) -> np.ndarray:
        for one in types:
            x = x.astype(one)
        return x

    return convert


def to_bfloat16_cut_off(x: np.ndarray) -> np.ndarray:
    return (x.view(np.uint32) >> 16).astype(np.uint16).view(ml_dtypes.bfloat16)


def to_bfloat16_ties_away(x: np.ndarray) -> np.ndarray:
    return ((x.view(np.uint32) + np.uint32(0x8000)) >> 16).astype(np.uint16).view(ml_dtypes.bfloat16)


def to_float16_flushed(x: np.ndarray) -> np.ndarray:
    found = x.astype(np.float16)
    return np.where(np.abs(found) < 2.0**-14, np.float16(0), found)


def to_float16_early_infinite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x) & (np.abs(x) > 65504), np.copysign(np.float16(INF), x), x.astype(np.float16))


MISTAKES = [
    ("double", "float16", via(np.float32, np.float16)),
    ("double", "bfloat16", via(np.float32, ml_dtypes.bfloat16)),
    ("int64", "float", via(np.float64, np.float32)),
    ("uint64", "float", via(np.float64, np.float32)),
    ("int64", "double", via(np.float32, np.float64)),
    ("int32", "bfloat16", via(np.float32, ml_dtypes.bfloat16)),
    ("uint64", "double", via(np.int64, np.float64)),
    ("float", "bfloat16", to_bfloat16_cut_off),
    ("float", "bfloat16", to_bfloat16_ties_away),
    ("float", "float16", to_float16_flushed),
    ("float", "float16", to_float16_early_infinite),
    ("int64", "int8", lambda x: x.clip(-128, 127).astype(np.int8)),
    ("int64", "uint32", lambda x: x.clip(0, 2**32 - 1).astype(np.uint32)),
    ("int64", "bool", via(np.int32, np.bool_)),
    ("int16", "bool", via(np.int8, np.bool_)),
    ("float", "bool", lambda x: np.trunc(x) != 0),
    ("float8e4m3fn", "bool", lambda x: x.view(np.uint8) != 0),
    ("double", "int64", via(np.float32, np.int64)),
    ("uint4", "float", lambda x: (x.astype(np.float32) + 8) % 16 - 8),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[f"{of}-{to}-{n}" for n, (of, to, _) in enumerate(MISTAKES)])
def test_the_inputs_show_a_mistake(mistake: tuple[str, str, Callable[[np.ndarray], np.ndarray]]):
    of, to, convert = mistake
    with np.errstate(all="ignore"):
        pairs = [(convert(x), y) for x, y in scored(of, to)]
    assert any(not np.array_equal(got.astype(float), y.astype(float), equal_nan=True) for got, y in pairs)


def test_the_modes_of_float8e8m0_are_told_apart():
    found = [
        [y.astype(float).tolist() for _, y in scored("float", "float8e8m0", round_mode=mode)]
        for mode in ("up", "down", "nearest")
    ]
    assert found[0] != found[1] != found[2] != found[0]


def bit_cast(x: np.ndarray, of: str, to: str) -> np.ndarray:
    one = operator("BitCast", 26)
    types = {"T1": f"tensor({of})", "T2": f"tensor({to})"}
    found = answer(Call(one, one.schemas[0], types, {"input": x}, {"to": BY_NAME[to].code}), exact=True)[0].value
    assert isinstance(found, np.ndarray)
    assert found.dtype == BY_NAME[to].dtype
    return found


def test_bits_survive():
    assert bit_cast(np.array([1, -2.5], np.float32), "float", "uint32").tolist() == [0x3F800000, 0xC0200000]
    assert bit_cast(np.array([-1, 7, -8], ml_dtypes.int4), "int4", "uint4").tolist() == [15, 7, 8]
    assert bit_cast(np.array([2, 15], ml_dtypes.uint4), "uint4", "float4e2m1").astype(float).tolist() == [1, -6]
    assert bit_cast(np.array([-1, 1], ml_dtypes.int2), "int2", "uint2").tolist() == [3, 1]
    assert bit_cast(np.array([True, False]), "bool", "int8").tolist() == [1, 0]
    assert bit_cast(np.array([127, 255, 0], np.uint8), "uint8", "float8e8m0").astype(float).tolist()[::2] == [
        1,
        2**-127,
    ]
    zeros = bit_cast(np.array([2**63, 0], np.uint64), "uint64", "double")
    assert np.signbit(zeros).tolist() == [True, False]


def test_the_first_of_a_complex_pair_has_the_lower_bytes():
    assert bit_cast(np.array([1 + 2j], np.complex64), "complex64", "uint64").tolist() == [0x40000000_3F800000]
    assert bit_cast(np.array([0x40000000_3F800000], np.int64), "int64", "complex64").tolist() == [1 + 2j]


@pytest.mark.parametrize("payload", [0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000000ABCDEF, 0xFFFFFFFFFFFFFFFF])
def test_nan_of_double_keeps_its_payload(payload: int):
    x = np.array([payload], np.uint64)
    assert bit_cast(x.view(np.float64), "double", "uint64").tolist() == [payload]
    assert np.isnan(bit_cast(x, "uint64", "double")).all()


def test_bit_casts_are_of_one_width_and_booleans_of_two_bytes():
    one = operator("BitCast", 26)
    rows = planned("BitCast", 26).rows
    widths = {variable: [parse_type(row.types[variable]).element.bits for row in rows] for variable in ("T1", "T2")}  # pyright: ignore[reportAttributeAccessIssue]
    assert widths["T1"] == widths["T2"]
    row = next(row for row in rows if row.types == {"T1": "tensor(uint8)", "T2": "tensor(bool)"})
    (case,) = build_rows(one, one.schemas[0], [row])
    given = decode(case.files["test_data_set_0/input_0.pb"], parse_type("tensor(uint8)"))
    assert isinstance(given, np.ndarray)
    assert set(given.tolist()) == {0, 1}
