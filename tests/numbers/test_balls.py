import math

import flint
import ml_dtypes
import numpy as np
import pytest
from flint import acb, arb

from harness.numbers import balls
from harness.numbers.balls import constant, exact, spread
from harness.numbers.passes import Pass, precision, running


def test_precision_is_restored_also_after_an_error():
    before, inside = flint.ctx.prec, []

    def fail():
        with precision(200):
            inside.append(flint.ctx.prec)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert inside == [200]
    assert flint.ctx.prec == before


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.uint64, np.int8]
)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_exact_keeps_value_and_shape(dtype, shape):
    array = np.full(shape, 1.75).astype(dtype)
    made = exact(array)
    assert made.shape == shape
    assert all(type(v) is arb and v.is_exact() for v in made.ravel())
    assert [float(v) for v in made.ravel()] == array.astype(np.float64).ravel().tolist()


def test_exact_of_large_integers_is_not_by_way_of_doubles():
    assert exact(np.array([2**64 - 1], dtype=np.uint64))[0] == arb(2**64 - 1)
    assert exact(np.array([-(2**63)]))[0] == arb(-(2**63))
    assert exact(np.array([3], dtype=ml_dtypes.int4))[0] == 3


def test_exact_of_special_values():
    nan, top, bottom = exact(np.array([np.nan, np.inf, -np.inf], dtype=np.float32))
    assert nan.is_nan()
    assert float(top) == math.inf
    assert float(bottom) == -math.inf


def test_exact_of_complex_and_of_what_numpy_leaves_in_object_arrays():
    z = exact(np.array([1 + 2j], dtype=np.complex64))[0]
    assert isinstance(z, acb)
    assert (float(z.real), float(z.imag)) == (1, 2)
    mixed = np.zeros(5, dtype=object)
    mixed[1], mixed[2], mixed[3], mixed[4] = 0.5, arb(3), np.float32(0.25), np.int64(7)
    made = exact(mixed)
    assert [float(v) for v in made] == [0, 0.5, 3, 0.25, 7]
    assert all(isinstance(v, arb) for v in made)


@pytest.mark.parametrize("x", [1.0, -3.0, 1e-300, 5e-324, 1e300])
@pytest.mark.parametrize("bits", [11, 53])
def test_spread_is_half_a_last_bit_scaled(x, bits):
    with precision(bits + 96):
        ball = spread(exact(np.array(x)), bits)[()]
        assert ball.mid() == arb(x)
        ratio = float(ball.rad() * arb(2) ** (bits + 60) / abs(arb(x)))
    assert 1 <= ratio < 1 + 2**-20


def test_constants_in_every_number_system():
    assert constant("0.1") == 0.1
    assert constant("pi") == math.pi
    with running(Pass(), 200):
        tenth, pi = constant("0.1"), constant("pi")
        assert tenth.overlaps(arb(1) / 10)
        assert not tenth.contains(arb(0.1))
        assert pi.overlaps(arb.pi())
        assert constant("0.5").is_exact()
    with running(Pass(spread=11), 107):
        assert constant("0.5").is_exact()
        assert float(constant("0.1").rad() * arb(2) ** 71 * 10) == pytest.approx(1, rel=1e-6)
    array = np.array([1.0, 2.0])
    assert (constant("0.5") * array).tolist() == [0.5, 1.0]
    with running(Pass(), 96):
        scaled = constant("0.5") * exact(array)
        assert scaled.shape == (2,)
        assert scaled[1] == 1


DOMAIN = {"arccosh": 1.5, "log2": 8.0}


@pytest.mark.parametrize(
    "name", ["arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "log2", "exp2", "erf", "isnan"]
)
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_element_functions_are_one_in_both_systems(name, shape):
    function = getattr(balls, name)
    assert function.__name__ == name
    x = np.full(shape, DOMAIN.get(name, 0.5))
    native, exactly = function(x), function(exact(x))
    assert native.shape == exactly.shape == shape
    assert exactly.dtype == (bool if name == "isnan" else object)
    np.testing.assert_allclose(exactly.astype(float), native, rtol=1e-14)
    assert type(function(arb(0.5) + 1)) is np.ndarray


def test_isnan_sees_balls_that_are_no_numbers():
    assert balls.isnan(exact(np.array([np.nan, np.inf, 1.0]))).tolist() == [True, False, False]
    assert balls.isnan(exact(np.array([complex(1, np.nan)]))).tolist() == [True]
    assert balls.erf(np.array([0.0, np.inf])).tolist() == [0, 1]
