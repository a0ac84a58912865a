"""ImageDecoder: pictures known before they are encoded, and that nothing is left to the decoder where it is judged."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from PIL import UnidentifiedImageError, features

from harness.operators.image import catalogue
from harness.operators.image.catalogue import CHROMA, FLAT_CHROMA, MANY, WIDE_CHROMA, Codec, Y
from harness.operators.image.encoders import tiff
from harness.operators.image.jpegs import Block, Blocks, colours, doubled, levels, picture
from harness.operators.image.pictures import COLOUR, LEVELS, Picture, evenly
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, find
from harness.suite.build import build_plan
from harness.suite.planning import plan

CODECS = {name: getattr(catalogue, name) for name in ("BMP", "JPEG", "JPEG_2000", "TIFF", "PNG", "WEBP", "PNM")}


def decoded(stream: bytes, pixel_format: str = OMITTED) -> np.ndarray:
    one = find("ImageDecoder", 20)
    assert one
    types = {"T1": "tensor(uint8)", "T2": "tensor(uint8)"}
    given = {"encoded_stream": np.frombuffer(stream, np.uint8)}
    (found,) = expected(Call(one, one.schemas[0], types, given, {"pixel_format": pixel_format}))
    assert found.bound is None
    value = np.asarray(found.value)
    assert value.dtype == np.uint8
    return value


def pictures(codec: Codec) -> list[Picture]:
    return [codec.colour, codec.gray, *codec.others]


@pytest.mark.parametrize("name", CODECS)
def test_every_stream_gives_the_picture_it_was_made_of(name: str):
    every = pictures(CODECS[name])
    for streams in ([p.encode(0) for p in every], evenly(every)):
        for one, stream in zip(every, streams, strict=True):
            assert decoded(stream).tolist() == one.pixels.tolist()
            assert decoded(stream, "RGB").tolist() == one.pixels.tolist()
            assert decoded(stream, "BGR").tolist() == one.pixels[..., ::-1].tolist()
            if one.is_gray:
                assert decoded(stream, "Grayscale").tolist() == one.pixels[..., :1].tolist()


def test_bytes_by_hand():
    map_of_two = b"P6\n2 1\n255\n\x01\x02\x03\xfd\xfe\xff"
    assert decoded(map_of_two).tolist() == [[[1, 2, 3], [253, 254, 255]]]
    assert decoded(map_of_two, "BGR").tolist() == [[[3, 2, 1], [255, 254, 253]]]
    assert decoded(b"P2\n1 2\n255\n7\n200\n", "Grayscale").tolist() == [[[7]], [[200]]]
    assert decoded(b"P2\n1 2\n255\n7\n200\n").tolist() == [[[7, 7, 7]], [[200, 200, 200]]]
    assert decoded(b"P1\n3 1\n1 0 1\n", "Grayscale").tolist() == [[[0], [255], [0]]], "1 is black"
    bitmap = bytes.fromhex(
        "424d 3e000000 0000 0000 36000000 28000000 01000000 02000000 0100 1800 00000000 08000000"
        "00000000 00000000 00000000 00000000 0b1621 00 63584d 00"
    )
    assert decoded(bitmap).tolist() == [[[77, 88, 99]], [[33, 22, 11]]], "from the bottom up, blue first"


def test_no_two_places_hold_the_same():
    assert len(np.unique(COLOUR)) == COLOUR.size, "so that a picture which is turned or mixed up is another one"
    assert len(np.unique(LEVELS)) == LEVELS.size
    assert len({*COLOUR.shape}) == 3


def test_chroma_is_upsampled_by_the_text():
    assert doubled(np.array([[10, 12, 14]])).tolist() == [[10, 11, 11, 13, 13, 14]], "10.5 up, 11.5 down, 12.5 up …"
    assert doubled(np.array([[8, 4]])).tolist() == [[8, 7, 5, 4]]


def repeated(c: np.ndarray) -> np.ndarray:
    return np.repeat(c, 2, axis=1)


def rounded(turn: int, other: int) -> Callable[[np.ndarray], np.ndarray]:
    def double(c: np.ndarray) -> np.ndarray:
        a, b = np.pad(c, ((0, 0), (1, 0)), mode="edge")[:, :-1], np.pad(c, ((0, 0), (0, 1)), mode="edge")[:, 1:]
        return np.stack([(a + 3 * c + turn) // 4, (3 * c + b + other) // 4], axis=2).reshape(len(c), -1)

    return double


@pytest.mark.parametrize("mistake", [repeated, rounded(2, 2), rounded(1, 1), rounded(2, 1), rounded(0, 0)])
def test_another_upsampling_is_another_picture(mistake: Callable[[np.ndarray], np.ndarray]):
    y, blue, red = (levels(blocks) for blocks in ([MANY[0] + MANY[1][:1]], *WIDE_CHROMA))
    right = colours(y, doubled(blue), doubled(red))
    assert any(np.array_equal(p.pixels, right) for p in catalogue.JPEG.others)
    assert not np.array_equal(colours(y, mistake(blue), mistake(red)), right)


def chroma() -> list[tuple[np.ndarray, np.ndarray]]:
    """Cb and Cr of every pixel of every picture in colour."""
    blocks = [(levels([[blue]]), levels([[red]])) for blue, red in CHROMA]
    blue, red = map(levels, FLAT_CHROMA)
    assert not any(np.any((a[..., :-1] + 3 * a[..., 1:]) % 4) for a in (blue, red, blue.T, red.T)), "nothing to round"
    wide = doubled(levels(WIDE_CHROMA[0])), doubled(levels(WIDE_CHROMA[1]))
    return [*blocks, wide, (doubled(doubled(blue).T), doubled(doubled(red).T))]


def test_no_colour_is_near_a_tie():
    for blue, red in chroma():
        b, r = blue - 128.0, red - 128.0
        for value in (1.402 * r, 0.344136 * b + 0.714136 * r, 1.772 * b):
            assert np.abs(value - np.rint(value)).max() < 0.35, "a little arithmetic less exact gives the same level"


@pytest.mark.parametrize("block", [Y, MANY[0][2], CHROMA[0][0], (0, 0, 0, 0)])
def test_samples_are_whole_by_the_inverse_transform(block: Block):
    """T.81's A.3.3, term by term."""
    coefficients = np.zeros((8, 8))
    coefficients[0, 0], coefficients[0, 4], coefficients[4, 0], coefficients[4, 4] = 8 * np.array(block)
    scale = np.array([0.5**0.5, *[1.0] * 7])
    waves = scale[:, np.newaxis] * np.cos((2 * np.arange(8) + 1) * np.arange(8)[:, np.newaxis] * np.pi / 16)
    samples = waves.T @ coefficients @ waves / 4 + 128
    assert np.abs(samples - levels([[block]])).max() < 1e-9
    assert levels([[block]]).min() >= 0
    assert levels([[block]]).max() <= 255


