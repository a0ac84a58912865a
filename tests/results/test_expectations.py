"""Expectations: which failures they explain, which of them are stale, and how they are written."""

import itertools
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.expectations import (
    BrokenExpectations,
    CannotWriteExpectations,
    Expectation,
    Expectations,
    read_expectations,
    write_expectations,
)
from harness.results.lines import Result
from harness.results.proposals import propose_expectations
from harness.suite.cases import Case, DataSet, Labels
from harness.suite.select import Selection


def result(op="Trilu", t="float", verdict="passed", case="", data_set=0, message="", **attributes):
    labels = Labels(op=op, since=14, types={"T": t}, attributes=attributes, group="ordinary")
    name = case or f"test_{op}_{t}_{'_'.join(attributes.values())}".lower()
    return Result(name, data_set, verdict, labels, message=message)


def case(op="Trilu", t="float"):
    return Case(f"test_{op}_{t}", Labels(op=op, types={"T": t}), (), (), (DataSet("ordinary"),), 0, 0, judged="bounds")


def loaded(*entries, suite="matrix"):
    """Expectations for a suite of two operators and two types."""
    expectations = Expectations(entries, suite)
    for op, t in itertools.product(("Trilu", "CumProd"), ("float", "string")):
        expectations.add_case(case(op, t))
    return expectations


STRING = Expectation("op=Trilu T=string", "wrong_value", "writes 0")


def test_a_known_failure_is_explained():
    known = loaded(STRING)
    assert known.annotate(result(t="string", verdict="wrong_value")).known == "writes 0"
    assert known.annotate(result(verdict="passed")).known == ""
    assert (known.unexpected, known.stale()) == (0, ())


@pytest.mark.parametrize(
    "verdict", ["wrong_value", "unsupported", "error", "crashed", "timed_out", "not_run", "wrong_count"]
)
def test_what_nothing_explains_is_unexpected(verdict):
    known = loaded(STRING)
    known.annotate(result(op="CumProd", verdict=verdict))
    assert known.unexpected == 1
    bare = loaded()
    bare.annotate(result(verdict=verdict))
    assert bare.unexpected == 1


def test_an_entry_may_let_some_of_it_pass():
    known = Expectations([Expectation("op=*", ("passed", "unsupported"), "no kernels yet")], "matrix")
    assert known.annotate(result(verdict="unsupported")).known == "no kernels yet"
    assert known.annotate(result(verdict="passed")).known == ""
    assert known.unexpected == 0
    assert known.annotate(result(verdict="error")).known == ""
    assert known.unexpected == 1


@pytest.mark.parametrize("verdict", ["passed", "unspecified"])
def test_what_is_no_failure_needs_no_explanation(verdict):
    known = loaded()
    known.annotate(result(verdict=verdict))
    assert known.unexpected == 0


def test_another_verdict_is_unexpected_and_the_entry_no_longer_holds():
    known = loaded(STRING)
    known.annotate(result(t="string", verdict="error"))
    assert known.unexpected == 1
    assert known.stale() == ("op=Trilu T=string: not every result is wrong_value",)


def test_a_pass_contradicts_the_entry():
    known = loaded(STRING)
    known.annotate(result(t="string", verdict="passed"))
    assert (known.unexpected, len(known.stale())) == (0, 1)


@pytest.mark.parametrize("verdict", ["unspecified", "not_run"])
def test_what_is_no_evidence_contradicts_nothing(verdict):
    known = loaded(STRING)
    known.annotate(result(t="string", verdict=verdict))
    assert known.stale() == ()


def test_an_entry_that_matches_no_case_of_the_suite_is_stale():
    conv = Expectation("op=Conv", "error", "r")
    known = loaded(conv)
    assert (known.stale(), known.is_stale(conv)) == (("op=Conv: matches no case of the suite",), True)
    assert loaded(Expectation("op=Conv", "error", "r", suite="official")).stale() == ()


