import math

import ml_dtypes
import numpy as np
import pytest

from harness.numbers.balls import constant, erf
from harness.numbers.bound import evaluate, evaluate_exact, insensitive
from harness.numbers.branches import clip, greater, less, maximum, rint, round_to, where
from harness.numbers.evaluating import OracleMismatch, Undecided
from harness.numbers.passes import BranchesDiffer
from harness.numbers.rounding import Unrepresentable, ulp
from harness.spec.element_types import BY_NAME

FLOAT, DOUBLE, FLOAT16, BFLOAT16 = (BY_NAME[n] for n in ("float", "double", "float16", "bfloat16"))
INT8, BOOL = BY_NAME["int8"], BY_NAME["bool"]


def one(oracle, *inputs, out=FLOAT, working=None, **attributes):
    (expected,) = evaluate(oracle, inputs, attributes, [out], working)
    return expected


def f32(*values):
    return np.array(values, dtype=np.float32)


# ---- the bound against what is known of each formula ------------------------------------------------------------


def softmax(x):
    e = np.exp(x)
    return e / e.sum()


def variance(x):
    return (x * x).mean(keepdims=True) - x.mean(keepdims=True) ** 2


def gelu(x):
    inner = (constant("0.044715") * x * x * x + x) * constant("0.7978845608028654")
    return x * (np.tanh(inner) + 1) / 2


def running_product(x):
    y = np.full_like(x, 1)
    for j in range(len(x)):
        y[j] = x[: j + 1].prod()
    return y


NEAR_ONE = np.linspace(0.9, 1.1, 21)
SPREAD = np.linspace(-3, 3, 25)
POSITIVE, WAVE = np.sqrt(np.linspace(0.5, 6.5, 25)), np.sin(2 * np.arange(1.0, 26))
HALF_PI = 1.5707963 + np.linspace(-1e-2, 1e-2, 11)

# Each row: the oracle, its input, and sum over the inputs of |x dy/dx| plus |y| for every rounding of the formula,
# both in units of 2^-p. The bound is at least the first, and at most twice the sum.
CONDITIONING = {
    "exp": (np.exp, SPREAD, lambda x, y: (abs(x) * y, y)),
    "log near 1": (np.log, NEAR_ONE, lambda x, y: (1 + 0 * x, abs(y))),
    "cos near pi/2": (np.cos, HALF_PI, lambda x, y: (abs(x * np.sin(x)), abs(y))),
    "sqrt": (np.sqrt, np.linspace(0.5, 9, 20), lambda _, y: (y / 2, y)),
    "tanh": (np.tanh, SPREAD, lambda x, y: (abs(x) * (1 - y * y), abs(y))),
    "reciprocal": (lambda x: 1 / x, SPREAD + 7, lambda _, y: (abs(y), abs(y))),
    "difference": (lambda x: x - x[::-1] * 0.998046875, NEAR_ONE, lambda x, y: (abs(x) + abs(x[::-1]), abs(y) + 1)),
    "sum": (lambda x: x.sum(keepdims=True), POSITIVE, lambda x, y: (y, abs(np.cumsum(x)).sum())),
    "sum that cancels": (lambda x: x.sum(keepdims=True), WAVE, lambda x, _: (abs(x).sum(), abs(np.cumsum(x)).sum())),
    "product": (running_product, NEAR_ONE, lambda _, y: (np.arange(1, 22) * y, np.arange(1, 22) * y)),
    "softmax": (softmax, SPREAD, lambda x, y: (y * (1 - y) * abs(x), (len(x) + abs(x) + 4) * y)),
    "variance": (variance, NEAR_ONE + 3, lambda x, y: (2 * (x * abs(x - x.mean())).mean(), 24 * 20 + y)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), SPREAD, lambda x, y: (abs(x) * y * (1 - y), 3 * y)),
    "erf": (erf, SPREAD, lambda x, y: (abs(x) * np.exp(-x * x), abs(y))),
    "gelu": (gelu, SPREAD, lambda x, y: (abs(y), 12 * abs(x) + abs(y))),
}


