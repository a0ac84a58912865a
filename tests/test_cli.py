"""The commands as a person types them: what they print, where, and with which exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.shared import AS_EXPECTED, HARNESS_FAILED, NOT_AS_EXPECTED, WRONG_USAGE

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
    assert "numpy over matrix: 377 passed, 12 unspecified" in capsys.readouterr().err
    text = out(capsys, "report")
    assert "377/377" in text
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


def test_what_is_not_expected_is_told_and_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    expected = tmp_path / "known.toml"
    expected.write_text('[[expect]]\nselect = "op=CumProd"\nverdict = "crashed"\nreason = "long ago"\n')
    command = ["run", "--backend", "numpy", "--reports", str(tmp_path), "--expected", str(expected), "--workers", "1"]
    assert main(command) == NOT_AS_EXPECTED
    assert "no longer holds" in capsys.readouterr().err
    assert main([*command, "--write-expected"]) == AS_EXPECTED
    assert "[[expect]]" not in expected.read_text()
    assert main(command) == AS_EXPECTED


def test_only_known_suites_are_generated(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    lines = complaint(capsys, "generate", "--testdata", str(tmp_path), "--suite", "matrix", "--suite", "exhaustve")
    assert lines == [
        "onnx-conformance: No suite is called exhaustve.",
        "  There are matrix, official, exhaustive.",
    ]
    assert not list(tmp_path.iterdir())


def test_what_is_up_to_date_is_not_made_again(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    making = ["generate", "--testdata", str(tmp_path), "--suite", "matrix", "--jobs", "1", "--select", "op=Det"]
    for arguments, says in ((making, "of them written"), (making, "up to date"), ([*making, "--anew"], "0 of them")):
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
def test_mistakes_are_told_with_what_to_do(capsys: pytest.CaptureFixture[str], arguments: str, says: str):
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


def test_help_is_quick_and_says_how_it_ends():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "harness", "--help"], capture_output=True, text=True, check=True
    )
    assert "exit status: 0 as expected" in done.stdout
    assert "flint" not in done.stderr
    assert os.fspath(HERE) not in done.stdout


def test_a_full_disk_is_told_of_and_no_bug(folder: Path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == HARNESS_FAILED
    assert done.stderr == "onnx-conformance: the output cannot be written: No space left on device.\n"
