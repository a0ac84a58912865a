"""How far two tensors are apart, element by element: in bounds, in units in the last place and under a tolerance."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from harness.spec.element_types import BY_NAME, Bits, ElementType, FloatFormat

ALLOWED = 4.0
"""An answer may be this many bounds from what is expected: the one threshold (design, section 3)."""
_BFLOAT16_RTOL = 2.0**-6
"""onnx's runner allows bfloat16 two units in the last place at least."""
_HUGE = 2.0**1000
"""From here on differences are taken of halves, or they would overflow; halves of small numbers would underflow."""


class Tolerance(msgspec.Struct, frozen=True):
    """A judge as onnx's runner is: ``|got - want| <= atol + rtol * |want|``."""

    rtol: float
    atol: float

    def relative(self, element: ElementType) -> float:
        """The rtol that onnx's runner takes for a type."""
        return max(self.rtol, _BFLOAT16_RTOL) if element.name == "bfloat16" else self.rtol


ONNX = Tolerance(1e-3, 1e-7)
"""What onnx's own tests allow unless they say otherwise."""

Judge = np.ndarray | Tolerance | None
"""What decides: bounds, one an element; a tolerance; or equality."""


class Measured(msgspec.Struct, frozen=True, eq=False):
    """How two tensors of one element type and one shape differ; arrays have that shape."""

    passing: np.ndarray
    """bool: which elements the judge allows."""
    ratios: np.ndarray | None
    """float64: the differences in bounds; None where the judge is no array."""
    error: float | None
    """The largest difference in bounds (inf where values must be equal and are not); None by tolerance."""
    ulps: float | None
    """The largest difference in units in the last place of what is expected; None for bool and string."""
    onnx: bool
    """Whether onnx's own tolerance allows all of it."""
    zero_signs: int = 0
    """Zeros of the other sign."""


def measure(got: np.ndarray, want: np.ndarray, element: ElementType, judge: Judge) -> Measured:
    """Measure ``got`` against ``want``, both of ``element`` and of one shape; NaN matches NaN, and +0 matches -0.

    Computed in double and complex128, integers exactly, whatever the platform's long double is.
    """
    with np.errstate(all="ignore"):
        if element.format:
            return _reals(got, want, element, element.format, judge)
        if element.kind in ("signed", "unsigned"):
            return _integers(got, want, element, judge)
        same = np.asarray(got == want, dtype=bool)
        return Measured(same, None, _equality(same, judge), None, bool(same.all()))


def bits_differ(got: np.ndarray, want: np.ndarray, element: ElementType, bits: Bits) -> np.ndarray:
    """bool, of their shape: which floats are equal, or both NaN, but differ in the ``bits`` that are compared."""
    if element.format is None or bits == "":
        return np.zeros(want.shape, bool)
    if element.kind == "complex":
        part = BY_NAME["float" if element.name == "complex64" else "double"]
        sides = [np.ascontiguousarray(x).view(part.dtype).reshape(*x.shape, 2) for x in (got, want)]
        return np.asarray(bits_differ(sides[0], sides[1], part, bits).any(axis=-1))
    with np.errstate(all="ignore"):
        compared = (got == 0) & (want == 0)
        if bits == "all":
            compared |= (got != got) & (want != want)  # noqa: PLR0124 - NaN of any dtype
    patterns = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(x.shape) for x in (got, want)]
    return np.asarray(compared & (patterns[0] != patterns[1]))


def _reals(got: np.ndarray, want: np.ndarray, element: ElementType, form: FloatFormat, judge: Judge) -> Measured:
    gap = _Gap(got, want, element, form)
    onnx = gap.within(ONNX.atol, ONNX.relative(element))
    ratios = None
    if isinstance(judge, Tolerance):
        passing = onnx if judge == ONNX else gap.within(judge.atol, judge.relative(element))
    elif judge is None:
        passing = gap.joined_equal()
    else:
        bounds = judge.astype(np.float64)
        ratios = gap.joined(gap.over(bounds[..., None] if gap.complex else bounds))
        passing = ratios <= ALLOWED
    error = _equality(passing, judge) if ratios is None else _largest(ratios)
    return Measured(passing, ratios, error, _largest(gap.over(gap.ulp())), bool(onnx.all()), gap.zero_signs())


