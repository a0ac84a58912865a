"""Our adapters, loaded into this process: element types, declined models, and inputs that stay unchanged."""

from collections.abc import Iterable

import numpy as np
import onnx
import pytest

from backends.numpy import NumpyBackend
from backends.onnx_reference import OnnxReferenceBackend
from backends.onnxruntime import OnnxRuntimeBackend
from harness.backend import Backend, Unsupported
from harness.backend.loading import backend_names, load_backend
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES, ElementType

BACKENDS = {"numpy": NumpyBackend, "onnx-reference": OnnxReferenceBackend, "onnxruntime": OnnxRuntimeBackend}
REGISTERED = [t for t in ELEMENT_TYPES if t.kind != "complex" and not t.name.startswith("float6")]
"""The element types that onnxruntime registers."""


def model(op: str, inputs: dict[str, tuple[int, list[int]]], output: int, opset: int = 26, **attributes: int) -> bytes:
    """A model of one node whose output has the first input's shape."""
    node = onnx.helper.make_node(op, list(inputs), ["y"], **attributes)
    infos = [onnx.helper.make_tensor_value_info(name, of, shape) for name, (of, shape) in inputs.items()]
    shape = next(iter(inputs.values()))[1]
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.helper.make_tensor_value_info("y", output, shape)])
    opsets = [onnx.helper.make_opsetid("", opset)]
    proto = onnx.helper.make_model(graph, opset_imports=opsets)
    proto.ir_version = onnx.helper.find_min_ir_version_for(opsets)
    return proto.SerializeToString()


def passing_through(of: ElementType, shape: list[int]) -> bytes:
    """A graph without nodes whose output is its input, so that it needs no kernel."""
    x = onnx.helper.make_tensor_value_info("x", of.code, shape)
    proto = onnx.helper.make_model(onnx.helper.make_graph([], "g", [x], [x]))
    proto.ir_version = 13
    return proto.SerializeToString()


def sample(of: ElementType, count: int) -> np.ndarray:
    if of.kind == "string":
        return np.array([f"ß{i}" for i in range(count)], object)
    codes = np.arange(count * of.dtype.itemsize, dtype=np.uint8) % 2 ** min(of.bits, 6)
    return (codes % 2 if of.kind == "bool" else codes).astype(np.uint8).view(of.dtype)


@pytest.mark.parametrize("name", BACKENDS)
def test_adapters_can_be_loaded_by_name(name: str):
    assert name in backend_names()
    description = load_backend(name).describe()
    assert description.name == name
    assert description.version


@pytest.mark.parametrize("name", BACKENDS)
def test_an_unknown_operator_is_declined(name: str):
    with pytest.raises(Unsupported, match="Frobnicate"):
        BACKENDS[name]().prepare(unknown_operator())


def unknown_operator() -> bytes:
    node = onnx.helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([node], "g", [info("x", 1, [2])], [info("y", 1, [2])])
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.example", 1)]
    proto = onnx.helper.make_model(graph, opset_imports=opsets)
    proto.ir_version = 10
    return proto.SerializeToString()


@pytest.mark.parametrize("of", REGISTERED, ids=str)
@pytest.mark.parametrize("shape", [[5], [0, 3], []], ids=str)
def test_onnxruntime_passes_every_type_that_it_registers(of: ElementType, shape: list[int]):
    x = sample(of, int(np.prod(shape))).reshape(shape)
    (y,) = OnnxRuntimeBackend().prepare(passing_through(of, shape))([x])
    assert isinstance(y, np.ndarray)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    assert y.tolist() == x.tolist() if of.kind == "string" else y.tobytes() == x.tobytes()


@pytest.mark.parametrize("name", ["complex64", "complex128", "float6e2m3", "float6e3m2"])
def test_onnxruntime_declines_types_that_it_does_not_register(name: str):
    of = BY_NAME[name]
    with pytest.raises(Unsupported, match="not currently registered"):
        OnnxRuntimeBackend().prepare(model("Cast", {"x": (1, [2])}, of.code, 28, to=of.code))


def test_onnxruntime_declines_strings_beside_types_that_numpy_lacks():
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
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 26)])
    (y,) = NumpyBackend().prepare(proto.SerializeToString())([np.array([[2, 3], [4, 5]], np.float32)])
    assert y.tolist() == [[2, 0], [4, 20]]


def test_numpy_rounds_after_each_node():
    of = BY_NAME["float16"]
    run = NumpyBackend().prepare(model("CumProd", {"x": (of.code, [2]), "axis": (6, [])}, of.code))
    (y,) = run([np.array([1 + 2**-10, 1 + 2**-10], np.float16), np.array(0, np.int32)])
    assert y.dtype == np.float16
    assert y[1] == np.float16((1 + 2**-10) ** 2)


@pytest.mark.parametrize("name", BACKENDS)
def test_outputs_are_new_arrays_and_inputs_stay_unchanged(name: str):
    run = BACKENDS[name]().prepare(model("Trilu", {"x": (1, [2, 2])}, 1))
    x = np.array([[1, 2], [3, 4]], np.float32)
    first, second = (run([x])[0] for _ in range(2))
    assert first is not second
    assert first.tolist() == second.tolist() == [[1, 2], [0, 4]]
    assert x.tolist() == [[1, 2], [3, 4]]


def test_every_adapter_is_a_backend():
    adapters: Iterable[Backend] = [make() for make in BACKENDS.values()]
    assert len(list(adapters)) == len(BACKENDS)
