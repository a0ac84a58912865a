"""Groups of failures: real causes are found with correct denominators, and coincidences are not causes."""

import itertools
import random
import time

import msgspec
import pytest

from harness.reports.causes import MAX_CONDITIONS
from harness.reports.gather import gather
from harness.reports.groups import SEVERITY, cause_text, group_text, run_groups
from harness.results.lines import UNSCORED, Result
from harness.suite.cases import Labels
from harness.suite.select import Selection

TYPES = ("float", "double", "float16", "string")


def _trilu(verdict_of, types=TYPES, uppers=("omitted", "0", "1"), groups=("plain", "ties"), op="Trilu"):
    """A result for each combination of labels, with the verdict that ``verdict_of`` returns."""
    every = itertools.product(types, uppers, ((), ("k",)), groups)
    labels = [Labels(op, "", 14, "tensor", {"T": t}, {"upper": u}, o, g) for t, u, o, g in every]
    return [
        Result(f"test_{op.lower()}_{n}", 0, verdict, of, message="" if verdict == "passed" else f"y[{n}] = 0")
        for n, of in enumerate(labels)
        for verdict in [verdict_of(of) or "passed"]
    ]


def _texts(make_run, results):
    (table,) = gather([make_run(results)]).summary.suites[0].operators
    return [group.text for group in table.groups]


def _only(verdict, **wanted):
    return lambda of: (
        verdict if all({**of.types, **of.attributes}[key] == value for key, value in wanted.items()) else ""
    )


@pytest.mark.parametrize(
    ("verdict_of", "words"),
    [
        (
            _only("wrong_value", T="string"),
            ["wrong value: Trilu-14 fails only with T=string (12 of 12 data sets)"],
        ),
        (
            _only("error", T="string", upper="1"),
            ["error: Trilu-14 fails only with T=string and upper=1 (4 of 4 data sets)"],
        ),
        (
            lambda of: "unsupported" if of.types["T"] in ("float16", "string") else "",
            ["unsupported: Trilu-14 fails only with T=float16,string (24 of 24 data sets)"],
        ),
        (
            lambda of: "" if of.types["T"] == "float" else "unsupported",
            ["unsupported: Trilu-14 fails only with T!=float (36 of 36 data sets)"],
        ),
        (
            lambda of: "crashed" if of.omitted else "",
            ["crashed: Trilu-14 fails only with omitted=k (24 of 24 data sets)"],
        ),
        (
            lambda of: "" if of.omitted else "crashed",
            ["crashed: Trilu-14 fails only with omitted!=k (24 of 24 data sets)"],
        ),
        (lambda _: "timed_out", ["timed out: Trilu-14 always fails (48 of 48 data sets)"]),
        (
            lambda of: {"string": "unsupported", "double": "wrong_value"}.get(of.types["T"], ""),
            [
                "wrong value: Trilu-14 fails with T=double (12 of 12 data sets)",
                "unsupported: Trilu-14 fails with T=string (12 of 12 data sets)",
            ],
        ),
        (
            lambda of: ("error" if of.omitted else "wrong_value") if of.types["T"] == "string" else "",
            [
                "wrong value: Trilu-14 fails with T=string and omitted!=k (6 of 6 data sets)",
                "error: Trilu-14 fails with T=string and omitted=k (6 of 6 data sets)",
            ],
        ),
        (lambda _: "", []),
    ],
)
def test_texts_of_causes(verdict_of, words, make_run):
    assert _texts(make_run, _trilu(verdict_of)) == words


def test_verdicts_that_no_label_separates_are_one_group(make_run):
    mixed = itertools.cycle(["wrong_value", "error", "error", "wrong_value", "error"])
    words = _texts(make_run, _trilu(lambda of: next(mixed) if of.types["T"] == "string" else ""))
    assert words == ["5 wrong value, 7 error: Trilu-14 fails only with T=string (12 of 12 data sets)"]


def test_one_other_verdict_does_not_hide_a_cause(make_run):
    results = _trilu(_only("unsupported", T="string"))
    results[-1] = msgspec.structs.replace(results[-1], verdict="error")
    assert _texts(make_run, results) == [
        "1 error, 11 unsupported: Trilu-14 fails only with T=string (12 of 12 data sets)"
    ]


