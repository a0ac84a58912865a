"""The adapters in this process: what they carry, what they decline, and what they leave alone."""

from collections.abc import Iterable

import numpy as np
import onnx
import pytest

from backends.numpy import NumpyBackend
from backends.onnx_reference import OnnxReferenceBackend
from backends.onnxruntime import OnnxRuntimeBackend
from harness.backend.interface import Backend, Unsupported
from harness.backend.loading import backend_names, load_backend
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES, ElementType

BACKENDS = {"numpy": NumpyBackend, "onnx-reference": OnnxReferenceBackend, "onnxruntime": OnnxRuntimeBackend}
REGISTERED = [t for t in ELEMENT_TYPES if t.kind != "complex" and not t.name.startswith("float6")]
"""The element types that onnxruntime has."""


def model(op: str, inputs: dict[str, tuple[int, list[int]]], output: int, opset: int = 26, **attributes: int) -> bytes:
    """A model of one node whose output has the first input's shape."""
    node = onnx.helper.make_node(op, list(inputs), ["y"], **attributes)
    infos = [onnx.helper.make_tensor_value_info(name, of, shape) for name, (of, shape) in inputs.items()]
    shape = next(iter(inputs.values()))[1]
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.helper.make_tensor_value_info("y", output, shape)])
    opsets = [onnx.helper.make_opsetid("", opset)]
    made = onnx.helper.make_model(graph, opset_imports=opsets)
    made.ir_version = onnx.helper.find_min_ir_version_for(opsets)
    return made.SerializeToString()


def passing_through(of: ElementType, shape: list[int]) -> bytes:
    """A graph without nodes whose output is its input: what no kernel can get wrong, or lack."""
    x = onnx.helper.make_tensor_value_info("x", of.code, shape)
    made = onnx.helper.make_model(onnx.helper.make_graph([], "g", [x], [x]))
    made.ir_version = 13
    return made.SerializeToString()


def sample(of: ElementType, count: int) -> np.ndarray:
    if of.kind == "string":
        return np.array([f"ß{i}" for i in range(count)], object)
    codes = np.arange(count * of.dtype.itemsize, dtype=np.uint8) % 2 ** min(of.bits, 6)
    return (codes % 2 if of.kind == "bool" else codes).astype(np.uint8).view(of.dtype)


@pytest.mark.parametrize("name", BACKENDS)
def test_names_lead_to_adapters_that_describe_themselves(name: str):
    assert name in backend_names()
    description = load_backend(name).describe()
    assert description.name == name
    assert description.version


@pytest.mark.parametrize("name", BACKENDS)
def test_an_operator_that_nobody_has_is_declined(name: str):
    with pytest.raises(Unsupported, match="Frobnicate"):
        BACKENDS[name]().prepare(unknown_operator())


def unknown_operator() -> bytes:
    node = onnx.helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([node], "g", [info("x", 1, [2])], [info("y", 1, [2])])
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.example", 1)]
    made = onnx.helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 10
    return made.SerializeToString()


@pytest.mark.parametrize("of", REGISTERED, ids=str)
@pytest.mark.parametrize("shape", [[5], [0, 3], []], ids=str)
def test_onnxruntime_carries_every_type_it_has(of: ElementType, shape: list[int]):
    x = sample(of, int(np.prod(shape))).reshape(shape)
    (y,) = OnnxRuntimeBackend().prepare(passing_through(of, shape))([x])
    assert isinstance(y, np.ndarray)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    assert y.tolist() == x.tolist() if of.kind == "string" else y.tobytes() == x.tobytes()


@pytest.mark.parametrize("name", ["complex64", "complex128", "float6e2m3", "float6e3m2"])
def test_onnxruntime_declines_types_it_has_not(name: str):
    of = BY_NAME[name]
    with pytest.raises(Unsupported, match="not currently registered"):
        OnnxRuntimeBackend().prepare(model("Cast", {"x": (1, [2])}, of.code, 28, to=of.code))


def test_onnxruntime_cannot_carry_strings_beside_types_that_numpy_has_not():
    bfloat16 = BY_NAME["bfloat16"].code
    with pytest.raises(Unsupported, match="strings beside bfloat16"):
        OnnxRuntimeBackend().prepare(model("Cast", {"x": (8, [3])}, bfloat16, 25, to=bfloat16))


def test_numpy_runs_graphs_of_several_nodes_in_their_opset():
    info = onnx.helper.make_tensor_value_info
    nodes = [
        onnx.helper.make_node("CumProd", ["x", "axis"], ["z"]),
        onnx.helper.make_node("Trilu", ["z"], ["y"], upper=0),
    ]
    axis = onnx.helper.make_tensor("axis", 7, [], [1])
    graph = onnx.helper.make_graph(nodes, "g", [info("x", 1, [2, 2])], [info("y", 1, [2, 2])], [axis])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 26)])
    (y,) = NumpyBackend().prepare(made.SerializeToString())([np.array([[2, 3], [4, 5]], np.float32)])
    assert y.tolist() == [[2, 0], [4, 20]]


def test_numpy_rounds_after_each_node():
    of = BY_NAME["float16"]
    run = NumpyBackend().prepare(model("CumProd", {"x": (of.code, [2]), "axis": (6, [])}, of.code))
    (y,) = run([np.array([1 + 2**-10, 1 + 2**-10], np.float16), np.array(0, np.int32)])
    assert y.dtype == np.float16
    assert y[1] == np.float16((1 + 2**-10) ** 2)


@pytest.mark.parametrize("name", BACKENDS)
def test_answers_are_the_backends_own(name: str):
    """Two runs give two arrays, and the inputs are left as they are."""
    run = BACKENDS[name]().prepare(model("Trilu", {"x": (1, [2, 2])}, 1))
    x = np.array([[1, 2], [3, 4]], np.float32)
    first, second = (run([x])[0] for _ in range(2))
    assert first is not second
    assert first.tolist() == second.tolist() == [[1, 2], [0, 4]]
    assert x.tolist() == [[1, 2], [3, 4]]


def test_every_adapter_is_a_backend():
    adapters: Iterable[Backend] = [make() for make in BACKENDS.values()]
    assert len(list(adapters)) == len(BACKENDS)
