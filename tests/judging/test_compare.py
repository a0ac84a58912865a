"""Verdicts and messages: number of outputs, types, shapes, values; in tensors, sequences, optionals and maps."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from harness.judging.compare import BoundsShapeMismatch, ExpectedAnswer, check_types, compare
from harness.spec.element_types import BY_NAME
from harness.spec.values import SparseTensor, parse_type
from harness.suite.cases import Case, DataSet, Labels


def case(*outputs, judged="bounds", rtol=1e-3, atol=1e-7):
    return Case("test_x", Labels(op="X"), (), outputs, (DataSet("g"),), rtol, atol, judged=judged)


def names(*known):
    return lambda: known or ("y", "z")


def judged(of, got, want, bounds=None, **options):
    return compare(case(of, **options), ExpectedAnswer([want], lambda _: bounds, names()), [got])


def floats(*values):
    return np.array(values, np.float32)


def types(*texts):
    return [parse_type(text) for text in texts]


def test_counts_come_first():
    two = case("tensor(float)", "tensor(int64)")
    assert check_types(two, types("tensor(double)"), names()).message == "1 output, want 2"
    assert check_types(two, types("tensor(float)", "tensor(int64)"), names()) is None
    wrong = check_types(two, types("tensor(float)", "tensor(int32)"), names())
    assert (wrong.verdict, wrong.message) == ("wrong_type", "z: tensor(int32), want tensor(int64)")


def test_a_value_is_accepted_for_an_optional():
    one = case("optional(tensor(float))")
    assert check_types(one, types("tensor(float)"), names()) is None
    assert check_types(one, types("tensor(double)"), names()).verdict == "wrong_type"
    assert check_types(case("tensor(float)"), types("optional(tensor(float))"), names()).verdict == "wrong_type"


def test_an_output_without_name_has_a_number():
    assert check_types(case("tensor(float)"), types("tensor(int8)"), names("")).message.startswith("output_0: ")


def test_identical_bytes_pass_without_reading_bounds():
    def never(_):
        raise AssertionError

    found = compare(case("tensor(float)"), ExpectedAnswer([floats(1, np.nan)], never, never), [floats(1, np.nan)])
    assert (found.verdict, found.error, found.ulps, found.onnx_tolerance, found.elements) == (
        "passed",
        0.0,
        0.0,
        True,
        2,
    )


def test_the_message_shows_the_first_difference():
    want = np.zeros((3, 8), np.float16)
    got = want.copy()
    want[2, 1], got[2, 1] = 1.502, 1.5
    got[2, 3:5] = 7
    found = judged("tensor(float16)", got, want, np.full((3, 8), (1.502 - 1.5) / 6.1, np.float32))
    assert found.message == "y[2,1] = 1.5, want 1.502 (float16; 6 bounds, 4 allowed); 3 of 24 differ"
    assert (found.verdict, found.differing, found.elements, found.onnx_tolerance) == ("wrong_value", 3, 24, False)


@pytest.mark.parametrize(
    ("of", "got", "want", "message"),
    [
        ("tensor(int32)", np.int32(7), np.int32(8), "y = 7, want 8 (int32); 1 of 1 differ"),
        (
            "tensor(uint64)",
            np.array([2**64 - 1], np.uint64),
            np.array([0], np.uint64),
            "y[0] = 18446744073709551615, want 0 (uint64)",
        ),
        ("tensor(bool)", np.array([True]), np.array([False]), "y[0] = True, want False (bool)"),
        ("tensor(string)", np.array(["a"], object), np.array(["ä"], object), "y[0] = 'a', want 'ä' (string)"),
        ("tensor(float)", floats(1), floats(1 + 2**-23), "y[0] = 1, want 1.0000001 (float)"),
        (
            "tensor(double)",
            np.array([0.1]),
            np.array([np.nextafter(0.1, 1)]),
            "y[0] = 0.10000000000000001, want 0.10000000000000002",
        ),
        ("tensor(complex64)", np.array([1 + 2j], "c8"), np.array([1 - 2j], "c8"), "y[0] = 1+2j, want 1-2j (complex64)"),
        (
            "tensor(bfloat16)",
            np.array([1], ml_dtypes.bfloat16),
            np.array([2], ml_dtypes.bfloat16),
            "y[0] = 1, want 2 (bfloat16)",
        ),
        ("tensor(int4)", np.array([-8], ml_dtypes.int4), np.array([7], ml_dtypes.int4), "y[0] = -8, want 7 (int4)"),
        ("tensor(float)", floats([1, 2]), floats([1], [2]), "y: shape [1,2], want [2,1]"),
        ("tensor(float)", floats(), np.float32(1), "y: shape [0], want []"),
        ("seq(tensor(float))", [floats(1)], [floats(1), floats(2)], "y: 1 items, want 2"),
        ("seq(tensor(float))", [floats(1), floats(3)], [floats(1), floats(2)], "y[1][0] = 3, want 2 (float)"),
        ("optional(tensor(float))", None, floats(2), "y: nothing, want a value"),
        ("optional(tensor(float))", floats(2), None, "y: a value, want nothing"),
        ("optional(seq(tensor(float)))", [floats(2)], [floats(1)], "y[0][0] = 2, want 1 (float)"),
        ("map(string,tensor(float))", {"a": floats(1)}, {"b": floats(1)}, "y: keys ['a'], want ['b']"),
        ("map(int64,tensor(float))", {3: floats(1)}, {3: floats(2)}, "y[3][0] = 1, want 2 (float)"),
        (
            "sparse_tensor(float)",
            SparseTensor(floats(1), np.array([4]), (2, 3)),
            SparseTensor(floats(1), np.array([[1, 2]]), (2, 3)),
            "y: the values have other indices than expected",
        ),
    ],
)
def test_messages(of, got, want, message):
    found = judged(
        of,
        np.asarray(got) if isinstance(got, np.generic) else got,
        np.asarray(want) if isinstance(want, np.generic) else want,
    )
    assert found.message.startswith(message)
    assert found.verdict == ("wrong_shape" if "shape" in message or "items" in message else "wrong_value")


def test_sparse_indices_have_two_forms():
    one = SparseTensor(floats(1, 2), np.array([1, 5]), (2, 3))
    other = SparseTensor(floats(1, 2), np.array([[0, 1], [1, 2]]), (2, 3))
    assert judged("sparse_tensor(float)", one, other).verdict == "passed"


def test_by_tolerance_there_is_no_error_in_bounds():
    found = judged("tensor(float)", floats(1.0005), floats(1), judged="tolerance")
    assert (found.verdict, found.error, found.onnx_tolerance) == ("passed", None, True)
    found = judged("tensor(float)", floats(1.5), floats(1), judged="tolerance", rtol=1e-2)
    assert found.message == "y[0] = 1.5, want 1 (float; rtol 0.01, atol 1e-07); 1 of 1 differ"
    assert judged("tensor(float)", floats(1), floats(1), judged="tolerance").error is None


def test_the_verdicts_by_bounds_and_by_onnx_tolerance_are_independent():
    found = judged("tensor(float)", floats(1.0005), floats(1), floats(1e-6))
    assert (found.verdict, found.onnx_tolerance) == ("wrong_value", True)
    found = judged("tensor(float)", floats(1.5), floats(1), floats(1))
    assert (found.verdict, found.onnx_tolerance, found.error) == ("passed", False, 0.5)


def test_the_worst_of_all_outputs_counts():
    two = case("tensor(float)", "tensor(float)")
    bounds = [floats(1), None]
    found = compare(two, ExpectedAnswer([floats(1), floats(2)], bounds.__getitem__, names()), [floats(3), floats(2)])
    assert (found.verdict, found.error, found.elements) == ("passed", 2.0, 2)
    found = compare(two, ExpectedAnswer([floats(1), floats(2)], bounds.__getitem__, names()), [floats(3), floats(4)])
    assert (found.verdict, found.error) == ("wrong_value", "inf")
    assert found.message.startswith("z[0] = 4, want 2")


def test_shapes_come_before_values():
    two = case("tensor(float)", "tensor(float)")
    found = compare(two, ExpectedAnswer([floats(1), floats(2)], lambda _: None, names()), [floats(3), floats(2, 2)])
    assert (found.verdict, found.message) == ("wrong_shape", "z: shape [2], want [1]")


def test_bounds_of_another_shape_are_an_error_of_the_suite():
    with pytest.raises(BoundsShapeMismatch, match=r"bounds of output_0 have the shape \[2\]"):
        judged("tensor(float)", floats(1), floats(2), floats(1, 1))


@given(st.data(), array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
def test_counts_are_consistent(data, shape):
    of = st.floats(width=32) | st.sampled_from([0.0, -0.0, np.inf, np.nan])
    want, got = (data.draw(arrays(np.float32, shape, elements=of)) for _ in range(2))
    bounds = data.draw(st.none() | arrays(np.float32, shape, elements=st.floats(0, 2.0**100, width=32)))
    found = judged("tensor(float)", got, want, bounds)
    assert found.elements == want.size
    assert (found.verdict == "passed") == (found.differing == 0) == (float(found.error) <= 4)
    assert bool(found.message) == (found.differing > 0)
    assert judged("tensor(float)", want, want, bounds).verdict == "passed"


def test_alternatives_are_accepted_element_by_element():
    case = Case("c", Labels("QuantizeLinear"), (), ("tensor(int8)",), (DataSet("near_ties"),), 0.0, 0.0, "bounds")
    want, below, above = (np.array(values, np.int8) for values in ([2, 5, 7], [2, 4, 7], [3, 5, 7]))

    def judged(*got: int):
        return compare(
            case,
            ExpectedAnswer([want], names=lambda: ["y"], alternatives=lambda _: [below, above]),
            [np.array(got, np.int8)],
        )

    for got in ((2, 5, 7), (3, 4, 7), (2, 4, 7)):
        assert (judged(*got).verdict, judged(*got).error) == ("passed", 0.0)
    wrong = judged(3, 6, 7)
    assert (wrong.verdict, wrong.differing, wrong.error) == ("wrong_value", 1, "inf")
    assert wrong.message == "y[1] = 6, want 5 (int8); 1 of 3 differ"


def test_unspecified_elements_may_have_any_value_and_the_others_are_judged():
    """The mask takes its elements out of the comparison; the shape is still wanted."""
    want = ExpectedAnswer([floats(1, 2, 3)], mask=lambda _: np.array([False, True, False]))
    for got, verdict in (
        (floats(1, np.nan, 3), "passed"),
        (floats(1, 7, 4), "wrong_value"),
        (floats(1, 2), "wrong_shape"),
    ):
        assert compare(case("tensor(float)"), want, [got]).verdict == verdict


@pytest.mark.parametrize("of", ["float16", "float", "double", "bfloat16", "complex64", "complex128"])
def test_signs_of_zeros_and_bits_of_nan_count_where_they_are_asked_for(of: str):
    element = BY_NAME[of]
    zero = np.zeros(2, element.dtype)
    negative = -zero
    nan = np.full(2, np.nan, element.dtype)
    other = nan.copy()
    other.view(np.uint8)[..., 0] ^= 1
    for bits, verdicts in (
        ("", ("passed", "passed")),
        ("signs", ("wrong_value", "passed")),
        ("all", ("wrong_value", "wrong_value")),
    ):
        for want, got, verdict in ((zero, negative, verdicts[0]), (nan, other, verdicts[1])):
            found = compare(case(f"tensor({of})"), ExpectedAnswer([want]), [got], lambda _, bits=bits: bits)
            assert found.verdict == verdict, (bits, found.message)
    assert "(0x" in found.message


SPELLINGS = [
    ("0.5", "0.50", True),
    ("0.5", "5e-1", True),
    ("0.5", "0.49999", False),
    ("1000", "1000.0", True),
    ("1000", "1e+03", True),
    ("9223372036854775807", "9223372036854775806", False),
    ("9223372036854775807", "9.223372036854775807E18", True),
    ("inf", "INF", True),
    ("inf", "+Infinity", True),
    ("inf", "-inf", False),
    ("nan", "NaN", True),
    ("nan", "-nan", True),
    ("nan", "0", False),
    ("0.5", "", False),
    ("0.5", "half", False),
    ("10", "1_0", False),
    ("1", "\u0661", False),
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
def test_strings_may_be_compared_as_the_numbers_that_they_spell(spelling: tuple[str, str, bool]):
    """Exactly, in any notation; without it they are compared letter by letter."""
    want, got, same = spelling
    for numbers, verdict in ((True, "passed" if same else "wrong_value"), (False, "wrong_value")):
        expected = ExpectedAnswer([np.array([want], object)], numbers=numbers)
        assert compare(case("tensor(string)"), expected, [np.array([got], object)]).verdict == verdict


def test_words_and_other_shapes_are_compared_as_they_are():
    want = ExpectedAnswer([np.array(["1", "one"], object)], numbers=True)
    for got, verdict in ((["1.0", "one"], "passed"), (["1.0", "One"], "wrong_value"), (["1"], "wrong_shape")):
        assert compare(case("tensor(string)"), want, [np.array(got, object)]).verdict == verdict
