"""Tests that values look drawn one by one: no order, no repetition, complete tails.

Each test is exact or on the safe side for any number of values: right answers fail with probability ``alarm_rate`` at
most.

- Correlation at every lag: x = [value below the median] - 1/2, or [event] - its probability, has mean 0 whatever came
  before, so the sums of x[i]·x[i+k] are martingales, and deviate by t with probability 2·exp(-2t²/Σr²) at most, where r
  is the range of a step (Azuma and Hoeffding). Ascending values, a repeated block, alternation and correlated
  neighbours exceed that. Ten thousand values detect a correlation of 0.13 half of the time.
- Repetitions: if no number has more than the probability q, the n values repeat m or more with probability
  exp(-λ)·(eλ/m)^m at most, λ = q·n·(n - 1)/2 (Chernoff, for a sum of independent draws that dominates it). Types of
  fewer than 24 bits of precision repeat numbers often, which the test allows for.
- Tails: the fraction of values in the outermost t of the distribution, at either end and at both, for t from 0.0026
  (3 scales of a normal distribution) to 0.17, has the bound of Chernoff. Ten thousand values detect a
  normal distribution that is cut off at 3 scales.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from harness.numbers.distributions import Continuous, Normal

_TAILS = tuple(0.0026 * 2.0**k for k in range(7))
"""Probabilities of the tails that are counted."""
_PRECISION = 24
"""Bits of a uniform number that any generator is expected to have, of double as well."""


class Finding(NamedTuple):
    """The result of a test."""

    ratio: float
    """The test statistic divided by its allowed maximum."""
    message: str
    """What is wrong if the ratio is above 1; follows the output's name."""


class Events(NamedTuple):
    """Draws in their order, each an event of known probability: [n] each."""

    happened: np.ndarray
    probability: np.ndarray
    slack: float
    """How far off the probabilities may be, except 0 and 1."""


def relative_entropy(fraction: float, probability: float, slack: float) -> float:
    """The relative entropy of a fraction of draws to the nearest probability that is at most ``slack`` off."""
    near = probability
    if probability not in (0.0, 1.0):
        near = min(max(fraction, probability - slack), probability + slack)
    terms = [q * (math.log(q / p) if p > 0 else math.inf) for q, p in ((fraction, near), (1 - fraction, 1 - near)) if q]
    return max(0.0, sum(terms))


def continuous_findings(
    distribution: Continuous, y: np.ndarray, slack: np.ndarray, alarm_rate: float
) -> Iterator[Finding]:
    """Test values [n] in their order; each stands for an unrounded one that is at most ``slack`` [n] away."""
    rate = alarm_rate / 3
    low, high = distribution.below(y - slack), distribution.below(y + slack)
    median = distribution.mean if isinstance(distribution, Normal) else (distribution.low + distribution.high) / 2
    around = np.array([median - slack.min(), median + slack.min()])
    unsure = float(np.diff(distribution.below(around))[0])
    yield lag_finding(Events(y < median, np.full(y.size, 0.5), unsure), rate)
    yield _repetition_finding(y, float((high - low).max()), rate)
    yield _tail_finding(low, high, rate)


def lag_finding(events: Events, alarm_rate: float) -> Finding:
    """Test that what happened does not depend on what happened k draws before, for every k."""
    p, n = events.probability, events.happened.size
    if n < 2:
        return Finding(0.0, "")
    certain = (p == 0) | (p == 1)
    x = np.where(certain, 0.0, events.happened - p)
    reach = np.where(certain, 0.0, np.maximum(p, 1 - p))
    spectrum = np.fft.rfft(x, 2 * n)
    sums = np.abs(np.fft.irfft(np.abs(spectrum) ** 2)[1:n])
    until = np.arange(n - 2, -1, -1)  # the last i of the pairs (i, i + k), for k from 1
    variance = np.cumsum(reach**2)[until] * math.log(2 * (n - 1) / alarm_rate) / 2
    allowed = np.sqrt(variance) + events.slack * np.cumsum(reach)[until] + 1e-9 * n
    worst = int(np.argmax(sums / allowed))
    message = (
        f": values depend on those {worst + 1:,} before them; the sum of products is {sums[worst]:.4g}, "
        f"{allowed[worst]:.4g} allowed"
    )
    return Finding(float(sums[worst] / allowed[worst]), message)


def _repetition_finding(y: np.ndarray, most: float, alarm_rate: float) -> Finding:
    """Test the number of values that are equal to an earlier one; no number has more than the probability ``most``."""
    n = y.size
    repeated = n - np.unique(y).size
    expected = max(most, 2.0**-_PRECISION) * n * (n - 1) / 2
    if repeated <= expected:
        return Finding(0.0, "")
    exponent = expected - repeated * (1 + math.log(expected / repeated))
    allowed = -math.log(alarm_rate)
    message = (
        f": {repeated:,} of {n:,} values repeat an earlier one; the chance of that is below exp(-{exponent:.3g}), "
        f"exp(-{allowed:.3g}) allowed"
    )
    return Finding(exponent / allowed, message)


def _tail_finding(low: np.ndarray, high: np.ndarray, alarm_rate: float) -> Finding:
    """Test how many values are in the tails; each has a probability of smaller ones between ``low`` and ``high``."""
    n = low.size
    allowed = math.log(2 * 3 * len(_TAILS) / alarm_rate)
    findings: list[tuple[float, str, float, int]] = []
    for tail in _TAILS:
        for name, ends in (("lower", (1, 0)), ("upper", (0, 1)), ("outer", (1, 1))):
            below, above = (tail / sum(ends) * end for end in ends)
            fewest = int(np.count_nonzero((high < below) | (low > 1 - above)))
            most = int(np.count_nonzero((low <= below) * ends[0] | (high >= 1 - above) * ends[1]))
            if not fewest <= n * tail <= most:
                count = min(max(round(n * tail), fewest), most)
                findings.append((n * relative_entropy(count / n, tail, 0.0), name, tail, count))
    if not findings:
        return Finding(0.0, "")
    exponent, name, tail, count = max(findings)
    message = (
        f": {count:,} of {n:,} values are in the {name} {tail:.2g} of the distribution; the chance of that is below "
        f"exp(-{exponent:.3g}), exp(-{allowed:.3g}) allowed"
    )
    return Finding(exponent / allowed, message)
