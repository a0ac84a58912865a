"""The job summary: size limit, number of omitted data sets, and escaping."""

import re
from html.parser import HTMLParser

import msgspec
import pytest
from markdown_it import MarkdownIt

from harness.reports.gather import gather
from harness.reports.github import LIMIT, MAX_CAUSES, github
from harness.results.lines import Result
from harness.suite.cases import Labels

TAGS = {"p", "b", "code", "table", "tr", "th", "td", "details", "summary", "ul", "li", "br"}


class _Reader(HTMLParser):
    """Parses a summary: its tags, the text in ``<code>``, and the text outside."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.bare, self.code = set(), [], "", []
        self.feed(MarkdownIt("commonmark", {"html": True}).render(text))
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert not attrs
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "code" in self.open:
            self.code[-1] += data
        else:
            self.bare += data


def test_unexpected_failures_are_first(two_operators):
    report = gather(two_operators)
    text = github(report)
    groups = report.summary.suites[0].groups
    assert re.findall(r"^### (.*)", text, re.MULTILINE) == [
        f"Failures by cause: {len(groups)}",
        "Unexpected failures: 15 data sets in 2 operator versions",
        "Known failures: 3 data sets in 1 operator version",
    ]
    assert re.findall(r"<summary>(.*)</summary>", text) == [
        "<code>CumProd-26</code> in <code>matrix</code>: 8 data sets",
        "<code>Trilu-14</code> in <code>matrix</code>: 7 data sets",
        "<code>Trilu-14</code> in <code>matrix</code>: 3 data sets",
    ]
    assert len(re.findall(r"^<li><code>r\w+ 1.0</code> in <code>matrix</code>: ", text, re.MULTILINE)) == len(groups)
    assert "<code>T=double</code>" in text
    assert "<td><code>runtime 1.0</code></td><td>17/29</td>" in text
    assert "onnx-conformance repro test_trilu_12 --backend reference</code>" in text


def test_no_failures(make_run):
    text = github(gather([make_run([Result("test_a", 0, "passed", Labels("Add", since=14))])]))
    assert "No failures." in text
    assert "###" not in text
    assert "No results." in github(gather([]))


def test_hostile_text_is_shown_and_never_rendered(seed, random_runs):
    page = _Reader(github(gather(random_runs(seed, hostile=True))))
    assert page.tags <= TAGS | {"h2", "h3"}
    assert not re.search(r"https?:|www\.|[<@`]|\*\*", page.bare.replace("<0.01", "").replace("<0.1 %", ""))


def test_hostile_message_is_shown_in_full(hostile, make_run):
    labels = Labels("Add", since=14, attributes={"mode": hostile})
    page = _Reader(github(gather([make_run([Result("test_a", 0, "error", labels, message=f"<{hostile}>")])])))
    want = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in hostile if c not in "\r\n")
    assert any(code.replace(" ⏎ ", "") == f"<{want}>" for code in page.code)


@pytest.mark.parametrize("operators", [1, 40, 400])
@pytest.mark.parametrize("limit", [1_500, 8_000, 60_000])
def test_it_fits_and_counts_what_it_omits(operators, limit, make_run):
    results = [
        Result(f"test_{op}_{n}", 0, "wrong_value", Labels(f"Op{op:03}", since=1), message=f"é{n}", known="k" * (n % 2))
        for op in range(operators)
        for n in range(8)
    ]
    stale = tuple(f"op=Gone{n}" for n in range(operators))
    text = github(gather([make_run(results, stale=stale)]), limit)
    assert len(text.encode()) <= limit
    _Reader(text)
    shown = sum(map(int, re.findall(r"</code>: (\d+) data sets</summary>", text)))
    left = sum(int(n.replace(",", "")) for n in re.findall(r"<b>([\d,]+) more data sets: see report.html", text))
    assert shown + left == len(results)


def test_the_limit_is_below_githubs():
    assert LIMIT < 1 << 20


def test_very_long_names_are_truncated(make_run):
    results = [Result("test_" + "a" * 2_000_000, 0, "error", Labels("B" * 2_000_000, since=1), message="c" * 2_000_000)]
    text = github(gather([make_run(results, "d" * 2_000_000, "e" * 2_000_000)]))
    assert len(text) < 20_000
    assert "Unexpected failures: 1 data set" in text


def test_omitted_causes_are_counted(make_run):
    labels = [Labels(f"Op{n:03}", since=1, types={"T": t}) for n in range(40) for t in ("float", "double")]
    results = [
        Result(f"test_{n}", 0, "error" if n % 2 else "passed", of, message=f"{n}", known="k" * (n == 1))
        for n, of in enumerate(labels)
    ]
    report = gather([make_run(results)])
    (suite,) = report.summary.suites
    more = msgspec.structs.replace(suite, groups=suite.groups * (MAX_CAUSES + 3))
    text = github(msgspec.structs.replace(report, summary=msgspec.structs.replace(report.summary, suites=(more,))))
    causes = text[text.index("### Failures by cause") : text.index("</ul>")]
    assert causes.count("<li>") == MAX_CAUSES + 1
    assert f"<li>{len(more.groups) - MAX_CAUSES} more causes</li>" in causes
