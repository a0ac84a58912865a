"""GridSample, AffineGrid, CenterCropPad and the spatial blocks: values that follow from their documents by hand."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness.numbers.bound import PASS_AT
from harness.operators.tensor import grid_sample as grids
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema
from harness.suite.planning import plan


def give(name: str, since: int, *values: np.ndarray, **attributes: Any) -> Any:
    """The output for inputs in the schema's order."""
    version, found = schema(name, since), find(name, since)
    assert found
    types = {p.type_str: f"tensor({element_type(v.dtype).name})" for p, v in zip(version.inputs, values, strict=True)}
    inputs = {p.name: v for p, v in zip(version.inputs, values, strict=True)}
    return expected(
        Call(found, version, types, inputs, dict.fromkeys(attributes_of(name, since), OMITTED) | attributes)
    )[0].value


def attributes_of(name: str, since: int) -> list[str]:
    return [a.name for a in schema(name, since).attributes]


LINE = np.array([[[10, 20, 30, 40]]], np.float32)
LINES = {0: LINE, 1: np.array([[[10, 20, 30, 40, 50]]], np.float32)}


def along(*pixels: float, size: int = 4, align_corners: int = 0) -> np.ndarray:
    """A grid of these locations on a line."""
    x = np.array(pixels).reshape(1, -1, 1)
    return (2 * x / (size - 1) - 1 if align_corners else (2 * x + 1) / size - 1).astype(np.float32)


def on_a_line(*pixels: float, align_corners: int = 0, **attributes: Any) -> list[float]:
    """What the pixels 10, 20, 30, 40 give at these locations; with ``align_corners`` also 50."""
    line = LINES[align_corners]
    grid = along(*pixels, size=line.size, align_corners=align_corners)
    return give("GridSample", 22, line, grid, align_corners=align_corners, **attributes)[0, 0].tolist()


def test_the_extrema_are_corner_points_or_centers_of_the_corner_pixels():
    grid = np.array([[[-1], [1], [0]]], np.float32)
    assert give("GridSample", 22, LINE, grid, align_corners=1).tolist() == [[[10, 40, 25]]]
    assert give("GridSample", 22, LINE, grid, padding_mode="border").tolist() == [[[10, 40, 25]]]
    assert give("GridSample", 22, LINE, grid).tolist() == [[[5, 20, 25]]], "half of the corner point's pixels are zeros"


def test_the_grid_lists_the_innermost_axis_first():
    image = np.arange(15, dtype=np.float32).reshape(1, 1, 3, 5)
    grid = np.array([[[[1, -1], [-1, 1], [0.5, 0]]]], np.float32)
    assert give("GridSample", 16, image, grid, align_corners=1).tolist() == [[[[4, 10, 8]]]]
    volume = np.arange(30, dtype=np.float32).reshape(1, 1, 2, 3, 5)
    corners = np.array([[[[[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]]]], np.float32)
    assert give("GridSample", 20, volume, corners, align_corners=1).tolist() == [[[[[4, 10, 15]]]]]


def test_the_nearest_of_two_is_the_even_index():
    assert on_a_line(0.5, 1.5, 2.5, -0.5, mode="nearest") == [10, 30, 30, 10]
    assert on_a_line(0.5, 1.5, 2.5, 3.5, mode="nearest", align_corners=1) == [10, 30, 30, 50]
    assert on_a_line(3.5, mode="nearest") == [0], "index 4, as test_gridsample_nearest has it"


def test_outside_are_zeros_the_border_or_a_reflection():
    assert on_a_line(-3, 8, padding_mode="zeros") == [0, 0]
    assert on_a_line(-3, -0.75, 8, padding_mode="border") == [10, 10, 40]
    assert on_a_line(-3, 8, 6.25, -11.75, padding_mode="reflection") == [30, 10, 17.5, 37.5]
    assert on_a_line(-1, -2, padding_mode="reflection", align_corners=1) == [20, 30], '"index -1 … same as … index 1"'
    assert on_a_line(-1, -2, padding_mode="reflection") == [10, 20]


def test_a_location_is_reflected_until_in_bound():
    """The document's -3.5 that becomes 1.5 and then 0.5 between borders -1 and 1, here 1 more."""
    three = LINE[..., :3]
    grid = along(-3.5 + 1, 0.5 + 1, size=3, align_corners=1)
    found = give("GridSample", 22, three, grid, padding_mode="reflection", align_corners=1)
    assert found.tolist() == [[[25, 25]]]


def test_cubic_weights_are_those_of_the_official_data():
    """Keys' kernel with -0.75 halfway: -3/32, 19/32, 19/32, -3/32."""
    step = np.array([[[0, 0, 32, 0]]], np.float32)
    for at, weight in ((1.5, 19), (0.5, -3), (3.5, -3), (2, 32)):
        assert give("GridSample", 22, step, along(at), mode="cubic").item() == weight


def test_integers_are_interpolated_as_floats():
    line = np.array([[[0, 100, 200, 40]]], np.uint8)
    assert give("GridSample", 22, line, along(0.5, 1.25, 2.75)).tolist() == [[[50, 125, 80]]]


def test_strings_outside_are_empty():
    line = np.array([[["a", "b", "c", "d"]]], object)
    assert give("GridSample", 22, line, along(2, -3, 0.25), mode="nearest").tolist() == [[["c", "", "a"]]]


def test_affine_positions_are_centers_or_span_the_corners():
    identity, size = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32), np.array([1, 3, 2, 4])
    centers = give("AffineGrid", 20, identity, size)
    assert centers[0, 0, :, 0].tolist() == [-0.75, -0.25, 0.25, 0.75], "x along the width"
    assert centers[0, :, 0, 1].tolist() == [-0.5, 0.5], "y along the height"
    corners = give("AffineGrid", 20, identity, np.array([1, 3, 2, 3]), align_corners=1)
    assert corners[0].tolist() == [[[-1, -1], [0, -1], [1, -1]], [[-1, 1], [0, 1], [1, 1]]]


