"""Sequences: the documents' sentences as literal values, and faults that the inputs bring to light."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Sample, find, operators
from harness.spec.element_types import BY_NAME
from harness.spec.schema import schema
from harness.spec.values import Value
from harness.suite.planning import plan

A, B, C = (np.array(values, np.float32) for values in ([[1, 2], [3, 4]], [5], 6))
FLOATS = {"S": "seq(tensor(float))", "T": "tensor(float)", "I": "tensor(int64)"}


def of(op: str, since: int, *inputs: Any, types: Any = FLOATS, **attributes: Any) -> Value:
    operator, version = find(op, since), schema(op, since)
    assert operator
    given = {p.name: value for p, value in zip(version.inputs, inputs, strict=False) if value is not None}
    return expected(Call(operator, version, types, given, attributes))[0].value


def listed(value: Value) -> Any:
    assert isinstance(value, list)
    return [np.asarray(item).tolist() for item in value]


def at(position: int) -> np.ndarray:
    return np.array(position)


@pytest.mark.parametrize(("position", "tensor"), [(0, A), (2, C), (-1, C), (-3, A), (-2, B)])
def test_a_position_counts_from_either_end(position: int, tensor: np.ndarray):
    found = of("SequenceAt", 11, [A, B, C], at(position))
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.shape, found.tolist()) == (np.float32, tensor.shape, tensor.tolist())


@pytest.mark.parametrize(
    ("position", "rest"), [(None, [A, B]), (0, [B, C]), (1, [A, C]), (-1, [A, B]), (-3, [B, C]), (2, [A, B])]
)
def test_erasing_takes_the_last_by_default(position: int | None, rest: list[np.ndarray]):
    found = of("SequenceErase", 11, [A, B, C], None if position is None else at(position))
    assert listed(found) == [tensor.tolist() for tensor in rest]


@pytest.mark.parametrize(
    ("position", "want"),
    [(None, [1, 2, 9]), (2, [1, 2, 9]), (-1, [1, 9, 2]), (0, [9, 1, 2]), (-2, [9, 1, 2]), (1, [1, 9, 2])],
)
def test_inserting_counts_the_tensors_that_were_there(position: int | None, want: list[int]):
    sequence = [np.array([1.0], np.float32), np.array([2.0], np.float32)]
    found = of("SequenceInsert", 11, sequence, np.array([9], np.float32), None if position is None else at(position))
    assert listed(found) == [[n] for n in want]


def test_nothing_to_insert_before_and_nothing_left():
    assert listed(of("SequenceInsert", 11, [], B, at(0))) == listed(of("SequenceInsert", 11, [], B)) == [[5]]
    assert of("SequenceErase", 11, [B], at(-1)) == []


def test_a_sequence_is_what_it_is_given_and_has_a_length():
    assert listed(of("SequenceConstruct", 11, (A, C, B))) == [[[1, 2], [3, 4]], 6, [5]]
    for sequence in ([], [A], [A, np.zeros((0, 3), np.float32), C]):
        length = of("SequenceLength", 11, sequence)
        assert isinstance(length, np.ndarray)
        assert (length.shape, length.dtype, length.item()) == ((), np.int64, len(sequence))


def test_an_empty_sequence_is_of_floats_unless_stated():
    planned = plan(find("SequenceEmpty", 11), schema("SequenceEmpty", 11)).rows  # pyright: ignore[reportArgumentType]
    stated = {row.types["S"]: row.attributes["dtype"] for row in planned if row.attributes["dtype"] != OMITTED}
    assert stated == {
        of: BY_NAME[of[len("seq(tensor(") : -2]].code for of in schema("SequenceEmpty", 11).variables["S"]
    }
    assert [row.types["S"] for row in planned if row.attributes["dtype"] == OMITTED] == ["seq(tensor(float))"]
    assert of("SequenceEmpty", 11, types={"S": "seq(tensor(string))"}, dtype=8) == []


def concatenated(sequence: list[Any], axis: int, **new_axis: int) -> Any:
    found = of("ConcatFromSequence", 11, [np.array(x, np.float32) for x in sequence], axis=axis, **new_axis)
    return np.asarray(found).tolist()


def test_tensors_are_concatenated_along_an_axis():
    assert concatenated([[1, 2], [3]], 0) == concatenated([[1, 2], [3]], -1, new_axis=0) == [1, 2, 3]
    assert concatenated([[[1], [2]], [[3, 4], [5, 6]]], -1) == [[1, 3, 4], [2, 5, 6]]
    assert concatenated([[[1, 2]], [[3, 4], [5, 6]]], -2) == [[1, 2], [3, 4], [5, 6]]


def test_a_new_axis_is_counted_among_those_of_the_result():
    pairs = [[1, 2], [3, 4], [5, 6]]
    assert concatenated(pairs, 0, new_axis=1) == concatenated(pairs, -2, new_axis=1) == pairs
    assert concatenated(pairs, 1, new_axis=1) == concatenated(pairs, -1, new_axis=1) == [[1, 3, 5], [2, 4, 6]]
    assert concatenated([7, 8], 0, new_axis=1) == concatenated([7, 8], -1, new_axis=1) == [7, 8]


def parts(x: Any, split: Any = None, **attributes: int) -> Any:
    return [listed(of("SplitToSequence", since, np.array(x, np.float32), split, **attributes)) for since in (11, 24)]


FIVE = [[1, 2, 3, 4, 5]]


@pytest.mark.parametrize(
    ("split", "attributes", "want"),
    [
        (at(2), {"axis": 1}, [[[1, 2]], [[3, 4]], [[5]]]),
        (at(9), {"axis": -1}, [FIVE]),
        (np.array([1, 4]), {"axis": 1}, [[[1]], [[2, 3, 4, 5]]]),
        (np.array([5]), {"axis": 1, "keepdims": 0}, [FIVE]),
        (None, {"axis": 1}, [[[n]] for n in FIVE[0]]),
        (None, {"axis": 1, "keepdims": 0}, [[n] for n in FIVE[0]]),
        (at(1), {"axis": 1, "keepdims": 0}, [[[n]] for n in FIVE[0]]),
        (None, {}, [FIVE]),
        (None, {"keepdims": 0}, [FIVE[0]]),
    ],
)
def test_splitting_gives_chunks_and_keeps_the_axis_where_lengths_are_given(split: Any, attributes: Any, want: Any):
    assert parts(FIVE, split, **attributes) == [want, want]


def caught(op: str, since: int, mistaken: Callable[..., Any]) -> set[str]:
    """The groups in which scored answers differ from those of a mistaken oracle."""
    groups: set[str] = set()
    for operator in operators():
        if operator.name != op or since not in operator.since:
            continue
        version = schema(op, since)
        for row in plan(operator, version).rows:
            for inputs in row.group.generate(Draw("seed", row.types, row.attributes)):
                drawn = inputs if isinstance(inputs, Sample) else Sample(inputs)
                call = Call(operator, version, row.types, drawn.inputs, row.attributes)
                attributes = {a.name: row.attributes[a.name] for a in version.attributes}
                found = expected(call)[0].value
                wrong = mistaken(*(drawn.inputs.get(p.name) for p in version.inputs), **attributes)
                if not (drawn.unspecified or row.group.unspecified) and listed(found) != listed(wrong):
                    groups.add(row.group.name)
    return groups


def test_positions_modulo_the_length_are_found():
    def modulo(sequence: Any, tensor: Any, position: Any = None) -> Any:
        if position is None or not sequence:
            return [*sequence, tensor]
        place = int(position) % len(sequence)
        return [*sequence[:place], tensor, *sequence[place:]]

    assert "every_position" in caught("SequenceInsert", 11, modulo)


def test_erasing_from_the_front_by_default_is_found():
    def first(sequence: Any, position: Any = None) -> Any:
        place = 0 if position is None else int(position) % len(sequence)
        return [*sequence[:place], *sequence[place + 1 :]]

    assert caught("SequenceErase", 11, first) == {"last_by_default"}


@pytest.mark.parametrize("since", [11, 24])
def test_dropping_the_axis_beside_a_split_is_found(since: int):
    def dropping(x: Any, split: Any = None, *, axis: Any, keepdims: Any) -> Any:
        axis = 0 if axis == OMITTED else axis
        if split is None:
            return [np.take(x, [i] if keepdims != 0 else i, axis) for i in range(x.shape[axis])]
        sizes = split.tolist() if split.ndim else [int(split)] * -(-x.shape[axis] // int(split))
        chunks = [np.take(x, range(start, min(start + n, x.shape[axis])), axis) for start, n in _starts(sizes)]
        return [np.squeeze(c, axis) if keepdims == 0 and c.shape[axis] == 1 else c for c in chunks]

    assert caught("SplitToSequence", since, dropping) == {"lengths"}


def _starts(sizes: list[int]) -> list[tuple[int, int]]:
    return [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]
