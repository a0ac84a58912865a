"""Convolutions: values that follow from their documents by hand, and what their inputs must be able to tell apart."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema
from harness.suite.planning import plan


def operator(name: str, since: int) -> Operator:
    found = find(name, since)
    assert found
    return found


def call(name: str, since: int, *values: Any, **attributes: Any) -> Call:
    """Inputs in the schema's order, None for one that is left out."""
    version = schema(name, since)
    arrays = {p.name: np.asarray(v) for p, v in zip(version.inputs, values, strict=False) if v is not None}
    types = {variable: str(next(iter(of))) for variable, of in version.variables.items()}
    types |= {
        p.type_str: f"tensor({element_type(arrays[p.name].dtype).name})" for p in version.inputs if p.name in arrays
    }
    given = {a.name: OMITTED for a in version.attributes} | attributes
    return Call(operator(name, since), version, types, arrays, given)


def gives(name: str, since: int, *values: Any, **attributes: Any) -> Any:
    return list(expected(call(name, since, *values, **attributes)))


def line(*values: float) -> np.ndarray:
    """One channel of one image, or one kernel of one channel."""
    return np.array([[values]], np.float32)


def on_a_line(name: str, since: int, *values: Any, **attributes: Any) -> list[float]:
    (first, *_) = gives(name, since, *values, **attributes)
    return first.value.reshape(-1).tolist()


def conv(*values: Any, since: int = 22, **attributes: Any) -> list[float]:
    return on_a_line("Conv", since, *values, **attributes)


POWERS = line(1, 10, 100)


def test_conv_slides_over_the_padded_image():
    for since in (22, 11, 1):
        assert conv(line(1, 2, 3, 4, 5), POWERS, since=since) == [321, 432, 543]
        assert conv(line(1, 2, 3, 4, 5), POWERS, since=since, pads=[1, 2], strides=[2]) == [210, 432, 54]
        assert conv(line(1, 2, 3, 4, 5), line(1, 10), since=since, dilations=[2]) == [31, 42, 53]
    assert conv(line(1, 2, 3, 4, 5, 6), POWERS, strides=[2]) == [321, 543], "no window for the rest"


def test_pads_are_all_beginnings_and_then_all_ends():
    image, kernel = np.array([[[[1, 2, 3]]]], np.float32), np.array([[[[1]]]], np.float32)
    (padded,) = gives("Conv", 22, image, kernel, pads=[1, 0, 0, 2])
    assert padded.value.tolist() == [[[[0, 0, 0, 0, 0], [1, 2, 3, 0, 0]]]]


def test_windows_in_the_padding_are_the_bias():
    assert conv(line(1, 2), line(3, 1), np.array([7], np.float32), pads=[3, 2]) == [7, 7, 8, 12, 13, 7]


def test_same_pads_as_little_as_does_and_unevenly_at_the_named_end():
    for since in (22, 11, 1):
        assert conv(line(1, 2, 3, 4), line(1, 10), since=since, auto_pad="SAME_UPPER") == [21, 32, 43, 4]
        assert conv(line(1, 2, 3, 4), line(1, 10), since=since, auto_pad="SAME_LOWER") == [10, 21, 32, 43]
        assert conv(line(1, 2, 3, 4), line(1, 10), since=since, auto_pad="VALID") == [21, 32, 43]
    six = line(1, 2, 3, 4, 5, 6)
    assert conv(six, POWERS, auto_pad="SAME_UPPER", strides=[4]) == [321, 65]
    assert conv(six, POWERS, auto_pad="SAME_LOWER", strides=[4]) == [210, 654]
    assert conv(six, line(1), auto_pad="SAME_LOWER", strides=[3]) == [1, 4], "a stride beyond the kernel needs none"
    assert conv(six, line(1, 10), auto_pad="SAME_LOWER", dilations=[3]) == [20, 30, 41, 52, 63, 4]


def test_each_group_of_channels_makes_channels_of_its_own():
    x = np.array([[[1], [2], [3], [4]]], np.float32)
    w = np.array([[[1], [10]], [[2], [20]]] * 2, np.float32)
    assert conv(x, w, np.array([0.5, 0, 0, 0], np.float32), group=2) == [21.5, 42, 43, 86]


def test_only_windows_over_a_nan_are_nan():
    y = conv(line(1, 2, np.nan, 4, 5, 6, 7), line(1, 10), dilations=[2])
    assert np.isnan(y).tolist() == [True, False, True, False, False]
    assert conv(line(1, np.inf, 3), line(1, -10)) == [-np.inf, np.inf]


