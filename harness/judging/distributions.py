"""Tests random answers: their shape, their range and their distribution.

At most one in 10^9 data sets with right answers fails. This is proved for data sets of any size; the only assumption
is that the values are independent and follow the distribution.

- Normal and uniform: the Kolmogorov distance of n values from their distribution exceeds ε with probability
  2·exp(-2nε²) at most (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant), which determines ε. Ten thousand
  values reliably detect a distribution function that is off by 2ε = 0.065 anywhere: a mean that is off by 0.17 scales,
  a scale that is a third too large, a uniform range shifted by 7 %. A difference of ε is detected half of the time.
  The allowance for rounding adds 0.02 for bfloat16.
- Bernoulli and multinomial: if n draws have probability p, the fraction q > p or more occurs with probability
  exp(-n·D) at most, where D is the relative entropy q·ln(q/p) + (1 - q)·ln((1 - q)/(1 - p)) (Chernoff). Elements of
  equal probability form a group, and all groups share the rate of false alarms. A thousand draws reliably detect a
  probability of 1/4 that is off by 0.2. Impossible values are always detected. The elements that Dropout drops are
  tested in the same way.
- The order of values, repetitions and tails: see ``randomness``. All tests of an output share the rate of false alarms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from harness.judging.compare import Comparison, OutputNames, output_name, shape_mismatch
from harness.judging.measures import MAX_ERROR
from harness.judging.randomness import Events, continuous_findings, lag_finding, relative_entropy
from harness.numbers.distributions import (
    REACH,
    Bernoulli,
    Continuous,
    Distribution,
    Dropped,
    Mask,
    Multinomial,
    Normal,
    Uniform,
)
from harness.numbers.rounding import format_of, round_array, ulp
from harness.spec.element_types import ElementType, element_type
from harness.spec.values import TensorType, Value, parse_type
from harness.suite.cases import Case

FALSE_ALARM_RATE = 1e-9
"""At most this fraction of data sets with right answers fails."""
_GENERATOR_ULPS = 2
"""Error, in units in the last place, of a generator that computes in the element type."""
_DROPOUT_ULPS = 8
"""Error, in units in the last place, of ``data * mask * (1 / (1 - ratio))``: four bounds of these operations."""
_MIN_PRECISION = 8
"""Bits of precision assumed for whatever is compared with a ratio, even if the ratio's own type has fewer."""


class _TestResult(NamedTuple):
    """The result of testing an output against its distribution."""

    ratio: float
    """The test statistic divided by its allowed maximum."""
    impossible: int
    """Number of elements that the distribution never gives."""
    message: str
    """What is wrong if the ratio is above 1; follows the output's name."""


@np.errstate(all="ignore")  # a signalling NaN, an infinity or a huge number is a wrong value, not a warning
def compare_distributions(
    case: Case, want: Sequence[Value], got: Sequence[Value], inputs: Sequence[Value], names: OutputNames
) -> Comparison:
    """Test a random answer whose types are right against ``case.distributions``; of ``want`` only the shapes matter.

    ``error`` is the test statistic, scaled so that its allowed maximum is 4 as everywhere.
    """
    results: list[_TestResult] = []
    for i, (distribution, of) in enumerate(zip(case.distributions, map(parse_type, case.outputs), strict=True)):
        values, example = got[i], want[i]
        assert isinstance(of, TensorType)
        assert isinstance(values, np.ndarray)
        assert isinstance(example, np.ndarray)
        if message := shape_mismatch(values, example):
            return Comparison("wrong_shape", f"{output_name(names, i)}: {message}")
        rate = FALSE_ALARM_RATE / len(case.distributions)
        results.append(_test(distribution, values, of.element, [*inputs, *got], rate))
    worst = max(results, key=lambda one: one.ratio)
    failed = worst.ratio > 1
    return Comparison(
        "wrong_value" if failed else "passed",
        f"{output_name(names, results.index(worst))}{worst.message}" if failed else "",
        worst.ratio * MAX_ERROR if worst.ratio < np.inf else "inf",
        elements=sum(value.size for value in got if isinstance(value, np.ndarray)),
        differing=sum(one.impossible for one in results),
    )


