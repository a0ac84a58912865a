"""Each verdict is reachable, and each kind of misbehaviour affects only its own case."""

from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

from harness.results.lines import VERDICTS
from harness.results.recording import read_run
from harness.running.run import NothingRun


def verdicts(run):
    counts = Counter(result.verdict for result in run.results)
    assert run.finished
    assert counts == Counter(run.footers[0].counts), "the footer counts what the lines say"
    assert counts.total() == run.headers[0].data_sets == 9, "every data set has one verdict"
    return dict(counts)


def messages(run):
    return {result.message for result in run.results if result.message}


@pytest.mark.parametrize(
    "name",
    [
        "Right",
        "HalfTheAllowance",
        "FlipsZero",
        "Mutates",
        "Chatty",
        "ReadsInput",
        "onnx:miniatures:OnnxRight",
        "program:right",
    ],
)
def test_right_answers_pass(runs, name):
    run = runs(name)
    assert verdicts(run) == {"passed": 9}
    assert not messages(run)
    assert run.footers[0].unexpected == 0


@pytest.mark.parametrize(
    ("name", "verdict", "message"),
    [
        ("WrongType", "wrong_type", "y: tensor(double), want tensor(float)"),
        ("WrongShape", "wrong_shape", "y: shape [3,2], want [2,3]"),
        ("WrongCount", "wrong_count", "2 outputs, want 1"),
        ("NoOutput", "wrong_count", "0 outputs, want 1"),
        ("OneBoundOff", "wrong_value", "y[0,0] = 0.005, want 0 (float; 5 bounds, 4 allowed); 1 of 6 differ"),
        ("SwapsNan", "wrong_value", "y[0,0] = nan, want 0 (float; 4 bounds allowed); 3 of 6 differ"),
        ("Declines", "unsupported", "no kernel for it"),
        ("DeclinesLater", "unsupported", "not of this shape"),
        ("onnx:miniatures:OnnxElsewhere", "unsupported", "supports_device('CPU') is false"),
        ("onnx:miniatures:OnnxDeclines", "unsupported", "not this one"),
        ("Raises", "error", "ValueError: axis 4 is out of range"),
        ("RaisesInPrepare", "error", "RuntimeError: no kernel today"),
        ("RaisesRudely", "error", "RudeError"),
        ("Panics", "error", "PanicException: index out of bounds"),
        ("NoCallable", "error", "TypeError: prepare returned a NoneType, want a callable"),
        ("GivesArray", "error", "The backend returned an array of float32, want a list of the outputs."),
        ("GivesMixedList", "error", "output_0 is a sequence of different types, tensor(float) and tensor(double)."),
        ("GivesNone", "wrong_type", "y: optional(tensor(float)), want tensor(float)"),
    ],
)
def test_verdicts_and_messages(runs, name, verdict, message):
    run = runs(name)
    assert verdicts(run) == {verdict: 9}
    assert message in messages(run)
    assert run.footers[0].unexpected == 9


def test_outputs_that_are_no_onnx_values(runs):
    assert {m.split(".")[0] for m in messages(runs("GivesNumber"))} == {
        "output_0 is a float, which is not an ONNX value"
    }
    run = runs("GivesObjects")
    assert verdicts(run) == {"error": 9}
    assert all("string tensor" in message for message in messages(run))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Segfaults", "was killed by SIGSEGV, twice: about to go"),
        ("SegfaultsInPrepare", "was killed by SIGSEGV, twice"),
        ("Exits", "exited with status 3, twice: out of luck"),
        ("Forks", "exited with status 5, twice"),
        ("program:exits", "exited with status 1, twice: out of licences"),
    ],
)
def test_a_crash_is_confirmed_in_a_new_worker(tools, tmp_path, name, message):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=1), tmp_path / "reports")
    run = runs(name)
    assert [(result.verdict, result.message) for result in run.results] == [("crashed", message)]


def test_a_crash_affects_only_its_data_set(runs):
    run = runs("SegfaultsSecond")
    assert verdicts(run) == {"passed": 6, "crashed": 3}
    assert {result.data_set for result in run.results if result.verdict == "crashed"} == {1}