def test_integers_are_less_their_zero_points_and_so_is_padding():
    x, w = np.array([[[5, 6]]], np.uint8), np.array([[[3]], [[-2]]], np.int8)
    points = np.uint8(5), np.array([1, 2], np.int8)
    (y,) = gives("ConvInteger", 10, x, w, *points, pads=[1, 1])
    assert y.value.tolist() == [[[0, 0, 2, 0], [0, 0, -4, 0]]]
    (y,) = gives("ConvInteger", 10, x, w)
    assert (y.value.dtype, y.value.tolist()) == (np.int32, [[[15, 18], [-10, -12]]])


def quantized(**changed: Any) -> Any:
    """x stands for 1 and 2, w for 0.5 and 1.5, and the scale of y is a quarter."""
    given = {
        "x": np.array([[[12, 14]]], np.uint8),
        "x_scale": np.float32(0.5),
        "x_zero_point": np.uint8(10),
        "w": np.array([[[3]], [[5]]], np.int8),
        "w_scale": np.array([0.25, 0.5], np.float32),
        "w_zero_point": np.array([1, 2], np.int8),
        "y_scale": np.float32(0.25),
        "y_zero_point": np.uint8(3),
        "B": None,
    } | changed
    return gives("QLinearConv", 10, *given.values())[0]


def test_quantized_convolutions_stand_for_real_ones():
    assert quantized().value.tolist() == [[[5, 7], [9, 15]]]
    bias = np.array([2, -1], np.int32)
    assert quantized(B=bias).value.tolist() == [[[6, 8], [8, 14]]], "of the scales 0.125 and 0.25"
    assert quantized(y_scale=np.float32(0.01)).value.tolist() == [[[53, 103], [153, 255]]]
    below = quantized(w=np.array([[[-128]], [[1]]], np.int8), y_zero_point=np.int8(0), y_scale=np.float32(0.25))
    assert below.value.tolist() == [[[-128, -128], [-2, -4]]]


def test_a_near_tie_of_a_quantized_convolution_accepts_both_neighbours():
    tenths = {"w_scale": np.float32(0.1), "w_zero_point": np.int8(0), "w": np.array([[[3]]], np.int8)}
    near = quantized(**tenths, y_scale=np.float32(0.6))
    assert {tuple(x.reshape(-1).tolist()) for x in (near.value, *near.alternatives)} == {(3, 4), (4, 4)}
    assert not quantized(**tenths, y_scale=np.float32(0.7)).alternatives


def transposed(*values: Any, since: int = 22, **attributes: Any) -> list[float]:
    return on_a_line("ConvTranspose", since, *values, **attributes)


def test_transposed_convolutions_spread_the_kernel():
    for since in (22, 11, 1):
        assert transposed(line(1, 2), POWERS, since=since, strides=[2]) == [1, 10, 102, 20, 200]
        assert transposed(line(1, 2), POWERS, since=since, strides=[2], pads=[1, 0]) == [10, 102, 20, 200]
    assert transposed(line(1, 2), line(1, 10), dilations=[2]) == [1, 2, 10, 20]
    bias = np.array([7], np.float32)
    assert transposed(line(1, 2), line(1), bias, strides=[3]) == [8, 7, 7, 9], "what no pixel reaches is the bias"
    assert transposed(line(1, 2), POWERS, bias, strides=[2], output_padding=[1]) == [8, 17, 109, 27, 207, 7]


def test_output_padding_selects_values_that_are_there():
    assert transposed(line(1, 2), POWERS, strides=[2], pads=[0, 2], output_padding=[1]) == [1, 10, 102, 20]


def test_an_output_shape_or_same_works_out_the_padding():
    two = line(1, 2)
    for since in (22, 11):
        begins = transposed(two, POWERS, since=since, strides=[2], output_shape=[4], pads=[0, 3])
        assert begins == [10, 102, 20, 200], "pads are ignored, and an odd one is at the beginning"
        assert transposed(two, POWERS, since=since, strides=[2], auto_pad="SAME_LOWER") == [10, 102, 20, 200]
        assert transposed(two, POWERS, since=since, strides=[2], auto_pad="SAME_UPPER") == [1, 10, 102, 20]
    given = transposed(two, POWERS, strides=[2], auto_pad="SAME_UPPER", output_shape=[4])
    assert given == [1, 10, 102, 20]
    more = transposed(two, POWERS, strides=[2], auto_pad="SAME_UPPER", output_shape=[4], output_padding=[1])
    assert more == [10, 102, 20, 200], "output_padding has a part in the padding"
    assert transposed(two, POWERS, strides=[2], output_shape=[6]) == [1, 10, 102, 20, 200, 0]


