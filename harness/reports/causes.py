"""What failures have in common: the fewest and smallest conditions on labels that hold for failures alone."""

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

from harness.results.lines import Result, Verdict
from harness.suite.cases import Labels
from harness.suite.select import FIXED_KEYS, Term

TERMS = 3
"""Conditions in a cause, at most."""
CHANCE = 0.1
"""How many causes of several conditions may be found among failures that labels have nothing to do with."""

NEARLY = 0.9
"""The share of a cause's members that must have failed in one way for it to count as one."""

_OMITTED = "omitted "
_KEY = re.compile(r"[A-Za-z_]\w*")


Conditions: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Label → the values of it that are meant, for each condition."""


class Cause(msgspec.Struct, frozen=True):
    """A conjunction of conditions that only failures of a block meet."""

    conditions: Conditions
    members: int
    """The failures that meet them, as a bit set of the block's results."""


class Block:
    """The scored results of one operator, or of one version of it, as bit sets."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = [result for result in results if result.verdict != "unspecified"]
        """The scored ones; bit n of a set stands for the n-th."""
        self.all = (1 << len(self.results)) - 1
        self.verdicts: dict[Verdict, int] = defaultdict(int)
        """Verdict → the results that have it."""
        values: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for n, result in enumerate(self.results):
            self.verdicts[result.verdict] |= 1 << n
            for label, value in _facts(result.labels):
                values[label][value] |= 1 << n
        for label, of in values.items():
            if label.startswith(_OMITTED):
                of["no"] = self.all & ~of["yes"]
        self.values = {label: values[label] for label in sorted(values) if self.all not in values[label].values()}
        """Label → value → the results that have it, for the labels that tell results apart."""
        self.passed = self.verdicts.pop("passed", 0)
        self.failed = self.all & ~self.passed

    def meeting(self, conditions: Iterable[tuple[str, Iterable[str]]]) -> int:
        """The results that meet all conditions; one on a label that tells nothing apart is met."""
        members = self.all
        for label, values in conditions:
            members &= union(self.values[label][value] for value in values)
        return members

    def common(self, members: int) -> tuple[tuple[str, tuple[str]], ...]:
        """Conditions of one value that all members meet: at most ``TERMS``, each of them leaving out most others."""
        each = [(label, value, has) for label, of in self.values.items() for value, has in of.items()]
        each = [one for one in each if not members & ~one[2]]
        meeting, chosen = self.all, list[tuple[str, tuple[str]]]()
        while each and len(chosen) < TERMS:
            label, value, has = min(each, key=lambda one: ((meeting & one[2]).bit_count(), one[:2]))
            if not meeting & ~has:
                break
            meeting &= has
            chosen.append((label, (value,)))
        return tuple(chosen)

    def nearly_one(self, members: int) -> bool:
        """Whether nearly all of some failures failed in one way."""
        return (self.verdicts[self.most(members)] & members).bit_count() >= NEARLY * members.bit_count()

    def most(self, members: int) -> Verdict:
        """The way in which most of some failures failed."""
        return max(sorted(self.verdicts), key=lambda verdict: (self.verdicts[verdict] & members).bit_count())

    def pick(self, members: int) -> list[tuple[int, Result]]:
        """The results in a bit set, each with its place."""
        return [(n, self.results[n]) for n in range(members.bit_length()) if members >> n & 1]

    def terms(self, conditions: Iterable[tuple[str, Sequence[str]]]) -> tuple[Term, ...]:
        """Conditions in the language of selections, by the values that are meant or the others if these are fewer."""
        return tuple(_term(label, values, self.values[label]) for label, values in conditions)


def causes(block: Block, left: int) -> Iterator[Cause]:
    """Causes of the failures ``left``, the smallest first and of these the one that tells most.

    That its members failed in different ways counts as a condition more, unless nearly all did in one. What of ``left``
    is in no cause, no small one tells from what passed, or so few meet it that chance would find as much.
    """
    for size in range(TERMS + 1):
        for mixed in (False, True)[: 1 + (size > 0)]:
            found = _candidates(block, size - mixed, left, mixed=mixed)
            while found and left:
                least = 1 if size < 2 else _least(block, size - mixed, left)
                gains = {cause: (cause.members & left).bit_count() for cause in found}
                best = min(found, key=lambda cause: (-gains[cause], _length(cause), cause.conditions))
                if gains[best] < least:
                    break
                yield best
                left &= ~best.members
                found = {cause for cause in found if cause.members & left}


def shared_causes(blocks: Mapping[str, Block]) -> dict[str, list[Cause]]:
    """For each block its causes of at most one condition that another has, too: of each size the widest first."""
    left = {name: block.failed for name, block in blocks.items()}
    shared: dict[str, list[Cause]] = {name: [] for name in blocks}
    for size in (0, 1):
        options = _plain_causes(blocks, size)
        while options := _still_shared(options, left):
            gains = {
                key: sum((c.members & left[name]).bit_count() for name, c in of.items()) for key, of in options.items()
            }
            for name, cause in options[min(options, key=lambda key: (-gains[key], key))].items():
                shared[name].append(cause)
                left[name] &= ~cause.members
    return shared


_Options: TypeAlias = dict[tuple[str, ...], dict[str, Cause]]
"""Verdict, label and value → block → the cause that this is there."""


def _plain_causes(blocks: Mapping[str, Block], size: int) -> _Options:
    """The causes of no condition, or of one label with one value, whose members nearly all failed in one way."""
    options: _Options = defaultdict(dict)
    for name, block in blocks.items():
        if not size and not block.passed and block.nearly_one(block.all):
            options[block.most(block.all),][name] = Cause((), block.all)
        for label, values in block.values.items() if size else ():
            for value, has in values.items():
                if has and not has & block.passed and block.nearly_one(has):
                    options[block.most(has), label, value][name] = Cause(((label, (value,)),), has)
    return options


def _still_shared(options: _Options, left: Mapping[str, int]) -> _Options:
    some = {key: {name: c for name, c in of.items() if c.members & left[name]} for key, of in options.items()}
    return {key: of for key, of in some.items() if len(of) > 1}


def _length(cause: Cause) -> int:
    return sum(len(values) for _, values in cause.conditions)


def _least(block: Block, terms: int, left: int) -> float:
    """How many failures a cause must tell: of n results at random all have failed with the n-th power of the share."""
    if not block.passed:
        return 1
    tried = sum(math.prod(len(block.values[label]) for label in labels) for labels in combinations(block.values, terms))
    failures = left.bit_count()
    return math.log(tried / CHANCE) / math.log((block.passed.bit_count() + failures) / failures)


def _candidates(block: Block, terms: int, left: int, *, mixed: bool) -> set[Cause]:
    found: set[Cause] = set()
    for labels in combinations(block.values, terms):
        for seed, members in _seeds(block, labels, left):
            if not members & block.passed:
                if mixed and sum(1 for of in block.verdicts.values() if of & members & left) > 1:
                    found.add(_grown(block, labels, seed, block.passed))
                elif not mixed and block.nearly_one(members):
                    found.add(_grown(block, labels, seed, block.all & ~block.verdicts[block.most(members)]))
    return found


def _seeds(block: Block, labels: Sequence[str], left: int) -> list[tuple[tuple[str, ...], int]]:
    """The combinations of one value for each label that occur in ``left``, and all results that have them."""
    seeds: list[tuple[tuple[str, ...], int]] = [((), block.all)]
    for label in labels:
        of = block.values[label].items()
        seeds = [((*seed, value), both) for seed, some in seeds for value, has in of if (both := some & has) & left]
    return seeds


def _grown(block: Block, labels: Sequence[str], seed: Sequence[str], outside: int) -> Cause:
    """The cause in which each condition allows as many values as there are with nothing ``outside`` meeting it."""
    conditions: list[tuple[str, tuple[str, ...]]] = [
        (label, (value,)) for label, value in zip(labels, seed, strict=True)
    ]
    for n, (label, (value,)) in enumerate(conditions):
        others = block.meeting(condition for m, condition in enumerate(conditions) if m != n)
        more = [v for v, has in block.values[label].items() if (both := others & has) and not both & outside]
        conditions[n] = (label, tuple(sorted({value, *more})))
    telling = tuple(one for one in conditions if block.meeting([one]) != block.all)
    return Cause(telling, block.meeting(telling))


def _facts(labels: Labels) -> Iterator[tuple[str, str]]:
    """What selections can ask of a data set, by key; ``omitted k`` where it leaves out ``k``."""
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
    """How selections name a label: with its kind where the name alone means another; empty where they cannot."""
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
    meant, rest = (others, values) if negated else (values, others)
    return Term(label, tuple(pattern(value, rest) for value in meant), negated)


def pattern(value: str, others: Iterable[str]) -> str:
    """The glob that means a value and none of the others: ``[0,1]`` stays, unless there is a ``0``."""
    return escape(value) if any(fnmatchcase(other, value) for other in others) else value


def union(sets: Iterable[int]) -> int:
    """What is in any of some bit sets."""
    union = 0
    for one in sets:
        union |= one
    return union
