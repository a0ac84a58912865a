"""check-backend finds each fault of an adapter, diagnoses it correctly, and reports nothing else."""

import re
import shlex
import sys

import pytest

from harness.authoring.check import check_backend
from harness.authoring.probes import probes
from harness.errors import UsageError
from harness.running.pool import StartFailed


def faults(report: str) -> dict[str, str]:
    """The title of every failed probe → its block in the report."""
    found = {}
    for block in report.split("\n\n"):
        for title in re.findall(r"^(?:FAULT    |  also   ) (.*?)(?: \(.*)?$", block, re.MULTILINE):
            found[title.strip()] = block
    return found


def check(name: str) -> tuple[str, dict[str, str]]:
    report, number = check_backend(f"faulty_adapters:{name}")
    found = faults(report)
    assert len(found) == number
    summary = re.fullmatch(r"(\d+) probes: (\d+) passed, (\d+) declined, (\d+) faults?", report.splitlines()[-1])
    assert summary
    total, *parts = map(int, summary.groups())
    assert total == sum(parts) == len(list(probes())) + 2
    assert parts[2] == number
    assert all(len(line) <= 110 for line in report.splitlines())
    return report, found


@pytest.mark.parametrize("backend", ["numpy", "onnx-reference", "onnxruntime", "faulty_adapters:Chatty"])
def test_a_right_adapter_has_no_faults(backend: str):
    report, number = check_backend(backend)
    assert (number, faults(report)) == (0, {})
    assert report.endswith(" 0 faults")


def test_a_right_program_has_no_faults():
    report, number = check_backend(f"command:{shlex.quote(sys.executable)} -m harness.backend.worker onnxruntime")
    assert (number, faults(report)) == (0, {})


@pytest.mark.parametrize(
    ("name", "titles", "text"),
    [
        ("NoVersion", ["reports its name and version"], "no version"),
        ("SortsInputs", ["passes inputs in the graph's order"], "in the order of graph.input"),
        ("SortsOutputs", ["returns outputs in the graph's order"], "in another order than graph.output"),
        ("FirstOutputOnly", ["returns outputs in the graph's order"], "1 output, want 2"),
        ("ForgetsInitializers", ["passes no inputs for initializers"], "initializer"),
        ("ClosesUpInputs", ["accepts a node that omits an input in the middle"], "Keep the position"),
        ("FillsLastInput", ["accepts a node that omits its last input"], "only the inputs that it names"),
        ("InputsShape", ["returns each output with its own type and shape"], "shape [2,3], want [2]"),
        ("NoScalars", ["keeps 0-D tensors 0-D"], "shape [1], want []"),
        ("FlatWhenEmpty", ["keeps the shape of empty tensors"], "shape [0], want [0,3]"),
        ("ThroughJson", ["keeps NaN, infinities and extreme values"], "JSON, for example, has no NaN"),
        ("KeepsOutputs", ["runs a model several times, each time with its own inputs"], "Bind inputs"),
        ("Float16AsFloat", ["keeps tensors of float16"], "tensor(float), want tensor(float16)"),
        ("BytesOfBfloat16", ["keeps tensors of bfloat16"], "raw.view(ml_dtypes.bfloat16)"),
        ("DoubleThroughFloat", ["keeps tensors of double"], "lose digits or range"),
        ("StringsAsBytes", ["keeps tensors of string"], "whose elements are str"),
        ("SequenceAsArray", ["returns a sequence as a list"], "a list of arrays"),
        ("SequenceBackwards", ["accepts a list as a sequence"], "in order"),
        ("AbsentAsEmpty", ["accepts None as an empty optional"], "None is an empty optional"),
        ("UnknownOperatorIsError", ["declines an unknown operator"], "Unsupported(reason)"),
        ("DiesOfEmptyModel", ["fails on an empty model file"], "SIGSEGV"),
        ("DeclinesEverything", ["runs at least one of these models"], "not today"),
    ],
)
def test_each_fault_is_found(name: str, titles: list[str], text: str):
    report, found = check(name)
    assert list(found) == titles
    assert text in " ".join(found[titles[0]].split()), report


@pytest.mark.parametrize(
    ("name", "titles", "text"),
    [
        ("PythonScalars", {"keeps 0-D tensors 0-D", "accepts an optional with a value"}, "numpy.asarray(y)"),
        ("BareOutput", {"keeps 0-D tensors 0-D", "keeps tensors of float"}, "Return [y] instead of y"),
        (
            "TakesInputsOneByOne",
            {"passes inputs in the graph's order", "keeps tensors of int8"},
            "run(inputs) with one list",
        ),
        ("PreparesSession", {"passes inputs in the graph's order", "keeps tensors of int8"}, "Return a function"),
        (
            "DeclinesWhatFails",
            {"fails on an empty model file", "fails on a truncated model file"},
            "Decline only",
        ),
    ],
)
def test_a_fault_that_affects_many_probes_is_reported_once(name: str, titles: set[str], text: str):
    report, found = check(name)
    assert titles <= set(found)
    assert report.count("FAULT ") == 1, report
    assert text in " ".join(report.split())


def test_declining_is_no_fault():
    report, found = check("DeclinesOptionals")
    assert not found
    assert "declined  accepts None as an empty optional: no optionals" in report


def test_advice_depends_on_the_kind_of_backend(tools):
    program = f"command:{shlex.join([sys.executable, str(tools.HERE / 'program.py')])}"
    assert 'state that type in "outputs"' in check_backend(f"{program} right")[0]
    assert "Write everything else to standard error" in check_backend(f"{program} rubbish")[0]
    assert "does not exist or is invalid" in check_backend(f"{program} no_file")[0]
    report = check_backend("onnx:onnxruntime.backend")[0]
    assert "BackendIsNotSupposedToImplementIt(reason)" in " ".join(report.split())


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        ("nosuch", UsageError, "There is no backend 'nosuch'"),
        ("miniatures:NeedsArgument", UsageError, "cannot be created"),
        ("command:nosuchprogram", UsageError, "There is no program"),
        ("command:false", StartFailed, "exited with status 1"),
    ],
)
def test_a_backend_that_does_not_start_is_an_error(spec: str, error: type[Exception], text: str):
    with pytest.raises(error, match=text) as raised:
        check_backend(spec)
    assert "\n" not in str(raised.value)
    assert raised.value.advice
