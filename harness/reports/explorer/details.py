"""The tensors of what did not pass, as text: the inputs, and what was expected beside what each run gave."""

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
from harness.reports.gather import RunFacts
from harness.reports.text import measure, plain
from harness.results.recording import OUTPUTS_FOLDER
from harness.spec.codec import BrokenValue, decode
from harness.spec.element_types import ElementType, UnknownElementType, element_type
from harness.spec.values import SparseTensor, TensorType, Value, ValueType, parse_type, tensors_in
from harness.suite.cases import Case
from harness.suite.show import node_lines

_SHOWN = 48
"""Elements shown of a tensor; of an output those that differ come first."""
_ITEMS = 16
"""Of a sequence or map."""
_LONGEST_TEXT = 80
_MOST_BYTES = 16 << 20
"""Of a kept answer; larger ones are told of, not shown."""


class Shown(msgspec.Struct, frozen=True):
    """A tensor, or a part of its elements."""

    name: str
    type: str
    shape: list[int]
    size: int
    values: list[str]
    """The first elements in row-major order; all of them unless ``size`` says otherwise."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run gave for one tensor."""

    values: list[str] = []
    """At the places of the output's ``at``."""
    errors: list[str] = []
    """In bounds, where the tensor is judged by bounds; else empty."""
    wrong: str = ""
    """``1`` for an element that is not allowed, else ``0``."""
    differing: int = 0
    other: str = ""
    """In what its structure is another: then the values are its own first ones."""


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tensor of the expected outputs, with what each run gave in its place."""

    name: str
    type: str
    shape: list[int]
    size: int
    at: list[int]
    """Which elements are shown, by number in row-major order."""
    want: list[str]
    bounds: list[str] = []
    answers: dict[int, Answer] = {}
    """Run → its answer, of runs whose answer did not pass."""


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is to be seen of one data set."""

    nodes: list[str]
    about: str
    unspecified: str
    clause: str
    seed: str
    inputs: list[Shown]
    outputs: list[Output]
    kept: list[int]
    """Runs whose answer is among this."""
    problem: str = ""
    """Why there is no more."""


def detail(case: Case, data_set: int, suite: Path, runs: Mapping[int, RunFacts]) -> Detail:
    """One data set as its files are; a file that is broken is told of in ``problem``.

    ``runs`` are those that did not get it right, of which answers may be kept.
    """
    expected = DataSetFiles(case, str(suite / case.name), case.file_prefix(data_set))
    facts = case.data_sets[data_set]
    nodes: list[str] = []
    inputs: list[Shown] = []
    outputs: list[Output] = []
    given: dict[int, list[bytes]] = {}
    problem = ""
    try:
        graph = expected.graph()
        nodes = [plain(line) for node in graph.node[:20] for line in node_lines(node)]
        for info, value in zip(graph.input, expected.inputs(), strict=False):
            inputs.extend(_tensors(info.name, value))
        given = {n: kept for n, run in runs.items() if (kept := _given(run, case, data_set))}
        outputs = _outputs(case, expected.answer(), [output.name for output in graph.output], given)
    except (ConformanceError, DecodeError) as error:
        problem = plain(str(error))
    return Detail(nodes, facts.about, facts.unspecified, case.clause, facts.seed, inputs, outputs, list(given), problem)


def _given(run: RunFacts, case: Case, data_set: int) -> list[bytes]:
    """The files that were kept of a run's answer; none where it passed, or there was no room."""
    folder = Path(run.path).parent / OUTPUTS_FOLDER / case.name / str(data_set)
    files: list[bytes] = []
    try:
        for i in range(len(case.outputs)):
            file = folder / f"output_{i}.pb"
            if file.stat().st_size > _MOST_BYTES:
                return []
            files.append(file.read_bytes())
    except OSError:  # fewer outputs, or nothing kept
        pass
    return files


def _outputs(case: Case, want: ExpectedAnswer, names: Sequence[str], given: Mapping[int, list[bytes]]) -> list[Output]:
    places: dict[tuple[int, str], TensorPair] = {
        (one.output, one.path): one for one in pair_tensors(case, want, want.outputs) if isinstance(one, TensorPair)
    }
    compared: dict[tuple[int, str], dict[int, tuple[TensorPair, Measurement]]] = {place: {} for place in places}
    others: dict[tuple[int, str], dict[int, Answer]] = {place: {} for place in places}
    for run, files in given.items():
        for place, found in _compared(case, want, files):
            if isinstance(found, Answer):
                others.setdefault(place, {})[run] = found
            else:
                compared[place][run] = found
    return [
        _output(names, pair, compared[place], others[place], case.judged != "property")
        for place, pair in places.items()
    ]


