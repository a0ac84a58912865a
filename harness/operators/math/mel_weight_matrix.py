"""MelWeightMatrix: the weights by which bins of a spectrum add up to bands of the mel scale."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import ceil, clip, floor, rint
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, TypeOf, operator

OPEN = (
    "MelWeightMatrix-17 gives the mel scale, the edges of the lowest and the highest band and the peaks, but neither"
    " where the bands between lie nor how their triangles meet the bins of the spectrum."
)


def _states_its_type(T3: str, output_datatype: Any) -> bool:
    return output_datatype is not OMITTED or T3 == "tensor(float)"


@operator("MelWeightMatrix", since=17, output_datatype=(OMITTED, TypeOf("T3")), constraints=(_states_its_type,))
def mel_weight_matrix(
    num_mel_bins: np.ndarray,
    dft_length: np.ndarray,
    sample_rate: np.ndarray,
    lower_edge_hertz: np.ndarray,
    upper_edge_hertz: np.ndarray,
    **_: int,
) -> np.ndarray:
    """Triangles between points that part the range of ``mel(f) = 2595 log10(1 + f/700)`` evenly, from edge to edge.

    Each point is moved to the nearest bin of the spectrum inside the edges, so that every triangle has a peak of 1.
    """
    bands, length, rate = int(num_mel_bins), int(dft_length), int(sample_rate)
    lower, upper = (2595 * np.log(1 + edge / 700) / _ln10() for edge in (lower_edge_hertz, upper_edge_hertz))
    mels = lower + np.arange(bands + 2) * (upper - lower) / (bands + 1)
    first_bin, last_bin = ceil(lower_edge_hertz * length / rate), floor(upper_edge_hertz * length / rate)
    points = clip(rint(700 * (np.exp(mels / 2595 * _ln10()) - 1) * length / rate), first_bin, last_bin)
    weights = np.zeros_like(points, shape=(length // 2 + 1, bands))
    for band in range(bands):
        left, centre, right = points[band : band + 3]
        first, peak, last = (int(float(point)) for point in (left, centre, right))
        for j in range(max(first, 0), min(last, length // 2) + 1):
            if j == peak:
                weights[j, band] = 1
            elif first < j < last:
                weights[j, band] = (j - left) / (centre - left) if j < peak else (right - j) / (right - centre)
    return weights


def _ln10() -> Any:
    return np.log(np.asarray(constant("10")))


@mel_weight_matrix.inputs()
def one_bin(draw: Draw) -> Iterator[Inputs]:
    """Three bands between whose edges there is one bin of the spectrum: all triangles have their peak of 1 there."""
    yield _given(draw, 3, 16, 1600, 290, 380)


@mel_weight_matrix.inputs()
def lengths(draw: Draw) -> Iterator[Inputs]:
    """The same of an odd ``dft_length``; of 1, with no other bin at all; and no band, for a matrix without columns."""
    yield _given(draw, 2, 15, 1500, 488, 580)
    yield _given(draw, 4, 1, 16000, 0, 4000)
    yield _given(draw, 0, 16, 1600, 100, 700)


@mel_weight_matrix.inputs()
def band_edges(draw: Draw) -> Iterator[Inputs]:
    """One band, and one bin of the spectrum between its edges: the next ones on both sides are outside of the band."""
    yield _given(draw, 1, 16, 1600, 210, 390)
    yield _given(draw, 1, 16, 1600, 520, 692)


@mel_weight_matrix.inputs(unspecified=OPEN)
def many_bands(draw: Draw) -> Iterator[Inputs]:
    """Bands over the whole spectrum and over a part of it, more and fewer than there are bins."""
    yield _given(draw, 8, 16, 8192, 0, 4096)


def _given(draw: Draw, bands: int, length: int, rate: int, lower: float, upper: float) -> Inputs:
    return {
        "num_mel_bins": draw.T1(bands),
        "dft_length": draw.T1(length),
        "sample_rate": draw.T1(rate),
        "lower_edge_hertz": draw.T2(lower),
        "upper_edge_hertz": draw.T2(upper),
    }
