"""NonMaxSuppression: the boxes of each class, best first, without those that overlap a better one too much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, Inputs, Sample, operator

TIES = "NonMaxSuppression-11 does not say which of two boxes with equal scores is selected first."
NO_AREA = "NonMaxSuppression-11 does not say what the intersection over union of boxes without area is."
NAN = "NonMaxSuppression-11 does not say how a score that is NaN compares with others."
BATCHES, CLASSES, BOXES = 2, 3, 7


@operator("NonMaxSuppression", since=(11, 10), exact=True, center_point_box=FLAG)
def non_max_suppression(
    boxes: np.ndarray,
    scores: np.ndarray,
    max_output_boxes_per_class: np.ndarray | None = None,
    iou_threshold: np.ndarray | None = None,
    score_threshold: np.ndarray | None = None,
    *,
    center_point_box: int,
) -> np.ndarray:
    """The selected [batch, class, box], for each batch and class apart.

    "Bounding boxes with score less than score_threshold are removed"; boxes are suppressed "if their IOU with a
    previously selected box is strictly greater than iou_threshold". That they come by batch, class and descending
    score is in no text, but in all of the official data.
    """
    most = 0 if max_output_boxes_per_class is None else max_output_boxes_per_class.item()
    overlap = 0 if iou_threshold is None else iou_threshold.item()
    selected: list[tuple[int, int, int]] = []
    for batch, kind in np.ndindex(scores.shape[:2]):
        corners = _corners(boxes[batch], center_point_box)
        found: list[int] = []
        for box in np.argsort(-scores[batch, kind], kind="stable"):
            removed = score_threshold is not None and scores[batch, kind, box] < score_threshold
            if not removed and len(found) < most and all(_iou(corners[box], corners[i]) <= overlap for i in found):
                found.append(box)
        selected += [(batch, kind, box) for box in found]
    return np.array(selected, np.int64).reshape(-1, 3)


def _corners(boxes: np.ndarray, center_point_box: int) -> np.ndarray:
    """The least and the greatest corner of each box, [boxes, 2, 2], from "any diagonal pair" or center and size."""
    first, second = boxes[:, :2], boxes[:, 2:]
    pair = (first - second / 2, first + second / 2) if center_point_box else (first, second)
    return np.sort(np.stack(pair, axis=1), axis=1)


def _iou(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union; 0 where both are without area, of which the text says nothing."""
    common = np.maximum(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0).prod()
    union = (a[1] - a[0]).prod() + (b[1] - b[0]).prod() - common
    return common / union if union else 0.0


def _float(values: Any) -> np.ndarray:
    return np.asarray(values, np.float32)


def _scores(draw: Draw, *shape: int) -> np.ndarray:
    """Distinct multiples of 1/64 from 1/64 on, each a score of one box."""
    return _float((np.argsort(draw.words(int(np.prod(shape)))).reshape(shape) + 1) / 64)


def _grid(draw: Draw, batches: int, boxes: int) -> np.ndarray:
    """Boxes [y1, x1, y2, x2] with whole even corners, most of which overlap others: [batches, boxes, 4]."""
    low = np.array([[[2 * draw.integer(0, 4), 2 * draw.integer(0, 3)] for _ in range(boxes)] for _ in range(batches)])
    size = np.array([[[2 * draw.integer(2, 4), 2 * draw.integer(3, 6)] for _ in range(boxes)] for _ in range(batches)])
    return _float(np.concatenate([low, low + size], axis=-1))


def _stated(draw: Draw, corners: np.ndarray) -> np.ndarray:
    """The boxes in the format of the row: corners as they are, or [x_center, y_center, width, height]."""
    if draw.attributes["center_point_box"] != 1:
        return corners
    y1, x1, y2, x2 = np.moveaxis(corners, -1, 0)
    return np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1], axis=-1)


