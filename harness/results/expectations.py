"""What a backend is known to fail: ``<name>.expected.toml``, and whether a run is as it says."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.errors import ConformanceError, UsageError
from harness.results.lines import UNSCORED, VERDICTS, Result, Verdict
from harness.suite.cases import Case
from harness.suite.select import Facts, Selection, Term

_GOOD = ("passed", *UNSCORED)
_UNTOLD = (*UNSCORED, "not_run")
"""Verdicts that say nothing about an expectation."""


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An ``[[expect]]``: what ``select`` matches ends with this verdict, or one of these, ``passed`` perhaps too."""

    select: str
    verdict: Verdict | tuple[Verdict, ...]
    reason: str
    link: str = ""
    suite: str = ""
    """The suite it speaks of; empty for every suite."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts it covers."""
        return (self.verdict,) if isinstance(self.verdict, str) else self.verdict


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    expect: tuple[Expectation, ...] = ()


class BrokenExpectations(UsageError):
    """An expectations file that is no TOML, or an entry in it that says nothing."""


class CannotWriteExpectations(ConformanceError):
    """An expectations file that cannot be written."""


def read_expectations(path: Path | None) -> tuple[Expectation, ...]:
    """The entries of a file, none where there is none. Raises BrokenExpectations."""
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenExpectations(f"{path} cannot be read: {error}.") from error
    try:
        entries = msgspec.convert(tomllib.loads(text), _File).expect
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BrokenExpectations(
            f"{path} is no file of expectations: {error}.",
            f"An [[expect]] has select, verdict (of {', '.join(v for v in VERDICTS if v not in _GOOD)}) and reason; "
            "link and suite may follow.",
        ) from error
    for entry in entries:
        if not entry.reason or UNSCORED & set(entry.verdicts) or not set(entry.verdicts) - {"passed"}:
            raise BrokenExpectations(
                f"{path}: the entry on {entry.select!r} needs a reason and a verdict that is a failure.",
                'Where some of what it selects passes, say so: verdict = ["passed", "unsupported"].',
            )
        if any(term.key == "verdict" for term in Selection.parse(entry.select).terms):
            raise BrokenExpectations(
                f"{path}: the entry on {entry.select!r} selects by verdict.", "Write verdict = beside it."
            )
    return entries


def write_expectations(path: Path, backend: str, entries: Iterable[Expectation]) -> None:
    """Write a file of expectations; the same entries give the same text. Raises CannotWriteExpectations."""
    lines = [
        f"# What {backend} is known to fail. `onnx-conformance run --backend {backend} --write-expected` rewrites",
        "# this file, and keeps the reasons and links of what still holds.",
    ]
    for entry in sorted(entries, key=lambda e: (e.suite, e.select, e.verdicts)):
        verdicts = entry.verdict if isinstance(entry.verdict, str) else list(entry.verdict)
        lines += ["", "[[expect]]"]
        fields = {
            "suite": entry.suite,
            "select": entry.select,
            "verdict": verdicts,
            "reason": entry.reason,
            "link": entry.link,
        }
        lines += [f"{key} = {_toml(value)}" for key, value in fields.items() if value]
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise CannotWriteExpectations(f"{path} cannot be written: {error.strerror}.") from error


def _toml(value: str | Sequence[str]) -> str:
    """A string or an array of strings: what JSON writes is TOML, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class Expectations:
    """The entries that speak of one suite, at work: which explain a result, and which the run gives the lie."""

    def __init__(self, entries: Iterable[Expectation], suite: str) -> None:
        self.unexpected = 0
        """Results so far that no entry explains."""
        self._entries = [entry for entry in entries if entry.suite in ("", suite)]
        self._selections = [Selection.parse(entry.select) for entry in self._entries]
        self._index = _index(self._selections)
        self._met: set[int] = set()
        """Entries that match something in the suite."""
        self._broken: set[int] = set()
        """Entries that match a result of another verdict."""

    def add_case(self, case: Case) -> None:
        """Learn that the suite has this case, run or not."""
        if len(self._met) == len(self._entries):
            return
        for data_set in range(len(case.data_sets)):
            self._met.update(self._matching((case.name, case.labels_of(data_set), data_set, "")))

    def annotate(self, result: Result) -> Result:
        """The result, with the reason for its failure where an entry gives one; counts it where none does.

        What the machine lacks for it is a reason, too.
        """
        known = result.known if result.verdict == "not_run" else ""
        for number in self._matching((result.case, result.labels, result.data_set, result.verdict)):
            if result.verdict in self._entries[number].verdicts:
                known = known or (self._entries[number].reason if result.verdict not in _GOOD else "")
            elif result.verdict not in _UNTOLD:
                self._broken.add(number)
        self.unexpected += result.verdict not in _GOOD and not known
        return msgspec.structs.replace(result, known=known) if known != result.known else result

    def contradicting(self, result: Result) -> Expectation | None:
        """An entry that a result gives the lie, for it matches and ends otherwise; None where there is none."""
        if result.verdict in _UNTOLD:
            return None
        matching = self._matching((result.case, result.labels, result.data_set, result.verdict))
        entries = (self._entries[number] for number in matching)
        return next((entry for entry in entries if result.verdict not in entry.verdicts), None)

    def stale(self) -> tuple[str, ...]:
        """A line on each entry that no longer holds, or matches nothing in the suite."""
        told: list[str] = []
        for number, entry in enumerate(self._entries):
            if number in self._broken:
                told.append(f"{entry.select}: not everything is {' or '.join(entry.verdicts)} any more")
            elif number not in self._met:
                told.append(f"{entry.select}: matches nothing in the suite")
        return tuple(told)

    def is_stale(self, entry: Expectation) -> bool:
        """Whether this run gives an entry the lie; never one that speaks of another suite."""
        return any(
            known == entry and (number in self._broken or number not in self._met)
            for number, known in enumerate(self._entries)
        )

    def _matching(self, facts: Facts) -> Iterator[int]:
        for terms, numbers in self._index.items():
            for values in itertools.product(*(term.values(facts) for term in terms)):
                for number in numbers.get(values, ()):
                    if self._selections[number].matches(*facts):
                        yield number


_Index = dict[tuple[Term, ...], dict[tuple[str, ...], list[int]]]
"""Keys (as terms without patterns) → values under them → numbers of the entries that ask for just these."""


def _index(selections: Iterable[Selection]) -> _Index:
    """So that a result meets only the entries that ask for its operator and types, however many entries there are."""
    index: _Index = {}
    for number, selection in enumerate(selections):
        plain = {term.key: term.patterns for term in selection.terms if not term.negated and not _is_glob(term)}
        by_values = index.setdefault(tuple(Term(key, ()) for key in plain), {})
        for values in itertools.product(*plain.values()):
            by_values.setdefault(values, []).append(number)
    return index


def _is_glob(term: Term) -> bool:
    return any(set(pattern) & set("*?[") for pattern in term.patterns)
