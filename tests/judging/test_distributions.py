"""Right generators pass for many seeds, types and ways of rounding; wrong ones fail."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from harness.judging.compare import Comparison
from harness.judging.distributions import FALSE_ALARM_RATE, compare_distributions
from harness.numbers.distributions import Bernoulli, Distribution, Dropped, Mask, Multinomial, Normal, Uniform
from harness.numbers.rounding import round_array, to_storage
from harness.spec.element_types import BY_NAME, ElementType
from harness.suite.cases import Case, DataSet, Labels

FLOATS = ("float16", "bfloat16", "float", "double")
N = 10_000
NORMAL, UNIFORM = Normal(-6.0, 4.0), Uniform(-1.5, 2.5)
CHANCES = np.resize(np.array([0.25, 1.0, 0.5, 0.0, 0.75, 0.125]), 2340)
LOGS = np.array([[0.0, -1.0, 0.5, -2.0, 1.5], [3.0, -np.inf, -0.5, 2.0, 2.5]])


def judged(
    distribution: Distribution, got: np.ndarray, of: str, *inputs: np.ndarray, shape: tuple[int, ...] | None = None
) -> Comparison:
    """The verdict on an answer of float64 values, rounded into its type."""
    to = BY_NAME[of]
    stored = to_storage(round_array(got, to), to) if to.kind == "float" else np.asarray(got, to.dtype)
    case = Case("c", Labels("X"), (), (f"tensor({of})",), (DataSet("g"),), 0.0, 1.0, "property", (distribution,))
    example = np.zeros(got.shape if shape is None else shape, to.dtype)
    return compare_distributions(case, [example], [stored], list(inputs), lambda: ["y"])


def truncated(x: np.ndarray, to: ElementType) -> np.ndarray:
    """Rounded towards zero."""
    near = round_array(x, to)
    beyond = np.abs(near) > np.abs(x)
    return np.where(beyond, round_array(near - np.sign(near) * np.abs(near - x) * 2, to), near)


def in_the_type(x: np.ndarray, offset: float, factor: float, to: ElementType) -> np.ndarray:
    """``offset + factor * x`` with each step rounded."""
    return round_array(offset + round_array(factor * round_array(x, to), to), to)


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("seed", range(25))
def test_right_continuous_generators_pass(of: str, seed: int):
    to, generator = BY_NAME[of], np.random.default_rng(seed)
    even, normal = generator.random(N), generator.standard_normal(N)
    coarse = np.floor(even * 2.0**to.format.precision) / 2.0**to.format.precision  # all the bits the type has
    answers = {
        UNIFORM: (-1.5 + 4 * even, truncated(-1.5 + 4 * even, to), in_the_type(coarse, -1.5, 4, to)),
        Uniform(0.0, 1.0): (even, coarse, 1 - even, truncated(even, to)),
        Uniform(0.1, 0.7): (0.1 + 0.6 * even, in_the_type(even, 0.1, 0.6, to)),
        NORMAL: (-6 + 4 * normal, truncated(-6 + 4 * normal, to), in_the_type(normal, -6, 4, to)),
        Normal(0.0, 1.0): (normal, truncated(normal, to)),
    }
    for distribution, values in answers.items():
        for one in values:
            found = judged(distribution, one, of)
            assert (found.verdict, found.message) == ("passed", "")
            assert 0 <= found.error < 4
            assert (found.elements, found.differing) == (N, 0)


@pytest.mark.parametrize("of", ["float16", "bool", "uint8", "int64"])
@pytest.mark.parametrize("seed", range(25))
def test_right_discrete_generators_pass(of: str, seed: int):
    generator = np.random.default_rng(seed)
    ones = generator.random(CHANCES.size) < CHANCES
    assert judged(Bernoulli(), ones.astype(np.float64), of, CHANCES).verdict == "passed"
    weights = np.exp(LOGS)
    drawn = [generator.choice(5, 2000, p=row / row.sum()) for row in weights]
    assert judged(Multinomial(), np.array(drawn), "int32", LOGS.astype(np.float32)).verdict == "passed"


def normal(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda generator: change(generator.standard_normal(N))


def even(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda generator: change(generator.random(N))


def with_one(values: np.ndarray, other: float) -> np.ndarray:
    return np.concatenate([values[:-1], [other]])


FAULTS = {
    "the scale as a variance": (NORMAL, normal(lambda z: -6 + 2 * z)),
    "the scale squared": (NORMAL, normal(lambda z: -6 + 16 * z)),
    "no scale": (NORMAL, normal(lambda z: -6 + z)),
    "a scale 40 % too large": (NORMAL, normal(lambda z: -6 + 5.6 * z)),
    "no mean": (NORMAL, normal(lambda z: 4 * z)),
    "the mean's sign": (NORMAL, normal(lambda z: 6 + 4 * z)),
    "a mean a quarter of a scale away": (NORMAL, normal(lambda z: -5 + 4 * z)),
    "always the mean": (NORMAL, normal(lambda z: np.full(N, -6.0))),
    "one value for all": (NORMAL, normal(lambda z: np.full(N, -6 + 4 * z[0]))),
    "half of it": (NORMAL, normal(lambda z: -6 + 4 * np.abs(z))),
    "uniform values": (NORMAL, even(lambda u: -6 + 4 * (u - 0.5) * math.sqrt(12))),
    "NaN": (NORMAL, normal(lambda z: with_one(-6 + 4 * z, math.nan))),
    "an infinity": (NORMAL, normal(lambda z: with_one(-6 + 4 * z, -math.inf))),
    "far away": (NORMAL, normal(lambda z: with_one(-6 + 4 * z, 60))),
    "no low": (UNIFORM, even(lambda u: 2.5 * u)),
    "high as a width": (UNIFORM, even(lambda u: -1.5 + 2.5 * u)),
    "high less a tenth": (UNIFORM, even(lambda u: -1.5 + 3.6 * u)),
    "normal values": (UNIFORM, normal(lambda z: np.clip(0.5 + z, -1.5, 2.5))),
    "beyond the upper end": (UNIFORM, even(lambda u: with_one(-1.5 + 4 * u, 2.5 * (1 + 2.0**-7)))),
    "beyond the lower end": (UNIFORM, even(lambda u: with_one(-1.5 + 4 * u, -1.5 * (1 + 2.0**-7)))),
    "always an end": (UNIFORM, even(lambda u: np.where(u < 0.5, -1.5, 2.5))),
    "always low": (UNIFORM, even(lambda u: np.full(N, -1.5))),
}


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_continuous_generators_fail(fault: str, of: str):
    distribution, draw = FAULTS[fault]
    for seed in range(3):
        found = judged(distribution, draw(np.random.default_rng(seed)), of)
        assert found.verdict == "wrong_value"
        assert float(found.error) > 4
        assert found.message.startswith("y")


def test_the_upper_end_of_a_range_is_one_of_its_values():
    """What lies just below it is rounded to it, and the text does not exclude it."""
    assert judged(UNIFORM, with_one(-1.5 + 4 * np.random.default_rng(1).random(N), 2.5), "float").verdict == "passed"


@pytest.mark.parametrize("of", ["float16", "bool", "int32"])
def test_wrong_bernoulli_generators_fail(of: str):
    generator = np.random.default_rng(5)
    u = generator.random(CHANCES.size)
    for wrong in (
        u >= CHANCES,  # 1 - p
        u < 0.5,
        u < CHANCES**2,
        CHANCES > 0.5,
        np.zeros_like(u),
        np.ones_like(u),
        (u < CHANCES) | (np.arange(u.size) == 3),  # one 1 where there is none
        (u < CHANCES) & (np.arange(u.size) != 1),
        np.roll(u < CHANCES, 1),
    ):
        found = judged(Bernoulli(), wrong.astype(np.float64), of, CHANCES)
        assert found.verdict == "wrong_value"
    if of != "bool":
        found = judged(Bernoulli(), np.where(u < CHANCES, 2.0, 0.0), of, CHANCES)
        assert found.message.startswith(
            f"y[1] = 2, impossible for a Bernoulli distribution with the probabilities of input 0 ({of}); "
        )


def test_wrong_multinomial_generators_fail():
    generator = np.random.default_rng(6)
    chances = Multinomial().chances([LOGS])

    def drawn(weights: np.ndarray) -> np.ndarray:
        return np.array([generator.choice(5, 2000, p=row / row.sum()) for row in weights])

    assert judged(Multinomial(), drawn(chances), "int64", LOGS).verdict == "passed"
    for wrong in (
        np.tile(LOGS.argmax(axis=1)[:, np.newaxis], 2000),
        drawn(chances[::-1]),
        drawn(chances[:, ::-1]),
        drawn(np.ones((2, 5))),
        drawn(np.maximum(LOGS, 0)),  # as if they were no logarithms
        drawn(2.0 ** np.where(np.isinf(LOGS), -99, LOGS)),
        drawn(np.tile(chances[:1], (2, 1))),
    ):
        assert judged(Multinomial(), wrong, "int64", LOGS).verdict == "wrong_value"
    right = drawn(chances)
    for index, outcome in (((0, 0), 5), ((0, 7), -1), ((1, 3), 1)):
        wrong = right.copy()
        wrong[index] = outcome
        assert float(judged(Multinomial(), wrong, "int64", LOGS).error) == math.inf


DATA = np.resize(np.array([0.5, -2.0, 3.0, 0.75]), 2000)
DROPOUT = (Dropped(given=1), Mask(2))


def judged_dropout(got: np.ndarray, mask: np.ndarray, ratio: float, of: str) -> Comparison:
    """The verdict on an output and a mask for these data and a float ratio."""
    to = BY_NAME[of]
    stored, data = (to_storage(round_array(x, to), to) for x in (got, DATA))
    outputs = (f"tensor({of})", "tensor(bool)")
    case = Case("c", Labels("X"), (), outputs, (DataSet("g"),), 0.0, 1.0, "property", DROPOUT)
    return compare_distributions(case, [stored, mask], [stored, mask], [data, np.float32(ratio)], lambda: ["y", "mask"])


@pytest.mark.parametrize("of", [*FLOATS, "float8e4m3fn"])
@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.875])
@pytest.mark.parametrize("seed", range(5))
def test_right_dropouts_pass(of: str, ratio: float, seed: int):
    kept = np.random.default_rng(seed).random(DATA.size) >= ratio
    for scaled in (DATA / (1 - ratio), DATA * np.float64(1 / np.float32(1 - ratio))):
        found = judged_dropout(kept * scaled, kept, ratio, of)
        assert (found.verdict, found.message) == ("passed", "")


@pytest.mark.parametrize("of", ["float16", "bfloat16", "double"])
def test_wrong_dropouts_fail(of: str):
    even = np.random.default_rng(3).random(DATA.size)
    kept = even >= 0.25
    at = np.flatnonzero(kept)[7]
    right, one = kept * DATA / 0.75, np.arange(DATA.size) == at
    for y, mask, shown in (
        (kept * DATA, kept, "y["),
        (kept * DATA / 0.25, kept, "y["),
        ((even < 0.25) * DATA / 0.75, even < 0.25, "y: 1,476 of 2,000 are dropped, whose probability is 0.25"),
        ((even < 0.25) * DATA / 0.25, even < 0.25, "y["),
        (DATA / 0.75, np.ones_like(kept), "y: 0 of 2,000 are dropped, whose probability is 0.25"),
        (DATA, np.ones_like(kept), "y["),
        (np.where(kept, DATA / 0.75, np.nan), kept, "y["),
        (np.where(kept, DATA / 0.75, DATA), kept, "y["),
        (right, ~kept, "mask[0] ="),
        (right, np.ones_like(kept), "mask["),
        (right, kept ^ one, f"mask[{at}] ="),
        (np.where(one, -right, right), kept, f"y[{at}] ="),
    ):
        found = judged_dropout(y, mask, 0.25, of)
        assert found.verdict == "wrong_value"
        assert found.message.startswith(shown)


def test_a_mask_may_have_any_value_for_zeros():
    data, output = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 2.0])
    for mask, verdict in (([1, 0, 1], "passed"), ([1, 0, 0], "wrong_value")):
        assert judged(Mask(1), np.array(mask), "bool", data, output).verdict == verdict


def test_shapes_come_first_and_few_values_cannot_fail():
    assert judged(UNIFORM, np.zeros((2, 3)), "float", shape=(3, 2)).message == "y: shape [2,3], want [3,2]"
    assert judged(UNIFORM, np.zeros((2, 3)), "float", shape=(3, 2)).verdict == "wrong_shape"
    for shape in ((), (1,), (2, 0, 3)):
        assert judged(NORMAL, np.zeros(shape), "float").verdict == "passed"


def test_the_message_shows_the_distance_and_its_maximum():
    found = judged(Normal(0.0, 1.0), np.random.default_rng(1).permutation(np.linspace(0.2, 0.4, N)), "float")
    assert found.message == (
        "y: Kolmogorov distance 0.579 from a normal distribution of mean 0 and scale 1, 0.0332 allowed "
        "(float; 10,000 values of mean 0.3 and deviation 0.0577)"
    )
    ones = judged(Bernoulli(), np.random.default_rng(1).permutation(1000) % 2.0, "float", np.full(1000, 0.25))
    assert ones.message == (
        "y: 500 of 1,000 are 1, whose probability is 0.25; the chance of that is below exp(-144), exp(-22.1) allowed"
    )


def test_the_rate_of_false_alarms():
    """With a rate of one in 100 in place of 10^-9, about that many or fewer right answers fail."""
    from harness.judging import distributions

    failed = 0
    for seed in range(400):
        generator = np.random.default_rng(seed)
        values = np.sort(generator.random(500))
        failed += distributions._kolmogorov_test(Uniform(0.0, 1.0), values, BY_NAME["double"], 0.01).ratio > 1
    assert failed <= 12
    assert FALSE_ALARM_RATE == 1e-9


@pytest.mark.parametrize("distribution", [NORMAL, UNIFORM, Bernoulli(), Multinomial(), Dropped(), Mask(0)])
def test_our_own_examples_follow_their_distributions(distribution: Distribution):
    inputs = [LOGS] if isinstance(distribution, Multinomial) else [CHANCES]
    shape = (2, 2000) if isinstance(distribution, Multinomial) else CHANCES.shape
    drawn = np.asarray(distribution.draw(np.random.default_rng(2).random(shape), inputs), np.float64)
    assert (
        judged(distribution, drawn, "double" if not isinstance(distribution, Multinomial) else "int32", *inputs).verdict
        == "passed"
    )
    assert np.ptp(drawn) <= distribution.width(inputs)


def correlated(z: np.ndarray, rho: float) -> np.ndarray:
    """Normal values of which each has this correlation with the next."""
    x = z.copy()
    for i in range(1, x.size):
        x[i] = rho * x[i - 1] + math.sqrt(1 - rho * rho) * z[i]
    return x


def without_a_quarter(u: np.ndarray) -> np.ndarray:
    """Values of the two outer parts in place of those between 3/8 and 5/8."""
    return np.where(np.abs(u - 0.5) < 0.125, u * 1.5 % 0.375 + np.where(u < 0.5, 0.0, 0.625), u)


RIGHT_LAW = {
    "ascending normal values": (NORMAL, normal(lambda z: -6 + 4 * np.sort(z)), "depend on those 1 before"),
    "ascending uniform values": (UNIFORM, even(lambda u: -1.5 + 4 * np.sort(u)), "depend on those 1 before"),
    "a ramp": (UNIFORM, even(lambda u: -1.5 + 4 * (np.arange(u.size) + 0.5) / u.size), "depend on those 1 before"),
    "a block twice": (UNIFORM, even(lambda u: -1.5 + 4 * np.tile(u[: N // 2], 2)), ""),
    "a block of 50 again and again": (NORMAL, normal(lambda z: -6 + 4 * np.resize(z[:50], N)), ""),
    "correlated neighbours": (NORMAL, normal(lambda z: -6 + 4 * correlated(z, 0.3)), "depend on those 1 before"),
    "the rows of a matrix alike": (
        UNIFORM,
        even(lambda u: -1.5 + 4 * ((np.repeat(np.random.default_rng(1).permutation(100) / 100, 100) + u / 8) % 1)),
        "values depend on those",
    ),
}


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("fault", RIGHT_LAW)
def test_values_in_no_random_order_fail(fault: str, of: str):
    distribution, draw, message = RIGHT_LAW[fault]
    for seed in range(3):
        found = judged(distribution, draw(np.random.default_rng(seed)), of)
        assert found.verdict == "wrong_value"
        assert message in found.message


FINE = ("float", "double")
MORE = 10_300
"""As many values as the suite asks for."""


@pytest.mark.parametrize("of", FINE)
def test_tails_that_are_cut_off_fail(of: str):
    for seed in range(3):
        z = np.random.default_rng(seed).standard_normal(2 * MORE)
        assert judged(NORMAL, -6 + 4 * z[:MORE], of).verdict == "passed"
        found = judged(NORMAL, -6 + 4 * z[np.abs(z) < 3][:MORE], of)
        assert found.verdict == "wrong_value"
        assert "values are in the outer 0.0026 of the distribution" in found.message
        found = judged(NORMAL, -6 + 4 * np.minimum(z[:MORE], 2.2), of)
        assert found.verdict == "wrong_value"


@pytest.mark.parametrize("of", FLOATS)
def test_a_range_of_which_a_quarter_is_missing_fails(of: str):
    for seed in range(3):
        u = np.random.default_rng(seed).random(N)
        assert judged(UNIFORM, -1.5 + 4 * without_a_quarter(u), of).verdict == "wrong_value"
        assert judged(UNIFORM, -1.5 + 4 * u * 0.75, of).verdict == "wrong_value"


@pytest.mark.parametrize("of", FINE)
def test_too_few_distinct_values_fail(of: str):
    u = np.random.default_rng(3).random(N)
    found = judged(UNIFORM, -1.5 + 4 * np.floor(u * 2**16) / 2**16, of)
    assert found.verdict == "wrong_value"
    assert "of 10,000 values repeat an earlier one" in found.message
    assert judged(UNIFORM, -1.5 + 4 * np.floor(u * 2**23) / 2**23, of).verdict == "passed"


@pytest.mark.parametrize("of", ["float16", "bool", "int32"])
def test_discrete_draws_in_no_random_order_fail(of: str):
    generator = np.random.default_rng(5)
    half = CHANCES.size // 2
    u = generator.random(CHANCES.size)
    assert judged(Bernoulli(), (u < CHANCES).astype(np.float64), of, CHANCES).verdict == "passed"
    for order in (np.tile(u[:half], 2), np.sort(u), np.resize(u[:60], u.size)):
        ones = (order < CHANCES).astype(np.float64)
        assert judged(Bernoulli(), ones, of, CHANCES).verdict == "wrong_value"
    if of != "bool":
        chances = Multinomial().chances([LOGS])
        drawn = np.array([generator.choice(5, 2000, p=row) for row in chances])
        assert judged(Multinomial(), drawn, "int32", LOGS).verdict == "passed"
        for wrong in (np.sort(drawn, axis=1), np.tile(drawn[:, :1000], (1, 2))):
            found = judged(Multinomial(), wrong, "int32", LOGS)
            assert found.verdict == "wrong_value"
            assert "values depend on those" in found.message


def test_dropping_in_no_random_order_fails():
    u = np.random.default_rng(3).random(DATA.size)
    for order in (np.sort(u), np.tile(u[:1000], 2), np.resize(u[:40], u.size)):
        kept = order >= 0.25
        found = judged_dropout(kept * DATA / 0.75, kept, 0.25, "float")
        assert found.verdict == "wrong_value"
        assert "values depend on those" in found.message


def test_the_rate_of_false_alarms_of_all_tests_together(monkeypatch: pytest.MonkeyPatch):
    """With a rate of one in 20 in place of 10^-9, about that many or fewer right answers fail."""
    from harness.judging import distributions

    monkeypatch.setattr(distributions, "FALSE_ALARM_RATE", 0.05)
    failed = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        for distribution, values in (
            (UNIFORM, -1.5 + 4 * generator.random(500)),
            (NORMAL, generator.normal(-6, 4, 500)),
        ):
            failed += judged(distribution, values, "float").verdict != "passed"
        ones = generator.random(CHANCES.size) < CHANCES
        failed += judged(Bernoulli(), ones.astype(np.float64), "float", CHANCES).verdict != "passed"
    assert failed <= 30


@pytest.mark.parametrize("of", ["float16", "bool", "int32"])
def test_the_complement_of_a_bernoulli_distribution_passes_as_a_whole_if_the_text_has_it(of: str):
    both = Bernoulli(or_complement=True)
    ones = np.random.default_rng(5).random(CHANCES.size) < CHANCES
    for answer, verdicts in (
        (ones, ("passed", "passed")),
        (~ones, ("wrong_value", "passed")),
        (np.where(np.arange(ones.size) % 12 < 6, ones, ~ones), ("wrong_value", "wrong_value")),
        (np.zeros_like(ones), ("wrong_value", "wrong_value")),
    ):
        found = [judged(law, answer.astype(np.float64), of, CHANCES).verdict for law in (Bernoulli(), both)]
        assert tuple(found) == verdicts
    scalar = [judged(both, np.array(one), of, np.array(0.0)).verdict for one in (0.0, 1.0)]
    assert scalar == ["passed", "passed"]
