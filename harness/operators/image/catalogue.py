"""The pictures that ImageDecoder is tried with, by codec, in streams of which nothing is left to the decoder."""

import struct
from base64 import b64decode
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from harness.operators.image.encoders import bmp, png, pnm, tiff
from harness.operators.image.jpegs import Block, picture
from harness.operators.image.pictures import BITS, CHOICE, COLOUR, LEVELS, ONE, PALETTE, Picture, rgb


class Codec(NamedTuple):
    """The pictures of one codec."""

    colour: Picture
    gray: Picture
    others: tuple[Picture, ...]


def made(encode: Callable[..., bytes], samples: np.ndarray, pixels: np.ndarray, **how: Any) -> Picture:
    """The picture that an encoder makes of samples."""
    return Picture(lambda filler: encode(samples, filler, **how), pixels)


GRAYS: Final = rgb(LEVELS)
INDEXED: Final = PALETTE[CHOICE]
GRAY_PALETTE: Final = rgb(np.array([[30, 31, 0, 255, 128, 64, 200, 99]], np.uint8))[0]
GRAY_INDEXED: Final = GRAY_PALETTE[CHOICE]
TWO: Final = PALETTE[1:3]
OPAQUE: Final = np.concatenate([COLOUR, np.full_like(COLOUR[..., :1], 255)], axis=2)
TRANSPARENT: Final = np.concatenate([COLOUR, LEVELS[..., np.newaxis]], axis=2)

BMP: Final = Codec(
    made(bmp, COLOUR, COLOUR),
    made(bmp, GRAYS, GRAYS),
    (
        made(bmp, COLOUR, COLOUR, up=False),
        made(bmp, CHOICE, INDEXED, bits=8, palette=PALETTE),
        made(bmp, CHOICE, INDEXED, bits=4, palette=PALETTE),
        made(bmp, BITS, TWO[BITS], bits=1, palette=TWO),
        made(bmp, CHOICE, GRAY_INDEXED, bits=8, palette=GRAY_PALETTE),
        made(bmp, ONE, ONE),
    ),
)

PNM: Final = Codec(
    made(partial(pnm, 6), COLOUR, COLOUR),
    made(partial(pnm, 5), LEVELS, GRAYS),
    (
        made(partial(pnm, 6), GRAYS, GRAYS),
        made(partial(pnm, 4), BITS, 255 * rgb(1 - BITS)),
        made(partial(pnm, 3), COLOUR, COLOUR),
        made(partial(pnm, 2), LEVELS, GRAYS),
        made(partial(pnm, 1), BITS, 255 * rgb(1 - BITS)),
        made(partial(pnm, 6), ONE, ONE),
    ),
)
PNG: Final = Codec(
    made(png, COLOUR, COLOUR, colours=2),
    made(png, LEVELS, GRAYS),
    (
        made(png, COLOUR, COLOUR, colours=2, filters=(3, 1, 4, 2, 0)),
        made(png, COLOUR, COLOUR, colours=2, filters=(4, 3), interlaced=True),
        made(png, CHOICE, INDEXED, colours=3, palette=PALETTE),
        made(png, CHOICE, INDEXED, colours=3, palette=PALETTE, bits=4),
        made(png, OPAQUE, COLOUR, colours=6),
        made(png, GRAYS, GRAYS, colours=2),
        made(png, CHOICE, 17 * rgb(CHOICE), bits=4),
        made(png, BITS, 255 * rgb(BITS), bits=1),
        made(png, ONE, ONE, colours=2),
    ),
)
TIFF: Final = Codec(
    made(tiff, COLOUR, COLOUR, photometric=2),
    made(tiff, LEVELS, GRAYS, photometric=1),
    (
        made(tiff, COLOUR, COLOUR, photometric=2, order=">", rows=2),
        made(tiff, INDEXED, INDEXED, photometric=2, packbits=True),
        made(tiff, CHOICE, INDEXED, photometric=3, palette=PALETTE),
        made(tiff, GRAYS, GRAYS, photometric=2),
        made(tiff, LEVELS, 255 - GRAYS, photometric=0),
        made(tiff, BITS, 255 * rgb(BITS), photometric=1, bits=1),
        made(tiff, BITS, 255 * rgb(1 - BITS), photometric=0, bits=1, order=">"),
        made(tiff, ONE, ONE, photometric=2),
    ),
)

