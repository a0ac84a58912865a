"""The operator pages and their index in Markdown, by Jinja2."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

import jinja2

from harness.reports.gather import Report, Summary
from harness.reports.markdown import LEGEND, operator_lines
from harness.reports.markdown_text import block, code, grid, shown
from harness.reports.operator_pages.examples import Answer, Example
from harness.reports.operator_pages.page import OperatorPage, SuiteResults, operator_pages
from harness.reports.tables import Tally
from harness.reports.text import one_line, verdict_words
from harness.spec.schema import schemas

FOLDER = "operators"
"""Where the pages are in a folder of reports."""
INDEX = "README.md"


class Markdown(str):
    """Text that may stand in a page as it is: our own, ONNX's own, or made harmless."""

    __slots__ = ()


class NotMarkdown(TypeError):
    """A template that lets text into a page without saying how."""


def operator_files(report: Report) -> Iterator[tuple[str, str]]:
    """Path and text of each page and, last, of the index; what ``operator_pages`` raises."""
    pages: list[OperatorPage] = []
    for page in operator_pages(report):
        yield f"{FOLDER}/{file_name(page.document.title)}", page_text(page)
        pages.append(OperatorPage(page.document, page.results, (), (), ()))  # the index needs no more
    yield f"{FOLDER}/{INDEX}", _index(report, pages)


def page_text(page: OperatorPage) -> str:
    """The page in Markdown."""
    return _environment().get_template("page.md.j2").render(page=page, document=page.document)


def file_name(title: str) -> str:
    """The file of the page of an operator version: ``Trilu-14.md``."""
    return f"{title}.md"


def _index(report: Report, pages: Sequence[OperatorPage]) -> str:
    def section(page: OperatorPage) -> tuple[str, str]:
        return page.document.category, page.document.domain

    known = {(version.domain, version.op, version.since) for version in schemas().values()}
    tables = [table for suite in report.summary.suites for table in suite.operators]
    unknown = {table.title for table in tables if table.op and (table.domain, table.op, table.since) not in known}
    return (
        _environment()
        .get_template("index.md.j2")
        .render(
            summary=report.summary,
            sections=[(of, list(group)) for of, group in groupby(sorted(pages, key=section), section)],
            unknown=sorted(unknown),
            legend=LEGEND.removeprefix("**How to read this.** "),
        )
    )


@cache
def _environment() -> jinja2.Environment:
    """Where text goes into a page only through a filter that makes it Markdown: Jinja's own escaping is for HTML."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__ or "", "templates"),
        autoescape=False,  # noqa: S701 - of HTML; ``_required`` holds the door
        finalize=_required,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = {
        "answers": _answers,
        "categories": _categories,
        "code": code,
        "details": _details,
        "file": file_name,
        "listed": _listed,
        "onnx": _onnx,
        "onnx_item": _onnx_item,
        "operators": _operators,
        "ours": str,
        "python": lambda text: block(text, "python"),
        "rates": _rates,
        "shown": shown,
        "verdicts": _verdicts,
    }
    for name, of in filters.items():
        environment.filters[name] = _markdown(of)
    return environment


def _markdown(of: Callable[..., str]) -> Callable[..., Markdown]:
    return lambda *arguments: Markdown(of(*arguments))


def _required(value: object) -> object:
    if isinstance(value, Markdown | int):
        return value
    raise NotMarkdown(f"A template shows {value!r} as it is.")


_MEANT = re.compile(
    r"(?P<code>^ *```.*?^ *```|`[^`\n]*`|^ {4}[^\n]*)"
    r"|<(?=/?[A-Za-z])(?!br\b|https?:)"
    r"|(?<=_)\*|(?<=\w)\*(?=[\w.])|(?<=[\"'])_"
    r"|^ {0,3}(?:#(?=#{0,5}\s)|=(?==+\s*$)|-(?=-+\s*$))",
    re.DOTALL | re.MULTILINE,
)
"""What ONNX's Markdown does not mean as such, after any code: tags, emphasis, headings."""


