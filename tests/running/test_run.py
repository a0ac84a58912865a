"""A whole run: its results file, the saved outputs, and the errors."""

import itertools
import shutil
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

from harness.backend.interface import Description
from harness.judging import judge
from harness.judging.judge import BrokenSuite, bound_type
from harness.results.expectations import read_expectations
from harness.results.lines import Footer, Header
from harness.results.recording import RESULTS, CannotWriteResults, Recorder, read_lines, read_run
from harness.running import pool, saved_outputs
from harness.running.folders import FolderTaken, default_name, folder_name, folder_to_resume, require_own
from harness.running.pool import NoScratchFolder
from harness.running.progress import Display
from harness.running.run import NoExpectationsFile, Options, OtherRun, run
from harness.spec.values import parse_type
from harness.suite.fingerprint import fingerprint, request_text
from harness.suite.manifest import FINGERPRINT
from harness.suite.select import NothingSelected, Selection

HEADER = """{"kind":"header","format":1,"backend":"mine:Mine","description":{"name":"mine","version":"1"}}\n"""


def keys(found):
    return [(r.case, r.data_set) for r in found.results]


def test_the_file_says_what_was_run(runs):
    found = runs("Right")
    header, *results, footer = read_lines(runs.folder / RESULTS)
    assert isinstance(header, Header)
    assert isinstance(footer, Footer)
    assert (header.suite, header.digest) == ("tiny", runs.suite.digest)
    assert (header.suite_data_sets, header.cases, header.data_sets, len(results)) == (9, 3, 9, 9)
    assert header.backend == "miniatures:Right"
    assert header.description.configuration == {"size": "mini"}
    assert header.options == {"select": "", "profile": "standard", "shard": "1/1", "limit": "10 s", "memory": "1 GiB"}
    assert set(header.versions) == {"onnx-conformance", "onnx", "numpy", "ml_dtypes", "python"}
    assert footer.seconds > 0
    first = found.results[0]
    assert (first.error, first.ulps, first.onnx_tolerance, first.elements, first.differing) == (0.0, 0.0, True, 6, 0)
    assert (first.labels.group, first.labels.types, found.results[1].labels.group) == (
        "group_0",
        {"T": "float"},
        "group_1",
    )
    assert sum(bool(r.prepare_seconds) for r in found.results) == 3
    assert all(r.seconds > 0 for r in found.results)


def test_a_result_has_measures_beside_its_verdict(runs):
    first = runs("OneBoundOff").results[0]
    assert (first.verdict, first.differing, first.zero_signs, first.onnx_tolerance) == ("wrong_value", 1, 0, False)
    assert 4.9 < first.error < 5.1
    assert first.ulps > 1e30, "the expected value is zero"
    assert runs("FlipsZero").results[0].zero_signs == 3


def test_workers_share_the_work(tools, tmp_path):
    many = tools.Runs(tools.tiny_suite(tmp_path / "many", cases=40), tmp_path / "reports")
    assert keys(many("Right", workers=3)) == list(
        itertools.product([f"test_identity_{n:03d}" for n in range(40)], range(3))
    )


def test_a_selection_is_run_and_nothing_else(runs):
    found = runs("Right", selection=Selection.parse("group=group_0 case=test_identity_00[12]"))
    assert keys(found) == [(f"test_identity_00{c}", d) for c in (1, 2) for d in (0, 2)]
    header = found.headers[0]
    assert (header.data_sets, header.suite_data_sets, header.cases) == (4, 9, 2)
    with pytest.raises(NothingSelected):
        runs("Right", selection=Selection.parse("op=Conv"))


def test_concatenated_shards_are_the_whole_run(runs, tmp_path):
    texts = b""
    for n in (1, 2):
        runs("Right", shard=(n, 2))
        texts += (runs.folder / RESULTS).read_bytes()
    (tmp_path / "all.jsonl").write_bytes(texts)
    found = read_run(tmp_path / "all.jsonl")
    assert found.finished
    assert len(found.results) == 9
    with pytest.raises(NothingSelected, match="Shard 5/5 of the selection is empty"):
        runs("Right", shard=(5, 5))


