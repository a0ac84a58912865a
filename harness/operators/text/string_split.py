"""StringSplit: each string cut at a delimiter, or at whitespace, and how many parts that gave."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator

BLANKS: Final = " \t\n\v\f\r"
"""The whitespace that ASCII, C and Unicode agree on."""
SHAPE: Final = (2, 6)

NEGATIVE: Final = (
    'StringSplit-20, maxsplit: "Maximum number of splits (from left to right)". What a negative number is, is not said.'
)
TRAILING: Final = (
    'StringSplit-20: "leading or trailing whitespace is removed in the output", but "the trailing suffix of input '
    'string after the final split point is also added", where the number of splits is limited.'
)
NOTHING: Final = (
    'StringSplit-20: "Z: The number of substrings generated for each input element." Whether an empty string gives '
    "none or an empty one is not said."
)
BLANK: Final = (
    'StringSplit-20: "leading or trailing whitespace is removed in the output": whether of nothing else no '
    "substring is left, or an empty one, is not said."
)
OTHER_BLANKS: Final = (
    'StringSplit-20: "consecutive whitespace characters are regarded as a single separator". Which those are beyond '
    "ASCII's, or among its control characters, is not said."
)


@operator(
    "StringSplit",
    since=20,
    exact=True,
    # A negative number of splits is open, and the greatest one the same with any delimiter.
    constraints=[lambda delimiter, maxsplit: maxsplit not in (-1, 2**63 - 1) or delimiter in (OMITTED, "-")],
    delimiter=(OMITTED, "", "-", " ", "aa", ".*", "é", "🧮"),
    maxsplit=(OMITTED, 0, 1, 3, 2**63 - 1, -1),
)
def string_split(X: np.ndarray, *, delimiter: str | None, maxsplit: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The substrings, in an axis of their own and padded with "", and their number.

    Of a tensor without elements that axis is empty, too: the text leaves its size open, the official example has it.
    """
    found = [substrings(text, delimiter or "", maxsplit) for text in X.ravel().tolist()]
    counts = np.array([len(parts) for parts in found], object)
    y = np.full((len(found), max(counts, default=0)), "", object)
    for row, parts in zip(y, found, strict=True):
        row[: len(parts)] = parts
    return y.reshape(*X.shape, y.shape[1]), counts.reshape(X.shape)


def substrings(text: str, delimiter: str, most: int | None) -> list[str]:
    """What lies between delimiters, or between blanks if that is empty; after ``most`` of them, the rest."""
    if delimiter:
        pieces = re.split(f"({re.escape(delimiter)})", text)
    else:
        pieces = re.split(f"([{BLANKS}]+)", text.strip(BLANKS))
    parts, separators = pieces[::2], len(pieces) // 2
    if most is None or most < 0 or separators <= most:
        return parts if delimiter or pieces != [""] else []
    return [*parts[:most], "".join(pieces[2 * most :])]


def by_blanks(draw: Draw) -> bool:
    """Whether the row has no delimiter."""
    return draw.attributes["delimiter"] in (OMITTED, "")


def tensor(strings: Sequence[str]) -> Inputs:
    """The strings, over and over."""
    return {"X": np.resize(np.array(strings, object), SHAPE)}


def open_if_negative(draw: Draw, strings: Sequence[str], unspecified: str = "") -> Sample:
    """The strings, open if the row's number of splits is negative."""
    return Sample(tensor(strings), unspecified=unspecified or (NEGATIVE if draw.attributes["maxsplit"] == -1 else ""))


@string_split.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """From none to five delimiters between words; then in runs, and at the ends, if whitespace not behind the last."""
    d = " " if by_blanks(draw) else draw.attributes["delimiter"]
    words = ["onnx", "b", "日本語", "two", "ß", "e\u0301"]
    yield open_if_negative(draw, [d.join(words[first:]) for first in range(6)])
    if by_blanks(draw):
        leading = ["", "  "][draw.attributes["maxsplit"] != 0]
        yield open_if_negative(draw, ["a   b", f"{leading}c  d  e", f"{leading}f", "g  h   i  j    k", "onnx"])
    else:
        yield open_if_negative(draw, [f"x{d}{d}y", f"{d}x", f"x{d}", d, f"{d}{d}", f"{d}x{d}{d}{d}y{d}", "xy"])
        if draw.attributes["maxsplit"] == 1:
            yield open_if_negative(draw, ["", "x", f"x{d}y"], NOTHING)


@string_split.inputs()
def delimiters_only_in_part(draw: Draw) -> Iterator[Sample]:
    """What resembles a delimiter: its parts, overlapping ones, what it means as a pattern, its letter and its mark."""
    if not by_blanks(draw):
        yield open_if_negative(draw, ["a", "aaa", "aaaaa", "baaab", "Aa", "a a", "AAaa"])
        yield open_if_negative(draw, ["x.*y", "x.y*z", "abc", ".**", "..*", "*."])
        yield open_if_negative(draw, ["e\u0301", "xéy", "xe\u0301y", "É", "Ã©", "é\u0301x", "🧯", "x🧮y", "🧮🧯🧮"])
        yield open_if_negative(draw, ["a-b c\td", " a  b ", "\u2010-\u2011", "—", "x\u00a0y", "\n-\n"])


