"""Runs onnx.reference, ONNX's own evaluator in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator  # noqa: TID251 - here it is the backend under test

from harness.backend import Description, PreparedModel, Unsupported, Value


class OnnxReferenceBackend:
    """Declines models that ReferenceEvaluator says it does not implement."""

    SCRIPT = """\
from onnx.reference import ReferenceEvaluator


def run(model, inputs):
    evaluator = ReferenceEvaluator(model)
    return evaluator.run(None, dict(zip(evaluator.input_names, inputs)))
"""

    def describe(self) -> Description:
        """Return the version of the installed onnx."""
        return Description("onnx-reference", onnx.__version__, configuration={"numpy": np.__version__})

    def prepare(self, model: bytes) -> PreparedModel:
        """Raises Unsupported if the evaluator does not implement an operator or its version."""
        try:
            evaluator = ReferenceEvaluator(model)
        except RuntimeError as error:  # NotImplementedError is a subclass; for some operators only the message says it
            if isinstance(error, NotImplementedError) or str(error).startswith("No implementation for operator"):
                raise Unsupported(str(error).splitlines()[0]) from error
            raise
        names = evaluator.input_names

        def run(values: Sequence[Value]) -> Sequence[Value]:
            return evaluator.run(None, dict(zip(names, values, strict=False)))  # pyright: ignore[reportReturnType, reportArgumentType] - names are text

        return run
