"""Dropout: elements that are dropped at random, and none in inference or with a ratio of 0."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.distributions import Dropped, Mask, Random
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator

FLOAT = "tensor(float)"
WIDE = ("float16", "bfloat16", "tensor(float)", "double")
RATIOS = (OMITTED, 0.0, 0.25, 0.875)
NO_MASK = ("mask",)
SHAPE = (4, 6)
MANY = (40, 51)
"""The shape of what is dropped at random, which no data set shares that is not."""


def dropped(distribution: Dropped, data: np.ndarray, inputs: int) -> tuple[Random, Random]:
    """Output and mask, the second of which is told by the first; the graph has so many inputs before them."""
    return Random(distribution, data.shape), Random(Mask(inputs), data.shape)


def same_or_float(T: str, T1: str) -> bool:
    """That data and ratio have one type, or one of them is float."""
    return T == T1 or FLOAT in (T, T1)


PLANNED: dict[str, Any] = {
    "random": True,
    "constraints": [same_or_float, lambda T, T1, seed: seed is OMITTED or T == T1 == FLOAT],
    "seed": (OMITTED, 7),
}


@operator("Dropout", since=22, **PLANNED)
def dropout(
    data: np.ndarray, ratio: np.ndarray | None = None, training_mode: np.ndarray | None = None, **_: Any
) -> tuple[Any, Any]:
    """``output = scale * data * mask``, "scale = 1. / (1. - ratio)", in training; else data and a mask of "all ones".

    "If it is false, ratio is ignored and the operation mimics inference mode where nothing will be dropped from the
    input data"; ratio: "If set to 0, the output would be a simple copy of the input."
    """
    if training_mode is None or not bool(training_mode) or (ratio is not None and not bool(ratio)):
        return data, np.ones_like(data)
    return dropped(Dropped() if ratio is None else Dropped(given=1), data, 2 if ratio is None else 3)


dropout_13 = operator("Dropout", since=(13, 12), **PLANNED)(dropout.oracle)


@operator("Dropout", since=(10, 7), exact=True, ratio=RATIOS)
def dropout_10(data: np.ndarray, **_: Any) -> tuple[np.ndarray, np.ndarray]:
    """The data: "a simple copy of the input" in test mode, the only one that these versions know.

    The text names no switch between the modes; the official tests test_dropout_default_old and test_dropout_random_old
    copy the input, whatever the ratio. What a mask then holds is left open.
    """
    return data, np.ones_like(data)


@operator(
    "Dropout", since=(6, 1), random=True, is_test=(OMITTED, 0, 1, 2), ratio=RATIOS, consumed_inputs=(OMITTED, [0])
)
def dropout_6(data: np.ndarray, *, is_test: int, ratio: float, **_: Any) -> tuple[Any, Any]:
    """is_test: "if nonzero, run dropout in test mode where the output is simply Y = X"; else the ratio decides.

    "Note that our implementation of Dropout does scaling in the training phase, so during testing nothing needs to be
    done": the scale is that for which the mean of the output is the input.
    """
    return (data, np.ones_like(data)) if is_test or not ratio else dropped(Dropped(ratio=ratio), data, 1)


def drawn(data: np.ndarray, ratio: np.ndarray | None, training_mode: bool | None, *, mask: bool = True) -> Sample:
    """The data set of these, without what is None."""
    mode = None if training_mode is None else np.array(training_mode)
    given = {"data": data, "ratio": ratio, "training_mode": mode}
    return Sample({k: v for k, v in given.items() if v is not None}, () if mask else NO_MASK)


@dropout.inputs()
@dropout_13.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Training with a ratio of 0, and one that is ignored, since there is no training."""
    yield drawn(draw.T.ordinary(SHAPE), draw.T1(0), training_mode=True)
    if draw.types["T1"] in (draw.types["T"], FLOAT):
        yield drawn(draw.T.ordinary(SHAPE), draw.T1(0.75), training_mode=False)


@dropout.inputs(lambda T, T1: FLOAT in (T, T1))
@dropout_13.inputs()
def training(draw: Draw) -> Iterator[Sample]:
    """Three of four elements are dropped, and the others four times what they were."""
    yield drawn(draw.T.ordinary(MANY), draw.T1(0.75), training_mode=True)


