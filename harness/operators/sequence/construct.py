"""SequenceConstruct and SequenceEmpty: sequences of the tensors that are given, and of none."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Types, operator
from harness.spec.values import element_in, parse_type

FLOAT = "seq(tensor(float))"
"""The sequence that meets every group of inputs; the others meet the ordinary ones."""


def of_tensors(S: str, T: str) -> bool:
    """The elements of the sequence are tensors of type T."""
    return f"seq({T})" == S


def position_in_turn(S: str, I: str) -> bool:  # noqa: E741 - the schema's name
    """One element type has its positions in int64, the next in int32."""
    return f"tensor({'int64' if element_in(parse_type(S)).code % 2 else 'int32'})" == I


def dtype_of_elements(types: Types) -> int:
    """The number in TensorProto of the type of the sequence's tensors."""
    return element_in(parse_type(types["S"])).code


@operator("SequenceConstruct", since=11, exact=True, constraints=[of_tensors])
def construct(*inputs: np.ndarray) -> list[np.ndarray]:
    """The tensors in their order: "Sequence enclosing the input tensors"."""
    return list(inputs)


@construct.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three tensors, two of the same shape."""
    yield {"inputs": tuple(draw.T.ordinary(shape) for shape in ((2, 3), (4,), (2, 3)))}


@construct.inputs()
def numbers_and_shapes(draw: Draw) -> Iterator[Inputs]:
    """One tensor; many; scalars, empty tensors and ranks up to 5 side by side."""
    if draw.types["S"] == FLOAT:
        for shapes in (((2, 3),), ((), (0,), (3, 0, 2), (1,), (2, 1, 3, 1, 2)), tuple((n,) for n in range(1, 12))):
            yield {"inputs": tuple(draw.T.ordinary(shape) for shape in shapes)}


@operator(
    "SequenceEmpty",
    since=11,
    exact=True,
    constraints=[lambda S, dtype: dtype is not OMITTED or S == FLOAT],
    dtype=(OMITTED, dtype_of_elements),
)
def empty(*, dtype: int | None) -> list[np.ndarray]:  # noqa: ARG001 - the output's type says it
    """No tensors, of the type that ``dtype`` states: "The default type is 'float'."."""
    return []


@empty.inputs()
def nothing(draw: Draw) -> Iterator[Inputs]:  # noqa: ARG001 - there is nothing to draw
    """The operator has no inputs."""
    yield {}
