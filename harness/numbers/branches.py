"""Branches on values: decided on midpoints in the exact evaluation, and replayed in those at other precisions."""

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from harness.numbers.balls import Ball, are_balls, ball
from harness.numbers.enclosing import end_fractions, fraction
from harness.numbers.passes import current
from harness.numbers.rounding import round_array, round_exact
from harness.spec.element_types import ElementType

_UNORDERED = 2
ALLOWED = 4
"""Radii at the working precision within which an honest evaluation may round otherwise."""


def _decided(
    decision: Callable[[], np.ndarray], around: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
) -> np.ndarray:
    run = current()
    return run.decide(decision, around) if run else decision()


def _unsure() -> None:
    run = current()
    if run:
        run.unsure = True


def _real(value: Any) -> arb:
    v = ball(value)
    if not isinstance(v, arb):
        raise TypeError("Complex numbers have no order to branch on.")
    return v


def _order(a: Any, b: Any) -> int:
    x, y = _real(a), _real(b)
    if x < y:
        return -1
    if x > y:
        return 1
    if x.is_nan() or y.is_nan():
        return _UNORDERED
    if x.is_exact() and y.is_exact():
        return 0
    _unsure()
    x, y = x.mid(), y.mid()
    return int(x > y) - int(x < y)


_ORDERS = np.frompyfunc(_order, 2, 1)


def _orders(a: Any, b: Any) -> np.ndarray:
    """The sign of ``a - b``, decided once; ``_UNORDERED`` where one is not a number."""
    return _decided(lambda: np.asarray(_ORDERS(a, b), dtype=np.int8))


def less(a: Any, b: Any) -> np.ndarray:
    """``a < b`` as a bool array, decided once."""
    return _orders(a, b) == -1 if are_balls(a, b) else np.less(a, b)


def less_equal(a: Any, b: Any) -> np.ndarray:
    """``a <= b`` as a bool array, decided once."""
    return _orders(a, b) <= 0 if are_balls(a, b) else np.less_equal(a, b)


def greater(a: Any, b: Any) -> np.ndarray:
    """``a > b`` as a bool array, decided once."""
    return less(b, a)


def greater_equal(a: Any, b: Any) -> np.ndarray:
    """``a >= b`` as a bool array, decided once."""
    return less_equal(b, a)


def _widened(chosen: arb, other: arb) -> arb:
    """The chosen ball with the larger radius of both where they overlap: the branch might have been the other."""
    if other.is_exact() or not other.is_finite():
        return chosen
    return arb(chosen.mid(), other.rad()) if chosen.overlaps(other) and other.rad() > chosen.rad() else chosen


def _greater_of(order: int, a: Any, b: Any) -> arb:
    x, y = _real(a), _real(b)
    if order == _UNORDERED:
        return x + y
    return _widened(x, y) if order >= 0 else _widened(y, x)


def _lesser_of(order: int, a: Any, b: Any) -> arb:
    return _greater_of(order if order == _UNORDERED else -order, a, b)


_GREATER_OF, _LESSER_OF = np.frompyfunc(_greater_of, 3, 1), np.frompyfunc(_lesser_of, 3, 1)


def maximum(a: Any, b: Any) -> np.ndarray:
    """The greater of each pair, ``a`` of equals; overlapping balls give the greater midpoint and the larger radius.

    That still holds the true maximum. NaN spreads as in ``np.maximum``.
    """
    if not are_balls(a, b):
        return np.maximum(a, b)
    return np.asarray(_GREATER_OF(_orders(a, b), a, b), dtype=object)


def minimum(a: Any, b: Any) -> np.ndarray:
    """The lesser of each pair, else as ``maximum``."""
    if not are_balls(a, b):
        return np.minimum(a, b)
    return np.asarray(_LESSER_OF(_orders(a, b), a, b), dtype=object)


def clip(x: Any, low: Any, high: Any) -> np.ndarray:
    """``minimum(maximum(x, low), high)``, without the bounds that are None."""
    raised = np.asarray(x) if low is None else maximum(x, low)
    return raised if high is None else minimum(raised, high)


