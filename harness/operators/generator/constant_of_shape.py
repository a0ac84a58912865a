"""ConstantOfShape: a tensor of one value, whose shape is the input."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx

from harness.operators.generator.constant import tensor
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator
from harness.spec.codec import from_proto
from harness.spec.element_types import element_type
from harness.spec.values import TensorType

LARGEST = tensor(lambda values: values([values.largest if values.element.kind != "bool" else True]), "T2")
"""Of one dimension, as shape inference wants it."""


def is_float_by_default(value: Any, T2: str) -> bool:
    """Without a value: "the value … defaults to 0, and the datatype defaults to float32"."""
    return value is not OMITTED or T2 == "tensor(float)"


@operator(
    "ConstantOfShape",
    since=(25, 24, 23, 21, 20, 9),
    exact=True,
    constraints=[is_float_by_default],
    value=(OMITTED, LARGEST),
)
def constant_of_shape(input: np.ndarray, *, value: onnx.TensorProto | None) -> np.ndarray:
    """The value at each place of a tensor "of shape specified by 'input'"; a scalar "if empty tensor is given"."""
    element = np.zeros(1) if value is None else from_proto(value, TensorType(element_type(value.data_type)))
    assert isinstance(element, np.ndarray)
    return np.full(tuple(map(int, input)), element.item(), element.dtype)


def shape(*sizes: int) -> Inputs:
    """These sizes as the input."""
    return {"input": np.array(sizes, np.int64)}


@constant_of_shape.inputs()
def ordinary(_: Draw) -> Iterator[Inputs]:
    """Three distinct sizes."""
    yield shape(2, 3, 4)


@constant_of_shape.inputs(T2=("float", "int64", "bool"))
def ranks(_: Draw) -> Iterator[Inputs]:
    """A scalar, a line, a matrix and five dimensions, one of them 1."""
    yield from (shape(), shape(5), shape(2, 3), shape(2, 1, 3, 5, 4))


@constant_of_shape.inputs(T2=("float", "int64", "bool"))
def no_elements(_: Draw) -> Iterator[Inputs]:
    """Sizes of 0, alone and among others."""
    yield from (shape(0), shape(0, 3), shape(2, 0, 4), shape(0, 0, 0))


constant_of_shape.example(
    "test_constantofshape_float_ones",
    [4, 3, 2],
    value=onnx.TensorProto(dims=[1], data_type=1, float_data=[1.0]),
    gives=np.ones((4, 3, 2), np.float32),
)
for name, sizes in (("test_constantofshape_int_zeros", [10, 6]), ("test_constantofshape_int_shape_zero", [0])):
    constant_of_shape.example(
        name, sizes, value=onnx.TensorProto(dims=[1], data_type=6, int32_data=[0]), gives=np.zeros(sizes, np.int32)
    )
