"""Matrix products, Einsum, Det, Fourier transforms and windows: values that follow from their documents by hand."""

import math
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema


def give(name: str, since: int, *values: Any, T3: str = "", **attributes: Any) -> np.ndarray:
    """The output for inputs in the schema's order, None where one is omitted."""
    version = schema(name, since)
    inputs: dict[str, Any] = {}
    types = {"T3": T3} if T3 else {}
    for i, p in enumerate(version.inputs[: len(values)]):
        given = values[i:] if p.option == "variadic" else values[i]
        if given is not None:
            inputs[p.name] = given if p.option == "variadic" else np.asarray(given)
            types[p.type_str] = f"tensor({element_type((given[0] if p.option == 'variadic' else given).dtype).name})"
    defaults = {a.name: OMITTED for a in version.attributes}
    (found,) = expected(Call(find(name, since), version, types, inputs, defaults | attributes))
    return np.asarray(found.value)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        ((3,), (3,), ()),
        ((3,), (2, 3, 4), (2, 4)),
        ((2, 4, 3), (3,), (2, 4)),
        ((2, 1, 3, 4), (5, 4, 2), (2, 5, 3, 2)),
        ((3, 0), (0, 4), (3, 4)),
    ],
)
def test_matmul_takes_vectors_and_broadcasts_stacks(a: tuple[int, ...], b: tuple[int, ...], shape: tuple[int, ...]):
    found = give("MatMul", 13, np.ones(a, np.int64), np.ones(b, np.int64))
    assert found.shape == shape
    assert (found == a[-1]).all()


def test_gemm_scales_and_transposes():
    a, b, c = floats([1, 2], [3, 4], [5, 6]), floats([1, 0, 0]), floats(10)
    assert give("Gemm", 13, a, b, c, transA=1, transB=1, alpha=2.0, beta=0.5).tolist() == [[7], [9]]
    assert give("Gemm", 13, b, a).tolist() == [[1, 2]]
    assert give("Gemm", 6, b, a, floats(10, 20), broadcast=1, beta=2.0).tolist() == [[21, 42]]


def test_gemm_is_exact_where_double_is_not():
    big = np.array([[2**62 + 1]])
    assert give("Gemm", 13, big, np.array([[1]]), alpha=1.0).tolist() == [[2**62 + 1]]


def test_matmul_integer_has_a_zero_point_for_each_row():
    a, b = np.array([[1, 2], [3, 4]], np.uint8), np.array([[1], [1]], np.int8)
    assert give("MatMulInteger", 10, a, b, np.array([1, 3], np.uint8), T3="tensor(int32)").tolist() == [[1], [1]]


@pytest.mark.parametrize(("b", "gives"), [(1, 9), (3, 11), (-1, 9), (-3, 7), (1000, 127), (-1000, -128)])
def test_qlinear_matmul_rounds_before_the_zero_point_and_saturates(b: int, gives: int):
    one, zero = np.float32(1), np.int8(0)
    a, scale = np.array([[1]], np.int8), np.float32(abs(b) / 100 if abs(b) > 127 else 0.5)
    y = np.int8(np.sign(b) * 100 if abs(b) > 127 else b)
    found = give("QLinearMatMul", 10, a, one, zero, y.reshape(1, 1), scale, zero, one, np.int8(9))
    assert found.tolist() == [[gives]]


@pytest.mark.parametrize(
    ("equation", "shapes", "gives"),
    [
        ("ji", [(2, 3)], [[0, 3], [1, 4], [2, 5]]),
        ("aA", [(2, 3)], [[0, 3], [1, 4], [2, 5]]),
        ("ii->i", [(2, 2)], [0, 3]),
        ("ii", [(2, 2)], 3),
        ("iii->i", [(2, 2, 2)], [0, 7]),
        ("i , j -> j i", [(2,), (3,)], [[0, 0], [0, 1], [0, 2]]),
        ("...i->i...", [(2, 3)], [[0, 3], [1, 4], [2, 5]]),
        ("...,...", [(2, 1), (1, 3)], [[0, 0, 0], [0, 1, 2]]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], gives: Any):
    inputs = [np.arange(float(math.prod(shape)), dtype=np.float32).reshape(shape) for shape in shapes]
    assert give("Einsum", 12, *inputs, equation=equation).tolist() == gives


def test_det():
    assert give("Det", 22, floats([[0, 1, 2], [3, 0, 1], [1, 4, 0]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]])).tolist() == [
        25,
        0,
    ]
    assert give("Det", 11, floats([-7])).tolist() == -7


