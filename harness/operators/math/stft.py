"""STFT: the discrete Fourier transforms of windowed frames that slide over a signal."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.operators.math.dft import transform
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, Inputs, operator


@operator("STFT", since=17, onesided=FLAG)
def stft(
    signal: np.ndarray,
    frame_step: np.ndarray,
    window: np.ndarray | None = None,
    frame_length: np.ndarray | None = None,
    *,
    onesided: int,
) -> Any:
    """The transform of each frame of ``frame_length`` values, one every ``frame_step``, times the window."""
    whole = signal.shape[1] if window is None else len(window)
    length = whole if frame_length is None else int(frame_length)
    frames = (signal.shape[1] - length) // int(frame_step) + 1
    bins = length // 2 + 1 if onesided else length
    windows = [signal[:, f * int(frame_step) :][:, :length] for f in range(frames)]
    weighted = [x if window is None else x * window[:, np.newaxis] for x in windows]
    return np.stack([transform(x, length, bins, -1) for x in weighted], axis=1)


@stft.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Frames of 6 values (4 in bfloat16), windowed, one every 4; complex signals if it is not one-sided."""
    yield _given(draw) | {"window": _window(draw, _frame(draw)), "frame_length": draw.T2(_frame(draw))}


@stft.inputs()
def real_signals(draw: Draw) -> Iterator[Inputs]:
    """Real signals in all bins, with a window and without."""
    if draw.attributes["onesided"] == 0:
        given = _given(draw)
        given = given | {"signal": given["signal"][..., :1].copy(), "frame_length": draw.T2(_frame(draw))}
        yield given | {"window": _window(draw, _frame(draw))}
        yield given


@stft.inputs()
def left_out(draw: Draw) -> Iterator[Inputs]:
    """No window, which is one of ones; no length, which is the window's; neither: a single frame of all the signal."""
    yield _given(draw) | {"frame_length": draw.T2(_frame(draw))}
    yield _given(draw) | {"window": _window(draw, _frame(draw))}
    yield _given(draw, length=_frame(draw) + 1)


@stft.inputs()
def steps_and_lengths(draw: Draw) -> Iterator[Inputs]:
    """Frames that overlap in all but one value, that touch, that leave gaps; an odd length, 1, and the whole signal."""
    for step in (1, 2, 5, 6, 8, 20):
        yield _given(draw, step) | {"window": _window(draw, _frame(draw)), "frame_length": draw.T2(_frame(draw))}
    for length in (5, 1, 16)[: 2 if _frame(draw) == 4 else None]:
        yield _given(draw) | {"frame_length": draw.T2(length)}


@stft.inputs()
def simple_windows(draw: Draw) -> Iterator[Inputs]:
    """Windows of ones, and of a single one at the start and later."""
    for window in ((1, 1, 1, 1, 1, 1), (1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)):
        yield _given(draw) | {"window": draw.T1(window[: _frame(draw)]), "frame_length": draw.T2(_frame(draw))}


def _given(draw: Draw, step: int = 4, length: int = 16) -> dict[str, np.ndarray]:
    return {
        "signal": draw.T1.ordinary((2, length, 2 if draw.attributes["onesided"] == 0 else 1)),
        "frame_step": draw.T2(step),
    }


def _frame(draw: Draw) -> int:
    return 4 if draw.T1.element.name == "bfloat16" else 6


def _window(draw: Draw, length: int) -> np.ndarray:
    return draw.T1.near(1, (length,))
