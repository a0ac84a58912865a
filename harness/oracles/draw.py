"""Drawing inputs: values of an element type, reproducible from the coordinates of the data set they are drawn for."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.numbers.rounding import round_array, to_storage
from harness.spec.element_types import BY_NAME, ElementType
from harness.spec.values import OptionalType, SequenceType, Value, ValueType, element_in, parse_type

WORDS = ("", "a", "Z", "onnx", "two words", "ß", "Grüße", "日本語", "🧮", "e\u0301", "\t", "NaN")
"""Strings of every length in bytes a character has, combining marks, and one that looks like a number."""


class Draw:
    """What a group of inputs draws from: ``Values`` for each type variable (``draw.T``), and the row's attributes.

    The stream is SHAKE-256 of the seed, so it is the same in every language, on every machine, for ever.
    """

    def __init__(self, seed: str, types: Mapping[str, str], attributes: Mapping[str, Any]) -> None:
        self.seed = seed
        self.types = types
        self.attributes = attributes
        self._random_outputs = 0

    def __getattr__(self, variable: str) -> Values:
        if variable in self.types:
            return Values(self, element_in(parse_type(self.types[variable])))
        raise AttributeError(f"{variable} is none of the type variables: {self.types}.")

    def value(self, variable: str, *shapes: Sequence[int]) -> Value:
        """Ordinary values: a tensor of the first shape, a sequence with a tensor of each, an optional that has one."""

        def some(of: ValueType) -> Value:
            match of:
                case OptionalType():
                    return some(of.of)
                case SequenceType():
                    return [Values(self, element_in(of)).ordinary(shape) for shape in shapes]
                case _:
                    return Values(self, element_in(of)).ordinary(shapes[0])

        return some(parse_type(self.types[variable]))

    def words(self, count: int) -> np.ndarray:
        """The next ``count`` words of the stream, uint64 [count]."""
        self._random_outputs += 1
        return np.frombuffer(hashlib.shake_256(f"{self.seed}/{self._random_outputs}".encode()).digest(8 * count), "<u8")

    def integer(self, low: int, high: int) -> int:
        """One integer in [low, high], both included."""
        return low + int(self.words(1)[0]) % (high - low + 1)


class Values:
    """Values of one element type; every method returns an array of it."""

    def __init__(self, draw: Draw, element: ElementType) -> None:
        self.draw = draw
        self.element = element

    def __call__(self, value: Any) -> np.ndarray:
        """The given numbers or strings, which the type must be able to hold; rounded to nearest for floats."""
        if self.element.kind == "float":
            return to_storage(round_array(np.asarray(value, np.float64), self.element), self.element)
        return np.asarray(value, self.element.dtype)

    @property
    def largest(self) -> float:
        """The largest finite value."""
        return self.element.format.maximum if self.element.format else self.element.maximum

    @property
    def lowest(self) -> float:
        """The least finite value: the largest negative one, or the smallest positive one where there are none."""
        if self.element.format is None:
            return self.element.minimum
        return -self.largest if self.element.format.signed else 2.0**self.element.format.smallest

    def ordinary(self, shape: Sequence[int]) -> np.ndarray:
        """Ordinary values: floats of each sign there is, from 1/4 up to 4, small integers, Booleans, words."""
        count = math.prod(shape)
        match self.element.kind:
            case "float":
                values = self._floats(count).reshape(shape)
                return self(values if self.lowest < 0 else np.abs(values))
            case "complex":
                parts = self._floats(2 * count).reshape(*shape, 2)
                return np.asarray(parts[..., 0] + 1j * parts[..., 1], self.element.dtype)
            case "string":
                return np.array([WORDS[i] for i in self._below(len(WORDS) - 1, count) + 1], object).reshape(shape)
            case "bool":
                return (self._below(2, count) == 1).reshape(shape)
            case "signed" | "unsigned":
                low, high = max(self.element.minimum, -9), min(self.element.maximum, 9)
                return (self._below(high - low + 1, count) + low).reshape(shape).astype(self.element.dtype)

    def all_values(self) -> np.ndarray:
        """Every value of a type of 8 or 16 bits, in the order of their bits: [256] or [65536]."""
        return np.arange(1 << self.element.bits, dtype=f"<u{self.element.bits // 8}").view(self.element.dtype)

    def near(self, centre: int, shape: Sequence[int]) -> np.ndarray:
        """Values within a quarter of the centre, positive for a positive one; integers are it, or one or two more."""
        count = math.prod(shape)
        if self.element.kind == "float":
            return self((centre * (1 + self._fractions(count) / 4)).reshape(shape))
        return (self._below(3, count) + centre).reshape(shape).astype(self.element.dtype)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> np.ndarray:
        """Whole numbers in [low, high], both included."""
        return self((self._below(high - low + 1, math.prod(shape)) + low).reshape(shape))

    def wide(self, shape: Sequence[int]) -> np.ndarray:
        """Values that a narrower type, or a careless copy, changes: each kind in turn, whatever the shape.

        Integers: beyond 2^31 and 2^53 and the extremes, as far as the type has them. Floats: -0, NaN with several bits,
        infinities, subnormal and largest values, and 1 with its last bit set. Others: ordinary values.
        """
        ordinary = self.ordinary(shape)
        patterns = _wide_patterns(self.element)
        if not patterns.size or not ordinary.size:
            return ordinary
        flat = ordinary.ravel().copy()
        places = np.arange(0, flat.size, 2)  # between them the ordinary values stay
        flat[places] = patterns[(places // 2 + self._below(patterns.size, 1)[0]) % patterns.size]
        return flat.reshape(shape)

    def specials(self) -> np.ndarray:
        """What a type has beside its ordinary values, one each: [n].

        NaN, both infinities, both zeros, the smallest subnormal and normal and the largest finite numbers of a float
        format, each with its negative; the extremes of an integer type and what lies beside zero.
        """
        if self.element.format is None:
            extremes = {self.element.minimum, self.element.maximum, 0, 1, self.element.minimum // 2}
            return np.array(sorted(extremes), self.element.dtype)
        f = self.element.format
        finite = [2.0**f.smallest, 2.0**f.emin, f.maximum]
        values = [
            *([math.nan] if f.nan else []),
            *([math.inf] if f.infinity else []),
            *([0.0] if f.zero else []),
            *finite,
        ]
        return self([*values, *(-v for v in values if f.signed and (v or f.negative_zero) and not math.isnan(v))])

    def _floats(self, count: int) -> np.ndarray:
        """Signed floats [count] whose magnitudes spread evenly over the four binades from 1/4 to 4."""
        words = self.draw.words(count)
        fraction = 1 + (words >> np.uint64(12)).astype(np.float64) * 2.0**-52
        exponent = (words & np.uint64(3)).astype(np.int32) - 2
        return np.ldexp(np.where(words & np.uint64(4), -fraction, fraction), exponent)

    def _fractions(self, count: int) -> np.ndarray:
        """Even in [-1, 1): float64 [count]."""
        return (self.draw.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1

    def _below(self, end: int, count: int) -> np.ndarray:
        """Even in [0, end): int64 [count]."""
        return (self.draw.words(count) % np.uint64(end)).astype(np.int64)


def _wide_patterns(of: ElementType) -> np.ndarray:
    """The values that ``Values.wide`` takes in turn: [n], of the dtype."""
    if of.kind in ("signed", "unsigned"):
        least, most = of.minimum, of.maximum
        wanted = [most, least, 2**31 + 1, 2**53 + 1, -(2**31) - 1, -(2**53) - 1, 2**32 + 3, most - 1, least + 1]
        return np.array([value for value in wanted if least <= value <= most and abs(value) > 9], of.dtype)
    if of.kind == "complex":
        part = _wide_patterns(BY_NAME["float" if of.name == "complex64" else "double"])
        return np.stack([part, part[::-1]], axis=1).reshape(-1).view(of.dtype)
    form = of.format
    if form is None:
        return np.zeros(0, of.dtype)

    def patterns(*values: float) -> list[int]:
        return to_storage(round_array(np.array(values), of), of).view(unsigned).tolist()

    unsigned, sign, fraction = f"u{max(of.bits, 8) // 8}", 1 << (of.bits - 1), form.precision - 1
    values = [form.maximum, 2.0**form.smallest, 2.0**form.emin, 1 + 2.0**-fraction]
    values += [-value for value in values if form.signed] + ([math.inf, -math.inf] if form.infinity else [])
    found = patterns(*values) + ([sign] if form.negative_zero else [])
    if form.infinity and fraction > 1:  # IEEE 754: NaN is what has more bits than infinity
        quiet = patterns(math.inf)[0] | (1 << (fraction - 1))
        found += [quiet | 1, sign | quiet]
    elif form.nan:
        found += patterns(math.nan)
    return np.array(found, unsigned).view(of.dtype)
