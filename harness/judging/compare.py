"""The verdict on an answer: first the count of its outputs, then their types, their shapes and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
import numpy as np

from harness.errors import ConformanceError
from harness.judging.measures import ALLOWED, Judge, Measured, Tolerance, bits_differ, measure
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


class Comparison(msgspec.Struct, frozen=True):
    """What an answer is worth; the fields are those of a result line."""

    verdict: Verdict
    message: str = ""
    """The first difference, where the verdict is not ``passed``."""
    error: Measure | None = None
    ulps: Measure | None = None
    onnx_tolerance: bool | None = None
    elements: int = 0
    differing: int = 0
    zero_signs: int = 0


class UnfitBounds(ConformanceError):
    """Bounds of a suite that have not the shape of their output."""

    advice = "Write the suite anew: onnx-conformance generate --anew."


class Pair(msgspec.Struct, frozen=True, eq=False):
    """A tensor of the answer and the one it should be."""

    output: int
    path: str
    """Where in the output: empty, ``[0]`` in a sequence, ``['a']`` in a map."""
    element: ElementType
    got: np.ndarray
    want: np.ndarray
    bounds: Value
    mask: Value = None
    """bool, of the shape of ``want``: True for each element that is not compared; None if all are."""


class Mismatch(msgspec.Struct, frozen=True):
    """Where the answer's structure departs."""

    verdict: Verdict
    output: int
    message: str
    """What follows the output's name."""


Names = Callable[[], Sequence[str]]
"""Gives the names of the graph's outputs; called only for a message."""
Bounds = Callable[[int], Value]
"""Gives the bounds of an output, None where it must match bit for bit; called only where bits differ."""
Masks = Callable[[int], Value]
"""Gives the mask of an output: True for each element that is not compared; None if all are."""
Alternatives = Callable[[int], Iterable[Value]]
"""Gives the further answers that an output may have; called only where bits differ.

Those of the expected shape are accepted element by element, one of another shape as a whole.
"""


def _nothing(_: int) -> Value:
    return None


def _no_bits(_: ElementType) -> Bits:
    return ""


def _no_alternatives(_: int) -> Iterable[Value]:
    return ()


class ExpectedAnswer(msgspec.Struct, frozen=True, eq=False):
    """What an answer is compared with: one value an output, and what else about it is read only if it is needed."""

    outputs: Sequence[Value]
    bounds: Bounds = _nothing
    names: Names = tuple
    alternatives: Alternatives = _no_alternatives
    mask: Masks = _nothing
    numbers: bool = False
    """Strings spell numbers: another spelling of the same number is as good."""


def check_types(case: Case, stated: Sequence[ValueType], names: Names) -> Comparison | None:
    """``wrong_count`` or ``wrong_type`` from the types of an answer alone, None where they are right.

    A value may stand for an optional that has one.
    """
    if len(stated) != len(case.outputs):
        plural = "" if len(stated) == 1 else "s"
        return Comparison("wrong_count", f"{len(stated)} output{plural}, want {len(case.outputs)}")
    for i, (of, text) in enumerate(zip(stated, case.outputs, strict=True)):
        declared = parse_type(text)
        if of != declared and not (isinstance(declared, OptionalType) and of == declared.of):
            return Comparison("wrong_type", f"{name_of(names, i)}: {of}, want {declared}")
    return None


def compare(
    case: Case, want: ExpectedAnswer, got: Sequence[Value], bits: Callable[[ElementType], Bits] = _no_bits
) -> Comparison:
    """Judge the values of an answer whose types are right, as ``case.judged`` says; one value an output.

    ``bits`` says which bits of equal floats are compared in a type. Raises UnfitBounds.
    """
    if all(map(_identical, got, want.outputs, map(parse_type, case.outputs))):
        elements = sum(map(_elements, want.outputs))
        return Comparison(
            "passed", "", 0.0 if case.judged == "bounds" else None, 0.0, onnx_tolerance=True, elements=elements
        )
    pairs: list[Pair] = []
    mismatches: list[Mismatch] = []
    for found in side_by_side(case, want, got):
        (pairs if isinstance(found, Pair) else mismatches).append(found)  # pyright: ignore[reportArgumentType] - the test tells them apart
    if mismatches:
        first = min(mismatches, key=lambda m: m.verdict != "wrong_shape")
        return Comparison(first.verdict, name_of(want.names, first.output) + first.message)
    return _judge(case, pairs, want, bits)


