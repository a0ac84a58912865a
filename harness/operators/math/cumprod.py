"""CumProd: the running product along one axis."""

from collections.abc import Callable, Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, Inputs, operator


def accumulated(
    x: np.ndarray, axis: int, combine: Callable[..., np.ndarray], *, exclusive: int, reverse: int
) -> np.ndarray:
    """At each place along the axis what comes up to it, or from it on in reverse, combined; without it if exclusive.

    ``combine`` is ``np.sum`` or ``np.prod``, which give 0 or 1 of nothing.
    """
    y = np.empty_like(x)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    for j in range(len(source)):
        window = slice(j + exclusive, None) if reverse else slice(j + 1 - exclusive)
        target[j] = combine(source[window], axis=0)
    return y


@operator("CumProd", since=26, exclusive=FLAG, reverse=FLAG)
def cumprod(x: np.ndarray, axis: np.ndarray, *, exclusive: int, reverse: int) -> np.ndarray:
    """``y[j]`` multiplies every ``x[i]`` up to ``j``, or from ``j`` on in reverse; all but ``x[j]`` if exclusive."""
    return accumulated(x, int(axis), np.prod, exclusive=exclusive, reverse=reverse)


@cumprod.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A tensor of three distinct sizes, the axis any of them, counted from either end."""
    yield {"x": draw.T.near(1, (2, 3, 4)), "axis": draw.T2(draw.integer(-3, 2))}


@cumprod.inputs()
def every_axis(draw: Draw) -> Iterator[Inputs]:
    """Each axis of ranks 1, 3 and 4, counted from the front and from the back."""
    for shape in ((5,), (2, 3, 4), (2, 3, 1, 4)):
        for axis in range(-len(shape), len(shape)):
            yield {"x": draw.T.near(1, shape), "axis": draw.T2(axis)}


@cumprod.inputs()
def length_one(draw: Draw) -> Iterator[Inputs]:
    """Axes of length 1: the inclusive product is the element, the exclusive one is 1."""
    for shape, axis in (((1,), 0), ((1, 4), 0), ((1, 4), 1), ((2, 1, 3), 1)):
        yield {"x": draw.T.near(1, shape), "axis": draw.T2(axis)}


@cumprod.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No elements, along the axis or beside it."""
    for shape, axis in (((0,), 0), ((2, 0, 3), -2), ((2, 0, 3), 2)):
        yield {"x": draw.T.near(1, shape), "axis": draw.T2(axis)}


@cumprod.inputs(T=("float", "signed"))
def signs_and_zeros(draw: Draw) -> Iterator[Inputs]:
    """Both signs and zeros between them: nothing after a zero in the product is anything else."""
    for axis in (0, 1):
        yield {"x": draw.T.integers(-2, 2, (4, 5)), "axis": draw.T2(axis)}


@cumprod.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs and subnormals, each at each place of a line of ordinary values."""
    specials = [v for v in draw.T.specials() if not np.isfinite(v) or abs(v) < 1]
    lines = draw.T.near(1, (4 * len(specials), 4))
    for line, special in enumerate(np.repeat(specials, 4)):
        lines[line, line % 4] = special
    for axis, x in ((-1, lines), (0, lines.T.copy())):
        yield {"x": x, "axis": draw.T2(axis)}
    yield {"x": draw.T([[np.inf, 1, 0, 1], [0, 2, -np.inf, 2]]), "axis": draw.T2(1)}


@cumprod.inputs(T="float")
def overflow(draw: Draw) -> Iterator[Inputs]:
    """Products that pass the largest finite value, from either end, and stay beyond it: infinities of both signs."""
    largest = draw.T.largest
    root = 2.0 ** (np.log2(largest) // 2 + 1)
    for x in ([largest, 2, 1, 2], [2, 4, 1, largest], [-largest, 2, 2, 1], [root, -root, 2, root]):
        yield {"x": draw.T([x, [1, 2, 1, 2]]), "axis": draw.T2(1)}


@cumprod.inputs(
    T=("signed", "unsigned"),
    unspecified="CumProd-26 does not say what a product is that T cannot hold; two's complement is what most return.",
)
def wrap_around(draw: Draw) -> Iterator[Inputs]:
    """Products beyond the range of an integer type."""
    for x in ([draw.T.largest, 2, 1, 3], [3, 1, draw.T.largest, draw.T.largest], [draw.T.lowest, 3, 2, 1]):
        yield {"x": draw.T([x]), "axis": draw.T2(1)}


cumprod.example("test_cumprod_1d", [1.0, 2.0, 3.0], np.int32(0), gives=[1.0, 2.0, 6.0])
cumprod.example("test_cumprod_1d_exclusive", [1.0, 2.0, 3.0], np.int32(0), exclusive=1, gives=[1.0, 1.0, 2.0])
cumprod.example(
    "test_cumprod_1d_int32_exclusive",
    np.array([1, 2, 3, 4, 5], np.int32),
    np.int32(0),
    exclusive=1,
    gives=np.array([1, 1, 2, 6, 24], np.int32),
)
cumprod.example("test_cumprod_1d_reverse", [1.0, 2.0, 3.0], np.int32(0), reverse=1, gives=[6.0, 6.0, 3.0])
cumprod.example(
    "test_cumprod_1d_reverse_exclusive", [1.0, 2.0, 3.0], np.int32(0), exclusive=1, reverse=1, gives=[6.0, 3.0, 1.0]
)

MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
ALONG_ROWS = [[1.0, 2.0, 6.0], [4.0, 20.0, 120.0]]
cumprod.example("test_cumprod_2d_axis_0", MATRIX, np.int32(0), gives=[[1.0, 2.0, 3.0], [4.0, 10.0, 18.0]])
cumprod.example("test_cumprod_2d_axis_1", MATRIX, np.int32(1), gives=ALONG_ROWS)
cumprod.example(
    "test_cumprod_2d_int32",
    np.array([[1, 2, 3], [4, 5, 6]], np.int32),
    np.int32(0),
    gives=np.array([[1, 2, 3], [4, 10, 18]], np.int32),
)
cumprod.example("test_cumprod_2d_negative_axis", MATRIX, np.int64(-1), gives=ALONG_ROWS)
