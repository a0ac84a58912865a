"""Sliding: where a kernel that slides over an image meets it, and the attributes and sizes that are planned for it."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED

Sizes = tuple[int, ...]


class Sliding(msgspec.Struct, frozen=True):
    """How a kernel slides, each field a number for each spatial axis."""

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    begin: Sizes
    """"The number of pixels added at the beginning of axis i"."""
    end: Sizes

    @property
    def extents(self) -> Sizes:
        """What a dilated kernel covers."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    def windows(self, sizes: Sequence[int]) -> Sizes:
        """How many windows lie wholly in the padded image of these sizes."""
        every = zip(sizes, self.begin, self.end, self.extents, self.strides, strict=True)
        return tuple((size + begin + end - extent) // stride + 1 for size, begin, end, extent, stride in every)

    def positions(self) -> Iterator[Sizes]:
        """The positions in the kernel."""
        return np.ndindex(self.kernel)

    def met(self, position: Sizes, count: Sequence[int]) -> tuple[Any, ...]:
        """An index of the padded image: what the position meets in each of ``count`` windows along each axis."""
        every = zip(position, self.dilations, self.strides, count, strict=True)
        return (..., *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, s, n in every))


def sliding(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str = "NOTSET",
) -> Sliding:
    """How a kernel slides over an image of these sizes, by the attributes.

    SAME is "pad the input so that output_shape[i] = ceil(input_shape[i] / strides[i])", by as little as does it (as
    shape inference has it), and an odd pixel goes "at the end for SAME_UPPER and at the beginning for SAME_LOWER".
    "VALID mean no padding" stands in version 1 of Conv alone, and no version gives strides and dilations another
    default than 1; windows are as many as lie wholly in the padded image, as shape inference has it.
    """
    rank = len(kernel)
    none = [0] * rank
    begin, end = (pads[:rank], pads[rank:]) if pads else (none, none)
    of = Sliding(tuple(kernel), tuple(strides or [1] * rank), tuple(dilations or [1] * rank), tuple(begin), tuple(end))
    if not auto_pad.startswith("SAME"):
        return of
    every = zip(sizes, of.strides, of.extents, strict=True)
    totals = [max((-(-size // stride) - 1) * stride + extent - size, 0) for size, stride, extent in every]
    return halved(of, totals, upper=auto_pad == "SAME_UPPER")


def halved(of: Sliding, totals: Sequence[int], *, upper: bool) -> Sliding:
    """With padding that is "split between the two sides", the odd pixel at the end if ``upper``."""
    less, more = tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
    begin, end = (less, more) if upper else (more, less)
    return msgspec.structs.replace(of, begin=begin, end=end)


def padded(x: np.ndarray, of: Sliding) -> np.ndarray:
    """The image ``[N, C, …]`` among the zeros that are added to it."""
    return np.pad(x, [(0, 0), (0, 0), *zip(of.begin, of.end, strict=True)])


STRIDES = (OMITTED, [2], [3], [2, 1], [1, 3], [2, 2], [2, 1, 3])
DILATIONS = (OMITTED, [2], [3], [1, 2], [3, 1], [1, 3, 2])
PADS = (OMITTED, [1, 2], [5, 3], [0, 1, 2, 0], [4, 1, 0, 3], [1, 1, 1, 1], [1, 0, 2, 0, 3, 1])
KERNELS = (OMITTED, [3], [2], [3, 2], [1, 3], [2, 1, 3])
GROUPS = (OMITTED, 1, 2, 3)
AUTO_PADS = (OMITTED, "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
EXPLICIT = (OMITTED, "NOTSET")


def of_one_rank(*names: str) -> list[Callable[..., bool]]:
    """Constraints that lists for each spatial axis (``pads`` for both ends of each) are of as many axes."""

    def rank(name: str, value: Sequence[int]) -> int:
        return len(value) // (2 if name == "pads" else 1)

    def constraint(first: str, second: str) -> Callable[..., bool]:
        def holds(a: Any, b: Any) -> bool:
            return OMITTED in (a, b) or rank(first, a) == rank(second, b)

        either = inspect.Parameter.POSITIONAL_OR_KEYWORD
        setattr(holds, "__signature__", inspect.Signature([inspect.Parameter(n, either) for n in (first, second)]))  # noqa: B010
        return holds

    return [constraint(*pair) for pair in itertools.combinations(names, 2)]


def explicit_or_automatic(auto_pad: Any, pads: Any) -> bool:
    """``pads`` "cannot be used simultaneously with auto_pad attribute"."""
    return auto_pad in EXPLICIT or pads is OMITTED


CONSTRAINTS = [explicit_or_automatic, *of_one_rank("strides", "dilations", "pads", "kernel_shape")]


class Planned:
    """What the attributes of a planned row say of how its kernel slides."""

    inferred: ClassVar = {1: (5,), 2: (2, 3), 3: (1, 2, 3)}
    """The kernel of each rank where ``kernel_shape`` is left out."""

    def __init__(self, draw: Draw, *others: str) -> None:
        """``others`` are attributes that tell the rank too."""
        self.draw = draw
        given = {name: value for name, value in draw.attributes.items() if value is not OMITTED}
        ranks = [len(given[name]) for name in ("strides", "dilations", "kernel_shape", *others) if name in given]
        ranks += [len(given["pads"]) // 2] if "pads" in given else []
        self.rank: int = ranks[0] if ranks else draw.integer(1, 3)
        self.given = given
        self.group: int = given.get("group", 1)
        self.auto_pad: str = given.get("auto_pad", "NOTSET")
        self.kernel: Sizes = tuple(given.get("kernel_shape", self.inferred[self.rank]))

    def over(self, sizes: Sequence[int], kernel: Sizes | None = None) -> Sliding:
        """How the kernel slides over an image of these sizes."""
        strides, dilations, pads = (self.given.get(name) for name in ("strides", "dilations", "pads"))
        return sliding(sizes, kernel or self.kernel, strides, dilations, pads, self.auto_pad)

    def choice(self, size: int, kernel: Sizes) -> Iterator[Choice]:
        """What each axis comes to if that is its size: where they can, strides leave a rest and SAME adds unevenly."""
        sizes = [size] * self.rank
        of = self.over(sizes, kernel)
        for n, begin, end, extent, stride in zip(
            of.windows(sizes), of.begin, of.end, of.extents, of.strides, strict=True
        ):
            rest = (size + begin + end - extent) % stride
            yield Choice(begin == end if self.auto_pad.startswith("SAME") else stride > 1 and not rest, n, size)

    def sizes(self, of_image: Sizes, of_output: Sizes, kernel: Sizes | None = None) -> Sizes:
        """The sizes of an image: small, distinct, as those of the output, and like none of the axes before them."""
        along: list[list[Choice]] = [[] for _ in range(self.rank)]
        for size in range(2, 32):
            for choices, one in zip(along, self.choice(size, kernel or self.kernel), strict=True):
                if one.output > 1 and one.output not in of_output and size not in of_image:
                    choices.append(one)

        def cost(chosen: Sequence[Choice]) -> tuple[int, int, Sizes]:
            bland, outputs, sizes = zip(*chosen, strict=True)
            return sum(bland), math.prod(outputs), sizes

        def distinct(chosen: Sequence[Choice]) -> bool:
            _, outputs, sizes = zip(*chosen, strict=True)
            return len(set(outputs)) == len(set(sizes)) == self.rank

        few = [choices[:_CHOICES] for choices in along]
        return cost(min(filter(distinct, itertools.product(*few)), key=cost))[-1]


class Choice(NamedTuple):
    """A size that an axis may have."""

    bland: bool
    """Whether it shows less of the attributes than others."""
    output: int
    size: int


_CHOICES = 8
"""How many sizes of an axis are considered."""


def special_images(draw: Draw, x: np.ndarray) -> Iterator[np.ndarray]:
    """An image with NaN at one place, with an infinity at each of two, and with the least and large numbers.

    The large ones are not such that partial sums overflow.
    """
    shape = x.shape
    middle, corner = tuple(size // 2 for size in shape), tuple(size - 1 for size in shape)
    for values in ({middle: np.nan}, {middle: np.inf, corner: -np.inf}, {middle: np.inf, (*middle[:-1], 0): -np.inf}):
        yield _with(x, values)
    large = draw.T([draw.T.largest / 8, -draw.T.largest / 8])
    finite = [v for v in (*draw.T.specials(), *large) if abs(float(v)) <= abs(float(large[0]))]
    step = x.size // len(finite)
    yield _with(x, {np.unravel_index(step * i, shape): v for i, v in enumerate(finite)})


def _with(x: np.ndarray, values: Mapping[Any, Any]) -> np.ndarray:
    changed = x.copy()
    for place, value in values.items():
        changed[place] = value
    return changed
