"""One case as the bytes of its files: the model, the data sets with what they must give, and ``data.json``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import onnx
from onnx import helper

from harness.errors import ConformanceError
from harness.numbers.bound import PASS_AT, insensitive
from harness.numbers.distributions import Distribution
from harness.oracles.draw import Draw
from harness.oracles.evaluate import Expected, expected
from harness.oracles.node import Call, Node, named_inputs, opsets_of
from harness.oracles.operator import OMITTED, Example, Operator, Sample, as_sample
from harness.spec.codec import encode
from harness.spec.element_types import BY_NAME, element_type
from harness.spec.schema import Parameter, Schema
from harness.spec.values import (
    SparseTensor,
    TensorType,
    Value,
    ValueType,
    proto_of_type,
    tensors_in,
    type_of_value,
)
from harness.suite.cases import Built, Case, DataSet, Labels, finish, mask_type
from harness.suite.names import attribute_label, case_name, type_label
from harness.suite.planning import Plan, Row

_Shape: TypeAlias = tuple[int | None, ...] | None


class ExampleDisagrees(ConformanceError):
    """An example of an operator's document is not what its oracle gives: one of the two is read wrongly."""


class DistributionsDiffer(ConformanceError):
    """Data sets of one case follow different laws, and a case has one list of them."""

    advice = "Draw what is random and what is not with different shapes."


class _DataSet(msgspec.Struct, frozen=True, eq=False):
    """One data set before it is computed."""

    group: str
    about: str
    seed: str
    unspecified: str
    sample: Sample


def build_plan(operator: Operator, version: Schema, plan: Plan) -> Iterator[Built]:
    """The cases of a plan and the document's examples."""
    yield from build_rows(operator, version, plan.rows)
    if version.since == operator.since[0]:
        for example in operator.examples:
            yield _build_example(operator, version, example)


def build_rows(operator: Operator, version: Schema, rows: Iterable[Row]) -> Iterator[Built]:
    """The cases of planned rows: data sets that share a model share a case."""
    models: dict[str, tuple[Node, list[_DataSet]]] = {}
    for row in rows:
        attributes = [f"{name}={attribute_label(value)}" for name, value in row.attributes.items()]
        seed = "/".join([version.title, *row.types.values(), *attributes, row.group.name])
        node = Node(operator, version, row.types, row.attributes)
        for inputs in row.group.generate(Draw(seed, row.types, row.attributes)):
            sample = as_sample(inputs)
            name = case_name(version, row.types, row.attributes, sample)
            reason = sample.unspecified or row.group.unspecified
            data_set = _DataSet(row.group.name, row.group.about, seed, reason, sample)
            models.setdefault(name, (node, []))[1].append(data_set)
    for name, (node, data_sets) in models.items():
        yield _build(name, node, data_sets)


def _build_example(operator: Operator, version: Schema, example: Example) -> Built:
    given = [(p, value) for _, p, value in named_inputs(version, example.inputs)]
    types = {
        p.type_str: str(type_of_value(value))
        for p, value in (*given, *zip(version.outputs, example.gives, strict=False))
        if p.type_str in version.variables
    }
    attributes = {a.name: example.attributes.get(a.name, OMITTED) for a in version.attributes}
    node = Node(operator, version, types, attributes)
    sample = Sample(example.inputs, without=tuple(p.name for p in version.outputs[len(example.gives) :]))
    for output, printed in zip(expected(node.call(sample)), example.gives, strict=False):
        found = np.asarray(output.value)
        if found.dtype != printed.dtype or not np.array_equal(found, printed):
            raise ExampleDisagrees(f"{example.name}: the document prints {printed.tolist()}, the oracle gives {found}.")
    about = "An example of the operator's document."
    return _build(example.name, node, [_DataSet("example", about, "", "", sample)])


