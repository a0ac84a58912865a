"""Bernoulli: zeros and ones by the probabilities that the input holds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers import distributions
from harness.operators.generator.random_values import SEED, is_the_inputs_by_default
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, TypeOf, operator


@operator(
    "Bernoulli",
    since=(22, 15),
    random=True,
    # The seed meets every T2; its product with every T1 as well would be 56 cases more of the same.
    constraints=[is_the_inputs_by_default, lambda seed, T1: seed is OMITTED or T1 == "tensor(float)"],
    dtype=(OMITTED, TypeOf("T2")),
    seed=SEED,
)
def bernoulli(input: np.ndarray, **_: Any) -> distributions.Random:
    """Element by element: "an output of 1 is produced with probability p and an output of 0 … (1-p)"."""
    return distributions.Random(distributions.Bernoulli(0), input.shape)


def resized(draw: Draw, chances: tuple[float, ...], shape: tuple[int, ...]) -> Inputs:
    """These probabilities in turn, in a tensor of this shape."""
    return {"input": draw.T1(np.resize(chances, shape))}


@bernoulli.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Six probabilities from 0 to 1 in turn, 390 elements of each."""
    yield resized(draw, (0.25, 1.0, 0.5, 0.0, 0.75, 0.125), (45, 52))


@bernoulli.inputs()
def certain(draw: Draw) -> Iterator[Inputs]:
    """Probabilities of 0 and 1: nothing is left to chance."""
    yield resized(draw, (0.0, 1.0, 1.0), (45, 52))


@bernoulli.inputs(T2=("bool", "uint8"))
def rare(draw: Draw) -> Iterator[Inputs]:
    """Probabilities of 1/128 and what is missing there to 1, 5,150 elements of each."""
    yield resized(draw, (1 / 128, 127 / 128), (100, 103))


@bernoulli.inputs(T2=("bool", "float16"))
def few(draw: Draw) -> Iterator[Inputs]:
    """A scalar, a single element, three dimensions and no elements."""
    yield {"input": draw.T1(1.0)}
    for shape in ((1,), (2, 3, 4), (2, 0, 3)):
        yield resized(draw, (0.0, 0.5), shape)
