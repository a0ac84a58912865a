"""ImageDecoder: the pixels of a picture that a stream of bytes holds."""

from collections.abc import Iterator
from io import BytesIO
from typing import Final

import numpy as np
from PIL import Image, features

from harness.operators.image.catalogue import BMP, JPEG, JPEG_2000, PNG, PNM, TIFF, TRANSPARENT, WEBP, Codec
from harness.operators.image.encoders import png, pnm, tiff
from harness.operators.image.pictures import CHOICE, COLOUR, evenly
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, operator

FORMATS: Final = ("BMP", "JPEG", "JPEG2000", "TIFF", "PNG", "WEBP", "PPM")
"""Pillow's names of those that the text lists; PPM is every portable map."""
LIBRARIES: Final = ("jpg", "jpg_2000", "libtiff", "webp", "zlib")
"""What Pillow must have been built with to decode them."""

WEIGHTS: Final = (
    'ImageDecoder-20, pixel_format: "Can be one of "RGB", "BGR", or "Grayscale"". What gray a colour becomes, by which '
    "weights and roundings, is not said."
)
ALPHA: Final = (
    'ImageDecoder-20, pixel_format: "Can be one of "RGB", "BGR", or "Grayscale"". Whether pixels that are not opaque '
    "keep their colours, or are laid over some other, is not said."
)
TURNED: Final = (
    'ImageDecoder-20: "(Height, Width, Channels)". Whether these are those of the picture as it is stored or as it is '
    "to be shown, where a file tells the two apart, is not said."
)
SCALE: Final = (
    'ImageDecoder-20: "Portable image format (PBM, PGM, PPM, PXM, PNM)". Whether grays of which 15 is white are made '
    "such of which 255 is, is not said."
)
EMPTY: Final = (
    "ImageDecoder-20: \"If it can't decode for any reason (e.g. corrupted encoded stream, invalid format, it will "
    'return an empty matrix)". Which of its sizes are 0 and what the others are is not said.'
)


@operator("ImageDecoder", since=20, exact=True, pixel_format=(OMITTED, "RGB", "BGR", "Grayscale"))
def image_decoder(encoded_stream: np.ndarray, *, pixel_format: str) -> np.ndarray:
    """``(Height, Width, Channels)``: three channels for RGB and BGR, one for Grayscale, whatever the stream has.

    A gray is red, green and blue alike, and these are its gray whatever weights they are given: what JFIF's equations
    make of Y alone, and why PNG may merge equal channels into one ("RGB merging").
    """
    try:
        with Image.open(BytesIO(bytes(encoded_stream.tolist())), formats=FORMATS) as picture:
            pixels = np.array(picture.convert("L" if pixel_format == "Grayscale" else "RGB"))
    except Exception:  # "If it can't decode for any reason": Pillow raises whatever its plugins do
        if not all(map(features.check, LIBRARIES)):
            raise
        return np.zeros((0, 0, 1 if pixel_format == "Grayscale" else 3))
    if pixel_format == "Grayscale":
        return pixels[:, :, np.newaxis]
    return pixels[:, :, ::-1] if pixel_format == "BGR" else pixels


def streams(draw: Draw, codec: Codec) -> Iterator[Inputs]:
    """The pictures of a codec that have a decided answer in the pixel format."""
    match draw.attributes["pixel_format"]:
        case "Grayscale":
            plain, more = codec.gray, [other for other in codec.others if other.is_gray]
        case "RGB" | "BGR":
            plain, more = codec.colour, [codec.gray, *codec.others]
        case _:
            plain, more = codec.colour, []
    for stream in (plain.encode(0), *evenly(more)):
        yield of(stream)


def of(stream: bytes) -> Inputs:
    """The input that is these bytes."""
    return {"encoded_stream": np.frombuffer(stream, np.uint8)}


@image_decoder.inputs()
def bmp_files(draw: Draw) -> Iterator[Inputs]:
    """BMP of 24 bits, upwards and downwards, and of 8, 4 and 1 bits with a palette."""
    yield from streams(draw, BMP)


@image_decoder.inputs()
def jpeg_files(draw: Draw) -> Iterator[Inputs]:
    """Baseline JPEG whose every sample is a whole number by T.81's inverse transform, so that nothing is left to taste.

    Of one component or three, cut from blocks, with restarts; the chroma whole, at half the columns ("B0 =
    round_half_down((1/4) * A + (3/4) * B)", halves among them), and at half the rows and columns, where nothing is
    rounded, as the text has no order for the two. Colours are at least .15 from where JFIF's equations are rounded to
    another level.
    """
    yield from streams(draw, JPEG)


@image_decoder.inputs()
def jpeg_2000_files(draw: Draw) -> Iterator[Inputs]:
    """JPEG 2000 by the reversible transforms, its components mixed or not, in JP2 files."""
    yield from streams(draw, JPEG_2000)


@image_decoder.inputs()
def tiff_files(draw: Draw) -> Iterator[Inputs]:
    """Baseline TIFF of either byte order: RGB, grays and bits of which 0 is black or white, palettes, PackBits."""
    yield from streams(draw, TIFF)


@image_decoder.inputs()
def png_files(draw: Draw) -> Iterator[Inputs]:
    """PNG of RGB, opaque RGBA, palettes, grays of 8, 4 and 1 bits; with every filter, and interlaced."""
    yield from streams(draw, PNG)


@image_decoder.inputs()
def webp_files(draw: Draw) -> Iterator[Inputs]:
    """WebP without loss."""
    yield from streams(draw, WEBP)


@image_decoder.inputs()
def pnm_files(draw: Draw) -> Iterator[Inputs]:
    """Portable maps of bits (of which 1 is black), grays and colours, in digits and in binary."""
    yield from streams(draw, PNM)


@image_decoder.inputs(unspecified=WEIGHTS)
def colour_as_gray(draw: Draw) -> Iterator[Inputs]:
    """Colours where grays are asked for, in PNG and in JPEG, which has a luma of its own."""
    if draw.attributes["pixel_format"] == "Grayscale":
        yield of(PNG.colour.encode(0))
        yield of(JPEG.colour.encode(0))


@image_decoder.inputs(unspecified=SCALE)
def few_levels(draw: Draw) -> Iterator[Inputs]:
    """A PGM of 16 levels."""
    if draw.attributes["pixel_format"] == "Grayscale":
        yield of(pnm(5, CHOICE, largest=15))


@image_decoder.inputs(unspecified=ALPHA)
def transparent(draw: Draw) -> Iterator[Inputs]:
    """A PNG of pixels that are not opaque."""
    if draw.attributes["pixel_format"] == "RGB":
        yield of(png(TRANSPARENT, colours=6))


@image_decoder.inputs(unspecified=TURNED)
def turned(draw: Draw) -> Iterator[Inputs]:
    """A TIFF whose first row is to be shown as the right side."""
    if draw.attributes["pixel_format"] == "RGB":
        yield of(tiff(COLOUR, photometric=2, orientation=6))


@image_decoder.inputs(unspecified=EMPTY)
def undecodable(draw: Draw) -> Iterator[Inputs]:
    """No bytes, bytes of no format, a stream that ends too early and one with a broken header."""
    if draw.attributes["pixel_format"] == "RGB":
        whole = PNG.colour.encode(0)
        for stream in (b"", bytes(range(100)), whole[:100], whole[:16] + bytes(8) + whole[24:100]):
            yield of(stream)