def test_a_case_that_keeps_crashing_is_skipped(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=5), tmp_path / "reports")
    run = runs("SegfaultsInPrepare")
    assert [result.verdict for result in run.results] == ["crashed"] * 5
    assert [result.message.startswith("not run: ") for result in run.results] == [False] * 3 + [True] * 2


def test_a_crash_that_does_not_happen_again_is_noted(runs):
    run = runs("SegfaultsOnce")
    assert verdicts(run) == {"passed": 9}
    assert messages(run) == {
        "the worker was killed by SIGSEGV at the first attempt, but not when the data set ran again alone"
    }
    assert sum(bool(result.message) for result in run.results) == 1


def test_answers_before_a_hang_count(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1), tmp_path / "reports")
    run = runs("HangsSecond", seconds=3)
    assert [(result.verdict, result.message) for result in run.results] == [
        ("passed", ""),
        ("timed_out", "no answer within 3 s"),
        ("timed_out", "not run: an earlier data set of the case timed out"),
    ]


def test_cases_after_a_hang_are_run(runs):
    run = runs("HangsInPrepare", seconds=0.1)
    assert verdicts(run) == {"timed_out": 9}


def test_a_hang_in_prepare_affects_the_whole_case(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1), tmp_path / "reports")
    run = runs("HangsInPrepare", seconds=0.3)
    assert [result.verdict for result in run.results] == ["timed_out"] * 3


def test_memory_is_limited(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=1), tmp_path / "reports")
    (result,) = runs("EatsMemory", memory=256 << 20).results
    assert (result.verdict, result.message) == ("error", "MemoryError")
    (result,) = runs("EatsSharedMemory", memory=256 << 20).results
    assert result.verdict == "crashed"
    assert "GiB, 0.25 GiB allowed, twice" in result.message
    (result,) = runs("program:eats_memory", memory=256 << 20).results
    assert (result.verdict, "MemoryError" in result.message) == ("crashed", True)


def test_a_worker_that_leaks_is_replaced(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "many", cases=40, data_sets=1), tmp_path / "reports")
    run = runs("Leaks", memory=768 << 20)
    assert {result.verdict for result in run.results} == {"passed"}, "40 cases leak 1.25 GiB"
    assert not messages(run)


def test_a_backend_may_use_much_memory_from_the_start(runs):
    assert verdicts(runs("HighIdleMemory", memory=320 << 20)) == {"passed": 9}


def test_a_program_that_always_starts_with_an_invalid_line_is_given_up(runs):
    with pytest.raises(NothingRun, match="does not start: it answered with an invalid answer"):
        runs("program:says_more")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        (
            "rubbish",
            "the backend answered with an invalid answer, 'Segmentation violation in module 7' (JSON is malformed",
        ),
        ("endless", "the backend answered with an endless line, 'xxx"),
        ("wrong_id", "the backend answered with an answer to request 1001, want 1"),
        ("wrong_data_set", "the backend answered with an answer to data set 1, want 0"),
        ("bad_status", "the backend answered with an invalid answer, "),
        ("no_data_set", "the backend answered with status ok without a data set"),
        ("no_file", "the backend answered with status ok, but wrote no file for output_0 (No such file or directory)"),
        (
            "link",
            "the backend answered with status ok, but wrote no file for output_0 (Too many levels of symbolic links)",
        ),
        ("pipe", "the backend answered with status ok, but what it wrote for output_0 is not a regular file"),
        ("folder", "the backend answered with status ok, but what it wrote for output_0 is not a regular file"),
        ("bad_type", "The backend stated an unknown type: 'real' is no"),
        ("broken_file", "The backend wrote a broken file for output_0"),
        ("empty_file", "The backend wrote a broken file for output_0"),
    ],
)
def test_invalid_answers_of_a_program_are_errors(runs, mode, message):
    run = runs(f"program:{mode}")
    assert verdicts(run) == {"error": 9}
    assert [text for text in messages(run) if text.startswith(message)]


def test_a_repeated_answer_is_an_error(runs):
    run = runs("program:twice_at_once")
    assert verdicts(run)["error"] >= 3
    assert any("an answer to" in text for text in messages(run))


