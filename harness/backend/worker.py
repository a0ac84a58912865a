"""The worker (``python -m harness.backend.worker SPEC``): a process that answers the protocol for one backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from harness.backend.interface import Backend, Description, MissingRequirement, Runner, Unsupported
from harness.backend.loading import load_backend
from harness.backend.protocol import CANNOT_WRITE, PROTOCOL, Answer, Described, Files, Request, RunCase
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
"""What ends the process even here; whatever else a backend raises, PyO3's PanicException too, is its answer."""

_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_encoder = msgspec.json.Encoder()


class NotAnOnnxValue(Exception):
    """What a backend gave is no ONNX value."""


def main(spec: str) -> None:
    """Serve the backend of ``spec`` until the input ends."""
    requests, answers = _take_descriptors()

    def answer(message: Described | Answer) -> None:
        os.write(answers, _encoder.encode(message) + b"\n")

    with os.fdopen(requests, "rb") as lines:
        backend = None
        for line in lines:
            request = _requests.decode(line)
            if not isinstance(request, RunCase):
                backend, described = _start(spec)
                answer(described)
            elif backend is not None:
                _run_case(backend, request, answer)
    os._exit(0)  # whatever threads and exit handlers the backend has, nobody waits for them


def _take_descriptors() -> tuple[int, int]:
    """Keep standard input and output for the protocol, out of the reach of libraries that read or print."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, answers


def _start(spec: str) -> tuple[Backend | None, Described]:
    try:
        backend = load_backend(spec)
        description: Any = backend.describe()
        if isinstance(description, Description):
            return backend, Described(PROTOCOL, description)
        return None, Described(
            PROTOCOL, message=f"describe of the backend {spec!r} gave {_what(description)}, want a Description."
        )
    except _EXITS:
        raise
    except ConformanceError as error:
        return None, Described(PROTOCOL, message=str(error), advice=error.advice)
    except BaseException as error:  # noqa: BLE001 - see _EXITS
        return None, Described(
            PROTOCOL, message=f"The backend {spec!r} does not describe itself: {exception_text(error)}."
        )


def _run_case(backend: Backend, request: RunCase, answer: Callable[[Answer], None]) -> None:
    """Answer each data set of a case, or once for all where the model cannot be prepared."""
    began = perf_counter()
    try:
        run = _prepare(backend, request)
    except _EXITS:
        raise
    except BaseException as error:  # noqa: BLE001 - see _EXITS
        answer(_failure(request, error, prepare_seconds=perf_counter() - began))
        return
    prepare_seconds = perf_counter() - began
    for number, files in enumerate(request.data_sets):
        answer(_run_data_set(run, request, number, files, prepare_seconds))
        prepare_seconds = 0.0


def _prepare(backend: Backend, request: RunCase) -> Runner:
    run = backend.prepare(_read(request.model))
    if callable(run):
        return run
    raise TypeError(f"prepare gave {_what(run)}, want a callable")


def _run_data_set(run: Runner, request: RunCase, number: int, files: Files, prepare_seconds: float) -> Answer:
    began = seconds = 0.0
    try:
        # Read afresh each time: a backend that writes into its inputs harms nobody.
        inputs = [_own(decode(_read(p), parse_type(of))) for p, of in zip(files.inputs, request.inputs, strict=True)]
        began = perf_counter()
        outputs = run(inputs)
        seconds = perf_counter() - began
        types = _write_outputs(outputs, request.outputs, files.outputs)
    except _EXITS:
        raise
    except BaseException as error:  # noqa: BLE001 - see _EXITS
        seconds = seconds or (perf_counter() - began if began else 0.0)
        return _failure(request, error, number, seconds, prepare_seconds)
    return Answer(request.id, "ok", number, types, seconds, prepare_seconds)


def _own(value: Value) -> Value:
    """The value with arrays that may be written to, as backends expect them."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    return [_own(item) for item in value] if isinstance(value, list) else value


def _failure(
    request: RunCase,
    error: BaseException,
    number: int | None = None,
    seconds: float = 0.0,
    prepare_seconds: float = 0.0,
) -> Answer:
    if isinstance(error, Unsupported):
        status, message = "unsupported", exception_text(error).removeprefix(f"{type(error).__name__}: ")
    elif isinstance(error, MissingRequirement):
        status, message = "missing_requirement", exception_text(error).removeprefix(f"{type(error).__name__}: ")
    else:
        status, message = "error", str(error) if isinstance(error, NotAnOnnxValue) else exception_text(error)
    return Answer(request.id, status, number, (), seconds, prepare_seconds, message)


def _write_outputs(outputs: Any, declared: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """Write the outputs that have a file, and state the types of all. Raises NoValue."""
    if not isinstance(outputs, list | tuple):
        raise NotAnOnnxValue(f"The run gave {_what(outputs)}, want a list of its outputs.")
    types: list[str] = []
    for i, value in enumerate(outputs):
        text = declared[i] if i < len(declared) else ""
        of = parse_type(text) if text else None
        try:
            stated = of if _is_plainly(value, of) else stated_type(value, of)
            data = encode(value, stated) if i < len(paths) and stated else b""
        except NotAnOnnxValue as error:
            raise NotAnOnnxValue(f"output_{i} is {error}") from None
        except ConformanceError as error:
            raise NotAnOnnxValue(f"output_{i}: {error}") from error
        if i < len(paths):
            _write(paths[i], data)
        types.append(text if stated is of else str(stated))
    return tuple(types)


def _is_plainly(value: Any, of: ValueType | None) -> bool:
    return isinstance(value, np.ndarray) and isinstance(of, TensorType) and value.dtype == of.element.dtype


def stated_type(value: Any, declared: ValueType | None) -> ValueType:
    """The type of what a backend gave; where that does not show it (None, [], {}), one close to the declared.

    Raises NoValue, naming what came.
    """
    if isinstance(declared, OptionalType):
        return declared if value is None else OptionalType(stated_type(value, declared.of))
    inner = declared.of if isinstance(declared, SequenceType | MapType) else None
    if isinstance(value, list | tuple):
        items = {str(of): of for of in (stated_type(item, inner) for item in value)}
        if len(items) > 1:
            raise NotAnOnnxValue(f"a sequence of different types, {' and '.join(items)}.")
        return SequenceType(*items.values()) if items else _empty(SequenceType, declared)
    if isinstance(value, dict):
        items = {str(of): of for of in (stated_type(item, inner) for item in value.values())}
        keys = {"string" if isinstance(key, str) else "int64" for key in value}
        if len(items) > 1 or len(keys) > 1:
            raise NotAnOnnxValue(f"a map of different types, {' and '.join([*keys, *items])}.")
        return MapType(BY_NAME[keys.pop()], *items.values()) if items else _empty(MapType, declared)
    if value is None:
        return OptionalType(declared or _ANY)
    try:
        return type_of_value(value) or _ANY
    except ConformanceError as error:
        raise NotAnOnnxValue(f"{_what(value)}, which is no ONNX value. {error.advice}") from error


_ANY = TensorType(BY_NAME["float"])
"""Inside an empty value of which nothing is known."""


def _empty(kind: type[SequenceType | MapType], declared: ValueType | None) -> ValueType:
    if isinstance(declared, kind):
        return declared
    inside = declared or _ANY
    return MapType(BY_NAME["int64"], inside) if kind is MapType else SequenceType(inside)


def _what(value: Any) -> str:
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
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
        os._exit(CANNOT_WRITE)


if __name__ == "__main__":
    main(sys.argv[1])
