"""Optionals and Identity: what is there, what is not, and that every type and value comes out as it went in."""

from typing import Any

import numpy as np
import onnx
import pytest

from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Inputs, Operator, find, operators
from harness.spec.codec import decode, encode
from harness.spec.schema import newest, schema
from harness.spec.values import OptionalType, Value, element_in, parse_type, tensors_in, type_of_proto
from harness.suite.build import build_plan
from harness.suite.cases import Built
from harness.suite.planning import plan

X = np.array([1, 2], np.float32)
EMPTY = np.zeros((0, 2), np.float32)


def of(op: str, since: int, types: dict[str, str], inputs: Inputs, **attributes: Any) -> Value:
    return expected(Call(operator(op, since), schema(op, since), types, inputs, attributes))[0].value


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


def cases(op: str, since: int) -> list[Built]:
    version = schema(op, since)
    strength = "pairs" if newest(version) == since else "each"
    every = [one for one in operators() if one.name == op and since in one.since]
    return [built for one in every for built in build_plan(one, version, plan(one, version, strength))]


@pytest.mark.parametrize("since", [15, 18, 28])
def test_an_optional_has_an_element_unless_it_is_empty(since: int):
    tensor, sequence = ({"O": f"optional({of})", "B": "tensor(bool)"} for of in ("tensor(float)", "seq(tensor(float))"))
    for types, values in ((tensor, (X, EMPTY, None)), (sequence, ([X], [], None))):
        for value in values:
            found = of("OptionalHasElement", since, types, {"input": value})
            assert isinstance(found, np.ndarray)
            assert (found.dtype, found.shape, found.item()) == (np.bool_, (), value is not None)


@pytest.mark.parametrize("since", [18, 28])
def test_what_is_no_optional_has_an_element_and_what_is_omitted_has_none(since: int):
    for name, value in (("tensor(float)", EMPTY), ("seq(tensor(float))", [])):
        assert of("OptionalHasElement", since, {"O": name, "B": "tensor(bool)"}, {"input": value}) == np.True_
    assert of("OptionalHasElement", since, {"O": "tensor(float)", "B": "tensor(bool)"}, {}) == np.False_


def test_an_optional_encloses_its_input_or_nothing():
    types = {"V": "seq(tensor(float))", "O": "optional(seq(tensor(float)))"}
    for since in (15, 28):
        for given in (OMITTED, onnx.TypeProto()):
            assert of("Optional", since, types, {"input": []}, type=given) == []
        assert of("Optional", since, types, {}, type=onnx.TypeProto()) is None


@pytest.mark.parametrize(
    ("since", "name"), [(15, "optional(tensor(float))"), (18, "tensor(float)"), (28, "tensor(float)")]
)
def test_the_element_is_what_went_in(since: int, name: str):
    found = of("OptionalGetElement", since, {"O": name, "V": "tensor(float)"}, {"input": X})
    assert isinstance(found, np.ndarray)
    assert found.tobytes() == X.tobytes()


@pytest.mark.parametrize("since", [15, 28])
def test_a_type_is_stated_where_no_input_is(since: int):
    met: set[tuple[int, bool]] = set()
    for built in cases("Optional", since):
        model = onnx.load_from_string(built.files["model.onnx"])
        (node,) = model.graph.node
        (output,) = built.case.outputs
        assert len(node.input) == len(model.graph.input)
        for attribute in node.attribute:
            stated = OptionalType(type_of_proto(attribute.tp))
            assert (attribute.name, attribute.type, str(stated)) == ("type", onnx.AttributeProto.TYPE_PROTO, output)
        assert node.input or node.attribute
        met.add((len(node.input), bool(node.attribute)))
    assert met == ({(0, True), (1, False), (1, True)} if since == 28 else {(0, True), (1, False)})


@pytest.mark.parametrize(("op", "since"), [("OptionalHasElement", 15), ("OptionalHasElement", 28), ("Identity", 25)])
def test_optionals_of_each_element_type_are_there_and_empty(op: str, since: int):
    met: set[tuple[str, bool]] = set()
    for built in cases(op, since):
        of = parse_type(built.case.inputs[0]) if built.case.inputs else None
        if isinstance(of, OptionalType):
            value = decode(built.files[f"{built.case.file_prefix(0)}input_0.pb"], of)
            met.add((element_in(of).name, value is not None))
    inputs = schema(op, since).inputs[0].types
    elements = {element_in(parse_type(of)).name for of in inputs if of.startswith("optional")}
    assert met == {(name, there) for name in elements for there in (True, False)}


def test_an_empty_sequence_in_an_optional_is_not_an_empty_optional():
    of = parse_type("optional(seq(tensor(float)))")
    assert encode([], of) != encode(None, of)
    assert decode(encode([], of), of) == []
    assert decode(encode(None, of), of) is None


@pytest.mark.parametrize("since", [1, 13, 14, 16, 19, 21, 23, 24, 25])
def test_identity_gives_every_value_of_every_type_as_it_is(since: int):
    types: set[str] = set()
    for built in cases("Identity", since):
        types.update(built.case.inputs)
        of = parse_type(built.case.inputs[0])
        for number in range(len(built.case.data_sets)):
            given, found = (
                list(tensors_in(decode(built.files[f"{built.case.file_prefix(number)}{file}_0.pb"], of)))
                for file in ("input", "output")
            )
            for x, y in zip(given, found, strict=True):
                assert (x.shape, x.dtype) == (y.shape, y.dtype)
                if x.dtype == object:
                    assert x.tolist() == y.tolist()
                else:
                    nan = np.isnan(x) if x.dtype.kind in "fcV" else np.zeros(x.shape, bool)
                    assert x[~nan].tobytes() == y[~nan].tobytes()
                    assert not nan.any() or np.isnan(y)[nan].all()
    assert types == set(schema("Identity", since).inputs[0].types)


def test_special_values_are_among_what_identity_is_given():
    def values(of: str) -> Any:
        (built,) = (built for built in cases("Identity", 24) if built.case.inputs == (of,))
        tensor, *_ = tensors_in(decode(built.files[f"{built.case.file_prefix(0)}input_0.pb"], parse_type(of)))
        return tensor.reshape(-1).tolist()

    floats = values("seq(tensor(float))")
    assert np.isnan(floats).any()
    assert {np.inf, -np.inf, 2.0**-149, float(np.finfo(np.float32).max)} <= set(floats)
    assert any(x == 0 and np.signbit(x) for x in floats)
    assert {-(2**63), 2**63 - 1} <= set(values("tensor(int64)"))
    assert {"", "日本語", "e\u0301"} <= set(values("tensor(string)"))
