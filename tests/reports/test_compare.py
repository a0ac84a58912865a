import json
import random
import re

import jsonschema
import msgspec
import pytest
from markdown_it import MarkdownIt

from harness.reports.compare import DifferentSuites, NothingShared, SeveralRuns, compare, drifted
from harness.reports.compare_text import (
    MAX_DATA_SETS,
    MAX_GROUPS,
    MAX_OTHER_GROUPS,
    comparison_json,
    comparison_markdown,
    summary,
)
from harness.reports.comparison import KINDS, Comparison
from harness.results.lines import UNSCORED, VERDICTS, Result, Run
from harness.schemas.documents import schema
from harness.suite.cases import Labels
from harness.suite.select import NothingSelected, Selection

ADD = Labels("Add", since=14, types={"T": "float"})
ALLOWED = {
    "heading_open",
    "paragraph_open",
    "bullet_list_open",
    "list_item_open",
    "table_open",
    "thead_open",
    "tbody_open",
    "tr_open",
    "th_open",
    "td_open",
    "inline",
    "text",
    "softbreak",
    "code_inline",
    "em_open",
    "strong_open",
}
COMMENT = 65_536
"""GitHub's limit for the characters of a comment."""


def result(case="test_a", verdict="passed", error=None, data_set=0, labels=ADD, message=""):
    return Result(case, data_set, verdict, labels, error=error, message=message)


def kinds(comparison):
    """Case → kind of its change."""
    return {change.case: change.kind for suite in comparison.suites for change in suite.changes}


@pytest.fixture(name="compared")
def _compared(make_run):
    """Compares two lists of results."""

    def compared(old, new, **changes):
        return compare([make_run(old)], [make_run(new, **changes)])

    return compared


@pytest.fixture(name="pair")
def _pair(random_runs, seed):
    """Two random runs of one suite. The old one has at least one result."""
    old, new = random_runs(seed, hostile=True)[0], random_runs(seed + 1000, hostile=True)[0]
    headers = [tuple(msgspec.structs.replace(header, suite="matrix") for header in run.headers) for run in (old, new)]
    return (
        msgspec.structs.replace(old, headers=headers[0], results=(*old.results, result("test_z"))),
        msgspec.structs.replace(new, headers=headers[1]),
    )


@pytest.mark.parametrize("old", VERDICTS)
@pytest.mark.parametrize("new", VERDICTS)
def test_every_pair_of_verdicts_has_its_kind(old, new, compared):
    comparison = compared([result(verdict=old)], [result(verdict=new)])
    if old == new:
        want = None
    elif UNSCORED & {old, new}:
        want = "changed"
    elif old == "passed":
        want = "broken"
    else:
        want = "fixed" if new == "passed" else "changed"
    assert kinds(comparison).get("test_a") == want
    assert comparison.regressed == (want == "broken")
    assert comparison.suites[0].counts.kinds == {want or "same": 1}


@pytest.mark.parametrize(
    ("verdict", "old", "new", "moved"),
    [
        ("passed", 0.3, 3.9, True),
        ("passed", 3.9, 0.3, True),
        ("passed", 0.0, 2.1, True),
        ("passed", 1.9, 0.1, False),
        ("passed", 2.1, 3.9, False),
        ("passed", None, 3.9, False),
        ("wrong_value", 5.0, "inf", True),
        ("wrong_value", 5.0, 1e6, True),
        ("wrong_value", 100.0, "inf", False),
        ("wrong_value", 1e16, 1e30, False),
        ("wrong_value", "inf", "inf", False),
        ("unspecified", 0.3, 100.0, False),
        ("insensitive", 0.3, 100.0, False),
    ],
)
def test_drifted_errors(verdict, old, new, moved, compared):
    one, other = result(verdict=verdict, error=old), result(verdict=verdict, error=new)
    assert drifted(one, other) == drifted(other, one) == moved
    comparison = compared([one], [other])
    assert kinds(comparison) == ({"test_a": "drifted"} if moved else {})
    assert not comparison.regressed


def test_messages_are_not_compared(compared):
    old = result(verdict="error", message="0x7f11 at model.cc:181")
    assert kinds(compared([old], [result(verdict="error", message="0x7f22 at model.cc:256")])) == {}


