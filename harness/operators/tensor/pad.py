"""Pad: elements added around a tensor, or removed; pads and the constant were attributes before version 11."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator


def padded(data: np.ndarray, pads: Any, mode: str, value: Any, axes: Any = None) -> np.ndarray:
    """Along each axis what lies at ``-begin`` up to ``size + end``, where the mode says what lies outside.

    "`edge` - pads with the edge values", "`wrap` - wrap-around padding as if the data tensor forms a torus",
    "`reflect` - pads with the reflection of the vector mirrored on the first and last values of the vector": as often
    as is needed, for the text's example pads two elements with two, the outer of which is mirrored on both of them.
    """
    axes = range(data.ndim) if axes is None else axes
    for axis, begin, end in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        size = data.shape[axis]
        places = np.arange(-begin, size + end).astype(np.int64)
        if mode == "constant":
            inside = (places >= 0) & (places < size)
            kept = np.moveaxis(np.take(data, places[inside], axis=axis), axis, 0)
            data = np.full_like(data, value, shape=(len(places), *np.delete(data.shape, axis)))
            data[inside] = kept
            data = np.moveaxis(data, 0, axis)
        elif mode == "edge":
            data = np.take(data, places.clip(0, size - 1), axis=axis)
        elif mode == "wrap":
            data = np.take(data, places % max(size, 1), axis=axis)
        else:
            last = size - 1
            data = np.take(data, last - abs(last - places % max(2 * last, 1)), axis=axis)
    return data


def pad(
    data: np.ndarray,
    pads: np.ndarray,
    constant_value: np.ndarray | None = None,
    axes: np.ndarray | None = None,
    *,
    mode: str,
) -> np.ndarray:
    """The constant is "by default … 0, empty string or False"; without axes "all axes are assumed"."""
    value = np.zeros_like(data, shape=()) if constant_value is None else constant_value
    return padded(data, pads, mode, value, axes)


def pad_without_axes(
    data: np.ndarray, pads: np.ndarray, constant_value: np.ndarray | None = None, *, mode: str
) -> np.ndarray:
    """All axes."""
    return pad(data, pads, constant_value, mode=mode)


THREE = (OMITTED, "constant", "reflect", "edge")
FOUR = (*THREE, "wrap")

pad_25 = operator(
    "Pad",
    since=25,
    exact=True,
    mode=FOUR,
    constraints=[
        lambda T, Tind: T == "tensor(float)" or Tind == "tensor(int64)",  # no type of elements bears on that of axes
        lambda T, mode: T == "tensor(int32)" or mode != OMITTED,  # nor on the default
    ],
)(pad)
pad_19 = operator("Pad", since=(24, 23, 21, 19), exact=True, mode=FOUR)(pad)
pad_18 = operator("Pad", since=18, exact=True, mode=THREE)(pad)
pad_11 = operator("Pad", since=(13, 11), exact=True, mode=THREE)(pad_without_axes)


def fits(T: str, value: Any) -> bool:
    """Whether the type holds the value."""
    return value != VALUES[-1] or T != "tensor(float16)"


EXAMPLE = [0, 0, 2, 0]
"""The paddings of Pad-1's example."""
VALUES = (OMITTED, -1.5, float("inf"), 2.0**-100)


@operator(
    "Pad",
    since=2,
    exact=True,
    mode=THREE,
    pads=([1, 2, 0, 2], [0, 3, 2, 0], [-1, 0, 0, -2], [2, -1, 0, 2], [0, 0, 0, 0], [2, 1], []),
    value=VALUES,
    constraints=[fits],
)
def pad_2(data: np.ndarray, *, mode: str, pads: list[int], value: float) -> np.ndarray:
    """As the later ones, of all axes; ``value`` is 0 by default."""
    return padded(data, pads, mode, value)


@operator(
    "Pad",
    since=1,
    exact=True,
    mode=THREE,
    paddings=([2, 1], [0, 3], [1, 2, 2, 0], [0, 1, 1, 3], EXAMPLE),
    value=VALUES,
    constraints=[fits, lambda T, paddings: T == "tensor(float)" or paddings != EXAMPLE],
)
def pad_1(data: np.ndarray, *, mode: str, paddings: list[int], value: float) -> np.ndarray:
    """As version 2, without removal; the paddings at the beginning of each axis come before those at its end."""
    return padded(data, paddings, mode, value)


SHAPE = (4, 5, 6)

