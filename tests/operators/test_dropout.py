"""What each version of Dropout copies, and what it is given."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.numbers.distributions import Dropped, Mask
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, find
from harness.suite.build import build_plan
from harness.suite.cases import Built
from harness.suite.planning import plan

X = np.array([[np.nan, -0.0, 2.0], [np.inf, 1.0, -3.0]], np.float16)
TYPES = {"T": "tensor(float16)", "T1": "tensor(float)", "T2": "tensor(bool)"}


def operator(since: int) -> Operator:
    found = find("Dropout", since)
    assert found
    return found


def of(since: int, types: dict[str, str], *inputs: Any, **attributes: Any) -> list[np.ndarray]:
    one = operator(since)
    version = one.schemas[one.since.index(since)]
    named = {p.name: x for p, x in zip(version.inputs, inputs, strict=False) if x is not None}
    every = {a.name: OMITTED for a in version.attributes} | attributes
    return [np.asarray(x.value) for x in expected(Call(one, version, types, named, every))]


@pytest.mark.parametrize("since", [12, 13, 22])
@pytest.mark.parametrize(
    ("ratio", "training_mode"),
    [(None, None), (None, False), (0.75, None), (0.75, False), (0.0, True), (0.0, False)],
)
def test_nothing_is_dropped_without_training_or_with_a_ratio_of_0(
    since: int, ratio: float | None, training_mode: bool | None
):
    given = None if ratio is None else np.array(ratio, np.float32)
    output, mask = of(since, TYPES, X, given, None if training_mode is None else np.array(training_mode))
    assert output.tobytes() == X.tobytes()
    assert (mask.dtype, mask.tolist()) == (np.bool_, [[True] * 3] * 2)


DROPPED = np.array(0.75, np.float32)
TRAINING = np.array(True)


def test_training_drops_by_the_ratio_that_is_given_or_by_half():
    data = np.ones((40, 51), np.float16)
    for inputs, ratio in (((data, DROPPED, TRAINING), 0.75), ((data, None, TRAINING), 0.5)):
        output, mask = of(22, TYPES, *inputs)
        assert (output.dtype, mask.dtype) == (np.float16, np.bool_)
        assert set(output.ravel().tolist()) == {0.0, 1 / (1 - ratio)}
        assert np.array_equal(output != 0, mask)
        assert abs(np.mean(mask) - (1 - ratio)) < 0.05


def test_laws_tell_the_places_of_what_they_tie_together():
    distributions = {
        built.case.labels.omitted: built.case.distributions for built in cases(22) if built.case.distributions
    }
    assert distributions == {
        (): (Dropped(given=1), Mask(3)),
        ("mask",): (Dropped(given=1),),
        ("ratio",): (Dropped(), Mask(2)),
    }
    assert {distribution for built in cases(1) for distribution in built.case.distributions} <= {
        Dropped(ratio=0.25),
        Dropped(ratio=0.875),
        Dropped(),
    }
    assert any(built.case.distributions for built in cases(1))


def test_masks_had_the_type_of_the_data_before_they_were_boolean():
    types = {"T": TYPES["T"]}
    for since, attributes in ((1, {"is_test": 1}), (6, {"is_test": 2}), (7, {})):
        output, mask = of(since, types, X, **attributes)
        assert output.tobytes() == X.tobytes()
        assert mask.dtype == np.float16
    assert of(10, types | {"T1": TYPES["T2"]}, X, ratio=0.875)[1].dtype == np.bool_


def test_the_narrowest_data_are_copied():
    x = np.array([np.nan, 448, -0.0, 2.0**-9], ml_dtypes.float8_e4m3fn)
    types = TYPES | {"T": "tensor(float8e4m3fn)"}
    assert of(22, types, x, np.array(0, np.float32), np.array(True))[0].tobytes() == x.tobytes()


def cases(since: int) -> list[Built]:
    one = operator(since)
    version = one.schemas[one.since.index(since)]
    return list(build_plan(one, version, plan(one, version, "pairs" if since == 22 else "each")))


@pytest.mark.parametrize("since", [12, 13, 22])
def test_each_input_and_the_mask_are_left_out_and_given(since: int):
    omitted = {frozenset(built.case.labels.omitted) for built in cases(since)}
    wanted = [
        set(),
        {"mask"},
        {"ratio"},
        {"training_mode"},
        {"ratio", "training_mode"},
        {"ratio", "training_mode", "mask"},
    ]
    assert omitted >= {frozenset(names) for names in wanted}


@pytest.mark.parametrize("since", [1, 6, 7, 10])
def test_masks_of_old_versions_are_never_scored(since: int):
    for built in cases(since):
        if "mask" not in built.case.labels.omitted:
            assert all(data_set.unspecified for data_set in built.case.data_sets)
