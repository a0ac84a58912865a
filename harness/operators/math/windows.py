"""The cosine windows: BlackmanWindow, HammingWindow and HannWindow."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Operator, Sample, TypeOf, operator

WINDOWS: dict[str, tuple[Callable[[], tuple[Any, Any, Any]], dict[int, tuple[int, ...]]]] = {
    "HannWindow": (lambda: (constant("0.5"), constant("0.5"), 0), {1: (1, 2), 0: (2, 3)}),
    "HammingWindow": (lambda: (constant("25") / 46, constant("21") / 46, 0), {1: (1,), 0: (2,)}),
    "BlackmanWindow": (lambda: (constant("0.42"), constant("0.5"), constant("0.08")), {1: (1,), 0: (2,)}),
}
"""The coefficients of each, and by ``periodic`` the sizes whose values every conversion makes the same integers of."""

DIVIDES_BY_ZERO = (
    "The function body divides by the size less 1, which is 0 here, and no text says what the one value is."
)


def _window(coefficients: Callable[[], tuple[Any, Any, Any]]) -> Callable[..., np.ndarray]:
    def window(size: np.ndarray, *, periodic: int, **_: int) -> np.ndarray:
        """``a0 - a1 cos(2πn / N) + a2 cos(4πn / N)``, where ``N`` is the size, less 1 in a symmetric window."""
        a0, a1, a2 = coefficients()
        turns: Any = np.arange(int(size))
        angles = turns * (2 * constant("pi")) / (int(size) if periodic else int(size) - 1)
        return a0 - a1 * np.cos(angles) + a2 * np.cos(2 * angles)

    return window


def _states_its_type(T2: str, output_datatype: Any) -> bool:
    return output_datatype is not OMITTED or T2 == "tensor(float)"


def _declare(name: str) -> Operator:
    coefficients, whole = WINDOWS[name]
    declared: Operator = operator(
        name,
        since=17,
        working_type="float",  # as the functions' bodies work, and cast the end into T2
        periodic=FLAG,
        output_datatype=(OMITTED, TypeOf("T2")),
        constraints=(_states_its_type,),
    )(_window(coefficients))

    @declared.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """A window of 10; for integers one whose values are whole, or become 0 towards zero and to the nearest."""
        sizes = (10,) if draw.T2.element.format else whole[_periodic(draw)]
        for size in sizes:
            yield {"size": draw.T1(size)}

    declared.inputs(T2="float")(sizes)
    declared.inputs()(empty)
    declared.inputs(T2=("signed", "unsigned"), unspecified=f"{name}-17 does not say how values become integers.")(
        fractions
    )
    return declared


def sizes(draw: Draw) -> Iterator[Sample]:
    """Few values, odd sizes, and longer windows; a symmetric one of 1, for which the formula divides by 0."""
    yield Sample({"size": draw.T1(2)}) if _periodic(draw) else Sample({"size": draw.T1(1)}, unspecified=DIVIDES_BY_ZERO)
    for size in (3, 33, 64):
        yield Sample({"size": draw.T1(size)})


def empty(draw: Draw) -> Iterator[Inputs]:
    """A window of no values."""
    yield {"size": draw.T1(0)}


def fractions(draw: Draw) -> Iterator[Inputs]:
    """Windows of fractions whose type is an integer."""
    yield {"size": draw.T1(9)}


def _periodic(draw: Draw) -> int:
    given = draw.attributes["periodic"]
    return 1 if given is OMITTED else given


hann_window, hamming_window, blackman_window = map(_declare, WINDOWS)
