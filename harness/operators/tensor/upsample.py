"""Upsample: Resize by scales of at least 1, which were attributes once."""

from collections.abc import Iterator

import numpy as np

from harness.operators.tensor.resize import floats_alone, moves, resample_plainly
from harness.operators.tensor.resize_inputs import IMAGES, PlainGroups, enlarge, some, steadily
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator


@operator("Upsample", since=9, exact=moves, constraints=[floats_alone], mode=(OMITTED, "nearest", "linear"))
def upsample(X: np.ndarray, scales: np.ndarray, *, mode: str) -> np.ndarray:
    """``output_dimension = floor(input_dimension * scale)``."""
    return resample_plainly(X, list(scales), mode)


@operator(
    "Upsample",
    since=7,
    exact=moves,
    constraints=[floats_alone],
    mode=(OMITTED, "nearest", "linear"),
    scales=([1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.5, 2.0], [2.0, 1.0, 3.0], [2.0, 3.0], [1.0, 1.0, 1.0, 1.0]),
)
def upsample_7(X: np.ndarray, *, mode: str, scales: list[float]) -> np.ndarray:
    """``output_dimension = floor(input_dimension * scale)``."""
    return resample_plainly(X, scales, mode)


@operator(
    "Upsample",
    since=1,
    exact=moves,
    constraints=[floats_alone],
    height_scale=(1.0, 2.0, 1.5),
    width_scale=(1.0, 3.0, 1.6),
    mode=(OMITTED, "nearest", "bilinear"),
)
def upsample_1(X: np.ndarray, *, height_scale: float, width_scale: float, mode: str) -> np.ndarray:
    """``output_width = floor(input_width * width_scale)``, and likewise the height, of images [N, C, H, W]."""
    plain = "linear" if mode == "bilinear" else mode
    return resample_plainly(X, [1, 1, height_scale, width_scale], plain)


PlainGroups("Upsample-9", least=1).register(upsample)


@upsample_7.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """As many axes as there are scales: the nearest elements repeat, linear averages of what is alike are it."""
    scales = draw.attributes["scales"]
    for x, unspecified in enlarge(some(draw, IMAGES[-len(scales) :]), scales, draw.attributes["mode"], "Upsample-7"):
        yield Sample({"X": x}, unspecified=unspecified)


@upsample_1.inputs()
def images(draw: Draw) -> Iterator[Sample]:
    """Images: the nearest elements repeat, linear averages of what is alike are it."""
    scales = (1, 1, draw.attributes["height_scale"], draw.attributes["width_scale"])
    for x, unspecified in enlarge(some(draw, IMAGES), scales, draw.attributes["mode"], "Upsample-1"):
        yield Sample({"X": x}, unspecified=unspecified)


@upsample_7.inputs(T=("float", "signed", "unsigned"))
@upsample_1.inputs(T=("float", "signed"))
def special_values(draw: Draw) -> Iterator[Sample]:
    """The type's special values, moved as they are by whole numbers; one value where places are open."""
    scales = draw.attributes.get("scales") or [1, 1, draw.attributes["height_scale"], draw.attributes["width_scale"]]
    plain = draw.attributes["mode"] in (OMITTED, "nearest") and all(scale == int(scale) for scale in scales)
    shape = IMAGES[-len(scales) :]
    yield Sample(
        {"X": np.resize(draw.T.specials(), shape) if plain else steadily(some(draw, shape), range(len(shape)))}
    )


upsample.example(
    "test_upsample_nearest",
    np.array([[[[1, 2], [3, 4]]]], np.float32),
    np.array([1, 1, 2, 3], np.float32),
    mode="nearest",
    gives=np.array([[[[1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4], [3, 3, 3, 4, 4, 4]]]], np.float32),
)
