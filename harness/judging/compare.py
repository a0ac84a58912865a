"""Compares an answer with the expected outputs: their number, then types, then shapes, then values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
import numpy as np

from harness.errors import ConformanceError
from harness.judging.measures import MAX_ERROR, Criterion, Measurement, Tolerance, bits_differ, measure
from harness.results.lines import Measure, Verdict
from harness.spec.element_types import Bits, ElementType
from harness.spec.values import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensor,
    SparseTensorType,
    TensorType,
    Value,
    ValueType,
    parse_type,
)
from harness.suite.cases import Case
from harness.text import shortened


class Comparison(msgspec.Struct, frozen=True):
    """The verdict on an answer and its measures; the fields are those of a result line."""

    verdict: Verdict
    message: str = ""
    """The first difference; empty if the verdict is ``passed``."""
    error: Measure | None = None
    ulps: Measure | None = None
    onnx_tolerance: bool | None = None
    elements: int = 0
    differing: int = 0
    zero_signs: int = 0


class BoundsShapeMismatch(ConformanceError):
    """The bounds in a suite do not have the shape of their output."""

    advice = "Write the suite again: onnx-conformance generate --force."


class TensorPair(msgspec.Struct, frozen=True, eq=False):
    """A tensor of the answer and the expected tensor, which has the same type and shape."""

    output: int
    path: str
    """The position inside the output: empty for a tensor, ``[0]`` in a sequence, ``['a']`` in a map."""
    element: ElementType
    got: np.ndarray
    want: np.ndarray
    bounds: Value
    mask: Value = None
    """bool, of the shape of ``want``: True for each element that is not compared; None to compare all."""


class StructureMismatch(msgspec.Struct, frozen=True):
    """A difference in structure between an output and the expected output."""

    verdict: Verdict
    output: int
    message: str
    """The text that follows the output's name."""


OutputNames = Callable[[], Sequence[str]]
"""Returns the names of the graph's outputs. It is called only if a message needs them."""
Bounds = Callable[[int], Value]
"""Returns the bounds of an output, or None if it must match bit for bit. It is called only if the outputs differ."""
Masks = Callable[[int], Value]
"""Returns the mask of an output, True for each element that is not compared, or None to compare all."""
Alternatives = Callable[[int], Iterable[Value]]
"""Returns the alternative answers for an output, of the expected shape. They are accepted element by element.

It is called only if the outputs differ.
"""


def _none(_: int) -> Value:
    return None


def _no_bits(_: ElementType) -> Bits:
    return ""


def _no_alternatives(_: int) -> Iterable[Value]:
    return ()


class ExpectedAnswer(msgspec.Struct, frozen=True, eq=False):
    """The expected outputs, one value per output; everything else is read only if it is needed."""

    outputs: Sequence[Value]
    bounds: Bounds = _none
    names: OutputNames = tuple
    alternatives: Alternatives = _no_alternatives
    mask: Masks = _none
    numbers: bool = False
    """Strings spell numbers: another spelling of the same number is as good."""


def check_types(case: Case, types: Sequence[ValueType], names: OutputNames) -> Comparison | None:
    """Compare the types of an answer with the declared ones: ``wrong_count``, ``wrong_type``, or None if they match.

    A value of type T is accepted for an optional(T).
    """
    if len(types) != len(case.outputs):
        plural = "" if len(types) == 1 else "s"
        return Comparison("wrong_count", f"{len(types)} output{plural}, want {len(case.outputs)}")
    for i, (of, text) in enumerate(zip(types, case.outputs, strict=True)):
        declared = parse_type(text)
        if of != declared and not (isinstance(declared, OptionalType) and of == declared.of):
            return Comparison("wrong_type", f"{output_name(names, i)}: {of}, want {declared}")
    return None


