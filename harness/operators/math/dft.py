"""DFT: the discrete Fourier transform along one axis, of real and of complex signals."""

from collections.abc import Iterator

import numpy as np

from harness.numbers.balls import constant
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, operator


def transform(x: np.ndarray, length: int, bins: int, sign: int) -> np.ndarray:
    """The first bins of the sums over ``n`` of ``e^(sign 2πi k n / length) x[…, n]``: [..., bins, 2].

    ``x`` is [..., n, 1] where it is real, [..., n, 2] where it is complex. What lies beyond ``length`` is cut off, and
    what lies beyond ``x`` is zero.

    Angle 0 is written as a whole turn, so that it counts as rounded: fast transforms reach it through others.
    """
    x = x[..., :length, :]
    steps = np.outer(np.arange(bins), np.arange(x.shape[-2]))
    angles = sign * np.where(steps, steps, length) * (2 * constant("pi")) / length
    cos, sin = np.cos(angles), np.sin(angles)
    parts = [x[..., np.newaxis, :, part] for part in range(x.shape[-1])]
    real, imaginary = (parts[0] * cos, parts[0] * sin)
    if len(parts) == 2:
        real, imaginary = real - parts[1] * sin, imaginary + parts[1] * cos
    return np.stack([real.sum(axis=-1), imaginary.sum(axis=-1)], axis=-1)


def mirrored(x: np.ndarray, length: int) -> np.ndarray:
    """The ``length`` bins of a real signal's spectrum from the first half of them: ``X[k] = X[length - k]*``."""
    half = np.zeros_like(x, shape=(*x.shape[:-2], length // 2 + 1, 2))
    given = x[..., : length // 2 + 1, :]
    half[..., : given.shape[-2], :] = given
    return np.concatenate([half, half[..., (length - 1) // 2 : 0 : -1, :] * np.array([1, -1])], axis=-2)


@operator("DFT", since=20, inverse=FLAG, onesided=FLAG)
def dft(
    input: np.ndarray,
    dft_length: np.ndarray | None = None,
    axis: np.ndarray | None = None,
    *,
    inverse: int,
    onesided: int,
) -> np.ndarray:
    """``y[k]`` sums ``e^(-2πj k n / N) x[n]``; the inverse ``x[n]`` sums ``e^(2πj k n / N) y[k] / N``."""
    along = -2 if axis is None else int(axis)
    x = np.moveaxis(input, along, -2)
    if dft_length is not None:
        length = int(dft_length)
    else:
        length = 2 * (x.shape[-2] - 1) if onesided and inverse else x.shape[-2]
    if onesided and inverse:
        y = transform(mirrored(x, length), length, length, 1)[..., :1]
    else:
        y = transform(x, length, length // 2 + 1 if onesided else length, 1 if inverse else -1)
    return np.moveaxis(y / length if inverse else y, -2, along)


@operator("DFT", since=17, inverse=FLAG, onesided=FLAG, axis=(OMITTED, 0, 1, 2, -2, -4))
def dft_17(
    input: np.ndarray, dft_length: np.ndarray | None = None, *, axis: int, inverse: int, onesided: int
) -> np.ndarray:
    """As later, the axis an attribute, which is 1 by default."""
    return dft.oracle(input, dft_length, np.asarray(axis), inverse=inverse, onesided=onesided)


@dft.inputs()
@dft_17.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Signals of 6 values (4 in bfloat16), all transformed; complex ones unless the transform is that of real ones."""
    yield {"input": _signals(draw, _usual(draw)), "dft_length": draw.T2(_usual(draw))}


@dft.inputs()
@dft_17.inputs()
def lengths(draw: Draw) -> Iterator[Inputs]:
    """Signals of 6 values (4 in bfloat16), cut off or padded with zeros: even, odd, 1, and multiples."""
    for length in (1, 2, 3, 4, 5, 7, 8, 9, 12)[: 6 if _usual(draw) == 4 else None]:
        yield {"input": _signals(draw, _usual(draw), length), "dft_length": draw.T2(length)}


@dft.inputs()
@dft_17.inputs()
def without_length(draw: Draw) -> Iterator[Inputs]:
    """The length of the signal, or from a one-sided spectrum twice its bins but the first and the last."""
    for length in (4, 6)[: 1 if _usual(draw) == 4 else None]:
        yield {"input": _signals(draw, length)}


@dft.inputs()
@dft_17.inputs()
def real_signals(draw: Draw) -> Iterator[Inputs]:
    """Real signals, transformed and transformed back, into all bins."""
    if draw.attributes["onesided"] != 1:
        yield {"input": _signals(draw, 5)[..., :1].copy(), "dft_length": draw.T2(5)}


@dft.inputs()
def axes(draw: Draw) -> Iterator[Inputs]:
    """Each axis but the last, counted from the front and from the back, with the length and without."""
    for axis in range(-4, 3):
        if axis != -1:
            x = _signals(draw, _usual(draw), along=axis)
            yield {"input": x, "axis": np.array(axis)}
            yield {"input": x, "axis": np.array(axis), "dft_length": draw.T2(_usual(draw))}


@dft.inputs()
@dft_17.inputs()
def simple_signals(draw: Draw) -> Iterator[Inputs]:
    """A constant, a single one, and one that alternates, which leave most bins empty."""
    for values in ((1, 1, 1, 1, 1, 1), (1, 0, 0, 0, 0, 0), (1, -1, 1, -1, 1, -1)):
        x = np.moveaxis(_signals(draw, _usual(draw)), _along(draw), -2)
        x[...] = 0
        x[..., 0] = draw.T1(values)[: x.shape[-2]]
        yield {"input": np.moveaxis(x, -2, _along(draw)).copy(), "dft_length": draw.T2(_usual(draw))}


@dft.inputs()
@dft_17.inputs()
def no_signals(draw: Draw) -> Iterator[Inputs]:
    """An empty axis beside that of the signals."""
    yield {"input": _signals(draw, 6, others=(0, 3)), "dft_length": draw.T2(6)}


@dft.inputs(T1="float")
def long_signals(draw: Draw) -> Iterator[Inputs]:
    """Lengths that are a power of two, a product of small primes, and a prime."""
    if draw.T1.element.name in ("float", "double"):
        for length in (32, 30, 31):
            yield {"input": _signals(draw, length, others=(2, 1)), "dft_length": draw.T2(length)}


def _signals(
    draw: Draw, length: int, used: int | None = None, *, others: tuple[int, ...] = (2, 3), along: int | None = None
) -> np.ndarray:
    """Signals of this length along the row's axis, or the one-sided spectra of real signals of ``used`` values."""
    onesided, inverse = (draw.attributes[name] == 1 for name in ("onesided", "inverse"))
    bins = length // 2 + 1 if onesided and inverse else length
    x = draw.T1.ordinary((*others, bins, 1 if onesided and not inverse else 2))
    if onesided and inverse:
        x[..., 0, 1] = 0
        end = length if used is None else used
        if end % 2 == 0:
            x[..., end // 2 : end // 2 + 1, 1] = 0
    return np.moveaxis(x, -2, _along(draw) if along is None else along).copy()


def _usual(draw: Draw) -> int:
    return 4 if draw.T1.element.name == "bfloat16" else 6


def _along(draw: Draw) -> int:
    """The row's axis: an attribute, 1 by default, before version 20."""
    axis = draw.attributes.get("axis", -2)
    return 1 if axis is OMITTED else axis
