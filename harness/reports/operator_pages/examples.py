"""The examples of an operator version: cases in the form of ONNX's documents, each with who passes it."""

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
from harness.reports.runs import RunFacts
from harness.reports.text import plain_lines, reproduce
from harness.results.lines import Result, Verdict
from harness.spec.schema import newest, schema
from harness.spec.values import TensorType, Value, parse_type, tensors_in
from harness.suite.cases import Case, Labels

GROUPS = ("example", "node")
"""The groups of data sets that are examples: those of the operators' files, and ONNX's own node tests."""

_FIRST = 8
"""Elements shown of what is too large."""
_TAKEN = {"np", "onnx", "ml_dtypes", "node", "expect"}


class Answer(msgspec.Struct, frozen=True):
    """What one run made of an example."""

    run: str
    """The run's label."""
    verdict: Verdict
    message: str
    known: str
    """The reason that the backend's expectations give."""
    reproduce: str


class Example(msgspec.Struct, frozen=True):
    """One data set of one case."""

    title: str
    """The case's name, and the data set where it is not the first."""
    suite: str
    code: str
    """Python that builds the node and its values; it runs where nothing is cut."""
    cut: tuple[str, ...]
    """What the code only tells of: attributes, inputs and outputs by name."""
    where: str
    """The folder of the case, below the one of the suites."""
    unspecified: str
    """Why the specification leaves the answer open."""
    answers: tuple[Answer, ...]
    """Of the runs that have a result for it."""


class _Named(msgspec.Struct, frozen=True):
    """A value of the graph, under a name that Python takes."""

    name: str
    type: str
    value: Value


def example(case: Case, data_set: int, suite: Path, runs: Sequence[RunFacts], results: Mapping[int, Result]) -> Example:
    """One data set of a case of the suite in the folder ``suite``; ``results`` are by the run's place.

    Raises BrokenSuite and BrokenValue for files that are not those of the manifest.
    """
    expected = DataSetFiles(case, str(suite / case.name), case.file_prefix(data_set))
    graph = expected.graph()
    values = [*expected.inputs(), *expected.outputs()]
    names = _python_names([value.name for value in (*graph.input, *graph.output)])
    named = [_Named(*of) for of in zip(names, (*case.inputs, *case.outputs), values, strict=True)]
    taken = len(case.inputs)
    code, cut = _snippet(case, graph.node[0], named[:taken], named[taken:])
    title = f"{case.name} data set {data_set}" if data_set else case.name
    return Example(
        title=title,
        suite=suite.name,
        code=plain_lines(code),
        cut=cut,
        where=f"{suite.name}/{case.name}",
        unspecified=case.data_sets[data_set].unspecified,
        answers=tuple(_answer(suite.name, runs[run], results[run]) for run in sorted(results)),
    )


def _answer(suite: str, run: RunFacts, result: Result) -> Answer:
    again = reproduce(suite, result.case, run.backend, result.data_set)
    return Answer(run.label, result.verdict, result.message, result.known, again)


def _python_names(names: Iterable[str]) -> list[str]:
    """Each name as an identifier, different from the others."""
    found: list[str] = []
    for name in names:
        stem = identifier = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        if stem[0].isdigit() or keyword.iskeyword(stem) or stem in _TAKEN:
            stem = identifier = f"_{stem}"
        while identifier in found:
            identifier = f"{stem}_{len(found)}"
        found.append(identifier)
    return found


def _snippet(
    case: Case, node: onnx.NodeProto, inputs: Sequence[_Named], outputs: Sequence[_Named]
) -> tuple[str, tuple[str, ...]]:
    """The source, and the names of what it only tells of."""
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
    cut = tuple(name for name, text in (*attributes.items(), *values.items()) if text is None)
    return "\n".join([*imports, "", body]), cut


def _node(node: onnx.NodeProto, attributes: Mapping[str, str | None]) -> Iterator[str]:
    yield "node = onnx.helper.make_node("
    yield f"    {quoted(node.op_type)},"
    yield f"    inputs={_listed(map(quoted, node.input))},"
    yield f"    outputs={_listed(map(quoted, node.output))},"
    if node.domain:
        yield f"    domain={quoted(node.domain)},"
    for name, text in attributes.items():
        if text is not None:
            yield indented(f"{name}={text},")
        else:
            value = next(a for a in node.attribute if a.name == name)
            yield from (f"    # {line}" for line in _told(value))
    yield ")"


def _told(attribute: onnx.AttributeProto) -> Iterator[str]:
    """An attribute that is not written out, in a few lines."""
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    yield f"{attribute.name}: {kind}"
    if attribute.type == onnx.AttributeProto.GRAPH:
        yield from (f"  {line}" for line in onnx.printer.to_text(attribute.g).splitlines()[:30])


def _assignment(value: _Named, text: str | None) -> str:
    if text is not None:
        return f"{value.name} = {text}"
    shapes = [str(array.shape) for array in tensors_in(value.value)]
    shape = f" of shape {shapes[0]}" if len(shapes) == 1 else f" with {len(shapes)} tensors"
    return f"# {value.name}: {value.type}{shape}, beginning {first_elements(value.value, _FIRST)} …"


def _expect(case: Case, inputs: Sequence[_Named], outputs: Sequence[_Named]) -> str:
    words = [f"inputs={_listed(value.name for value in inputs)}", f"outputs={_listed(value.name for value in outputs)}"]
    words.append(f"name={quoted(case.name)}")
    for side, values in (("input", inputs), ("output", outputs)):
        types = [parse_type(value.type) for value in values]
        if not all(isinstance(of, TensorType) for of in types):  # which a value alone need not tell
            words.append(f"{side}_type_protos={_listed(str(type_text(of)) for of in types)}")
    opset = _opset(case.labels)
    if opset:
        words.append(f"opset_imports=[onnx.helper.make_opsetid({quoted(case.labels.domain)}, {opset})]")
    whole = f"expect(node, {', '.join(words)})"
    return whole if len(whole) <= 110 else "expect(\n    node,\n" + "".join(f"    {word},\n" for word in words) + ")"


def _opset(of: Labels) -> int | None:
    """The opset that has a version which is not the newest; ``expect`` knows none between 1 and 5."""
    if of.since == newest(schema(of.op, of.since, of.domain)):
        return None
    return 5 if not of.domain and 1 < of.since < 5 else of.since


def _listed(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"
