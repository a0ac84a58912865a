"""Activations: functions of one element, bent or curved near zero and flat, straight or vanishing far from it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from harness.numbers.balls import constant, erf, unit
from harness.numbers.branches import less, less_equal, maximum, minimum, where
from harness.numbers.passes import current
from harness.numbers.rounding import format_of
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample, operator
from harness.oracles.sweep import sweep

LEGACY = (OMITTED, [0])
"""``consumed_inputs``, a "legacy optimization attribute" of version 1 that means nothing."""

FLOAT_BITS = 24


def float_literal(value: Any) -> Any:
    """A constant of the text that the function body writes as a float, where double data would see the difference.

    Both are the spec's, so the constant carries a float's last bit: in the bound, not in the expected value.
    """
    run = current()
    return value * unit(FLOAT_BITS) if run and run.spread else value


@operator("Sigmoid", since=(13, 6, 1), consumed_inputs=LEGACY)
def sigmoid(x: np.ndarray, /, **_: object) -> np.ndarray:
    """``1 / (1 + exp(-x))``."""
    return 1 / (1 + np.exp(-x))


@operator("Softplus", since=(22, 1))
def softplus(x: np.ndarray, /) -> np.ndarray:
    """``ln(exp(x) + 1)``."""
    return np.log(np.exp(x) + 1)


@operator("Softsign", since=(22, 1))
def softsign(x: np.ndarray, /) -> np.ndarray:
    """``x / (1 + |x|)``."""
    return x / (1 + np.abs(x))


@operator("Elu", since=(22, 6, 1), alpha=(OMITTED, 0.0, -0.5, 2.0), consumed_inputs=LEGACY)
def elu(x: np.ndarray, /, *, alpha: float, **_: object) -> np.ndarray:
    """``alpha * (exp(x) - 1)`` for ``x < 0``, ``x`` for ``x >= 0``."""
    return where(less(x, 0), alpha * (np.exp(x) - 1), x)


@operator("Selu", since=(22, 6, 1), alpha=(OMITTED, 0.0, 2.0), gamma=(OMITTED, -0.5, 2.0), consumed_inputs=LEGACY)
def selu(x: np.ndarray, /, *, alpha: float, gamma: float, **_: object) -> np.ndarray:
    """``gamma * (alpha * e^x - alpha)`` for ``x <= 0``, ``gamma * x`` for ``x > 0``."""
    return where(less_equal(x, 0), gamma * (alpha * np.exp(x) - alpha), gamma * x)


@operator("Celu", since=(28, 12), alpha=(OMITTED, 0.5, 2.5))
def celu(x: np.ndarray, /, *, alpha: float) -> np.ndarray:
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``."""
    return maximum(0, x) + minimum(0, alpha * (np.exp(x / alpha) - 1))


@operator("LeakyRelu", since=(16, 6, 1), alpha=(OMITTED, 0.0, -0.5, 0.1, 1.5), consumed_inputs=LEGACY)
def leaky_relu(x: np.ndarray, /, *, alpha: float, **_: object) -> np.ndarray:
    """``alpha * x`` for ``x < 0``, ``x`` for ``x >= 0``."""
    return where(less(x, 0), alpha * x, x)


@operator("Relu", since=(14, 13, 6, 1), exact=True, consumed_inputs=LEGACY)
def relu(x: np.ndarray, /, **_: object) -> np.ndarray:
    """``max(0, x)``."""
    return np.maximum(0, x)


@operator("ThresholdedRelu", since=(22, 10), exact=True, alpha=(OMITTED, 0.0, -0.75, 2.0))
def thresholded_relu(x: np.ndarray, /, *, alpha: float) -> np.ndarray:
    """``x`` for ``x > alpha``, 0 otherwise: also for NaN."""
    return np.where(x > alpha, x, 0)


