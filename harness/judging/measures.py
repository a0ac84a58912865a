"""Element-by-element differences of two tensors: in bounds, in units in the last place, and under a tolerance."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from harness.spec.element_types import BY_NAME, Bits, ElementType, FloatFormat

MAX_ERROR = 4.0
"""An answer passes if it is at most this many bounds away from the expected value."""
_BFLOAT16_RTOL = 2.0**-6
"""ONNX's test runner allows bfloat16 at least this rtol, two units in the last place."""
_HUGE = 2.0**1000
"""From this magnitude on, both values are halved before they are subtracted, to avoid overflow."""


class Tolerance(msgspec.Struct, frozen=True):
    """The criterion of ONNX's test runner: ``|got - want| <= atol + rtol * |want|``."""

    rtol: float
    atol: float

    def rtol_for(self, element: ElementType) -> float:
        """The rtol that ONNX's test runner uses for an element type."""
        return max(self.rtol, _BFLOAT16_RTOL) if element.name == "bfloat16" else self.rtol


ONNX_TOLERANCE = Tolerance(1e-3, 1e-7)
"""The default of ONNX's own tests."""

Criterion = np.ndarray | Tolerance | None
"""What decides whether an element passes: one bound per element, a tolerance, or (None) equality."""


class Measurement(msgspec.Struct, frozen=True, eq=False):
    """How two tensors of the same element type and shape differ; arrays have that shape."""

    passing: np.ndarray
    """bool: the elements that meet the criterion."""
    ratios: np.ndarray | None
    """float64: each difference divided by its bound; None if the criterion is not an array of bounds."""
    error: float | None
    """The largest ratio; for equality 0 or inf; None for a tolerance."""
    ulps: float | None
    """The largest difference in units in the last place of the expected value; None for bool and string."""
    within_onnx_tolerance: bool
    """Whether all elements meet ONNX_TOLERANCE."""
    zero_signs: int = 0
    """Number of zeros that have the other sign."""


def measure(got: np.ndarray, want: np.ndarray, element: ElementType, criterion: Criterion) -> Measurement:
    """Measure ``got`` against ``want``, which have the type ``element`` and the same shape.

    NaN equals NaN, and +0 equals -0. Floats are compared in double, complex numbers in complex128, integers exactly.
    """
    with np.errstate(all="ignore"):
        if element.format:
            return _measure_reals(got, want, element, element.format, criterion)
        if element.kind in ("signed", "unsigned"):
            return _measure_integers(got, want, element, criterion)
        equal = np.asarray(got == want, dtype=bool)
        return Measurement(equal, None, _equality_error(equal, criterion), None, bool(equal.all()))


def bits_differ(got: np.ndarray, want: np.ndarray, element: ElementType, bits: Bits) -> np.ndarray:
    """Which floats are equal or both NaN, but differ in the ``bits`` that are compared; bool, of the same shape."""
    if element.format is None or bits == "":
        return np.zeros(want.shape, bool)
    if element.kind == "complex":
        part = BY_NAME["float" if element.name == "complex64" else "double"]
        parts = [np.ascontiguousarray(x).view(part.dtype).reshape(*x.shape, 2) for x in (got, want)]
        return np.asarray(bits_differ(parts[0], parts[1], part, bits).any(axis=-1))
    with np.errstate(all="ignore"):
        compared = (got == 0) & (want == 0)
        if bits == "all":
            compared |= (got != got) & (want != want)  # noqa: PLR0124 - NaN of any dtype
    patterns = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(x.shape) for x in (got, want)]
    return np.asarray(compared & (patterns[0] != patterns[1]))


def _measure_reals(
    got: np.ndarray, want: np.ndarray, element: ElementType, form: FloatFormat, criterion: Criterion
) -> Measurement:
    difference = _Difference(got, want, element, form)
    onnx = difference.within(ONNX_TOLERANCE.atol, ONNX_TOLERANCE.rtol_for(element))
    ratios = None
    if isinstance(criterion, Tolerance):
        is_default = criterion == ONNX_TOLERANCE
        passing = onnx if is_default else difference.within(criterion.atol, criterion.rtol_for(element))
    elif criterion is None:
        passing = difference.equal_elements()
    else:
        bounds = criterion.astype(np.float64)
        ratios = difference.lengths(difference.divided_by(bounds[..., None] if difference.is_complex else bounds))
        passing = ratios <= MAX_ERROR
    error = _equality_error(passing, criterion) if ratios is None else _largest(ratios)
    ulps = _largest(difference.divided_by(difference.ulp()))
    return Measurement(passing, ratios, error, ulps, bool(onnx.all()), difference.zero_signs())