def compare(
    case: Case, want: ExpectedAnswer, got: Sequence[Value], bits: Callable[[ElementType], Bits] = _no_bits
) -> Comparison:
    """Compare the values of an answer whose types are right, by ``case.judged``; one value per output.

    ``bits`` returns, for an element type, which bits of equal floats are compared. Raises BoundsShapeMismatch.
    """
    if all(map(_is_identical, got, want.outputs, map(parse_type, case.outputs))):
        elements = sum(map(_size, want.outputs))
        error = 0.0 if case.judged == "bounds" else None
        return Comparison("passed", "", error, 0.0, onnx_tolerance=True, elements=elements)
    pairs: list[TensorPair] = []
    mismatches: list[StructureMismatch] = []
    for item in pair_tensors(case, want, got):
        (pairs if isinstance(item, TensorPair) else mismatches).append(item)  # pyright: ignore[reportArgumentType] - the test tells them apart
    if mismatches:
        first = min(mismatches, key=lambda m: m.verdict != "wrong_shape")
        return Comparison(first.verdict, output_name(want.names, first.output) + first.message)
    return _compare_pairs(case, pairs, want, bits)


def pair_tensors(case: Case, want: ExpectedAnswer, got: Sequence[Value]) -> Iterator[TensorPair | StructureMismatch]:
    """Pair the tensors of an answer whose types are right with the expected tensors. Raises BoundsShapeMismatch."""
    bounds_of = want.bounds if case.judged == "bounds" else _none
    for i, of in enumerate(map(parse_type, case.outputs)):
        value = _respelt(got[i], want.outputs[i]) if want.numbers else got[i]
        yield from _walk(i, "", of, value, want.outputs[i], bounds_of(i), want.mask(i))


def _respelt(got: Value, want: Value) -> Value:
    """A tensor of strings in which those that spell the expected number are spelt as expected; other values as is."""
    if not (isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and got.shape == want.shape):
        return got
    if got.dtype != object or want.dtype != object:
        return got
    pairs = zip(got.ravel().tolist(), want.ravel().tolist(), strict=True)
    respelt = np.empty(got.size, object)
    respelt[:] = [w if spells_same_number(g, w) else g for g, w in pairs]
    return respelt.reshape(got.shape)


def spells_same_number(one: str, other: str) -> bool:
    """Whether two strings spell the same number, exactly: in plain or scientific notation, NaN, or an infinity."""
    numbers = [_number(text) for text in (one, other)]
    if any(number is None for number in numbers):
        return one == other
    first, second = numbers
    assert first is not None
    assert second is not None
    return first == second or (first.is_nan() and second.is_nan())


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    return Decimal("NaN") if number is not None and number.is_nan() else number


def output_name(names: OutputNames, i: int) -> str:
    """The name of an output, or ``output_<i>`` if the model has none."""
    known = names()
    return known[i] if i < len(known) and known[i] else f"output_{i}"


def _is_identical(got: Value, want: Value, of: ValueType) -> bool:
    """Whether both values are tensors with the same bytes, the common case; False for all other types."""
    return (
        isinstance(of, TensorType)
        and isinstance(got, np.ndarray)
        and isinstance(want, np.ndarray)
        and got.shape == want.shape
        and (got.tolist() == want.tolist() if of.element.kind == "string" else got.tobytes() == want.tobytes())
    )


def _size(value: Value) -> int:
    return value.size if isinstance(value, np.ndarray) else 0


def _walk(
    i: int, path: str, of: ValueType, got: Any, want: Any, bounds: Any, mask: Any
) -> Iterator[TensorPair | StructureMismatch]:
    """Walk through two values of the same type and yield their tensors in pairs, and where their structures differ."""
    match of:
        case TensorType():
            yield _pair(i, path, of.element, got, want, bounds, mask)
        case OptionalType() if got is None or want is None:
            if got is not want:
                yield StructureMismatch("wrong_value", i, f"{path}: {_presence(got)}, want {_presence(want)}")
        case OptionalType():
            yield from _walk(i, path, of.of, got, want, bounds, mask)
        case SequenceType() if len(got) != len(want):
            yield StructureMismatch("wrong_shape", i, f"{path}: {len(got)} items, want {len(want)}")
        case MapType() if got.keys() != want.keys():
            message = f"{path}: keys {_text(sorted(got))}, want {_text(sorted(want))}"
            yield StructureMismatch("wrong_value", i, message)
        case SequenceType() | MapType():
            for key in range(len(want)) if isinstance(of, SequenceType) else want:
                inside = (bounds and bounds[key], mask and mask[key])
                yield from _walk(i, f"{path}[{key!r}]", of.of, got[key], want[key], *inside)
        case SparseTensorType():
            yield _pair_sparse(i, path, of.element, got, want, bounds, mask)


