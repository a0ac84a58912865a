"""The one ``--select`` language: which cases, data sets and results a person means, in terms of their labels."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Protocol, TypeVar

import msgspec

from harness.errors import UsageError
from harness.suite.cases import Case, Labels

GRAMMAR = """\
terms of a selection, joined by "and":
  KEY=VALUE    the label KEY has this value, which may be a glob (Reduce*) or alternatives (float,double)
  KEY!=VALUE   there is a label KEY, and it has none of these values
  WORD, !WORD  the name of the case matches, or does not match, a glob; its leading test_ may be omitted

keys:
  op, domain, since, category    the operator; domain=ai.onnx is the default domain
  group, case, data_set          the input group, the name of the case, the number of the data set
  omitted                        the optional inputs and outputs that the node omits; omitted!=* if it omits none
  verdict                        the verdict, only of results
  type variables and attributes  for example T=float16 axis=-1; types.NAME and attributes.NAME if a name is ambiguous
"""

Facts = tuple[str, Labels, int, str]
"""Case, labels, data set, verdict (empty for what has not run)."""

_FIXED: dict[str, Callable[[Facts], tuple[str, ...]]] = {
    "op": lambda facts: (facts[1].op,),
    "domain": lambda facts: (facts[1].domain or "ai.onnx",),
    "since": lambda facts: (str(facts[1].since),),
    "category": lambda facts: (facts[1].category,),
    "group": lambda facts: (facts[1].group,),
    "case": lambda facts: (facts[0], facts[0].removeprefix("test_")),
    "data_set": lambda facts: (str(facts[2]),),
    "verdict": lambda facts: (facts[3],) if facts[3] else (),
    "omitted": lambda facts: facts[1].omitted,
}
FIXED_KEYS = frozenset(_FIXED)
"""The keys that come before type variables and attributes of the same name."""

_QUOTED = r"'[^']*'|\"[^\"]*\""
_INNER = r"\((?:[^()]|\([^()]*\))*\)"
_ROUND = rf"\((?:[^()]|\((?:[^()]|{_INNER})*\))*\)"  # optional(seq(map(int64,tensor(float)))) is as deep as types go
_GROUPED = rf"{_QUOTED}|\[[^\[\]]*\]|{_ROUND}"
_WORDS = re.compile(rf"(?:{_GROUPED}|\S)+")
_ALTERNATIVES = re.compile(rf"(?:^|,)((?:{_GROUPED}|[^,])*)")
_WORD = re.compile(r"(?P<key>[A-Za-z_][\w.]*)(?P<relation>!?=)(?P<value>.*)|(?P<not>!?)(?P<name>[^=!]+)", re.DOTALL)
_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_PLAIN = re.compile(r"[^\s,'\"()\[\]]*")


class MalformedWord(UsageError):
    """A word of a selection that is neither KEY=VALUE, KEY!=VALUE nor a glob on names."""


class NothingSelected(UsageError):
    """A selection that no case, data set or result matches."""


class Term(msgspec.Struct, frozen=True):
    """One word of a selection."""

    key: str
    patterns: tuple[str, ...]
    """Globs, of which one must match, or none where the term is negated."""
    negated: bool = False

    def __str__(self) -> str:
        values = ",".join(p if _PLAIN.fullmatch(p) else _quoted(p) for p in self.patterns)
        return f"{self.key}{'!' * self.negated}={values}"

    def values(self, facts: Facts) -> tuple[str, ...]:
        """What the facts have under this term's key; nothing where they lack it."""
        return _reader(self.key)(facts)

    def test(self) -> Callable[[Facts], bool]:
        """The term as a function; a pattern also matches the text that it spells, so ``axes=[0,1]`` is that list."""
        read, negated, exact = _reader(self.key), self.negated, frozenset(self.patterns)
        glob = re.compile("|".join(map(fnmatch.translate, self.patterns))).match
        lacking = negated and self.key == "omitted"  # nothing omitted is none of these, but no attribute is no value

        def holds(facts: Facts) -> bool:
            values = read(facts)
            for value in values:
                if value in exact or glob(value):
                    return not negated
            return negated if values else lacking

        return holds


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"  # as a shell wants it, too


@cache
def _reader(key: str) -> Callable[[Facts], tuple[str, ...]]:
    if key in _FIXED:
        return _FIXED[key]
    kind, _, name = key.rpartition(".")

    def read(facts: Facts) -> tuple[str, ...]:
        labels = facts[1]
        if name in labels.types and kind != "attributes":
            return (labels.types[name],)
        return (labels.attributes[name],) if name in labels.attributes and kind != "types" else ()

    return read


class Selection(msgspec.Struct, frozen=True, dict=True):
    """What every term matches; without terms, everything. ``str()`` gives it back as one string that parses alike."""

    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, words: Sequence[str] | str) -> Selection:
        """The selection that words mean; a word with spaces outside quotes and brackets is several.

        Raises MalformedWord.
        """
        texts = [words] if isinstance(words, str) else words
        return cls(tuple(_term(word) for text in texts for word in _WORDS.findall(text)))

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))

    @cached_property
    def tests(self) -> tuple[Callable[[Facts], bool], ...]:
        """Each term as a function."""
        return tuple(term.test() for term in self.terms)

    def matches(self, case: str, labels: Labels, data_set: int = 0, verdict: str = "") -> bool:
        """Whether every term holds; a term on a verdict never does for what has none."""
        facts = (case, labels, data_set, verdict)
        return all(holds(facts) for holds in self.tests)


