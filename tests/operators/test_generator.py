"""The documents' sentences as literal values, and what random operators and constants ask of the mechanism."""

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from harness.judging.distributions import compare_distributions
from harness.numbers.distributions import Bernoulli, Multinomial, Normal, Uniform
from harness.operators.generator.constant import LINEAR, MIXED, NOWHERE, PLACES
from harness.oracles.evaluate import Expected, answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, find
from harness.spec.codec import decode
from harness.spec.values import parse_type
from harness.suite.build import build_plan
from harness.suite.cases import Built
from harness.suite.planning import Plan, plan


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


def of(op: str, since: int, *inputs: Any, types: dict[str, str] | None = None, **attributes: Any) -> Expected:
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    arrays = {p.name: np.asarray(value) for p, value in zip(version.inputs, inputs, strict=False)}
    types = {variable: f"tensor({of})" for variable, of in (types or {"T": "float"}).items()}
    return expected(Call(one, version, types, arrays, attributes))[0]


def cases(op: str, since: int, **attributes: Any) -> list[Built]:
    """Those of the plan's rows with these attributes."""
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    planned = plan(one, version)
    rows = [row for row in planned.rows if all(row.attributes[k] == v for k, v in attributes.items())]
    return list(build_plan(one, version, Plan(tuple(rows), 0)))


def test_range_is_as_its_document_says():
    for since, name in ((27, "float16"), (27, "int32"), (11, "int64"), (11, "double")):
        make = {"float16": np.float16, "int32": np.int32, "int64": np.int64, "double": np.float64}[name]
        for inputs, gives in (((3, 9, 3), [3, 6]), ((10, 4, -2), [10, 8, 6]), ((4, 10, -2), []), ((4, 4, 1), [])):
            found = of("Range", since, *map(make, inputs), types={"T": name}).value
            assert (found.dtype, found.tolist()) == (make, gives)


def test_range_counts_and_adds_exactly():
    beyond = of("Range", 27, *map(np.int64, (2**62 + 1, 2**62 + 6, 2)), types={"T": "int64"}).value
    assert beyond.tolist() == [2**62 + 1, 2**62 + 3, 2**62 + 5]
    last = of("Range", 27, *map(np.int64, (0, 2**63 - 1, 2**61 - 1)), types={"T": "int64"}).value
    assert len(last) == 5, "the quotient is 4 and a little, which no double is"
    past = of("Range", 27, *map(ml_dtypes.bfloat16, (254, 262, 1)), types={"T": "bfloat16"}).value
    assert past.tolist() == [254, 255, 256, 256, 258, 260, 260, 260], "256 + i, each rounded to even by itself"


def test_eye_like_sets_one_diagonal():
    x = np.full((2, 3), np.nan, np.float32)
    types = {"T1": "float", "T2": "int8"}
    assert of("EyeLike", 9, x, types=types, dtype=3, k=OMITTED).value.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert of("EyeLike", 22, x, types=types, dtype=3, k=1).value.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert of("EyeLike", 22, x, types=types, dtype=3, k=-1).value.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert not of("EyeLike", 22, x, types=types, dtype=3, k=2**32 + 1).value.any()


def test_constant_of_shape_is_a_scalar_for_an_empty_shape_and_float_zeros_without_a_value():
    types = {"T1": "int64", "T2": "float"}
    scalar = of("ConstantOfShape", 25, np.zeros(0, np.int64), types=types, value=OMITTED).value
    assert (scalar.shape, scalar.dtype, scalar.item()) == ((), np.float32, 0.0)
    value = onnx.TensorProto(dims=[1], data_type=onnx.TensorProto.INT4, int32_data=[0xF])
    filled = of("ConstantOfShape", 21, np.array([2, 0, 3]), types=types | {"T2": "int4"}, value=value).value
    assert (filled.shape, filled.dtype) == ((2, 0, 3), ml_dtypes.int4)


def constant(since: int, T: str, **given: Any) -> np.ndarray:
    names = {a.name for a in operator("Constant", since).schemas[0].attributes}
    return of("Constant", since, types={"T": T}, **(dict.fromkeys(names, OMITTED) | given)).value


def test_constant_takes_each_of_its_attributes():
    assert constant(25, "float", value_float=0.5).shape == ()
    assert constant(12, "float", value_floats=[]).shape == (0,)
    assert constant(13, "int64", value_int=-(2**63)).item() == -(2**63)
    assert constant(13, "int64", value_ints=[2**53 + 1]).tolist() == [2**53 + 1]
    assert constant(25, "string", value_string="ß").item() == "ß"
    assert constant(25, "string", value_strings=["ß".encode(), b""]).tolist() == ["ß", ""]
    for since in (25, 11, 9, 1):
        found = constant(since, "float16", value=MIXED({"T": "tensor(float16)"}))
        assert (found.shape, found.dtype) == ((3, 8), np.float16)


