"""Encoders of the simple formats, byte by byte, so that a stream is the same on every machine and in every version."""

import itertools
import struct
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from harness.operators.image.pictures import PALETTE


def packed(samples: np.ndarray, bits: int, align: int = 1) -> bytes:
    """Rows of samples of so many bits, the first in the highest; each begins at a multiple of ``align`` bytes."""
    rows = samples.reshape(len(samples), -1).astype(np.uint8)
    rows = np.packbits(np.unpackbits(rows[..., np.newaxis], axis=2)[..., 8 - bits :].reshape(len(rows), -1), axis=1)
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % align))).tobytes()


def bmp(
    samples: np.ndarray, filler: int = 0, *, bits: int = 24, palette: np.ndarray = PALETTE[:0], up: bool = True
) -> bytes:
    """A Windows bitmap, version 3: BGR or indices, rows from the bottom up or, with a negative height, down."""
    height, width = samples.shape[:2]
    rows = samples[..., ::-1] if bits == 24 else samples
    data = packed(rows[::-1] if up else rows, min(bits, 8), align=4)
    colours = np.pad(palette[:, ::-1], ((0, 0), (0, 1))).tobytes()
    start = 54 + len(colours) + filler
    size = (40, width, height if up else -height, 1, bits, 0, len(data), 2835, 2835, len(palette), 0)
    header = b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + struct.pack("<IiiHHIIiiII", *size)
    return header + colours + bytes(filler) + data


def pnm(kind: int, samples: np.ndarray, filler: int = 0, *, largest: int = 255) -> bytes:
    """A portable any map: P1 to P3 are bits, grays and colours in digits, P4 to P6 the same in binary."""
    height, width = samples.shape[:2]
    comment = b"#" * (filler - 1) + b"\n" if filler else b""
    header = b"P%d\n%b%d %d\n" % (kind, comment, width, height)
    if kind not in (1, 4):
        header += b"%d\n" % largest
    if kind > 3:
        return header + packed(samples, 1 if kind == 4 else 8)
    return header + "".join(" ".join(map(str, row.ravel())) + "\n" for row in samples).encode()


def png(
    samples: np.ndarray,
    filler: int = 0,
    *,
    bits: int = 8,
    colours: int = 0,
    palette: np.ndarray = PALETTE[:0],
    filters: Sequence[int] = (0,),
    interlaced: bool = False,
) -> bytes:
    """A PNG of a colour type (0 gray, 2 RGB, 3 indices, 6 RGBA), its rows filtered by these in turn, not compressed."""
    height, width = samples.shape[:2]
    parts = [samples[y::down, x::across] for y, x, down, across in (ADAM7 if interlaced else [(0, 0, 1, 1)])]
    data = b"".join(_filtered(part, bits, filters) for part in parts if part.size)
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, interlaced)),
        *([(b"PLTE", palette.tobytes())] if len(palette) else []),
        *([(b"tEXt", b"Comment\0" + b"#" * (filler - 20))] if filler else []),
        (b"IDAT", stored + struct.pack(">I", zlib.adler32(data))),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


ADAM7: Final = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
"""First row and column and steps of the passes of an interlaced PNG."""


def _filtered(samples: np.ndarray, bits: int, filters: Sequence[int]) -> bytes:
    """The rows, each after the number of its filter: what its bytes are beyond a prediction from those before."""
    lines = np.frombuffer(packed(samples, bits), np.uint8).reshape(len(samples), -1).astype(int)
    step = max(1, lines.shape[1] // samples.shape[1])
    found = b""
    for i, kind in zip(range(len(lines)), itertools.cycle(filters), strict=False):
        above = lines[i - 1] if i else np.zeros_like(lines[0])
        left, corner = (np.pad(line, (step, 0))[:-step] for line in (lines[i], above))
        plane = left + above - corner
        distances = np.abs(np.array([left, above, corner]) - plane)
        nearest = np.choose(np.argmin(distances, axis=0), [left, above, corner])
        guess = (0 * left, left, above, (left + above) // 2, nearest)[kind]
        found += bytes([kind]) + ((lines[i] - guess) % 256).astype(np.uint8).tobytes()
    return found


def tiff(
    samples: np.ndarray,
    filler: int = 0,
    *,
    bits: int = 8,
    photometric: int,
    order: str = "<",
    rows: int = 0,
    palette: np.ndarray = PALETTE[:0],
    packbits: bool = False,
    orientation: int = 1,
) -> bytes:
    """A baseline TIFF: white or black is zero (0, 1), RGB (2) or indices (3), in strips of so many ``rows``."""
    height, width = samples.shape[:2]
    rows, depth = rows or height, samples.size // (height * width)
    lines = [packed(line, bits) for line in samples.reshape(height, 1, -1)]
    if packbits:
        lines = [_in_runs(line) for line in lines]
    strips = [b"".join(lines[y : y + rows]) for y in range(0, height, rows)]
    levels = np.pad(palette.T.astype(int) * 257, ((0, 0), (0, (1 << bits) - len(palette)))).ravel().tolist()

    def directory(offsets: list[int]) -> bytes:
        short, long, rational = 3, 4, 5
        fields = [
            (256, short, [width]),
            (257, short, [height]),
            (258, short, [bits] * depth),
            (259, short, [32773 if packbits else 1]),
            (262, short, [photometric]),
            (273, long, offsets),
            (274, short, [orientation]),
            (277, short, [depth]),
            (278, short, [rows]),
            (279, long, [len(strip) for strip in strips]),
            (282, rational, [72, 1]),
            (283, rational, [72, 1]),
            *([(320, short, levels)] if photometric == 3 else []),
        ]
        table, values = struct.pack(f"{order}H", len(fields)), b""
        for tag, kind, numbers in fields:
            content = struct.pack(f"{order}{len(numbers)}{'H' if kind == short else 'I'}", *numbers)
            if len(content) > 4:
                place = 8 + 2 + 12 * len(fields) + 4 + len(values)
                values += content + bytes(len(content) % 2)
                content = struct.pack(f"{order}I", place)
            count = len(numbers) // 2 if kind == rational else len(numbers)
            table += struct.pack(f"{order}HHI", tag, kind, count) + content.ljust(4, b"\0")
        return table + bytes(4) + values

    start = 8 + len(directory([0] * len(strips))) + filler
    offsets = list(itertools.accumulate(map(len, strips[:-1]), initial=start))
    header = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, 8)
    return header + directory(offsets) + bytes(filler) + b"".join(strips)


def _in_runs(line: bytes) -> bytes:
    """A line in PackBits: a byte that says how many follow as they are, or how often the next one stands."""
    runs = [(value, len(list(run))) for value, run in itertools.groupby(line)]
    return b"".join(bytes([257 - n, value]) if n > 1 else bytes([0, value]) for value, n in runs)
