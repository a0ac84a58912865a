"""RegexFullMatch: which strings a regular expression in RE2's syntax matches from their first character to the last."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Sample, operator


class Tried(NamedTuple):
    """A pattern with strings that it matches in full and others that it does not."""

    pattern: str
    matches: tuple[str, ...]
    others: tuple[str, ...]
    python: str = ""
    """The same for Python's ``re``, where that spells it otherwise; of Unicode's classes only what is tried here."""


DIGITS: Final = ("\u0661", "\uff11", "²")
"""Digits that are none of ASCII's."""

PLAIN: Final = (
    Tried("", ("",), ("a", " ", "\n")),
    Tried("abc", ("abc",), ("", "ab", "abcd", "xabc", "ABC", "abc\n", "abc ", "\nabc")),
    Tried("日本|🧮é", ("日本", "🧮é"), ("日", "本日", "🧮", "🧮e\u0301", "é")),
    Tried(r"\*\+\?\.\(\)\[\]\{\}\|\^\$\\\-", ("*+?.()[]{}|^$\\-",), ("", "\\*", "*+?x()[]{}|^$\\-")),
    Tried(r"\a\f\t\n\r\v", ("\a\f\t\n\r\v",), ("aftnrv", "\a\f\t\n\r \v", "")),
    Tried(r"\x41\101\060", ("AA0",), ("A", "AA", r"\x41\101\060")),
    Tried(r"\x{1F9EE}\x{e9}", ("🧮é",), ("🧮e\u0301", "é", "1F9EEe9"), "🧮é"),
    Tried(r"\Qa.b*(\E+", ("a.b*(", "a.b*(((("), ("a.b*", "axb*(", "abb("), r"a\.b\*\(+"),
)
CHARACTERS: Final = (
    Tried(".", ("a", "é", "日", "🧮", " ", "\t", "\r", "\v", "\u2028"), ("", "\n", "ab", "e\u0301", "a\n")),
    Tried("..", ("ab", "e\u0301", "🧮é"), ("é", "🧮", "a\n", "\n\n", "abc")),
    Tried("(?s).", ("a", "\n", "🧮"), ("", "ab", "\n\n")),
    Tried("(?s:a.)b.", ("a\nbc", "axby"), ("axb\n", "a\nb", "a\nb\n")),
    Tried(r"\C\C", ("ab", "é"), ("a", "日", "abc", "🧮"), "[\x00-\x7f]{2}|[\x80-\u07ff]"),
    Tried("[a-cx]+", ("abcx", "c"), ("", "d", "abd", "a-c", "B")),
    Tried("[^a-c]", ("d", "\n", "é", "🧮", "^", "-"), ("a", "b", "c", "", "dd")),
    Tried(r"[\]\-^\\a]+", ("]-^\\a", "-"), ("", "b", "[", "a/")),
    Tried("[é-üЖ日🧮]{2}", ("éü", "ñЖ", "日🧮"), ("é", "éz", "日本", "e\u0301", "\u00fd\u00fd")),
    Tried(r"\d+", ("0", "0123456789"), ("", "1a", "-1", *DIGITS)),
    Tried(r"\D+", ("abc", "-", "\n", *DIGITS), ("", "a1", "7")),
    Tried(r"\w+", ("a_Z9", "_"), ("", "a b", "a-b", "é", "日", "ª", *DIGITS)),
    Tried(r"\W", ("é", "-", " ", "\n", "日", "🧮"), ("", "_", "a", "Z", "0", "--")),
    Tried(
        r"\s+", (" ", "\t\n\f\r "), ("", "\v", "a", " a", "\u00a0", "\u3000", "\u2028", "\x85", "\x1c"), r"[\t\n\f\r ]+"
    ),
    Tried(r"\S+", ("abc", "\v", "\u00a0", "\u3000", "\x1c"), ("", "a b", "\n", "\t", "\f", "a\r"), r"[^\t\n\f\r ]+"),
    Tried(r"[\d\-x]+|[^\D1]", ("0-9x", "2", "1"), ("", "a", "²", "1y")),
)
NAMED: Final = (
    ("alnum", "0-9A-Za-z", "09AZaz", ("_", "é", "²")),
    ("alpha", "A-Za-z", "AZaz", ("0", "_", "é", "ª", "@", "[")),
    ("ascii", r"\x00-\x7f", "\x00\x7f a", ("\x80", "é", "日")),
    ("blank", r"\t ", "\t ", ("\n", "\v", "\u00a0")),
    ("cntrl", r"\x00-\x1f\x7f", "\x00\x1f\x7f\n", (" ", "\x80", "a")),
    ("digit", "0-9", "09", ("a", *DIGITS)),
    ("graph", "!-~", "!~aZ", (" ", "\x7f", "é")),
    ("lower", "a-z", "az", ("A", "é", "ß", "`", "{")),
    ("print", " -~", " !~", ("\t", "\x7f", "\u00a0")),
    ("punct", r"!-/:-@\[-`{-~", "!/:@[`{~", ("a", "0", " ", "¡")),
    ("space", r"\t\n\v\f\r ", "\t\n\v\f\r ", ("a", "\u00a0", "\x85", "\u3000")),
    ("upper", "A-Z", "AZ", ("a", "É", "@", "[")),
    ("word", "0-9A-Za-z_", "09AZaz_", ("-", "é", "²")),
    ("xdigit", "0-9A-Fa-f", "09AFaf", ("g", "G", "@", "\uff11")),
)
"""RE2's ASCII classes: the name, what its page says it equals, characters at its ends, and some beyond them."""
CLASSES: Final = (
    *(
        Tried(f"[[:{name}:]]+", (inside, inside[0]), ("", *outside, inside + outside[0]), f"[{same}]+")
        for name, same, inside, outside in NAMED
    ),
    Tried("[[:^alpha:]0x]+", ("0x", "é-9", "\n"), ("", "a", "0y"), "[^A-Za-wyz]+"),
    Tried("[^[:space:]-]+", ("abc", "\u00a0"), ("", "a b", "\v", "a-b"), r"[^\t\n\v\f\r \-]+"),
)
UNICODE: Final = (
    Tried(r"\pN+", ("1²Ⅳ½", "٣"), ("", "a", "1a", "日"), "[1²Ⅳ½٣]+"),
    Tried(r"\PN+", ("aé日🧮\n",), ("", "1", "a²", "Ⅳ"), "[aé日🧮\n]+"),
    Tried(r"\pL\pM", ("e\u0301", "я\u0308"), ("é", "e", "\u0301e", "e1"), "[eя][\u0301\u0308]"),
    Tried(r"\p{Lu}\p{Ll}*", ("É", "Éléa", "Жил"), ("", "é", "ЖИл", "A1"), "[ÉЖ][léaил]*"),
    Tried(r"\p{Greek}+", ("λβΩ", "ώ"), ("", "a", "λa", "Ж"), "[λβΩώ]+"),
    Tried(r"\P{Greek}+", ("abЖ日",), ("", "Ω", "aλ"), "[abЖ日]+"),
    Tried(r"[\p{Han}\p{Hiragana}\d]+", ("日本の2", "漢"), ("", "カ", "日a", "한"), "[日本の2漢]+"),
    Tried(r"[^\p{L}]+", ("1-²\n",), ("", "é", "1a", "日"), "[1\\-²\n]+"),
)
REPEATED: Final = (
    Tried("ab*", ("a", "abbb"), ("", "b", "ba", "abab")),
    Tried("ab+", ("ab", "abbb"), ("", "a", "aba")),
    Tried("ab?", ("a", "ab"), ("", "b", "abb")),
    Tried("a*?", ("", "a", "aaaa"), ("b", "aab")),
    Tried("a+?b??", ("a", "aaa", "aab"), ("", "b", "aabb")),
    Tried("x{2,}", ("xx", "x" * 9), ("", "x", "xxy")),
    Tried("x{2,4}", ("xx", "xxx", "xxxx"), ("", "x", "xxxxx")),
    Tried("x{2,4}?y{0}", ("xx", "xxx", "xxxx"), ("x", "xxxxx", "xxy")),
    Tried("(?:ab|日){2}🧮{2}", ("abab🧮🧮", "日ab🧮🧮"), ("abb🧮🧮", "日日🧮", "ab🧮🧮")),
    Tried("(?U)a+b*?", ("a", "aaab"), ("", "b", "ba"), "a+b*"),
    Tried("(x+x+)+y", ("xxy", "x" * 9 + "y"), ("xy", "y", "x" * 9, "x" * 9 + "z"), "x{2,}y"),
    Tried("(?:ab)*", ("", "ab" * 500), ("aba", "ab" * 500 + "a", "ba" * 500)),
)
GROUPED: Final = (
    Tried("(a|ab)(c|bcd)(d*)", ("ac", "abc", "abcd", "acd", "abcddd"), ("ab", "abd", "abcdc")),
    Tried("cat|dog", ("cat", "dog"), ("cats", "catdog", "catog", "cadog", " dog")),
    Tried("|a|(?:)b", ("", "a", "b"), ("ab", "aa", "|")),
    Tried("(?P<name>a(b(?:c)?))()+", ("ab", "abc"), ("a", "abcc", "name")),
    Tried("a(?:b|c)*?d", ("ad", "abccbd"), ("a", "abe", "abcdd")),
)
FLAGS: Final = (
    Tried("(?i)abc", ("abc", "ABC", "aBc"), ("ab", "ABCD", "")),
    Tried("(?i:a)b", ("ab", "Ab"), ("aB", "AB")),
    Tried("a(?i)b[c-e]", ("abc", "aBE", "abD"), ("Abc", "aBF", "A"), "a(?i:b[c-e])"),
    Tried("(?i)a(?-i)b", ("ab", "Ab"), ("aB", "AB"), "(?i:a)b"),
    Tried("(a(?i)b|c)d", ("aBd", "Cd", "cd"), ("aBD", "Abd", "cD"), "(a(?i:b)|(?i:c))d"),
    Tried("(?i)[ké]+", ("kK", "é"), ("", "x", "e\u0301")),
    Tried("(?is-m)a.[^b]", ("A\nc", "axy"), ("a\nB", "ab", "A\nb"), "(?is)a.[^b]"),
)
PLACES: Final = (
    Tried("^abc$", ("abc",), ("abc\n", "\nabc", "ab"), r"abc\Z"),
    Tried(r"\Aabc\z", ("abc",), ("abc\n", "abcz", "Aabc"), r"abc\Z"),
    Tried(r"a$\n?", ("a",), ("a\n", "a$", ""), r"a\Z"),
    Tried("(?m)^a$\n^b$", ("a\nb",), ("ab", "a\nb\n", "a\r\nb")),
    Tried("a^b|c$d|x", ("x",), ("ab", "a^b", "cd", "c$d")),
    Tried("(^a|b|^c)+", ("a", "abb", "cb"), ("", "ba", "ac", "bc")),
    Tried(r"\bfoo\b.*", ("foo", "foo bar", "foo-x", "fooé"), ("foobar", "foo_", "foo1", " foo")),
    Tried(r"..\B.*", ("abc", "a_1", "-  ", "éé-"), ("ab", "ab c", "-")),
)
TRIED: Final = (*PLAIN, *CHARACTERS, *CLASSES, *UNICODE, *REPEATED, *GROUPED, *FLAGS, *PLACES)
SPELT: Final = {tried.pattern: tried.python for tried in TRIED if tried.python}