def _onnx(text: str) -> str:
    r"""ONNX's own Markdown, with ``\`` where it means a sign: ``Tensor<T>``, ``2*3``, and what would be a heading."""
    return _MEANT.sub(lambda found: found[0] if found["code"] else f"{found[0][:-1]}\\{found[0][-1]}", text)


def _onnx_item(text: str) -> str:
    """The same, inside of a list's item."""
    return _onnx(text).replace("\n", "\n  ")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


def _rates(results: Sequence[SuiteResults]) -> str:
    labels = _columns(one.runs for one in results)
    rows = [[shown(one.suite), *_cells(labels, one.runs, map(str, one.table.tallies))] for one in results]
    return "\n".join(grid(rows, ["suite", *map(shown, labels)]))


def _details(results: SuiteResults) -> str:
    return "\n".join(operator_lines(results.table, [shown(label) for label in results.runs]))


def _answers(examples: Sequence[Example]) -> str:
    labels = _columns([answer.run for answer in example.answers] for example in examples)
    rows = [
        [_link(example.title), shown(example.suite), *_cells(labels, *_verdicts_of(example))] for example in examples
    ]
    return "\n".join(grid(rows, ["example", "suite", *map(shown, labels)], labels=2))


def _verdicts_of(example: Example) -> tuple[list[str], list[str]]:
    return [answer.run for answer in example.answers], [_verdict(answer) for answer in example.answers]


def _verdict(answer: Answer) -> str:
    words = verdict_words(answer.verdict)
    return words if answer.verdict == "passed" else f"**{words}**"


def _link(heading: str) -> str:
    """To a heading of the same page, by the anchor that Markdown viewers give it."""
    anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
    return f"[{shown(heading)}](#{anchor})"


def _verdicts(example: Example) -> str:
    """Who passes an example, and what the others say."""
    passed = [shown(answer.run) for answer in example.answers if answer.verdict == "passed"]
    lines = [f"Passed by {', '.join(passed) or 'none'}."]
    for answer in example.answers:
        if answer.verdict != "passed":
            message = f": {code(one_line(answer.message))}" if answer.message else ""
            reason = f": {code(answer.known)}" if answer.known != answer.message else ""
            known = f", known{reason}" if answer.known else ""
            lines.append(f"- **{shown(answer.run)}**, {verdict_words(answer.verdict)}{message}{known}")
            lines.append(f"  - reproduce: {code(answer.reproduce)}")
    return "\n".join([lines[0], *([""] if lines[1:] else []), *lines[1:]])


def _categories(summary: Summary) -> str:
    labels = _columns([run.label for run in suite.runs] for suite in summary.suites)
    rows = [
        [row.category, suite.name, *_cells(labels, [run.label for run in suite.runs], map(_rate, row.tallies))]
        for suite in summary.suites
        for row in suite.categories
    ]
    rows.sort(key=lambda row: row[:2])
    return "\n".join(
        grid([[shown(row[0]), shown(row[1]), *row[2:]] for row in rows], ["category", "suite", *map(shown, labels)], 2)
    )


def _operators(pages: Sequence[OperatorPage], summary: Summary) -> str:
    labels = _columns([run.label for run in suite.runs] for suite in summary.suites)
    rows = [
        [
            f"[{shown(page.document.title)}]({file_name(page.document.title)})",
            shown(one.suite),
            *_cells(labels, one.runs, map(_rate, one.table.tallies)),
        ]
        for page in pages
        for one in page.results
    ]
    return "\n".join(grid(rows, ["operator", "suite", *map(shown, labels)], labels=2))


def _rate(tally: Tally) -> str:
    if not tally.scored:
        return "unspecified" if tally.total else ""
    return tally.rate if tally.complete else f"**{tally.rate}**"


def _columns(runs: Iterable[Iterable[str]]) -> list[str]:
    """The labels of runs of several suites, each once."""
    return list(dict.fromkeys(label for labels in runs for label in labels))


def _cells(columns: Iterable[str], labels: Iterable[str], cells: Iterable[str]) -> list[str]:
    """The cells under the columns that they belong to."""
    of = dict(zip(labels, cells, strict=True))
    return [of.get(label, "") for label in columns]
