"""The judgement of an oracle: the correctly rounded answer, and how far from it an honest one may lie."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from flint import arb

from harness.numbers.evaluating import (
    Oracle,
    OracleMismatch,
    Part,
    over_balls,
    over_doubles,
    perturbed_balls,
    precision_of,
    prepare,
    replayed,
    working_precision_balls,
)
from harness.numbers.passes import SCALE, precision
from harness.numbers.rounding import format_of, round_array, to_storage, ulp
from harness.spec.element_types import ElementType, element_type

PASS_AT = 4
"""How many bounds an answer may be off."""
INSENSITIVE = 16
"""An element whose bound exceeds this part of the largest expected magnitude cannot fail for any good reason."""
_UP = 1 + 2.0**-50
"""More than the roundings of adding a bound up."""


class Expected(msgspec.Struct, frozen=True, eq=False):
    """What an oracle says of one output: the answer, and what else is accepted.

    Elementwise ``|got - values| <= 4 bound`` where there is a bound; else ``values`` or what one of
    ``alternatives`` has there.
    """

    values: np.ndarray
    """Of ``dtype`` of the element type; an object array of Python ints for an integer type, not yet wrapped."""
    bound: np.ndarray | None = None
    """float64, of the shape of ``values``; for complex elements of the modulus. None where nothing rounds."""
    alternatives: tuple[np.ndarray, ...] = ()
    """Further answers, as ``values``: what near-ties may be rounded to instead."""


def evaluate(
    oracle: Oracle,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    out: Sequence[ElementType],
    working: ElementType | None = None,
) -> list[Expected]:
    """The correctly rounded outputs of a real-valued oracle, with their bounds r + s + ulp/2 + tiny.

    Float and complex ``inputs`` reach the oracle as float64 or complex128 and as balls, read-only;
    everything else as it is. Attributes that are Python floats, or lists of them, count as float32.
    r and s are measured in the precision of ``working``, or of the narrowest float type of ``out`` that is
    computed in, whichever has fewer bits; without either in that of the narrowest input.

    Balls settle what real arithmetic can. The float64 evaluation settles the rest: elements whose
    balls are no numbers, non-finite results of non-finite inputs, and the sign of exact zeros.
    Where it is finite there, the bound is one ulp. With finite inputs a finite ball wins over an
    intermediate overflow of float64. The bound is infinite where r is; an infinite s is left out.

    Outputs of types that an oracle rounds into itself (``is_rounded_by_oracle``) have no bound: where an honest
    evaluation may round a near-tie otherwise, the further answers are in ``alternatives``. Integers that may be more
    than 1 off, since they have more digits than the working precision, have a bound instead.

    Expected infinities and NaN have bound 0, except an infinity within 4 bounds of the overflow
    threshold: there the bound stays, so that a comparison that takes ±inf as ±2^(emax + 1) accepts
    both it and the largest finite value.

    Raises Undecided, OracleMismatch, BranchesDiffer, Unrepresentable, and TypeError without a working precision.
    """
    bits = max(format_of(_narrowest(inputs, out, working)).precision, 2)  # balls have no fewer
    doubles = over_doubles(oracle, inputs, attributes, out)
    evaluation = prepare(oracle, inputs, doubles, attributes, out)
    run, outputs, parts = over_balls(evaluation, special=doubles.special)
    rough_run, r = working_precision_balls(evaluation, bits, run)
    variants = (
        [replayed(evaluation, variant) for variant in rough_run.variants()]
        if any(map(is_rounded_by_oracle, out))
        else []
    )
    s = perturbed_balls(evaluation, bits, run) if not all(map(is_rounded_by_oracle, out)) else r

    expected: list[Expected] = []
    for i, to in enumerate(out):
        if not parts[i]:
            expected.append(Expected(to_storage(outputs[i], to)))
            continue
        shape, native = np.shape(outputs[i]), np.asarray(doubles.outputs[i])
        if native.shape != shape:
            raise OracleMismatch(f"Over doubles the oracle returns shape {native.shape}, over balls {shape}.")
        if is_rounded_by_oracle(to):
            values, *alternatives = (_taken(of[i][0], native.ravel(), to, shape) for of in (parts, *variants))
            expected.append(_rounded(values, alternatives, to))
            continue
        sides = (np.real(native), np.imag(native)) if to.kind == "complex" else (native,)
        judged = [
            _judged(part, rough, loose, side.astype(np.float64).ravel(), to, infinite=doubles.infinite)
            for part, rough, loose, side in zip(parts[i], r[i], s[i], sides, strict=True)
        ]
        values, bound = judged[0]
        if to.kind == "complex":
            values = _complex(values, judged[1][0])
            bound = np.hypot(bound, judged[1][1]) * _UP
        expected.append(Expected(to_storage(values, to).reshape(shape), bound.reshape(shape)))
    return expected


def evaluate_exact(
    oracle: Oracle, inputs: Sequence[Any], attributes: Mapping[str, Any], out: Sequence[ElementType]
) -> list[Expected]:
    """The outputs of an oracle that rounds nothing, from one evaluation; no bounds.

    Inputs and attributes reach it as ``evaluate`` gives them in its float64 evaluation.
    Raises Unrepresentable where a result is no value of its type, and OracleMismatch.
    """
    outputs = over_doubles(oracle, inputs, attributes, out).outputs
    return [Expected(to_storage(x, to)) for x, to in zip(outputs, out, strict=True)]


def insensitive(values: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Where the bound exceeds 1/16 of the largest finite magnitude of ``values``: elements that cannot fail.

    Zeros alone are taken for parts of 1: whatever else of any size a backend gives there does fail.
    """
    with np.errstate(over="ignore"):
        magnitude = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    return bound > (np.max(magnitude, where=np.isfinite(magnitude), initial=0.0) or 1.0) / INSENSITIVE


