"""ONNX's own tests: those of the installed onnx as directories, labelled from their models."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from harness.oracles.operator import OMITTED
from harness.spec.codec import decode
from harness.spec.schema import Schema, UnknownOperator, schema_at
from harness.spec.values import ValueType, tensors_in, type_of_proto
from harness.suite.cases import Built, Case, DataSet, Labels, finish
from harness.suite.directories import publish, write_case, writing
from harness.suite.fingerprint import fingerprint
from harness.suite.manifest import Suite, open_suite
from harness.suite.names import attribute_label, type_label

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
"""ONNX's kinds of tests whose data is installed; ``real`` needs downloads."""


def generate_official(path: Path) -> tuple[Suite, int]:
    """Writes the tests of the installed onnx into a folder and opens it; tells how many cases it had to touch.

    Takes about 15 seconds, for onnx computes its node tests anew. Raises NotASuite, SuiteBusy, WriteFailed.
    """
    cases: list[Case] = []
    touched = 0
    with writing(path):
        for built in official_cases():
            touched += write_case(path, built)
            cases.append(built.case)
        publish(path, cases, fingerprint("official"))
    return open_suite(path), touched


def official_cases() -> Iterator[Built]:
    """Every test whose data is installed, under its own name.

    Where two names differ in case only, as ``test_elu`` and ``test_ELU`` do, the later kind's ends in the kind,
    since some file systems do not tell them apart.
    """
    taken: set[str] = set()
    for kind in KINDS:
        with warnings.catch_warnings(), _without("PIL"):
            warnings.simplefilter("ignore")  # NumPy's, about what the expected values are computed from
            tests = load_model_tests(kind=kind)
        for test in sorted(tests, key=lambda test: test.name):
            name = test.name if test.name.lower() not in taken else f"{test.name}_{kind.replace('-', '_')}"
            taken.add(name.lower())
            yield _built(test, name, kind)


@contextlib.contextmanager
def _without(package: str) -> Generator[None]:
    """Lets imports of a package fail: where onnx finds Pillow, it encodes its pictures anew, by whatever version.

    Without it, it takes those that it ships.
    """
    held = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == package}
    sys.modules[package] = None  # pyright: ignore[reportArgumentType] - as importlib has it
    try:
        yield
    finally:
        del sys.modules[package]
        sys.modules.update(held)


def _built(test: Any, name: str, kind: str) -> Built:
    model = test.model if test.model_dir is None else onnx.load(Path(test.model_dir, "model.onnx"))
    inputs = [type_of_proto(value.type) for value in model.graph.input]
    outputs = [type_of_proto(value.type) for value in model.graph.output]
    files = {"model.onnx": model.SerializeToString(deterministic=True)}
    sets = list(_files_of(test) if test.model_dir else _files_in_memory(test, model))
    for number, data_set in enumerate(sets):
        files |= {f"test_data_set_{number}/{file}": data for file, data in data_set.items()}
    elements = [
        sum(
            sum(tensor.size for tensor in tensors_in(decode(data, outputs[int(file[7:-3])])))
            for file, data in data_set.items()
            if file.startswith("output")
        )
        for data_set in sets
    ]
    random = _draws(model.graph) or any(_drops(model.graph, data_set) for data_set in sets)
    # Graph inputs that an initializer gives a value come last and have no file.
    fed = max((sum(file.startswith("input") for file in data_set) for data_set in sets), default=0)
    group = kind if kind != "node" else "node" if len(model.graph.node) == 1 else "graph"
    case = Case(
        name=name,
        labels=labels_of(model),
        inputs=tuple(map(str, inputs[:fed])),
        outputs=tuple(map(str, outputs)),
        data_sets=tuple(
            DataSet("expanded" if "_expanded" in name else group, elements=n, unspecified=_DRAWN if random else "")
            for n in elements
        ),
        rtol=test.rtol,
        atol=test.atol,
        judged="tolerance",
    )
    return finish(case, files)


_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
_DRAWN = "A node of this graph draws random numbers, and the test holds one drawing of them."


