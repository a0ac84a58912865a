"""The worker (``python -m harness.backend.worker SPEC``): a process that answers the protocol for one backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from harness.backend.interface import Backend, Description, MissingRequirement, PreparedModel, Unsupported
from harness.backend.loading import load_backend
from harness.backend.protocol import (
    CANNOT_WRITE_STATUS,
    PROTOCOL_VERSION,
    CaseAnswer,
    CaseRequest,
    DataSetPaths,
    DescribeAnswer,
    Request,
)
from harness.errors import ConformanceError
from harness.spec.codec import decode, encode
from harness.spec.element_types import BY_NAME
from harness.spec.values import (
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    Value,
    ValueType,
    parse_type,
    type_of_value,
)
from harness.text import exception_text

_EXITS = (KeyboardInterrupt, SystemExit)
"""These end the process. Any other exception of a backend is reported, even a BaseException such as PyO3's panic."""

_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_encoder = msgspec.json.Encoder()


class NotAnOnnxValue(Exception):
    """The backend returned something that is not an ONNX value."""


def main(spec: str) -> None:
    """Serve the backend ``spec`` until standard input ends."""
    requests, answers = _take_descriptors()

    def send(message: DescribeAnswer | CaseAnswer) -> None:
        os.write(answers, _encoder.encode(message) + b"\n")

    with os.fdopen(requests, "rb") as lines:
        backend = None
        for line in lines:
            request = _requests.decode(line)
            if not isinstance(request, CaseRequest):
                backend, description = _load(spec)
                send(description)
            elif backend is not None:
                _run_case(backend, request, send)
    os._exit(0)  # without waiting for the backend's threads and exit handlers


def _take_descriptors() -> tuple[int, int]:
    """Move the protocol away from standard input and output, so that a library that reads or prints cannot break it."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, answers


def _load(spec: str) -> tuple[Backend | None, DescribeAnswer]:
    try:
        backend = load_backend(spec)
        description: Any = backend.describe()
        if isinstance(description, Description):
            return backend, DescribeAnswer(PROTOCOL_VERSION, description)
        return None, DescribeAnswer(
            PROTOCOL_VERSION,
            message=f"The backend {spec!r} returned {_kind(description)} from describe, want a Description.",
        )
    except _EXITS:
        raise
    except ConformanceError as error:
        return None, DescribeAnswer(PROTOCOL_VERSION, message=str(error), advice=error.advice)
    except BaseException as error:  # noqa: BLE001 - see _EXITS
        return None, DescribeAnswer(
            PROTOCOL_VERSION, message=f"The backend {spec!r} failed in describe: {exception_text(error)}."
        )


def _run_case(backend: Backend, request: CaseRequest, send: Callable[[CaseAnswer], None]) -> None:
    """Send one answer per data set, or a single answer if the model cannot be prepared."""
    start = perf_counter()
    try:
        model = _prepare(backend, request)
    except _EXITS:
        raise
    except BaseException as error:  # noqa: BLE001 - see _EXITS
        send(_failure(request, error, prepare_seconds=perf_counter() - start))
        return
    prepare_seconds = perf_counter() - start
    for number, paths in enumerate(request.data_sets):
        send(_run_data_set(model, request, number, paths, prepare_seconds))
        prepare_seconds = 0.0


def _prepare(backend: Backend, request: CaseRequest) -> PreparedModel:
    model = backend.prepare(_read(request.model))
    if callable(model):
        return model
    raise TypeError(f"prepare returned {_kind(model)}, want a callable")


def _run_data_set(
    model: PreparedModel, request: CaseRequest, number: int, paths: DataSetPaths, prepare_seconds: float
) -> CaseAnswer:
    start = seconds = 0.0
    try:
        # Decoded again for each data set, in case the backend writes into its inputs.
        inputs = [
            _writable(decode(_read(p), parse_type(of))) for p, of in zip(paths.inputs, request.inputs, strict=True)
        ]
        start = perf_counter()
        outputs = model(inputs)
        seconds = perf_counter() - start
        types = _write_outputs(outputs, request.outputs, paths.outputs)
    except _EXITS:
        raise
    except BaseException as error:  # noqa: BLE001 - see _EXITS
        seconds = seconds or (perf_counter() - start if start else 0.0)
        return _failure(request, error, number, seconds, prepare_seconds)
    return CaseAnswer(request.id, "ok", number, types, seconds, prepare_seconds)


def _writable(value: Value) -> Value:
    """The value with writable arrays, as backends expect."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    return [_writable(item) for item in value] if isinstance(value, list) else value


