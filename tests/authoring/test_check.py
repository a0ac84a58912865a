"""Each fault an adapter can have is found, told as what it is, and nothing else is."""

import re
import shlex
import sys

import pytest

from harness.authoring.check import check_backend
from harness.authoring.probes import probes
from harness.errors import UsageError
from harness.running.pool import StartFailed

CARRIES = "carries "


def faults(report: str) -> dict[str, str]:
    """The title of every probe that failed → the block that tells of it."""
    found = {}
    for block in report.split("\n\n"):
        for title in re.findall(r"^(?:FAULT    |  so too ) (.*?)(?: \(.*)?$", block, re.MULTILINE):
            found[title.strip()] = block
    return found


def check(name: str) -> tuple[str, dict[str, str]]:
    report, number = check_backend(f"faulty_adapters:{name}")
    found = faults(report)
    assert len(found) == number
    summary = re.fullmatch(r"(\d+) probes: (\d+) passed, (\d+) declined, (\d+) faults", report.splitlines()[-1])
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
    ("name", "titles", "told"),
    [
        ("NoVersion", ["says its name and its version"], "no version"),
        ("SortsInputs", ["inputs reach the graph in its order"], "in the order of graph.input"),
        ("SortsOutputs", ["outputs come in the graph's order"], "in another order than graph.output"),
        ("FirstOutputOnly", ["outputs come in the graph's order"], "1 output, want 2"),
        ("ForgetsInitializers", ["initializers need no input"], "initializer"),
        ("ClosesUpInputs", ["a node may leave out an input before its last"], "Keep the place"),
        ("FillsLastInput", ["a node may leave out its last input"], "as many inputs as it names"),
        ("InputsShape", ["an output has its own type and shape"], "shape [2,3], want [2]"),
        ("NoScalars", ["0-D tensors stay 0-D"], "shape [1], want []"),
        ("FlatWhenEmpty", ["empty tensors keep their shape"], "shape [0], want [0,3]"),
        ("ThroughJson", ["NaN and infinities stay what they are"], "JSON, for one, has no NaN"),
        ("KeepsOutputs", ["every run has its own inputs, and the same inputs the same outputs"], "Bind inputs"),
        ("Float16AsFloat", ["carries float16"], "tensor(float), want tensor(float16)"),
        ("BytesOfBfloat16", ["carries bfloat16"], "raw.view(ml_dtypes.bfloat16)"),
        ("DoubleThroughFloat", ["carries double"], "lose digits or range"),
        ("StringsAsBytes", ["carries string"], "whose elements are str"),
        ("SequenceAsArray", ["gives a sequence as a list"], "a list of arrays"),
        ("SequenceBackwards", ["takes a list as a sequence"], "in their order"),
        ("AbsentAsEmpty", ["takes None as an absent optional"], "None stands for"),
        ("UnknownOperatorIsError", ["declines an operator that nobody has"], "Unsupported(reason)"),
        ("DiesOfEmptyModel", ["fails on an empty model file"], "SIGSEGV"),
        ("DeclinesEverything", ["runs at least one of these models"], "not today"),
    ],
)
def test_a_fault_is_found_and_no_other(name: str, titles: list[str], told: str):
    report, found = check(name)
    assert list(found) == titles
    assert told in " ".join(found[titles[0]].split()), report


@pytest.mark.parametrize(
    ("name", "titles", "told"),
    [
        ("PythonScalars", {"0-D tensors stay 0-D", "takes an optional that is there"}, "numpy.asarray(y)"),
        ("BareOutput", {"0-D tensors stay 0-D", "carries float"}, "Return [y] instead of y"),
        ("TakesInputsOneByOne", {"inputs reach the graph in its order", "carries int8"}, "run(inputs) with one list"),
        ("PreparesSession", {"inputs reach the graph in its order", "carries int8"}, "Return a function"),
        (
            "DeclinesWhatFails",
            {"fails on an empty model file", "fails on a model file that breaks off"},
            "Decline only",
        ),
    ],
)
def test_a_fault_that_shows_everywhere_is_told_once(name: str, titles: set[str], told: str):
    report, found = check(name)
    assert titles <= set(found)
    assert report.count("FAULT ") == 1, report
    assert told in " ".join(report.split())


def test_what_is_declined_is_no_fault():
    report, found = check("DeclinesOptionals")
    assert not found
    assert "declined  takes None as an absent optional: no optionals" in report


def test_advice_is_for_the_way_a_backend_comes_in(tools):
    program = f"command:{shlex.join([sys.executable, str(tools.HERE / 'program.py')])}"
    assert 'state that type in "outputs"' in check_backend(f"{program} right")[0]
    assert "goes to standard error" in check_backend(f"{program} rubbish")[0]
    assert "is not there or is none" in check_backend(f"{program} no_file")[0]
    report = check_backend("onnx:onnxruntime.backend")[0]
    assert "BackendIsNotSupposedToImplementIt(reason)" in " ".join(report.split())


@pytest.mark.parametrize(
    ("spec", "error", "told"),
    [
        ("nosuch", UsageError, "There is no backend 'nosuch'"),
        ("miniatures:CannotBeMade", UsageError, "cannot be made"),
        ("command:nosuchprogram", UsageError, "There is no program"),
        ("command:false", StartFailed, "exited with status 1"),
    ],
)
def test_a_backend_that_does_not_start_is_one_clear_error(spec: str, error: type[Exception], told: str):
    with pytest.raises(error, match=told) as raised:
        check_backend(spec)
    assert "\n" not in str(raised.value)
    assert raised.value.advice
