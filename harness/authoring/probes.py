"""The probes of ``check-backend``: tiny cases with literal answers, and what a wrong answer says of an adapter."""

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

Want: TypeAlias = Literal["answer", "unsupported", "failure"]
"""The right answer; to be declined; or any answer but a right one, for there is none."""


class Probe(msgspec.Struct, frozen=True):
    """One thing that adapters get wrong."""

    title: str
    """What an adapter does that passes."""
    built: Built
    means: str = "The adapter, or the runtime under it, changes values that this model only moves."
    """What a wrong value or shape says of the adapter."""
    do: str = "Look at what the runtime gives, just before the adapter returns it."
    want: Want = "answer"
    instead: Built | None = None
    """Asked where the first is declined, and taken where it gets a right answer or a wrong one."""
    carries: str = ""
    """The element type, of the probes that report together."""


def probes() -> Iterator[Probe]:
    """Every probe, those first that the others rest on."""
    yield from _order()
    yield from _nodes()
    yield from _shapes()
    yield from _runs()
    for element in ELEMENT_TYPES:
        yield from _carries(element)
    yield from _structures()
    yield from _refusals()


_FLOAT = "tensor(float)"
_SEQUENCE = "seq(tensor(float))"
_OPTIONAL = "optional(tensor(float))"
_OPSET = 15
"""Old enough for most runtimes; it has Optional."""

Values: TypeAlias = Mapping[str, tuple[str, Value]]
"""Of a graph's inputs or outputs: name → type and value."""


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
    """A case with these data sets, each its inputs and outputs; all have the names, types and shapes of the first."""
    inputs, outputs = sets[0]
    files = {"model.onnx": _model(nodes, inputs, outputs, opset, initializers or {})}
    for number, (given, wanted) in enumerate(sets):
        for stem, values in (("input", given), ("output", wanted)):
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
    """A node; names are words, and ``-`` is an input left out."""
    return helper.make_node(op, [name.strip("-") for name in inputs.split()], outputs.split(), **attributes)


def _order() -> Iterator[Probe]:
    b, a = _tensor(10, 20, 30), _tensor(1, 2, 3)
    yield Probe(
        "inputs reach the graph in its order",
        _case("inputs", [_node("Sub", "b a", "y")], ({"b": b, "a": a}, {"y": _tensor(9, 18, 27)})),
        "The inputs are taken for one another, perhaps sorted by name.",
        "They come in the order of graph.input: match them to its names one by one.",
    )
    halves = {"second": _tensor(3, 4), "first": _tensor(1, 2)}
    yield Probe(
        "outputs come in the graph's order",
        _case("outputs", [_node("Split", "x", "first second")], ({"x": _tensor(1, 2, 3, 4)}, halves), opset=13),
        "The outputs are in another order than graph.output, perhaps that of the nodes or of the alphabet.",
        "Ask for the outputs by the names in graph.output, in its order.",
    )


def _nodes() -> Iterator[Probe]:
    x, three = _tensor(5, 6, 7), _floats(1, 2, 3)
    yield Probe(
        "initializers need no input",
        _case(
            "initializer", [_node("Sub", "x w", "y")], ({"x": x}, {"y": _tensor(4, 4, 4)}), initializers={"w": three}
        ),
        "What is an initializer and what an input is mixed up.",
        "The inputs given are those of graph.input that are no initializers.",
    )
    yield Probe(
        "a node may leave out an input before its last",
        _case(
            "omitted",
            [_node("Clip", "a - b", "y")],
            ({"a": x, "b": (_FLOAT, np.array(6, np.float32))}, {"y": _tensor(5, 6, 6)}),
        ),
        "An input with the empty name is dropped, so that those after it move up.",
        "Keep the place of an input whose name is empty.",
    )
    square: Values = {"x": (_FLOAT, _floats(1, 2, 3, 4, 5, 6).reshape(2, 3))}
    upper: Values = {"y": (_FLOAT, _floats(1, 2, 3, 0, 5, 6).reshape(2, 3))}
    yield Probe(
        "a node may leave out its last input",
        _case("omitted_last", [_node("Trilu", "x", "y")], (square, upper)),
        "An input that the node leaves out gets a value.",
        "Give the node as many inputs as it names.",
    )
    yield Probe(
        "an output has its own type and shape",
        _case("shape", [_node("Shape", "x", "y")], (square, {"y": ("tensor(int64)", np.array([2, 3]))})),
        "The output is given the shape of the input.",
        "Take the shape from the runtime's output.",
    )


