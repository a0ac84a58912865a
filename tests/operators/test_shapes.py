"""Reshape, Squeeze, Unsqueeze, Transpose, Shape and Size: literal values of their documents, and mistakes caught."""

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from harness.operators.tensor.transpose import EVERY
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, attributes_of
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample, find
from harness.spec.element_types import element_type
from harness.suite.planning import Row, plan
from harness.suite.strength import Strength

FIRST, LAST = -(2**63), 2**63 - 1


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


def of(op: str, since: int, *inputs: Any, **attributes: Any) -> np.ndarray:
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    arrays = {p.name: np.asarray(value) for p, value in zip(version.inputs, inputs, strict=False)}
    types = {"T": f"tensor({element_type(np.asarray(inputs[0]).dtype).name})", "T1": "tensor(int64)"}
    found = answer(Call(one, version, types, arrays, attributes), exact=True)[0].value
    assert isinstance(found, np.ndarray)
    return found


def drawn(op: str, since: int, strength: Strength) -> Iterator[tuple[Row, Inputs]]:
    """The data sets that a version's plan holds."""
    one = operator(op, since)
    for row in plan(one, one.schemas[one.since.index(since)], strength).rows:
        for inputs in row.group.generate(Draw("seed", row.types, row.attributes)):
            yield row, inputs.inputs if isinstance(inputs, Sample) else inputs


def attributes(op: str, since: int, row: Row) -> dict[str, Any]:
    one = operator(op, since)
    return attributes_of(Call(one, one.schemas[one.since.index(since)], row.types, {}, row.attributes))


COUNTED = np.arange(24, dtype=np.float32)


@pytest.mark.parametrize("since", [25, 24, 14, 13, 5])
@pytest.mark.parametrize(
    ("shape", "to", "gives"),
    [
        ((2, 3, 4), [4, -1], (4, 6)),
        ((2, 3, 4), [0, -1], (2, 12)),
        ((2, 3, 4), [-1, 0, 2], (4, 3, 2)),
        ((2, 3, 4), [1, 0, 4, 2], (1, 3, 4, 2)),
        ((1, 1), [], ()),
        ((), [1, -1], (1, 1)),
        ((0, 3), [3, -1], (3, 0)),
        ((2, 0, 4), [5, 0, 1], (5, 0, 1)),
    ],
)
def test_reshape_copies_zeros_and_infers_what_is_left(
    since: int, shape: tuple[int, ...], to: list[int], gives: tuple[int, ...]
):
    data = np.resize(COUNTED, shape)
    found = of("Reshape", since, data, np.array(to, np.int64))
    assert found.shape == gives
    assert found.ravel().tolist() == data.ravel().tolist(), "elements stay in their order"


def test_reshape_1_has_its_shape_as_an_attribute():
    data = np.resize(COUNTED, (2, 3, 4))
    assert of("Reshape", 1, data, shape=[0, 0, -1, 1]).shape == (2, 3, 4, 1)
    assert of("Reshape", 1, data[:1, :1, 0], shape=[], consumed_inputs=[0]).shape == ()


@pytest.mark.parametrize("since", [25, 24, 23, 21, 19, 14])
def test_reshape_takes_zeros_as_they_are_with_allowzero(since: int):
    data = np.zeros((2, 0, 4), np.float32)
    assert of("Reshape", since, data, [3, 0], allowzero=1).shape == (3, 0)
    assert of("Reshape", since, data, [0, 5], allowzero=1).shape == (0, 5)
    assert of("Reshape", since, data, [0, 0], allowzero=0).shape == (2, 0)


def caught(op: str, since: int, strength: Strength, mistaken: Callable[..., Any]) -> set[str]:
    """The groups in which a mistaken oracle does not give the expected shape and values; by name."""
    found: set[str] = set()
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    for row, inputs in drawn(op, since, strength):
        right = np.asarray(answer(Call(one, version, row.types, inputs, row.attributes))[0].value)
        try:
            wrong = np.asarray(mistaken(*inputs.values(), **attributes(op, since, row)))
        except (ValueError, IndexError):
            found.add(row.group.name)
            continue
        if wrong.shape != right.shape or [str(v) for v in wrong.ravel()] != [str(v) for v in right.ravel()]:
            found.add(row.group.name)
    return found