class _Gap:
    """``|got - want|`` of floats in double; complex numbers have their two parts along a new last axis."""

    def __init__(self, got: np.ndarray, want: np.ndarray, element: ElementType, form: FloatFormat) -> None:
        self.form = form
        self.complex = element.kind == "complex"
        self.got, self.want = _parts(got, self.complex), _parts(want, self.complex)
        self.apart = np.abs(self.got - self.want)
        self.size = np.abs(self.want)
        self.finite = math.isfinite(_largest(self.apart))
        """Whether there is no inf, no NaN and no overflow, as nearly always."""
        self.equal = self.apart == 0
        if not self.finite:
            self.equal = (self.got == self.want) | (np.isnan(self.got) & np.isnan(self.want))

    def over(self, unit: np.ndarray) -> np.ndarray:
        """The gap in units, where ±inf is the power of two after the largest finite value.

        0 where both are equal, inf where only one is NaN or the unit is 0.
        """
        ratios = self.apart / unit
        if self.finite and math.isfinite(_largest(ratios)):
            return ratios
        if not self.finite:
            huge = (np.abs(self.got) >= _HUGE) | (self.size >= _HUGE)
            ratios = np.where(huge, np.abs(self._half(self.got) - self._half(self.want)) / (unit / 2), ratios)
        return np.where(self.equal, 0.0, np.where(np.isnan(ratios), np.inf, ratios))

    def ulp(self) -> np.ndarray:
        """The unit in the last place of each expected value; that of inf is the largest one."""
        exponents = np.frexp(np.clip(self.size, 2.0**self.form.emin, self.form.maximum))[1]
        return np.ldexp(1.0, exponents - self.form.precision)

    def within(self, atol: float, rtol: float) -> np.ndarray:
        """As ``np.isclose`` with ``equal_nan``, which is slower."""
        if self.finite:
            return self.joined(self.apart) <= atol + rtol * self.joined(self.size)
        got, want = (_whole(self.got), _whole(self.want)) if self.complex else (self.got, self.want)
        return np.asarray(np.isclose(got, want, rtol, atol, equal_nan=True))

    def joined(self, parts: np.ndarray) -> np.ndarray:
        """Lengths of the parts, taken together."""
        return np.hypot(parts[..., 0], parts[..., 1]) if self.complex else parts

    def joined_equal(self) -> np.ndarray:
        """Whether the numbers are equal, part by part."""
        return self.equal.all(axis=-1) if self.complex else self.equal

    def zero_signs(self) -> int:
        """How many zeros have the other sign."""
        if self.size.all():  # there are none
            return 0
        return int(np.count_nonzero((self.size == 0) & self.equal & (np.signbit(self.got) != np.signbit(self.want))))

    def _half(self, x: np.ndarray) -> np.ndarray:
        largest = np.frexp(self.form.maximum)[1] - 1  # the exponent of the largest finite value
        return np.where(np.isinf(x), np.copysign(2.0**largest, x), x / 2)


def _parts(array: np.ndarray, is_complex: bool) -> np.ndarray:
    if is_complex:
        return np.ascontiguousarray(array, np.complex128).view(np.float64).reshape(*array.shape, 2)
    return array.astype(np.float64)


def _whole(parts: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(parts).view(np.complex128).reshape(parts.shape[:-1])


def _integers(got: np.ndarray, want: np.ndarray, element: ElementType, judge: Judge) -> Measured:
    wide = np.int64 if element.kind == "signed" else np.uint64
    g, w = got.astype(wide), want.astype(wide)
    # The difference of any two fits in 64 unsigned bits, and wraps around to it.
    apart = np.asarray(np.maximum(g, w).astype(np.uint64) - np.minimum(g, w).astype(np.uint64))
    ratios = None
    if isinstance(judge, Tolerance):
        passing = _integers_close(apart, w, judge)
    elif judge is None:
        passing = apart == 0
    else:
        ratios = np.where(apart == 0, 0.0, apart / judge.astype(np.float64))
        passing = ratios <= ALLOWED
    error = _equality(passing, judge) if ratios is None else _largest(ratios)
    return Measured(passing, ratios, error, _largest(apart), bool(_integers_close(apart, w, ONNX).all()))


def _integers_close(apart: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    return apart <= tolerance.atol + tolerance.rtol * np.abs(want.astype(np.float64))


def _equality(passing: np.ndarray, judge: Judge) -> float | None:
    """The error where there are no bounds: equal or not at all; by tolerance there is none."""
    if isinstance(judge, Tolerance):
        return None
    return 0.0 if passing.all() else float("inf")


def _largest(values: np.ndarray) -> float:
    return float(values.max()) if values.size else 0.0
