"""From what became of a data set to its result line: reads what was expected, and compares."""

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
from harness.judging.outcome import Outcome, Task
from harness.results.lines import Result
from harness.spec.codec import BrokenValue, decode, same_bits
from harness.spec.element_types import BY_NAME, Bits, ElementType, UnknownElementType
from harness.spec.values import SparseTensorType, TensorType, UnknownValueType, Value, ValueType, parse_type
from harness.suite.cases import Case, mask_type


class BrokenSuite(ConformanceError):
    """A file of a suite that is missing or not the one its manifest lists."""

    advice = "Write the suite anew: onnx-conformance generate --anew."


def read_file(case: Case, folder: str, name: str) -> bytes:
    """A file of a case, in its directory ``folder``. Raises BrokenSuite where it is not the one of the manifest."""
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
        what = "is not in the manifest" if listed is None else "is not the file that the manifest lists (SHA-256)"
        raise BrokenSuite(f"{path} {what}.")
    return data


_LEVELS: Sequence[Bits] = ("", "signs", "all")
_EVERYTHING: Mapping[str, Bits] = {}


def make_task(root: str, case: Case, data_sets: tuple[int, ...]) -> Task:
    """The task of running these data sets; ``root`` is the suite's folder, absolute."""
    return Task(case, f"{root}/{case.name}", data_sets)


def check_given(case: Case, folder: str, data_set: int) -> None:
    """That what the backend read is what the manifest lists. Raises BrokenSuite.

    Asked where an answer did not pass, before the backend is blamed: from other inputs no right answer comes.
    """
    read_file(case, folder, "model.onnx")
    for i in range(len(case.inputs)):
        read_file(case, folder, f"{case.folder_of(data_set)}/input_{i}.pb")


_CANNOT_FAIL = "every bound is wider than 1/16 of the largest element: no value of a sound size fails"


def judge(outcome: Outcome, transport: Mapping[str, Bits] = _EVERYTHING) -> Result:
    """The result line of an outcome. Raises BrokenSuite where the suite's files are not those of its manifest."""
    case = outcome.case
    known = ""
    match outcome.status:
        case "ok":
            comparison = _compare(outcome, transport)
        case "missing_requirement":
            known = f"the machine lacks what the backend needs: {outcome.message}"
            comparison = Comparison("not_run", known)
        case status:
            comparison = Comparison(status, outcome.message)
    if comparison.verdict not in ("passed", "not_run"):
        check_given(case, outcome.folder, outcome.data_set)
    if not case.data_sets[outcome.data_set].is_scored and (comparison.verdict != "not_run" or known):
        known = ""
        told = ": ".join(filter(None, (comparison.verdict, comparison.message)))
        comparison = msgspec.structs.replace(comparison, verdict="unspecified", message=told)
    elif comparison.verdict == "passed" and not case.data_sets[outcome.data_set].can_fail:
        comparison = msgspec.structs.replace(comparison, verdict="insensitive", message=_CANNOT_FAIL)
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
    case, folder, data_set = outcome.case, outcome.folder, outcome.case.folder_of(outcome.data_set)
    files = Expected(case, folder, data_set)
    try:
        stated = [parse_type(text) for text in outcome.types]
    except (UnknownValueType, UnknownElementType) as error:
        return Comparison("error", f"The backend stated a type that is none: {error}")
    wrong = check_types(case, stated, files.names)
    if wrong:
        return wrong
    if case.judged != "property" and _is_the_same(outcome, stated, files):
        error = 0.0 if case.judged == "bounds" else None
        elements = case.data_sets[outcome.data_set].elements
        return Comparison("passed", "", error, 0.0, onnx_tolerance=True, elements=elements)
    got: list[Value] = []
    for i, (data, of) in enumerate(zip(outcome.outputs, stated, strict=True)):
        try:
            got.append(decode(data, of))
        except BrokenValue as error:
            return Comparison("error", f"The file written for output_{i} is broken: {error}")
    if case.judged == "property":
        return compare_distributions(case, files.outputs(), got, files.inputs(), files.names)
    asked = case.data_sets[outcome.data_set].bits

    def bits(element: ElementType) -> Bits:
        return _LEVELS[min(map(_LEVELS.index, (asked, transport.get(element.name, "all"))))]

    comparison = compare(case, files.answer(), got, bits)
    for answer in files.readings() if comparison.verdict != "passed" else ():
        other = compare(case, answer, got, bits)
        if other.verdict == "passed":
            return other
    return comparison