def _build(name: str, node: Node, data_sets: Sequence[_DataSet]) -> Built:
    version, types, attributes = node.version, node.types, node.attributes
    calls = [node.call(one.sample) for one in data_sets]
    fed = [[*call.arguments().items(), *call.scope.values.items()] for call in calls]
    without = data_sets[0].sample.without
    answers: list[list[_Output]] = []
    for one, call in zip(data_sets, calls, strict=True):
        outputs = zip(_output_names(version), expected(call, one.seed), strict=False)
        marks, others = one.sample.unspecified_elements, one.sample.alternatives
        answers.append(
            [
                _Output(
                    label,
                    msgspec.structs.replace(output, alternatives=(*output.alternatives, *others.get(name, ()))),
                    _mask(mark, output.value) if (mark := marks.get(label, marks.get(name))) is not None else None,
                )
                for (name, label), output in outputs
                if name not in without
            ]
        )
    given = [[output.expected for output in answer] for answer in answers]
    described = [_data_set(*one) for one in zip(data_sets, calls, answers, strict=True)]
    distributions, *others = (tuple(one.distribution for one in answer if one.distribution) for answer in given)
    if any(other != distributions for other in others) or len(distributions) not in (0, len(given[0])):
        raise DistributionsDiffer(f"{name} has data sets, or outputs, of which some are random.")
    shared = [answer for one, answer in zip(described, given, strict=True) if not one.hidden]
    rtol, atol = _tolerance([output for answer in shared for output in answer])
    if distributions:
        rtol, atol = 0.0, _width(distributions, [[x.value for x in call.arguments().values()] for call in calls])
    first = data_sets[0].sample.inputs
    absent = [p.name for p in version.inputs if p.option == "optional" and p.name not in first]
    case = Case(
        name=name,
        labels=Labels(
            op=version.op,
            domain=version.domain,
            since=version.since,
            category=version.category,
            types={variable: type_label(of) for variable, of in types.items()},
            attributes={a.name: attribute_label(attributes[a.name]) for a in version.attributes},
            omitted=(*absent, *without),
        ),
        inputs=tuple(str(typed.of) for _, typed in fed[0]),
        outputs=tuple(str(output.of) for output in given[0]),
        data_sets=tuple(described),
        rtol=rtol,
        atol=atol,
        judged="property" if distributions else "bounds",
        distributions=distributions,
    )
    graph = _Graph(
        name,
        _declared([(label, typed.of, typed.value) for label, typed in one] for one in fed),
        _declared(
            [(label, one.of, one.value) for label, one, _ in outputs]
            for outputs in answers  # of the first reading: onnx's checker wants a rank, and they may have several
        ),
        outer=len(calls[0].scope.values),
        nodes=calls[0].scope.nodes,
    )
    files = {"model.onnx": _model(version, attributes, graph)}
    if rtol or atol:
        files["config.txt"] = _config(rtol, atol)
    for number, answer in enumerate(answers):
        prefix = case.file_prefix(number)
        for i, (label, typed) in enumerate(fed[number]):
            files[f"{prefix}input_{i}.pb"] = encode(typed.value, typed.of, label)
        files |= {f"{prefix}{name}": data for name, data in _expected_files(answer)}
    return finish(case, files)


class _Output(NamedTuple):
    """One output of a data set: its name in the graph, what is expected, and which elements the text leaves open."""

    label: str
    expected: Expected
    mask: Value | None


def _mask(mark: Any, value: Value) -> Value:
    """True for each element that is open, in the shape of a value; a list for a sequence."""
    if isinstance(value, list):
        return [_mask(mark[i] if isinstance(mark, list) else mark, item) for i, item in enumerate(value)]
    return np.broadcast_to(np.asarray(mark, bool), np.asarray(value).shape).copy()


