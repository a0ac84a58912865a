"""The values and the types that ONNX passes between nodes: tensors, sequences, optionals, maps and sparse tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias, Union

import msgspec
import numpy as np
import onnx

from harness.errors import UsageError
from harness.spec.element_types import BY_NAME, ElementType, element_type


class SparseTensor(msgspec.Struct, frozen=True, eq=False):
    """A sparse tensor as SparseTensorProto has it: ``values`` [NNZ], ``indices`` [NNZ] or [NNZ, rank]."""

    values: np.ndarray
    indices: np.ndarray
    dims: tuple[int, ...]


Value: TypeAlias = Union[np.ndarray, SparseTensor, "list[Value]", "dict[int | str, Value]", None]
"""A tensor is an array (of ``str`` objects for strings), an absent optional is None."""


class TensorType(msgspec.Struct, frozen=True):
    """``tensor(float)``."""

    element: ElementType

    def __str__(self) -> str:
        return f"tensor({self.element.name})"


class SparseTensorType(msgspec.Struct, frozen=True):
    """``sparse_tensor(float)``."""

    element: ElementType

    def __str__(self) -> str:
        return f"sparse_tensor({self.element.name})"


class SequenceType(msgspec.Struct, frozen=True):
    """``seq(tensor(float))``."""

    of: ValueType

    def __str__(self) -> str:
        return f"seq({self.of})"


class OptionalType(msgspec.Struct, frozen=True):
    """``optional(tensor(float))``."""

    of: ValueType

    def __str__(self) -> str:
        return f"optional({self.of})"


class MapType(msgspec.Struct, frozen=True):
    """``map(int64,tensor(float))``; the schemas' older spelling ``map(int64, float)`` means the same."""

    key: ElementType
    of: ValueType

    def __str__(self) -> str:
        return f"map({self.key.name},{self.of})"


ValueType: TypeAlias = TensorType | SparseTensorType | SequenceType | OptionalType | MapType


class Typed(msgspec.Struct, frozen=True, eq=False):
    """A value with its type, which the value alone need not tell: an empty sequence, an optional."""

    of: ValueType
    value: Value


class UnknownValueType(UsageError):
    """A type string, a TypeProto or a Python object that is none of ONNX's value types."""


@cache
def parse_type(text: str) -> ValueType:
    """The type that a schema spells so, e.g. ``optional(seq(tensor(float16)))``.

    Raises UnknownValueType, and UnknownElementType for the name inside.
    """
    match = re.fullmatch(r"(tensor|sparse_tensor|seq|optional|map)\((.*)\)", text.strip())
    if match is None:
        raise UnknownValueType(f"{text!r} is no ONNX type.", "Write it as a schema does, e.g. seq(tensor(float)).")
    outer, inner = match.groups()
    if outer == "tensor":
        return TensorType(element_type(inner))
    if outer == "sparse_tensor":
        return SparseTensorType(element_type(inner))
    if outer == "map":
        key, of = (part.strip() for part in inner.split(",", 1))
        return MapType(element_type(key), TensorType(BY_NAME[of]) if of in BY_NAME else parse_type(of))
    return (SequenceType if outer == "seq" else OptionalType)(parse_type(inner))


def element_in(of: ValueType) -> ElementType:
    """The element type of the tensors in values of a type, however deep."""
    return of.element if isinstance(of, TensorType | SparseTensorType) else element_in(of.of)


def tensors_in(value: Value) -> Iterator[np.ndarray]:
    """The tensors in a value, however deep; of a sparse one its values."""
    match value:
        case np.ndarray():
            yield value
        case SparseTensor():
            yield value.values
        case list() | dict():
            for item in value if isinstance(value, list) else value.values():
                yield from tensors_in(item)
        case None:
            pass


def type_code(text: str) -> int:
    """The number in TensorProto of the element type of ``tensor(…)``, as attributes such as ``to`` state it.

    Raises UnknownValueType for what is no tensor.
    """
    of = parse_type(text)
    if not isinstance(of, TensorType):
        raise UnknownValueType(f"{text} has no element type of its own.")
    return of.element.code


def type_of_proto(proto: onnx.TypeProto) -> ValueType:
    """The type that a TypeProto states. Raises UnknownValueType where it states none."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return TensorType(element_type(proto.tensor_type.elem_type))
        case "sparse_tensor_type":
            return SparseTensorType(element_type(proto.sparse_tensor_type.elem_type))
        case "sequence_type":
            return SequenceType(type_of_proto(proto.sequence_type.elem_type))
        case "optional_type":
            return OptionalType(type_of_proto(proto.optional_type.elem_type))
        case "map_type":
            return MapType(element_type(proto.map_type.key_type), type_of_proto(proto.map_type.value_type))
        case other:
            raise UnknownValueType(f"A TypeProto of {other or 'no kind'} is none that tests use.")


def proto_of_type(of: ValueType, shape: tuple[int | str | None, ...] | None = None) -> onnx.TypeProto:
    """The TypeProto of a type; ``shape`` is stated for the tensor inside, however deep."""
    proto = onnx.TypeProto()
    match of:
        case TensorType() | SparseTensorType():
            tensor = proto.tensor_type if isinstance(of, TensorType) else proto.sparse_tensor_type
            tensor.elem_type = of.element.code
            if shape is not None:
                tensor.shape.SetInParent()
                for size in shape:
                    dim = tensor.shape.dim.add()
                    if isinstance(size, int):
                        dim.dim_value = size
                    elif size is not None:
                        dim.dim_param = size
        case SequenceType():
            proto.sequence_type.elem_type.CopyFrom(proto_of_type(of.of, shape))
        case OptionalType():
            proto.optional_type.elem_type.CopyFrom(proto_of_type(of.of, shape))
        case MapType():
            proto.map_type.key_type = of.key.code
            proto.map_type.value_type.CopyFrom(proto_of_type(of.of, shape))
    return proto


def type_of_value(value: object) -> ValueType | None:
    """The type of what a backend returned, as far as the object shows it (None where it shows nothing: None, [], {}).

    Raises UnknownValueType or UnknownElementType for an object that is no ONNX value.
    """
    match value:
        case np.ndarray():
            return TensorType(element_type(value.dtype))
        case SparseTensor():
            return SparseTensorType(element_type(value.values.dtype))
        case list() | tuple():
            inner = type_of_value(value[0]) if value else None
            return SequenceType(inner) if inner else None
        case dict():
            for key, item in value.items():
                inner = type_of_value(item)
                return MapType(BY_NAME["string" if isinstance(key, str) else "int64"], inner) if inner else None
            return None
        case None:
            return None
        case _:
            raise UnknownValueType(
                f"A {type(value).__module__}.{type(value).__qualname__} is no ONNX value.",
                "Return numpy arrays for tensors, lists for sequences, dicts for maps and None for an empty optional.",
            )
