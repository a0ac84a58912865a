"""A case in the form in which ONNX's documents print their examples: node, attributes, inputs, outputs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

from harness.errors import UsageError
from harness.spec.codec import decode
from harness.spec.element_types import element_type
from harness.spec.values import Value, parse_type
from harness.suite.cases import Case
from harness.suite.names import attribute_label

_ELEMENTS = 1000
"""A larger tensor is summarised, as NumPy does."""


class BrokenCase(UsageError):
    """A file of a case that is missing or does not hold what its manifest says."""

    advice = "Write the suite again: onnx-conformance generate --force."


def read(folder: Path, file: str) -> bytes:
    """A file of a case. Raises BrokenCase."""
    try:
        return (folder / file).read_bytes()
    except OSError as error:
        raise BrokenCase(f"Cannot read {folder / file}: {error.strerror}.") from error


def read_model(folder: Path) -> onnx.ModelProto:
    """The model of a case. Raises BrokenCase."""
    data = read(folder, "model.onnx")
    try:
        return onnx.load_from_string(data)
    except Exception as error:
        raise BrokenCase(f"{folder / 'model.onnx'} is no model: {error}.") from error


def show(folder: Path, case: Case, *, bounds: bool = False) -> str:
    """The text of one case: its node, then each data set with inputs and outputs and, if asked for, their bounds.

    Raises BrokenCase and BrokenValue for files that are not what the manifest says.
    """
    graph = read_model(folder).graph
    lines = [case.name, "", "Node:" if len(graph.node) == 1 else "Nodes:"]
    for node in graph.node:
        lines += [f"  {line}" for line in node_lines(node)]
    for number, data_set in enumerate(case.data_sets):
        prefix = case.file_prefix(number)
        if len(case.data_sets) > 1 or data_set.group != "example":
            lines += ["", *textwrap.wrap(f"Data set {number}, {data_set.group}: {data_set.about}".rstrip(": "), 100)]
        if data_set.unspecified:
            lines += textwrap.wrap(f"Never scored: {data_set.unspecified}", 100)
        for title, stem, infos, types in (
            ("Inputs", "input", graph.input, case.inputs),
            ("Outputs", "output", graph.output, case.outputs),
        ):
            lines += ["", f"{title}:"]
            for i, (info, of) in enumerate(zip(infos, types, strict=False)):
                lines += [
                    f"  {line}"
                    for line in _value(info.name, decode(read(folder, f"{prefix}{stem}_{i}.pb"), parse_type(of)))
                ]
                bound = f"{prefix}bound_{i}.pb"
                if bounds and stem == "output" and bound in case.files:
                    width = "double" if "double" in of or "complex128" in of else "float"
                    array = decode(read(folder, bound), parse_type(f"tensor({width})"))
                    lines += [f"    {line}" for line in _value("bound", array)]
    return "\n".join(lines) + "\n"


def node_lines(node: onnx.NodeProto) -> Iterator[str]:
    """A node as documents call it: ``Trilu(x, k) -> (y)``, then its attributes, a line each."""
    domain = f"{node.domain}." if node.domain not in ("", "ai.onnx") else ""
    yield f"{domain}{node.op_type}({', '.join(node.input)}) -> ({', '.join(node.output)})"
    if node.attribute:
        yield "Attributes:"
        for attribute in sorted(node.attribute, key=lambda a: a.name):
            yield f"  {attribute.name} = {attribute_label(onnx.helper.get_attribute_value(attribute))}"


def _value(name: str, value: Value) -> Iterator[str]:
    match value:
        case np.ndarray():
            dtype = "string" if value.dtype == object else element_type(value.dtype).dtype.name
            yield f"{name}: shape={value.shape}, dtype={dtype}"
            with np.errstate(invalid="ignore"):  # of signalling NaN
                plain = (
                    value
                    if value.dtype.kind != "V"
                    else value.astype(np.float64 if element_type(value.dtype).format else np.int64)
                )
            text = np.array2string(plain, separator=", ", threshold=_ELEMENTS, max_line_width=100)
            yield from (f"  {line}" for line in text.splitlines())
        case list():
            yield f"{name}: sequence of {len(value)}"
            for i, item in enumerate(value):
                yield from (f"  {line}" for line in _value(f"[{i}]", item))
        case dict():
            yield f"{name}: map of {len(value)}"
            for key, item in value.items():
                yield from (f"  {line}" for line in _value(f"[{key!r}]", item))
        case None:
            yield f"{name}: none"
        case _:
            yield f"{name}: sparse, shape={value.dims}"
            yield from (f"  {line}" for line in (*_value("values", value.values), *_value("indices", value.indices)))
