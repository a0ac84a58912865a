"""The commands as a person types them: what they print, where, and with which exit status."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cli import main
from harness.commands.parser import parse
from harness.commands.shared import AS_EXPECTED, HARNESS_FAILED, NOT_AS_EXPECTED, WRONG_USAGE
from harness.commands.suites import GenerationProgress

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a space in its name, in which the suite of CumProd has been generated."""
    path = tmp_path_factory.mktemp("a folder")
    where = ["--testdata", str(path / "testdata"), "--suite", "matrix"]
    assert main(["generate", *where, "--jobs", "1", "--select", "op=CumProd"]) == AS_EXPECTED
    return path


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)


def out(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = AS_EXPECTED) -> str:
    """What a command prints to standard output; its advice and progress go to standard error."""
    capsys.readouterr()
    assert main(arguments) == status
    return capsys.readouterr().out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = WRONG_USAGE) -> list[str]:
    """The lines of a command that fails: what is wrong, and what to do."""
    capsys.readouterr()
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0].startswith("onnx-conformance: ")
    assert all(line.startswith("  ") for line in lines[1:])
    assert "Traceback" not in captured.err
    return lines


def test_from_running_to_reports(capsys: pytest.CaptureFixture[str], folder: Path):
    assert main(["run", "--backend", "numpy", "--workers", "1"]) == AS_EXPECTED
    ran = re.match(r"numpy over matrix: (\d+) passed, (\d+) unspecified\n", capsys.readouterr().err)
    assert ran
    listed = [len(json.loads(line)["data_sets"]) for line in out(capsys, "list", "--json").splitlines()]
    passed, unspecified = map(int, ran.groups())
    assert passed + unspecified == sum(listed) > 300
    text = out(capsys, "report")
    assert f"{passed}/{passed}" in text
    assert {p.name for p in (folder / "reports").iterdir()} == {
        "matrix", "report.md", "report.json", "report.csv", "report.html", "junit.xml",
    }  # fmt: skip
    one = out(capsys, "report", "reports/matrix/numpy", "--format", "json", "--select", "T=float16")
    assert json.loads(one)["selection"] == "T=float16"
    assert "numpy" in out(capsys, "report", "--format", "console")


def test_two_runs_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    main(["run", "--backend", "numpy", "--workers", "1", "--quiet", "--reports", str(tmp_path)])
    old, new = str(tmp_path), str(tmp_path / "new.jsonl")
    lines = (tmp_path / "matrix" / "numpy" / "results.jsonl").read_text(encoding="utf-8")
    Path(new).write_text(lines.replace('"verdict":"passed"', '"verdict":"crashed"', 2), encoding="utf-8")
    text = out(capsys, "compare", old, new, status=NOT_AS_EXPECTED)
    assert "**2 regressions, 0 data sets fixed.**" in text
    assert "**No regressions, 2 data sets fixed.**" in out(capsys, "compare", new, old)
    assert json.loads(out(capsys, "compare", old, new, "--format", "json", status=NOT_AS_EXPECTED))["regressions"] == 2
    assert "**No regressions, 2 data sets fixed.**" in out(capsys, "compare", new, old, "--select", "verdict=crashed")
    assert out(capsys, "compare", old, old, "--output", str(tmp_path / "a folder" / "x.md")) == ""
    assert (tmp_path / "a folder" / "x.md").read_text(encoding="utf-8").startswith("# Comparison: numpy 0.1.0 → numpy")


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    command = ["run", "--backend", "numpy", "--workers", "1", "--quiet", "--reports"]
    for folder in ("one", "one/other"):
        main([*command, str(tmp_path / folder), "--select", "T=float"])
    one, other = str(tmp_path / "one"), str(tmp_path / "one" / "other")
    lines = complaint(capsys, "compare", one, other)
    assert lines[0].startswith("onnx-conformance: OLD has 2 runs of the suite matrix: numpy 0.1.0")
    assert "There are no results" in complaint(capsys, "compare", other, str(tmp_path / "nowhere"))[0]
    results = tmp_path / "one" / "other" / "matrix" / "numpy" / "results.jsonl"
    changed = tmp_path / "changed.jsonl"
    header, rest = results.read_text(encoding="utf-8").split("\n", 1)
    changed.write_text(f"{json.dumps({**json.loads(header), 'digest': 'ab' * 32})}\n{rest}", encoding="utf-8")
    lines = complaint(capsys, "compare", other, str(changed))
    assert "with the same name in common" in lines[0]
    assert "--force" in lines[1]
    assert "The suites differ" in out(capsys, "compare", other, str(changed), "--force")