def test_groups_of_a_transposed_convolution():
    x, w = np.array([[[1], [2]]], np.float32), np.array([[[3], [4]], [[5], [6]]], np.float32)
    assert transposed(x, w, group=2) == [3, 4, 10, 12]
    assert transposed(x, w) == [13, 16]


def deformed(*values: Any, since: int = 22, **attributes: Any) -> list[float]:
    return on_a_line("DeformConv", since, *values, **attributes)


def test_offsets_move_each_place_of_the_kernel():
    x, w = line(10, 20, 30, 40), line(1, 100)
    none = np.zeros((1, 2, 3), np.float32)
    moved = np.array([[[0.5, 0, -3.5], [-1, 0.25, 9]]], np.float32)
    for since in (22, 19):
        assert deformed(x, w, none, since=since) == [2010, 3020, 4030]
        assert deformed(x, w, moved, since=since) == [15 + 1000, 20 + 3250, 0]
    mask = np.array([[[1, 0.5, 1], [2, 1, 1]]], np.float32)
    bias = np.array([7], np.float32)
    assert deformed(x, w, moved, bias, mask) == [15 + 2000 + 7, 10 + 3250 + 7, 7]


def test_places_in_the_padding_are_in_reach_of_pixels():
    half = np.array([[[0.5, 0.5, 0.5, 0]]], np.float32)
    assert deformed(line(10, 20), line(1), half, pads=[1, 1]) == [5, 15, 10, 0]


def test_offsets_name_the_axes_in_order_and_groups_of_channels_before_all():
    image = np.array([[[[1, 2], [3, 4]], [[10, 20], [30, 40]]]], np.float32)
    w = np.ones((1, 2, 1, 1), np.float32)
    down_and_right = np.zeros((1, 4, 2, 2), np.float32)
    down_and_right[0, :, 0, 0] = [1, 0, 0, 1]
    assert deformed(image, w, down_and_right, offset_group=2) == [3 + 20, 22, 33, 44]


def sets(name: str, since: int, *but: str, **instead: Any) -> Iterator[tuple[Call, str]]:
    """What a few rows draw that have every value of each attribute, but these groups; each with its group's name."""
    one, version = operator(name, since), schema(name, since)
    for row in plan(one, version, "each").rows:
        attributes = row.attributes | instead
        if row.group.name not in but:
            for drawn in row.group.generate(Draw("a seed", row.types, attributes)):
                inputs = drawn.inputs if isinstance(drawn, Sample) else drawn
                yield Call(one, version, row.types, inputs, attributes), row.group.name


def test_scored_places_are_never_where_reach_is_open():
    seen = 0
    for one, _ in sets("DeformConv", 22, "reach", "far_outside", "no_images", pads=OMITTED):
        given = one.inputs
        kernel, count = given["W"].shape[2:], given["offset"].shape[2:]
        lists = [one.attributes[name] for name in ("strides", "dilations")]
        strides, dilations = ([1] * len(kernel) if of is OMITTED else of for of in lists)
        moves = given["offset"].astype(np.float64).reshape(len(given["X"]), -1, *kernel, len(kernel), *count)
        for axis, size in enumerate(given["X"].shape[2:]):
            places = moves[(slice(None),) * (2 + len(kernel)) + (axis,)]
            for k, o in np.ndindex(kernel[axis], count[axis]):
                place = places.take(k, axis=2 + axis).take(o, axis=1 + len(kernel) + axis)
                place = place + o * strides[axis] + k * dilations[axis]
                assert not np.any((place > -1) & (place < 0)), (one, axis)
                assert not np.any((place > size - 1) & (place < size)), (one, axis)
                seen += place.size
    assert seen > 1000


def columns(values: Any, image: list[int], block: list[int], **attributes: Any) -> Any:
    (y,) = gives("Col2Im", 18, np.asarray(values), np.array(image), np.array(block), **attributes)
    return y.value[0, 0].tolist()


