import bisect
import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.numbers.rounding import Unrepresentable, round_array, round_exact, to_storage, ulp, wrap
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES

FLOATS = [t for t in ELEMENT_TYPES if t.kind == "float"]
NARROW = [t for t in FLOATS if t.bits <= 16 and t.name != "float8e8m0"]
INTEGERS = [t for t in ELEMENT_TYPES if t.kind in ("signed", "unsigned")]
E8M0 = BY_NAME["float8e8m0"]


def code_table(to):
    codes = np.arange(1 << to.bits, dtype=np.uint16 if to.bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):  # some NaN signal
        return codes, codes.view(to.dtype).astype(np.float64)


@cache
def every_value(name):
    """All finite values >= 0 with their codes, ascending: the type's own table, which no arithmetic of ours made."""
    to = BY_NAME[name]
    codes, values = code_table(to)
    keep = np.isfinite(values) & ~np.signbit(values)
    pairs = sorted(zip(values[keep].tolist(), codes[keep].tolist(), strict=True))
    return [Fraction(v) for v, _ in pairs], [c for _, c in pairs]


def by_bisection(x, to):
    values, codes = every_value(to.name)
    magnitude = abs(x)
    at = bisect.bisect_left(values, magnitude)
    if at == len(values):
        past = magnitude - values[-1]
        half = (values[-1] - values[-2]) / 2
        over = past > half or (past == half and codes[-1] % 2 == 1)
        nearest = values[-1]
        if over and (to.format.infinity or to.format.nan):
            return math.copysign(math.inf, x) if to.format.infinity else math.nan
    elif at == 0:
        nearest = values[0]
    else:
        below, above = magnitude - values[at - 1], values[at] - magnitude
        first = below < above or (below == above and codes[at - 1] % 2 == 0)
        nearest = values[at - 1] if first else values[at]
    return float(-nearest if x < 0 else nearest)


def by_neighbours(x, to):
    """For float and double: the best of the doubles or floats around a first guess."""
    kind, integer = (np.float32, np.int32) if to.bits == 32 else (np.float64, np.int64)
    limit = Fraction(2) ** (128 if to.bits == 32 else 1024)
    if abs(x) >= limit * (1 - Fraction(1, 2) ** (to.format.precision + 1)):
        return math.inf if x > 0 else -math.inf
    top = kind(np.finfo(kind).max)
    near = max(min(x, Fraction(float(top))), Fraction(-float(top)))
    with np.errstate(all="ignore"):
        guess = kind(near.numerator / near.denominator)
        around = [guess, np.nextafter(guess, kind(-math.inf)), np.nextafter(guess, kind(math.inf))]
    finite = [v for v in around if np.isfinite(v)]
    return float(min(finite, key=lambda v: (abs(Fraction(float(v)) - x), int(v.view(integer)) % 2)))


def slowly(x, to):
    return by_bisection(x, to) if to.bits <= 16 else by_neighbours(x, to)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == b


@st.composite
def near_boundaries(draw, to):
    """Rationals on, beside and between values and ties, over the whole range and a little beyond."""
    form = to.format
    exponent = draw(st.integers(form.smallest - 3, math.frexp(form.maximum)[1] + 2))
    units = draw(st.integers(0, 1 << form.precision + 1))
    step = Fraction(2) ** (exponent - draw(st.sampled_from([0, form.precision, form.precision - 1])))
    offset = draw(st.sampled_from([0, Fraction(1, 2), Fraction(1, 3), Fraction(1, 2) + Fraction(1, 1 << 200)]))
    sign = draw(st.sampled_from([1, -1]))
    x = (units + draw(st.sampled_from([1, -1])) * offset) * step
    if draw(st.integers(0, 7)) == 0:
        x = Fraction(form.maximum) + offset * Fraction(math.ulp(1)) * Fraction(form.maximum)
    if draw(st.integers(0, 7)) == 0:
        last = Fraction(2) ** (math.frexp(form.maximum)[1] - form.precision)
        x = Fraction(form.maximum) + offset * last * draw(st.sampled_from([1, -1]))
    return sign * x


@pytest.mark.parametrize("to", [t for t in FLOATS if t is not E8M0], ids=str)
@given(data=st.data())
def test_round_exact_is_nearest_ties_to_even(to, data):
    x = data.draw(near_boundaries(to))
    assert same(round_exact(x, to), slowly(x, to))


