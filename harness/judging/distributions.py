"""The verdict on random answers: their shape, their range, and a test of their distribution that hardly ever errs.

A right answer fails in at most one data set of 10^9, by proof and whatever its size; nothing is assumed of the
generator but that its values follow the law independently of each other.

- Normal and uniform: the Kolmogorov distance of n values from the law exceeds ε with probability 2·exp(-2nε²) at most
  (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant), which sets ε. Ten thousand values surely show a law whose
  distribution function is 2ε = 0.065 off anywhere: a mean 0.17 scales away, a scale that is a third too large, a
  uniform range shifted by 7 %. Half as much shows every other time. The room for rounding costs bfloat16 0.02 more.
- Bernoulli and multinomial: of n draws with probability p, a part q or more beyond p has probability
  exp(-n·D) at most, D being the relative entropy q·ln(q/p) + (1 - q)·ln((1 - q)/(1 - p)) (Chernoff). Elements of equal
  probabilities make a group, and the groups share the false alarms. A thousand draws surely show a probability of 1/4
  that is 0.2 off, and what is impossible shows at once. The elements that Dropout drops are such draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness.judging.compare import Comparison, Names, name_of, shape_mismatch
from harness.judging.measures import ALLOWED
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

FALSE_ALARMS = 1e-9
"""Of the data sets with right answers, at most this part fails."""
_LOOSE = 2
"""Units in the last place that an honest generator's arithmetic in the element type may move a value."""
_SCALED = 8
"""Units in the last place that ``data * mask * (1 / (1 - ratio))`` may be off: four bounds of these operations."""
_COARSEST = 8
"""Bits that whatever is held against a ratio has at least, as narrow as the ratio's own type may be."""


class _Found(NamedTuple):
    """How an output holds against its law."""

    ratio: float
    """The statistic over what is allowed."""
    outside: int
    """Elements that the law never gives."""
    text: str
    """What is wrong if the ratio is above 1, to follow the output's name."""


@np.errstate(all="ignore")  # a signalling NaN, an infinity or a huge number is a wrong value, not a warning
def compare_distributions(
    case: Case, want: Sequence[Value], got: Sequence[Value], inputs: Sequence[Value], names: Names
) -> Comparison:
    """Judge a random answer whose types are right by the laws of its case; of ``want`` only the shapes count.

    ``error`` is the statistic in quarters of what is allowed, so that 4 passes as everywhere.
    """
    found: list[_Found] = []
    for i, (distribution, of) in enumerate(zip(case.distributions, map(parse_type, case.outputs), strict=True)):
        values, example = got[i], want[i]
        assert isinstance(of, TensorType)
        assert isinstance(values, np.ndarray)
        assert isinstance(example, np.ndarray)
        if message := shape_mismatch(values, example):
            return Comparison("wrong_shape", f"{name_of(names, i)}: {message}")
        found.append(_hold(distribution, values, of.element, [*inputs, *got], FALSE_ALARMS / len(case.distributions)))
    worst = max(found, key=lambda one: one.ratio)
    wrong = worst.ratio > 1
    return Comparison(
        "wrong_value" if wrong else "passed",
        f"{name_of(names, found.index(worst))}{worst.text}" if wrong else "",
        worst.ratio * ALLOWED if worst.ratio < np.inf else "inf",
        elements=sum(value.size for value in got if isinstance(value, np.ndarray)),
        differing=sum(one.outside for one in found),
    )


def _hold(
    distribution: Distribution, got: np.ndarray, element: ElementType, inputs: Sequence[Value], alarms: float
) -> _Found:
    y = got.astype(np.float64)
    outside = ~_possible(distribution, y, element, inputs)
    if outside.any():
        index = tuple(np.argwhere(outside)[0].tolist())
        count = int(np.count_nonzero(outside))
        where = f"[{','.join(map(str, index))}]" if index else ""
        such = f"{count:,} of {y.size:,} are such"
        text = f"{where} = {y[index]:.6g}, which {_told(distribution)} never gives ({element.name}); {such}"
        return _Found(math.inf, count, text)
    if not y.size or isinstance(distribution, Mask):
        return _Found(0.0, 0, "")
    if isinstance(distribution, Normal | Uniform):
        return _distance(distribution, y.ravel(), element, alarms)
    return _frequencies(distribution, y, inputs, alarms)


