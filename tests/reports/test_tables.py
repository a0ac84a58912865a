from collections import Counter

import msgspec
import pytest

from harness.backend.interface import Description
from harness.reports.gather import gather
from harness.reports.runs import NoHeader
from harness.reports.tables import tally
from harness.results.lines import VERDICTS, Result, Run
from harness.suite.cases import Labels
from harness.suite.select import NothingSelected, Selection


def _sum(rows, n):
    total = Counter()
    for row in rows:
        total.update(row.tallies[n].verdicts)
        assert sum(row.tallies[n].verdicts.values()) == row.tallies[n].total
    return dict(total)


def test_totals_add_up(seed, random_runs):
    report = gather(random_runs(seed))
    for suite, results in zip(report.summary.suites, report.results, strict=True):
        for n, of_run in enumerate(results):
            whole = dict(Counter(result.verdict for result in of_run))
            assert suite.tallies[n].verdicts == whole
            assert suite.runs[n].executed == len(of_run)
            assert _sum(suite.categories, n) == whole
            assert _sum(suite.operators, n) == whole
            for table in suite.operators:
                for variable in {row.variable for row in table.types}:
                    assert _sum([r for r in table.types if r.variable == variable], n) == table.tallies[n].verdicts
                if table.attributes:
                    assert _sum(table.attributes, n) == table.tallies[n].verdicts
                failures = [failure for failure in table.failures if failure.run == n]
                counted = table.tallies[n]
                assert sum(1 + failure.duplicates for failure in failures) == counted.scored - counted.passed
                assert counted.known + counted.unexpected == counted.scored - counted.passed


def test_denominators():
    labels = Labels("Add", since=14)
    counts = {"passed": 5, "unsupported": 3, "not_run": 1, "unspecified": 4, "wrong_value": 1, "insensitive": 2}
    results = [Result(f"test_{v}_{n}", 0, v, labels) for v, count in counts.items() for n in range(count)]
    counted = tally(results)
    assert (counted.total, counted.scored, counted.supported, counted.passed) == (16, 10, 7, 5)
    assert str(counted) == "5/10 · 1 wrong value · 3 unsupported · 1 not run · 4 unspecified · 2 insensitive"
    assert str(tally(results[9:13])) == "4 unspecified"
    assert not str(tally([]))


def test_worst_errors():
    labels = Labels("Add")
    errors = [None, 0.5, 3.0]
    assert tally([Result("a", 0, "passed", labels, error=error) for error in errors]).error == 3.0
    assert tally([Result("a", 0, "passed", labels, ulps=error) for error in [*errors, "inf"]]).ulps == "inf"
    assert tally([Result("a", 0, "passed", labels)]).error is None


def test_coverage_counts_what_is_scored(two_operators):
    operators = {table.op: table for table in gather(two_operators).summary.suites[0].operators}
    assert list(operators) == ["CumProd", "Trilu", ""]
    assert str(operators["CumProd"].coverage) == (
        "2 × 2 element types (T × T2), 4 attribute values in 4 combinations; "
        "16 of 16 combinations of types and attributes"
    )
    assert operators["Trilu"].coverage.data_sets == 12
    assert operators["Trilu"].coverage.types_by_attributes == "2×3"
    assert operators[""].title == "graphs of several nodes"
    assert not operators[""].coverage.types_by_attributes


def test_unspecified_results_add_no_coverage(make_run):
    unspecified = Labels("Add", types={"T": "float"})
    run = make_run(
        [Result("a", 0, "unspecified", unspecified), Result("b", 0, "passed", Labels("Add", types={"T": "double"}))]
    )
    (table,) = gather([run]).summary.suites[0].operators
    assert table.coverage.types == {"T": 1}
    assert [row.type for row in table.types] == ["float", "double"]
    (table,) = gather([make_run([Result("a", 0, "unspecified", unspecified)])]).summary.suites[0].operators
    assert str(table.coverage) == "no scored data sets"


def test_rows_are_in_natural_order(make_run):
    values = ["10", "2", "-1", "omitted", "linear"]
    labels = [Labels("Add", types={"T": t}, attributes={"axis": v}) for v, t in zip(values, "badec", strict=True)]
    types = ["string", "seq(tensor(float))", "int8", "double", "float16"]
    labels = [msgspec.structs.replace(of, types={"T": t}) for of, t in zip(labels, types, strict=True)]
    (table,) = (
        gather([make_run([Result(f"{n}", 0, "passed", of) for n, of in enumerate(labels)])]).summary.suites[0].operators
    )
    assert [row.values["axis"] for row in table.attributes] == ["omitted", "-1", "2", "10", "linear"]
    assert [row.type for row in table.types] == ["float16", "double", "int8", "string", "seq(tensor(float))"]


