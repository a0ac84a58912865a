"""A script that reproduces one data set of one case on one backend, and needs this project only where it must.

An adapter gives its script the part that drives the backend as a class attribute ``SCRIPT``: the source of a function
``run(model, inputs)``, after the imports it needs. ``model`` is a serialized ModelProto, ``inputs`` are the values of
the graph's inputs in their order (arrays of NumPy's and ml_dtypes' types, of ``str`` objects for strings; lists for
sequences, dicts for maps, None for an absent optional), and it returns the graph's outputs likewise. ``np``, ``onnx``,
``numpy_helper`` and ``sys`` are imported before it. Without a ``SCRIPT`` the script loads the adapter itself.
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
from harness.backend.loading import COMMAND, ONNX, load_backend
from harness.backend.protocol import PROTOCOL
from harness.errors import UsageError
from harness.judging.judge import bound_type, read_file
from harness.running.process import command_of
from harness.spec.values import parse_type
from harness.suite.cases import Case
from harness.suite.show import read_model
from harness.text import exception_text, shortened

_WIDTH = 110
_MOST_LINES = 60
"""Of a graph's text."""


class NoSuchDataSet(UsageError):
    """A number that none of a case's data sets has."""


class NoScript(UsageError):
    """A case with values for which onnx.numpy_helper has no form, or with random answers."""


class _Data(msgspec.Struct, frozen=True):
    """A value's file, as the script holds it."""

    name: str
    of: str
    content: bytes


def repro(folder: Path, case: Case, backend: str, data_set: int) -> str:
    """The text of the script: it exits with 0 where the backend's answer passes, else with 1.

    ``folder`` is the case's own. Raises NoSuchDataSet, NoScript, and what ``load_backend`` and ``command_of`` raise
    for a backend that is not there; BrokenAdapter also for a ``SCRIPT`` that is no Python; BrokenSuite and BrokenCase
    for files that are not those of the manifest.
    """
    _require(case, data_set)
    graph = read_model(folder).graph
    inputs = list(_read(folder, case, data_set, "input", [value.name for value in graph.input]))
    expected = list(_read(folder, case, data_set, "output", [value.name for value in graph.output]))
    bounds = _read_bounds(folder, case, data_set)
    run, needs = _run(backend)
    judged, judgement = _judgement(case, bounded=any(bounds))
    is_structured = not all(of.startswith("tensor") for of in case.outputs)
    return script.SCRIPT.substitute(
        about="\n".join(_about(folder, case, backend, data_set, judged, needs)),
        ml_dtypes="import ml_dtypes\n" if any(bounds) else "",
        run=run,
        judgement=judgement,
        structures=script.STRUCTURES if is_structured else "",
        faults="faults_within" if is_structured else "faults",
        nodes="\n".join(_nodes(graph)),
        model=_encoded(read_file(case, str(folder), "model.onnx"), ""),
        inputs=_listed([_named(value) for value in inputs]),
        expected=_listed([_named(value, *_also(folder, case, data_set, i)) for i, value in enumerate(expected)]),
        bounds=_listed([f"({_decoding(bound.content)}, {bound.of!r})" if bound else "None" for bound in bounds]),
    )


def _require(case: Case, data_set: int) -> None:
    last = len(case.data_sets) - 1
    if not 0 <= data_set <= last:
        has = f"{last + 1} data sets, 0 to {last}" if last else "one data set, 0"
        raise NoSuchDataSet(f"{case.name} has no data set {data_set}: it has {has}.", "Choose with --data-set.")
    if case.judged == "property":
        raise NoScript(
            f"The answers of {case.name} are random: they are held against a law, not against values.",
            f"Run it here: onnx-conformance run --select case={case.name} --backend NAME.",
        )
    strange = [of for of in (*case.inputs, *case.outputs) if "sparse_tensor" in of or "map(string" in of]
    if strange:
        raise NoScript(
            f"{case.name} has a {strange[0]}, for which onnx.numpy_helper has no form.",
            f"Run it here: onnx-conformance run --select case={case.name} --backend NAME.",
        )


# What the script says of itself.


def _about(folder: Path, case: Case, backend: str, data_set: int, judged: str, needs: str) -> Iterator[str]:
    labels, chosen = case.labels, case.data_sets[data_set]
    yield _plain(f"{case.name} (suite {folder.absolute().parent.name}, data set {data_set}) on {backend}.")
    yield ""
    domain = f"{labels.domain}." if labels.domain else ""
    fields = {
        "Operator": f"{domain}{labels.op}-{labels.since}" if labels.op else "a graph of several nodes",
        "Types": ", ".join(f"{name} = {of}" for name, of in labels.types.items()),
        "Attributes": ", ".join(
            f"{name} {'omitted' if value == 'omitted' else f'= {value}'}" for name, value in labels.attributes.items()
        ),
        "Left out": ", ".join(labels.omitted),
        "Tries": ": ".join(filter(None, (chosen.group, chosen.about))),
        "The spec": case.clause,
        "Judged": judged,
        "Open": f"The spec allows other answers, so a difference is no fault. {chosen.unspecified}"
        if chosen.unspecified
        else "",
        "Needs": needs,
        "Exits": "with 0 where the answer passes, with 1 where it does not or where there is none",
    }
    for title, text in fields.items():
        if text:
            yield from textwrap.wrap(
                _plain(text), _WIDTH, initial_indent=f"{title:<12}", subsequent_indent=" " * 12, break_on_hyphens=False
            )


