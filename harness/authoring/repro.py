"""repro: prints a script that reproduces one data set on one backend, and needs this project only if it must.

An adapter may provide the part of the script that runs the backend as a class attribute ``SCRIPT``: Python source with
its imports and a function ``run(model, inputs)``. ``model`` is a serialized ModelProto. ``inputs`` are the values of
the graph's inputs in order: arrays (with the types of ml_dtypes if NumPy has none, with ``str`` objects for strings),
lists for sequences, dicts for maps, and None for an empty optional. ``run`` returns the graph's outputs in the same
form. ``np``, ``onnx``, ``numpy_helper`` and ``sys`` are already imported. Without ``SCRIPT`` the script loads the
adapter itself.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import itertools
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TypeAlias

import msgspec
import onnx
import onnx.printer

from harness.authoring import script
from harness.backend.interface import BrokenAdapter
from harness.backend.loading import COMMAND_PREFIX, ONNX_PREFIX, load_backend
from harness.backend.protocol import PROTOCOL_VERSION
from harness.errors import UsageError
from harness.judging.judge import bound_type, read_case_file
from harness.running.process import worker_command
from harness.spec.element_types import Bits
from harness.spec.values import ValueType, parse_type
from harness.suite.cases import Case, DataSet, mask_type
from harness.suite.show import read_model
from harness.text import exception_text, shortened

_WIDTH = 110
_MAX_GRAPH_LINES = 60


class NoSuchDataSet(UsageError):
    """The case has no data set of this number."""


class NoScript(UsageError):
    """A script cannot reproduce the case: its answers are random, or onnx.numpy_helper does not support its types."""


class _Data(msgspec.Struct, frozen=True):
    """The contents of a value's file, with the value's name and type."""

    name: str
    of: str
    content: bytes


def repro_script(folder: Path, case: Case, backend: str, data_set: int) -> str:
    """The text of a script that exits with 0 if the backend's answer passes, otherwise with 1.

    ``folder`` is the directory of the case. Raises NoSuchDataSet and NoScript; UnknownBackend, BrokenAdapter and
    NoProgram for the backend, BrokenAdapter also for an invalid ``SCRIPT``; BrokenSuite and BrokenCase if the files are
    not those of the manifest.
    """
    _require_reproducible(case, data_set)
    graph = read_model(folder).graph
    files = _Files(folder, case, data_set)
    inputs = list(files.values("input", case.inputs, [value.name for value in graph.input]))
    names = [value.name for value in graph.output]
    expected, bounds = files.answer("output", "bound", names)
    readings = list(files.readings(names))
    masks = files.masks()
    bits = case.data_sets[data_set].bits
    has_bounds = any(any(one) for one in (bounds, *(of_reading for _, of_reading in readings)))
    run, requirements = _run_source(backend)
    criterion, judgement = _judgement(case, bits, has_bounds=has_bounds)
    is_structured = not all(of.startswith("tensor") for of in case.outputs)
    return script.SCRIPT.substitute(
        about="\n".join(_about(folder, case, backend, data_set, criterion, requirements)),
        ml_dtypes="import ml_dtypes\n" if has_bounds else "",
        run=run,
        judgement=judgement,
        structures=script.STRUCTURES if is_structured else "",
        bits=script.BITS.substitute(_BITS[bits]) if bits else "",
        compare_bits=script.COMPARE_BITS if bits else "",
        unspecified=script.UNSPECIFIED if masks else "",
        skip_unspecified=script.SKIP_UNSPECIFIED if masks else "",
        try_readings=script.TRY_READINGS if readings else "",
        differences="value_differences" if is_structured else "tensor_differences",
        nodes="\n".join(_nodes(graph)),
        model=_base64(read_case_file(case, str(folder), "model.onnx"), ""),
        inputs=_list_items([_named(value) for value in inputs]),
        expected=_list_items([_named(value, *files.alternatives(i)) for i, value in enumerate(expected)]),
        bounds=_list_items([_typed(bound) for bound in bounds]),
        masks=f"\nUNSPECIFIED = {{{_list_items([f'{i}: {_typed(mask)}' for i, mask in masks.items()])}}}\n"
        if masks
        else "",
        readings=f"\nREADINGS = [{_list_items(list(map(_reading, readings)))}]\n" if readings else "",
    )


def _require_reproducible(case: Case, data_set: int) -> None:
    last = len(case.data_sets) - 1
    if not 0 <= data_set <= last:
        existing = f"{last + 1} data sets, 0 to {last}" if last else "one data set, 0"
        raise NoSuchDataSet(f"{case.name} has no data set {data_set}: it has {existing}.", "Choose with --data-set.")
    if case.judged == "property":
        raise NoScript(
            f"The answers of {case.name} are random: they are compared with a distribution, not with values.",
            f"Run the case instead: onnx-conformance run --select case={case.name} --backend NAME.",
        )
    unsupported = [of for of in (*case.inputs, *case.outputs) if "sparse_tensor" in of or "map(string" in of]
    if unsupported:
        raise NoScript(
            f"{case.name} has a {unsupported[0]}, which onnx.numpy_helper does not support.",
            f"Run the case instead: onnx-conformance run --select case={case.name} --backend NAME.",
        )


# The docstring and comments of the script.


def _about(folder: Path, case: Case, backend: str, data_set: int, criterion: str, requirements: str) -> Iterator[str]:
    labels, chosen = case.labels, case.data_sets[data_set]
    yield _escaped(f"{case.name} (suite {folder.absolute().parent.name}, data set {data_set}) on {backend}.")
    yield ""
    domain = f"{labels.domain}." if labels.domain else ""
    fields = {
        "Operator": f"{domain}{labels.op}-{labels.since}" if labels.op else "a graph of several nodes",
        "Types": ", ".join(f"{name} = {of}" for name, of in labels.types.items()),
        "Attributes": ", ".join(
            f"{name} {'omitted' if value == 'omitted' else f'= {value}'}" for name, value in labels.attributes.items()
        ),
        "Omitted": ", ".join(labels.omitted),
        "Tests": ": ".join(filter(None, (chosen.group, chosen.about))),
        "Spec": case.clause,
        "Unspecified": _unspecified_text(chosen),
        "Criterion": criterion,
        "Requires": requirements,
        "Exit status": "0 if the answer passes, 1 if it does not or if there is no answer",
    }
    for title, text in fields.items():
        if text:
            yield from textwrap.wrap(
                _escaped(text),
                _WIDTH,
                initial_indent=f"{title:<13}",
                subsequent_indent=" " * 13,
                break_on_hyphens=False,
            )


def _unspecified_text(data_set: DataSet) -> str:
    if not data_set.unspecified:
        return ""
    if data_set.is_scored:
        return f"Not compared: {data_set.unspecified_elements} of {data_set.elements} elements. {data_set.unspecified}"
    return f"The spec allows other answers, so a difference is not a fault. {data_set.unspecified}"


def _escaped(text: str) -> str:
    """Text from a file, on one line and escaped so that it cannot end the script's docstring."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
    return line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _nodes(graph: onnx.GraphProto) -> Iterator[str]:
    """The graph's nodes in ONNX's textual form, as comments."""
    lines = [line for node in graph.node for line in onnx.printer.to_text(node).splitlines()]
    yield "# The node:" if len(graph.node) == 1 else f"# The {len(graph.node)} nodes:"
    for line in lines[:_MAX_GRAPH_LINES]:
        yield "#  " + shortened("".join(c if c.isprintable() else " " for c in line), _WIDTH * 2)
    if len(lines) > _MAX_GRAPH_LINES:
        yield f"#   … and {len(lines) - _MAX_GRAPH_LINES} more lines"