def side_by_side(case: Case, want: ExpectedAnswer, got: Sequence[Value]) -> Iterator[Pair | Mismatch]:
    """The tensors of an answer whose types are right, beside those they should be. Raises UnfitBounds."""
    of_bounds = want.bounds if case.judged == "bounds" else _nothing
    for i, of in enumerate(map(parse_type, case.outputs)):
        value = _respelt(got[i], want.outputs[i]) if want.numbers else got[i]
        yield from _walk(i, "", of, value, want.outputs[i], of_bounds(i), want.mask(i))


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


def name_of(names: Names, i: int) -> str:
    """An output's name, or its number where the model has none."""
    known = names()
    return known[i] if i < len(known) and known[i] else f"output_{i}"


def _identical(got: Value, want: Value, of: ValueType) -> bool:
    """Whether these are tensors with the same bytes, as nearly all are; what is no tensor is walked."""
    return (
        isinstance(of, TensorType)
        and isinstance(got, np.ndarray)
        and isinstance(want, np.ndarray)
        and got.shape == want.shape
        and (got.tolist() == want.tolist() if of.element.kind == "string" else got.tobytes() == want.tobytes())
    )


def _elements(value: Value) -> int:
    return value.size if isinstance(value, np.ndarray) else 0


def _walk(i: int, path: str, of: ValueType, got: Any, want: Any, bounds: Any, mask: Any) -> Iterator[Pair | Mismatch]:
    """The tensors inside two values of one type, side by side, or where their structures part."""
    match of:
        case TensorType():
            yield _pair(i, path, of.element, got, want, bounds, mask)
        case OptionalType() if got is None or want is None:
            if got is not want:
                yield Mismatch("wrong_value", i, f"{path}: {_presence(got)}, want {_presence(want)}")
        case OptionalType():
            yield from _walk(i, path, of.of, got, want, bounds, mask)
        case SequenceType() if len(got) != len(want):
            yield Mismatch("wrong_shape", i, f"{path}: {len(got)} items, want {len(want)}")
        case MapType() if got.keys() != want.keys():
            yield Mismatch("wrong_value", i, f"{path}: keys {_brief(sorted(got))}, want {_brief(sorted(want))}")
        case SequenceType() | MapType():
            for key in range(len(want)) if isinstance(of, SequenceType) else want:
                inside = (bounds and bounds[key], mask and mask[key])
                yield from _walk(i, f"{path}[{key!r}]", of.of, got[key], want[key], *inside)
        case SparseTensorType():
            yield _sparse_pair(i, path, of.element, got, want, bounds, mask)


def _pair(
    i: int, path: str, element: ElementType, got: np.ndarray, want: np.ndarray, bounds: Any, mask: Any
) -> Pair | Mismatch:
    if message := shape_mismatch(got, want):
        return Mismatch("wrong_shape", i, f"{path}: {message}")
    if bounds is not None and bounds.shape != want.shape:
        raise UnfitBounds(
            f"The bounds of output_{i}{path} have the shape {_shape(bounds.shape)}, its values {_shape(want.shape)}."
        )
    return Pair(i, path, element, got, want, bounds, mask)


def shape_mismatch(got: np.ndarray, want: np.ndarray) -> str:
    """``shape [3,2], want [2,3]``; empty where the shapes are one."""
    return "" if got.shape == want.shape else f"shape {_shape(got.shape)}, want {_shape(want.shape)}"


def _sparse_pair(
    i: int, path: str, element: ElementType, got: Any, want: Any, bounds: Any, mask: Any
) -> Pair | Mismatch:
    if got.dims != want.dims or got.values.shape != want.values.shape:
        described = [f"shape {_shape(v.dims)} with {v.values.size} values" for v in (got, want)]
        return Mismatch("wrong_shape", i, f"{path}: {described[0]}, want {described[1]}")
    if not np.array_equal(_linear(got), _linear(want)):
        return Mismatch("wrong_value", i, f"{path}: its values stand at other indices")
    return _pair(i, f"{path}.values", element, got.values, want.values, bounds, mask)


def _linear(value: SparseTensor) -> np.ndarray:
    """Indices as SparseTensorProto allows them, [NNZ] or [NNZ, rank], as the former."""
    if value.indices.ndim < 2:
        return value.indices
    return value.indices @ np.cumprod([1, *value.dims[:0:-1]])[::-1].astype(np.int64)


