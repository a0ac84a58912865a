"""The laws that random answers follow, as data that travels with a case, and a way to draw from each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np

REACH = 10
"""Scales from its mean that no value of a normal law lies beyond, but for one in 10^22."""
_BITS = 96
"""Balls of so many bits are the same on every machine, which the C library's functions are not."""


def _balls(numbers: np.ndarray, function: Callable[[Any], Any]) -> np.ndarray:
    """A function of each number, in balls and then rounded: alike on every machine.

    flint is loaded where something is drawn, not wherever laws are known.
    """
    from flint import arb  # noqa: PLC0415

    from harness.numbers.passes import precision  # noqa: PLC0415

    with precision(_BITS):
        found = [float(function(arb(x))) for x in numbers.ravel().tolist()]
    return np.array(found, np.float64).reshape(numbers.shape)


class Normal(msgspec.Struct, frozen=True, tag_field="distribution", tag="normal"):
    """Every element for itself, from a normal distribution."""

    mean: float
    scale: float
    """The standard deviation."""

    def draw(self, even: np.ndarray, inputs: Sequence[Any]) -> np.ndarray:  # noqa: ARG002 - as every law
        """Values for numbers that are even in (0, 1)."""
        return self.mean + self.scale * _balls(even, lambda u: (2 * u - 1).erfinv() * type(u)(2).sqrt())

    def below(self, x: np.ndarray) -> np.ndarray:
        """The probability of a value of at most ``x``, float64 [n]."""
        z = (x - self.mean) / (self.scale * math.sqrt(2))
        return np.array([0.5 * math.erfc(-v) for v in z.tolist()])

    def width(self, inputs: Sequence[Any]) -> float:  # noqa: ARG002 - as every law
        """How far two answers may be apart."""
        return 2 * (REACH + 1) * self.scale


class Uniform(msgspec.Struct, frozen=True, tag_field="distribution", tag="uniform"):
    """Every element for itself, from a uniform distribution."""

    low: float
    high: float

    def draw(self, even: np.ndarray, inputs: Sequence[Any]) -> np.ndarray:  # noqa: ARG002 - as every law
        """Values for numbers that are even in (0, 1)."""
        return self.low + (self.high - self.low) * even

    def below(self, x: np.ndarray) -> np.ndarray:
        """The probability of a value of at most ``x``, float64 [n]."""
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def width(self, inputs: Sequence[Any]) -> float:  # noqa: ARG002 - as every law
        """How far two answers may be apart, their rounding included."""
        return 1.1 * (self.high - self.low)


class Bernoulli(msgspec.Struct, frozen=True, tag_field="distribution", tag="bernoulli"):
    """Every element for itself: 1 with the probability that an input has there, else 0."""

    input: int = 0
    """The graph's input that holds the probabilities."""
    or_complement: bool = False
    """Whether an answer may also have 1 with 1 minus the probability, in all elements: another reading of the text."""

    @np.errstate(invalid="ignore")  # of signalling NaN
    def chances(self, inputs: Sequence[Any]) -> np.ndarray:
        """The probabilities, float64."""
        return np.asarray(inputs[self.input]).astype(np.float64)

    def draw(self, even: np.ndarray, inputs: Sequence[Any]) -> np.ndarray:
        """Values for numbers that are even in (0, 1)."""
        return (even < self.chances(inputs)).astype(np.float64)

    def width(self, inputs: Sequence[Any]) -> float:  # noqa: ARG002 - as every law
        """How far two answers may be apart."""
        return 1.0


class Multinomial(msgspec.Struct, frozen=True, tag_field="distribution", tag="multinomial"):
    """Every element of a row for itself: an index into the same row of an input, which holds log-probabilities."""

    input: int = 0
    """The graph's input [rows, classes] that holds them, up to a constant a row."""

    @np.errstate(invalid="ignore")  # of signalling NaN
    def chances(self, inputs: Sequence[Any]) -> np.ndarray:
        """The probabilities [rows, classes], float64."""
        logs = np.asarray(inputs[self.input]).astype(np.float64)
        parts = _balls(logs - logs.max(axis=1, keepdims=True), lambda v: v.exp())
        return parts / np.array([math.fsum(row) for row in parts.tolist()]).reshape(-1, 1)

    def draw(self, even: np.ndarray, inputs: Sequence[Any]) -> np.ndarray:
        """Values for numbers [rows, samples] that are even in (0, 1)."""
        chances = self.chances(inputs)
        steps = np.cumsum(chances, axis=1)
        found = [np.searchsorted(row, u * row[-1], side="right") for row, u in zip(steps, even, strict=True)]
        return np.array(found, np.int64).reshape(even.shape)

    def width(self, inputs: Sequence[Any]) -> float:
        """How far two answers may be apart."""
        return float(np.shape(inputs[self.input])[1])


class Dropped(msgspec.Struct, frozen=True, tag_field="distribution", tag="dropped"):
    """Every element for itself: 0 with the probability that the ratio is, else an input's times 1 / (1 - ratio)."""

    input: int = 0
    """The graph's input that holds the elements."""
    ratio: float = 0.5
    given: int = -1
    """The graph's input that holds the ratio in place of ``ratio``; -1 where there is none."""

    def chance(self, values: Sequence[Any]) -> float:
        """The ratio."""
        return self.ratio if self.given < 0 else float(values[self.given])

    @np.errstate(over="ignore", invalid="ignore")  # of the largest values, and of signalling NaN
    def kept(self, values: Sequence[Any]) -> np.ndarray:
        """The elements as they are if they are not dropped, float64."""
        return np.asarray(values[self.input]).astype(np.float64) / (1 - self.chance(values))

    def draw(self, even: np.ndarray, values: Sequence[Any]) -> np.ndarray:
        """Values for numbers that are even in (0, 1)."""
        return np.where(even < self.chance(values), 0.0, self.kept(values))

    def width(self, inputs: Sequence[Any]) -> float:
        """How far two answers may be apart, their rounding included."""
        return 1.1 * float(np.abs(self.kept(inputs)).max(initial=0.0))


class Mask(msgspec.Struct, frozen=True, tag_field="distribution", tag="mask"):
    """1 where another output has kept what an input holds, else 0; either where the input is 0, which hides it."""

    output: int
    """Its place among the graph's inputs and outputs, counted on from the inputs."""
    input: int = 0

    @np.errstate(invalid="ignore")  # of NaN in bfloat16
    def draw(self, even: np.ndarray, values: Sequence[Any]) -> np.ndarray:  # noqa: ARG002 - as every law
        """What it is: nothing is left to chance."""
        return (np.asarray(values[self.output]) != 0).astype(np.float64)

    def width(self, inputs: Sequence[Any]) -> float:  # noqa: ARG002 - as every law
        """How far two answers may be apart."""
        return 1.0


Continuous: TypeAlias = Normal | Uniform
Discrete: TypeAlias = Bernoulli | Multinomial
Distribution: TypeAlias = Continuous | Discrete | Dropped | Mask


class Random(msgspec.Struct, frozen=True):
    """What the oracle of a random operator says of an output: its law and its shape."""

    distribution: Distribution
    shape: tuple[int, ...]
