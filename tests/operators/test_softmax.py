"""Softmax, LogSoftmax, Hardmax and the losses: the old meaning and the new, and the document's own numbers."""

from typing import Any

import numpy as np
import pytest

from harness.numbers.bound import insensitive
from harness.oracles.draw import Draw
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema

CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def outputs(op: str, since: int, inputs: dict[str, np.ndarray], **attributes: Any) -> list[np.ndarray]:
    version = schema(op, since)
    types = {
        p.type_str: f"tensor({element_type(inputs[p.name].dtype).name})" for p in version.inputs if p.name in inputs
    }
    return [np.asarray(one.value) for one in expected(Call(find(op, since), version, types, inputs, attributes))]


@pytest.mark.parametrize(
    ("since", "axis", "groups"),
    [
        (13, OMITTED, 6),
        (13, 0, 12),
        (13, 1, 8),
        (13, -2, 8),
        (11, OMITTED, 2),
        (11, 0, 1),
        (11, 2, 6),
        (11, -1, 6),
        (11, -3, 1),
        (1, OMITTED, 2),
        (1, 2, 6),
    ],
)
def test_the_axis_is_one_since_13_and_all_from_it_on_before(since: int, axis: int, groups: int):
    """Each group of elements has one maximum, and shares that sum up to 1."""
    (marks,) = outputs("Hardmax", since, {"input": CUBE}, axis=axis)
    (shares,) = outputs("Softmax", since, {"input": CUBE}, axis=axis)
    assert marks.sum() == groups
    assert shares.sum() == pytest.approx(groups)


def test_large_values_have_ordinary_shares():
    x = np.array([[1000, 1000, 999, -1000]], np.float32)
    (shares,) = outputs("Softmax", 13, {"input": x})
    (logarithms,) = outputs("LogSoftmax", 13, {"input": x})
    assert shares.tolist() == [[pytest.approx(0.4223188), pytest.approx(0.4223188), pytest.approx(0.1553624), 0]]
    assert logarithms[0, 3] == pytest.approx(-2000.8619)


def test_of_equal_maxima_the_first_is_marked():
    (marks,) = outputs("Hardmax", 13, {"input": np.array([[3, 3, 3, 1]], np.float32)})
    assert marks.tolist() == [[1, 0, 0, 0]]


INPUT = np.array([[[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]], [[0.0, 1.0], [2.0, 2.0], [1.0, 2]]])
TARGET = np.array([[2, 1], [0, 2]])
WEIGHT = np.array([0.2, 0.3, 0.1])


@pytest.mark.parametrize(
    ("weight", "attributes", "gives"),
    [
        (None, {"reduction": "none"}, [[-3, -2], [0, -2]]),
        (WEIGHT, {"reduction": "sum"}, -1.1),
        (WEIGHT, {}, -1.5714285714),
        (None, {"reduction": "sum", "ignore_index": 1}, -5),
        (None, {"ignore_index": 1}, -5 / 3),
        (WEIGHT, {"reduction": "mean", "ignore_index": 1}, -0.5 / 0.4),
    ],
)
@pytest.mark.parametrize("since", [12, 13, 22])
def test_the_loss_is_what_its_document_prints(since: int, weight: np.ndarray | None, attributes: Any, gives: Any):
    inputs = {"input": INPUT, "target": TARGET} | ({} if weight is None else {"weight": weight})
    (loss,) = outputs(
        "NegativeLogLikelihoodLoss", since, inputs, **({"reduction": OMITTED, "ignore_index": OMITTED} | attributes)
    )
    assert loss.tolist() == pytest.approx(np.array(gives)) if np.ndim(gives) else loss == pytest.approx(gives)


def test_the_mean_of_cross_entropy_is_over_what_is_not_ignored():
    """Its function body: the sum of the losses over the sum of the weights applied, 1 for each without weights."""
    inputs = {"scores": np.zeros((3, 2)), "labels": np.array([0, 1, -1])}
    for reduction in (OMITTED, "mean"):
        loss, _ = outputs("SoftmaxCrossEntropyLoss", 13, inputs, reduction=reduction, ignore_index=-1)
        assert loss == pytest.approx(np.log(2), abs=1e-15)
    weighted = inputs | {"labels": np.array([0, 1, 1]), "weights": np.array([3.0, 5])}
    loss, _ = outputs("SoftmaxCrossEntropyLoss", 12, weighted, reduction="mean", ignore_index=1)
    assert loss == pytest.approx(np.log(2), abs=1e-15)


@pytest.mark.parametrize("op", ["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"])
def test_of_a_loss_only_a_mean_of_nothing_is_open(op: str):
    found = find(op, 13)
    types = {"T": "tensor(float)", "Tind": "tensor(int64)"}
    attributes = {"reduction": "mean", "ignore_index": -1}
    silent = [
        (group.name, one.inputs[found.schemas[0].inputs[1].name], one.unspecified_elements)
        for group in found.groups
        for one in group.generate(Draw("seed", types, attributes))
        if one.unspecified
    ]
    ((name, labels, elements),) = silent
    assert (name, set(labels.ravel().tolist())) == ("ignored", {-1})
    assert elements == ({"output": True} if op == "SoftmaxCrossEntropyLoss" else {})


def test_slices_beside_the_one_with_an_infinity_are_scored():
    (group,) = (one for one in find("Softmax", 13).groups if one.name == "plus_infinity")
    (sample,) = group.generate(Draw("seed", {"T": "tensor(float)"}, {"axis": 1}))
    elements = sample.unspecified_elements["output"]
    np.testing.assert_array_equal(elements[:, 0], np.isinf(sample.inputs["input"]).any(axis=1))
    assert 0 < elements.sum() < elements.size


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("narrow", ["float16", "bfloat16"])
def test_large_values_in_16_bits_can_fail(op: str, narrow: str):
    found, version = find(op, 13), schema(op, 13)
    types = {"T": f"tensor({narrow})"}
    (group,) = (one for one in found.groups if one.name == "large")
    blunt: list[int] = []
    for inputs in group.generate(Draw("seed", types, {"axis": 1})):
        (one,) = expected(Call(found, version, types, inputs, {"axis": 1}))
        assert one.bound is not None
        blunt.append(int(insensitive(np.asarray(one.value).astype(np.float64), one.bound).sum()))
    assert blunt[:2] == [0, 0]
    assert blunt[2] < 24


def test_cross_entropy_is_the_loss_of_the_logarithm_of_softmax():
    scores = np.log(np.array([[1.0, 2, 5], [4, 3, 1]]))
    loss, y = outputs("SoftmaxCrossEntropyLoss", 13, {"scores": scores, "labels": np.array([2, 0])}, reduction="sum")
    assert y == pytest.approx(np.log(np.array([[1, 2, 5], [4, 3, 1]]) / 8))
    assert loss == pytest.approx(-np.log(5 / 8) - np.log(4 / 8))
