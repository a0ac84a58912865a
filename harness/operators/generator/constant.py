"""Constant: a tensor that one of the attributes holds."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx

from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED, Inputs, Types, operator
from harness.spec.codec import from_proto, to_proto
from harness.spec.element_types import element_type
from harness.spec.values import SparseTensor, SparseTensorType, TensorType

SOME = ("tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(string)", "tensor(complex64)")
"""Types that meet every shape and form of a tensor; the others meet one of each attribute."""


def tensor(make: Callable[[Values], np.ndarray], variable: str = "T") -> Callable[[Types], onnx.TensorProto]:
    """A TENSOR attribute's value of the type that a variable stands for."""

    def value(types: Types) -> onnx.TensorProto:
        values = getattr(Draw("value", types, {}), variable)
        return to_proto(make(values), TensorType(values.element))

    return value


def sparse(
    indices: list[Any], dims: tuple[int, ...], rank: tuple[int, ...] = ()
) -> Callable[[Types], onnx.SparseTensorProto]:
    """A SPARSE_TENSOR attribute's value with ordinary elements at these indices, each of the shape ``rank``."""

    def value(types: Types) -> onnx.SparseTensorProto:
        values = Draw("sparse_value", types, {}).T
        places = np.array(indices, np.int64).reshape(-1, *rank)
        return to_proto(SparseTensor(values.ordinary((len(indices),)), places, dims), SparseTensorType(values.element))

    return value


def mixed(values: Values) -> np.ndarray:
    """Ordinary values, and between them the special ones of a type of numbers."""
    ordinary = values.ordinary((8,))
    special = ordinary[:0] if values.element.kind in ("bool", "string") else values.specials()
    return np.resize(np.concatenate([ordinary, special]), (3, 8))


MIXED, SCALAR, EMPTY = tensor(mixed), tensor(lambda v: v.ordinary(())), tensor(lambda v: v.ordinary((0, 3)))
LINEAR, PLACES = sparse([1, 6, 7, 11], (3, 4)), sparse([[0, 0, 4], [0, 2, 1], [1, 1, 0]], (2, 3, 5), (3,))
NOWHERE = sparse([], (4, 2))


def exactly_one(
    value: Any,
    sparse_value: Any,
    value_float: Any,
    value_floats: Any,
    value_int: Any,
    value_ints: Any,
    value_string: Any,
    value_strings: Any,
) -> bool:
    """The rule: "Exactly one of the provided attributes … must be specified"."""
    given = (value, sparse_value, value_float, value_floats, value_int, value_ints, value_string, value_strings)
    return sum(one is not OMITTED for one in given) == 1


def has_type(T: str, of: str, *attributes: Any) -> bool:
    """Whether T is what these attributes state where one of them is given."""
    return of == T or all(one is OMITTED for one in attributes)


TENSORS: dict[str, Any] = {"value": (OMITTED, MIXED, SCALAR, EMPTY), "sparse_value": (OMITTED, LINEAR, PLACES, NOWHERE)}
FORMS = (
    lambda T, value: T in SOME or value in (OMITTED, MIXED),
    lambda T, sparse_value: T in SOME or sparse_value in (OMITTED, LINEAR),
    # The zero that stands wherever there is no value is none of float8e8m0's.
    lambda T, sparse_value: T != "tensor(float8e8m0)" or sparse_value is OMITTED,
)


@operator(
    "Constant",
    since=(25, 24, 23, 21, 19, 13, 12),
    exact=True,
    full_product=True,
    constraints=[
        exactly_one,
        lambda T, value_float, value_floats: has_type(T, "tensor(float)", value_float, value_floats),
        lambda T, value_int, value_ints: has_type(T, "tensor(int64)", value_int, value_ints),
        lambda T, value_string, value_strings: has_type(T, "tensor(string)", value_string, value_strings),
        *FORMS,
    ],
    value_float=(OMITTED, 0.1, float("nan")),
    value_floats=(OMITTED, [0.1, -0.0, float("inf"), 1e-45, -2.5], []),
    value_int=(OMITTED, -(2**63), 2**53 + 1),
    value_ints=(OMITTED, [2**63 - 1, 0, -1, -(2**63), 2**53 + 1], []),
    value_string=(OMITTED, "Grüße", ""),
    value_strings=(OMITTED, [b"two words", b"", "日本語".encode(), b"\t"], []),
    **TENSORS,
)
def constant(
    *,
    value: onnx.TensorProto | None,
    sparse_value: onnx.SparseTensorProto | None,
    value_float: float | None,
    value_floats: list[float] | None,
    value_int: int | None,
    value_ints: list[int] | None,
    value_string: str | None,
    value_strings: list[bytes] | None,
) -> np.ndarray:
    """The tensor in ``value`` or ``sparse_value``, or the scalar or the list in one of the ``value_*``."""
    for number in (value_float, value_floats):
        if number is not None:
            return np.array(number, np.float32)
    for number in (value_int, value_ints):
        if number is not None:
            return np.array(number, np.int64)
    if value_strings is not None:
        return np.array([text.decode() for text in value_strings], object)
    return np.array(value_string, object) if value_string is not None else dense(value, sparse_value)


@operator(
    "Constant",
    since=11,
    exact=True,
    full_product=True,
    constraints=[lambda value, sparse_value: (value is OMITTED) != (sparse_value is OMITTED), *FORMS],
    **TENSORS,
)
def constant_11(*, value: onnx.TensorProto | None, sparse_value: onnx.SparseTensorProto | None) -> np.ndarray:
    """The tensor in ``value`` or ``sparse_value``."""
    return dense(value, sparse_value)


@operator("Constant", since=(9, 1), exact=True, constraints=FORMS, value=(MIXED, SCALAR, EMPTY))
def constant_9(*, value: onnx.TensorProto) -> np.ndarray:
    """The tensor in ``value``."""
    return dense(value, None)


def dense(value: onnx.TensorProto | None, sparse_value: onnx.SparseTensorProto | None) -> np.ndarray:
    """The elements of a tensor, or those of a sparse one among zeros, as SparseTensorProto has them.

    "The default-value is zero for numeric tensors, and empty-string for string tensors"; indices are linear, or a row
    of coordinates each.
    """
    if sparse_value is None:
        assert value is not None
        found = from_proto(value, TensorType(element_type(value.data_type)))
        assert isinstance(found, np.ndarray)
        return found
    of = element_type(sparse_value.values.data_type)
    held = from_proto(sparse_value, SparseTensorType(of))
    assert isinstance(held, SparseTensor)
    output = np.full(held.dims, "" if of.kind == "string" else 0, of.dtype)
    if held.indices.ndim == 1:
        output.reshape(-1)[held.indices] = held.values
    else:
        output[tuple(held.indices.T)] = held.values
    return output


for one in (constant, constant_11, constant_9):

    @one.inputs()
    def no_inputs(_: Draw) -> Iterator[Inputs]:
        """One of the attributes says it all."""
        yield {}
