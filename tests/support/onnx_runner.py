"""ONNX's own test runner over the directories of a suite, with a backend of ours."""

from __future__ import annotations

import unittest
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import onnx
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep
from onnx.backend.test import runner
from onnx.backend.test.loader import load_model_tests

from harness.backend import Backend, MissingRequirement, PreparedModel, Unsupported
from harness.backend.loading import load_backend
from harness.results.lines import Result
from harness.suite.cases import Case


class OnnxRunner:
    """``onnx.backend.test.runner.Runner`` over the cases of a suite, which are executed in this process."""

    def __init__(self, suite: Path, backend: str) -> None:
        """``suite`` is the folder of the suite, ``backend`` the name of the backend."""

        def load(kind: str) -> list[Any]:
            return load_model_tests(str(suite.parent), suite.name) if kind == "real" else []

        with patch.object(runner, "load_model_tests", load):
            self._tests = runner.Runner(_onnx_backend(load_backend(backend))).test_cases["OnnxBackendRealModelTest"]

    def failure(self, case: str) -> str:
        """Why a case fails; empty if it passes, or if the backend declines it."""
        try:
            with np.errstate(all="ignore"):
                getattr(self._tests, f"{case}_cpu")(unittest.TestCase())
        except unittest.SkipTest:
            return ""
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""


def _onnx_backend(adapter: Backend) -> type[OnnxBackend]:
    """ONNX's interface of a backend, in front of an adapter."""

    class Rep(BackendRep):
        def __init__(self, model: PreparedModel) -> None:
            self.model = model

        def run(self, inputs: Sequence[Any], **_: Any) -> Any:
            with _declining():
                return tuple(self.model(inputs))

    class Wrapped(OnnxBackend):
        @classmethod
        def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> Rep:
            with _declining():
                return Rep(adapter.prepare(model.SerializeToString()))

        @classmethod
        def supports_device(cls, device: str) -> bool:
            return device == "CPU"

    return Wrapped


class _declining:  # noqa: N801 - reads as a statement
    """Turns our way to decline a model into ONNX's."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Unsupported | MissingRequirement):
            raise runner.BackendIsNotSupposedToImplementIt(str(error)) from error


def passing_cases(cases: Iterable[Case], results: Iterable[Result]) -> list[Case]:
    """The cases of which no data set that other runners see fails by ``results``."""
    every = {case.name: case for case in cases}
    for result in results:
        passes = result.verdict in ("passed", "insensitive", "unsupported")
        if not passes and result.case in every and not every[result.case].data_sets[result.data_set].hidden:
            del every[result.case]
    return list(every.values())


def data_sets_of_onnx_test_runner(case: Path) -> list[Path]:
    """The data sets of a case as ``onnx_test_runner`` finds them: every folder inside the case."""
    return sorted(path for path in case.iterdir() if path.is_dir())


def tolerances_of_onnx_test_runner(case: Path) -> dict[str, float]:
    """What it reads from ``config.txt``: lines of a key, a colon and a value; it has defaults for both tolerances."""
    found = {"per_sample_tolerance": 1e-3, "relative_per_sample_tolerance": 1e-5}
    config = case / "config.txt"
    for line in config.read_text().splitlines() if config.exists() else ():
        key, value = [token.strip() for token in line.split(":") if token.strip()][:2]
        if key in found:
            found[key] = float(value)
    return found
