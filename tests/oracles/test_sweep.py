"""Sweeps: which operators have one, that it holds every value whose answer is decided, and what a few must give."""

from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import expected
from harness.oracles.node import Call
from harness.oracles.operator import find, operators
from harness.oracles.sweep import NARROW
from harness.spec.element_types import BY_NAME
from harness.spec.schema import newest

ACROSS = {"Softmax", "LogSoftmax", "Hardmax", "Det", "BlackmanWindow", "HammingWindow", "HannWindow"}
"""Operators of one tensor that are no functions of each element."""
BOOLEAN = {"Not"}


def swept(op: str, since: int, of: str, **attributes: Any) -> np.ndarray:
    found = find(op, since)
    assert found
    (group,) = found.sweeps
    ((x,),) = [one.values() for one in group.generate(Draw("", {"T": f"tensor({of})"}, attributes))]
    return x


def bits(x: np.ndarray) -> list[int]:
    return x.view(f"u{x.itemsize}").tolist()


def test_every_function_of_one_tensor_has_a_sweep():
    of_one = {
        o.name
        for o in operators()
        for version in o.schemas[:1]
        if version.since == newest(version)
        and version.category in ("math", "logical")
        and [p.option for p in version.inputs] == ["single"]
        and len(version.outputs) == 1
    }
    assert of_one - {o.name for o in operators() if o.sweeps} == ACROSS | BOOLEAN


@pytest.mark.parametrize("name", NARROW)
def test_every_value_is_there_once(name: str):
    element = BY_NAME[name]
    x = Draw("", {"T": f"tensor({name})"}, {}).T.all_values()
    assert x.dtype == element.dtype
    assert bits(x) == list(range(2**element.bits))


def test_a_value_without_an_answer_is_one():
    assert bits(swept("Exp", 13, "float16")) == list(range(65536))
    assert swept("Abs", 13, "int8").tolist() == [*range(128), 1, *range(-127, 0)]
    assert bits(swept("Abs", 13, "uint8")) == list(range(256))
    sign = swept("Sign", 13, "bfloat16")
    nan = (np.arange(65536) & 0x7FFF) > 0x7F80
    assert nan.sum() == 254
    assert set(sign[nan].tolist()) == {1}
    assert bits(sign[~nan]) == np.flatnonzero(~nan).tolist()
    assert bits(swept("Relu", 14, "int8")) == list(range(256)), "max(0, -128) is no overflow"
    assert np.isinf(swept("HardSigmoid", 22, "float16", alpha=3.0)).sum() == 2
    assert np.isinf(swept("HardSigmoid", 22, "float16", alpha=0.0)).sum() == 0, "0 times an infinity is NaN"


def test_sigmoids_that_vanish_halfway_are_left_out():
    for alpha, lost in ((None, -12.0), (-1.5, 8.0)):
        x = swept("Swish", 24, "float16", **({} if alpha is None else {"alpha": alpha}))
        assert lost not in x
        assert -lost in x


def test_square_roots_are_those_of_double_rounded_once():
    """A witness that shares nothing with the balls: 53 bits are more than twice 11, so rounding twice is harmless."""
    found = find("Sqrt", 13)
    assert found
    x = swept("Sqrt", 13, "float16")
    (of,) = expected(Call(found, found.schemas[0], {"T": "tensor(float16)"}, {"X": x}, {}))
    with np.errstate(invalid="ignore"):
        want = np.sqrt(x.astype(np.float64)).astype(np.float16)
    assert np.array_equal(of.value, want, equal_nan=True)