def test_a_new_run_replaces_the_old(runs):
    runs("WrongType")
    assert {r.verdict for r in runs("Right").results} == {"passed"}


# Resuming.


def truncate(path, lines, extra=b""):
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:lines]) + extra)


@pytest.mark.parametrize(("lines", "extra"), [(1, b""), (4, b'{"kind":"resu'), (10, b""), (11, b"")])
def test_a_resumed_run_equals_an_uninterrupted_one(runs, lines, extra):
    whole = runs("OneBoundOff")
    truncate(runs.folder / RESULTS, lines, extra)
    kept = (runs.folder / RESULTS).read_bytes().splitlines()[:lines]
    found = runs("OneBoundOff", resume=True)
    if lines > 1:  # with only a header there is nothing to resume
        assert (runs.folder / RESULTS).read_bytes().splitlines()[: min(lines, 10)] == kept[:10]
    assert keys(found) == keys(whole)
    assert found.footers[0].counts == whole.footers[0].counts
    assert found.footers[0].unexpected == 9
    assert [r.message for r in found.results] == [r.message for r in whole.results]


def test_resume_without_results_starts_a_new_run(runs):
    assert runs("Right", resume=True).finished
    truncate(runs.folder / RESULTS, 0)
    assert runs("Right", resume=True).finished


def test_resume_runs_what_was_not_run(runs):
    runs("Right")
    path = runs.folder / RESULTS
    path.write_bytes(path.read_bytes().replace(b'"verdict":"passed"', b'"verdict":"not_run"', 2))
    assert {r.verdict for r in runs("Right", resume=True).results} == {"passed"}
    assert len(list(read_lines(path))) == 11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seconds": 5.0}, "options limit='10 s', now limit='5 s'."),
        ({"shard": (1, 2)}, "shard"),
        ({"selection": Selection.parse("op=Identity")}, "select='op=Identity'"),
    ],
)
def test_a_run_with_other_options_is_not_resumed(runs, change, message):
    runs("Right")
    before = (runs.folder / RESULTS).read_bytes()
    with pytest.raises(OtherRun, match="cannot be resumed") as caught:
        runs("Right", resume=True, **change)
    assert message in str(caught.value)
    assert (runs.folder / RESULTS).read_bytes() == before


def test_another_backend_or_suite_is_not_resumed(runs, tools):
    runs("Right")
    with pytest.raises(OtherRun, match="backend miniatures:Right, now miniatures:WrongType"):
        runs("WrongType", resume=True)
    runs.suite = tools.tiny_suite(runs.suite.path, cases=4)
    with pytest.raises(OtherRun, match="digest "):
        runs("Right", resume=True)


def test_the_number_of_workers_may_change_on_resume(runs):
    runs("Right")
    assert runs("Right", resume=True, workers=2).finished


# Expectations.


def complete(suite):
    """Let a suite say that generate wrote all of it."""
    (suite.path / FINGERPRINT).write_text(fingerprint(request_text("pairs", Selection())), encoding="ascii")


def test_expectations_are_written_and_then_hold(runs, tmp_path):
    complete(runs.suite)
    path = tmp_path / "mini.expected.toml"
    found = runs("SegfaultsSecond", expectations=path, write_expected=True)
    assert found.footers[0].unexpected == 3
    (entry,) = read_expectations(path)
    assert (entry.select, entry.verdict, entry.suite) == ("op=Identity group=group_1", "crashed", "tiny")
    found = runs("SegfaultsSecond", expectations=path)
    assert (found.footers[0].unexpected, found.footers[0].stale) == (0, ())
    assert {r.known for r in found.results if r.verdict == "crashed"} == {entry.reason}
    found = runs("Right", expectations=path)
    assert found.footers[0].stale == ("op=Identity group=group_1: not every result is crashed",)
    text = path.read_text().replace(entry.reason, "a reason of our own")
    path.write_text(text + '\n[[expect]]\nselect = "op=Gone"\nverdict = "error"\nreason = "r"\n')
    runs("SegfaultsSecond", expectations=path, write_expected=True)
    assert path.read_text() == text


