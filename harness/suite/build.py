"""One case as the bytes of its files: the model, the data sets with what they must give, and ``data.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import helper

from harness.errors import ConformanceError
from harness.numbers.bound import blunt
from harness.operators.draw import Draw
from harness.operators.evaluate import Expected, expected
from harness.operators.operator import OMITTED, Example, Inputs, Operator
from harness.spec.codec import encode
from harness.spec.element_types import BY_NAME, element_type
from harness.spec.schema import Schema
from harness.spec.values import TensorType, Value, ValueType, parse_type, proto_of_type
from harness.suite.cases import Built, Case, DataSet, Labels, finish
from harness.suite.names import attribute_label, case_name, type_label
from harness.suite.planning import Plan

PASS = 4
"""An answer passes up to this many bounds from what is expected."""


class ExampleDisagrees(ConformanceError):
    """An example of an operator's document is not what its oracle gives: one of the two is read wrongly."""


class _Set(msgspec.Struct, frozen=True, eq=False):
    group: str
    about: str
    seed: str
    silent: str
    inputs: Inputs


def build_plan(operator: Operator, version: Schema, plan: Plan) -> Iterator[Built]:
    """The cases of a plan and the document's examples: data sets that share a model share a case."""
    models: dict[str, tuple[Mapping[str, str], Mapping[str, Any], list[_Set]]] = {}
    for row in plan.rows:
        coordinates = [
            version.title,
            *row.types.values(),
            *(f"{k}={attribute_label(v)}" for k, v in row.attributes.items()),
        ]
        seed = "/".join([*coordinates, row.group.name])
        for inputs in row.group.generate(Draw(seed, row.types, row.attributes)):
            name = case_name(version, row.types, row.attributes, [inputs.get(p.name) for p in version.inputs])
            drawn = _Set(row.group.name, row.group.about, seed, row.group.silent, inputs)
            models.setdefault(name, (row.types, row.attributes, []))[2].append(drawn)
    for name, (types, attributes, sets) in models.items():
        yield _build(operator, version, name, types, attributes, sets)
    if version.since == operator.since[0]:
        for example in operator.examples:
            yield _build_example(operator, version, example)


def _build_example(operator: Operator, version: Schema, example: Example) -> Built:
    types = {
        p.type_str: f"tensor({element_type(example.inputs[p.name].dtype).name})"
        for p in version.inputs
        if p.type_str in version.variables and p.name in example.inputs
    }
    attributes = {a.name: example.attributes.get(a.name, OMITTED) for a in version.attributes}
    drawn = _Set("example", "An example of the operator's document.", "", "", example.inputs)
    outputs = expected(operator, version, types, example.inputs, attributes)
    for output, printed in zip(outputs, example.gives, strict=True):
        if not np.array_equal(np.asarray(output.value), printed) or np.asarray(output.value).dtype != printed.dtype:
            raise ExampleDisagrees(
                f"{example.name}: the document prints {printed.tolist()}, the oracle gives {output.value}."
            )
    return _build(operator, version, example.name, types, attributes, [drawn])


def _build(
    operator: Operator,
    version: Schema,
    name: str,
    types: Mapping[str, str],
    attributes: Mapping[str, Any],
    sets: Sequence[_Set],
) -> Built:
    present = [p for p in version.inputs if p.name in sets[0].inputs]
    input_types = [parse_type(types.get(p.type_str, p.type_str)) for p in present]
    output_types = [parse_type(types.get(p.type_str, p.type_str)) for p in version.outputs]
    answers = [expected(operator, version, types, s.inputs, attributes) for s in sets]

    files: dict[str, bytes] = {}
    for number, (drawn, outputs) in enumerate(zip(sets, answers, strict=True)):
        folder = f"test_data_set_{number}"
        for i, (parameter, of) in enumerate(zip(present, input_types, strict=True)):
            files[f"{folder}/input_{i}.pb"] = encode(drawn.inputs[parameter.name], of, parameter.name)
        for i, (parameter, of, output) in enumerate(zip(version.outputs, output_types, outputs, strict=True)):
            files[f"{folder}/output_{i}.pb"] = encode(output.value, of, parameter.name)
            if output.bound is not None:
                files[f"{folder}/bound_{i}.pb"] = _encode_bound(output.bound, of)

    rtol, atol = _tolerance([output for outputs in answers for output in outputs])
    case = Case(
        name=name,
        labels=Labels(
            op=version.op,
            domain=version.domain,
            since=version.since,
            category=version.category,
            types={variable: type_label(of) for variable, of in types.items()},
            attributes={a.name: attribute_label(attributes[a.name]) for a in version.attributes},
            omitted=tuple(p.name for p in version.inputs if p.name not in sets[0].inputs),
        ),
        inputs=tuple(map(str, input_types)),
        outputs=tuple(map(str, output_types)),
        data_sets=tuple(_data_set(drawn, outputs) for drawn, outputs in zip(sets, answers, strict=True)),
        rtol=rtol,
        atol=atol,
        judged="bounds",
    )
    first = {p.name: (of, sets[0].inputs[p.name]) for p, of in zip(present, input_types, strict=True)}
    model = _model(
        version, name, attributes, first, list(zip(output_types, (o.value for o in answers[0]), strict=True))
    )
    return finish(case, {"model.onnx": model, **files})


