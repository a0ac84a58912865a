import random

import msgspec
import pytest

from harness.reports.formats import FORMATS
from harness.reports.gather import Report, gather
from harness.reports.text import verdict_text
from harness.results.lines import UNSCORED, VERDICTS, Result
from harness.suite.cases import Labels

FOR_ANY_RUN = [name for name in FORMATS if name != "scoreboard"]
"""A scoreboard requires complete runs, so it has tests of its own."""


def text_of(name: str, report: Report) -> str:
    """The concatenated files of a format."""
    return "\n".join(text for _, text in FORMATS[name].files(report))


@pytest.mark.parametrize("name", FOR_ANY_RUN)
def test_hostile_text_is_harmless_in_any_order(name, seed, random_runs):
    """The bytes do not depend on the order of results. They are valid UTF-8 without control characters."""
    runs = random_runs(seed, hostile=True)
    text = text_of(name, gather(runs))
    assert text.encode().decode() == text
    assert text.replace("\n", "").replace("\r", "").isprintable()
    assert text.count("\r") == (text.count("\n") if name == "csv" else 0)
    shuffle = random.Random(seed).sample
    mixed = [msgspec.structs.replace(run, results=tuple(shuffle(run.results, len(run.results)))) for run in runs]
    assert text_of(name, gather(shuffle(mixed, len(mixed)))) == text


@pytest.mark.parametrize("name", FOR_ANY_RUN)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_is_shown(name, verdict, make_run):
    text = text_of(name, gather([make_run([Result("test_a", 0, verdict, Labels("Add", since=14))])]))
    words = verdict_text(verdict)
    if name == "console" and verdict != "passed":
        assert words.split()[0][:5] in text
        assert (f"{words}: Add always fails (1 of 1 data set)" in text) == (verdict not in UNSCORED)
    elif name in {"markdown", "operators"} and verdict != "passed":
        assert f"1 {words}" in text
    elif name == "github":
        assert (f": {words}" in text) == (verdict != "passed" and verdict not in UNSCORED)
    elif name == "badges":
        assert ("1/1" if verdict == "passed" else "nothing scored" if verdict in UNSCORED else "0/1") in text
    elif not (name == "junit" and verdict == "passed"):
        assert verdict in text


@pytest.mark.parametrize("name", ["console", "markdown", "junit", "ctrf", "github", "operators"])
def test_warnings_about_rates_are_shown(name, make_run):
    results = [Result("test_a", 0, "passed", Labels("Add", since=14))]
    assert "1 of 2,010" in text_of(name, gather([make_run(results, data_sets=2010, finished=False)]))
    assert "op=Sub" in text_of(name, gather([make_run(results, stale=("op=Sub",))]))


@pytest.mark.parametrize("name", FOR_ANY_RUN)
def test_no_results(name):
    assert text_of(name, gather([])) is not None


def test_files_of_all_formats_go_into_one_folder(two_operators):
    names = [file for one in FORMATS.values() for file, _ in one.files(gather(two_operators))]
    assert len(set(names)) == len(names)
    assert not any(name.startswith("/") or ".." in name for name in names)