def _expected_files(outputs: Sequence[_Output]) -> Iterator[tuple[str, bytes]]:
    """The files of what a data set must give, by name in its folder."""
    for i, (label, output, mask) in enumerate(outputs):
        yield f"output_{i}.pb", encode(output.value, output.of, label)
        if output.bound is not None:
            yield f"bound_{i}.pb", _encode_bound(output.bound, output.of)
        if mask is not None:
            yield f"unspecified_{i}.pb", encode(mask, mask_type(output.of), label)
        for n, alternative in enumerate(output.alternatives):
            yield f"alternative_{n}_{i}.pb", encode(alternative, output.of, label)
    readings = list(zip(*(one.expected.readings for one in outputs), strict=True))
    first = [encode(one.expected.value, one.expected.of, one.label) for one in outputs]
    met = [first]
    for reading in readings:
        values = [encode(one.value, one.of, label) for one, (label, *_) in zip(reading, outputs, strict=True)]
        if values in met:
            continue
        for i, (one, data) in enumerate(zip(reading, values, strict=True)):
            yield f"reading_{len(met) - 1}_{i}.pb", data
            if one.bound is not None:
                yield f"reading_bound_{len(met) - 1}_{i}.pb", _encode_bound(one.bound, one.of)
        met.append(values)


def _config(rtol: float, atol: float) -> bytes:
    """The tolerances for onnxruntime's ``onnx_test_runner``, which reads them from here."""
    return f"per_sample_tolerance:{atol!r}\nrelative_per_sample_tolerance:{rtol!r}\n".encode()


def _output_names(version: Schema) -> Iterator[tuple[str, str]]:
    """The names of a schema's outputs, and those of a node's; a variadic x is x_0, x_1 …"""
    for p in version.outputs:
        label = _output_label(version, p)
        if p.option == "variadic":
            yield from ((p.name, f"{label}_{i}") for i in itertools.count())
        yield p.name, label


def _output_label(version: Schema, p: Parameter) -> str:
    """The name of an output in a graph, which has every name once; old schemas have inputs of the same name."""
    return f"{p.name}_out" if any(of.name == p.name for of in version.inputs) else p.name


def _declared(every: Iterable[Sequence[tuple[str, ValueType, Value]]]) -> list[tuple[str, ValueType, _Shape]]:
    """The names, types and common shapes of the values of each data set."""
    return [
        (label, of, _common_shape([value for _, _, value in values]))
        for values in zip(*every, strict=True)
        for label, of, _ in values[:1]
    ]


def _data_set(one: _DataSet, call: Call, outputs: Sequence[_Output]) -> DataSet:
    arrays = [
        (values, output.bound, mask)
        for _, output, marks in outputs
        for values, mask in zip(tensors_in(output.value), _masks_in(marks), strict=False)
    ]
    unspecified_elements = sum(int(np.count_nonzero(mask)) for *_, mask in arrays if mask is not None)
    cannot_fail = sum(
        int(np.count_nonzero(insensitive(values, bound) & (True if mask is None else ~mask)))
        for values, bound, mask in arrays
        if bound is not None
    )
    several = any(output.alternatives or len(_reading_values(output)) > 1 for _, output, _ in outputs)
    values = [output.value for _, output, _ in outputs]
    others_judge_it = all(map(_is_comparable, values)) and all(
        map(_is_loadable, [*values, *(typed.value for typed in call.arguments().values())])
    )
    return DataSet(
        group=one.group,
        about=one.about,
        seed=one.seed,
        elements=sum(values.size for values, *_ in arrays),
        insensitive=cannot_fail,
        unspecified=one.unspecified,
        unspecified_elements=unspecified_elements,
        bits=call.bits(),
        numbers=call.spells_numbers(),
        hidden=bool(one.unspecified) or several or call.spells_numbers() or not others_judge_it,
    )


def _masks_in(marks: Value | None) -> Iterator[np.ndarray | None]:
    return itertools.repeat(None) if marks is None else iter(tensors_in(marks))


def _reading_values(output: Expected) -> set[bytes]:
    """What the readings give for an output, those that are the same once."""
    return {encode(one.value, one.of) for one in (output, *output.readings)}


