"""MaxUnpool: the elements back where MaxPool found them, and zeros elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from harness.operators.nn.max_pool import pooled
from harness.operators.nn.pool_windows import KERNELS, pads_fit, strides_fit
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

SHAPE = (2, 3)
POOLED = (4, 5, 6)
"""The sizes of X beside the batch and the channels, as many as there are axes."""


@operator(
    "MaxUnpool",
    since=(22, 11, 9),
    exact=True,
    constraints=(strides_fit, pads_fit),
    kernel_shape=KERNELS,
    pads=(OMITTED, [1, 0], [1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 0, 0, 1]),
    strides=(OMITTED, [2], [3], [2, 1], [3, 2], [1, 2, 2]),
)
def max_unpool(
    X: np.ndarray,
    I: np.ndarray,  # noqa: E741
    output_shape: np.ndarray | None = None,
    *,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None,
    strides: Sequence[int] | None,
) -> np.ndarray:
    """X at the indices I "considering the tensor as flattened 1-D tensor", of an output of zeros.

    Its shape is ``output_shape``, or that which MaxPool reduces to that of X without remainder, as shape inference
    has it. The indices are those of that tensor, since "pooling the result of an unpooling operation should give back
    the original input". Version 9 does not state the default of strides, but its shape inference has it.
    """
    rank = len(kernel_shape)
    if output_shape is not None:
        shape = [int(size) for size in output_shape]
    else:
        shape = [*X.shape[:2], *_sizes(X.shape[2:], kernel_shape, pads or [0] * (2 * rank), strides or [1] * rank)]
    y = np.zeros(prod(shape), X.dtype)
    y[I.ravel().astype(np.int64)] = X.ravel()
    return y.reshape(shape)


def _sizes(sizes: Sequence[int], kernel: Sequence[int], pads: Sequence[int], strides: Sequence[int]) -> list[int]:
    ends = zip(sizes, kernel, strides, pads[: len(sizes)], pads[len(sizes) :], strict=True)
    return [(size - 1) * s + k - begin - end for size, k, s, begin, end in ends]


def _image(draw: Draw, beyond: int = 0) -> list[int]:
    """The shape of a tensor which MaxPool, with the attributes of the row, reduces to POOLED.

    ``beyond`` makes it as much larger as strides allow, up to that many places along each axis.
    """
    kernel = draw.attributes["kernel_shape"]
    rank = len(kernel)
    pads = _given(draw, "pads", [0] * (2 * rank))
    strides = _given(draw, "strides", [1] * rank)
    sizes = _sizes(POOLED[:rank], kernel, pads, strides)
    return [*SHAPE, *(size + min(beyond, s - 1) for size, s in zip(sizes, strides, strict=True))]


def _given(draw: Draw, name: str, default: list[int]) -> list[int]:
    return default if draw.attributes[name] == OMITTED else draw.attributes[name]


def _of_max_pool(draw: Draw, shape: Sequence[int]) -> dict[str, np.ndarray]:
    """What MaxPool gives for a tensor of distinct values; overlapping windows may give an element twice."""
    order = np.argsort(draw.words(prod(shape))).reshape(shape)
    attributes = {name: value for name, value in draw.attributes.items() if value != OMITTED}
    indices = pooled(order, drops=False, **attributes)[1]
    return {"X": draw.T1.ordinary((prod(shape),))[indices], "I": indices}


@max_unpool.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """The outputs of a MaxPool whose windows fill its input."""
    yield _of_max_pool(draw, _image(draw))


@max_unpool.inputs()
def same_output_shape(draw: Draw) -> Iterator[Inputs]:
    """The shape is given, and the one that follows from the attributes."""
    shape = _image(draw)
    yield _of_max_pool(draw, shape) | {"output_shape": np.array(shape)}


@max_unpool.inputs()
def larger_output_shape(draw: Draw) -> Iterator[Inputs]:
    """The shape of an input that MaxPool's windows do not fill, where strides leave such; in it the indices count."""
    shape = _image(draw, beyond=2)
    yield _of_max_pool(draw, shape) | {"output_shape": np.array(shape)}


@max_unpool.inputs()
def pads_ignored(draw: Draw) -> Iterator[Inputs]:
    """The shape of an input without padding: "If 'output_shape' is specified, 'pads' values are ignored"."""
    kernel = draw.attributes["kernel_shape"]
    rank = len(kernel)
    sizes = _sizes(POOLED[:rank], kernel, [0] * (2 * rank), _given(draw, "strides", [1] * rank))
    unpadded = Draw(draw.seed, draw.types, {**draw.attributes, "pads": OMITTED})
    yield _of_max_pool(unpadded, [*SHAPE, *sizes]) | {"output_shape": np.array([*SHAPE, *sizes])}


@max_unpool.inputs()
def anywhere(draw: Draw) -> Iterator[Inputs]:
    """Any indices, each at most once: those of other channels and images too, and the first and the last."""
    shape = _image(draw)
    size = prod((*SHAPE, *POOLED[: len(shape) - 2]))
    indices = np.argsort(draw.words(prod(shape)))
    indices = indices[(indices != 0) & (indices != prod(shape) - 1)][:size]
    indices[[1, -2]] = 0, prod(shape) - 1
    at = indices.reshape(*SHAPE, *POOLED[: len(shape) - 2])
    yield {"X": draw.T1.ordinary(at.shape), "I": at}


@max_unpool.inputs()
def special_values(draw: Draw) -> Iterator[Inputs]:
    """Elements that are NaN, infinite, zeros of both signs, subnormal and extreme, each at one place."""
    given = _of_max_pool(draw, _image(draw))
    values = np.resize(draw.T1.specials(), prod(_image(draw)))
    yield given | {"X": values[given["I"]]}


@max_unpool.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No images, or no channels."""
    axes = POOLED[: len(draw.attributes["kernel_shape"])]
    shape = ((0, SHAPE[1]), (SHAPE[0], 0))[draw.integer(0, 1)]
    yield {"X": draw.T1.ordinary((*shape, *axes)), "I": np.zeros((*shape, *axes), np.int64)}


max_unpool.example(
    "test_maxunpool_export_without_output_shape",
    np.array([[[[1, 2], [3, 4]]]], np.float32),
    np.array([[[[5, 7], [13, 15]]]]),
    gives=np.array([[[[0, 0, 0, 0], [0, 1, 0, 2], [0, 0, 0, 0], [0, 3, 0, 4]]]], np.float32),
    kernel_shape=[2, 2],
    strides=[2, 2],
)
