"""MaxRoiPool: the greatest elements of regions, each parted into a grid of bins."""

from collections.abc import Iterator, Sequence
from math import ceil, floor

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

BINS = (
    'MaxRoiPool-22 says no more than "apply max pooling across each RoI": neither how coordinates are rounded, nor '
    "whether x2 and y2 belong to the region, nor where bins begin and end."
)
OUTSIDE = 'MaxRoiPool-22, rois: "[[batch_id, x1, y1, x2, y2], ...]": it does not say what lies outside the input.'
TILE = 3
"""Pixels along a tile of an image: its middle one is greater than all that are no middles."""
TILES = (3, 5)
"""Tiles of an image along its height and its width."""


@operator(
    "MaxRoiPool",
    since=(22, 1),
    exact=True,
    pooled_shape=([1, 1], [2, 3], [3, 1], [1, 2], [2, 1]),
    spatial_scale=(OMITTED, 0.5, 2.0, 0.0625),
)
def max_roi_pool(X: np.ndarray, rois: np.ndarray, *, pooled_shape: Sequence[int], spatial_scale: float) -> np.ndarray:
    """The greatest element of each bin of each region.

    Of what the text leaves open (``BINS``) this is the reading of the paper's code (Fast R-CNN): coordinates are
    rounded, the region includes its end, and bins include the pixels that they touch. Scored inputs are such that
    other readings give the same.
    """
    y = np.zeros((len(rois), X.shape[1], *pooled_shape), X.dtype)
    for r, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (floor(corner * spatial_scale + 0.5) for corner in corners)
        for i, j in np.ndindex(*pooled_shape):
            top, bottom = _bin(y1, y2, i, pooled_shape[0], X.shape[2])
            left, right = _bin(x1, x2, j, pooled_shape[1], X.shape[3])
            if top < bottom and left < right:
                y[r, :, i, j] = X[int(image), :, top:bottom, left:right].max(axis=(1, 2))
    return y


def _bin(start: int, end: int, index: int, count: int, size: int) -> tuple[int, int]:
    step = max(end - start + 1, 1) / count
    low, high = start + floor(index * step), start + ceil((index + 1) * step)
    return min(max(low, 0), size), min(max(high, 0), size)


def _image(draw: Draw) -> np.ndarray:
    """Tiles whose middles are distinct and greater than all around them, some of them below zero."""
    shape = (2, 3, TILE * TILES[0], TILE * TILES[1])
    x = -draw.T.near(16, shape)
    middles = x[:, :, 1::TILE, 1::TILE]
    order = np.argsort(draw.words(middles.size)).reshape(middles.shape)
    middles[...] = draw.T(order / 8 - 8)
    return x


def _rois(draw: Draw, tiles: Sequence[tuple[int, int, int, int, int]]) -> np.ndarray:
    """Regions [image, left, top, right, bottom] in whole tiles, up to their last pixel, in the scale of the input."""
    found = np.array(tiles) * [1, *[TILE] * 4] - [0, 0, 0, 1, 1]
    scale = draw.attributes["spatial_scale"]
    return draw.T(found / [1, *[1 if scale == OMITTED else scale] * 4])


def _regions(draw: Draw) -> list[tuple[int, int, int, int, int]]:
    """Regions of as many tiles as there are bins, or twice as many in one direction, all over both images."""
    high, wide = draw.attributes["pooled_shape"]
    found: list[tuple[int, int, int, int, int]] = []
    for image, (height, width) in enumerate(((high, wide), (high, 2 * wide), (2 * high, wide), (high, wide))):
        if height <= TILES[0] and width <= TILES[1]:
            left, top = draw.integer(0, TILES[1] - width), draw.integer(0, TILES[0] - height)
            found.append(((image + 1) % 2, left, top, left + width, top + height))
    return found


@max_roi_pool.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Bins of whole tiles, whose middle pixels are the greatest whichever of their edges belong to them."""
    yield {"X": _image(draw), "rois": _rois(draw, _regions(draw))}


@max_roi_pool.inputs()
def whole_image(draw: Draw) -> Iterator[Inputs]:
    """Regions that reach from one border of the image to the other."""
    high, wide = draw.attributes["pooled_shape"]
    top, left = (TILES[0] - TILES[0] // high * high, TILES[1] - TILES[1] // wide * wide)
    regions = [(1, 0, 0, TILES[1] - left, TILES[0] - top), (0, left, top, TILES[1], TILES[0])]
    yield {"X": _image(draw), "rois": _rois(draw, regions)}


@max_roi_pool.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No regions, or no channels."""
    yield {"X": _image(draw), "rois": draw.T(np.zeros((0, 5)))}
    yield {"X": draw.T.ordinary((2, 0, TILE * TILES[0], TILE * TILES[1])), "rois": _rois(draw, _regions(draw))}


@max_roi_pool.inputs(T="float", unspecified=BINS)
def uneven_bins(draw: Draw) -> Iterator[Inputs]:
    """Ordinary pixels, whole and fractional coordinates, halves, regions of one pixel."""
    scale = draw.attributes["spatial_scale"]
    regions = [[0, 1, 2, 6, 5], [1, 0.5, 1.5, 7.5, 6.5], [1, 2.25, 0.75, 9.5, 4.25], [0, 3, 3, 3, 3]]
    rois = np.array(regions) / [1, *[1 if scale == OMITTED else scale] * 4]
    yield {"X": draw.T.ordinary((2, 3, 7, 11)), "rois": draw.T(rois)}


@max_roi_pool.inputs(T="float", unspecified=OUTSIDE)
def outside(draw: Draw) -> Iterator[Inputs]:
    """Regions partly or wholly outside, and such whose end is before their beginning."""
    scale = draw.attributes["spatial_scale"]
    regions = [[0, -3, -2, 4, 3], [1, 5, 3, 14, 9], [0, 13, 9, 17, 12], [1, 6, 5, 2, 1]]
    rois = np.array(regions) / [1, *[1 if scale == OMITTED else scale] * 4]
    yield {"X": draw.T.ordinary((2, 3, 7, 11)), "rois": draw.T(rois)}