def test_a_repeated_answer_to_a_complete_case_is_an_error(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "many", cases=6, data_sets=1), tmp_path / "reports")
    run = runs("program:twice")
    assert {result.verdict for result in run.results} == {"passed", "error"}
    assert len(run.results) == 6


def test_a_program_may_decline(runs):
    run = runs("program:declines")
    assert verdicts(run) == {"unsupported": 9}
    assert messages(run) == {"not today"}


def test_a_program_that_hangs_is_killed(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=1), tmp_path / "reports")
    assert [result.verdict for result in runs("program:lingers", seconds=0.3).results] == ["timed_out"]


def test_not_run_if_the_backend_does_not_start_again(runs):
    with pytest.raises(NothingRun, match="the licence server is away"):
        runs("FailsToStartAgain")
    run = read_run(runs.folder / "results.jsonl")
    assert verdicts(run) == {"not_run": 9}


def test_a_missing_requirement_is_not_a_failure(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=2), tmp_path / "reports")
    (case,) = runs.suite.cases()
    with pytest.raises(NothingRun, match="missing requirement: the locale tlh_QO is not installed"):
        runs("MissingLocale")
    run = read_run(runs.folder / "results.jsonl")
    assert [(result.verdict, result.data_set) for result in run.results] == [("not_run", 0), ("not_run", 1)]
    assert all("the locale tlh_QO" in result.known for result in run.results)
    assert run.footers[0].unexpected == 0
    assert case.name == run.results[0].case


def test_an_unspecified_data_set_is_shown_but_not_scored(tools, tmp_path):
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=2), tmp_path / "reports")
    (case,) = runs.suite.cases()
    quiet = msgspec.structs.replace(case.data_sets[0], unspecified="Rounding of ties is left open (Quantize, 13).")
    changed = msgspec.structs.replace(case, data_sets=(quiet, case.data_sets[1]))
    runs.suite = tools.write_suite(tmp_path / "small", [changed])
    run = runs("OneBoundOff")
    assert [result.verdict for result in run.results] == ["unspecified", "wrong_value"]
    assert run.results[0].message.startswith("wrong_value: y[0,0]")
    assert run.footers[0].unexpected == 1


def test_an_answer_that_cannot_fail_does_not_count_as_passed(tools, tmp_path):
    """All elements are insensitive in the first data set; what is no answer of the right type still fails there."""
    runs = tools.Runs(tools.tiny_suite(tmp_path / "small", cases=1, data_sets=2), tmp_path / "reports")
    (case,) = runs.suite.cases()
    blind = msgspec.structs.replace(case.data_sets[0], insensitive=case.data_sets[0].elements)
    runs.suite = tools.write_suite(
        tmp_path / "small", [msgspec.structs.replace(case, data_sets=(blind, case.data_sets[1]))]
    )
    run = runs("Right")
    assert [result.verdict for result in run.results] == ["insensitive", "passed"]
    assert run.footers[0].unexpected == 0
    assert [result.verdict for result in runs("WrongType").results] == ["wrong_type", "wrong_type"]


@pytest.mark.parametrize(("backend", "verdict"), [("SwapsZeros", "wrong_value"), ("LosesZeros", "passed")])
def test_bits_are_compared_if_the_adapter_carries_them(tools, tmp_path, backend, verdict):
    """``LosesZeros`` gives +0 for -0 in every model, an Identity included; ``SwapsZeros`` in an Add alone."""
    zeros = [np.array([-0.0, 1.0], np.float32), np.array([-0.0, 1.0], np.float32)]
    root = tmp_path / "small"
    root.mkdir()
    case = tools.write_case(root, "test_add", [zeros])
    case = msgspec.structs.replace(case, data_sets=(msgspec.structs.replace(case.data_sets[0], bits="signs"),))
    run = tools.Runs(tools.write_suite(root, [case]), tmp_path / "reports")(backend)
    assert [result.verdict for result in run.results] == [verdict], run.results[0].message
    assert run.footers[0].transport == {"float": "all" if backend == "SwapsZeros" else ""}


def test_every_verdict_is_reached_here():
    text = Path(__file__).read_text(encoding="utf-8")
    assert [verdict for verdict in VERDICTS if f'"{verdict}"' not in text] == []
