"""StringConcat: each string of one tensor with that of another behind it."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from harness.oracles.broadcasting import MULTIDIRECTIONAL
from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, operator

SHAPE: Final = (3, 5)


@operator("StringConcat", since=20, exact=True)
def string_concat(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """``Y`` is appended to ``X`` "elementwise (with NumPy-style broadcasting support)"."""
    return np.asarray(X + Y)


def pairs(found: Sequence[tuple[str, str]]) -> Inputs:
    """The pairs, over and over."""
    firsts, seconds = (np.array(strings, object) for strings in zip(*found, strict=True))
    return {"X": np.resize(firsts, SHAPE), "Y": np.resize(seconds, SHAPE)}


@string_concat.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Words of one and of several bytes a character, tensors of one shape."""
    yield {"X": draw.T.ordinary(SHAPE), "Y": draw.T.ordinary(SHAPE)}


@string_concat.inputs()
def empty_strings(_: Draw) -> Iterator[Inputs]:
    """Nothing before, behind, on both sides; then only blanks, which stay."""
    yield pairs([("", "a"), ("a", ""), ("", ""), ("日本", "")])
    yield pairs([(" ", " a"), ("a ", " "), ("\t", "\n"), ("\r\n", "\u00a0"), ("\u3000", "")])


@string_concat.inputs()
def characters_that_meet(_: Draw) -> Iterator[Inputs]:
    """A letter and a mark, parts of a syllable or of one emoji, a byte order mark: code points stay as they are."""
    yield pairs([("e", "\u0301"), ("é", "e\u0301"), ("\u0301", "e"), ("a\u0323", "\u0307"), ("\u1112\u1161", "\u11ab")])
    yield pairs([("👩\u200d", "💻"), ("🇩", "🇪"), ("👍", "🏽"), ("\ufeff", "a"), ("a", "\ufeff")])
    yield pairs([("\ud7ff", "\ue000"), ("\uffff", "\U00010000"), ("\U0010ffff", "\x7f"), ("\x80", "\u07ff\u0800")])


@string_concat.inputs()
def nul(_: Draw) -> Iterator[Inputs]:
    """U+0000, which UTF-8 has as the byte 0, before other characters."""
    yield pairs([("a\0", "b"), ("\0", "\0b"), ("a", "\0b"), ("\0a", "")])


@string_concat.inputs()
def long_strings(_: Draw) -> Iterator[Inputs]:
    """Strings of up to 1,000 bytes, and of the lengths around those that are kept in place by many libraries."""
    yield pairs([("a" * 7, "b" * 8), ("é" * 8, "a" * 6), ("x" * 15, "y"), ("🧮" * 250, "z" * 500), ("a" * 22, "b")])


@string_concat.inputs()
def every_shape(draw: Draw) -> Iterator[Inputs]:
    """Every way for two shapes to meet: 0-D, ones, missing leading axes, no elements."""
    for first, second in MULTIDIRECTIONAL:
        yield {"X": draw.T.ordinary(first), "Y": draw.T.ordinary(second)}


def example(name: str, x: object, y: object, gives: object) -> None:
    """One of the document's."""
    string_concat.example(name, *(np.array(a, object) for a in (x, y)), gives=np.array(gives, object))


example("test_string_concat", ["abc", "def"], [".com", ".net"], ["abc.com", "def.net"])
example("test_string_concat_broadcasting", ["cat", "dog", "snake"], ["s"], ["cats", "dogs", "snakes"])
example("test_string_concat_zero_dimensional", "cat", "s", "cats")
example("test_string_concat_empty_string", ["abc", ""], ["", "abc"], ["abc", "abc"])
example("test_string_concat_utf8", ["的", "中"], ["的", "中"], ["的的", "中中"])
