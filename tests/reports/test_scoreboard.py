import re

import msgspec
import pytest
from markdown_it import MarkdownIt

from harness.backend.interface import Description
from harness.cli import main
from harness.reports.gather import gather
from harness.reports.scoreboard import INTRODUCTION, REPRODUCTION, IncompleteRun, scoreboard
from harness.results.lines import Footer, Result
from harness.suite.cases import Labels
from harness.suite.select import Selection


def _rows(text, heading):
    """Cells of the first table below a heading, without its header."""
    lines = text.split(heading, 1)[1].lstrip().splitlines()
    table = lines[: next(n for n, line in enumerate([*lines, ""]) if not line.startswith("|"))]
    return [[cell.strip() for cell in line[1:-1].split(" |")] for line in table[2:]]


def test_rates_have_denominators(two_operators):
    text = scoreboard(gather(two_operators))
    assert "29 scored data sets of 2 operator versions" in text
    assert f"Digest (SHA-256 of its manifest): {'ab' * 32}" in text.replace("`", "")
    assert _rows(text, "### By category") == [
        ["math", "16/16 (100.0 %)", "16/16 (100.0 %)", "8/16 (50.0 %)"],
        ["tensor", "12/12 (100.0 %)", "6/12 (50.0 %)", "8/12 (66.6 %)"],
        ["graphs of several nodes", *["1/1 (100.0 %)"] * 3],
    ]
    assert _rows(text, "### By element type") == [
        ["float", "14/14 (100.0 %)", "14/14 (100.0 %)", "12/14 (85.7 %)"],
        ["double", "8/8 (100.0 %)", "8/8 (100.0 %)", "0/8 (0.0 %)"],
        ["int32", "8/8 (100.0 %)", "8/8 (100.0 %)", "4/8 (50.0 %)"],
        ["int64", "8/8 (100.0 %)", "8/8 (100.0 %)", "4/8 (50.0 %)"],
        ["string", "6/6 (100.0 %)", "0/6 (0.0 %)", "4/6 (66.6 %)"],
        ["no type variables", *["1/1 (100.0 %)"] * 3],
    ]


def test_a_type_is_counted_once_per_scored_data_set(make_run):
    same = Labels("Add", since=14, category="math", types={"T": "float", "T2": "float", "S": "seq(tensor(bool))"})
    results = [Result("test_a", 0, "passed", same), Result("test_b", 0, "unspecified", same)]
    rows = _rows(scoreboard(gather([make_run(results)])), "### By element type")
    assert rows == [["float", "1/1 (100.0 %)"], ["sequences, optionals, maps", "1/1 (100.0 %)"]]


def test_accuracy(make_run):
    labels = Labels("Add", since=14, category="math")
    errors = [0.0, 0.0, 0.5, 1.0, 3.9, 4.0, 4.1, "inf", None]
    results = [Result(f"test_{n}", 0, "passed", labels, error=error) for n, error in enumerate(errors)]
    unspecified = Result("test_s", 0, "unspecified", labels, error=100.0)
    (row,) = _rows(scoreboard(gather([make_run([*results, unspecified])])), "### Accuracy")
    assert row == ["numpy 1.0", "8", "2 (25.0 %)", "4 (50.0 %)", "6 (75.0 %)", "2 (25.0 %)", "inf"]
    assert "### Accuracy" not in scoreboard(gather([make_run([results[-1]])]))


def test_speed(make_run):
    labels = Labels("Add", since=14, category="math")
    times = [(0.004, 0.001), (0.0, 0.002), (0.002, 0.009), (0.003, 0.0)]
    results = [
        Result(f"test_{n}", 0, "passed", labels, prepare_seconds=prepare, seconds=run)
        for n, (prepare, run) in enumerate(times)
    ]
    (row,) = _rows(scoreboard(gather([make_run(results)])), "### Speed")
    assert row[-3:] == ["3 ms", "2 ms", "3"]


def test_versions_of_a_backend_are_separate_rows(make_run):
    results = [Result("test_a", 0, "passed", Labels("Add", since=14, category="math"))]
    runs = [make_run(results, description=Description("runtime", version)) for version in ("1.0", "2.0")]
    text = scoreboard(gather(runs))
    assert re.findall(r"^\| (runtime \d\.0) +\|", text, re.MULTILINE) == ["runtime 1.0", "runtime 2.0"] * 2


def test_incomplete_runs_are_refused(make_run, two_operators):
    results = [Result("test_a", 0, "passed", Labels("Add", since=14))]
    with pytest.raises(IncompleteRun, match=r"run of matrix on numpy 1\.0 has 1 of 2,010 data sets"):
        scoreboard(gather([make_run(results, suite_data_sets=2010)]))
    with pytest.raises(IncompleteRun, match="is unfinished and has 1 of 1 data sets"):
        scoreboard(gather([make_run(results, finished=False)]))
    with pytest.raises(IncompleteRun, match="has 0 of 0"):
        scoreboard(gather([make_run([])]))
    with pytest.raises(IncompleteRun, match="with digests abababababab, cdcdcdcdcdcd"):
        scoreboard(gather([make_run(results), make_run(results, "runtime", digest="cd" * 32)]))
    with pytest.raises(IncompleteRun, match=r"limited to a selection \(op=Trilu\)"):
        scoreboard(gather(two_operators, Selection.parse("op=Trilu")))
    with pytest.raises(IncompleteRun, match="no runs"):
        scoreboard(gather([]))


def test_an_error_leaves_the_old_page(make_run, tmp_path, capsys):
    run = make_run([Result("test_a", 0, "passed", Labels("Add", since=14))], suite_data_sets=2)
    lines = [*run.headers, *run.results, *run.footers]
    (tmp_path / "results.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    page = tmp_path / "README.md"
    page.write_text("old")
    assert main(["report", str(tmp_path), "--format", "scoreboard", "--output", str(page)]) == 2
    assert "make conformance scoreboard" in capsys.readouterr().err
    assert page.read_text() == "old"


def test_only_speed_differs_from_run_to_run(two_operators):
    def slower(result):
        return msgspec.structs.replace(result, seconds=7.0, prepare_seconds=9.0)

    again = [
        msgspec.structs.replace(
            run,
            headers=tuple(msgspec.structs.replace(h, started="2028-02-02T02:02:02Z") for h in run.headers),
            results=tuple(map(slower, run.results)),
            path=f"elsewhere/{run.path}",
        )
        for run in two_operators
    ]
    old, new = scoreboard(gather(two_operators)), scoreboard(gather(again))
    assert old != new
    head, rest = old.split("### Speed"), new.split("### Speed")
    assert head[0] == rest[0]
    assert head[1].split(REPRODUCTION)[1:] == rest[1].split(REPRODUCTION)[1:]


def test_hostile_text_is_shown_and_never_rendered(seed, random_runs):
    runs = [
        msgspec.structs.replace(run, footers=(Footer({}, 0, (), 1.0),))
        for run in random_runs(seed, hostile=True)
        if run.results
    ]
    if not runs:
        pytest.skip("no results")
    text = scoreboard(gather(runs))
    assert text.replace("\n", "").isprintable()
    tokens = MarkdownIt("commonmark").enable("table").parse(text.replace(INTRODUCTION, ""))
    flat = [child for token in tokens for child in (token, *(token.children or ()))]
    kinds = {token.type for token in flat}
    assert not kinds & {"link_open", "image", "html_inline", "html_block", "autolink"}
    assert not re.search(r"https?:|www\.|[<@]", " ".join(token.content for token in flat if token.type == "text"))
    assert scoreboard(gather(runs[::-1])) == text
