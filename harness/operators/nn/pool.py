"""AveragePool and LpPool: the mean or the norm of the elements of each sliding window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.operators.nn.pool_windows import (
    ATTRIBUTES,
    CEIL,
    CONSTRAINTS,
    DILATED,
    UNDILATED,
    Groups,
    Windows,
    axes_of,
    windows,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Sample, operator

COUNTED: dict[str, Any] = {"count_include_pad": FLAG}
POWERS = (OMITTED, 1, 2, 3)
STATED: dict[str, Any] = ATTRIBUTES | {"strides": ([2], [3], [2, 1], [3, 2], [1, 2, 2], [1], [1, 1], [1, 1, 1])}
REAL_POWERS = (OMITTED, 1.0, 2.0, 3.0, 2.5)


def _elements(found: Windows) -> np.ndarray:
    """The elements of each window, zeros where there is none."""
    return np.where(found.inside, found.elements, np.full((), constant("0")))


def _average_pool(X: np.ndarray, *, drops: bool, **attributes: Any) -> np.ndarray:
    """Each window "is divided by the number of elements (exclude pad when attribute count_include_pad is zero)".

    In ``ceil_mode`` the last windows may reach beyond the padding, where there are neither elements nor pad: as
    test_averagepool_2d_ceil and test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True have it,
    nothing is counted there.
    """
    found = windows(X, axes_of(**attributes), drops=drops)
    counted = found.padded if attributes.get("count_include_pad") else found.inside
    return _elements(found).sum(axis=-1) / counted.sum(axis=-1)


@operator("AveragePool", since=22, constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **DILATED, **COUNTED)
def average_pool(X: np.ndarray, **attributes: Any) -> np.ndarray:
    """The mean of each window; those that would start in the right padded region are ignored."""
    return _average_pool(X, drops=True, **attributes)


def _older(X: np.ndarray, **attributes: Any) -> np.ndarray:
    """As later, but of windows that would start in the right padded region the document does not speak."""
    return _average_pool(X, drops=False, **attributes)


average_pool_19 = operator(
    "AveragePool", since=19, constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **DILATED, **COUNTED
)(_older)
average_pool_11 = operator("AveragePool", since=11, constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **COUNTED)(_older)
average_pool_10 = operator("AveragePool", since=10, constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **COUNTED)(_older)
average_pool_7 = operator("AveragePool", since=(7, 1), constraints=CONSTRAINTS, **ATTRIBUTES, **COUNTED)(_older)


def norm(x: np.ndarray, p: float) -> np.ndarray:
    """The Lp norm along the last axis: ``(|x1|^p + |x2|^p + …)^(1/p)``."""
    return (np.abs(x) ** p).sum(axis=-1) ** (constant("1") / p)


def _lp_pool(X: np.ndarray, *, p: float, **attributes: Any) -> np.ndarray:
    """The Lp norm of "all values of a subset of the input tensor": padding and what is beyond have no part in it."""
    found = windows(X, axes_of(**attributes), drops=False)
    return norm(_elements(found), p)


lp_pool = operator("LpPool", since=(22, 18), constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **DILATED, p=POWERS)(
    _lp_pool
)
lp_pool_11 = operator("LpPool", since=(11, 2), constraints=CONSTRAINTS, **ATTRIBUTES, p=POWERS)(_lp_pool)


def stated_pads(auto_pad: Any, pads: Any) -> bool:
    """LpPool-1 says of nothing but ``p`` and ``auto_pad`` what is meant where it is not there."""
    return pads != OMITTED or auto_pad not in (OMITTED, "NOTSET")


def same_size(auto_pad: Any, strides: list[int]) -> bool:
    """For SAME it says "that the output size match the input", which is clear where strides are 1."""
    return auto_pad not in ("SAME_UPPER", "SAME_LOWER") or set(strides) == {1}


@operator(
    "LpPool",
    since=1,
    constraints=(*CONSTRAINTS, stated_pads, same_size),
    **STATED,
    p=REAL_POWERS,
)
def lp_pool_1(X: np.ndarray, *, p: float, **attributes: Any) -> np.ndarray:
    """As later, with any real number as ``p``."""
    return _lp_pool(X, p=p, **attributes)


def _some(draw: Draw, shape: Sequence[int]) -> Iterator[Sample]:
    yield Sample({"X": draw.T.ordinary(shape)})


def special_planes(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Ordinary values, but NaN once in the first plane, an infinity in the next ones, then both; zeros; -0 alone."""
    x = draw.T.ordinary(shape)
    planes = x.reshape(shape[0] * shape[1], -1)
    for plane, values in zip(planes, ([np.nan], [np.inf], [-np.inf], [np.inf, -np.inf]), strict=False):
        plane[len(plane) // 2 : len(plane) // 2 + len(values)] = draw.T(values)
    planes[4], planes[5, ::2] = 0, draw.T(-0.0)
    return x


def specials_of(groups: Groups) -> Callable[[Draw], Iterator[Inputs]]:
    """The group of special values, which spread to the windows that hold them and to no others."""

    def special_values(draw: Draw) -> Iterator[Inputs]:
        """NaN, infinities and zeros, which spread to the windows that hold them and to no others."""
        yield {"X": special_planes(draw, groups.shape(draw, lambda *_: True))}

    return special_values


COUNTED_OR_NOT: dict[str, Any] = {"count_include_pad": (OMITTED, 1)}
for _one, _groups, _reaching in (
    (average_pool, Groups("AveragePool-22", _some), UNDILATED | COUNTED_OR_NOT),
    (average_pool_19, Groups("AveragePool-19", _some, drops=False), UNDILATED | COUNTED_OR_NOT),
    (average_pool_11, Groups("AveragePool-11", _some, drops=False, floors=True), COUNTED_OR_NOT),
    (average_pool_10, Groups("AveragePool-10", _some, drops=False), COUNTED_OR_NOT),
    (average_pool_7, Groups("AveragePool-7", _some, drops=False), None),
    (lp_pool, Groups("LpPool-22", _some, drops=False), UNDILATED | {"p": (OMITTED, 3)}),
    (lp_pool_11, Groups("LpPool-11", _some, drops=False), None),
    (lp_pool_1, Groups("LpPool-1", _some, drops=False, formula=False), None),
):
    _groups.register(_one)
    _one.inputs()(specials_of(_groups))
    if _reaching:
        _groups.reach(_one, **_reaching)

SIXTEEN = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
TWENTY_FIVE = np.arange(1, 26, dtype=np.float32).reshape(1, 1, 5, 5)
average_pool.example(
    "test_averagepool_2d_ceil",
    SIXTEEN,
    gives=np.array([[[[6, 7.5], [12, 13.5]]]], np.float32),
    kernel_shape=[3, 3],
    strides=[2, 2],
    ceil_mode=1,
)
average_pool.example(
    "test_averagepool_2d_dilations",
    SIXTEEN,
    gives=np.array([[[[6, 7], [10, 11]]]], np.float32),
    kernel_shape=[2, 2],
    strides=[1, 1],
    dilations=[2, 2],
    ceil_mode=1,
)
average_pool.example(
    "test_averagepool_2d_precomputed_strides",
    TWENTY_FIVE,
    gives=np.array([[[[4, 6], [14, 16]]]], np.float32),
    kernel_shape=[2, 2],
    strides=[2, 2],
)
average_pool.example(
    "test_averagepool_2d_precomputed_same_upper",
    TWENTY_FIVE,
    gives=np.array([[[[4, 5.5, 7], [11.5, 13, 14.5], [19, 20.5, 22]]]], np.float32),
    kernel_shape=[3, 3],
    strides=[2, 2],
    auto_pad="SAME_UPPER",
)
