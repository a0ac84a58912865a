"""Measures of differences, compared with exact fractions and with onnx's own test runner."""

import math
from fractions import Fraction

import numpy as np
import onnx.backend.test.runner
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.judging.measures import MAX_ERROR, ONNX_TOLERANCE, Tolerance, measure
from harness.spec.element_types import ELEMENT_TYPES, element_type

FLOATS = [t for t in ELEMENT_TYPES if t.kind == "float"]
INTEGERS = [t for t in ELEMENT_TYPES if t.kind in ("signed", "unsigned")]
NUMBERS = [t for t in ELEMENT_TYPES if t.kind not in ("string", "bool")]
runner = onnx.backend.test.runner.Runner


def array(element, *values):
    return np.array(values).astype(element.dtype)


def values_of(element):
    """Any value of a type, from its bit patterns."""
    if element.kind in ("signed", "unsigned"):
        return st.integers(element.minimum, element.maximum).map(
            lambda v: np.array([v], dtype=object).astype(element.dtype)
        )
    size = element.dtype.itemsize
    width = element.bits if element.bits < 8 else 8 * size
    bits = st.integers(0, 2**width - 1)
    return bits.map(lambda b: np.frombuffer(b.to_bytes(size, "little"), element.dtype).copy())


@st.composite
def pairs(draw, elements=NUMBERS):
    element = draw(st.sampled_from(elements))
    got, want = draw(values_of(element)), draw(values_of(element))
    return element, draw(st.sampled_from([got, want])), want


def as_complex(x):
    with np.errstate(invalid="ignore"):  # of signalling NaN
        return np.asarray(x).astype(np.complex128)


def is_nan(x):
    return bool(np.isnan(as_complex(x)).any())


def finite(x):
    return bool(np.isfinite(as_complex(x)).all())


@given(pairs())
def test_equality(pair):
    element, got, want = pair
    found = measure(got, want, element, None)
    if element.kind == "complex":
        return
    same = bool(got[0] == want[0]) or (is_nan(got) and is_nan(want))
    assert bool(found.passing[0]) == same
    assert found.error == (0.0 if same else math.inf)
    assert (found.ulps == 0) == same


@given(pairs(FLOATS), st.floats(2.0**-1074, 2.0**1000))
def test_bounds_are_exact_enough(pair, bound):
    element, got, want = pair
    assume(finite(got) and finite(want))
    found = measure(got, want, element, np.array([bound]))
    ratio = abs(Fraction(float(got[0])) - Fraction(float(want[0]))) / Fraction(bound)
    if ratio < Fraction(2) ** 1023:
        assert abs(Fraction(found.error) - ratio) <= ratio * Fraction(2) ** -50 + Fraction(2) ** -1074
    else:
        assert found.error >= 2.0**1022
    if abs(ratio - 4) > Fraction(2) ** -40:
        assert bool(found.passing[0]) == (ratio <= 4)


@given(pairs(INTEGERS), st.sampled_from([0.0, 0.25, 1.0, 3.5]))
def test_integers_are_measured_exactly(pair, bound):
    element, got, want = pair
    found = measure(got, want, element, np.array([bound], np.float32))
    apart = abs(int(got[0]) - int(want[0]))
    assert bool(found.passing[0]) == (apart <= 4 * bound)
    assert found.ulps == float(apart)


@given(pairs(FLOATS))
def test_units_in_the_last_place(pair):
    element, got, want = pair
    assume(finite(got) and finite(want))
    w = abs(Fraction(float(want[0])))
    form = element.format
    exponent = form.emin
    while w >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - form.precision + 1)
    want_ulps = abs(Fraction(float(got[0])) - Fraction(float(want[0]))) / unit
    found = measure(got, want, element, None).ulps
    if want_ulps < 2**1023:
        assert abs(Fraction(found) - want_ulps) <= want_ulps * Fraction(2) ** -50


