"""What the document and its tests print, the delicate rules in numbers, and mistakes that the inputs must show."""

from typing import Any

import numpy as np
import pytest

from harness.operators.tensor import resize as oracle
from harness.operators.tensor.resize_inputs import FRACTIONAL, ONE_CORNER, ROUNDED, Row
from harness.oracles.draw import Draw
from harness.oracles.evaluate import Expected, answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample, find

SQUARE = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
ROWS = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
FLOAT = {"T1": "tensor(float)", "T2": "tensor(float)", "T": "tensor(float)"}


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


def call(op: str, since: int, inputs: Inputs, types: dict[str, str] | None = None, **attributes: Any) -> Call:
    one = operator(op, since)
    version = one.schemas[one.since.index(since)]
    plain = {a.name: OMITTED for a in version.attributes}
    return Call(one, version, FLOAT | (types or {}), inputs, plain | attributes)


def resized(x: Any, since: int = 19, **given: Any) -> Expected:
    dtypes = {"roi": np.float32, "scales": np.float32, "sizes": np.int64}
    inputs = {name: np.array(given.pop(name), dtype) for name, dtype in dtypes.items() if name in given}
    return expected(call("Resize", since, {"X": np.asarray(x)} | inputs, **given))[0]


def of(x: Any, since: int = 19, **given: Any) -> np.ndarray:
    """What Resize makes of a tensor."""
    return np.asarray(resized(x, since, **given).value)


def line(*x: float, since: int = 19, **given: Any) -> list[float]:
    return of(np.array(x, np.float32), since, **given).tolist()


def test_the_documents_tests_give_the_elements_that_they_print():
    assert line(1, 2, scales=[3]) == [1, 1, 1, 2, 2, 2]
    assert of(ROWS, scales=[0.6, 0.6]).tolist() == [[1, 3]]
    assert of(ROWS, sizes=[1, 3]).tolist() == [[1, 2, 4]]


PRINTED: list[tuple[list[float], dict[str, Any]]] = [
    ([1.47119141, 2.78125, 4.08251953], {"scales": [0.8, 0.8], "mode": "cubic"}),
    (
        [1.36812675, 2.6695014, 4.0133367],
        {"scales": [0.8, 0.8], "mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
    ),
    (
        [1, 2.39519159, 3.79038317],
        {"scales": [0.8, 0.8], "mode": "cubic", "coordinate_transformation_mode": "align_corners"},
    ),
    ([2.875, 4.5], {"scales": [0.6, 0.6], "mode": "linear", "antialias": 1}),
    ([2.5180721, 4.2858863], {"scales": [0.6, 0.6], "mode": "cubic", "antialias": 1}),
    ([1.7750092, 3.1200073, 4.4650054], {"sizes": [3, 3], "mode": "cubic", "antialias": 1}),
]


@pytest.mark.parametrize(("first", "given"), PRINTED)
def test_the_documents_tests_give_the_averages_that_they_print(first: list[float], given: dict[str, Any]):
    assert np.allclose(of(SQUARE, **given)[0], first, rtol=1e-6)


def test_a_fraction_of_a_width_is_kept_in_the_scale():
    given: dict[str, Any] = {"scales": [0.6], "mode": "linear"}
    assert np.allclose(line(1, 2, 3, 4, **given), [4 / 3, 3])
    symmetric = line(1, 2, 3, 4, coordinate_transformation_mode="half_pixel_symmetric", **given)
    assert np.allclose(symmetric, [1.6666667, 3.3333333])
    corners = line(1, 2, 3, 4, coordinate_transformation_mode="align_corners", **given)
    assert np.allclose(corners, [1, 3.142857])


def test_a_tie_goes_where_the_nearest_mode_says():
    asymmetric: dict[str, Any] = {
        "scales": [2],
        "coordinate_transformation_mode": "asymmetric",
    }  # 0, 0.5, 1, 1.5, 2, 2.5
    assert line(1, 2, 3, **asymmetric) == [1, 1, 2, 2, 3, 3]
    assert line(1, 2, 3, nearest_mode="round_prefer_ceil", **asymmetric) == [1, 2, 2, 3, 3, 3]
    assert line(1, 2, 3, nearest_mode="floor", **asymmetric) == [1, 1, 2, 2, 3, 3]
    assert line(1, 2, 3, nearest_mode="ceil", **asymmetric) == [1, 2, 2, 3, 3, 3]
    half: dict[str, Any] = {"sizes": [8], "coordinate_transformation_mode": "half_pixel", "nearest_mode": "ceil"}
    assert line(1, 2, 3, 4, **half) == [1, 2, 2, 3, 3, 4, 4, 4]
    corners: dict[str, Any] = {"sizes": [8], "coordinate_transformation_mode": "align_corners", "nearest_mode": "floor"}
    assert line(1, 2, 3, 4, **corners) == [1, 1, 1, 2, 2, 3, 3, 4]


def test_one_element_lies_where_the_formula_has_it():
    given: dict[str, Any] = {"scales": [0.25], "mode": "linear"}
    assert line(1, 2, 4, 8, coordinate_transformation_mode="half_pixel", **given) == [3]
    assert line(1, 2, 4, 8, coordinate_transformation_mode="pytorch_half_pixel", **given) == [1]
    cropped = line(1, 2, 4, 8, 16, roi=[0.5, 1], sizes=[1], coordinate_transformation_mode="tf_crop_and_resize")
    assert cropped == [8], "the middle of the region, of [2, 4]"
    nearest: dict[str, Any] = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "roi": [], "scales": [2]}
    assert line(1, 2, since=11, nearest_mode="ceil", **nearest) == [2, 2, 2, 2], "0.25, 0.75, 1.25, 1.75"
    assert line(1, 2, since=11, **nearest) == [1, 2, 2, 2]


