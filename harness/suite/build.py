"""One case as the bytes of its files: the model, the data sets with what they must give, and ``data.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import onnx
from onnx import helper

from harness.errors import ConformanceError
from harness.numbers.bound import PASS_AT, blunt
from harness.numbers.laws import Law
from harness.operators.draw import Draw
from harness.operators.evaluate import Expected, expected, graph_inputs
from harness.operators.operator import OMITTED, Drawn, Example, Operator
from harness.spec.codec import encode
from harness.spec.element_types import BY_NAME, element_type
from harness.spec.schema import Parameter, Schema
from harness.spec.values import TensorType, Value, ValueType, parse_type, proto_of_type, type_of_value
from harness.suite.cases import Built, Case, DataSet, Labels, finish
from harness.suite.names import attribute_label, case_name, type_label
from harness.suite.planning import Plan, Row


class ExampleDisagrees(ConformanceError):
    """An example of an operator's document is not what its oracle gives: one of the two is read wrongly."""


class _Set(msgspec.Struct, frozen=True, eq=False):
    """One data set before it is computed."""

    group: str
    about: str
    seed: str
    silent: str
    drawn: Drawn


def build_plan(operator: Operator, version: Schema, plan: Plan) -> Iterator[Built]:
    """The cases of a plan and the document's examples."""
    yield from build_rows(operator, version, plan.rows)
    if version.since == operator.since[0]:
        for example in operator.examples:
            yield _build_example(operator, version, example)


def build_rows(operator: Operator, version: Schema, rows: Iterable[Row]) -> Iterator[Built]:
    """The cases of planned rows: data sets that share a model share a case."""
    models: dict[str, tuple[Mapping[str, str], Mapping[str, Any], list[_Set]]] = {}
    for row in rows:
        attributes = [f"{name}={attribute_label(value)}" for name, value in row.attributes.items()]
        seed = "/".join([version.title, *row.types.values(), *attributes, row.group.name])
        for inputs in row.group.generate(Draw(seed, row.types, row.attributes)):
            drawn = inputs if isinstance(inputs, Drawn) else Drawn(inputs)
            name = case_name(version, row.types, row.attributes, drawn)
            one = _Set(row.group.name, row.group.about, seed, drawn.silent or row.group.silent, drawn)
            models.setdefault(name, (row.types, row.attributes, []))[2].append(one)
    for name, (types, attributes, sets) in models.items():
        yield _build(operator, version, name, types, attributes, sets)


def _build_example(operator: Operator, version: Schema, example: Example) -> Built:
    given = [(p, value) for _, p, value in graph_inputs(version, example.inputs)]
    types = {
        p.type_str: str(type_of_value(value))
        for p, value in (*given, *zip(version.outputs, example.gives, strict=False))
        if p.type_str in version.variables
    }
    attributes = {a.name: example.attributes.get(a.name, OMITTED) for a in version.attributes}
    drawn = Drawn(example.inputs, without=tuple(p.name for p in version.outputs[len(example.gives) :]))
    for output, printed in zip(
        expected(operator, version, types, example.inputs, attributes), example.gives, strict=False
    ):
        found = np.asarray(output.value)
        if found.dtype != printed.dtype or not np.array_equal(found, printed):
            raise ExampleDisagrees(f"{example.name}: the document prints {printed.tolist()}, the oracle gives {found}.")
    one = _Set("example", "An example of the operator's document.", "", "", drawn)
    return _build(operator, version, example.name, types, attributes, [one])