def test_failures_without_a_cause(make_run):
    results = _trilu(lambda of: "wrong_value" if of.types["T"] == "float" and of.group == "ties" else "")
    twins = [msgspec.structs.replace(r, case=f"{r.case}_again", verdict="passed") for r in results]
    (table,) = gather([make_run([*results, *twins])]).summary.suites[0].operators
    (group,) = table.groups
    assert group.text == (
        "wrong value: no common cause found for 6 failures of Trilu-14 (6 of 12 data sets with T=float and group=ties)"
    )
    assert (group.exact, group.failures, group.matching) == (False, 6, 12)
    assert group.select == "op=Trilu domain=ai.onnx since=14 verdict=wrong_value"


def test_operators_with_one_cause_are_one_group(make_run):
    results = [result for op in ("Trilu", "Abs", "Neg") for result in _trilu(_only("unsupported", T="string"), op=op)]
    results += _trilu(_only("error", upper="1"), op="Sign")
    (suite,) = gather([make_run(results)]).summary.suites
    assert [group.text for group in suite.groups] == [
        "error: Sign fails only with upper=1 (16 of 16 data sets)",
        "unsupported: 3 operators (Abs, Neg and Trilu) fail only with T=string (36 of 36 data sets)",
    ]
    assert suite.groups[1].select == "op=Abs,Neg,Trilu T=string verdict=unsupported"
    assert suite.groups[1].operators == ("Abs", "Neg", "Trilu")


def test_since_can_be_the_cause(make_run):
    results = _trilu(lambda _: "")
    newer = [
        msgspec.structs.replace(
            r, case=f"{r.case}_new", verdict="unsupported", labels=msgspec.structs.replace(r.labels, since=28)
        )
        for r in results
    ]
    (suite,) = gather([make_run([*results, *newer])]).summary.suites
    assert [g.text for g in suite.groups] == ["unsupported: Trilu fails only with since=28 (48 of 48 data sets)"]


def test_the_example_is_the_first_unexpected_and_most_severe(make_run):
    results = _trilu(lambda of: "crashed" if of.omitted else "error", uppers=("0",))
    results = [msgspec.structs.replace(r, known="a known crash" if r.verdict == "crashed" else "") for r in results]
    groups = gather([make_run(results)]).summary.suites[0].groups
    first = min((r for r in results if r.verdict == "error"), key=lambda r: r.case)
    assert [(g.known, g.failures) for g in groups] == [(0, 8), (8, 8)]
    assert (groups[0].example.case, groups[0].example.message) == (first.case, first.message)
    assert groups[0].example.reproduce == f"onnx-conformance repro {first.case} --backend numpy"


def _selected(select, results):
    of = Selection.parse(select)
    return {(r.case, r.data_set) for r in results if of.matches(r.case, r.labels, r.data_set, r.verdict)}


def _check(group, scope, results):
    """Checks a group with selections only. ``scope`` selects its operators."""
    members = _selected(group.select, results)
    failures = [r for r in results if (r.case, r.data_set) in members]
    assert len(members) == group.failures == sum(group.verdicts.values()) > 0
    assert {r.verdict for r in failures} == set(group.verdicts) <= set(SEVERITY)
    assert group.known == sum(1 for r in failures if r.known)
    assert (group.example.case, group.example.data_set) in members
    assert len(group.conditions) <= MAX_CONDITIONS
    scored = [r for r in results if r.verdict not in UNSCORED]
    meeting = _selected(" ".join([scope, *group.conditions]), scored)
    assert members <= meeting
    assert len(meeting) == group.matching
    assert not group.exact or meeting == members
    return members


@pytest.mark.parametrize("hostile", [False, True])
def test_groups_match_their_selections(seed, hostile, random_runs):
    report = gather(random_runs(seed, hostile=hostile))
    for suite, runs in zip(report.summary.suites, report.results, strict=True):
        for n, results in enumerate(runs):
            failures = {(r.case, r.data_set) for r in results if r.verdict in SEVERITY}
            found = set()
            for group in (group for group in suite.groups if group.run == n):
                scope = group.select.split(" ")[0] if not hostile else str(Selection.parse(group.select).terms[0])
                found |= _check(group, scope, results)
            assert found == failures
            found = set()
            for table in suite.operators:
                for group in (group for group in table.groups if group.run == n):
                    scope = Selection(Selection.parse(group.select).terms[: 3 if table.op else 1])
                    found |= _check(group, str(scope), results)
            assert found == failures