def copies_always(data: np.ndarray, shape: np.ndarray, **_: Any) -> np.ndarray:
    return data.reshape([data.shape[axis] if size == 0 else size for axis, size in enumerate(shape)])


def copies_never(data: np.ndarray, shape: np.ndarray, **_: Any) -> np.ndarray:
    return data.reshape(shape)


@pytest.mark.parametrize("since", [25, 24, 23, 21, 19, 14])
def test_every_version_of_reshape_tells_what_allowzero_means(since: int):
    strength: Strength = "pairs" if since == 25 else "each"
    assert "ordinary" in caught("Reshape", since, strength, copies_always)
    assert caught("Reshape", since, strength, copies_never)
    if since == 25:
        assert "real_zeros" in caught("Reshape", since, strength, copies_always)
        assert {"copied_sizes", "no_elements"} <= caught("Reshape", since, strength, copies_never)


@pytest.mark.parametrize("since", [25, 13])
@pytest.mark.parametrize(
    ("shape", "axes", "gives"),
    [
        ((1, 3, 1, 5), None, (3, 5)),
        ((1, 3, 1, 5), [2], (1, 3, 5)),
        ((1, 3, 1, 5), [-2, 0], (3, 5)),
        ((1, 1), None, ()),
        ((1, 1), [1, 0], ()),
        ((), None, ()),
        ((1, 0, 3), [0], (0, 3)),
    ],
)
def test_squeeze_removes_what_is_listed_or_all(
    since: int, shape: tuple[int, ...], axes: list[int] | None, gives: tuple[int, ...]
):
    data = np.resize(COUNTED, shape)
    found = of("Squeeze", since, data, *([] if axes is None else [np.array(axes)]))
    assert (found.shape, found.ravel().tolist()) == (gives, data.ravel().tolist())
    assert of("Squeeze", 11, data, axes=OMITTED if axes is None else axes).shape == gives


@pytest.mark.parametrize("since", [25, 13])
def test_unsqueeze_counts_axes_in_the_output(since: int):
    data = np.resize(COUNTED, (3, 4, 5))
    for axes in ([0, 4], [4, 0], [-1, 0], [0, -1]):
        assert of("Unsqueeze", since, data, np.array(axes)).shape == (1, 3, 4, 5, 1), "the document's example"
        assert of("Unsqueeze", 11, data, axes=axes).shape == (1, 3, 4, 5, 1)
    assert of("Unsqueeze", 1, data, axes=[0, 4]).shape == (1, 3, 4, 5, 1)
    assert of("Unsqueeze", since, data, np.array([1, -2])).shape == (3, 1, 4, 1, 5)
    assert of("Unsqueeze", since, np.float32(7), np.array([-1, 0])).tolist() == [[7]]
    assert of("Unsqueeze", since, data, np.zeros(0, np.int64)).shape == (3, 4, 5)


def one_by_one(data: np.ndarray, axes: Any) -> np.ndarray:
    for axis in axes:
        data = np.expand_dims(data, int(axis))
    return data


def test_axes_in_no_order_catch_their_insertion_one_by_one():
    for since in (25, 11, 1):
        assert caught("Unsqueeze", since, "pairs" if since == 25 else "each", one_by_one)


def test_transpose_is_as_its_document_says():
    data = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    assert of("Transpose", 25, data, perm=[1, 0, 2]).shape == (2, 1, 3)
    turned = of("Transpose", 1, data, perm=[1, 2, 0])
    assert turned.shape == (2, 3, 1)
    assert turned[1, 0, 0] == data[0, 1, 0]
    assert of("Transpose", 13, data, perm=OMITTED).tolist() == [[[0], [3]], [[1], [4]], [[2], [5]]]
    for scalar_or_line in (np.float32(3), np.arange(3, dtype=ml_dtypes.int4)):
        assert of("Transpose", 25, scalar_or_line, perm=OMITTED).tolist() == scalar_or_line.tolist()


