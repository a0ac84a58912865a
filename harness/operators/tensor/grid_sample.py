"""GridSample: an image, a volume or a line sampled at given locations, between its pixels and beyond its borders."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import ceil, floor, less, rint, where
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Sample, operator
from harness.spec.element_types import ElementType

Taps = list[tuple[np.ndarray, np.ndarray]]
"""The pixels along an axis that are interpolated, each with its weight."""


def located(grid: np.ndarray, sizes: Sequence[int], align_corners: int) -> list[np.ndarray]:
    """The locations along each axis, in pixels from the center of the first; the grid lists the innermost axis first.

    -1 and 1 are the centers of the corner pixels with ``align_corners``, else the corner points of these.
    """
    return [
        (along + 1) / 2 * (size - 1) if align_corners else ((along + 1) * size - 1) / 2
        for along, size in zip(np.moveaxis(grid, -1, 0)[::-1], sizes, strict=True)
    ]


def pixels(X: np.ndarray, index: Sequence[np.ndarray], padding_mode: str, align_corners: int) -> np.ndarray:
    """The pixels [N, C, ...] of X at whole positions along each axis [N, ...], also beyond the borders.

    There are zeros, the border's pixels, or those that are met by "reflected by the border" until "in bound". The
    border is where a grid of -1 and 1 is: "the reflected value at index -1 will be the same as the value at index 1"
    with ``align_corners``, and as that of index 0 without, as the official data have it.
    """
    inside, places = np.True_, [np.arange(len(X)).reshape(-1, *[1] * (X.ndim - 2))]
    for at, size in zip(index, X.shape[2:], strict=True):
        i = np.nan_to_num(at.astype(np.float64), posinf=0, neginf=0).astype(np.int64)
        if padding_mode == "border":
            i = np.clip(i, 0, size - 1)
        elif padding_mode == "reflection":
            period = 2 * (size - align_corners)
            i %= max(period, 1)
            i = np.minimum(i, period - 1 + align_corners - i)
        within = (i >= 0) & (i < size)
        inside = inside & within
        places.append(np.where(within, i, 0))
    found = np.moveaxis(X, 1, -1)[tuple(places)]
    return np.moveaxis(np.where(np.expand_dims(inside, -1), found, np.zeros_like(found)), -1, 1)


def linear(x: np.ndarray) -> Taps:
    """Both neighbours, each by its nearness."""
    low = floor(x)
    t = x - low
    return [(low, 1 - t), (low + 1, t)]


def cubic(x: np.ndarray) -> Taps:
    """Two neighbours on each side by Keys' kernel, whose coefficient no text states: the official data have -0.75."""
    a: Any = constant("-0.75")
    low = floor(x)
    t = x - low

    def near(d: np.ndarray) -> np.ndarray:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: np.ndarray) -> np.ndarray:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [(low - 1, far(t + 1)), (low, near(t)), (low + 1, near(1 - t)), (low + 2, far(2 - t))]


def sampled(
    X: np.ndarray, grid: np.ndarray, taps: Callable[[np.ndarray], Taps] | None, padding_mode: str, align_corners: int
) -> np.ndarray:
    """The nearest pixel of each location, ties to the even index, or a weighted sum of its neighbours."""
    axes = located(grid, X.shape[2:], align_corners)
    if taps is None:
        return pixels(X, [rint(x) for x in axes], padding_mode, align_corners)
    y = np.zeros(())
    for neighbours in itertools.product(*map(taps, axes)):
        index, weights = zip(*neighbours, strict=True)
        y = y + pixels(X, index, padding_mode, align_corners) * np.expand_dims(math.prod(weights), 1)
    return y


TAPS = {"nearest": None, "linear": linear, "bilinear": linear, "cubic": cubic, "bicubic": cubic}
FLOAT = "tensor(float)"
FEW = {"linear": (0, "zeros"), "nearest": (1, "zeros"), "cubic": (1, "reflection")}
"""The attributes beside the mode that types other than float meet, which have no part in them."""


