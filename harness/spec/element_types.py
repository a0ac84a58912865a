"""The element types of ONNX tensors: one row each of the names, storage and number formats they have."""

from functools import cache
from typing import Literal

import ml_dtypes
import msgspec
import numpy as np

from harness.errors import UsageError

Bits = Literal["", "signs", "all"]
"""Which bits of equal floats are compared: none, the ``signs`` of zeros, or ``all``, those of NaN included."""

Kind = Literal["float", "complex", "signed", "unsigned", "bool", "string"]


class FloatFormat(msgspec.Struct, frozen=True):
    """A binary floating-point format: the values are 0 (where there is one) and ``±m · 2^e``."""

    precision: int
    """Significand bits, the hidden one included."""
    emin: int
    """Exponent of the smallest normal number, which is ``2^emin``."""
    maximum: float
    """The largest finite value; every format here fits a double."""
    infinity: bool = True
    nan: bool = True
    negative_zero: bool = True
    zero: bool = True
    """False only for float8e8m0, whose values are the powers of two and NaN."""

    @property
    def smallest(self) -> int:
        """The exponent of the spacing of the subnormals, which are the multiples of ``2^smallest``."""
        return self.emin - self.precision + 1

    @property
    def signed(self) -> bool:
        """Whether there are negative values."""
        return self.zero


class ElementType(msgspec.Struct, frozen=True, eq=False):
    """An element type: how schemas spell it, its number in TensorProto, and how NumPy and the disk hold it.

    There is one object a type, so identity is equality.
    """

    name: str
    """As inside ``tensor(…)`` in a schema: ``float``, ``double``, ``float8e4m3fn`` …"""
    code: int
    """TensorProto.DataType."""
    kind: Kind
    bits: int
    """Bits an element takes in ``raw_data``; 0 for strings, which have none."""
    dtype: np.dtype
    """In memory; ml_dtypes where NumPy has no such type, object (of ``str``) for strings."""
    format: FloatFormat | None = None
    """For floats the format; for complex types that of each part."""

    def __repr__(self) -> str:
        return self.name

    @property
    def minimum(self) -> int:
        """The smallest value of an integer type."""
        return -(1 << self.bits - 1) if self.kind == "signed" else 0

    @property
    def maximum(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - 1 if self.kind == "signed" else self.bits)) - 1

    @property
    def tiny(self) -> float:
        """What a runtime that flushes subnormals may lose (``numbers.md``, the rule); 0 for exact types."""
        if self.format is None:
            return 0.0
        return 2.0**-24 if self.name == "float16" else 2.0**self.format.emin


def _float(
    name: str, code: int, bits: int, dtype: type, precision: int, emin: int, maximum: float, **lacks: bool
) -> ElementType:
    form = FloatFormat(precision, emin, maximum, **lacks)
    return ElementType(name, code, "float", bits, np.dtype(dtype), form)


_SINGLE = FloatFormat(24, -126, float(np.finfo(np.float32).max))
_DOUBLE = FloatFormat(53, -1022, float(np.finfo(np.float64).max))

ELEMENT_TYPES: tuple[ElementType, ...] = (
    ElementType("float", 1, "float", 32, np.dtype(np.float32), _SINGLE),
    ElementType("uint8", 2, "unsigned", 8, np.dtype(np.uint8)),
    ElementType("int8", 3, "signed", 8, np.dtype(np.int8)),
    ElementType("uint16", 4, "unsigned", 16, np.dtype(np.uint16)),
    ElementType("int16", 5, "signed", 16, np.dtype(np.int16)),
    ElementType("int32", 6, "signed", 32, np.dtype(np.int32)),
    ElementType("int64", 7, "signed", 64, np.dtype(np.int64)),
    ElementType("string", 8, "string", 0, np.dtype(object)),
    ElementType("bool", 9, "bool", 8, np.dtype(np.bool_)),
    _float("float16", 10, 16, np.float16, 11, -14, 65504.0),
    ElementType("double", 11, "float", 64, np.dtype(np.float64), _DOUBLE),
    ElementType("uint32", 12, "unsigned", 32, np.dtype(np.uint32)),
    ElementType("uint64", 13, "unsigned", 64, np.dtype(np.uint64)),
    ElementType("complex64", 14, "complex", 64, np.dtype(np.complex64), _SINGLE),
    ElementType("complex128", 15, "complex", 128, np.dtype(np.complex128), _DOUBLE),
    _float("bfloat16", 16, 16, ml_dtypes.bfloat16, 8, -126, (2 - 2.0**-7) * 2.0**127),
    _float("float8e4m3fn", 17, 8, ml_dtypes.float8_e4m3fn, 4, -6, 448.0, infinity=False),
    _float("float8e4m3fnuz", 18, 8, ml_dtypes.float8_e4m3fnuz, 4, -7, 240.0, infinity=False, negative_zero=False),
    _float("float8e5m2", 19, 8, ml_dtypes.float8_e5m2, 3, -14, 57344.0),
    _float("float8e5m2fnuz", 20, 8, ml_dtypes.float8_e5m2fnuz, 3, -15, 57344.0, infinity=False, negative_zero=False),
    ElementType("uint4", 21, "unsigned", 4, np.dtype(ml_dtypes.uint4)),
    ElementType("int4", 22, "signed", 4, np.dtype(ml_dtypes.int4)),
    _float("float4e2m1", 23, 4, ml_dtypes.float4_e2m1fn, 2, 0, 6.0, infinity=False, nan=False),
    _float(
        "float8e8m0",
        24,
        8,
        ml_dtypes.float8_e8m0fnu,
        1,
        -127,
        2.0**127,
        infinity=False,
        negative_zero=False,
        zero=False,
    ),
    ElementType("uint2", 25, "unsigned", 2, np.dtype(ml_dtypes.uint2)),
    ElementType("int2", 26, "signed", 2, np.dtype(ml_dtypes.int2)),
    _float("float6e2m3", 27, 6, ml_dtypes.float6_e2m3fn, 4, 0, 7.5, infinity=False, nan=False),
    _float("float6e3m2", 28, 6, ml_dtypes.float6_e3m2fn, 3, -2, 28.0, infinity=False, nan=False),
)

BY_NAME = {t.name: t for t in ELEMENT_TYPES}
BY_CODE = {t.code: t for t in ELEMENT_TYPES}
_BY_DTYPE = {t.dtype: t for t in ELEMENT_TYPES}


class UnknownElementType(UsageError):
    """A name, a TensorProto code or a dtype that no element type has."""


def element_type(key: str | int | np.dtype) -> ElementType:
    """The element type of a schema's name, a TensorProto code or a NumPy dtype (``np.str_`` of any width is a string).

    Raises UnknownElementType.
    """
    found = BY_NAME.get(key) if isinstance(key, str) else BY_CODE.get(key) if isinstance(key, int) else _of_dtype(key)
    if found is None:
        raise UnknownElementType(f"{key!r} is no ONNX element type.", f"Known are {', '.join(BY_NAME)}.")
    return found


@cache
def _of_dtype(dtype: np.dtype) -> ElementType | None:
    if dtype.kind in "UT":
        return BY_NAME["string"]
    return _BY_DTYPE.get(dtype.newbyteorder("="))