def _shapes() -> Iterator[Probe]:
    scalar: tuple[str, Value] = (_FLOAT, np.array(2, np.float32))
    yield Probe(
        "0-D tensors stay 0-D",
        _case("scalar", [_node("Identity", "x", "y")], ({"x": scalar}, {"y": scalar})),
        "A tensor without axes comes back with one.",
        "Give the array the shape () that the runtime states: array.reshape(shape).",
    )
    empty: tuple[str, Value] = (_FLOAT, np.zeros((0, 3), np.float32))
    yield Probe(
        "empty tensors keep their shape",
        _case("empty", [_node("Identity", "x", "y")], ({"x": empty}, {"y": empty})),
        "A tensor without elements comes back in another shape.",
        "Take the shape from the runtime even where there are no elements.",
    )
    odd = _tensor(np.nan, np.inf, -np.inf, -0.0, 1e-30, 3e38)
    yield Probe(
        "NaN and infinities stay what they are",
        _case("special", [_node("Identity", "x", "y")], ({"x": odd}, {"y": odd})),
        "Values that are not finite, or very small or large, are changed on their way; JSON, for one, has no NaN.",
        "Pass the bytes of tensors, not their text.",
    )


def _runs() -> Iterator[Probe]:
    first, second = _tensor(1, 2, 3), _tensor(4, 5, 6)
    sets = [({"x": x}, {"y": (_FLOAT, 2 * np.asarray(x[1]))}) for x in (first, second, first)]
    yield Probe(
        "every run has its own inputs, and the same inputs the same outputs",
        _case("runs", [_node("Add", "x x", "y")], *sets),
        "A run sees something of the one before it: its inputs, its outputs or a sum of both.",
        "Bind inputs and outputs anew in every run, and keep none of them.",
    )


def _carries(element: ElementType) -> Iterator[Probe]:
    of = f"tensor({element.name})"
    versions = [s for s in schemas().values() if s.op == "Identity" and of in s.inputs[0].types]
    if not versions:  # Identity has no float6
        return
    opset = max(versions[0].since, _OPSET)
    value: tuple[str, Value] = (of, _sample(element))
    yield Probe(
        f"carries {element.name}",
        _case(f"carries_{element.name}", [_node("Identity", "x", "y")], ({"x": value}, {"y": value}), opset=opset),
        "The values are converted to another type on their way, there or back, and lose digits or range.",
        "Pass the bytes of the tensor; a conversion to another type and back is not the same.",
        instead=_case(f"passes_{element.name}", [], ({"x": value}, {"x": value}), opset=opset),
        carries=element.name,
    )


def _sample(element: ElementType) -> np.ndarray:
    """Values [2,3] that no narrower type holds."""
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
        "gives a sequence as a list",
        _case("sequence", [_node("SequenceConstruct", "a b", "y")], (pair, {"y": (_SEQUENCE, items)})),
        "The items of a sequence are not those of the runtime.",
        "Return a list of arrays, one an item.",
    )
    inputs: Values = {"x": (_SEQUENCE, items), "y": ("tensor(int64)", np.array(1))}
    yield Probe(
        "takes a list as a sequence",
        _case("sequence_at", [_node("SequenceAt", "x y", "z")], (inputs, {"z": _tensor(3)})),
        "The items of a sequence do not reach the graph in their order.",
        "A sequence comes as a list of arrays: make the runtime's sequence of it.",
    )
    for present, value in (("an optional that is there", _floats(1, 2)), ("None as an absent optional", None)):
        has = np.array(value is not None)
        yield Probe(
            f"takes {present}",
            _case(
                f"optional_{has}".lower(),
                [_node("OptionalHasElement", "x", "y")],
                ({"x": (_OPTIONAL, value)}, {"y": ("tensor(bool)", has)}),
            ),
            "What is there is taken for what is absent, or the other way round.",
            "None stands for an optional without an element; any other value is its element.",
        )


def _refusals() -> Iterator[Probe]:
    x = _tensor(1, 2)
    unknown = _node("Frobnicate", "x", "y", domain="com.example.unknown")
    yield Probe(
        "declines an operator that nobody has",
        _case("unknown", [unknown], ({"x": x}, {"y": x})),
        want="unsupported",
    )
    whole = _case("broken", [_node("Add", "x x", "y")], ({"x": x}, {"y": _tensor(2, 4)}))
    for what, model in (
        ("an empty model file", b""),
        ("a model file that breaks off", whole.files["model.onnx"][:-7]),
    ):
        case = msgspec.structs.replace(whole.case, name=f"probe_broken_{len(model)}", files={})
        yield Probe(f"fails on {what}", finish(case, whole.files | {"model.onnx": model}), want="failure")
