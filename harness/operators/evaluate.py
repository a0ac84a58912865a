"""What an operator gives for typed inputs: correctly rounded and with bounds, or in plain IEEE arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from harness.errors import ConformanceError
from harness.numbers import bound as numbers
from harness.numbers.laws import Law
from harness.numbers.rounding import round_array, to_storage, wrap
from harness.operators.draw import Draw
from harness.operators.operator import OMITTED, Inputs, Operator
from harness.spec.element_types import BY_NAME, ElementType, element_type
from harness.spec.schema import Parameter, Schema
from harness.spec.values import TensorType, Value, parse_type


class Expected(msgspec.Struct, frozen=True, eq=False):
    """One output that an oracle gives, in its type: see ``harness.numbers.bound.Expected``."""

    value: Value
    bound: np.ndarray | None = None
    also: tuple[np.ndarray, ...] = ()
    law: Law | None = None
    """Of a random output, whose ``value`` is no more than an example."""


class WrongOracle(ConformanceError):
    """An oracle returned what its schema does not allow."""

    advice = "The oracle's file needs mending; nothing was written for this case."


def expected(
    operator: Operator,
    version: Schema,
    types: Mapping[str, str],
    inputs: Inputs,
    attributes: Mapping[str, Any],
    seed: str = "",
) -> tuple[Expected, ...]:
    """The outputs of one node: exact, or correctly rounded with their bounds (the design's "one number").

    ``types`` says what each type variable stands for, ``attributes`` may hold ``OMITTED``; random outputs are drawn
    from ``seed``. Raises WrongOracle.
    """
    if operator.random:
        return tuple(_drawn(operator, version, types, inputs, attributes, seed))
    elements = _outputs(version, types)
    arguments = [_whole(value) for value in _positional(version, inputs)]
    if operator.exact or not any(e.format for e in (*elements, *_elements(arguments))):
        return tuple(Expected(value) for value in answer(operator, version, types, inputs, attributes, exact=True))
    found = numbers.evaluate(
        operator.oracle, arguments, given(operator, version, types, attributes), elements, _working(operator, types)
    )
    return tuple(
        Expected(_stored(one.values, e), one.bound, tuple(_stored(also, e) for also in one.also))
        for one, e in zip(found, elements, strict=True)
    )


def answer(
    operator: Operator,
    version: Schema,
    types: Mapping[str, str],
    inputs: Inputs,
    attributes: Mapping[str, Any],
    *,
    exact: bool = False,
) -> tuple[Value, ...]:
    """The outputs of one node by the oracle in float64 (complex128, Python integers), rounded once into their types.

    With ``exact``, a value that its type cannot hold raises WrongOracle instead of being rounded. Random outputs are
    the same for the same types and attributes, so that a run can be repeated.
    """
    if operator.random:
        seed = repr((types, sorted(attributes.items())))
        return tuple(one.value for one in _drawn(operator, version, types, inputs, attributes, seed))
    arguments = [_plain(value) for value in _positional(version, inputs)]
    outputs = _called(operator, version, types, arguments, attributes)
    return tuple(_typed(np.asarray(o), e, version, exact=exact) for o, e in outputs)


def _called(
    operator: Operator, version: Schema, types: Mapping[str, str], arguments: list[Any], attributes: Mapping[str, Any]
) -> list[tuple[Any, ElementType]]:
    """What the oracle gives for plain arguments, each output with its type. Raises WrongOracle."""
    elements = _outputs(version, types)
    with np.errstate(all="ignore"):
        found = operator.oracle(*arguments, **given(operator, version, types, attributes))
    outputs = found if isinstance(found, tuple) else (found,)
    if len(outputs) != len(elements):
        raise WrongOracle(f"The oracle of {version.title} gives {len(outputs)} outputs, want {len(elements)}.")
    return list(zip(outputs, elements, strict=True))


def _drawn(
    operator: Operator,
    version: Schema,
    types: Mapping[str, str],
    inputs: Inputs,
    attributes: Mapping[str, Any],
    seed: str,
) -> Iterator[Expected]:
    """An answer of a random operator, drawn from the laws that its oracle gives and rounded once."""
    draw = Draw(f"{version.title}/{seed}", types, attributes)
    arguments = [_plain(value) for value in _positional(version, inputs)]
    values = [value for _, _, value in graph_inputs(version, inputs)]
    for random, element in _called(operator, version, types, arguments, attributes):
        even = ((draw.words(math.prod(random.shape)) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        plain = np.asarray(random.law.draw(even.reshape(random.shape), values))
        yield Expected(_typed(plain, element, version, exact=False), law=random.law)


def given(
    operator: Operator, version: Schema, types: Mapping[str, str], attributes: Mapping[str, Any]
) -> dict[str, Any]:
    """The attributes as the oracle sees them, an omitted one with the schema's default, and the types it asks for."""
    values = {a.name: attributes.get(a.name, OMITTED) for a in version.attributes}
    plain = {a.name: a.default if values[a.name] is OMITTED else values[a.name] for a in version.attributes}
    return plain | {variable: _element(types[variable]) for variable in operator.asks}


def _working(operator: Operator, types: Mapping[str, str]) -> ElementType | None:
    if operator.worked_in in types:
        return _element(types[operator.worked_in])
    return BY_NAME.get(operator.worked_in)


def _element(text: str) -> ElementType:
    of = parse_type(text)
    assert isinstance(of, TensorType)
    return of.element


def _elements(arguments: Iterable[Any]) -> Iterator[ElementType]:
    return (element_type(value.dtype) for value in arguments if isinstance(value, np.ndarray) and value.dtype != object)


def _stored(values: np.ndarray, element: ElementType) -> np.ndarray:
    return wrap(values, element) if element.kind in ("signed", "unsigned") and values.dtype == object else values


def graph_inputs(version: Schema, inputs: Inputs) -> list[tuple[str, Parameter, Value]]:
    """Name, parameter and value of each input that is there, in the graph's order; a variadic x is x_0, x_1 …"""
    found: list[tuple[str, Parameter, Value]] = []
    for p in version.inputs:
        if p.option == "variadic":
            found += [(f"{p.name}_{i}", p, value) for i, value in enumerate(inputs[p.name])]
        elif p.name in inputs:
            found.append((p.name, p, inputs[p.name]))
    return found


def _positional(version: Schema, inputs: Inputs) -> Iterator[Value]:
    """The inputs in the schema's order: None for one that is omitted, each of a variadic one."""
    for p in version.inputs:
        if p.option == "variadic":
            yield from inputs[p.name]
        else:
            yield inputs.get(p.name)


def _outputs(version: Schema, types: Mapping[str, str]) -> list[ElementType]:
    found = [parse_type(types.get(p.type_str, p.type_str)) for p in version.outputs]
    return [of.element for of in found if isinstance(of, TensorType)]


def _whole(value: Value) -> Any:
    """Integers as Python's, strings as NumPy's own, so that arithmetic neither wraps nor rounds; others as they are."""
    if not isinstance(value, np.ndarray):
        return value
    match element_type(value.dtype).kind:
        case "signed" | "unsigned":
            # ml_dtypes' narrow integers become NumPy's first, for their elements are no Python ints.
            return value.astype(object) if value.dtype.kind in "iu" else value.astype(np.int8).astype(object)
        case "string":
            return value.astype(np.dtypes.StringDType())
        case _:
            return value


def _plain(value: Value) -> Any:
    """As ``_whole``, with every real type as float64 and every complex one as complex128."""
    if isinstance(value, np.ndarray) and (format_ := element_type(value.dtype)).format:
        with np.errstate(invalid="ignore"):  # of signalling NaN
            return value.astype(np.complex128 if format_.kind == "complex" else np.float64)
    return _whole(value)


def _typed(array: np.ndarray, element: ElementType, version: Schema, *, exact: bool) -> np.ndarray:
    """An oracle's plain output in its element type: rounded for reals, wrapped for integers."""
    match element.kind:
        case "float":
            plain = array.astype(np.float64)
            rounded = round_array(plain, element)
            if exact and not np.array_equal(plain, rounded, equal_nan=True):
                raise WrongOracle(f"{version.title} is declared exact, but gives what {element.name} cannot hold.")
            return to_storage(rounded, element)
        case "signed" | "unsigned":
            return wrap(array, element)
        case _:
            return array.astype(element.dtype)
