"""StringNormalizer: strings without the stop words among them, in capitals, in small letters or as they are."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Sample, operator

DAYS: Final = [s.encode() for s in ("monday", "Été", "SO", "monday")]
ODD: Final = [s.encode() for s in ("", "two words", "e\u0301", "ж")]
LENGTH: Final = 9

ELSEWHERE: Final = (
    'StringNormalizer-10, locale: "Environment dependent string that denotes the locale"; of all of them the text '
    "names en_US alone."
)
UNDECIDED: Final = (
    'StringNormalizer-10: "lowercased, uppercased", "the locale according to which output strings needs to be '
    'upper/lowercased". Whether a letter may become two, or depend on its place, or which letters differ in case alone '
    "beside the plain pairs, is not said."
)
NOTHING: Final = (
    'StringNormalizer-10: "If all elements in X are dropped, the output will be the empty value of string tensor with '
    'shape [1]". Whether all of no elements are dropped is not said.'
)

_CHANGES = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}


def sensible(case_change_action: str, is_case_sensitive: int | str, stopwords: list[bytes] | str) -> bool:
    """No stop words leave no choice, and odd ones are tried under either."""
    if stopwords == []:
        return is_case_sensitive == OMITTED and case_change_action in (OMITTED, "UPPER")
    return is_case_sensitive != OMITTED or stopwords != ODD


def in_its_locale(
    case_change_action: str, is_case_sensitive: int | str, locale: str, stopwords: list[bytes] | str
) -> bool:
    """A locale stands beside changes that need one; the one that an environment need not have is tried in few rows."""
    changes = case_change_action in ("LOWER", "UPPER") and is_case_sensitive != OMITTED
    return locale == OMITTED or (changes and (stopwords == DAYS or (locale == "en_US" and stopwords == OMITTED)))


@operator(
    "StringNormalizer",
    since=10,
    exact=True,
    constraints=[sensible, in_its_locale],
    case_change_action=(OMITTED, "NONE", "LOWER", "UPPER"),
    is_case_sensitive=FLAG,
    locale=(OMITTED, "en_US", "C"),
    stopwords=(OMITTED, DAYS, ODD, []),
)
def string_normalizer(
    X: np.ndarray, *, case_change_action: str, is_case_sensitive: int, stopwords: list[bytes] | None, **_: object
) -> np.ndarray:
    """Stop words are removed first, and what is left is changed; if nothing is, one empty string stands for it."""
    same = str if is_case_sensitive else str.casefold
    stops = {same(word.decode()) for word in stopwords or ()}
    kept = [_CHANGES[case_change_action](text) for text in X.ravel().tolist() if same(text) not in stops]
    return np.array(kept or [""], object).reshape(*X.shape[:-1], -1)


def tensor(*strings: str, rank: int = 1) -> Inputs:
    """The strings, over and over."""
    row = np.resize(np.array(strings, object), LENGTH)
    return {"X": row if rank == 1 else row[np.newaxis]}


def drawn(draw: Draw, *strings: str) -> Sample:
    """The strings, open in a locale that an environment need not have."""
    return Sample(tensor(*strings), unspecified=ELSEWHERE if draw.attributes["locale"] == "C" else "")


@string_normalizer.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Stop words in their own and in other letters, at either end, twice, and inside of longer strings."""
    yield drawn(draw, "monday", "Tuesday", "so", "SO", "MONDAY", "Mondays", "a monday", "MOnday", "monday")
    yield drawn(draw, "", "Two Words", "two words", "twowords", " ", "ABC", "two  words", " two words", "42 abc 🧮")


@string_normalizer.inputs()
def letters_beyond_ascii(draw: Draw) -> Iterator[Sample]:
    """Letters that are one in both cases, and strings that differ by a mark or by how it is written."""
    yield drawn(draw, "Été", "ÉTÉ", "été", "Ete", "E\u0301te\u0301", "Ж", "ж", "жж", "日本語 Été")
    yield drawn(draw, "é", "e\u0301", "É", "E\u0301", "äöü ÅØÆ", "αβγ ΔΩ", "Привет", "ñÑ", "🧮x")