def _plain(text: str) -> str:
    """Text from a file on one line, which must not end the docstring it is put into."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
    return line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _nodes(graph: onnx.GraphProto) -> Iterator[str]:
    """The graph's nodes in ONNX's textual form, as comments."""
    lines = [line for node in graph.node for line in onnx.printer.to_text(node).splitlines()]
    yield "# The node:" if len(graph.node) == 1 else f"# The {len(graph.node)} nodes:"
    for line in lines[:_MOST_LINES]:
        yield "#  " + shortened("".join(c if c.isprintable() else " " for c in line), _WIDTH * 2)
    if len(lines) > _MOST_LINES:
        yield f"#   … and {len(lines) - _MOST_LINES} lines more"


# What it holds.


def _read(folder: Path, case: Case, data_set: int, stem: str, names: Sequence[str]) -> Iterator[_Data]:
    types = case.inputs if stem == "input" else case.outputs
    for i, of in enumerate(types):
        content = read_file(case, str(folder), f"{case.folder_of(data_set)}/{stem}_{i}.pb")
        yield _Data(names[i] if i < len(names) else f"{stem}_{i}", of, content)


def _read_bounds(folder: Path, case: Case, data_set: int) -> list[_Data | None]:
    """The bounds of each output, None for those that must match bit for bit or are judged otherwise."""
    found: list[_Data | None] = []
    for i, of in enumerate(case.outputs):
        file = f"{case.folder_of(data_set)}/bound_{i}.pb"
        is_there = case.judged == "bounds" and file in case.files
        bound = _Data("", str(bound_type(parse_type(of))), read_file(case, str(folder), file)) if is_there else None
        found.append(bound)
    return found


def _also(folder: Path, case: Case, data_set: int, output: int) -> Iterator[bytes]:
    """The further answers that an output may have."""
    for n in itertools.count():
        file = f"{case.folder_of(data_set)}/alternative_{n}_{output}.pb"
        if file not in case.files:
            return
        yield read_file(case, str(folder), file)


def _named(value: _Data, *alternatives: bytes) -> str:
    contents = ", ".join(map(_decoding, (value.content, *alternatives)))
    return f"({value.name!r}, {value.of!r}, {contents})"


def _decoding(content: bytes) -> str:
    return f'b64decode("""\n{_encoded(content, " " * 8)}\n    """)'


def _encoded(content: bytes, indent: str) -> str:
    text = base64.b64encode(content).decode()
    width = _WIDTH - len(indent)
    return "\n".join(indent + text[i : i + width] for i in range(0, len(text), width))


def _listed(items: Sequence[str]) -> str:
    return "".join(f"\n    {item}," for item in items) + "\n" * bool(items)


# How it runs and judges.


def _judgement(case: Case, *, bounded: bool) -> tuple[str, str]:
    """How the case is judged: a sentence, and the source."""
    if case.judged == "tolerance":
        text = f"|got - want| <= {case.atol} + {case.rtol} * |want|"
        return text, script.TOLERANCE.substitute(rtol=case.rtol, atol=case.atol)
    exactly = "bit for bit; NaN is NaN, and the sign of a zero does not matter"
    if any("/alternative_" in file for file in case.files):
        exactly += "; near-ties may be rounded either way"
    if not bounded:
        return exactly, script.EQUALITY
    return f"|got - want| <= 4 * bound for each element; where there is no bound {exactly}", script.BOUNDS


def _run(backend: str) -> tuple[str, str]:
    """The source of ``run``, and what it needs."""
    if backend.startswith(COMMAND):
        command_of(backend, 0)
        program = shlex.split(backend.removeprefix(COMMAND))
        source = script.OF_COMMAND.substitute(program=program, protocol=PROTOCOL)
        return source, f"{_packages(source)}; the program {program[0]}"
    with contextlib.redirect_stdout(sys.stderr):  # which is no place for what an adapter prints: the script goes there
        adapter = load_backend(backend)
    if backend.startswith(ONNX):
        module, _, name = backend.removeprefix(ONNX).partition(":")
        load = f"from {module} import {name} as Backend" if name else f"import {module} as Backend"
        source = script.OF_ONNX.substitute(load=load)
        return source, _packages(source)
    source = getattr(adapter, "SCRIPT", None)
    if source:
        try:
            return source.strip(), _packages(source)
        except (SyntaxError, AttributeError) as error:
            raise BrokenAdapter(
                f"The SCRIPT of {backend!r} is no Python: {exception_text(error)}.", "Mend it."
            ) from error
    source = script.OF_ADAPTER.substitute(spec=repr(backend))
    return source, _packages(f"{source}\nimport {type(adapter).__module__}")


def _packages(source: str) -> str:
    """What to install, in the versions that are here, for the imports of a source; modules that nothing installs."""
    modules = ["onnx", "numpy", "ml_dtypes"]
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.Import):
            modules += [name.name for name in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            modules.append(statement.module)
    installed = dict(packages_distributions())
    installed["harness"] = installed["backends"] = ["onnx-conformance"]  # which an editable install does not tell
    tops = dict.fromkeys(module.partition(".")[0] for module in modules)
    packages = dict.fromkeys(package for top in tops for package in installed.get(top, ())[:1])
    others = [top for top in tops if top not in installed and top not in sys.stdlib_module_names]
    install = f"pip install {' '.join(f'{package}=={version(package)}' for package in packages)}"
    return "; ".join([install, *(f"the module {top}, in the folder where you start this" for top in others)])
