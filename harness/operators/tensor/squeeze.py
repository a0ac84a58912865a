"""Squeeze and Unsqueeze: axes of size 1 taken away and put in."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator


def squeezed(data: np.ndarray, axes: Iterable[int] | None) -> np.ndarray:
    """Without the axes of size 1 that are listed, a negative one "counting dimensions from the back"; else any."""
    if axes is None:
        gone = {axis for axis, size in enumerate(data.shape) if size == 1}
    else:
        gone = {int(axis) % data.ndim for axis in axes}
    return data.reshape([size for axis, size in enumerate(data.shape) if axis not in gone])


def unsqueezed(data: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Size 1 at each axis that is listed, "as seen in the output tensor"; the others are those of the input."""
    rank = data.ndim + len(axes)
    new = {int(axis) % rank for axis in axes}
    sizes = iter(data.shape)
    return data.reshape([1 if axis in new else next(sizes) for axis in range(rank)])


def listed(axes: np.ndarray) -> list[int]:
    """A "list of integers"; a scalar is a list of one, as the functions in ONNX's own documents have it."""
    return list(axes.reshape(-1))


def _squeeze(data: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    return squeezed(data, None if axes is None else listed(axes))


def _squeeze_by_attribute(data: np.ndarray, *, axes: list[int] | None) -> np.ndarray:
    return squeezed(data, axes)


def _unsqueeze(data: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return unsqueezed(data, listed(axes))


def _unsqueeze_by_attribute(data: np.ndarray, *, axes: list[int]) -> np.ndarray:
    return unsqueezed(data, axes)


FROM_FRONT: tuple[list[int], ...] = ([0], [2], [4], [0, 2], [4, 0], [2, 4], [4, 0, 2])
"""Axes of a shape whose even ones have size 1; or even ones of a new shape."""
FROM_BACK: tuple[list[int], ...] = ([-1], [-5], [-1, 0], [2, -5], [-5, -1, -3])

squeeze_25 = operator("Squeeze", since=25, exact=True)(_squeeze)
squeeze_13 = operator("Squeeze", since=(24, 23, 21, 13), exact=True)(_squeeze)
squeeze_11 = operator("Squeeze", since=11, exact=True, axes=(OMITTED, *FROM_FRONT, *FROM_BACK))(_squeeze_by_attribute)
# In version 1 the axes are in order, as onnx's shape inference takes them, though the text asks for none.
squeeze_1 = operator(
    "Squeeze", since=1, exact=True, axes=(OMITTED, *(axes for axes in FROM_FRONT if axes == sorted(axes)), [0, 2, 4])
)(_squeeze_by_attribute)

unsqueeze_25 = operator("Unsqueeze", since=25, exact=True)(_unsqueeze)
unsqueeze_13 = operator("Unsqueeze", since=(24, 23, 21, 13), exact=True)(_unsqueeze)
unsqueeze_11 = operator("Unsqueeze", since=11, exact=True, axes=([1], [3], *FROM_FRONT, *FROM_BACK, []))(
    _unsqueeze_by_attribute
)
unsqueeze_1 = operator("Unsqueeze", since=1, exact=True, axes=([1], [3], *FROM_FRONT))(_unsqueeze_by_attribute)

ONES = (1, 3, 1, 5, 1)
"""The shape of which ``FROM_FRONT`` and ``FROM_BACK`` are axes of size 1."""

SQUEEZED: tuple[tuple[Shape, list[int] | None], ...] = (
    (ONES, None),
    ((2, 3), None),
    ((1, 1, 1), None),
    ((), None),
    ((0, 1), None),
    *((ONES, axes) for axes in FROM_FRONT + FROM_BACK),
    ((1,), [0]),
    ((1, 1), [1, 0]),
    ((1, 1, 1), [-1, 0]),
    ((1, 0, 3), [0]),
    ((2, 1, 0, 1), [-1, 1]),
)
"""Shapes and the axes that go, None where all of size 1 do: to fewer axes, none at all, of tensors with no elements."""

UNSQUEEZED: tuple[tuple[Shape, list[int]], ...] = (
    *(((2, 3, 4), [axis]) for axis in (0, 1, 3, -1, -2, -4)),
    *(((2, 3, 4), axes) for axes in ([0, 4], [3, 1], [-1, 0], [1, -2])),
    *(((2, 3), axes) for axes in ([2, 4, 0], [0, 1, 2], [-5, -1, -3])),
    ((), [0]),
    ((), [-1]),
    ((), [1, 0]),
    ((), [-1, 0]),
    ((0, 3), [1]),
    ((2, 0), [3, 0]),
    ((3, 5), []),
)
"""Shapes and the axes to come: each of one rank, several in any order, into 0-D, none, of tensors with no elements."""


def with_axes(draw: Draw, shape: Shape, axes: Sequence[int] | None) -> Inputs:
    """Ordinary values under a shape, and axes, None for those left out."""
    return {"data": draw.T.ordinary(shape)} | ({} if axes is None else {"axes": np.array(axes, np.int64)})


@squeeze_25.inputs()
@squeeze_13.inputs()
def ordinary_squeeze(draw: Draw) -> Iterator[Inputs]:
    """Two of three axes of size 1, counted from either end."""
    yield with_axes(draw, (1, 3, 1, 5, 1, 7), [-2, 0])


# Of the older versions each type meets one group: so that these cost no cases, each is about another type.


@squeeze_13.inputs(T="int32")
def another_without_axes(draw: Draw) -> Iterator[Inputs]:
    """All axes of size 1 go: another shape in each version."""
    choices = [(shape, axes) for shape, axes in SQUEEZED if axes is None]
    yield with_axes(draw, *choices[draw.integer(0, len(choices) - 1)])


@squeeze_13.inputs(T="int64")
def another_squeeze(draw: Draw) -> Iterator[Inputs]:
    """Another shape and other axes in each version."""
    choices = [(shape, axes) for shape, axes in SQUEEZED if axes is not None]
    yield with_axes(draw, *choices[draw.integer(0, len(choices) - 1)])


@squeeze_25.inputs(T="int32")
def axes_left_out(draw: Draw) -> Iterator[Inputs]:
    """All axes of size 1 go: some, none, all of them, of 0-D too, and where there are no elements."""
    yield from (with_axes(draw, shape, axes) for shape, axes in SQUEEZED if axes is None)


@squeeze_25.inputs(T="int32")
def every_squeeze(draw: Draw) -> Iterator[Inputs]:
    """Each axis of size 1, several in any order, counted from either end, all of them, where no elements are."""
    yield from (with_axes(draw, shape, axes) for shape, axes in SQUEEZED if axes is not None)


@squeeze_25.inputs(T="int32")
def no_axes(draw: Draw) -> Iterator[Sample]:
    """An empty list of axes: nothing is taken away as it stands, all axes of size 1 if it is as none given."""
    yield Sample(
        with_axes(draw, ONES, []),
        unspecified='Squeeze-25, "If `axes` is not provided, all the single dimensions will be removed", does not say '
        "whether an empty list of axes is one provided.",
    )


@squeeze_11.inputs()
@squeeze_1.inputs()
def ordinary_squeeze_by_attribute(draw: Draw) -> Iterator[Inputs]:
    """Three axes of size 1 among others."""
    yield {"data": draw.T.ordinary(ONES)}


@squeeze_11.inputs(T="int32")
@squeeze_1.inputs(T="int32")
def other_shapes_by_attribute(draw: Draw) -> Iterator[Inputs]:
    """Few and no elements; where no axes are given also 0-D, and sizes of 1 alone."""
    yield from ({"data": draw.T.ordinary(shape)} for shape in ((1, 2, 1, 1, 1), (1, 0, 1, 3, 1)))
    if draw.attributes["axes"] is OMITTED:
        yield from ({"data": draw.T.ordinary(shape)} for shape in ((), (1, 1), (2, 3)))


@unsqueeze_25.inputs()
@unsqueeze_13.inputs()
def ordinary_unsqueeze(draw: Draw) -> Iterator[Inputs]:
    """Two axes, counted from either end."""
    yield with_axes(draw, (3, 5, 7), [-1, 1])


@unsqueeze_13.inputs(T="int32")
def another_unsqueeze(draw: Draw) -> Iterator[Inputs]:
    """Another shape and other axes in each version."""
    yield with_axes(draw, *UNSQUEEZED[draw.integer(0, len(UNSQUEEZED) - 1)])


@unsqueeze_13.inputs(T="int64")
def another_of_0_d(draw: Draw) -> Iterator[Inputs]:
    """Axes that are put into a scalar: others in each version."""
    choices = [(shape, axes) for shape, axes in UNSQUEEZED if not shape]
    yield with_axes(draw, *choices[draw.integer(0, len(choices) - 1)])


@unsqueeze_25.inputs(T="int32")
def every_unsqueeze(draw: Draw) -> Iterator[Inputs]:
    """Each axis, several in any order, counted from either end, none, into 0-D, where no elements are."""
    yield from (with_axes(draw, shape, axes) for shape, axes in UNSQUEEZED)


@unsqueeze_11.inputs()
@unsqueeze_1.inputs()
def ordinary_unsqueeze_by_attribute(draw: Draw) -> Iterator[Inputs]:
    """Four distinct sizes."""
    yield {"data": draw.T.ordinary((2, 3, 4, 5))}


@unsqueeze_11.inputs(T="int32")
@unsqueeze_1.inputs(T="int32")
def other_shapes_unsqueezed_by_attribute(draw: Draw) -> Iterator[Inputs]:
    """Few and no elements, and 0-D where the axes are within its new rank."""
    axes = draw.attributes["axes"]
    yield from ({"data": draw.T.ordinary(shape)} for shape in ((3, 2, 1, 1), (0, 2, 3, 5)))
    if all(-len(axes) <= axis < len(axes) for axis in axes):
        yield {"data": draw.T.ordinary(())}