def test_a_report_leaves_nothing_of_a_bigger_one(folder: Path, tmp_path: Path):
    reports = ["--reports", str(tmp_path)]
    assert (
        main(["run", "--backend", "numpy", "--workers", "1", "--quiet", "--select", "T=float", *reports]) == AS_EXPECTED
    )
    for name in ("junit-2.xml", "junit-10.xml", "junit-of-mine.xml"):
        (tmp_path / name).touch()
    assert main(["report", *reports, "--format", "junit", "--output", str(tmp_path)]) == AS_EXPECTED
    assert {path.name for path in tmp_path.glob("*.xml")} == {"junit.xml", "junit-of-mine.xml"}


def test_what_is_not_expected_is_printed_and_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    expected = tmp_path / "known.toml"
    expected.write_text('[[expect]]\nselect = "op=CumProd"\nverdict = "crashed"\nreason = "long ago"\n')
    command = ["run", "--backend", "numpy", "--reports", str(tmp_path), "--expected", str(expected), "--workers", "1"]
    assert main(command) == NOT_AS_EXPECTED
    assert "1 expectation is stale:\n    op=CumProd: not every result is crashed\n" in capsys.readouterr().err
    assert main([*command, "--write-expected"]) == AS_EXPECTED
    assert "[[expect]]" not in expected.read_text()
    assert main(command) == AS_EXPECTED