def test_dft_turns_clockwise_and_back():
    """Of 0, 1, 0, 0 the bins are e^(-2πj k / 4)."""
    x = floats([[0], [1], [0], [0]])
    turns = [[1, 0], [0, -1], [-1, 0], [0, 1]]
    assert give("DFT", 20, x).tolist() == [turns]
    assert give("DFT", 20, x, onesided=1).tolist() == [turns[:3]]
    assert give("DFT", 17, floats(turns), inverse=1).tolist() == [[[0, 0], [1, 0], [0, 0], [0, 0]]]
    assert give("DFT", 20, floats(turns[:3]), inverse=1, onesided=1).tolist() == x.tolist()


def test_dft_cuts_off_pads_and_takes_any_axis():
    x = floats([[1], [2], [3]])
    assert give("DFT", 20, x, np.int64(1)).tolist() == [[[1, 0]]]
    assert give("DFT", 20, x, np.int64(6))[0, 0].tolist() == [6, 0]
    assert give("DFT", 20, x, None, np.int64(0)).tolist() == [[[1, 0], [2, 0], [3, 0]]]


def test_stft_slides():
    found = give("STFT", 17, floats([[1], [2], [3], [4], [5]]), np.int64(2), floats(1, 2))
    assert found.tolist() == [[[[5, 0], [-3, 0]], [[11, 0], [-5, 0]]]]


@pytest.mark.parametrize(
    ("name", "periodic", "gives"),
    [
        ("HannWindow", 1, [0, 0.5, 1, 0.5]),
        ("HannWindow", 0, [0, 0.75, 0.75, 0]),
        ("HammingWindow", 1, [4 / 46, 25 / 46, 1, 25 / 46]),
        ("BlackmanWindow", 1, [0, 0.34, 1, 0.34]),
    ],
)
def test_windows(name: str, periodic: int, gives: list[float]):
    types = {"T1": "tensor(int64)", "T2": "tensor(double)"}
    attributes = {"periodic": periodic, "output_datatype": 11}
    (found,) = expected(Call(find(name, 17), schema(name, 17), types, {"size": np.array(4)}, attributes))
    np.testing.assert_array_equal(found.value, gives)
    assert found.bound is not None
    assert found.bound.max() > 2.0**-26  # the function's body works in float


def test_a_mel_band_has_its_peak_inside_its_edges():
    types = {"T1": "tensor(int64)", "T2": "tensor(float)", "T3": "tensor(float)"}
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    values = (np.array(2), np.array(16), np.array(1600), np.float32(210), np.float32(390))
    operator, version = find("MelWeightMatrix", 17), schema("MelWeightMatrix", 17)
    inputs = dict(zip(names, map(np.asarray, values), strict=True))
    (found,) = answer(Call(operator, version, types, inputs, {}))
    assert np.argwhere(found.value).tolist() == [[3, 0], [3, 1]]


def test_integers_that_no_text_decides_are_unspecified():
    attributes = {"transA": OMITTED, "transB": OMITTED, "alpha": 0.5, "beta": OMITTED}
    (group,) = (g for g in find("Gemm", 13).groups if g.name == "wide_integers")
    drawn = list(group.generate(Draw("seed", {"T": "tensor(int32)"}, attributes)))
    assert [bool(d.unspecified) for d in drawn if isinstance(d, Sample)] == [False, True, True]
