"""Runs one oracle text in both number systems: once over doubles, and over balls until its values are known."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from flint import arb

from harness.errors import ConformanceError
from harness.numbers.balls import ball, exact, rough, spread
from harness.numbers.enclosing import enclosed, enclosed_integers, snapped
from harness.numbers.passes import SCALE, Pass, running
from harness.spec.element_types import ElementType, element_type

Oracle: TypeAlias = Callable[..., Any]
"""Takes arrays by position and attributes by name, returns an array or a tuple of arrays."""

FIRST, CAP = 96, 2048
"""Bits of the first exact evaluation, and of the last: what is not proved by then sits on a tie."""
_SPARE = SCALE + 36
"""Bits of the s pass beyond the working precision: its scale, and enough to make its own roundings vanish."""


class OracleMismatch(ConformanceError):
    """An oracle returned other outputs than asked for, or other shapes over balls than over doubles."""

    advice = "Let the number and the shapes of its results depend on shapes and attributes only."


class Undecided(ConformanceError):
    """The exact evaluation never came to know a value well enough to round it."""

    advice = (
        "A hidden zero met a singularity or a jump there (sqrt, a quotient, floor): "
        "draw inputs that avoid it, or state the formula without it."
    )


class Part(NamedTuple):
    """A real output, or the real or imaginary part of a complex one, flattened."""

    balls: list[arb]
    values: np.ndarray
    """The balls rounded: float64, or an object array of ints for an integer type."""
    known: np.ndarray
    """False where the balls are no numbers."""


class Doubles(NamedTuple):
    """The float64 evaluation."""

    inputs: list[Any]
    outputs: list[Any]
    infinite: bool
    """Whether an input is not finite."""
    special: bool
    """Whether an input is not finite, or NumPy met an overflow, an invalid operation or a division by zero."""


class Evaluation(NamedTuple):
    """An oracle with what it is asked, over balls; made by ``prepare``."""

    oracle: Oracle
    balls: list[Any]
    """The inputs, the real ones as exact balls."""
    precisions: list[int]
    """As ``precision_of`` each input."""
    attributes: Mapping[str, Any]
    out: Sequence[ElementType]


def prepare(
    oracle: Oracle, inputs: Sequence[Any], doubles: Doubles, attributes: Mapping[str, Any], out: Sequence[ElementType]
) -> Evaluation:
    """The task of evaluating ``oracle``, which has been evaluated over doubles, for outputs of the types ``out``."""
    precisions = [precision_of(x) for x in inputs]
    balls = [_frozen(exact(x)) if bits else x for x, bits in zip(doubles.inputs, precisions, strict=True)]
    return Evaluation(oracle, balls, precisions, attributes, out)


def precision_of(x: Any) -> int:
    """The bits of the elements of a float or complex input; 0 for one that every number system takes as it is."""
    form = element_type(x.dtype).format if isinstance(x, np.ndarray) and x.dtype != object else None
    return form.precision if form else 0


def over_doubles(
    oracle: Oracle, inputs: Sequence[Any], attributes: Mapping[str, Any], out: Sequence[ElementType]
) -> Doubles:
    """The oracle over float64 and complex128, by IEEE 754. Raises OracleMismatch."""
    real = [bool(precision_of(x)) for x in inputs]
    flags: list[str] = []
    with np.errstate(all="ignore"):  # widening a signalling NaN is an invalid operation
        wide = [
            _frozen(x.astype(_WIDE.get(x.dtype.kind, np.float64))) if r else x
            for x, r in zip(inputs, real, strict=True)
        ]
    infinite = any(r and not np.isfinite(x).all() for x, r in zip(wide, real, strict=True))
    with np.errstate(all="call", under="ignore", call=lambda kind, _: flags.append(kind)):
        outputs = _call(oracle, wide, floats(attributes, float), len(out))
    return Doubles(wide, outputs, infinite, infinite or bool(flags))


_WIDE = {"c": np.complex128}


def over_balls(evaluation: Evaluation, *, special: bool) -> tuple[Pass, list[Any], list[list[Part]]]:
    """The oracle over exact balls: its decisions, its outputs, and the parts of each (none where nothing is rounded).

    The precision doubles until every ball is proved to round to one value or, where that is
    ``special``, is no number; at the cap the rest is snapped to the tie. Raises Undecided.
    """
    out, literals, bits = evaluation.out, floats(evaluation.attributes, arb), FIRST
    while True:
        run = Pass()
        with running(run, bits):
            outputs = _call(evaluation.oracle, evaluation.balls, literals, len(out))
            parts = [[_rounded(balls, of) for balls in _split(x, of)] for x, of in zip(outputs, out, strict=True)]
        pending = [
            (part, of, i)
            for of, its in zip(out, parts, strict=True)
            for part in its
            for i in np.flatnonzero(~part.known).tolist()
            if not special or part.balls[i].is_finite()
        ]
        if bits == CAP or not (pending or run.unsure):
            break
        bits = min(2 * bits, CAP)
    for part, of, i in pending:
        value = snapped(part.balls[i], of)
        if value is None:
            known = part.balls[i].str(10)
            raise Undecided(f"Element {i} of a {of.name} output is only known as {known} at {bits} bits.")
        part.values[i], part.known[i] = value, True
    return run, outputs, parts


def replayed(evaluation: Evaluation, run: Pass) -> list[list[Part]]:
    """The parts of each output by the decisions of another pass: what near-ties that fall otherwise lead to."""
    with running(run, FIRST):
        outputs = _call(evaluation.oracle, evaluation.balls, floats(evaluation.attributes, arb), len(evaluation.out))
        return [[_rounded(balls, of) for balls in _split(x, of)] for x, of in zip(outputs, evaluation.out, strict=True)]


def working_precision_balls(evaluation: Evaluation, bits: int, run: Pass) -> tuple[Pass, list[list[list[arb]]]]:
    """The parts of each output at the working precision: the radii are the roundings of the oracle's formula."""
    rough = Pass(run)
    with running(rough, bits):
        # A ball holds an input exactly: one of more bits than the working precision is rounded on entry.
        held = [
            _frozen(+b) if own > bits else b for b, own in zip(evaluation.balls, evaluation.precisions, strict=True)
        ]
        outputs = _call(evaluation.oracle, held, floats(evaluation.attributes, arb), len(evaluation.out))
        return rough, [_split(x, of) for x, of in zip(outputs, evaluation.out, strict=True)]


