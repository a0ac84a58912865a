"""The ways to name a backend, and the errors for one that does not exist or is broken."""

import sys
from types import ModuleType

import pytest

from harness.backend.interface import BrokenAdapter, UnknownBackend, Unsupported
from harness.backend.loading import backend_names, expectations_path, load_backend
from harness.running.pool import BackendRefused, StartFailed
from harness.running.process import NoProgram
from harness.text import exception_text, shortened


@pytest.fixture(autouse=True)
def _path(monkeypatch, tools):
    monkeypatch.syspath_prepend(str(tools.HERE))
    monkeypatch.delitem(sys.modules, "miniatures", raising=False)


def test_a_class_is_loaded_by_its_path():
    assert load_backend("miniatures:Right").describe().name == "Right"


def test_a_class_of_onnx_is_loaded_unchanged(tools):
    backend = load_backend("onnx:miniatures:OnnxRight")
    assert backend.describe().name == "miniatures:OnnxRight"
    with pytest.raises(Unsupported, match="is_compatible is false"):
        backend.prepare(tools.model("Add"))


def test_a_module_of_onnx_is_loaded_unchanged(monkeypatch, tools):
    import miniatures

    module = ModuleType("module_backend")
    module.prepare, module.__version__ = miniatures.OnnxRight.prepare, "2.5"
    monkeypatch.setitem(sys.modules, "module_backend", module)
    backend = load_backend("onnx:module_backend")
    assert (backend.describe().version, backend.prepare(tools.model())([5])) == ("2.5", [5])


def test_numpy_scalars_of_an_onnx_backend_are_tensors(monkeypatch, tools):
    import numpy as np

    class Scalar:
        run = staticmethod(lambda _: (np.float32(2),))
        prepare = classmethod(lambda cls, *_: cls)

    module = ModuleType("scalar_backend")
    module.Scalar = Scalar
    monkeypatch.setitem(sys.modules, "scalar_backend", module)
    (value,) = load_backend("onnx:scalar_backend:Scalar").prepare(tools.model())([])
    assert isinstance(value, np.ndarray)
    assert value.shape == ()


def test_the_current_directory_is_importable(monkeypatch, tmp_path):
    (tmp_path / "here_only.py").write_text(
        "class Mine:\n    def describe(self): ...\n    def prepare(self, model): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert type(load_backend("here_only:Mine")).__name__ == "Mine"
    monkeypatch.delitem(sys.modules, "here_only")


def test_our_backends_have_names():
    assert {"numpy", "onnx-reference", "onnxruntime"} <= set(backend_names())
    path = expectations_path("onnx-reference")
    assert path is not None
    assert path.name == "onnx-reference.expected.toml"
    assert expectations_path("miniatures:Right") is None


@pytest.mark.parametrize(
    ("spec", "error", "message", "advice"),
    [
        ("onnxruntim", UnknownBackend, "There is no backend 'onnxruntim'. Did you mean onnxruntime?", "numpy"),
        ("zzz", UnknownBackend, "There is no backend 'zzz'.", "package.module:Class"),
        ("no_such.thing:C", UnknownBackend, "names the module 'no_such', which does not exist", "Install the module"),
        ("miniatures:Rihgt", UnknownBackend, "names 'Rihgt', which miniatures does not have", "Right"),
        ("miniatures:NoMethods", BrokenAdapter, "NoMethods has no describe and no prepare", "describe(self)"),
        (
            "miniatures:NeedsArgument",
            BrokenAdapter,
            "missing 1 required positional argument: 'path'",
            "without arguments",
        ),
        ("onnx:miniatures", BrokenAdapter, "it has no prepare", "onnx:package.module:Class"),
        ("command:x", UnknownBackend, "is a program", ""),
    ],
)
def test_a_backend_that_cannot_be_loaded_is_a_one_line_error(spec, error, message, advice):
    with pytest.raises(error) as caught:
        load_backend(spec)
    assert message in str(caught.value)
    assert advice in caught.value.advice
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import does_not_exist\n", "ModuleNotFoundError: No module named 'does_not_exist' ("),
        ("x = 1\nraise RuntimeError('no\\n GPU')\n", "RuntimeError: no GPU ("),
        ("def f(:\n", "SyntaxError: "),
    ],
)
def test_an_adapter_that_cannot_be_imported_shows_the_line(monkeypatch, tmp_path, text, message):
    (tmp_path / "broken_adapter.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BrokenAdapter) as caught:
        load_backend("broken_adapter:C")
    assert message in str(caught.value)
    assert f"broken_adapter.py, line {text.count(chr(10))})" in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("=onnxruntim", BackendRefused, "There is no backend 'onnxruntim'. Did you mean onnxruntime?"),
        ("miniatures:NeedsArgument", BackendRefused, "cannot be created: TypeError"),
        ("miniatures:NoDescription", BackendRefused, "returned a str from describe, want a Description"),
        ("command:no-such-program --fast", NoProgram, "There is no program 'no-such-program'"),
        ("command:", NoProgram, "names no program"),
        ("command:'open", NoProgram, "is not a command: No closing quotation"),
        ("command:false", StartFailed, "does not start: it exited with status 1."),
        ("command:echo hello", StartFailed, "does not start: it answered with an invalid description, 'hello'"),
        ("program:refuses", BackendRefused, "no licence"),
        ("program:other_protocol", BackendRefused, "uses protocol 3, want 2"),
        ("program:no_description", BackendRefused, "did not describe itself"),
    ],
)
def test_a_backend_that_does_not_start_fails_before_anything_is_run(runs, spec, error, message):
    with pytest.raises(error) as caught:
        runs(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not runs.folder.exists(), "no results file"


def test_shortened_text():
    assert shortened("abcdef", 4) == "abc…"
    assert exception_text(ValueError("a" * 900)) == f"ValueError: {'a' * 487}…"


def test_exception_text_is_valid_in_a_line_of_json():
    assert exception_text(ValueError("lone \ud800\nsurrogate")) == "ValueError: lone \\ud800 surrogate"
