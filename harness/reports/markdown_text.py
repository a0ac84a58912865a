"""Text from backends and models in Markdown: always shown, never rendered."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tabulate import tabulate

_WORDS = re.compile(r"(?!www\.)-?[A-Za-z0-9.]+(?:[ _-](?!www\.)[A-Za-z0-9.]+)*")


def code(text: str) -> str:
    """A code span, in which nothing is rendered; its fence is longer than any in the text."""
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    fence = "`" * (_longest(text) + 1)
    return f"{fence}{pad}{text or ' '}{pad}{fence}"


def block(text: str, language: str) -> str:
    """A code block of several lines, in which nothing is rendered; its fence is longer than any in the text."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def shown(text: str) -> str:
    """The text as it is where it is plain words and numbers, else a code span."""
    return text if not text or _WORDS.fullmatch(text) else code(text)


def grid(rows: Sequence[Sequence[str]], headers: Sequence[str], labels: int = 1) -> list[str]:
    """A table whose first ``labels`` columns are text; pipes are escaped, also in code, as tables demand."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in [headers, *rows]]
    align = ["left"] * labels + ["right"] * (len(headers) - labels)
    text = tabulate(escaped[1:], escaped[0], tablefmt="github", disable_numparse=True, colalign=align)
    return [*text.split("\n"), ""]


def _longest(text: str) -> int:
    """Of its runs of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)
