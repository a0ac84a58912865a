"""LayerNormalization and RMSNormalization, and the standardization that other normalizations share with them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import where
from harness.oracles.broadcasting import Shape
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, TypeOf, operator

FLOAT16, BFLOAT16, FLOAT, DOUBLE = (f"tensor({name})" for name in ("float16", "bfloat16", "float", "double"))
EPSILON = (OMITTED, 0.1)
"""The second is no float32 number, and is seen in every type."""


def mean_of(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    """The mean along the axes, which have size 1 then."""
    zero: Any = constant("0")
    return x.sum(axis=axes, keepdims=True, initial=zero) / np.prod([x.shape[axis] for axis in axes], dtype=int)


def moments(x: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The mean along the axes and the variance of the population."""
    mean = mean_of(x, axes)
    deviation = x - mean
    return mean, mean_of(deviation * deviation, axes)


def moments_of_body(x: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The same where a function body has the variance as ``Sub(MeanOfSquare, SquareOfMean)``.

    Both are the spec's: the value is the same, and the bound is the larger one of the two formulas.
    """
    mean, variance = moments(x, axes)
    return mean, where(np.array(True), variance, mean_of(x * x, axes) - mean * mean)


def standardized(x: np.ndarray, axes: tuple[int, ...], epsilon: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stage one: ``Normalized``, ``Mean`` and ``InvStdDev``."""
    mean, variance = moments_of_body(x, axes)
    inverse = 1 / np.sqrt(variance + epsilon)
    return (x - mean) * inverse, mean, inverse


def _normalized_axes(x: np.ndarray, axis: int) -> tuple[int, ...]:
    """``[axis, ..., rank of X - 1]``."""
    return tuple(range(axis % x.ndim, x.ndim))


def with_specials(x: np.ndarray) -> Iterator[np.ndarray]:
    """An array with NaN at one place, and one with an infinity at another."""
    for place, special in ((5, np.nan), (10, np.inf)):
        spoilt = x.copy()
        spoilt.reshape(-1)[place % x.size] = special
        yield spoilt


AXES = (OMITTED, 0, 1, 2, -2, -3)


def _some_axes(axis: Any, epsilon: Any) -> bool:
    """Another epsilon with two of the axes: the size of a suite is limited."""
    return epsilon is OMITTED or axis in (OMITTED, 1)


@operator(
    "LayerNormalization",
    since=17,
    axis=AXES,
    epsilon=EPSILON,
    stash_type=(OMITTED, TypeOf("U")),
    constraints=[
        lambda U, stash_type: stash_type is not OMITTED or U == FLOAT,
        lambda U, stash_type, axis: stash_type is OMITTED or U != FLOAT or axis in (OMITTED, 1),
        _some_axes,
    ],
)
def layer_normalization(
    X: np.ndarray, Scale: np.ndarray, B: np.ndarray | None = None, *, axis: int, epsilon: Any, **_: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``Y = Normalized * Scale + B``; ``stash_type`` is the precision of ``Mean`` and ``InvStdDev``, and so of all.

    ``Scale`` and ``B`` are "unidirectional broadcastable to tensor X".
    """
    normalized, mean, inverse = standardized(X, _normalized_axes(X, axis), epsilon)
    scaled = normalized * Scale
    return scaled if B is None else scaled + B, mean, inverse


def rms_normalization(X: np.ndarray, scale: np.ndarray, *, axis: int, epsilon: Any, **_: int) -> np.ndarray:
    """``Y = X / Sqrt(ReduceMean(X * X) + epsilon) * Scale``."""
    return X / np.sqrt(mean_of(X * X, _normalized_axes(X, axis)) + epsilon) * scale


def stashed(name: str, since: int, oracle: Any, *constraints: Any, **attributes: Any) -> list[Operator]:
    """One meaning in several plans, by ``stash_type``: the precision of stage one, whose results become ``T`` again.

    So the narrower one of both counts, beside that of the output: ``T``, or ``stash_type`` where ``T`` has more bits.
    The first two plans, for float, try everything; the others only that the type is met.
    """

    def declared(working_type: str, *stash_types: Any, given: Sequence[Any]) -> Operator:
        constrained = operator(
            name,
            since=since,
            working_type=working_type,
            constraints=[*constraints, *given],
            stash_type=stash_types,
            **attributes,
        )
        return constrained(oracle)

    little = [lambda epsilon: epsilon is OMITTED, lambda axis: axis is OMITTED]
    return [
        declared("T", OMITTED, 1, given=[lambda T: T != DOUBLE]),
        declared("float", OMITTED, 1, given=[lambda T: T == DOUBLE]),
        declared("T", 11, given=little),
        declared("bfloat16", 16, given=little),
        declared("float16", 10, given=[*little, lambda T: T != BFLOAT16]),
    ]


def _alike(T: str, V: str, stash_type: Any) -> bool:
    """Another type of scale and output only where nothing else is unusual."""
    return T == V or stash_type is OMITTED


RMS = stashed(
    "RMSNormalization",
    23,
    rms_normalization,
    _some_axes,
    _alike,
    lambda T, V, axis: T == V or axis is OMITTED,
    lambda T, V, epsilon: T == V or epsilon is OMITTED,
    axis=AXES[:-1],
    epsilon=EPSILON,
)


def is_narrow(draw: Draw) -> bool:
    """Whether something is worked in 8 bits, in which no more than 4 elements are to be normalized together."""
    return BFLOAT16 in draw.types.values() or draw.attributes.get("stash_type") == 16


def uneven(draw: Draw, shape: Shape) -> np.ndarray:
    """Ordinary values; in 8 bits with signs that alternate along each axis, so that no variance is lost in rounding."""
    x = draw.T.ordinary(shape)
    signs = (-1.0) ** np.indices(shape).sum(axis=0)
    return draw.T(np.abs(x.astype(np.float64)) * signs) if is_narrow(draw) else x


def _axis(draw: Draw) -> int:
    return -1 if draw.attributes["axis"] is OMITTED else draw.attributes["axis"]


def _shape(draw: Draw) -> Shape:
    """Of three distinct sizes; in 8 bits of one or two."""
    if not is_narrow(draw):
        return (2, 3, 4)
    return {0: (1, 4, 1), 1: (3, 1, 4), 2: (2, 3, 4)}[_axis(draw) % 3]


def _within(draw: Draw, shape: Shape) -> Shape:
    """The sizes that are normalized."""
    return shape[_axis(draw) :]


def _place(draw: Draw) -> int:
    """Another number for each axis, epsilon and way to state the stash type."""
    row = draw.attributes
    return AXES.index(row["axis"]) + EPSILON.index(row["epsilon"]) + (row["stash_type"] is not OMITTED)


def _random_outputs(draw: Draw, x: np.ndarray, scale: Shape | None = None, bias: Shape | None = None) -> Sample:
    """The set of an input, with a scale and a bias of the sizes that are normalized or of others.

    Whether there is a bias, and which further outputs, depends on the row alone, so that all groups share its case.
    """
    within = _within(draw, x.shape)
    if "U" not in draw.types:
        return Sample({"X": x, "scale": draw.V.ordinary(within if scale is None else scale)})
    place = _place(draw)
    inputs = {"X": x, "Scale": draw.T.ordinary(within if scale is None else scale)}
    if bias is not None or place % 2 == 0:
        inputs["B"] = draw.T.ordinary(within if bias is None else bias)
    without = ((), ("Mean", "InvStdDev"), ("InvStdDev",), ("Mean", "InvStdDev"), ("Mean",), ())[place % 6]
    return Sample(inputs, without)


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Three distinct sizes, with each axis as the first that is normalized; a bias and further outputs in turn."""
    yield _random_outputs(draw, uneven(draw, _shape(draw)))


def ranks(draw: Draw) -> Iterator[Sample]:
    """Ranks 1, 2 and 4 that have the axis."""
    for shape in ((5,), (4, 3), (2, 4, 1, 3)):
        if -len(shape) <= _axis(draw) < len(shape):
            yield _random_outputs(draw, draw.T.ordinary(shape))


SCALES = ((), (1,), (4,), (1, 4), (3, 1), (3, 4), (2, 1, 1), (1, 3, 1), (2, 3, 4))
"""Every kind of shape that broadcasts to (2, 3, 4)."""


def scales(draw: Draw) -> Iterator[Sample]:
    """Scales, and biases of other shapes, that broadcast to X without having the sizes that are normalized."""
    for step in (0, 4):
        at = (_place(draw) + step) % len(SCALES)
        yield _random_outputs(draw, draw.T.ordinary((2, 3, 4)), SCALES[at], SCALES[at - 3])


def scales_within(draw: Draw) -> Iterator[Sample]:
    """A scale that broadcasts to the sizes that are normalized, as "broadcastable to the normalized shape"."""
    shape = (2, 3, 4)
    within = _within(draw, shape)
    narrower = ((), within[1:], (1,), (*[1] * (len(within) - 1), within[-1]), (within[0], *[1] * (len(within) - 1)))
    for step in (0, 2):
        yield _random_outputs(draw, draw.T.ordinary(shape), narrower[(_place(draw) + step) % len(narrower)])


def far_from_zero(draw: Draw) -> Iterator[Sample]:
    """A mean of 16 and a spread of 1: the difference of the mean of squares and the square of the mean still is one."""
    x = draw.T.ordinary(_shape(draw)).astype(np.float64)
    for centre in (16, -16):
        yield _random_outputs(draw, draw.T(centre + x / 4))


def all_equal(draw: Draw) -> Iterator[Sample]:
    """Nothing but equal elements, of variance 0: 0 scaled and shifted; zeros of both signs among them."""
    shape = _shape(draw)
    lines = np.resize(np.array([0, 0.5, -1, 2]), shape[: _axis(draw)] or (1,))
    x = np.broadcast_to(lines.reshape(lines.shape + (1,) * (3 - lines.ndim)), shape).copy()
    x.reshape(-1)[1] *= -1
    yield _random_outputs(draw, draw.T(x))


def nearly_zero(draw: Draw) -> Iterator[Sample]:
    """Elements so small that epsilon is most of what they are divided by."""
    yield _random_outputs(draw, draw.T(draw.T.ordinary(_shape(draw)).astype(np.float64) / 512))


def wide_squares(draw: Draw) -> Iterator[Sample]:
    """Elements whose squares float16 does not hold: they are computed in the type of ``stash_type``."""
    if draw.attributes["stash_type"] != 10:
        yield _random_outputs(draw, draw.T(512 * uneven(draw, _shape(draw)).astype(np.float64)))


def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, then infinity, at one place: what is normalized with them is NaN, all else is as without them."""
    yield from (_random_outputs(draw, x) for x in with_specials(uneven(draw, _shape(draw))))


def empty(draw: Draw) -> Iterator[Sample]:
    """Nothing to normalize: no elements, beside the axes that are normalized."""
    if _axis(draw) not in (0, -3):
        yield _random_outputs(draw, draw.T.ordinary((0, 3, 4)))


for _op in (layer_normalization, *RMS):
    _op.inputs()(ordinary)
layer_normalization.inputs()(special_values)
RMS[0].inputs(T=(FLOAT, FLOAT16))(special_values)
for _op in (layer_normalization, RMS[0]):
    _op.inputs(T=(FLOAT, FLOAT16))(nearly_zero)
    _op.inputs(T="float16")(wide_squares)
layer_normalization.inputs(T=(FLOAT, DOUBLE, FLOAT16), U=FLOAT)(all_equal)
layer_normalization.inputs(T=(FLOAT, DOUBLE), U=FLOAT)(far_from_zero)
layer_normalization.inputs(T=FLOAT, U=FLOAT)(scales)
RMS[0].inputs(T=FLOAT, V=FLOAT)(scales_within)
RMS[0].inputs(T=FLOAT, V=FLOAT)(all_equal)
layer_normalization.inputs(T=FLOAT, U=FLOAT)(ranks)
RMS[0].inputs(T=FLOAT, V=FLOAT)(ranks)
layer_normalization.inputs(T=FLOAT, U=FLOAT)(empty)
RMS[0].inputs(T=FLOAT, V=FLOAT)(empty)
