"""Failures by cause: what those of an operator version, or of a whole run, have in common, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from glob import escape

import msgspec

from harness.reports.causes import Block, Cause, causes, shared_causes, union
from harness.reports.text import SEVERAL_NODES, count, counted, node, reproduce, title, verdict_words
from harness.results.lines import Result, Verdict
from harness.suite.select import Selection, Term

MOST_SEVERE_FIRST: tuple[Verdict, ...] = (
    "crashed",
    "timed_out",
    "wrong_value",
    "wrong_shape",
    "wrong_type",
    "wrong_count",
    "error",
    "not_run",
    "unsupported",
)
SEVERITY = {verdict: n for n, verdict in enumerate(MOST_SEVERE_FIRST)}
"""What is neither passed nor silent, the gravest first."""

_NAMED = 3
"""How many operators are named in words."""
_VALUES = 6
"""How many values of a label are named in words."""


class Example(msgspec.Struct, frozen=True):
    """One result of a group."""

    case: str
    data_set: int
    verdict: Verdict
    message: str
    node: str
    """The node under test, and the data set where it is not the first."""
    reproduce: str


class FailureGroup(msgspec.Struct, frozen=True):
    """Failures of one run that have one cause, or that no label tells from what passes."""

    run: int
    """Its place among the suite's runs."""
    words: str
    """``wrong value: all 48 failures of Trilu-14 have T=string (48 of 48 data sets with it)``."""
    described: bool
    """Whether nothing else of the operators meets ``conditions``; a data set may be in several groups then."""
    only: bool
    """Whether these are all failures of the operators in this run."""
    conditions: tuple[str, ...]
    """Terms of a selection, about labels, which all of the group meet; none where all of the operators fail."""
    operators: tuple[str, ...]
    """The operator version (``Trilu-14``), or in a group of a whole run the operators (``Trilu``)."""
    failures: int
    matching: int
    """Scored data sets of the operators that meet the conditions: the denominator of ``failures``."""
    known: int
    """Failures that the backend's expectations name."""
    verdicts: dict[Verdict, int]
    """The gravest first; their sum is ``failures``."""
    select: str
    """The selection that gives exactly these results of the run."""
    example: Example


def told(group: FailureGroup, mark: Callable[[str], str] = str) -> str:
    """A group in words; ``mark`` makes what comes from labels harmless where the words go."""
    return f"{verdicts_told(group.verdicts)}: {cause_told(group, mark)}"


def verdicts_told(verdicts: dict[Verdict, int]) -> str:
    """``wrong value``, or ``40 wrong value, 8 error``."""
    words = {verdict_words(verdict): times for verdict, times in verdicts.items()}
    return ", ".join(words if len(words) == 1 else (f"{count(times)} {of}" for of, times in words.items()))


def cause_told(group: FailureGroup, mark: Callable[[str], str] = str) -> str:
    """What is common to a group, with the denominator: ``told`` without the verdicts."""
    terms = " and ".join(mark(_shortened(condition)) for condition in group.conditions)
    of = _listed([mark(name) for name in group.operators])
    of = f"{count(len(group.operators))} operators ({of})" if len(group.operators) > 1 else of
    share = f"{count(group.failures)} of {counted(group.matching, 'data set')}"
    one = group.failures == 1
    if not group.described:
        what = "1 failure" if one else f"{count(group.failures)} failures"
        return f"labels tell no cause of {what} of {of} ({share}{f' with {terms}' if terms else ''})"
    if not terms:
        return f"the only data set of {of}" if one else f"all {count(group.matching)} data sets of {of}"
    if group.only:
        what = f"the only failure of {of} has" if one else f"all {count(group.failures)} failures of {of} have"
        return f"{what} {terms} ({share} with it)"
    return f"with {terms}, {share} of {of}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {count(len(names) - _NAMED)} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _shortened(condition: str) -> str:
    """A condition with its first values, of which an empty one can be seen."""
    (term,) = Selection.parse(condition).terms
    values = [str(Term("", (value,)))[1:] or "''" for value in term.patterns]
    more = f",… ({count(len(values))} values)" if len(values) > _VALUES else ""
    return f"{term.key}{'!' * term.negated}={','.join(values[:_VALUES] if more else values)}{more}"


class _Piece(msgspec.Struct, frozen=True):
    """What a group takes from one block."""

    operator: str
    block: Block
    members: int
    described: bool
    verdict: Verdict
    """Of most members."""
    terms: tuple[Term, ...]
    """What the members have in common."""
    matching: int
    narrowing: tuple[Term, ...]
    """What picks the members out of all results of the block with their verdicts."""


def version_groups(suite: str, backends: Sequence[str], runs: Sequence[Sequence[Result]]) -> tuple[FailureGroup, ...]:
    """The groups of one operator version, run by run and the gravest first.

    ``runs`` are the results of that version in each run; ``backends`` the names that these were asked for by.
    """
    groups: list[FailureGroup] = []
    for run, results in enumerate(runs):
        if any(result.verdict in SEVERITY for result in results):
            block = Block(results)
            labels = block.results[0].labels
            of = [Term("op", (escape(labels.op),))]
            if labels.op:
                of += [Term("domain", (escape(labels.domain or "ai.onnx"),)), Term("since", (str(labels.since),))]
            name = title(labels.op, labels.domain, labels.since)
            found = _pieces(name, block, list(causes(block, block.failed)))
            groups += [_group(suite, backends[run], run, of, [piece]) for piece in found]
    return _in_order(groups)