def _is_the_same(outcome: Outcome, stated: Sequence[ValueType], files: Expected) -> bool:
    """Whether the outputs are tensors of the very bits that are expected, as most are."""
    try:
        return all(
            isinstance(of, TensorType) and same_bits(data, files.output(i))
            for i, (data, of) in enumerate(zip(outcome.outputs, stated, strict=True))
        )
    except BrokenValue:
        return False  # which of the two is broken shows when they are decoded


class Expected:
    """What a data set is and what it expects, each file read when asked for. Raises BrokenSuite."""

    def __init__(self, case: Case, folder: str, data_set: str) -> None:
        """``folder`` is the case's, ``data_set`` the name of a folder in it."""
        self._case = case
        self._folder = folder
        self._data_set = data_set

    def inputs(self) -> list[Value]:
        """The values of the graph's inputs."""
        return [self._read(f"{self._data_set}/input_{i}.pb", parse_type(of)) for i, of in enumerate(self._case.inputs)]

    def output(self, i: int) -> bytes:
        """The file of an output."""
        return read_file(self._case, self._folder, f"{self._data_set}/output_{i}.pb")

    def outputs(self) -> list[Value]:
        """The values of the graph's outputs."""
        return self._values("output")

    def answer(self) -> ExpectedAnswer:
        """What is expected; only the outputs are read at once."""
        numbers = any(
            one.numbers for i, one in enumerate(self._case.data_sets) if self._case.folder_of(i) == self._data_set
        )
        return ExpectedAnswer(self.outputs(), self.bounds, self.names, self.alternatives, self.unspecified, numbers)

    def readings(self) -> Iterator[ExpectedAnswer]:
        """What other readings of the specification's text give; an answer is right if it matches one of them."""
        for n in itertools.count():
            if f"{self._data_set}/reading_{n}_0.pb" not in self._case.files:
                return
            bounds = partial(self._bounds, f"reading_bound_{n}")
            yield ExpectedAnswer(self._values(f"reading_{n}"), bounds, self.names, mask=self.unspecified)

    def bounds(self, i: int) -> Value:
        """The bounds of an output; None if it has none."""
        return self._bounds("bound", i)

    def unspecified(self, i: int) -> Value:
        """The mask of an output: True for each element that the specification leaves open; None if it has none."""
        name = f"{self._data_set}/unspecified_{i}.pb"
        return self._read(name, mask_type(parse_type(self._case.outputs[i]))) if name in self._case.files else None

    def _values(self, stem: str) -> list[Value]:
        return [
            self._read(f"{self._data_set}/{stem}_{i}.pb", parse_type(of)) for i, of in enumerate(self._case.outputs)
        ]

    def _bounds(self, stem: str, i: int) -> Value:
        name = f"{self._data_set}/{stem}_{i}.pb"
        return self._read(name, bound_type(parse_type(self._case.outputs[i]))) if name in self._case.files else None

    def alternatives(self, i: int) -> Iterator[Value]:
        """The further answers that an output may have."""
        for n in itertools.count():
            name = f"{self._data_set}/alternative_{n}_{i}.pb"
            if name not in self._case.files:
                return
            yield self._read(name, parse_type(self._case.outputs[i]))

    def graph(self) -> onnx.GraphProto:
        """The graph of the model."""
        return onnx.load_from_string(read_file(self._case, self._folder, "model.onnx")).graph

    def names(self) -> Sequence[str]:
        """The names of the graph's outputs."""
        return [output.name for output in self.graph().output]

    def _read(self, name: str, of: ValueType) -> Value:
        data = read_file(self._case, self._folder, name)
        try:
            return decode(data, of)
        except BrokenValue as error:
            raise BrokenSuite(f"{self._folder}/{name} is broken: {error}") from error


def bound_type(of: ValueType) -> ValueType:
    """How the bounds of an output are kept: as double beside double and complex128, else as float."""
    if isinstance(of, TensorType):
        return TensorType(BY_NAME["double" if of.element.name in ("double", "complex128") else "float"])
    if isinstance(of, SparseTensorType):
        return bound_type(TensorType(of.element))
    return msgspec.structs.replace(of, of=bound_type(of.of))
