"""Common causes of failures: the simplest conditions on labels that match failures only."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from glob import escape
from itertools import combinations
from typing import TypeAlias

import msgspec

from harness.results.lines import UNSCORED, Result, Verdict
from harness.suite.cases import Labels
from harness.suite.select import FIXED_KEYS, Term

MAX_CONDITIONS = 3
"""The maximum number of conditions in a cause."""
MAX_FALSE_CAUSES = 0.1
"""The expected number of causes with several conditions that are found if failures do not depend on labels at all."""
SINGLE_VERDICT_SHARE = 0.9
"""A cause counts as one with a single verdict if at least this share of its failures has that verdict."""

_OMITTED = "omitted "
_KEY = re.compile(r"[A-Za-z_]\w*")


Conditions: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""For each condition the label and its accepted values."""


class Cause(msgspec.Struct, frozen=True):
    """A conjunction of conditions that only failures match."""

    conditions: Conditions
    members: int
    """The failures that match, as a bit set over ``ScoredResults.results``."""


class ScoredResults:
    """The scored results of one operator or operator version. Sets of results are integers used as bit sets."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = [result for result in results if result.verdict not in UNSCORED]
        """Bit n of a bit set stands for ``results[n]``."""
        self.all = (1 << len(self.results)) - 1
        self.verdicts: dict[Verdict, int] = defaultdict(int)
        """Verdict → results, for each verdict but ``passed``."""
        values: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for n, result in enumerate(self.results):
            self.verdicts[result.verdict] |= 1 << n
            for label, value in _label_items(result.labels):
                values[label][value] |= 1 << n
        for label, of in values.items():
            if label.startswith(_OMITTED):
                of["no"] = self.all & ~of["yes"]
        self.values = {label: values[label] for label in sorted(values) if self.all not in values[label].values()}
        """Label → value → results, for the labels whose value is not the same in all results."""
        self.passed = self.verdicts.pop("passed", 0)
        self.failed = self.all & ~self.passed

    def matching(self, conditions: Iterable[tuple[str, Iterable[str]]]) -> int:
        """The results that match all conditions."""
        members = self.all
        for label, values in conditions:
            members &= union(self.values[label][value] for value in values)
        return members

    def common_conditions(self, members: int) -> tuple[tuple[str, tuple[str]], ...]:
        """At most ``MAX_CONDITIONS`` conditions that all members match, the most selective first."""
        candidates = [(label, value, has) for label, of in self.values.items() for value, has in of.items()]
        candidates = [candidate for candidate in candidates if not members & ~candidate[2]]
        matching, chosen = self.all, list[tuple[str, tuple[str]]]()
        while candidates and len(chosen) < MAX_CONDITIONS:
            label, value, has = min(candidates, key=lambda one: ((matching & one[2]).bit_count(), one[:2]))
            if not matching & ~has:
                break
            matching &= has
            chosen.append((label, (value,)))
        return tuple(chosen)

    def has_single_verdict(self, members: int) -> bool:
        """Whether (nearly) all of these failures have the same verdict; see ``SINGLE_VERDICT_SHARE``."""
        same = self.verdicts[self.main_verdict(members)] & members
        return same.bit_count() >= SINGLE_VERDICT_SHARE * members.bit_count()

    def main_verdict(self, members: int) -> Verdict:
        """The most frequent verdict of these failures."""
        return max(sorted(self.verdicts), key=lambda verdict: (self.verdicts[verdict] & members).bit_count())

    def items(self, members: int) -> list[tuple[int, Result]]:
        """The results of a bit set, each with its index."""
        return [(n, self.results[n]) for n in range(members.bit_length()) if members >> n & 1]

    def terms(self, conditions: Iterable[tuple[str, Sequence[str]]]) -> tuple[Term, ...]:
        """The conditions as selection terms. A term is negated if that makes it shorter."""
        return tuple(_term(label, values, self.values[label]) for label, values in conditions)


def causes(scored: ScoredResults, left: int) -> Iterator[Cause]:
    """Finds causes of the failures in ``left``: fewest conditions first, then most failures first.

    A cause whose failures have different verdicts counts as if it had one more condition. No cause is returned that
    matches so few failures that it may be a coincidence.
    """
    for size in range(MAX_CONDITIONS + 1):
        for mixed in (False, True)[: 1 + (size > 0)]:
            found = _candidates(scored, size - mixed, left, mixed=mixed)
            while found and left:
                required = 1 if size < 2 else _min_failures(scored, size - mixed, left)
                gains = {cause: (cause.members & left).bit_count() for cause in found}
                best = min(found, key=lambda cause: (-gains[cause], _length(cause), cause.conditions))
                if gains[best] < required:
                    break
                yield best
                left &= ~best.members
                found = {cause for cause in found if cause.members & left}


def shared_causes(operators: Mapping[str, ScoredResults]) -> dict[str, list[Cause]]:
    """For each operator its causes of at most one condition that also explain failures of another operator.

    Causes without a condition come first, then those that explain most failures.
    """
    left = {name: scored.failed for name, scored in operators.items()}
    shared: dict[str, list[Cause]] = {name: [] for name in operators}
    for size in (0, 1):
        options = _simple_causes(operators, size)
        while options := _still_shared(options, left):
            gains = {
                key: sum((c.members & left[name]).bit_count() for name, c in of.items()) for key, of in options.items()
            }
            for name, cause in options[min(options, key=lambda key: (-gains[key], key))].items():
                shared[name].append(cause)
                left[name] &= ~cause.members
    return shared


_Options: TypeAlias = dict[tuple[str, ...], dict[str, Cause]]
"""(Verdict, label, value) → operator → the cause for this operator."""


def _simple_causes(operators: Mapping[str, ScoredResults], size: int) -> _Options:
    """The causes with no condition, or with one value of one label, that have a single verdict."""
    options: _Options = defaultdict(dict)
    for name, scored in operators.items():
        if not size and not scored.passed and scored.has_single_verdict(scored.all):
            options[scored.main_verdict(scored.all),][name] = Cause((), scored.all)
        for label, values in scored.values.items() if size else ():
            for value, has in values.items():
                if has and not has & scored.passed and scored.has_single_verdict(has):
                    options[scored.main_verdict(has), label, value][name] = Cause(((label, (value,)),), has)
    return options


def _still_shared(options: _Options, left: Mapping[str, int]) -> _Options:
    some = {key: {name: c for name, c in of.items() if c.members & left[name]} for key, of in options.items()}
    return {key: of for key, of in some.items() if len(of) > 1}


def _length(cause: Cause) -> int:
    return sum(len(values) for _, values in cause.conditions)


def _min_failures(scored: ScoredResults, terms: int, left: int) -> float:
    """The number of failures that a cause must match so that it is no coincidence.

    If a share p of the results fails at random, n given results all fail with probability p^n.
    """
    if not scored.passed:
        return 1
    tried = sum(
        math.prod(len(scored.values[label]) for label in labels) for labels in combinations(scored.values, terms)
    )
    failures = left.bit_count()
    return math.log(tried / MAX_FALSE_CAUSES) / math.log((scored.passed.bit_count() + failures) / failures)


def _candidates(scored: ScoredResults, terms: int, left: int, *, mixed: bool) -> set[Cause]:
    found: set[Cause] = set()
    for labels in combinations(scored.values, terms):
        for seed, members in _seeds(scored, labels, left):
            if not members & scored.passed:
                if mixed and sum(1 for of in scored.verdicts.values() if of & members & left) > 1:
                    found.add(_widened(scored, labels, seed, scored.passed))
                elif not mixed and scored.has_single_verdict(members):
                    other = scored.all & ~scored.verdicts[scored.main_verdict(members)]
                    found.add(_widened(scored, labels, seed, other))
    return found


def _seeds(scored: ScoredResults, labels: Sequence[str], left: int) -> list[tuple[tuple[str, ...], int]]:
    """The combinations of one value per label that occur in ``left``, each with all results that have it."""
    seeds: list[tuple[tuple[str, ...], int]] = [((), scored.all)]
    for label in labels:
        of = scored.values[label].items()
        seeds = [((*seed, value), both) for seed, some in seeds for value, has in of if (both := some & has) & left]
    return seeds


def _widened(scored: ScoredResults, labels: Sequence[str], seed: Sequence[str], excluded: int) -> Cause:
    """The cause whose conditions accept as many values as possible without matching a result in ``excluded``."""
    conditions: list[tuple[str, tuple[str, ...]]] = [
        (label, (value,)) for label, value in zip(labels, seed, strict=True)
    ]
    for n, (label, (value,)) in enumerate(conditions):
        others = scored.matching(condition for m, condition in enumerate(conditions) if m != n)
        more = [v for v, has in scored.values[label].items() if (both := others & has) and not both & excluded]
        conditions[n] = (label, tuple(sorted({value, *more})))
    needed = tuple(condition for condition in conditions if scored.matching([condition]) != scored.all)
    return Cause(needed, scored.matching(needed))


def _label_items(labels: Labels) -> Iterator[tuple[str, str]]:
    """The selection keys and values of a data set. An omitted input or output ``k`` has the key ``omitted k``."""
    yield "since", str(labels.since)
    yield "domain", labels.domain or "ai.onnx"
    yield "group", labels.group
    for name, value in labels.types.items():
        if key := _key("types", name):
            yield key, value
    for name, value in labels.attributes.items():
        if key := _key("attributes", name, taken=name in labels.types):
            yield key, value
    for name in labels.omitted:
        yield f"{_OMITTED}{name}", "yes"


@cache
def _key(kind: str, name: str, *, taken: bool = False) -> str:
    """The selection key of a label, with its kind if the name alone is ambiguous. Empty if it cannot be a key."""
    if not _KEY.fullmatch(name):
        return ""
    return f"{kind}.{name}" if taken or name in FIXED_KEYS else name


def _term(label: str, values: Sequence[str], of: Iterable[str]) -> Term:
    if label.startswith(_OMITTED):
        return Term("omitted", (escape(label.removeprefix(_OMITTED)),), negated="no" in values)
    others = sorted(set(of) - set(values))
    if not others and len(values) > 1:
        return Term(label, ("*",))
    negated = 0 < len(others) < len(values)
    listed, rest = (others, values) if negated else (values, others)
    return Term(label, tuple(pattern(value, rest) for value in listed), negated)


def pattern(value: str, others: Iterable[str]) -> str:
    """A glob that matches the value and none of the others. Escapes only if necessary: ``[0,1]`` matches ``0``."""
    return escape(value) if any(fnmatchcase(other, value) for other in others) else value


def union(sets: Iterable[int]) -> int:
    """The union of bit sets."""
    union = 0
    for one in sets:
        union |= one
    return union
