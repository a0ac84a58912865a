"""The form of values on disk: arrays and structures to the bytes of TensorProto, SequenceProto … and back."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from harness.errors import ConformanceError
from harness.spec.element_types import BY_NAME, ElementType, UnknownElementType, element_type
from harness.spec.values import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensor,
    SparseTensorType,
    TensorType,
    Value,
    ValueType,
)

_LITTLE = sys.byteorder == "little"


class BrokenValue(ConformanceError):
    """Bytes that are not the value they should be, or a value that its stated type cannot hold."""


def encode(value: Value, of: ValueType, name: str = "") -> bytes:
    """The bytes of the proto that ONNX writes for a value of this type; the same value gives the same bytes.

    Raises BrokenValue where the value is not of the type.
    """
    return to_proto(value, of, name).SerializeToString(deterministic=True)


def decode(data: bytes, of: ValueType) -> Value:
    """The value in the bytes of a proto of this type; arrays are read-only views where they can be.

    Raises BrokenValue for bytes that do not parse, hold another type, or fewer or more elements than their shape.
    """
    proto = _PROTOS[type(of)]()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise BrokenValue(f"{len(data)} bytes are no {type(proto).__name__}: {error}.") from error
    return from_proto(proto, of)


def same_bits(one: bytes, other: bytes) -> bool:
    """Whether two files hold the same tensor, bit for bit, told without unpacking it; False where that cannot tell.

    Names do not matter. Raises BrokenValue for bytes that do not parse.
    """
    a, b = onnx.TensorProto(), onnx.TensorProto()
    try:
        a.ParseFromString(one)
        b.ParseFromString(other)
    except DecodeError as error:
        raise BrokenValue(f"Bytes are no TensorProto: {error}.") from error
    return (
        a.HasField("raw_data")
        and a.raw_data == b.raw_data
        and a.data_type == b.data_type
        and a.dims == b.dims
        and not (a.data_location or b.data_location)
        and math.prod(a.dims) * element_type(a.data_type).bits == 8 * len(a.raw_data)
    )


def to_proto(value: Value, of: ValueType, name: str = "") -> Any:
    """The proto message for a value of this type. Raises BrokenValue."""
    proto = _PROTOS[type(of)]()
    if name:
        (proto.values if isinstance(of, SparseTensorType) else proto).name = name
    match of:
        case TensorType() if isinstance(value, np.ndarray):
            _write_tensor(proto, value, of.element)
        case SparseTensorType() if isinstance(value, SparseTensor):
            _write_tensor(proto.values, value.values, of.element)
            _write_tensor(proto.indices, value.indices, BY_NAME["int64"])
            proto.dims.extend(value.dims)
        case SequenceType() if isinstance(value, list | tuple):
            _write_sequence(proto, value, of.of)
        case OptionalType():
            proto.elem_type = onnx.OptionalProto.UNDEFINED
            if value is not None:
                proto.elem_type, field = _IN_OPTIONAL[type(of.of)]
                getattr(proto, field).CopyFrom(to_proto(value, of.of))
        case MapType() if isinstance(value, dict):
            proto.key_type = of.key.code
            if of.key.kind == "string":
                proto.string_keys.extend(str(key).encode() for key in value)
            else:
                proto.keys.extend(int(key) for key in value)
            _write_sequence(proto.values, value.values(), of.of)
        case _:
            raise BrokenValue(f"A {type(value).__name__} is no value of {of}.")
    return proto


def from_proto(proto: Any, of: ValueType) -> Value:
    """The value in a proto message of this type. Raises BrokenValue."""
    match of:
        case TensorType():
            return _read_tensor(proto, of.element)
        case SparseTensorType():
            indices = _read_tensor(proto.indices, BY_NAME["int64"])
            return SparseTensor(_read_tensor(proto.values, of.element), indices, tuple(proto.dims))
        case SequenceType():
            return [from_proto(item, of.of) for item in getattr(proto, _IN_SEQUENCE[type(of.of)][1])]
        case OptionalType():
            code, field = _IN_OPTIONAL[type(of.of)]
            return from_proto(getattr(proto, field), of.of) if proto.elem_type == code else None
        case MapType():
            keys = [_text(key) for key in proto.string_keys] if of.key.kind == "string" else list(proto.keys)
            values = [from_proto(item, of.of) for item in getattr(proto.values, _IN_SEQUENCE[type(of.of)][1])]
            if len(keys) != len(values):
                raise BrokenValue(f"A map has {len(keys)} keys and {len(values)} values.")
            return dict(zip(keys, values, strict=True))


_PROTOS: dict[type, Any] = {
    TensorType: onnx.TensorProto,
    SparseTensorType: onnx.SparseTensorProto,
    SequenceType: onnx.SequenceProto,
    OptionalType: onnx.OptionalProto,
    MapType: onnx.MapProto,
}
_IN_SEQUENCE = {
    TensorType: (onnx.SequenceProto.TENSOR, "tensor_values"),
    SparseTensorType: (onnx.SequenceProto.SPARSE_TENSOR, "sparse_tensor_values"),
    SequenceType: (onnx.SequenceProto.SEQUENCE, "sequence_values"),
    MapType: (onnx.SequenceProto.MAP, "map_values"),
    OptionalType: (onnx.SequenceProto.OPTIONAL, "optional_values"),
}
_IN_OPTIONAL = {
    TensorType: (onnx.OptionalProto.TENSOR, "tensor_value"),
    SparseTensorType: (onnx.OptionalProto.SPARSE_TENSOR, "sparse_tensor_value"),
    SequenceType: (onnx.OptionalProto.SEQUENCE, "sequence_value"),
    MapType: (onnx.OptionalProto.MAP, "map_value"),
    OptionalType: (onnx.OptionalProto.OPTIONAL, "optional_value"),
}


def _write_sequence(proto: onnx.SequenceProto, items: Iterable[Value], of: ValueType) -> None:
    proto.elem_type, field = _IN_SEQUENCE[type(of)]
    getattr(proto, field).extend(to_proto(item, of) for item in items)


def _write_tensor(proto: onnx.TensorProto, array: np.ndarray, element: ElementType) -> None:
    proto.data_type = element.code
    proto.dims.extend(array.shape)
    if element.kind == "string":
        try:
            proto.string_data.extend(_utf8(item) for item in array.ravel().tolist())
        except UnicodeEncodeError as error:
            raise BrokenValue(f"A string tensor holds text that is no UTF-8: {error}.") from error
        return
    if element.dtype != array.dtype.newbyteorder("="):
        raise BrokenValue(f"An array of {array.dtype} is no tensor({element.name}).")
    proto.raw_data = pack(array, element)


def _utf8(item: object) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise BrokenValue(f"A string tensor holds {item!r:.40} ({type(item).__name__}), which is no text.")


def pack(array: np.ndarray, element: ElementType) -> bytes:
    """The ``raw_data`` of an array: little-endian, elements narrower than a byte packed from the low bits on."""
    if element.bits in (2, 4, 6):
        codes = np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8)
        bits = np.unpackbits(codes, axis=1, bitorder="little")[:, : element.bits]
        return np.packbits(bits.reshape(-1), bitorder="little").tobytes()
    native = array.astype(element.dtype, copy=False)
    return (native if _LITTLE else native.byteswap()).tobytes()


def unpack(raw: bytes, element: ElementType, count: int) -> np.ndarray:
    """The ``count`` elements in ``raw_data``, a flat array. Raises BrokenValue where its length does not fit."""
    if len(raw) != -(-count * element.bits // 8):
        raise BrokenValue(f"{len(raw)} bytes of raw_data do not hold {count} elements of {element.name}.")
    if element.bits in (2, 4, 6):
        bits = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[: count * element.bits]
        return np.packbits(bits.reshape(count, element.bits), axis=1, bitorder="little").reshape(-1).view(element.dtype)
    native = np.frombuffer(raw, element.dtype)
    return native if _LITTLE else native.byteswap()


def _read_tensor(proto: onnx.TensorProto, element: ElementType) -> np.ndarray:
    if proto.data_type != element.code:
        raise BrokenValue(f"A tensor holds {_name(proto.data_type)}, not {element.name}.")
    if proto.data_location == onnx.TensorProto.EXTERNAL or proto.HasField("segment"):
        raise BrokenValue("A tensor keeps its data in another file or in segments, which no test may.")
    dims = tuple(proto.dims)
    if any(size < 0 for size in dims):
        raise BrokenValue(f"A tensor has the shape {list(dims)}.")
    count = math.prod(dims)
    if element.kind == "string":
        flat = np.array([_text(item) for item in proto.string_data] or None, dtype=object).reshape(-1)
        flat = flat if proto.string_data else flat[:0]
    elif proto.HasField("raw_data"):
        flat = unpack(proto.raw_data, element, count)
    else:
        flat = _read_fields(proto, element, count)
    if flat.size != count:
        raise BrokenValue(f"A tensor of shape {list(dims)} holds {flat.size} elements.")
    return flat.reshape(dims)


def _read_fields(proto: onnx.TensorProto, element: ElementType, count: int) -> np.ndarray:
    """The typed fields of TensorProto (onnx.proto says which serves which type), a flat array."""
    match element.name:
        case "float":
            return np.array(proto.float_data, np.float32)
        case "double":
            return np.array(proto.double_data, np.float64)
        case "complex64":
            return np.array(proto.float_data, np.float32).view(np.complex64)
        case "complex128":
            return np.array(proto.double_data, np.float64).view(np.complex128)
        case "int64":
            return np.array(proto.int64_data, np.int64)
        case "uint32" | "uint64":
            return np.array(proto.uint64_data, np.uint64).astype(element.dtype)
        case _:
            words = np.array(proto.int32_data, np.int32)
    if element.bits in (2, 4):
        return unpack(words.astype(np.uint8).tobytes()[: -(-count * element.bits // 8)], element, count)
    if element.bits == 6:
        words &= 0x3F
    width = np.dtype(f"u{element.dtype.itemsize}")
    return words.view(np.uint32).astype(width).view(element.dtype)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BrokenValue(f"A string tensor holds bytes that are no UTF-8: {error}.") from error


def _name(code: int) -> str:
    try:
        return element_type(code).name
    except UnknownElementType:
        return f"type number {code}"
