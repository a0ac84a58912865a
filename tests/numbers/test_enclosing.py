import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb

from harness.numbers import enclosing
from harness.numbers.enclosing import enclosed, enclosed_integers, end_fractions, fraction, snapped
from harness.numbers.passes import precision
from harness.numbers.rounding import round_exact
from harness.spec.element_types import BY_NAME, ELEMENT_TYPES

FLOATS = [t for t in ELEMENT_TYPES if t.kind == "float"]


@pytest.fixture(autouse=True)
def many_bits():
    with precision(96):
        yield


def dyadic(units, exponent):
    return arb((units, exponent))


def test_float_of_a_ball_is_nearest_ties_to_even_also_below_the_normals():
    random = np.random.default_rng(1)
    ties = [
        arb((2 * int(u) + 1, -int(e)))
        for u, e in zip(random.integers(2**52, 2**53, 200), range(0, 1100, 5), strict=False)
    ]
    subnormal = [arb((2 * int(u) + 1, -1075)) for u in random.integers(0, 2**40, 200)]
    nudged = [v + s * v * arb((1, -90)) for v in ties[:100] + subnormal[:100] for s in (1, -1)]
    for v in ties + subnormal + nudged:
        exact = v.mid()
        assert float(exact) == round_exact(Fraction(*map(int, (exact.fmpq().p, exact.fmpq().q))), BY_NAME["double"])


def candidates(to):
    """Balls wide and narrow about values, ties, what lies beside them, zero, and both ends of the range."""
    form = to.format
    random = np.random.default_rng(3)
    top = math.frexp(form.maximum)[1]
    balls = []
    for _ in range(150):
        units = int(random.integers(1 << form.precision, 2 << form.precision)) if form.precision > 1 else 3
        exponent = int(random.integers(form.smallest - 2, top + 3)) - form.precision - 1
        centre = dyadic(units, exponent)
        off = random.choice([0, 0, -40, -60, -88])
        centre += centre * arb((1, int(off))) * int(random.choice([-1, 1])) if off else 0
        radius = random.choice([0, 0, -30, -50, -70, -92])
        balls.append(centre * arb(1, (1, int(radius))) if radius else centre)
    balls += [arb(0), arb(0, 1e-30), arb(0, 1e30), arb(1) / 3, -arb(1) / 3, arb(1e300).exp(), arb(-1e300).exp()]
    balls += [arb(1e30).exp(), -arb(1e30).exp(), arb(-1e30).exp(), arb.nan(), arb.pos_inf(), arb(form.maximum)]
    return balls if to.name == "float8e8m0" else balls + [-b for b in balls]


@pytest.mark.parametrize("to", FLOATS, ids=str)
def test_the_fast_way_agrees_with_both_ends(to):
    balls = candidates(to)
    values, proved = enclosed(balls, to)
    for ball, value, known in zip(balls, values.tolist(), proved.tolist(), strict=True):
        if not ball.is_finite():
            assert not known
            continue
        low, high = (round_exact(end, to) for end in end_fractions(ball))
        same = low == high or (math.isnan(low) and math.isnan(high))
        assert known == same
        if known:
            assert value == high or (math.isnan(value) and math.isnan(high))


@pytest.mark.parametrize("name", ["float16", "float", "double", "float8e4m3fn"])
def test_the_common_case_never_takes_the_slow_way(name, monkeypatch):
    random = np.random.default_rng(5)
    balls = [arb(x).exp() for x in random.standard_normal(1000)] + [arb(x) for x in np.arange(0.5, 5, 0.25)]
    looked = []
    monkeypatch.setattr(enclosing, "end_fractions", lambda ball: looked.append(ball) or end_fractions(ball))
    _, proved = enclosed(balls, BY_NAME[name])
    assert proved.all()
    assert len(looked) < 3


@pytest.mark.parametrize("name", ["float", "double"])
def test_a_zero_takes_the_sign_of_its_ball(name):
    tiny = arb((1, -3000))
    values, proved = enclosed([tiny, -tiny, arb(0, (1, -3000)), -tiny * arb(1, 1e-9)], BY_NAME[name])
    assert proved.all()
    assert np.signbit(values).tolist() == [False, True, False, True]
    assert (values == 0).all()


@pytest.mark.parametrize(("half", "even"), [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2)])
def test_integers_round_ties_to_even(half, even):
    values, proved = enclosed_integers([arb(half), arb(half) * arb(1, (1, -60)), arb(half) + arb((1, -90))])
    assert proved.tolist() == [True, False, True]
    assert values[0] == even
    assert values[2] == math.floor(half) + 1
    assert snapped(arb(half) * arb(1, (1, -60)), BY_NAME["int8"]) == even


def test_integers_beyond_doubles_are_exact():
    big = 2**63 + 1
    values, proved = enclosed_integers([arb(big), arb(big) / 3 * 3, arb.nan(), arb(2) ** 60 + arb(0.5)])
    assert proved.tolist() == [True, True, False, True]
    assert [values[0], values[1], values[3]] == [big, big, 2**60]


def test_a_ball_on_a_tie_snaps_to_it_and_a_wide_one_does_not():
    tie = 1 + 2.0**-11
    to = BY_NAME["float16"]
    assert snapped(arb(tie) * arb(1, (1, -80)), to) == 1.0
    assert snapped(arb(1 + 3 * 2.0**-11) * arb(1, (1, -80)), to) == 1 + 2.0**-9
    assert snapped(arb(65520) * arb(1, (1, -80)), to) == math.inf
    assert snapped(arb((1, -25)) * arb(1, (1, -80)), to) == 0.0
    assert snapped(arb(tie) * arb(1, (1, -15)), to) is None
    assert snapped(arb.nan(), to) is None


def test_fractions_are_exact_and_bounded():
    assert fraction(arb(0.1)) == Fraction(0.1)
    assert fraction(arb(-3)) == -3
    assert fraction(arb((1, 10**9))) == 2**1200
    assert fraction(arb((-5, -(10**9)))) == -Fraction(1, 2**1200)


def test_the_ends_of_an_exact_ball_are_itself_at_any_precision():
    wide = arb(2) ** 200 + 1
    with precision(10):
        assert not wide.is_exact() or end_fractions(wide) == (fraction(wide), fraction(wide))
    with precision(300):
        wide = arb(2) ** 200 + 1
    assert flint.ctx.prec == 96
    assert end_fractions(wide) == (2**200 + 1, 2**200 + 1)
