"""Renders the operator pages and their index as Markdown with Jinja2."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

import jinja2

from harness.reports.gather import Report, Summary
from harness.reports.markdown import LEGEND, operator_lines
from harness.reports.markdown_text import code_block, code_span, inline, table_lines
from harness.reports.operator_pages.examples import Example, ExampleResult
from harness.reports.operator_pages.page import OperatorPage, SuiteResults, operator_pages
from harness.reports.tables import Tally
from harness.reports.text import one_line, verdict_text
from harness.spec.schema import schemas

FOLDER = "operators"
"""The folder of the pages in the output folder."""
INDEX = "README.md"


class Markdown(str):
    """Markdown that is safe to insert into a page: our own, ONNX's own, or escaped text."""

    __slots__ = ()


class UnescapedText(TypeError):
    """A template inserts text into a page without a filter that escapes it."""


def operator_files(report: Report) -> Iterator[tuple[str, str]]:
    """Yields path and text of each page, then of the index. Raises what ``operator_pages`` raises."""
    pages: list[OperatorPage] = []
    for page in operator_pages(report):
        yield f"{FOLDER}/{file_name(page.document.title)}", page_text(page)
        pages.append(OperatorPage(page.document, page.results, (), (), ()))  # the index needs no more
    yield f"{FOLDER}/{INDEX}", _index(report, pages)


def page_text(page: OperatorPage) -> str:
    """The page as Markdown."""
    return _environment().get_template("page.md.j2").render(page=page, document=page.document)


def file_name(title: str) -> str:
    """The file name of a page: ``Trilu-14.md``."""
    return f"{title}.md"


def _index(report: Report, pages: Sequence[OperatorPage]) -> str:
    def section(page: OperatorPage) -> tuple[str, str]:
        return page.document.category, page.document.domain

    defined = {(version.domain, version.op, version.since) for version in schemas().values()}
    tables = [table for suite in report.summary.suites for table in suite.operators]
    without_page = {
        table.title for table in tables if table.op and (table.domain, table.op, table.since) not in defined
    }
    return (
        _environment()
        .get_template("index.md.j2")
        .render(
            summary=report.summary,
            sections=[(of, list(group)) for of, group in groupby(sorted(pages, key=section), section)],
            without_page=sorted(without_page),
            legend=LEGEND.removeprefix("**How to read this report.** "),
        )
    )


@cache
def _environment() -> jinja2.Environment:
    """A Jinja environment that accepts only Markdown. Jinja's own escaping is for HTML."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__ or "", "templates"),
        autoescape=False,  # noqa: S701 - that is for HTML; see ``_require_markdown``
        finalize=_require_markdown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = {
        "example_table": _example_table,
        "category_table": _category_table,
        "code": code_span,
        "operator_section": _operator_section,
        "file_name": file_name,
        "code_list": _code_list,
        "onnx": _onnx,
        "onnx_item": _onnx_item,
        "operator_table": _operator_table,
        "trusted": str,
        "python": lambda text: code_block(text, "python"),
        "rate_table": _rate_table,
        "inline": inline,
        "result_list": _result_list,
    }
    for name, of in filters.items():
        environment.filters[name] = _markdown(of)
    return environment


def _markdown(of: Callable[..., str]) -> Callable[..., Markdown]:
    return lambda *arguments: Markdown(of(*arguments))


def _require_markdown(value: object) -> object:
    if isinstance(value, Markdown | int):
        return value
    raise UnescapedText(f"A template inserts {value!r} without a filter.")


_UNESCAPED = re.compile(
    r"(?P<code>^ *```.*?^ *```|`[^`\n]*`|^ {4}[^\n]*)"
    r"|<(?=/?[A-Za-z])(?!br\b|https?:)"
    r"|(?<=_)\*|(?<=\w)\*(?=[\w.])|(?<=[\"'])_"
    r"|^ {0,3}(?:#(?=#{0,5}\s)|=(?==+\s*$)|-(?=-+\s*$))",
    re.DOTALL | re.MULTILINE,
)
"""Markup in ONNX's documentation that is not intended as such: tags, emphasis, headings. Code is skipped."""