# The data of the script.


class _Files:
    """The files of a data set."""

    def __init__(self, folder: Path, case: Case, data_set: int) -> None:
        self._case = case
        self._folder = str(folder)
        self._prefix = case.file_prefix(data_set)

    def values(self, stem: str, types: Sequence[str], names: Sequence[str]) -> Iterator[_Data]:
        """The values of the files ``<stem>_<i>.pb``."""
        for i, of in enumerate(types):
            yield _Data(names[i] if i < len(names) else f"{stem}_{i}", of, self._content(f"{stem}_{i}.pb"))

    def answer(self, stem: str, bound_stem: str, names: Sequence[str]) -> _Answer:
        """The expected outputs and their bounds; None for an output without bounds."""
        types = [bound_type(parse_type(of)) for of in self._case.outputs]
        by_bounds = self._case.judged == "bounds"
        bounds = [self._optional(f"{bound_stem}_{i}.pb", of) if by_bounds else None for i, of in enumerate(types)]
        return list(self.values(stem, self._case.outputs, names)), bounds

    def readings(self, names: Sequence[str]) -> Iterator[_Answer]:
        """The answers by other readings of the specification."""
        for n in itertools.count():
            if f"{self._prefix}reading_{n}_0.pb" not in self._case.files:
                return
            yield self.answer(f"reading_{n}", f"reading_bound_{n}", names)

    def masks(self) -> dict[int, _Data]:
        """The masks of unspecified elements, by the number of the output."""
        types = [mask_type(parse_type(of)) for of in self._case.outputs]
        masks = {i: self._optional(f"unspecified_{i}.pb", of) for i, of in enumerate(types)}
        return {i: mask for i, mask in masks.items() if mask}

    def alternatives(self, output: int) -> Iterator[bytes]:
        """The contents of the alternative answers for an output."""
        for n in itertools.count():
            name = f"alternative_{n}_{output}.pb"
            if f"{self._prefix}{name}" not in self._case.files:
                return
            yield self._content(name)

    def _optional(self, name: str, of: ValueType) -> _Data | None:
        return _Data("", str(of), self._content(name)) if f"{self._prefix}{name}" in self._case.files else None

    def _content(self, name: str) -> bytes:
        return read_case_file(self._case, self._folder, f"{self._prefix}{name}")


