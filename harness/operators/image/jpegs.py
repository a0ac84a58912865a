"""JPEG pictures whose every pixel is decided, although their coding loses something of others."""

import itertools
import struct
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np

from harness.operators.image.pictures import Picture, rgb

Block: TypeAlias = tuple[int, int, int, int]
"""What a block of 8 × 8 samples is beyond 128: a constant and three patterns, each so many levels strong."""
Blocks: TypeAlias = Sequence[Sequence[Block]]
"""Blocks of one component, by row and column."""

SIGNS: Final = np.array([1, -1, -1, 1, 1, -1, -1, 1])
"""``√2 cos((2x + 1) 4π / 16)``: what a coefficient in column or row 4 does to the samples."""
STEP: Final = 8
"""By T.81's A.3.3, a coefficient of 8 in rows and columns 0 and 4 is one level, up or down, in every sample."""
PLACES: Final = (0, 14, 10, 39)
"""Where these coefficients stand in the zig-zag order: (0, 0), column 4, row 4, both."""


def levels(blocks: Blocks) -> np.ndarray:
    """The samples of a component: whole numbers, since the inverse transform has no others to give."""
    across, down = SIGNS[np.newaxis], SIGNS[:, np.newaxis]
    return np.block([[128 + c + h * across + v * down + hv * across * down for c, h, v, hv in row] for row in blocks])


def doubled(samples: np.ndarray) -> np.ndarray:
    """Twice the columns, as the text has it; samples at the ends are their own neighbours.

    "B0 = round_half_down((1/4) * A + (3/4) * B)", "B1 = round_half_up((3/4) * B + (1/4) * C)".
    """
    a, b, c = (np.pad(samples, ((0, 0), (1, 1)), mode="edge")[:, i : i + samples.shape[1]] for i in range(3))
    return np.stack([(a + 3 * b + 1) // 4, (3 * b + c + 2) // 4], axis=2).reshape(len(samples), -1)


def colours(y: np.ndarray, cb: np.ndarray, cr: np.ndarray) -> np.ndarray:
    """RGB by JFIF (T.871, 7): "R = Y + 1.402 (Cr-128)" and so on, to the nearest whole number from 0 to 255."""
    blue, red = cb - 128, cr - 128
    green = 0.114 * 1.772 / 0.587 * blue + 0.299 * 1.402 / 0.587 * red
    return np.clip(np.rint(np.stack([y + 1.402 * red, y - green, y + 1.772 * blue], axis=2)), 0, 255).astype(np.uint8)


def jpeg(components: Sequence[Blocks], size: tuple[int, int], filler: int = 0, *, restart: int = 0) -> bytes:
    """A baseline JPEG in a JFIF file: Y, or Y, Cb and Cr, of which Y may have twice the rows and columns of blocks."""
    # Y's blocks in a unit: those of the others' one.
    v, h = (len(components[0]) // len(components[-1]), len(components[0][0]) // len(components[-1][0]))
    factors = [(v, h) if i == 0 else (1, 1) for i in range(len(components))]
    units = [
        [
            (i, blocks[row * down + y][column * across + x])
            for i, (blocks, (down, across)) in enumerate(zip(components, factors, strict=True))
            for y in range(down)
            for x in range(across)
        ]
        for row in range(len(components[-1]))
        for column in range(len(components[-1][0]))
    ]
    scans = [units[i : i + restart] for i in range(0, len(units), restart)] if restart else [units]
    symbols = [list(_symbols(itertools.chain(*scan))) for scan in scans]
    tables = [sorted({s for scan in symbols for which, s, *_ in scan if which == table}) for table in (0, 1)]
    widths = [len(table).bit_length() for table in tables]  # so that no code is all ones
    data = b""
    for n, scan in enumerate(symbols):
        bits = "".join(f"{tables[which].index(s):0{widths[which]}b}{extra}" for which, s, extra in scan)
        bits += "1" * (-len(bits) % 8)
        data += bytes([0xFF, 0xD0 + (n - 1) % 8]) if n else b""
        data += int(bits, 2).to_bytes(len(bits) // 8).replace(b"\xff", b"\xff\0")
    ids = range(1, len(components) + 1)
    frame = struct.pack(">BHHB", 8, *size, len(components))
    frame += b"".join(bytes([i, factor[1] << 4 | factor[0], 0]) for i, factor in zip(ids, factors, strict=True))
    segments = [
        (0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
        *([(0xFE, b"#" * (filler - 4))] if filler else []),
        (0xDB, bytes([0, *[STEP] * 64])),
        (0xC0, frame),
        *(
            (0xC4, bytes([which << 4, *(len(table) * (width == i) for i in range(1, 17)), *table]))
            for which, table, width in zip((0, 1), tables, widths, strict=True)
        ),
        *([(0xDD, struct.pack(">H", restart))] if restart else []),
        (0xDA, bytes([len(components), *itertools.chain(*((i, 0) for i in ids)), 0, 63, 0])),
    ]
    head = b"".join(struct.pack(">BBH", 0xFF, marker, 2 + len(content)) + content for marker, content in segments)
    return b"\xff\xd8" + head + data + b"\xff\xd9"


def _symbols(blocks: Iterator[tuple[int, Block]]) -> Iterator[tuple[int, int, str]]:
    """The table, the symbol and the further bits of all that is coded of these blocks, each with its component."""
    before: dict[int, int] = {}
    for component, (constant, *patterns) in blocks:
        difference = constant - before.get(component, 0)
        before[component] = constant
        yield 0, difference.bit_length(), _extra(difference)
        place = 0
        # In the order of their places.
        for at, value in sorted(zip(PLACES[1:], patterns, strict=True)):
            if value:
                zeros = at - place - 1
                yield from [(1, 0xF0, "")] * (zeros // 16)
                yield 1, zeros % 16 << 4 | value.bit_length(), _extra(value)
                place = at
        yield 1, 0, ""


def _extra(value: int) -> str:
    """The bits of a value, of a negative one those of its amount inverted."""
    size = value.bit_length()
    return f"{value if value > 0 else value + (1 << size) - 1:0{size}b}" if size else ""


def picture(*components: Blocks, size: tuple[int, int], restart: int = 0) -> Picture:
    """The JPEG of these components, cut to rows and columns."""
    y, *chroma = map(levels, components)
    if chroma and chroma[0].shape[1] < y.shape[1]:
        chroma = [doubled(c) for c in chroma]
    if chroma and chroma[0].shape[0] < y.shape[0]:
        chroma = [doubled(c.T).T for c in chroma]
    pixels = colours(y, *chroma) if chroma else rgb(y.astype(np.uint8))
    return Picture(lambda filler: jpeg(components, size, filler, restart=restart), pixels[: size[0], : size[1]])
