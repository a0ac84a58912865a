"""RoiAlign: the mean or the greatest of what is interpolated at points of regions, each parted into a grid of bins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from harness.numbers.branches import ceil, clip, floor, maximum
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator

HALF, OUTPUT_HALF = "half_pixel", "output_half_pixel"
OUTSIDE = (
    'RoiAlign-22: "the value of the sampled locations are computed directly through bilinear interpolation": it does '
    "not say what a location gives that is not between the centers of pixels."
)
SMALL = (
    'RoiAlign-22, coordinate_transformation_mode: output_half_pixel is "for a backward-compatible behavior", which '
    "enlarges regions of less than a pixel; the text does not say so."
)
SHAPED: dict[str, Any] = {
    "mode": (OMITTED, "avg", "max"),
    "output_height": (OMITTED, 1, 2, 3),
    "output_width": (OMITTED, 2, 4),
    "sampling_ratio": (OMITTED, 0, 1, 2, 3),
    "spatial_scale": (OMITTED, 0.5, 2.0, 0.0625),
}
SIZES = (10, 12)
"""Rows and columns of an image: room for 3 x 3 and 4 x 3 points at distances of a pixel."""


@operator("RoiAlign", since=(22, 16), coordinate_transformation_mode=(OMITTED, HALF, OUTPUT_HALF), **SHAPED)
def roi_align(
    X: np.ndarray,
    rois: np.ndarray,
    batch_indices: np.ndarray,
    *,
    coordinate_transformation_mode: str,
    mode: str,
    output_height: int,
    output_width: int,
    sampling_ratio: int,
    spatial_scale: float,
) -> np.ndarray:
    """Of each bin the mean, or the greatest, of the values at ``sampling_ratio`` x ``sampling_ratio`` points.

    "In each ROI bin, the value of the sampled locations are computed directly through bilinear interpolation"; points
    are the middles of equal parts of the bin, "regularly sampled" as in the paper that the document refers to.
    ``half_pixel``: "to pixel shift the input coordinates by -0.5".
    """
    shift = 0.5 if coordinate_transformation_mode == HALF else 0
    y = np.empty((len(rois), X.shape[1], output_height, output_width), X.dtype)
    for r, (x1, y1, x2, y2) in enumerate(rois * spatial_scale - shift):
        rows = _points(y1, y2, output_height, sampling_ratio)
        columns = _points(x1, x2, output_width, sampling_ratio)
        values = _interpolated(X[int(batch_indices[r])], rows.ravel(), columns.ravel())
        bins = values.reshape(-1, *rows.shape, *columns.shape).swapaxes(2, 3)
        points = bins.reshape(*bins.shape[:3], rows.shape[1] * columns.shape[1])
        y[r] = reduce(maximum, np.moveaxis(points, -1, 0)) if mode == "max" else points.sum(axis=-1) / points.shape[-1]
    return y


@operator("RoiAlign", since=10, **SHAPED)
def roi_align_10(X: np.ndarray, rois: np.ndarray, batch_indices: np.ndarray, **attributes: Any) -> np.ndarray:
    """Without the pixel shift, as version 16 has it for "a backward-compatible behavior"."""
    return roi_align.oracle(X, rois, batch_indices, coordinate_transformation_mode=OUTPUT_HALF, **attributes)


def _points(start: Any, end: Any, bins: int, ratio: int) -> np.ndarray:
    """Where a region is sampled along an axis, [bins, points of a bin].

    Of ratio 0 they are "computed as ceil(roi_width / output_width), and likewise for height".
    """
    count = ratio or max(int(float(np.asarray(ceil((end - start) / bins)).item())), 1)
    middles = 2 * np.arange(bins * count) + 1
    return (start + middles * (end - start) / (2 * bins * count)).reshape(bins, count)


def _interpolated(image: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The channels of an image [C, H, W] between its pixels: [C, rows, columns]."""
    return _between(_between(image, rows, 1), columns, 2)


def _between(x: np.ndarray, at: np.ndarray, axis: int) -> np.ndarray:
    """Linear interpolation along an axis; outside it is as on the border, of which the text says nothing."""
    last = x.shape[axis] - 1
    place = clip(at, 0, last)
    low = floor(place)
    index = low.astype(np.float64).astype(np.int64)
    first, second = x.take(index, axis), x.take(np.minimum(index + 1, last), axis)
    return first + (second - first) * np.expand_dims(place - low, tuple(range(1, x.ndim - axis)))


