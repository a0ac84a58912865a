"""The texts that stand for values in labels, and the names of cases, which are made of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from harness.oracles.operator import OMITTED, Sample
from harness.spec.schema import Schema
from harness.spec.values import TensorType, Typed, parse_type, type_of_proto

LONGEST = 120
"""Characters of a case's name."""

_SPELT = str.maketrans({"-": "m", ".": "p", ",": "x", "[": None, "]": None, "(": "_", ")": None})
"""How names spell the characters of numbers, lists and types.

``-0.5`` is ``m0p5``, ``[2,3]`` is ``2x3``, ``seq(tensor(float))`` is ``seq_tensor_float``.
"""


def type_label(text: str) -> str:
    """A type as labels have it: ``float16`` for ``tensor(float16)``, other types whole."""
    of = parse_type(text)
    return of.element.name if isinstance(of, TensorType) else str(of)


def label_type(label: str) -> str:
    """The type, as schemas spell it, that a label stands for."""
    return label if "(" in label else f"tensor({label})"


def attribute_label(value: Any) -> str:
    """An attribute's value as labels have it: ``0``, ``0.1`` (the shortest for the float32), ``[1,2]``, ``linear``."""
    match value:
        case float():
            return str(np.float32(value))
        case list() | tuple() | np.ndarray():
            return f"[{','.join(map(attribute_label, value))}]"
        case bytes():
            return value.decode(errors="replace")
        case onnx.TensorProto():
            return f"tensor{list(value.dims)}"
        case onnx.SparseTensorProto():
            return f"sparse_tensor{list(value.dims)}"
        case onnx.GraphProto():
            return re.sub(r"\s+", "_", value.name) or f"graph_of_{len(value.node)}_nodes"
        case onnx.TypeProto():
            return type_label(str(type_of_proto(value)))
        case _:
            return str(value)


def shape_label(value: Any) -> str:
    """A value's shape as names have it: ``2x3x4``, ``scalar`` for 0-D, ``none`` for an omitted input.

    Of a variadic input it is that of each, of a sequence too, after ``seq``. An empty optional is ``empty``; what has
    another type than its parameter's bears it.
    """
    match value:
        case Typed():
            return f"{type_label(str(value.of)).translate(_SPELT)}_{shape_label(value.value)}"
        case np.ndarray():
            return "x".join(map(str, value.shape)) or "scalar"
        case None:
            return "empty"
        case tuple():
            return "_".join(map(shape_label, value))
        case list():
            return "_".join(["seq", *map(shape_label, value)])
        case dict():
            return f"map{len(value)}"
        case _:
            return f"sparse{'x'.join(map(str, value.dims))}"


def case_name(version: Schema, types: Mapping[str, str], attributes: Mapping[str, Any], drawn: Sample) -> str:
    """The name of the case at these coordinates: unique, ``[a-z0-9_]``, at most ``LONGEST`` characters.

    It depends on the coordinates alone. Where they do not fit in, a hash of them stands at its end.
    """
    given = [(name, value) for name, value in attributes.items() if value is not OMITTED]
    parts = [
        *([version.domain] if version.domain else []),
        version.op,
        str(version.since),
        *(type_label(of).translate(_SPELT) for of in types.values()),
        *(f"{name}_{attribute_label(value).translate(_SPELT)}" for name, value in given),
        *(shape_label(drawn.inputs[p.name]) if p.name in drawn.inputs else "none" for p in version.inputs),
        *(f"without_{name}" for name in drawn.without),
        *([f"{drawn.outputs}_outputs"] if drawn.outputs else []),
        *(f"{name}_{shape_label(value)}" for name, value in drawn.outer.items()),
    ]
    faithful = "test_" + "_".join(parts).lower()
    name = re.sub(r"[^a-z0-9]+", "_", faithful)
    if name == faithful and len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:10]
    return f"{name[: LONGEST - 11].rstrip('_')}_{digest}"