UNSTATED: Final = (
    'RegexFullMatch-20, pattern: "Regex pattern to match on." It may be left out and has no default; what is matched '
    "then is not said."
)
"""Why a node without a pattern is open."""


@operator("RegexFullMatch", since=20, exact=True, pattern=(OMITTED, *(tried.pattern for tried in TRIED)))
def regex_full_match(X: np.ndarray, *, pattern: str | None) -> np.ndarray:
    r"""True where "an element fully matches the regex pattern specified", else False.

    Python's ``re`` tells it, whose syntax means what RE2's page says in all of the patterns here that stand for
    themselves: there ``\d``, ``\w`` and ``\b`` are ASCII's, and neither dialect lets ``.`` match a newline. The others
    are spelt out by that page. Which alternative is preferred does not matter where all of a string is to match.
    """
    expression = re.compile(SPELT.get(pattern or "", pattern or ""), re.ASCII)
    found = [expression.fullmatch(text) is not None for text in X.ravel().tolist()]
    return np.array(found, bool).reshape(X.shape)


def strings(found: Any) -> np.ndarray:
    """A tensor of strings."""
    return np.array(found, object)


@regex_full_match.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs | Sample]:
    """Strings that the pattern matches in full, and others that are near: shorter, longer, in other characters."""
    if draw.attributes["pattern"] == OMITTED:
        yield Sample({"X": strings(["", "a"])}, unspecified=UNSTATED)
    for tried in TRIED:
        if tried.pattern == draw.attributes["pattern"]:
            yield {"X": strings([*tried.matches, *tried.others])}