@string_normalizer.inputs(unspecified=UNDECIDED)
def letters_that_are_no_pairs(_: Draw) -> Iterator[Inputs]:
    """Sharp s, both i of Turkish, final sigma, ligatures, letters in title case, the Kelvin sign, the micro sign."""
    yield tensor("Straße", "ẞ", "İi", "I\u0131", "ΟΔΟΣ", "ﬁ", "ǆǅǄ", "\u212a", "\u00b5")
    yield tensor("\u017fo", "SO", "ŉ", "ΐ", "ς", "Ⅳⅳ", "Ⓐⓐ", "ᲐᲑა", "ÿŸ")


@string_normalizer.inputs()
def rows(draw: Draw) -> Iterator[Inputs]:
    """A tensor [1, C]."""
    if draw.attributes["locale"] == OMITTED:
        yield tensor("Monday", "tuesday", "two words", "e\u0301", "MONDAY", "", "so", "Été", "x", rank=2)
        yield tensor("monday", rank=2)


@string_normalizer.inputs()
def single(draw: Draw) -> Iterator[Inputs]:
    """One string, [1] and [1, 1]: a stop word, after which "" is left, and another."""
    if draw.attributes["stopwords"] == DAYS and draw.attributes["locale"] == OMITTED:
        for shape in ((1,), (1, 1)):
            for word in ("monday", "Tuesday", ""):
                yield {"X": np.full(shape, word, object)}


@string_normalizer.inputs()
def all_removed(draw: Draw) -> Iterator[Sample]:
    """Nothing but stop words: one empty string is left. Then all but one."""
    yield drawn(draw, "monday", "SO", "Été")
    yield drawn(draw, "", "two words", "e\u0301", "ж")
    yield drawn(draw, "monday", "monday", "monday", "x", "SO", "SO", "SO", "SO", "SO")


@string_normalizer.inputs()
def long_strings(draw: Draw) -> Iterator[Sample]:
    """Strings of up to 1,000 bytes, blanks of each kind, and a stop word with blanks around it."""
    yield drawn(draw, "aB" * 500, "éÉ" * 100, "monday" * 20, " monday", "monday\n", "\tA\u00a0B\u3000", "x" * 23)


@string_normalizer.inputs(unspecified=NOTHING)
def empty(draw: Draw) -> Iterator[Inputs]:
    """No strings."""
    if draw.attributes["stopwords"] == DAYS:
        for shape in ((0,), (1, 0)):
            yield {"X": np.zeros(shape, object)}


def example(name: str, x: Any, gives: Any, **attributes: Any) -> None:
    """One of the document's, with one stop word."""
    given, printed = np.array(x, object), np.array(gives, object)
    string_normalizer.example(name, given, gives=printed, stopwords=[b"monday"], **attributes)


FOUR = ["monday", "tuesday", "wednesday", "thursday"]
example(
    "test_strnormalizer_export_monday_casesensintive_lower",
    FOUR,
    FOUR[1:],
    case_change_action="LOWER",
    is_case_sensitive=1,
)
example("test_strnormalizer_export_monday_casesensintive_nochangecase", FOUR, FOUR[1:], is_case_sensitive=1)
example(
    "test_strnormalizer_export_monday_casesensintive_upper",
    FOUR,
    ["TUESDAY", "WEDNESDAY", "THURSDAY"],
    case_change_action="UPPER",
    is_case_sensitive=1,
)
example(
    "test_strnormalizer_export_monday_empty_output",
    ["monday", "monday"],
    [""],
    case_change_action="UPPER",
    is_case_sensitive=1,
)
example(
    "test_strnormalizer_export_monday_insensintive_upper_twodim",
    [["Monday", "tuesday", "wednesday", "Monday", "tuesday", "wednesday"]],
    [["TUESDAY", "WEDNESDAY", "TUESDAY", "WEDNESDAY"]],
    case_change_action="UPPER",
)
