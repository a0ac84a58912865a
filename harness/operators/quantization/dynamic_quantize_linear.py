"""DynamicQuantizeLinear: a scale and a zero point from the range of the data, and the data quantized by them."""

from collections.abc import Iterator

import numpy as np

from harness.numbers.balls import constant, isnan
from harness.numbers.branches import clip, maximum, minimum, rint, round_to, where
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Sample, operator
from harness.spec.element_types import BY_NAME

QMIN, QMAX = 0, 255
FLOAT = BY_NAME["float"]


@operator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``y_scale = (maximum(0, max(x)) - minimum(0, min(x))) / (qmax - qmin)``, by which min(x) and x are divided.

    ``y_zero_point`` is ``qmin - min(x)/y_scale``, saturated and rounded, ``y`` is
    ``saturate (round (x / y_scale) + y_zero_point)``; the scale there is the output, a float.
    """
    low = high = np.asarray(constant("0"))
    for value in x.ravel():
        low, high = minimum(low, value), maximum(high, value)
    y_scale = (high - low) / (QMAX - QMIN)
    scale = round_to(y_scale, FLOAT)
    y_zero_point = rint(clip(QMIN - low / scale, QMIN, QMAX))
    y = clip(rint(x / scale) + y_zero_point, QMIN, QMAX)
    return _whole(y), y_scale, _whole(y_zero_point)


def _whole(x: np.ndarray) -> np.ndarray:
    """NaN, which integers have not and the text leaves open, is 0."""
    return where(isnan(x), 0, x)


SHAPE = (2, 3, 4)


@dynamic_quantize_linear.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Values of both signs, whose zero point lies inside."""
    for _ in range(3):
        yield {"x": draw.T1.ordinary(SHAPE)}


@dynamic_quantize_linear.inputs()
def one_sign(draw: Draw) -> Iterator[Inputs]:
    """All positive and all negative: the range includes 0, so that the zero point is at an end."""
    x = np.abs(draw.T1.ordinary(SHAPE))
    for one in (x, -x, draw.T1.near(100, SHAPE), -draw.T1.near(100, SHAPE)):
        yield {"x": one}


@dynamic_quantize_linear.inputs()
def constants(draw: Draw) -> Iterator[Inputs]:
    """The same value everywhere, 0 among others or not."""
    for value in (5, -5, 0.1, -3e-5, 7e20):
        yield {"x": draw.T1(np.full(SHAPE, value))}
        yield {"x": draw.T1(np.resize([value, 0, -0.0], SHAPE))}


@dynamic_quantize_linear.inputs()
def ties(draw: Draw) -> Iterator[Inputs]:
    """A range of 255, so that the scale is 1 and every half a tie: of the data, then of the zero point too."""
    for least in (-7, 0, -255, -7.5, -6.5, -254.5):
        halves = np.resize([least, least + 255, *np.arange(-4.5, 5) + max(least, -100)], SHAPE)
        yield {"x": draw.T1(np.clip(halves, least, least + 255))}


@dynamic_quantize_linear.inputs()
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, one element, and ranks up to 5."""
    for shape in ((), (1,), (5,), (3, 4), (2, 1, 3, 1, 2)):
        yield {"x": draw.T1.ordinary(shape)}


@dynamic_quantize_linear.inputs()
def sizes(draw: Draw) -> Iterator[Inputs]:
    """Very small and very large ranges, and single values far from all others."""
    x = draw.T1.ordinary(SHAPE).astype(np.float64)
    for factor in (1e-30, 1e30):
        yield {"x": draw.T1(x * factor)}
    for far in (1e6, -1e6):
        x[1, 2, 3] = far
        yield {"x": draw.T1(x)}


@dynamic_quantize_linear.inputs(
    unspecified="DynamicQuantizeLinear-11 divides by y_scale and does not say what is quantized where that is 0 or no "
    "number: all zeros, nothing at all, NaN, infinities.",
)
def no_scale(draw: Draw) -> Iterator[Sample | Inputs]:
    """Ranges of 0, and ranges that are infinite or no number."""
    yield {"x": draw.T1(np.zeros(SHAPE))}
    yield {"x": draw.T1(np.zeros((2, 0, 3)))}
    for special in (np.nan, np.inf, -np.inf):
        x = draw.T1.ordinary(SHAPE)
        x[0, 1, 2] = special
        yield {"x": x}
