"""What models do with their scores at the end: the transforms that ``post_transform`` names, and the top class."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from flint import arb

from harness.numbers.balls import constant
from harness.numbers.branches import argsort, greater_equal, less_equal, where
from harness.operators.math.softmax import softmax
from harness.oracles.operator import OMITTED

NONE = (OMITTED, "NONE")
NAMED = ("SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""The transforms that round, those that the texts only name among them."""
NUMBERED = ("NONE", *NAMED)
"""In the order of TreeEnsemble's numbers."""

OPEN = {
    "SOFTMAX_ZERO": 'post_transform: "Indicates the transform to apply to the score". No text of ai.onnx.ml says what '
    "SOFTMAX_ZERO does to a score that SOFTMAX does not.",
    "PROBIT": 'post_transform: "Indicates the transform to apply to the score". No text of ai.onnx.ml says whether '
    "PROBIT is the quantile function of the normal distribution, as the word has it, or its inverse, as LOGISTIC is.",
}
"""Transform → why its answers are open."""


def reals(x: Any) -> np.ndarray:
    """Numbers, integers among them, as numbers of the system that the oracle runs in."""
    one = constant("1")
    return np.asarray(np.asarray(x) * one, np.float64 if isinstance(one, float) else object)


def transformed(scores: np.ndarray, transform: str) -> np.ndarray:
    """The scores [N, E] of each example transformed: by its name, since the texts say no more."""
    match transform:
        case "SOFTMAX":
            return softmax(scores, 1)
        case "LOGISTIC":
            return 1 / (1 + np.exp(-scores))
        case "SOFTMAX_ZERO":
            is_zero = less_equal(scores, 0) & greater_equal(scores, 0)
            powers = where(is_zero, 0 * scores, np.exp(scores))
            return powers / powers.sum(axis=1, keepdims=True)
        case "PROBIT":
            return _quantile(scores)
        case _:
            return scores


def top(scores: np.ndarray, labels: Sequence[bytes] | Sequence[int]) -> np.ndarray:
    """The label of the greatest score of each example: its "Top class"."""
    known = np.array([label.decode() if isinstance(label, bytes) else label for label in labels])
    chosen = known[argsort(scores, 1, descending=True)[:, 0]]
    return chosen.astype(object) if chosen.dtype.kind == "U" else chosen


def _quantile(p: np.ndarray) -> np.ndarray:
    """``sqrt(2) * erfinv(2p - 1)``."""
    if p.dtype != object:
        return np.asarray(np.frompyfunc(NormalDist().inv_cdf, 1, 1)(p), np.float64)
    erfinv = np.frompyfunc(lambda v: v.erfinv(), 1, 1)
    return np.asarray(erfinv(2 * p - 1) * arb(2).sqrt(), object)