def test_columns_are_summed_where_blocks_overlap():
    assert columns(np.array([[[1, 2], [3, 4]]], np.int16), [1, 3], [1, 2]) == [[1, 3 + 2, 4]]
    assert columns(np.array([[[1], [2], [3], [4]]], np.float32), [2, 3], [2, 2], dilations=[1, 2]) == [
        [1, 0, 2],
        [3, 0, 4],
    ]
    assert columns(np.array([[[1, 2], [3, 4]]], np.int16), [2, 1], [2, 1], pads=[1, 0, 0, 0]) == [[3 + 2], [4]]
    assert columns(np.array([[["a", "b"], ["c", "d"]]], object), [1, 4], [1, 2], dilations=[1, 2]) == [list("abcd")]


def test_blocks_are_enumerated_with_the_last_axis_first():
    """The document's: with an image of 10 x 20 and blocks of 9 x 18 there are 2 x 3 of them."""
    blocks = np.zeros((1, 162, 6), np.int32)
    blocks[0, 0] = [1, 2, 3, 4, 5, 6]
    image = np.array(columns(blocks, [10, 20], [9, 18]))
    assert image[:2, :3].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert image.sum() == 21


def test_columns_have_volumes_too():
    column = np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1)
    assert columns(column, [2, 1, 3], [2, 1, 2], dilations=[1, 1, 2]) == [[[1, 0, 2]], [[3, 0, 4]]]


def causal(*values: Any, **attributes: Any) -> list[list[float]]:
    return [one.value.reshape(-1).tolist() for one in gives("CausalConvWithState", 27, *values, **attributes)]


def test_a_causal_convolution_looks_back_into_the_state_and_renews_it():
    assert causal(line(1, 2, 3), line(1, 10), None, line(5)) == [[15, 21, 32], [3]]
    assert causal(line(1, 2, 3), line(1, 10), np.array([0.5], np.float32)) == [[10.5, 21.5, 32.5], [3]]
    assert causal(line(1), line(1, 10, 100, 1000), None, line(7, 8, 9)) == [[7 + 80 + 900 + 1000], [8, 9, 1]]
    assert causal(line(1), line(1, 10, 100, 1000)) == [[1000], [0, 0, 1]]
    assert causal(line(1, 2), line(3)) == [[3, 6], []]


def test_silu_is_fused_under_both_names():
    for name in ("silu", "swish"):
        (y, state) = causal(line(2, 0), line(1), activation=name)
        assert y == pytest.approx([1.7615942, 0], rel=1e-7)
        assert state == []


@pytest.mark.parametrize(
    ("name", "but"),
    [("Conv", {"kernel_shape": OMITTED}), ("ConvTranspose", {"output_shape": OMITTED, "kernel_shape": OMITTED})],
)
def test_wrong_halves_of_an_odd_padding_would_show(name: str, but: dict[str, Any]):
    told = 0
    for upper, _ in sets(name, 22, pads=OMITTED, auto_pad="SAME_UPPER", **but):
        lower = msgspec.structs.replace(upper, attributes={**upper.attributes, "auto_pad": "SAME_LOWER"})
        first, second = (np.asarray(answer(one)[0].value) for one in (upper, lower))
        told += not np.array_equal(first, second)
    assert told >= 5


def test_scored_quotients_of_quantized_convolutions_are_no_ties():
    """What the text does not decide is drawn by the group of ties alone."""
    met: set[str] = set()
    for one, group in sets("QLinearConv", 10):
        given = one.inputs
        names = ("x", "w", "x_zero_point", "w_zero_point")
        types = {"T1": one.types["T1"], "T2": one.types["T2"], "T3": "tensor(int32)"}
        integers = {name: given[name] for name in names}
        version = schema("ConvInteger", 10)
        sums: Any = answer(Call(operator("ConvInteger", 10), version, types, integers, one.attributes))[0].value
        bias = given.get("B", np.zeros(1, np.int32))
        exact = sums.astype(object) + bias.astype(object).reshape(-1, *[1] * (sums.ndim - 2))
        scale = Fraction(float(given["x_scale"])) / Fraction(float(given["y_scale"]))
        scales = np.array([2 * scale * Fraction(float(v)) for v in given["w_scale"].reshape(-1)])
        doubled = exact * scales.reshape(-1, *[1] * (sums.ndim - 2))
        if any(v.denominator == 1 and v % 2 for v in doubled.reshape(-1)):
            met.add(group)
    assert met == {"ties"}
