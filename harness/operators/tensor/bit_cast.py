"""BitCast: the bits of each element, read as those of another type of the same width."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.numbers.rounding import wrap
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import Inputs, TypeOf, operator
from harness.spec.element_types import ELEMENT_TYPES, ElementType, element_type
from harness.spec.values import TensorType, parse_type


def unsigned(of: ElementType) -> np.dtype:
    """The integers that hold the bits of a type in memory: "treat the underlying bytes as little endian"."""
    return np.dtype(f"<u{of.dtype.itemsize}")


def bits(x: np.ndarray, of: ElementType) -> np.ndarray:
    """The bits of each element; what else a byte holds in memory beside a narrower one does not count."""
    words = x.astype(of.dtype.newbyteorder("<"), copy=False).view(unsigned(of))
    return np.asarray(words & unsigned(of).type((1 << of.bits) - 1)) if of.bits < 8 else words


def element(words: np.ndarray, of: ElementType) -> np.ndarray:
    """The elements that have these bits."""
    if of.kind in ("signed", "unsigned"):
        return wrap(np.asarray(words, object), of)
    return words.view(of.dtype.newbyteorder("<")).astype(of.dtype, copy=False)


def _same_width(T1: str, T2: str) -> bool:
    """That "the target data type must have the same bit-width as the input data type"."""
    return _element(T1).bits == _element(T2).bits


def _element(text: str) -> ElementType:
    of = parse_type(text)
    assert isinstance(of, TensorType)
    return of.element


@operator(
    "BitCast", since=26, exact=True, on_storage=True, full_product=True, constraints=[_same_width], to=(TypeOf("T2"),)
)
def bit_cast(input: np.ndarray, *, to: int, T1: ElementType) -> np.ndarray:
    """What "preserves the exact bit pattern without any value conversion"; of 128 bits there is one type alone."""
    of = element_type(to)
    return input if of is T1 else element(bits(input, T1), of)


def patterns(draw: Draw, width: int) -> np.ndarray:
    """Every pattern of up to 8 bits; of more, lone bits, what stands at the ends of each type, NaNs, and random ones.

    NaNs are quiet and signalling, of both signs, with payloads; they and the infinities are those of each float type.
    """
    if width <= 8:
        return np.arange(1 << width, dtype=np.uint8)
    everything = (1 << width) - 1
    found = {0, everything, everything // 3, everything // 3 * 2, 0x0123456789ABCDEF & everything}
    found |= {1 << k for k in range(width)} | {everything ^ 1 << k for k in range(0, width, 7)}
    for of in ELEMENT_TYPES:
        if of.kind == "float" and of.format and of.bits == width:
            fraction = of.format.precision - 1
            infinity, quiet = (1 << width - 1) - (1 << fraction), 1 << fraction - 1
            payloads = (1, 2, quiet - 1, quiet, quiet + 1, quiet + 5, 2 * quiet - 1)
            found |= {infinity - 1, infinity, *(infinity + payload for payload in payloads)}
    signed = {word ^ (1 << width - 1) for word in found}
    random = {int(word) & everything for word in draw.words(24)}
    return np.array(sorted(found | signed | random), f"<u{width // 8}")


@bit_cast.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Every value of a type of at most 8 bits; of others the patterns that mean most; Booleans are one of two bytes."""
    of, to = draw.T1.element, draw.T2.element
    if of.bits == 128:
        yield {"input": np.concatenate([draw.T1.ordinary((24,)), doubles_in_pairs(draw, of)])}
        return
    words = patterns(draw, of.bits)
    if "bool" in (of.name, to.name):
        words = words[words < 2]
    x = element(words, of)
    yield {"input": np.resize(x, len(x) // 2 * 2 + 1)}  # odd, so that narrow types do not fill their last byte


def doubles_in_pairs(draw: Draw, of: ElementType) -> np.ndarray:
    """Each special double as a real and as an imaginary part."""
    special = Values(draw, element_type("double")).specials()
    return np.stack([special, np.roll(special, 3)], axis=-1).view(of.dtype).ravel()


@bit_cast.inputs(T1=("int32", "int4"), T2=("uint32", "uint4"))
def shapes(draw: Draw) -> Iterator[Inputs]:
    """0-D, no elements, rank 4."""
    for shape in ((), (2, 0, 3), (3, 1, 5, 1)):
        yield {"input": draw.T1.ordinary(shape)}


bit_cast.example("test_bitcast_bool_to_uint8", [True, False, True, False], gives=np.array([1, 0, 1, 0], np.uint8), to=2)
bit_cast.example(
    "test_bitcast_uint16_to_int16",
    np.array([1, 32768, 65535], np.uint16),
    gives=np.array([1, -32768, -1], np.int16),
    to=5,
)
bit_cast.example(
    "test_bitcast_int8_to_uint8",
    np.array([-1, -128, 127, 0], np.int8),
    gives=np.array([255, 128, 127, 0], np.uint8),
    to=2,
)
bit_cast.example(
    "test_bitcast_float32_to_int32",
    np.array([1.0, -2.5, 3.75], np.float32),
    gives=np.array([1065353216, -1071644672, 1081081856], np.int32),
    to=6,
)
bit_cast.example("test_bitcast_scalar_float32_to_int32", np.float32(1), gives=np.int32(1065353216), to=6)
