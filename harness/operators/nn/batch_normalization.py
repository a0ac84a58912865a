"""BatchNormalization: each channel shifted and scaled by given statistics, or by its own in training."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.nn.group_normalization import channelwise
from harness.operators.nn.layer_normalization import DOUBLE, EPSILON, FLOAT, is_narrow, moments, with_specials
from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import FLAG, OMITTED, Sample, operator

MOMENTUM = (OMITTED, 0.3)


def normalized(
    x: np.ndarray, scale: np.ndarray, bias: np.ndarray, mean: np.ndarray, variance: np.ndarray, epsilon: Any
) -> np.ndarray:
    """``Y = (X - mean) / sqrt(var + epsilon) * scale + B``."""
    scale, bias, mean, variance = (channelwise(of, x) for of in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def trained(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    epsilon: Any,
    momentum: Any,
) -> tuple[np.ndarray, ...]:
    """Y by the statistics of each channel "over N and D1 to Dn", and the running statistics after it.

    "``running_mean = input_mean * momentum + current_mean * (1 - momentum)``", and so the variance, which is that of
    the population. The last two are the current ones.
    """
    now_mean, now_variance = (of.reshape(mean.shape) for of in moments(x, (0, *range(2, x.ndim))))
    y = normalized(x, scale, bias, now_mean, now_variance, epsilon)
    running_mean = mean * momentum + now_mean * (1 - momentum)
    running_variance = variance * momentum + now_variance * (1 - momentum)
    return y, running_mean, running_variance, now_mean, now_variance


def _by_mode(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    /,
    *,
    epsilon: Any,
    momentum: Any,
    training_mode: int,
) -> tuple[np.ndarray, ...]:
    """In training three outputs, else one: "when training_mode=False, extra outputs are invalid"."""
    if training_mode:
        return trained(x, scale, bias, mean, variance, epsilon, momentum)[:3]
    return normalized(x, scale, bias, mean, variance, epsilon), mean, variance


_MODES: Any = {"epsilon": EPSILON, "momentum": MOMENTUM}
MAIN = operator(
    "BatchNormalization",
    since=15,
    working_type="T1",
    training_mode=FLAG,
    constraints=[lambda T, training_mode: T != DOUBLE or training_mode != 1],
    **_MODES,
)(_by_mode)
"""No text says whether X meets a scale of a narrower type in that: the narrowest one counts."""
TRAINED_DOUBLES = operator(
    "BatchNormalization",
    since=15,
    working_type="float",
    training_mode=(1,),
    constraints=[
        lambda T, T1: T == T1 == DOUBLE,
        lambda epsilon, momentum: (epsilon is OMITTED) == (momentum is OMITTED),
    ],
    **_MODES,
)(_by_mode)
"""Since version 15 "the computation of ReduceMean and ReduceVar uses float"."""
FROM_14 = operator("BatchNormalization", since=14, training_mode=FLAG, **_MODES)(_by_mode)


def _in_test(
    x: np.ndarray, scale: np.ndarray, bias: np.ndarray, mean: np.ndarray, var: np.ndarray, /, *, epsilon: Any, **_: Any
) -> tuple[np.ndarray, ...]:
    """With Y alone it is "output case #2: Y (test mode)"; ``momentum`` means nothing then.

    In version 7 without ``spatial`` each place has its own statistics, which have the shape of a whole instance.
    """
    return normalized(x, scale, bias, mean, var, epsilon), mean, var, mean, var


FROM_9 = operator("BatchNormalization", since=9, **_MODES)(_in_test)
FROM_7 = operator("BatchNormalization", since=7, spatial=FLAG, **_MODES)(_in_test)


def _by_attribute(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    /,
    *,
    epsilon: Any,
    momentum: Any,
    is_test: int,
    **_: Any,
) -> tuple[np.ndarray, ...]:
    """Test mode "if set to nonzero", else training as the paper has it.

    ``spatial`` asks for the statistics of each place, but they have "size C": inputs are such that C has one place.
    """
    if is_test:
        return normalized(x, scale, bias, mean, var, epsilon), mean, var, mean, var
    return trained(x, scale, bias, mean, var, epsilon, momentum)


FROM_6 = operator("BatchNormalization", since=6, is_test=FLAG, spatial=FLAG, **_MODES)(_by_attribute)
FROM_1 = operator(
    "BatchNormalization", since=1, is_test=FLAG, spatial=FLAG, consumed_inputs=([0, 0, 0, 0, 0],), **_MODES
)(_by_attribute)

BOTH_CASES = (
    'BatchNormalization-6 lists "Y, mean, var, saved_mean, saved_var (training mode)" and "Y (test mode)": '
    "it does not say what Y alone is where is_test asks for training."
)


class _Frame:
    """A row's inputs: their names and types, and the outputs it has."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.row = draw.attributes

    @property
    def scale(self) -> Values:
        """What scale and bias are drawn from."""
        return self.draw.T1 if "T1" in self.draw.types else self.draw.T

    @property
    def statistics(self) -> Values:
        """What mean and variance are drawn from."""
        return next(getattr(self.draw, name) for name in ("T2", "U", "T") if name in self.draw.types)

    @property
    def trains(self) -> bool:
        """Whether the row is one of training; before version 7 it is unless an attribute says otherwise."""
        return self.row["is_test"] != 1 if "is_test" in self.row else self.row.get("training_mode") == 1

    @property
    def shape(self) -> Shape:
        """Of distinct sizes, 4-D in version 1; one place a channel where there would be statistics of each place."""
        if self.row.get("is_test") == 1 and self.row["spatial"] != 0 and "consumed_inputs" not in self.row:
            return (4, 3, 2)
        if self.row.get("spatial") == 0:
            return (2, 3, 4, 1) if "is_test" not in self.row else (4, 3, 1, 1)
        return (4, 3, 1, 1) if is_narrow(self.draw) else (2, 3, 1, 4)

    def drawn(
        self, x: np.ndarray, mean: np.ndarray | None = None, variance: np.ndarray | None = None, unspecified: str = ""
    ) -> Sample:
        """The set of an input, with ordinary statistics or others."""
        channels = x.shape[1:2] if x.ndim > 1 else (1,)
        if self.row.get("spatial") == 0 and "is_test" not in self.row:
            channels = x.shape[1:]
        names = ("input_mean", "input_var") if "training_mode" in self.row else ("mean", "var")
        mean = self.statistics.ordinary(channels) if mean is None else mean
        variance = np.abs(self.statistics.ordinary(channels)) if variance is None else variance
        inputs = {"X": x, "scale": self.scale.ordinary(channels), "B": self.scale.ordinary(channels)}
        inputs |= dict(zip(names, (mean, variance), strict=True))
        new = "training_mode" in self.row
        others = ("running_mean", "running_var") if new else ("mean", "var", "saved_mean", "saved_var")
        return Sample(inputs, () if new and self.trains else others, unspecified)


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Distinct sizes, another scale, bias, mean and variance for each channel.

    In training before version 7 the statistics given are those of X, so that the mode makes no difference to Y; where
    they are not, it does.
    """
    frame = _Frame(draw)
    if not frame.trains or "training_mode" in draw.attributes:
        yield frame.drawn(draw.T.ordinary(frame.shape))
    else:
        yield _own_statistics(draw, frame)
        yield frame.drawn(draw.T.ordinary(frame.shape), unspecified=BOTH_CASES)


def _own_statistics(draw: Draw, frame: _Frame) -> Sample:
    shape = frame.shape
    places = np.resize(np.array([-2, 1, -1, 2]), (shape[1], shape[0] * shape[3]))
    spread, mean = np.array([[1], [0.5], [4]]), np.array([[0.5], [-1], [2]])
    x = (mean + spread * places).reshape(shape[1], shape[0], 1, shape[3]).transpose(1, 0, 2, 3)
    of = frame.statistics
    return frame.drawn(draw.T(x), of(mean.ravel()), of(2.5 * spread.ravel() ** 2))


def ranks(draw: Draw) -> Iterator[Sample]:
    """No axes beside N and C, one, three, and a tensor of size N alone, which has one channel; others for each row."""
    frame, row = _Frame(draw), draw.attributes
    shapes = ((5, 3), (4, 3, 2), (2, 4, 3, 1, 2), (5,))
    if "spatial" in row:
        shapes = ((4, 3, 2), (2, 4, 3, 1, 2))
    place = FLAG.index(row.get("training_mode", OMITTED)) + EPSILON.index(row["epsilon"])
    for shape in sorted({shapes[place % len(shapes)], shapes[(place + 2) % len(shapes)]}):
        yield frame.drawn(draw.T.ordinary(shape))


def far_from_zero(draw: Draw) -> Iterator[Sample]:
    """Channels with means of 16 and a spread of 1, and as such given."""
    frame = _Frame(draw)
    x = draw.T.ordinary(frame.shape).astype(np.float64)
    for centre in (16, -16):
        yield frame.drawn(draw.T(centre + x / 4), frame.statistics(np.array([0.5, -0.25, 1]) + centre))


def all_equal(draw: Draw) -> Iterator[Sample]:
    """Channels of equal elements, whose variance is 0, or a variance of 0 that is given."""
    frame = _Frame(draw)
    if frame.trains:
        x = draw.T.ordinary(frame.shape)
        x[:, 0], x[:, 2] = draw.T(0.5), draw.T(-2)
        yield frame.drawn(x)
    else:
        variance = np.abs(frame.statistics.ordinary((3,)))
        variance[1] = 0
        yield frame.drawn(draw.T.ordinary(frame.shape), variance=variance)


def wide_squares(draw: Draw) -> Iterator[Sample]:
    """Elements whose squares float16 does not hold: the statistics use "float to avoid overflow for float16 inputs"."""
    frame = _Frame(draw)
    if frame.trains:
        yield frame.drawn(draw.T(512 * draw.T.ordinary(frame.shape).astype(np.float64)))


def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, then infinity, at one place: its channel is NaN in training, in test mode it stays."""
    frame = _Frame(draw)
    yield from (frame.drawn(x) for x in with_specials(draw.T.ordinary(frame.shape)))


def no_instances(draw: Draw) -> Iterator[Sample]:
    """N = 0: no elements."""
    if draw.attributes.get("training_mode") != 1:
        yield _Frame(draw).drawn(draw.T.ordinary((0, 3, 2)))


ALL_FLOAT = {"T": FLOAT, "T1": FLOAT, "T2": FLOAT}
MAIN.inputs()(ordinary)
MAIN.inputs(**ALL_FLOAT)(ranks)
MAIN.inputs(**ALL_FLOAT)(far_from_zero)
MAIN.inputs(**ALL_FLOAT)(all_equal)
MAIN.inputs(**ALL_FLOAT)(special_values)
MAIN.inputs(**ALL_FLOAT)(no_instances)
MAIN.inputs(T="float16", T1="float16", T2=FLOAT)(wide_squares)
TRAINED_DOUBLES.inputs()(ordinary)
for _op in (FROM_14, FROM_9, FROM_7):
    _op.inputs()(ordinary)
    _op.inputs(T=FLOAT)(ranks)
FROM_14.inputs(T=FLOAT, U=FLOAT)(all_equal)
for _op in (FROM_6, FROM_1):
    _op.inputs()(ordinary)
