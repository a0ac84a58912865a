"""JSON, CSV and JUnit: what programs read."""

import csv
import io
import json
from collections import Counter
from xml.etree import ElementTree as ET

import jsonschema
import msgspec

from harness.reports.csv_report import COLUMNS, csv_report
from harness.reports.gather import Summary, gather
from harness.reports.json_report import json_report, json_schema
from harness.reports.junit import junit
from harness.running.results import Result
from harness.suite.cases import Labels

WRONG = ("wrong_value", "wrong_shape", "wrong_type", "wrong_count")


def test_json_is_the_summary_and_keeps_its_schema(seed, random_runs):
    report = gather(random_runs(seed, hostile=True))
    text = json_report(report)
    assert msgspec.json.decode(text, type=Summary) == report.summary
    jsonschema.validate(json.loads(text), json_schema())


def test_csv_reads_back(seed, random_runs):
    report = gather(random_runs(seed, hostile=True))
    text = csv_report(report)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    results = [result for suite in report.results for run in suite for result in run]
    assert text.count("\r\n") == len(rows) + 1 == len(results) + 1
    for row, result in zip(rows, results, strict=True):
        assert list(row) == list(COLUMNS)
        assert (row["case"], int(row["data_set"]), row["verdict"]) == (result.case, result.data_set, result.verdict)
        assert row["error"] == ("" if result.error is None else str(result.error))
        assert row["message"].removeprefix("'").startswith(result.message.strip().split("\n")[0].strip())
        assert not any(value.lstrip().startswith(("=", "+", "-", "@")) for value in row.values())


def test_csv_columns(make_run):
    labels = Labels("Scaler", "ai.onnx.ml", 1, "traditionalml", {"T": "float"}, {"scale": "[1,2]"}, ("y",), "plain")
    result = Result("test_a", 2, "wrong_value", labels, 6.1, 12.0, True, 24, 3, 1, 0.5, 0.25, "=y", "-known")
    (row,) = csv.DictReader(io.StringIO(csv_report(gather([make_run([result])])), newline=""))
    assert list(row.values()) == [
        *("matrix", "numpy 1.0", "numpy", "1.0", "test_a", "2", "wrong_value", "'-known"),
        *("Scaler", "ai.onnx.ml", "1", "traditionalml", "plain", "T=float", "scale=[1,2]", "y"),
        *("6.1", "12.0", "True", "24", "3", "1", "0.5", "0.25", "'=y"),
    ]


def test_junit_counts_agree(seed, random_runs):
    report = gather(random_runs(seed, hostile=True))
    root = ET.fromstring(junit(report))  # noqa: S314 - our own
    results = [result for suite in report.results for run in suite for result in run]
    unfinished = sum(not run.complete for suite in report.summary.suites for run in suite.runs)
    passed = Counter(result.verdict for result in results)["passed"]
    new = [result.verdict for result in results if not result.known]
    failures = sum(verdict in WRONG for verdict in new)
    errors = sum(verdict in {"error", "crashed", "timed_out", "not_run"} for verdict in new) + unfinished
    assert int(root.attrib["tests"]) == len(results) + unfinished
    assert int(root.attrib["failures"]) == failures
    assert int(root.attrib["errors"]) == errors
    assert int(root.attrib["skipped"]) == len(results) + unfinished - passed - failures - errors
    cases = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(cases) == len(results) + unfinished
    for suite in root:
        assert len(suite) == int(suite.attrib["tests"])
        for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[total]) == len(suite.findall(f"testcase/{tag}"))
        assert {case.tag for case in suite} == {"testcase"}
        assert all(len(case) <= 1 for case in suite)
        assert all(outcome.attrib["message"] for outcome in suite.findall("testcase/*"))


def test_junit_names_and_reasons(two_operators):
    root = ET.fromstring(junit(gather(two_operators)))  # noqa: S314 - our own
    names = [suite.attrib["name"] for suite in root]
    assert len(names) == len(set(names)) == 9
    assert "matrix / runtime 1.0 / CumProd-26" in names
    cases = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(cases) == len(set(cases)) == 123
    reasons = {skipped.attrib["message"].split(".")[0] for skipped in root.iter("skipped")}
    assert reasons == {
        "silent: the specification leaves the answer open",
        "known wrong_value: integer zeros",
        "unsupported: no kernel",
    }
    (first, *_) = root.iter("failure")
    assert first.text is not None
    assert first.text.splitlines()[1:] == [
        "Trilu-14 T=string, without upper",
        "reproduce: onnx-conformance repro test_trilu_12 --backend reference",
    ]


def test_junit_text_is_shown(hostile, make_run):
    run = make_run([Result("test_a", 0, "error", Labels("Add", since=1), message=f"<{hostile}>")])
    (error,) = ET.fromstring(junit(gather([run]))).iter("error")  # noqa: S314 - our own
    assert error.text is not None
    want = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in hostile if c not in "\r\n")
    assert error.text.replace("\n", "").startswith(f"<{want}>")