def perturbed_balls(evaluation: Evaluation, bits: int, run: Pass) -> list[list[list[arb]]]:
    """The parts of each output where every input carries its own last bit; the radii are scaled by 2^-60."""
    with running(Pass(run, spread=bits), bits + _SPARE):
        loose = [
            _frozen(spread(b, bits)) if own else b
            for b, own in zip(evaluation.balls, evaluation.precisions, strict=True)
        ]
        outputs = _call(
            evaluation.oracle, loose, floats(evaluation.attributes, lambda v: rough(arb(v), bits)), len(evaluation.out)
        )
        return [_split(x, of) for x, of in zip(outputs, evaluation.out, strict=True)]


def _call(oracle: Oracle, inputs: Sequence[Any], attributes: Mapping[str, Any], count: int) -> list[Any]:
    returned = oracle(*inputs, **attributes)
    outputs = list(returned) if isinstance(returned, tuple) else [returned]
    if len(outputs) != count:
        raise OracleMismatch(f"{count} outputs are wanted, the oracle returns {len(outputs)}.")
    return outputs


def _split(output: Any, of: ElementType) -> list[list[arb]]:
    """The balls of an output: one list, two for a complex type, none where nothing of it is rounded."""
    array = np.asarray(output)
    if of.format is None and (array.dtype != object or of.kind not in ("signed", "unsigned")):
        return []
    balls = [v if type(v) is arb else ball(v) for v in (array if array.dtype == object else exact(array)).ravel()]
    if of.kind == "complex":
        return [[v.real for v in balls], [v.imag for v in balls]]
    return [balls]  # pyright: ignore[reportReturnType]  a complex ball in a real output fails in float()


def _rounded(balls: list[arb], to: ElementType) -> Part:
    return Part(balls, *(enclosed(balls, to) if to.format else enclosed_integers(balls)))


def _frozen(array: Any) -> np.ndarray:
    array = np.asarray(array)
    array.flags.writeable = False
    return array


def floats(attributes: Mapping[str, Any], of: Callable[[float], Any]) -> dict[str, Any]:
    """The attributes, with floats as the float32 values that FLOAT attributes are, in the number system ``of``."""

    def read(value: Any) -> Any:
        if isinstance(value, float):
            return of(float(np.float32(value)))
        return [read(v) for v in value] if isinstance(value, list) else value

    return {name: read(value) for name, value in attributes.items()}