@pytest.mark.parametrize("to", [FLOAT, FLOAT16], ids=str)
@pytest.mark.parametrize("name", CONDITIONING)
def test_the_bound_holds_an_honest_error_and_is_no_more_than_conditioning_and_roundings(name, to):
    oracle, points, figures = CONDITIONING[name]
    x = points.astype(to.dtype)
    expected = one(oracle, x, out=to)
    values, bound = expected.values.astype(np.float64), expected.bound
    honest = np.asarray(oracle(x), dtype=to.dtype).astype(np.float64)
    assert (abs(honest - values) <= bound).all()

    wide = x.astype(np.float64)
    conditioning, roundings = (np.asarray(f) * 2.0**-to.format.precision for f in figures(wide, values))
    assert (bound >= conditioning * 0.99).all()
    assert (bound >= ulp(values, to) / 2).all()
    assert (bound <= 2 * (conditioning + roundings + ulp(values, to) + to.tiny)).all()


def test_the_bound_scales_with_the_precision_of_every_type():
    x = np.linspace(0.5, 2, 9)
    relative = {}
    for name in ("bfloat16", "float16", "float", "double"):
        to = BY_NAME[name]
        expected = one(lambda x: np.exp(x * x), x.astype(to.dtype), out=to)
        relative[name] = (expected.bound / expected.values.astype(np.float64)).max() * 2.0**to.format.precision
    assert all(4 < figure < 25 for figure in relative.values())


def test_s_does_not_vanish_for_the_smallest_doubles():
    x = np.array([1e-307, 3e-308])
    expected = one(lambda x: x - x[::-1] * 0.5, x, out=DOUBLE)
    assert (expected.bound >= 2.0**-1022).all()
    x = np.array([1e-280])
    assert one(lambda x: x * 3 - x * 2.75, x, out=DOUBLE).bound[0] > 2 * 1e-280 * 2.0**-53


def test_the_working_precision_may_be_another_than_the_types():
    x = np.linspace(1, 2, 5)
    assert one(np.exp, x, out=DOUBLE).bound.max() < 1e-14
    coarse = one(np.exp, x, out=DOUBLE, working=FLOAT)
    assert 2.0**-25 < coarse.bound.min() < 2.0**-18
    assert (coarse.values == one(np.exp, x, out=DOUBLE).values).all()
    mixed = evaluate(lambda x: (x * x, x + 1), [x], {}, [DOUBLE, FLOAT16])
    assert mixed[0].bound.min() > 2.0**-12  # the narrowest of the outputs


def test_inputs_of_more_bits_are_rounded_on_entry():
    x = np.array([1 + 2.0**-40])
    assert one(lambda x: x, x, out=DOUBLE, working=FLOAT).bound[0] > 1.9 * 2.0**-24  # of which s is one half


# ---- values ------------------------------------------------------------------------------------------------------


def test_integers_of_more_digits_than_the_working_precision_have_a_bound():
    """2^30 / 3 in float is known to about 64: what lies within 4 radii is accepted, not the two ends alone."""
    expected = one(lambda x: rint(x / 3), f32(2.0**30, 9), out=BY_NAME["int32"], working=FLOAT)
    assert expected.values.tolist() == [357913941, 3]
    assert expected.bound is not None
    assert expected.bound[1] == 0
    assert 8 < expected.bound[0] < 128
    assert expected.alternatives == ()


def test_an_exact_tie_behind_a_division_goes_to_even():
    x = f32(2, 0.5, 0.5 + 3 * 2.0**-24)  # the mean is 1 + 2^-24
    assert one(lambda x: x.sum() / 3, x).values == 1.0
    assert one(lambda x: x.sum() * (x[0] / (x[0] * 3)), x).values == 1.0
    x = f32(2, 0.5, 0.5 + 9 * 2.0**-24)  # 1 + 3 * 2^-24
    assert one(lambda x: x.sum() * (x[0] / (x[0] * 3)), x).values == np.float32(1 + 2.0**-22)


def test_ties_that_no_precision_resolves_snap_at_the_cap():
    ties = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.5 * 2.0**-24])
    expected = one(lambda x: np.exp(np.log(x)), ties, out=FLOAT16)
    assert expected.values.tolist() == [1.0, 1 + 2.0**-9, 2.0**-23]
    x = f32(0.1, 3, 7e-20)
    assert (one(lambda x: np.sqrt(x * x), x).values == x).all()


