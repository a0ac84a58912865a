"""The pages for people: each command and each code block of theirs is run, and each link leads somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import documentation
import pytest
from documentation import PAGES, ROOT, Block, blocks
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from harness.commands.parser import build_parser
from harness.oracles import operator as mechanism
from harness.reports.formats import FORMATS
from harness.results.expectations import read_expectations
from harness.results.lines import VERDICTS
from harness.schemas.documents import schema

MOST_NOT_RUN = 5
"""Blocks that need what tests do not have; each says why."""
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def python(block: Block, folder: Path) -> None:
    """Run a block as a program, in the folder in which it stands if it is a file."""
    if block.file_name.startswith("harness/operators/"):
        return  # see test_the_operator_of_the_example
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.code],
        cwd=folder,
        env=documentation.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{block}:\n{done.stderr}"


def console(block: Block, folder: Path) -> None:
    """Run the commands of a block and compare what they print."""
    assert not (problems := list(documentation.problems(documentation.run(block, folder), block))), "\n".join(problems)


def as_json(block: Block, _: Path) -> None:
    """It holds messages of the protocol."""
    validator = Draft202012Validator(schema("protocol"))
    for message in messages(block):
        validator.validate(message)


def messages(block: Block) -> Iterator[dict[str, Any]]:
    """The JSON objects of a block, one after another."""
    text = block.code.strip()
    while text:
        message, end = json.JSONDecoder().raw_decode(text)
        yield message
        text = text[end:].lstrip()


def toml(block: Block, folder: Path) -> None:
    """It parses, and expectations are what they should be."""
    if "expect" in tomllib.loads(block.code):
        assert read_expectations(folder / block.file_name)


def yaml(block: Block, folder: Path) -> None:
    """It is a workflow, by GitHub's schema."""
    path = folder / "workflow.yml"
    path.write_text(block.code, encoding="utf-8")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(check, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{block}:\n{done.stdout}"


RUNNERS = {"python": python, "console": console, "json": as_json, "toml": toml, "yaml": yaml}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_does_what_it_says(name: str, tmp_path: Path):
    page = ROOT / name
    documentation.prepare(page, tmp_path)
    for block in blocks(page):
        documentation.write_file(block, tmp_path)
        if not block.not_run:
            RUNNERS[block.language](block, tmp_path)


def test_every_block_is_run_or_says_why_not():
    found = [block for page in PAGES for block in blocks(page)]
    assert {block.language for block in found} <= RUNNERS.keys()
    assert len([block for block in found if block.not_run]) <= MOST_NOT_RUN
    tokens = [token for page in PAGES for token in documentation.tokens(page)]
    comments = [token for token in tokens if token.type == "html_block" and "not run" in token.content]
    assert len(comments) == len([block for block in found if block.not_run]), "a comment has no block after it"
    assert not [token.content for token in tokens if token.type == "code_block"], "an indented block has no language"


# What pages list.


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def commands() -> Iterator[str]:
    """The names of the commands."""
    parser: ArgumentParser = build_parser(())
    for action in parser._actions:
        if action.choices:
            yield from action.choices


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_page_of_commands_has_them_all():
    assert re.findall(r"^\$ onnx-conformance (\S+) --help$", text("docs/cli.md"), re.MULTILINE) == list(commands())


def test_tables_list_all_there_is():
    action = YAML(typ="safe").load(text("action.yml"))
    rows = {name: re.findall(r"^\| `([^`]+)`", text(name), re.MULTILINE) for name in NAMES}
    assert set(VERDICTS) <= set(rows["docs/glossary.md"])
    assert set(FORMATS) <= set(rows["docs/reports.md"])
    assert {*action["inputs"], *action["outputs"]} <= set(rows["docs/ci.md"])
    options = re.findall(r'"(--onnx-\w+)"', text("harness/pytest_plugin/__init__.py"))
    assert set(options) <= {row.split()[0] for row in rows["docs/ci.md"]}


# The examples that are more than one block.


def test_the_transcript_of_the_protocol(tmp_path: Path):
    """The program of one page says what the messages of the other say, in their order."""
    documentation.prepare(ROOT / "docs/reports.md", tmp_path)
    found = [one for b in blocks(ROOT / "docs/protocol.md") if b.language == "json" for one in messages(b)]
    requests = "".join(f"{json.dumps(one)}\n" for one in found if "do" in one)
    for place, there in {"/suite/": f"{tmp_path}/testdata/matrix/", "/scratch/": f"{tmp_path}/"}.items():
        requests = requests.replace(place, there)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        input=requests,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [one for one in found if "do" not in one]
    assert {file.name for file in tmp_path.glob("*.pb")} == {"7_0_0.pb", "7_1_0.pb"}


OPERATOR = """
import sys
from pathlib import Path
import onnx
from harness.oracles.operator import Operator
from harness.suite.build import build_plan
from harness.suite.planning import plan

names = {}
exec(compile(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[1], "exec"), names)
(operator,) = [value for value in names.values() if isinstance(value, Operator)]
for version in operator.schemas:
    for built in build_plan(operator, version, plan(operator, version)):
        onnx.checker.check_model(built.files["model.onnx"], full_check=True)
        print(built.case.name)
"""


def test_the_operator_of_the_example(tmp_path: Path):
    """Its file declares an operator of which cases can be made, its example among them; alone, for each has one."""
    (block,) = (b for b in blocks(ROOT / "docs/adding-an-operator.md") if b.file_name.startswith("harness/operators/"))
    documentation.write_file(block, tmp_path)
    script = [sys.executable, "-W", "error", "-c", OPERATOR, block.file_name]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert "test_softsign_example" in names
    assert {name.split("_")[2] for name in names} >= {"22", "1"}


def test_the_arguments_of_an_operator_are_those_that_it_has():
    page = text("docs/adding-an-operator.md")
    known = mechanism.operator.__kwdefaults__.keys()
    shown = re.findall(r"^\| `(\w+)=", page, re.MULTILINE)
    assert set(shown) - {"upper"} <= {*known, "since"}


# Links.


class Links(HTMLParser):
    """What a page of the site points to, and the places in it that others may point to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        if of.get("id"):
            self.anchors.add(of["id"] or "")
        if tag == "a" and of.get("href"):
            self.links.append(of["href"] or "")
        elif of.get("src") or of.get("href"):
            self.loads.append(of.get("src") or of.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "trees")]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder / "html")], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_links_of_the_site_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path):
    pages = {path: Links(path) for path in sorted(site.rglob("*.html"))}
    assert {f"{page.stem}.html" for page in PAGES if page.parent == ROOT / "docs"} <= {path.name for path in pages}
    for path, page in pages.items():
        for target in page.loads:
            assert not re.match(r"(\w+:)?//", target), f"{path.name} loads {target}"
        for target in [*page.links, *page.loads]:
            if re.match(r"https?:|mailto:|data:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (path.parent / file.partition("?")[0]).resolve() if file else path
            assert there.exists(), f"{path.name}: {target}"
            if anchor and there in pages:
                assert anchor in pages[there].anchors, f"{path.name}: {target}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text(encoding="utf-8")), style.name


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", NAMES)
def test_links_between_files_lead_somewhere(name: str):
    """As GitHub shows the pages."""

    def headings(path: Path) -> set[str]:
        tokens = documentation.tokens(path)
        return {slug(tokens[n + 1].content.replace("`", "")) for n, t in enumerate(tokens) if t.type == "heading_open"}

    page = ROOT / name
    for token in documentation.tokens(page):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src") or ""
            if not target or re.match(r"https?:", str(target)):
                continue
            file, _, anchor = str(target).partition("#")
            there = (page.parent / file).resolve() if file else page
            assert there.exists(), target
            assert there.is_relative_to(ROOT)
            assert not anchor or anchor in headings(there), target
