"""NonZero: where the elements are that are not zero."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Sample, operator


def nonzero(X: np.ndarray) -> np.ndarray:
    """A column of indices for each element that is not zero, "in row-major order"; shape (0, N) for a scalar."""
    zero: Any = np.zeros_like(X, shape=()).item()
    found = [place for place in np.ndindex(X.shape) if X[place] != zero]
    return np.array(found, np.int64).reshape(len(found), X.ndim).T


nonzero_13 = operator("NonZero", since=13, exact=True)(nonzero)
nonzero_9 = operator("NonZero", since=9, exact=True)(nonzero)

SHAPE = (3, 2, 5)


def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Zeros among other elements of three axes; strings, none of which is empty."""
    elements = draw.T.ordinary(SHAPE)
    if draw.T.element.kind != "string":
        elements[draw.words(30).reshape(SHAPE) % np.uint64(2) == 0] = 0
    yield {"X": elements}


def all_or_nothing(draw: Draw) -> Iterator[Inputs]:
    """Zeros alone, no zero, one element that is none in each of the corners, a single zero."""
    yield {"X": draw.T(np.zeros(SHAPE))}
    yield {"X": draw.T(np.ones(SHAPE))}
    for place in ((0, 0, 0), (2, 1, 4)):
        for value in (0, 1):
            elements = draw.T(np.full(SHAPE, 1 - value))
            elements[place] = value
            yield {"X": elements}


def ranks(draw: Draw) -> Iterator[Inputs]:
    """One axis, two, five, some of length 1."""
    for shape in ((1,), (13,), (2, 7), (2, 1, 3, 1, 4)):
        yield {"X": draw.T.integers(0, 1, shape)}


def scalar(draw: Draw) -> Iterator[Inputs]:
    """A scalar that is not zero, and one that is: no rows, and one column or none."""
    yield {"X": draw.T(1)}
    yield {"X": draw.T(0)}


def empty(draw: Draw) -> Iterator[Inputs]:
    """No elements: as many rows as axes, without columns."""
    for shape in ((0,), (0, 3), (2, 0, 4)):
        yield {"X": draw.T.ordinary(shape)}


def special_values(draw: Draw) -> Iterator[Inputs]:
    """Zeros of both signs are zero; NaN, infinities and extremes are not, nor is what has zeros in its low bits."""
    specials = draw.T.specials()
    if draw.T.element.format:
        specials = specials[~((specials != 0) & (abs(specials) < 2.0**draw.T.element.format.emin))]
    yield {"X": np.resize(specials, SHAPE)}


def subnormal(draw: Draw) -> Iterator[Inputs]:
    """The smallest numbers are not zero."""
    form = draw.T.element.format
    assert form
    least, most = 2.0**form.smallest, 2.0**form.emin - 2.0**form.smallest
    yield {"X": draw.T(np.resize([0, least, -least, 0, most, -most, -0.0], SHAPE))}


def parts(draw: Draw) -> Iterator[Inputs]:
    """A complex number is zero if both of its parts are, of either sign."""
    values = [0, 1, 1j, -1j, complex(-0.0, -0.0), complex(0.0, -0.0), complex(np.nan, 0), complex(0, np.inf)]
    yield {"X": draw.T(np.resize(values, SHAPE))}


def words(draw: Draw) -> Iterator[Sample]:
    """Words; also the empty one."""
    yield Sample({"X": draw.T(np.resize(["a", "0", "two words", "ß", " ", "False", "日本語"], SHAPE))})
    unspecified = 'NonZero, "the elements that are non-zero", does not say what the zero of strings is.'
    yield Sample({"X": draw.T(np.resize(["a", "", "0", "", "b", "", ""], SHAPE))}, unspecified=unspecified)


for _op in (nonzero_13, nonzero_9):
    _op.inputs()(ordinary)
    _op.inputs(T=("int32", "double"))(scalar)
    _op.inputs(T=("int32", "double"))(empty)
    _op.inputs(T=("float", "signed", "unsigned"))(special_values)
nonzero_13.inputs(T=("bool", "int64"))(all_or_nothing)
nonzero_13.inputs(T="int64")(ranks)
nonzero_13.inputs(T="float")(subnormal)
nonzero_13.inputs(T="complex")(parts)
nonzero_13.inputs(T="string")(words)

nonzero_13.example(
    "test_nonzero_example", np.array([[1, 0], [1, 1]], bool), gives=np.array([[0, 1, 1], [0, 0, 1]], np.int64)
)