@pytest.mark.parametrize("to", [FLOAT16, FLOAT, DOUBLE], ids=str)
def test_a_hidden_zero_is_a_positive_zero_with_a_bound(to):
    x = np.array([1.25, 2.5], dtype=to.dtype)
    expected = one(lambda x: np.log(np.exp(x)) - x, x, out=to)
    assert expected.values.tolist() == [0, 0]
    assert not np.signbit(expected.values).any()
    assert (expected.bound >= 2.0**-to.format.precision).all()


def test_a_hidden_zero_under_a_root_is_undecided():
    with pytest.raises(Undecided, match="Element 0 of a float output is only known as"):
        one(lambda x: np.sqrt(abs(np.log(np.exp(x)) - x)), f32(1.25))


def test_double_rounding_does_not_happen():
    # 1 + 2^-8 + 2^-30 is just above a tie of bfloat16, and rounds to that tie in float.
    x = np.array([1.0], dtype=ml_dtypes.bfloat16)
    assert float(one(lambda x: x + (2.0**-8 + 2.0**-40), x, out=BFLOAT16).values[0]) == 1 + 2.0**-7
    assert one(lambda x: x + 2.0**-24 * (1 + 2.0**-60), f32(1)).values[0] == 1
    assert one(lambda x: x + x * 2.0**-24 + x * 2.0**-120, f32(1)).values[0] == np.float32(1 + 2.0**-23)


@pytest.mark.parametrize(
    ("oracle", "x", "want"),
    [
        (np.log, 0.0, -math.inf),
        (np.log, -1.0, math.nan),
        (lambda x: 1 / x, 0.0, math.inf),
        (lambda x: 1 / x, -0.0, -math.inf),
        (lambda x: x - x, math.inf, math.nan),
        (lambda x: 1 / x, -math.inf, -0.0),
        (np.exp, -math.inf, 0.0),
        (np.exp, 1000.0, math.inf),
        (np.sin, -0.0, -0.0),
        (lambda x: 1 / (1 + np.exp(-x)), -3e38, 0.0),
        (lambda x: x * 1e-30 * 1e-30, -1.0, -0.0),
        (lambda x: maximum(x, 0), math.nan, math.nan),
        (lambda x: where(less(x, 0), 1, 2) * (x / x), math.nan, math.nan),
        (lambda x: maximum(np.log(x), 0), -1.0, math.nan),
        (erf, math.inf, 1.0),
    ],
)
def test_what_balls_cannot_say_comes_from_ieee_arithmetic(oracle, x, want):
    expected = one(oracle, f32(x))
    np.testing.assert_array_equal(expected.values, f32(want))
    assert np.signbit(expected.values[0]) == (math.copysign(1, want) < 0)
    assert (expected.bound[0] > 0) == math.isfinite(want)


def test_a_finite_value_from_ieee_arithmetic_has_a_bound_of_one_ulp():
    assert one(erf, f32(np.inf)).bound[0] == pytest.approx(2.0**-23)
    assert one(lambda x: 1 / (1 + np.exp(-x)), np.array([-1e300]), out=DOUBLE).bound[0] == 5e-324 + 2.0**-1022


def test_one_special_element_leaves_the_others_alone():
    expected = one(np.log, f32(0, 2, np.nan, -1, np.inf))
    np.testing.assert_array_equal(expected.values, f32(-np.inf, math.log(2), np.nan, np.nan, np.inf))
    assert expected.bound[1] < 1e-6
    assert expected.bound[[0, 2, 3, 4]].tolist() == [0, 0, 0, 0]
    assert not np.signbit(expected.values[[2, 3]]).any()


def test_a_finite_ball_wins_over_an_overflow_on_the_way():
    x = np.array([1e200])
    assert one(lambda x: np.sqrt(x * x), x, out=DOUBLE).values[0] == 1e200


