import re

from markdown_it import MarkdownIt

from harness.reports.gather import gather
from harness.reports.markdown import MAX_FAILURES, markdown
from harness.results.lines import Result
from harness.suite.cases import Labels

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
    "link_open",
}


def _parse(text):
    return MarkdownIt("commonmark").enable("table").parse(text)


def _rows(text):
    """The cells of all table rows, in Markdown."""
    return [[cell.strip() for cell in line[1:-1].split(" |")] for line in text.splitlines() if line.startswith("| ")]


def test_sections(two_operators):
    text = markdown(gather(two_operators))
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# ONNX conformance",
        "## Suite matrix",
        "### Overview",
        "### Failures by cause",
        "### Categories",
        "### Operator versions",
        "### CumProd-26 in matrix",
        "### Trilu-14 in matrix",
        "### graphs of several nodes in matrix",
    ]
    rows = _rows(text)
    assert ["T", "double", "8/8", "8/8", "0/8 · 8 unsupported"] in rows
    assert ["T2", "int32", "8/8", "8/8", "4/8 · 4 unsupported"] in rows
    assert ["–", "4/4 · 4 unspecified", "2/4 · 2 wrong value · 4 unspecified", "4/4 · 4 unspecified"] in rows
    assert ["[Trilu-14](#trilu-14-in-matrix)", "2×3"] in [row[:2] for row in rows]
    assert "  - reproduce: `onnx-conformance repro test_trilu_12 --backend reference`" in text
    assert "known: `integer zeros`" in text


def test_operators_without_attributes(make_run):
    text = markdown(gather([make_run([Result("test_a", 0, "passed", Labels("Add", since=14, types={"T": "float"}))])]))
    assert "Coverage: 1 element type, no attributes." in text
    assert "\nNo attributes.\n" in text


def test_omitted_failures_are_counted(make_run):
    results = [Result(f"test_{n}", 0, "error", Labels("Add", since=14), message=f"{n // 2}") for n in range(60)]
    text = markdown(gather([make_run(results)]))
    assert text.count("reproduce:") == 1 + MAX_FAILURES
    assert "- **numpy 1.0**, error: `Add-14` always fails (60 of 60 data sets)" in text
    assert "- 42 more data sets: see the results files of the runs" in text


def test_hostile_text_is_shown_and_never_rendered(seed, random_runs):
    report = gather(random_runs(seed, hostile=True))
    text = markdown(report)
    tokens = _parse(text)
    flat = [child for token in tokens for child in (token, *(token.children or ()))]
    assert {token.type for token in flat if not token.type.endswith("_close")} <= ALLOWED
    assert all(token.attrs["href"].startswith("#") for token in flat if token.type == "link_open")
    plain = " ".join(token.content for token in flat if token.type == "text")
    assert not re.search(r"https?:|www\.|[<@]", plain)
    tables = sum(len(suite.operators) for suite in report.summary.suites)
    sections = sum(3 + bool(suite.groups) for suite in report.summary.suites)
    assert sum(token.type == "heading_open" and token.tag == "h3" for token in tokens) == tables + sections


def test_hostile_message_is_shown_in_full(hostile, make_run):
    labels = Labels("Add", since=14, attributes={"mode": hostile})
    tokens = _parse(markdown(gather([make_run([Result("test_a", 0, "error", labels, message=f"<{hostile}>")])])))
    spans = [child.content for token in tokens for child in token.children or () if child.type == "code_inline"]
    want = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in hostile if c not in "\r\n")
    assert any(span.startswith("<") and span.replace(" ⏎ ", "") == f"<{want}>" for span in spans)
