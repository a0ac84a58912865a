"""Runs any class or module written for ONNX's own backend tests (``onnx.backend.base.Backend``) as a backend here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import onnx

from harness.backend.interface import BrokenAdapter, Description, PreparedModel, Unsupported
from harness.spec.values import Value

_DEVICE = "CPU"
_DECLINES = ("BackendIsNotSupposedToImplementIt", "SkipTest")
"""Exceptions that decline, recognized by name. ONNX's own class is in ``onnx.backend.test.runner``, whose import loads
every official test; some backends raise unittest's SkipTest, its base class."""


class OnnxBackend:
    """Adapts ``onnx.backend.base.Backend``, whose ``prepare(model, device)`` returns an object with ``run(inputs)``."""

    def __init__(self, backend: Any, name: str) -> None:
        if not callable(getattr(backend, "prepare", None)):
            raise BrokenAdapter(
                f"{name} is not an ONNX backend: it has no prepare.",
                "Name the class: onnx:package.module:Class.",
            )
        self._backend = backend
        self._name = name

    def describe(self) -> Description:
        """Return the name given to ``--backend`` and the version of the backend's package."""
        module = getattr(self._backend, "__module__", None) or self._backend.__name__
        package = module.partition(".")[0]
        try:
            number = version(package)
        except PackageNotFoundError:
            number = str(getattr(__import__(package), "__version__", "unknown"))
        return Description(self._name, number, _DEVICE)

    def prepare(self, model: bytes) -> PreparedModel:
        """Do what ONNX's runner does.

        Raises Unsupported if ``supports_device`` or ``is_compatible`` returns false, or if the backend raises an
        exception that declines.
        """
        supports = getattr(self._backend, "supports_device", None)
        if supports is not None and not supports(_DEVICE):
            raise Unsupported(f"supports_device({_DEVICE!r}) is false")
        proto = onnx.load_from_string(model)
        compatible = getattr(self._backend, "is_compatible", None)
        if compatible is not None and not compatible(proto):
            raise Unsupported("is_compatible is false")
        prepared = _call(self._backend.prepare, proto, _DEVICE)
        if prepared is None:
            raise TypeError("prepare returned None")
        return lambda inputs: _values(_call(prepared.run, list(inputs)))


def _call(function: Any, *arguments: Any) -> Any:
    """Call a function; its exceptions that decline become Unsupported."""
    try:
        return function(*arguments)
    except Exception as error:
        if any(base.__name__ in _DECLINES for base in type(error).__mro__):
            raise Unsupported(str(error) or type(error).__name__) from error
        raise


def _values(outputs: Any) -> Sequence[Value]:
    """The outputs as a list of arrays. ONNX's runner also accepts tuples, and NumPy scalars for 0-D tensors."""
    return [np.asarray(value) if isinstance(value, np.generic) else value for value in outputs]
