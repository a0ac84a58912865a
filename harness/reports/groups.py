"""Failures by cause: what those of an operator version, or of a whole run, have in common, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from glob import escape

import msgspec

from harness.reports.causes import Block, Cause, Conditions, causes, shared_causes, union
from harness.reports.text import SEVERAL_NODES, count, counted, node, reproduce, title, verdict_words
from harness.running.results import Result, Verdict
from harness.suite.select import Selection, Term

GRAVEST_FIRST: tuple[Verdict, ...] = (
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
SEVERITY = {verdict: n for n, verdict in enumerate(GRAVEST_FIRST)}
"""What is neither passed nor silent, the gravest first."""

_VERBS: dict[Verdict, str] = {
    "crashed": "crash",
    "timed_out": "time out",
    "wrong_value": "give a wrong value",
    "wrong_shape": "give a wrong shape",
    "wrong_type": "give a wrong type",
    "wrong_count": "give a wrong number of outputs",
    "error": "end in an error",
    "not_run": "did not run",
    "unsupported": "are unsupported",
}
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
    """``all 48 failures of Trilu-14 have T=string: 48 of 48 data sets with it give a wrong value``."""
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
    terms = " and ".join(mark(_shortened(condition)) for condition in group.conditions)
    of = _listed([mark(name) for name in group.operators])
    of = f"{count(len(group.operators))} operators ({of})" if len(group.operators) > 1 else of
    share = f"{count(group.failures)} of {counted(group.matching, 'data set')}"
    if not group.described:
        among = f"{share} with {terms}" if terms else share
        return f"labels tell no cause of {counted(group.failures, 'failure')} of {of}: {among} {_did(group.verdicts)}"
    if not terms:
        return f"all {counted(group.matching, 'data set')} of {of} {_did(group.verdicts)}"
    if group.only:
        return f"all {counted(group.failures, 'failure')} of {of} have {terms}: {share} with it {_did(group.verdicts)}"
    return f"with {terms}: {share} of {of} {_did(group.verdicts)}"


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


def _did(verdicts: dict[Verdict, int]) -> str:
    if len(verdicts) == 1:
        return _VERBS[next(iter(verdicts))]
    return f"fail ({', '.join(f'{count(n)} {verdict_words(verdict)}' for verdict, n in verdicts.items())})"


class _Piece(msgspec.Struct, frozen=True):
    """What a group takes from one block."""

    operator: str
    block: Block
    members: int
    described: bool
    conditions: Conditions
    narrowing: tuple[Term, ...]
    """What picks the members out of all results of the block."""


def version_groups(suite: str, backends: Sequence[str], runs: Sequence[Sequence[Result]]) -> tuple[FailureGroup, ...]:
    """The groups of one operator version, run by run and the gravest first.

    ``runs`` are the results of that version in each run; ``backends`` the names that these were asked for by.
    """
    groups: list[FailureGroup] = []
    for run, results in enumerate(runs):
        block = Block(results)
        if block.failed:
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
        blocks = {op: block for op in sorted(by_op) if (block := Block(by_op[op])).failed}
        shared = shared_causes(blocks)
        alike: dict[object, list[_Piece]] = defaultdict(list)
        for op, block in blocks.items():
            left = block.failed & ~union(cause.members for cause in shared[op])
            for piece in _pieces(op, block, [*shared[op], *causes(block, left)]):
                alike[piece.described, piece.narrowing].append(piece)
        for pieces in alike.values():
            of = Term("op", tuple(escape(piece.operator) for piece in pieces))
            groups.append(_group(suite, backends[run], run, [of], pieces))
    return _in_order(groups)


def _pieces(operator: str, block: Block, found: Sequence[Cause]) -> Iterator[_Piece]:
    """A piece for each cause, and for each verdict what no cause tells."""
    for cause in found:
        verdicts = Term("verdict", tuple(block.verdicts_of(cause.members)))
        narrowing = (*block.terms(cause.conditions), verdicts)
        yield _Piece(operator, block, cause.members, True, cause.conditions, narrowing)
    left = block.failed & ~union(cause.members for cause in found)
    for verdict, of in sorted(block.verdicts.items()):
        if of & left:
            yield from _untold(operator, block, verdict, of & left)


def _untold(operator: str, block: Block, verdict: Verdict, members: int) -> Iterator[_Piece]:
    """What labels do not tell, with what it has in common all the same; by cases where that does not pick it out."""
    of, failed = block.verdicts[verdict], Term("verdict", (verdict,))

    def piece(some: int, *narrowing: Term) -> _Piece:
        return _Piece(operator, block, some, False, block.common(some), (*narrowing, failed))

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
    shared = [one for one in first.conditions if first.described or all(one in piece.conditions for piece in pieces)]
    results = [result for piece in pieces for _, result in piece.block.pick(piece.members)]
    verdicts = Counter(result.verdict for result in results)
    example = min(
        results, key=lambda result: (bool(result.known), SEVERITY[result.verdict], result.case, result.data_set)
    )
    group = FailureGroup(
        run=run,
        words="",
        described=first.described,
        only=all(piece.members == piece.block.failed for piece in pieces),
        conditions=tuple(map(str, first.block.terms(shared))),
        operators=tuple(piece.operator or SEVERAL_NODES for piece in pieces),
        failures=len(results),
        matching=len(results) if first.described else sum(piece.block.meeting(shared).bit_count() for piece in pieces),
        known=sum(1 for result in results if result.known),
        verdicts={verdict: verdicts[verdict] for verdict in GRAVEST_FIRST if verdict in verdicts},
        select=str(Selection((*operators, *first.narrowing))),
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