class Row:
    """What a row of a plan asks for."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        attributes = draw.attributes
        self.out = [1 if (n := attributes[name]) == OMITTED else n for name in ("output_height", "output_width")]
        self.ratio = 0 if attributes["sampling_ratio"] == OMITTED else attributes["sampling_ratio"]
        self.shifted = attributes.get("coordinate_transformation_mode", OUTPUT_HALF) != OUTPUT_HALF
        self.scale = 1.0 if attributes["spatial_scale"] == OMITTED else attributes["spatial_scale"]

    def image(self) -> np.ndarray:
        """Two images of three channels, whose pixels are near each other, so that locations may be rounded."""
        return self.draw.T1.near(4, (2, 3, *SIZES))

    def rois(self, regions: Any) -> np.ndarray:
        """Regions [x1, y1, x2, y2] in pixels from the center of the first, in the coordinates of the input image."""
        return self.draw.T1((np.asarray(regions, np.float64) + 0.5 * self.shifted) / self.scale)

    def drawn(self, regions: Any, image: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """The inputs with these regions, which are dealt out to both images."""
        batch_indices = np.array([1, 0, 1, 1, 0][: len(regions)], np.int64)
        return {
            "X": self.image() if image is None else image,
            "rois": self.rois(regions),
            "batch_indices": batch_indices,
        }


@roi_align.inputs()
@roi_align_10.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Regions of several sizes inside the image, no point of which is on a pixel."""
    yield Row(draw).drawn(
        [[0.25, 1.75, 7.75, 5.25], [2.75, 0.25, 5.75, 7.75], [1.25, 2.25, 8.75, 4.75], [0.75, 3.25, 2.25, 4.75]]
    )


@roi_align.inputs()
@roi_align_10.inputs()
def on_pixels(draw: Draw) -> Iterator[Inputs]:
    """Regions whose points are the centers of pixels, whose values are then taken as they are."""
    row = Row(draw)
    step = row.ratio or 2
    high, wide = (n * step for n in row.out)
    room = SIZES[0] - high, SIZES[1] - wide
    corners = [(draw.integer(0, room[1]) - 0.5, draw.integer(0, room[0]) - 0.5) for _ in range(4)]
    image = np.abs(draw.T1.ordinary((2, 3, *SIZES)))
    yield row.drawn([[x, y, x + wide, y + high] for x, y in corners], image)


@roi_align.inputs(T1=("tensor(float)", "double", "float16"))
@roi_align_10.inputs()
def steep(draw: Draw) -> Iterator[Inputs]:
    """Pixels of both signs, of which interpolation may give none, a quarter of a pixel off the centers."""
    row = Row(draw)
    high, wide = (2 * n for n in row.out)
    yield row.drawn([[0, 0.5, wide, 0.5 + high], [0.5, 0, 0.5 + wide, high]], draw.T1.ordinary((2, 3, *SIZES)))


@roi_align.inputs()
@roi_align_10.inputs()
def whole_numbers_of_points(draw: Draw) -> Iterator[Inputs]:
    """Bins of one, two or three pixels along each axis, and a little less or more: the ceiling counts points."""
    row = Row(draw)
    sizes = [(1, 2), (2, 1), (1.75, 2.25), (2.25, 1.5)]
    yield row.drawn([[0.25, 0.75, 0.25 + x * row.out[1], 0.75 + y * row.out[0]] for x, y in sizes])


@roi_align.inputs()
@roi_align_10.inputs()
def small(draw: Draw) -> Iterator[Sample]:
    """Regions of exactly a pixel, then of less along one axis or both, down to none."""
    row = Row(draw)
    yield Sample(row.drawn([[0.25, 1.75, 1.25, 2.75], [3.75, 0.25, 4.75, 1.25]]))
    regions = [[1.25, 2.75, 4.75, 3.25], [5.25, 1.75, 5.75, 5.25], [2.25, 3.25, 2.5, 3.75], [3.25, 1.25, 3.25, 1.25]]
    if row.shifted:
        positive = regions if row.ratio else regions[:3]  # ceil(0 / n) is no number of points
        yield Sample(row.drawn(positive))
    else:
        yield Sample(row.drawn(regions), unspecified=SMALL)


@roi_align.inputs()
@roi_align_10.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No regions, or no channels."""
    row = Row(draw)
    yield row.drawn(np.zeros((0, 4)))
    yield row.drawn([[0.25, 1.75, 7.75, 5.25]], draw.T1.ordinary((2, 0, *SIZES)))


@roi_align.inputs()
@roi_align_10.inputs()
def outside(draw: Draw) -> Iterator[Sample]:
    """Regions up to the outermost centers; then beyond them by less than a pixel, by more, and wholly outside."""
    row = Row(draw)
    yield Sample(row.drawn([[0, 0, 11, 9], [0, 3.25, 4.25, 9], [5.75, 0, 11, 6.5], [0, 4, 11, 5]]))
    regions = [[-0.5, -0.5, 11.5, 9.5], [-3.25, 2.25, 4.25, 6.75], [8.25, 5.25, 15.75, 13.25], [20, 20, 24, 24]]
    yield Sample(row.drawn(regions), unspecified=OUTSIDE)