def _compared(
    case: Case, want: ExpectedAnswer, files: Sequence[bytes]
) -> Iterator[tuple[tuple[int, str], Answer | tuple[TensorPair, Measurement]]]:
    """Each tensor of an answer, measured where its structure is that of what was expected."""
    got: list[Value] = []
    right = len(files) == len(case.outputs)
    for i, data in enumerate(files):
        declared = parse_type(case.outputs[i])
        of = _type_of(data, declared)
        try:
            got.append(decode(data, of))
        except BrokenValue as error:
            right = False
            yield (i, ""), Answer(other=plain(str(error)))
            continue
        if of != declared:
            right = False
            yield (i, ""), _other(f"{of}", got[-1])
    if not right:
        return
    for found in pair_tensors(case, want, got):
        if isinstance(found, StructureMismatch):
            yield (found.output, ""), _other(found.message.removeprefix(": "), got[found.output])
        else:
            yield (found.output, found.path), (found, measure_pair(case, found, want.alternatives)[1])


def _type_of(data: bytes, declared: ValueType) -> ValueType:
    """The type of a kept tensor as it says itself; of what is no tensor, the declared one."""
    if not isinstance(declared, TensorType):
        return declared
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(data)
        return TensorType(element_type(proto.data_type))
    except (DecodeError, UnknownElementType):
        return declared


def _other(how: str, value: Value) -> Answer:
    first = next(tensors_in(value), np.empty(0))
    return Answer(values=_texts(first.reshape(-1)[:_SHOWN]), other=plain(how))


def _output(
    names: Sequence[str],
    pair: TensorPair,
    answers: Mapping[int, tuple[TensorPair, Measurement]],
    others: Mapping[int, Answer],
    judged: bool,
) -> Output:
    """``judged``: element by element, and not by a law that random answers follow."""
    size = pair.want.size
    wrong = np.zeros(size, bool)
    for _, measured in answers.values():
        wrong |= ~measured.passing.reshape(-1)
    at = np.arange(size)
    if size > _SHOWN:
        at = np.sort(np.concatenate([np.flatnonzero(wrong), np.flatnonzero(~wrong)])[:_SHOWN])
    name = names[pair.output] if pair.output < len(names) else f"output_{pair.output}"
    bounds = pair.bounds.reshape(-1)[at] if isinstance(pair.bounds, np.ndarray) else None
    return Output(
        name=plain(name + pair.path),
        type=pair.element.name,
        shape=list(pair.want.shape),
        size=size,
        at=at.tolist(),
        want=_texts(pair.want.reshape(-1)[at]),
        bounds=[] if bounds is None else [f"{bound:.3g}" for bound in bounds.tolist()],
        answers={run: _answer(one, measured, at, judged) for run, (one, measured) in answers.items()} | dict(others),
    )


def _answer(pair: TensorPair, measured: Measurement, at: np.ndarray, judged: bool) -> Answer:
    passing = measured.passing.reshape(-1)
    ratios = measured.ratios
    if not judged:
        return Answer(values=_texts(pair.got.reshape(-1)[at]))
    return Answer(
        values=_texts(pair.got.reshape(-1)[at]),
        errors=[] if ratios is None else [measure(float(ratio)) for ratio in ratios.reshape(-1)[at]],
        wrong="".join("01"[not allowed] for allowed in passing[at].tolist()),
        differing=int(np.count_nonzero(~passing)),
    )


def _tensors(name: str, value: Value) -> Iterator[Shown]:
    """The tensors in an input, each named by where it is: ``x``, ``x[0]``, ``x['a']``."""
    match value:
        case np.ndarray():
            of = element_type("string" if value.dtype == object else value.dtype)
            yield Shown(plain(name), of.name, list(value.shape), value.size, _texts(value.reshape(-1)[:_SHOWN]))
        case SparseTensor():
            yield from _tensors(f"{name} (sparse, shape {list(value.dims)}), values", value.values)
            yield from _tensors(f"{name}, indices", value.indices)
        case list() | dict():
            items = enumerate(value) if isinstance(value, list) else value.items()
            for key, item in itertools.islice(items, _ITEMS):
                yield from _tensors(f"{name}[{key!r}]", item)
        case None:
            pass


def _texts(array: np.ndarray) -> list[str]:
    """Elements as text, with as many digits as their type has."""
    if array.dtype == object:
        texts: Iterable[str] = (plain(repr(item)) for item in array.tolist())
        return [text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…" for text in texts]
    of = element_type(array.dtype)
    if of.format is None:
        return [str(item) for item in array.tolist()]
    return (
        array.astype(str).tolist() if issubclass(array.dtype.type, np.inexact) else [_short(item, of) for item in array]
    )


def _short(item: np.generic, of: ElementType) -> str:
    assert of.format
    return f"{float(item):.{3 + of.format.precision // 4}g}"
