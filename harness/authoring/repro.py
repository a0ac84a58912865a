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
from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path

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
from harness.spec.values import parse_type
from harness.suite.cases import Case
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
    inputs = list(_read(folder, case, data_set, "input", [value.name for value in graph.input]))
    expected = list(_read(folder, case, data_set, "output", [value.name for value in graph.output]))
    bounds = _read_bounds(folder, case, data_set)
    run, requirements = _run_source(backend)
    criterion, judgement = _judgement(case, has_bounds=any(bounds))
    is_structured = not all(of.startswith("tensor") for of in case.outputs)
    return script.SCRIPT.substitute(
        about="\n".join(_about(folder, case, backend, data_set, criterion, requirements)),
        ml_dtypes="import ml_dtypes\n" if any(bounds) else "",
        run=run,
        judgement=judgement,
        structures=script.STRUCTURES if is_structured else "",
        differences="value_differences" if is_structured else "tensor_differences",
        nodes="\n".join(_nodes(graph)),
        model=_base64(read_case_file(case, str(folder), "model.onnx"), ""),
        inputs=_list_items([_named(value) for value in inputs]),
        expected=_list_items(
            [_named(value, *_alternatives(folder, case, data_set, i)) for i, value in enumerate(expected)]
        ),
        bounds=_list_items([f"({_b64decode(bound.content)}, {bound.of!r})" if bound else "None" for bound in bounds]),
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
        "Unspecified": f"The spec allows other answers, so a difference is not a fault. {chosen.unspecified}"
        if chosen.unspecified
        else "",
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


def _read(folder: Path, case: Case, data_set: int, stem: str, names: Sequence[str]) -> Iterator[_Data]:
    types = case.inputs if stem == "input" else case.outputs
    for i, of in enumerate(types):
        content = read_case_file(case, str(folder), f"{case.file_prefix(data_set)}{stem}_{i}.pb")
        yield _Data(names[i] if i < len(names) else f"{stem}_{i}", of, content)


def _read_bounds(folder: Path, case: Case, data_set: int) -> list[_Data | None]:
    """The bounds of each output; None if it must match bit for bit or is not judged by bounds."""
    bounds: list[_Data | None] = []
    for i, of in enumerate(case.outputs):
        file = f"{case.file_prefix(data_set)}bound_{i}.pb"
        if case.judged == "bounds" and file in case.files:
            bounds.append(_Data("", str(bound_type(parse_type(of))), read_case_file(case, str(folder), file)))
        else:
            bounds.append(None)
    return bounds


def _alternatives(folder: Path, case: Case, data_set: int, output: int) -> Iterator[bytes]:
    """The contents of the alternative answers for an output."""
    for n in itertools.count():
        file = f"{case.file_prefix(data_set)}alternative_{n}_{output}.pb"
        if file not in case.files:
            return
        yield read_case_file(case, str(folder), file)


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


def _judgement(case: Case, *, has_bounds: bool) -> tuple[str, str]:
    """The criterion of the case as text, and the source that applies it."""
    if case.judged == "tolerance":
        text = f"|got - want| <= {case.atol} + {case.rtol} * |want|"
        return text, script.TOLERANCE.substitute(rtol=case.rtol, atol=case.atol)
    equality = "equal bit for bit, but NaN equals NaN and +0 equals -0"
    if any("/alternative_" in file for file in case.files):
        equality += "; some elements have alternatives"
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
