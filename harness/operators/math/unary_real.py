"""Roots, exponentials, angles and their inverses: functions of each element whose results are real numbers."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import arb

from harness.numbers.balls import arccos, arccosh, arcsin, arcsinh, arctan, arctanh, erf
from harness.numbers.rounding import format_of
from harness.operators.math.unary import (
    COUNT,
    Function,
    Generator,
    Row,
    Trial,
    declared,
    every_magnitude,
    give,
    ordinary,
    shapes,
    special_values,
)
from harness.oracles.draw import Values
from harness.oracles.operator import operator
from harness.spec.element_types import ElementType, FloatFormat


def _reciprocal(x: Any) -> Any:
    return 1 / x


def _periodic(function: Function) -> Function:
    """The function with NaN at the infinities, where balls say no more than "between -1 and 1"."""
    return lambda x: function(x) + 0 * x


def _unit(x: np.ndarray) -> np.ndarray:
    return x / 4


def _above_one(x: np.ndarray) -> np.ndarray:
    return 1 + np.abs(x)


def around_one(values: Values, row: Row) -> Iterator[Trial]:
    """1 and its neighbours at each distance, and their negatives: where a function ends, vanishes or has a pole."""
    distances = 2.0 ** -np.arange(1, format_of(values.element).precision + 1)
    every = np.resize([1 - distances, 1 + distances], row.wide)
    for sign in (1, -1):
        yield values(sign * every)


def angles(values: Values, row: Row) -> Iterator[Trial]:
    """At quarter turns, then anywhere up to 2^20 (less in narrow types); then beside quarter turns at each distance."""
    precision = format_of(values.element).precision
    sign = (-1.0) ** np.arange(COUNT)
    # What the platform's powers differ in is below single precision.
    anywhere = sign * np.geomspace(1, 2.0 ** min(20, precision - 4), COUNT).astype(np.float32).astype(np.float64)
    quarters = np.round(anywhere / (math.pi / 2)) + np.arange(COUNT) % 2
    yield values(quarters * (math.pi / 2)).reshape(row.wide)
    yield values(anywhere * values.near(1, (COUNT,)).astype(np.float64)).reshape(row.wide)
    distances = sign * 2.0 ** -np.resize(np.arange(1, precision), COUNT)
    yield values((1 + np.arange(COUNT) % 3) * (math.pi / 2) + distances).reshape(row.wide)


def _around(edges: Callable[[FloatFormat], Sequence[float]]) -> Generator:
    def tails(values: Values, row: Row) -> Iterator[Trial]:
        """Where the result overflows, underflows or saturates: last bits off, and up to an eighth, of either sign."""
        form = format_of(values.element)
        steps = np.concatenate([np.arange(-4, 5) * 2.0 ** (1 - form.precision), np.linspace(-0.125, 0.125, 12)])
        every = np.resize(np.outer(1 + steps, edges(form)), row.wide)
        for sign in (1, -1):
            yield values(sign * every)

    return tails


def _log(x: float) -> float:
    """The logarithm, the same on every platform."""
    return float(arb(x).log())


def _exponential(form: FloatFormat) -> Sequence[float]:
    """Where e^x overflows, and e^-x comes to subnormal numbers and to nothing."""
    return _log(form.maximum), -_log(2.0**form.emin), -_log(2.0**form.smallest) + _log(2)


def _half_exponential(form: FloatFormat) -> Sequence[float]:
    """Where e^x overflows, and where half of it does."""
    return _log(form.maximum), _log(form.maximum) + _log(2)


def _saturated(form: FloatFormat) -> Sequence[float]:
    """On the way to where the hyperbolic tangent, and where the error function come to round to 1."""
    tangent, error = (form.precision + 2) * _log(2) / 2, math.sqrt((form.precision + 1) * _log(2))
    return tangent / 2, 0.75 * tangent, tangent, 0.75 * error, error


def _inverse(form: FloatFormat) -> Sequence[float]:
    """Where 1/x overflows, and where it comes to subnormal numbers."""
    return 1 / form.maximum, 2.0**-form.emin


ERF = Row("Erf", (13,), erf, groups=(_around(_saturated),))
TANH = Row("Tanh", (13, 6), np.tanh, groups=(_around(_saturated),))

ROWS = (
    Row("Sqrt", (13, 6, 1), np.sqrt, np.abs, (around_one,), (("test_sqrt_example", [1, 4, 9], [1, 2, 3]),)),
    Row("Exp", (13, 6, 1), np.exp, groups=(_around(_exponential),)),
    Row("Log", (13, 6, 1), np.log, np.abs, groups=(around_one,)),
    Row(
        "Reciprocal",
        (13, 6, 1),
        _reciprocal,
        groups=(_around(_inverse),),
        examples=(("test_reciprocal_example", [-4, 2], [-0.25, 0.5]),),
    ),
    ERF,
    Row("Sin", (22, 7), _periodic(np.sin), groups=(angles,)),
    Row("Cos", (22, 7), _periodic(np.cos), groups=(angles,)),
    Row("Tan", (22, 7), _periodic(np.tan), groups=(angles,)),
    Row("Asin", (22, 7), arcsin, _unit, groups=(around_one,)),
    Row("Acos", (22, 7), arccos, _unit, groups=(around_one,)),
    Row("Atan", (22, 7), arctan),
    Row("Sinh", (22, 9), np.sinh, groups=(_around(_half_exponential),)),
    Row("Cosh", (22, 9), np.cosh, groups=(_around(_half_exponential),)),
    TANH,
    TANH._replace(since=(1,), shape=(37,), others=((0,), (1,))),  # Tanh-1, input: "1-D input tensor"
    Row("Asinh", (22, 9), arcsinh),
    Row("Acosh", (22, 9), arccosh, _above_one, groups=(around_one,)),
    Row("Atanh", (22, 9), arctanh, _unit, groups=(around_one,)),
)


@operator("Erf", since=9)
def erf_9(input: Any, *, T: ElementType) -> Any:
    """The error function of each element, "same shape and type of the input" even where that type is an integer's."""
    return erf(input) if T.format else np.rint(erf(input.astype(np.float64)))


def integers(values: Values, row: Row) -> Iterator[Trial]:
    """Zero, whose error function is an integer; then others."""
    yield values(np.zeros(row.shape))
    yield (
        values.ordinary(row.shape),
        "Erf-9 allows integers, but does not say how they hold a fraction between -1 and 1.",
    )


FOR_ALL = (ordinary, shapes, special_values, every_magnitude)

for row in ROWS:
    give(declared(row), row, *FOR_ALL, *row.groups)
give(erf_9, ERF, *FOR_ALL, *ERF.groups, kinds=("float",))
give(erf_9, ERF, integers, kinds=("signed", "unsigned"))
