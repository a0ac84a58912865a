"""Slice, Pad, Tile, Concat, NonZero and Split: the documents' sentences, and faults that the inputs bring to light."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Sample, find
from harness.spec.schema import schema
from harness.suite.planning import plan

FLOATS = {"T": "tensor(float)", "T1": "tensor(int64)", "Tind": "tensor(int64)"}
INT_MAX, INT_MIN = 2**63 - 1, -(2**63)


def call(op: str, since: int, *inputs: Any, T: str = "float", outputs: int = 0, **attributes: Any) -> list[Any]:
    one, version = find(op, since), schema(op, since)
    assert one
    names = [p.name for p in version.inputs]
    given = {name: value for name, value in zip(names, inputs, strict=False) if value is not None}
    if version.inputs[0].option == "variadic":
        given = {names[0]: inputs}
    types = FLOATS | {"T": f"tensor({T})"}
    return [found.value for found in expected(Call(one, version, types, given, attributes, outputs))]


def floats(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


LINE = floats([0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    ("start", "end", "step", "want"),
    [
        (1, 3, 1, [1, 2]),
        (-3, -1, 1, [2, 3]),
        (0, 1000, 2, [0, 2, 4]),
        (-1000, INT_MAX, 1, [0, 1, 2, 3, 4]),
        (5, INT_MAX, 1, []),
        (3, 1, 1, []),
        (4, INT_MIN, -1, [4, 3, 2, 1, 0]),
        (1000, -6, -2, [4, 2, 0]),
        (INT_MAX, 1, -1, [4, 3, 2]),
        (3, -1, -1, []),
        (1, INT_MAX, -1, []),
        (INT_MIN, INT_MIN, -1, [0]),
        (-6, INT_MIN, -3, [0]),
        (0, INT_MAX, INT_MAX, [0]),
        (4, INT_MIN, INT_MIN, [4]),
        (2, -5, -2, [2]),
        (2, -6, -2, [2, 0]),
    ],
)
def test_starts_and_ends_are_clamped_to_what_can_be_copied(start: int, end: int, step: int, want: list[int]):
    (found,) = call("Slice", 13, LINE, ints(start), ints(end), ints(0), ints(step))
    assert found.tolist() == want


def test_nothing_of_an_empty_axis_is_copied_backward():
    (found,) = call("Slice", 13, np.zeros((3, 0), np.float32), ints(1000), ints(INT_MIN), ints(-1), ints(-1))
    assert found.shape == (3, 0)


def test_an_older_slice_takes_its_places_from_attributes():
    data = floats([[1, 2, 3, 4], [5, 6, 7, 8]])
    assert call("Slice", 1, data, axes=[1], starts=[-2], ends=[1000])[0].tolist() == [[3, 4], [7, 8]]
    assert call("Slice", 1, data, axes=OMITTED, starts=[1], ends=[2])[0].tolist() == [[5, 6, 7, 8]]
    assert call("Slice", 1, data, axes=[1, 0], starts=[0, 1], ends=[1, 2])[0].tolist() == [[5]]


def pad(line: Any, begin: int, end: int, mode: str, *constant: Any, T: str = "float") -> Any:
    return call("Pad", 25, line, ints(begin, end), *constant, mode=mode, T=T)[0].tolist()


@pytest.mark.parametrize(
    ("begin", "end", "mode", "want"),
    [
        (2, 1, "edge", [1, 1, 1, 2, 3, 3]),
        (2, 1, "reflect", [3, 2, 1, 2, 3, 2]),
        (5, 0, "reflect", [2, 1, 2, 3, 2, 1, 2, 3]),
        (2, 1, "wrap", [2, 3, 1, 2, 3, 1]),
        (4, 5, "wrap", [3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]),
        (2, 1, OMITTED, [0, 0, 1, 2, 3, 0]),
        (-1, -1, "edge", [2]),
        (-1, 2, "edge", [2, 3, 3, 3]),
        (2, -2, "constant", [0, 0, 1]),
        (-3, 2, "constant", [0, 0]),
        (-1, -2, "wrap", []),
    ],
)
def test_pads_are_added_and_removed(begin: int, end: int, mode: str, want: list[int]):
    assert pad(floats([1, 2, 3]), begin, end, mode) == want


def test_the_constant_is_zero_the_empty_string_or_false():
    assert pad(np.array(["a"], object), 1, 1, "constant", T="string") == ["", "a", ""]
    assert pad(np.array([True]), 1, 0, "constant", T="bool") == [False, True]
    assert pad(ints(2**63 - 1), 1, 0, "constant", np.array(-(2**63)), T="int64") == [-(2**63), 2**63 - 1]
    assert pad(floats([1]), 1, 0, "edge", floats(7)) == [1, 1], "it is only for the mode constant"


def test_pads_come_in_the_order_of_the_axes():
    (found,) = call("Pad", 18, floats([[1, 2]]), ints(1, 0, 0, 2), None, ints(-1, 0), mode=OMITTED)
    assert found.tolist() == [[0, 1, 2], [0, 0, 0], [0, 0, 0]]
    (found,) = call("Pad", 2, floats([[1, 2]]), pads=[0, 1, 2, 0], value=9.0, mode=OMITTED)
    assert found.tolist() == [[9, 1, 2], [9, 9, 9], [9, 9, 9]]


def test_tiles_are_copies_of_the_whole():
    (found,) = call("Tile", 13, floats([[1, 2]]), ints(2, 3))
    assert found.tolist() == [[1, 2, 1, 2, 1, 2]] * 2
    assert call("Tile", 6, floats([[1, 2]]), ints(0, 3))[0].shape == (0, 6)
    assert call("Tile", 1, floats([[1], [2]]), floats(2), floats(0))[0].tolist() == [[1], [2], [1], [2]]


def test_the_first_concat_has_an_axis_by_default():
    a, b = floats([[1], [2]]), floats([[3], [4]])
    assert call("Concat", 1, a, b, axis=OMITTED)[0].tolist() == [[1, 3], [2, 4]]
    assert call("Concat", 13, a, b, axis=-2)[0].tolist() == [[1], [2], [3], [4]]


def test_nonzero_has_a_row_for_each_axis():
    assert call("NonZero", 13, floats([[0, np.nan], [-0.0, 1e-45]]))[0].tolist() == [[0, 1], [1, 1]]
    assert call("NonZero", 9, floats(3))[0].shape == (0, 1), "(0, N) instead of (1, N)"
    assert call("NonZero", 13, floats(0))[0].shape == (0, 0)
    assert call("NonZero", 13, np.zeros((2, 0, 3), np.float32))[0].shape == (3, 0)


def test_the_last_part_of_an_uneven_split_is_smaller():
    def sizes(size: int, count: int) -> list[int]:
        return [len(part) for part in call("Split", 18, np.zeros(size, np.float32), num_outputs=count)]

    assert (sizes(7, 4), sizes(7, 3), sizes(4, 3), sizes(6, 3)) == ([2, 2, 2, 1], [3, 3, 1], [2, 2, 0], [2, 2, 2])


def test_parts_are_as_long_as_stated_or_as_many_as_there_are_outputs():
    x = floats([[1, 2, 3, 4]])
    assert [p.tolist() for p in call("Split", 18, x, ints(1, 0, 3), axis=-1)] == [[[1]], [[]], [[2, 3, 4]]]
    assert [p.tolist() for p in call("Split", 13, x, axis=1, outputs=2)] == [[[1, 2]], [[3, 4]]]
    assert [p.tolist() for p in call("Split", 2, x, axis=1, split=[3, 1])] == [[[1, 2, 3]], [[4]]]
    assert [p.tolist() for p in call("Split", 1, x, floats([1, 3]), axis=1)] == [[[1]], [[2, 3, 4]]]


def scored(op: str, since: int) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """The group, the attributes and the inputs of each data set in float that is scored."""
    one, version = find(op, since), schema(op, since)
    assert one
    for row in plan(one, version).rows:
        if row.types["T"] == "tensor(float)":
            for found in row.group.generate(Draw("seed", row.types, row.attributes)):
                drawn = found if isinstance(found, Sample) else Sample(found)
                if not drawn.unspecified:
                    yield row.group.name, row.attributes, drawn.inputs


def told_apart(op: str, since: int, faulty: Callable[..., Any]) -> set[str]:
    """The groups in which an implementation is not the oracle."""
    one = find(op, since)
    assert one
    found: set[str] = set()
    for group, attributes, inputs in scored(op, since):
        given = {k: v.astype(object) if v.dtype.kind == "i" else v for k, v in inputs.items()}
        plain = {k: "constant" if v == OMITTED else v for k, v in attributes.items()}
        if not np.array_equal(one.oracle(**given, **plain), faulty(**given, **plain), equal_nan=True):
            found.add(group)
    return found


def indexed(
    data: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None, *, none: tuple[int, ...] = ()
) -> Any:
    """NumPy's own slices, which ends in ``none`` leave open."""
    index = [slice(None)] * data.ndim
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        index[axis] = slice(starts[i], None if ends[i] in none else ends[i], 1 if steps is None else steps[i])
    return data[tuple(index)]