def test_samples_of_other_blocks_would_show():
    def pixels(*blocks: Blocks) -> list[object]:
        one = picture(*blocks, size=(8, 8))
        assert decoded(one.encode(0)).tolist() == one.pixels.tolist()
        return one.pixels.tolist()

    turned = (Y[0], Y[2], Y[1], Y[3])
    assert pixels([[Y]]) != pixels([[turned]]), "rows and columns"
    assert pixels([[Y]]) != pixels([[(*Y[:3], Y[3] + 1)]]), "one level"


@pytest.mark.parametrize("stream", [b"", b"\0", b"GIF89a", b"P6\n2 2\n255\n\1\2\3", COLOUR.tobytes()])
def test_what_cannot_be_decoded_is_empty(stream: bytes):
    for pixel_format, channels in (("RGB", 3), ("BGR", 3), ("Grayscale", 1)):
        assert decoded(stream, pixel_format).shape == (0, 0, channels)


def test_a_pillow_that_lacks_a_codec_is_no_reason_for_an_empty_picture(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(features, "check", lambda name: name != "webp")
    assert decoded(catalogue.WEBP.colour.encode(0)).size == COLOUR.size
    with pytest.raises(UnidentifiedImageError):
        decoded(b"RIFF")


def test_strips_of_a_tiff_are_where_it_says():
    for order in "<>":
        stream = tiff(COLOUR, 40, photometric=2, order=order, rows=2)
        broken = stream.replace(COLOUR[2:4].tobytes(), bytes(42))
        assert (decoded(stream) - decoded(broken)).any(axis=(1, 2)).tolist() == [False, False, True, True, False]


def test_each_codec_is_judged_in_each_pixel_format():
    one = find("ImageDecoder", 20)
    assert one
    built = list(build_plan(one, one.schemas[0], plan(one, one.schemas[0])))
    assert len(built) <= 60
    judged: set[tuple[str, str]] = set()
    unspecified = Counter(s.group for b in built for s in b.case.data_sets if s.unspecified)
    assert unspecified == {"colour_as_gray": 2, "few_levels": 1, "transparent": 1, "turned": 1, "undecodable": 4}
    for case in (b.case for b in built):
        groups = {s.group for s in case.data_sets if not s.unspecified}
        assert len(groups) < 2, "a case is of one codec, for a runtime may lack another"
        judged |= {(group, case.labels.attributes["pixel_format"]) for group in groups}
    assert judged == {
        (f"{name.lower()}_files", pixel_format)
        for name in CODECS
        for pixel_format in ("omitted", "RGB", "BGR", "Grayscale")
    }