def _chosen(first: bool, a: Any, b: Any) -> Ball:
    run, x, y = current(), ball(a), ball(b)
    x, y = (x, y) if first else (y, x)
    # The exact evaluation is not unsure of its branch, and a wide other one would never let it be proved.
    replayed = run is not None and not run.exact
    return _widened(x, y) if replayed and isinstance(x, arb) and isinstance(y, arb) else x


_CHOSEN = np.frompyfunc(_chosen, 3, 1)


def where(condition: np.ndarray, a: Any, b: Any) -> np.ndarray:
    """``a`` where the condition is true, else ``b``; at other precisions with the larger radius where both overlap.

    The condition comes from the comparisons here, or from what is no ball. Raises TypeError for one that is not bool.
    """
    if np.asarray(condition).dtype != np.bool_:
        raise TypeError(f"A condition is bool, not {np.asarray(condition).dtype}: compare with less, greater …")
    if not are_balls(a, b):
        return np.where(condition, a, b)
    return np.asarray(_CHOSEN(condition, a, b), dtype=object)


def argsort(a: np.ndarray, axis: int = -1, *, descending: bool = False) -> np.ndarray:
    """The indices that sort ``a`` along an axis, lower index first among equals, NaN last; decided once."""
    if a.dtype != object:
        return np.argsort(-a if descending else a, axis=axis, kind="stable")

    def order(x: Any, y: Any) -> int:
        found = _order(x, y)
        if found == _UNORDERED:
            return int(_real(x).is_nan()) - int(_real(y).is_nan())
        return -found if descending else found

    def sort() -> np.ndarray:
        lines = np.moveaxis(a, axis, -1)
        indices = np.empty(lines.shape, dtype=np.int64)
        for at in np.ndindex(lines.shape[:-1]):
            keys = list(map(functools.cmp_to_key(order), lines[at]))
            indices[at] = sorted(range(len(keys)), key=keys.__getitem__)
        return np.moveaxis(indices, -1, axis)

    return _decided(sort)


def _decide(v: arb, rule: Callable[[Fraction], arb]) -> arb:
    """What the rule makes of all of a ball, or of its midpoint where that is not one value; NaN and infinities stay."""
    if not v.is_finite():
        return v
    low, high = map(rule, end_fractions(v))
    if low == high:
        return low
    _unsure()
    return rule(fraction(v.mid()))


def _within(v: arb, side: int, rule: Callable[[Fraction], arb]) -> arb:
    """What the rule makes of the point 4 radii below or above a ball's midpoint."""
    if not v.is_finite():
        return v
    return rule(fraction(v.mid()) + side * ALLOWED * fraction(v.rad().upper()))


def _rounded(x: Any, rule: Callable[[Fraction], arb]) -> np.ndarray:
    def each(decide: Callable[[arb], arb]) -> np.ndarray:
        return np.asarray(np.frompyfunc(lambda value: decide(_real(value)), 1, 1)(x), dtype=object)

    return _decided(
        lambda: each(lambda v: _decide(v, rule)),
        lambda: (each(lambda v: _within(v, -1, rule)), each(lambda v: _within(v, 1, rule))),
    )


def _whole(name: str, rule: Callable[..., int], native: Callable[..., np.ndarray]) -> Callable[[object], np.ndarray]:
    def function(x: Any) -> np.ndarray:
        return _rounded(x, lambda v: arb(rule(v))) if are_balls(x) else native(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of each element, decided once: an exact integer, however wide the ball."
    return function


floor = _whole("floor", math.floor, np.floor)
ceil = _whole("ceil", math.ceil, np.ceil)
rint = _whole("rint", round, np.rint)


def round_to(x: Any, to: ElementType, *, saturate: bool = False) -> np.ndarray:
    """Each element rounded into a float type as ``round_exact`` does, decided once: an exact value of the type."""
    if not are_balls(x):
        return round_array(np.asarray(x), to, saturate=saturate)
    return _rounded(x, lambda v: arb(round_exact(v, to, saturate=saturate)))