ALONE = (
    'Pad, "pads with the reflection of the vector mirrored on the first and last values of the vector", does not say '
    "what that is of one value alone."
)
REMOVED = (
    'Pad, "number of padding elements to add or remove (if negative)", does not say whether what is removed at one end '
    "of an axis is still there for what is added at the other."
)


def asked(
    draw: Draw,
    data: np.ndarray,
    begins: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
    unspecified: str = "",
) -> Sample:
    """The tensor with some value for the constant, and these pads of the axes, by default of all in order."""
    inputs = {"data": data, "pads": np.array([*begins, *ends], np.int64), "constant_value": draw.T.ordinary(())}
    if "Tind" in draw.types:
        inputs["axes"] = draw.Tind(range(data.ndim) if axes is None else axes)
    return Sample(inputs, unspecified=unspecified)


def constant(draw: Draw) -> bool:
    """Whether the row is of the mode ``constant``."""
    return draw.attributes["mode"] in (OMITTED, "constant")


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Fewer elements than there are, at the beginning and the end of axes in another order; a constant if used."""
    axes = ((2, 0, 1), (1, 2, 0), (2, 1, 0))[draw.integer(0, 2)]
    full = asked(draw, draw.T.ordinary(SHAPE), (1, 2, 0), (2, 0, 3), axes)
    yield full if constant(draw) else Sample({k: v for k, v in full.inputs.items() if k != "constant_value"})


def without_a_constant(draw: Draw) -> Iterator[Sample]:
    """No constant: it is zero, the empty string or False."""
    full = asked(draw, draw.T.ordinary(SHAPE), (1, 0, 2), (2, 1, 0))
    yield Sample({k: v for k, v in full.inputs.items() if k != "constant_value"})


def default_constant(draw: Draw) -> Iterator[Sample]:
    """No constant where one is used: it is zero, the empty string or False."""
    if constant(draw):
        yield from without_a_constant(draw)


def negative(draw: Draw) -> Iterator[Sample]:
    """Elements removed, also together with others added at the other end of the same axis; all of an axis removed."""
    wraps = draw.attributes["mode"] == "wrap"
    yield asked(draw, draw.T.ordinary(SHAPE), (-1, 0, -2), (0, -2, -1))
    yield asked(draw, draw.T.ordinary(SHAPE), (-2, 1, 2), (-1, 0, 3))
    yield asked(draw, draw.T.ordinary(SHAPE), (1, -2, 0), (-2, 2, -4), unspecified=REMOVED if wraps else "")
    yield asked(draw, draw.T.ordinary(SHAPE), (0, -2, 1), (0, -3, 0))
    if constant(draw):
        yield asked(draw, draw.T.ordinary(SHAPE), (-4, 0, 1), (2, 0, 0))


def long(draw: Draw) -> Iterator[Sample]:
    """One element less than there are, as many, and more: what is mirrored or wrapped around is so repeatedly."""
    data = draw.T.ordinary((3, 4))
    for begins, ends in (((2, 3), (2, 3)), ((3, 0), (0, 4)), ((0, 5), (4, 0)), ((7, 13), (8, 6))):
        yield asked(draw, data, begins, ends)
    yield asked(
        draw, draw.T.ordinary((1, 4)), (1, 0), (2, 1), unspecified=ALONE if draw.attributes["mode"] == "reflect" else ""
    )


def some_axes(draw: Draw) -> Iterator[Sample]:
    """One axis, two, three, in every order and counted from the back; none; all of them by leaving them out."""
    data = draw.T.ordinary(SHAPE)
    for axes in ((1, 2), (-1, 0), (1, -3)):
        yield asked(draw, data, (2, 1), (0, 3), axes)
    if draw.attributes["mode"] == "constant":
        for axis in (0, 1, -1, -2, -3):
            yield asked(draw, data, (2,), (3,), (axis,))
        yield asked(draw, data, (), (), ())
        full = asked(draw, data, (3, 0, 1), (1, 2, 0))
        yield Sample({k: v for k, v in full.inputs.items() if k != "axes"})


def ranks(draw: Draw) -> Iterator[Sample]:
    """One axis; five, of which some are of length 1 that stay so."""
    yield asked(draw, draw.T.ordinary((5,)), (4,), (3,))
    yield asked(draw, draw.T.ordinary((2, 1, 4, 1, 3)), (1, 0, 2, 0, 0), (0, 0, 1, 0, 2))


def scalar(draw: Draw) -> Iterator[Sample]:
    """A scalar, which has no axes: the pads are of length 0."""
    if constant(draw):
        full = asked(draw, draw.T.ordinary(()), (), ())
        yield Sample({k: v for k, v in full.inputs.items() if k != "axes"})


def empty(draw: Draw) -> Iterator[Sample]:
    """No elements, with pads beside the empty axis; constants alone where the mode has them."""
    yield asked(draw, draw.T.ordinary((3, 0)), (0, 0), (0, 0))
    yield asked(draw, draw.T.ordinary((3, 0)), (2, 0), (1, 0))
    if constant(draw):
        yield asked(draw, draw.T.ordinary((3, 0)), (1, 2), (0, 1))
        yield asked(draw, draw.T.ordinary((3, 0)), (0, 0), (0, 4))


def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, zeros of both signs and extremes in the tensor and as constants come through as they are."""
    specials = draw.T.specials()
    inputs = asked(draw, np.resize(specials, SHAPE), (1, 2, 0), (2, 3, 0)).inputs
    if constant(draw):
        for value in specials[[0, -1]]:
            yield Sample({**inputs, "constant_value": np.asarray(value)})
    else:
        yield Sample({k: v for k, v in inputs.items() if k != "constant_value"})


