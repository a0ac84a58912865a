"""Loads the backend that ``--backend`` names."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, cast

from harness.backend.interface import Backend, BrokenAdapter, UnknownBackend
from harness.text import exception_text

ENTRY_POINT_GROUP = "onnx_conformance.backends"
"""Entry points of this group give backends their names."""
COMMAND_PREFIX = "command:"
ONNX_PREFIX = "onnx:"


def backend_names() -> list[str]:
    """The names that installed packages register for backends, sorted."""
    return sorted({point.name for point in entry_points(group=ENTRY_POINT_GROUP)})


def load_backend(spec: str) -> Backend:
    """Load a backend into this process: a name, ``package.module:Class`` or ``onnx:package.module[:Class]``.

    A ``command:`` cannot be loaded, since it is a separate process. Raises UnknownBackend or BrokenAdapter.
    """
    if spec.startswith(COMMAND_PREFIX):
        raise UnknownBackend(f"{spec!r} is a program: it can be started but not loaded.")
    _add_current_directory_to_path()
    if spec.startswith(ONNX_PREFIX):
        from harness.backend.onnx_backend import OnnxBackend  # noqa: PLC0415 - only these backends need it

        module, _, name = spec.removeprefix(ONNX_PREFIX).partition(":")
        backend = _import(module, spec)
        return OnnxBackend(_attribute(backend, name, spec) if name else backend, spec.removeprefix(ONNX_PREFIX))
    if ":" in spec:
        module, _, name = spec.partition(":")
    else:
        point = _entry_point(spec)
        module, name = point.module, point.attr
    return _create(_attribute(_import(module, spec), name, spec), spec)


def expectations_path(spec: str) -> Path | None:
    """The path ``<name>.expected.toml`` beside the adapter of a named backend, whether or not the file exists.

    None if the backend has no name.
    """
    points = entry_points(group=ENTRY_POINT_GROUP, name=spec)
    if not points:
        return None
    module = importlib.util.find_spec(next(iter(points)).module)
    return Path(module.origin).with_name(f"{spec}.expected.toml") if module and module.origin else None


def _entry_point(name: str) -> EntryPoint:
    points = entry_points(group=ENTRY_POINT_GROUP, name=name)
    if points:
        return next(iter(points))
    import difflib  # noqa: PLC0415 - only to help

    names = backend_names()
    close = difflib.get_close_matches(name, names, 1)
    suggestion = f" Did you mean {close[0]}?" if close else ""
    raise UnknownBackend(
        f"There is no backend {name!r}.{suggestion}",
        f"Installed backends: {', '.join(names) or 'none'}. "
        "You can also name package.module:Class, onnx:package.module or command:program.",
    )


def _add_current_directory_to_path() -> None:
    """As pytest and uvicorn do. It comes last, so that a checkout does not hide an installed package."""
    current = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    if current not in sys.path:
        sys.path.append(current)


def _import(module: str, spec: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
            raise UnknownBackend(
                f"The backend {spec!r} names the module {error.name!r}, which does not exist.",
                f"Install the module, or run from the folder that holds it. The current folder is {os.getcwd()}.",  # noqa: PTH109
            ) from error
        raise BrokenAdapter(
            f"The adapter of {spec!r} cannot be imported: {exception_text(error)} ({_location(error)}).",
            "Fix the adapter, or install what it imports.",
        ) from error


def _location(error: Exception) -> str:
    """The innermost line of Python that raised the error, outside the import machinery."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else "unknown line"


def _attribute(module: Any, name: str, spec: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        classes = sorted(key for key, value in vars(module).items() if hasattr(value, "prepare"))
        raise UnknownBackend(
            f"The backend {spec!r} names {name!r}, which {module.__name__} does not have.",
            f"The module has these classes with a prepare method: {', '.join(classes)}."
            if classes
            else "The module has no class with a prepare method.",
        ) from None


def _create(factory: Any, spec: str) -> Backend:
    try:
        backend = factory()
    except Exception as error:
        raise BrokenAdapter(
            f"The backend {spec!r} cannot be created: {exception_text(error)} ({_location(error)}).",
            "The harness calls the class without arguments.",
        ) from error
    missing = [name for name in ("describe", "prepare") if not callable(getattr(backend, name, None))]
    if missing:
        raise BrokenAdapter(
            f"{spec!r} is not a backend: {type(backend).__name__} has no {' and no '.join(missing)}.",
            "A backend has the methods describe(self) -> Description and prepare(self, model: bytes) -> a function. "
            "To use a class of onnx.backend.base.Backend, write onnx:package.module:Class.",
        )
    return cast("Backend", backend)
