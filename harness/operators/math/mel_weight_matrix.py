"""MelWeightMatrix: the weights by which bins of a spectrum add up to bands of the mel scale."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb

from harness.numbers.branches import rint
from harness.numbers.passes import current
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, TypeOf, operator
from harness.spec.element_types import ElementType


def _states_its_type(T3: str, output_datatype: Any) -> bool:
    return output_datatype is not OMITTED or T3 == "tensor(float)"


@operator(
    "MelWeightMatrix",
    since=17,
    working_type="float",
    output_datatype=(OMITTED, TypeOf("T3")),
    constraints=(_states_its_type,),
)
def mel_weight_matrix(
    num_mel_bins: np.ndarray,
    dft_length: np.ndarray,
    sample_rate: np.ndarray,
    lower_edge_hertz: np.ndarray,
    upper_edge_hertz: np.ndarray,
    *,
    T3: ElementType,
    **_: int,
) -> np.ndarray:
    """0 for bins below the "lower bound on the frequencies to be included" and above the top edge, else 0 to 1.

    The text gives the mel scale, the edges of the lowest and the highest band and the triangles' "peak value of 1.0",
    but neither where the bands between lie nor how triangles meet the bins: a weight inside is anything up to the peak.
    Inputs put no bin on an edge.
    """
    bands, length, rate = int(num_mel_bins), int(dft_length), int(sample_rate)
    weights = np.zeros_like(np.asarray(lower_edge_hertz), shape=(length // 2 + 1, bands))
    for j in range(length // 2 + 1):
        if float(lower_edge_hertz) <= j * rate / length <= float(upper_edge_hertz):
            weights[j] = _up_to_one(lower_edge_hertz)
    return weights if T3.format else rint(weights)


def _up_to_one(like: np.ndarray) -> Any:
    """One half; as balls at the working precision with such a radius that 4 of them reach 0 and 1."""
    if like.dtype != object:
        return 0.5
    run = current()
    return arb(0.5, 0.125) if run and not run.exact and run.spread is None else arb(0.5)


@mel_weight_matrix.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Three bands over four of nine bins, which weigh 0 to 1; those beyond the lowest and the highest edge weigh 0."""
    yield _given(draw, 3, 16, 1600, 250, 640)


@mel_weight_matrix.inputs()
def lengths(draw: Draw) -> Iterator[Inputs]:
    """An odd ``dft_length``; no band, for a matrix without columns."""
    yield _given(draw, 2, 15, 1500, 488, 580)
    yield _given(draw, 0, 16, 1600, 110, 690)


@mel_weight_matrix.inputs()
def band_edges(draw: Draw) -> Iterator[Inputs]:
    """One bin of the spectrum between the edges: the next ones on both sides are outside, and weigh 0 in each band."""
    for bands in (1, 3):
        yield _given(draw, bands, 16, 1600, 210, 390)
        yield _given(draw, bands, 16, 1600, 520, 692)


@mel_weight_matrix.inputs(T3=("tensor(float)", "tensor(double)"))
def sizes(draw: Draw) -> Iterator[Inputs]:
    """40 bands over the middle of 129 bins."""
    yield _given(draw, 40, 256, 16000, 1010, 6010)


def _given(draw: Draw, bands: int, length: int, rate: int, lower: float, upper: float) -> Inputs:
    return {
        "num_mel_bins": draw.T1(bands),
        "dft_length": draw.T1(length),
        "sample_rate": draw.T1(rate),
        "lower_edge_hertz": draw.T2(lower),
        "upper_edge_hertz": draw.T2(upper),
    }