def test_slices_tell_numpy_and_an_open_end_apart():
    assert told_apart("Slice", 13, indexed) == {"backward_from_before_the_axis"}

    def open_ended(*inputs: Any, **named: Any) -> Any:
        return indexed(*inputs, **named, none=(2**31 - 1, 2**63 - 1))

    assert "backward_up_to_the_greatest" in told_apart("Slice", 13, open_ended)


def test_pads_tell_symmetry_and_a_single_reflection_apart():
    padded = find("Pad", 25)
    assert padded
    oracle = padded.oracle

    def symmetric(**inputs: Any) -> Any:
        if inputs["mode"] != "reflect" or min(inputs["pads"], default=0) < 0 or 0 in inputs["data"].shape:
            return oracle(**inputs)
        data, axes = inputs["data"], inputs.get("axes")
        width = [(0, 0)] * data.ndim
        axes = range(data.ndim) if axes is None else axes
        for i, axis in enumerate(axes):
            width[axis] = (inputs["pads"][i], inputs["pads"][i + len(axes)])
        return np.pad(data, width, mode="symmetric")

    assert {"ordinary", "long"} <= told_apart("Pad", 25, symmetric)

    def once(**inputs: Any) -> Any:
        found = oracle(**inputs)
        longest = max(inputs["pads"], default=0)
        return found if inputs["mode"] != "reflect" or longest < min(inputs["data"].shape, default=1) else found[:0]

    assert "long" in told_apart("Pad", 25, once)
