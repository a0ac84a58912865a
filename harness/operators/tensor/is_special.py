"""IsInf and IsNaN: which elements are infinite, and which are not numbers."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from harness.numbers.rounding import format_of
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import FLAG, OMITTED, Inputs, operator

SHAPE: Final = (8, 33)
"""Room for the 256 values of a type of 8 bits."""


@operator(
    "IsInf",
    since=(20, 10),
    exact=True,
    # One flag without the other is tried in one type.
    constraints=[
        lambda T1, detect_negative, detect_positive: (
            (detect_negative == OMITTED) == (detect_positive == OMITTED) or T1 == "tensor(float)"
        )
    ],
    detect_negative=FLAG,
    detect_positive=FLAG,
)
def is_inf(X: np.ndarray, *, detect_negative: int, detect_positive: int) -> np.ndarray:
    """An infinity is true if its sign is to be detected; "other values" are false."""
    return (np.equal(X, np.inf) & bool(detect_positive)) | (np.equal(X, -np.inf) & bool(detect_negative))


@operator("IsNaN", since=(20, 13, 9), exact=True)
def is_nan(X: np.ndarray) -> np.ndarray:
    """Which elements are NaN, of either sign and with any payload."""
    return np.isnan(X)


def nans(values: Values) -> np.ndarray:
    """NaNs of both signs, quiet and signalling, with the least and the greatest payloads; the type has infinities."""
    quiet, sign = 1 << format_of(values.element).precision - 2, 1 << values.element.bits - 1
    bits = np.dtype(f"<u{values.element.bits // 8}")
    infinity = int(values(np.inf).view(bits))
    positive = [infinity + payload for payload in (1, quiet - 1, quiet, 2 * quiet - 1)]
    return np.array([*positive, *(sign + nan for nan in positive)], bits).view(values.element.dtype)


for op in (is_inf, is_nan):

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Ordinary values with the special ones among them: NaN, infinities, zeros, subnormals, the largest."""
        yield {"X": np.resize(np.concatenate([draw.T1.specials(), draw.T1.ordinary((7,))]), SHAPE)}

    @op.inputs()
    def every_nan(draw: Draw) -> Iterator[Inputs]:
        """NaNs of both signs, quiet and signalling, with the least and the greatest payloads, beside what is near.

        Of a type of 8 bits every value there is, by its bits.
        """
        if draw.T1.element.bits == 8:
            yield {"X": np.resize(draw.T1.all_values(), SHAPE)}
        else:
            near = draw.T1([np.inf, -np.inf, draw.T1.largest, draw.T1.lowest, 0.0])
            yield {"X": np.resize(np.concatenate([nans(draw.T1), near]), SHAPE)}

    @op.inputs(T1="double")
    def shapes(draw: Draw) -> Iterator[Inputs]:
        """Tensors of rank 0, 3 and 5, and without elements."""
        if draw.attributes.get("detect_negative", OMITTED) == OMITTED:
            for shape in ((), (2, 3, 4), (1, 2, 1, 3, 2), (0,), (3, 0, 2)):
                yield {"X": np.resize(draw.T1([np.inf, -np.inf, np.nan, 1.5]), shape)}


SIX = np.array([-1.2, np.nan, np.inf, 2.8, -np.inf, np.inf], np.float32)
NEGATIVE = np.array([-1.7, np.nan, np.inf, -3.6, -np.inf, np.inf], np.float32)
POSITIVE = np.array([-1.7, np.nan, np.inf, 3.6, -np.inf, np.inf], np.float32)

is_inf.example("test_isinf", SIX, gives=[False, False, True, False, True, True])
is_inf.example("test_isinf_negative", NEGATIVE, detect_positive=0, gives=[False, False, False, False, True, False])
is_inf.example("test_isinf_positive", POSITIVE, detect_negative=0, gives=[False, False, True, False, False, True])
is_nan.example("test_isnan", SIX, gives=[False, True, False, False, False, False])