def test_groups_do_not_depend_on_the_order_of_results(seed, random_runs):
    runs = random_runs(seed)
    shuffle = random.Random(seed).sample
    mixed = [msgspec.structs.replace(run, results=tuple(shuffle(run.results, len(run.results)))) for run in runs]
    assert gather(mixed).summary == gather(runs).summary


@pytest.mark.parametrize("value", ["[0,1]", "a*", 'it\'s "here"', "with space", "a,b", "", "!x", "=1", "é"])
@pytest.mark.parametrize("name", ["mode", "group", "verdict", "T", "omitted"])
def test_any_value_and_name_can_be_selected(value, name, make_run):
    others = [v for v in ("0", "1", "a", "ab", "b", "x") if v != value]
    labels = [
        Labels("Add", "", 14, "math", {"T": "float"} if name != "T" else {"T": "bool"}, {name: v}, (), "plain")
        for v in [value, *others]
    ]
    run = make_run(
        [Result(f"test_{n}", 0, "passed" if n else "error", of) for n, of in enumerate(labels)],
    )
    (suite,) = gather([run]).summary.suites
    for group in (*suite.groups, *suite.operators[0].groups):
        assert group.exact
        assert len(group.conditions) == 1
        assert _selected(group.select, run.results) == {("test_0", 0)}
        assert _selected(group.conditions[0], run.results) == {("test_0", 0)}


def test_operators_of_two_domains_are_separate(make_run):
    ours = Labels("Add", "", 1, "math", {"T": "float"}, {}, (), "plain")
    theirs = msgspec.structs.replace(ours, domain="com.example")
    run = make_run([Result("test_a", 0, "error", ours), Result("test_b", 0, "error", theirs)])
    (suite,) = gather([run]).summary.suites
    for table in suite.operators:
        (group,) = table.groups
        assert len(_selected(group.select, run.results)) == group.failures == 1


def test_coincidence_is_no_cause():
    """If failures do not depend on labels, hardly any cause with several conditions is found."""
    total = with_several_conditions = 0
    for seed in range(40):
        chance = random.Random(seed)
        results = _trilu(lambda _, chance=chance: "error" if chance.random() < 0.3 else "")
        groups = run_groups("matrix", ["numpy"], [results])
        total += len(groups)
        with_several_conditions += sum(1 for group in groups if group.exact and len(group.conditions) > 1)
    assert total >= 40
    assert with_several_conditions <= 6


def test_many_results_take_seconds():
    """30,000 results of 100 operators, a third of which fail for several reasons or at random."""
    chance = random.Random(1)
    types = [f"type{n}" for n in range(12)]

    def verdict_of(of):
        if of.types["T"] in types[:3]:
            return "unsupported"
        if of.attributes["upper"] == "1" and of.omitted:
            return "wrong_value"
        return "error" if chance.random() < 0.02 else ""

    groups = ("plain", "ties", "empty", "negative", "special", "ends")
    results = [r for n in range(100) for r in _trilu(verdict_of, types, ("omitted", "0", "1"), groups, f"Op{n}")]
    results.sort(key=lambda result: result.case)
    started = time.process_time()
    found = run_groups("matrix", ["numpy"], [results])
    assert time.process_time() - started < 10
    (declined,) = [g for g in found if "unsupported" in g.verdicts and len(g.operators) == 100][:1]
    assert declined.exact


def test_labels_are_escaped(make_run):
    (suite,) = gather([make_run(_trilu(_only("error", T="string"), op="<b>"))]).summary.suites
    (group,) = suite.groups
    assert group_text(group, lambda text: f"«{text}»") == (
        "error: «<b>» fails only with «T=string» (12 of 12 data sets)"
    )
    assert cause_text(group) == "<b> fails only with T=string (12 of 12 data sets)"


def test_long_lists_of_values_are_shortened(make_run):
    types = [f"type{n:02}" for n in range(40)]
    results = _trilu(lambda of: "error" if of.types["T"] in types[:18] else "", types)
    (group,) = gather([make_run(results)]).summary.suites[0].groups
    assert "T=type00,type01,type02,type03,type04,type05,… (18 values)" in group.text
    assert "type17" in group.conditions[0]