def test_infinity_keeps_its_bound_only_near_the_threshold():
    x = np.array([15, 16, 65504], dtype=np.float16)
    expected = one(lambda x: x + 65504, x, out=FLOAT16)
    assert expected.values.tolist() == [65504, math.inf, math.inf]
    assert expected.bound[0] >= 16
    assert expected.bound[1] >= 16
    assert expected.bound[2] == 0
    assert 4 * expected.bound[1] >= 65536 - 65504  # ±inf taken as 2^(emax + 1)
    assert one(np.exp, f32(1000)).bound[0] == 0
    assert one(lambda x: x * 2, np.array([1e308]), out=DOUBLE).bound[0] == 0


def test_an_infinite_r_makes_an_infinite_bound_and_an_infinite_s_is_left_out():
    expected = one(lambda x: np.sqrt((1 + x) - 1 - x + x * x), np.array([0.0009], dtype=np.float16), out=FLOAT16)
    assert expected.values[0] == np.float16(0.0009)
    assert expected.bound[0] == math.inf
    assert insensitive(expected.values, expected.bound).all()
    from harness.numbers.balls import arccos

    assert one(arccos, f32(1.0)).bound[0] < 1e-30


# ---- attributes, inputs, outputs ---------------------------------------------------------------------------------


def test_float_attributes_are_float32_and_carry_their_last_bit_where_the_type_cannot_hold_them():
    assert one(lambda x, *, alpha: x * alpha, np.array([1.0]), out=DOUBLE, alpha=0.1).values[0] == float(
        np.float32(0.1)
    )
    x = np.array([1.0], dtype=np.float16)

    def bound(**attributes):
        return one(lambda x, *, alpha: (x * 0 + alpha) * 64, x, out=FLOAT16, **attributes).bound[0]

    held, rough = bound(alpha=0.125) / 8, bound(alpha=0.1) / 6.4
    assert rough - held > 0.9 * 2.0**-11
    listed = one(lambda x, *, scales: x * scales[0] * scales[1], np.array([1.0]), out=DOUBLE, scales=[0.1, 0.5])
    assert listed.values[0] == float(np.float32(0.1)) / 2


def test_literals_count_as_decimals():
    expected = one(lambda x: x * constant("0.1"), np.array([3.0]), out=DOUBLE)
    assert expected.values[0] == 0.3
    assert expected.bound[0] > 2 * 0.3 * 2.0**-54


def test_angles_in_the_plain_formula_have_a_bound():
    def dft(x):
        n = np.arange(4)
        angle = np.outer(n, n) * (2 * constant("pi") / 4)
        return np.stack([np.cos(angle) @ x, -np.sin(angle) @ x])

    expected = one(dft, f32(1, 2, 3, 4))
    np.testing.assert_allclose(expected.values[0], [10, -2, -2, -2], rtol=1e-6)
    np.testing.assert_allclose(expected.values[1], [0, 2, 0, -2], atol=1e-30)
    assert expected.bound[1, 0] < 1e-37  # the sine of 0 rounds nowhere
    assert (expected.bound.ravel()[[0, 1, 2, 3, 5, 6, 7]] > 2.0**-24).all()


@pytest.mark.parametrize("name", ["float8e4m3fn", "float8e5m2", "float4e2m1", "float6e2m3", "float8e8m0"])
def test_the_narrowest_types_are_judged_too(name):
    to = BY_NAME[name]
    expected = one(lambda x: round_to(x / 3, to), np.array([3.0, 6.0]).astype(to.dtype), out=to)
    assert expected.values.astype(float).tolist() == [1.0, 2.0]
    assert expected.bound is None


def test_what_is_not_real_reaches_the_oracle_as_it_is():
    axis, words, nothing = np.array(1), np.array(["a"], dtype=object), None
    seen = []

    def oracle(x, *rest, keepdims, mode):
        seen.append((*rest, keepdims, mode))
        return x.sum(axis=int(rest[0]), keepdims=bool(keepdims))

    expected = one(oracle, np.ones((2, 3), np.float32), axis, words, nothing, keepdims=1, mode="x")
    assert expected.values.tolist() == [[3], [3]]
    assert len(seen) == 4
    assert all(a is axis and w is words and n is None and (k, m) == (1, "x") for a, w, n, k, m in seen)