def _asked(draw: Draw, corners: np.ndarray, scores: np.ndarray, most: int = 5, iou: float = 0.4375) -> dict[str, Any]:
    """Inputs of which all but the threshold of scores are there; a threshold of 7/16 meets no rounding."""
    return {
        "boxes": _stated(draw, corners),
        "scores": scores,
        "max_output_boxes_per_class": np.array(most),
        "iou_threshold": _float(iou),
    }


@non_max_suppression.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Boxes of which some are suppressed and some removed, in several batches and classes."""
    for most in (3, 5):
        given = _asked(draw, _grid(draw, BATCHES, BOXES), _scores(draw, BATCHES, CLASSES, BOXES), most)
        yield given | {"score_threshold": _float(0.1875 - 1 / 128)}


@non_max_suppression.inputs()
def equal_to_the_score_threshold(draw: Draw) -> Iterator[Inputs]:
    """A box whose score is the threshold, which is not "less than score_threshold", beside the next scores."""
    corners = _grid(draw, BATCHES, BOXES) + _float(np.arange(BOXES)[:, np.newaxis] * 64)
    scores = _scores(draw, BATCHES, CLASSES, BOXES)
    for threshold in (scores[0, 1, 4], scores[1, 2, 0], np.nextafter(scores[0, 0, 3], _float(1))):
        yield _asked(draw, corners, scores, BOXES) | {"score_threshold": _float(threshold)}


@non_max_suppression.inputs()
def equal_to_the_iou_threshold(draw: Draw) -> Iterator[Inputs]:
    """Boxes that overlap by 1/2, 3/8 and 9/16, a threshold of each, and its neighbours; "exactly equal … are kept"."""
    firsts = [[0, 0, 8, 8]] * 4
    seconds = [[0, 0, 4, 8], [0, 0, 8, 4], [0, 0, 4, 6], [0, 0, 6, 6]]
    apart = np.arange(4)[:, np.newaxis] * 32
    boxes = np.concatenate([np.array(firsts) + apart, np.array(seconds) + apart, [[200, 200, 208, 208]]])
    scores = _float((9 - np.arange(9)) / 16).reshape(1, 1, 9)
    for iou in (0.5, 0.375, 0.5625, np.nextafter(_float(0.5), _float(0)), np.nextafter(_float(0.5), _float(1))):
        yield _asked(draw, _float(boxes)[np.newaxis], scores, 9, float(iou))


@non_max_suppression.inputs()
def touching(draw: Draw) -> Iterator[Inputs]:
    """A threshold of 0, given and by default: boxes that share an edge, a corner, or nothing are kept, others not."""
    boxes = [[0, 0, 4, 4], [0, 4, 4, 8], [4, 4, 8, 8], [20, 0, 24, 4], [3, 1, 5, 3], [4, 0, 6, 2]]
    given = _asked(draw, _float([boxes]), _float(np.arange(12, 0, -1) / 16).reshape(1, 2, 6), 6, 0)
    yield given
    yield {name: value for name, value in given.items() if name != "iou_threshold"}


@non_max_suppression.inputs()
def identical(draw: Draw) -> Iterator[Inputs]:
    """The same box many times, which is selected once; with a threshold of 1 every time."""
    boxes = np.tile(_grid(draw, 1, 1), (1, 5, 1))
    for iou in (0.5, 1):
        yield _asked(draw, boxes, _scores(draw, 1, 2, 5), 5, iou)


@non_max_suppression.inputs()
def numbers_of_boxes(draw: Draw) -> Iterator[Inputs]:
    """At most none, one, all and far more than all of the boxes for each batch and class."""
    corners, scores = _grid(draw, BATCHES, BOXES), _scores(draw, BATCHES, CLASSES, BOXES)
    for most in (0, 1, 2, BOXES, 100, 2**31 - 1, 2**31, 2**40, 2**63 - 1):
        yield _asked(draw, corners, scores, most, 0.75)


@non_max_suppression.inputs()
def omitted_inputs(draw: Draw) -> Iterator[Inputs]:
    """Each combination of optional inputs; without a number, "Default to 0, which means no output"."""
    optional = ("max_output_boxes_per_class", "iou_threshold", "score_threshold")
    given = _asked(draw, _grid(draw, BATCHES, BOXES), _scores(draw, BATCHES, CLASSES, BOXES))
    given["score_threshold"] = _float(0.25 - 1 / 128)
    for kept in np.ndindex(2, 2, 2):
        left_out = {name for name, there in zip(optional, kept, strict=True) if not there}
        yield {name: value for name, value in given.items() if name not in left_out}


@non_max_suppression.inputs()
def scores_below_zero(draw: Draw) -> Iterator[Inputs]:
    """Scores of both signs, all of which count where no threshold is given; then thresholds on both sides of zero."""
    corners = _grid(draw, BATCHES, BOXES)
    scores = _scores(draw, BATCHES, CLASSES, BOXES) - _float(0.375 + 1 / 128)
    yield _asked(draw, corners, scores)
    for threshold in (-0.25, 0, 0.125, -np.inf, np.inf):
        yield _asked(draw, corners, scores) | {"score_threshold": _float(threshold)}


@non_max_suppression.inputs()
def any_diagonal(draw: Draw) -> Iterator[Inputs]:
    """Corners in either order, of either diagonal, where the format has corners."""
    corners, scores = _grid(draw, BATCHES, BOXES), _scores(draw, BATCHES, CLASSES, BOXES)
    if draw.attributes["center_point_box"] == 1:
        yield _asked(draw, corners, scores)
        return
    ways: Sequence[Sequence[int]] = ([2, 3, 0, 1], [0, 3, 2, 1], [2, 1, 0, 3], [0, 1, 2, 3])
    for turn in range(4):
        turned = np.stack([corners[:, i, ways[(i + turn) % 4]] for i in range(BOXES)], axis=1)
        yield _asked(draw, turned, scores)


@non_max_suppression.inputs()
def moved(draw: Draw) -> Iterator[Inputs]:
    """Boxes on both sides of the origin, far from it, and normalized ones: translations change nothing."""
    corners, scores = _grid(draw, BATCHES, BOXES), _scores(draw, BATCHES, CLASSES, BOXES)
    for shift, scale in ((0, 1), (-8, 1), (-100, 1), (4096, 1), (0, 1 / 32)):
        yield _asked(draw, (corners + _float(shift)) * _float(scale), scores)


@non_max_suppression.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No boxes, no classes, no batches."""
    for batches, classes, boxes in ((2, 3, 0), (2, 0, 4), (0, 2, 3)):
        corners = _grid(draw, 2, 4)[:batches, :boxes]
        yield _asked(draw, corners, _scores(draw, 2, 3, 4)[:batches, :classes, :boxes])


