"""Optional, OptionalHasElement and OptionalGetElement: a value that may not be there, whether it is, and the value."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import onnx

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Types, operator
from harness.spec.values import OptionalType, Value, element_in, parse_type, proto_of_type

SHAPES = ((2, 3), (4,))
"""Of a tensor the first; of the two tensors of a sequence."""
FLOATS = ("tensor(float)", "seq(tensor(float))")
"""Types that meet more than the others, which take turns."""
NOTHING = {of: () if "seq" in of else ((2, 0, 3),) for f in FLOATS for of in (f, f"optional({f})")}
"""Of each of these types the shapes in a value that is there, but has no elements."""


def filled(of: str) -> bool:
    """Whether the optional of a type has a value where one of the two must do.

    It is the other way round for the tensor and the sequence of one element type, and for the next element type.
    """
    return element_in(parse_type(of)).code % 2 == ("seq(" in of)


def some(draw: Draw, variable: str, *shapes: tuple[int, ...], out_of_turn: bool = False) -> Value:
    """An ordinary value; no value of the optional types whose turn it is."""
    of = draw.types[variable]
    empty = isinstance(parse_type(of), OptionalType) and filled(of) == out_of_turn
    return None if empty else draw.value(variable, *shapes)


def stated(types: Types) -> onnx.TypeProto:
    """The type of the element."""
    return proto_of_type(parse_type(types["V"]))


def encloses(V: str, O: str) -> bool:  # noqa: E741 - the schema's name
    """The one is an optional of the other."""
    return f"optional({V})" == O


def in_turn(V: str, type: Any) -> bool:
    """An input where ``type`` is omitted, or none where it states one."""
    return (type is OMITTED) == filled(V)


def _optional(input: Any = None, *, type: onnx.TypeProto | None) -> Any:  # noqa: ARG001 - the output's type says it
    """The input in an optional, or "an empty optional of a certain type specified by the attribute"."""
    return input


_declare = partial(operator, "Optional", exact=True, full_product=True, type=(OMITTED, stated))
optional = _declare(since=(28, 15), constraints=[encloses, in_turn])(_optional)
optional_floats = _declare(since=28, constraints=[encloses, lambda V: V in FLOATS])(_optional)


@optional.inputs()
def input_or_type(draw: Draw) -> Iterator[Inputs]:
    """The input alone, or ``type`` alone, by turns of the types."""
    yield {"input": draw.value("V", *SHAPES)} if draw.attributes["type"] == OMITTED else {}


@optional_floats.inputs()
def input_and_type(draw: Draw) -> Iterator[Inputs]:
    """An input with ``type``, an input without elements alone, and what it is not the turn of."""
    of = draw.types["V"]
    if draw.attributes["type"] == OMITTED:
        yield {"input": draw.value("V", *NOTHING[of])}
        if not filled(of):
            yield {"input": draw.value("V", *SHAPES)}
    else:
        yield {"input": draw.value("V", *SHAPES)}
        if filled(of):
            yield {}


def _has_element(input: Any = None) -> bool:
    """Whether an optional has a value; true of a tensor or sequence, false if "the input is not provided"."""
    return input is not None


def _has_element_15(input: Any) -> bool:
    """Whether an optional has a value."""
    return input is not None


def of_floats(O: str) -> bool:  # noqa: E741 - the schema's name
    """Those that have more than one value each."""
    return O in NOTHING


def tensor_of_floats(O: str) -> bool:  # noqa: E741 - the schema's name
    """One type, for an input that is left out has none."""
    return O in FLOATS[:1]


_declare_has = partial(operator, "OptionalHasElement", exact=True)
has_element = _declare_has(since=(28, 18))(_has_element)
has_floats = _declare_has(since=28, constraints=[of_floats], full_product=True)(_has_element)
has_no_input = _declare_has(since=(28, 18), constraints=[tensor_of_floats], full_product=True)(_has_element)
has_element_15 = _declare_has(since=15)(_has_element_15)


@has_element.inputs()
@has_element_15.inputs()
def there_or_not(draw: Draw) -> Iterator[Inputs]:
    """An optional that has a value or has none, by turns of the types; a tensor or a sequence as it is."""
    yield {"input": some(draw, "O", *SHAPES)}


@has_floats.inputs()
def without_elements(draw: Draw) -> Iterator[Inputs]:
    """A tensor without elements and a sequence without tensors are values; and the optionals it is not the turn of."""
    of = draw.types["O"]
    yield {"input": draw.value("O", *NOTHING[of])}
    if of not in FLOATS:
        yield {"input": some(draw, "O", *SHAPES, out_of_turn=True)}


@has_no_input.inputs()
def omitted(draw: Draw) -> Iterator[Inputs]:  # noqa: ARG001 - there is nothing to draw
    """The input left out."""
    yield {}


def _get_element(input: Any) -> Any:
    """The value in the optional, or the tensor or sequence itself."""
    return input


def gives(O: str, V: str) -> bool:  # noqa: E741 - the schema's name
    """The output is the input, or what the optional encloses."""
    return O == V or encloses(V, O)


def optional_of_floats(O: str) -> bool:  # noqa: E741 - the schema's name
    """Those that meet more shapes."""
    return O in NOTHING and O not in FLOATS


_declare_get = partial(operator, "OptionalGetElement", exact=True, full_product=True)
get_element = _declare_get(since=(28, 18, 15), constraints=[gives])(_get_element)
get_floats = _declare_get(since=28, constraints=[gives, optional_of_floats])(_get_element)


@get_element.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A tensor, or a sequence of two of different ranks, in an optional or not."""
    yield {"input": draw.value("O", *SHAPES)}


@get_floats.inputs()
def other_shapes(draw: Draw) -> Iterator[Inputs]:
    """In an optional a scalar and a tensor without elements, or a sequence of none and one of both."""
    shapes = ((), (2, 0, 3))
    for several in ((), shapes) if "seq" in draw.types["O"] else ((shape,) for shape in shapes):
        yield {"input": draw.value("O", *several)}