def test_an_entry_that_matches_no_case_of_a_part_is_not_checked():
    conv = Expectation("op=Conv", "error", "r")
    known = loaded(conv, STRING, Expectation("op=Relu", "error", "r", suite="official"))
    known.skip_unmatched()
    assert (known.unmatched, known.skipped, known.stale(), known.is_stale(conv)) == (1, 1, (), False)
    known.annotate(result(t="string", verdict="passed"))
    assert known.stale() == ("op=Trilu T=string: not every result is wrong_value",)


def test_an_entry_outside_what_is_run_is_not_judged():
    assert loaded(STRING).stale() == ()


def test_an_entry_of_another_suite_explains_nothing():
    known = loaded(Expectation("op=Trilu", "error", "r", suite="official"))
    assert known.annotate(result(verdict="error")).known == ""


def test_an_entry_may_have_several_verdicts():
    known = loaded(Expectation("op=Trilu", ("error", "crashed"), "r"))
    assert [known.annotate(result(verdict=v)).known for v in ("error", "crashed")] == ["r", "r"]


@pytest.mark.parametrize(
    "select",
    [
        "op=Trilu",
        "op=Tri*",
        "op=Trilu,Conv T=float,double",
        "!cumprod*",
        "T!=string",
        "since=14 op=Trilu",
        "domain=ai.onnx",
        "upper=0",
    ],
)
def test_the_index_finds_what_the_selection_matches(select):
    one = result(verdict="error", upper="0")
    assert Selection.parse(select).matches(one.case, one.labels, 0)
    assert loaded(Expectation(select, "error", "r")).annotate(one).known == "r"


# The file.


def test_what_is_written_is_read(tmp_path):
    entries = (
        Expectation('op=Trilu T="a b"', "error", 'says "no" \\ \x7f\x01 ä 😀\n', "https://example.org/1", "matrix"),
        Expectation("op=Add", ("crashed", "timed_out"), "r"),
    )
    write_expectations(tmp_path / "b.toml", "b", entries)
    assert set(read_expectations(tmp_path / "b.toml")) == set(entries)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_reason_survives(tmp_path_factory, reason):
    path = tmp_path_factory.mktemp("toml") / "x.toml"
    write_expectations(path, "b", [Expectation("op=A", "error", reason)])
    assert tomllib.loads(path.read_text(encoding="utf-8"))["expect"][0]["reason"] == reason


def test_the_order_of_entries_does_not_matter(tmp_path):
    entries = [Expectation(f"op={op}", "error", "r", suite=suite) for op in "BAC" for suite in ("x", "w")]
    write_expectations(tmp_path / "1", "b", entries)
    write_expectations(tmp_path / "2", "b", entries[::-1])
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[expect]\n", "is not a file of expectations"),
        ("[[expect]]\nselect = 'op=A'\n", "missing required field `verdict`"),
        ("[[expect]]\nselect = 'op=A'\nverdict = 'bad'\nreason = 'r'\n", "Invalid enum value 'bad'"),
        (
            "[[expect]]\nselect = 'op=A'\nverdict = 'passed'\nreason = 'r'\n",
            "needs a reason and a verdict that is a failure",
        ),
        ("[[expect]]\nselect = 'op=A'\nverdict = 'error'\nreason = ''\n", "needs a reason"),
        ("[[expect]]\nselect = 'op=A'\nverdict = []\nreason = 'r'\n", "needs a reason"),
        ("[[expect]]\nselect = 'verdict=error'\nverdict = 'error'\nreason = 'r'\n", "selects by verdict"),
        ("[[expect]]\nselct = 'op=A'\nverdict = 'error'\nreason = 'r'\n", "unknown field `selct`"),
        ("[[expect]]\nselect = '=='\nverdict = 'error'\nreason = 'r'\n", "is no term of a selection"),
    ],
)
def test_a_broken_file_is_told(tmp_path, text, message):
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(Exception, match=message) as caught:
        read_expectations(tmp_path / "b.toml")
    assert caught.value.status == 2


