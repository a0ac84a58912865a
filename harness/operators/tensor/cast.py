"""Cast and CastLike: each element as a value of another type, rounded, wrapped or saturated where that has no such."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from harness.numbers.rounding import format_of, last_bit, round_exact
from harness.operators.tensor.cast_inputs import number, sorted_out
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Operator, Sample, TypeOf, Types, operator
from harness.spec.element_types import BY_CODE, ElementType


def converted(
    input: np.ndarray, of: ElementType, to: ElementType, /, *, saturate: int = 1, round_mode: str = "up", **_: Any
) -> np.ndarray:
    """Each element for itself, from its exact value."""

    def one(x: Any) -> Any:
        if to.kind == "string":
            return spelt(x, of)
        value = number(x) if of.kind == "string" else x
        match to.kind:
            case "bool":
                return bool(value != 0)
            case "signed" | "unsigned":
                return int(value) if math.isfinite(value) else 0
            case _ if to.name == "float8e8m0":
                return power_of_two(value, to, saturate=saturate, round_mode=round_mode)
            case _:
                return real(value, to, saturate=saturate)

    if of is to:
        return input
    return np.asarray(np.frompyfunc(one, 1, 1)(input.astype(object)), dtype=object)


def spelt(x: Any, of: ElementType) -> str:
    """An integer in decimal; a float in "plain floating-point representation", with the digits that tell it apart."""
    if of.format is None or not math.isfinite(x):
        return str(x)
    return np.format_float_positional(of.dtype.type(x) if of.dtype.char in "efd" else np.float32(x), trim="0")


def real(x: Any, to: ElementType, *, saturate: int) -> float:
    """To nearest, ties to even: "RNE" for float 8, and IEEE 754's default where the text does not say.

    "Casting from floating point to floating point: +/- infinity if OOR"; ``saturate`` "only applies for float 8
    conversion". float4e2m1 and float6 lack the infinity: they saturate, and NaN is 0, as in the official data.
    """
    form, saturates = format_of(to), bool(saturate) and to.name.startswith("float8")
    if math.isnan(x):
        return math.nan if form.nan else 0.0
    if x == 0:
        return float(x)
    if math.isinf(x):
        return math.copysign(round_exact(2**1024, to, saturate=saturates), x)
    return round_exact(Fraction(x), to, saturate=saturates)


def power_of_two(x: Any, to: ElementType, *, saturate: int, round_mode: str) -> float:
    """float8e8m0: "up" to the next "value away from zero", "down" "towards zero", "nearest", where "ties round up".

    What is out of range becomes the nearer end with ``saturate``, else NaN. The table saturates 0 to "0", which the
    type lacks: in the official data it is the code 0, which is 2^-127. Negative values are undefined.
    """
    form = format_of(to)
    smallest = 2.0**form.emin
    if math.isnan(x) or x < 0 or not (saturate or smallest <= x <= form.maximum):
        return math.nan
    if not smallest < x < form.maximum:
        return smallest if x <= smallest else form.maximum
    if round_mode == "nearest":
        return round_exact(Fraction(x), to)
    below = 2.0 ** last_bit(Fraction(x), form)
    return below if round_mode == "down" or x == below else 2 * below


def by_cast(input: np.ndarray, *, T1: ElementType, T2: ElementType, **attributes: Any) -> np.ndarray:
    """Into the type ``to``."""
    return converted(input, T1, T2, **attributes)


def by_cast_like(
    input: np.ndarray, _: np.ndarray, /, *, T1: ElementType, T2: ElementType, **attributes: Any
) -> np.ndarray:
    """Into the type of ``target_type``, whose values mean nothing; "See documentation of the Cast operator"."""
    return converted(input, T1, T2, **attributes)


def name_of_type(types: Types) -> str:
    """``to`` of Cast-1, a STRING: "must be one of the types from DataType enum in TensorProto"."""
    return BY_CODE[TypeOf("T2")(types)].name.upper()


FEW = ("bool", "int2", "uint2", "int4", "uint4", "float4e2m1", "float6e2m3", "float6e3m2")
"""Types of which no value is out of the range of a float 8 type other than float8e8m0."""


def _of_float8(T2: str, saturate: Any) -> bool:
    """``saturate`` "only applies for float 8 conversion"."""
    return saturate is OMITTED or "float8" in T2


def _of_e8m0(T2: str, round_mode: Any) -> bool:
    """``round_mode`` "only applies to casting to float8e8m0"."""
    return round_mode is OMITTED or "float8e8m0" in T2


def _some_decided(T1: str, T2: str) -> bool:
    """Nothing says which strings are true, nor how Booleans are spelt."""
    return {T1, T2} != {"tensor(bool)", "tensor(string)"}


def _worth_trying(T1: str, T2: str, saturate: Any, round_mode: Any) -> bool:
    """All attributes from float; from other types those that matter, without the defaults said aloud."""
    if T1 == "tensor(float)":
        return True
    if saturate == 1 or round_mode == "up":
        return False
    if "float8e8m0" in T2:
        return saturate is OMITTED or round_mode == "nearest"
    return saturate is OMITTED or not any(f"({name})" in T1 for name in (*FEW, "string"))


def _from_float(T1: str, saturate: Any, round_mode: Any) -> bool:
    """Attributes that mean what they mean in Cast are tried from float alone."""
    return T1 == "tensor(float)" or (saturate is OMITTED and round_mode is OMITTED)


SATURATING: Any = {"exact": True, "saturate": FLAG}
ROUNDING: Any = {**SATURATING, "round_mode": (OMITTED, "up", "down", "nearest")}
TO: Any = {"to": (TypeOf("T2"),)}
OLDER = (_of_float8, _of_e8m0, _some_decided)

cast = operator(
    "Cast", since=28, full_product=True, constraints=[_of_float8, _of_e8m0, _worth_trying], **ROUNDING, **TO
)(by_cast)
cast_24 = operator("Cast", since=(25, 24), constraints=OLDER, **ROUNDING, **TO)(by_cast)
cast_19 = operator("Cast", since=(23, 21, 19), constraints=OLDER, **SATURATING, **TO)(by_cast)
cast_13 = operator("Cast", since=13, exact=True, constraints=OLDER, **TO)(by_cast)
cast_9 = operator("Cast", since=(9, 6), exact=True, constraints=OLDER, **TO)(by_cast)
cast_1 = operator("Cast", since=1, exact=True, constraints=OLDER, to=(name_of_type,))(by_cast)
cast_like = operator(
    "CastLike", since=25, full_product=True, constraints=[_of_float8, _of_e8m0, _from_float], **ROUNDING
)(by_cast_like)
cast_like_24 = operator("CastLike", since=24, constraints=OLDER, **ROUNDING)(by_cast_like)
cast_like_19 = operator("CastLike", since=(23, 21, 19), constraints=OLDER, **SATURATING)(by_cast_like)
cast_like_15 = operator("CastLike", since=15, exact=True, constraints=OLDER)(by_cast_like)


def try_out(op: Operator) -> None:
    """Gives versions of one text their groups."""
    like = op.name == "CastLike"

    def inputs(draw: Draw, x: np.ndarray) -> Inputs:
        if not like:
            return {"input": x}
        target = draw.T2.ordinary((3,)) if draw.T2.element.kind in ("bool", "string") else draw.T2.specials()
        return {"input": x, "target_type": target}

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Sample]:
        """Each edge of the conversion: every value of a source of at most 8 bits, of others those beside a tie.

        Ties between neighbours of the target, what lies just beside them, its subnormals, its ends and what is beyond,
        wherever integers wrap around, NaN, infinities, zeros. In one tensor if the text decides, those it leaves open
        in another one.
        """
        parts = [*sorted_out(draw, op.since[0])]
        size = max(len(x) for x, _ in parts) // 2 * 2 + 1  # odd, so that narrow types do not fill their last byte
        for x, reason in parts:
            if not (like and reason and len(parts) > 1):
                yield Sample(inputs(draw, np.resize(x, size)), unspecified=reason)

    if op in (cast, cast_like):

        @op.inputs(T1="double", T2=("bfloat16", "int64"))
        def shapes(draw: Draw) -> Iterator[Inputs]:
            """0-D, no elements, rank 4."""
            for shape in ((), (2, 0, 3), (3, 2, 1, 5)):
                yield inputs(draw, draw.T1.integers(-9, 9, shape))


for one in (cast, cast_24, cast_19, cast_13, cast_9, cast_1, cast_like, cast_like_24, cast_like_19, cast_like_15):
    try_out(one)
