"""A signalling NaN is a value like any other: it is judged without a warning, which in these tests is an error."""

import ml_dtypes
import numpy as np
import pytest
from miniatures import signalling_nans

from harness.judging.compare import ExpectedAnswer, compare
from harness.judging.distributions import compare_distributions
from harness.judging.measures import Tolerance, measure
from harness.numbers.distributions import Bernoulli, Distribution, Dropped, Mask, Multinomial, Normal, Uniform
from harness.spec.element_types import ElementType, element_type
from harness.suite.cases import Case, DataSet, Labels

TYPES = [element_type(np.dtype(t)) for t in ("f2", "f4", "f8", ml_dtypes.bfloat16, "c8", "c16")]
REALS = [of for of in TYPES if of.kind == "float"]
SHAPE = (40,)
"""Long enough for NumPy's vector loops, which raise other flags than its scalar ones."""


def ones(of: ElementType) -> np.ndarray:
    return np.ones(SHAPE).astype(of.dtype)


def quiet_nans(of: ElementType) -> np.ndarray:
    return np.full(SHAPE, complex(np.nan, np.nan) if of.kind == "complex" else np.nan).astype(of.dtype)


def case(of: ElementType, judged: str, *distributions: Distribution) -> Case:
    outputs = (f"tensor({of.name})",) * max(1, len(distributions))
    return Case("test_x", Labels("X"), (), outputs, (DataSet("g"),), 1e-3, 1e-7, judged, distributions)


def test_the_patterns_are_signalling():
    for of in TYPES:
        assert np.isnan(signalling_nans(of.dtype, SHAPE).tolist()).all()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        signalling_nans(np.dtype(np.float32), SHAPE).astype(np.float64)


@pytest.mark.parametrize("of", TYPES, ids=str)
@pytest.mark.parametrize("judge", [None, np.ones(SHAPE), np.ones(SHAPE, np.float32), Tolerance(1.0, 1.0)], ids=type)
def test_it_matches_nan_only(of: ElementType, judge: np.ndarray | Tolerance | None):
    signalling = signalling_nans(of.dtype, SHAPE)
    assert measure(signalling, quiet_nans(of), of, judge).passing.all()
    assert measure(quiet_nans(of), signalling, of, judge).passing.all()
    assert not measure(signalling, ones(of), of, judge).passing.any()
    assert not measure(ones(of), signalling, of, judge).passing.any()


@pytest.mark.parametrize("of", TYPES, ids=str)
@pytest.mark.parametrize("judged", ["bounds", "tolerance"])
@pytest.mark.parametrize("bounded", [True, False])
def test_it_is_a_wrong_value_with_a_message(of: ElementType, judged: str, bounded: bool):
    bounds, mask = np.ones(SHAPE, np.float32) if bounded else None, np.arange(SHAPE[0]) == 0
    got = signalling_nans(of.dtype, SHAPE)
    want = ExpectedAnswer(
        [ones(of)], lambda _: bounds, lambda: ["y"], lambda _: [quiet_nans(of)[:1], ones(of)], lambda _: mask
    )
    found = compare(case(of, judged), want, [got], lambda _: "all")
    assert (found.verdict, found.differing) == ("wrong_value", 39)
    assert found.message.startswith("y[1] = nan")


@pytest.mark.parametrize("of", TYPES, ids=str)
def test_it_may_be_expected_or_an_alternative(of: ElementType):
    signalling = signalling_nans(of.dtype, SHAPE)
    for want, alternative in ((signalling, ones(of)), (ones(of), signalling)):
        answer = ExpectedAnswer([want], alternatives=lambda _, alternative=alternative: [alternative])
        assert compare(case(of, "bounds"), answer, [quiet_nans(of)]).verdict == "passed"


@pytest.mark.parametrize("of", TYPES, ids=str)
def test_its_bits_count_if_all_bits_are_compared(of: ElementType):
    signalling = signalling_nans(of.dtype, SHAPE)
    for got, verdict in ((quiet_nans(of), "wrong_value"), (signalling.copy(), "passed")):
        found = compare(case(of, "bounds"), ExpectedAnswer([signalling]), [got], lambda _: "all")
        assert found.verdict == verdict


def test_a_bound_of_nan_allows_nothing():
    of = element_type("float")
    bounds = signalling_nans(np.dtype(np.float32), SHAPE)
    found = compare(case(of, "bounds"), ExpectedAnswer([ones(of)], lambda _: bounds), [2 * ones(of)])
    assert found.verdict == "wrong_value"


@pytest.mark.parametrize("of", REALS, ids=str)
@pytest.mark.parametrize(
    "distribution", [Normal(0.0, 1.0), Uniform(0.0, 1.0), Bernoulli(), Multinomial(), Dropped(), Mask(0)], ids=type
)
def test_it_follows_no_distribution(of: ElementType, distribution: Distribution):
    example = ones(of).reshape(1, -1) if isinstance(distribution, Multinomial) else ones(of)
    got = signalling_nans(of.dtype, example.shape)
    inputs = [example / example.dtype.type(2)]
    found = compare_distributions(case(of, "property", distribution), [example], [got], inputs, lambda: ["y"])
    assert found.verdict == "wrong_value"
    assert found.message.startswith("y[0")
    assert "nan" in found.message


@pytest.mark.parametrize("of", REALS, ids=str)
def test_inputs_and_other_outputs_may_hold_it(of: ElementType):
    signalling, mask = signalling_nans(of.dtype, SHAPE), np.ones(SHAPE, bool)
    two = case(of, "property", Dropped(), Mask(1))
    for data, y in ((signalling, ones(of)), (ones(of), signalling), (signalling, signalling)):
        assert compare_distributions(two, [y, mask], [y, mask], [data], lambda: ["y", "mask"]).verdict == "wrong_value"


def test_the_largest_values_of_a_type_do_not_warn_either():
    of = element_type("double")
    largest = np.full(SHAPE, np.finfo(np.float64).max)
    for distribution in (Dropped(), Normal(-1.0, 1.0), Uniform(-largest[0], largest[0])):
        found = compare_distributions(
            case(of, "property", distribution), [largest], [largest], [largest], lambda: ["y"]
        )
        assert found.verdict in ("passed", "wrong_value")