def _test(
    distribution: Distribution, got: np.ndarray, element: ElementType, inputs: Sequence[Value], alarm_rate: float
) -> _TestResult:
    y = got.astype(np.float64)
    impossible = ~_is_possible(distribution, y, element, inputs)
    if impossible.any():
        index = tuple(np.argwhere(impossible)[0].tolist())
        count = int(np.count_nonzero(impossible))
        where = f"[{','.join(map(str, index))}]" if index else ""
        message = f"{where} = {y[index]:.6g}, impossible for {_description(distribution)} ({element.name}); "
        return _TestResult(math.inf, count, f"{message}{count:,} of {y.size:,} are impossible")
    if not y.size or isinstance(distribution, Mask):
        return _TestResult(0.0, 0, "")
    if isinstance(distribution, Normal | Uniform):
        y = y.ravel()
        slack = _rounding(distribution, y, element)
        results = [_kolmogorov_test(distribution, y, element, alarm_rate / 2)]
        findings = continuous_findings(distribution, y, slack, alarm_rate / 2)
    elif isinstance(distribution, Bernoulli) and distribution.or_complement:
        source = np.asarray(inputs[distribution.input])
        complement = np.asarray(1 - source, source.dtype)
        others = [complement if i == distribution.input else x for i, x in enumerate(inputs)]
        law = msgspec.structs.replace(distribution, or_complement=False)
        answers = [_test(law, got, element, readings, alarm_rate) for readings in (inputs, others)]
        return min(answers, key=lambda one: one.ratio)
    else:
        results = [_frequency_test(distribution, y, inputs, alarm_rate / 2)]
        findings = [lag_finding(_events(distribution, y, inputs), alarm_rate / 2)]
    results += [_TestResult(one.ratio, 0, one.message) for one in findings]
    failures = [one for one in results if one.ratio > 1]
    return failures[0] if failures else max(results, key=lambda one: one.ratio)


def _description(distribution: Distribution) -> str:
    match distribution:
        case Normal():
            return f"a normal distribution of mean {distribution.mean:g} and scale {distribution.scale:g}"
        case Uniform():
            return f"a uniform distribution from {distribution.low:g} to {distribution.high:g}"
        case Bernoulli():
            return f"a Bernoulli distribution with the probabilities of input {distribution.input}"
        case Multinomial():
            return f"a multinomial distribution with the log-probabilities of input {distribution.input}"
        case Dropped():
            return f"a dropout of input {distribution.input}"
        case Mask():
            return f"the mask of the kept elements of input {distribution.input}"


def _is_possible(
    distribution: Distribution, y: np.ndarray, element: ElementType, inputs: Sequence[Value]
) -> np.ndarray:
    """Which values the distribution can give.

    Values of a uniform distribution lie between its ends, rounded into the element type, both included: the
    specification does not say whether the upper end is included, and values just below it may round to it. If the type
    cannot represent both ends and their difference, arithmetic in that type may exceed the ends by a unit in the last
    place.
    """
    match distribution:
        case Normal():
            slack = _GENERATOR_ULPS * _ulp_of(distribution, element)
            return np.abs(y - distribution.mean) <= REACH * distribution.scale + slack
        case Uniform():
            ends = np.array([distribution.low, distribution.high, distribution.high - distribution.low])
            low, high, _ = rounded = round_array(ends, element)
            slack = 0.0 if np.array_equal(rounded, ends) else _ulp_of(distribution, element)
            return (low - slack <= y) & (y <= high + slack)
        case Bernoulli():
            return (y == 0) | (y == 1)
        case Multinomial():
            return (y >= 0) & (y < distribution.chances(inputs).shape[1])
        case Dropped():
            kept = distribution.kept(inputs)
            return (y == 0) | (np.abs(y - kept) <= _dropout_error(distribution, kept, element, inputs))
        case Mask():
            is_zero = np.asarray(inputs[distribution.input]).astype(np.float64) == 0
            is_kept = np.asarray(inputs[distribution.output]).astype(np.float64) != 0
            return np.where(is_zero, (y == 0) | (y == 1), y == is_kept)


def _dropout_error(
    distribution: Dropped, kept: np.ndarray, element: ElementType, inputs: Sequence[Value]
) -> np.ndarray | float:
    """The allowed error of kept elements: none if the scale is a power of two, since nothing rounds then.

    The scale is computed from the ratio alone, so it may have only the precision of the ratio's type.
    """
    if math.frexp(1 - distribution.chance(inputs))[0] == 0.5:
        return 0.0
    types = [element] + (
        [element_type(np.asarray(inputs[distribution.given]).dtype)] if distribution.given >= 0 else []
    )
    return _DROPOUT_ULPS * np.abs(kept) * 2.0 ** (1 - min(format_of(of).precision for of in types))


def _ulp_of(distribution: Continuous, element: ElementType) -> float:
    """The element type's unit in the last place at the largest parameter of a distribution."""
    parameters = (
        (distribution.mean, distribution.scale)
        if isinstance(distribution, Normal)
        else (distribution.low, distribution.high, distribution.high - distribution.low)
    )
    return float(ulp(np.array(max(map(abs, parameters))), element))


def _rounding(distribution: Continuous, y: np.ndarray, element: ElementType) -> np.ndarray:
    """How far values [n] may be from those that a generator in the element type rounds."""
    return _GENERATOR_ULPS * np.maximum(ulp(y, element), _ulp_of(distribution, element))