def _onnx(text: str) -> str:
    r"""ONNX's own Markdown, with ``\`` before characters that are not intended as markup: ``Tensor<T>``, ``2*3``."""
    return _UNESCAPED.sub(lambda found: found[0] if found["code"] else f"{found[0][:-1]}\\{found[0][-1]}", text)


def _onnx_item(text: str) -> str:
    """The same, for text in a list item."""
    return _onnx(text).replace("\n", "\n  ")


def _code_list(names: Iterable[str]) -> str:
    return ", ".join(map(code_span, names))


def _rate_table(results: Sequence[SuiteResults]) -> str:
    labels = _columns(one.runs for one in results)
    rows = [[inline(one.suite), *_cells(labels, one.runs, map(str, one.table.tallies))] for one in results]
    return "\n".join(table_lines(rows, ["suite", *map(inline, labels)]))


def _operator_section(results: SuiteResults) -> str:
    return "\n".join(operator_lines(results.table, [inline(label) for label in results.runs]))


def _example_table(examples: Sequence[Example]) -> str:
    labels = _columns([result.run for result in example.results] for example in examples)
    rows = [
        [_link(example.title), inline(example.suite), *_cells(labels, *_result_cells(example))] for example in examples
    ]
    return "\n".join(table_lines(rows, ["example", "suite", *map(inline, labels)], labels=2))


def _result_cells(example: Example) -> tuple[list[str], list[str]]:
    return [result.run for result in example.results], [_verdict(result) for result in example.results]


def _verdict(result: ExampleResult) -> str:
    words = verdict_text(result.verdict)
    return words if result.verdict == "passed" else f"**{words}**"


def _link(heading: str) -> str:
    """A link to a heading of the same page. The anchor is the one that Markdown viewers generate."""
    anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
    return f"[{inline(heading)}](#{anchor})"


def _result_list(example: Example) -> str:
    """The runs that pass an example, and the failures of the others."""
    passed = [inline(result.run) for result in example.results if result.verdict == "passed"]
    lines = [f"Passed by {', '.join(passed) or 'none'}."]
    for result in example.results:
        if result.verdict != "passed":
            message = f": {code_span(one_line(result.message))}" if result.message else ""
            reason = f": {code_span(result.known)}" if result.known != result.message else ""
            known = f", known{reason}" if result.known else ""
            lines.append(f"- **{inline(result.run)}**, {verdict_text(result.verdict)}{message}{known}")
            lines.append(f"  - reproduce: {code_span(result.reproduce)}")
    return "\n".join([lines[0], *([""] if lines[1:] else []), *lines[1:]])


def _category_table(summary: Summary) -> str:
    labels = _columns([run.label for run in suite.runs] for suite in summary.suites)
    rows = [
        [row.category, suite.name, *_cells(labels, [run.label for run in suite.runs], map(_rate, row.tallies))]
        for suite in summary.suites
        for row in suite.categories
    ]
    rows.sort(key=lambda row: row[:2])
    return "\n".join(
        table_lines(
            [[inline(row[0]), inline(row[1]), *row[2:]] for row in rows], ["category", "suite", *map(inline, labels)], 2
        )
    )


def _operator_table(pages: Sequence[OperatorPage], summary: Summary) -> str:
    labels = _columns([run.label for run in suite.runs] for suite in summary.suites)
    rows = [
        [
            f"[{inline(page.document.title)}]({file_name(page.document.title)})",
            inline(one.suite),
            *_cells(labels, one.runs, map(_rate, one.table.tallies)),
        ]
        for page in pages
        for one in page.results
    ]
    return "\n".join(table_lines(rows, ["operator", "suite", *map(inline, labels)], labels=2))


def _rate(tally: Tally) -> str:
    if not tally.scored:
        return "not scored" if tally.total else ""
    return tally.rate if tally.complete else f"**{tally.rate}**"


def _columns(runs: Iterable[Iterable[str]]) -> list[str]:
    """The run labels of several suites without duplicates."""
    return list(dict.fromkeys(label for labels in runs for label in labels))


def _cells(columns: Iterable[str], labels: Iterable[str], cells: Iterable[str]) -> list[str]:
    """The cells in the order of the columns. A column without a cell gets an empty one."""
    of = dict(zip(labels, cells, strict=True))
    return [of.get(label, "") for label in columns]
