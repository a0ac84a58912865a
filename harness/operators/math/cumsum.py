"""CumSum: the running sum along one axis."""

from collections.abc import Iterator

import numpy as np

from harness.operators.math.cumprod import accumulated
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, Inputs, Sample, operator

WRAPPING = "CumSum-14 does not say what a sum is that T cannot hold; two's complement is what most return."


def _sparing(T2: str, exclusive: object, reverse: object) -> bool:
    """The flags are 0 beside int64 axes only."""
    return T2 == "tensor(int64)" or 0 not in (exclusive, reverse)


@operator("CumSum", since=(14, 11), exclusive=FLAG, reverse=FLAG, constraints=(_sparing,))
def cumsum(x: np.ndarray, axis: np.ndarray, *, exclusive: int, reverse: int) -> np.ndarray:
    """``y[j]`` is the sum of every ``x[i]`` up to ``j``, or from ``j`` on in reverse; without ``x[j]`` if exclusive."""
    return accumulated(x, int(axis), np.sum, exclusive=exclusive, reverse=reverse)


@cumsum.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """A tensor of three distinct sizes, the axis any of them, counted from either end."""
    yield {"x": draw.T.ordinary((2, 3, 4)), "axis": draw.T2(draw.integer(-3, 2))}


@cumsum.inputs(T=("double", "uint32"))
def every_axis(draw: Draw) -> Iterator[Inputs]:
    """Each axis of ranks 1 and 4, counted from the front and from the back."""
    for shape in ((5,), (2, 3, 1, 4)):
        for axis in range(-len(shape), len(shape)):
            yield {"x": draw.T.ordinary(shape), "axis": draw.T2(axis)}


@cumsum.inputs(T=("double", "int64"))
def length_one(draw: Draw) -> Iterator[Inputs]:
    """Along an axis, then an axis of length 1: the inclusive sum is the element, the exclusive one is 0."""
    for axis in (1, 0):
        yield {"x": draw.T.ordinary((1, 4)), "axis": draw.T2(axis)}


@cumsum.inputs(T=("double", "int64"))
def empty(draw: Draw) -> Iterator[Inputs]:
    """No elements, along the axis or beside it."""
    for axis in (-2, 2):
        yield {"x": draw.T.ordinary((2, 0, 3)), "axis": draw.T2(axis)}


@cumsum.inputs(T="float")
def special_values(draw: Draw) -> Iterator[Inputs]:
    """Each special value at each place of a line: what comes before it is a number, and inf - inf is NaN after it."""
    specials = [v for v in draw.T.specials() if abs(v) != draw.T.largest]
    lines = np.repeat(draw.T.ordinary((len(specials), 4)), 4, axis=0)
    for line, special in enumerate(np.repeat(specials, 4)):
        lines[line, line % 4] = special
    for axis, x in ((-1, lines), (0, lines.T.copy())):
        yield {"x": x, "axis": draw.T2(axis)}


@cumsum.inputs(T="float")
def infinities(draw: Draw) -> Iterator[Inputs]:
    """Infinities of both signs in one line: NaN from where they meet."""
    inf = np.inf
    for x in ([[inf, 1, -inf, 2], [1, -inf, 3, inf], [inf, 2, inf, 1]], [[-inf] * 4, [inf] * 4, [1, np.nan, inf, 2]]):
        yield {"x": draw.T([x, x[::-1]]), "axis": draw.T2(2)}


@cumsum.inputs(T="float")
def overflow(draw: Draw) -> Iterator[Inputs]:
    """Sums that pass the largest finite value, from either end, and stay beyond it."""
    largest = draw.T.largest
    x = [[largest, largest, 1, 2], [1, largest, largest / 2, largest], [-largest, -2, -largest, -largest]]
    yield {"x": draw.T([x, x[::-1]]), "axis": draw.T2(2)}


@cumsum.inputs(T="float")
def long(draw: Draw) -> Iterator[Inputs]:
    """As many terms as the type can bear: 8 in bfloat16, 64 in float16, 300 in float and double."""
    length = {"bfloat16": 8, "float16": 64}.get(draw.T.element.name, 300)
    yield {"x": draw.T.near(1, (length,)), "axis": draw.T2(-1)}


@cumsum.inputs(T=("signed", "unsigned"))
def range_ends(draw: Draw) -> Iterator[Inputs | Sample]:
    """Sums up to the ends of the range, which no double can tell from the next in 64 bits, then beyond them."""
    m = int(draw.T.largest)
    x = [[1, m - 3, 1, 1], [m // 2, 1, m // 2 - 5, 0], [0, 3, 0, m - 3]]
    if draw.T.element.kind == "signed":
        x = [*x[:2], [-m, 5, -6, m - 2]]
    yield {"x": draw.T([x, x[::-1]]), "axis": draw.T2(-1)}
    yield Sample(
        {"x": draw.T([[[m, 2, 1, 3], [3, 1, m, m], [1, m, m, 1]]] * 2), "axis": draw.T2(2)}, unspecified=WRAPPING
    )


FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
cumsum.example("test_cumsum_1d", FIVE, np.int32(0), gives=[1.0, 3.0, 6.0, 10.0, 15.0])
cumsum.example("test_cumsum_1d_exclusive", FIVE, np.int32(0), exclusive=1, gives=[0.0, 1.0, 3.0, 6.0, 10.0])
cumsum.example("test_cumsum_1d_reverse", FIVE, np.int32(0), reverse=1, gives=[15.0, 14.0, 12.0, 9.0, 5.0])
cumsum.example(
    "test_cumsum_1d_reverse_exclusive", FIVE, np.int32(0), exclusive=1, reverse=1, gives=[14.0, 12.0, 9.0, 5.0, 0.0]
)
