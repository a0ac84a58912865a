"""Gathering and scattering: the documents' examples as literal values, and faults that their inputs find."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.operators.tensor.gather import element, sized, slices_gathered
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import Schema, schema
from harness.suite.planning import Row, plan


def of(op: str, since: int, *inputs: Any, **attributes: Any) -> Any:
    version = schema(op, since)
    arrays = {p.name: np.asarray(v) for p, v in zip(version.inputs, inputs, strict=False) if v is not None}
    types = {
        p.type_str: f"tensor({element_type(arrays[p.name].dtype).name})"
        for p in version.inputs
        if p.name in arrays and p.type_str in version.variables
    }
    given = {a.name: attributes.get(a.name, OMITTED) for a in version.attributes}
    one = find(op, since)
    assert one
    return np.asarray(expected(Call(one, version, types, arrays, given))[0].value).tolist()


PAIRS = [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("since", [1, 11, 13])
def test_gather_puts_the_axes_of_the_indices_in_place_of_its_own(since: int):
    assert of("Gather", since, PAIRS, [[0, 1], [1, 2]]) == [[[1, 2], [3, 4]], [[3, 4], [5, 6]]]
    rows = [[10, 12, 19], [23, 34, 39], [45, 57, 59]]
    assert of("Gather", since, rows, [[0, 2]], axis=1) == [[[10, 19]], [[23, 39]], [[45, 59]]]
    assert of("Gather", since, rows, np.int32(2), axis=-1) == [19, 39, 59]
    assert of("Gather", since, [7, 8, 9], np.int64(1)) == 8
    assert of("Gather", since, np.array([["a", ""], ["ß", "c"]], object), [1]) == [["ß", "c"]]
    assert of("Gather", since, np.zeros((2, 0)), np.zeros((0, 3), np.int64)) == []


@pytest.mark.parametrize("since", [11, 13])
def test_gather_elements_gives_one_element_for_each_index(since: int):
    rows = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert of("GatherElements", since, rows, [[-1, -2, 0], [-2, 0, 0]]) == [[7, 5, 3], [4, 2, 3]]
    assert of("GatherElements", since, rows, [[2, 0, 0, -1]], axis=1) == [[3, 1, 1, 3]], "of the first row alone"
    assert of("GatherElements", since, rows, [[1], [0], [-1]], axis=-1) == [[2], [4], [9]]


CUBE = [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_gathernd_maps_tuples_to_slices():
    for since in (11, 12, 13):
        assert of("GatherND", since, [[0, 1], [2, 3]], [[0, 0], [1, 1]]) == [0, 3]
        assert of("GatherND", since, [[0, 1], [2, 3]], [[1], [0]]) == [[2, 3], [0, 1]]
        assert of("GatherND", since, CUBE, [[0, 1], [1, 0]]) == [[2, 3], [4, 5]]
        assert of("GatherND", since, CUBE, [[[0, 1]], [[1, 0]]]) == [[[2, 3]], [[4, 5]]]
        assert of("GatherND", since, CUBE, [-1, -2, -1]) == 5
    for since in (12, 13):
        assert of("GatherND", since, CUBE, [[1], [0]], batch_dims=1) == [[2, 3], [4, 5]]
        assert of("GatherND", since, CUBE, [[[1], [-2]], [[0], [0]]], batch_dims=2) == [[1, 2], [4, 6]]


@pytest.mark.parametrize(("op", "since"), [("Scatter", 9), *(("ScatterElements", since) for since in (11, 13, 16, 18))])
def test_updates_replace_elements(op: str, since: int):
    zeros = [[0.0] * 3] * 3
    indices, updates = [[1, 0, 2], [0, 2, 1]], [[1.0, 1.1, 1.2], [2.0, 2.1, 2.2]]
    assert of(op, since, zeros, indices, updates) == [[2.0, 1.1, 0.0], [1.0, 0.0, 2.2], [0.0, 2.1, 1.2]]
    line = [[1.0, 2.0, 3.0, 4.0, 5.0]]
    assert of(op, since, line, [[1, 3]], [[1.1, 2.1]], axis=1) == [[1.0, 1.1, 3.0, 2.1, 5.0]]
    assert of(op, since, PAIRS, [[2]], [[9]], axis=-2) == [[1, 2], [3, 4], [9, 6]], "of the first column alone"


REDUCED = {"add": 13, "mul": 120, "max": 6, "min": 2}


@pytest.mark.parametrize("reduction", REDUCED)
def test_updates_are_combined(reduction: str):
    for since in (16, 18) if reduction in ("add", "mul") else (18,):
        elements = of("ScatterElements", since, [[7, 2]], [[1, -1, 1]], [[6, 5, 2]], axis=1, reduction=reduction)
        assert elements == [[7, REDUCED[reduction] + {"add": 2}.get(reduction, 0)]]
        slices = of("ScatterND", since, [[7, 1], [2, 2]], [[1], [-1]], [[2, 6], [3, 1]], reduction=reduction)
        assert slices == [[7, 1], {"add": [7, 9], "mul": [12, 12], "max": [3, 6], "min": [2, 1]}[reduction]]


@pytest.mark.parametrize("since", [11, 13, 16, 18])
def test_scatternd_writes_slices_and_elements(since: int):
    line = [1, 2, 3, 4, 5, 6, 7, 8]
    assert of("ScatterND", since, line, [[4], [3], [1], [7]], [9, 10, 11, 12]) == [1, 11, 3, 10, 9, 6, 7, 12]
    assert of("ScatterND", since, PAIRS, [[0], [-1]], [[7, 7], [8, 8]]) == [[7, 7], [3, 4], [8, 8]]
    assert of("ScatterND", since, PAIRS, [[[0, 1]], [[2, -2]]], [[7], [8]]) == [[1, 7], [3, 4], [8, 6]]
    assert of("ScatterND", since, PAIRS, [1], [7, 8]) == [[1, 2], [7, 8], [5, 6]]


def test_tensor_scatter_writes_each_sample_from_its_index_on():
    cache, update = [[[1], [2], [3]], [[4], [5], [6]]], [[[7], [8]], [[9], [0]]]
    assert of("TensorScatter", 24, cache, update) == [[[7], [8], [3]], [[9], [0], [6]]]
    assert of("TensorScatter", 24, cache, update, [1, 0]) == [[[1], [7], [8]], [[9], [0], [6]]]
    circular = {"mode": "circular", "axis": 1}
    assert of("TensorScatter", 24, cache, update, [2, 4], **circular) == [[[8], [2], [7]], [[4], [9], [0]]]
    assert of("TensorScatter", 24, [[1, 2, 3]], [[7, 8]], [1], axis=-1) == [[1, 7, 8]]


def scored(op: Operator, version: Schema) -> Iterator[tuple[Row, Inputs]]:
    for row in plan(op, version).rows:
        for one in row.group.generate(Draw(version.title + row.group.name, row.types, row.attributes)):
            drawn = one if isinstance(one, Sample) else Sample(one)
            if not (drawn.unspecified or row.group.unspecified):
                yield row, drawn.inputs


def targets(row: Row, inputs: Inputs) -> list[tuple[int, ...]]:
    """The places of the data that the updates name, in their order."""
    shape, indices = inputs["data"].shape, inputs["indices"]
    if "axis" not in row.attributes:
        return [tuple(np.array(at) % shape[: len(at)]) for at in indices.reshape(-1, indices.shape[-1]).tolist()]
    axis = (0 if row.attributes["axis"] == OMITTED else row.attributes["axis"]) % len(shape)
    found: list[tuple[int, ...]] = []
    for place in np.ndindex(indices.shape):
        at = list(place)
        at[axis] = int(indices[place]) % shape[axis]
        found.append(tuple(at))
    return found


SCATTERS = [("Scatter", 9), *((op, since) for op in ("ScatterElements", "ScatterND") for since in (11, 13, 16, 18))]


@pytest.mark.parametrize(("name", "since"), SCATTERS)
def test_places_are_named_twice_only_where_a_reduction_says_what_comes_of_it(name: str, since: int):
    op, version = find(name, since), schema(name, since)
    assert op
    shared: Counter[str] = Counter()
    for row, inputs in scored(op, version):
        twice = max(Counter(targets(row, inputs)).values(), default=1) > 1
        shared[row.attributes.get("reduction", OMITTED)] += twice
    assert not shared[OMITTED] + shared["none"]
    assert all(
        shared[reduction] for reduction in op.attributes.get("reduction", ()) if reduction not in (OMITTED, "none")
    )


NATIVE: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize(("name", "since"), [("ScatterElements", 18), ("ScatterND", 18)])
def test_reductions_are_the_same_in_every_order_in_the_type_itself(name: str, since: int):
    """So that there is one answer, although "the order of iteration in the above loop is not specified"."""
    op, version = find(name, since), schema(name, since)
    assert op
    seen: set[tuple[str, str]] = set()
    for row, inputs in scored(op, version):
        reduction = row.attributes["reduction"]
        if reduction in (OMITTED, "none"):
            continue
        want = np.asarray(answer(Call(op, version, row.types, inputs, row.attributes), exact=True)[0].value)
        data, places = inputs["data"], targets(row, inputs)
        updates = inputs["updates"].reshape(len(places), *data.shape[len(places[0]) :] if places else ())
        wide = data.dtype.kind in "iu"
        for step in (1, -1):
            got, exact = data.copy(), data.astype(object) if wide else data.copy()
            with np.errstate(all="ignore"):
                for at, update in list(zip(places, updates, strict=True))[::step]:
                    got[at] = NATIVE[reduction](got[at], update)
                    if wide:
                        exact[at] = NATIVE[reduction](exact[at], update.astype(object))
            if wide:
                assert np.array_equal(exact, want.astype(object)), "no integer wraps around"
            plain = got.dtype if wide else np.complex128
            np.testing.assert_array_equal(got.astype(plain), want.astype(plain))
        seen.add((row.types["T"], reduction))
    numbers = {t for t in version.variables["T"] if t not in ("tensor(string)", "tensor(bool)")}
    assert seen == {(t, r) for t in numbers for r in NATIVE if "complex" not in t or r in ("add", "mul")}


def first_of_each_slice(data: Any, indices: Any, *, axis: int) -> Any:
    """What onnxruntime makes of strings."""
    found = np.take(data, indices.astype(int), axis)
    behind = math.prod(data.shape[axis % data.ndim + 1 :])
    return np.where(np.arange(found.size).reshape(found.shape) % max(behind, 1) == 0, found, 0)


def of_lines_in_a_row(data: Any, indices: Any, *, axis: int) -> Any:
    """Takes the lines of the indices for the first ones of the data."""
    lines = np.resize(data, sized(indices.shape, axis, data.shape[axis]))
    return np.take_along_axis(lines, indices.astype(int), axis)


def of_the_first_batch(data: Any, indices: Any, *, batch_dims: int) -> Any:
    return slices_gathered(
        np.broadcast_to(data[(slice(0, 1),) * batch_dims], data.shape), indices, batch_dims=batch_dims
    )


def reduced(combine: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Scatters elements with a function of the first value, the last and the update."""

    def mistaken(data: Any, indices: Any, updates: Any, *, axis: int, reduction: str) -> Any:
        found = data.copy()
        for place in np.ndindex(indices.shape):
            at = element(place, axis % data.ndim, indices[place])
            found[at] = updates[place] if reduction == "none" else combine(data[at], found[at], updates[place])
        return found

    return mistaken


