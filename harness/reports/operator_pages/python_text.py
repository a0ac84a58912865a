"""Small values, attributes and types as Python expressions that evaluate to them."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable

import numpy as np
import onnx

from harness.spec.codec import decode
from harness.spec.element_types import element_type
from harness.spec.values import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Value,
    ValueType,
    tensors_in,
)

ELEMENTS = 64
"""The maximum number of elements of a value that is written as an expression."""
_CHARACTERS = 8000
"""The maximum length of such an expression."""
_WIDTH = 100


def value_text(value: Value) -> str | None:
    """The expression of a value, using ``np`` and ``ml_dtypes``. None if it is too large, a map or sparse."""
    if sum(array.size for array in tensors_in(value)) > ELEMENTS:
        return None
    text = _value(value)
    return text if text and len(text) <= _CHARACTERS else None


def _value(value: Value) -> str | None:
    match value:
        case np.ndarray():
            return array_text(value)
        case None:
            return "None"
        case list():
            items = [text for item in value if (text := _value(item))]
            lines = "\n".join(f"{indented(item)}," for item in items)
            return (f"[\n{lines}\n]" if lines else "[]") if len(items) == len(value) else None
        case _:
            return None


def array_text(array: np.ndarray) -> str:
    """``np.array([[1, 2]], dtype=np.int64)``, with the same shape, dtype and values. NaN payloads are lost."""
    if not array.size:
        return f"np.zeros({array.shape}, dtype={_dtype(array.dtype)})"
    texts = [_element_formatter(array.dtype)(item) for item in array.reshape(-1)]
    if array.dtype != object:
        width = max(map(len, texts))
        texts = [text.rjust(width) for text in texts]
    elements = np.array(texts, object).reshape(array.shape)
    text = np.array2string(
        elements, formatter={"all": str}, separator=", ", threshold=sys.maxsize, max_line_width=_WIDTH
    )
    dtype = f"dtype={_dtype(array.dtype)}"
    whole = f"np.array({text}, {dtype})"
    return whole if "\n" not in text and len(whole) <= _WIDTH else f"np.array(\n{indented(text)},\n    {dtype},\n)"


def first_elements(value: Value, number: int) -> str:
    """The first ``number`` elements of a value, as text."""
    arrays = list(tensors_in(value))
    texts = [_element_formatter(array.dtype)(item) for array in arrays for item in array.reshape(-1)[:number]]
    return ", ".join(text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…" for text in texts[:number])


def attribute_text(attribute: onnx.AttributeProto) -> str | None:
    """The expression to pass to ``make_node`` for an attribute. None if it is a graph, a type or too large."""
    value = onnx.helper.get_attribute_value(attribute)
    match value:
        case onnx.TensorProto():
            return _tensor(value)
        case int() | float() | bytes():
            return _scalar(value)
        case onnx.GraphProto() | onnx.TypeProto() | onnx.SparseTensorProto():
            return None
        case _:
            items = list(value)
            if not 0 < len(items) <= ELEMENTS or not all(isinstance(item, int | float | bytes) for item in items):
                return None
            return f"[{', '.join(map(_scalar, items))}]"


def type_text(of: ValueType) -> str | None:
    """The expression of the TypeProto of a type, without shapes. None for maps and sparse tensors."""
    match of:
        case TensorType():
            name = onnx.TensorProto.DataType.Name(onnx.helper.np_dtype_to_tensor_dtype(of.element.dtype))
            return f"onnx.helper.make_tensor_type_proto(onnx.TensorProto.{name}, None)"
        case SequenceType():
            return f"onnx.helper.make_sequence_type_proto({type_text(of.of)})"
        case OptionalType():
            return f"onnx.helper.make_optional_type_proto({type_text(of.of)})"
        case MapType() | SparseTensorType():
            return None


def quoted(text: str) -> str:
    """The text as a string literal in double quotes. JSON and Python have the same syntax for these."""
    return json.dumps(text, ensure_ascii=False)


def indented(text: str) -> str:
    """The text indented by four columns. Blank lines stay empty."""
    return textwrap.indent(text, "    ")


def _tensor(tensor: onnx.TensorProto) -> str | None:
    of = TensorType(element_type(tensor.data_type))
    array = value_text(decode(tensor.SerializeToString(), of))
    return array and f"onnx.numpy_helper.from_array({array}, name={quoted(tensor.name)})"


def _scalar(value: float | bytes) -> str:
    match value:
        case float():
            return _number(np.float32(value))
        case bytes():
            text = value.decode(errors="replace")
            return quoted(text) if text.encode() == value else repr(value)
        case _:
            return repr(value)


def _dtype(of: np.dtype) -> str:
    if of.kind in "Ob":
        return of.name
    return f"np.{of.name}" if hasattr(np, of.name) else f"ml_dtypes.{of.name}"


def _element_formatter(of: np.dtype) -> Callable[[object], str]:
    """Returns a function that writes an element of this dtype as an expression."""
    if of.kind in "OUT":
        return lambda item: quoted(str(item))
    if of.kind == "b":
        return lambda item: repr(bool(item))
    if of.kind == "c":
        return lambda item: f"complex({_number(item.real)}, {_number(item.imag)})"  # pyright: ignore[reportAttributeAccessIssue]
    return _number if element_type(of).format else lambda item: repr(int(item))  # pyright: ignore[reportArgumentType]


def _number(item: object) -> str:
    """The shortest text that evaluates to the float: ``str`` in NumPy and ml_dtypes."""
    text = str(item)
    sign, name = ("-", text[1:]) if text.startswith("-") else ("", text)
    if name in {"nan", "inf"}:
        return f"{sign}np.{name}"
    # ml_dtypes writes whole numbers as integers, which have no -0.
    return text if set(text) & set(".e") else f"{text}.0"