@pytest.mark.parametrize("to", NARROW, ids=str)
def test_every_value_and_every_tie_beside_it(to):
    values, _ = every_value(to.name)
    sample = values if len(values) < 300 else values[:40] + values[:: len(values) // 200] + values[-40:]
    at = [i for v in sample if (i := bisect.bisect_left(values, v)) + 1 < len(values)]
    nudge = Fraction(1, 1 << 200)
    for i in at:
        tie = (values[i] + values[i + 1]) / 2
        for x in (values[i], tie, tie * (1 + nudge), tie * (1 - nudge), -tie, -tie * (1 - nudge)):
            assert same(round_exact(x, to), by_bisection(x, to))


@pytest.mark.parametrize(
    ("name", "x", "want"),
    [
        ("float16", 65519, 65504.0),
        ("float16", 65520, math.inf),
        ("float16", -65520, -math.inf),
        ("float8e4m3fn", 464, 448.0),  # the tie above 448 has an even neighbour below
        ("float8e4m3fn", 465, math.nan),
        ("float8e4m3fnuz", 248, math.nan),
        ("float8e5m2", 61440, math.inf),
        ("float8e5m2fnuz", 61440, math.nan),
        ("float4e2m1", 1000, 6.0),
        ("float6e2m3", -1000, -7.5),
        ("bfloat16", Fraction(1, 1 << 133), 2.0**-133),
        ("bfloat16", Fraction(1, 1 << 134), 0.0),
        ("double", Fraction(3, 1 << 1075), 2.0**-1073),
    ],
)
def test_the_ends_of_the_range(name, x, want):
    assert same(round_exact(x, BY_NAME[name]), want)


def test_saturation_keeps_the_largest_finite_value():
    assert round_exact(-500, BY_NAME["float8e4m3fn"], saturate=True) == -448.0
    assert round_array(np.array([np.inf, -1e9, 1.0]), BY_NAME["float8e5m2"], saturate=True).tolist() == [
        57344,
        -57344,
        1,
    ]
    assert round_array(np.array([np.inf, 1e300]), BY_NAME["float16"], saturate=True).tolist() == [65504, 65504]


@pytest.mark.parametrize(
    ("x", "want", "saturated"),
    [
        (3, 4.0, 4.0),  # ties go up
        (Fraction(3, 2), 2.0, 2.0),
        (Fraction(149, 100), 1.0, 1.0),
        (0, math.nan, 2.0**-127),
        (Fraction(1, 1 << 128), math.nan, 2.0**-127),
        (2**128, math.nan, 2.0**127),
        (2**127, 2.0**127, 2.0**127),
        (-1, math.nan, math.nan),
    ],
)
def test_float8e8m0_rounds_as_cast_says(x, want, saturated):
    assert same(round_exact(x, E8M0), want)
    assert same(round_exact(x, E8M0, saturate=True), saturated)
    assert same(round_array(np.array([float(x)]), E8M0)[0], want)
    assert same(round_array(np.array([float(x)]), E8M0, saturate=True)[0], saturated)


def test_a_zero_keeps_its_sign_where_the_type_has_two():
    assert math.copysign(1, round_exact(Fraction(-1, 1 << 2000), BY_NAME["float"])) == -1
    assert math.copysign(1, round_exact(Fraction(-1, 1 << 2000), BY_NAME["float8e4m3fnuz"])) == 1
    assert np.signbit(round_array(np.array([-0.0, -1e-300]), BY_NAME["bfloat16"])).all()
    assert not np.signbit(round_array(np.array([-0.0, -1e-300]), BY_NAME["float8e5m2fnuz"])).any()


@pytest.mark.parametrize("to", FLOATS, ids=str)
def test_round_array_agrees_with_round_exact(to):
    random = np.random.default_rng(7)
    top = math.frexp(to.format.maximum)[1]
    exponents = random.integers(max(to.format.smallest - 3, -1070), min(top + 2, 1023), 400)
    significands = random.integers(0, 4 << min(to.format.precision, 50), 400) / 2.0**to.format.precision
    x = np.ldexp(significands * random.choice([1, -1], 400), exponents)
    if to is E8M0:
        x = np.abs(x)
    for got, v in zip(round_array(x, to).tolist(), x.tolist(), strict=True):
        want = round_exact(Fraction(v), to) if math.isfinite(v) else round_array(np.array([v]), to)[0]
        assert same(got, want)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
@pytest.mark.parametrize("name", ["float", "bfloat16", "float8e8m0", "double"])
def test_shapes_stay(name, shape):
    to = BY_NAME[name]
    x = np.full(shape, 2.0)
    for result in (round_array(x, to), ulp(x, to), to_storage(x, to)):
        assert result.shape == shape


@pytest.mark.parametrize("to", NARROW, ids=str)
def test_ulp_is_the_distance_of_neighbours(to):
    values, _ = every_value(to.name)
    spacing = ulp(np.array([float(v) for v in values[:-1]]), to)
    assert spacing.tolist() == [float(b - a) for a, b in itertools.pairwise(values)]
    assert ulp(np.array([-np.inf]), to)[0] == float(values[-1] - values[-2])


def test_ulp_of_float_and_double():
    assert ulp(np.array([1.0, -1.0, 0.0, 5e-324]), BY_NAME["double"]).tolist() == [2.0**-52, 2.0**-52, 5e-324, 5e-324]
    assert ulp(np.array([1.0, np.inf]), BY_NAME["float"]).tolist() == [2.0**-23, 2.0**104]
    assert np.isnan(ulp(np.array([np.nan]), BY_NAME["float"]))[0]


@pytest.mark.parametrize("to", [t for t in FLOATS if t.bits <= 16], ids=str)
def test_to_storage_returns_the_code_of_every_value(to):
    codes, values = code_table(to)
    stored = to_storage(values, to)
    assert stored.dtype == to.dtype
    numbers = ~np.isnan(values)
    assert (stored.view(codes.dtype)[numbers] == codes[numbers]).all()
    assert np.isnan(stored.astype(np.float64)[~numbers]).all()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.nan, "float4e2m1"),
        (np.inf, "float8e4m3fn"),
        (0.1, "float"),
        (0.0, "float8e8m0"),
        (1e-320, "bfloat16"),
        (1 + 2**-40, "bfloat16"),
        (2**53 + 1, "double"),
        (256, "uint8"),
        (0.5, "int32"),
        (np.nan, "int8"),
        (1, "bool"),
        (1j, "float"),
    ],
)
def test_what_a_type_does_not_have_is_refused(value, name):
    with pytest.raises(Unrepresentable, match=f"no value of|none of {name}"):
        to_storage(np.array([value]), BY_NAME[name])


