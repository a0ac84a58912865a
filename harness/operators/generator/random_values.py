"""RandomNormal, RandomUniform and their Like forms: tensors of values from a normal or a uniform distribution."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.distributions import Normal, Random, Uniform
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, TypeOf, operator

SEED = (OMITTED, 2.5)
"""Neither text promises anything of a seed but that the generator gets it."""
MANY, MORE = [40, 101], [100, 103]
SHAPES = (MANY, MORE, [2, 0, 3], [])
NORMAL: dict[str, Any] = {"seed": SEED, "mean": (OMITTED, -6.0), "scale": (OMITTED, 4.0)}
UNIFORM: dict[str, Any] = {"seed": SEED, "low": (OMITTED, -1.5), "high": (OMITTED, 2.5)}
"""Ends that every type has, and whose difference it has: nothing rounds beyond them."""


def is_float_by_default(dtype: Any, T: str) -> bool:
    """dtype: "Default is TensorProto::FLOAT"."""
    return dtype is not OMITTED or T == "tensor(float)"


def is_the_inputs_by_default(dtype: Any, T1: str, T2: str) -> bool:
    """dtype: "copied from the input tensor if not provided"."""
    return dtype is not OMITTED or T1 == T2


@operator(
    "RandomNormal",
    since=(22, 1),
    random=True,
    constraints=[
        is_float_by_default,
        lambda shape, seed, mean, scale: shape == MANY or OMITTED not in (seed, mean, scale),
    ],
    dtype=(OMITTED, TypeOf("T")),
    shape=SHAPES,
    **NORMAL,
)
def random_normal(*, mean: float, scale: float, shape: list[int], **_: Any) -> Random:
    """Values "drawn from a normal distribution" of this mean and this standard deviation."""
    return Random(Normal(mean, scale), tuple(shape))


@operator(
    "RandomUniform",
    since=(22, 1),
    random=True,
    constraints=[
        is_float_by_default,
        lambda shape, seed, low, high: shape == MANY or OMITTED not in (seed, low, high),
    ],
    dtype=(OMITTED, TypeOf("T")),
    shape=SHAPES,
    **UNIFORM,
)
def random_uniform(*, low: float, high: float, shape: list[int], **_: Any) -> Random:
    """Values "drawn from a uniform distribution" between the lower and the upper boundary."""
    return Random(Uniform(low, high), tuple(shape))


def no_inputs(_: Draw) -> Iterator[Inputs]:
    """The attributes say it all."""
    yield {}


for one in (random_normal, random_uniform):
    one.inputs()(no_inputs)


@operator(
    "RandomNormalLike",
    since=(22, 1),
    random=True,
    constraints=[is_the_inputs_by_default],
    dtype=(OMITTED, TypeOf("T2")),
    **NORMAL,
)
def random_normal_like(input: np.ndarray, *, mean: float, scale: float, **_: Any) -> Random:
    """As RandomNormal, "the shape of the output tensor is copied from the shape of the input tensor"."""
    return Random(Normal(mean, scale), input.shape)


@operator(
    "RandomUniformLike",
    since=(22, 1),
    random=True,
    constraints=[is_the_inputs_by_default],
    dtype=(OMITTED, TypeOf("T2")),
    **UNIFORM,
)
def random_uniform_like(input: np.ndarray, *, low: float, high: float, **_: Any) -> Random:
    """As RandomUniform, "the shape of the output tensor is copied from the shape of the input tensor"."""
    return Random(Uniform(low, high), input.shape)


def a_thousand(draw: Draw) -> Iterator[Inputs]:
    """A tensor of a thousand values, which do not matter."""
    yield {"input": draw.T1.ordinary((40, 26))}


def ten_thousand(draw: Draw) -> Iterator[Inputs]:
    """As many values as show small faults of the distribution; the input takes little room."""
    yield {"input": draw.T1.ordinary(tuple(MORE))}


def few(draw: Draw) -> Iterator[Inputs]:
    """A scalar, a single element and no elements: too few for a distribution, but shape, type and range count."""
    for shape in ((), (1,), (2, 0, 3)):
        yield {"input": draw.T1.ordinary(shape)}


for one in (random_normal_like, random_uniform_like):
    one.inputs()(a_thousand)
    one.inputs(T1="bool")(ten_thousand)
    one.inputs(T1=("float16", "string"))(few)
