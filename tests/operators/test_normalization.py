"""The normalizations: values that follow from their documents by hand, and mistakes that their data show."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.numbers.bound import PASS_AT
from harness.operators.nn import batch_normalization, lp_normalization, lrn
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Group, Operator, Sample, find, operators
from harness.spec.element_types import element_type
from harness.spec.schema import schema
from harness.suite.planning import Row, plan

F = np.float32


def of(name: str, since: int, *values: Any, types: dict[str, str] | None = None, **attributes: Any) -> list[Any]:
    """The outputs for inputs in the schema's order, arrays of float unless they say otherwise; None is one left out."""
    version, one = schema(name, since), find(name, since)
    assert one
    pairs = list(zip(version.inputs, values, strict=False))
    inputs = {p.name: v if isinstance(v, np.ndarray) else np.array(v, F) for p, v in pairs if v is not None}
    found = {p.type_str: f"tensor({element_type(inputs[p.name].dtype).name})" for p, v in pairs if v is not None}
    found |= {variable: f"tensor({of})" for variable, of in (types or {}).items()}
    every = dict.fromkeys((a.name for a in version.attributes), OMITTED) | attributes
    return list(expected(Call(one, version, found, inputs, every)))


def lists(outputs: list[Any]) -> list[Any]:
    return [output.value.tolist() for output in outputs]


CHANNEL = [[1.0], [1.0], [3.0], [3.0]]
"""Four instances of one channel: their mean is 2, their variance 1, that of a sample 4/3."""


@pytest.mark.parametrize("since", [14, 15])
def test_batch_normalization_in_training_uses_the_variance_of_the_population(since: int):
    types = {"T2": "float"} if since == 15 else {"U": "float"}
    found = of(
        "BatchNormalization",
        since,
        CHANNEL,
        *([2.0], [10.0], [0.0], [3.0]),
        types=types,
        training_mode=1,
        epsilon=0.0,
        momentum=0.5,
    )
    assert lists(found) == [[[8], [8], [12], [12]], [1], [2]]


def test_momentum_is_nine_tenths_of_the_running_statistics():
    statistics = [12], [21]
    found = of("BatchNormalization", 15, CHANNEL, [1], [0], *statistics, types={"T2": "float"}, training_mode=1)
    assert lists(found[1:]) == [[F(11)], [F(19)]]


@pytest.mark.parametrize(
    ("since", "attributes"), [(1, {"is_test": 1}), (6, {"is_test": 1}), (7, {}), (9, {}), (14, {}), (15, {})]
)
def test_batch_normalization_in_test_mode_uses_what_is_given(since: int, attributes: dict[str, Any]):
    x = [[[[1.0, 3.0]], [[5.0, 5.0]]]]
    y = of("BatchNormalization", since, x, [2, -1], [0, 1], [1, 3], [3, 0], epsilon=1.0, **attributes)[0]
    assert y.value.tolist() == [[[[0, 2]], [[-1, -1]]]]


def test_without_spatial_each_place_has_its_own_statistics():
    inputs = ([[[1.0, 3.0]]], [[1.0, 1.0]], [[0.0, 0.0]], [[1.0, 2.0]], [[1.0, 1.0]])
    found = of("BatchNormalization", 7, *inputs, spatial=0, epsilon=0.0)
    assert found[0].value.tolist() == [[[0, 1]]]


def test_a_tensor_of_one_axis_is_one_channel():
    y = of("BatchNormalization", 15, [1.0, 5.0], [2], [1], [3], [4], types={"T2": "float"}, epsilon=0.0)[0]
    assert y.value.tolist() == [-1, 3]


def test_before_version_7_is_test_is_training_by_default():
    x = [[[[0.0]]], [[[4.0]]]]
    assert of("BatchNormalization", 6, x, [1], [0], [0], [1], epsilon=0.0)[0].value.ravel().tolist() == [-1, 1]


def test_layer_normalization_gives_mean_and_inverse_deviation():
    found = of("LayerNormalization", 17, [[0, 2], [5, 5]], [4, 8], [1, 0], types={"U": "float"}, epsilon=3.0)
    y, mean, inverse = lists(found)
    assert y == [[-1, 4], [1, 0]]
    assert mean == [[1], [5]]
    assert inverse == [[0.5], [F(3**-0.5)]]


def test_layer_normalization_without_bias_from_an_axis_on():
    x = [[[1, 3], [1, 3]], [[2, 2], [6, 6]]]
    y, mean, _ = of("LayerNormalization", 17, x, [[1], [2]], types={"U": "float"}, axis=-2, epsilon=0.0)
    assert y.value.tolist() == [[[-1, 1], [-2, 2]], [[-1, -1], [2, 2]]]
    assert mean.value.tolist() == [[[2]], [[4]]]


def test_scale_broadcasts_to_all_of_x():
    y, *_ = of("LayerNormalization", 17, [[1, 3], [1, 3]], [[1], [2]], types={"U": "float"}, epsilon=0.0)
    assert y.value.tolist() == [[-1, 1], [-2, 2]]