def _draws(graph: onnx.GraphProto) -> bool:
    """Whether a node of the graph, or of a graph inside it, is one of a random operator."""
    return any(
        node.op_type in _RANDOM or any(_draws(a.g) for a in node.attribute if a.HasField("g")) for node in graph.node
    )


def _drops(graph: onnx.GraphProto, data_set: Mapping[str, bytes]) -> bool:
    """Whether a Dropout is told to train, and to drop more than nothing."""
    places = {value.name: f"input_{i}.pb" for i, value in enumerate(graph.input)}
    for node in graph.node:
        if node.op_type == "Dropout" and len(node.input) == 3:
            ratio, training = (_number(data_set.get(places.get(name, ""))) for name in node.input[1:])
            if training and (ratio is None or ratio):
                return True
    return False


def _number(data: bytes | None) -> float | None:
    return None if data is None else float(numpy_helper.to_array(onnx.TensorProto.FromString(data)))


def _files_in_memory(test: Any, model: onnx.ModelProto) -> Iterator[dict[str, bytes]]:
    """The data sets of a test that onnx built in memory, as its own generate-data command writes them."""
    for inputs, outputs in test.data_sets:
        files: dict[str, bytes] = {}
        for stem, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos, strict=False)):
                files[f"{stem}_{i}.pb"] = _proto(value, info).SerializeToString(deterministic=True)
        yield files


def _proto(value: Any, info: onnx.ValueInfoProto) -> Any:
    match info.type.WhichOneof("value"):
        case "map_type":
            return numpy_helper.from_dict(value, info.name)
        case "sequence_type":
            return numpy_helper.from_list(value, info.name)
        case "optional_type":
            return numpy_helper.from_optional(value, info.name)
        case _:
            return (
                value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value), info.name)
            )


def _files_of(test: Any) -> Iterator[dict[str, bytes]]:
    """The data sets of a test that onnx ships as a folder, as they are."""
    for folder in sorted(Path(test.model_dir).glob("test_data_set_*"), key=lambda folder: int(folder.name[14:])):
        yield {file.name: file.read_bytes() for file in sorted(folder.glob("*put_*.pb"))}


def labels_of(model: onnx.ModelProto) -> Labels:
    """The coordinates of a model's one node, without group; empty but for the name of none where it has several.

    A type variable is bound by the declared types of the graph's inputs and outputs.
    """
    graph = model.graph
    if len(graph.node) != 1:
        return Labels(op="")
    node = graph.node[0]
    domain = "" if node.domain == "ai.onnx" else node.domain
    opset = next((o.version for o in model.opset_import if o.domain in ((domain,) if domain else ("", "ai.onnx"))), 0)
    try:
        version = schema_at(node.op_type, opset, domain)
    except UnknownOperator:
        return Labels(op=node.op_type, domain=domain)
    declared = {value.name: type_of_proto(value.type) for value in (*graph.input, *graph.output)}
    declared |= {tensor.name: type_of_proto(_type(tensor)) for tensor in graph.initializer}
    given = {a.name: attribute_label(onnx.helper.get_attribute_value(a)) for a in node.attribute}
    return Labels(
        op=version.op,
        domain=version.domain,
        since=version.since,
        category=version.category,
        types=_bindings(version, node, declared),
        attributes={a.name: given.get(a.name, OMITTED) for a in version.attributes},
        omitted=tuple(
            p.name
            for parameters, names in ((version.inputs, node.input), (version.outputs, node.output))
            for i, p in enumerate(parameters)
            if p.option == "optional" and (i >= len(names) or not names[i])
        ),
    )


def _type(tensor: onnx.TensorProto) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)


def _bindings(version: Schema, node: onnx.NodeProto, declared: dict[str, ValueType]) -> dict[str, str]:
    found: dict[str, str] = {}
    for parameters, names in ((version.inputs, node.input), (version.outputs, node.output)):
        for i, name in enumerate(names):
            if parameters and name in declared:
                variable = parameters[min(i, len(parameters) - 1)].type_str
                if variable in version.variables:
                    found.setdefault(variable, type_label(str(declared[name])))
    return {variable: found[variable] for variable in version.variables if variable in found}


def of_one_node(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases that try an operator by itself: only these exercise its version, types and attributes."""
    return (case for case in cases if case.labels.op)
