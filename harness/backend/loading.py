"""How the value of ``--backend`` becomes a backend."""

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

GROUP = "onnx_conformance.backends"
"""Entry points that give a backend a name."""
COMMAND = "command:"
ONNX = "onnx:"


def backend_names() -> list[str]:
    """The names that installed packages give to backends, ours among them."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def load_backend(spec: str) -> Backend:
    """The backend of a name, of ``package.module:Class`` or of ``onnx:package.module[:Class]``, in this process.

    Raises UnknownBackend or BrokenAdapter. A ``command:`` is a process of its own and cannot be loaded.
    """
    if spec.startswith(COMMAND):
        raise UnknownBackend(f"{spec!r} is a program, which is started and not loaded.")
    _make_here_importable()
    if spec.startswith(ONNX):
        from harness.backend.onnx_backend import OnnxBackend  # noqa: PLC0415 - only these backends need it

        module, _, name = spec.removeprefix(ONNX).partition(":")
        found = _import(module, spec)
        return OnnxBackend(_attribute(found, name, spec) if name else found, spec.removeprefix(ONNX))
    if ":" in spec:
        module, _, name = spec.partition(":")
        return _made(_attribute(_import(module, spec), name, spec), spec)
    point = _entry_point(spec)
    return _made(_attribute(_import(point.module, spec), point.attr, spec), spec)


def expectations_path(spec: str) -> Path | None:
    """Where the expectations of a named backend are kept: ``<name>.expected.toml`` beside its adapter, there or not."""
    points = entry_points(group=GROUP, name=spec)
    if not points:
        return None
    found = importlib.util.find_spec(next(iter(points)).module)
    return Path(found.origin).with_name(f"{spec}.expected.toml") if found and found.origin else None


def _entry_point(name: str) -> EntryPoint:
    points = entry_points(group=GROUP, name=name)
    if points:
        return next(iter(points))
    import difflib  # noqa: PLC0415 - only to help

    names = backend_names()
    near = difflib.get_close_matches(name, names, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise UnknownBackend(
        f"There is no backend {name!r}.{meant}",
        f"There are {', '.join(names) or 'none installed'}; or give package.module:Class, onnx:package.module "
        "or command:program.",
    )


def _make_here_importable() -> None:
    """As pytest and uvicorn do; last, so that a checkout one stands in does not hide an installed package."""
    here = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    if here not in sys.path:
        sys.path.append(here)


def _import(module: str, spec: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
            raise UnknownBackend(
                f"There is no module {error.name!r}, which the backend {spec!r} names.",
                f"Install it, or start in the folder that holds it; looked from {os.getcwd()}.",  # noqa: PTH109
            ) from error
        raise BrokenAdapter(
            f"The adapter of {spec!r} does not import: {exception_text(error)} ({_where(error)}).",
            "Mend it, or install what it imports.",
        ) from error


def _where(error: Exception) -> str:
    """The innermost line of Python that was executing, outside the import machinery."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else "no line known"


def _attribute(module: Any, name: str, spec: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        classes = sorted(key for key, value in vars(module).items() if hasattr(value, "prepare"))
        raise UnknownBackend(
            f"{module.__name__} has no {name!r}, which the backend {spec!r} names.",
            f"What it has that can be prepared: {', '.join(classes) or 'nothing'}.",
        ) from None


def _made(make: Any, spec: str) -> Backend:
    try:
        backend = make()
    except Exception as error:
        raise BrokenAdapter(
            f"The backend {spec!r} cannot be made: {exception_text(error)} ({_where(error)}).",
            "A backend is made without arguments.",
        ) from error
    lacks = [name for name in ("describe", "prepare") if not callable(getattr(backend, name, None))]
    if lacks:
        raise BrokenAdapter(
            f"{spec!r} is no backend: {type(backend).__name__} has no {' and no '.join(lacks)}.",
            "A backend has describe(self) -> Description and prepare(self, model: bytes) -> a callable; "
            "a class of onnx.backend.base.Backend is named onnx:package.module:Class.",
        )
    return cast("Backend", backend)
