"""The quick choice: newest versions, each value of every label, and not much more."""

from harness.suite.cases import Case, DataSet, Labels
from harness.suite.quick import each_value_once


def case(name: str, op: str, since: int, group: str = "ordinary", omitted: tuple[str, ...] = (), **values: str) -> Case:
    types = {key: value for key, value in values.items() if key.isupper()}
    attributes = {key: value for key, value in values.items() if key.islower()}
    labels = Labels(op, "", since, "math", types, attributes, omitted)
    return Case(name, labels, (), (), (DataSet(group),), 0.0, 0.0, judged="bounds")


def names(*cases: Case) -> list[str]:
    return [one.name for one in each_value_once(cases)]


def test_only_newest_versions_are_chosen():
    assert names(case("old", "Softmax", 11, T="float"), case("new", "Softmax", 13, T="float")) == ["new"]
    assert names(case("graph", "", 0), case("unknown", "Frobnicate", 1)) == []


def test_a_case_is_chosen_if_it_brings_something_new():
    assert names(
        case("first", "Trilu", 14, T="float", upper="1"),
        case("again", "Trilu", 14, T="float", upper="1"),
        case("type", "Trilu", 14, T="int8", upper="1"),
        case("value", "Trilu", 14, T="float", upper="0"),
        case("both met", "Trilu", 14, T="int8", upper="0"),
        case("group", "Trilu", 14, "empty", T="int8", upper="0"),
        case("omission", "Trilu", 14, omitted=("k",), T="int8", upper="0"),
        case("of another operator", "CumProd", 26, T="float", upper="1"),
    ) == ["first", "type", "value", "group", "omission", "of another operator"]


def test_an_operator_without_labels_is_chosen_once():
    assert names(case("a", "Det", 22), case("b", "Det", 22)) == ["a"]
