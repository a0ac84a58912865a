"""MaxPool: the greatest element of each sliding window, and where it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from harness.operators.nn.pool_windows import (
    ATTRIBUTES,
    CEIL,
    CONSTRAINTS,
    DILATED,
    UNDILATED,
    Groups,
    axes_of,
    windows,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Operator, Sample, operator

Both = tuple[np.ndarray, np.ndarray]
ORDER: dict[str, Any] = {"storage_order": FLAG}
TIES = 'MaxPool-22 does not say which of equal elements is the selected one: "the indices of the selected values".'
NAN = "MaxPool-22 does not say how NaN compares with other elements."
PLANES = (
    'MaxPool-22: storage_order "is used only to convert an n-tuple index value into a single integer value": whether '
    "the tuple is of the whole tensor, or the spatial part of it, cannot be told from the text or the official data, "
    "which have one plane."
)
NO_INDICES = ("Indices",)


def pooled(X: np.ndarray, *, drops: bool, storage_order: int = 0, **attributes: Any) -> Both:
    """The "maximum number of elements exclude pad" of each window, and its index in X "as flatten 1-D tensor"."""
    axes = axes_of(**attributes)
    found = windows(X, axes, drops=drops)
    y = np.zeros_like(found.elements[..., 0])
    at = np.full(y.shape, -1)
    for k in range(found.inside.shape[-1]):
        x = found.elements[..., k]
        taken = found.inside[..., k] & ((at < 0) | (x > y))
        y, at = np.where(taken, x, y), np.where(taken, k, at)
    numbers = np.arange(X.size).reshape(X.shape, order="F" if storage_order else "C")
    indices = np.take_along_axis(windows(numbers, axes, drops=drops).elements, at[..., np.newaxis], axis=-1)[..., 0]
    return y, indices


@operator("MaxPool", since=22, exact=True, constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **DILATED, **ORDER)
def max_pool(X: np.ndarray, **attributes: Any) -> Both:
    """The greatest of each window; those that would start in the right padded region are ignored."""
    return pooled(X, drops=True, **attributes)


@operator("MaxPool", since=(12, 11, 10), exact=True, constraints=CONSTRAINTS, **ATTRIBUTES, **CEIL, **DILATED, **ORDER)
def max_pool_12(X: np.ndarray, **attributes: Any) -> Both:
    """As later, but of windows that would start in the right padded region the document does not speak."""
    return pooled(X, drops=False, **attributes)


@operator("MaxPool", since=8, exact=True, constraints=CONSTRAINTS, **ATTRIBUTES, **ORDER)
def max_pool_8(X: np.ndarray, **attributes: Any) -> Both:
    """As later."""
    return pooled(X, drops=False, **attributes)


@operator("MaxPool", since=1, exact=True, constraints=CONSTRAINTS, **ATTRIBUTES)
def max_pool_1(X: np.ndarray, **attributes: Any) -> np.ndarray:
    """The greatest of each window, without its place."""
    return pooled(X, drops=False, **attributes)[0]


def has_indices(draw: Draw) -> bool:
    """Whether the version has the second output."""
    return "storage_order" in draw.attributes


def distinct(draw: Draw, shape: Sequence[int], *, negative: bool = False) -> np.ndarray:
    """Whole numbers no two of which are equal in a plane: around zero or all below, from zero on where unsigned."""
    planes, size = prod(shape[:2]), prod(shape[2:])
    order = np.argsort(draw.words(planes * size).reshape(planes, size), axis=1).reshape(shape)
    unsigned = draw.T.element.kind == "unsigned"
    return draw.T(order if unsigned else order - size if negative else order - size // 2)


def _distinct(draw: Draw, shape: Sequence[int]) -> Iterator[Sample]:
    """Distinct values; with ``storage_order`` of one plane, since the index of others is open."""
    yield Sample({"X": distinct(draw, _one_plane(draw, shape))})


def _one_plane(draw: Draw, shape: Sequence[int]) -> list[int]:
    """The shape, of one plane at most where indices are column-major."""
    one = draw.attributes.get("storage_order") == 1
    return [*(min(n, 1) if one else n for n in shape[:2]), *shape[2:]]


class MaxGroups(Groups):
    """The groups that are about greatest elements."""

    def register(self, one: Operator) -> None:
        """Adds them to those of all windows."""
        Groups.register(self, one)
        one.inputs()(self.values_alone)
        one.inputs()(self.negative)
        one.inputs(T="float")(self.special_values)
        one.inputs(T="float")(self.nan)
        if "storage_order" in one.attributes:
            one.inputs()(self.ties)
            one.inputs()(self.planes)

    def any_shape(self, draw: Draw) -> list[int]:
        """A shape of which nothing is open."""
        return self.shape(draw, lambda *_: True)

    def values_alone(self, draw: Draw) -> Iterator[Sample]:
        """No indices are asked for; equal elements, and the least value there is alone in the windows of a plane."""
        x = draw.T.ordinary(self.any_shape(draw))
        x[0, 0] = draw.T(-np.inf if draw.T.element.kind == "float" else draw.T.lowest)
        x[1, 1] = draw.T.largest
        yield _without(draw, x)

    def negative(self, draw: Draw) -> Iterator[Sample]:
        """Distinct values below zero (small ones of an unsigned type), so that padding must not win."""
        yield Sample({"X": distinct(draw, _one_plane(draw, self.any_shape(draw)), negative=True)})

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """Planes of minus infinity; infinities, zeros of both signs, subnormal and extreme numbers; no indices."""
        x = draw.T.ordinary(self.any_shape(draw))
        specials = draw.T.specials()
        x[:, 1:] = np.resize(specials[~np.isnan(specials)], x[:, 1:].shape)
        x[:, 0] = draw.T(-np.inf)
        yield _without(draw, x)

    def nan(self, draw: Draw) -> Iterator[Sample]:
        """Ordinary values, then with a NaN in each plane."""
        shape = self.any_shape(draw)
        yield from self.drawn(draw, shape)
        x = draw.T.ordinary(shape)
        x.reshape(*shape[:2], -1)[..., 3] = np.nan
        yield Sample(_without(draw, x).inputs, _without(draw, x).without, NAN)

    def ties(self, draw: Draw) -> Iterator[Sample]:
        """Distinct elements, then equal ones, of whose indices one is asked for."""
        shape = self.any_shape(draw)
        yield from self.drawn(draw, shape)
        yield Sample({"X": draw.T.integers(1, 3, shape)}, unspecified=TIES)

    def planes(self, draw: Draw) -> Iterator[Sample]:
        """One plane, then several where the indices are column-major."""
        shape = self.any_shape(draw)
        yield from self.drawn(draw, shape)
        if draw.attributes["storage_order"] == 1:
            yield Sample({"X": distinct(draw, shape)}, unspecified=PLANES)


def _without(draw: Draw, x: np.ndarray) -> Sample:
    return Sample({"X": x}, without=NO_INDICES if has_indices(draw) else ())


def plain_order(T: str, storage_order: Any) -> bool:
    """Another order meets float alone."""
    return T == "tensor(float)" or storage_order == OMITTED


for _one, _groups in (
    (max_pool, MaxGroups("MaxPool-22", _distinct)),
    (max_pool_12, MaxGroups("MaxPool-12", _distinct, drops=False)),
):
    _groups.register(_one)
    _groups.reach(_one, plain_order, **UNDILATED, storage_order=(OMITTED, 1))
MaxGroups("MaxPool-8", _distinct, drops=False).register(max_pool_8)
MaxGroups("MaxPool-1", _distinct, drops=False).register(max_pool_1)

max_pool.example(
    "test_maxpool_with_argmax_2d_precomputed_strides",
    np.arange(1, 26, dtype=np.float32).reshape(1, 1, 5, 5),
    gives=(np.array([[[[7, 9], [17, 19]]]], np.float32), np.array([[[[6, 16], [8, 18]]]])),
    kernel_shape=[2, 2],
    strides=[2, 2],
    storage_order=1,
)