def test_double_is_as_precise_as_the_stash_type_that_is_float():
    x = np.array([[0.3, 1.7, -0.4]])
    for types in ({"U": "float"}, {"U": "bfloat16"}):
        bits = {"float": 24, "bfloat16": 8}[types["U"]]
        bound = of("LayerNormalization", 17, x, np.ones(3), types=types)[0].bound
        assert bound is not None
        assert 2.0 ** -(bits + 1) < bound.max() < 2.0 ** -(bits - 5)


def test_the_bound_is_that_of_the_less_stable_formula_of_the_variance():
    near = of("LayerNormalization", 17, [[0, 1, 2, 4]], [1, 1, 1, 1], types={"U": "float"})[0].bound
    far = of("LayerNormalization", 17, [[256, 257, 258, 260]], [1, 1, 1, 1], types={"U": "float"})[0].bound
    assert near is not None
    assert far is not None
    assert far.max() > 2000 * near.max(), "squares of 256, not deviations of about 1, are rounded"


def test_squares_beyond_float16_are_ordinary_in_stage_one():
    x = np.array([[-600, 600]], np.float16)
    y, mean, inverse = of("LayerNormalization", 17, x, np.ones(2, np.float16), types={"U": "float"})
    assert (y.value.tolist(), mean.value.tolist()) == ([[-1, 1]], [[0]])
    assert inverse.value.item() == F(1 / 600)
    assert of("RMSNormalization", 23, x, np.ones(2, np.float16))[0].value.tolist() == [[-1, 1]]


def test_rms_normalization_subtracts_no_mean():
    assert of("RMSNormalization", 23, [[1, 7]], [10, 5], epsilon=0.0)[0].value.tolist() == [[2, 7]]
    assert of("RMSNormalization", 23, [[1], [7]], [[10], [5]], epsilon=0.0, axis=0)[0].value.tolist() == [[2], [7]]
    assert of("RMSNormalization", 23, [[0, 0]], [1, 1])[0].value.tolist() == [[0, 0]]


def test_an_output_in_float_of_float16_elements_is_as_precise_as_these():
    x = np.array([[0.3, 1.7, -0.4]], np.float16)
    bound = of("RMSNormalization", 23, x, np.ones(3, F), types={"V": "float"})[0].bound
    assert bound is not None
    assert bound.max() > 2.0**-12, "Normalized is cast to the type of X before it is scaled"


@pytest.mark.parametrize(
    ("groups", "x", "gives"),
    [
        (4, [1, 1, 3, 9], [5, 6, 7, 8]),
        (2, [1, 3, 5, 9], [4, 8, 4, 12]),
        (1, [0, 2, 0, 2], [4, 8, 4, 12]),
    ],
)
def test_groups_of_channels_are_standardized_and_each_channel_is_scaled(
    groups: int, x: list[float], gives: list[float]
):
    every = [[[value] for value in x]]
    y = of("GroupNormalization", 21, every, [1, 2, 3, 4], [5, 6, 7, 8], num_groups=groups, epsilon=1e-12)[0]
    assert y.value.ravel().tolist() == gives


def test_instances_are_standardized_by_themselves():
    x = [[[1, 3], [0, 0]], [[2, 6], [10, 30]]]
    y = of("InstanceNormalization", 22, x, [2, 3], [0, 1], epsilon=1e-30)[0]
    assert y.value.tolist() == [[[-2, 2], [1, 1]], [[-2, 2], [-2, 4]]]


def test_an_even_size_reaches_one_channel_further_up():
    x = [[[1], [2], [3]]]
    found = of("LRN", 13, x, size=2, alpha=2.0, beta=1.0)[0].value.ravel()
    assert found.tolist() == [F(1 / 6), F(1 / 7), F(0.3)]
    found = of("LRN", 13, x, size=4, alpha=4.0, beta=1.0)[0].value.ravel()
    assert found.tolist() == [F(1 / 15), F(2 / 15), F(3 / 14)]
    found = of("LRN", 1, x, size=3, alpha=3.0, beta=0.5, bias=2.0)[0].value.ravel()
    assert found.tolist() == [F(1 / np.sqrt(7)), 0.5, F(3 / np.sqrt(15))]


def test_where_the_norm_is_zero_so_is_the_output():
    for p in (1, 2):
        assert of("LpNormalization", 22, [[0, 0], [3, 0]], p=p)[0].value.tolist() == [[0, 0], [1, 0]]
    assert of("LpNormalization", 1, [[-3, 1]], p=1)[0].value.tolist() == [[-0.75, 0.25]]
    assert of("LpNormalization", 22, [[-3, 1], [4, 0]], axis=0)[0].value.tolist() == [[F(-0.6), 1], [F(0.8), 0]]
    assert np.isnan(of("LpNormalization", 22, [[np.nan, 1]])[0].value).all()


