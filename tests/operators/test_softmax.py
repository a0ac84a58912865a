"""Softmax, LogSoftmax, Hardmax and the losses: the old meaning and the new, and the document's own numbers."""

from typing import Any

import numpy as np
import pytest

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


def test_cross_entropy_is_the_loss_of_the_logarithm_of_softmax():
    scores = np.log(np.array([[1.0, 2, 5], [4, 3, 1]]))
    loss, y = outputs("SoftmaxCrossEntropyLoss", 13, {"scores": scores, "labels": np.array([2, 0])}, reduction="sum")
    assert y == pytest.approx(np.log(np.array([[1, 2, 5], [4, 3, 1]]) / 8))
    assert loss == pytest.approx(-np.log(5 / 8) - np.log(4 / 8))
