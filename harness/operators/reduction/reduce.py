"""Reduce…: sums, products, extremes and norms of the elements along the given axes."""

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from harness.numbers.balls import constant
from harness.operators.reduction.reduce_inputs import add_inputs
from harness.oracles.operator import FLAG, OMITTED, Operator, operator
from harness.spec.element_types import ElementType

Formula = Callable[[np.ndarray, ElementType], np.ndarray]
"""Takes the sets of values to reduce, [count, n], and their element type; returns [count]."""


def _total(x: np.ndarray) -> np.ndarray:
    return x.sum(axis=-1) if x.shape[-1] else np.full(len(x), constant("0"))


def _real(x: np.ndarray, of: ElementType) -> np.ndarray:
    return x if of.format else x.astype(np.float64)


def _settled(y: np.ndarray, of: ElementType) -> np.ndarray:
    """Integers are truncated, as most do: where that matters, or where there is no number, the inputs are silent."""
    return y if of.format else np.trunc(np.where(np.isfinite(y), y, 0))


def _sum(x: np.ndarray, _: ElementType) -> np.ndarray:
    return _total(x)


def _mean(x: np.ndarray, of: ElementType) -> np.ndarray:
    total, count = _total(x), x.shape[-1]
    return total / count if of.format else np.abs(total) // max(count, 1) * np.sign(total)


def _product(x: np.ndarray, _: ElementType) -> np.ndarray:
    return x.prod(axis=-1)


def _max(x: np.ndarray, of: ElementType) -> np.ndarray:
    """Of nothing: minus infinity, or the minimum value of the data type."""
    return np.maximum.reduce(x, axis=-1, initial=-np.inf if of.format else of.minimum)


def _min(x: np.ndarray, of: ElementType) -> np.ndarray:
    """Of nothing: plus infinity, or the maximum value of the data type."""
    return np.minimum.reduce(x, axis=-1, initial=np.inf if of.format else of.maximum)


def _l1(x: np.ndarray, _: ElementType) -> np.ndarray:
    return _total(np.abs(x))


def _l2(x: np.ndarray, of: ElementType) -> np.ndarray:
    return _settled(np.sqrt(_real(_total(x * x), of)), of)


def _log_sum(x: np.ndarray, of: ElementType) -> np.ndarray:
    return _settled(np.log(_real(_total(x), of)), of)


def _log_sum_exp(x: np.ndarray, of: ElementType) -> np.ndarray:
    return _settled(np.log(_total(np.exp(_real(x, of)))), of)


def _sum_square(x: np.ndarray, _: ElementType) -> np.ndarray:
    return _total(x * x)


class Reduction(NamedTuple):
    """One operator, its formula, and its versions by where the axes are and by what the document says."""

    name: str
    formula: Formula
    by_input: Sequence[int] = (18,)
    """The axes are an input, and there is ``noop_with_empty_axes``."""
    by_attribute: Sequence[int] = (13,)
    unstated: Sequence[int] = (11,)
    """The same, where the document does not say what a reduction over an empty set of values yields."""


REDUCTIONS = (
    Reduction("ReduceSum", _sum, by_input=(13,), by_attribute=()),
    Reduction("ReduceMean", _mean),
    Reduction("ReduceProd", _product),
    Reduction("ReduceMax", _max, by_input=(20, 18), by_attribute=(13, 11), unstated=(12,)),
    Reduction("ReduceMin", _min, by_input=(20, 18), by_attribute=(13, 11), unstated=(12,)),
    Reduction("ReduceL1", _l1),
    Reduction("ReduceL2", _l2),
    Reduction("ReduceLogSum", _log_sum, by_input=(28, 18)),
    Reduction("ReduceLogSumExp", _log_sum_exp, by_input=(28, 18)),
    Reduction("ReduceSumSquare", _sum_square),
)


def reduced(data: np.ndarray, axes: Iterable[int], formula: Formula, of: ElementType, *, keepdims: int) -> np.ndarray:
    """Every set of values along the axes by the formula; the axes have size 1 if ``keepdims``, else they are pruned."""
    gone = sorted({axis % data.ndim for axis in axes})
    kept = [axis for axis in range(data.ndim) if axis not in gone]
    sizes = [data.shape[axis] for axis in kept]
    sets = data.transpose(*kept, *gone).reshape(prod(sizes), prod(data.shape[axis] for axis in gone))
    shape = [1 if axis in gone else size for axis, size in enumerate(data.shape)] if keepdims else sizes
    return np.asarray(formula(sets, of)).reshape(shape)


def _by_input(row: Reduction) -> Operator:
    @operator(row.name, since=row.by_input, exact=row.formula in (_max, _min), keepdims=FLAG, noop_with_empty_axes=FLAG)
    def oracle(
        data: np.ndarray,
        axes: np.ndarray | None = None,
        *,
        T: ElementType,
        keepdims: int,
        noop_with_empty_axes: int,
    ) -> np.ndarray:
        """Without axes, or with none in them, along all; along none if ``noop_with_empty_axes``."""
        along = [] if axes is None else [int(axis) for axis in axes]
        if not along and not noop_with_empty_axes:
            along = range(data.ndim)
        return reduced(data, along, row.formula, T, keepdims=keepdims)

    return oracle


def _by_attribute(row: Reduction, since: Sequence[int], *axes: list[int]) -> Operator:
    @operator(row.name, since=since, exact=row.formula in (_max, _min), keepdims=FLAG, axes=(OMITTED, *axes))
    def oracle(data: np.ndarray, *, T: ElementType, keepdims: int, axes: list[int] | None) -> np.ndarray:
        """The default is to reduce over all the dimensions of the input tensor."""
        return reduced(data, range(data.ndim) if axes is None else axes, row.formula, T, keepdims=keepdims)

    return oracle


for _row in REDUCTIONS:
    add_inputs(_by_input(_row))
    if _row.by_attribute:
        add_inputs(_by_attribute(_row, _row.by_attribute, [1], [-1], [2, 0], [-3, 1]))
    add_inputs(_by_attribute(_row, _row.unstated, [1], [-1], [2, 0], [-3, 1]), stated=False)
    # Version 1 does not say what a negative axis is.
    add_inputs(_by_attribute(_row, (1,), [1], [2, 0]))
