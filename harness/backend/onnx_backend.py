"""Any class or module made for onnx's own backend tests, unchanged, as a backend here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import onnx

from harness.backend.interface import BrokenAdapter, Description, Runner, Unsupported
from harness.spec.values import Value

_DEVICE = "CPU"
_DECLINES = ("BackendIsNotSupposedToImplementIt", "SkipTest")
"""Known by name: onnx's own class is in ``onnx.backend.test.runner``, whose import loads every official test;
some backends raise unittest's, from which it derives."""


class OnnxBackend:
    """What ``onnx.backend.base.Backend`` describes: ``prepare(model, device)`` gives an object with ``run(inputs)``."""

    def __init__(self, backend: Any, name: str) -> None:
        if not callable(getattr(backend, "prepare", None)):
            raise BrokenAdapter(
                f"{name} is no backend of onnx: it has no prepare.",
                "Name the class: onnx:package.module:Class.",
            )
        self._backend = backend
        self._name = name

    def describe(self) -> Description:
        """The name it was asked for by, and the version of its package."""
        module = getattr(self._backend, "__module__", None) or self._backend.__name__
        package = module.partition(".")[0]
        try:
            number = version(package)
        except PackageNotFoundError:
            number = str(getattr(__import__(package), "__version__", "unknown"))
        return Description(self._name, number, _DEVICE)

    def prepare(self, model: bytes) -> Runner:
        """As onnx's runner does: declined by ``supports_device``, by ``is_compatible`` or by its exception."""
        supports = getattr(self._backend, "supports_device", None)
        if supports is not None and not supports(_DEVICE):
            raise Unsupported(f"supports_device({_DEVICE!r}) is false")
        proto = onnx.load_from_string(model)
        compatible = getattr(self._backend, "is_compatible", None)
        if compatible is not None and not compatible(proto):
            raise Unsupported("is_compatible is false")
        prepared = _declining(self._backend.prepare, proto, _DEVICE)
        if prepared is None:
            raise TypeError("prepare returned None")
        return lambda inputs: _outputs(_declining(prepared.run, list(inputs)))


def _declining(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Exception as error:
        if any(base.__name__ in _DECLINES for base in type(error).__mro__):
            raise Unsupported(str(error) or type(error).__name__) from error
        raise


def _outputs(outputs: Any) -> Sequence[Value]:
    """Tuples (some are named), and NumPy scalars for 0-D tensors: onnx's runner takes both."""
    return [np.asarray(value) if isinstance(value, np.generic) else value for value in outputs]
