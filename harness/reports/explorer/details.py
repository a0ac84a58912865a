"""The tensors of failing data sets as text: inputs, expected outputs, and the actual outputs of each run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import onnx
from google.protobuf.message import DecodeError

from harness.errors import ConformanceError
from harness.judging.compare import ExpectedAnswer, StructureMismatch, TensorPair, measure_pair, pair_tensors
from harness.judging.judge import DataSetFiles
from harness.judging.measures import Measurement
from harness.reports.gather import RunInfo
from harness.reports.text import format_measure, printable
from harness.results.recording import OUTPUTS_FOLDER
from harness.spec.codec import BrokenValue, decode
from harness.spec.element_types import ElementType, UnknownElementType, element_type
from harness.spec.values import SparseTensor, TensorType, Value, ValueType, parse_type, tensors_in
from harness.suite.cases import Case
from harness.suite.show import node_lines

_MAX_ELEMENTS = 48
"""The maximum number of elements shown of a tensor. In outputs, wrong elements are preferred."""
_MAX_ITEMS = 16
"""The maximum number of items shown of a sequence or map."""
_MAX_CHARACTERS = 80
_MAX_BYTES = 16 << 20
"""The maximum size of a saved output file. Larger ones are not shown."""


class InputText(msgspec.Struct, frozen=True):
    """An input tensor, or its first elements."""

    name: str
    type: str
    shape: list[int]
    size: int
    values: list[str]
    """The first elements in row-major order. Fewer than ``size`` if the tensor is large."""


class ActualOutput(msgspec.Struct, frozen=True, omit_defaults=True):
    """The actual value of an output tensor in one run."""

    values: list[str] = []
    """The elements at the indices ``Output.at``."""
    errors: list[str] = []
    """Errors in bounds. Empty if the tensor is not compared by bounds."""
    wrong: str = ""
    """``1`` for a wrong element, ``0`` for one that passes."""
    differing: int = 0
    mismatch: str = ""
    """How type or shape differ from the expected ones. Then ``values`` are its first elements."""


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """An expected output tensor, and the actual one of each run."""

    name: str
    type: str
    shape: list[int]
    size: int
    at: list[int]
    """The row-major indices of the elements shown."""
    expected: list[str]
    bounds: list[str] = []
    actual: dict[int, ActualOutput] = {}
    """Index of the run → actual output, for runs in which the data set fails."""


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tensors and texts of one data set."""

    nodes: list[str]
    about: str
    unspecified: str
    clause: str
    seed: str
    inputs: list[InputText]
    outputs: list[Output]
    saved: list[int]
    """The indices of the runs whose outputs were saved."""
    problem: str = ""
    """Why tensors are missing. Empty if they are complete."""


def detail(case: Case, data_set: int, suite: Path, runs: Mapping[int, RunInfo]) -> Detail:
    """Reads the files of a data set. A broken file is reported in ``problem``.

    ``runs`` are the runs in which it fails, by index. Their outputs may have been saved.
    """
    files = DataSetFiles(case, str(suite / case.name), data_set)
    facts = case.data_sets[data_set]
    nodes: list[str] = []
    inputs: list[InputText] = []
    outputs: list[Output] = []
    saved: dict[int, list[bytes]] = {}
    problem = ""
    try:
        graph = files.graph()
        nodes = [printable(line) for node in graph.node[:20] for line in node_lines(node)]
        for info, value in zip(graph.input, files.inputs(), strict=False):
            inputs.extend(_tensors(info.name, value))
        saved = {n: kept for n, run in runs.items() if (kept := _saved_files(run, case, data_set))}
        outputs = _outputs(case, files.answer(), [output.name for output in graph.output], saved)
    except (ConformanceError, DecodeError) as error:
        problem = printable(str(error))
    return Detail(nodes, facts.about, facts.unspecified, case.clause, facts.seed, inputs, outputs, list(saved), problem)


def _saved_files(run: RunInfo, case: Case, data_set: int) -> list[bytes]:
    """The saved output files of a run. Empty if none were saved."""
    folder = Path(run.path).parent / OUTPUTS_FOLDER / case.name / str(data_set)
    files: list[bytes] = []
    try:
        for i in range(len(case.outputs)):
            file = folder / f"output_{i}.pb"
            if file.stat().st_size > _MAX_BYTES:
                return []
            files.append(file.read_bytes())
    except OSError:  # fewer outputs, or none saved
        pass
    return files


def _outputs(
    case: Case, expected: ExpectedAnswer, names: Sequence[str], saved: Mapping[int, list[bytes]]
) -> list[Output]:
    pairs = pair_tensors(case, expected, expected.outputs)
    places: dict[tuple[int, str], TensorPair] = {
        (pair.output, pair.path): pair for pair in pairs if isinstance(pair, TensorPair)
    }
    compared: dict[tuple[int, str], dict[int, tuple[TensorPair, Measurement]]] = {place: {} for place in places}
    others: dict[tuple[int, str], dict[int, ActualOutput]] = {place: {} for place in places}
    for run, files in saved.items():
        for place, found in _compared(case, expected, files):
            if isinstance(found, ActualOutput):
                others.setdefault(place, {})[run] = found
            else:
                compared[place][run] = found
    return [
        _output(names, pair, compared[place], others[place], case.judged != "property")
        for place, pair in places.items()
    ]