def _judge(case: Case, pairs: Sequence[Pair], want: ExpectedAnswer, bits: Callable[[ElementType], Bits]) -> Comparison:
    by_tolerance = case.judged == "tolerance"
    found = [(pair, *measure_pair(case, pair, want.alternatives, bits(pair.element))) for pair in pairs]
    message = next((name_of(want.names, one[0].output) + _tell(*one) for one in found if not one[2].passing.all()), "")
    return Comparison(
        "wrong_value" if message else "passed",
        message,
        None if by_tolerance else _worst([one.error for _, _, one in found]),
        _worst([one.ulps for _, _, one in found]),
        all(one.onnx for _, _, one in found),
        sum(pair.want.size for pair in pairs),
        sum(int(np.count_nonzero(~one.passing)) for _, _, one in found),
        sum(one.zero_signs for _, _, one in found),
    )


def measure_pair(case: Case, pair: Pair, alternatives: Alternatives, bits: Bits = "") -> tuple[Judge, Measured]:
    """How far a tensor is from what it should be, and by what that is judged in this case."""
    judge: Judge = pair.bounds if isinstance(pair.bounds, np.ndarray) else None
    if case.judged == "tolerance":
        judge = Tolerance(case.rtol, case.atol)
    got = pair.got
    if isinstance(pair.mask, np.ndarray):
        got = np.where(pair.mask, pair.want, pair.got)
    measured = measure(got, pair.want, pair.element, judge)
    if judge is None and not measured.passing.all():
        measured = _with_alternatives(pair, got, measured, alternatives(pair.output))
    return judge, _with_bits(got, pair, measured, bits)


def _with_alternatives(pair: Pair, got: np.ndarray, measured: Measured, alternatives: Iterable[Value]) -> Measured:
    """The measure in which an element passes if one of the alternatives has its value."""
    passing = measured.passing
    for value in alternatives:
        if isinstance(value, np.ndarray) and value.shape == pair.want.shape:
            passing = passing | measure(got, value, pair.element, None).passing
    return msgspec.structs.replace(measured, passing=passing, error=0.0 if passing.all() else measured.error)


def _with_bits(got: np.ndarray, pair: Pair, measured: Measured, bits: Bits) -> Measured:
    """The measure in which zeros of the other sign and NaN of other bits fail."""
    differing = bits_differ(got, pair.want, pair.element, bits) & measured.passing
    if not differing.any():
        return measured
    return msgspec.structs.replace(measured, passing=measured.passing & ~differing, error=float("inf"))


def _worst(values: Sequence[float | None]) -> Measure | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return "inf" if max(known) == float("inf") else max(known)


def _tell(pair: Pair, judge: Judge, measured: Measured) -> str:
    """``[2,1] = 1.5, want 1.502 (float16; 6.1 bounds, 4 allowed); 3 of 24 differ``, to follow the output's name."""
    index = tuple(map(int, np.argwhere(~measured.passing)[0]))
    got, want = texts(pair.got[index], pair.want[index], pair.element)
    where = f"{pair.path}[{','.join(map(str, index))}]" if index else pair.path
    how = ""
    if measured.ratios is not None and isinstance(judge, np.ndarray):
        ratio = measured.ratios[index]
        off = f"{ratio:.2g} bounds, {ALLOWED:.0f} allowed" if ratio < np.inf else f"{ALLOWED:.0f} bounds allowed"
        how = f"; {off}" if judge[index] else "; must be equal"
    elif isinstance(judge, Tolerance) and pair.element.kind not in ("bool", "string"):
        how = f"; rtol {judge.relative(pair.element):.3g}, atol {judge.atol:.3g}"
    differing = int(np.count_nonzero(~measured.passing))
    return f"{where} = {got}, want {want} ({pair.element.name}{how}); {differing} of {pair.want.size} differ"


def texts(got: Any, want: Any, element: ElementType) -> tuple[str, str]:
    """Two scalars of a type as text, with as many digits as tell them apart."""
    if element.kind == "string":
        return _brief(got), _brief(want)
    if element.format is None:
        return (str(bool(got)), str(bool(want))) if element.kind == "bool" else (str(int(got)), str(int(want)))
    pairs = ((_real(got, element, n), _real(want, element, n)) for n in range(4, 18))
    if apart := next(((g, w) for g, w in pairs if g != w), None):
        return apart
    return _with_pattern(got, element), _with_pattern(want, element)


def _real(value: Any, element: ElementType, digits: int) -> str:
    if element.kind == "complex":
        return f"{complex(value):.{digits}g}"
    return f"{float(value):.{digits}g}"


def _with_pattern(value: Any, element: ElementType) -> str:
    """A float and its bits, for those that only differ in them: ``nan (0x7fc00001)``."""
    array = np.asarray(value)
    return f"{_real(value, element, 4)} (0x{array.tobytes()[::-1].hex()})"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _shape(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _presence(value: object) -> str:
    return "nothing" if value is None else "a value"
