"""CenterCropPad: the middle of a tensor, or a tensor in the middle of zeros."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

FEW = ("tensor(float)", "tensor(string)")
SHAPE = (4, 5, 7)


def in_few(T: str, Tind: str, axes: object) -> bool:
    """Few types meet all; the others, which have no part in them, all axes and sizes of int64."""
    return T in FEW or (Tind == "tensor(int64)" and axes is OMITTED)


@operator(
    "CenterCropPad",
    since=18,
    exact=True,
    constraints=[in_few],
    axes=(OMITTED, [-1, 0], [1], [2, 0, -2]),
)
def center_crop_pad(input_data: np.ndarray, shape: np.ndarray, *, axes: list[int] | None) -> np.ndarray:
    """Along each of the axes the middle of the data, or the data in the middle of zeros (``""`` for strings).

    "The starting value for the cropping window is rounded down", and where "the total number of padding pixels is
    odd, an additional pixel will be added to the right side".
    """
    output = input_data
    for axis, size in zip(range(input_data.ndim) if axes is None else axes, shape.tolist(), strict=True):
        source = np.moveaxis(output, axis, 0)
        target = np.zeros_like(source, shape=(size, *source.shape[1:]))
        start, left = (max(difference, 0) // 2 for difference in (len(source) - size, size - len(source)))
        window = source[start : start + size]
        target[left : left + len(window)] = window
        output = np.moveaxis(target, 0, axis)
    return output


@center_crop_pad.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Axes of which some are cropped and some padded, by even and odd differences."""
    yield _resized(draw, SHAPE, (2, -3, 1))
    if draw.types["T"] in FEW:
        yield _resized(draw, SHAPE, (-2, 3, -1))


@center_crop_pad.inputs(T=("double", "string"))
def every_difference(draw: Draw) -> Iterator[Inputs]:
    """All of the axes cropped or padded alike: by up to 3."""
    for change in (-3, -2, -1, 1, 2, 3):
        yield _resized(draw, SHAPE, (change,) * 3)


@center_crop_pad.inputs(T=("uint8", "double"))
def far_apart(draw: Draw) -> Iterator[Inputs]:
    """A single element in the middle of much, much cropped to a single one, and to two."""
    yield _resized(draw, (1, 1, 1), (30, 2, 5))
    yield _resized(draw, (31, 3, 8), (-30, -2, -7))
    yield _resized(draw, (31, 4, 9), (-29, -2, -7))


@center_crop_pad.inputs(T=("float16", "int8"))
def empty(draw: Draw) -> Iterator[Inputs]:
    """Axes of nothing that become zeros, axes cropped to nothing, and what has nothing beside them."""
    yield _resized(draw, (0, 0, 0), (2, 3, 1))
    yield _resized(draw, (3, 0, 4), (2, 0, -1))
    yield _resized(draw, SHAPE, (-4, -5, -7))


@center_crop_pad.inputs(T=("double", "int32"))
def other_ranks(draw: Draw) -> Iterator[Inputs]:
    """Four axes, and one, where they have the row's axes once each."""
    for shape, change in (((2, 5, 3, 4), (3, -2, 2, -1)), ((6,), (-3,))):
        axes = _axes(draw, len(shape))
        if len({axis % len(shape) for axis in axes}) == len(axes) and max(axes) < len(shape):
            yield _resized(draw, shape, change)


@center_crop_pad.inputs(T=("float", "signed", "unsigned"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """The type's special values, which stay what they are among the zeros."""
    yield {**_resized(draw, SHAPE, (1, -2, 2)), "input_data": np.resize(draw.T.specials(), SHAPE)}


def _axes(draw: Draw, rank: int) -> list[int]:
    return list(range(rank)) if draw.attributes["axes"] == OMITTED else draw.attributes["axes"]


def _resized(draw: Draw, shape: tuple[int, ...], change: tuple[int, ...]) -> Inputs:
    """Data of a shape, which is to change by so much along those of the axes that the row names."""
    sizes = [shape[axis] + change[axis] for axis in _axes(draw, len(shape))]
    return {"input_data": draw.T.ordinary(shape), "shape": draw.Tind(np.array(sizes, np.int64))}