def test_no_file_is_no_expectation(tmp_path):
    assert read_expectations(None) == read_expectations(tmp_path / "none") == ()
    with pytest.raises(BrokenExpectations):
        read_expectations(tmp_path)
    with pytest.raises(CannotWriteExpectations):
        write_expectations(tmp_path / "no" / "such", "b", [])


# Proposals.


def covered(results, entries):
    """The expectations after a run with these entries, and its annotated results."""
    known = Expectations(entries, "matrix")
    annotated = [known.annotate(one) for one in results]
    for one in results:
        known._met.update(known._matching((one.case, one.labels, one.data_set, one.verdict)))
    return known, annotated


def grid(verdict_of):
    results = []
    for op, t, upper, k in itertools.product(("Trilu", "CumProd"), ("float", "string", "int8"), "01", ("omitted", "3")):
        results.append(result(op, t, verdict_of(op, t, upper, k), message=f"bad {t}", upper=upper, k=k))
    return results


@pytest.mark.parametrize(
    ("verdict_of", "selects"),
    [
        (lambda op, t, upper, k: "error" if op == "Trilu" else "passed", ["op=Trilu"]),
        (lambda op, t, upper, k: "error" if t == "string" else "passed", ["op=CumProd T=string", "op=Trilu T=string"]),
        (
            lambda op, t, upper, k: "error" if (t, upper) == ("string", "0") and op == "Trilu" else "passed",
            ["op=Trilu T=string upper=0"],
        ),
        (
            lambda op, t, upper, k: "passed" if op != "Trilu" else "error" if t == "string" else "crashed",
            ["op=Trilu T=float", "op=Trilu T=int8", "op=Trilu T=string"],
        ),
        (
            lambda op, t, upper, k: "error" if (op, t, upper, k) == ("Trilu", "int8", "1", "3") else "passed",
            ["case=test_trilu_int8_1_3"],
        ),
        (lambda op, t, upper, k: "passed", []),
    ],
)
def test_the_smallest_patterns_are_proposed(verdict_of, selects):
    results = grid(verdict_of)
    entries = propose_expectations(results, "matrix")
    assert sorted(entry.select for entry in entries) == selects
    known, _ = covered(results, entries)
    assert (known.unexpected, known.stale()) == (0, ())
    assert all(entry.reason.startswith("bad ") and entry.suite == "matrix" for entry in entries)


def test_a_data_set_among_good_ones_is_named():
    results = [result(case="test_a", data_set=n, verdict="error" if n == 1 else "passed") for n in range(3)]
    assert [entry.select for entry in propose_expectations(results, "matrix")] == ["case=test_a data_set=1"]


def test_graphs_of_several_nodes_are_named():
    results = [result(op="", case=f"test_{n}", verdict="error" if n else "passed") for n in range(3)]
    assert [entry.select for entry in propose_expectations(results, "matrix")] == ["case=test_1,test_2"]


def test_an_attribute_named_like_a_key_is_told_apart():
    results = [result(verdict="error" if g == "2" else "passed", group=g, case=f"test_{g}") for g in "123"]
    assert [entry.select for entry in propose_expectations(results, "matrix")] == ["op=Trilu attributes.group=2"]


@given(
    st.lists(
        st.sampled_from(["passed", "error", "wrong_value", "unsupported", "unspecified", "not_run"]),
        min_size=24,
        max_size=24,
    )
)
def test_whatever_fails_is_covered_and_nothing_else(verdicts):
    plan = iter(verdicts)
    results = grid(lambda *_: next(plan))
    entries = propose_expectations(results, "matrix")
    assert entries == propose_expectations(results[::-1], "matrix")
    known, annotated = covered(results, entries)
    assert known.unexpected == sum(one.verdict == "not_run" for one in annotated if not one.known)
    assert known.stale() == ()
    assert propose_expectations(annotated, "matrix") == []
