"""Operators of two and of several tensors: what their documents say in numbers, and faults that their inputs find."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.operators.math.mod import remainder
from harness.oracles.broadcasting import MULTIDIRECTIONAL, unidirectional
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import Operator, Sample, find, operators
from harness.spec.element_types import BY_NAME, element_type
from harness.spec.schema import schema

INF, NAN = np.inf, np.nan


def of(op: str, since: int, *inputs: Any, **attributes: Any) -> list[Any]:
    """What the oracle gives for one node."""
    version, oracle = schema(op, since), find(op, since)
    assert oracle is not None
    names = [p.name for p in version.inputs]
    variadic = version.inputs[0].option == "variadic"
    given = {names[0]: inputs} if variadic else dict(zip(names, inputs, strict=True))
    types = {
        p.type_str: f"tensor({element_type(x.dtype).name})" for p, x in zip(version.inputs, inputs, strict=False)
    } | ({"T1": "tensor(bool)"} if version.outputs[0].type_str == "T1" else {})
    (found,) = expected(Call(oracle, version, types, given, attributes))
    return found.value.tolist()


def ints(*numbers: int, dtype: str = "int32") -> np.ndarray:
    return np.array(numbers, dtype)


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((), None), ((1, 1), None), ((5,), None), ((4, 5), None), ((3, 4), 1), ((2,), 0)],
)
def test_limited_broadcasting_takes_the_shapes_of_the_document(shape: tuple[int, ...], axis: int | None):
    """The six lines of Add-1, each element by the index that the text means."""
    a, b = np.zeros((2, 3, 4, 5), int), np.arange(np.prod(shape, dtype=int)).reshape(shape)
    found = a + unidirectional(a, b, axis, 1)
    start = (4 - len(shape) if axis is None else axis) if b.size > 1 else 0
    for at in np.ndindex(2, 3, 4, 5):
        assert found[at] == (b[at[start : start + len(shape)]] if b.size > 1 else 0)
    assert unidirectional(a, a, None, 0) is a


def test_integer_division_rounds_toward_zero_and_is_exact():
    assert of("Div", 14, ints(-3, 3, -3, 3), ints(2, 2, -2, -2)) == [-1, 1, 1, -1]
    assert of("Div", 7, ints(2**63 - 1, dtype="int64"), ints(2, dtype="int64")) == [2**62 - 1]


@pytest.mark.parametrize("since", [12, 13, 15])
def test_integer_powers_are_exact_whatever_the_type_of_the_exponents(since: int):
    for exponent in (ints(39, dtype="uint8"), ints(39, dtype="int64"), floats(39), np.array([39], np.float16)):
        assert of("Pow", since, ints(3, dtype="int64"), exponent) == [4052555153018976267]


def test_powers_of_floats_are_those_of_ieee_754():
    base, exponent = floats(1, NAN, 0, -0.0, -1, -INF, -2, 0.5), floats(NAN, 0, 0, -3, INF, 3, 3, -INF)
    assert of("Pow", 15, base, exponent) == [1, 1, 1, -INF, 1, -INF, -8, INF]
    assert np.isnan(of("Pow", 15, floats(-2), floats(0.5))).all()
    assert of("Pow", 15, floats(-2, -0.0, 0), ints(3, -3, 0)) == [-8, -INF, 1]


def test_remainders_have_the_sign_that_each_version_says():
    a, b = ints(-4, 7, 5, 4, -7, 8), ints(2, -3, 8, -2, 3, 5)
    for since in (10, 13, 28):
        assert of("Mod", since, a, b) == [0, -2, 5, 0, 2, 3]
    for since in (10, 28):
        assert of("Mod", since, a, b, fmod=1) == [0, 1, 5, 0, -1, 3]
    assert of("Mod", 13, floats(-4.5, 7, -1), floats(2, -3, INF), fmod=1) == [-0.5, 1, -1]


@pytest.mark.parametrize("fmod", [0, 1])
def test_special_remainders_are_those_of_version_28(fmod: int):
    a = np.array([INF, -INF, NAN, 1, 1, 1, 1, -1, 0.0])
    b = np.array([2, INF, 1, NAN, 0.0, INF, -INF, INF, -2])
    with np.errstate(all="ignore"):
        found = remainder(a, b, fmod)
    assert np.isnan(found[:5]).all()
    assert found[5:8].tolist() == ([1, 1, -1] if fmod else [1, -INF, INF])
    assert (found[8], np.signbit(found[8])) == (0, not fmod)


def test_bits_are_shifted_as_each_version_says():
    assert of("BitShift", 11, ints(1, 4, dtype="uint8"), ints(1, 1, dtype="uint8"), direction="RIGHT") == [0, 2]
    assert of("BitShift", 11, ints(1, 2, dtype="uint8"), ints(1, 2, dtype="uint8"), direction="LEFT") == [2, 8]
    x, y = ints(-8, 8, -1, 1, -128, dtype="int8"), ints(1, 8, -1, 127, 7, dtype="int8")
    assert of("BitShift", 28, x, y, direction="RIGHT") == [-4, 0, -1, 0, -1]
    assert of("BitShift", 28, x, y, direction="LEFT") == [-16, 0, 0, 0, 0]


def test_expanded_shapes_follow_the_broadcast_rule():
    column = np.zeros((3, 1), np.float32)
    for to, shape in (([2, 1, 6], (2, 3, 6)), ([3, 4], (3, 4)), ([1], (3, 1)), ([], (3, 1)), ([0], (3, 0))):
        assert np.shape(of("Expand", 8, column, np.array(to, np.int64))) == shape


def test_a_mean_does_not_overflow_halfway():
    assert of("Mean", 13, *(np.array([60000], np.float16),) * 3) == [60000]


def through(kind: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The function of integers by way of a floating-point type."""

    def mistaken(a: Any, b: Any, /, **_: Any) -> Any:
        with np.errstate(all="ignore"):
            found = np.trunc(function(a.astype(kind), b.astype(kind)))
        return np.where(np.isfinite(found), found, 0).astype(object)

    return mistaken


