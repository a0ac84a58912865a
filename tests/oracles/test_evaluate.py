"""The oracles through their types: whatever the array's byte order or width, integers are Python's and strings text."""

import numpy as np
import pytest

from harness.oracles.evaluate import WrongOracle, answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, find
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES, element_type
from harness.spec.schema import schema

TRILU, CUMPROD = find("Trilu", 14), find("CumProd", 26)


def cumprod(x: np.ndarray, axis: int = 0, **attributes: int):
    types = {"T": f"tensor({element_type(x.dtype).name})", "T2": "tensor(int32)"}
    inputs = {"x": x, "axis": np.array(axis, np.int32)}
    (found,) = expected(Call(CUMPROD, schema("CumProd", 26), types, inputs, attributes))
    return found


def trilu(x: np.ndarray, k: np.ndarray | None = None, **attributes: int) -> np.ndarray:
    inputs = {"input": x} | ({} if k is None else {"k": k})
    types = {"T": f"tensor({element_type(x.dtype).name})"}
    (found,) = expected(Call(TRILU, schema("Trilu", 14), types, inputs, attributes))
    assert found.bound is None
    return found.value


@pytest.mark.parametrize("name", [t.removeprefix("tensor(")[:-1] for t in schema("Trilu", 14).variables["T"]])
def test_trilu_keeps_and_clears_in_every_type(name: str):
    of = BY_NAME[name]
    text = {"string": ["a", "b", "c", "d"], "bool": [True] * 4}.get(name, [1, 2, 3, 4])
    x = np.array(text, of.dtype).reshape(2, 2)
    zero = {"string": "", "bool": False}.get(name, 0)
    assert trilu(x).tolist() == [[x[0, 0], x[0, 1]], [zero, x[1, 1]]]
    assert trilu(x, upper=0).tolist() == [[x[0, 0], zero], [x[1, 0], x[1, 1]]]
    assert trilu(x).dtype == of.dtype


@pytest.mark.parametrize("k", [2**63 - 1, -(2**63), 2**31, -1, 0, 1])
@pytest.mark.parametrize("order", ["<i8", ">i8", "=i8"])
def test_k_is_a_number_whatever_its_bytes(k: int, order: str):
    x = np.arange(1.0, 7.0).reshape(2, 3)
    found = trilu(x, np.array(k, order))
    assert found.tolist() == [[v if j - i >= k else 0.0 for j, v in enumerate(row)] for i, row in enumerate(x.tolist())]


def test_omitted_attributes_have_the_default_of_the_schema():
    x = np.arange(1.0, 5.0).reshape(2, 2)
    assert trilu(x, upper=OMITTED).tolist() == trilu(x, upper=1).tolist() != trilu(x, upper=0).tolist()


@pytest.mark.parametrize(
    ("attributes", "gives"),
    [
        ({}, [1, 2, 6]),
        ({"exclusive": 1}, [1, 1, 2]),
        ({"reverse": 1}, [6, 6, 3]),
        ({"exclusive": 1, "reverse": 1}, [6, 3, 1]),
    ],
)
@pytest.mark.parametrize("name", [t.removeprefix("tensor(")[:-1] for t in schema("CumProd", 26).variables["T"]])
def test_cumprod_is_what_its_document_says(name: str, attributes: dict[str, int], gives: list[int]):
    found = cumprod(np.array([1, 2, 3], BY_NAME[name].dtype), **attributes)
    assert found.value.astype(np.float64).tolist() == gives
    assert (found.bound is not None) == (BY_NAME[name].kind == "float")


def test_integers_wrap_once():
    assert cumprod(np.array([2**31 - 1, 2], np.int32)).value.tolist() == [2**31 - 1, -2]
    assert cumprod(np.array([2**63, 3], np.uint64)).value.tolist() == [2**63, 2**63]


def test_a_product_is_rounded_once_not_at_each_step():
    x = np.array([1 + 2**-10] * 6, np.float16)
    product = 1.0
    for value in x.astype(np.float64):
        product *= value
    assert cumprod(x).value[-1] == np.float16(product)


def test_special_values_follow_ieee():
    found = cumprod(np.array([2, np.inf, 0, 1], np.float32))
    assert found.value[:2].tolist() == [2, np.inf]
    assert np.isnan(found.value[2:]).all()
    assert cumprod(np.array([60000, 2, 1], np.float16)).value.tolist() == [60000, np.inf, np.inf]
    assert np.signbit(cumprod(np.array([-0.0, 2], np.float32)).value).all()


