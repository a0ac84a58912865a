"""Elementwise functions of one tensor: what their documents say of single values, and where they say nothing."""

import math
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import Operator, Sample, find
from harness.suite.planning import plan

NAN, INF = math.nan, math.inf


def given(name: str, since: int, x: np.ndarray, of: str) -> np.ndarray:
    operator = declared(name, since)
    version = operator.schemas[operator.since.index(since)]
    inputs = {version.inputs[0].name: x}
    return np.asarray(expected(Call(operator, version, {"T": f"tensor({of})"}, inputs, {}))[0].value)


def declared(name: str, since: int) -> Operator:
    found = find(name, since)
    assert found
    return found


@pytest.mark.parametrize(
    ("name", "since", "x", "y"),
    [
        ("Round", 22, [2.5, 1.5, -4.5, 0.5, -0.5, 0.49999997, 8388609, -INF], [2, 2, -4, 0, 0, 0, 8388609, -INF]),
        ("Floor", 1, [-0.5, 1.999, INF], [-1, 1, INF]),
        ("Ceil", 6, [-1.5, 1.001, NAN], [-1, 2, NAN]),
        ("Sign", 13, [-INF, -1e-45, 0, 3], [-1, -1, 0, 1]),
        ("Sqrt", 13, [4, -1, INF], [2, NAN, INF]),
        ("Log", 1, [1, 0, -1], [0, -INF, NAN]),
        ("Reciprocal", 13, [4, 0, -0.0, -INF], [0.25, INF, -INF, 0]),
        ("Exp", 13, [0, -INF, 89], [1, 0, INF]),
        ("Cos", 22, [0, INF], [1, NAN]),
        ("Acos", 7, [1, 2], [0, NAN]),
        ("Acosh", 22, [1, 0.5], [0, NAN]),
        ("Atanh", 9, [1, -1, 2], [INF, -INF, NAN]),
        ("Erf", 13, [INF, -10, 0], [1, -1, 0]),
    ],
)
def test_what_has_no_rounding_in_it(name: str, since: int, x: list[float], y: list[float]):
    np.testing.assert_array_equal(given(name, since, np.array(x, np.float32), "float"), np.array(y, np.float32))


def test_periodic_functions_reduce_any_argument():
    largest = np.finfo(np.float64).max
    found = given("Sin", 22, np.array([largest, 2.0**20]), "double")
    np.testing.assert_array_equal(found, [0.004961954789184062, 0.3304931400217347])


@pytest.mark.parametrize(("name", "y"), [("Abs", 2**53 + 1), ("Neg", 2**53 + 1), ("Sign", -1)])
def test_integers_do_not_pass_through_double(name: str, y: int):
    assert given(name, 13, np.array([-(2**53) - 1]), "int64") == [y]


def test_erf_of_integers_is_scored_at_zero_alone():
    assert unspecified("Erf", 9, "int8") == {"integers": [False, True]}


@pytest.mark.parametrize(
    ("name", "since", "of", "group"),
    [
        ("Abs", 13, "int32", "integers_but_the_least"),
        ("Neg", 6, "int8", "integers_but_the_least"),
        ("Sign", 9, "float16", "special_values_but_nan"),
    ],
)
def test_unspecified_are_the_least_integer_and_the_sign_of_nan(name: str, since: int, of: str, group: str):
    found = unspecified(name, since, of)
    assert found.pop(group) == [False, True]
    assert not any(any(sets) for sets in found.values())


def unspecified(name: str, since: int, of: str) -> dict[str, list[bool]]:
    operator = declared(name, since)
    version = operator.schemas[operator.since.index(since)]
    found: dict[str, list[bool]] = {}
    for row in plan(operator, version, "full").rows:
        if row.types["T"] == f"tensor({of})":
            trials: Any = row.group.generate(Draw("test", row.types, row.attributes))
            found[row.group.name] = [bool(trial.unspecified) for trial in trials if isinstance(trial, Sample)]
    return found
