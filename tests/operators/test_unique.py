"""Unique: the document's order and occurrence as literal values, and a fault that the inputs bring to light."""

from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Sample, find
from harness.spec.schema import schema
from harness.suite.planning import plan


def unique(X: Any, T: str = "int64", **attributes: Any) -> list[Any]:
    one, version = find("Unique", 28), schema("Unique", 28)
    assert one
    call = Call(one, version, {"T": f"tensor({T})"}, {"X": np.asarray(X)}, {"axis": OMITTED} | attributes)
    return [np.asarray(found.value).tolist() for found in expected(call)]


def test_elements_come_as_they_first_occur_or_ascending():
    assert unique([[3, 1], [3, 2]], sorted=0) == [[3, 1, 2], [0, 1, 3], [0, 1, 0, 2], [2, 1, 1]]
    assert unique([[3, 1], [3, 2]], sorted=OMITTED) == [[1, 2, 3], [1, 3, 0], [2, 0, 2, 1], [1, 1, 2]]


def test_subtensors_ascend_by_their_first_elements():
    x = [[2, 0, 2], [0, 5, 0]]
    assert unique(x, axis=1, sorted=1) == [[[0, 2], [5, 0]], [1, 0], [1, 0, 1], [1, 2]]
    assert unique(x, axis=-1, sorted=0) == [[[2, 0], [0, 5]], [0, 1], [0, 1, 0], [2, 1]]
    assert unique([[1, 9], [1, 3], [0, 9]], axis=0, sorted=1)[0] == [[0, 9], [1, 3], [1, 9]]


def test_zeros_are_equal_and_wide_integers_are_not_doubles():
    assert unique(np.array([0.0, -0.0, 1.0], np.float32), "float", sorted=1)[3] == [2, 1]
    assert unique([2**53 + 1, 2**53, 2**53 + 1], sorted=1)[0] == [2**53, 2**53 + 1]
    assert unique(np.array(["b", "", "ab", "b"], object), "string", sorted=1)[0] == ["", "ab", "b"]


def test_a_scalar_is_flattened_and_nothing_has_no_elements():
    assert unique(7, sorted=1) == [[7], [0], [0], [1]]
    assert unique(np.zeros((2, 0), np.int64), sorted=0) == [[], [], [], []]
    y, *rest = unique(np.zeros((0, 2), np.int64), axis=0, sorted=1)
    assert (np.shape(y), rest) == ((0,), [[], [], []]), "a list cannot show the size 2 beside 0"


@pytest.mark.parametrize("since", [28, 11])
def test_complex_numbers_are_not_asked_for_in_an_order(since: int):
    one = find("Unique", since)
    assert one
    rows = plan(one, schema("Unique", since), "pairs" if since == 28 else "each").rows
    assert {row.attributes["sorted"] for row in rows if "complex" in row.types["T"]} == {0}


def test_sorting_what_was_not_to_be_sorted_shows_in_every_row():
    one = find("Unique", 28)
    assert one
    tried = 0
    for row in plan(one, schema("Unique", 28)).rows:
        if row.group.name != "ordinary" or row.attributes["sorted"] != 0 or "complex" in row.types["T"]:
            continue
        axis = None if row.attributes["axis"] == OMITTED else row.attributes["axis"]
        for found in row.group.generate(Draw("seed", row.types, row.attributes)):
            assert isinstance(found, Sample)
            as_they_occur, ascending = (one.oracle(**found.inputs, axis=axis, sorted=order)[1] for order in (0, 1))
            assert as_they_occur.tolist() != ascending.tolist(), row.types
            tried += 1
    assert tried > 15