def test_an_oracle_cannot_write_into_its_inputs():
    def oracle(x):
        x[0] = 0
        return x

    with pytest.raises(ValueError, match="read-only"):
        one(oracle, f32(1))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 3)])
def test_shapes_stay(shape):
    for to in (FLOAT, DOUBLE, BFLOAT16):
        expected = one(np.exp, np.ones(shape, to.dtype), out=to)
        assert expected.values.shape == expected.bound.shape == shape
        assert expected.values.dtype == to.dtype
    assert one(lambda x: np.zeros((2, 2), dtype=x.dtype), f32(1)).values.tolist() == [[0, 0], [0, 0]]
    assert one(lambda x: x[:0].sum(), f32(1)).values == 0


def test_outputs_of_several_kinds():
    positive, indices, doubled, root = evaluate(
        lambda x: (greater(x, 0), np.arange(3), [2 * v for v in x], np.sqrt(x)),
        [f32(1, 4, 9)],
        {},
        [BOOL, BY_NAME["int64"], FLOAT, FLOAT],
    )
    assert positive.bound is None
    assert positive.values.tolist() == [True, True, True]
    assert indices.bound is None
    assert indices.values.dtype == np.int64
    assert doubled.values.tolist() == [2, 8, 18]
    assert root.values.tolist() == [1, 2, 3]


def test_complex_outputs_have_one_bound_of_the_modulus():
    x = np.array([1 + 2j, -0.5j, complex(np.inf, 1)], dtype=np.complex64)
    expected = one(lambda x: x * (0.1 + 0.3j), x, out=BY_NAME["complex64"])
    assert expected.values.dtype == np.complex64
    np.testing.assert_allclose(expected.values[:2], x[:2].astype(np.complex128) * (0.1 + 0.3j), rtol=1e-7)
    assert expected.values[2].real == np.inf
    assert expected.bound.dtype == np.float64
    u = 2.0**-24 * np.abs(expected.values[:2])
    assert (expected.bound[:2] >= u).all()
    assert (expected.bound[:2] <= 16 * u).all()
    modulus = one(abs, x[:2], out=FLOAT)
    assert modulus.values.tolist() == [np.float32(math.sqrt(5)), 0.5]


def quantized(x, scale):
    return clip(rint(x / scale), -128, 127)


def test_integers_of_reals_accept_what_lies_within_four_r():
    scale = np.asarray(np.float32(0.1))
    expected = one(quantized, f32(0.25, 0.2, -0.25, np.inf, 1e30), scale, out=INT8, working=FLOAT)
    assert expected.bound is None
    assert expected.values.tolist() == [2, 2, -2, 127, 127]
    low, high = expected.alternatives
    assert low.tolist() == [2, 2, -3, 127, 127]
    assert high.tolist() == [3, 2, -2, 127, 127]


def test_exact_ties_and_all_that_is_far_from_one_accept_nothing_else():
    ties = one(quantized, f32(0.25, 0.75, 3), np.float32(0.5).reshape(()), out=INT8)
    assert ties.values.tolist() == [0, 2, 6]
    assert ties.alternatives == ()


def test_narrow_floats_are_rounded_by_the_oracle_and_have_no_bound():
    of = BY_NAME["float8e4m3fn"]
    expected = one(
        lambda x, s: round_to(x / s, of, saturate=True), f32(1.7, 1000, -1e9), f32(0.1), out=of, working=FLOAT
    )
    assert expected.bound is None
    assert expected.values.dtype == of.dtype
    # 17 lies between 16 and 18, and the quotient of the floats is a little above it.
    assert expected.values.astype(float).tolist() == [18, 448, -448]
    assert [alternatives.astype(float).tolist() for alternatives in expected.alternatives] == [
        [16, 448, -448],
        [18, 448, -448],
    ]


def test_branches_are_those_of_the_exact_evaluation():
    # At 11 bits both quotients are one ball, and the wrong branch is 100 away.
    x = np.array([1.0, 3.0], dtype=np.float16)
    expected = one(lambda x: where(less(x[0] / x[1], x[0] / x[1] + 2.0**-20), x, 100), x, out=FLOAT16)
    assert expected.values.tolist() == [1, 3]
    assert (expected.bound < 0.01).all()


