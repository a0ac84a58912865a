"""Pooling: values that follow from the documents by hand, and mistakes that the inputs must tell apart."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from harness.numbers.bound import PASS_AT
from harness.operators.nn import max_pool, max_roi_pool, pool
from harness.operators.nn.pool_windows import axes_of
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, Sample, find, operators
from harness.spec.element_types import element_type
from harness.spec.schema import schema
from harness.suite.planning import Row, plan


def give(name: str, since: int, *values: np.ndarray, **attributes: Any) -> list[Any]:
    """The outputs for inputs in the schema's order."""
    version, found = schema(name, since), find(name, since)
    assert found
    types = {p.type_str: f"tensor({element_type(v.dtype).name})" for p, v in zip(version.inputs, values, strict=False)}
    stated = dict.fromkeys((a.name for a in version.attributes), OMITTED) | attributes
    inputs = {p.name: v for p, v in zip(version.inputs, values, strict=False)}
    return [one.value for one in answer(Call(found, version, {"I": "tensor(int64)"} | types, inputs, stated))]


def line(*values: float, dtype: Any = np.float32) -> np.ndarray:
    return np.array(values, dtype).reshape(1, 1, -1)


def of_line(name: str, since: int, values: np.ndarray, **attributes: Any) -> list[Any]:
    return give(name, since, values, **attributes)[0].ravel().tolist()


