"""Balls as NumPy elements: arrays of them, constants, and the element functions that NumPy has no method name for."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from flint import acb, arb

from harness.numbers.passes import current, unit
from harness.spec.element_types import element_type

Ball: TypeAlias = arb | acb


_BALLS = (arb, acb)


def exact(array: np.ndarray) -> np.ndarray:
    """The numbers of an array as exact balls, in an object array of the same shape (``acb`` where it is complex).

    Takes every float, complex, integer and bool type of NumPy and ml_dtypes, and object arrays of
    Python numbers and balls. NaN becomes a ball that is not a number, infinities stay.
    """
    if array.dtype == object:
        balls = [ball(v) for v in array.ravel().tolist()]
    else:
        kind = element_type(array.dtype).kind
        plain = {"float": np.float64, "complex": np.complex128, "unsigned": np.uint64}.get(kind, np.int64)
        of: Callable[[Any], Ball] = acb if kind == "complex" else arb
        numbers: list[Any] = array.astype(plain).ravel().tolist()
        balls = list(map(of, numbers))
    filled = np.empty(len(balls), dtype=object)
    filled[:] = balls
    return filled.reshape(array.shape)


def ball(value: Any) -> Ball:
    """A Python or NumPy number, or a ball, as a ball."""
    if isinstance(value, _BALLS):
        return value
    number = value.item() if isinstance(value, np.generic) else value
    return acb(number) if isinstance(number, complex) else arb(number)


def spread(balls: np.ndarray, bits: int) -> np.ndarray:
    """The balls with radii |x| 2^-(bits + 60) each: the scaled inputs of the s pass.

    Run it at more bits than exact ones have, so that their midpoints stay.
    """
    return np.asarray(balls * unit(bits), dtype=object)


def constant(text: str) -> arb | float:
    """A decimal literal of the spec, or ``"pi"``, in the number system that the oracle now runs in.

    Over balls it is the decimal itself at the working precision, in the s pass with a radius
    where the element type's bits cannot hold it (numbers.md, the rule); a Python float otherwise.
    """
    run = current()
    if run is None:
        return math.pi if text == "pi" else float(text)
    value = arb.pi() if text == "pi" else arb(text)
    return value if run.spread is None else rough(value, run.spread)


def rough(value: arb, bits: int) -> arb:
    """The ball with the radius of the s pass, unless ``bits`` bits hold the value."""
    return value if value.is_exact() and value.bits() <= bits else value * unit(bits)


def are_balls(*operands: Any) -> bool:
    """Whether any operand is a ball or an object array, so that NumPy's own functions would not do."""
    return any(x.dtype.hasobject if isinstance(x, np.ndarray) else isinstance(x, _BALLS) for x in operands)


def _elementwise(
    name: str, method: Callable[[Ball], object], native: Callable[[Any], Any], dtype: type = object
) -> Callable[[Any], np.ndarray]:
    over_balls = np.frompyfunc(lambda v: method(ball(v)), 1, 1)

    def function(x: Any) -> np.ndarray:
        return np.asarray(over_balls(x), dtype=dtype) if are_balls(x) else np.asarray(native(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of each element of balls, or of float64; the shape stays, 0-D too."
    return function


def _native_erf(x: Any) -> np.ndarray:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


arcsin = _elementwise("arcsin", lambda v: v.asin(), np.arcsin)
arccos = _elementwise("arccos", lambda v: v.acos(), np.arccos)
arctan = _elementwise("arctan", lambda v: v.atan(), np.arctan)
arcsinh = _elementwise("arcsinh", lambda v: v.asinh(), np.arcsinh)
arccosh = _elementwise("arccosh", lambda v: v.acosh(), np.arccosh)
arctanh = _elementwise("arctanh", lambda v: v.atanh(), np.arctanh)
log2 = _elementwise("log2", lambda v: v.log() / arb.const_log2(), np.log2)
exp2 = _elementwise("exp2", lambda v: arb(2) ** v, np.exp2)
erf = _elementwise("erf", lambda v: v.erf(), _native_erf)
isnan = _elementwise("isnan", lambda v: v.real.is_nan() or v.imag.is_nan(), np.isnan, bool)
