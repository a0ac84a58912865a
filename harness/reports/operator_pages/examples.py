"""The examples of an operator version: Python code as in ONNX's documentation, and the result of each run."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import onnx

from harness.judging.judge import DataSetFiles
from harness.reports.operator_pages.python_text import (
    attribute_text,
    first_elements,
    indented,
    quoted,
    type_text,
    value_text,
)
from harness.reports.runs import RunInfo
from harness.reports.text import printable_lines, repro_command
from harness.results.lines import Result, Verdict
from harness.spec.schema import newest, schema
from harness.spec.values import TensorType, Value, parse_type, tensors_in
from harness.suite.cases import Case, Labels

GROUPS = ("example", "node")
"""The input groups that are examples: those of the operators' files, and ONNX's own node tests."""

_MAX_ELEMENTS = 8
"""The number of elements shown of a tensor that is too large."""
_RESERVED = {"np", "onnx", "ml_dtypes", "node", "expect"}


class ExampleResult(msgspec.Struct, frozen=True):
    """The result of an example in one run."""

    run: str
    """The run's label."""
    verdict: Verdict
    message: str
    known: str
    """The reason in the backend's expectations, if the failure is expected."""
    reproduce: str


class Example(msgspec.Struct, frozen=True):
    """One data set of one case, as an example."""

    title: str
    """The name of the case, and the data set if it is not the first."""
    suite: str
    code: str
    """Python code that builds the node and its values. It runs if nothing is shortened."""
    shortened: tuple[str, ...]
    """The names of attributes, inputs and outputs that are too large for the code, which has a comment instead."""
    folder: str
    """The folder of the case in the folder of the suites."""
    unspecified: str
    """Why the specification leaves the answer open. Empty if the data set is scored."""
    results: tuple[ExampleResult, ...]
    """One for each run that has a result."""


class _NamedValue(msgspec.Struct, frozen=True):
    """An input or output value with a valid Python name."""

    name: str
    type: str
    value: Value


def example(case: Case, data_set: int, suite: Path, runs: Sequence[RunInfo], results: Mapping[int, Result]) -> Example:
    """The example of a data set of a case. ``suite`` is the folder of the suite, ``results`` are by index of the run.

    Raises BrokenSuite and BrokenValue if files do not match the manifest.
    """
    expected = DataSetFiles(case, str(suite / case.name), data_set)
    graph = expected.graph()
    values = [*expected.inputs(), *expected.outputs()]
    names = _python_names([value.name for value in (*graph.input, *graph.output)])
    named = [_NamedValue(*of) for of in zip(names, (*case.inputs, *case.outputs), values, strict=True)]
    input_count = len(case.inputs)
    code, shortened = _snippet(case, graph.node[0], named[:input_count], named[input_count:])
    title = f"{case.name} data set {data_set}" if data_set else case.name
    return Example(
        title=title,
        suite=suite.name,
        code=printable_lines(code),
        shortened=shortened,
        folder=f"{suite.name}/{case.name}",
        unspecified=case.data_sets[data_set].unspecified,
        results=tuple(_example_result(suite.name, runs[run], results[run]) for run in sorted(results)),
    )


def _example_result(suite: str, run: RunInfo, result: Result) -> ExampleResult:
    again = repro_command(suite, result.case, run.backend, result.data_set)
    return ExampleResult(run.label, result.verdict, result.message, result.known, again)


def _python_names(names: Iterable[str]) -> list[str]:
    """A unique Python identifier for each name."""
    found: list[str] = []
    for name in names:
        stem = identifier = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        if stem[0].isdigit() or keyword.iskeyword(stem) or stem in _RESERVED:
            stem = identifier = f"_{stem}"
        while identifier in found:
            identifier = f"{stem}_{len(found)}"
        found.append(identifier)
    return found


def _snippet(
    case: Case, node: onnx.NodeProto, inputs: Sequence[_NamedValue], outputs: Sequence[_NamedValue]
) -> tuple[str, tuple[str, ...]]:
    """The source code, and the names of values that are shortened in it."""
    attributes = {a.name: attribute_text(a) for a in sorted(node.attribute, key=lambda a: a.name)}
    values = {value.name: value_text(value.value) for value in (*inputs, *outputs)}
    lines = [
        *_node(node, attributes),
        "",
        *(_assignment(value, values[value.name]) for value in (*inputs, *outputs)),
        _expect(case, inputs, outputs),
    ]
    body = "\n".join(lines)
    imports = ["import ml_dtypes"] if "ml_dtypes." in body else []
    imports += ["import numpy as np", "import onnx", "from onnx.backend.test.case.node import expect"]
    shortened = tuple(name for name, text in (*attributes.items(), *values.items()) if text is None)
    return "\n".join([*imports, "", body]), shortened


def _node(node: onnx.NodeProto, attributes: Mapping[str, str | None]) -> Iterator[str]:
    yield "node = onnx.helper.make_node("
    yield f"    {quoted(node.op_type)},"
    yield f"    inputs={_list_text(map(quoted, node.input))},"
    yield f"    outputs={_list_text(map(quoted, node.output))},"
    if node.domain:
        yield f"    domain={quoted(node.domain)},"
    for name, text in attributes.items():
        if text is not None:
            yield indented(f"{name}={text},")
        else:
            value = next(a for a in node.attribute if a.name == name)
            yield from (f"    # {line}" for line in _attribute_summary(value))
    yield ")"


def _attribute_summary(attribute: onnx.AttributeProto) -> Iterator[str]:
    """A summary of an attribute that has no Python expression."""
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    yield f"{attribute.name}: {kind}"
    if attribute.type == onnx.AttributeProto.GRAPH:
        yield from (f"  {line}" for line in onnx.printer.to_text(attribute.g).splitlines()[:30])


def _assignment(value: _NamedValue, text: str | None) -> str:
    if text is not None:
        return f"{value.name} = {text}"
    shapes = [str(array.shape) for array in tensors_in(value.value)]
    shape = f" of shape {shapes[0]}" if len(shapes) == 1 else f" with {len(shapes)} tensors"
    return f"# {value.name}: {value.type}{shape}, starting with {first_elements(value.value, _MAX_ELEMENTS)} …"


def _expect(case: Case, inputs: Sequence[_NamedValue], outputs: Sequence[_NamedValue]) -> str:
    words = [
        f"inputs={_list_text(value.name for value in inputs)}",
        f"outputs={_list_text(value.name for value in outputs)}",
    ]
    words.append(f"name={quoted(case.name)}")
    for side, values in (("input", inputs), ("output", outputs)):
        types = [parse_type(value.type) for value in values]
        if not all(isinstance(of, TensorType) for of in types):  # the type cannot always be inferred from the value
            words.append(f"{side}_type_protos={_list_text(str(type_text(of)) for of in types)}")
    opset = _opset(case.labels)
    if opset:
        words.append(f"opset_imports=[onnx.helper.make_opsetid({quoted(case.labels.domain)}, {opset})]")
    whole = f"expect(node, {', '.join(words)})"
    return whole if len(whole) <= 110 else "expect(\n    node,\n" + "".join(f"    {word},\n" for word in words) + ")"


def _opset(of: Labels) -> int | None:
    """An opset with this version, or None for the newest. ``expect`` has no opsets between 1 and 5."""
    if of.since == newest(schema(of.op, of.since, of.domain)):
        return None
    return 5 if not of.domain and 1 < of.since < 5 else of.since


def _list_text(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"
