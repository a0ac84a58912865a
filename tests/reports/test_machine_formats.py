"""JSON and CSV."""

import csv
import io
import json

import jsonschema
import msgspec

from harness.reports.csv_report import COLUMNS, csv_report
from harness.reports.gather import Summary, gather
from harness.reports.json_report import json_report
from harness.results.lines import Result
from harness.schemas.documents import schema
from harness.suite.cases import Labels


def test_json_round_trip_and_schema(seed, random_runs):
    report = gather(random_runs(seed, hostile=True))
    text = json_report(report)
    assert msgspec.json.decode(text, type=Summary) == report.summary
    jsonschema.validate(json.loads(text), schema("report"))


def test_csv_round_trip(seed, random_runs):
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
