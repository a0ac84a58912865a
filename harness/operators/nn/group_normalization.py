"""GroupNormalization and InstanceNormalization: each instance standardized by itself, in groups of channels."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.nn.layer_normalization import (
    DOUBLE,
    EPSILON,
    FLOAT,
    FLOAT16,
    is_narrow,
    moments,
    standardized,
    stashed,
    uneven,
    with_specials,
)
from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator


def channelwise(of: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A value for each channel, ready to meet ``(N, C, D1, …)``; for each place of each channel if it has as many axes.

    A tensor of one axis has one channel.
    """
    return of.reshape(of.shape + (1,) * (x.ndim - 1 - of.ndim))


def group_normalization(
    X: np.ndarray, scale: np.ndarray, bias: np.ndarray, *, num_groups: int, epsilon: Any, **_: int
) -> np.ndarray:
    """``y = scale * (x - mean) / sqrt(variance + epsilon) + bias``, both "per instance per group of channels".

    ``scale`` and ``bias`` are "specified for each channel".
    """
    n, c, *sizes = X.shape
    groups = X.reshape(n, num_groups, c // num_groups, *sizes)
    normalized = standardized(groups, tuple(range(2, groups.ndim)), epsilon)[0]
    return normalized.reshape(X.shape) * channelwise(scale, X) + channelwise(bias, X)


GROUP = stashed(
    "GroupNormalization",
    21,
    group_normalization,
    lambda epsilon, num_groups: epsilon is OMITTED or num_groups == 2,
    lambda stash_type, num_groups: stash_type != 1 or num_groups == 2,
    num_groups=(1, 2, 4),
    epsilon=EPSILON,
)


def _instances(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, /, *, epsilon: Any, **_: Any) -> np.ndarray:
    """``y = scale * (x - mean) / sqrt(variance + epsilon) + B``, both "computed per instance per channel"."""
    mean, variance = moments(x, tuple(range(2, x.ndim)))
    return channelwise(scale, x) * (x - mean) / np.sqrt(variance + epsilon) + channelwise(bias, x)


INSTANCE = operator("InstanceNormalization", since=(22, 6), epsilon=EPSILON)(_instances)
INSTANCE_1 = operator("InstanceNormalization", since=1, epsilon=EPSILON, consumed_inputs=(OMITTED, [0]))(_instances)


def _shape(draw: Draw) -> Shape:
    """Of distinct sizes, with 4 channels where there are groups; in 8 bits those have no more than 4 elements."""
    if "num_groups" not in draw.attributes:
        return (2, 3, 1, 4) if is_narrow(draw) else (2, 3, 4, 5)
    if not is_narrow(draw):
        return (2, 4, 3)
    return {1: (3, 4, 1), 2: (3, 4, 2), 4: (2, 4, 3)}[draw.attributes["num_groups"]]


def _of(draw: Draw, x: np.ndarray) -> Inputs:
    channels = x.shape[1:2]
    if "num_groups" in draw.attributes:
        return {"X": x, "scale": draw.T.ordinary(channels), "bias": draw.T.ordinary(channels)}
    return {"input": x, "scale": draw.T.ordinary(channels), "B": draw.T.ordinary(channels)}


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Distinct sizes, another scale and bias for each channel."""
    yield _of(draw, uneven(draw, _shape(draw)))


def ranks(draw: Draw) -> Iterator[Inputs]:
    """One axis beside N and C, two, three; N = 1; no instances; another of them for each row."""
    row = draw.attributes
    place = row.get("num_groups", 1) // 2 + EPSILON.index(row["epsilon"])
    shapes = ((1, 4, 5, 2), (3, 4, 1, 2, 5), (5, 4, 3), (0, 4, 3))
    for shape in (shapes[place % 4], shapes[(place + 2) % 4]):
        yield _of(draw, draw.T.ordinary(shape))


def far_from_zero(draw: Draw) -> Iterator[Inputs]:
    """Means of 16 and a spread of 1: the difference of the mean of squares and the square of the mean still is one."""
    x = draw.T.ordinary(_shape(draw)).astype(np.float64)
    for centre in (16, -16):
        yield _of(draw, draw.T(centre + x / 4))


def other_channels(draw: Draw) -> Iterator[Inputs]:
    """Channels of different means and spreads, and instances of different ones."""
    shape = _shape(draw)
    scale = np.resize([1, 0.25, 4], shape[1]).reshape(-1, *[1] * (len(shape) - 2))
    instance = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    yield _of(draw, draw.T(uneven(draw, shape).astype(np.float64) * scale + instance))


def all_equal(draw: Draw) -> Iterator[Inputs]:
    """Equal elements in some channels, and in some groups of them, whose variance is 0: what remains is the bias."""
    shape = _shape(draw)
    x = draw.T.ordinary(shape)
    x[0] = draw.T(0.5)
    x[1, 1:] = draw.T(-2)
    yield _of(draw, x)


def nearly_zero(draw: Draw) -> Iterator[Inputs]:
    """Elements so small that epsilon is most of what they are divided by."""
    yield _of(draw, draw.T(draw.T.ordinary(_shape(draw)).astype(np.float64) / 512))


def wide_squares(draw: Draw) -> Iterator[Inputs]:
    """Elements whose squares float16 does not hold: they are computed in the type of ``stash_type``."""
    yield _of(draw, draw.T(512 * draw.T.ordinary(_shape(draw)).astype(np.float64)))


def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, then infinity, at one place: what is normalized with them is NaN, all else is as without them."""
    yield from (_of(draw, x) for x in with_specials(uneven(draw, _shape(draw))))


for _op in GROUP:
    _op.inputs()(ordinary)
for _op in GROUP[:2]:
    _op.inputs(T=(FLOAT, DOUBLE, FLOAT16))(other_channels)
    _op.inputs()(nearly_zero)
    _op.inputs(T=(FLOAT, DOUBLE))(all_equal)
    _op.inputs()(special_values)
    _op.inputs(T=(FLOAT, DOUBLE))(far_from_zero)
    _op.inputs(T=FLOAT16)(wide_squares)
GROUP[0].inputs(T=FLOAT)(ranks)

for _op in (INSTANCE, INSTANCE_1):
    _op.inputs()(ordinary)
    _op.inputs()(other_channels)
    # No text says that float16 is worked in float, and its own squares of small numbers, and epsilon, are subnormal.
    _op.inputs(T=(FLOAT, DOUBLE))(nearly_zero)
    _op.inputs(T=(FLOAT, DOUBLE))(all_equal)
    _op.inputs()(special_values)
    _op.inputs(T=(FLOAT, DOUBLE))(far_from_zero)
INSTANCE.inputs(T=FLOAT)(ranks)