def test_a_pass_without_a_new_result_is_missing(compared):
    old = [result("test_a"), result("test_b", "error"), result("test_c", "unspecified"), result("test_d")]
    comparison = compared(old, [result("test_d")])
    assert kinds(comparison) == {"test_a": "missing", "test_b": "removed", "test_c": "removed"}
    assert (comparison.regressions, comparison.not_yet_run) == (1, 0)
    assert "## Missing: 1 data set" in comparison_markdown(comparison)


def test_an_unfinished_run_has_nothing_missing(compared):
    old = [result("test_a"), result("test_b"), result("test_c", "error")]
    comparison = compared(old, [result("test_a")], data_sets=3, finished=False)
    assert kinds(comparison) == {"test_b": "removed", "test_c": "removed"}
    assert (comparison.regressions, comparison.not_yet_run, comparison.regressed) == (0, 1, True)
    assert summary(comparison) == (
        "No regressions, 0 data sets fixed. NEW is unfinished: 1 data set that passed in OLD did not run yet."
    )
    assert "is unfinished: 1 of 3 data sets run" in comparison_markdown(comparison)
    assert not compared(old[2:], [result("test_a")], data_sets=3, finished=False).regressed
    assert not compare([_unfinished(comparison)], [_unfinished(comparison)]).regressed


def _unfinished(comparison):
    """The NEW run of a comparison."""
    facts = comparison.suites[0].new
    return Run(facts.path, facts.headers, (result("test_a"),), ())


def test_data_sets_that_were_not_selected_are_removed(make_run):
    whole = make_run([result("test_a"), result("test_b")])
    options = {"select": "test_a", "profile": "standard", "shard": "1/1"}
    part = make_run([result("test_a")], options=options, suite_data_sets=2)
    comparison = compare([whole], [part])
    assert kinds(comparison) == {"test_b": "removed"}
    assert not comparison.regressed
    text = comparison_markdown(comparison)
    assert "**NEW** covers part of the suite: 1 of 2 data sets." in text
    assert re.search(r"options\.select +\| – +\| test_a +\|", text)
    both = make_run([result("test_a"), result("test_b")], options=options, suite_data_sets=3)
    assert kinds(compare([both], [msgspec.structs.replace(both, results=both.results[:1])])) == {"test_b": "missing"}


def test_concatenated_shards_are_a_full_run(make_run):
    whole = make_run([result("test_a"), result("test_b"), result("test_c")])
    parts = [
        make_run([result(f"test_{case}")], options={"shard": f"{n}/2"}, suite_data_sets=3, data_sets=size)
        for n, case, size in ((1, "a", 2), (2, "b", 1))
    ]
    headers = tuple(part.headers[0] for part in parts)
    together = msgspec.structs.replace(
        parts[0], headers=headers, results=whole.results[:2], footers=parts[0].footers * 2
    )
    assert kinds(compare([whole], [together])) == {"test_c": "missing"}


def test_added_is_no_regression(compared):
    comparison = compared([result("test_a")], [result("test_a"), result("test_b", "crashed")])
    assert kinds(comparison) == {"test_b": "added"}
    assert not comparison.regressed


def test_different_suites_are_refused(make_run):
    old = make_run([result("test_a"), result("test_b"), result("test_a", data_set=1)])
    new = make_run([result("test_a"), result("test_c")], digest="cd" * 32)
    words = r"abababababab and cdcdcdcdcdcd. They have 1 data set with the same name in common \(OLD has 3, NEW has 2\)"
    with pytest.raises(DifferentSuites, match=words):
        compare([old], [new])
    comparison = compare([old], [new], force=True)
    assert {change.kind for change in comparison.suites[0].changes} == {"removed", "added"}
    assert not comparison.regressed
    assert "1 data set with the same name in common (OLD has 3, NEW has 2)" in comparison_markdown(comparison)