def _build(
    operator: Operator,
    version: Schema,
    name: str,
    types: Mapping[str, str],
    attributes: Mapping[str, Any],
    sets: Sequence[_Set],
) -> Built:
    first = sets[0].drawn
    inputs = graph_inputs(version, first.inputs)
    input_types = [parse_type(types.get(p.type_str, p.type_str)) for _, p, _ in inputs]
    outputs = [(i, p) for i, p in enumerate(version.outputs) if p.name not in first.without]
    output_types = [parse_type(types.get(p.type_str, p.type_str)) for _, p in outputs]

    files: dict[str, bytes] = {}
    answers: list[list[Expected]] = []
    for number, one in enumerate(sets):
        folder = f"test_data_set_{number}"
        given = graph_inputs(version, one.drawn.inputs)
        answer = expected(operator, version, types, one.drawn.inputs, attributes, one.seed)
        answers.append([answer[i] for i, _ in outputs])
        for i, ((label, _, value), of) in enumerate(zip(given, input_types, strict=True)):
            files[f"{folder}/input_{i}.pb"] = encode(value, of, label)
        for i, ((_, p), of, output) in enumerate(zip(outputs, output_types, answers[-1], strict=True)):
            files[f"{folder}/output_{i}.pb"] = encode(output.value, of, p.name)
            if output.bound is not None:
                files[f"{folder}/bound_{i}.pb"] = _encode_bound(output.bound, of)
            for n, also in enumerate(output.also):
                files[f"{folder}/also_{n}_{i}.pb"] = encode(also, of, p.name)

    laws = tuple(output.law for output in answers[0] if output.law)
    rtol, atol = _tolerance([output for answer in answers for output in answer])
    if laws:
        rtol, atol = 0.0, _width(laws, [[v for _, _, v in graph_inputs(version, one.drawn.inputs)] for one in sets])
    absent = [p.name for p in version.inputs if p.option == "optional" and p.name not in first.inputs]
    case = Case(
        name=name,
        labels=Labels(
            op=version.op,
            domain=version.domain,
            since=version.since,
            category=version.category,
            types={variable: type_label(of) for variable, of in types.items()},
            attributes={a.name: attribute_label(attributes[a.name]) for a in version.attributes},
            omitted=(*absent, *first.without),
        ),
        inputs=tuple(map(str, input_types)),
        outputs=tuple(map(str, output_types)),
        data_sets=tuple(_data_set(one, answer) for one, answer in zip(sets, answers, strict=True)),
        rtol=rtol,
        atol=atol,
        judged="property" if laws else "bounds",
        laws=laws,
    )
    declared = zip(outputs, output_types, zip(*answers, strict=True), strict=True)
    graph = _Graph(
        name,
        [(label, of, _common_shape([value])) for (label, _, value), of in zip(inputs, input_types, strict=True)],
        [(p.name, of, _common_shape(o.value for o in every)) for (_, p), of, every in declared],
    )
    return finish(case, {"model.onnx": _model(version, attributes, graph), **files})


def _data_set(one: _Set, outputs: Sequence[Expected]) -> DataSet:
    arrays = [(np.asarray(o.value), o.bound) for o in outputs]
    return DataSet(
        group=one.group,
        about=one.about,
        seed=one.seed,
        elements=sum(values.size for values, _ in arrays),
        blunt=sum(int(np.count_nonzero(blunt(values, bound))) for values, bound in arrays if bound is not None),
        silent=one.silent,
    )


def _encode_bound(bound: np.ndarray, of: ValueType) -> bytes:
    """Bounds as float, rounded up; as double beside double and complex128, whose bounds may be too small for float."""
    if isinstance(of, TensorType) and of.element.name in ("double", "complex128"):
        return encode(bound, TensorType(BY_NAME["double"]), "bound")
    with np.errstate(over="ignore"):  # of bfloat16 near its end: infinite is then the next float upwards
        narrow = bound.astype(np.float32)
    raised = np.where(narrow < bound, np.nextafter(narrow, np.float32(np.inf)), narrow)
    return encode(raised.astype(np.float32), TensorType(BY_NAME["float"]), "bound")


_ANYTHING = 1e300
"""The tolerance that stands for an infinite bound, since JSON has no infinity."""


