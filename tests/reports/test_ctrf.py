"""CTRF: valid by the published schema, with correct counts and statuses."""

import json
from pathlib import Path

import jsonschema
import pytest

from harness.backend.interface import Description
from harness.reports.ctrf import ctrf
from harness.reports.gather import gather
from harness.results.lines import UNSCORED, VERDICTS, Result
from harness.suite.cases import Labels

SCHEMA = json.loads((Path(__file__).parent / "standards" / "ctrf.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)


def read(runs):
    """Path → document, validated."""
    found = {path: json.loads(text) for path, text in ctrf(gather(runs))}
    for document in found.values():
        VALIDATOR.validate(document)
    return found


def test_documents_are_valid_with_correct_counts(seed, random_runs):
    runs = random_runs(seed, hostile=True)
    found = read(runs)
    assert len(found) == len(runs)
    report = gather(runs)
    pairs = [
        (run, results)
        for suite, of_suite in zip(report.summary.suites, report.results, strict=True)
        for run, results in zip(suite.runs, of_suite, strict=True)
    ]
    for document, (run, results) in zip(found.values(), pairs, strict=True):
        summary, tests = document["results"]["summary"], document["results"]["tests"]
        assert summary["tests"] == len(tests) == len(results) + (not run.complete)
        for status in ("passed", "failed", "skipped", "pending", "other"):
            assert summary[status] == sum(test["status"] == status for test in tests)
        assert (summary["failed"] > 0) >= (not run.complete)
        assert [test["rawStatus"] for test in tests[-len(results) or len(tests) :]] == [r.verdict for r in results]
        assert summary["stop"] >= summary["start"]


def test_fields_of_a_test(make_run):
    labels = Labels("Scaler", "ai.onnx.ml", 1, "traditionalml", {"T": "float"}, {"group": "[1]"}, ("y",), "plain")
    result = Result("test_a", 2, "wrong_value", labels, "inf", 12.0, True, 24, 3, 1, 0.5, 0.25, "y[0] = 1, want 2")
    of = Description("mine", "2.1")
    (document,) = read([make_run([result], "mine.adapter:Mine", description=of)]).values()
    (test,) = document["results"]["tests"]
    assert test == {
        "testId": "matrix/test_a[2]",
        "name": "test_a[2]",
        "status": "failed",
        "rawStatus": "wrong_value",
        "duration": 750,
        "suite": ["matrix", "traditionalml", "ai.onnx.ml.Scaler-1"],
        "message": "y[0] = 1, want 2",
        "trace": (
            "ai.onnx.ml.Scaler-1 T=float group=[1], without y\n"
            "reproduce: onnx-conformance repro test_a --backend mine.adapter:Mine --data-set 2"
        ),
        "labels": {
            "op": "Scaler", "domain": "ai.onnx.ml", "since": 1, "category": "traditionalml", "group": "plain",
            "types.T": "float", "attributes.group": "[1]", "omitted": "y",
        },
        "extra": {"onnx-conformance.result": {"seconds": 0.75, "error": "inf", "ulps": 12.0, "onnxTolerance": True}},
    }  # fmt: skip
    environment = document["results"]["environment"]
    assert (environment["appName"], environment["appVersion"]) == ("mine", "2.1")
    assert environment["extra"]["onnx-conformance.headers"][0]["digest"] == "ab" * 32
    assert document["results"]["summary"]["stop"] - document["results"]["summary"]["start"] == 1500


@pytest.mark.parametrize("known", ["", "long known"])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_statuses(verdict, known, make_run):
    (document,) = read([make_run([Result("test_a", 0, verdict, Labels("Add", since=14), known=known)])]).values()
    (test,) = document["results"]["tests"]
    skipped = verdict in {*UNSCORED, "unsupported"} or known
    assert test["status"] == ("passed" if verdict == "passed" else "skipped" if skipped else "failed")
    assert bool(test.get("message")) == (verdict != "passed")


def test_problems_of_a_run_are_failed_tests(make_run):
    results = [Result("test_a", 0, "passed", Labels("Add", since=14))]
    (document,) = read([make_run(results, data_sets=2, finished=False, stale=())]).values()
    assert [test["status"] for test in document["results"]["tests"]] == ["failed", "passed"]
    (document,) = read([make_run(results, stale=("op=Sub",))]).values()
    assert document["results"]["tests"][0]["name"] == "expectation op=Sub"


def test_one_document_per_run(make_run):
    results = [Result("test_a", 0, "passed", Labels("Add", since=14))]
    assert list(read([make_run(results), make_run(results, "mine"), make_run(results, suite="official")])) == [
        "ctrf/matrix-mine-1.0.json",
        "ctrf/matrix-numpy-1.0.json",
        "ctrf/official-numpy-1.0.json",
    ]
