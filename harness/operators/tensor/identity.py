"""Identity: the same value, of every type there is."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.optional.optional import NOTHING, some
from harness.oracles.draw import WORDS, Draw
from harness.oracles.operator import Inputs, operator
from harness.spec.values import tensors_in

SHAPES = ((3, 4), (5,))
"""Of a tensor the first, with room for all the special values of a type; of the two tensors of a sequence."""


def identity(input: Any) -> Any:
    """The input as it is."""
    return input


newest = operator("Identity", since=25, exact=True)(identity)
older = operator("Identity", since=(24, 23, 21, 19, 16, 14), exact=True)(identity)
tensors = operator("Identity", since=(13, 1), exact=True)(identity)


@newest.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A tensor, or a sequence of two of different ranks; an optional has one or is empty, by turns of the types."""
    yield {"input": some(draw, "V", *SHAPES)}


@newest.inputs()
@older.inputs()
@tensors.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """In the same shapes the special values of the type, as many as there is room for, and ordinary ones."""
    (variable,) = draw.types
    value = some(draw, variable, *SHAPES)
    for tensor in tensors_in(value):
        match getattr(draw, variable).element.kind:
            case "string":
                special = np.array(["", *WORDS, "long" * 100], object)
            case "bool":
                special = np.zeros(0, bool)
            case "complex":
                special = getattr(draw, variable).specials()
                special.imag = np.roll(special.real, 1)
            case _:
                special = getattr(draw, variable).specials()
        tensor.reshape(-1)[: special.size] = special[: tensor.size]
    yield {"input": value}


@newest.inputs(V=("float", "seq"))
def other_shapes(draw: Draw) -> Iterator[Inputs]:
    """A scalar, no elements, and rank 8; a sequence of nothing, and one of all these."""
    shapes = ((), (2, 0, 3), (1, 2, 1, 3, 1, 2, 1, 1))
    if draw.types["V"] == "tensor(float)":
        yield from ({"input": draw.V.ordinary(shape)} for shape in shapes)
    elif draw.types["V"] == "seq(tensor(float))":
        yield from ({"input": draw.value("V", *several)} for several in ((), shapes))


@newest.inputs(V="optional")
def out_of_turn(draw: Draw) -> Iterator[Inputs]:
    """Of floats the other one too, and a value without elements, which is not an empty optional."""
    if draw.types["V"] in NOTHING:
        yield {"input": some(draw, "V", *SHAPES, out_of_turn=True)}
        yield {"input": draw.value("V", *NOTHING[draw.types["V"]])}
