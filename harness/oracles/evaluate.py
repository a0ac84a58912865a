"""What an operator gives for typed inputs: correctly rounded and with bounds, or in plain IEEE arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import onnx
from flint import arb

from harness.errors import ConformanceError
from harness.numbers import bound as numbers
from harness.numbers.balls import exact as exact_balls
from harness.numbers.distributions import Distribution, Random
from harness.numbers.evaluating import floats
from harness.numbers.rounding import round_array, to_storage, wrap
from harness.oracles.draw import Draw
from harness.oracles.graph import Graph
from harness.oracles.node import Call
from harness.oracles.operator import NODES, OMITTED, READING
from harness.spec.element_types import BY_NAME, ElementType, element_type
from harness.spec.values import (
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    Typed,
    Value,
    ValueType,
    element_in,
    parse_type,
)


class Expected(msgspec.Struct, frozen=True, eq=False):
    """One output that an oracle gives, in its type: see ``harness.numbers.bound.Expected``."""

    of: ValueType
    value: Value
    bound: np.ndarray | None = None
    alternatives: tuple[np.ndarray, ...] = ()
    distribution: Distribution | None = None
    """Of a random output, whose ``value`` is no more than an example."""
    readings: tuple[Expected, ...] = ()
    """What the other readings of the text give, in the order of ``Operator.readings``."""


class WrongOracle(ConformanceError):
    """An oracle returned what its schema does not allow."""

    advice = "The oracle's file needs mending; nothing was written for this case."


def expected(call: Call, seed: str = "") -> tuple[Expected, ...]:
    """The outputs of one node: exact, or correctly rounded with their bounds (the design's "one number").

    Random outputs are drawn from ``seed``. Raises WrongOracle.
    """
    first, *others = [_expected(call, seed, reading) for reading in call.operator.readings or ("",)]
    if not others:
        return first
    return tuple(msgspec.structs.replace(one, readings=tuple(of[i] for of in others)) for i, one in enumerate(first))


def _expected(call: Call, seed: str, reading: str) -> tuple[Expected, ...]:
    operator = call.operator
    if operator.random:
        return tuple(_random_outputs(call, seed))
    inputs = list(call.positional())
    types = [of for of in _outputs(call, call.outputs) if isinstance(of, TensorType)]
    reals = any(of.element.format for of in types) or any(x and element_in(x.of).format for x in inputs)
    if call.is_exact() or not reals:
        return tuple(_stated(value, of, call) for value, of in oracle_outputs(call, reading))
    elements = [of.element for of in types]
    arguments = [x and _whole(x.value) for x in inputs]
    body = BY_NAME.get(operator.body_type)
    attributes = attributes_of(call, reading)
    found = numbers.evaluate(operator.oracle, arguments, attributes, elements, _working(call), body)
    return tuple(
        Expected(
            of,
            _stored(one.values, of.element),
            one.bound,
            tuple(_stored(alternatives, of.element) for alternatives in one.alternatives),
        )
        for one, of in zip(found, types, strict=True)
    )


def answer(call: Call, *, exact: bool = False) -> tuple[Typed, ...]:
    """The outputs of one node by the oracle in float64 (complex128, Python integers), rounded once into their types.

    With ``exact``, a value that its type cannot hold raises WrongOracle instead of being rounded. Random outputs are
    the same for the same types and attributes, so that a run can be repeated.
    """
    if any(x and _holds_balls(x.value) for x in call.positional()):
        return tuple(_over_balls(call))
    if call.operator.random:
        seed = repr((call.types, sorted(call.attributes.items())))
        return tuple(Typed(one.of, one.value) for one in _random_outputs(call, seed))
    return tuple(
        Typed(one.of, one.value)
        for one in (_stated(value, of, call, exact=exact) for value, of in oracle_outputs(call))
    )


def _holds_balls(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object and value.size > 0 and isinstance(value.flat[0], arb)


def _over_balls(call: Call) -> Iterator[Typed]:
    """The outputs of a node inside a graph that is evaluated over balls: its oracle's own, which nothing rounds.

    Raises WrongOracle for an operator that is about the bits of stored values, which balls have none of.
    """
    if call.operator.on_storage or call.operator.random:
        raise WrongOracle(f"{call.version.title} has no meaning over balls.")
    arguments = [x and _as_balls(x) for x in call.positional()]
    for value, of in _asked(call, arguments, floats(attributes_of(call), arb)):
        yield Typed(of, np.asarray(value))


def _as_balls(x: Typed) -> Any:
    if isinstance(x.value, np.ndarray) and element_in(x.of).format:
        return exact_balls(x.value)
    return _whole(x.value)


def _stated(value: Any, of: ValueType, call: Call, *, exact: bool = True) -> Expected:
    """An output of an oracle in its type."""
    if isinstance(value, Typed):
        return Expected(value.of, value.value)
    return Expected(of, _typed(value, of, call, exact=exact))


def oracle_outputs(call: Call, reading: str = "") -> list[tuple[Any, ValueType]]:
    """What the oracle returns in float64 arithmetic, each output with its type. Raises WrongOracle."""
    graphs = any(a.kind == "GRAPH" for a in call.version.attributes)
    arguments = [x if graphs or x is None else _given(x.value, call) for x in call.positional()]
    with np.errstate(all="ignore"):
        return _asked(call, arguments, attributes_of(call, reading))


def _asked(call: Call, arguments: Sequence[Any], attributes: Mapping[str, Any]) -> list[tuple[Any, ValueType]]:
    """What the oracle gives, each output with its type. Raises WrongOracle."""
    found = call.operator.oracle(*arguments, **attributes)
    values = found if isinstance(found, tuple) else (found,)
    types = _outputs(call, len(values))
    if len(values) != len(types):
        raise WrongOracle(f"The oracle of {call.version.title} gives {len(values)} outputs, want {len(types)}.")
    return list(zip(values, types, strict=True))


def _random_outputs(call: Call, seed: str) -> Iterator[Expected]:
    """An answer of a random operator, drawn from the laws that its oracle gives and rounded once.

    A law sees the inputs and the outputs before its own. Plain values that the oracle gives are taken as exact.
    """
    draw = Draw(f"{call.version.title}/{seed}", call.types, call.attributes)
    values = [x.value for x in call.arguments().values()]
    for found, of in oracle_outputs(call):
        if isinstance(found, Random):
            even = ((draw.words(math.prod(found.shape)) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
            plain = np.asarray(found.distribution.draw(even.reshape(found.shape), values))
            values.append(_typed(plain, of, call, exact=False))
            yield Expected(of, values[-1], distribution=found.distribution)
        else:
            values.append(_typed(found, of, call, exact=True))
            yield Expected(of, values[-1])


def attributes_of(call: Call, reading: str = "") -> dict[str, Any]:
    """The attributes as the oracle sees them, an omitted one with the schema's default, and what else it asks for.

    ``reading`` is one of the operator's readings, the first by default.
    """
    plain: dict[str, Any] = {}
    for a in call.version.attributes:
        value = call.attributes.get(a.name, OMITTED)
        plain[a.name] = a.default if value is OMITTED else value
        if isinstance(value, onnx.GraphProto):
            plain[a.name] = Graph(value, call.scope, answer)
    plain = floats(plain, float)
    for name in call.operator.extra_parameters:
        if name == NODES:
            plain[name] = tuple(call.scope.nodes)
        elif name == READING:
            plain[name] = reading or call.operator.readings[0]
        else:
            plain[name] = element_in(parse_type(call.types[name])) if name in call.types else call.outputs
    return plain


def _working(call: Call) -> ElementType | None:
    working_type = call.operator.working_type
    return element_in(parse_type(call.types[working_type])) if working_type in call.types else BY_NAME.get(working_type)


def _stored(values: np.ndarray, element: ElementType) -> np.ndarray:
    return wrap(values, element) if element.kind in ("signed", "unsigned") and values.dtype == object else values


def _outputs(call: Call, count: int = 0) -> list[ValueType]:
    """The types of the outputs; ``count`` of them if the last is variadic."""
    parameters = list(call.version.outputs)
    if parameters and parameters[-1].option == "variadic":
        parameters += parameters[-1:] * (count - len(parameters))
    return [parse_type(call.types.get(p.type_str, p.type_str)) for p in parameters]


def _whole(value: Value) -> Any:
    """Integers as Python's, strings as NumPy's own, so that arithmetic neither wraps nor rounds; others as they are."""
    if not isinstance(value, np.ndarray):
        return _within(value, _whole)
    match element_type(value.dtype).kind:
        case "signed" | "unsigned":
            # ml_dtypes' narrow integers become NumPy's first, for their elements are no Python ints.
            return value.astype(object) if value.dtype.kind in "iu" else value.astype(np.int8).astype(object)
        case "string":
            return value.astype(np.dtypes.StringDType())
        case _:
            return value


def _given(value: Value, call: Call) -> Any:
    if call.operator.on_storage:
        return value
    return _whole(value) if call.moves() else _plain(value)


def _plain(value: Value) -> Any:
    """As ``_whole``, with every real type as float64 and every complex one as complex128."""
    if not isinstance(value, np.ndarray):
        return _within(value, _plain)
    if (kind := element_type(value.dtype)).format:
        with np.errstate(invalid="ignore"):  # of signalling NaN
            return value.astype(np.complex128 if kind.kind == "complex" else np.float64)
    return _whole(value)


def _within(value: Any, change: Callable[[Any], Any]) -> Any:
    """A sequence or a map with what is in it changed; None and others as they are."""
    match value:
        case list():
            return [change(item) for item in value]
        case dict():
            return {key: change(item) for key, item in value.items()}
        case _:
            return value


def _typed(value: Any, of: ValueType, call: Call, *, exact: bool) -> Value:
    """An oracle's plain output in its type: rounded for reals, wrapped for integers. Raises WrongOracle."""
    match of:
        case OptionalType():
            return None if value is None else _typed(value, of.of, call, exact=exact)
        case SequenceType() if isinstance(value, list):
            return [_typed(item, of.of, call, exact=exact) for item in value]
        case MapType() if isinstance(value, dict):
            return {key: _typed(item, of.of, call, exact=exact) for key, item in value.items()}
        case TensorType() if not isinstance(value, list | dict | None):
            return _tensor(np.asarray(value), of.element, call, exact=exact)
        case _:
            raise WrongOracle(f"The oracle of {call.version.title} gives a {type(value).__name__} for {of}.")


def _tensor(array: np.ndarray, element: ElementType, call: Call, *, exact: bool) -> np.ndarray:
    if call.operator.on_storage:
        if array.dtype != element.dtype:
            raise WrongOracle(f"The oracle of {call.version.title} gives {array.dtype}, want {element.dtype}.")
        return array
    if call.moves() and array.dtype == element.dtype:
        return array
    match element.kind:
        case "float":
            plain = array.astype(np.float64)
            rounded = round_array(plain, element)
            if exact and not np.array_equal(plain, rounded, equal_nan=True):
                raise WrongOracle(f"{call.version.title} is declared exact, but gives what {element.name} cannot hold.")
            return to_storage(rounded, element)
        case "signed" | "unsigned":
            return wrap(array, element)
        case _:
            return array.astype(element.dtype)