def test_a_size_is_rounded_halfway_up_by_one_scale_for_all_axes():
    x = np.zeros((4, 6), np.float32)
    shapes = [of(x, sizes=[3, 5], keep_aspect_ratio_policy=policy) for policy in ("not_larger", "not_smaller")]
    assert [y.shape for y in shapes] == [(3, 5), (3, 5)], "4.5 and 3 1/3, of 3/4 and 5/6"
    assert of(x, sizes=[7, 9], keep_aspect_ratio_policy="not_smaller").shape == (7, 11), "10.5"
    assert of(x, sizes=[9], axes=[-1], keep_aspect_ratio_policy="not_larger").shape == (4, 9)
    assert np.array_equal(of(ROWS, sizes=[1, 3], keep_aspect_ratio_policy="not_larger"), [[1, 3]])
    assert np.array_equal(of(ROWS, sizes=[1, 3], keep_aspect_ratio_policy="not_smaller"), [[1, 2, 4], [5, 6, 8]])


def test_scales_are_in_the_order_of_the_axes():
    assert of(np.zeros((2, 3), np.float32), axes=[1, 0], scales=[2, 3]).shape == (6, 6)
    assert of(np.zeros((2, 3, 4), np.float32), axes=[-1, 0], scales=[2, 3]).shape == (6, 3, 8)
    assert of(np.zeros(6, np.float32), scales=[0.35]).shape == (2,), "the floor of 2.1"


def test_a_region_is_cropped_to_and_what_is_outside_extrapolated():
    crop: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 10.0}
    assert line(1, 2, 3, 4, 5, roi=[0, 1], sizes=[3], **crop) == [1, 3, 5], "the ends are inside"
    assert line(1, 2, 3, 4, 5, roi=[1, 0], sizes=[3], **crop) == [5, 3, 1]
    assert line(1, 2, 3, 4, 5, roi=[-0.25, 1.25], sizes=[4], **crop) == [10, 2, 4, 10]
    square = of(SQUARE, roi=[0.4, 0.6, 1.2, 1.7], sizes=[3, 3], mode="linear", **crop)
    assert np.allclose(square, [[7.6, 10, 10], [12.4, 10, 10], [10, 10, 10]])
    assert of(SQUARE, roi=[0, 0, 0.5, 1], scales=[2, 1], **crop).shape == (4, 4)
    elsewhere: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "scales": [2]}
    assert line(1, 2, roi=[0.5, 0.75], **elsewhere) == [1, 1, 2, 2]


def test_the_filter_is_stretched_where_lines_are_shortened_alone():
    given: dict[str, Any] = {"mode": "linear", "antialias": 1}
    assert line(0, 0, 8, 0, 0, 0, 0, 0, scales=[0.5], **given) == [1, 3, 0, 0], "weights of 1, 3, 3 and 1 eighths"
    assert line(8, 0, 0, 0, scales=[0.5], **given) == [4, 0], "weights of 3 eighths, and of 1 for the edge outside"
    excluded = line(8, 0, 0, 0, scales=[0.5], exclude_outside=1, **given)
    assert np.allclose(excluded, [8 * 3 / 7, 0], rtol=1e-6)
    assert line(0, 8, scales=[2], **given) == line(0, 8, scales=[2], mode="linear") == [0, 2, 6, 8]