def test_one_run_per_suite(make_run):
    runs = [
        make_run([result()], backend, suite) for backend in ("numpy", "runtime") for suite in ("matrix", "official")
    ]
    with pytest.raises(SeveralRuns, match=r"NEW has 2 runs .* matrix: numpy 1.0 \(reports/numpy/.*runtime 1.0"):
        compare(runs[:2], runs)
    assert [suite.name for suite in compare(runs[:2], runs[2:]).suites] == ["matrix", "official"]
    comparison = compare(runs[:2], runs[:1])
    assert [(note.run, note.detail) for note in comparison.notes] == [("OLD", "official")]
    assert "`official`" in comparison_markdown(comparison)


def test_nothing_to_compare(make_run):
    with pytest.raises(NothingShared, match="OLD has matrix, NEW has official"):
        compare([make_run([result()])], [make_run([result()], suite="official")])
    with pytest.raises(NothingShared, match="have no results"):
        compare([make_run([])], [make_run([])])
    with pytest.raises(NothingShared):
        compare([], [make_run([])])


def test_a_selection_matches_either_side(make_run):
    old = make_run([result("test_a", "error"), result("test_b"), result("test_c", "error")])
    new = make_run([result("test_a"), result("test_b", "error"), result("test_c", "error")])
    comparison = compare([old], [new], Selection.parse("verdict=passed"))
    assert kinds(comparison) == {"test_a": "fixed", "test_b": "broken"}
    assert comparison.suites[0].counts.total == 2
    assert "Selection: `verdict=passed`." in comparison_markdown(comparison)
    with pytest.raises(NothingSelected, match="op=Sub"):
        compare([old], [new], Selection.parse("op=Sub"))


def test_differences_between_the_headers_are_listed(make_run):
    new = make_run([result()], machine={"cpu": "arm64"}, versions={"onnx": "1.23.2", "numpy": "2"}, backend="other")
    comparison = compare([make_run([result()])], [new])
    assert [(one.fact, one.old, one.new) for one in comparison.suites[0].differences] == [
        ("backend", "numpy", "other"),
        ("name", "numpy", "other"),
        ("machine.cpu", "x86_64", "arm64"),
        ("versions.numpy", "", "2"),
    ]
    assert "arm64" in comparison_markdown(comparison)


def test_random_runs_add_up(pair):
    """Counts are those of the union, also over operator versions, and are mirrored if the runs are swapped."""
    old, new = pair
    (suite,) = (comparison := compare([old], [new])).suites
    (mirrored,) = compare([new], [old]).suites
    keys = [{(r.case, r.data_set) for r in run.results} for run in pair]
    assert suite.counts.total == len(keys[0] | keys[1]) == sum(suite.counts.kinds.values())
    assert suite.counts.total == sum(row.counts.total for row in suite.operators)
    assert len(suite.changes) == suite.counts.total - suite.counts.kinds.get("same", 0)
    count = suite.counts.kinds.get
    assert count("same", 0) + count("broken", 0) + count("fixed", 0) + count("changed", 0) + count("drifted", 0) == len(
        keys[0] & keys[1]
    )
    back = mirrored.counts.kinds.get
    for kind, reverse in (("fixed", "broken"), ("broken", "fixed"), ("changed", "changed"), ("drifted", "drifted")):
        assert count(kind, 0) == back(reverse, 0)
    assert count("added", 0) == back("removed", 0) + back("missing", 0) == len(keys[1] - keys[0])
    assert suite.counts.old_scored == sum(r.verdict not in UNSCORED for r in old.results)
    assert comparison.regressions == sum(change.kind in {"broken", "missing"} for change in suite.changes)


def test_the_same_bytes_in_any_order(pair, seed):
    shuffle = random.Random(seed).sample
    mixed = [msgspec.structs.replace(run, results=tuple(shuffle(run.results, len(run.results)))) for run in pair]
    for render in (comparison_json, comparison_markdown):
        assert render(compare(*([run] for run in pair))) == render(compare(*([run] for run in mixed)))


def test_json_round_trip_and_schema(pair):
    comparison = compare(*([run] for run in pair))
    text = comparison_json(comparison)
    assert text.encode().decode().replace("\n", "").isprintable()
    assert msgspec.json.decode(text, type=Comparison) == comparison
    jsonschema.validate(json.loads(text), schema("compare"))


