"""LabelEncoder: each element replaced by what it is mapped to, or by a default."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, Types, operator
from harness.spec.codec import from_proto, to_proto
from harness.spec.element_types import ElementType, element_type
from harness.spec.values import TensorType, element_in, parse_type

SHAPE = (3, 6)
NAN = float("nan")


def mapped(
    X: np.ndarray, pairs: Iterable[tuple[Any, Any]], default: Any, to: ElementType, key: Callable[[Any], Hashable]
) -> np.ndarray:
    """Each element as the last of the pairs with its key has it; of the shape of ``X``."""
    found = {key(one): value for one, value in pairs}
    return np.array([found.get(key(x), default) for x in X.ravel()], to.dtype).reshape(X.shape)


CLASSES = [text.encode() for text in ("", "cat", "Cat", "日本語", "two words", "1")]


@operator(
    "LabelEncoder",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    constraints=[
        lambda T1, T2: T1 != T2,
        # "One and only one of the 'default_*' attributes must be defined": that of what comes out.
        lambda T2, default_int64: (T2 == "tensor(int64)") == (default_int64 != OMITTED),
        lambda T2, default_string: (T2 == "tensor(string)") == (default_string != OMITTED),
    ],
    classes_strings=(CLASSES,),
    default_int64=(OMITTED, 42, -1),
    default_string=(OMITTED, "none", ""),
)
def label_encoder_1(
    X: np.ndarray, *, classes_strings: list[bytes], default_int64: int, default_string: str, T2: ElementType
) -> np.ndarray:
    """The string "by simple indexing", or "the index at which it is found"; the default that is not found."""
    pairs = enumerate(text.decode() for text in classes_strings)
    if T2.kind == "string":
        return mapped(X, pairs, default_string, T2, lambda x: x)
    return mapped(X, ((text, i) for i, text in pairs), default_int64, T2, lambda x: x)


@label_encoder_1.inputs()
def every_class(draw: Draw) -> Iterator[Inputs]:
    """Every class, and what is none: other words; integers from the number of classes on, and negative ones."""
    yield {"X": draw.T1(np.resize(_classes(draw), SHAPE))}


@label_encoder_1.inputs()
def shapes_of_classes(draw: Draw) -> Iterator[Inputs]:
    """0-D, no elements, rank 4."""
    for shape in ((), (2, 0, 3), (3, 1, 2, 4)):
        yield {"X": draw.T1(np.resize(_classes(draw), shape))}


def _classes(draw: Draw) -> np.ndarray:
    if draw.types["T1"] == "tensor(string)":
        return np.array([*(text.decode() for text in CLASSES), "CAT", "cat ", " ", "0", "_Unused"], object)
    return np.array([3, 0, 6, 5, -1, 2, 4, 1, 2**32, 2**63 - 1, -(2**63), -6])


KEYS: dict[str, list[Any]] = {
    "string": ["cat", "", "Cat", "日本語", "two words", "NaN"],
    "int64": [3, -7, 2**53 + 1, 0, 2**63 - 1, -(2**63)],
    "int32": [3, -7, 2**24 + 1, 0, 2**31 - 1, -(2**31)],
    "int16": [3, -7, 257, 0, 2**15 - 1, -(2**15)],
    "float": [0.1, -2.5, NAN, 0.0, float("inf"), 3.0],
    "double": [0.1, -2.5, NAN, 0.0, float("inf"), 3.0],
}
VALUES: dict[str, list[Any]] = {
    "string": ["", "yes", "Grüße", "no", "yes", "🧮"],
    "int64": [5, -(2**63), 0, 2**53 + 1, 5, -1],
    "int32": [5, -(2**31), 0, 2**24 + 1, 5, -1],
    "int16": [5, -(2**15), 0, 257, 5, -1],
    "float": [0.5, NAN, float("-inf"), 0.1, 0.5, -3.0],
    "double": [0.5, NAN, float("-inf"), 0.1, 0.5, -3.0],
}
LISTS = {"string": "strings", "int64": "int64s", "float": "floats"}
"""Element type → what an attribute that lists its values is called."""
DEFAULTS: dict[str, Any] = {"string": "other", "int64": 42, "float": 0.25, "int32": 42, "int16": 42, "double": 0.1}
UNSET: dict[str, Any] = {"string": "_Unused", "signed": -1, "float": -0.0}
"""Kind → the default where no attribute gives one."""


def texts(values: list[Any]) -> list[Any]:
    """A list as attributes have it: text as bytes."""
    return [value.encode() if isinstance(value, str) else value for value in values]


def listed(variable: str, of: str, pool: dict[str, list[Any]]) -> Callable[[Types], Any]:
    """An attribute that lists values, where the variable stands for their type."""
    return lambda types: texts(pool[of]) if types[variable] == f"tensor({of})" else OMITTED


def mapping_of(given: dict[str, Any], T2: ElementType, key: Callable[[Any], Hashable]) -> Callable[..., np.ndarray]:
    """What maps a tensor by the attributes that are given."""
    keys, values = (
        next(_elements(value) for name, value in given.items() if name.startswith(prefix) and value is not None)
        for prefix in ("keys_", "values_")
    )
    default = given[f"default_{LISTS[T2.name][:-1]}"] if T2.name in LISTS else UNSET[T2.kind]
    if given.get("values_tensor") is not None:
        own = given["default_tensor"]
        default = UNSET[T2.kind] if own is None else _elements(own)[0]
    return lambda X: mapped(X, zip(keys, values, strict=True), default, T2, key)


def _elements(value: Any) -> Sequence[Any]:
    if isinstance(value, onnx.TensorProto):
        return list(np.asarray(from_proto(value, TensorType(element_type(value.data_type)))))
    return [v.decode() if isinstance(v, bytes) else np.float32(v) if isinstance(v, float) else v for v in value]


def bits(x: Any) -> Hashable:
    """The bits of a float, which tell zeros and NaNs apart: "For key look-up, bit-wise comparison is used"."""
    return np.float32(x).tobytes() if isinstance(x, float | np.floating) else x


def value_or_nan(x: Any) -> Hashable:
    """The value, one for all NaN: "Float keys with value 'NaN' match any input 'NaN' value"."""
    return "not a number" if isinstance(x, float | np.floating) and np.isnan(x) else x


@operator(
    "LabelEncoder",
    domain="ai.onnx.ml",
    since=2,
    exact=True,
    on_storage=True,
    full_product=True,
    constraints=[
        lambda T2, default_float: default_float == OMITTED or T2 == "tensor(float)",
        lambda T2, default_int64: default_int64 == OMITTED or T2 == "tensor(int64)",
        lambda T2, default_string: default_string == OMITTED or T2 == "tensor(string)",
    ],
    default_float=(OMITTED, DEFAULTS["float"]),
    default_int64=(OMITTED, DEFAULTS["int64"]),
    default_string=(OMITTED, DEFAULTS["string"]),
    keys_floats=(listed("T1", "float", KEYS),),
    keys_int64s=(listed("T1", "int64", KEYS),),
    keys_strings=(listed("T1", "string", KEYS),),
    values_floats=(listed("T2", "float", VALUES),),
    values_int64s=(listed("T2", "int64", VALUES),),
    values_strings=(listed("T2", "string", VALUES),),
)
def label_encoder_2(X: np.ndarray, *, T2: ElementType, **given: Any) -> np.ndarray:
    """Each of the keys, told by its bits, "would be mapped to the i-th value in the specified 'values_*' attribute"."""
    return mapping_of(given, T2, bits)(X)


def tensor_of(variable: str, pool: dict[str, list[Any]]) -> Callable[[Types], onnx.TensorProto]:
    """An attribute that is a tensor of the type that a variable stands for."""

    def value(types: Types) -> onnx.TensorProto:
        of = element_in(parse_type(types[variable]))
        return to_proto(np.array(pool[of.name], of.dtype), TensorType(of))

    return value


def repeated(pool: dict[str, list[Any]], *places: int) -> dict[str, list[Any]]:
    """The lists with some of their elements once more at the end."""
    return {of: [*values, *(values[place] for place in places)] for of, values in pool.items()}


REPEATED = repeated(KEYS, 0, 2)
LONGER = repeated(VALUES, 3, 0)
LISTED = {f"tensor({of})" for of in LISTS}


def is_list(type_: str, of: str, tensor: Any) -> bool:
    """Whether a list stands for values of the type, since there is no tensor."""
    return type_ == f"tensor({of})" and tensor is OMITTED


@operator(
    "LabelEncoder",
    domain="ai.onnx.ml",
    since=4,
    exact=True,
    on_storage=True,
    constraints=[
        # "One and only one of 'keys_*'s should be set", as for 'values_*': a list where the type has one, or a tensor.
        lambda T1, keys_tensor: keys_tensor is not OMITTED or T1 in LISTED,
        lambda T1, keys_tensor, keys_floats: (keys_floats is not OMITTED) == is_list(T1, "float", keys_tensor),
        lambda T1, keys_tensor, keys_int64s: (keys_int64s is not OMITTED) == is_list(T1, "int64", keys_tensor),
        lambda T1, keys_tensor, keys_strings: (keys_strings is not OMITTED) == is_list(T1, "string", keys_tensor),
        lambda T2, values_tensor: values_tensor is not OMITTED or T2 in LISTED,
        lambda T2, values_tensor, values_floats: (values_floats is not OMITTED) == is_list(T2, "float", values_tensor),
        lambda T2, values_tensor, values_int64s: (values_int64s is not OMITTED) == is_list(T2, "int64", values_tensor),
        lambda T2, values_tensor, values_strings: (
            (values_strings is not OMITTED) == is_list(T2, "string", values_tensor)
        ),
        lambda default_float, values_floats: default_float == OMITTED or values_floats is not OMITTED,
        lambda default_int64, values_int64s: default_int64 == OMITTED or values_int64s is not OMITTED,
        lambda default_string, values_strings: default_string == OMITTED or values_strings is not OMITTED,
        lambda default_tensor, values_tensor: default_tensor is OMITTED or values_tensor is not OMITTED,
    ],
    default_float=(OMITTED, DEFAULTS["float"]),
    default_int64=(OMITTED, DEFAULTS["int64"]),
    default_string=(OMITTED, DEFAULTS["string"]),
    default_tensor=(OMITTED, tensor_of("T2", {of: [value] for of, value in DEFAULTS.items()})),
    keys_floats=(OMITTED, REPEATED["float"]),
    keys_int64s=(OMITTED, REPEATED["int64"]),
    keys_strings=(OMITTED, texts(REPEATED["string"])),
    keys_tensor=(OMITTED, tensor_of("T1", REPEATED)),
    values_floats=(OMITTED, LONGER["float"]),
    values_int64s=(OMITTED, LONGER["int64"]),
    values_strings=(OMITTED, texts(LONGER["string"])),
    values_tensor=(OMITTED, tensor_of("T2", LONGER)),
)
def label_encoder_4(X: np.ndarray, *, T2: ElementType, **given: Any) -> np.ndarray:
    """As in version 2, with tensors for other types; "If a key is repeated, the last key takes precedence."."""
    return mapping_of(given, T2, value_or_nan)(X)


def every_key(draw: Draw) -> Iterator[Sample]:
    """Every key in both orders, and between them what is near one and none."""
    keys = _keys(draw)
    yield Sample({"X": _tensor(draw, [*keys, *_near(draw), *keys[::-1]])})


def shapes(draw: Draw) -> Iterator[Sample]:
    """0-D, no elements, rank 4."""
    for shape in ((), (2, 0, 3), (3, 1, 2, 4)):
        yield Sample({"X": _tensor(draw, [*_near(draw), *_keys(draw)], shape)})


def special_values(draw: Draw) -> Iterator[Sample]:
    """The special values of a float type without NaN and -0, which 0, that is a key, equals."""
    some = [v for v in draw.T1.specials() if not np.isnan(v) and (v or not np.signbit(v))]
    yield Sample({"X": _tensor(draw, some)})


def not_a_number(draw: Draw) -> Iterator[Sample]:
    """NaN of the bits that the key has, then of other bits and the other sign, beside values that are keys or none."""
    code = draw.T1.element.dtype.str.replace("f", "u")
    plain = np.array(NAN, draw.T1.element.dtype)
    others = [plain.view(code) | 1, plain.view(code) ^ np.array(-0.0, plain.dtype).view(code), plain.view(code) | 5]
    some = np.array([*draw.T1(_keys(draw)), *(bits.view(plain.dtype) for bits in others), plain], plain.dtype)
    yield Sample({"X": np.resize(some, SHAPE)})


def minus_zero(draw: Draw) -> Iterator[Sample]:
    """-0 where 0 is a key: other bits, and an equal value."""
    yield Sample({"X": _tensor(draw, [-0.0, 0.0, 3.0, -0.0])})


ZEROS = (
    "LabelEncoder-4 says how NaN is looked up, and no longer that bits are compared: whether -0 is the key 0 is open."
)

for one in (label_encoder_2, label_encoder_4):
    one.inputs()(every_key)
    one.inputs(T1=("string", "int64"))(shapes)
    one.inputs(T1="float")(special_values)
    one.inputs(T1="float")(not_a_number)
label_encoder_2.inputs(T1="float")(minus_zero)
label_encoder_4.inputs(T1="float", unspecified=ZEROS)(minus_zero)


def _keys(draw: Draw) -> list[Any]:
    return KEYS[draw.T1.element.name]


def _near(draw: Draw) -> list[Any]:
    """What no key is."""
    match draw.T1.element.kind:
        case "string":
            return ["CAT", "cat ", " ", "nan", "_Unused", "two  words"]
        case "float":
            tenth = draw.T1(0.1)
            return [np.nextafter(tenth, draw.T1(0)), np.nextafter(tenth, draw.T1(1)), 2.5, float("-inf"), -0.1, 1e-45]
        case _:
            return [KEYS["int16"][2] - 1, 4, 7, -1, 2**14, -3]


def _tensor(draw: Draw, values: list[Any], shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.resize(np.array(values, draw.T1.element.dtype), shape)


label_encoder_4.example(
    "test_ai_onnx_ml_label_encoder_string_int",
    np.array(["a", "b", "d", "c", "g"], object),
    keys_strings=[b"a", b"b", b"c"],
    values_int64s=[0, 1, 2],
    default_int64=42,
    gives=[0, 1, 42, 2, 42],
)
label_encoder_4.example(
    "test_ai_onnx_ml_label_encoder_string_int_no_default",
    np.array(["a", "b", "d", "c", "g"], object),
    keys_strings=[b"a", b"b", b"c"],
    values_int64s=[0, 1, 2],
    gives=[0, 1, -1, 2, -1],
)
