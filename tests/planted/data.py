"""The scored data sets of an operator version, in memory, and whether an answer to one of them is noticed as wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from backends.numpy import NumpyBackend
from harness.backend.interface import PreparedModel, Unsupported
from harness.judging.compare import ExpectedAnswer, check_types, compare
from harness.judging.distributions import compare_distributions
from harness.judging.judge import DataSetFiles, bound_type
from harness.spec.element_types import Bits, ElementType
from harness.spec.schema import Schema
from harness.spec.values import TensorType, Value, ValueType, parse_type
from harness.suite.cases import Case, DataSet
from harness.suite.manifest import Suite

assert bound_type  # the types of bounds are the judge's


class Trial(msgspec.Struct, eq=False):
    """One scored data set: what goes in, and every answer that is accepted."""

    case: Case
    number: int
    inputs: list[Value]
    answers: list[ExpectedAnswer]
    run: PreparedModel

    @property
    def data_set(self) -> DataSet:
        return self.case.data_sets[self.number]

    @property
    def title(self) -> str:
        return f"{self.case.name}/{self.number}"

    def notices(self, outputs: Sequence[Value]) -> bool:
        """Whether the judge calls these outputs wrong."""
        stated = [_stated(value, parse_type(of)) for value, of in zip(outputs, self.case.outputs, strict=False)]
        if len(outputs) != len(self.case.outputs) or None in stated:
            return True
        if check_types(self.case, [of for of in stated if of], tuple):
            return True
        if self.case.judged == "property":
            found = compare_distributions(self.case, self.answers[0].outputs, outputs, self.inputs, tuple)
            return found.verdict != "passed"
        bits = self.data_set.bits
        return all(compare(self.case, answer, outputs, _always(bits)).verdict != "passed" for answer in self.answers)

    def is_noticed(self) -> bool:
        """Whether what the oracle gives now, for fresh copies of the inputs, is noticed; an exception is."""
        return answer_is_noticed(self, [copied(value) for value in self.inputs])


def answer_is_noticed(trial: Trial, inputs: Sequence[Value]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return trial.notices(list(trial.run(inputs)))
    except Exception:  # a mutant may do anything, and whatever it raises is seen by every runner
        return True


def trials(suite: Suite, version: Schema, cases: Sequence[Case]) -> Iterator[Trial]:
    """The scored data sets of a version's cases that can fail."""
    backend = NumpyBackend()
    for case in cases:
        if not any(data_set.can_fail for data_set in case.data_sets):
            continue
        folder = str(suite.path / case.name)
        try:
            run = backend.prepare((suite.path / case.name / "model.onnx").read_bytes())
        except Unsupported:
            continue
        for number, data_set in enumerate(case.data_sets):
            if data_set.can_fail:
                files = DataSetFiles(case, folder, number)
                answers = [_loaded(case, answer) for answer in (files.answer(), *files.readings())]
                yield Trial(case, number, files.inputs(), answers, run)


def _loaded(case: Case, answer: ExpectedAnswer) -> ExpectedAnswer:
    """The answer with everything read, so that nothing is read again for each fault."""
    every = range(len(case.outputs))
    bounds, masks = [answer.bounds(i) for i in every], [answer.mask(i) for i in every]
    alternatives = [tuple(answer.alternatives(i)) for i in every]
    return ExpectedAnswer(list(answer.outputs), bounds.__getitem__, tuple, alternatives.__getitem__, masks.__getitem__)


def _always(bits: Bits) -> Any:
    def every(_: ElementType) -> Bits:
        return bits

    return every


def _stated(value: Value, declared: ValueType) -> ValueType | None:
    if isinstance(declared, TensorType):
        fits = isinstance(value, np.ndarray) and value.dtype == declared.element.dtype
        return declared if fits else None
    return declared


def copied(value: Value) -> Value:
    """A value that may be written to."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value
