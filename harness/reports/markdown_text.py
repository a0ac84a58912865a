"""Escapes text from backends and models for Markdown, so that none of it is rendered."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tabulate import tabulate

_WORDS = re.compile(r"(?!www\.)-?[A-Za-z0-9.]+(?:[ _-](?!www\.)[A-Za-z0-9.]+)*")


def code_span(text: str) -> str:
    """The text as a code span. The fence is longer than any run of backticks in the text."""
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    fence = "`" * (_longest(text) + 1)
    return f"{fence}{pad}{text or ' '}{pad}{fence}"


def code_block(text: str, language: str) -> str:
    """The text as a fenced code block. The fence is longer than any run of backticks in the text."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def inline(text: str) -> str:
    """The text unchanged if it is only words and numbers, otherwise as a code span."""
    return text if not text or _WORDS.fullmatch(text) else code_span(text)


def table_lines(rows: Sequence[Sequence[str]], headers: Sequence[str], labels: int = 1) -> list[str]:
    """The lines of a table. The first ``labels`` columns are left-aligned. Pipes are escaped, also in code spans."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in [headers, *rows]]
    align = ["left"] * labels + ["right"] * (len(headers) - labels)
    text = tabulate(escaped[1:], escaped[0], tablefmt="github", disable_numparse=True, colalign=align)
    return [*text.split("\n"), ""]


def _longest(text: str) -> int:
    """The length of the longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)