def test_a_sparse_constant_is_its_values_among_zeros():
    types = {"T": "tensor(int32)"}
    linear, places = (constant(25, "int32", sparse_value=value(types)) for value in (LINEAR, PLACES))
    assert linear.shape == (3, 4)
    assert set(np.flatnonzero(linear)) <= {1, 6, 7, 11}
    assert places.shape == (2, 3, 5)
    assert {tuple(place) for place in np.argwhere(places).tolist()} <= {(0, 0, 4), (0, 2, 1), (1, 1, 0)}
    assert constant(11, "string", sparse_value=NOWHERE({"T": "tensor(string)"})).tolist() == [["", ""]] * 4


@pytest.mark.parametrize("since", [25, 24, 12, 11, 9, 1])
def test_every_planned_constant_has_one_attribute_and_its_type(since: int):
    one = operator("Constant", since)
    version = one.schemas[one.since.index(since)]
    for strength in ("each", "pairs"):
        rows = plan(one, version, strength).rows
        assert {row.types["T"] for row in rows} == set(version.variables["T"])
        for row in rows:
            ((name, value),) = ((k, v) for k, v in row.attributes.items() if v is not OMITTED)
            stated = {"value_float": "float", "value_int": "int64", "value_string": "string"}.get(name.rstrip("s"))
            if stated:
                assert row.types["T"] == f"tensor({stated})"
            else:
                code = value.data_type if name == "value" else value.values.data_type
                assert row.types["T"] == f"tensor({onnx.helper.tensor_dtype_to_string(code).split('.')[1].lower()})"
        used = {(name, repr(value)) for row in rows for name, value in row.attributes.items() if "_" in name}
        assert all((name, repr(v)) in used for name in one.attributes if "value_" in name for v in one.attributes[name])


def test_an_empty_list_is_an_attribute_of_its_kind():
    (case,) = cases("RandomUniform", 22, shape=[], dtype=OMITTED)
    (node,) = onnx.load_from_string(case.files["model.onnx"]).graph.node
    attribute = next(a for a in node.attribute if a.name == "shape")
    assert (attribute.type, list(attribute.ints)) == (onnx.AttributeProto.INTS, [])


def test_where_data_sets_differ_the_declared_shape_is_open():
    (case, *_) = cases("Range", 11)
    (dim,) = onnx.load_from_string(case.files["model.onnx"]).graph.output[0].type.tensor_type.shape.dim
    assert not dim.HasField("dim_value")


X = np.zeros((2, 3), np.int8)
LIKE = {"T1": "int8", "T2": "double"}


@pytest.mark.parametrize(
    ("found", "distribution", "shape"),
    [
        (of("RandomNormal", 1, shape=[3, 2], mean=1.5), Normal(1.5, 1.0), (3, 2)),
        (of("RandomUniform", 22, shape=[], high=4.0, low=-2.0), Uniform(-2.0, 4.0), ()),
        (of("RandomNormalLike", 1, X, types=LIKE, dtype=11, scale=3.0), Normal(0.0, 3.0), (2, 3)),
        (of("RandomUniformLike", 22, X, types=LIKE, dtype=11), Uniform(0.0, 1.0), (2, 3)),
        (of("Bernoulli", 15, np.full((2, 3), 0.5), types={"T1": "double", "T2": "bool"}), Bernoulli(0), (2, 3)),
        (of("Multinomial", 7, np.zeros((4, 3)), types={"T1": "double", "T2": "int32"}), Multinomial(0), (4, 1)),
    ],
)
def test_random_operators_state_their_law(found: Expected, distribution: Any, shape: tuple[int, ...]):
    assert found.distribution == distribution
    assert found.value.shape == shape


def test_examples_are_drawn_from_the_seed_alone():
    one = operator("RandomNormal", 22)
    arguments = (one, one.schemas[0], {"T": "tensor(float)"}, {}, {"shape": [50]})
    first, again, other = (expected(Call(*arguments), seed=seed)[0].value for seed in ("a", "a", "b"))
    assert first.tobytes() == again.tobytes() != other.tobytes()
    assert np.unique(first).size == 50
    first, again = (answer(Call(*arguments))[0].value for _ in range(2))
    assert first.tobytes() == again.tobytes()


def test_a_case_of_a_random_operator_carries_its_laws():
    (built,) = cases("RandomNormal", 22, shape=[40, 101], dtype=OMITTED, seed=OMITTED, mean=-6.0, scale=OMITTED)
    case = built.case
    assert (case.judged, case.distributions, case.rtol) == ("property", (Normal(-6.0, 1.0),), 0.0)
    assert b'"distribution": "normal"' in built.files["data.json"]
    assert case.atol > 20, "two answers that we pass are 20 scales apart at most"
    assert not any("bound" in name for name in case.files)


@pytest.mark.parametrize("op", ["RandomNormalLike", "RandomUniform", "Bernoulli", "Multinomial"])
def test_the_example_on_disk_is_an_answer_that_passes(op: str):
    one = operator(op, 22)
    for built in build_plan(one, one.schemas[0], plan(one, one.schemas[0], "each")):
        case = built.case
        for number in range(len(case.data_sets)):
            folder = f"test_data_set_{number}"
            output, *inputs = (
                decode(built.files[f"{folder}/{file}.pb"], parse_type(text))
                for file, text in [("output_0", case.outputs[0]), *zip(["input_0"], case.inputs, strict=False)]
            )
            assert compare_distributions(case, [output], [output], inputs, lambda: ["y"]).verdict == "passed"
