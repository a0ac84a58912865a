"""PRelu: negative elements times a slope, which is a tensor of its own."""

from collections.abc import Iterator

import numpy as np

from harness.numbers.branches import less
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator


def sloped(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """``slope * x`` for ``x < 0``, ``x`` for ``x >= 0``; inputs are exact, so neither side need be widened."""
    return np.where(less(x, 0), slope * x, x)


@operator("PRelu", since=(16, 9, 7))
def prelu(x: np.ndarray, slope: np.ndarray, /) -> np.ndarray:
    """``slope * x`` for ``x < 0``, ``x`` for ``x >= 0``, the slope broadcast to the shape of ``x``."""
    return sloped(x, slope)


@operator("PRelu", since=(6, 1), consumed_inputs=(OMITTED, [0]))
def prelu_1(x: np.ndarray, slope: np.ndarray, /, **_: object) -> np.ndarray:
    """``slope * x`` for ``x < 0``, ``x`` for ``x >= 0``; one slope for all channels, or one each, along axis 1."""
    return sloped(x, slope.reshape(()) if slope.size == 1 else slope.reshape(-1, *[1] * (x.ndim - 2)))


SHAPE = (2, 4, 13)
"""Of the values: 104 elements, so that each of the 11 special floats, and 2 more, meets each place of eight."""
FEW = ("double", "float16", "int64", "uint32")
"""One type of each kind and another float, for what concerns shapes alone."""

for either, slopes in ((prelu, SHAPE), (prelu_1, (1,))):

    @either.inputs()
    def ordinary(draw: Draw, slopes: tuple[int, ...] = slopes) -> Iterator[Inputs]:
        """Elements and slopes of both signs."""
        yield {"X": draw.T.ordinary(SHAPE), "slope": draw.T.ordinary(slopes)}

    @either.inputs(T="float")
    def special_values(draw: Draw, slopes: tuple[int, ...] = slopes) -> Iterator[Inputs]:
        """NaN, infinities, zeros of both signs, subnormal and largest numbers among the elements, at every place."""
        yield {"X": draw.T(np.resize([*draw.T.specials(), 1.5, -0.75], SHAPE)), "slope": draw.T.ordinary(slopes)}

    @either.inputs(T="float")
    def special_slopes(draw: Draw, slopes: tuple[int, ...] = slopes) -> Iterator[Inputs]:
        """The same as slopes, which elements that are not negative never see."""
        for start in range(1 if slopes == SHAPE else len(draw.T.specials())):
            yield {"X": draw.T.ordinary(SHAPE), "slope": draw.T(np.resize(draw.T.specials()[start:], slopes))}


@prelu.inputs(T=FEW)
def broadcasting(draw: Draw) -> Iterator[Inputs]:
    """The slope smaller than the tensor: one for all, of lower rank, of length 1 in one axis or another."""
    for slope in ((1,), (4,), (3, 1), (2, 1, 4)):
        yield {"X": draw.T.ordinary((2, 3, 4)), "slope": draw.T.ordinary(slope)}


@prelu.inputs(T=FEW)
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, no elements, rank 4 with a slope a channel."""
    for shape, slope in (((), ()), ((2, 0, 3), (3,)), ((3, 2, 1, 5), (2, 1, 1))):
        yield {"X": draw.T.ordinary(shape), "slope": draw.T.ordinary(slope)}


@prelu.inputs(T=("signed", "unsigned"))
def integer_extremes(draw: Draw) -> Iterator[Sample]:
    """The extremes of the type and what lies beside zero, the negative ones times 0 or 1, then times more."""
    x = draw.T.specials()
    yield Sample({"X": np.resize(x, SHAPE), "slope": draw.T(np.resize([*[0] * len(x), *[1] * len(x)], SHAPE))})
    overflow = "PRelu does not say what a product is that T cannot hold." if x[0] < 0 else ""
    slope = draw.T(np.resize(np.array([2, 3, 4, int(draw.T.largest)], object), SHAPE))
    yield Sample({"X": np.resize(x, SHAPE), "slope": slope}, unspecified=overflow)


CHANNELS = (
    'PRelu-1 and PRelu-6 say that a slope of size 1 "is shared across different channels", but neither which axis '
    "those are nor that a slope of another size has one each."
)


@prelu_1.inputs()
def shared_by_all(draw: Draw) -> Iterator[Sample]:
    """A slope of size 1, of any rank; tensors without axes, without elements, of rank 4; a slope a channel."""
    for shape, slope in (((), ()), ((2, 0, 3), (1,)), ((3, 2, 1, 5), (1, 1)), (SHAPE, ())):
        yield Sample({"X": draw.T.ordinary(shape), "slope": draw.T.ordinary(slope)})
    yield Sample({"X": draw.T.ordinary((3, 2, 1, 5)), "slope": draw.T.ordinary((2,))}, unspecified=CHANNELS)
