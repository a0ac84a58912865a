"""The sentences of the documents of ai.onnx.ml's encoders, scalers and maps as literal values."""

from typing import Any

import numpy as np
import onnx
import pytest

import harness.operators.traditionalml.label_encoder as encoders
from harness.oracles.evaluate import answer
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, operators
from harness.suite.build import build_plan
from harness.suite.planning import plan

ML = "ai.onnx.ml"


def operator(op: str, since: int = 1) -> Operator:
    return next(one for one in operators() if (one.name, one.domain) == (op, ML) and since in one.since)


def of(op: str, x: Any, types: dict[str, str], since: int = 1, **attributes: Any) -> Any:
    """What an operator gives for its first input, and others by the names that are no attributes'."""
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    inputs = {version.inputs[0].name: x}
    inputs |= {p.name: attributes.pop(p.name) for p in version.inputs[1:]}
    return answer(Call(one, version, types, inputs, attributes))[0].value


def tensors(*names: str) -> dict[str, str]:
    variables = ("T",) if len(names) == 1 else ("T1", "T2")
    return {variable: f"tensor({name})" for variable, name in zip(variables, names, strict=True)}


def words(*texts: str) -> np.ndarray:
    return np.array(texts, object)


def test_array_feature_extractor_takes_from_the_last_axis_whatever_the_shape_of_the_indices():
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    for indices, gives in (([2, 0], [[2, 0], [5, 3]]), ([[1, 1, 2]], [[1, 1, 2], [4, 4, 5]]), ([], [[], []])):
        found = of("ArrayFeatureExtractor", x, tensors("int32"), Y=np.array(indices, np.int64))
        assert found.tolist() == gives


def test_binarizer_is_about_greater_alone():
    x = np.array([0.1, 0.10000001, np.nan, np.inf, -1], np.float32)
    found = of("Binarizer", x, tensors("float"), threshold=0.1)
    assert (found.dtype, found.tolist()) == (np.float32, [0, 1, 0, 1, 0])
    wide = of("Binarizer", np.array([0.1, 0.10000000149011612, 0.1000000015]), tensors("double"), threshold=0.1)
    assert wide.tolist() == [0, 0, 1], "the threshold is the float32 value"
    beyond = of("Binarizer", np.array([2**24, 2**24 + 1]), tensors("int64"), threshold=2.0**24)
    assert (beyond.dtype, beyond.tolist()) == (np.int64, [0, 1])


def cast(values: dict[int, Any], of_value: str, to: str, **attributes: Any) -> Any:
    dtype = object if of_value == "string" else np.float32
    x = {key: np.array(value, dtype) for key, value in values.items()}
    types = {"T1": f"map(int64, {of_value})", "T2": f"tensor({to})"}
    return of("CastMap", x, types, cast_to=f"TO_{to.upper()}", **attributes)


def test_cast_map_orders_by_key_and_places_by_key():
    dense = cast({10: 2.5, -1: 0.5, 9: 1.5}, "float", "float")
    assert (dense.dtype, dense.tolist()) == (np.float32, [0.5, 1.5, 2.5])
    assert cast({1: "b", 0: "a"}, "string", "string", map_form="SPARSE", max_map=2).tolist() == ["a", "b"]
    assert cast({1: "-7", 0: "3"}, "string", "int64").tolist() == [3, -7]
    assert cast({0: -2.0}, "float", "int64").tolist() == [-2]
    assert cast({}, "float", "float").shape == (0,)


def test_category_mapper_goes_either_way_and_to_the_default():
    pairs: dict[str, Any] = {"cats_int64s": [5, -1], "cats_strings": [b"a", b""]}
    to = of("CategoryMapper", words("", "A", "a"), tensors("string", "int64"), default_int64=42, **pairs)
    back = of("CategoryMapper", np.array([-1, 0, 5]), tensors("int64", "string"), default_string="?", **pairs)
    assert (to.tolist(), back.tolist()) == ([-1, 42, 5], ["", "?", "a"])


def test_dict_vectorizer_is_as_its_document_prints():
    x = {"a": np.array(4), "c": np.array(8)}
    types = {"T1": "map(string, int64)", "T2": "tensor(int64)"}
    found = of("DictVectorizer", x, types, string_vocabulary=[b"a", b"c", b"b", b"z"])
    assert found.tolist() == [4, 8, 0, 0]