_Answer: TypeAlias = tuple[list[_Data], list[_Data | None]]


def _reading(answer: _Answer) -> str:
    expected, bounds = answer
    return f"([{_list_items(list(map(_named, expected)))}], [{_list_items(list(map(_typed, bounds)))}])"


def _typed(value: _Data | None) -> str:
    return f"({_b64decode(value.content)}, {value.of!r})" if value else "None"


def _named(value: _Data, *alternatives: bytes) -> str:
    contents = ", ".join(map(_b64decode, (value.content, *alternatives)))
    return f"({value.name!r}, {value.of!r}, {contents})"


def _b64decode(content: bytes) -> str:
    """Source that decodes to the content."""
    return f'b64decode("""\n{_base64(content, " " * 8)}\n    """)'


def _base64(content: bytes, indent: str) -> str:
    text = base64.b64encode(content).decode()
    width = _WIDTH - len(indent)
    return "\n".join(indent + text[i : i + width] for i in range(0, len(text), width))


def _list_items(items: Sequence[str]) -> str:
    return "".join(f"\n    {item}," for item in items) + "\n" * bool(items)


# The source that runs the backend and judges its answer.


_BITS: Mapping[Bits, Mapping[str, str]] = {
    "signs": {"which": "the sign of zero", "compared": "(got == 0) & (want == 0)"},
    "all": {
        "which": "the sign of zero or the bits of NaN",
        "compared": "((got == 0) & (want == 0)) | ((got != got) & (want != want))",
    },
}


def _judgement(case: Case, bits: Bits, *, has_bounds: bool) -> tuple[str, str]:
    """The criterion of the case as text, and the source that applies it."""
    if case.judged == "tolerance":
        text = f"|got - want| <= {case.atol} + {case.rtol} * |want|"
        return text, script.TOLERANCE.substitute(rtol=case.rtol, atol=case.atol)
    equality = {
        "": "equal bit for bit, but NaN equals NaN and +0 equals -0",
        "signs": "equal bit for bit, but NaN equals NaN",
        "all": "equal bit for bit, also NaN and the signs of zeros",
    }[bits]
    if any("/alternative_" in file for file in case.files):
        equality += "; some elements have alternatives"
    if any("/reading_" in file for file in case.files):
        equality += "; the answer may follow another reading of the specification"
    if not has_bounds:
        return equality, script.EQUALITY
    return f"|got - want| <= 4 * bound for each element; without a bound {equality}", script.BOUNDS


def _run_source(backend: str) -> tuple[str, str]:
    """The source of ``run``, and what it requires."""
    if backend.startswith(COMMAND_PREFIX):
        worker_command(backend, 0)  # checks that the program exists
        program = shlex.split(backend.removeprefix(COMMAND_PREFIX))
        source = script.RUN_COMMAND.substitute(program=program, protocol=PROTOCOL_VERSION)
        return source, f"{_packages(source)}; the program {program[0]}"
    with contextlib.redirect_stdout(sys.stderr):  # standard output is for the script, not for what an adapter prints
        adapter = load_backend(backend)
    if backend.startswith(ONNX_PREFIX):
        module, _, name = backend.removeprefix(ONNX_PREFIX).partition(":")
        load = f"from {module} import {name} as Backend" if name else f"import {module} as Backend"
        source = script.RUN_ONNX_BACKEND.substitute(load=load)
        return source, _packages(source)
    source = getattr(adapter, "SCRIPT", None)
    if source:
        try:
            return source.strip(), _packages(source)
        except (SyntaxError, AttributeError) as error:
            raise BrokenAdapter(
                f"The SCRIPT of {backend!r} is not valid Python: {exception_text(error)}.", "Fix the adapter's SCRIPT."
            ) from error
    source = script.RUN_ADAPTER.substitute(spec=repr(backend))
    return source, _packages(f"{source}\nimport {type(adapter).__module__}")


def _packages(source: str) -> str:
    """What the imports of a source require: packages in the installed versions, and modules outside of packages."""
    modules = ["onnx", "numpy", "ml_dtypes"]
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.Import):
            modules += [name.name for name in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            modules.append(statement.module)
    installed = dict(packages_distributions())
    installed["harness"] = installed["backends"] = ["onnx-conformance"]  # missing in an editable install
    tops = dict.fromkeys(module.partition(".")[0] for module in modules)
    packages = dict.fromkeys(package for top in tops for package in installed.get(top, ())[:1])
    others = [top for top in tops if top not in installed and top not in sys.stdlib_module_names]
    install = f"pip install {' '.join(f'{package}=={version(package)}' for package in packages)}"
    return "; ".join([install, *(f"the module {top}, in the folder where you start the script" for top in others)])