Y: Final[Block] = (9, 50, -31, 17)
"""The luma of a block."""
CHROMA: Final[tuple[tuple[Block, Block], ...]] = (
    ((-10, -12, 14, 8), (-33, -23, 24, -13)),
    ((12, -5, 10, 1), (-26, -1, 0, -15)),
    ((21, 12, 8, -14), (-3, 2, -13, -3)),
    ((33, -16, 0, -13), (15, 10, 5, -5)),
    ((-8, -3, 12, 12), (21, 15, -11, 15)),
    ((40, 3, -8, 8), (3, 14, 8, -8)),
)
"""Cb and Cr of blocks, chosen so that red, green and blue are at least a quarter from where rounding turns."""
NO_CHROMA: Final[Block] = (0, 0, 0, 0)
MANY: Final[list[list[Block]]] = [
    [(-20, 40, -9, 3), Y, (31, 5, 22, -40)],
    [(0, -33, 0, 0), (60, 0, -25, 0), (-44, 7, 8, 9)],
]
WIDE_CHROMA: Final[tuple[list[list[Block]], ...]] = (
    [[(-26, 9, 0, 0), (-36, 9, 0, 0)]],
    [[(-40, -15, 0, 0), (-42, -15, 0, 0)]],
)
"""From column to column in steps whose quarters are halves of a level."""
FLAT_CHROMA: Final[tuple[list[list[Block]], ...]] = ([[(-5, 0, 18, 0)] * 2], [[(36, 28, 0, 0)] * 2])
"""Cb from row to row and Cr from column to column, in steps whose quarters are whole."""

JPEG: Final = Codec(
    picture([[Y]], [[CHROMA[0][0]]], [[CHROMA[0][1]]], size=(5, 7)),
    picture([[(-3, 60, -40, 21)]], size=(5, 7)),
    (
        picture(
            MANY, *([[pair[i] for pair in CHROMA[j : j + 3]] for j in (0, 3)] for i in (0, 1)), size=(13, 22), restart=2
        ),
        picture([MANY[0] + MANY[1][:1]], *WIDE_CHROMA, size=(8, 32)),
        picture([MANY[0] + MANY[1][:1], MANY[1][1:] + MANY[1][1:]], *FLAT_CHROMA, size=(16, 32)),
        picture([[Y]], [[NO_CHROMA]], [[NO_CHROMA]], size=(5, 7)),
        picture(MANY, size=(13, 22), restart=1),
        picture([[Y]], [[CHROMA[0][0]]], [[CHROMA[0][1]]], size=(1, 1)),
    ),
)

