"""What elementwise functions of one tensor share: a row each, and the inputs that try them all."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from harness.numbers.rounding import format_of
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import OMITTED, Operator, Sample, operator
from harness.oracles.sweep import Decided, every_answer, sweep

SHAPE = (3, 5, 7)
"""Its size is a multiple of no vector's length, so that a kernel's remainder loop runs too."""
COUNT = math.prod(SHAPE)

Function: TypeAlias = Callable[[Any], Any]
Trial: TypeAlias = np.ndarray | tuple[np.ndarray, str]
"""A tensor, or one with the reason why the spec leaves its answers open."""
Generator: TypeAlias = Callable[[Values, "Row"], Iterator[Trial]]


class Row(NamedTuple):
    """An operator and its function."""

    name: str
    since: tuple[int, ...]
    """Versions, newest first, that share this meaning."""
    function: Function
    domain: Function = np.positive
    """Takes floats of each sign from 1/4 up to 4 to where the function is defined."""
    groups: tuple[Generator, ...] = ()
    """Further groups, of floats, for what is peculiar to it."""
    examples: tuple[tuple[str, list[float], list[float]], ...] = ()
    """Test, input and output, of floats."""
    exact: bool = False
    """No result needs rounding."""
    shape: tuple[int, ...] = SHAPE
    """Of ordinary values."""
    others: tuple[tuple[int, ...], ...] = ((), (2, 0, 3), (2, 1, 3, 1, 2))
    decided: Decided = every_answer
    """Of which values the text has an answer."""

    @property
    def wide(self) -> tuple[int, ...]:
        """The shape of all values that are not ordinary.

        Where results round it is another, so that these are another case: their bounds widen its rtol and atol so much
        that a runner which knows no others would be blind to ordinary values.
        """
        return self.shape if self.exact else (COUNT,)


def declared(row: Row) -> Operator:
    """The operator of a row with its examples and its sweep, yet without other inputs.

    ``consumed_inputs`` of version 1 means nothing.
    """

    def oracle(x: Any, /, **_: Any) -> Any:
        """The function of each element."""
        return row.function(x)

    attributes: dict[str, Any] = {"consumed_inputs": (OMITTED, [0])} if 1 in row.since else {}
    made = operator(row.name, since=row.since, exact=row.exact, **attributes)(oracle)
    for name, x, y in row.examples:
        made.example(name, np.array(x, np.float32), gives=np.array(y, np.float32))
    sweep(made, row.decided)
    return made


def give(to: Operator, row: Row, *generators: Generator, kinds: tuple[str, ...] = ()) -> None:
    """Registers generators as input groups of an operator, which may be about some kinds of elements only."""
    name = to.schemas[0].inputs[0].name
    only: dict[str, Any] = {"T": kinds} if kinds else {}

    def named(generator: Generator) -> Callable[[Draw], Iterator[Sample]]:
        @functools.wraps(generator)
        def generate(draw: Draw) -> Iterator[Sample]:
            for trial in generator(draw.T, row):
                x, unspecified = trial if isinstance(trial, tuple) else (trial, "")
                yield Sample({name: x}, unspecified=unspecified)

        return generate

    for generator in generators:
        to.inputs(**only)(named(generator))


def ordinary(values: Values, row: Row) -> Iterator[Trial]:
    """Values of each sign that the function is defined for."""
    yield _inside(values, row, row.shape)


def shapes(values: Values, row: Row) -> Iterator[Trial]:
    """Ordinary values in tensors without axes, of float also without elements and with many axes, where allowed."""
    for shape in row.others if values.element.name == "float" else row.others[:1]:
        yield _inside(values, row, shape)


def special_values(values: Values, row: Row) -> Iterator[Trial]:
    """NaN, infinities, zeros, the extreme subnormal, normal and finite numbers, 1 and 2, each at many places."""
    yield specials(values, row.wide)


def every_magnitude(values: Values, row: Row) -> Iterator[Trial]:
    """Each order of magnitude from the smallest subnormal to the largest finite number, of both signs in turn."""
    form = format_of(values.element)
    exponents = np.linspace(form.smallest, math.frexp(form.maximum)[1] - 1, COUNT).round().astype(np.int32)
    significands = 2 * np.frexp(np.abs(values.ordinary((COUNT,)).astype(np.float64)))[0]
    magnitudes = np.ldexp(significands, exponents)
    yield values((-1.0) ** np.arange(COUNT) * magnitudes).reshape(row.wide)


def specials(values: Values, shape: Sequence[int]) -> np.ndarray:
    """The special values of a float type over and over, with as many others as make them 15: coprime to any vector."""
    return np.resize(np.concatenate([values.specials(), values([1, -1, 2, -2])]), shape)


def _inside(values: Values, row: Row, shape: Sequence[int]) -> np.ndarray:
    some = values.ordinary(shape)
    return values(row.domain(some.astype(np.float64))) if values.element.format else some