@operator(
    "HardSigmoid",
    since=(22, 6, 1),
    alpha=(OMITTED, 0.0, -0.5, 3.0),
    beta=(OMITTED, -0.25, 0.75),
    consumed_inputs=LEGACY,
    constraints=[lambda alpha, beta: (alpha, beta) != (0.0, -0.25)],  # zero everywhere
)
def hard_sigmoid(x: np.ndarray, /, *, alpha: float, beta: float, **_: object) -> np.ndarray:
    """``max(0, min(1, alpha * x + beta))``."""
    return maximum(0, minimum(1, alpha * x + beta))


@operator("HardSwish", since=(22, 14))
def hard_swish(x: np.ndarray, /) -> np.ndarray:
    """``x * max(0, min(1, alpha * x + beta))``, where ``alpha = 1/6`` and ``beta = 0.5``."""
    return x * maximum(0, minimum(1, float_literal(constant("1") / 6) * x + constant("0.5")))


@operator("Mish", since=(22, 18))
def mish(x: np.ndarray, /) -> np.ndarray:
    """``x * tanh(ln(1 + e^x))``."""
    return x * np.tanh(np.log(1 + np.exp(x)))


@operator("Gelu", since=20, approximate=(OMITTED, "none", "tanh"))
def gelu(x: np.ndarray, /, *, approximate: str) -> np.ndarray:
    """``0.5 * x * (1 + erf(x / sqrt(2)))``, or the estimate by ``tanh(sqrt(2/pi) * (x + 0.044715 * x^3))``."""
    if approximate == "tanh":
        scale = np.sqrt(float_literal(2 / constant("pi")))
        return constant("0.5") * x * (1 + np.tanh(scale * (x + float_literal(constant("0.044715")) * x**3)))
    return constant("0.5") * x * (1 + erf(x / constant("2") ** 0.5))


def swish_of(x: np.ndarray, alpha: float) -> np.ndarray:
    """``x * sigmoid(alpha * x)``."""
    return x * (1 / (1 + np.exp(-(alpha * x))))


@operator("Swish", since=24, alpha=(OMITTED, 0.0, -1.5, 1.702))
def swish(x: np.ndarray, /, *, alpha: float) -> np.ndarray:
    """``x * sigmoid(alpha * x)``."""
    return swish_of(x, alpha)


@operator("SwiGLU", since=28, alpha=(OMITTED, 0.0, -1.5, 1.702))
def swiglu(a: np.ndarray, b: np.ndarray, /, *, alpha: float) -> np.ndarray:
    """``Swish_alpha(A) * B``."""
    return swish_of(a, alpha) * b


SHAPE = (2, 4, 13)
"""Of all but the shapes: 104 elements, so that each of the 11 special floats, and 2 more, meets each place of eight."""

REACH = {"float16": 9.0, "bfloat16": 80.0, "float": 80.0, "double": 700.0}
"""Where ``exp(±x)`` is still a normal number: further out an honest evaluation may overflow halfway."""

Attributes = Mapping[str, Any]


def value(attributes: Attributes, name: str, default: float) -> float:
    """The value of an attribute, or what it is when omitted."""
    given = attributes.get(name, OMITTED)
    return default if given is OMITTED else given


def tried(x: np.ndarray, draw: Draw, names: tuple[str, ...]) -> Inputs:
    """The inputs of a node: ``x`` and, for a second one, ordinary values."""
    return {names[0]: x} | {name: draw.T.ordinary(x.shape) for name in names[1:]}


def at_zero(_: Attributes) -> list[float]:
    """Most functions bend at zero, or cancel there."""
    return [0.0]


def whole_range(draw: Draw) -> float:
    """The largest finite value."""
    return draw.T.largest


def in_exp(draw: Draw) -> float:
    """The largest value that ``exp(alpha * x)`` is taken of: rounded, ``alpha * x`` has to be known to a few units."""
    whole = value(draw.attributes, "alpha", 1) in (0, 1)
    return draw.T.largest if whole else 2.0 ** (format_of(draw.T.element).precision - 2)


def undecided_at_nan(draw: Draw, x: np.ndarray) -> np.ndarray:
    """Where x is NaN, or zero times x is."""
    return ~np.isfinite(x) if value(draw.attributes, "alpha", 1) == 0 else np.isnan(x)


def nowhere(_: Draw, x: np.ndarray) -> np.ndarray:
    """Honest arithmetic is accurate everywhere."""
    return np.zeros(x.shape, bool)