def _term(word: str) -> Term:
    match = _WORD.fullmatch(word)
    if match is None:
        raise MalformedWord(
            f"{word!r} is no term of a selection.",
            "Write KEY=VALUE, KEY!=VALUE, a glob on the names of cases, or !GLOB.",
        )
    values = match["value"] if match["key"] else match["name"]
    patterns = tuple(_QUOTES.sub(r"\1\2", part) for part in _ALTERNATIVES.findall(values))
    negated = "!" in (match["relation"] or match["not"])
    key = match["key"] or "case"
    if "." in key and key.rpartition(".")[0] not in {"types", "attributes"}:
        raise MalformedWord(f"{key!r} is no key of a selection.", "A key with a dot begins with types. or attributes.")
    return Term(key, patterns, negated)


def select_cases(cases: Iterable[Case], selection: Selection) -> Iterator[tuple[Case, tuple[int, ...]]]:
    """The cases of which a data set matches, each with the numbers of those data sets, in order and as they come.

    Raises NothingSelected at the end where there was none.
    """
    watch = _Watch(selection)
    for case in cases:
        facts = ((case.name, case.labels_of(n), n, "") for n in range(len(case.data_sets)))
        chosen = tuple(one[2] for one in facts if watch.matches(one))
        if chosen:
            yield case, chosen
    watch.require("case")


class Judged(Protocol):
    """What a result line says, as far as selections ask."""

    @property
    def case(self) -> str: ...  # noqa: D102
    @property
    def labels(self) -> Labels: ...  # noqa: D102
    @property
    def data_set(self) -> int: ...  # noqa: D102
    @property
    def verdict(self) -> str: ...  # noqa: D102


R = TypeVar("R", bound=Judged)


def select_results(results: Iterable[R], selection: Selection) -> Iterator[R]:
    """The results that match, in order and as they come. Raises NothingSelected at the end where there was none."""
    watch = _Watch(selection)
    for result in results:
        if watch.matches((result.case, result.labels, result.data_set, result.verdict)):
            yield result
    watch.require("result")


class _Watch:
    """A selection at work, which remembers until something gets through where everything else fell out."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.seen = self.found = False
        self.alone: set[int] = set()
        """Terms that something meets."""
        self.values: dict[int, set[str]] = {}
        """Term → what those have under its key that met all terms before it and not this one."""
        self.names: dict[str, set[str]] = {"types": set(), "attributes": set()}

    def matches(self, facts: Facts) -> bool:
        self.seen = True
        if self.selection.matches(*facts):
            self.found = True
            return True
        if not self.found:
            held = [holds(facts) for holds in self.selection.tests]
            self.alone.update(n for n, holds in enumerate(held) if holds)
            first = held.index(False)
            self.values.setdefault(first, set()).update(self.selection.terms[first].values(facts))
            self.names["types"].update(facts[1].types)
            self.names["attributes"].update(facts[1].attributes)
        return False

    def require(self, what: str) -> None:
        """Raise NothingSelected, with the first term that is to blame, where nothing matched."""
        if self.found:
            return
        if not self.seen:
            raise NothingSelected(f"There is no {what} to select from.")
        self._require_keys(what)
        blamed = max(self.values)
        term, earlier = self.selection.terms[blamed], self.selection.terms[:blamed]
        context = f" with {' '.join(map(str, earlier))}" if blamed in self.alone else ""
        verb = "is named" if str(term).startswith("case=") else "has"
        raise NothingSelected(
            f"No {what} {verb} {str(term).removeprefix('case=')}{context}{_hint(term, self.values[blamed])}"
        )

    def _require_keys(self, what: str) -> None:
        labels = sorted({name for names in self.names.values() for name in names} - {*_FIXED})
        known = [*_FIXED, *labels]
        exact = [f"{kind}.{name}" for kind, names in self.names.items() for name in names]
        for term in self.selection.terms:
            if term.key == "verdict" and what == "case":
                raise NothingSelected(f"No case has {term}: only results have a verdict.")
            if term.key not in known and term.key not in exact:
                close = _closest(term.key, [*known, *exact])
                raise NothingSelected(
                    f"No {what} has a label {term.key}{f'; did you mean {close[0]}?' if close else '.'}",
                    f"Known keys: {', '.join(known)}.",
                )


def _closest(text: str, known: Iterable[str]) -> list[str]:
    folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    return [folded[name] for name in difflib.get_close_matches(text.casefold(), folded, 3)]


def _hint(term: Term, values: set[str]) -> str:
    close = [] if term.negated else list(dict.fromkeys(c for p in term.patterns for c in _closest(p, values)))
    if close:
        return f"; did you mean {' or '.join(str(Term(term.key, (value,))) for value in close)}?"
    if 0 < len(values) <= 20:
        return f"; {term.key} is {', '.join(sorted(values))}."
    return "."
