"""Turns the outcome of a data set into its result line: reads the expected files and compares."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec
import onnx

from harness.errors import ConformanceError
from harness.judging.compare import Comparison, ExpectedAnswer, check_types, compare
from harness.judging.distributions import compare_distributions
from harness.judging.outcome import Outcome
from harness.results.lines import Result
from harness.spec.codec import BrokenValue, decode, same_bits
from harness.spec.element_types import BY_NAME, Bits, ElementType, UnknownElementType
from harness.spec.values import SparseTensorType, TensorType, UnknownValueType, Value, ValueType, parse_type
from harness.suite.cases import Case, mask_type


class BrokenSuite(ConformanceError):
    """A file of a suite is missing or is not the file that the manifest lists."""

    advice = "Write the suite again: onnx-conformance generate --force."


def read_case_file(case: Case, folder: str, name: str) -> bytes:
    """Read the file ``name`` of a case from its directory ``folder``.

    Raises BrokenSuite if the file is not the one that the manifest lists.
    """
    path = f"{folder}/{name}"
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.read(file, os.fstat(file).st_size + 1)
        finally:
            os.close(file)
    except OSError as error:
        raise BrokenSuite(f"{path} cannot be read: {error.strerror}.") from error
    listed = case.files.get(name)
    if hashlib.sha256(data).hexdigest() != listed:
        problem = "is not in the manifest" if listed is None else "is not the file that the manifest lists (SHA-256)"
        raise BrokenSuite(f"{path} {problem}.")
    return data


def check_inputs_unchanged(case: Case, folder: str, data_set: int) -> None:
    """Check that the model and the inputs on disk are those of the manifest. Raises BrokenSuite.

    Called for an answer that does not pass: the backend is not to blame if it read other inputs.
    """
    read_case_file(case, folder, "model.onnx")
    for i in range(len(case.inputs)):
        read_case_file(case, folder, f"{case.file_prefix(data_set)}input_{i}.pb")


_BIT_LEVELS: Sequence[Bits] = ("", "signs", "all")
_ALL_BITS: Mapping[str, Bits] = {}
_INSENSITIVE = "every bound is wider than 1/16 of the largest element, so no value of a plausible size fails"


def judge(outcome: Outcome, transport: Mapping[str, Bits] = _ALL_BITS) -> Result:
    """The result line of an outcome.

    ``transport`` says, by element type, which bits of floats the backend's adapter preserves; the default is all.
    Raises BrokenSuite if the suite's files are not those of its manifest.
    """
    case = outcome.case
    known = ""
    match outcome.status:
        case "ok":
            comparison = _compare(outcome, transport)
        case "missing_requirement":
            known = f"missing requirement: {outcome.message}"
            comparison = Comparison("not_run", known)
        case status:
            comparison = Comparison(status, outcome.message)
    if comparison.verdict not in ("passed", "not_run"):
        check_inputs_unchanged(case, outcome.folder, outcome.data_set)
    if not case.data_sets[outcome.data_set].is_scored and (comparison.verdict != "not_run" or known):
        known = ""
        message = ": ".join(filter(None, (comparison.verdict, comparison.message)))
        comparison = msgspec.structs.replace(comparison, verdict="unspecified", message=message)
    elif comparison.verdict == "passed" and not case.data_sets[outcome.data_set].can_fail:
        comparison = msgspec.structs.replace(comparison, verdict="insensitive", message=_INSENSITIVE)
    return Result(
        case.name,
        outcome.data_set,
        comparison.verdict,
        case.labels_of(outcome.data_set),
        comparison.error,
        comparison.ulps,
        comparison.onnx_tolerance,
        comparison.elements,
        comparison.differing,
        comparison.zero_signs,
        outcome.seconds,
        outcome.prepare_seconds,
        "; ".join(filter(None, (comparison.message, outcome.note))),
        known,
    )


def _compare(outcome: Outcome, transport: Mapping[str, Bits]) -> Comparison:
    case = outcome.case
    files = DataSetFiles(case, outcome.folder, outcome.data_set)
    try:
        types = [parse_type(text) for text in outcome.types]
    except (UnknownValueType, UnknownElementType) as error:
        return Comparison("error", f"The backend stated an unknown type: {error}")
    mismatch = check_types(case, types, files.output_names)
    if mismatch:
        return mismatch
    if case.judged != "property" and _has_expected_bits(outcome, types, files):
        error = 0.0 if case.judged == "bounds" else None
        elements = case.data_sets[outcome.data_set].elements
        return Comparison("passed", "", error, 0.0, onnx_tolerance=True, elements=elements)
    got: list[Value] = []
    for i, (data, of) in enumerate(zip(outcome.outputs, types, strict=True)):
        try:
            got.append(decode(data, of))
        except BrokenValue as error:
            return Comparison("error", f"The backend wrote a broken file for output_{i}: {error}")
    if case.judged == "property":
        return compare_distributions(case, files.outputs(), got, files.inputs(), files.output_names)
    required = case.data_sets[outcome.data_set].bits

    def bits(element: ElementType) -> Bits:
        preserved = transport.get(element.name, "all")
        return _BIT_LEVELS[min(_BIT_LEVELS.index(required), _BIT_LEVELS.index(preserved))]

    comparison = compare(case, files.answer(), got, bits)
    for answer in files.readings() if comparison.verdict != "passed" else ():
        other = compare(case, answer, got, bits)
        if other.verdict == "passed":
            return other
    return comparison


def _has_expected_bits(outcome: Outcome, types: Sequence[ValueType], files: DataSetFiles) -> bool:
    """Whether all outputs are tensors with exactly the expected bits, which is the common case."""
    try:
        return all(
            isinstance(of, TensorType) and same_bits(data, files.output(i))
            for i, (data, of) in enumerate(zip(outcome.outputs, types, strict=True))
        )
    except BrokenValue:
        return False  # decoding shows which of the two is broken


class DataSetFiles:
    """The files of a data set; each is read when its method is called. The methods raise BrokenSuite."""

    def __init__(self, case: Case, folder: str, data_set: int) -> None:
        """``folder`` is the directory of the case."""
        self._case = case
        self._folder = folder
        self._prefix = case.file_prefix(data_set)
        self._numbers = case.data_sets[data_set].numbers

    def inputs(self) -> list[Value]:
        """The values of the graph's inputs."""
        return [self._read(f"{self._prefix}input_{i}.pb", parse_type(of)) for i, of in enumerate(self._case.inputs)]

    def output(self, i: int) -> bytes:
        """The contents of the file of an expected output."""
        return read_case_file(self._case, self._folder, f"{self._prefix}output_{i}.pb")

    def outputs(self) -> list[Value]:
        """The expected values of the graph's outputs."""
        return self._values("output")

    def answer(self) -> ExpectedAnswer:
        """The expected answer. Only the outputs are read now."""
        return ExpectedAnswer(
            self.outputs(), self.bounds, self.output_names, self.alternatives, self.unspecified, self._numbers
        )

    def readings(self) -> Iterator[ExpectedAnswer]:
        """The answers by other readings of the specification; an answer passes if it matches one of them."""
        for n in itertools.count():
            if f"{self._prefix}reading_{n}_0.pb" not in self._case.files:
                return
            bounds = partial(self._bounds, f"reading_bound_{n}")
            yield ExpectedAnswer(self._values(f"reading_{n}"), bounds, self.output_names, mask=self.unspecified)

    def bounds(self, i: int) -> Value:
        """The bounds of an output, or None if there are none."""
        return self._bounds("bound", i)

    def unspecified(self, i: int) -> Value:
        """The mask of an output, True for each element that the specification leaves open, or None."""
        name = f"{self._prefix}unspecified_{i}.pb"
        return self._read(name, mask_type(parse_type(self._case.outputs[i]))) if name in self._case.files else None

    def alternatives(self, i: int) -> Iterator[Value]:
        """The alternative answers for an output."""
        for n in itertools.count():
            name = f"{self._prefix}alternative_{n}_{i}.pb"
            if name not in self._case.files:
                return
            yield self._read(name, parse_type(self._case.outputs[i]))

    def graph(self) -> onnx.GraphProto:
        """The graph of the model."""
        return onnx.load_from_string(read_case_file(self._case, self._folder, "model.onnx")).graph

    def output_names(self) -> Sequence[str]:
        """The names of the graph's outputs."""
        return [output.name for output in self.graph().output]

    def _values(self, stem: str) -> list[Value]:
        return [self._read(f"{self._prefix}{stem}_{i}.pb", parse_type(of)) for i, of in enumerate(self._case.outputs)]

    def _bounds(self, stem: str, i: int) -> Value:
        name = f"{self._prefix}{stem}_{i}.pb"
        return self._read(name, bound_type(parse_type(self._case.outputs[i]))) if name in self._case.files else None

    def _read(self, name: str, of: ValueType) -> Value:
        data = read_case_file(self._case, self._folder, name)
        try:
            return decode(data, of)
        except BrokenValue as error:
            raise BrokenSuite(f"{self._folder}/{name} is broken: {error}") from error


def bound_type(of: ValueType) -> ValueType:
    """The type of the bounds of an output: double for double and complex128, otherwise float, in the same structure."""
    if isinstance(of, TensorType):
        return TensorType(BY_NAME["double" if of.element.name in ("double", "complex128") else "float"])
    if isinstance(of, SparseTensorType):
        return bound_type(TensorType(of.element))
    return msgspec.structs.replace(of, of=bound_type(of.of))