def _compared(
    case: Case, expected: ExpectedAnswer, files: Sequence[bytes]
) -> Iterator[tuple[tuple[int, str], ActualOutput | tuple[TensorPair, Measurement]]]:
    """Yields (output, path) of each tensor with its comparison, or as it is if its type or shape differ."""
    got: list[Value] = []
    right = len(files) == len(case.outputs)
    for i, data in enumerate(files):
        declared = parse_type(case.outputs[i])
        of = _type_of(data, declared)
        try:
            got.append(decode(data, of))
        except BrokenValue as error:
            right = False
            yield (i, ""), ActualOutput(mismatch=printable(str(error)))
            continue
        if of != declared:
            right = False
            yield (i, ""), _mismatched(f"{of}", got[-1])
    if not right:
        return
    for found in pair_tensors(case, expected, got):
        if isinstance(found, StructureMismatch):
            yield (found.output, ""), _mismatched(found.message.removeprefix(": "), got[found.output])
        else:
            yield (found.output, found.path), (found, measure_pair(case, found, expected.alternatives)[1])


def _type_of(data: bytes, declared: ValueType) -> ValueType:
    """The type in the saved tensor. The declared type if it is not a tensor."""
    if not isinstance(declared, TensorType):
        return declared
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(data)
        return TensorType(element_type(proto.data_type))
    except (DecodeError, UnknownElementType):
        return declared


def _mismatched(how: str, value: Value) -> ActualOutput:
    first = next(tensors_in(value), np.empty(0))
    return ActualOutput(values=_texts(first.reshape(-1)[:_MAX_ELEMENTS]), mismatch=printable(how))


def _output(
    names: Sequence[str],
    pair: TensorPair,
    answers: Mapping[int, tuple[TensorPair, Measurement]],
    others: Mapping[int, ActualOutput],
    elementwise: bool,
) -> Output:
    """``elementwise``: whether outputs are compared element by element, not by a statistical test."""
    size = pair.want.size
    wrong = np.zeros(size, bool)
    for _, measured in answers.values():
        wrong |= ~measured.passing.reshape(-1)
    at = np.arange(size)
    if size > _MAX_ELEMENTS:
        at = np.sort(np.concatenate([np.flatnonzero(wrong), np.flatnonzero(~wrong)])[:_MAX_ELEMENTS])
    name = names[pair.output] if pair.output < len(names) else f"output_{pair.output}"
    bounds = pair.bounds.reshape(-1)[at] if isinstance(pair.bounds, np.ndarray) else None
    return Output(
        name=printable(name + pair.path),
        type=pair.element.name,
        shape=list(pair.want.shape),
        size=size,
        at=at.tolist(),
        expected=_texts(pair.want.reshape(-1)[at]),
        bounds=[] if bounds is None else [f"{bound:.3g}" for bound in bounds.tolist()],
        actual={run: _actual_output(one, measured, at, elementwise) for run, (one, measured) in answers.items()}
        | dict(others),
    )


def _actual_output(pair: TensorPair, measured: Measurement, at: np.ndarray, elementwise: bool) -> ActualOutput:
    passing = measured.passing.reshape(-1)
    ratios = measured.ratios
    if not elementwise:
        return ActualOutput(values=_texts(pair.got.reshape(-1)[at]))
    return ActualOutput(
        values=_texts(pair.got.reshape(-1)[at]),
        errors=[] if ratios is None else [format_measure(float(ratio)) for ratio in ratios.reshape(-1)[at]],
        wrong="".join("01"[not allowed] for allowed in passing[at].tolist()),
        differing=int(np.count_nonzero(~passing)),
    )


def _tensors(name: str, value: Value) -> Iterator[InputText]:
    """The tensors in an input, named by position: ``x``, ``x[0]``, ``x['a']``."""
    match value:
        case np.ndarray():
            of = element_type("string" if value.dtype == object else value.dtype)
            yield InputText(
                printable(name), of.name, list(value.shape), value.size, _texts(value.reshape(-1)[:_MAX_ELEMENTS])
            )
        case SparseTensor():
            yield from _tensors(f"{name} (sparse, shape {list(value.dims)}), values", value.values)
            yield from _tensors(f"{name}, indices", value.indices)
        case list() | dict():
            items = enumerate(value) if isinstance(value, list) else value.items()
            for key, item in itertools.islice(items, _MAX_ITEMS):
                yield from _tensors(f"{name}[{key!r}]", item)
        case None:
            pass


def _texts(array: np.ndarray) -> list[str]:
    """Elements as text, with the precision of their type."""
    if array.dtype == object:
        texts: Iterable[str] = (printable(repr(item)) for item in array.tolist())
        return [text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…" for text in texts]
    of = element_type(array.dtype)
    if of.format is None:
        return [str(item) for item in array.tolist()]
    return (
        array.astype(str).tolist() if issubclass(array.dtype.type, np.inexact) else [_short(item, of) for item in array]
    )


def _short(item: np.generic, of: ElementType) -> str:
    assert of.format
    return f"{float(item):.{3 + of.format.precision // 4}g}"
