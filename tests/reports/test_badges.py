"""Badges: valid for the Shields endpoint, with honest rates."""

import json
import re

import pytest

from harness.reports.badges import badges
from harness.reports.gather import gather
from harness.results.lines import Result
from harness.suite.cases import Labels
from harness.suite.select import Selection

COLOURS = {"brightgreen", "green", "yellowgreen", "yellow", "orange", "red", "lightgrey"}


def read(runs, *selection):
    """Path → badge, checked against the documentation of the Shields endpoint."""
    found = {path: json.loads(text) for path, text in badges(gather(runs, Selection.parse(selection)))}
    for path, badge in found.items():
        assert re.fullmatch(r"badges/[A-Za-z0-9_][A-Za-z0-9_.-]*\.json", path)
        assert badge.keys() == {"schemaVersion", "label", "message", "color"}  # unknown keys are refused
        assert badge["schemaVersion"] == 1
        assert isinstance(badge["label"], str)
        assert isinstance(badge["message"], str)
        assert badge["message"]  # an empty one is refused
        assert badge["color"] in COLOURS
    return found


def test_random_runs(seed, random_runs):
    runs = random_runs(seed, hostile=True)
    assert len(read(runs)) == len(runs)


def test_names_and_rates(two_operators):
    found = read(two_operators)
    assert list(found) == [
        "badges/matrix-numpy-1.0.json",
        "badges/matrix-reference-1.0.json",
        "badges/matrix-runtime-1.0.json",
    ]
    assert [(badge["label"], badge["message"], badge["color"]) for badge in found.values()] == [
        ("matrix · numpy 1.0", "29/29 (100.0 %)", "brightgreen"),
        ("matrix · reference 1.0", "23/29 (79.3 %)", "yellow"),
        ("matrix · runtime 1.0", "17/29 (58.6 %)", "orange"),
    ]
    narrow = read(two_operators, "T=string")
    assert narrow["badges/matrix-numpy-1.0.json"]["label"] == "matrix T=string · numpy 1.0"


@pytest.mark.parametrize(
    ("passed", "colour"),
    [(1000, "brightgreen"), (999, "green"), (950, "green"), (949, "yellowgreen"), (850, "yellowgreen"), (849, "yellow"),
     (700, "yellow"), (699, "orange"), (500, "orange"), (499, "red"), (0, "red")],
)  # fmt: skip
def test_colours(passed, colour, make_run):
    labels = Labels("Add", since=14)
    results = [Result(f"test_{n}", 0, "passed" if n < passed else "unsupported", labels) for n in range(1000)]
    (badge,) = read([make_run(results)]).values()
    assert badge["color"] == colour


def test_incomplete_runs_are_grey(make_run):
    results = [Result("test_a", 0, "passed", Labels("Add", since=14))]
    unspecified = [Result("test_a", 0, "unspecified", Labels("Add", since=14))]
    for run, message in (
        (make_run(results, finished=False, data_sets=2010), "unfinished: 1 of 2,010 run"),
        (make_run(results, suite_data_sets=2010), "1/1 (100.0 %), part of 2,010"),
        (make_run(unspecified), "nothing scored"),
        (make_run([]), "unfinished: 0 of 0 run"),
    ):
        (badge,) = read([run]).values()
        assert (badge["message"], badge["color"]) == (message, "lightgrey")
