"""Dropout where nothing is dropped: in inference, and with a ratio of 0."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.draw import Draw
from harness.operators.operator import OMITTED, Drawn, operator

FLOAT = "tensor(float)"
RATIOS = (OMITTED, 0.0, 0.25, 0.875)
NO_MASK = ("mask",)
SHAPE = (4, 6)
NO_LAW = "What is dropped at random has no law yet that output, mask and data are held against together."


def same_or_float(T: str, T1: str) -> bool:
    """That data and ratio have one type, or one of them is float."""
    return T == T1 or FLOAT in (T, T1)


@operator(
    "Dropout",
    since=(22, 13, 12),
    exact=True,
    constraints=[same_or_float, lambda T, T1, seed: seed is OMITTED or T == T1 == FLOAT],
    seed=(OMITTED, 7),
)
def dropout(
    data: np.ndarray, ratio: np.ndarray | None = None, training_mode: np.ndarray | None = None, **_: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The data and a mask of "all ones".

    "If it is false, ratio is ignored and the operation mimics inference mode where nothing will be dropped from the
    input data"; ratio: "If set to 0, the output would be a simple copy of the input."
    """
    if training_mode is not None and bool(training_mode) and (ratio is None or bool(ratio)):
        raise NotImplementedError(NO_LAW)
    return data, np.ones_like(data)


@operator("Dropout", since=(10, 7), exact=True, ratio=RATIOS)
def dropout_10(data: np.ndarray, **_: Any) -> tuple[np.ndarray, np.ndarray]:
    """The data: "a simple copy of the input" in test mode, the only one that these versions know.

    The text names no switch between the modes; the official tests test_dropout_default_old and test_dropout_random_old
    copy the input, whatever the ratio. What a mask then holds is left open.
    """
    return data, np.ones_like(data)


@operator(
    "Dropout",
    since=(6, 1),
    exact=True,
    constraints=[lambda is_test, ratio: ratio == 0.0 or is_test not in (OMITTED, 0)],
    is_test=(OMITTED, 0, 1, 2),
    ratio=RATIOS,
    consumed_inputs=(OMITTED, [0]),
)
def dropout_6(data: np.ndarray, *, is_test: int, ratio: float, **_: Any) -> tuple[np.ndarray, np.ndarray]:
    """is_test: "if nonzero, run dropout in test mode where the output is simply Y = X"; else the ratio decides."""
    if not is_test and ratio:
        raise NotImplementedError(NO_LAW)
    return data, np.ones_like(data)


def drawn(
    data: np.ndarray, ratio: np.ndarray | None, training_mode: bool | None, *, mask: bool = True, silent: str = ""
) -> Drawn:
    """The data set of these, without what is None."""
    mode = None if training_mode is None else np.array(training_mode)
    given = {"data": data, "ratio": ratio, "training_mode": mode}
    return Drawn({k: v for k, v in given.items() if v is not None}, () if mask else NO_MASK, silent)


@dropout.inputs()
def ordinary(draw: Draw) -> Iterator[Drawn]:
    """Training with a ratio of 0, and one that is ignored, since there is no training."""
    yield drawn(draw.T.some(SHAPE), draw.T1(0), training_mode=True)
    if draw.types["T1"] in (draw.types["T"], FLOAT):
        yield drawn(draw.T.some(SHAPE), draw.T1(0.75), training_mode=False)


@dropout.inputs(lambda T, T1: T1 in (T, FLOAT))
def special_values(draw: Draw) -> Iterator[Drawn]:
    """NaN, infinities, zeros of both signs, subnormals and extremes are copied too."""
    yield drawn(np.resize(draw.T.specials(), SHAPE), draw.T1(0.5), training_mode=False)


@dropout.inputs(T=FLOAT, T1=FLOAT)
def left_out(draw: Draw) -> Iterator[Drawn]:
    """Optional inputs and the mask left out, each by itself and together: no training without training_mode."""
    ratio = draw.T1(0.5)
    for mask in (True, False):
        yield drawn(draw.T.some(SHAPE), None, None, mask=mask)
    yield drawn(draw.T.some(SHAPE), ratio, None)
    yield drawn(draw.T.some(SHAPE), None, training_mode=False)
    yield drawn(draw.T.some(SHAPE), ratio, training_mode=False, mask=False)
    yield drawn(draw.T.some(SHAPE), draw.T1(0), training_mode=True, mask=False)


@dropout.inputs(T=FLOAT, T1=FLOAT)
def shapes(draw: Draw) -> Iterator[Drawn]:
    """Tensors without axes and without elements."""
    for shape in ((), (2, 0, 3)):
        yield drawn(draw.T.some(shape), draw.T1(0.5), training_mode=False)


@dropout_10.inputs()
@dropout_6.inputs()
def copied(draw: Draw) -> Iterator[Drawn]:
    """A tensor, ordinary values and special ones."""
    yield drawn(draw.T.some(SHAPE), None, None, mask=False)
    yield drawn(np.resize(draw.T.specials(), SHAPE), None, None, mask=False)


@dropout_10.inputs(T=FLOAT)
@dropout_6.inputs(T=FLOAT)
def copied_shapes(draw: Draw) -> Iterator[Drawn]:
    """Tensors without axes and without elements."""
    for shape in ((), (2, 0, 3)):
        yield drawn(draw.T.some(shape), None, None, mask=False)


@dropout_10.inputs(
    T=FLOAT,
    silent='Dropout-7 and Dropout-10 say of the mask no more than "The output mask": not what it holds in test mode.',
)
def mask(draw: Draw) -> Iterator[Drawn]:
    """The mask, which has the data's type in version 7 and is Boolean in version 10."""
    yield drawn(draw.T.some(SHAPE), None, None)