GONE = '[[expect]]\nselect = "op=Gone"\nverdict = "error"\nreason = "r"\n'


def test_an_expectation_that_matches_no_case_fails_a_complete_suite(runs, tmp_path):
    complete(runs.suite)
    path = tmp_path / "mini.expected.toml"
    path.write_text(GONE)
    (footer,) = runs("Right", expectations=path).footers
    assert (footer.stale, footer.skipped_expectations) == (("op=Gone: matches no case of the suite",), 0)
    runs("Right", expectations=path, write_expected=True)
    assert read_expectations(path) == ()


def test_an_expectation_that_matches_no_case_of_a_part_is_not_checked(runs, tmp_path):
    path = tmp_path / "mini.expected.toml"
    path.write_text(GONE + '[[expect]]\nselect = "op=Identity"\nverdict = "crashed"\nreason = "r"\n')
    (footer,) = runs("Right", expectations=path).footers
    assert footer.stale == ("op=Identity: not every result is crashed",), "what the run contradicts is stale"
    assert footer.skipped_expectations == 1
    runs("Right", expectations=path, write_expected=True)
    assert [entry.select for entry in read_expectations(path)] == ["op=Gone"], "what was not checked is not deleted"


def test_write_expected_names_the_option_before_anything_is_run(runs):
    with pytest.raises(NoExpectationsFile, match=r"'miniatures:Right' .* needs --expected FILE") as caught:
        run(runs.suite, "miniatures:Right", Options(), runs.folder, write_expected=True, quiet=True)
    assert caught.value.advice.endswith("run --backend miniatures:Right --expected known.toml --write-expected")
    assert not runs.folder.exists()


# Progress.


def test_a_run_off_a_terminal_ends_with_one_line(runs, capsys):
    run(runs.suite, "miniatures:Right", Options(), runs.folder)
    assert capsys.readouterr() == ("", "Right over tiny: 9 passed\n")


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def test_progress_off_a_terminal_is_at_most_a_line_in_ten_seconds(capsys):
    clock, counts, lines = Clock(), Counter(), []
    display = Display("numpy over matrix", counts, clock=clock)
    display.total = 29_201
    with display:
        for _ in range(4 * 60):  # four times a second, for a minute
            clock.seconds += 0.25
            counts.update(passed=100, unspecified=5, wrong_value=1)
            display.show()
            if text := capsys.readouterr().err:
                lines.append((clock.seconds, text))
    assert [seconds for seconds, _ in lines] == [10, 20, 30, 40, 50, 60]
    assert lines[0][1] == "numpy over matrix: 4,240 of 29,201 data sets, 40 not passed\n"
    assert capsys.readouterr().err == "numpy over matrix: 24,000 passed, 240 wrong_value, 1,200 unspecified\n"


def test_a_quiet_run_shows_no_progress(capsys):
    clock, counts = Clock(), Counter(passed=1)
    with Display("numpy over matrix", counts, quiet=True, clock=clock) as display:
        clock.seconds = 60
        display.show()
    assert capsys.readouterr() == ("", "")


def test_a_resumed_run_uses_the_current_expectations(runs, tmp_path):
    runs("WrongType")
    truncate(runs.folder / RESULTS, 5)
    path = tmp_path / "mini.expected.toml"
    path.write_text('[[expect]]\nselect = "op=Identity"\nverdict = "wrong_type"\nreason = "all double"\n')
    found = runs("WrongType", expectations=path, resume=True)
    assert found.footers[0].unexpected == 0
    assert {r.known for r in found.results} == {"all double"}


# Saved outputs.


def test_outputs_that_did_not_pass_are_saved(runs):
    runs("SegfaultsSecond")
    assert not (runs.folder / "got").exists(), "a crash has no outputs, and passed ones are not saved"
    runs("WrongShape")
    files = sorted(str(p.relative_to(runs.folder)) for p in runs.folder.glob("got/*/*/*"))
    assert files == [f"got/test_identity_{c:03d}/{d}/output_0.pb" for c in range(3) for d in range(3)]
    from harness.spec.codec import decode

    assert decode((runs.folder / files[0]).read_bytes(), parse_type("tensor(float)")).shape == (3, 2)
    runs("Right")
    assert not (runs.folder / "got").exists(), "a new run removes old ones"


