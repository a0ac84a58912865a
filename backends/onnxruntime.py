"""Runs ONNX Runtime on the CPU, with every element type that it registers."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime

from harness.backend import Description, MissingRequirement, PreparedModel, Unsupported, Value
from harness.spec.codec import pack, unpack
from harness.spec.element_types import element_type
from harness.spec.values import MapType, SequenceType, TensorType, ValueType, element_in, parse_type

_NUMPY = {"float", "double", "float16", "bool", "string"} | {
    f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)
}
"""Element types that run() takes and returns as NumPy arrays. It converts or rejects the others."""

_DECLINED = re.compile(
    r"is not a registered function/op|No Op registered for"
    r"|Could not find an implementation|Failed to find kernel|is not currently registered or supported"
)
"""Messages of a Fail about an operator, kernel or data type that does not exist. Any other Fail is an error."""

_LOCALE = re.compile(r"Failed to construct locale with name:([^:]+)")


class OnnxRuntimeBackend:
    """CPUExecutionProvider with one thread and the default graph optimizations."""

    SCRIPT = """\
import ctypes
import re

import onnxruntime


def run(model, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = dict(zip((info.name for info in session.get_inputs()), inputs))
    types = " ".join(info.type for info in (*session.get_inputs(), *session.get_outputs()))
    if not re.search("bfloat|float[468]|int[24][)]", types):
        return session.run(None, feeds)
    # Pass types that run() converts or rejects as packed bytes in OrtValues.
    binding, held = session.io_binding(), []
    for name, value in feeds.items():
        tensor = numpy_helper.from_array(value)
        held.append(onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(tensor.dims), tensor.data_type))
        ctypes.memmove(held[-1].data_ptr(), tensor.raw_data, len(tensor.raw_data))
        binding.bind_ortvalue_input(name, held[-1])
    for info in session.get_outputs():
        binding.bind_output(info.name)
    session.run_with_iobinding(binding)
    return [fetched(value) for value in binding.get_outputs()]


def fetched(value):
    if not value.is_tensor():
        return value.to_list()
    raw = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return numpy_helper.to_array(onnx.TensorProto(data_type=value.element_type(), dims=value.shape(), raw_data=raw))
"""

    def __init__(self) -> None:
        onnxruntime.set_default_logger_severity(4)
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = 1
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = 4

    def describe(self) -> Description:
        """Return the version of onnxruntime and the options that affect its results."""
        return Description(
            "onnxruntime",
            onnxruntime.__version__,
            configuration={"provider": "CPUExecutionProvider", "graph_optimization_level": "all", "threads": "1"},
        )

    def prepare(self, model: bytes) -> PreparedModel:
        """Raises Unsupported for NotImplemented, and for a Fail that says an operator or type is not registered."""
        try:
            session = onnxruntime.InferenceSession(model, self._options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise _declined(error) from error
        inputs = {value.name: value.type for value in session.get_inputs()}
        outputs = {value.name: value.type for value in session.get_outputs()}
        elements = {element for of in (*inputs.values(), *outputs.values()) for element in _elements(of)}
        if elements <= _NUMPY:
            return lambda values: _run(session, inputs, outputs, values)
        others = ", ".join(sorted(elements - _NUMPY))
        if structured := sorted({of for of in (*inputs.values(), *outputs.values()) if not of.startswith("tensor")}):
            raise Unsupported(f"onnxruntime's Python interface cannot pass {structured[0]} and {others}")
        if "string" in elements:
            raise Unsupported(f"onnxruntime's Python interface cannot pass strings beside {others}")
        return lambda values: _run_bound(session, inputs, outputs, values)


def _elements(of: str) -> list[str]:
    """The names of the element types in a type: ``seq(tensor(float))`` has ``float``."""
    return re.findall(r"\w+(?=\))|\w+(?=,)", of)


def _declined(error: Exception) -> Exception:
    kind, text = type(error).__name__, str(error)
    if locale := _LOCALE.search(text):
        return MissingRequirement(
            f"the locale {locale[1]} is not installed; on Debian, install it with locale-gen of the package locales"
        )
    if kind == "NotImplemented" or (kind in ("Fail", "InvalidGraph") and _DECLINED.search(text)):
        return Unsupported(text)
    return error


def _run(session: Any, inputs: dict[str, str], outputs: dict[str, str], values: Sequence[Value]) -> Sequence[Value]:
    feeds = {name: _plain(value, of) for (name, of), value in zip(inputs.items(), values, strict=False)}
    try:
        found = session.run(None, feeds)
    except Exception as error:
        raise _declined(error) from error
    return [_as_declared(value, parse_type(of)) for value, of in zip(found, outputs.values(), strict=True)]


def _plain(value: Value, of: str) -> Any:
    """A value in the form that run() accepts. Maps must hold Python floats and must not be empty."""
    if not isinstance(value, dict):
        return value
    if "tensor(float)" not in of or not value:
        raise Unsupported(f"onnxruntime's Python interface cannot pass {of}" + (" without entries" * (not value)))
    return {key: np.asarray(item).item() for key, item in value.items()}


def _as_declared(value: Any, of: ValueType) -> Value:
    """An output of run(), with 0-D tensors instead of the Python numbers inside maps."""
    match value:
        case list():
            return [_as_declared(item, of.of if isinstance(of, SequenceType) else of) for item in value]
        case dict():
            return {key: _as_declared(item, of.of if isinstance(of, MapType) else of) for key, item in value.items()}
        case int() | float() | str():
            return np.array(value, element_in(of).dtype)
        case _:
            return value


def _run_bound(
    session: Any, inputs: dict[str, str], outputs: dict[str, str], values: Sequence[Value]
) -> Sequence[Value]:
    """Run with OrtValues that hold packed bytes, since NumPy has no such types."""
    binding = session.io_binding()
    held: list[Any] = []  # keeps the OrtValues alive until the run ends
    for name, value in zip(inputs, values, strict=False):
        held.append(_ort_value(np.asarray(value)))
        binding.bind_ortvalue_input(name, held[-1])
    for name in outputs:
        binding.bind_output(name)
    try:
        session.run_with_iobinding(binding)
    except Exception as error:
        raise _declined(error) from error
    return [_value(found, outputs[name]) for name, found in zip(outputs, binding.get_outputs(), strict=True)]


def _ort_value(array: np.ndarray) -> Any:
    element = element_type(array.dtype)
    packed = pack(array, element)
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), element.code)
    if packed:
        ctypes.memmove(value.data_ptr(), packed, len(packed))
    return value


def _value(found: Any, declared: str) -> Value:
    """An output as an array. Packed bytes are unpacked as the element type that the runtime states."""
    of = parse_type(declared)
    if not isinstance(of, TensorType) or of.element.name in _NUMPY:
        return found.numpy() if found.is_tensor() else found.to_list()
    element = element_type(found.element_type())
    shape = tuple(found.shape())
    count = int(np.prod(shape))
    raw = ctypes.string_at(found.data_ptr(), -(-count * element.bits // 8)) if count else b""
    return unpack(raw, element, count).reshape(shape)