def _kolmogorov_test(distribution: Continuous, y: np.ndarray, element: ElementType, alarm_rate: float) -> _TestResult:
    """Test the Kolmogorov distance of values [n] from a distribution, with an allowance for rounding.

    Every value y stands for an unrounded one at most q(y) = two units in the last place away. So the fraction of values
    up to y is at most that of unrounded values up to the largest v + q(v) with v ≤ y, and the fraction of values below
    y is at least that of unrounded values below the least v - q(v) with v ≥ y. The inequality holds for unrounded
    values.
    """
    values, counts = np.unique(y, return_counts=True)
    up_to = np.cumsum(counts) / y.size
    slack = _rounding(distribution, values, element)
    highest = np.maximum.accumulate(values + slack)
    lowest = np.minimum.accumulate((values - slack)[::-1])[::-1]
    above = up_to - distribution.below(highest)
    under = distribution.below(lowest) - (up_to - counts / y.size)
    distance = max(0.0, float(above.max()), float(under.max()))
    allowed = math.sqrt(math.log(2 / alarm_rate) / (2 * y.size))
    sample = f"{y.size:,} values of mean {y.mean():.3g} and deviation {y.std():.3g}"
    message = f": Kolmogorov distance {distance:.3g} from {_description(distribution)}, {allowed:.3g} allowed "
    return _TestResult(distance / allowed, 0, f"{message}({element.name}; {sample})")


class _Group(NamedTuple):
    """Draws of equal probability."""

    event: str
    probability: float
    draws: int
    hits: int


def _frequency_test(
    distribution: Bernoulli | Multinomial | Dropped, y: np.ndarray, inputs: Sequence[Value], alarm_rate: float
) -> _TestResult:
    """Test the frequency in each group; probabilities are as precise as the input's type, but 0 and 1 are exact."""
    slack = _probability_error(distribution, inputs)
    match distribution:
        case Bernoulli():
            groups = list(_groups_of_bernoulli(distribution, y, inputs))
        case Multinomial():
            groups = list(_groups_of_multinomial(distribution, y, inputs))
        case Dropped():
            groups = list(_groups_of_dropout(distribution, y, inputs))
    if not groups:
        return _TestResult(0.0, 0, "")
    exponents = [one.draws * relative_entropy(one.hits / one.draws, one.probability, slack) for one in groups]
    allowed = math.log(2 * len(groups) / alarm_rate)
    worst = int(np.argmax(exponents))
    event, probability, draws, hits = groups[worst]
    message = (
        f": {hits:,} of {draws:,} are {event}, whose probability is {probability:.4g}; the chance of that is below "
        f"exp(-{exponents[worst]:.3g}), exp(-{allowed:.3g}) allowed"
    )
    return _TestResult(exponents[worst] / allowed, 0, message)


def _probability_error(distribution: Bernoulli | Multinomial | Dropped, inputs: Sequence[Value]) -> float:
    """How far a generator's probabilities may be off."""
    source = inputs[distribution.input]
    assert isinstance(source, np.ndarray)
    return 2 * 2.0 ** (1 - max(_precision(source), _MIN_PRECISION))


def _precision(array: np.ndarray) -> int:
    return format_of(element_type(array.dtype)).precision


def _events(distribution: Bernoulli | Multinomial | Dropped, y: np.ndarray, inputs: Sequence[Value]) -> Events:
    """An event per draw, in order: a 1, a dropped element, or one of the first outcomes, which are about half."""
    slack = _probability_error(distribution, inputs)
    match distribution:
        case Bernoulli():
            return Events((y == 1).ravel(), distribution.chances(inputs).ravel(), slack)
        case Multinomial():
            up_to = np.cumsum(distribution.chances(inputs), axis=1)
            last = np.argmin(np.abs(up_to - 0.5), axis=1)
            probability = np.take_along_axis(up_to, last[:, np.newaxis], axis=1)
            probability = np.where(probability > 1 - slack, 1.0, probability)
            return Events((y <= last[:, np.newaxis]).ravel(), np.broadcast_to(probability, y.shape).ravel(), slack)
        case Dropped():
            dropped = y[distribution.kept(inputs) != 0] == 0
            return Events(dropped, np.full(dropped.size, distribution.chance(inputs)), slack)


def _groups_of_bernoulli(distribution: Bernoulli, y: np.ndarray, inputs: Sequence[Value]) -> Iterator[_Group]:
    probabilities = distribution.chances(inputs)
    for probability in np.unique(probabilities).tolist():
        draws = y[probabilities == probability]
        yield _Group("1", probability, draws.size, int(draws.sum()))


def _groups_of_multinomial(distribution: Multinomial, y: np.ndarray, inputs: Sequence[Value]) -> Iterator[_Group]:
    kinds, kind_of_row = np.unique(distribution.chances(inputs), axis=0, return_inverse=True)
    for number, probabilities in enumerate(kinds.tolist()):
        rows = np.flatnonzero(kind_of_row == number)
        for outcome, probability in enumerate(probabilities):
            hits = int(np.count_nonzero(y[rows] == outcome))
            yield _Group(f"outcome {outcome} of row {rows[0]}", probability, y[rows].size, hits)


def _groups_of_dropout(distribution: Dropped, y: np.ndarray, inputs: Sequence[Value]) -> Iterator[_Group]:
    visible = y[distribution.kept(inputs) != 0]
    if visible.size:
        dropped = int(np.count_nonzero(visible == 0))
        yield _Group("dropped", distribution.chance(inputs), visible.size, dropped)