@pytest.mark.parametrize("since", [9, 13])
def test_mean_and_variance_are_taken_along_batch_height_and_width(since: int):
    x = [[[[1, 3]], [[0, 4]]], [[[3, 1]], [[0, 4]]]]
    assert of("MeanVarianceNormalization", since, x)[0].value.tolist() == [
        [[[-1, 1]], [[-1, 1]]],
        [[[1, -1]], [[-1, 1]]],
    ]
    along_channels = of("MeanVarianceNormalization", since, x, axes=[1])[0].value
    assert along_channels.tolist() == [[[[1, -1]], [[-1, 1]]], [[[1, -1]], [[-1, 1]]]]


def _planned(one: Operator, group: str, **attributes: Any) -> list[tuple[Row, Sample]]:
    """What is drawn for a group in float with these attributes."""
    found: list[tuple[Row, Sample]] = []
    version = one.schemas[0]
    for row in plan(one, version).rows:
        floats = set(row.types.values()) == {"tensor(float)"}
        if row.group.name == group and floats and all(row.attributes[k] == v for k, v in attributes.items()):
            drawn = row.group.generate(Draw(repr(row.attributes), row.types, row.attributes))
            found += [(row, one if isinstance(one, Sample) else Sample(one)) for one in drawn]
    return found


def shows(one: Operator, mistaken: Callable[..., Any], group: str, **attributes: Any) -> bool:
    """Whether a data set of a group lets an oracle with a mistake fail."""
    wrong = msgspec.structs.replace(one, oracle=mistaken)
    for row, drawn in _planned(one, group, **attributes):
        call = Call(one, one.schemas[0], row.types, drawn.inputs, row.attributes)
        got = answer(msgspec.structs.replace(call, operator=wrong))[0].value
        want = expected(call)[0]
        off = np.abs(np.asarray(got, np.float64) - np.asarray(want.value, np.float64))
        passes = (off <= PASS_AT * np.asarray(want.bound)) | np.isnan(np.asarray(want.value, np.float64))
        if not passes.all():
            return True
    return False


def _of_a_sample(*inputs: Any, training_mode: int, **attributes: Any) -> Any:
    y = batch_normalization.MAIN.oracle(*inputs, training_mode=training_mode, **attributes)
    n = inputs[0].size // inputs[0].shape[1]
    return (y[0] * np.sqrt((n - 1) / n), *y[1:]) if training_mode else y


def _up_to_the_instances(x: np.ndarray, *, size: int, **attributes: Any) -> np.ndarray:
    y = lrn.lrn.oracle(x, size=size, **attributes)
    return np.concatenate([y[:, : len(x)], x[:, len(x) :] / attributes["bias"] ** attributes["beta"]], axis=1)


def _towards_lower_channels(x: np.ndarray, *, size: int, **attributes: Any) -> np.ndarray:
    return lrn.lrn.oracle(x[:, ::-1], size=size, **attributes)[:, ::-1]


def _by_norm_and(epsilon: float) -> Callable[..., np.ndarray]:
    def quotient(x: np.ndarray, *, axis: int, p: int) -> np.ndarray:
        return x / (np.sum(np.abs(x) ** p, axis=axis, keepdims=True) ** (1 / p) + epsilon)

    return quotient


@pytest.mark.parametrize(
    ("one", "mistaken", "group", "attributes"),
    [
        (batch_normalization.MAIN, _of_a_sample, "far_from_zero", {"training_mode": 1}),
        (lrn.lrn, _up_to_the_instances, "ordinary", {"size": 3, "alpha": 0.75}),
        (lrn.lrn, _towards_lower_channels, "ordinary", {"size": 4, "alpha": 0.75}),
        (lp_normalization.lp_normalization, _by_norm_and(1e-12), "small", {}),
        (lp_normalization.lp_normalization, _by_norm_and(0), "zero_lines", {}),
    ],
)
def test_planned_data_show_a_mistake(
    one: Operator, mistaken: Callable[..., Any], group: str, attributes: dict[str, Any]
):
    assert not shows(one, one.oracle, group, **attributes)
    assert shows(one, mistaken, group, **attributes)


NAMES = ("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization")


@pytest.mark.parametrize("name", [*NAMES, "LRN", "LpNormalization", "MeanVarianceNormalization"])
def test_the_sets_of_a_group_have_bounds_that_are_finite(name: str):
    """An honest evaluation in the precision of the type never takes the root of a negative variance."""
    groups: dict[tuple[str, str], tuple[Operator, Row, Group]] = {}
    for one in (o for o in operators() if o.name == name):
        for row in plan(one, one.schemas[0], "each").rows:
            groups.setdefault((row.group.name, repr(sorted(row.types.items()))), (one, row, row.group))
    assert groups
    for one, row, group in groups.values():
        for drawn in group.generate(Draw("seed", row.types, row.attributes)):
            sets = drawn if isinstance(drawn, Sample) else Sample(drawn)
            if sets.unspecified or group.unspecified:
                continue
            for output in expected(Call(one, one.schemas[0], row.types, sets.inputs, row.attributes)):
                assert output.bound is not None
                assert np.isfinite(output.bound).all()