def usual_grid(T1: str, T2: str) -> bool:
    """X meets a grid of float, or of its own type."""
    return T2 in (T1, FLOAT)


def usual_mode(T1: str, mode: str) -> bool:
    """Strings and Booleans, which nobody can interpolate, meet nearest pixels alone; one type of integers is cubic."""
    if T1 in ("tensor(string)", "tensor(bool)"):
        return mode == "nearest"
    return "int" not in T1 or T1 == "tensor(int32)" or mode in ("linear", "bilinear", "nearest")


def usual_padding(T1: str, padding_mode: str, mode: str) -> bool:
    """Float meets all."""
    return T1 == FLOAT or padding_mode == FEW.get(mode.removeprefix("bi"), (0, ""))[1]


def usual_corners(T1: str, align_corners: Any, mode: str) -> bool:
    """Float meets all."""
    return T1 == FLOAT or align_corners == FEW.get(mode.removeprefix("bi"), (0, ""))[0]


def omitted_together(align_corners: Any, padding_mode: str) -> bool:
    """One is left out if the other is."""
    return (align_corners is OMITTED) == (padding_mode is OMITTED)


CONSTRAINTS = [usual_grid, usual_mode, usual_padding, usual_corners, omitted_together]


@operator(
    "GridSample",
    since=(22, 20),
    exact=lambda mode: mode == "nearest",
    working_type="T2",  # which locations and weights are computed in before they meet X
    full_product=True,
    constraints=CONSTRAINTS,
    align_corners=FLAG,
    padding_mode=(OMITTED, "zeros", "border", "reflection"),
    mode=(OMITTED, "linear", "nearest", "cubic"),
)
def grid_sample(
    X: np.ndarray, grid: np.ndarray, *, align_corners: int, padding_mode: str, mode: str, T1: ElementType
) -> np.ndarray:
    """X at each location of the grid.

    "For integer input types, intermediate values are computed as floating point and cast to integer at the end."
    """
    taps = TAPS[mode]
    if taps is None or T1.format:
        return sampled(X, grid, taps, padding_mode, align_corners)
    y = sampled(X.astype(grid.dtype), grid, taps, padding_mode, align_corners)
    return where(less(y, 0), ceil(y), floor(y))


@operator(
    "GridSample",
    since=16,
    exact=lambda mode: mode == "nearest",
    working_type="T2",
    full_product=True,
    constraints=CONSTRAINTS,
    align_corners=FLAG,
    padding_mode=(OMITTED, "zeros", "border", "reflection"),
    mode=(OMITTED, "bilinear", "nearest", "bicubic"),
)
def grid_sample_16(
    X: np.ndarray, grid: np.ndarray, *, align_corners: int, padding_mode: str, mode: str, T1: ElementType
) -> np.ndarray:
    """As later, of images alone, by the modes' other names."""
    return grid_sample.oracle(X, grid, align_corners=align_corners, padding_mode=padding_mode, mode=mode, T1=T1)


IMAGES = {0: (4, 8), 1: (3, 5)}
VOLUMES = {0: (2, 4, 8), 1: (2, 3, 5)}
LINES = {0: (8,), 1: (5,)}
"""Sizes by ``align_corners`` of which locations in eighths of a pixel are exact in every type, however reckoned."""

TIES = "GridSample-16 does not say which of two pixels is nearest to a location halfway between them."
REACH = (
    'GridSample, padding_mode: "zeros: use 0 for out-of-bound grid locations, border: use border values for '
    'out-of-bound grid locations", does not say whether a location beyond the border, but within reach of pixels, has '
    "such a value itself, or is interpolated between pixels and such values."
)
NOWHERE = "GridSample does not say where a location is that is NaN or infinite."
FRACTIONS = 'GridSample, Y: "cast to integer at the end": neither it nor Cast says how fractions are cast.'


