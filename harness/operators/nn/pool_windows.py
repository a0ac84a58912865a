"""Sliding windows: where pooling operators have them, version by version, and the shapes that try it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Operator, Sample, operator

KERNELS = ([2], [3], [2, 3], [3, 2], [2, 1, 3], [3, 2, 2])
# Rows that are about something else get the first value that fits.
STRIDES = ([2], [3], [2, 1], [3, 2], [1, 2, 2], OMITTED)
PADS = ([1, 0], [0, 1], [2, 1], [1, 1, 0, 1], [0, 1, 1, 0], [0, 2, 1, 1], [1, 0, 0, 0, 0, 1], OMITTED)
ATTRIBUTES: dict[str, Any] = {
    "auto_pad": (OMITTED, "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    "kernel_shape": KERNELS,
    "pads": PADS,
    "strides": STRIDES,
}
CEIL: dict[str, Any] = {"ceil_mode": FLAG}
DILATED: dict[str, Any] = {"dilations": (OMITTED, [2], [1, 2], [2, 1], [2, 1, 2])}
REACHING: dict[str, Any] = {
    "auto_pad": (OMITTED,),
    "kernel_shape": ([4], [4, 3], [2, 2, 3]),
    "pads": ([1, 2], [0, 1, 2, 1], [0, 1, 0, 1, 0, 1]),
    "strides": ([4], [4, 3], [2, 2, 3]),
    "ceil_mode": (1,),
}
"""Rows of their own, apart from all others by their kernels: with them a last window may start in the right padding,
or reach beyond it, which takes four attributes at once."""
UNDILATED: dict[str, Any] = {"dilations": (OMITTED,)}


def strides_fit(kernel_shape: list[int], strides: Any) -> bool:
    """A stride for each axis."""
    return strides == OMITTED or len(strides) == len(kernel_shape)


def dilations_fit(kernel_shape: list[int], dilations: Any) -> bool:
    """A dilation for each axis."""
    return dilations == OMITTED or len(dilations) == len(kernel_shape)


def pads_fit(kernel_shape: list[int], pads: Any) -> bool:
    """Padding for both ends of each axis, less than the kernel, so that every window may have elements."""
    return pads == OMITTED or (
        len(pads) == 2 * len(kernel_shape)
        and all(pad < kernel for pad, kernel in zip(pads, kernel_shape * 2, strict=True))
    )


def padded_once(auto_pad: str, pads: Any) -> bool:
    """``pads`` "cannot be used simultaneously with auto_pad attribute"."""
    return pads == OMITTED or auto_pad in (OMITTED, "NOTSET")


CONSTRAINTS = (strides_fit, dilations_fit, pads_fit, padded_once)


class Axis(NamedTuple):
    """The windows along one axis, by the attributes of the operator."""

    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    auto_pad: str
    ceil_mode: int

    @property
    def extent(self) -> int:
        """From the first element of a window to its last, both included."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def same(self) -> bool:
        """Whether the size of the output is stated rather than the padding."""
        return self.auto_pad in ("SAME_UPPER", "SAME_LOWER")

    def count(self, size: int) -> int:
        """``output_spatial_shape[i]`` of the document, before windows in the right padded region are ignored.

        The formula with ``ceil`` for SAME and VALID, which all versions have; where one says ``floor`` in another
        form, it is the same number, but in AveragePool-11.
        """
        if self.same:
            return -(-size // self.stride)
        if self.auto_pad == "VALID":
            return -(-(size - self.extent + 1) // self.stride)
        span = size + self.begin + self.end - self.extent
        return (-(-span // self.stride) if self.ceil_mode else span // self.stride) + 1

    def missing(self, size: int) -> int:
        """``pad_shape[i]`` of the document for SAME."""
        return (self.count(size) - 1) * self.stride + self.extent - size

    def padding(self, size: int) -> tuple[int, int]:
        """At the beginning and at the end: "the extra padding is added at the end for SAME_UPPER"."""
        if not self.same:
            return self.begin, self.end
        less = max(self.missing(size), 0) // 2
        more = max(self.missing(size), 0) - less
        return (less, more) if self.auto_pad == "SAME_UPPER" else (more, less)

    def places(self, size: int, *, drops: bool) -> np.ndarray:
        """Where the elements of each window are, [windows, kernel]; those outside [0, size) are padding or beyond.

        ``drops``: "Sliding windows that would start in the right padded region are ignored."
        """
        starts = np.arange(self.count(size)) * self.stride - self.padding(size)[0]
        return (starts[starts < size] if drops else starts)[:, np.newaxis] + self.dilation * np.arange(self.kernel)


def axes_of(
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    **_: Any,
) -> list[Axis]:
    """The axes of a node; strides and dilations "default to 1 along each spatial axis", pads to 0.

    Versions before 11 do not state the default of strides, but their shape inference has it.
    """
    rank = len(kernel_shape)
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, pads or [0] * (2 * rank)
    rows = zip(kernel_shape, strides, dilations, pads[:rank], pads[rank:], strict=True)
    return [Axis(*row, auto_pad, ceil_mode) for row in rows]


class Windows(NamedTuple):
    """The windows of a tensor: what is at each of their places, in the order of the tensor."""

    elements: np.ndarray
    """[N, C, windows of each axis …, places of a window]; anything where there is no element."""
    inside: np.ndarray
    """[windows of each axis …, places of a window]: whether there is an element."""
    padded: np.ndarray
    """The same: whether there is an element or padding; windows may reach beyond both in ``ceil_mode``."""


def windows(X: np.ndarray, axes: Sequence[Axis], *, drops: bool) -> Windows:
    """Every window of a tensor [N, C, D1 … Dn]."""
    rank = len(axes)
    index: list[np.ndarray] = []
    inside, padded = np.ones((), bool), np.ones((), bool)
    for i, (axis, size) in enumerate(zip(axes, X.shape[2:], strict=True)):
        places = axis.places(size, drops=drops)
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = places.shape
        places = places.reshape(shape)
        within = (places >= 0) & (places < size)
        inside = inside & within
        padded = padded & (places < size + axis.padding(size)[1])
        index.append(np.where(within, places, 0))
    found = X[:, :, *index]
    shape = (*found.shape[: 2 + rank], prod(axis.kernel for axis in axes))
    return Windows(found.reshape(shape), inside.reshape(shape[2:]), padded.reshape(shape[2:]))


Sized = Callable[[Axis, int], bool]
BATCH, CHANNELS = 2, 3


def uneven(axis: Axis, size: int) -> bool:
    """Whether the windows do not fill the padded axis, so that ``ceil_mode`` matters."""
    return (size + sum(axis.padding(size)) - axis.extent) % axis.stride != 0


def even(axis: Axis, size: int) -> bool:
    """Whether the windows fill the padded axis to its end."""
    return not uneven(axis, size)


def beyond(axis: Axis, size: int) -> bool:
    """Whether the last window reaches beyond the padding, where there are neither elements nor pad."""
    return axis.places(size, drops=True)[-1, -1] >= size + axis.padding(size)[1]


def single(axis: Axis, size: int) -> bool:
    """Whether there is one window."""
    return axis.count(size) == 1


class Groups(NamedTuple):
    """The input groups of some versions of a pooling operator that are about windows."""

    title: str
    """The operator and its newest version, as clauses are cited."""
    drawn: Callable[[Draw, Sequence[int]], Iterator[Sample]]
    """Draws ordinary inputs of a shape."""
    drops: bool = True
    """Whether the document says that windows which start in the right padded region are ignored."""
    floors: bool = False
    """Whether the document has ``floor(input_spatial_shape[i] / strides_spatial_shape[i])``, as AveragePool-11."""
    formula: bool = True
    """Whether the document, or its shape inference, states the size of the output: LpPool-1 has neither."""

    def register(self, one: Operator) -> None:
        """Gives the versions these groups."""
        one.inputs()(self.ordinary)
        one.inputs()(self.exact_fit)
        one.inputs()(self.one_window)
        one.inputs()(self.undecided)
        one.inputs()(self.empty)

    def reach(self, one: Operator, *constraints: Callable[..., bool], **attributes: Any) -> None:
        """Declares the rows of ``REACHING`` of versions that have ``ceil_mode``, with these further attributes."""
        declared = operator(
            one.name,
            since=one.since,
            exact=one.exact,
            constraints=(*CONSTRAINTS, *constraints),
            **REACHING,
            **attributes,
        )(one.oracle)
        declared.inputs()(self.beyond_padding)
        declared.inputs()(self.right_padding if self.drops else self.undecided)

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """Axes that the windows do not fill, so that the size of the output is rounded."""
        yield from self.drawn(draw, self.shape(draw, uneven))

    def exact_fit(self, draw: Draw) -> Iterator[Sample]:
        """Axes that the windows fill to the end."""
        yield from self.drawn(draw, self.shape(draw, even))

    def one_window(self, draw: Draw) -> Iterator[Sample]:
        """A single window along each axis that may have one; with padding it is larger than the axis."""
        yield from self.drawn(draw, self.shape(draw, single, least=1))

    def beyond_padding(self, draw: Draw) -> Iterator[Sample]:
        """Last windows that reach beyond the padding, where there are neither elements nor pad."""
        yield from self.drawn(draw, self.shape(draw, beyond))

    def right_padding(self, draw: Draw) -> Iterator[Sample]:
        """A last window that would start in the right padding: "… in the right padded region are ignored"."""
        yield from self.drawn(draw, self.shape(draw, _starts_right))

    def undecided(self, draw: Draw) -> Iterator[Sample]:
        """Even axes, then such that the document contradicts itself or is silent, where the attributes allow it."""
        yield from self.drawn(draw, self.shape(draw, even))
        sizes: list[int] = []
        why = ""
        for axis in attributes_axes(draw):
            free = [n for n in range(4, 16) if n not in (BATCH, CHANNELS, *sizes) and axis.count(n) > 0]
            sizes.append(next((n for n in free if self.open(axis, n)), free[0]))
            why = why or self.open(axis, sizes[-1])
        if why:
            yield from (Sample(one.inputs, one.without, why) for one in self.drawn(draw, (BATCH, CHANNELS, *sizes)))

    def empty(self, draw: Draw) -> Iterator[Sample]:
        """No images, or images without channels."""
        shape = self.shape(draw, uneven)
        zero = draw.integer(0, 1)
        yield from self.drawn(draw, [0 if i == zero else size for i, size in enumerate(shape)])

    def shape(self, draw: Draw, wanted: Sized, *, least: int = 4) -> list[int]:
        """A shape of distinct sizes whose output is beyond dispute, along each axis as wanted if that is possible."""
        shape = [BATCH, CHANNELS]
        for axis in attributes_axes(draw):
            free = [n for n in range(least, 16) if n not in shape and axis.count(n) > 0 and not self.open(axis, n)]
            shape.append(next((n for n in free if wanted(axis, n)), free[0]))
        return shape

    def open(self, axis: Axis, size: int) -> str:
        """Why the output along an axis is open, with the clause; empty where it is not."""
        floored = axis.ceil_mode == 0 and self.floors
        if axis.same and axis.missing(size) < 0:
            return f"{self.title}: pad_shape[i] is negative, and the text does not say where windows start then."
        if axis.same and floored and size % axis.stride:
            return (
                f"{self.title} has floor(input_spatial_shape[i] / strides_spatial_shape[i]), but for auto_pad: "
                '"pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])`".'
            )
        if axis.auto_pad == "VALID" and floored and (size - axis.extent + 1) % axis.stride:
            return (
                f"{self.title}: floor((input_spatial_shape[i] - ((kernel_spatial_shape[i] - 1) * dilations[i] + 1) + "
                "1) / strides_spatial_shape[i]) leaves out a window that fits, and that shape inference has."
            )
        if axis.auto_pad == "VALID" and axis.ceil_mode and uneven(axis, size):
            return (
                f'{self.title}: "VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - ((kernel_spatial_shape'
                '[i] - 1) * dilations[i] + 1) + 1) / strides_spatial_shape[i])"; shape inference has one window more.'
            )
        if not self.formula and (uneven(axis, size) or (axis.same and axis.stride > 1)):
            return f"{self.title} does not say how many windows there are where they do not fill the padded axis."
        if not self.drops and _starts_right(axis, size):
            return f"{self.title} does not say what a window gives that starts in the right padded region."
        places = axis.places(size, drops=self.drops)
        if not ((places >= 0) & (places < size)).any(axis=1).all():
            return f"{self.title} does not say what a window gives that has no element of X."
        return ""


def _starts_right(axis: Axis, size: int) -> bool:
    return axis.places(size, drops=False)[-1, 0] >= size


def attributes_axes(draw: Draw) -> list[Axis]:
    """The axes by the attributes of a row."""
    return axes_of(**{name: value for name, value in draw.attributes.items() if value != OMITTED})
