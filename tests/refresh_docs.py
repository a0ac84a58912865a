"""Write into the pages what their commands print now: python tests/refresh_docs.py [PAGE …]."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "support"))

from documentation import PAGES, blocks, commands, matches, prepare, run, write_file

VOLATILE = re.compile(r"(?<=sha256 )[0-9a-f]{16}…|(?<=digest )[0-9a-f]{12}|(?<= in )[\d.]+(?=s$)")
"""What changes with every operator, or every run: pages show ``…`` in its place."""


def refresh(page: Path) -> None:
    """Replace the outputs that are no longer what is printed."""
    lines = page.read_text(encoding="utf-8").splitlines()
    moved = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(page, folder)
        for block in blocks(page):
            write_file(block, folder)
            if block.language != "console" or block.not_run:
                continue
            for command, one in zip(commands(block), run(block, folder), strict=True):
                shown = command.shown
                if not shown or matches(shown, one.lines):
                    continue
                begin = command.line + command.text.count("\n") + moved
                fresh = refreshed(shown, [VOLATILE.sub("…", line) for line in one.lines])
                if not matches(fresh, one.lines):
                    print(f"{page.name}:{begin}: edit by hand; the command prints:\n" + "\n".join(one.lines))
                lines[begin : begin + len(shown)] = fresh
                moved += len(fresh) - len(shown)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def refreshed(shown: list[str], lines: list[str]) -> list[str]:
    """The lines, with as much left out as was: each part between two ``…`` begins at the line most like its first."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == "…":
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return lines
    fresh: list[str] = []
    at = 0
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part:
            if number:
                at = len(lines) - len(part) if last else most_like(part[0], lines, at)
            fresh += lines[at : at + len(part)]
            at += len(part)
        fresh += [] if last else ["…"]
    return fresh


def most_like(one: str, lines: list[str], start: int) -> int:
    """The place of the line that has the most words of one, the first of several."""
    return max(range(start, len(lines)), key=lambda n: len(set(one.split()) & set(lines[n].split())), default=start)


for page in map(Path, sys.argv[1:]) if sys.argv[1:] else PAGES:
    refresh(page.resolve())
