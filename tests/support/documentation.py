"""The Markdown pages for people: their code blocks, how a block is run, and what a command printed."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.suite.generate import generate
from harness.suite.select import Selection

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "testdata/README.md", *ROOT.glob("docs/*.md")])
COLUMNS = 90
"""The width of the terminal that commands print for."""

_NOT_RUN = re.compile(r"<!-- not run: (.*?) -->")
_FILE_NAME = re.compile(r"(?:#|//) ([\w./-]+\.\w+)")


class Block(NamedTuple):
    """A fenced code block."""

    page: Path
    line: int
    """Of its first line of code, from 1."""
    language: str
    code: str
    not_run: str
    """The reason in a comment before it: ``<!-- not run: it needs the network -->``."""

    @property
    def file_name(self) -> str:
        """The name of the file that the block is: its first line is a comment with nothing else in it."""
        found = _FILE_NAME.fullmatch(self.code.partition("\n")[0])
        return found[1] if found else ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Command(NamedTuple):
    """A command of a console block."""

    text: str
    """As bash reads it."""
    shown: list[str]
    """The lines below it, which it should print; ``…`` stands for any text, alone on a line for any lines."""
    line: int
    """Of its prompt in the page, from 1."""


class Printed(NamedTuple):
    """What a command did."""

    command: Command
    lines: list[str]
    """Standard output and standard error, as they come in a terminal."""
    status: int


def tokens(page: Path) -> list[Token]:
    """The page as the generator of the site reads it."""
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def blocks(page: Path) -> Iterator[Block]:
    """The fenced code blocks of a page, in order."""
    reason = ""
    for token in tokens(page):
        if token.type == "fence" and token.map:
            yield Block(page, token.map[0] + 2, token.info.strip(), token.content, reason)
        match = _NOT_RUN.fullmatch(token.content.strip()) if token.type == "html_block" else None
        reason = match[1] if match else ""


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    continued = False
    for number, line in enumerate(block.code.splitlines(), block.line):
        if continued:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}")
        elif line.startswith("$ "):
            found.append(Command(line[2:], [], number))
        elif found:
            found[-1].shown.append(line.rstrip())
        else:
            raise AssertionError(f"{block}: a console block begins with a command, '$ …'")
        continued = line.endswith("\\") and (continued or line.startswith("$ "))
    return found


def run(block: Block, folder: Path) -> list[Printed]:
    """Run the commands of a console block in one shell, whose folder is ``folder``."""
    mark = uuid.uuid4().hex
    asked = commands(block)
    script = "".join(f"{_runnable(one.text)}\n__is=$?; printf '\\n{mark} %d\\n' $__is; (exit $__is)\n" for one in asked)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    parts = re.split(rf"\n{mark} (\d+)\n", done.stdout)
    assert len(parts) == 2 * len(asked) + 1, f"{block}: the shell ended early:\n{done.stdout}"
    return [
        Printed(command, [line.rstrip() for line in text.splitlines() if not _PROGRESS.fullmatch(line)], int(status))
        for command, text, status in zip(asked, parts[0::2], parts[1::2], strict=False)
    ]


def _runnable(command: str) -> str:
    """A command as it is run here: of make only whether it has the targets, which take minutes."""
    return f"make --dry-run -C {shlex.quote(str(ROOT))} {command[5:]}" if command.startswith("make ") else command


def environment() -> dict[str, str]:
    """That of a person: our commands are on the path, and the terminal has ``COLUMNS``."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": str(COLUMNS),
        "PYTHONUNBUFFERED": "1",  # so that both streams come in the order of a terminal
        "PYTHONUTF8": "1",
    }


def problems(printed: Sequence[Printed], block: Block) -> Iterator[str]:
    """What is wrong with what the commands of a block did.

    A command may fail if the next one shows its exit status, ``$ echo $?``.
    """
    for one, after in zip(printed, [*printed[1:], None], strict=True):
        where = f"{block.page.relative_to(ROOT)}:{one.command.line}: $ {one.command.text}"
        text = "\n".join(one.lines)
        if one.status and not (after and after.command.text == "echo $?"):
            yield f"{where}\nexit status {one.status}:\n{text}"
        elif one.command.shown and not matches(one.command.shown, one.lines):
            yield f"{where}\nprints:\n{text}\nthe page shows:\n" + "\n".join(one.command.shown)


def matches(shown: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether lines are those that a page shows, but for empty ones at the end."""
    shown, lines = ("\n".join(of).rstrip().split("\n") for of in (shown, lines))
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == "…" else "[^\n]*".join(map(re.escape, line.split("…"))) + r"\n"
        for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


_PROGRESS = re.compile(r"\w[\w.-]*(?: over \w+)?: [\d,]+ of [\d,]+ (?:operator versions|data sets, [\d,]+ not passed)")
"""A line that commands print every 10 seconds, so it appears only on a slow machine."""

SELECTION = "op=Trilu,CumProd,Softsign"
"""What the suite holds that pages find."""


def prepare(page: Path, folder: Path) -> None:
    """Make the folder in which the blocks of a page run.

    It has the adapters of the page on backends and, unless the page generates a suite itself, a small one.
    """
    for block in blocks(ROOT / "docs/validate-your-backend.md"):
        if block.file_name.endswith(".py"):
            write_file(block, folder)
    code = "".join(block.code for block in blocks(page) if not block.not_run)
    if "onnx" in code and " generate --suite" not in code:
        shutil.copytree(_suite(), folder / "testdata" / "matrix")


@cache
def _suite() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="onnx-conformance-docs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    generate(folder / "matrix", selection=Selection.parse(SELECTION))
    return folder / "matrix"


def write_file(block: Block, folder: Path) -> None:
    """Write a block that is a file."""
    if block.file_name:
        path = folder / block.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.code, encoding="utf-8")
