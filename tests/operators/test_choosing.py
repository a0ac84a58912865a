"""OneHot, Where and Compress: literal values that follow from their documents, and mistakes that their groups catch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, Sample, find
from harness.spec.element_types import element_type
from harness.suite.planning import Row, plan

OFF, ON = 2, 5


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


def of(op: str, since: int, *inputs: Any, **attributes: Any) -> np.ndarray:
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    arrays = {p.name: np.asarray(value) for p, value in zip(version.inputs, inputs, strict=True)}
    types = {p.type_str: f"tensor({element_type(arrays[p.name].dtype).name})" for p in version.inputs}
    found = answer(Call(one, version, types, arrays, attributes), exact=True)[0].value
    assert isinstance(found, np.ndarray)
    return found


def drawn(op: str, since: int, group: str) -> Iterator[tuple[Row, Sample]]:
    """The data sets of a group that count."""
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    for row in plan(one, version).rows:
        if row.group.name == group:
            for inputs in row.group.generate(Draw("seed", row.types, row.attributes)):
                found = inputs if isinstance(inputs, Sample) else Sample(inputs)
                if not (found.unspecified or row.group.unspecified):
                    yield row, found


@pytest.mark.parametrize("since", [28, 11])
def test_one_hot_counts_negative_indices_from_the_end_since_version_11(since: int):
    found = of("OneHot", since, [0, -1, -3, 3, -4], 3, [OFF, ON], axis=OMITTED)
    assert found.tolist() == [[5, 2, 2], [2, 2, 5], [5, 2, 2], [2, 2, 2], [2, 2, 2]]


def test_one_hot_is_off_outside_the_range_in_version_9():
    assert of("OneHot", 9, [2, 3, 0], 3, [OFF, ON], axis=-1).tolist() == [[2, 2, 5], [2, 2, 2], [5, 2, 2]]


@pytest.mark.parametrize("since", [28, 11, 9])
@pytest.mark.parametrize(("axis", "shape"), [(0, (4, 2, 3)), (1, (2, 4, 3)), (2, (2, 3, 4)), (-1, (2, 3, 4))])
def test_one_hot_puts_its_axis_where_it_is_asked_to(since: int, axis: int, shape: tuple[int, ...]):
    indices = np.array([[0, 1, 2], [3, 0, 1]])
    found = of("OneHot", since, indices, np.array([4]), [OFF, ON], axis=axis)
    assert found.shape == shape
    marked = np.argwhere(np.moveaxis(found, axis, 0) == ON)
    assert sorted(map(tuple, marked.tolist())) == sorted((int(indices[i, j]), i, j) for i in range(2) for j in range(3))


def test_one_hot_takes_any_values_and_wide_indices():
    assert of("OneHot", 28, [1], 2, np.array(["off", ""], object), axis=OMITTED).tolist() == [["off", ""]]
    huge = np.array([2**64 - 1, 2**63, 2**32 + 1, 1], np.uint64)
    assert of("OneHot", 28, huge, np.float32(2), [False, True], axis=0).tolist() == [
        [False, False, False, False],
        [False, False, False, True],
    ]
    narrow = of("OneHot", 11, np.array([-128, -1], np.int8), 200, [OFF, ON], axis=OMITTED)
    assert np.argwhere(narrow == ON).tolist() == [[0, 72], [1, 199]]
    assert of("OneHot", 28, np.zeros((0, 2), np.int64), 3, [OFF, ON], axis=1).shape == (0, 3, 2)


def test_indices_far_outside_catch_what_brings_them_in():
    """An index modulo depth, one cut to 32 bits, and an unsigned one that is taken for a signed one."""
    modulo, cut, signed = set[str](), set[str](), set[str]()
    for row, inputs in drawn("OneHot", 28, "out_of_range"):
        of_type = row.types["T1"]
        indices = [int(index) for index in np.asarray(inputs.inputs["indices"]).ravel().tolist()]
        assert not any(-5 <= index < 5 for index in indices)
        modulo.add(of_type)
        if any(-5 <= (index + 2**31) % 2**32 - 2**31 < 5 for index in indices):
            cut.add(of_type)
        bits = element_type(np.asarray(inputs.inputs["indices"]).dtype).bits
        if of_type.startswith("tensor(uint") and any(index - 2**bits >= -5 for index in indices):
            signed.add(of_type)
    assert modulo == set(operator("OneHot", 28).schemas[0].variables["T1"])
    assert cut >= {f"tensor({of})" for of in ("int64", "uint64", "float", "double")}
    assert signed == {f"tensor(uint{bits})" for bits in (8, 16, 32, 64)}


def test_what_the_text_leaves_open_is_not_scored():
    one = operator("OneHot", 9)
    for group in one.groups:
        for inputs in group.generate(
            Draw("seed", {"T1": "tensor(int8)", "T2": "tensor(int64)", "T3": "tensor(float)"}, {"axis": OMITTED})
        ):
            found = inputs if isinstance(inputs, Sample) else Sample(inputs)
            assert found.unspecified or not (np.asarray(found.inputs["indices"]) < 0).any()
            assert found.unspecified or np.asarray(found.inputs["depth"]).item() > 0


def test_where_broadcasts_all_three():
    found = of("Where", 16, [[True], [False]], np.array([1, 2, 3], np.float32), np.float32(9))
    assert found.tolist() == [[1, 2, 3], [9, 9, 9]]
    assert of("Where", 9, True, np.array("x", object), np.array(["y", ""], object)).tolist() == ["x", "x"]
    assert of("Where", 16, np.zeros((0, 1), bool), np.zeros((1, 3), np.int64), np.int64(1)).shape == (0, 3)


def test_special_values_catch_a_choice_made_by_arithmetic():
    wrong = 0
    for _, inputs in drawn("Where", 16, "special_values"):
        condition, x, y = (np.asarray(value) for value in inputs.inputs.values())
        if x.dtype.kind == "f":
            with np.errstate(all="ignore"):
                wrong += not np.array_equal(x * condition + y * ~condition, np.where(condition, x, y), equal_nan=True)
    assert wrong == 3, "of float16, float and double"


MATRIX = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize("since", [28, 11, 9])
def test_compress_selects_slices_or_elements(since: int):
    assert of("Compress", since, MATRIX, [False, True, True], axis=0).tolist() == [[3, 4], [5, 6]]
    assert of("Compress", since, MATRIX, [False, True], axis=1).tolist() == [[2], [4], [6]]
    assert of("Compress", since, MATRIX, [False, True, False, False, True], axis=OMITTED).tolist() == [2, 5]
    assert of("Compress", since, MATRIX, [False, True], axis=0).tolist() == [[3, 4]], "the rest is discarded"
    assert of("Compress", since, MATRIX, [False, False], axis=1).shape == (3, 0)
    assert of("Compress", since, MATRIX, np.zeros(0, bool), axis=OMITTED).shape == (0,)


def test_compress_counts_axes_from_the_back_since_version_11():
    for since in (28, 11):
        assert of("Compress", since, MATRIX, [False, True], axis=-1).tolist() == [[2], [4], [6]]
        assert of("Compress", since, MATRIX, [False, True], axis=-2).tolist() == [[3, 4]]
    assert -1 not in operator("Compress", 9).attributes["axis"]


def test_compress_of_strings():
    words = np.array(["a", "", "ß"], object)
    assert of("Compress", 28, words, [True, False, True], axis=OMITTED).tolist() == ["a", "ß"]