def test_saved_outputs_have_a_size_limit(runs, monkeypatch):
    monkeypatch.setattr(saved_outputs, "_MAX_BYTES", 80)
    runs("WrongShape")
    assert len(list(runs.folder.glob("got/*/*/*"))) == 2
    truncate(runs.folder / RESULTS, 5)
    runs("WrongShape", resume=True)
    assert len(list(runs.folder.glob("got/*/*/*"))) == 2


# Refusals.


@pytest.mark.parametrize(
    "name", ["model.onnx", "test_data_set_1/input_0.pb", "test_data_set_1/output_0.pb", "test_data_set_1/bound_0.pb"]
)
@pytest.mark.parametrize("damage", ["missing", "truncated", "folder"])
def test_a_damaged_suite_is_not_blamed_on_the_backend(runs, name, damage):
    file = runs.suite.path / "test_identity_001" / name
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:-1])
    else:
        file.unlink()
    if damage == "folder":
        file.mkdir()
    with pytest.raises(BrokenSuite) as caught:
        runs("OneBoundOff")
    assert str(file) in str(caught.value)
    assert "generate" in caught.value.advice
    assert len(list(read_lines(runs.folder / RESULTS))) >= 1


def test_a_file_missing_in_the_manifest_is_not_blamed_on_the_backend(runs, tools):
    (case, *others) = runs.suite.cases()
    files = {k: v for k, v in case.files.items() if k != "test_data_set_0/input_0.pb"}
    runs.suite = tools.write_suite(runs.suite.path, [msgspec.structs.replace(case, files=files), *others])
    with pytest.raises(BrokenSuite, match="is not in the manifest"):
        runs("Raises")


def test_names_from_files_stay_in_the_folder(runs, tmp_path):
    from harness.judging.outcome import Outcome

    (case, *_) = runs.suite.cases()
    saved = saved_outputs.SavedOutputs(tmp_path / "report", fresh=True)
    for name in ("../out", "/out", "..", ".", "a/b", "", ".hidden"):
        saved.save(Outcome(msgspec.structs.replace(case, name=name), "", 0, "ok", outputs=(b"x",)))
    assert not (tmp_path / "report").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("onnxruntime", "onnxruntime"),
        ("My Runtime (CPU)", "My-Runtime-CPU"),
        ("package.module:Class", "package.module-Class"),
        ("onnx:tf.backend", "onnx-tf.backend"),
        ("command:node ../x.js --fast", "command-node-..-x.js---fast"),
        ("../../etc", "etc"),
        ("..", "backend"),
        ("", "backend"),
        ("ü" * 5, "backend"),
        ("a" * 300, "a" * 100),
    ],
)
def test_a_backend_has_a_folder(backend, name):
    assert folder_name(backend) == name


def test_results_are_in_a_folder_of_the_name_that_the_backend_describes(runs, tmp_path):
    found = run(runs.suite, "miniatures:Right", Options(), lambda one: tmp_path / one.name, quiet=True)
    assert found.path == str(tmp_path / "Right" / RESULTS)
    assert default_name("mine:Mine", Description("my runtime", "1")) == "my-runtime"
    assert default_name("mine:Mine", Description(" ", "1")) == "mine-Mine"


def test_results_of_another_backend_are_not_replaced(tmp_path):
    folder = tmp_path / "mine"
    require_own(folder, "mine:Mine", Description("mine", "1"))
    folder.mkdir()
    (folder / RESULTS).write_text(HEADER)
    require_own(folder, "mine:Mine", Description("mine", "2"))
    require_own(folder, "other:Mine", Description("mine", "1"))
    with pytest.raises(FolderTaken, match=r"another backend: mine:Mine \(mine 1\)") as caught:
        require_own(folder, "other:Mine", Description("mine", "2"))
    assert "--name mine-2" in caught.value.advice
    (folder / RESULTS).write_text("")
    require_own(folder, "other:Mine", Description("mine", "2"))


