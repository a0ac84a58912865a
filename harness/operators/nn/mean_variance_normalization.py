"""MeanVarianceNormalization: the elements along some axes, less their mean and by their standard deviation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.nn.layer_normalization import is_narrow, moments_of_body, uneven, with_specials
from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

AXES: Any = (OMITTED, [1], [2, 3], [0, 1, 2, 3], [3, 0])
EPSILON = (
    'The text of MeanVarianceNormalization-13 is "(X-EX)/sqrt(E(X-EX)^2)"; its function body adds a float 1e-9 to the '
    "divisor, which is seen here."
)


def _normalized(x: np.ndarray, /, *, axes: list[int]) -> np.ndarray:
    """``(X-EX)/sqrt(E(X-EX)^2)``; "the default is to calculate along axes [0,2,3]".

    The function body adds 1e-9 to the divisor, in float whatever T is: inputs are such that no type shows it.
    """
    along = tuple(axis % x.ndim for axis in axes)
    mean, variance = moments_of_body(x, along)
    return (x - mean) / np.sqrt(variance)


FROM_13 = operator("MeanVarianceNormalization", since=13, axes=(*AXES, [-1], [-3, 0]))(_normalized)
"""The function body gives the axes to ReduceMean, which takes negative ones since version 11."""
FROM_9 = operator("MeanVarianceNormalization", since=9, axes=AXES)(_normalized)


def _axes(draw: Draw) -> list[int]:
    axes = draw.attributes["axes"]
    return [0, 2, 3] if axes is OMITTED else axes


def _shape(draw: Draw) -> Shape:
    """Of distinct sizes; in 8 bits such that no more than 4 elements are normalized together."""
    if not is_narrow(draw):
        return (2, 3, 1, 5)
    shape = [2, 3, 1, 4]
    for axis in sorted(axis % 4 for axis in _axes(draw))[:-1]:
        shape[axis] = 1
    return tuple(shape)


def _spread(draw: Draw, shape: Shape) -> np.ndarray:
    """Ordinary values; large ones in double, where 1e-9 beside them is less than half a unit in the last place."""
    return uneven(draw, shape).astype(np.float64) * (2.0**28 if draw.T.element.name == "double" else 1)


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Distinct sizes; the elements along the axes are of either sign."""
    yield {"X": draw.T(_spread(draw, _shape(draw)))}


def far_from_zero(draw: Draw) -> Iterator[Inputs]:
    """A mean of 16 and a spread of 1: the difference of the mean of squares and the square of the mean still is one."""
    x = _spread(draw, _shape(draw))
    scale = 2.0**28 if draw.T.element.name == "double" else 1
    for centre in (16, -16):
        yield {"X": draw.T(centre * scale + x / 4)}


def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, then infinity, at one place: what is normalized with them is NaN, all else is as without them."""
    yield from ({"X": x} for x in with_specials(draw.T(_spread(draw, _shape(draw)))))


def ranks(draw: Draw) -> Iterator[Inputs]:
    """Five axes, or two where that is enough; no elements beside the axis."""
    axes = _axes(draw)
    yield {"X": draw.T(_spread(draw, (2, 3, 1, 4, 2)))}
    if axes == [1]:
        yield {"X": draw.T(_spread(draw, (4, 5)))}
        yield {"X": draw.T.ordinary((0, 3, 2, 1))}


def all_equal(draw: Draw) -> Iterator[Inputs]:
    """Nothing but equal elements: 0 / 0 by the text, 0 / 1e-9 by the function body."""
    if draw.attributes["axes"] is not OMITTED:
        return
    yield {"X": draw.T(np.full(_shape(draw), 0.5))}


def nearly_equal(draw: Draw) -> Iterator[Inputs]:
    """A spread of 2^-20 around zero."""
    if draw.attributes["axes"] is not OMITTED:
        return
    yield {"X": draw.T(draw.T.ordinary(_shape(draw)).astype(np.float64) * 2.0**-20)}


for _op in (FROM_13, FROM_9):
    _op.inputs()(ordinary)
FROM_13.inputs(T=("tensor(float)", "tensor(double)"))(far_from_zero)
FROM_13.inputs()(special_values)
FROM_13.inputs(T="tensor(float)")(ranks)
FROM_13.inputs(T="tensor(float)", unspecified=EPSILON)(all_equal)
FROM_13.inputs(T="tensor(float)", unspecified=EPSILON)(nearly_equal)