@regex_full_match.inputs()
def shapes(draw: Draw) -> Iterator[Inputs]:
    """Tensors of rank 0, 1 and 3, and without elements, under one pattern."""
    if draw.attributes["pattern"] == "ab+":
        for shape in ((), (1,), (2, 3, 4), (0,), (2, 0)):
            yield {"X": np.resize(strings(["ab", "a", "abb", "b", "abab"]), shape)}


@regex_full_match.inputs(
    unspecified='RE2\'s page says "case-insensitive" of the flag i and not which letters beyond ASCII are pairs.'
)
def letters_beyond_ascii(draw: Draw) -> Iterator[Inputs]:
    """An accented capital beside its small letter in the pattern, and the Kelvin sign beside a k."""
    if draw.attributes["pattern"] == "(?i)[ké]+":
        yield {"X": strings(["É", "\u212a", "kÉ", "e", "k"])}


regex_full_match.example(
    "test_regex_full_match_basic",
    strings(["www.google.com", "www.facebook.com", "www.bbc.co.uk"]),
    pattern=r"www\.[\w.-]+\.\bcom\b",
    gives=[True, True, False],
)
regex_full_match.example(
    "test_regex_full_match_email_domain",
    strings([["account@gmail.com", "account@hotmail.com"], ["not email", "account2@yahoo.com"]]),
    pattern=r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)",
    gives=[[True, False], [False, True]],
)
