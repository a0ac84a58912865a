"""Activations, Clip and PRelu: literal values of their texts, what older versions mean, and what is left open."""

import math
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import Expected, expected
from harness.oracles.node import Call
from harness.oracles.operator import Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema

INF, NAN = math.inf, math.nan


def judged(op: str, since: int, *inputs: Any, dtype: type = np.float64, **attributes: Any) -> Expected:
    version, found = schema(op, since), find(op, since)
    assert found
    arrays = {p.name: np.asarray(x, dtype) for p, x in zip(version.inputs, inputs, strict=False) if x is not None}
    types = {"T": f"tensor({element_type(np.dtype(dtype)).name})"}
    (output,) = expected(Call(found, version, types, arrays, attributes))
    return output


def values(*given: Any, **keywords: Any) -> list[float]:
    return np.asarray(judged(*given, **keywords).value).tolist()


def unspecified_groups(op: str, since: int, element: str, **attributes: Any) -> set[str]:
    """The groups of which at least one set of inputs is silent."""
    found = find(op, since)
    assert found
    types = {"T": f"tensor({element})"}
    return {
        group.name
        for group in found.groups
        if group.admits(types)
        for drawn in group.generate(Draw("", types, attributes))
        if group.unspecified or (isinstance(drawn, Sample) and drawn.unspecified)
    }


@pytest.mark.parametrize(
    ("op", "since", "x", "gives"),
    [
        ("Sigmoid", 13, [-100, 0, -INF, INF], [3.720075976020836e-44, 0.5, 0, 1]),
        ("Softplus", 22, [-20, 0, 40, -INF, INF], [2.0611536203143807e-09, math.log(2), 40, 0, INF]),
        ("Softsign", 22, [-3, 0, INF], [-0.75, 0, NAN]),
        ("Elu", 22, [-1e-9, 0, 3, -INF], [-9.999999995e-10, 0, 3, -1]),
        ("Celu", 28, [-INF, 0, INF], [-1, 0, INF]),
        ("LeakyRelu", 16, [-2, 0, 2], [-2 * float(np.float32(0.01)), 0, 2]),
        ("ThresholdedRelu", 22, [1, 1.5, NAN, -INF, INF], [0, 1.5, 0, 0, INF]),
        ("HardSigmoid", 22, [-INF, -2.5, 0, 2.5, INF], [0, 0, 0.5, 1, 1]),
        ("HardSwish", 22, [-INF, -3, 1.5, 3, INF], [NAN, 0, 1.125, 3, INF]),
        ("Mish", 22, [0, 40, -INF], [0, 40, NAN]),
        ("Gelu", 20, [0, 9, -INF], [0, 9, NAN]),
        ("Swish", 24, [-100, 0, 40], [-3.720075976020836e-42, 0, 40]),
    ],
)
def test_tails_and_branch_points(op: str, since: int, x: list[float], gives: list[float]):
    np.testing.assert_array_equal(values(op, since, x), gives)


def test_selu_has_the_defaults_of_its_version():
    for since, gamma in ((22, 1.05070102214813232421875), (6, 1.05070102214813232421875), (1, 1.0507)):
        assert values("Selu", since, [2.0]) == [2 * float(np.float32(gamma))]


def test_the_float_literals_of_function_bodies_are_honest_in_double():
    tanh = math.tanh(math.sqrt(float(np.float32(0.63661975))) * (2 + 8 * float(np.float32(0.044715))))
    for output, body in (
        (judged("HardSwish", 22, [1.0]), float(np.float32(0.16666667)) + 0.5),
        (judged("Gelu", 20, [2.0], approximate="tanh"), 1 + tanh),
    ):
        assert output.bound is not None
        assert 2.0**-52 < abs(body - np.asarray(output.value)[0]) < 4 * output.bound[0] < 1e-5


def test_clip_with_crossed_limits_is_max_in_13_and_open_before():
    assert values("Clip", 13, [-2, 0, 2], 2, 1) == [1, 1, 1]
    assert unspecified_groups("Clip", 13, "int64") == set()
    assert unspecified_groups("Clip", 12, "int64") == {"at_the_limits"}


def test_clip_without_limits_ends_at_the_finite_values():
    largest = float(np.finfo(np.float32).max)
    for since in (12, 11, 6, 1):
        assert values("Clip", since, [-INF, INF], dtype=np.float32) == [-largest, largest]
    assert values("Clip", 11, [-INF, INF], None, 1, dtype=np.float32) == [-largest, 1]
    assert values("Clip", 13, [2**64 - 1, 0], 2**64 - 2, dtype=np.uint64) == [2**64 - 1, 2**64 - 2]
    assert values("Clip", 6, [-3, 0, 3], min=-1.25, max=2.5) == [-1.25, 0, 2.5]


def test_prelu_broadcasts_from_7_on_and_shares_before():
    x = -np.ones((2, 3, 2))
    assert values("PRelu", 7, x, [3, 4]) == [[[-3, -4]] * 3] * 2
    assert values("PRelu", 6, x, [5]) == [[[-5, -5]] * 3] * 2
    assert values("PRelu", 1, x, [3, 4, 5]) == [[[-3, -3], [-4, -4], [-5, -5]]] * 2
    assert values("PRelu", 16, [-(2**62), 5], [1, 7], dtype=np.int64) == [-(2**62), 5]
    assert values("PRelu", 16, [1.0, -1.0, -0.0], [NAN, INF, NAN]) == [1, -INF, 0]


@pytest.mark.parametrize(
    ("op", "since", "open_groups"),
    [
        ("Relu", 14, {"special_values"}),
        ("HardSigmoid", 22, {"special_values"}),
        ("Celu", 12, {"special_values"}),
        ("Softplus", 22, {"overflowing_exp"}),
        ("ThresholdedRelu", 22, set()),
        ("PRelu", 6, {"shared_by_all"}),
    ],
)
def test_what_the_text_leaves_open_is_unspecified(op: str, since: int, open_groups: set[str]):
    assert unspecified_groups(op, since, "float") == open_groups