def run_groups(suite: str, backends: Sequence[str], runs: Sequence[Sequence[Result]]) -> tuple[FailureGroup, ...]:
    """The groups of whole runs, run by run and the gravest first: what operators have in common is one group.

    Arguments are as for ``version_groups``, with all results of each run.
    """
    groups: list[FailureGroup] = []
    for run, results in enumerate(runs):
        by_op: dict[str, list[Result]] = defaultdict(list)
        for result in results:
            by_op[result.labels.op].append(result)
        wanting = sorted({result.labels.op for result in results if result.verdict in SEVERITY})
        blocks = {op: Block(by_op[op]) for op in wanting}
        shared = shared_causes(blocks)
        alike: dict[object, list[_Piece]] = defaultdict(list)
        for op, block in blocks.items():
            left = block.failed & ~union(cause.members for cause in shared[op])
            for piece in _pieces(op, block, [*shared[op], *causes(block, left)]):
                alike[piece.described, piece.terms, piece.narrowing, piece.verdict].append(piece)
        for pieces in alike.values():
            of = Term("op", tuple(escape(piece.operator) for piece in pieces))
            groups.append(_group(suite, backends[run], run, [of], pieces))
    return _in_order(groups)


def _pieces(operator: str, block: Block, found: Sequence[Cause]) -> Iterator[_Piece]:
    """A piece for each cause, and for each verdict what no cause tells."""
    for cause in found:
        terms = block.terms(cause.conditions)
        verdict = block.most(cause.members)
        yield _Piece(operator, block, cause.members, True, verdict, terms, cause.members.bit_count(), terms)
    left = block.failed & ~union(cause.members for cause in found)
    for verdict, of in sorted(block.verdicts.items()):
        if of & left:
            yield from _untold(operator, block, verdict, of & left)


def _untold(operator: str, block: Block, verdict: Verdict, members: int) -> Iterator[_Piece]:
    """What labels do not tell, with what it has in common all the same; by cases where that does not pick it out."""
    of = block.verdicts[verdict]

    def piece(some: int, *narrowing: Term) -> _Piece:
        common = block.common(some)
        terms, matching = block.terms(common), block.meeting(common).bit_count()
        return _Piece(operator, block, some, False, verdict, terms, matching, narrowing)

    common = block.common(members)
    if of == members:
        yield piece(members)
    elif of & block.meeting(common) == members:
        yield piece(members, *block.terms(common))
    else:
        data_sets: dict[str, list[int]] = defaultdict(list)
        for n, result in block.pick(members):
            data_sets[result.case].append(n)
        alike: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for case, numbers in data_sets.items():
            alike[tuple(block.results[n].data_set for n in numbers)].append(case)
        for numbers, cases in alike.items():
            some = sum(1 << n for case in cases for n in data_sets[case])
            yield piece(some, Term("case", tuple(map(escape, cases))), Term("data_set", tuple(map(str, numbers))))


def _group(suite: str, backend: str, run: int, operators: Sequence[Term], pieces: Sequence[_Piece]) -> FailureGroup:
    first = pieces[0]
    results = [result for piece in pieces for _, result in piece.block.pick(piece.members)]
    verdicts = Counter(result.verdict for result in results)
    example = min(results, key=result_urgency)
    group = FailureGroup(
        run=run,
        words="",
        described=first.described,
        only=all(piece.members == piece.block.failed for piece in pieces),
        conditions=tuple(map(str, first.terms)),
        operators=tuple(piece.operator or SEVERAL_NODES for piece in pieces),
        failures=len(results),
        matching=sum(piece.matching for piece in pieces),
        known=sum(1 for result in results if result.known),
        verdicts={verdict: verdicts[verdict] for verdict in MOST_SEVERE_FIRST if verdict in verdicts},
        select=str(Selection((*operators, *first.narrowing, Term("verdict", tuple(sorted(verdicts)))))),
        example=Example(
            example.case,
            example.data_set,
            example.verdict,
            example.message,
            where(example),
            reproduce(suite, example.case, backend, example.data_set),
        ),
    )
    return msgspec.structs.replace(group, words=told(group))


def result_urgency(result: Result) -> tuple[bool, int, str, int]:
    """What sorts failures of a run: the unexpected first, then by severity, case and data set."""
    return bool(result.known), SEVERITY[result.verdict], result.case, result.data_set


def where(result: Result) -> str:
    """The node under test, and the data set where it is not the first."""
    return f"{node(result.labels)}{f' data set {result.data_set}' if result.data_set else ''}"


def _in_order(groups: Sequence[FailureGroup]) -> tuple[FailureGroup, ...]:
    return tuple(sorted(groups, key=lambda group: (group.run, *urgency(group))))


def urgency(group: FailureGroup) -> tuple[bool, int, bool, int, str]:
    """What sorts groups of a run: the unexpected first, then by severity, what has a cause, and number."""
    gravest = SEVERITY[next(iter(group.verdicts))]
    return group.known == group.failures, gravest, not group.described, -group.failures, group.select
