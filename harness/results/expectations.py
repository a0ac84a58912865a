"""The known failures of a backend (``<name>.expected.toml``), and whether a run agrees with them."""

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
_NO_EVIDENCE = (*UNSCORED, "not_run")
"""Verdicts that neither confirm nor contradict an expectation."""


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An ``[[expect]]`` table: every result that ``select`` matches has this verdict, or one of these verdicts.

    ``passed`` may be among them, but not alone.
    """

    select: str
    verdict: Verdict | tuple[Verdict, ...]
    reason: str
    link: str = ""
    suite: str = ""
    """The name of the suite that it applies to; empty for every suite."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts that it allows."""
        return (self.verdict,) if isinstance(self.verdict, str) else self.verdict


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    expect: tuple[Expectation, ...] = ()


class BrokenExpectations(UsageError):
    """An expectations file that is not TOML, or an entry in it that is incomplete or contradicts itself."""


class CannotWriteExpectations(ConformanceError):
    """An expectations file that cannot be written."""


def read_expectations(path: Path | None) -> tuple[Expectation, ...]:
    """The expectations in a file, none if the path is None or the file does not exist. Raises BrokenExpectations."""
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
            f"{path} is not a file of expectations: {error}.",
            f"An [[expect]] needs select, verdict ({', '.join(v for v in VERDICTS if v not in _GOOD)}) and reason; "
            "link and suite are optional.",
        ) from error
    for entry in entries:
        if not entry.reason or UNSCORED & set(entry.verdicts) or not set(entry.verdicts) - {"passed"}:
            raise BrokenExpectations(
                f"{path}: the expectation {entry.select!r} needs a reason and a verdict that is a failure.",
                'If only some of the selected results fail, write verdict = ["passed", "unsupported"].',
            )
        if any(term.key == "verdict" for term in Selection.parse(entry.select).terms):
            raise BrokenExpectations(
                f"{path}: the expectation {entry.select!r} selects by verdict.",
                "Remove that term; the field verdict = says which verdict is expected.",
            )
    return entries


def write_expectations(path: Path, backend: str, entries: Iterable[Expectation]) -> None:
    """Write a file of expectations; the order of the entries does not matter. Raises CannotWriteExpectations."""
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
    """A string or an array of strings. JSON's text is TOML, except for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class Expectations:
    """The expectations that apply to one suite: which results they explain, and which of them are stale.

    An expectation is stale if a result that it matches has another verdict, or if it matches no case of the suite and
    the suite is complete: the current version wrote it without ``--select``. If the suite is a part, call
    ``skip_unmatched``.
    """

    def __init__(self, entries: Iterable[Expectation], suite: str) -> None:
        self.unexpected = 0
        """Failures so far that no expectation covers."""
        self.skipped = 0
        """Expectations that match no case and are not checked."""
        self._entries = [entry for entry in entries if entry.suite in ("", suite)]
        self._selections = [Selection.parse(entry.select) for entry in self._entries]
        self._index = _index(self._selections)
        self._met: set[int] = set()
        """Entries that match a data set of the suite."""
        self._broken: set[int] = set()
        """Entries that match a result of another verdict."""

    def add_case(self, case: Case) -> None:
        """Register a case of the suite, whether the run includes it or not."""
        if len(self._met) == len(self._entries):
            return
        for data_set in range(len(case.data_sets)):
            self._met.update(self._matching((case.name, case.labels_of(data_set), data_set, "")))

    @property
    def unmatched(self) -> int:
        """Expectations that match no case so far."""
        return len(self._entries) - len(self._met)

    def skip_unmatched(self) -> None:
        """Do not check the expectations that match no case: the suite is a part. Call it after the last ``add_case``.

        They are counted in ``skipped`` and are not stale.
        """
        self.skipped = self.unmatched

    def annotate(self, result: Result) -> Result:
        """The result, with the reason for its failure if an expectation gives one; otherwise a failure is counted.

        A requirement that the machine does not meet is a reason, too.
        """
        known = result.known if result.verdict == "not_run" else ""
        for number in self._matching((result.case, result.labels, result.data_set, result.verdict)):
            if result.verdict in self._entries[number].verdicts:
                known = known or (self._entries[number].reason if result.verdict not in _GOOD else "")
            elif result.verdict not in _NO_EVIDENCE:
                self._broken.add(number)
        self.unexpected += result.verdict not in _GOOD and not known
        return msgspec.structs.replace(result, known=known) if known != result.known else result

    def contradicting(self, result: Result) -> Expectation | None:
        """An expectation that matches the result and does not allow its verdict; None if there is none."""
        if result.verdict in _NO_EVIDENCE:
            return None
        matching = self._matching((result.case, result.labels, result.data_set, result.verdict))
        entries = (self._entries[number] for number in matching)
        return next((entry for entry in entries if result.verdict not in entry.verdicts), None)

    def stale(self) -> tuple[str, ...]:
        """A line for each stale expectation."""
        lines: list[str] = []
        for number, entry in enumerate(self._entries):
            if number in self._broken:
                lines.append(f"{entry.select}: not every result is {' or '.join(entry.verdicts)}")
            elif self._is_missing(number):
                lines.append(f"{entry.select}: matches no case of the suite")
        return tuple(lines)

    def is_stale(self, entry: Expectation) -> bool:
        """Whether an expectation is stale; False for one of another suite."""
        return any(
            known == entry and (number in self._broken or self._is_missing(number))
            for number, known in enumerate(self._entries)
        )

    def _is_missing(self, number: int) -> bool:
        return number not in self._met and not self.skipped

    def _matching(self, facts: Facts) -> Iterator[int]:
        for terms, numbers in self._index.items():
            for values in itertools.product(*(term.values(facts) for term in terms)):
                for number in numbers.get(values, ()):
                    if self._selections[number].matches(*facts):
                        yield number


_Index = dict[tuple[Term, ...], dict[tuple[str, ...], list[int]]]
"""Keys (as terms without patterns) → values under these keys → numbers of the entries that require these values."""


def _index(selections: Iterable[Selection]) -> _Index:
    """An index, so that a result is compared only with the entries that require its operator and types."""
    index: _Index = {}
    for number, selection in enumerate(selections):
        plain = {term.key: term.patterns for term in selection.terms if not term.negated and not _is_glob(term)}
        by_values = index.setdefault(tuple(Term(key, ()) for key in plain), {})
        for values in itertools.product(*plain.values()):
            by_values.setdefault(values, []).append(number)
    return index


def _is_glob(term: Term) -> bool:
    return any(set(pattern) & set("*?[") for pattern in term.patterns)
