"""What the documents of the text operators say, as literal values."""

from typing import Any

import numpy as np
import pytest

from harness.operators.text.regex_full_match import SPELT, TRIED, Tried
from harness.oracles.evaluate import answer
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, find
from harness.spec.codec import decode
from harness.spec.values import parse_type
from harness.suite.build import build_plan
from harness.suite.planning import plan


def of(op: str, since: int, *inputs: Any, **attributes: Any) -> list[Any]:
    """The outputs as lists."""
    one = find(op, since)
    assert one
    (version,) = one.schemas
    arrays = {p.name: np.array(value, object) for p, value in zip(version.inputs, inputs, strict=True)}
    types = {variable: types[0] for variable, types in version.variables.items()}
    return [
        np.asarray(output.value).tolist()
        for output in answer(Call(one, version, types, arrays, attributes), exact=True)
    ]


@pytest.mark.parametrize("tried", TRIED, ids=lambda tried: tried.pattern)
def test_each_pattern_matches_what_is_written_beside_it(tried: Tried):
    (found,) = of("RegexFullMatch", 20, [*tried.matches, *tried.others], pattern=tried.pattern)
    assert found == [True] * len(tried.matches) + [False] * len(tried.others)
    assert tried.matches
    assert tried.others


@pytest.mark.parametrize(("pattern", "text"), [(r"\s+", "\v"), (r"\s+", " \x0b"), (r"a$\n?", "a\n")])
def test_a_pattern_that_re_reads_otherwise_is_spelt_out(pattern: str, text: str, monkeypatch: pytest.MonkeyPatch):
    assert of("RegexFullMatch", 20, [text], pattern=pattern) == [[False]]
    monkeypatch.delitem(SPELT, pattern)
    assert of("RegexFullMatch", 20, [text], pattern=pattern) == [[True]]


def test_characters_are_code_points_and_classes_are_ascii():
    assert of("RegexFullMatch", 20, ["é", "e\u0301", "🧮", "\n"], pattern=".") == [[True, False, True, False]]
    assert of("RegexFullMatch", 20, ["7", "\u0667"], pattern=r"\d") == [[True, False]]


def test_concatenation_keeps_every_code_point():
    assert of("StringConcat", 20, [["e"], ["a\0"]], ["\u0301", "", "b"]) == [
        [["e\u0301", "e", "eb"], ["a\0\u0301", "a\0", "a\0b"]]
    ]


@pytest.mark.parametrize(
    ("text", "delimiter", "maxsplit", "parts"),
    [
        ("a-b", "-", OMITTED, ["a", "b"]),
        ("--a-", "-", OMITTED, ["", "", "a", ""]),
        ("a-b-c", "-", 1, ["a", "b-c"]),
        ("a-b-c", "-", 0, ["a-b-c"]),
        ("a-b-c", "-", 2**63 - 1, ["a", "b", "c"]),
        ("aaaaa", "aa", OMITTED, ["", "", "a"]),
        ("a.*b", ".*", OMITTED, ["a", "b"]),
        ("e\u0301é", "é", OMITTED, ["e\u0301", ""]),
        (" a  b ", " ", OMITTED, ["", "a", "", "b", ""]),
        (" a \t\r\n b\vc\fd ", OMITTED, OMITTED, ["a", "b", "c", "d"]),
        ("a  b   c  d", "", 2, ["a", "b", "c  d"]),
        ("  a b", "", 1, ["a", "b"]),
    ],
)
def test_a_string_is_split(text: str, delimiter: str, maxsplit: Any, parts: list[str]):
    found, counts = of("StringSplit", 20, [text], delimiter=delimiter, maxsplit=maxsplit)
    assert (found, counts) == ([parts], [len(parts)])


def test_substrings_are_padded_in_an_axis_of_their_own():
    found, counts = of("StringSplit", 20, [["a", "a-b-c"], ["b-", "d"]], delimiter="-")
    assert found == [[["a", "", ""], ["a", "b", "c"]], [["b", "", ""], ["d", "", ""]]]
    assert counts == [[1, 3], [2, 1]]
    assert of("StringSplit", 20, "a b") == [["a", "b"], 2]
    assert of("StringSplit", 20, np.zeros((2, 0), object)) == [[[], []], [[], []]]


MONDAY = [b"monday"]


@pytest.mark.parametrize(
    ("strings", "attributes", "left"),
    [
        (["Monday", "so"], {"stopwords": MONDAY}, ["so"]),
        (["Monday", "so"], {"stopwords": MONDAY, "is_case_sensitive": 0}, ["so"]),
        (["Monday", "so"], {"stopwords": MONDAY, "is_case_sensitive": 1}, ["Monday", "so"]),
        # "After removing stop words, the intermediate result can be further lowercased".
        (
            ["Monday", "monday"],
            {"stopwords": MONDAY, "is_case_sensitive": 1, "case_change_action": "LOWER"},
            ["monday"],
        ),
        (["a monday", "mondays"], {"stopwords": MONDAY, "case_change_action": "UPPER"}, ["A MONDAY", "MONDAYS"]),
        (["Ж", "é"], {"case_change_action": "LOWER"}, ["ж", "é"]),
        (["ж", "é"], {"stopwords": ["É".encode()], "case_change_action": "UPPER", "locale": "en_US"}, ["Ж"]),
        (["é", "e\u0301"], {"stopwords": ["e\u0301".encode()]}, ["é"]),
        (["monday", "MONDAY"], {"stopwords": MONDAY}, [""]),
        ([["monday"]], {"stopwords": MONDAY}, [[""]]),
        ([["monday", "a", "b"]], {"stopwords": MONDAY}, [["a", "b"]]),
        (["", "a"], {"stopwords": [b""]}, ["a"]),
        (["", "a"], {"stopwords": []}, ["", "a"]),
        (["A", "b"], {}, ["A", "b"]),
    ],
)
def test_strings_are_normalized(strings: Any, attributes: dict[str, Any], left: Any):
    assert of("StringNormalizer", 10, strings, **attributes) == [left]


def in_python(text: str, delimiter: str, maxsplit: int | None) -> list[str]:
    return text.split(delimiter or None, -1 if maxsplit is None else maxsplit)


def test_only_open_sets_depend_on_what_whitespace_is_or_on_what_is_left_of_it():
    """Python's split takes more characters for whitespace and keeps what trails: it differs in silent sets alone."""
    one = find("StringSplit", 20)
    assert one
    (version,) = one.schemas
    strings = parse_type("tensor(string)")
    differing: set[str] = set()
    for built in build_plan(one, version, plan(one, version)):
        delimiter, most = (built.case.labels.attributes[name] for name in ("delimiter", "maxsplit"))
        for number, data in enumerate(built.case.data_sets):
            x, y = (
                decode(built.files[f"{built.case.file_prefix(number)}{name}_0.pb"], strings)
                for name in ("input", "output")
            )
            assert isinstance(x, np.ndarray)
            assert isinstance(y, np.ndarray)
            for text, found in zip(x.ravel().tolist(), y.reshape(x.size, y.shape[-1]).tolist(), strict=True):
                parts = in_python(
                    text, "" if delimiter == OMITTED else delimiter, None if most == OMITTED else int(most)
                )
                if [part for part in found if part] != [part for part in parts if part]:
                    assert data.unspecified, (text, delimiter, most)
                    differing.add(data.group)
    assert "other_blanks" in differing