def _told(distribution: Distribution) -> str:
    match distribution:
        case Normal():
            return f"a normal law of mean {distribution.mean:g} and scale {distribution.scale:g}"
        case Uniform():
            return f"a uniform law from {distribution.low:g} to {distribution.high:g}"
        case Bernoulli():
            return f"a Bernoulli law by input {distribution.input}"
        case Multinomial():
            return f"a multinomial law by input {distribution.input}"
        case Dropped():
            return f"a dropout of input {distribution.input}"
        case Mask():
            return f"the mask of what is kept of input {distribution.input}"


def _possible(distribution: Distribution, y: np.ndarray, element: ElementType, inputs: Sequence[Value]) -> np.ndarray:
    """Which values the law may give.

    Those of a uniform law are between its ends as the type rounds them, both included: the text does not say whether
    the upper boundary is among the values, and what lies just below it may be rounded to it. Where the type has not
    both ends and their difference, arithmetic in it may go a unit in the last place further.
    """
    match distribution:
        case Normal():
            return np.abs(y - distribution.mean) <= REACH * distribution.scale + _LOOSE * _unit(distribution, element)
        case Uniform():
            ends = np.array([distribution.low, distribution.high, distribution.high - distribution.low])
            low, high, _ = rounded = round_array(ends, element)
            more = 0.0 if np.array_equal(rounded, ends) else _unit(distribution, element)
            return (low - more <= y) & (y <= high + more)
        case Bernoulli():
            return (y == 0) | (y == 1)
        case Multinomial():
            return (y >= 0) & (y < distribution.chances(inputs).shape[1])
        case Dropped():
            kept = distribution.kept(inputs)
            return (y == 0) | (np.abs(y - kept) <= _room(distribution, kept, element, inputs))
        case Mask():
            hidden = np.asarray(inputs[distribution.input]).astype(np.float64) == 0
            stays = np.asarray(inputs[distribution.output]).astype(np.float64) != 0
            return np.where(hidden, (y == 0) | (y == 1), y == stays)


def _room(distribution: Dropped, kept: np.ndarray, element: ElementType, inputs: Sequence[Value]) -> np.ndarray | float:
    """How far what is kept may be off: nothing for a scale that is a power of two, since nothing rounds then.

    The scale is computed from the ratio alone, so it may have no more bits than that.
    """
    if math.frexp(1 - distribution.chance(inputs))[0] == 0.5:
        return 0.0
    types = [element] + (
        [element_type(np.asarray(inputs[distribution.given]).dtype)] if distribution.given >= 0 else []
    )
    return _SCALED * np.abs(kept) * 2.0 ** (1 - min(format_of(of).precision for of in types))


def _unit(distribution: Continuous, element: ElementType) -> float:
    """The element type's unit in the last place at the largest number of a law."""
    numbers = (
        (distribution.mean, distribution.scale)
        if isinstance(distribution, Normal)
        else (distribution.low, distribution.high, distribution.high - distribution.low)
    )
    return float(ulp(np.array(max(map(abs, numbers))), element))