FAULTS: dict[str, tuple[str, int, str, Callable[..., Any]]] = {
    "Div through float": ("Div", 14, "int32", through("float32", np.divide)),
    "Div through double": ("Div", 14, "int64", through("float64", np.divide)),
    "Div that floors": ("Div", 14, "int8", lambda a, b, /, **_: a // np.where(b == 0, 1, b)),
    "Add through double": ("Add", 14, "uint64", through("float64", np.add)),
    "Mul through float": ("Mul", 14, "int32", through("float32", np.multiply)),
    "Mod of the other sign": (
        "Mod",
        13,
        "int64",
        lambda a, b, /, **_: np.fmod(a.astype(int), b.astype(int)).astype(object),
    ),
    "Mod through double": ("Mod", 10, "int64", through("float64", np.mod)),
    "Pow through double": ("Pow", 15, "int64", through("float64", np.power)),
    "Equal through float": ("Equal", 7, "int32", lambda a, b, /, **_: a.astype("f4") == b.astype("f4")),
    "Equal of NaN": ("Equal", 19, "double", lambda a, b, /, **_: (a == b) | (np.isnan(a) & np.isnan(b))),
    "Equal without case": ("Equal", 19, "string", lambda a, b, /, **_: np.strings.lower(a) == np.strings.lower(b)),
    "Less or equal": ("Less", 13, "bfloat16", lambda a, b, /, **_: a <= b),
    "Less of signed": (
        "Less",
        13,
        "uint64",
        lambda a, b, /, **_: a.astype("u8").view("i8") < b.astype("u8").view("i8"),
    ),
    "not Less": ("GreaterOrEqual", 16, "float", lambda a, b, /, **_: ~(a < b)),
    "BitShift by the rest": (
        "BitShift",
        28,
        "int16",
        lambda a, b, /, direction, **_: a << b % 16 if direction == "LEFT" else a >> b % 16,
    ),
    "BitShift without sign": (
        "BitShift",
        28,
        "int8",
        lambda a, b, /, direction, **_: np.where(
            (b >= 0) & (b < 8), (a << np.abs(b)) if direction == "LEFT" else (a & 255) >> np.abs(b), 0
        ),
    ),
    "Max of two": ("Max", 13, "int32", lambda *x, **_: x[0] if len(x) == 1 else np.maximum(x[0] + 0 * x[-1], x[1])),
    "Min through double": ("Min", 12, "int64", lambda *x, **_: functools.reduce(through("f8", np.minimum), x)),
    "Mean of two": ("Mean", 13, "double", lambda *x, **_: sum(x) / 2),
}


def drawn(oracle: Operator, types: dict[str, str]) -> Any:
    """Attributes and inputs of every group that is scored for these types."""
    for values in itertools.product(*oracle.attributes.values()):
        attributes = dict(zip(oracle.attributes, values, strict=True))
        for group in oracle.groups:
            if group.admits(types) and not group.unspecified:
                for one in group.generate(Draw(group.name, types, attributes)):
                    inputs, unspecified = (one.inputs, one.unspecified) if isinstance(one, Sample) else (one, "")
                    if not unspecified:
                        yield attributes, inputs


@pytest.mark.parametrize("fault", FAULTS)
def test_inputs_tell_a_fault(fault: str):
    op, since, name, mistaken = FAULTS[fault]
    oracle, version = find(op, since), schema(op, since)
    assert oracle is not None
    types = {v: f"tensor({name})" if f"tensor({name})" in of else of[0] for v, of in version.variables.items()}
    wrong = msgspec.structs.replace(oracle, oracle=mistaken)
    for attributes, inputs in drawn(oracle, types):
        want, got = (answer(Call(each, version, types, inputs, attributes))[0].value for each in (oracle, wrong))
        if not np.array_equal(want, got, equal_nan=BY_NAME[name].kind == "float"):
            return
    pytest.fail(f"{fault} is told by no input.")


def test_every_manner_of_broadcasting_is_tried():
    for a, b in MULTIDIRECTIONAL:
        np.broadcast_shapes(a, b)
    kinds = {(len(a) - len(b) > 0, len(a) - len(b) < 0, 0 in a + b, 1 in a, 1 in b) for a, b in MULTIDIRECTIONAL}
    assert len(kinds) > 12


def test_what_texts_leave_open_is_unspecified():
    mine = {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Sum"}
    found = {(o.name, group.name) for o in operators() for group in o.groups if group.unspecified and o.name in mine}
    assert found == {
        ("Add", "wrap_around"),
        ("Sub", "wrap_around"),
        ("Mul", "wrap_around"),
        ("Div", "zero_divisors"),
        ("Div", "least_by_minus_one"),
        ("Mod", "zero_divisors"),
        ("Max", "nan"),
        ("Min", "nan"),
        ("Sum", "overflow_halfway"),
    }
