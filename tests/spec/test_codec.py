import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import onnx
import pytest
from hypothesis import given
from onnx import numpy_helper

from harness.spec.codec import BrokenValue, decode, encode, pack, unpack
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES, ElementType
from harness.spec.values import (
    SparseTensor,
    TensorType,
    UnknownValueType,
    parse_type,
    proto_of_type,
    type_of_proto,
    type_of_value,
)

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)


@st.composite
def arrays(draw: st.DrawFn, of: ElementType) -> np.ndarray:
    """Any bits at all in any shape; text for strings, without NUL, which onnx loses at the end."""
    shape = draw(SHAPES)
    count = int(np.prod(shape))
    if of.kind == "string":
        texts = draw(
            st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=count, max_size=count)
        )
        array = np.empty(count, object)
        array[:] = texts
        return array.reshape(shape)
    raw = draw(st.binary(min_size=count * of.dtype.itemsize, max_size=count * of.dtype.itemsize))
    codes = np.frombuffer(raw, np.uint8)
    if of.bits < 8:
        codes = codes & (2**of.bits - 1)
    if of.kind == "bool":
        codes = codes & 1
    return codes.astype(np.uint8).view(of.dtype).reshape(shape)


def bits(array: np.ndarray) -> object:
    return array.tolist() if array.dtype == object else array.tobytes()


@pytest.mark.parametrize("of", ELEMENT_TYPES, ids=str)
@given(data=st.data())
def test_tensors_come_back_bit_for_bit(of: ElementType, data: st.DataObject):
    array = data.draw(arrays(of))
    back = decode(encode(array, TensorType(of), "x"), TensorType(of))
    assert isinstance(back, np.ndarray)
    assert (back.dtype, back.shape, bits(back)) == (array.dtype, array.shape, bits(array))


@pytest.mark.parametrize("of", ELEMENT_TYPES, ids=str)
@given(data=st.data())
def test_onnx_reads_and_writes_the_same_bytes(of: ElementType, data: st.DataObject):
    array = data.draw(arrays(of))
    ours = encode(array, TensorType(of), "x")
    assert ours == numpy_helper.from_array(array, "x").SerializeToString(deterministic=True)
    theirs = numpy_helper.to_array(onnx.TensorProto.FromString(ours))
    assert (theirs.dtype, theirs.shape, bits(theirs)) == (array.dtype, array.shape, bits(array))


@pytest.mark.parametrize("of", ELEMENT_TYPES, ids=str)
def test_typed_fields_are_read_as_onnx_writes_them(of: ElementType):
    if of.kind == "string":
        array = np.array(["", "ß", "a"], object)
    else:
        codes = np.arange(1, 3 * of.dtype.itemsize + 1, dtype=np.uint8) & (2 ** min(of.bits, 7) - 1)
        array = (codes & 1 if of.kind == "bool" else codes).view(of.dtype)
    field = onnx.helper.make_tensor("x", of.code, [3], array)
    assert not field.raw_data
    back = decode(field.SerializeToString(), TensorType(of))
    assert isinstance(back, np.ndarray)
    assert bits(back) == bits(array)


FLOATS = np.float32([[1, 2, 3], [4, 5, np.nan]])
STRUCTURES = {
    "seq(tensor(float))": [FLOATS, FLOATS[:1], np.array(7, np.float32)],
    "seq(tensor(string))": [np.array(["a", ""], object)],
    "seq(seq(tensor(float)))": [[FLOATS], []],
    "optional(tensor(float))": FLOATS,
    "optional(seq(tensor(float)))": [FLOATS],
    "optional(tensor(int4))": None,
    "map(int64,tensor(float))": {3: FLOATS, -1: FLOATS[0]},
    "map(string,tensor(float))": {"ß": FLOATS, "": FLOATS[0]},
    "seq(map(int64,tensor(float)))": [{1: FLOATS}, {}],
    "sparse_tensor(float)": SparseTensor(np.float32([1, 2]), np.int64([[0, 1], [2, 2]]), (3, 3)),
}


def same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return (a.dtype, a.shape, bits(a)) == (b.dtype, b.shape, bits(b))
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        return same(a.values, b.values) and same(a.indices, b.indices) and a.dims == b.dims
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b is None


