"""NonMaxSuppression and RoiAlign: values that follow from the documents by hand, and decisions that never round."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.operators.object_detection.non_max_suppression import non_max_suppression
from harness.operators.object_detection.roi_align import SIZES, Row, roi_align
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Sample, find
from harness.spec.schema import schema

UNIT = [0, 0, 2, 2]
SHIFTED = [0, 1, 2, 3]
"""A third of the union with UNIT is common to both: 2 of 6."""
FAR = [10, 10, 12, 12]


def suppress(
    boxes: Sequence[Sequence[float]],
    scores: Sequence[float],
    most: int | None = 9,
    iou: float | None = None,
    score: float | None = None,
    center_point_box: Any = OMITTED,
) -> list[int]:
    """The selected boxes of one batch and class."""
    version, found = schema("NonMaxSuppression", 11), find("NonMaxSuppression", 11)
    assert found
    inputs: dict[str, Any] = {"boxes": np.array([boxes], np.float32), "scores": np.array([[scores]], np.float32)}
    if most is not None:
        inputs["max_output_boxes_per_class"] = np.array(most)
    for name, value in (("iou_threshold", iou), ("score_threshold", score)):
        if value is not None:
            inputs[name] = np.array(value, np.float32)
    (one,) = answer(Call(found, version, {}, inputs, {"center_point_box": center_point_box}))
    assert isinstance(one.value, np.ndarray)
    assert (one.value.shape[1], one.value[:, :2].any()) == (3, False)
    return one.value[:, 2].tolist()


def test_the_best_come_first_and_the_others_are_suppressed_by_them():
    assert suppress([UNIT, SHIFTED, FAR], [0.5, 0.75, 1]) == [2, 1], "by default no overlap is allowed"
    assert suppress([UNIT, SHIFTED, FAR], [0.5, 0.75, 1], iou=0.5) == [2, 1, 0]
    assert suppress([UNIT, SHIFTED, FAR], [0.5, 0.75, 1], most=2, iou=0.5) == [2, 1]
    assert suppress([UNIT, UNIT, UNIT], [0.5, 0.75, 1], iou=1) == [2, 1, 0], "none overlaps by more than all of it"


def test_a_suppressed_box_suppresses_none():
    assert suppress([[0, 0, 1, 4], [0, 1, 1, 5], [0, 2, 1, 6]], [3, 2, 1], iou=0.5) == [0, 2]


def test_no_number_of_boxes_means_no_output():
    assert suppress([UNIT, FAR], [1, 2], most=None) == []
    assert suppress([UNIT, FAR], [1, 2], most=0) == []


def test_scores_equal_to_the_threshold_stay():
    assert suppress([UNIT, FAR, [20, 20, 22, 22]], [0.5, 0.25, 0.125], score=0.25) == [0, 1]
    assert suppress([UNIT, FAR], [-1, -2]) == [0, 1], "without a threshold none is removed"


def test_overlaps_equal_to_the_threshold_stay():
    assert suppress([UNIT, [0, 0, 2, 1]], [1, 0.5], iou=0.5) == [0, 1]
    assert suppress([UNIT, [0, 0, 2, 1]], [1, 0.5], iou=0.4375) == [0]


def test_any_diagonal_of_a_box_gives_it():
    for turned in ([2, 3, 0, 1], [0, 3, 2, 1], [2, 1, 0, 3]):
        assert suppress([UNIT, turned], [1, 0.5], iou=0.375) == [0, 1]
        assert suppress([UNIT, turned], [1, 0.5], iou=0.25) == [0]


def test_a_box_may_be_given_by_its_center_width_and_height():
    """[x_center, y_center, width, height]: two boxes of width 4 and height 2 whose centers are 3 apart along x."""
    boxes = [[2, 1, 4, 2], [5, 1, 4, 2]]
    assert suppress(boxes, [1, 0.5], iou=0.125, center_point_box=1) == [0]
    assert suppress(boxes, [1, 0.5], iou=0.25, center_point_box=1) == [0, 1]
    tall = [[1, 2, 2, 4], [1, 5, 2, 4], [4, 2, 4, 2]]
    assert suppress(tall, [3, 2, 1], center_point_box=1) == [0, 2], "width is along x"


def test_no_scored_decision_hangs_on_the_rounding_of_float():
    checked = 0
    for value in (0, 1):
        for group in non_max_suppression.groups:
            for inputs in group.generate(Draw("test", {}, {"center_point_box": value})):
                drawn = inputs if isinstance(inputs, Sample) else Sample(inputs)
                if not (drawn.unspecified or group.unspecified):
                    wide = {n: v.astype(np.float64) if v.dtype == np.float32 else v for n, v in drawn.inputs.items()}
                    narrow = non_max_suppression.oracle(**drawn.inputs, center_point_box=value)
                    assert np.array_equal(narrow, non_max_suppression.oracle(**wide, center_point_box=value))
                    checked += len(narrow) > 0
    assert checked > 50


def align(x: np.ndarray, roi: Sequence[float], since: int = 22, **attributes: Any) -> np.ndarray:
    """The bins of one region of a plane."""
    version, found = schema("RoiAlign", since), find("RoiAlign", since)
    assert found
    inputs = {
        "X": x.reshape(1, 1, *x.shape).astype(np.float64),
        "rois": np.array([roi], np.float64),
        "batch_indices": np.array([0]),
    }
    stated = dict.fromkeys((a.name for a in version.attributes), OMITTED) | attributes
    (one,) = answer(Call(found, version, {"T1": "tensor(double)", "T2": "tensor(int64)"}, inputs, stated))
    return np.asarray(one.value)[0, 0]


SLOPE = np.arange(8)[:, np.newaxis] * 10.0 + np.arange(6)
"""Each value is 10 y + x, whose interpolation is exact everywhere."""


def test_half_a_pixel_is_taken_from_regions_since_version_16():
    """The middle of the region from (1, 2) to (4, 4) is (2.5, 3), half a pixel less with the shift."""
    for since, mode, shift in (
        (10, None, 0),
        (16, OMITTED, 5.5),
        (22, "half_pixel", 5.5),
        (22, "output_half_pixel", 0),
    ):
        attributes = {} if mode is None else {"coordinate_transformation_mode": mode}
        assert align(SLOPE, [1, 2, 4, 4], since, **attributes).tolist() == [[32.5 - shift]]


def test_points_are_the_middles_of_equal_parts_of_bins():
    bins = align(SLOPE, [0.5, 0.5, 4.5, 6.5], output_height=3, output_width=2, sampling_ratio=1)
    assert bins.tolist() == [[11, 13], [31, 33], [51, 53]]
    best = align(SLOPE, [0.5, 0.5, 4.5, 6.5], output_height=3, output_width=2, sampling_ratio=2, mode="max")
    assert best.tolist() == [[16.5, 18.5], [36.5, 38.5], [56.5, 58.5]]


def test_the_number_of_points_follows_from_the_size_of_bins():
    """1.5 by 2 pixels a bin: 2 by 2 points, the last of which is 3/4 of the way through it."""
    assert align(SLOPE, [0.5, 0.5, 3.5, 2.5], output_width=2, mode="max").tolist() == [[16.125, 17.625]]
    assert align(SLOPE, [1, 1, 2, 9], spatial_scale=0.5, mode="max").tolist() == [
        [pytest.approx(10 * (4 * 7 / 8) + 0.25)]
    ]


def test_the_greatest_is_one_of_interpolated_values():
    """In the middle of four pixels is their mean, not the greatest of their quarters."""
    x = np.array([[1, 3.0, 0], [5, 7, 0], [0, 0, 0]])
    assert align(x, [0.5, 0.5, 1.5, 1.5], sampling_ratio=1, mode="max").tolist() == [[4]]


def test_every_scored_location_is_between_the_centers_of_pixels():
    """Else clamped and unclamped answers would differ; the groups reach to the outermost centers and no further."""
    for mode in ("half_pixel", "output_half_pixel"):
        for ratio in (0, 1, 3):
            attributes = {
                "coordinate_transformation_mode": mode,
                "mode": "avg",
                "output_height": 3,
                "output_width": 4,
                "sampling_ratio": ratio,
                "spatial_scale": 0.5,
            }
            draw = Draw("test", {"T1": "tensor(double)", "T2": "tensor(int64)"}, attributes)
            shift = 0.5 * Row(draw).shifted
            for group in roi_align.groups:
                for inputs in group.generate(draw):
                    drawn = inputs if isinstance(inputs, Sample) else Sample(inputs)
                    if not (drawn.unspecified or group.unspecified):
                        corners = drawn.inputs["rois"] * 0.5 - shift
                        bins = (corners[:, 2:] - corners[:, :2]) / [4, 3]
                        step = bins / (2 * (ratio or np.maximum(np.ceil(bins), 1)))
                        assert np.all(corners[:, :2] + step >= 0)
                        assert np.all(corners[:, 2:] - step <= [SIZES[1] - 1, SIZES[0] - 1])