def _distance(distribution: Continuous, y: np.ndarray, element: ElementType, alarms: float) -> _Found:
    """The Kolmogorov distance of values [n] from a law, those that rounding has moved being given back their room.

    Every value y stands for one within q(y), two units in the last place. So the part of the values up to y is at most
    that of unrounded ones up to the largest v + q(v) with v ≤ y, and the part of those before y is at least that of
    unrounded ones before the least v - q(v) with v ≥ y. The unrounded ones keep to the inequality.
    """
    values, counts = np.unique(y, return_counts=True)
    up_to = np.cumsum(counts) / y.size
    room = _LOOSE * np.maximum(ulp(values, element), _unit(distribution, element))
    highest = np.maximum.accumulate(values + room)
    lowest = np.minimum.accumulate((values - room)[::-1])[::-1]
    above = up_to - distribution.below(highest)
    under = distribution.below(lowest) - (up_to - counts / y.size)
    distance = max(0.0, float(above.max()), float(under.max()))
    allowed = math.sqrt(math.log(2 / alarms) / (2 * y.size))
    like = f"{y.size:,} values of mean {y.mean():.3g} and deviation {y.std():.3g}"
    text = f": Kolmogorov distance {distance:.3g} from {_told(distribution)}, {allowed:.3g} allowed "
    text += f"({element.name}; {like})"
    return _Found(distance / allowed, 0, text)


class _Group(NamedTuple):
    """Draws of one probability."""

    what: str
    chance: float
    draws: int
    hits: int


def _frequencies(
    distribution: Bernoulli | Multinomial | Dropped, y: np.ndarray, inputs: Sequence[Value], alarms: float
) -> _Found:
    """The least likely of all groups, a probability being as good as the input's type; 0 and 1 are what they are."""
    given = inputs[distribution.input]
    assert isinstance(given, np.ndarray)
    loose = 2 * 2.0 ** (1 - max(_precision(given), _COARSEST))
    match distribution:
        case Bernoulli():
            groups = list(_by_chance(distribution, y, inputs))
        case Multinomial():
            groups = list(_by_class(distribution, y, inputs))
        case Dropped():
            groups = list(_by_loss(distribution, y, inputs))
    if not groups:
        return _Found(0.0, 0, "")
    exponents = [one.draws * _entropy(one.hits / one.draws, one.chance, loose) for one in groups]
    allowed = math.log(2 * len(groups) / alarms)
    worst = int(np.argmax(exponents))
    what, chance, draws, hits = groups[worst]
    text = (
        f": {hits:,} of {draws:,} are {what} of probability {chance:.4g}; the chance of that is below "
        f"exp(-{exponents[worst]:.3g}), exp(-{allowed:.3g}) allowed"
    )
    return _Found(exponents[worst] / allowed, 0, text)


def _precision(given: np.ndarray) -> int:
    return format_of(element_type(given.dtype)).precision


def _by_chance(distribution: Bernoulli, y: np.ndarray, inputs: Sequence[Value]) -> Iterator[_Group]:
    chances = distribution.chances(inputs)
    for chance in np.unique(chances).tolist():
        drawn = y[chances == chance]
        yield _Group("1s", chance, drawn.size, int(drawn.sum()))


def _by_class(distribution: Multinomial, y: np.ndarray, inputs: Sequence[Value]) -> Iterator[_Group]:
    kinds, of_row = np.unique(distribution.chances(inputs), axis=0, return_inverse=True)
    for number, chances in enumerate(kinds.tolist()):
        rows = np.flatnonzero(of_row == number)
        for outcome, chance in enumerate(chances):
            hits = int(np.count_nonzero(y[rows] == outcome))
            yield _Group(f"outcome {outcome} of row {rows[0]}", chance, y[rows].size, hits)


def _by_loss(distribution: Dropped, y: np.ndarray, inputs: Sequence[Value]) -> Iterator[_Group]:
    seen = y[distribution.kept(inputs) != 0]
    if seen.size:
        yield _Group("dropped", distribution.chance(inputs), seen.size, int(np.count_nonzero(seen == 0)))


def _entropy(part: float, chance: float, loose: float) -> float:
    """The relative entropy of a part of all draws to the nearest probability that is not more than ``loose`` off."""
    near = chance if chance in (0.0, 1.0) else min(max(part, chance - loose), chance + loose)
    terms = [q * (math.log(q / p) if p > 0 else math.inf) for q, p in ((part, near), (1 - part, 1 - near)) if q]
    return max(0.0, sum(terms))