def _is_comparable(value: Value, *, inside: bool = False) -> bool:
    """Whether onnx's own runner and onnxruntime's ``onnx_test_runner`` can compare it.

    One of them cannot compare absent optionals, and scalars and strings inside a sequence.
    """
    match value:
        case np.ndarray():
            return not inside or (value.ndim > 0 and value.dtype != object)
        case list():
            return all(_is_comparable(item, inside=True) for item in value)
        case _:
            return False


def _is_loadable(value: Value) -> bool:
    """Whether they can load it from its file.

    One of them cannot load maps, sparse tensors, empty sequences, and strings that end in NUL, which NumPy cuts off.
    """
    match value:
        case np.ndarray():
            return value.dtype != object or not any(str(item).endswith("\0") for item in value.flat)
        case list():
            return bool(value) and all(_is_loadable(item) for item in value)
        case _:
            return not isinstance(value, dict | SparseTensor)


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


def _width(distributions: Sequence[Distribution], inputs: Sequence[Sequence[Value]]) -> float:
    """The atol for runners that know no laws: two answers that follow them may be so far apart."""
    return _round_up(max(distribution.width(values) for values in inputs for distribution in distributions))


def _round_up(value: float) -> float:
    """To three significant digits, upwards, so that it reads well."""
    return float(f"{value * 1.005:.2e}")


class _Graph(NamedTuple):
    """A graph's name, and the names, types and shapes of its inputs and outputs."""

    name: str
    inputs: list[tuple[str, ValueType, _Shape]]
    outputs: list[tuple[str, ValueType, _Shape]]
    outer: int
    """How many of the inputs, the last ones, are none of the node's."""
    nodes: Sequence[onnx.NodeProto]
    """Those that stand before it."""


def _model(version: Schema, attributes: Mapping[str, Any], graph: _Graph) -> bytes:
    """The model of one node, whose graph's inputs and outputs bear the schema's names and these values' shapes."""
    opsets = opsets_of(version, attributes, graph.nodes)
    model = onnx.ModelProto(producer_name="onnx-conformance", ir_version=_ir_version(opsets))
    for domain, number in opsets.items():
        model.opset_import.add(domain=domain, version=number)
    model.graph.name = graph.name
    model.graph.node.extend(graph.nodes)
    node = model.graph.node.add(op_type=version.op, domain=version.domain)
    inputs, outputs = ([name for name, *_ in values] for values in (graph.inputs, graph.outputs))
    inputs = inputs[: len(inputs) - graph.outer]
    node.input.extend(_arguments([(p, p.name) for p in version.inputs], inputs))
    node.output.extend(_arguments([(p, _output_label(version, p)) for p in version.outputs], outputs))
    kinds = {a.name: onnx.AttributeProto.AttributeType.Value(a.kind) for a in version.attributes}
    for key, value in attributes.items():
        if value is not OMITTED:
            kind = kinds[key] if isinstance(value, list) else None  # which an empty list does not show
            node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    for infos, values in ((model.graph.input, graph.inputs), (model.graph.output, graph.outputs)):
        for name, of, shape in values:
            infos.add(name=name).type.CopyFrom(proto_of_type(of, shape))
    return model.SerializeToString(deterministic=True)


def _arguments(parameters: Sequence[tuple[Parameter, str]], names: Sequence[str]) -> list[str]:
    """A node's inputs or outputs: the names that are there, empty ones for those left out before the last.

    What stands before a variadic one has its place even where that has none (``OpSchema.min_input``).
    """
    found: list[str] = []
    for p, label in parameters:
        if p.option == "variadic":
            found += [name for name in names if name.startswith(f"{label}_")]
        else:
            found.append(label if label in names else "")
    while found and not found[-1] and parameters[-1][0].option != "variadic":
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


def _ir_version(opsets: Mapping[str, int]) -> int:
    return helper.find_min_ir_version_for([helper.make_operatorsetid(*opset) for opset in opsets.items()], True)
