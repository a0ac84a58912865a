"""Matrix products, Einsum, Det, Fourier transforms and windows: values that follow from their documents by hand."""

import math
from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import Expected, expected
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


def mel(T3: str) -> Expected:
    """Two bands from 210 to 390 Hz, of bins that are 100 Hz apart."""
    types = {"T1": "tensor(int64)", "T2": "tensor(float)", "T3": f"tensor({T3})"}
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    values = (np.array(2), np.array(16), np.array(1600), np.float32(210), np.float32(390))
    operator, version = find("MelWeightMatrix", 17), schema("MelWeightMatrix", 17)
    (found,) = expected(Call(operator, version, types, dict(zip(names, map(np.asarray, values), strict=True)), {}))
    return found


def test_mel_weights_are_0_outside_the_edges_and_up_to_1_inside():
    """How triangles meet the bins inside is open: 1, 0.9549 and 0 are all accepted there, 1.1 and -0.1 are not."""
    found = mel("float")
    assert found.bound is not None
    assert found.value.shape == (9, 2)
    inside = np.zeros((9, 2), bool)
    inside[3] = True
    assert (found.value[~inside] == 0).all()
    assert (4 * found.bound[~inside] < 1e-30).all()
    for weight, is_accepted in ((1, True), (0.9549, True), (0, True), (1.1, False), (-0.1, False)):
        assert (np.abs(weight - found.value[inside]) <= 4 * found.bound[inside]).all() == is_accepted


def test_whole_mel_weights_are_0_or_1():
    found = mel("int8")
    accepted = np.stack([found.value, *found.alternatives])
    assert set(accepted[:, 3].ravel().tolist()) == {0, 1}
    assert not np.delete(accepted, 3, axis=1).any()


@pytest.mark.parametrize("since", [12, 28])
@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,jk,kl->li", "ij->i"])
@pytest.mark.parametrize("of", ["int8", "uint8"])
def test_ordinary_sums_fit_the_narrowest_integers(since: int, equation: str, of: str):
    operator = find("Einsum", since)
    (group,) = (one for one in operator.groups if one.name == "ordinary")
    for inputs in group.generate(Draw("seed", {"T": f"tensor({of})"}, {"equation": equation})):
        exact = operator.oracle(*(x.astype(object) for x in inputs["Inputs"]), equation=equation)
        assert np.iinfo(of).min <= exact.min() < exact.max() <= np.iinfo(of).max


def test_alpha_and_beta_may_be_0_and_negative():
    a, b, c = floats([1, 2], [3, 4]), floats([1, 0], [0, 1]), floats([10, 20], [30, 40])
    assert give("Gemm", 13, a, b, c, alpha=0.0, beta=-0.5).tolist() == [[-5, -10], [-15, -20]]
    assert give("Gemm", 7, a, b, c, alpha=-1.5, beta=0.0).tolist() == [[-1.5, -3], [-4.5, -6]]


@pytest.mark.parametrize("of", ["int8", "uint8"])
def test_long_integer_sums_need_more_than_a_float(of: str):
    (group,) = (one for one in find("MatMulInteger", 10).groups if one.name == "long_sums")
    types = {"T1": f"tensor({of})", "T2": f"tensor({of})", "T3": "tensor(int32)"}
    for inputs in group.generate(Draw("seed", types, {})):
        a, b = (inputs[name].astype(np.int64) for name in "AB")
        exact = give("MatMulInteger", 10, *inputs.values(), T3="tensor(int32)")
        zeros = [int(inputs[name]) if name in inputs else 0 for name in ("a_zero_point", "b_zero_point")]
        np.testing.assert_array_equal(exact, (a - zeros[0]) @ (b - zeros[1]))
        assert (exact.astype(np.float32) != exact).all()


def test_integers_that_no_text_decides_are_unspecified():
    attributes = {"transA": OMITTED, "transB": OMITTED, "alpha": 0.5, "beta": OMITTED}
    (group,) = (g for g in find("Gemm", 13).groups if g.name == "wide_integers")
    drawn = list(group.generate(Draw("seed", {"T": "tensor(int32)"}, attributes)))
    assert [bool(d.unspecified) for d in drawn if isinstance(d, Sample)] == [False, True, True]