def _tolerance(outputs: Sequence[Expected]) -> tuple[float, float]:
    """The rtol and atol for runners that know nothing else: what passes by the bounds passes by them.

    rtol is that of the largest element, atol what the others need beyond it, both with a margin for
    runners that compare in the element type itself; 0 and 0 where nothing may be inexact.
    """
    allowed, size, precision = [], [], 53
    for output in outputs:
        if output.bound is not None:
            values = np.asarray(output.value)
            element = element_type(values.dtype)
            finite = np.isfinite(values.astype(np.complex128 if element.kind == "complex" else np.float64))
            size.append(np.abs(values[finite].astype(np.complex128)))
            allowed.append(np.minimum(PASS_AT * output.bound[finite], _ANYTHING))
            precision = min(precision, element.format.precision if element.format else 53)
    sizes, bounds = (np.concatenate(parts) if parts else np.zeros(0) for parts in (size, allowed))
    if not sizes.size or not bounds.any():
        return 0.0, 0.0
    largest = int(np.argmax(sizes))
    margin = 1 + 2.0 ** (3 - precision)
    rtol = _round_up(float(margin * bounds[largest] / sizes[largest])) if sizes[largest] else 0.0
    atol = _round_up(float(margin * max(0.0, (bounds - rtol * sizes).max())))
    return rtol, atol


def _width(laws: Sequence[Law], inputs: Sequence[Sequence[Value]]) -> float:
    """The atol for runners that know no laws: two answers that follow them may be so far apart."""
    return _round_up(max(law.width(values) for values in inputs for law in laws))


def _round_up(value: float) -> float:
    """To three significant digits, upwards, so that it reads well."""
    return float(f"{value * 1.005:.2e}")


_Shape: TypeAlias = tuple[int | None, ...] | None


class _Graph(NamedTuple):
    """A graph's name, and the names, types and shapes of its inputs and outputs."""

    name: str
    inputs: list[tuple[str, ValueType, _Shape]]
    outputs: list[tuple[str, ValueType, _Shape]]


def _model(version: Schema, attributes: Mapping[str, Any], graph: _Graph) -> bytes:
    """The model of one node, whose graph's inputs and outputs bear the schema's names and these values' shapes."""
    model = onnx.ModelProto(producer_name="onnx-conformance", ir_version=_ir_version(version))
    model.opset_import.add(domain=version.domain, version=version.since)
    model.graph.name = graph.name
    node = model.graph.node.add(op_type=version.op, domain=version.domain)
    inputs, outputs = ([name for name, *_ in values] for values in (graph.inputs, graph.outputs))
    node.input.extend(_arguments(version.inputs, inputs))
    node.output.extend(_arguments(version.outputs, outputs))
    kinds = {a.name: onnx.AttributeProto.AttributeType.Value(a.kind) for a in version.attributes}
    for key, value in attributes.items():
        if value is not OMITTED:
            kind = kinds[key] if isinstance(value, list) else None  # which an empty list does not show
            node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    for infos, values in ((model.graph.input, graph.inputs), (model.graph.output, graph.outputs)):
        for name, of, shape in values:
            infos.add(name=name).type.CopyFrom(proto_of_type(of, shape))
    return model.SerializeToString(deterministic=True)


def _arguments(parameters: Sequence[Parameter], names: Sequence[str]) -> list[str]:
    """A node's inputs or outputs: the names that are there, empty ones for those left out before the last."""
    found: list[str] = []
    for p in parameters:
        if p.option == "variadic":
            found += [name for name in names if name.startswith(f"{p.name}_")]
        else:
            found.append(p.name if p.name in names else "")
    while found and not found[-1]:
        found.pop()
    return found


def _common_shape(values: Iterable[Value]) -> _Shape:
    """The shape that all of the tensors have, None for a size in which they differ, or where their ranks do."""
    tensors = [value for value in values if isinstance(value, np.ndarray)]
    if not tensors or len({value.ndim for value in tensors}) > 1:
        return None
    return tuple(
        sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(value.shape for value in tensors), strict=True)
    )


def _ir_version(version: Schema) -> int:
    return helper.find_min_ir_version_for([helper.make_operatorsetid(version.domain, version.since)], True)