def _data_set(drawn: _Set, outputs: Sequence[Expected]) -> DataSet:
    arrays = [(np.asarray(o.value), o.bound) for o in outputs]
    return DataSet(
        group=drawn.group,
        about=drawn.about,
        seed=drawn.seed,
        elements=sum(values.size for values, _ in arrays),
        blunt=sum(int(np.count_nonzero(blunt(values, bound))) for values, bound in arrays if bound is not None),
        silent=drawn.silent,
    )


def _encode_bound(bound: np.ndarray, of: ValueType) -> bytes:
    """Bounds as float, rounded up; as double beside double and complex128, whose bounds may be too small for float."""
    if isinstance(of, TensorType) and of.element.name in ("double", "complex128"):
        return encode(bound, TensorType(BY_NAME["double"]), "bound")
    narrow = bound.astype(np.float32)
    raised = np.where(narrow < bound, np.nextafter(narrow, np.float32(np.inf)), narrow)
    return encode(raised.astype(np.float32), TensorType(BY_NAME["float"]), "bound")


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
            allowed.append(PASS * output.bound[finite])
            precision = min(precision, element.format.precision if element.format else 53)
    sizes, bounds = (np.concatenate(parts) if parts else np.zeros(0) for parts in (size, allowed))
    if not sizes.size or not bounds.any():
        return 0.0, 0.0
    largest = int(np.argmax(sizes))
    margin = 1 + 2.0 ** (3 - precision)
    rtol = _round_up(float(margin * bounds[largest] / sizes[largest])) if sizes[largest] else 0.0
    atol = _round_up(float(margin * max(0.0, (bounds - rtol * sizes).max())))
    return rtol, atol


def _round_up(value: float) -> float:
    """To three significant digits, upwards, so that it reads well."""
    return float(f"{value * 1.005:.2e}")


def _model(
    version: Schema,
    name: str,
    attributes: Mapping[str, Any],
    inputs: Mapping[str, tuple[ValueType, Value]],
    outputs: Sequence[tuple[ValueType, Value]],
) -> bytes:
    """The model of one node: graph inputs and outputs bear the schema's names and the shapes of these values."""
    model = onnx.ModelProto(producer_name="onnx-conformance", ir_version=_ir_version(version))
    model.opset_import.add(domain=version.domain, version=version.since)
    graph = model.graph
    graph.name = name
    node = graph.node.add(op_type=version.op, domain=version.domain)
    names = [p.name if p.name in inputs else "" for p in version.inputs]
    while names and not names[-1]:
        names.pop()
    node.input.extend(names)
    node.output.extend(p.name for p in version.outputs)
    for key, value in attributes.items():
        if value is not OMITTED:
            node.attribute.append(helper.make_attribute(key, value))
    for label, (of, value) in inputs.items():
        graph.input.add(name=label).type.CopyFrom(proto_of_type(of, _shape(value)))
    for p, (of, value) in zip(version.outputs, outputs, strict=True):
        graph.output.add(name=p.name).type.CopyFrom(proto_of_type(of, _shape(value)))
    return model.SerializeToString(deterministic=True)


def _shape(value: Value) -> tuple[int, ...] | None:
    return value.shape if isinstance(value, np.ndarray) else None


def _ir_version(version: Schema) -> int:
    return helper.find_min_ir_version_for([helper.make_operatorsetid(version.domain, version.since)], True)