@non_max_suppression.inputs()
def ties(draw: Draw) -> Iterator[Sample]:
    """Distinct scores, then equal ones."""
    corners, scores = _grid(draw, BATCHES, BOXES), _scores(draw, BATCHES, CLASSES, BOXES)
    yield Sample(_asked(draw, corners, scores))
    yield Sample(_asked(draw, corners, _float(np.round(scores * 4) / 4)), unspecified=TIES)


@non_max_suppression.inputs(unspecified=NO_AREA)
def no_area(draw: Draw) -> Iterator[Inputs]:
    """Boxes that are a point or a line, the same twice or inside others."""
    boxes = [[0, 0, 4, 4], [2, 2, 2, 2], [2, 2, 2, 2], [1, 1, 1, 3], [1, 1, 1, 3], [0, 4, 4, 4]]
    for iou in (0, 0.5):
        yield _asked(draw, _float([boxes]), _float(np.arange(6, 0, -1) / 8).reshape(1, 1, 6), 6, iou)


@non_max_suppression.inputs(unspecified=NAN)
def nan(draw: Draw) -> Iterator[Inputs]:
    """Scores that are NaN."""
    scores = _scores(draw, BATCHES, CLASSES, BOXES)
    scores[:, :, 2] = np.nan
    yield _asked(draw, _grid(draw, BATCHES, BOXES), scores)