def test_failures_with_the_same_message_are_grouped(two_operators):
    suite = gather(two_operators).summary.suites[0]
    labels = [run.label for run in suite.runs]
    assert labels == ["numpy 1.0", "reference 1.0", "runtime 1.0"]
    cumprod, trilu, _ = suite.operators
    (declined,) = cumprod.failures
    assert (labels[declined.run], declined.result.verdict, declined.duplicates) == ("runtime 1.0", "unsupported", 7)
    assert declined.reproduce == "onnx-conformance repro test_cumprod_32 --backend runtime"
    assert [failure.result.known for failure in trilu.failures] == [*[""] * 4, *["integer zeros"] * 3]
    assert trilu.failures[0].result.verdict == "crashed"
    assert "Trilu-14 T=string, without upper, k" in {failure.node for failure in trilu.failures}


def test_reproduce_names_other_suites(make_run):
    run = make_run([Result("test_a", 0, "error", Labels("Add"))], "command:./run me", "official")
    (failure,) = gather([run]).summary.suites[0].operators[0].failures
    assert failure.reproduce == "onnx-conformance repro test_a --backend 'command:./run me' --suite official"


def _notes(*runs):
    return [f"{note.run}|{note.text}|{note.detail}" for note in gather(runs).summary.suites[0].notes]


def test_notes(make_run):
    results = [Result(f"test_{n}", 0, "passed", Labels("Add")) for n in range(3)]
    assert not _notes(make_run(results))
    assert _notes(make_run(results, finished=False, data_sets=2010)) == [
        "numpy 1.0|is unfinished: 3 of 2,010 data sets run.|"
    ]
    assert _notes(make_run([])) == ["numpy 1.0|executed nothing: 0 of 0 data sets run.|"]
    assert _notes(make_run(results, suite_data_sets=2010, options={"select": "op=Add", "limit": "10"})) == [
        "numpy 1.0|covers part of the suite: 3 of 2,010 data sets.|select op=Add"
    ]
    assert _notes(make_run(results, stale=("op=Add",))) == ["numpy 1.0|has a stale expectation:|op=Add"]
    stale = tuple(f"op=Gone{n:02}" for n in range(1200))
    assert _notes(make_run(results, stale=stale)) == [
        "numpy 1.0|has 1,200 stale expectations, such as:|op=Gone00; op=Gone01; op=Gone02"
    ]
    assert _notes(make_run(results), make_run(results, "runtime", digest="cd" * 32)) == [
        (
            "|The runs used different versions of the suite, so their rates are not comparable. Digests:|"
            "abababababab (numpy 1.0), cdcdcdcdcdcd (runtime 1.0)"
        )
    ]


def test_shards(make_run):
    results = [Result(f"test_{n}", 0, "passed", Labels("Add")) for n in range(4)]
    shards = [make_run(results[n::2], suite_data_sets=4, options={"shard": f"{n + 1}/2"}) for n in (1, 0)]
    (one,) = _notes(shards[0])
    assert one == "numpy 1.0|covers part of the suite: 2 of 4 data sets.|shard 2/2"
    whole = Run(
        "all.jsonl",
        tuple(header for shard in shards for header in shard.headers),
        tuple(result for shard in shards for result in shard.results),
        tuple(footer for shard in shards for footer in shard.footers),
    )
    assert not _notes(whole)
    assert gather([whole]).summary.suites[0].runs[0].seconds == 3.0


def test_runs_of_one_backend_have_different_labels(make_run):
    results = [Result("test_a", 0, "passed", Labels("Add"))]
    of = Description("runtime", "1.0", configuration={"threads": "1"})
    run = make_run(results, "runtime", description=of)
    other = make_run(results, "runtime-plain", description=of)
    unoptimized = make_run(
        results, "runtime", description=msgspec.structs.replace(of, configuration={"graph": "off", "threads": "1"})
    )
    again = make_run(results, "runtime", description=of, started="2027-01-02T10:00:00Z")
    suite = gather([again, run, other, unoptimized]).summary.suites[0]
    assert [one.label for one in suite.runs] == [
        "runtime 1.0 (runtime) (graph=off)",
        "runtime 1.0 (runtime) (#2)",
        "runtime 1.0 (runtime) (#3)",
        "runtime 1.0 (runtime-plain)",
    ]


def test_selection_narrows_the_report_but_not_the_run(two_operators):
    report = gather(two_operators, Selection.parse("verdict=crashed"))
    assert report.summary.selection == "verdict=crashed"
    assert [len(results) for results in report.results[0]] == [0, 0, 4]
    assert not report.summary.suites[0].notes
    with pytest.raises(NothingSelected, match="did you mean op=Trilu"):
        gather(two_operators, Selection.parse("op=Trillu"))


def test_a_run_without_header():
    with pytest.raises(NoHeader, match=r"x\.jsonl has no header"):
        gather([Run("x.jsonl", (), (), ())])


def test_every_verdict_is_counted():
    counted = tally([Result("a", 0, verdict, Labels("Add")) for verdict in VERDICTS])
    assert counted.verdicts == dict.fromkeys(VERDICTS, 1)
