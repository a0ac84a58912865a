"""The probes of ``check-backend``: tiny cases with known answers, and the likely causes of wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import onnx
from onnx import helper

from harness.spec.codec import encode
from harness.spec.element_types import ELEMENT_TYPES, ElementType
from harness.spec.schema import schemas
from harness.spec.values import Value, parse_type, proto_of_type
from harness.suite.cases import Built, Case, DataSet, Labels, finish

Expects: TypeAlias = Literal["answer", "unsupported", "failure"]
"""What a probe expects: the right answer, that the backend declines, or an error (for a model without an answer)."""


class Probe(msgspec.Struct, frozen=True):
    """A test of one thing that adapters get wrong."""

    title: str
    """What a correct adapter does."""
    built: Built
    """The case to run."""
    cause: str = "The adapter, or the runtime below it, changes values that this model only moves."
    """The likely cause of a wrong value or shape."""
    fix: str = "Look at the runtime's output just before the adapter returns it."
    expects: Expects = "answer"
    fallback: Built | None = None
    """A case to run if the first is declined. It counts instead of the first unless it is declined, too."""
    element_type: str = ""
    """The element type, for the probes that differ only in it and are reported together."""


def probes() -> Iterator[Probe]:
    """All probes, ordered so that each relies only on those before it."""
    yield from _order()
    yield from _nodes()
    yield from _shapes()
    yield from _runs()
    for element in ELEMENT_TYPES:
        yield from _element_type(element)
    yield from _structures()
    yield from _refusals()


_FLOAT = "tensor(float)"
_SEQUENCE = "seq(tensor(float))"
_OPTIONAL = "optional(tensor(float))"
_OPSET = 15
"""Old enough for most runtimes, and new enough for Optional."""

Values: TypeAlias = Mapping[str, tuple[str, Value]]
"""The inputs or outputs of a graph: name → type and value."""


def _floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def _tensor(*values: float) -> tuple[str, Value]:
    return _FLOAT, _floats(*values)


def _case(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    *sets: tuple[Values, Values],
    opset: int = _OPSET,
    initializers: Mapping[str, np.ndarray] | None = None,
) -> Built:
    """A case with these data sets, each with inputs and outputs; all have the names, types and shapes of the first."""
    inputs, outputs = sets[0]
    files = {"model.onnx": _model(nodes, inputs, outputs, opset, initializers or {})}
    for number, (input_values, output_values) in enumerate(sets):
        for stem, values in (("input", input_values), ("output", output_values)):
            for i, (key, (of, value)) in enumerate(values.items()):
                files[f"test_data_set_{number}/{stem}_{i}.pb"] = encode(value, parse_type(of), key)
    return finish(
        Case(
            name=f"probe_{name}",
            labels=Labels(op=nodes[0].op_type if len(nodes) == 1 else ""),
            inputs=tuple(of for of, _ in inputs.values()),
            outputs=tuple(of for of, _ in outputs.values()),
            data_sets=tuple(DataSet(group="probe") for _ in sets),
            rtol=0.0,
            atol=0.0,
            judged="bounds",
        ),
        files,
    )


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Values,
    outputs: Values,
    opset: int,
    initializers: Mapping[str, np.ndarray],
) -> bytes:
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(domain, 1) for domain in sorted({node.domain for node in nodes} - {""})]
    graph = helper.make_graph(
        nodes,
        "probe",
        [helper.make_value_info(name, _type(of, value)) for name, (of, value) in inputs.items()],
        [helper.make_value_info(name, _type(of, value)) for name, (of, value) in outputs.items()],
        [
            helper.make_tensor(name, onnx.TensorProto.FLOAT, list(value.shape), value.ravel().tolist())
            for name, value in initializers.items()
        ],
    )
    model = helper.make_model(graph, producer_name="onnx-conformance", opset_imports=opsets)
    model.ir_version = helper.find_min_ir_version_for(opsets, ignore_unknown=True)
    return model.SerializeToString(deterministic=True)


def _type(of: str, value: Value) -> onnx.TypeProto:
    return proto_of_type(parse_type(of), value.shape if isinstance(value, np.ndarray) else None)


def _node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """A node; ``inputs`` and ``outputs`` are names separated by spaces, and ``-`` is an omitted input."""
    return helper.make_node(op, [name.strip("-") for name in inputs.split()], outputs.split(), **attributes)


def _order() -> Iterator[Probe]:
    b, a = _tensor(10, 20, 30), _tensor(1, 2, 3)
    yield Probe(
        "passes inputs in the graph's order",
        _case("inputs", [_node("Sub", "b a", "y")], ({"b": b, "a": a}, {"y": _tensor(9, 18, 27)})),
        "The inputs are mixed up, perhaps sorted by name.",
        "The inputs are in the order of graph.input. Match them to its names one by one.",
    )
    halves = {"second": _tensor(3, 4), "first": _tensor(1, 2)}
    yield Probe(
        "returns outputs in the graph's order",
        _case("outputs", [_node("Split", "x", "first second")], ({"x": _tensor(1, 2, 3, 4)}, halves), opset=13),
        "The outputs are in another order than graph.output, perhaps in node order or sorted by name.",
        "Request the outputs by the names in graph.output, in that order.",
    )


def _nodes() -> Iterator[Probe]:
    x, three = _tensor(5, 6, 7), _floats(1, 2, 3)
    yield Probe(
        "passes no inputs for initializers",
        _case(
            "initializer", [_node("Sub", "x w", "y")], ({"x": x}, {"y": _tensor(4, 4, 4)}), initializers={"w": three}
        ),
        "Inputs and initializers are mixed up.",
        "The harness passes the inputs in graph.input that are not initializers.",
    )
    yield Probe(
        "accepts a node that omits an input in the middle",
        _case(
            "omitted",
            [_node("Clip", "a - b", "y")],
            ({"a": x, "b": (_FLOAT, np.array(6, np.float32))}, {"y": _tensor(5, 6, 6)}),
        ),
        "An input with an empty name is dropped, so that the inputs after it move up.",
        "Keep the position of an input whose name is empty.",
    )
    square: Values = {"x": (_FLOAT, _floats(1, 2, 3, 4, 5, 6).reshape(2, 3))}
    upper: Values = {"y": (_FLOAT, _floats(1, 2, 3, 0, 5, 6).reshape(2, 3))}
    yield Probe(
        "accepts a node that omits its last input",
        _case("omitted_last", [_node("Trilu", "x", "y")], (square, upper)),
        "An input that the node omits gets a value.",
        "Give the node only the inputs that it names.",
    )
    yield Probe(
        "returns each output with its own type and shape",
        _case("shape", [_node("Shape", "x", "y")], (square, {"y": ("tensor(int64)", np.array([2, 3]))})),
        "The output has the shape of the input.",
        "Take the shape from the runtime's output.",
    )


def _shapes() -> Iterator[Probe]:
    scalar: tuple[str, Value] = (_FLOAT, np.array(2, np.float32))
    yield Probe(
        "keeps 0-D tensors 0-D",
        _case("scalar", [_node("Identity", "x", "y")], ({"x": scalar}, {"y": scalar})),
        "A 0-D tensor is returned with an axis.",
        "Give the array the shape () that the runtime reports: array.reshape(shape).",
    )
    empty: tuple[str, Value] = (_FLOAT, np.zeros((0, 3), np.float32))
    yield Probe(
        "keeps the shape of empty tensors",
        _case("empty", [_node("Identity", "x", "y")], ({"x": empty}, {"y": empty})),
        "A tensor without elements is returned with another shape.",
        "Take the shape from the runtime even if there are no elements.",
    )
    odd = _tensor(np.nan, np.inf, -np.inf, -0.0, 1e-30, 3e38)
    yield Probe(
        "keeps NaN, infinities and extreme values",
        _case("special", [_node("Identity", "x", "y")], ({"x": odd}, {"y": odd})),
        "Values that are not finite, or very small or large, are changed. JSON, for example, has no NaN.",
        "Pass tensors as bytes, not as text.",
    )


def _runs() -> Iterator[Probe]:
    first, second = _tensor(1, 2, 3), _tensor(4, 5, 6)
    sets = [({"x": x}, {"y": (_FLOAT, 2 * np.asarray(x[1]))}) for x in (first, second, first)]
    yield Probe(
        "runs a model several times, each time with its own inputs",
        _case("runs", [_node("Add", "x x", "y")], *sets),
        "A run uses data of the previous one: its inputs, its outputs or a sum of both.",
        "Bind inputs and outputs again for every run, and store none of them.",
    )


def _element_type(element: ElementType) -> Iterator[Probe]:
    of = f"tensor({element.name})"
    versions = [s for s in schemas().values() if s.op == "Identity" and of in s.inputs[0].types]
    if not versions:  # Identity has no float6
        return
    opset = max(versions[0].since, _OPSET)
    value: tuple[str, Value] = (of, _sample(element))
    yield Probe(
        f"keeps tensors of {element.name}",
        _case(f"identity_{element.name}", [_node("Identity", "x", "y")], ({"x": value}, {"y": value}), opset=opset),
        "The values are converted to another type on the way, and lose digits or range.",
        "Pass the bytes of the tensor instead of converting to another type and back.",
        fallback=_case(f"no_node_{element.name}", [], ({"x": value}, {"x": value}), opset=opset),
        element_type=element.name,
    )


def _sample(element: ElementType) -> np.ndarray:
    """Values of shape [2,3] that no narrower type can hold."""
    match element.kind:
        case "string":
            values: list[Any] = ["a", "", "ß 日本", "two words", "0", "x" * 40]
        case "bool":
            values = [True, False, True, True, False, False]
        case "signed" | "unsigned":
            values = [0, 1, element.maximum, element.minimum, element.maximum - 1, 1]
        case "float" | "complex":
            assert element.format
            form = element.format
            values = [1, 1 + 2.0 ** (1 - form.precision), form.maximum, 2.0**form.emin, -1 if form.signed else 1, 2]
            if element.kind == "complex":
                values = [complex(re, im) for re, im in zip(values, values[::-1], strict=True)]
    wide = {"float": np.float64, "complex": np.complex128}.get(element.kind, object)
    return np.array(values, wide).astype(element.dtype).reshape(2, 3)


def _structures() -> Iterator[Probe]:
    items: list[Value] = [_floats(1, 2), _floats(3)]
    pair: Values = {"a": _tensor(1, 2), "b": _tensor(3)}
    yield Probe(
        "returns a sequence as a list",
        _case("sequence", [_node("SequenceConstruct", "a b", "y")], (pair, {"y": (_SEQUENCE, items)})),
        "The returned list does not hold the items of the runtime's sequence.",
        "Return a list of arrays, one per item.",
    )
    inputs: Values = {"x": (_SEQUENCE, items), "y": ("tensor(int64)", np.array(1))}
    yield Probe(
        "accepts a list as a sequence",
        _case("sequence_at", [_node("SequenceAt", "x y", "z")], (inputs, {"z": _tensor(3)})),
        "The items of a sequence do not reach the graph in order.",
        "Convert the list of arrays to a sequence of the runtime, in the same order.",
    )
    for present, value in (("an optional with a value", _floats(1, 2)), ("None as an empty optional", None)):
        has = np.array(value is not None)
        yield Probe(
            f"accepts {present}",
            _case(
                f"optional_{has}".lower(),
                [_node("OptionalHasElement", "x", "y")],
                ({"x": (_OPTIONAL, value)}, {"y": ("tensor(bool)", has)}),
            ),
            "An optional with a value is taken for an empty one, or the other way round.",
            "None is an empty optional; any other value is the optional's element.",
        )


def _refusals() -> Iterator[Probe]:
    x = _tensor(1, 2)
    unknown = _node("Frobnicate", "x", "y", domain="com.example.unknown")
    yield Probe(
        "declines an unknown operator",
        _case("unknown", [unknown], ({"x": x}, {"y": x})),
        expects="unsupported",
    )
    whole = _case("broken", [_node("Add", "x x", "y")], ({"x": x}, {"y": _tensor(2, 4)}))
    for what, model in (
        ("an empty model file", b""),
        ("a truncated model file", whole.files["model.onnx"][:-7]),
    ):
        case = msgspec.structs.replace(whole.case, name=f"probe_broken_{len(model)}", files={})
        yield Probe(f"fails on {what}", finish(case, whole.files | {"model.onnx": model}), expects="failure")