class Row:
    """What the attributes and types of a planned row make of locations."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        given = {k: v for k, v in draw.attributes.items() if v is not OMITTED}
        self.align_corners: int = given.get("align_corners", 0)
        self.padding: str = given.get("padding_mode", "zeros")
        self.mode: str = given.get("mode", "linear").removeprefix("bi")
        self.whole = draw.T1.element.format is None and self.mode != "nearest"
        """Whether pixels are interpolated that are integers."""

    @property
    def reach_is_open(self) -> bool:
        """Whether REACH is about the row."""
        if self.padding == "zeros":
            return self.mode != "nearest" or self.align_corners == 1
        return (self.mode, self.padding) == ("cubic", "border")

    def ends(self, size: int) -> tuple[float, float]:
        """The locations of -1 and 1 in pixels."""
        return (0, size - 1) if self.align_corners else (-0.5, size - 0.5)

    def usable(self, x: np.ndarray) -> np.ndarray:
        """Of these locations those that are no ties, or at which integers stay integers."""
        step = {"linear": 0.25, "cubic": 1}[self.mode] if self.whole else 0.125
        found = x[x % step == 0]
        return found[found % 1 != 0.5] if self.mode == "nearest" else found

    def inside(self, size: int) -> np.ndarray:
        """Locations inside the image, its borders included; none between these and the centers where REACH is met."""
        low, high = (0, size - 1) if (self.mode, self.padding) == ("cubic", "border") else self.ends(size)
        return self.usable(np.arange(low, high + 0.125, 0.125))

    def outside(self, size: int) -> np.ndarray:
        """Locations outside of it, out of reach of its pixels."""
        beyond = np.array([2.25, 3, 4.75, 7])
        return self.usable(np.concatenate([-beyond, size - 1 + beyond]))

    def near(self, size: int) -> np.ndarray:
        """Locations outside of it that are within reach."""
        low, high = self.ends(size)
        beyond = np.arange(0.125, 1.5, 0.125)
        return self.usable(np.concatenate([low - beyond, high + beyond]))

    def anywhere(self, size: int) -> np.ndarray:
        """Locations inside and outside of it, but where the answer is open."""
        near = self.near(size)[: 0 if self.reach_is_open else None]
        return np.concatenate([self.inside(size), self.outside(size), near])

    def ties(self, size: int) -> np.ndarray:
        """Halfway between pixels; outside only where the tie is the same before and after a reflection."""
        low, high = self.ends(size)
        beyond = [] if (self.padding, self.align_corners) == ("reflection", 0) else [-2.5, size + 1.5, size + 2.5]
        return np.array([*np.arange(math.ceil(low - 0.5) + 0.5, high + 0.5), *beyond])

    def far(self, size: int) -> np.ndarray:
        """Locations that are as far outside as the types can tell eighths of a pixel."""
        bits = min(of.format.precision for of in (self.draw.T1.element, self.draw.T2.element) if of.format)
        reach = 2 ** max(bits - 6, 3)
        beyond = np.array([self.draw.integer(2 * reach, 8 * reach) / 8 for _ in range(16)])
        beyond += np.where(beyond % 1 == 0.5, 0.125, 0)
        return np.concatenate([-beyond, size - 1 + beyond])

    def grid(self, batch: int, sizes: Sequence[int], out: Sequence[int], pools: Callable[[int], np.ndarray]) -> Any:
        """A grid whose locations along each axis are from the pool of the axis's size."""
        along = [self._along(size, (batch, *out), pools(size)) for size in sizes]
        return self.draw.T2(np.stack(along[::-1], axis=-1))

    def _along(self, size: int, shape: Sequence[int], pool: np.ndarray) -> np.ndarray:
        x = pool[self.draw.words(math.prod(shape)) % np.uint64(len(pool))].reshape(shape)
        if not self.align_corners:
            return (2 * x + 1) / size - 1
        # Of a single pixel all locations from -1 to 1 are its center.
        return 2 * x / (size - 1) - 1 if size > 1 else (self.draw.words(x.size) % 17).reshape(shape) / 8 - 1.0

    def image(self, batch: int, sizes: Sequence[int], channels: int | None = None) -> np.ndarray:
        """Pixels; integers that are to be interpolated are such that weights of quarters leave them whole."""
        shape = (batch, 4 - (self.align_corners == 0) if channels is None else channels, *sizes)
        if not self.whole:
            return self.draw.T1.ordinary(shape)
        return self.draw.T1.integers(-7 if self.draw.T1.element.kind == "signed" else 0, 7, shape) * 16

    def drawn(
        self, batch: int, sizes: Sequence[int], out: Sequence[int], pools: Callable[[int], np.ndarray]
    ) -> dict[str, np.ndarray]:
        """An image and a grid."""
        return {"X": self.image(batch, sizes), "grid": self.grid(batch, sizes, out, pools)}


