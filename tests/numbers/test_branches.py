import numpy as np
import pytest
from flint import acb, arb

from harness.numbers import branches
from harness.numbers.balls import exact
from harness.numbers.branches import (
    argsort,
    ceil,
    clip,
    floor,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    minimum,
    rint,
    where,
)
from harness.numbers.passes import BranchesDiffer, Pass, current, running

A, B = np.array([1.0, 2.0, 3.0, np.nan]), np.array([2.0, 2.0, 1.0, 0.0])


def doubles(array):
    return array.astype(float)


@pytest.mark.parametrize("helper", [less, less_equal, greater, greater_equal])
def test_comparisons_are_one_in_both_systems(helper):
    native = helper(A, B)
    assert native.dtype == helper(exact(A), exact(B)).dtype == np.bool_
    assert native.tolist() == helper(exact(A), exact(B)).tolist() == helper(exact(A), B).tolist()
    assert helper(exact(np.array(1.0)), 2.0).shape == ()


@pytest.mark.parametrize("helper", [maximum, minimum])
def test_extremes_are_one_in_both_systems_with_nan_from_either_side(helper):
    for a, b in ((A, B), (B, A)):
        np.testing.assert_array_equal(doubles(helper(exact(a), exact(b))), helper(a, b))
    assert helper(exact(np.array(1.0)), 2).shape == ()


def test_clip_and_where_are_one_in_both_systems():
    x = np.array([-3.0, 0.5, 9.0])
    for low, high in ((-1, 1), (None, 1.0), (-1.0, None), (None, None), (2, 1)):
        np.testing.assert_array_equal(doubles(clip(exact(x), low, high)), clip(x, low, high))
    for made in (where(less(x, 0), x, 7), where(less(exact(x), 0), exact(x), 7)):
        assert doubles(made).tolist() == [-3, 7, 7]
    complexes = where(np.array([True, False]), exact(np.array([1j, 2j])), 0)
    assert [complex(v.imag) if isinstance(v, acb) else float(v) for v in complexes] == [1, 0]


def test_a_condition_of_balls_is_refused():
    with pytest.raises(TypeError, match="A condition is bool, not object"):
        where(exact(np.array([0.0])), 1, 2)
    with pytest.raises(TypeError, match="no order"):
        less(exact(np.array([1j])), 0)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_argsort_is_stable_with_nan_last_in_both_systems(descending, axis):
    x = np.array([[2.0, 1.0, 2.0, np.nan], [0.0, 5.0, 0.0, 5.0], [np.nan, -1.0, 2.0, 2.0]])
    native = argsort(x, axis, descending=descending)
    assert native.tolist() == argsort(exact(x), axis, descending=descending).tolist()
    if axis == -1:
        assert native[1].tolist() == ([1, 3, 0, 2] if descending else [0, 2, 1, 3])


@pytest.mark.parametrize("helper", [floor, ceil, rint])
def test_whole_numbers_are_one_in_both_systems(helper):
    x = np.array([[-1.5, -0.5, 0.5], [1.5, 2.0, 2.4999]])
    np.testing.assert_array_equal(doubles(helper(exact(x))), helper(x))
    assert helper(exact(np.array(0.5))).shape == ()
    assert not np.isfinite(doubles(helper(exact(np.array([np.inf, np.nan]))))).any()


def test_overlapping_balls_give_the_greater_midpoint_and_the_larger_radius():
    narrow, wide = arb(1, 0.25), arb(0.875, 0.5)
    for chosen in (maximum(narrow, wide)[()], maximum(wide, narrow)[()]):
        assert chosen.mid() == 1
        assert float(chosen.rad()) == pytest.approx(0.5)
    assert float(maximum(narrow, arb(0, 0.5))[()].rad()) == pytest.approx(0.25)
    lesser = minimum(narrow, wide)[()]
    assert lesser.mid() == 0.875
    assert float(lesser.rad()) == pytest.approx(0.5)


def test_decisions_on_overlapping_balls_are_unsure_and_go_by_midpoints():
    narrow, wide = arb(1, 0.25), arb(0.875, 0.5)
    for decide in (
        lambda: less(wide, narrow),
        lambda: argsort(np.array([narrow, wide], dtype=object)) == [1, 0],
        lambda: floor(wide) == arb(0),
        lambda: ceil(wide) == arb(1),
        lambda: rint(wide) == arb(1),
    ):
        run = Pass()
        with running(run, 96):
            assert np.all(decide())
        assert run.unsure
    run = Pass()
    with running(run, 96):
        less(exact(A), exact(B))
        rint(exact(np.array([0.5, 2.0])))
    assert not run.unsure


def test_a_later_pass_takes_the_branches_of_the_exact_one():
    first = Pass()
    with running(first, 96):
        assert less(arb(1), arb(2)).tolist() is True
        assert maximum(arb(1), arb(2))[()] == 2
        assert argsort(exact(np.array([3.0, 1.0]))).tolist() == [1, 0]
        assert rint(arb(0.5))[()] == 0
    with running(Pass(first), 11):
        assert less(arb(5), arb(2)).tolist() is True
        assert maximum(arb(9), arb(2))[()] == 2
        assert argsort(exact(np.array([0.0, 1.0]))).tolist() == [1, 0]
        assert rint(arb(7))[()] == 0
        with pytest.raises(BranchesDiffer, match="took 4 decisions"):
            floor(arb(1))
    assert current() is None


def test_where_widens_only_when_it_replays():
    narrow, wide = arb(1, 0.25), arb(0.875, 0.5)
    first = Pass()
    with running(first, 96):
        assert float(where(np.True_, narrow, wide)[()].rad()) == pytest.approx(0.25)
    with running(Pass(first), 11):
        assert float(where(np.True_, narrow, wide)[()].rad()) == pytest.approx(0.5)
        assert float(where(np.True_, narrow, arb.nan())[()].rad()) == pytest.approx(0.25)


def test_doubles_leave_no_decision():
    run = Pass()
    with running(run, 96):
        for helper in (less, maximum, minimum):
            helper(A, B)
        argsort(A)
        floor(A)
        clip(A, 0, 1)
    assert run.decisions == []
    assert branches.maximum(np.float64(1), 2) == 2