def vanishing_sigmoid(draw: Draw, x: np.ndarray) -> np.ndarray:
    """Where 1 / (1 + exp(-alpha * x)), evaluated in the type itself, is subnormal or nothing, and its multiple not."""
    with np.errstate(invalid="ignore"):  # of alpha = 0 and infinities
        falling = -value(draw.attributes, "alpha", 1) * x / REACH[draw.T.element.name]
    return (falling > 1) & (falling < 3)


def swept(
    op: Operator,
    largest: Callable[[Draw], float],
    halfway: Callable[[Draw, np.ndarray], np.ndarray],
    *,
    open_at_nan: bool,
) -> None:
    """Gives an activation its sweep, of what ``try_out`` holds to have an accurate answer."""

    def decided(draw: Draw, x: np.ndarray) -> np.ndarray:
        overflowing = np.isfinite(x) & (np.abs(x) > largest(draw)) & (draw.T.element.kind == "float")
        lost = overflowing | halfway(draw, x)
        return ~(lost | undecided_at_nan(draw, x) if open_at_nan else lost)

    sweep(op, decided)


def try_out(
    op: Operator,
    *names: str,
    points: Callable[[Attributes], list[float]] = at_zero,
    largest: Callable[[Draw], float] = whole_range,
    halfway: Callable[[Draw, np.ndarray], np.ndarray] = nowhere,
    open_at_nan: str = "",
) -> None:
    """Gives an activation its groups.

    ``points`` are where its branches meet, ``largest`` is the largest magnitude that no honest evaluation makes
    overflow halfway, ``halfway`` tells of which values one may underflow so, ``open_at_nan`` says why its text does
    not tell what it is of NaN.
    """
    names = names or ("X",)

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Both signs, magnitudes from 1/4 to 4."""
        yield tried(draw.T.ordinary(SHAPE), draw, names)

    @op.inputs(T="float")
    def tails(draw: Draw) -> Iterator[Inputs]:
        """Both tails, from 4 to where exp leaves the normal numbers of the type."""
        end = REACH[draw.T.element.name] / max(1, abs(value(draw.attributes, "alpha", 1)))
        positive = np.geomspace(4, end, 52)
        yield tried(draw.T(np.stack([positive, -positive], axis=1).reshape(SHAPE)), draw, names)

    @op.inputs(T="float")
    def branch_points(draw: Draw) -> Iterator[Inputs]:
        """Where branches meet: exactly there, one unit in the last place beside it, and ever further away."""
        steps = 2.0 ** -np.linspace(0, format_of(draw.T.element).precision, 51)
        for point in points(draw.attributes):
            beside = max(abs(point), 1) * np.concatenate([[0.0], steps])
            yield tried(draw.T(np.concatenate([point + beside, point - beside]).reshape(SHAPE)), draw, names)
        zeros = np.copysign(0.0, np.resize([1, -1, -1], SHAPE))
        yield tried(draw.T(np.where(np.arange(13) % 2, zeros, draw.T.ordinary(SHAPE).astype(np.float64))), draw, names)

    @op.inputs(T="float")
    def special_values(draw: Draw) -> Iterator[Inputs | Sample]:
        """NaN, infinities, zeros of both signs, subnormal, smallest normal and largest numbers, at every place."""
        specials = np.array([*draw.T.specials().astype(np.float64), 1.5, -0.75])
        specials = np.where(np.abs(specials) == draw.T.largest, np.copysign(largest(draw), specials), specials)
        if open_at_nan:
            yield Sample(tried(draw.T(np.resize(specials, SHAPE)), draw, names), unspecified=open_at_nan)
            specials = np.where(undecided_at_nan(draw, specials), 1.0, specials)
        yield tried(draw.T(np.resize(specials, SHAPE)), draw, names)

    @op.inputs()
    def shapes(draw: Draw) -> Iterator[Inputs]:
        """0-D; of float also a vector of odd length, no elements, rank 4."""
        beside = np.array(np.mean(points(draw.attributes)) + 0.75)
        yield tried(draw.T(beside) if draw.T.element.format else draw.T.ordinary(()), draw, names)
        for shape in ((17,), (2, 0, 3), (3, 2, 1, 5)) if draw.T.element.name == "float" else ():
            yield tried(draw.T.ordinary(shape), draw, names)

    if len(names) == 1:
        swept(op, largest, halfway, open_at_nan=bool(open_at_nan))


def clip_points(attributes: Attributes) -> list[float]:
    """Where ``alpha * x + beta`` is 0 and 1."""
    alpha, beta = value(attributes, "alpha", 0.2), value(attributes, "beta", 0.5)
    return [-beta / alpha, (1 - beta) / alpha] if alpha else [0.0]


OPEN = (
    'the text, "{0}", does not say what max and min are of NaN: IEEE 754-2008 maxNum and minNum return '
    "the other operand, IEEE 754-2019 maximum and minimum return NaN."
)

try_out(sigmoid, halfway=vanishing_sigmoid)
try_out(softplus, largest=lambda draw: REACH[draw.T.element.name])
try_out(softsign, "input")
try_out(elu)
try_out(selu)
try_out(
    celu, largest=lambda draw: draw.T.largest / 4, open_at_nan=OPEN.format("max(0,x) + min(0,alpha*(exp(x/alpha)-1))")
)
try_out(leaky_relu)
try_out(relu, open_at_nan=OPEN.format("y = max(0, x)"))
try_out(thresholded_relu, points=lambda attributes: [value(attributes, "alpha", 1)])
try_out(hard_sigmoid, points=clip_points, open_at_nan=OPEN.format("y = max(0, min(1, alpha * x + beta))"))
try_out(hard_swish, points=lambda _: [-3.0, 3.0, 0.0], largest=lambda draw: draw.T.largest / 8)
try_out(mish, largest=lambda draw: min(draw.T.largest, 2.0**100))
try_out(gelu, largest=lambda draw: draw.T.largest / 4)
try_out(swish, largest=in_exp, halfway=vanishing_sigmoid)
try_out(swiglu, "A", "B", largest=in_exp)


@softplus.inputs(
    T="float",
    unspecified='"y = ln(exp(x) + 1)" is about x, but the function body of Softplus, Log(Exp(X) + 1), '
    "is worked in T, where Exp overflows.",
)
def overflowing_exp(draw: Draw) -> Iterator[Inputs]:
    """Values whose exp is beyond the largest finite number."""
    beyond = np.log(draw.T.largest) * np.geomspace(1.05, 100, 104)
    yield {"X": draw.T(beyond.reshape(SHAPE))}


@relu.inputs(T="signed")
def integer_extremes(draw: Draw) -> Iterator[Inputs]:
    """The extremes of the type and what lies beside zero."""
    yield {"X": np.resize(draw.T.specials(), SHAPE)}


@swiglu.inputs(T="float")
def special_factors(draw: Draw) -> Iterator[Inputs]:
    """NaN, infinities, zeros of both signs, subnormal and largest numbers in the linear input, at every place."""
    yield {"A": draw.T.ordinary(SHAPE), "B": np.resize(draw.T.specials(), SHAPE)}


def floats(*values: float) -> np.ndarray:
    """The examples are of floats."""
    return np.array(values, np.float32)


FROM_MINUS_ONE = floats(-1, 0, 1)
sigmoid.example("test_sigmoid_example", FROM_MINUS_ONE, gives=floats(0.26894143, 0.5, 0.7310586))
softsign.example("test_softsign_example", FROM_MINUS_ONE, gives=floats(-0.5, 0, 0.5))
elu.example("test_elu_example", FROM_MINUS_ONE, alpha=2.0, gives=floats(-1.2642411, 0, 1))
leaky_relu.example("test_leakyrelu_example", FROM_MINUS_ONE, alpha=0.1, gives=floats(-0.1, 0, 1))
thresholded_relu.example(
    "test_thresholdedrelu_example", floats(-1.5, 0, 1.2, 2, 2.2), alpha=2.0, gives=floats(0, 0, 0, 0, 2.2)
)