def test_decisions_on_ties_of_computed_values_are_taken_at_the_cap():
    expected = one(lambda x: where(less(np.exp(np.log(x)), x), x, x), f32(3))
    assert expected.values.tolist() == [3]


def test_unsure_decisions_are_made_again_at_higher_precision():
    expected = one(lambda x: where(less(np.exp(np.log(x)), x + x * 2.0**-120), 1, 2), f32(3, 5, 7))
    assert expected.values.tolist() == [1, 1, 1]
    expected = one(lambda x: where(less(x + x * 2.0**-120, np.exp(np.log(x))), 1, 2), f32(3, 5, 7))
    assert expected.values.tolist() == [2, 2, 2]


def test_branches_decided_outside_of_the_helpers_are_noticed():
    def oracle(x):
        return maximum(x, 0) if bool(x[0] / 3 * 3 == x[0]) else maximum(maximum(x, 0), 1)

    with pytest.raises(BranchesDiffer, match="wants more"):
        one(oracle, f32(1.5))


@pytest.mark.parametrize(
    ("oracle", "match"),
    [
        (lambda x: (x, x), "1 outputs are wanted, the oracle returns 2"),
        (lambda x: x[:1] if x.dtype == object else x, "over balls"),
    ],
)
def test_oracles_that_do_not_fit_are_named(oracle, match):
    with pytest.raises(OracleMismatch, match=match):
        one(oracle, f32(1, 2))
    with pytest.raises(TypeError, match="state the working precision"):
        one(lambda x: x, np.array([1]), out=INT8)


def test_evaluation_is_deterministic():
    x = np.linspace(-2, 2, 17, dtype=np.float32)
    first, second = one(gelu, x), one(gelu, x)
    assert first.values.tobytes() == second.values.tobytes()
    assert first.bound.tobytes() == second.bound.tobytes()


# ---- exact operators and insensitive elements ----------------------------------------------------------------------


def test_exact_operators_keep_every_bit_of_every_type():
    x = np.array([-0.0, np.nan, 3, -np.inf], dtype=ml_dtypes.bfloat16)
    (negated,) = evaluate_exact(lambda x: -x, [x], {}, [BFLOAT16])
    np.testing.assert_array_equal(negated.values.astype(float), [0, np.nan, -3, np.inf])
    assert not np.signbit(negated.values[0])
    assert negated.bound is None
    words = np.array(["b", "a"], dtype=object)
    assert evaluate_exact(lambda x: x[::-1], [words], {}, [BY_NAME["string"]])[0].values.tolist() == ["a", "b"]
    big = np.array([2**63 - 1])
    assert evaluate_exact(lambda x: x, [big], {}, [BY_NAME["int64"]])[0].values.tolist() == big.tolist()
    both = evaluate_exact(lambda x, *, n: (x[:n], x[n:]), [f32(1, 2, 3)], {"n": 1}, [FLOAT, FLOAT])
    assert [e.values.tolist() for e in both] == [[1], [2, 3]]


def test_exact_operators_that_round_are_refused():
    with pytest.raises(Unrepresentable, match="no value of float"):
        evaluate_exact(lambda x: x / 3, [f32(1)], {}, [FLOAT])


def test_signalling_nan_is_just_nan():
    x = np.array([0x7F81, 0x3F80], dtype=np.uint16).view(ml_dtypes.bfloat16)
    values = one(lambda x: x + 1, x, out=BFLOAT16).values.astype(float)
    np.testing.assert_array_equal(values, [np.nan, 2])


def test_blunt_elements_are_those_that_cannot_fail():
    values = f32(1, 16, np.inf, np.nan)
    assert insensitive(values, np.array([1.0, 1.1, 0.0, 0.0])).tolist() == [False, True, False, False]
    assert insensitive(f32(0, 0), np.array([1e-38, 0.1])).tolist() == [False, True]
    assert insensitive(np.array([3 + 4j]), np.array([0.3])).tolist() == [False]
    assert insensitive(np.array([3 + 4j]), np.array([0.4])).tolist() == [True]