def _pair(
    i: int, path: str, element: ElementType, got: np.ndarray, want: np.ndarray, bounds: Any, mask: Any
) -> TensorPair | StructureMismatch:
    if message := shape_mismatch(got, want):
        return StructureMismatch("wrong_shape", i, f"{path}: {message}")
    if bounds is not None and bounds.shape != want.shape:
        raise BoundsShapeMismatch(
            f"The bounds of output_{i}{path} have the shape {_shape(bounds.shape)}, its values {_shape(want.shape)}."
        )
    return TensorPair(i, path, element, got, want, bounds, mask)


def shape_mismatch(got: np.ndarray, want: np.ndarray) -> str:
    """``shape [3,2], want [2,3]``; empty if the shapes are equal."""
    return "" if got.shape == want.shape else f"shape {_shape(got.shape)}, want {_shape(want.shape)}"


def _pair_sparse(
    i: int, path: str, element: ElementType, got: Any, want: Any, bounds: Any, mask: Any
) -> TensorPair | StructureMismatch:
    if got.dims != want.dims or got.values.shape != want.values.shape:
        described = [f"shape {_shape(v.dims)} with {v.values.size} values" for v in (got, want)]
        return StructureMismatch("wrong_shape", i, f"{path}: {described[0]}, want {described[1]}")
    if not np.array_equal(_linear_indices(got), _linear_indices(want)):
        return StructureMismatch("wrong_value", i, f"{path}: the values have other indices than expected")
    return _pair(i, f"{path}.values", element, got.values, want.values, bounds, mask)


def _linear_indices(value: SparseTensor) -> np.ndarray:
    """Indices of shape [NNZ]. SparseTensorProto also allows [NNZ, rank]."""
    if value.indices.ndim < 2:
        return value.indices
    return value.indices @ np.cumprod([1, *value.dims[:0:-1]])[::-1].astype(np.int64)


def _compare_pairs(
    case: Case, pairs: Sequence[TensorPair], want: ExpectedAnswer, bits: Callable[[ElementType], Bits]
) -> Comparison:
    measured = [(pair, *measure_pair(case, pair, want.alternatives, bits(pair.element))) for pair in pairs]
    measurements = [measurement for _, _, measurement in measured]
    failed = next((one for one in measured if not one[2].passing.all()), None)
    return Comparison(
        "wrong_value" if failed else "passed",
        output_name(want.names, failed[0].output) + _difference_text(*failed) if failed else "",
        None if case.judged == "tolerance" else _worst([one.error for one in measurements]),
        _worst([one.ulps for one in measurements]),
        all(one.within_onnx_tolerance for one in measurements),
        sum(pair.want.size for pair in pairs),
        sum(int(np.count_nonzero(~one.passing)) for one in measurements),
        sum(one.zero_signs for one in measurements),
    )


def measure_pair(
    case: Case, pair: TensorPair, alternatives: Alternatives, bits: Bits = ""
) -> tuple[Criterion, Measurement]:
    """Measure a tensor against the expected one; also returns the criterion that applies in this case."""
    criterion: Criterion = pair.bounds if isinstance(pair.bounds, np.ndarray) else None
    if case.judged == "tolerance":
        criterion = Tolerance(case.rtol, case.atol)
    if isinstance(pair.mask, np.ndarray):
        pair = msgspec.structs.replace(pair, got=np.where(pair.mask, pair.want, pair.got))
    measurement = measure(pair.got, pair.want, pair.element, criterion)
    if criterion is None and not measurement.passing.all():
        measurement = _accept_alternatives(pair, measurement, alternatives(pair.output))
    return criterion, _compare_bits(pair, measurement, bits)


