"""Multinomial: outcomes drawn by the unnormalized log-probabilities that each row of the input holds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers import distributions
from harness.operators.generator.random_values import SEED
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, TypeOf, operator

ROWS = [[0.0, -1.0, 0.5, -2.0, 1.5], [3.0, 1.0, -0.5, 2.0, 2.5]]


@operator(
    "Multinomial",
    since=(22, 7),
    random=True,
    constraints=[lambda dtype, T2: dtype is not OMITTED or T2 == "tensor(int32)"],
    dtype=(OMITTED, TypeOf("T2")),
    seed=SEED,
    sample_size=(OMITTED, 2000),
)
def multinomial(input: np.ndarray, *, sample_size: int, **_: Any) -> distributions.Random:
    """A tensor [batch_size, sample_size] of outcomes, each in proportion to the exponential of its log-probability."""
    return distributions.Random(distributions.Multinomial(0), (input.shape[0], sample_size))


def rows(draw: Draw, logs: Any) -> Inputs:
    """A batch of these rows, repeated where each is sampled once, so that there are as many samples."""
    repeats = 1000 if draw.attributes["sample_size"] is OMITTED else 1
    return {"input": draw.T1(np.tile(logs, (repeats, 1)))}


@multinomial.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Two rows of five outcomes, of probabilities from 0.02 to 0.56."""
    yield rows(draw, ROWS)


@multinomial.inputs()
def impossible_outcomes(draw: Draw) -> Iterator[Inputs]:
    """Log-probabilities of minus infinity at the first, an inner and the last place: these never come."""
    yield rows(draw, [[-np.inf, 0.0, 1.0, -np.inf, 0.5], [1.0, 0.0, -np.inf, 0.0, -np.inf]])


@multinomial.inputs()
def far_from_zero(draw: Draw) -> Iterator[Inputs]:
    """Log-probabilities whose exponentials the type cannot hold, above and below: only their differences count."""
    far = 2.0 ** np.ceil(np.log2(np.log(draw.T1.largest)))
    yield rows(draw, np.array([[0, -1, 1, -2, 2], [2, 0, 1, 1, -1]]) + np.array([[far], [-far]]))


@multinomial.inputs()
def one_outcome(draw: Draw) -> Iterator[Inputs]:
    """A single outcome, which always comes."""
    yield rows(draw, [[-1.5], [2.0]])


@multinomial.inputs()
def no_rows(draw: Draw) -> Iterator[Inputs]:
    """An empty batch."""
    yield rows(draw, np.zeros((0, 5)))
