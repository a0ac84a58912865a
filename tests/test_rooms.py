"""The packages of the harness ("rooms") import each other in one direction, without cycles."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parent
MAY_IMPORT = {
    "errors": "",
    "text": "",
    "throttle": "",
    "spec": "",
    "backend": "spec",
    "numbers": "spec",
    "oracles": "spec numbers",
    "operators": "spec numbers oracles",
    "suite": "spec numbers oracles",
    "results": "spec backend suite",
    "judging": "spec numbers suite results",
    "running": "throttle spec backend suite results judging",
    "authoring": "spec backend suite results judging running",
    "reports": "spec backend suite results judging",
    "schemas": "backend suite results reports",
    "pytest_plugin": "backend suite results judging running reports",
    "commands": "throttle backend suite results running authoring reports schemas",
    "cli": "commands",
    "__main__": "cli",
}
"""The rooms that each room may import, in order: a row names only rooms above it."""
EVERYWHERE = {"errors", "text"}
"""All other rooms may import these."""
EXCEPTIONS = {("oracles/operator.py", "operators")}
"""The registry of operators imports all modules of that package when it is first asked for an operator."""


def imports(path: Path) -> Iterator[str]:
    """The full names of the modules that a file imports anywhere, also inside functions."""
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert not statement.level, f"{path} has a relative import"
            yield from (f"{statement.module}.{name.name}" for name in statement.names)


def room_of(module: str) -> str:
    """The room of a module of the harness; empty for ``harness`` itself and for other packages."""
    package, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    return room if package == "harness" and room in MAY_IMPORT else ""


def loaded_rooms(*modules: str) -> set[str]:
    """The rooms that importing these modules loads in a new process."""
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return {room_of(module) for module in loaded} - {""}


def test_each_row_names_only_rooms_above_it():
    above: set[str] = set()
    for room, allowed in MAY_IMPORT.items():
        assert set(allowed.split()) <= above, room
        above.add(room)


def test_every_room_is_in_the_table():
    found = {path.stem for path in ROOT.glob("*.py")} | {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert found - {"__init__"} == set(MAY_IMPORT)


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_rooms_above_it(room: str):
    allowed = {room, "", *MAY_IMPORT[room].split()}
    if room not in EVERYWHERE:
        allowed |= EVERYWHERE
    files = [ROOT / f"{room}.py"] if (ROOT / f"{room}.py").exists() else sorted((ROOT / room).rglob("*.py"))
    wrong = {
        (str(path.relative_to(ROOT)), imported)
        for path in files
        for imported in map(room_of, imports(path))
        if imported not in allowed
    }
    assert wrong <= EXCEPTIONS


@pytest.mark.parametrize("module", ["harness.backend", "harness.backend.worker", "harness.backend.onnx_backend"])
def test_what_a_vendor_imports_loads_no_suite_no_pool_and_no_reports(module: str):
    assert loaded_rooms(module) <= {"backend", "spec", *EVERYWHERE}


def test_judging_loads_no_processes():
    assert "running" not in loaded_rooms("harness.judging.judge")


@pytest.mark.parametrize("path", sorted((ROOT.parent / "backends").glob("*.py")), ids=lambda path: path.stem)
def test_adapters_use_the_public_names_of_the_backend_interface(path: Path):
    """They import names of ``harness.backend`` itself, not of its modules. Only numpy also imports the oracles."""
    from harness import backend

    for name in imports(path):
        if room_of(name) == "backend":
            assert name.removeprefix("harness.backend.") in backend.__all__
        else:
            assert room_of(name) in ("", "spec", *(["oracles"] if path.stem == "numpy" else []))