class _Difference:
    """``|got - want|`` of floats as doubles. Complex numbers have their two parts along a new last axis."""

    def __init__(self, got: np.ndarray, want: np.ndarray, element: ElementType, form: FloatFormat) -> None:
        self.form = form
        self.is_complex = element.kind == "complex"
        self.got, self.want = _as_doubles(got, self.is_complex), _as_doubles(want, self.is_complex)
        self.absolute = np.abs(self.got - self.want)
        self.magnitude = np.abs(self.want)
        self.is_finite = math.isfinite(_largest(self.absolute))
        """Whether there is no infinity, no NaN and no overflow, which is the common case."""
        self.equal = self.absolute == 0
        if not self.is_finite:
            self.equal = (self.got == self.want) | (np.isnan(self.got) & np.isnan(self.want))

    def divided_by(self, unit: np.ndarray) -> np.ndarray:
        """The difference in units; ±inf counts as the power of two that follows the largest finite value.

        0 where the values are equal, inf where only one is NaN or the unit is 0.
        """
        ratios = self.absolute / unit
        if self.is_finite and math.isfinite(_largest(ratios)):
            return ratios
        if not self.is_finite:
            huge = (np.abs(self.got) >= _HUGE) | (self.magnitude >= _HUGE)
            ratios = np.where(huge, np.abs(self._half(self.got) - self._half(self.want)) / (unit / 2), ratios)
        return np.where(self.equal, 0.0, np.where(np.isnan(ratios), np.inf, ratios))

    def ulp(self) -> np.ndarray:
        """The unit in the last place of each expected value; for inf that of the largest finite value."""
        exponents = np.frexp(np.clip(self.magnitude, 2.0**self.form.emin, self.form.maximum))[1]
        return np.ldexp(1.0, exponents - self.form.precision)

    def within(self, atol: float, rtol: float) -> np.ndarray:
        """The same as ``np.isclose`` with ``equal_nan``, but faster."""
        if self.is_finite:
            return self.lengths(self.absolute) <= atol + rtol * self.lengths(self.magnitude)
        got, want = (_joined(self.got), _joined(self.want)) if self.is_complex else (self.got, self.want)
        return np.asarray(np.isclose(got, want, rtol, atol, equal_nan=True))

    def lengths(self, parts: np.ndarray) -> np.ndarray:
        """For complex numbers the Euclidean lengths of their parts; for others ``parts`` itself."""
        return np.hypot(parts[..., 0], parts[..., 1]) if self.is_complex else parts

    def equal_elements(self) -> np.ndarray:
        """Which elements are equal; complex numbers are if both parts are."""
        return self.equal.all(axis=-1) if self.is_complex else self.equal

    def zero_signs(self) -> int:
        """The number of zeros that have the other sign."""
        if self.magnitude.all():  # no zero is expected
            return 0
        other = np.signbit(self.got) != np.signbit(self.want)
        return int(np.count_nonzero((self.magnitude == 0) & self.equal & other))

    def _half(self, x: np.ndarray) -> np.ndarray:
        largest = np.frexp(self.form.maximum)[1] - 1  # the exponent of the largest finite value
        return np.where(np.isinf(x), np.copysign(2.0**largest, x), x / 2)


def _as_doubles(array: np.ndarray, is_complex: bool) -> np.ndarray:
    if is_complex:
        return np.ascontiguousarray(array, np.complex128).view(np.float64).reshape(*array.shape, 2)
    return array.astype(np.float64)


def _joined(parts: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(parts).view(np.complex128).reshape(parts.shape[:-1])


def _measure_integers(got: np.ndarray, want: np.ndarray, element: ElementType, criterion: Criterion) -> Measurement:
    wide = np.int64 if element.kind == "signed" else np.uint64
    g, w = got.astype(wide), want.astype(wide)
    # The difference of any two fits in 64 unsigned bits, and wraps around to it.
    difference = np.asarray(np.maximum(g, w).astype(np.uint64) - np.minimum(g, w).astype(np.uint64))
    ratios = None
    if isinstance(criterion, Tolerance):
        passing = _integers_within(difference, w, criterion)
    elif criterion is None:
        passing = difference == 0
    else:
        ratios = np.where(difference == 0, 0.0, difference / criterion.astype(np.float64))
        passing = ratios <= MAX_ERROR
    error = _equality_error(passing, criterion) if ratios is None else _largest(ratios)
    onnx = bool(_integers_within(difference, w, ONNX_TOLERANCE).all())
    return Measurement(passing, ratios, error, _largest(difference), onnx)


def _integers_within(difference: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    return difference <= tolerance.atol + tolerance.rtol * np.abs(want.astype(np.float64))


def _equality_error(passing: np.ndarray, criterion: Criterion) -> float | None:
    """The error without bounds: 0 or inf for equality, None for a tolerance."""
    if isinstance(criterion, Tolerance):
        return None
    return 0.0 if passing.all() else float("inf")


def _largest(values: np.ndarray) -> float:
    return float(values.max()) if values.size else 0.0
