import re

import pytest

from harness.reports.console import MAX_GROUPS, MAX_OPERATORS, WIDTH, console
from harness.reports.gather import gather
from harness.results.lines import VERDICTS, Result
from harness.suite.cases import Labels
from harness.suite.select import Selection


def test_summary(two_operators):
    lines = console(gather(two_operators)).splitlines()
    assert lines[0] == "Suite matrix: 29 scored data sets, 2 operator versions (digest abababababab)"
    assert "numpy 1.0       29/29  100.0 %    100.0 %   0.31      0       0        0       12      0       0" in lines
    assert "reference 1.0   23/29   79.3 %     79.3 %    inf      6       0        0       12      3       3" in lines
    assert "runtime 1.0     17/29   58.6 %     80.9 %   0.31      0       8        4       12      0      12" in lines
    assert "Operator versions with failures: 2 of 2" in lines
    assert "Trilu-14           2×3      12/12       6/12         8/12" in lines
    assert "  wrong value: Trilu fails only with T=string (6 of 6 data sets); 3 known" in lines
    assert "    Trilu-14 T=string, without upper" in lines
    assert "    reproduce: onnx-conformance repro test_trilu_12 --backend reference" in lines
    assert "  reports/runtime/results.jsonl" in lines


def test_tables_fit(seed, random_runs):
    for line in console(gather(random_runs(seed))).splitlines():
        assert len(line) <= WIDTH or line.startswith(("  ", "! "))


def test_colours_are_optional_and_change_no_text(two_operators):
    report = gather(two_operators)
    coloured = console(report, colours=True)
    assert "\033" in coloured
    assert re.sub(r"\033\[\d*m", "", coloured) == console(report)


def test_large_runs_are_truncated(make_run):
    runs = [
        make_run(
            [
                Result(f"test_{n}", 0, VERDICTS[n % 11], Labels(f"Op{n // 11}", since=1, category="math"))
                for n in range(11 * 50)
            ],
            f"backend{b}",
        )
        for b in range(12)
    ]
    text = console(gather(runs))
    assert f"Operator versions with failures: 50 of 50 ({MAX_OPERATORS} with the most failures shown)" in text
    assert f"{MAX_GROUPS} of 108 shown" in text
    assert text.count("reproduce:") == MAX_GROUPS
    assert text.count("  crashed: ") == MAX_GROUPS
    assert len(text.splitlines()) < 200


def test_selection_is_shown(two_operators):
    assert console(gather(two_operators, Selection.parse("op=Trilu"))).startswith("Selection: op=Trilu\n")


@pytest.mark.parametrize("text", ["\x1b[31m", "a\nb"])
def test_messages_stay_on_their_line(text, make_run):
    report = gather([make_run([Result("test_a", 0, "error", Labels("Add"), message=f"<{text}>")])])
    assert any(re.fullmatch(r"    <.*>", line) for line in console(report).splitlines())