@pytest.mark.parametrize(
    ("size", "windows", "attributes"),
    [
        (5, 2, {"kernel_shape": [2], "strides": [2]}),
        (5, 3, {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}),
        (4, 2, {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}),
        (5, 4, {"kernel_shape": [2]}),
        (5, 1, {"kernel_shape": [3], "dilations": [2]}),
        (5, 4, {"kernel_shape": [3], "dilations": [2], "pads": [1, 2]}),
        (5, 3, {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_UPPER"}),
        (5, 3, {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_LOWER", "dilations": [2]}),
        (5, 2, {"kernel_shape": [2], "strides": [2], "auto_pad": "VALID"}),
    ],
)
def test_the_size_of_the_output(size: int, windows: int, attributes: dict[str, Any]):
    assert axes_of(**attributes)[0].count(size) == windows
    for name in ("AveragePool", "MaxPool", "LpPool"):
        assert give(name, 22, np.ones((2, 3, size), np.float32), **attributes)[0].shape == (2, 3, windows)


def test_the_extra_padding_is_at_the_end_for_same_upper_and_at_the_beginning_for_same_lower():
    assert of_line("AveragePool", 1, line(2, 4, 8), kernel_shape=[2], auto_pad="SAME_UPPER") == [3, 6, 8]
    assert of_line("AveragePool", 22, line(2, 4, 8), kernel_shape=[2], auto_pad="SAME_LOWER") == [2, 3, 6]


def test_pads_are_all_beginnings_then_all_ends():
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    (y,) = give("AveragePool", 11, x, kernel_shape=[2, 3], pads=[0, 2, 1, 0])
    assert y.tolist() == [[[[2.5, 3, 3.5], [4, 4.5, 5]]]], "two columns at the left, a row below"


def test_padding_is_counted_if_asked_and_nothing_is_counted_beyond_it():
    x, attributes = line(6, 12, 18, 24, 30), {"kernel_shape": [3], "strides": [3], "pads": [1, 1]}
    assert of_line("AveragePool", 7, x, **attributes) == [9, 24]
    assert of_line("AveragePool", 7, x, **attributes, count_include_pad=1) == [6, 24]
    x = line(6, 12, 18, 24)
    assert of_line("AveragePool", 22, x, **attributes, ceil_mode=1) == [9, 21]
    assert of_line("AveragePool", 22, x, **attributes, ceil_mode=1, count_include_pad=1) == [6, 14]
    x, beyond = line(6, 12, 18, 24), {"kernel_shape": [4], "strides": [3], "pads": [0, 1], "ceil_mode": 1}
    assert of_line("AveragePool", 22, x, **beyond) == [15, 24]
    assert of_line("AveragePool", 22, x, **beyond, count_include_pad=1) == [15, 12], "of 24, a pad, and two places off"


def test_windows_that_would_start_in_the_right_padded_region_are_ignored():
    """The third window of each line would begin at the fifth place, which is padding."""
    attributes = {"kernel_shape": [2], "strides": [2], "pads": [0, 1], "ceil_mode": 1}
    assert of_line("MaxPool", 22, line(1, 2, 3, 4), **attributes) == [2, 4]
    assert of_line("AveragePool", 22, line(1, 2, 3, 4), **attributes, count_include_pad=1) == [1.5, 3.5]
    assert len(of_line("MaxPool", 22, line(1, 2, 3), **attributes)) == 2
    assert of_line("MaxPool", 22, line(1, 2, 3, 4), kernel_shape=[1], strides=[3], ceil_mode=1) == [1, 4]
    assert of_line("MaxPool", 22, line(1, 2, 3), kernel_shape=[1], strides=[3], ceil_mode=1) == [1]


def test_padding_is_never_the_greatest():
    attributes = {"kernel_shape": [2], "pads": [1, 1]}
    assert of_line("MaxPool", 1, line(-3, -np.inf, -np.inf), **attributes) == [-3, -3, -np.inf, -np.inf]
    y, indices = give("MaxPool", 12, line(-128, -5, -128, dtype=np.int8), **attributes)
    assert y.ravel().tolist() == [-128, -5, -5, -128]
    assert indices.ravel().tolist() == [0, 1, 1, 2]


def test_indices_are_those_of_the_whole_tensor_without_padding():
    x = np.array([[[4, 1, 3], [2, 6, 5]], [[9, 8, 7], [10, 12, 11]]], np.float32)
    y, indices = give("MaxPool", 8, x, kernel_shape=[2], pads=[1, 0], strides=[2])
    assert y.tolist() == [[[4, 3], [2, 6]], [[9, 8], [10, 12]]]
    assert indices.tolist() == [[[0, 2], [3, 4]], [[6, 7], [9, 10]]]


def test_column_major_indices_of_test_maxpool_with_argmax_2d_precomputed_strides():
    x = np.arange(1, 26, dtype=np.float32).reshape(1, 1, 5, 5)
    y, indices = give("MaxPool", 22, x, kernel_shape=[2, 2], strides=[2, 2], storage_order=1)
    assert (y.ravel().tolist(), indices.ravel().tolist()) == ([7, 9, 17, 19], [6, 16, 8, 18])


def test_the_norm_of_a_window():
    for p, norm in ((OMITTED, 5), (1, 7), (2, 5)):
        assert of_line("LpPool", 22, line(3, -4, 0), kernel_shape=[2], p=p) == [norm, 4]
    assert of_line("LpPool", 2, line(-3, 4, 5, 6), kernel_shape=[3], strides=[2], p=3, pads=[0, 1]) == pytest.approx(
        [6, 341 ** (1 / 3)]
    )
    assert of_line("LpPool", 1, line(4, 9), kernel_shape=[2], strides=[1], pads=[0, 0], p=0.5) == [25]
    assert of_line("GlobalLpPool", 1, line(3, -4).reshape(1, 1, 2, 1), p=2.0) == [5]


def test_the_norm_of_a_window_that_reaches_beyond_the_padding_is_that_of_its_elements():
    """Not the mean of what is there times the size of the kernel, which onnx.reference takes."""
    attributes = {"kernel_shape": [4], "strides": [4], "pads": [1, 2], "ceil_mode": 1}
    assert of_line("LpPool", 22, line(0, 0, 3, 7), **attributes, p=1) == [3, 7]
    assert of_line("LpPool", 18, line(0, 0, 3, 3, 4), **attributes) == [3, 5]


def test_global_pools_have_one_window_a_channel():
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 2, 1, 2)
    (y,) = give("GlobalAveragePool", 22, x)
    assert (y.shape, y.ravel().tolist()) == ((2, 3, 1, 1, 1), [1.5, 5.5, 9.5, 13.5, 17.5, 21.5])
    (y,) = give("GlobalMaxPool", 1, -x[:, :, 0])
    assert (y.shape, y.ravel().tolist()) == ((2, 3, 1, 1), [0, -4, -8, -12, -16, -20])


def test_unpooling_gives_back_what_was_pooled():
    """Indices are those of the output that is asked for: with 5 columns index 6 is the second of the second row."""
    x = np.array([[[[5, 6], [7, 8]]]], np.float32)
    indices = np.array([[[[6, 8], [15, 17]]]])
    (y,) = give("MaxUnpool", 11, x, indices, np.array([1, 1, 5, 5]), kernel_shape=[2, 2], strides=[2, 2])
    assert (y[0, 0, 1].tolist(), y[0, 0, 3].tolist()) == ([0, 5, 0, 6, 0], [7, 0, 8, 0, 0])
    assert y.sum() == 26
    assert give("MaxPool", 22, y, kernel_shape=[2, 2], strides=[2, 2])[0].tolist() == x.tolist()


def test_unpooling_without_a_shape_has_the_size_that_pooling_fills():
    x, indices = line(5, 6), np.array([[[1, 3]]])
    (y,) = give("MaxUnpool", 9, x, indices, kernel_shape=[3], strides=[2])
    assert y.tolist() == [[[0, 5, 0, 6, 0]]]
    (y,) = give("MaxUnpool", 22, x, indices, kernel_shape=[3], strides=[2], pads=[1, 0])
    assert y.tolist() == [[[0, 5, 0, 6]]]


@cache
def rows(one: Operator) -> tuple[Row, ...]:
    return plan(one, one.schemas[0]).rows


def sets(one: Operator, group: str) -> Iterator[tuple[Sample, dict[str, Any]]]:
    """What a group yields for the planned rows, each set with its attributes as the oracle gets them."""
    defaults = {a.name: a.default for a in one.schemas[0].attributes}
    for row in rows(one):
        if row.group.name == group:
            stated = {name: value for name, value in row.attributes.items() if value != OMITTED}
            for drawn in row.group.generate(Draw("test", row.types, row.attributes)):
                yield drawn if isinstance(drawn, Sample) else Sample(drawn), defaults | stated


def reaching(name: str, since: int) -> Operator:
    """The declaration of rows whose windows reach into the right padding and beyond."""
    return next(o for o in operators() if o.name == name and since in o.since and [4] in o.attributes["kernel_shape"])


def scored(one: Operator, group: str, *names: str) -> list[tuple[np.ndarray, dict[str, Any]]]:
    found = [(d.inputs["X"].astype(np.float64), a) for d, a in sets(one, group) if not d.unspecified]
    return [(x, a) for x, a in found if all(a[name] for name in names)]


def test_an_average_over_the_whole_kernel_is_told_apart():
    found = scored(reaching("AveragePool", 22), "beyond_padding", "count_include_pad")
    assert {x.ndim for x, _ in found} == {3, 4, 5}
    for x, attributes in found:
        windows = pool.windows(x, axes_of(**attributes), drops=True)
        mistaken = np.where(windows.inside, windows.elements, 0).mean(axis=-1)
        assert not np.allclose(pool.average_pool.oracle(x, **attributes), mistaken)


@pytest.mark.parametrize("name", ["AveragePool", "MaxPool"])
def test_a_window_too_many_is_told_apart(name: str):
    found = scored(reaching(name, 22), "right_padding")
    assert {x.ndim for x, _ in found} == {3, 4, 5}
    for x, attributes in found:
        kept, all_of_them = (
            pool.windows(x, axes_of(**attributes), drops=drops).inside.shape for drops in (True, False)
        )
        assert kept != all_of_them


def test_padding_by_zeros_is_told_apart():
    differ = 0
    for x, attributes in scored(max_pool.max_pool, "negative"):
        windows = pool.windows(x, axes_of(**attributes), drops=True)
        mistaken = np.where(windows.inside, windows.elements, 0).max(axis=-1)
        differ += not np.array_equal(max_pool.max_pool.oracle(x, **attributes)[0], mistaken)
    assert differ > 5


def test_scored_windows_have_distinct_elements_wherever_indices_are_asked_for():
    for row in rows(max_pool.max_pool):
        for drawn in row.group.generate(Draw("test", row.types, row.attributes)):
            assert isinstance(drawn, Sample)
            if not drawn.unspecified and "Indices" not in drawn.without:
                planes = drawn.inputs["X"].reshape(-1, int(np.prod(drawn.inputs["X"].shape[2:])))
                assert all(len(np.unique(plane)) == plane.size for plane in planes)


def half_open(X: np.ndarray, rois: np.ndarray, *, pooled_shape: list[int], spatial_scale: float) -> np.ndarray:
    """Another reading of MaxRoiPool: regions end before x2 and y2, and bins include what they begin to touch."""
    y = np.zeros((len(rois), X.shape[1], *pooled_shape))
    for r, (image, *corners) in enumerate(rois.astype(np.float64)):
        x1, y1, x2, y2 = (corner * spatial_scale for corner in corners)
        for i, j in np.ndindex(*pooled_shape):
            high, wide = (y2 - y1) / pooled_shape[0], (x2 - x1) / pooled_shape[1]
            rows = slice(int(np.floor(y1 + i * high)), int(np.ceil(y1 + (i + 1) * high)))
            columns = slice(int(np.floor(x1 + j * wide)), int(np.ceil(x1 + (j + 1) * wide)))
            y[r, :, i, j] = X[int(image), :, rows, columns].max(axis=(1, 2))
    return y


@pytest.mark.parametrize("group", ["ordinary", "whole_image"])
def test_scored_regions_give_the_same_whether_or_not_they_include_their_ends(group: str):
    found = list(sets(max_roi_pool.max_roi_pool, group))
    assert {(*a["pooled_shape"], a["spatial_scale"]) for _, a in found} >= {(2, 3, 1.0), (1, 1, 0.5)}
    for drawn, attributes in found:
        given = [drawn.inputs[name].astype(np.float64) for name in ("X", "rois")]
        y = max_roi_pool.max_roi_pool.oracle(*given, **attributes)
        assert np.array_equal(y, half_open(*given, **attributes))
        assert len(np.unique(y[0])) == y[0].size, "each bin has a greatest element of its own"


def test_regions_are_of_their_image_in_the_scale_of_the_input():
    x = -np.ones((2, 1, 6, 6), np.float32)
    x[0, 0, 1, 4], x[1, 0, 1, 4], x[1, 0, 4, 1] = 3, 5, 7
    rois = np.array([[1, 0, 0, 10, 4], [0, 6, 0, 10, 4], [1, 0, 6, 4, 10]], np.float32)
    (y,) = give("MaxRoiPool", 1, x, rois, pooled_shape=[1, 1], spatial_scale=0.5)
    assert y.ravel().tolist() == [5, 3, 7]


def test_a_bound_of_an_average_is_narrow():
    """A mean whose last element is lost fails in every type that a runtime may have."""
    x = np.array([[[1.5, 2.5, 3.25, -1.75]]])
    for name in ("bfloat16", "float16", "float"):
        version, found = schema("AveragePool", 22), find("AveragePool", 22)
        assert found
        stated = dict.fromkeys((a.name for a in version.attributes), OMITTED) | {"kernel_shape": [4]}
        draw = Draw("test", {"T": f"tensor({name})"}, {})
        (one,) = expected(Call(found, version, draw.types, {"X": draw.T(x)}, stated))
        assert one.bound is not None
        assert abs(np.asarray(one.value).item() - 7.25 / 4) > PASS_AT * one.bound.item()