def test_affine_rows_give_the_coordinates_of_the_output():
    theta = np.array([[[0, 0, 4, 8], [1, 0, 0, 0], [0, 2, 0, -1]]], np.float64)
    grid = give("AffineGrid", 20, theta, np.array([1, 1, 2, 2, 2]))
    assert grid.shape == (1, 2, 2, 2, 3)
    assert grid[0, 1, 0, 0].tolist() == [4 * 0.5 + 8, -0.5, 2 * -0.5 - 1], "of x = -1/2, y = -1/2, z = 1/2"


def test_crops_are_rounded_down_and_pads_have_more_on_the_right():
    x = np.array([1, 2, 3, 4])
    assert give("CenterCropPad", 18, x, np.array([1])).tolist() == [2]
    assert give("CenterCropPad", 18, x, np.array([2])).tolist() == [2, 3]
    assert give("CenterCropPad", 18, x, np.array([7])).tolist() == [0, 1, 2, 3, 4, 0, 0]
    both = give("CenterCropPad", 18, x.reshape(2, 2), np.array([3, 1]), axes=[-1, 0])
    assert both.tolist() == [[1, 2, 0]]


def test_blocks_have_the_orders_of_their_modes():
    channels = np.arange(8).reshape(1, 8, 1, 1)
    for since in (28, 13, 11):
        assert give("DepthToSpace", since, channels, blocksize=2).tolist() == [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]
    assert give("DepthToSpace", 1, channels, blocksize=2).tolist() == [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]
    crd = give("DepthToSpace", 13, channels, blocksize=2, mode="CRD")
    assert crd.tolist() == [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_is_the_reverse_of_space_to_depth(mode: str):
    x = np.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6)
    depth = give("SpaceToDepth", 28, x, blocksize=2, mode=mode)
    assert depth.shape == (2, 12, 2, 3)
    assert np.array_equal(give("DepthToSpace", 28, depth, blocksize=2, mode=mode), x)


def scored(op: Operator, **only: Any) -> Iterator[tuple[Any, Sample]]:
    """The rows of the newest version with these attributes, each with its scored inputs."""
    for row in plan(op, op.schemas[0]).rows:
        if row.types["T1"] == "tensor(float)" and all(row.attributes[k] == v for k, v in only.items()):
            for one in row.group.generate(Draw(f"{row}", row.types, row.attributes)):
                drawn = one if isinstance(one, Sample) else Sample(one)
                if not (drawn.unspecified or row.group.unspecified):
                    yield row, drawn


def test_locations_are_exact_in_the_grids_type():
    """So that no honest evaluation takes another side of a tie or of a border."""
    op = find("GridSample", 22)
    assert op
    for row in plan(op, op.schemas[0]).rows:
        if row.group.name not in ("other_sizes", "nowhere", "empty"):
            for drawn in row.group.generate(Draw("a", row.types, row.attributes)):
                assert isinstance(drawn, Sample)
                image, grid = drawn.inputs["X"], drawn.inputs["grid"]
                align = int(row.attributes["align_corners"] == 1)
                exact = grids.located(grid.astype(np.float64), image.shape[2:], align)
                for one, of_type in zip(exact, grids.located(grid, image.shape[2:], align), strict=True):
                    assert np.array_equal(one, of_type.astype(np.float64))
                    assert of_type.dtype == grid.dtype
                    assert np.array_equal(one * 8, np.rint(one * 8))


def half_away(x: np.ndarray) -> Any:
    return np.trunc(x + np.copysign(0.5, x))


def by_the_centers(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda X, index, padding, _: right(X, index, padding, 1)


def weights_of_resize(x: np.ndarray) -> Any:
    low = np.floor(x)
    t = x - low
    near = lambda d: (1.5 * d - 2.5) * d * d + 1  # noqa: E731
    far = lambda d: ((-0.5 * d + 2.5) * d - 4) * d + 2  # noqa: E731
    return [(low - 1, far(t + 1)), (low, near(t)), (low + 1, near(1 - t)), (low + 2, far(2 - t))]


def exchanged(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda grid, sizes, align: right(grid[..., ::-1], sizes, align)


FAULTS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "": ("rint", np.rint, {}),
    "ties away from zero": ("rint", half_away, {"mode": "nearest"}),
    "reflected by the centers": ("pixels", by_the_centers(grids.pixels), {"padding_mode": "reflection"}),
    "axes exchanged": ("located", exchanged(grids.located), {}),
    "the coefficient -0.5": ("cubic", weights_of_resize, {"mode": "cubic"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_inputs_tell_a_fault(fault: str, monkeypatch: pytest.MonkeyPatch):
    name, wrong, only = FAULTS[fault]
    op = find("GridSample", 22)
    assert op
    right = [
        (row, drawn, expected(Call(op, op.schemas[0], row.types, drawn.inputs, row.attributes))[0])
        for row, drawn in [*scored(op, **only)][:6]
    ]
    monkeypatch.setattr(grids, name, wrong)
    monkeypatch.setitem(grids.TAPS, "cubic", grids.cubic)
    for row, drawn, want in right:
        found = answer(Call(op, op.schemas[0], row.types, drawn.inputs, row.attributes))[0].value
        off = np.abs(np.asarray(found, np.float64) - np.asarray(want.value, np.float64))
        if (off > (0 if want.bound is None else PASS_AT * want.bound)).any():
            assert fault, "What is right is taken for a fault."
            return
    assert not fault, f"{fault} is told by no input."