def images(draw: Draw) -> Iterator[Sample]:
    """Locations on pixels, between them, on the borders and outside."""
    row = Row(draw)
    yield Sample(row.drawn(2, IMAGES[row.align_corners], (5, 7), row.anywhere))


def ties(draw: Draw) -> Iterator[Sample]:
    """Locations halfway between pixels, of which the nearest is asked for."""
    row = Row(draw)
    if row.mode == "nearest":
        yield Sample(row.drawn(2, IMAGES[row.align_corners], (5, 7), row.ties))


def volumes(draw: Draw) -> Iterator[Sample]:
    """Volumes, at locations as the ordinary ones."""
    row = Row(draw)
    yield Sample(row.drawn(1, VOLUMES[row.align_corners], (3, 5, 4), row.anywhere))


def lines(draw: Draw) -> Iterator[Sample]:
    """Lines, at locations as the ordinary ones."""
    row = Row(draw)
    yield Sample(row.drawn(2, LINES[row.align_corners], (11,), row.anywhere))


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Locations on pixels, between them, on the borders and outside; for the nearest then halfway between.

    Float meets them in volumes too.
    """
    yield from images(draw)
    yield from ties(draw)
    if set(draw.types.values()) == {FLOAT} and OMITTED not in draw.attributes.values():
        yield from volumes(draw)


def other_sizes(draw: Draw) -> Iterator[Sample]:
    """Any locations inside an image whose sizes are neither powers of two nor one more."""
    row = Row(draw)
    width = 0.6 if row.mode == "nearest" else 1

    def pool(size: int) -> np.ndarray:
        words = draw.words(60)
        x = (words % np.uint64(size)).astype(np.float64) + width * ((words >> np.uint64(11)) * 2.0**-53 - 0.5)
        low, high = row.ends(size)
        return x[(x > low + 0.125) & (x < high - 0.125)]

    yield Sample(row.drawn(2, (6, 7), (3, 5), pool))


def within_reach(draw: Draw) -> Iterator[Sample]:
    """Locations that lie outside, less than two pixels, where the document leaves open what is there."""
    row = Row(draw)
    if row.reach_is_open:
        pool = lambda size: np.concatenate([row.near(size), row.inside(size)])  # noqa: E731
        yield Sample(row.drawn(2, IMAGES[row.align_corners], (5, 7), pool))


def far_outside(draw: Draw) -> Iterator[Sample]:
    """Locations many images away, as far as their types can tell eighths of a pixel."""
    row = Row(draw)
    yield Sample(row.drawn(2, IMAGES[row.align_corners], (5, 7), row.far))


def one_pixel(draw: Draw) -> Iterator[Sample]:
    """Images of one row, inside."""
    row = Row(draw)
    yield Sample(row.drawn(2, (1, IMAGES[row.align_corners][1]), (5, 7), row.inside))


def empty(draw: Draw) -> Iterator[Sample]:
    """No images, no channels, or no locations."""
    row = Row(draw)
    sizes = IMAGES[row.align_corners]
    batch, channels, out = {"linear": (0, 3, (2, 6)), "nearest": (2, 0, (3, 6)), "cubic": (2, 3, (0, 6))}[row.mode]
    yield Sample({"X": row.image(batch, sizes, channels), "grid": row.grid(batch, sizes, out, row.anywhere)})


def special_values(draw: Draw) -> Iterator[Sample]:
    """Special values as nearest pixels; else a pixel that is NaN, off every location that it has no weight in."""
    row = Row(draw)
    sizes = IMAGES[row.align_corners]
    given = row.drawn(2, sizes, (5, 7), row.inside)
    if row.mode == "nearest":
        given["X"] = np.resize(draw.T1.specials(), given["X"].shape)
    else:
        given["X"][..., 1, 2] = np.nan
        between = lambda size: np.array([i + t for i in range(size - 1) for t in (0.25, 0.5)])  # noqa: E731
        given["grid"] = row.grid(2, sizes, (5, 7), between)
    yield Sample(given)


def nowhere(draw: Draw) -> Iterator[Sample]:
    """Locations of which a coordinate is NaN or infinite."""
    row = Row(draw)
    given = row.drawn(2, IMAGES[row.align_corners], (5, 7), row.inside)
    flat = given["grid"].reshape(-1, 2)
    for i, value in enumerate((np.nan, np.inf, -np.inf) * 2):
        flat[5 * i, i % 2] = value
    yield Sample(given)


def fractions(draw: Draw) -> Iterator[Sample]:
    """Integers whose interpolation is no integer."""
    row = Row(draw)
    if row.whole:
        quarters = lambda size: np.arange(0, size - 1, 0.25)  # noqa: E731
        given = row.drawn(2, IMAGES[row.align_corners], (5, 7), quarters)
        yield Sample(given | {"X": draw.T1.ordinary(given["X"].shape)})


grid_sample.inputs()(ordinary)
grid_sample_16.inputs()(images)
grid_sample_16.inputs(T1=("double", "string", "uint8"), unspecified=TIES)(ties)
for _op in (grid_sample, grid_sample_16):
    _op.inputs(T1="float")(other_sizes)
    _op.inputs(T1="float", unspecified=REACH)(within_reach)
    _op.inputs(T1="float")(far_outside)
    _op.inputs(T1="float")(one_pixel)
    _op.inputs(T1="double")(empty)
    _op.inputs(T1="float")(special_values)
    _op.inputs(T1="float", unspecified=NOWHERE)(nowhere)
    _op.inputs(T1=("int32", "uint8"), unspecified=FRACTIONS)(fractions)
grid_sample.inputs(T1="float")(volumes)
grid_sample.inputs(T1="float")(lines)

PIXELS = np.arange(6, dtype=np.float32).reshape(1, 1, 3, 2)
DIAGONAL = np.array([[-1, -0.5, -0.2, 0], [0, -0.2, 0.5, 1]], np.float32)
ADDITIONAL = np.array(
    [[[-1, -0.8], [-0.6, -0.5], [-0.1, -0.2], [0.7, 0]], [[0, 0.4], [0.2, -0.2], [-0.3, 0.5], [-1, 1]]], np.float32
)
grid_sample.example(
    "test_gridsample_nearest",
    PIXELS,
    np.stack([DIAGONAL, DIAGONAL], axis=-1)[np.newaxis],
    gives=np.array([[[[0, 0, 2, 2], [2, 2, 5, 0]]]], np.float32),
    mode="nearest",
)
for _align, _row in ((0, [4, 3, 4, 4]), (1, [2, 3, 4, 4])):
    grid_sample.example(
        f"test_gridsample_nearest_align_corners_{_align}_additional_1",
        PIXELS,
        ADDITIONAL[np.newaxis],
        gives=np.array([[[[0, 0, 2, 3], _row]]], np.float32),
        mode="nearest",
        align_corners=_align,
    )
