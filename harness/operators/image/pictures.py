"""Small pictures: what a stream must be decoded to, known before there is a stream."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np

HEIGHT, WIDTH = 5, 7
COLOUR: Final = np.array([pow(3, i, 257) - 1 for i in range(40, 40 + HEIGHT * WIDTH * 3)], np.uint8).reshape(
    HEIGHT, WIDTH, 3
)
"""RGB [5, 7, 3]: no two bytes are alike, so that each one's place is seen."""
LEVELS: Final = np.array([pow(5, i, 257) - 1 for i in range(HEIGHT * WIDTH)], np.uint8).reshape(HEIGHT, WIDTH)
"""Gray [5, 7]: no two pixels are alike."""
CHOICE: Final = (np.arange(HEIGHT * WIDTH) * 5 % 11 % 8).astype(np.uint8).reshape(HEIGHT, WIDTH)
"""Indices [5, 7] into ``PALETTE`` or another choice of eight."""
BITS: Final = (CHOICE % 3 == 1).astype(np.uint8)
"""Zeros and ones [5, 7]."""
PALETTE: Final = np.array([(255 - 36 * i, 11 * i + 3, 32 * i + 31) for i in range(8)], np.uint8)
"""RGB [8, 3]."""
ONE: Final = np.array([[[250, 128, 3]]], np.uint8)
"""RGB [1, 1, 3]: a single pixel."""


class Picture(NamedTuple):
    """A picture and its stream."""

    encode: Callable[[int], bytes]
    """The stream, with so many bytes of filler in it (none, or 20 and more) that its format has readers skip."""
    pixels: np.ndarray
    """What it is decoded to: uint8 [H, W, 3], RGB."""
    fills: bool = True
    """Whether its format has a place for filler."""

    @property
    def is_gray(self) -> bool:
        """Whether red, green and blue are the same in every pixel."""
        return bool((self.pixels == self.pixels[..., :1]).all())


def rgb(gray: np.ndarray) -> np.ndarray:
    """The colours [H, W, 3] of grays [H, W]: red, green and blue are the same."""
    return np.repeat(gray[..., np.newaxis], 3, axis=2)


def evenly(pictures: Iterable[Picture]) -> list[bytes]:
    """Their streams, filled to one length where their formats can be: data sets of one shape share a model."""
    natural = [(picture, picture.encode(0)) for picture in pictures]
    length = max((len(stream) for picture, stream in natural if picture.fills), default=0) + 20
    return [p.encode(length - len(stream)) if p.fills else stream for p, stream in natural]