@dropout.inputs(T=WIDE, T1=FLOAT)
@dropout_13.inputs(T=WIDE, T1=FLOAT)
def uneven_scale(draw: Draw) -> Iterator[Sample]:
    """One of four elements is dropped, and the scale 4/3 rounds."""
    yield drawn(draw.T.ordinary(MANY), draw.T1(0.25), training_mode=True)


@dropout.inputs(T=FLOAT, T1=FLOAT)
@dropout_13.inputs(T=FLOAT, T1=FLOAT)
def training_without_mask(draw: Draw) -> Iterator[Sample]:
    """The mask left out in training."""
    yield drawn(draw.T.ordinary(MANY), draw.T1(0.75), training_mode=True, mask=False)


@dropout.inputs(T=FLOAT, T1=FLOAT)
@dropout_13.inputs(
    T=FLOAT,
    T1=FLOAT,
    unspecified='Dropout-12 and Dropout-13, ratio: "If this input was not set, or if it was set to 0, the output would '
    'be a simple copy of the input", but also "if not specified it will default to 0.5"; Dropout-22 only the second.',
)
def default_ratio(draw: Draw) -> Iterator[Sample]:
    """The ratio left out in training: every other element is dropped."""
    yield drawn(draw.T.ordinary(MANY), None, training_mode=True)


@dropout.inputs(lambda T, T1: T1 in (T, FLOAT))
@dropout_13.inputs(lambda T, T1: T1 in (T, FLOAT))
def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, zeros of both signs, subnormals and extremes are copied too."""
    yield drawn(np.resize(draw.T.specials(), SHAPE), draw.T1(0.5), training_mode=False)


@dropout.inputs(T=FLOAT, T1=FLOAT)
@dropout_13.inputs(T=FLOAT, T1=FLOAT)
def left_out(draw: Draw) -> Iterator[Sample]:
    """Optional inputs and the mask left out, each by itself and together: no training without training_mode."""
    ratio = draw.T1(0.5)
    for mask in (True, False):
        yield drawn(draw.T.ordinary(SHAPE), None, None, mask=mask)
    yield drawn(draw.T.ordinary(SHAPE), ratio, None)
    yield drawn(draw.T.ordinary(SHAPE), None, training_mode=False)
    yield drawn(draw.T.ordinary(SHAPE), ratio, training_mode=False, mask=False)
    yield drawn(draw.T.ordinary(SHAPE), draw.T1(0), training_mode=True, mask=False)


@dropout.inputs(T=FLOAT, T1=FLOAT)
@dropout_13.inputs(T=FLOAT, T1=FLOAT)
def shapes(draw: Draw) -> Iterator[Sample]:
    """Tensors without axes and without elements."""
    for shape in ((), (2, 0, 3)):
        yield drawn(draw.T.ordinary(shape), draw.T1(0.5), training_mode=False)


@dropout_10.inputs()
@dropout_6.inputs()
def old(draw: Draw) -> Iterator[Sample]:
    """A tensor of ordinary values and one of special ones are copied; in training, a large one loses elements."""
    if draw.attributes.get("is_test", 1) in (OMITTED, 0) and draw.attributes["ratio"]:
        yield drawn(draw.T.ordinary(MANY), None, None, mask=False)
    else:
        yield drawn(draw.T.ordinary(SHAPE), None, None, mask=False)
        yield drawn(np.resize(draw.T.specials(), SHAPE), None, None, mask=False)


@dropout_10.inputs(T=FLOAT)
def old_shapes(draw: Draw) -> Iterator[Sample]:
    """Tensors without axes and without elements."""
    for shape in ((), (2, 0, 3)):
        yield drawn(draw.T.ordinary(shape), None, None, mask=False)


@dropout_10.inputs(
    T=FLOAT,
    unspecified='Dropout-7 and Dropout-10 say of the mask only "The output mask", not what it holds in test mode.',
)
def mask(draw: Draw) -> Iterator[Sample]:
    """The mask, which has the data's type in version 7 and is Boolean in version 10."""
    yield drawn(draw.T.ordinary(SHAPE), None, None)