def test_only_known_suites_are_generated(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    lines = complaint(capsys, "generate", "--testdata", str(tmp_path), "--suite", "matrix", "--suite", "exhaustve")
    assert lines == [
        "onnx-conformance: generate cannot write a suite called exhaustve.",
        "  It writes matrix, official and exhaustive. To write into another folder: --testdata DIR.",
    ]
    assert not list(tmp_path.iterdir())


def test_what_is_up_to_date_is_not_written_again(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    making = ["generate", "--testdata", str(tmp_path), "--suite", "matrix", "--jobs", "1", "--select", "op=Det"]
    for arguments, says in ((making, "of them written"), (making, "up to date"), ([*making, "--force"], "0 of them")):
        assert main(arguments) == AS_EXPECTED
        assert says in capsys.readouterr().err


def test_the_quick_profile_runs_a_part(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    reports = ["--reports", str(tmp_path), "--workers", "1", "--quiet"]
    assert main(["run", "--backend", "numpy", "--profile", "quick", *reports]) == AS_EXPECTED
    capsys.readouterr()
    assert main(["report", "--reports", str(tmp_path), "--format", "console"]) == AS_EXPECTED
    assert "covers part of the suite" in capsys.readouterr().out


def test_a_selection_runs_over_the_suites_that_have_it(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
):
    where = ["--testdata", str(tmp_path)]
    assert main(["generate", *where, "--suite", "matrix", "--jobs", "1", "--select", "op=Sign"]) == AS_EXPECTED
    (tmp_path / "cumprod").symlink_to(folder / "testdata" / "matrix")
    assert "test_sign_" in out(capsys, "list", *where, "--select", "op=Sign")
    assert "test_cumprod_" in out(capsys, "list", *where, "--select", "op=CumProd")
    both = out(capsys, "list", *where, "--select", "op=Sign,CumProd")
    assert "test_sign_" in both
    assert "test_cumprod_" in both
    assert "op=Sin" in complaint(capsys, "list", *where, "--select", "op=Sin")[0]


def test_list_and_its_selection(capsys: pytest.CaptureFixture[str]):
    text = out(capsys, "list", "--select", "T=float16", "exclusive=1", "reverse=omitted")
    assert "test_cumprod_26_float16_int32_exclusive_1_2x3x4_scalar" in text
    lines = out(capsys, "list", "--json", "--select", "group=example").splitlines()
    assert len(lines) == 9
    assert all(json.loads(line)["data_sets"][0]["group"] == "example" for line in lines)


def test_show_is_the_documents_form_and_takes_a_name_without_test(capsys: pytest.CaptureFixture[str]):
    text = out(capsys, "show", "cumprod_1d_exclusive")
    assert text.startswith(
        "test_cumprod_1d_exclusive\n\nNode:\n  CumProd(x, axis) -> (y)\n  Attributes:\n    exclusive = 1\n"
    )
    assert "bound:" not in text
    assert "bound: shape=(3,), dtype=float64" in out(capsys, "show", "cumprod_1d_exclusive", "--bounds")


def test_coverage_in_words_and_in_json(capsys: pytest.CaptureFixture[str]):
    assert "144/144" in out(capsys, "coverage")
    found = json.loads(out(capsys, "coverage", "--json"))
    assert len(found["versions"]) == 654
    narrow = json.loads(out(capsys, "coverage", "--json", "--select", "T=float"))
    assert sum(v["pairs"] for v in narrow["versions"]) == 1 + 2


def test_repro_is_a_script(capsys: pytest.CaptureFixture[str]):
    compile(out(capsys, "repro", "cumprod_1d", "--backend", "onnxruntime"), "repro", "exec")


def test_backends_are_named_and_the_protocol_is_published(capsys: pytest.CaptureFixture[str]):
    assert {"numpy", "onnx-reference", "onnxruntime"} <= set(out(capsys, "backends").split())
    schema = json.loads(out(capsys, "backends", "--protocol"))
    assert {"DescribeRequest", "CaseRequest", "DescribeAnswer", "CaseAnswer"} <= schema["$defs"].keys()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run --backend nunpy", "Did you mean numpy?"),
        ("run --backend no.such.module:Class", "names the module 'no', which does not exist"),
        ("run --backend command:no-such-program", "no-such-program"),
        ("run --backend numpy --suite nowhere", "There is no suite at testdata/nowhere"),
        ("list --suite nowhere", "testdata holds matrix. To write suites: onnx-conformance generate"),
        ("coverage --suite ./nowhere", "There is no suite at nowhere.   Name a folder that holds a manifest.jsonl"),
        ("report --suite nowhere", "There are no results"),
        ("generate --suite ./matrix", "To write into another folder: --testdata DIR"),
        ("run --backend numpy --backend numpy", "would both be written to a folder called numpy"),
        ("run --backend numpy --name a --name b", "1 backends and 2 names"),
        ("run --backend numpy --suite matrix --suite testdata/matrix", "Two suites are called matrix"),
        ("run --backend numpy --select op=CumPrd", "did you mean op=CumProd"),
        ("run --backend numpy --select oop=CumProd", "did you mean op"),
        ("run --backend numpy --select =", "="),
        ("run --backend numpy --backend onnxruntime --expected x.toml", "one backend"),
        ("report nowhere", "nowhere"),
        ("show cumprod_1e", "Did you mean test_cumprod_1"),
        ("repro cumprod_1d --backend numpy --data-set 3", "data set 3"),
        ("repro cumprod_1d --backend nunpy", "Did you mean numpy?"),
        ("list --suite .", "no suite"),
        ("coverage --testdata nowhere", "There is no suite"),
        ("check-backend nunpy", "Did you mean numpy?"),
        ("generate --select op=Nothing", "op=Nothing"),
        ("schema result", "Did you mean results?"),
    ],
)
def test_an_error_says_what_to_do(capsys: pytest.CaptureFixture[str], arguments: str, says: str):
    assert says in " ".join(complaint(capsys, *arguments.split()))


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "rum",
        "run",
        "run --backend numpy --workers 0",
        "run --backend numpy --limit -1",
        "run --backend numpy --shard 5/4",
        "run --backend numpy --name ../results",
        "generate --strength some",
        "report --format pdf",
    ],
)
def test_wrong_usage_is_two_lines(capsys: pytest.CaptureFixture[str], arguments: str):
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert ended.value.code == WRONG_USAGE
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_file_of_the_suite_that_is_not_the_one_listed_is_the_harness_fault(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
):
    file = folder / "testdata" / "matrix" / "test_cumprod_1d" / "test_data_set_0" / "output_0.pb"
    whole = file.read_bytes()
    try:
        for broken in (whole[:-1], b""):
            file.write_bytes(broken)
            command = ["run", "--backend", "numpy", "--select", "cumprod_1d", "--reports", str(tmp_path)]
            lines = complaint(capsys, *command, status=HARNESS_FAILED)
            assert "output_0.pb" in lines[0]
            assert "generate" in lines[1]
    finally:
        file.write_bytes(whole)


