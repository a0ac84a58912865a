import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.results.lines import Result
from harness.suite.cases import Case, DataSet, Labels
from harness.suite.select import MalformedWord, NothingSelected, Selection, Term, select_cases, select_results

TRILU = Labels("Trilu", "", 14, "tensor", {"T": "float16"}, {"upper": "0"}, ("k",), "ties")
CONV = Labels(
    "Conv", "com.example", 11, "nn", {"T": "seq(tensor(float))", "group": "int8"}, {"group": "2", "pads": "[1,2]"}
)


@pytest.mark.parametrize(
    ("words", "trilu", "conv"),
    [
        ("", True, True),
        ("op=Trilu", True, False),
        ("op=Tri*", True, False),
        ("op=tri*", False, False),
        ("op=?onv,Trilu", True, True),
        ("op!=Trilu", False, True),
        ("op!=Trilu,Conv", False, False),
        ("op=Trilu T=float16 upper=0", True, False),
        ("op=Trilu T=float", False, False),
        ("domain=ai.onnx", True, False),
        ("domain=com.*", False, True),
        ("since=14", True, False),
        ("category=nn", False, True),
        ("data_set=1", True, True),
        ("data_set=0", False, False),
        ("omitted=k", True, False),
        ("omitted!=k", False, True),
        ("omitted!=*", False, True),
        ("omitted=*", True, False),
        ("upper!=1", True, False),
        ("upper!=0", False, False),
        ("group=ties", True, False),
        ("group=2", False, False),
        ("attributes.group=2", False, True),
        ("types.group=int8", False, True),
        ("types.upper=0", False, False),
        ("attributes.upper=0", True, False),
        ("T=seq(tensor(float))", False, True),
        ("pads=[1,2]", False, True),
        ("pads=[1,3],[1,2]", False, True),
        ("pads=?1,2?", False, False),
        ("pads='?1,2?'", False, True),
        ("test_one", True, True),
        ("one", True, True),
        ("on?", True, True),
        ("!one", False, False),
        ("!test_*", False, False),
        ("case=one", True, True),
        ("case!=two", True, True),
        ("two,one", True, True),
        ("verdict=passed", True, True),
        ("verdict!=passed", False, False),
    ],
)
def test_matches(words, trilu, conv):
    selection = Selection.parse([words])
    assert selection.matches("test_one", TRILU, 1, "passed") is trilu
    assert selection.matches("test_one", CONV, 1, "passed") is conv
    assert Selection.parse(words.split(" ")) == selection
    assert Selection.parse(str(selection)) == selection


def test_what_has_not_run_has_no_verdict():
    assert not Selection.parse("verdict!=passed").matches("test_one", TRILU)


def test_words_keep_quotes_and_brackets_together():
    assert Selection.parse("mode='a b' axes=[0, 1],2 T=map(int64, float)").terms == (
        Term("mode", ("a b",)),
        Term("axes", ("[0, 1]", "2")),
        Term("T", ("map(int64, float)",)),
    )
    assert Selection.parse("T=seq(* op=Add").terms == (Term("T", ("seq(*",)), Term("op", ("Add",)))
    assert Selection.parse("op=").terms == (Term("op", ("",)),)


@given(
    st.lists(st.builds(Term, st.sampled_from(["op", "types.T", "case"]), st.lists(st.text()).map(tuple), st.booleans()))
)
def test_text_gives_back_the_selection(terms):
    selection = Selection(tuple(term for term in terms if term.patterns))
    assert Selection.parse([str(selection)]) == selection


@given(st.text())
def test_any_text_parses_or_is_malformed(text):
    try:
        Selection.parse([text]).matches("test_one", TRILU)
    except MalformedWord as error:
        assert error.advice  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize("word", ["=3", "!op=Add", "!", "a!b", "files.x=3", "1=2"])
def test_malformed_word(word):
    with pytest.raises(MalformedWord, match=r"no (term|key)") as caught:
        Selection.parse([word])
    assert caught.value.status == 2


CASES = (
    Case("test_trilu", TRILU, (), (), (DataSet("ties"), DataSet("empty")), 0, 0, "bounds"),
    Case("test_conv", CONV, (), (), (DataSet("ties"),), 0, 0, "bounds"),
)


def test_cases_are_selected_by_data_set():
    selected = list(select_cases(iter(CASES), Selection.parse("group=ties")))
    assert [(case.name, sets) for case, sets in selected] == [("test_trilu", (0,)), ("test_conv", (0,))]
    assert [sets for _, sets in select_cases(CASES, Selection.parse("op=Trilu"))] == [(0, 1)]
    assert [sets for _, sets in select_cases(CASES, Selection())] == [(0, 1), (0,)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("op=Trillu", "No case has op=Trillu; did you mean op=Trilu?"),
        ("T=float16 op=Trillu", "No case has op=Trillu; did you mean op=Trilu?"),
        ("op=Conv T=float16", "No case has T=float16 with op=Conv; T is seq(tensor(float))."),
        ("op=Conv upper=0", "No case has upper=0 with op=Conv."),
        ("since=9", "No case has since=9; since is 11, 14."),
        ("uper=0", "No case has a label uper; did you mean upper?"),
        ("attributes.uper=0", "No case has a label attributes.uper; did you mean attributes.upper?"),
        ("zzz=0", "No case has a label zzz."),
        ("trilo", "No case is named trilo; did you mean case=trilu?"),
        ("verdict=passed", "No case has verdict=passed: only results have a verdict."),
    ],
)
def test_nothing_selected(words, message):
    with pytest.raises(NothingSelected) as caught:
        list(select_cases(iter(CASES), Selection.parse(words)))
    assert str(caught.value) == message
    assert isinstance(caught.value, UsageError)


def test_unknown_key_lists_the_known():
    with pytest.raises(NothingSelected) as caught:
        list(select_cases(CASES, Selection.parse("zzz=0")))
    assert caught.value.advice == (
        "Known keys: op, domain, since, category, group, case, data_set, verdict, omitted, T, pads, upper."
    )


def test_nothing_to_select_from():
    with pytest.raises(NothingSelected, match="no case to select from"):
        list(select_cases((), Selection()))


def test_results_are_selected_by_verdict():
    results = [Result("test_trilu", 0, "passed", TRILU), Result("test_trilu", 1, "crashed", TRILU)]
    assert list(select_results(results, Selection.parse("verdict=crashed"))) == results[1:]
    with pytest.raises(NothingSelected, match=r"No result has verdict=craashed; did you mean verdict=crashed\?"):
        list(select_results(results, Selection.parse("verdict=craashed")))
