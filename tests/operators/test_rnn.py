"""The documents' equations as literal values, what the plans promise, and mistakes that the groups catch."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.operators.rnn import gru, lstm, rnn
from harness.operators.rnn.recurrence import FUNCTIONS, Setting
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Group, Operator, Sample, operators
from harness.suite.planning import plan

FLOAT = {"T": "tensor(float)", "T1": "tensor(int32)"}


def meanings(op: str, since: int) -> list[Operator]:
    return [o for o in operators() if o.name == op and not o.domain and since in o.since]


def call(op: str, since: int, inputs: dict[str, Any], attributes: dict[str, Any]) -> Call:
    one = meanings(op, since)[0]
    arrays = {name: np.asarray(v, np.int32 if name == "sequence_lens" else np.float32) for name, v in inputs.items()}
    return Call(one, one.schemas[0], FLOAT, arrays, attributes)


def values(found: Any) -> list[np.ndarray]:
    """Those of the outputs."""
    return [np.asarray(x.value) for x in found]


def of(op: str, since: int, inputs: dict[str, Any], **attributes: Any) -> list[Any]:
    """The values of the outputs, without axes of one element."""
    return [np.squeeze(x).tolist() for x in values(expected(call(op, since, inputs, attributes)))]


def group(op: str, since: int, name: str, **attributes: Any) -> tuple[list[Call], Group]:
    """What a group draws in float for these attributes alone, each as a call, and the group."""
    one, found = next((one, g) for one in meanings(op, since) for g in one.groups if g.name == name)
    version = one.schemas[0]
    every = {a.name: OMITTED for a in version.attributes} | attributes
    drawn = [d if isinstance(d, Sample) else Sample(d) for d in found.generate(Draw(name, FLOAT, every))]
    return [Call(one, version, FLOAT, d.inputs, every) for d in drawn], found


def steps(*values: float) -> list[Any]:
    return [[[v]] for v in values]


ONE = {"X": steps(1, 2, 3), "W": [[[1]]], "R": [[[2]]]}
BOTH = {"X": steps(1, 2, 3), "W": [[[1]], [[10]]], "R": [[[2]], [[1]]]}
RELU = {"activations": ["Relu"]}


@pytest.mark.parametrize("since", [1, 7, 14, 22])
def test_rnn_goes_forward_in_reverse_or_both(since: int):
    assert of("RNN", since, ONE, **RELU) == [[1, 4, 11], 11]
    assert of("RNN", since, ONE, **RELU, direction="reverse") == [[17, 8, 3], 17]
    found = of("RNN", since, BOTH, activations=["Relu", "Relu"], direction="bidirectional")
    assert found == [[[1, 60], [4, 50], [11, 30]], [11, 60]]


def test_layout_1_has_the_batch_first():
    inputs = {
        "X": np.ones((4, 3, 2)),
        "W": np.ones((2, 5, 2)),
        "R": np.ones((2, 5, 5)),
        "initial_h": np.ones((4, 2, 5)),
    }
    attributes = {"activations": ["Relu", "Relu"], "direction": "bidirectional", "layout": 1}
    y, last = values(expected(call("RNN", 14, inputs, attributes)))
    assert (y.shape, last.shape) == ((4, 3, 2, 5), (4, 2, 5))
    assert y[3, :, 0, 4].tolist() == [7, 37, 187]
    assert y[3, :, 1, 4].tolist() == [187, 37, 7]


def test_a_sequence_ends_at_its_length_and_in_reverse_begins_there():
    inputs = {**ONE, "X": np.repeat(ONE["X"], 2, 1), "sequence_lens": [2, 3]}
    assert of("RNN", 22, inputs, **RELU)[1] == [4, 11]
    assert of("RNN", 22, inputs, **RELU, direction="reverse")[1] == [5, 17]


def test_only_later_versions_transpose_the_recurrence_weights():
    inputs = {"X": np.zeros((1, 1, 1)), "W": np.zeros((1, 2, 1)), "R": [[[1, 2], [3, 4]]], "initial_h": [[[1, 10]]]}
    assert of("RNN", 7, inputs, **RELU)[1] == [21, 43]
    assert of("RNN", 1, inputs, **RELU)[1] == [31, 42]


IDENTITY = {"activation_alpha": [1.0] * 3, "activation_beta": [0.0] * 3}
GATED = {
    "X": [[[1]]],
    "W": [[[0.25], [0.5], [3]]],
    "R": [[[0], [0], [1]]],
    "B": [[0, 0, 0, 0, 0, 1]],
    "initial_h": [[[2]]],
}


@pytest.mark.parametrize("since", [1, 3, 7, 14, 22])
def test_gru_has_the_gates_z_r_h(since: int):
    assert of("GRU", since, GATED, **IDENTITY, activations=["Affine"] * 2) == [4.25, 4.25]


@pytest.mark.parametrize("since", [3, 7, 14, 22])
def test_gru_may_reset_after_its_linear_transformation(since: int):
    for flag in (1, 2, -1):
        found = of("GRU", since, GATED, **IDENTITY, activations=["Affine"] * 2, linear_before_reset=flag)
        assert found == [3.875, 3.875]


MEMORY = {
    "X": [[[1]]],
    "W": [[[0.5], [2], [0.25], [3]]],
    "R": np.zeros((1, 4, 1)),
    "P": [[0.5, 1, 0.25]],
    "initial_c": [[[2]]],
}


@pytest.mark.parametrize("since", [1, 7, 14, 22])
def test_lstm_has_the_gates_i_o_f_c_and_peepholes(since: int):
    assert of("LSTM", since, MEMORY, **IDENTITY, activations=["Affine"] * 3) == [48, 48, 6]


def test_clip_bounds_the_input_of_every_activation_and_no_state():
    assert of("LSTM", 22, MEMORY, **IDENTITY, activations=["Affine"] * 3, clip=5.0) == [25, 25, 6]
    assert of("RNN", 22, ONE, **RELU, clip=3.5) == [[1, 3.5, 3.5], 3.5]


@pytest.mark.parametrize(
    ("name", "x", "alpha", "beta", "gives"),
    [
        ("Relu", -2, None, None, 0),
        ("Tanh", 0.5, None, None, 0.46211717),
        ("Sigmoid", 0.5, None, None, 0.62245935),
        ("Affine", 0.5, 3.0, 0.25, 1.75),
        ("LeakyRelu", -1, None, None, -0.01),
        ("LeakyRelu", -1, 0.5, None, -0.5),
        ("ThresholdedRelu", 1, None, None, 1),
        ("ThresholdedRelu", 0.75, None, None, 0),
        ("ThresholdedRelu", 0.75, 0.75, None, 0.75),
        ("ScaledTanh", 0.25, 3.0, 2.0, 1.3863515),
        ("HardSigmoid", 1, None, None, 0.7),
        ("HardSigmoid", 1, 0.25, None, 0.75),
        ("HardSigmoid", 1, None, 0.25, 0.45),
        ("HardSigmoid", -9, None, None, 0),
        ("Elu", -1, None, None, -0.63212055),
        ("Elu", -1, 2.0, None, -1.2642411),
        ("Softsign", -1, None, None, -0.5),
        ("Softplus", 0, None, None, 0.6931472),
    ],
)
def test_activations_are_as_the_document_lists_them(name: str, x: float, alpha: Any, beta: Any, gives: float):
    given = {"activation_alpha": alpha, "activation_beta": beta}
    attributes = {k: OMITTED if v is None else [v] for k, v in given.items()}
    (y, _) = of("RNN", 22, ONE | {"X": steps(x)}, activations=[name], **attributes)
    assert np.float32(y) == np.float32(gives)


def test_the_default_direction_is_forward_however_it_is_spelled():
    inputs = {"X": steps(0, 100), "W": [[[1]] * 3], "R": np.zeros((1, 3, 1))}
    assert (
        of("GRU", 1, inputs) == of("GRU", 1, inputs, direction="forward") != of("GRU", 1, inputs, direction="reverse")
    )


@pytest.mark.parametrize(("settings", "places"), [(rnn.SETTINGS, 1), (gru.SETTINGS, 2), (lstm.SETTINGS, 3)])
def test_every_activation_is_tried_in_every_place(settings: list[Setting], places: int):
    for place in range(places):
        assert {name for names, *_ in settings for name in names[place::places]} == set(FUNCTIONS)


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
def test_alpha_and_beta_mean_the_same_however_they_are_consumed_or_the_case_is_unspecified(op: str):
    seen: list[bool] = []
    for one in (one for since in (1, 3, 7, 14, 22) for one in meanings(op, since)):
        for row in plan(one, one.schemas[0], "each").rows:
            if row.group.name != "activated":
                continue
            for kind in ("alpha", "beta"):
                values, names = row.attributes[f"activation_{kind}"], row.attributes["activations"]
                given = [] if values is OMITTED else values
                taking = [i for i, name in enumerate(names) if kind in FUNCTIONS[name][1]]
                by_need = dict(zip(taking, given, strict=False))
                by_place = {i: value for i, value in enumerate(given) if i in taking}
                (first, *_) = row.group.generate(Draw("", row.types, row.attributes))
                seen.append(by_need == by_place)
                assert seen[-1] or (isinstance(first, Sample) and first.unspecified)
    assert all(seen) == (op != "RNN"), "RNN has one that is silent"


@pytest.mark.parametrize("since", [1, 7, 14, 22])
def test_coupled_gates_are_scored_only_where_they_add_up_to_1_by_themselves(since: int):
    ((coupled,), _) = group("LSTM", since, "ordinary", input_forget=1)
    free = msgspec.structs.replace(coupled, attributes={**coupled.attributes, "input_forget": 0})
    for one, other in zip(values(expected(coupled)), values(expected(free)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    assert group("LSTM", 22, "gates_apart", input_forget=1)[1].unspecified


@pytest.mark.parametrize(("op", "since", "gates"), [("RNN", 1, 1), ("GRU", 1, 3), ("GRU", 3, 3), ("LSTM", 1, 4)])
def test_the_weights_that_a_text_does_not_transpose_are_symmetric(op: str, since: int, gates: int):
    ((call,), _) = group(op, since, "ordinary")
    weights = call.inputs["R"].reshape(-1, gates, 4, 4)
    assert np.array_equal(weights, weights.swapaxes(2, 3))
    assert group(op, since, "not_symmetric")[1].unspecified


def swapped(name: str, gates: int, one: int, other: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    order = list(range(gates))
    order[one], order[other] = other, one

    def change(inputs: dict[str, Any]) -> dict[str, Any]:
        blocks = np.split(inputs[name], gates, axis=1)
        return inputs | {name: np.concatenate([blocks[i] for i in order], axis=1)}

    return change


def to_the_end_of_the_axis(inputs: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in inputs.items() if k != "sequence_lens"}


@pytest.mark.parametrize(
    ("op", "group_name", "mistake"),
    [
        ("RNN", "ordinary", lambda inputs: inputs | {"R": inputs["R"].swapaxes(1, 2).copy()}),
        ("RNN", "ordinary", lambda inputs: inputs | {"B": np.float32(1.01) * inputs["B"]}),
        ("GRU", "ordinary", swapped("W", 3, 0, 1)),
        ("GRU", "ordinary", swapped("B", 6, 2, 5)),
        ("LSTM", "ordinary", swapped("W", 4, 1, 2)),
        ("LSTM", "ordinary", swapped("P", 3, 1, 2)),
        ("LSTM", "ordinary", lambda inputs: inputs | {"initial_c": 0 * inputs["initial_c"]}),
        ("RNN", "lengths", to_the_end_of_the_axis),
        ("GRU", "lengths", to_the_end_of_the_axis),
        ("LSTM", "lengths", to_the_end_of_the_axis),
    ],
)
def test_mistakes_are_seen(op: str, group_name: str, mistake: Callable[[dict[str, Any]], dict[str, Any]]):
    wanted: dict[str, Any] = {"direction": "reverse"} if group_name == "lengths" else {}
    if op == "GRU":
        wanted["linear_before_reset"] = 1
    right = group(op, 22, group_name, **wanted)[0][-1]
    wrong = msgspec.structs.replace(right, inputs=mistake(dict(right.inputs)))
    want, got = expected(right)[1], answer(wrong)[1].value
    assert want.bound is not None
    assert (np.abs(np.asarray(want.value, float) - np.asarray(got, float)) > 4 * want.bound).mean() > 0.25