@given(
    pairs([t for t in NUMBERS if t.name in ("float", "double", "float16", "bfloat16", "int32", "int64", "complex64")])
)
def test_tolerance_agrees_with_onnx(pair):
    element, got, want = pair
    assume((abs(complex(want[0])) < 1e300 and abs(complex(got[0])) < 1e300) or not finite(got) or not finite(want))
    with np.errstate(all="ignore"):
        try:
            runner.assert_similar_outputs([want], [got], ONNX_TOLERANCE.rtol, ONNX_TOLERANCE.atol)
            passes = True
        except AssertionError:
            passes = False
        if finite(got) and finite(want):  # near the edge their float arithmetic and ours may differ
            g, w = complex(got[0]), complex(want[0])
            edge = ONNX_TOLERANCE.atol + ONNX_TOLERANCE.rtol_for(element) * abs(w)
            assume(abs(abs(g - w) - edge) > 1e-5 * edge)
    found = measure(got, want, element, ONNX_TOLERANCE)
    assert found.within_onnx_tolerance == passes == bool(found.passing[0])
    assert found.error is None


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_infinity_counts_as_the_next_power_of_two(element):
    if not element.format.infinity:
        return
    largest, inf = array(element, element.format.maximum), array(element, np.inf)
    ulp = 2.0 ** (math.frexp(element.format.maximum)[1] - element.format.precision)
    found = measure(inf, largest, element, np.array([ulp]))
    assert (found.error, found.ulps, bool(found.passing[0])) == (1.0, 1.0, True)
    assert measure(largest, inf, element, np.array([ulp / 8])).error == 8.0
    assert measure(inf, inf, element, np.array([ulp])).error == 0.0
    assert measure(-inf, inf, element, np.array([ulp])).error > 4
    assert not measure(inf, largest, element, np.array([0.0])).passing[0]


@pytest.mark.parametrize("element", [t for t in ELEMENT_TYPES if t.format and t.format.nan], ids=str)
def test_nan_matches_nan_only(element):
    nan, one = array(element, np.nan), array(element, 1.0)
    for judge in (None, np.array([1e9]), Tolerance(1e9, 1e9)):
        assert measure(nan, nan, element, judge).passing.all()
        assert not measure(nan, one, element, judge).passing.any()
        assert not measure(one, nan, element, judge).passing.any()
    assert measure(nan, one, element, np.array([1e9])).error == math.inf


def test_zeros_of_the_other_sign_match_and_are_counted():
    element = element_type("float")
    got, want = array(element, -0.0, 0.0, 0.0, 1.0), array(element, 0.0, -0.0, 0.0, 1.0)
    for judge in (None, np.zeros(4), np.ones(4), ONNX_TOLERANCE):
        found = measure(got, want, element, judge)
        assert (found.passing.all(), found.zero_signs) == (True, 2)
    parts = np.array([complex(0.0, -0.0), complex(1, 0)], np.complex64)
    assert measure(parts, np.abs(parts), element_type("complex64"), None).zero_signs == 1


def test_complex_numbers_are_measured_by_their_distance():
    element = element_type("complex128")
    got, want = np.array([3 + 4j, 1 + 1j, complex(np.nan, 1)]), np.array([0j, 1 + 1j, complex(np.nan, 1)])
    found = measure(got, want, element, np.array([1.25, 0.0, 0.0]))
    assert found.ratios.tolist() == [4.0, 0.0, 0.0]
    assert found.passing.all()
    assert measure(got, want, element, None).passing.tolist() == [False, True, True]
    assert not measure(np.array([complex(1, np.nan)]), np.array([complex(np.nan, 1)]), element, None).passing.any()


def test_doubles_near_the_end_of_their_range_are_measured():
    element = element_type("double")
    largest = np.finfo(np.float64).max
    found = measure(
        array(element, largest, -largest),
        array(element, np.nextafter(largest, 0), largest),
        element,
        np.full(2, 2.0**970),
    )
    assert found.ratios[0] == 2.0
    assert not found.passing[1]


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,), (2, 3)])
def test_every_type_and_shape_matches_itself(element, shape):
    one = np.full(shape, "a" if element.kind == "string" else 1, dtype=object).astype(element.dtype)
    for judge in (None, np.full(shape, 0.5, np.float32), ONNX_TOLERANCE):
        found = measure(one, one.copy(), element, judge)
        assert np.shape(found.passing) == shape
        assert np.all(found.passing)
        assert found.within_onnx_tolerance
        assert found.error in (0.0, None)
        assert found.ulps == (None if element.kind in ("bool", "string") else 0.0)


def test_the_threshold_is_four():
    assert MAX_ERROR == 4