@pytest.mark.parametrize(
    ("T1", "x"), [("int64", [2**63 - 1, -(2**63)]), ("string", ["a", ""]), ("bool", [True, False])]
)
def test_the_nearest_elements_are_moved_as_they_are(T1: str, x: list[Any]):
    values = np.array(x, object if T1 == "string" else None)
    found = resized(values, types={"T1": f"tensor({T1})"}, scales=[2])
    assert np.asarray(found.value).tolist() == [x[0], x[0], x[1], x[1]]
    assert found.bound is None


def test_upsample_repeats_elements():
    x = np.array([[[[1, 2], [3, 4]]]], np.float32)
    gives = [[1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4], [3, 3, 3, 4, 4, 4]]
    for one in (
        call("Upsample", 9, {"X": x, "scales": np.array([1, 1, 2, 3], np.float32)}),
        call("Upsample", 7, {"X": x}, scales=[1.0, 1.0, 2.0, 3.0]),
        call("Upsample", 1, {"X": x}, height_scale=2.0, width_scale=3.0),
        call("Resize", 10, {"X": x, "scales": np.array([1, 1, 2, 3], np.float32)}),
    ):
        assert np.asarray(expected(one)[0].value)[0, 0].tolist() == gives
    floor = call("Upsample", 1, {"X": x}, height_scale=1.4, width_scale=1.9, mode="bilinear")
    assert np.asarray(expected(floor)[0].value).shape == (1, 1, 2, 3)


def row(**attributes: Any) -> Row:
    return Row(Draw("a row", FLOAT, attributes), required=False)


def reason(found: list[Sample]) -> str:
    (one,) = found
    return one.unspecified


def test_what_a_float_decides_is_not_asked():
    assert not list(row(nearest_mode="floor").by_scales((6,), {0: 0.6})), "1.5 / 0.6 - 0.5 is 2, or a little less"
    assert reason(list(row().by_scales((6,), {0: 0.6}))) == ""
    assert not list(row().by_scales((10,), {0: 0.7})), "10 times 0.7 is 7, or a little less"
    assert reason(list(row(nearest_mode="floor").by_scales((5,), {0: 2}))) == ""


def test_what_the_text_leaves_open_is_unspecified():
    corners = {"coordinate_transformation_mode": "align_corners"}
    assert reason(list(row(**corners).by_scales((4,), {0: 0.6}))) == FRACTIONAL
    assert reason(list(row(**corners).by_scales((4,), {0: 0.6}, alike=True))) == ""
    assert reason(list(row(**corners).to_sizes((4,), {0: 1}))) == ONE_CORNER
    larger = row(mode="linear", keep_aspect_ratio_policy="not_larger")
    assert reason(list(larger.to_sizes((4, 6), {0: 3, 1: 5}))) == ROUNDED
    assert reason(list(larger.to_sizes((4, 6), {0: 2, 1: 5}))) == ""


def answers(**attributes: Any) -> list[Any]:
    """What the ordinary sets of a row give."""
    plain = call("Resize", 19, {}, **attributes)
    sets: Any = operator("Resize", 19).groups[0].generate(Draw("mistakes", FLOAT, plain.attributes))
    return [np.asarray(answer(call("Resize", 19, one.inputs, **attributes))[0].value) for one in sets]


@pytest.mark.parametrize("nearest_mode", list(oracle.NEAREST))
def test_the_ordinary_sets_tell_the_nearest_modes_apart(nearest_mode: str, monkeypatch: pytest.MonkeyPatch):
    given = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": nearest_mode}
    right = answers(**given)
    for other in oracle.NEAREST.keys() - {nearest_mode}:
        wrong = answers(**given | {"nearest_mode": other})
        assert any(not np.array_equal(a, b) for a, b in zip(right, wrong, strict=False))
    monkeypatch.setitem(oracle.NEAREST, nearest_mode, np.rint)
    assert any(not np.array_equal(a, b) for a, b in zip(right, answers(**given), strict=False)), "ties to even"


def test_the_ordinary_sets_show_a_filter_that_is_not_stretched():
    given: dict[str, Any] = {"mode": "cubic", "antialias": 1}
    pairs = zip(answers(**given), answers(**given | {"antialias": 0}), strict=True)
    assert any(not np.allclose(a, b, rtol=1e-2) for a, b in pairs)