def inverted(data: np.ndarray, *, perm: list[int] | None) -> np.ndarray:
    return data.transpose(None if perm is None else np.argsort(perm))


def test_every_type_tells_an_order_from_its_inverse_and_every_order_is_there():
    rows = [row for row, _ in drawn("Transpose", 25, "pairs") if row.group.name == "ordinary"]
    told = {row.types["T"] for row in rows if row.attributes["perm"] == [2, 0, 1]}
    assert told == set(operator("Transpose", 25).schemas[0].variables["T"])
    assert {tuple(row.attributes["perm"]) for row in rows if row.attributes["perm"] is not OMITTED} >= set(
        map(tuple, EVERY)
    )
    assert len(EVERY) == 1 + 1 + 2 + 6 + 24
    for since in (25, 24, 1):
        assert "ordinary" in caught("Transpose", since, "pairs" if since == 25 else "each", inverted)


@pytest.mark.parametrize("since", [25, 24, 23, 21, 19, 15])
@pytest.mark.parametrize(
    ("start", "end", "gives"),
    [
        (OMITTED, OMITTED, [2, 3, 4]),
        (-1, OMITTED, [4]),
        (OMITTED, -1, [2, 3]),
        (1, 2, [3]),
        (-10, OMITTED, [2, 3, 4]),
        (OMITTED, 10, [2, 3, 4]),
        (OMITTED, -4, []),
        (3, OMITTED, []),
        (2, 1, []),
        (10, -10, []),
        (FIRST, LAST, [2, 3, 4]),
        (LAST, OMITTED, []),
    ],
)
def test_shape_slices_with_clamped_ends(since: int, start: Any, end: Any, gives: list[int]):
    found = of("Shape", since, np.zeros((2, 3, 4), np.float32), start=start, end=end)
    assert (found.dtype, found.shape, found.tolist()) == (np.int64, (len(gives),), gives)


def unclamped(data: np.ndarray, *, start: int, end: int | None) -> list[int]:
    rank = data.ndim
    return list(data.shape[start : rank if end is None else end + rank if end < 0 else end])


def test_shape_catches_an_end_that_is_not_clamped():
    assert "ordinary" in caught("Shape", 25, "pairs", unclamped)


def test_shape_and_size_of_scalars_and_of_nothing():
    for since in (25, 13, 1):
        assert of("Shape", since, np.float32(2)).shape == (0,)
        assert of("Shape", since, np.zeros((2, 0, 3))).tolist() == [2, 0, 3]
        for data, size in ((np.float32(2), 1), (np.zeros((2, 0, 3)), 0), (np.zeros((2, 3)), 6)):
            found = of("Size", since, data)
            assert (found.dtype, found.shape, found.item()) == (np.int64, (), size)


def test_strings_and_narrow_types_are_moved_as_they_are():
    words = np.array([["a", "", "日本語"], ["ß", "e\u0301", "\t"]], object)
    assert of("Reshape", 25, words, [3, -1]).tolist() == [["a", ""], ["日本語", "ß"], ["e\u0301", "\t"]]
    assert of("Transpose", 25, words, perm=[1, 0]).tolist() == [["a", "ß"], ["", "e\u0301"], ["日本語", "\t"]]
    large = np.array([[LAST, FIRST, 2**53 + 1]])
    assert of("Squeeze", 25, large).tolist() == [LAST, FIRST, 2**53 + 1]
    nan = np.array([np.nan, -0.0, np.inf], ml_dtypes.float8_e5m2)
    moved = of("Unsqueeze", 25, nan, np.array([0]))
    assert moved.dtype == nan.dtype
    assert moved.tobytes()[1:] == nan.tobytes()[1:]
    assert np.isnan(moved[0, 0])
