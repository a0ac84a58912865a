"""onnx.reference, the evaluator in Python that ONNX ships."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator  # noqa: TID251 - here it is the backend under test

from harness.backend.interface import Description, Runner, Unsupported
from harness.spec.values import Value


class OnnxReferenceBackend:
    """Declines what ReferenceEvaluator says it does not implement."""

    SCRIPT = """\
from onnx.reference import ReferenceEvaluator


def run(model, inputs):
    evaluator = ReferenceEvaluator(model)
    return evaluator.run(None, dict(zip(evaluator.input_names, inputs)))
"""

    def describe(self) -> Description:
        """The installed onnx."""
        return Description("onnx-reference", onnx.__version__, configuration={"numpy": np.__version__})

    def prepare(self, model: bytes) -> Runner:
        """Raises Unsupported for an operator, or a version of one, that the evaluator has not."""
        try:
            evaluator = ReferenceEvaluator(model)
        except RuntimeError as error:  # NotImplementedError is one, and of some operators it lacks it says it in words
            if isinstance(error, NotImplementedError) or str(error).startswith("No implementation for operator"):
                raise Unsupported(str(error).splitlines()[0]) from error
            raise
        names = evaluator.input_names

        def run(values: Sequence[Value]) -> Sequence[Value]:
            return evaluator.run(None, dict(zip(names, values, strict=False)))  # pyright: ignore[reportReturnType, reportArgumentType] - names are text

        return run