@pytest.mark.parametrize("text", STRUCTURES)
def test_structures_come_back(text: str):
    of = parse_type(text)
    value = STRUCTURES[text]
    assert str(of) == text
    assert same(decode(encode(value, of, "x"), of), value)
    assert type_of_proto(proto_of_type(of)) == of
    if value is not None and not text.startswith("optional"):
        assert str(type_of_value(value)) == text


@pytest.mark.parametrize(
    ("text", "write", "value"),
    [
        ("seq(tensor(float))", numpy_helper.from_list, [FLOATS, FLOATS]),
        ("optional(tensor(float))", numpy_helper.from_optional, FLOATS),
        ("optional(tensor(float))", numpy_helper.from_optional, None),
        ("map(int64,tensor(float))", numpy_helper.from_dict, {1: FLOATS}),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of NumPy, about what onnx's from_dict does
def test_structures_are_written_as_onnx_writes_them(text: str, write: object, value: object):
    assert encode(value, parse_type(text), "x") == write(value, "x").SerializeToString(deterministic=True)


def test_the_older_spelling_of_maps_means_the_same():
    assert parse_type("map(int64, float)") == parse_type("map(int64,tensor(float))")


FLOAT = parse_type("tensor(float)")


def tensor(**fields: object) -> bytes:
    return onnx.TensorProto(data_type=1, **fields).SerializeToString()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (encode(FLOATS, FLOAT)[:-1], "no TensorProto"),
        (b"\xff\xff\xff", "no TensorProto"),
        (encode(np.float64([1]), parse_type("tensor(double)")), "holds double, not float"),
        (onnx.TensorProto(data_type=77).SerializeToString(), "type number 77"),
        (b"", "type number 0"),
        (tensor(dims=[3], raw_data=b"\0" * 8), "do not hold 3"),
        (tensor(dims=[2**40, 2**40], raw_data=b"\0" * 8), "do not hold"),
        (tensor(dims=[-1], raw_data=b""), "shape"),
        (tensor(dims=[3], float_data=[1, 2]), "holds 2 elements"),
        (tensor(dims=[1], data_location=1), "another file"),
    ],
)
def test_broken_tensors_are_refused(data: bytes, says: str):
    with pytest.raises(BrokenValue, match=says):
        decode(data, FLOAT)


def test_bytes_that_are_no_utf8_are_refused():
    data = onnx.TensorProto(data_type=8, dims=[1], string_data=[b"\xff"]).SerializeToString()
    with pytest.raises(BrokenValue, match="UTF-8"):
        decode(data, parse_type("tensor(string)"))
    with pytest.raises(BrokenValue, match="UTF-8"):
        encode(np.array(["\udcff"], object), parse_type("tensor(string)"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64([1]), "tensor(float)"),
        ([1.0], "tensor(float)"),
        (None, "tensor(float)"),
        (FLOATS, "seq(tensor(float))"),
        (np.array([0], object), "tensor(string)"),
        ({1: FLOATS}, "seq(tensor(float))"),
    ],
)
def test_values_of_another_type_are_refused(value: object, text: str):
    with pytest.raises(BrokenValue):
        encode(value, parse_type(text))


@pytest.mark.parametrize("text", ["tensor", "list(tensor(float))", "", "tensor(float", "seq()"])
def test_what_is_no_type_is_refused(text: str):
    with pytest.raises(UnknownValueType):
        parse_type(text)


@given(st.binary(max_size=64))
def test_packing_fills_bytes_from_the_low_bits_on(codes: bytes):
    values = np.frombuffer(codes, np.uint8)
    for name in ("uint2", "uint4", "float6e2m3"):
        of = BY_NAME[name]
        cut = values & (2**of.bits - 1)
        number = int.from_bytes(pack(cut.view(of.dtype), of), "little")
        assert [(number >> (of.bits * i)) & (2**of.bits - 1) for i in range(len(cut))] == cut.tolist()
        assert unpack(pack(cut.view(of.dtype), of), of, len(cut)).tobytes() == cut.tobytes()
