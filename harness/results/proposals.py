"""Proposes expectations that cover the failures of a run: few entries, with short selections."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from harness.results.expectations import Expectation
from harness.results.lines import UNSCORED, VERDICTS, Result, Verdict
from harness.suite.cases import Labels
from harness.suite.select import Selection, Term
from harness.text import shortened

_IGNORED = (*UNSCORED, "not_run")
"""Verdicts that an entry may also match."""
_MAX_CANDIDATES = 20_000


def propose_expectations(results: Iterable[Result], suite: str) -> list[Expectation]:
    """Entries that together cover every failure without a ``known`` reason, and no result of another verdict."""
    by_op: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_op.setdefault((result.labels.domain, result.labels.op), []).append(result)
    entries: list[Expectation] = []
    for _, group in sorted(by_op.items()):
        entries += _propose_for_operator(group, suite)
    return entries


def _propose_for_operator(results: Sequence[Result], suite: str) -> Iterator[Expectation]:
    """Entries for the results of one operator, chosen greedily."""
    unexplained = {n for n, r in enumerate(results) if not r.known and r.verdict not in ("passed", *_IGNORED)}
    if not unexplained:
        return
    candidates = list(_candidates(results))
    for verdict in VERDICTS:
        uncovered = _mask(n for n in unexplained if results[n].verdict == verdict)
        wrong = _mask(n for n, r in enumerate(results) if r.verdict not in (verdict, *_IGNORED))
        usable = [(terms, mask) for terms, mask in candidates if not mask & wrong and mask & uncovered]
        while uncovered and usable:
            terms, mask = max(usable, key=lambda c: ((c[1] & uncovered).bit_count(), -len(c[0])))
            yield _entry(terms, verdict, [results[n] for n in _members(mask & uncovered)], suite)
            uncovered &= ~mask
            usable = [(t, m) for t, m in usable if m & uncovered]
        yield from _by_name(results, uncovered, verdict, suite)


def _candidates(results: Sequence[Result]) -> Iterator[tuple[tuple[Term, ...], int]]:
    """Conjunctions of at most three labels, shortest first, each with a bit mask of the results that it matches."""
    op = results[0].labels.op
    if not op:
        return  # graphs of several nodes have no labels, only names
    base = (Term("op", (op,)), *((Term("domain", (results[0].labels.domain,)),) if results[0].labels.domain else ()))
    everything = (1 << len(results)) - 1
    yield base, everything
    single = [(term, _matched(term, results)) for term in sorted(set(_terms(results)), key=str)]
    single = [(term, mask) for term, mask in single if mask not in (0, everything)]
    for term, mask in single:
        yield (*base, term), mask
    pairs = ((a, b) for a, b in itertools.combinations(single, 2) if a[0].key != b[0].key)
    for (one, one_mask), (other, other_mask) in itertools.islice(pairs, _MAX_CANDIDATES):
        if one_mask & other_mask not in (0, one_mask, other_mask):
            yield (*base, one, other), one_mask & other_mask


def _terms(results: Iterable[Result]) -> Iterator[Term]:
    for result in results:
        labels = result.labels
        yield Term("since", (str(labels.since),))
        yield Term("group", (labels.group,))
        for name in labels.omitted:
            yield Term("omitted", (name,))
        for name, value in labels.types.items():
            yield Term(f"types.{name}" if _is_taken(name) else name, (value,))
        for name, value in labels.attributes.items():
            yield Term(f"attributes.{name}" if _is_taken(name) or name in labels.types else name, (value,))


@cache
def _is_taken(name: str) -> bool:
    """Whether this key means something else in selections than the type variable or attribute of that name."""
    return Term(name, ()).values(("", Labels(op="", types={name: "mine"}), 0, "")) != ("mine",)


def _matched(term: Term, results: Sequence[Result]) -> int:
    test = term.test()
    return _mask(n for n, r in enumerate(results) if test((r.case, r.labels, r.data_set, r.verdict)))


def _by_name(results: Sequence[Result], uncovered: int, verdict: Verdict, suite: str) -> Iterator[Expectation]:
    """Entries that list cases by name: first those that fail in every data set, then the others by data set."""
    if not uncovered:
        return
    elsewhere = {r.case for r in results if r.verdict not in (verdict, *_IGNORED)}
    named: dict[str, list[Result]] = {}
    for n in _members(uncovered):
        result = results[n]
        named.setdefault(f"data_set={result.data_set}" if result.case in elsewhere else "", []).append(result)
    for data_set, found in sorted(named.items()):
        terms = (Term("case", tuple(sorted({r.case for r in found}))), *Selection.parse(data_set).terms)
        yield _entry(terms, verdict, found, suite)


def _entry(terms: Iterable[Term], verdict: Verdict, covered: Iterable[Result], suite: str) -> Expectation:
    """An entry whose reason is the most common message; ties are broken alphabetically."""
    messages = Counter(result.message for result in covered)
    message = min(messages, key=lambda text: (-messages[text], text))
    return Expectation(" ".join(map(str, terms)), verdict, shortened(message, 160) or verdict, suite=suite)


def _mask(numbers: Iterable[int]) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def _members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