def test_what_is_declared_exact_must_be(monkeypatch: pytest.MonkeyPatch):
    import msgspec

    third = msgspec.structs.replace(TRILU, oracle=lambda input, k=None, *, upper: input / 3)
    with pytest.raises(WrongOracle, match="declared exact"):
        answer(
            Call(third, schema("Trilu", 14), {"T": "tensor(float)"}, {"input": np.ones((2, 2), np.float32)}, {}),
            exact=True,
        )


def test_an_oracle_of_too_many_outputs_is_refused():
    import msgspec

    twice = msgspec.structs.replace(TRILU, oracle=lambda input, k=None, *, upper: (input, input))
    with pytest.raises(WrongOracle, match="gives 2 outputs, want 1"):
        answer(Call(twice, schema("Trilu", 14), {"T": "tensor(float)"}, {"input": np.ones((2, 2), np.float32)}, {}))


def test_narrow_integers_are_integers_too():
    assert {t.name for t in ELEMENT_TYPES if t.dtype.kind == "V" and t.kind in ("signed", "unsigned")} == {
        "int2",
        "uint2",
        "int4",
        "uint4",
    }


def test_an_operator_may_be_exact_for_some_attributes():
    """Of Resize, the nearest elements are moved and linear ones averaged."""
    resize, version = find("Resize", 19), schema("Resize", 19)
    assert resize
    types = {"T1": "tensor(float)", "T2": "tensor(float)"}
    inputs = {"X": np.array([1, 2], np.float32), "scales": np.array([2], np.float32)}
    for mode, exact in ((OMITTED, True), ("nearest", True), ("linear", False)):
        call = Call(resize, version, types, inputs, {"mode": mode})
        assert call.is_exact() == exact
        assert (expected(call)[0].bound is None) == exact


def test_float_attributes_are_float32_where_nothing_is_rounded_too():
    import msgspec

    shrink = msgspec.structs.replace(find("Clip", 6), oracle=lambda input, *, min, max, T: input * 0 + min, exact=True)
    types = {"T": "tensor(double)"}
    call = Call(shrink, schema("Clip", 6), types, {"input": np.zeros(1)}, {"min": 0.1, "max": 1.0})
    assert expected(call)[0].value.tolist() == [float(np.float32(0.1))]


def test_an_oracle_that_is_about_bits_sees_and_gives_what_is_stored():
    import msgspec

    bit_cast = find("BitCast", 26)
    types = {"T1": "tensor(float)", "T2": "tensor(uint32)"}
    signalling = np.array([0x7F800001, 0xFFC00005], np.uint32)
    call = Call(bit_cast, schema("BitCast", 26), types, {"input": signalling.view(np.float32)}, {"to": 12})
    assert answer(call)[0].value.tolist() == signalling.tolist()
    wrong = msgspec.structs.replace(bit_cast, oracle=lambda input, *, to, T1: input.astype(np.float64))
    with pytest.raises(WrongOracle, match="gives float64, want uint32"):
        answer(msgspec.structs.replace(call, operator=wrong))


def test_an_oracle_that_gives_a_tensor_for_a_sequence_is_refused():
    import msgspec

    construct = msgspec.structs.replace(find("SequenceConstruct", 11), oracle=lambda *inputs: inputs[0])
    types = {"T": "tensor(float)", "S": "seq(tensor(float))"}
    call = Call(construct, schema("SequenceConstruct", 11), types, {"inputs": (np.zeros(2, np.float32),)}, {})
    with pytest.raises(WrongOracle, match=r"gives a ndarray for seq\(tensor\(float\)\)"):
        answer(call)


def test_each_reading_of_the_text_has_its_answer():
    vectorizer, version = find("DictVectorizer", 1, "ai.onnx.ml"), schema("DictVectorizer", 1, "ai.onnx.ml")
    types = {"T1": "map(string, float)", "T2": "tensor(float)"}
    inputs = {"X": {"c": np.array(2, np.float32)}}
    call = Call(vectorizer, version, types, inputs, {"string_vocabulary": [b"a", b"c"]})
    (found,) = expected(call)
    assert (found.value.tolist(), [reading.value.tolist() for reading in found.readings]) == ([0, 2], [[[0, 2]]])
    assert answer(call)[0].value.tolist() == [0, 2]
