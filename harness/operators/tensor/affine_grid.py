"""AffineGrid: where each pixel of an image, or of a volume, comes from under an affine map."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, Sample, operator

ONE_PIXEL = (
    'AffineGrid-20, "When align_corners=1, consider -1 and 1 to refer to the centers of the corner pixels", puts the '
    "only pixel of an axis at both; the function body has -1 for a depth of 1, and divides by 0 for others."
)


def positions(size: int, *, align_corners: int) -> np.ndarray:
    """The centers of ``size`` pixels, evenly spaced: the first and the last at -1 and 1, or their outer edges there.

    Each is ``start + i * step``, as in the function body. One pixel between corners at its own center has no step.
    """
    step: Any = constant("2") / (max(size - 1, 1) if align_corners else size)
    return np.arange(size) * step + (-1 if align_corners else step / 2 - 1)


@operator("AffineGrid", since=20, align_corners=FLAG)
def affine_grid(theta: np.ndarray, size: np.ndarray, *, align_corners: int) -> np.ndarray:
    """``theta`` times ``(x, y, 1)`` or ``(x, y, z, 1)`` of each pixel's position, x along the last axis."""
    along = [positions(int(n), align_corners=align_corners) for n in size[2:]]
    across: Any = np.meshgrid(*along, indexing="ij")
    homogeneous = np.stack([*across[::-1], np.ones_like(across[0])], axis=-1)
    return np.einsum("...k,nik->n...i", homogeneous, theta)


@affine_grid.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Two maps of images with more columns than rows."""
    yield _grid(draw, 2, (4, 5))


@affine_grid.inputs()
def volumes(draw: Draw) -> Iterator[Sample]:
    """Two maps of volumes whose depth, height and width differ."""
    yield _grid(draw, 2, (3, 4, 5))
    yield _grid(draw, 2, (4, 2, 3))


@affine_grid.inputs()
def simple_maps(draw: Draw) -> Iterator[Sample]:
    """The identity, axes exchanged, scaled and turned around, a translation, and everything to one point."""
    maps = (
        [[1, 0, 0], [0, 1, 0]],
        [[0, 1, 0], [1, 0, 0]],
        [[-0.5, 0, 0], [0, 2, 0]],
        [[0, 0, 0.75], [0, 0, -2]],
        [[0, 0, 0], [0, 0, 0]],
    )
    yield _grid(draw, len(maps), (4, 6), theta=draw.T1(maps))


@affine_grid.inputs()
def sizes(draw: Draw) -> Iterator[Sample]:
    """Tall and wide images, long ones, any number of channels, and a row or a column of pixels."""
    for channels, size in ((1, (5, 2)), (7, (2, 3)), (0, (2, 33)), (3, (1, 4)), (4, (3, 1))):
        yield _grid(draw, 2, size, channels)


@affine_grid.inputs()
def one_map(draw: Draw) -> Iterator[Sample]:
    """A batch of one, of images and of volumes; and volumes of which an axis has one pixel."""
    yield _grid(draw, 1, (3, 4))
    for size in ((2, 3, 4), (1, 2, 3), (2, 1, 3)):
        yield _grid(draw, 1, size)


@affine_grid.inputs(T1=("float16", "double"))
def no_maps(draw: Draw) -> Iterator[Sample]:
    """A batch of none."""
    yield _grid(draw, 0, (3, 4))


@affine_grid.inputs()
def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, an infinity, zeros of both signs and a subnormal in the maps; no pixel is at 0."""
    least = 2.0 ** (draw.T1.element.format.smallest if draw.T1.element.format else 0)
    maps = (
        [[np.nan, 1, 0], [0.5, 1, 0]],
        [[1, np.inf, 0], [0.5, 1, -np.inf]],
        [[-0.0, 0, -0.0], [least, 0, 0]],
    )
    yield _grid(draw, len(maps), (4, 2), theta=draw.T1(maps))


def _grid(draw: Draw, batch: int, size: Sequence[int], channels: int = 3, theta: np.ndarray | None = None) -> Sample:
    """Maps of a batch of images or volumes; one pixel between corners at its center is left open."""
    rank = len(size)
    given = draw.T1.ordinary((batch, rank, rank + 1)) if theta is None else theta
    open_ = draw.attributes["align_corners"] == 1 and 1 in size
    return Sample({"theta": given, "size": np.array([batch, channels, *size])}, unspecified=ONE_PIXEL if open_ else "")
