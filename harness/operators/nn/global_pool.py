"""GlobalAveragePool, GlobalLpPool and GlobalMaxPool: one window over each channel."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from harness.operators.nn.pool import POWERS, REAL_POWERS, norm, special_planes
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Sample, operator

NAN = "GlobalMaxPool-22 does not say how NaN compares with other elements."


def _channels(X: np.ndarray) -> np.ndarray:
    return X.reshape(*X.shape[:2], prod(X.shape[2:]))


def _spread(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Its "first two dimensions … are the same as the input (N x C), while the other dimensions are all 1"."""
    return np.asarray(y).reshape(*X.shape[:2], *[1] * (X.ndim - 2))


@operator("GlobalAveragePool", since=(22, 1))
def global_average_pool(X: np.ndarray) -> np.ndarray:
    """As AveragePool "with kernel size equal to the spatial dimension of input tensor"."""
    return _spread(X, _channels(X).sum(axis=-1) / prod(X.shape[2:]))


@operator("GlobalLpPool", since=(22, 2), p=POWERS)
def global_lp_pool(X: np.ndarray, *, p: float) -> np.ndarray:
    """As LpPool "with kernel size equal to the spatial dimension of input tensor"."""
    return _spread(X, norm(_channels(X), p))


@operator("GlobalLpPool", since=1, p=REAL_POWERS)
def global_lp_pool_1(X: np.ndarray, *, p: float) -> np.ndarray:
    """As later, with any real number as ``p``; "Dimensions will be N x C x 1 x 1", of images."""
    return _spread(X, norm(_channels(X), p))


@operator("GlobalMaxPool", since=(22, 1), exact=True)
def global_max_pool(X: np.ndarray) -> np.ndarray:
    """As MaxPool "with kernel size equal to the spatial dimension of input tensor"."""
    return _spread(X, _channels(X).max(axis=-1))


REALS = (global_average_pool, global_lp_pool, global_lp_pool_1)


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Images."""
    yield {"X": draw.T.ordinary((2, 3, 4, 3))}


def ranks(draw: Draw) -> Iterator[Inputs]:
    """Lines, volumes, more axes, and axes of size 1; a single element is what it gives."""
    for shape in ((3, 2, 5), (2, 3, 2, 1, 4), (3, 1, 2, 1, 3, 2), (4, 2, 1, 7), (2, 3, 1, 1)):
        yield {"X": draw.T.ordinary(shape)}


def images(draw: Draw) -> Iterator[Inputs]:
    """Images with axes of size 1, and a single element, which is what it gives."""
    for shape in ((4, 2, 1, 7), (3, 2, 5, 1), (2, 3, 1, 1)):
        yield {"X": draw.T.ordinary(shape)}


def empty(draw: Draw) -> Iterator[Inputs]:
    """No images, or no channels."""
    for shape in ((0, 3, 4, 2), (2, 0, 3, 4)):
        yield {"X": draw.T.ordinary(shape)}


def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities and zeros, which spread to their channels and to no others."""
    yield {"X": special_planes(draw, (2, 3, 4, 3))}


def negative(draw: Draw) -> Iterator[Inputs]:
    """Elements below zero, with the greatest at each place."""
    x = -draw.T.near(8, (4, 3, 4, 3))
    x.reshape(12, 12)[np.eye(12, dtype=bool)] = -draw.T.near(2, (12,))
    yield {"X": x}


def extremes(draw: Draw) -> Iterator[Inputs]:
    """Channels of minus infinity alone; infinities, zeros of both signs, subnormal and extreme numbers."""
    specials = draw.T.specials()
    x = np.resize(specials[~np.isnan(specials)], (2, 3, 4, 3))
    x[0, 0], x[1, 1, 1:] = draw.T(-np.inf), draw.T.lowest
    x[0, 1], x[1, 2] = draw.T(-0.0), draw.T(-(2.0**-14))
    yield {"X": x}


def nan(draw: Draw) -> Iterator[Sample]:
    """Ordinary values, then with a NaN in each channel."""
    x = draw.T.ordinary((2, 3, 4, 3))
    yield Sample({"X": x.copy()})
    x[..., 2, 1] = np.nan
    yield Sample({"X": x}, unspecified=NAN)


for _op in (*REALS, global_max_pool):
    _op.inputs()(ordinary)
    _op.inputs()(images if _op is global_lp_pool_1 else ranks)
    _op.inputs()(empty)
for _op in REALS:
    _op.inputs()(special_values)
global_max_pool.inputs()(negative)
global_max_pool.inputs()(extremes)
global_max_pool.inputs()(nan)

NINE = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
global_average_pool.example("test_globalaveragepool_precomputed", NINE, gives=np.array([[[[5]]]], np.float32))
global_max_pool.example("test_globalmaxpool_precomputed", NINE, gives=np.array([[[[9]]]], np.float32))