# Made once by Pillow 13.0.0: JPEG 2000 with irreversible=False, WebP with lossless=True, exact=True.
_JP2_COLOUR: Final = b64decode(
    "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABQAAAAcAAwcHAAAAAAAPY29scgEAAAAAABAAAAFOanAy"
    "Y/9P/1EALwAAAAAABwAAAAUAAAAAAAAAAAAAAAcAAAAFAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAQIEBAAB/1wACkBASEhQSEhQ/2QAJQAB"
    "Q3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAA0AAB/5PH1AgMNs6Ex9QKAYY8qn/H1AoOG1sD78faCw+oDg+oEAtxUtqr"
    "BjrXCvn/f8faCwfOCj8AMAqj1NsbCyID8mXH2gsHzgo/ADAKe7/LvwURA4dCx9oXPwCYfaDgDGMLEzLvibrmSLsT32T2RsEyM4sDxmhk3+5Dx9oX"
    "H2hM/MJABKVxDawAYG22qh8Jrab4xVZIUVoUtQClsMX8f3/H2hc/AKj8AgACxNcH/c6s8+5INA5MEKcQWc31e5cELPJpRzB27//Z"
)
_JP2_UNMIXED: Final = b64decode(
    "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABQAAAAcAAwcHAAAAAAAPY29scgEAAAAAABAAAAFManAy"
    "Y/9P/1EALwAAAAAABwAAAAUAAAAAAAAAAAAAAAcAAAAFAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAAIEBAAB/1wACkBASEhQSEhQ/2QAJQAB"
    "Q3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAAzgAB/5PPtBQPxu3H38+0FA/G7cffz7QUD8btx9/H2gsHzg4/ADAQexNm"
    "3wV4fwu77cfaCwfODj8AMBB7E2bfBXh/C7vtx9oLB84OPwAwEHsTZt8FeH8Lu+3H2hV+YXPzBxJxVfuIHE+wjN8FAIvG/LbWz4y9tw/G9hM1sx/H"
    "2hV+YXPzBxJxVfuIHE+wjN8FAIvG/LbWz4y9tw/G9hM1sx/H2hV+YXPzBxJxVfuIHE+wjN8FAIvG/LbWz4y9tw/G9hM1sx//2Q=="
)
_JP2_LEVELS: Final = b64decode(
    "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABQAAAAcAAQcHAAAAAAAPY29scgEAAAAAABEAAADGanAy"
    "Y/9P/1EAKQAAAAAABwAAAAUAAAAAAAAAAAAAAAcAAAAFAAAAAAAAAAAAAQcBAf9SAAwAAAABAAIEBAAB/1wACkBASEhQSEhQ/2QAJQABQ3JlYXRl"
    "ZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAATgAB/5PPtBQPxu3H38faCwfODj8AMBB7E2bfBXh/C7vtx9oVfmFz8wcScVX7iBxP"
    "sIzfBQCLxvy21s+MvbcPxvYTNbMf/9k="
)
_JP2_ONE: Final = b64decode(
    "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAAQAAAAEAAwcHAAAAAAAPY29scgEAAAAAABAAAACTanAy"
    "Y/9P/1EALwAAAAAAAQAAAAEAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAQAEBAAB/1wABEBA/2QAJQABQ3JlYXRl"
    "ZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAAGwAB/5PAIQfPtAgJ18+0CABv/9k="
)
_WEBP_COLOUR: Final = b64decode(
    "UklGRrwAAABXRUJQVlA4TLAAAAAvBgABABfBNgDAMkOc2j4qU680fnIn6w8GkSQnqjBYiLPIiCtGS2Th+ZkGAJgkzX3JsOaZygd0PoVK5IZ9QPM6"
    "/6HiIQAEAARDEYYWAAQAxG1PJh2VU8LQWq/D9iSfffTH6v9/07nbnuT/fzQ5DEUYWlKq9Mem25VsAIlcYGgJdWEoUnRNqIvDJmGfpQYCgwAAy8Zm"
    "2zoj+h9lNChBj8/UJt0XEvknFtNdlQvre9nhHg=="
)
_WEBP_GRAYS: Final = b64decode(
    "UklGRkwAAABXRUJQVlA4TEAAAAAvBgABAIXTAACQBocTOMF/IVGdCs2pXonwhH7BDQ7N+/ZHRP8DQMjQpIb/1+ddVBLcLG8Wf3jSKNa2UCzG76wA"
)
_WEBP_FEW: Final = b64decode(
    "UklGRkQAAABXRUJQVlA4TDcAAAAvBgABAD9AJmCxcerfWIhz//8DZP6znR6KAYCJFe0mWPW9AVKIYAopLKL/Ee9C/iDnRDvOvZkCAA=="
)
_WEBP_ONE: Final = b64decode("UklGRiIAAABXRUJQVlA4TBUAAAAvAAAAAAdQwOorBBAABU3/Y0RE/wMA")


def _jp2(stream: bytes, pixels: np.ndarray) -> Picture:
    """A picture in JPEG 2000, whose filler is a comment before the codestream's COD marker; its box is the last."""
    box, cod = stream.index(b"jp2c") - 4, stream.index(b"\xff\x52")

    def encode(filler: int) -> bytes:
        comment = b"\xff\x64" + struct.pack(">HH", filler - 2, 1) + b"#" * (filler - 6) if filler else b""
        length = struct.pack(">I", len(stream) - box + filler)
        return stream[:box] + length + stream[box + 4 : cod] + comment + stream[cod:]

    return Picture(encode, pixels)


def _webp(stream: bytes, pixels: np.ndarray) -> Picture:
    return Picture(lambda _: stream, pixels, fills=False)


JPEG_2000: Final = Codec(
    _jp2(_JP2_COLOUR, COLOUR), _jp2(_JP2_LEVELS, GRAYS), (_jp2(_JP2_UNMIXED, GRAYS), _jp2(_JP2_ONE, ONE))
)
WEBP: Final = Codec(
    _webp(_WEBP_COLOUR, COLOUR), _webp(_WEBP_GRAYS, GRAYS), (_webp(_WEBP_FEW, INDEXED), _webp(_WEBP_ONE, ONE))
)