def _failure(
    request: CaseRequest,
    error: BaseException,
    number: int | None = None,
    seconds: float = 0.0,
    prepare_seconds: float = 0.0,
) -> CaseAnswer:
    if isinstance(error, Unsupported):
        status, message = "unsupported", exception_text(error).removeprefix(f"{type(error).__name__}: ")
    elif isinstance(error, MissingRequirement):
        status, message = "missing_requirement", exception_text(error).removeprefix(f"{type(error).__name__}: ")
    else:
        status, message = "error", str(error) if isinstance(error, NotAnOnnxValue) else exception_text(error)
    return CaseAnswer(request.id, status, number, (), seconds, prepare_seconds, message)


def _write_outputs(outputs: Any, declared: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """Write the outputs that have a path and return the types of all outputs. Raises NotAnOnnxValue."""
    if not isinstance(outputs, list | tuple):
        raise NotAnOnnxValue(f"The backend returned {_kind(outputs)}, want a list of the outputs.")
    types: list[str] = []
    for i, value in enumerate(outputs):
        text = declared[i] if i < len(declared) else ""
        of = parse_type(text) if text else None
        try:
            actual = of if _has_type(value, of) else infer_type(value, of)
            data = encode(value, actual) if i < len(paths) and actual else b""
        except NotAnOnnxValue as error:
            raise NotAnOnnxValue(f"output_{i} is {error}") from None
        except ConformanceError as error:
            raise NotAnOnnxValue(f"output_{i}: {error}") from error
        if i < len(paths):
            _write(paths[i], data)
        types.append(text if actual is of else str(actual))
    return tuple(types)


def _has_type(value: Any, of: ValueType | None) -> bool:
    """Whether the value is a tensor of this type; a fast path, False for all other values."""
    return isinstance(value, np.ndarray) and isinstance(of, TensorType) and value.dtype == of.element.dtype


def infer_type(value: Any, declared: ValueType | None) -> ValueType:
    """The ONNX type of a value that a backend returned.

    For values that do not show their type (None, [], {}), the declared type, or a type as close to it as possible.
    Raises NotAnOnnxValue.
    """
    if isinstance(declared, OptionalType):
        return declared if value is None else OptionalType(infer_type(value, declared.of))
    inner = declared.of if isinstance(declared, SequenceType | MapType) else None
    if isinstance(value, list | tuple):
        items = {str(of): of for of in (infer_type(item, inner) for item in value)}
        if len(items) > 1:
            raise NotAnOnnxValue(f"a sequence of different types, {' and '.join(items)}.")
        return SequenceType(*items.values()) if items else _empty(SequenceType, declared)
    if isinstance(value, dict):
        items = {str(of): of for of in (infer_type(item, inner) for item in value.values())}
        keys = {"string" if isinstance(key, str) else "int64" for key in value}
        if len(items) > 1 or len(keys) > 1:
            raise NotAnOnnxValue(f"a map of different types, {' and '.join([*keys, *items])}.")
        return MapType(BY_NAME[keys.pop()], *items.values()) if items else _empty(MapType, declared)
    if value is None:
        return OptionalType(declared or _UNKNOWN)
    try:
        return type_of_value(value) or _UNKNOWN
    except ConformanceError as error:
        raise NotAnOnnxValue(f"{_kind(value)}, which is not an ONNX value. {error.advice}") from error


_UNKNOWN = TensorType(BY_NAME["float"])
"""The type stated inside an empty value whose type is unknown."""


def _empty(kind: type[SequenceType | MapType], declared: ValueType | None) -> ValueType:
    if isinstance(declared, kind):
        return declared
    inside = declared or _UNKNOWN
    return MapType(BY_NAME["int64"], inside) if kind is MapType else SequenceType(inside)


def _kind(value: Any) -> str:
    """The kind of a Python object, such as ``an array of float32`` or ``a NoneType``."""
    cls = type(value)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {name}"


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, os.fstat(file).st_size + 1)
    finally:
        os.close(file)


def _write(path: str, data: bytes) -> None:
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        written = os.write(file, data)
        while written < len(data):
            written += os.write(file, data[written:])
        os.close(file)
    except OSError as error:
        os.write(2, f"{error.strerror}\n".encode())
        os._exit(CANNOT_WRITE_STATUS)


if __name__ == "__main__":
    main(sys.argv[1])
