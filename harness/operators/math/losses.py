"""NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.numbers.balls import constant
from harness.operators.math.softmax import log_softmax
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, operator

REDUCTIONS = (OMITTED, "none", "sum", "mean")
IGNORED = (OMITTED, 1, -1)
"""A class, and no class."""


@operator("NegativeLogLikelihoodLoss", since=(22, 13, 12), reduction=REDUCTIONS, ignore_index=IGNORED)
def negative_log_likelihood_loss(
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    ignore_index: int | None,
    reduction: str,
) -> np.ndarray:
    """``loss[n][d] = -input[n][c][d] * weight[c]`` with ``c = target[n][d]``, 0 where it is to be ignored.

    The mean is the sum divided by the sum of applied weights, each 1 without ``weight``.
    """
    zero: Any = constant("0")
    loss, applied = np.full_like(input[:, 0], zero), np.full_like(input[:, 0], zero)
    for at in np.ndindex(target.shape):
        c = int(target[at])
        if c != ignore_index:
            applied[at] = 1 if weight is None else weight[c]
            loss[at] = -input[(at[0], c, *at[1:])] * applied[at]
    if reduction == "none":
        return loss
    total = loss.sum(initial=zero)
    return total if reduction == "sum" else total / applied.sum(initial=zero)


@operator("SoftmaxCrossEntropyLoss", since=(13, 12), reduction=REDUCTIONS, ignore_index=IGNORED)
def softmax_cross_entropy_loss(
    scores: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    ignore_index: int | None,
    reduction: str,
) -> tuple[np.ndarray, np.ndarray]:
    """``y = Log(Softmax(scores))`` over the classes, the second output, and the negative log likelihood of it."""
    y = log_softmax(scores, 1)
    loss = negative_log_likelihood_loss.oracle(y, labels, weights, ignore_index=ignore_index, reduction=reduction)
    return loss, y


SHAPE = (3, 5, 2)
NO_MEAN = "the text does not say what the mean is where the sum of applied weights is 0"
NO_MEAN_OF_REST = (
    "the text divides by the number of elements, or by the sum of weights[labels[i]], which a label outside [0, C) "
    "does not have; the function body leaves out what is ignored"
)
NO_SAMPLES = (
    "SoftmaxCrossEntropyLoss-13 does not say that N may be 0, and its function body reshapes to [0, 0, -1] then, "
    "which Reshape cannot infer."
)


class Groups(msgspec.Struct, frozen=True):
    """The input groups of a loss."""

    one: Operator
    values: Callable[[Draw, Sequence[int]], np.ndarray]
    """Draws what the loss takes for its classes."""

    @property
    def optional(self) -> tuple[str, ...]:
        """The outputs that may be left out."""
        return tuple(p.name for p in self.one.schemas[0].outputs[1:])

    def register(self) -> None:
        """Gives them to the loss."""
        for group in (self.ordinary, self.ignored, self.uneven_weights, self.special_values, self.ranks):
            self.one.inputs()(group)
        self.one.inputs(unspecified=NO_SAMPLES if self.optional else "")(self.empty)

    def drawn(self, draw: Draw, x: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> Sample:
        """The set of these, with weights and with the optional output or without.

        That depends on the row alone, so that all groups share its case, and is even over all pairs of factors.
        """
        row, version = draw.attributes, self.one.schemas[0]
        reduction, ignored = REDUCTIONS.index(row["reduction"]), IGNORED.index(row["ignore_index"])
        wide = draw.types["Tind"] == "tensor(int64)"
        unspecified = ""
        if _mean(draw) and row["ignore_index"] in target:
            unspecified = NO_MEAN if np.all(target == row["ignore_index"]) else NO_MEAN_OF_REST if self.optional else ""
        first, second, third = (p.name for p in version.inputs)
        inputs = {first: x, second: draw.Tind(target)}
        if (reduction + ignored + wide) % 2:
            inputs[third] = draw.T.integers(1, 4, x.shape[1:2]) if weight is None else weight
        without = self.optional if (reduction // 2 + ignored + wide) % 2 else ()
        return Sample(inputs, without, unspecified and f"{version.title}: {unspecified}.")

    def targets(self, draw: Draw, shape: Sequence[int], ignored: slice) -> np.ndarray:
        """Every class in turn and then backwards, with the targets at some places ignored where there are such."""
        ignore = draw.attributes["ignore_index"]
        kept = [c for c in range(shape[1]) if c != ignore]
        target = np.resize(np.roll([*kept, *kept[::-1]], draw.integer(0, shape[1] - 1)), (shape[0], *shape[2:]))
        if ignore != OMITTED:
            target.reshape(-1)[ignored] = ignore
        return target

    def stated(self, draw: Draw) -> slice:
        """Two places at which what is ignored leaves a loss that the text states, or none."""
        return slice(0, 0) if _mean(draw) and self.optional else slice(1, 4, 2)

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """Every class among the targets; two of them ignored where there is such a class and a stated loss for it."""
        yield self.drawn(draw, self.values(draw, SHAPE), self.targets(draw, SHAPE, self.stated(draw)))

    def ignored(self, draw: Draw) -> Iterator[Sample]:
        """Every other target is ignored; all are, where that leaves nothing to be the mean of."""
        if draw.attributes["ignore_index"] != OMITTED:
            for places in (slice(None, None, 2), *([slice(None)] if _mean(draw) else [])):
                yield self.drawn(draw, self.values(draw, SHAPE), self.targets(draw, SHAPE, places))

    def uneven_weights(self, draw: Draw) -> Iterator[Sample]:
        """Weights of very different sizes, of 0, and such that are no round numbers, where they are given."""
        for weight in ([0.25, 0, 3, 0, 1], [0.3, 4, 0.1, 1, 0.7]):
            yield self.drawn(
                draw, self.values(draw, SHAPE), self.targets(draw, SHAPE, self.stated(draw)), draw.T(weight)
            )

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """NaN and -inf at the target's place, beside it, and where it is ignored: what is not asked for is not lost."""
        target = self.targets(draw, SHAPE, self.stated(draw))
        for special in (np.nan, -np.inf):
            for shift in range(0, SHAPE[1], 2):
                x = self.values(draw, SHAPE)
                x[1, (target[1, 0] + shift) % SHAPE[1], 0] = special
                yield self.drawn(draw, x, target)
        if draw.attributes["ignore_index"] != OMITTED:
            x, target = self.values(draw, SHAPE), target.copy()
            x[2, :, 1], target[2, 1] = np.nan, draw.attributes["ignore_index"]
            yield self.drawn(draw, x, target)

    def ranks(self, draw: Draw) -> Iterator[Sample]:
        """One of the ranks 2, 4 and 5."""
        shape = ((6, 4), (2, 5, 1, 3), (1, 4, 3, 2, 2))[draw.integer(0, 2)]
        yield self.drawn(draw, self.values(draw, shape), self.targets(draw, shape, self.stated(draw)))

    def empty(self, draw: Draw) -> Iterator[Sample]:
        """No samples, and so no losses."""
        if draw.attributes["reduction"] == "none":
            yield self.drawn(draw, self.values(draw, (0, 5, 2)), np.zeros((0, 2)))


def _mean(draw: Draw) -> bool:
    return draw.attributes["reduction"] in (OMITTED, "mean")


def _log_probabilities(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Logarithms of numbers in (0, 1)."""
    return -np.abs(draw.T.ordinary(shape))


def _scores(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Numbers in (-1/2, 1/2), which leave a sum of losses in bfloat16 sharp."""
    return draw.T(draw.T.ordinary(shape).astype(np.float64) / 8)


Groups(negative_log_likelihood_loss, _log_probabilities).register()
Groups(softmax_cross_entropy_loss, _scores).register()