ZEROS = ("bool", "string", "complex64", "int4", "uint8", "float16", "bfloat16")
for _op in (pad_25, pad_19, pad_18, pad_11):
    _op.inputs()(ordinary)
for _op in (pad_19, pad_18, pad_11):
    _op.inputs(T=ZEROS)(without_a_constant)
pad_25.inputs(T=ZEROS)(default_constant)
for _op in (pad_25, pad_18, pad_11):
    _op.inputs(T="tensor(float)")(negative)
for _op in (pad_25, pad_18):
    _op.inputs(T="tensor(float)")(some_axes)
pad_25.inputs(T="tensor(float)")(long)
pad_25.inputs(T="tensor(float)")(ranks)
pad_25.inputs(T="tensor(float)")(scalar)
pad_25.inputs(T="tensor(float)")(empty)
pad_25.inputs(T="double")(special_values)


def pads_of(draw: Draw) -> list[int]:
    """The pads that the attributes state."""
    return draw.attributes["pads" if "pads" in draw.attributes else "paddings"]


def tensor(draw: Draw, *shapes: Sequence[int], unspecified: str = "") -> Iterator[Sample]:
    """The shapes with as many axes as the pads are for."""
    for shape in shapes:
        if 2 * len(shape) == len(pads_of(draw)):
            yield Sample({"data": draw.T.ordinary(shape)}, unspecified=unspecified)


@pad_2.inputs()
def with_pads(draw: Draw) -> Iterator[Sample]:
    """Axes longer than the pads."""
    yield from tensor(draw, (4, 6), (7,), (3, 5), (4,), ())


BESIDE = (
    'Pad-1, "`paddings` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...]", while its example, '
    '"Insert 0 paddings to the beginning of the second dimension … paddings = [0, 0, 2, 0]", has both ends of an axis '
    "beside each other."
)


@pad_1.inputs()
def with_paddings(draw: Draw) -> Iterator[Sample]:
    """One axis; two, where both orders of the paddings that the text has are the same; and its example."""
    paddings = pads_of(draw)
    yield from tensor(draw, (4, 5), (7,), unspecified=BESIDE if paddings == EXAMPLE else "")


MATRIX = np.array([[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]], np.float32)


def _pads(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _floats(*rows: Sequence[float]) -> np.ndarray:
    return np.array(rows, np.float32)


pad_25.example(
    "test_pad_example_reflect",
    MATRIX,
    _pads(0, 2, 0, 0),
    mode="reflect",
    gives=_floats((1.0, 1.2, 1.0, 1.2), (2.3, 3.4, 2.3, 3.4), (4.5, 5.7, 4.5, 5.7)),
)
pad_25.example(
    "test_pad_example_wrap",
    MATRIX,
    _pads(2, 1, 1, 1),
    mode="wrap",
    gives=_floats(
        (3.4, 2.3, 3.4, 2.3),
        (5.7, 4.5, 5.7, 4.5),
        (1.2, 1.0, 1.2, 1.0),
        (3.4, 2.3, 3.4, 2.3),
        (5.7, 4.5, 5.7, 4.5),
        (1.2, 1.0, 1.2, 1.0),
    ),
)
pad_2.example(
    "test_pad_2_example",
    MATRIX,
    pads=[0, 2, 0, 0],
    gives=_floats((0, 0, 1.0, 1.2), (0, 0, 2.3, 3.4), (0, 0, 4.5, 5.7)),
)