def written(place: Callable[[int, int], int]) -> Callable[..., Any]:
    """Writes to another place than the index and the size of the axis give."""

    def mistaken(past_cache: Any, update: Any, write_indices: Any = None, *, mode: str, axis: int) -> Any:
        found = past_cache.copy()
        for at in np.ndindex(update.shape):
            first = 0 if write_indices is None else write_indices[at[0]]
            found[element(at, axis % update.ndim, place(first + at[axis], past_cache.shape[axis]))] = update[at]
        return found

    return mistaken


FAULTS: dict[str, tuple[str, int, str, str, Callable[..., Any]]] = {
    "indices from the front": (
        "Gather",
        13,
        "",
        "",
        lambda data, indices, *, axis: np.take(data, indices.astype(int).clip(0), axis),
    ),
    "first of each slice": ("Gather", 1, "", "", first_of_each_slice),
    "lines in a row": ("GatherElements", 13, "fewer_lines", "", of_lines_in_a_row),
    "first batch": ("GatherND", 13, "", "", of_the_first_batch),
    "last of several sums": ("ScatterElements", 18, "ordinary", "add", reduced(lambda first, _, new: first + new)),
    "first of several products": (
        "ScatterElements",
        16,
        "ordinary",
        "mul",
        reduced(lambda first, old, new: old * new if first == old else old),
    ),
    "sum through double": (
        "ScatterElements",
        18,
        "ordinary",
        "add",
        reduced(lambda _, old, new: int(float(old) + float(new))),
    ),
    "max through double": (
        "ScatterElements",
        18,
        "ordinary",
        "max",
        reduced(lambda _, old, new: int(max(float(old), float(new)))),
    ),
    "an index of 32 bits": ("TensorScatter", 24, "write_indices", "", written(lambda at, size: at % 2**32 % size)),
    "clamped": ("TensorScatter", 24, "ordinary", "", written(lambda at, size: min(at, size - 1))),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_inputs_tell_a_fault(fault: str):
    name, since, group, reduction, mistaken = FAULTS[fault]
    op, version = find(name, since), schema(name, since)
    assert op
    wrong = msgspec.structs.replace(op, oracle=mistaken)
    for row, inputs in scored(op, version):
        if row.types["T"] != f"tensor({'float16' if name == 'TensorScatter' else 'int64'})":
            continue
        if group in ("", row.group.name) and reduction in ("", row.attributes.get("reduction")):
            want, got = (
                np.asarray(answer(Call(each, version, row.types, inputs, row.attributes))[0].value)
                for each in (op, wrong)
            )
            if not np.array_equal(want, got):
                return
    pytest.fail(f"{fault} is told by no input.")