def _accept_alternatives(pair: TensorPair, measurement: Measurement, alternatives: Iterable[Value]) -> Measurement:
    """The measurement in which elements that equal an alternative pass."""
    passing = measurement.passing
    for value in alternatives:
        if isinstance(value, np.ndarray) and value.shape == pair.want.shape:
            passing = passing | measure(pair.got, value, pair.element, None).passing
    error = 0.0 if passing.all() else measurement.error
    return msgspec.structs.replace(measurement, passing=passing, error=error)


def _compare_bits(pair: TensorPair, measurement: Measurement, bits: Bits) -> Measurement:
    """The measurement in which zeros of the other sign and NaN with other bits fail, as far as ``bits`` says."""
    differing = bits_differ(pair.got, pair.want, pair.element, bits) & measurement.passing
    if not differing.any():
        return measurement
    return msgspec.structs.replace(measurement, passing=measurement.passing & ~differing, error=float("inf"))


def _worst(values: Sequence[float | None]) -> Measure | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return "inf" if max(known) == float("inf") else max(known)


def _difference_text(pair: TensorPair, criterion: Criterion, measurement: Measurement) -> str:
    """Text for the message: ``[2,1] = 1.5, want 1.502 (float16; 6.1 bounds, 4 allowed); 3 of 24 differ``."""
    index = tuple(map(int, np.argwhere(~measurement.passing)[0]))
    got, want = scalar_texts(pair.got[index], pair.want[index], pair.element)
    where = f"{pair.path}[{','.join(map(str, index))}]" if index else pair.path
    how = ""
    if measurement.ratios is not None and isinstance(criterion, np.ndarray):
        ratio = measurement.ratios[index]
        off = f"{ratio:.2g} bounds, {MAX_ERROR:.0f} allowed" if ratio < np.inf else f"{MAX_ERROR:.0f} bounds allowed"
        how = f"; {off}" if criterion[index] else "; must be equal"
    elif isinstance(criterion, Tolerance) and pair.element.kind not in ("bool", "string"):
        how = f"; rtol {criterion.rtol_for(pair.element):.3g}, atol {criterion.atol:.3g}"
    differing = int(np.count_nonzero(~measurement.passing))
    return f"{where} = {got}, want {want} ({pair.element.name}{how}); {differing} of {pair.want.size} differ"


def scalar_texts(got: Any, want: Any, element: ElementType) -> tuple[str, str]:
    """Two scalars of a type as text, with enough digits to show that they differ."""
    if element.kind == "string":
        return _text(got), _text(want)
    if element.format is None:
        return (str(bool(got)), str(bool(want))) if element.kind == "bool" else (str(int(got)), str(int(want)))
    pairs = ((_real_text(got, element, n), _real_text(want, element, n)) for n in range(4, 18))
    if different := next(((g, w) for g, w in pairs if g != w), None):
        return different
    return _with_pattern(got, element), _with_pattern(want, element)


def _real_text(value: Any, element: ElementType, digits: int) -> str:
    if element.kind == "complex":
        return f"{complex(value):.{digits}g}"
    return f"{float(value):.{digits}g}"


def _with_pattern(value: Any, element: ElementType) -> str:
    """A float with its bit pattern, for values that differ only in it: ``nan (0x7fc00001)``."""
    return f"{_real_text(value, element, 4)} (0x{np.asarray(value).tobytes()[::-1].hex()})"


def _text(value: object) -> str:
    return shortened(repr(value), 60)


def _shape(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _presence(value: object) -> str:
    return "nothing" if value is None else "a value"