def test_to_storage_of_other_kinds():
    assert to_storage(np.array([["a"]], dtype=object), BY_NAME["string"]).tolist() == [["a"]]
    assert to_storage([True, False], BY_NAME["bool"]).dtype == np.bool_
    assert to_storage(np.array([3.0, -4.0]), BY_NAME["int4"]).astype(int).tolist() == [3, -4]
    assert to_storage(np.array(2**64 - 1, dtype=object), BY_NAME["uint64"])[()] == 2**64 - 1
    stored = to_storage(np.array([complex(-0.0, np.inf)]), BY_NAME["complex64"])
    assert np.signbit(stored.real[0])
    assert stored.imag[0] == np.inf


@pytest.mark.parametrize("to", INTEGERS, ids=str)
@given(values=st.lists(st.integers(-(2**70), 2**70), min_size=1))
def test_wrap_is_arithmetic_modulo_two_to_the_bits(to, values):
    wrapped = wrap(values, to)
    assert wrapped.dtype == to.dtype
    for got, value in zip(wrapped.astype(object).tolist(), values, strict=True):
        assert to.minimum <= int(got) <= to.maximum
        assert (int(got) - value) % 2**to.bits == 0


def test_wrap_keeps_shapes_and_takes_bool():
    assert wrap(np.array([[0], [256]], dtype=object), BY_NAME["bool"]).tolist() == [[False], [True]]
    assert wrap(np.array(300, dtype=object), BY_NAME["uint8"]).shape == ()
    with pytest.raises(TypeError, match="no integer type"):
        wrap([1], BY_NAME["float"])


def test_integers_have_no_float_format():
    with pytest.raises(TypeError, match="int8 is no floating-point type"):
        round_exact(1, BY_NAME["int8"])