@string_split.inputs()
def runs_of_blanks(draw: Draw) -> Iterator[Sample]:
    """Blanks of each kind, alone, repeated and mixed; at the end only where the number of splits is not reached."""
    if by_blanks(draw):
        yield open_if_negative(draw, ["a  b", "a\tb", "a\nb\nc", "a \t\r\n b", "a\vb", "a\fb   c\v\fd", "日本 \t語"])
        leading = [" a b", "\t\n a", "   日本  語 é", "\r\na\vb", "\f x"]
        yield open_if_negative(draw, leading, TRAILING if draw.attributes["maxsplit"] == 0 else "")
        trailing = ["a b ", "  a\t", " b c d  \n", "é\r\n", "a \v\f"]
        limited = draw.attributes["maxsplit"] in (0, 1)
        yield open_if_negative(draw, trailing, TRAILING if limited else "")


@string_split.inputs()
def trailing_blanks_after_the_last_split(draw: Draw) -> Iterator[Sample]:
    """Blanks behind what is left when the number of splits is reached."""
    if by_blanks(draw) and draw.attributes["maxsplit"] in (1, 3):
        yield Sample(tensor(["a b ", "a b c d ", "a  b  c  d  e  ", "x\ty\tz\t\t"]), unspecified=TRAILING)


@string_split.inputs(unspecified=BLANK)
def nothing_but_blanks(draw: Draw) -> Iterator[Inputs]:
    """Strings that are empty or have nothing but blanks, beside a word."""
    if by_blanks(draw):
        yield tensor(["", "a", " ", "\t\n"])


@string_split.inputs(unspecified=OTHER_BLANKS)
def other_blanks(draw: Draw) -> Iterator[Inputs]:
    """Spaces beyond ASCII and separators among its control characters."""
    if by_blanks(draw):
        yield tensor(["a\u00a0b", "a\u3000b", "a\u2003b", "a\u2028b", "a\x85b", "a\x1cb", "a\x1fb", "a\u200bb"])


@string_split.inputs()
def long_strings(draw: Draw) -> Iterator[Sample]:
    """A hundred parts beside one, and a long part."""
    if draw.attributes["delimiter"] == "-":
        yield open_if_negative(draw, ["-".join(map(str, range(100))), "x" * 1000, "é" * 300 + "-🧮"])


@string_split.inputs()
def shapes(draw: Draw) -> Iterator[Sample]:
    """Tensors of rank 0, 1, 3 and 4, the latter with one string in all."""
    if draw.attributes["maxsplit"] == 1:
        d = " " if by_blanks(draw) else draw.attributes["delimiter"]
        for shape in ((), (1,), (2, 1, 3), (1, 1, 1, 1)):
            yield Sample({"X": np.resize(np.array([f"a{d}b", "x", f"1{d}2{d}3"], object), shape)})


@string_split.inputs()
def empty(draw: Draw) -> Iterator[Inputs]:
    """No strings: the last axis of the output is empty, too."""
    if draw.attributes["maxsplit"] == OMITTED:
        for shape in ((0,), (2, 0), (0, 3)):
            yield {"X": np.zeros(shape, object)}


def example(name: str, x: Any, y: Any, z: Any, **attributes: Any) -> None:
    """One of the document's."""
    given = np.array(x, object)
    string_split.example(name, given, gives=(np.array(y, object), np.array(z, np.int64)), **attributes)


THREE = ["hello world !", "  hello   world !", " hello world   ! "]
WORDS = [["hello", "world", "!"]] * 3
example("test_string_split_basic", ["abc.com", "def.net"], [["abc", "com"], ["def", "net"]], [2, 2], delimiter=".")
example(
    "test_string_split_maxsplit",
    [["hello world", "def.net"], ["o n n x", "the quick brown fox"]],
    [[["hello", "world", ""], ["def.net", "", ""]], [["o", "n", "n x"], ["the", "quick", "brown fox"]]],
    [[2, 1], [3, 3]],
    maxsplit=2,
)
example(
    "test_string_split_consecutive_delimiters",
    ["o-n-n--x-", "o-n----nx"],
    [["o", "n", "n", "", "x", ""], ["o", "n", "", "", "", "nx"]],
    [6, 6],
    delimiter="-",
)
example("test_string_split_empty_string_delimiter", THREE, WORDS, [3, 3, 3], delimiter="")
example("test_string_split_no_delimiter", THREE, WORDS, [3, 3, 3])
example("test_string_split_empty_tensor", [], np.zeros((0, 0), object), [])