def test_feature_vectorizer_takes_vectors_for_rows():
    one = operator("FeatureVectorizer")
    inputs = {"X": (np.array([1, 2], np.int32), np.array([[3]], np.int32))}
    call = Call(one, one.schemas[0], {"T1": "tensor(int32)"}, inputs, {})
    found = answer(call)[0].value
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.tolist()) == (np.float32, [[1, 2, 3]])


def test_imputer_replaces_what_is_equal_each_column_by_its_own():
    x = np.array([[np.nan, 1, np.nan], [2, np.nan, 3]], np.float32)
    found = of("Imputer", x, tensors("float"), imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan"))
    assert found.tolist() == [[7, 1, 9], [2, 8, 3]]
    zeros = of(
        "Imputer", np.array([0.0, -0.0, 1]), tensors("double"), imputed_value_floats=[5.0], replaced_value_float=0.0
    )
    assert zeros.tolist() == [5, 5, 1]
    tenth = of(
        "Imputer",
        np.array([0.1, np.float32(0.1)]),
        tensors("double"),
        imputed_value_floats=[5.0],
        replaced_value_float=0.1,
    )
    assert tenth.tolist() == [0.1, 5]
    ends = np.array([-(2**63), -(2**63) + 1])
    whole = of("Imputer", ends, tensors("int64"), imputed_value_int64s=[0], replaced_value_int64=-(2**63))
    assert whole.tolist() == [0, -(2**63) + 1]


def test_label_encoder_1_indexes():
    classes = [b"zero", b"one"]
    to = of("LabelEncoder", words("one", "two"), tensors("string", "int64"), classes_strings=classes, default_int64=-5)
    assert to.tolist() == [1, -5]
    back = of(
        "LabelEncoder",
        np.array([1, -1, 2, 0]),
        tensors("int64", "string"),
        classes_strings=classes,
        default_string="?",
    )
    assert back.tolist() == ["one", "?", "?", "zero"], "a negative index is none"


def test_label_encoder_2_compares_bits():
    other_nan = np.array([0x7FC00001, 0xFFC00000], np.uint32).view(np.float32)
    x = np.array([np.nan, -0.0, 0.0, 1.5, *other_nan], np.float32)
    keys: dict[str, Any] = {"keys_floats": [float("nan"), 0.0], "values_int64s": [7, 8]}
    assert of("LabelEncoder", x, tensors("float", "int64"), 2, **keys).tolist() == [7, -1, 8, -1, -1, -1]
    example = of(
        "LabelEncoder",
        words("Dori", "Amy", "Amy", "Sally", "Sally"),
        tensors("string", "int64"),
        2,
        keys_strings=[b"Amy", b"Sally"],
        values_int64s=[5, 6],
        default_int64=-1,
    )
    assert example.tolist() == [-1, 5, 5, 6, 6]


def tensor(values: Any, of: int) -> onnx.TensorProto:
    return onnx.helper.make_tensor("value", of, [len(values)], values)


def test_label_encoder_4_finds_any_nan_and_the_last_of_repeated_keys():
    x = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    keys = tensor([float("nan"), 2.0, 2.0], onnx.TensorProto.DOUBLE)
    values = tensor([1, 2, 3], onnx.TensorProto.INT16)
    x = np.append(x, [2.0, 0.5])
    types = tensors("double", "int16")
    assert of("LabelEncoder", x, types, 4, keys_tensor=keys, values_tensor=values).tolist() == [1, 1, 3, -1]
    default = tensor([9], onnx.TensorProto.INT16)
    found = of("LabelEncoder", x, types, 4, keys_tensor=keys, values_tensor=values, default_tensor=default)
    assert (found.dtype, found.tolist()) == (np.int16, [1, 1, 3, 9])
    unset = of("LabelEncoder", words("?"), tensors("string", "float"), 4, keys_strings=[b"a"], values_floats=[1.0])
    assert np.signbit(unset).all()
    unused = of("LabelEncoder", words("?"), tensors("string", "string"), 4, keys_strings=[b"a"], values_strings=[b"b"])
    assert unused.tolist() == ["_Unused"]


def test_every_planned_label_encoder_has_keys_and_values_of_its_types():
    for since in (2, 4):
        one = operator("LabelEncoder", since)
        for row in plan(one, one.schemas[0], "each").rows:
            given = {name for name, value in row.attributes.items() if value is not OMITTED}
            for prefix, variable in (("keys_", "T1"), ("values_", "T2")):
                (name,) = (name for name in given if name.startswith(prefix))
                if not name.endswith("tensor"):
                    assert row.types[variable] == f"tensor({name.removeprefix(prefix)[:-1]})"


def differs(op: str, since: int, group: str) -> bool:
    """Whether what is on disk for a group would change with what is planted now."""
    one = operator(op, since)
    version = one.schemas[0]
    built = [case for case in build_plan(one, version, plan(one, version, "each")) if wanted(case.case, group)]
    assert built
    return digest(built) != BEFORE[op, since, group]


def wanted(case: Any, group: str) -> bool:
    return any(data.group == group for data in case.data_sets)


def digest(built: list[Any]) -> list[bytes]:
    return [case.files[name] for case in built for name in sorted(case.files) if "output" in name]


BEFORE: dict[tuple[str, int, str], list[bytes]] = {}


@pytest.mark.parametrize(
    ("since", "group", "planted"),
    [
        (2, "minus_zero", {"bits": lambda x: x}),
        (2, "not_a_number", {"bits": encoders.value_or_nan}),
        (4, "not_a_number", {"value_or_nan": encoders.bits}),
    ],
)
def test_groups_of_the_label_encoder_catch_other_comparisons(
    since: int, group: str, planted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    one = operator("LabelEncoder", since)
    built = build_plan(one, one.schemas[0], plan(one, one.schemas[0], "each"))
    BEFORE["LabelEncoder", since, group] = digest([case for case in built if wanted(case.case, group)])
    assert not differs("LabelEncoder", since, group)
    for name, function in planted.items():
        monkeypatch.setattr(encoders, name, function)
    assert differs("LabelEncoder", since, group)


def test_normalizer_is_the_formula_and_leaves_rows_of_zeros():
    x = np.array([[4, -8, 2], [0, 0, 0], [-2, 0, -4], [-2, -1, -4]], np.float32)
    found = of("Normalizer", x, tensors("float"), norm="MAX")
    assert found.tolist() == [[1, -2, 0.5], [0, 0, 0], [-2, 0, -4], [2, 1, 4]]
    positive = np.array([[1, 3], [0, 0]])
    assert of("Normalizer", positive, tensors("int64"), norm="L1").tolist() == [[0.25, 0.75], [0, 0]]
    assert of("Normalizer", np.array([3, 4]), tensors("int64"), norm="L2").tolist() == [
        np.float32(0.6),
        np.float32(0.8),
    ]


def test_one_hot_encoder_has_one_more_dimension():
    found = of("OneHotEncoder", np.array([4], np.int32), tensors("int32"), cats_int64s=list(range(8)))
    assert (found.dtype, found.tolist()) == (np.float32, [[0, 0, 0, 0, 1, 0, 0, 0]])
    strings = of("OneHotEncoder", words("b", "c"), tensors("string"), cats_strings=[b"a", b"b"], zeros=1)
    assert strings.tolist() == [[0, 1], [0, 0]]
    wide = of("OneHotEncoder", np.array(2**53 + 1), tensors("int64"), cats_int64s=[2**53, 2**53 + 1])
    assert wide.tolist() == [0, 1]
    assert of("OneHotEncoder", np.array([-3.0]), tensors("double"), cats_int64s=[-3, 3]).tolist() == [[1, 0]]


def test_scaler_takes_the_offset_away_first():
    x = np.array([[1, 2], [3, 4]], np.int32)
    assert of("Scaler", x, tensors("int32"), offset=[1.0, 4.0], scale=[2.0, -0.5]).tolist() == [[0, 1], [4, 0]]
    assert of("Scaler", x, tensors("int32"), offset=[1.0], scale=[2.0]).tolist() == [[0, 2], [4, 6]]


def test_zip_map_gives_a_map_for_each_row():
    x = np.array([[1, 2], [3, 4]], np.float32)
    types = {"T": "seq(map(string, float))"}
    found = of("ZipMap", x, types, classlabels_strings=[b"b", b""])
    assert [{key: value.item() for key, value in row.items()} for row in found] == [{"b": 1, "": 2}, {"b": 3, "": 4}]
    assert {value.dtype for row in found for value in row.values()} == {np.dtype(np.float32)}
    assert of("ZipMap", x[:0], {"T": "seq(map(int64, float))"}, classlabels_int64s=[7, 8]) == []