def test_a_folder_of_an_earlier_version_is_resumed(tmp_path):
    assert folder_to_resume(tmp_path / "mine", "pkg:Mine") == tmp_path / "mine"
    for name in ("pkg-Mine", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / RESULTS).touch()
        assert folder_to_resume(tmp_path / "mine", "pkg:Mine") == tmp_path / name


def test_a_full_disk_is_told_and_nothing_is_lost(runs, monkeypatch):
    real, written = Recorder.write, []

    def write(self, line):
        written.append(line)
        if len(written) == 5:
            raise CannotWriteResults("No space left on device")
        real(self, line)

    monkeypatch.setattr(Recorder, "write", write)
    with pytest.raises(CannotWriteResults):
        runs("Right")
    monkeypatch.setattr(Recorder, "write", real)
    assert len(list(read_lines(runs.folder / RESULTS))) == 4
    assert len(runs("Right", resume=True).results) == 9


def test_outputs_that_cannot_be_written_are_not_blamed_on_the_backend(runs, monkeypatch, tmp_path):
    real = pool.create_scratch_folder

    def scratch():
        folder = real()
        Path(folder, "1_0_0.pb").symlink_to("/dev/full")
        return folder

    monkeypatch.setattr(pool, "create_scratch_folder", scratch)
    with pytest.raises(NoScratchFolder, match="File exists"):
        runs("Right")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr(pool, "create_scratch_folder", real)
    with pytest.raises(NoScratchFolder, match="No such file or directory"):
        runs("Right")


def test_a_run_that_fails_leaves_no_process(runs):
    shutil.rmtree(runs.suite.path / "test_identity_002")
    with pytest.raises(BrokenSuite):
        runs("Slow", workers=2)  # the fixture checks that no process is left


# Judging.


def test_types_of_bounds():
    assert str(bound_type(parse_type("tensor(float16)"))) == "tensor(float)"
    assert str(bound_type(parse_type("seq(tensor(double))"))) == "seq(tensor(double))"
    assert str(bound_type(parse_type("map(int64,tensor(complex128))"))) == "map(int64,tensor(double))"
    assert str(bound_type(parse_type("sparse_tensor(double)"))) == "tensor(double)"


def test_outputs_without_bounds_must_be_equal(tools, tmp_path):
    data = [[np.array([1.0, 2.0], np.float32)]]
    case = tools.write_case(tmp_path / "exact", "test_exact", data, bounds=False)
    runs = tools.Runs(tools.write_suite(tmp_path / "exact", [case]), tmp_path / "reports")
    (result,) = runs("HalfTheAllowance").results
    assert (result.verdict, result.error, result.onnx_tolerance) == ("wrong_value", "inf", False)
    assert result.message == "y[0] = 1.002, want 1 (float); 2 of 2 differ"


def test_inputs_are_passed_in_order(tools, tmp_path):
    data = [[np.array([1.0], np.float32), np.array([2.0], np.float32)]]
    runs = tools.Runs(
        tools.write_suite(tmp_path / "add", [tools.write_case(tmp_path / "add", "test_add", data)]), tmp_path / "r"
    )
    assert [r.verdict for r in runs("Right").results] == ["passed"]
    assert [(r.verdict, r.message) for r in runs("onnx:miniatures:OnnxRight").results] == [
        ("unsupported", "is_compatible is false")
    ]


def test_judging_by_tolerance(tools, tmp_path):
    data = [[np.array([1.0], np.float32)]]
    case = tools.write_case(tmp_path / "t", "test_t", data, bounds=False, judged="tolerance", rtol=1e-2)
    runs = tools.Runs(tools.write_suite(tmp_path / "t", [case]), tmp_path / "r")
    (result,) = runs("HalfTheAllowance").results
    assert (result.verdict, result.error, result.onnx_tolerance) == ("passed", None, False)


def test_the_model_is_read_only_if_something_differs(runs, monkeypatch):
    monkeypatch.setattr(judge.DataSetFiles, "output_names", None)
    assert len(runs("HalfTheAllowance").results) == 9