def test_hostile_text_is_shown_and_never_rendered(pair):
    text = comparison_markdown(compare(*([run] for run in pair)))
    assert text.encode().decode().replace("\n", "").isprintable()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    flat = [child for token in tokens for child in (token, *(token.children or ()))]
    assert {token.type for token in flat if not token.type.endswith("_close")} <= ALLOWED
    plain = " ".join(token.content for token in flat if token.type == "text")
    assert not re.search(r"https?:|www\.|[<@]", plain)


def test_hostile_message_is_shown_in_full(hostile, compared):
    tokens = MarkdownIt("commonmark").parse(
        comparison_markdown(compared([result()], [result(verdict="error", message=f"<{hostile}>")]))
    )
    spans = [child.content for token in tokens for child in token.children or () if child.type == "code_inline"]
    want = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in hostile if c not in "\r\n")
    assert any(span.startswith("<") and span.replace(" ⏎ ", "") == f"<{want}>" for span in spans)


def test_a_change_is_shown_in_full(compared):
    labels = Labels("Trilu", since=14, types={"T": "string"}, attributes={"upper": "omitted"})
    old = result(error=0.31, labels=labels, data_set=2)
    new = result(verdict="wrong_value", error=6.1, labels=labels, data_set=2, message="y[0] = 1, want 2")
    assert comparison_markdown(compared([old], [new])).split("## Broken: 1 data set")[1].splitlines()[2:7] == [
        "- **Trilu-14**, 1 data set: passed → wrong value",
        "  - `Trilu-14 T=string, without upper`, data set 2",
        "    - OLD: passed, 0.31 bounds",
        "    - NEW: wrong value, 6.1 bounds: `y[0] = 1, want 2`",
        "    - reproduce: `onnx-conformance repro test_a --backend numpy --data-set 2`",
    ]


def test_a_shared_message_is_shown_once(compared):
    labels = [Labels(op, since=1) for op in ("Add", "Sub", "Mul", "Div")]
    words = [*["Unsupported model IR version"] * 3, "another"]
    old = [result(f"test_{of.op}", "error", labels=of, message=m) for of, m in zip(labels, words, strict=True)]
    text = comparison_markdown(compared(old, [result(f"test_{of.op}", labels=of) for of in labels]))
    assert "- **3 operator versions**, 3 data sets: error → passed with the message `Unsupported model IR" in text
    assert text.count("Unsupported model IR version") == 1
    assert "- **Div-1**, 1 data set: error → passed" in text


def test_the_most_severe_are_first_and_the_rest_is_counted(compared):
    """Long lists of long texts fit into a comment, and omitted data sets are counted."""
    labels = [Labels(f"Op{n}", since=14, attributes={"axes": "9" * 2000}) for n in range(40)]
    words = [f"{n} {'wrong ' * 2000}" for n in range(len(labels) * 4)]
    verdicts = ["unsupported", *["wrong_value"] * 38, "crashed"]
    old = [result(f"test_{n}", labels=labels[n // 4]) for n in range(160)]
    new = [result(f"test_{n}", verdicts[n // 4], labels=labels[n // 4], message=words[n]) for n in range(160)]
    text = comparison_markdown(compared(old, new))
    assert text.index("Op39-14") < text.index("Op1-14")
    assert "Op0-14`" not in text
    assert text.count("reproduce:") == MAX_GROUPS * MAX_DATA_SETS
    assert f"- {160 - 4 * MAX_GROUPS} more data sets in {40 - MAX_GROUPS} groups" in text
    assert len(text) < COMMENT
    backwards = comparison_markdown(compared(new, old))
    assert backwards.count("reproduce:") == MAX_OTHER_GROUPS
    assert f"- {160 - 4 * MAX_OTHER_GROUPS} more data sets in {40 - MAX_OTHER_GROUPS} groups" in backwards


def test_the_table_has_the_kinds_that_occur(compared):
    def header(comparison):
        return next(line for line in comparison_markdown(comparison).splitlines() if line.startswith("| suite"))

    assert set(header(compared([result()], [result()])).split()) & {*KINDS} == {"same"}
    assert set(header(compared([result()], [result(verdict="error")])).split()) & {*KINDS} == {"broken"}