def _narrowest(inputs: Sequence[Any], out: Sequence[ElementType], working: ElementType | None) -> ElementType:
    computed = [of for of in out if not is_rounded_by_oracle(of)] + ([working] if working else [])
    for among in (computed, [element_type(x.dtype) for x in inputs if precision_of(x)]):
        if real := [of for of in among if of.format]:
            return min(real, key=lambda of: format_of(of).precision)
    raise TypeError("Neither an input nor an output is real: state the working precision, or evaluate_exact.")


def _radii(balls: Sequence[arb], scale: int = 0) -> np.ndarray:
    """The radii times 2^scale, infinite where a ball is no number."""
    factor = arb(1 << scale)
    found = np.fromiter((float(v.rad() * factor) for v in balls), np.float64, len(balls))
    return np.where(np.isfinite(found), found, np.inf)


def _judged(
    part: Part, r: list[arb], s: list[arb], native: np.ndarray, to: ElementType, *, infinite: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The values and bounds [n] of a part, as doubles."""
    taken = ~part.known
    if infinite:
        taken |= ~np.isfinite(native)
    values = np.where(taken, round_array(native, to), part.values)
    zero = (values == 0) & (native == 0)
    values[zero] = np.copysign(0.0, native[zero])

    spacing = ulp(values, to)
    with precision(64):
        loose = _radii(s, SCALE)
        total = (_radii(r) + np.where(np.isfinite(loose), loose, 0.0) + spacing / 2 + to.tiny) * _UP
        total[taken] = spacing[taken] + to.tiny
        beyond = ~np.isfinite(values)
        if beyond.any():
            overflowed = np.flatnonzero(np.isinf(values) & ~taken).tolist()
            near = [i for i in overflowed if _near_threshold(part.balls[i], r[i], s[i], to)]
            beyond[near] = False
            total[beyond] = 0.0
    return values, total


def _near_threshold(value: arb, r: arb, s: arb, to: ElementType) -> bool:
    """Whether an overflowed value is within 4 bounds of where overflow begins; in balls, since doubles overflow too."""
    half = arb(ulp(np.array(format_of(to).maximum), to).item()) / 2
    loose = s.rad() * (1 << SCALE) if s.is_finite() else arb(0)
    bound = (r.rad() + loose + half) * PASS_AT
    return not abs(value.mid()) - (format_of(to).maximum + half) > bound


def is_rounded_by_oracle(to: ElementType) -> bool:
    """Whether the oracle itself rounds into the type, by ``rint`` or ``round_to``, since nothing is computed in it.

    Those are the integers and the floats of at most 8 bits: a bound would forgive whole units of theirs.
    """
    return to.format is None or to.bits <= _NARROW


_NARROW = 8


def _taken(part: Part, native: np.ndarray, to: ElementType, shape: tuple[int, ...]) -> np.ndarray:
    """The decided values of a part, those that are no numbers from the doubles; NaN is 0 where integers have none."""
    if to.format:
        values = np.where(part.known, part.values, native)
        zero = (values == 0) & (native == 0)
        return to_storage(np.where(zero, np.copysign(values, native), values), to).reshape(shape)
    filled = np.empty(len(native), dtype=object)
    filled[:] = [
        v if known else int(x) if np.isfinite(x) else 0
        for v, known, x in zip(part.values.tolist(), part.known.tolist(), native.tolist(), strict=True)
    ]
    return filled.reshape(shape)


def _rounded(values: np.ndarray, alternatives: list[np.ndarray], to: ElementType) -> Expected:
    """Values that the oracle rounded: with the neighbours, or with a bound where integers lie between these."""
    if to.format is None and alternatives:
        every = np.array([np.abs(other - values) for other in alternatives], dtype=object)
        distance = np.minimum(every, 1 << 64).astype(np.float64).max(axis=0)  # no type holds more, and no double all
        if distance.size and distance.max() > 1:
            return Expected(values, distance * _UP / PASS_AT)
    return Expected(values, None, tuple(alternatives))


def _complex(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    values = np.empty(real.shape, np.complex128)
    values.real, values.imag = real, imag  # a sum would make NaN of inf + 1j * inf
    return values