def test_a_missing_file_is_told_by_show(capsys: pytest.CaptureFixture[str], folder: Path):
    file = folder / "testdata" / "matrix" / "test_cumprod_1d" / "model.onnx"
    whole = file.read_bytes()
    file.unlink()
    try:
        assert "model.onnx" in complaint(capsys, "show", "cumprod_1d")[0]
    finally:
        file.write_bytes(whole)


def test_bugs_are_no_verdict(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("harness.suite.show.show", lambda *_, **__: 1 / 0)
    assert main(["show", "cumprod_1d"]) == HARNESS_FAILED
    assert "a bug in the harness" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_error(folder: Path):
    ours = subprocess.Popen([sys.executable, "-m", "harness", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert ours.stdout
    assert ours.stderr
    ours.stdout.read(10)
    ours.stdout.close()
    assert ours.stderr.read() == b""
    assert ours.wait() == AS_EXPECTED
    ours.stderr.close()


def test_help_is_fast_and_lists_the_exit_statuses(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "100")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "harness", "--help"], capture_output=True, text=True, check=True
    )
    assert "exit status:\n  0    as expected\n  1    not as expected" in done.stdout
    assert "130  stopped by Ctrl-C (SIGINT); 143: stopped by SIGTERM; 129: stopped by SIGHUP" in done.stdout
    assert {"flint", "onnx", "numpy", "msgspec"}.isdisjoint(re.split(r"[\s.|]+", done.stderr))
    assert os.fspath(HERE) not in done.stdout


def test_a_full_disk_is_not_a_bug(folder: Path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == HARNESS_FAILED
    assert done.stderr == "onnx-conformance: cannot write the output: No space left on device.\n"


COMMANDS = ["generate", "run", "report", "compare", "list", "show", "repro", "coverage", "backends", "schema"]


@pytest.mark.parametrize("command", [*COMMANDS, "check-backend"])
def test_every_option_has_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str):
    monkeypatch.setenv("COLUMNS", "80")
    added: list[argparse.Action] = []
    add = argparse.ArgumentParser.add_argument

    def add_argument(self: argparse.ArgumentParser, *names: str, **options: object):
        added.append(add(self, *names, **options))  # pyright: ignore[reportArgumentType]
        return added[-1]

    monkeypatch.setattr(argparse.ArgumentParser, "add_argument", add_argument)
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == AS_EXPECTED
    text = capsys.readouterr().out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert f"examples:\n  onnx-conformance {command}" in text
    assert [action.dest for action in added if not action.help] == []


# Progress.


def test_generation_off_a_terminal_shows_at_most_a_line_in_ten_seconds(capsys: pytest.CaptureFixture[str]):
    now = 0.0
    lines: list[tuple[float, str]] = []
    with GenerationProgress("matrix", clock=lambda: now) as progress:
        for done in range(1, 301):
            now = done / 10
            progress.show(done, 1654, SimpleNamespace(title="Abs-13"))
            if text := capsys.readouterr().err:
                lines.append((now, text))
    assert lines == [(n, f"matrix: {10 * n:.0f} of 1,654 operator versions\n") for n in (10, 20, 30)]


# The quick profile.


def test_list_and_run_choose_the_same_quick_cases(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    listed = out(capsys, "list", "--profile", "quick", "--json", "--select", "T=float16,double").splitlines()
    command = ["run", "--backend", "numpy", "--profile", "quick", "--select", "T=float16,double", "--workers", "1"]
    main([*command, "--quiet", "--reports", str(tmp_path)])
    results = (tmp_path / "matrix" / "numpy" / "results.jsonl").read_text(encoding="utf-8").splitlines()[1:-1]
    names = [json.loads(line)["name"] for line in listed]
    assert set(names) == {json.loads(line)["case"] for line in results}
    assert 0 < len(names) < len(out(capsys, "list", "--json", "--select", "T=float16,double").splitlines())


# Suites by path.


@pytest.fixture
def elsewhere(folder: Path, tmp_path: Path) -> Path:
    """A suite whose folder has a space in its path and is not in testdata."""
    path = tmp_path / "other suites" / "mine"
    shutil.copytree(folder / "testdata" / "matrix", path)
    return path


def test_a_suite_may_be_a_path(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, elsewhere: Path, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    relative = ["--suite", "./other suites/mine"]
    for suite in (relative, ["--suite", f"{elsewhere}/"]):
        assert "mine     test_cumprod_1d " in out(capsys, "list", *suite, "--select", "cumprod_1d")
        assert "CumProd" in out(capsys, "show", "cumprod_1d", *suite)
        assert "test_cumprod_1d (suite mine, " in out(capsys, "repro", "cumprod_1d", "--backend", "numpy", *suite)
        assert out(capsys, "coverage", *suite).startswith("mine: ")
        assert main(["run", "--backend", "numpy", "--workers", "1", "--report", "--quiet", *suite]) == AS_EXPECTED
    assert (tmp_path / "reports" / "mine" / "numpy" / "results.jsonl").exists()
    assert main(["report", *relative, "--format", "operators", "--output", "pages"]) == AS_EXPECTED
    page = (tmp_path / "pages" / "operators" / "CumProd-26.md").read_text(encoding="utf-8")
    assert "exclusive=1" in page, "the page shows examples, so the report has found the suite"
    monkeypatch.chdir(elsewhere)
    assert out(capsys, "coverage", "--suite", ".").startswith("mine: ")


def test_reports_look_for_suites_in_one_folder(capsys: pytest.CaptureFixture[str], elsewhere: Path):
    for command in (["report"], ["run", "--backend", "numpy", "--report"]):
        lines = complaint(capsys, *command, "--suite", "matrix", "--suite", str(elsewhere))
        assert "The suites are in several folders" in lines[0]
        assert "one suite at a time" in lines[1]


def test_a_report_of_one_suite(capsys: pytest.CaptureFixture[str], elsewhere: Path, tmp_path: Path):
    where = ["--reports", str(tmp_path / "reports")]
    command = ["run", "--backend", "numpy", "--workers", "1", "--quiet", "--select", "cumprod_1d", *where]
    assert main([*command, "--suite", "matrix", "--suite", str(elsewhere)]) == AS_EXPECTED
    text = out(capsys, "report", *where, "--format", "console")
    assert "Suite matrix" in text
    assert "Suite mine" in text
    text = out(capsys, "report", *where, "--format", "console", "--suite", str(elsewhere))
    assert "Suite matrix" not in text
    assert "Suite mine" in text
    lines = complaint(capsys, "report", *where, "--suite", "official")
    assert lines[0].endswith("There are no results of the suite official.")
    assert "There are results of matrix, mine." in lines[1]


# Folders of results.

ADAPTERS = """
from backends.numpy import NumpyBackend
from harness.backend.interface import Description


class One(NumpyBackend):
    def describe(self):
        return Description("my runtime", "1")


class Two(NumpyBackend):
    def describe(self):
        return Description("my runtime", "2")
"""


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A command, in a folder with adapters that describe the same name."""
    (tmp_path / "adapters.py").write_text(ADAPTERS)
    suite = str(Path("testdata").absolute())
    monkeypatch.chdir(tmp_path)
    return ["run", "--testdata", suite, "--workers", "1", "--select", "cumprod_1d"]


def folders(reports: str = "reports") -> set[str]:
    return {path.parent.relative_to(reports).as_posix() for path in Path(reports).rglob("results.jsonl")}


def test_a_folder_bears_the_name_that_the_backend_describes(capsys: pytest.CaptureFixture[str], running: list[str]):
    program = f"command:{sys.executable} -m harness.backend.worker adapters:One"
    assert main([*running, "--backend", program]) == AS_EXPECTED
    assert folders() == {"matrix/my-runtime"}
    err = capsys.readouterr().err
    assert err == "my runtime over matrix: 1 passed\n  Results: reports/matrix/my-runtime/results.jsonl\n"


def test_results_of_another_backend_of_the_same_name_are_kept(capsys: pytest.CaptureFixture[str], running: list[str]):
    assert main([*running, "--backend", "adapters:One"]) == AS_EXPECTED
    before = Path("reports/matrix/my-runtime/results.jsonl").read_bytes()
    lines = complaint(capsys, *running, "--backend", "adapters:Two")
    assert lines[0].endswith("holds the results of another backend: adapters:One (my runtime 1).")
    assert "--name my-runtime-2" in lines[1]
    assert Path("reports/matrix/my-runtime/results.jsonl").read_bytes() == before
    assert main([*running, "--backend", "adapters:Two", "--name", "my-runtime-2"]) == AS_EXPECTED
    assert main([*running, "--backend", "adapters:One"]) == AS_EXPECTED
    assert folders() == {"matrix/my-runtime", "matrix/my-runtime-2"}
    text = out(capsys, "report", "--format", "console")
    assert "my runtime 1" in text
    assert "my runtime 2" in text


def test_two_backends_of_one_command_have_two_folders(capsys: pytest.CaptureFixture[str], running: list[str]):
    both = [*running, "--backend", "adapters:One", "--backend", "adapters:Two"]
    lines = complaint(capsys, *both)
    assert "adapters:One and adapters:Two would both be written to a folder called my-runtime" in lines[0]
    assert "--name NAME, once for each --backend" in lines[1]
    assert not Path("reports").exists()
    assert main([*both, "--name", "old", "--name", "new"]) == AS_EXPECTED
    assert folders() == {"matrix/old", "matrix/new"}


def test_reports_tell_runs_of_one_version_apart_by_their_folders(
    capsys: pytest.CaptureFixture[str], running: list[str]
):
    for name in ("old-build", "new-build"):
        main([*running, "--backend", "adapters:One", "--quiet", "--name", name])
    text = out(capsys, "report", "--format", "console")
    assert "my runtime 1 (old-build)" in text
    assert "my runtime 1 (new-build)" in text


def test_a_backend_that_does_not_start_is_an_error_before_any_runs(
    capsys: pytest.CaptureFixture[str], running: list[str]
):
    assert "Did you mean numpy?" in complaint(capsys, *running, "--backend", "numpy", "--backend", "nunpy")[0]
    assert not Path("reports").exists()


def test_results_of_an_earlier_version_are_resumed_where_they_are(running: list[str]):
    command = [*running, "--backend", "adapters:One", "--quiet"]
    assert main(command) == AS_EXPECTED
    Path("reports/matrix/my-runtime").rename("reports/matrix/adapters-One")
    assert main([*command, "--resume"]) == AS_EXPECTED
    assert folders() == {"matrix/adapters-One"}


# Expectations.


def test_write_expected_names_the_option_that_it_needs(capsys: pytest.CaptureFixture[str], running: list[str]):
    lines = complaint(capsys, *running, "--backend", "adapters:One", "--write-expected")
    assert "needs --expected FILE" in lines[0]
    assert lines[1:] == [
        "  For example: onnx-conformance run --backend adapters:One --expected known.toml --write-expected"
    ]
    assert main([*running, "--backend", "adapters:One", "--expected", "known.toml", "--write-expected"]) == AS_EXPECTED
    assert Path("known.toml").exists()


def test_a_part_of_a_suite_runs_under_the_shipped_expectations(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    command = ["run", "--backend", "onnxruntime", "--workers", "1", "--reports", str(tmp_path)]
    assert main(command) == AS_EXPECTED
    first, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("onnxruntime over matrix: ")
    assert re.fullmatch(r"  [\d,]+ expectations match no case of this suite \(not checked\)\.", others[1])
    assert len(others) == 2


def test_only_the_first_stale_expectations_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    expected = tmp_path / "known.toml"
    entry = '[[expect]]\nselect = "op=CumProd data_set=0,{}"\nverdict = "crashed"\nreason = "r"\n'
    expected.write_text("".join(entry.format(1000 + n) for n in range(1025)))
    command = ["run", "--backend", "numpy", "--workers", "1", "--reports", str(tmp_path), "--select", "cumprod_1d"]
    assert main([*command, "--expected", str(expected)]) == NOT_AS_EXPECTED
    lines = capsys.readouterr().err.splitlines()
    assert "  1,025 expectations are stale:" in lines
    assert len([line for line in lines if line.startswith("    op=CumProd")]) == 20
    assert "    … and 1,005 more" in lines


# Signals.

STOPPED = [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)]


@pytest.mark.parametrize(
    ("command", "function", "advice"),
    [
        ("generate --force --suite matrix", "harness.suite.generate.generate", "run the same command again"),
        ("run --backend numpy", "harness.running.run.run", "--resume"),
        ("report", "harness.reports.gather.gather", "run the same command again"),
        ("show cumprod_1d", "harness.suite.show.show", ""),
        ("repro cumprod_1d --backend numpy", "harness.authoring.repro.repro_script", ""),
        ("check-backend numpy", "harness.authoring.check.check_backend", ""),
    ],
)
@pytest.mark.parametrize(("name", "status"), STOPPED)
def test_a_signal_ends_any_command(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    function: str,
    advice: str,
    name: str,
    status: int,
):
    number = signal.Signals[name]
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    if command == "report":
        main(["run", "--backend", "numpy", "--workers", "1", "--quiet", "--select", "cumprod_1d"])
    monkeypatch.setattr(function, lambda *_, **__: signal.raise_signal(number))
    lines = complaint(capsys, *command.split(), status=status)
    assert lines[0] == f"onnx-conformance: stopped by {name}."
    assert advice in " ".join(lines[1:])
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.mark.parametrize(("name", "status"), STOPPED)
def test_a_stopped_generation_cleans_up(tmp_path: Path, name: str, status: int):
    command = [
        sys.executable,
        "-m",
        "harness",
        "generate",
        "--suite",
        "matrix",
        "--jobs",
        "2",
        "--select",
        "op=A*,B*,C*",
    ]
    ours = subprocess.Popen([*command, "--testdata", str(tmp_path)], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("matrix/test_*"))) < 5 and time.monotonic() < deadline:
        os.sched_yield()
    ours.send_signal(signal.Signals[name])
    _, errors = ours.communicate(timeout=60)
    assert ours.returncode == status
    assert errors.splitlines()[-2:] == [
        f"onnx-conformance: stopped by {name}.",
        "  The suite is incomplete. To complete it, run the same command again.",
    ]
    assert "Traceback" not in errors
    assert (tmp_path / "matrix" / "manifest.incomplete").exists()


def test_a_signal_that_is_ignored_ends_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
):
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        monkeypatch.setattr("harness.suite.show.show", lambda *_, **__: signal.raise_signal(signal.SIGHUP) or "shown\n")
        assert out(capsys, "show", "cumprod_1d") == "shown\n"
    finally:
        signal.signal(signal.SIGHUP, former)


def test_options_of_one_command_only(monkeypatch: pytest.MonkeyPatch):
    assert parse(["list", "--profile", "quick"]).profile == "quick"
    with pytest.raises(SystemExit):
        parse(["list", "--backend", "numpy"])
