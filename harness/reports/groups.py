"""Groups of failures with a common cause, for an operator version or a whole run, and their text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from glob import escape

import msgspec

from harness.reports.causes import Cause, ScoredResults, causes, shared_causes, union
from harness.reports.text import (
    SEVERAL_NODES,
    format_count,
    node_text,
    operator_title,
    plural,
    repro_command,
    verdict_text,
)
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
"""The verdicts of failures (scored and not passed) → rank, most severe first."""

_MAX_OPERATORS = 3
"""The maximum number of operators listed in a text."""
_MAX_VALUES = 6
"""The maximum number of values of a label listed in a text."""


class Example(msgspec.Struct, frozen=True):
    """One result of a group."""

    case: str
    data_set: int
    verdict: Verdict
    message: str
    node: str
    """The node under test, and the data set if it is not the first."""
    reproduce: str
    """The command that prints a script to rerun it."""


class FailureGroup(msgspec.Struct, frozen=True):
    """Failures of one run with a common cause, or those for which none was found."""

    run: int
    """Index of the run in the suite's runs."""
    text: str
    """``wrong value: Trilu-14 fails only with T=string (48 of 48 data sets)``."""
    exact: bool
    """Whether ``conditions`` match no other scored data sets of the operators: they are the cause.

    A data set may be in several such groups.
    """
    all_failures: bool
    """Whether these are all failures of the operators in this run."""
    conditions: tuple[str, ...]
    """Selection terms on labels that all data sets of the group match. Empty if all data sets of the operators fail."""
    operators: tuple[str, ...]
    """One operator version (``Trilu-14``), or the operators (``Trilu``) in a group of a whole run."""
    failures: int
    matching: int
    """Scored data sets of the operators that match the conditions: the denominator of ``failures``."""
    known: int
    """Failures that the backend's expectations list."""
    verdicts: dict[Verdict, int]
    """Verdict → failures, most severe first. The sum is ``failures``."""
    select: str
    """The selection that matches exactly these results of the run."""
    example: Example


def group_text(group: FailureGroup, escape_label: Callable[[str], str] = str) -> str:
    """The text of a group. ``escape_label`` is applied to the parts that come from labels."""
    return f"{verdicts_text(group.verdicts)}: {cause_text(group, escape_label)}"


def verdicts_text(verdicts: dict[Verdict, int]) -> str:
    """``wrong value``, or ``40 wrong value, 8 error``."""
    texts = {verdict_text(verdict): number for verdict, number in verdicts.items()}
    return ", ".join(texts if len(texts) == 1 else (f"{format_count(number)} {of}" for of, number in texts.items()))


def cause_text(group: FailureGroup, escape_label: Callable[[str], str] = str) -> str:
    """``group_text`` without the verdicts."""
    terms = " and ".join(escape_label(_shortened(condition)) for condition in group.conditions)
    operators = _enumerated([escape_label(name) for name in group.operators])
    several = len(group.operators) > 1
    of = f"{format_count(len(group.operators))} operators ({operators})" if several else operators
    share = f"{format_count(group.failures)} of {plural(group.matching, 'data set')}"
    if not group.exact:
        failures = plural(group.failures, "failure")
        return f"no common cause found for {failures} of {of} ({share}{f' with {terms}' if terms else ''})"
    fails = "fail" if several else "fails"
    if not terms:
        return f"{of} always {fails} ({share})"
    return f"{of} {fails}{' only' if group.all_failures else ''} with {terms} ({share})"


def _enumerated(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B, C and 7 more``."""
    if len(names) > _MAX_OPERATORS + 1:
        return f"{', '.join(names[:_MAX_OPERATORS])} and {format_count(len(names) - _MAX_OPERATORS)} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _shortened(condition: str) -> str:
    """A condition with at most ``_MAX_VALUES`` values. An empty value is shown as ``''``."""
    (term,) = Selection.parse(condition).terms
    values = [str(Term("", (value,)))[1:] or "''" for value in term.patterns]
    more = f",… ({format_count(len(values))} values)" if len(values) > _MAX_VALUES else ""
    return f"{term.key}{'!' * term.negated}={','.join(values[:_MAX_VALUES] if more else values)}{more}"


class _Part(msgspec.Struct, frozen=True):
    """The part of a group that belongs to one operator."""

    operator: str
    scored: ScoredResults
    members: int
    exact: bool
    verdict: Verdict
    """The most frequent one."""
    terms: tuple[Term, ...]
    """Conditions that all members match."""
    matching: int
    narrowing: tuple[Term, ...]
    """Terms that, together with the verdicts, select the members."""


def version_groups(suite: str, backends: Sequence[str], runs: Sequence[Sequence[Result]]) -> tuple[FailureGroup, ...]:
    """The groups of one operator version, by run and most severe first.

    ``runs`` are the results of that version in each run. ``backends`` are the backend specs of the runs.
    """
    groups: list[FailureGroup] = []
    for run, results in enumerate(runs):
        if any(result.verdict in SEVERITY for result in results):
            scored = ScoredResults(results)
            labels = scored.results[0].labels
            of = [Term("op", (escape(labels.op),))]
            if labels.op:
                of += [Term("domain", (escape(labels.domain or "ai.onnx"),)), Term("since", (str(labels.since),))]
            name = operator_title(labels.op, labels.domain, labels.since)
            found = _parts(name, scored, list(causes(scored, scored.failed)))
            groups += [_group(suite, backends[run], run, of, [part]) for part in found]
    return _sorted(groups)


def run_groups(suite: str, backends: Sequence[str], runs: Sequence[Sequence[Result]]) -> tuple[FailureGroup, ...]:
    """The groups of whole runs, by run and most severe first. Operators with the same cause are one group.

    The arguments are those of ``version_groups``, with all results of each run.
    """
    groups: list[FailureGroup] = []
    for run, results in enumerate(runs):
        by_op: dict[str, list[Result]] = defaultdict(list)
        for result in results:
            by_op[result.labels.op].append(result)
        failing = sorted({result.labels.op for result in results if result.verdict in SEVERITY})
        operators = {op: ScoredResults(by_op[op]) for op in failing}
        shared = shared_causes(operators)
        same: dict[object, list[_Part]] = defaultdict(list)
        for op, scored in operators.items():
            left = scored.failed & ~union(cause.members for cause in shared[op])
            for part in _parts(op, scored, [*shared[op], *causes(scored, left)]):
                same[part.exact, part.terms, part.narrowing, part.verdict].append(part)
        for parts in same.values():
            of = Term("op", tuple(escape(part.operator) for part in parts))
            groups.append(_group(suite, backends[run], run, [of], parts))
    return _sorted(groups)


def _parts(operator: str, scored: ScoredResults, found: Sequence[Cause]) -> Iterator[_Part]:
    """A part for each cause, and for each verdict of the failures that no cause matches."""
    for cause in found:
        terms = scored.terms(cause.conditions)
        verdict = scored.main_verdict(cause.members)
        yield _Part(operator, scored, cause.members, True, verdict, terms, cause.members.bit_count(), terms)
    left = scored.failed & ~union(cause.members for cause in found)
    for verdict, of in sorted(scored.verdicts.items()):
        if of & left:
            yield from _without_cause(operator, scored, verdict, of & left)


def _without_cause(operator: str, scored: ScoredResults, verdict: Verdict, members: int) -> Iterator[_Part]:
    """Failures of one verdict without a cause. They are selected by case if their common conditions are not enough."""
    of = scored.verdicts[verdict]

    def part(some: int, *narrowing: Term) -> _Part:
        common = scored.common_conditions(some)
        terms, matching = scored.terms(common), scored.matching(common).bit_count()
        return _Part(operator, scored, some, False, verdict, terms, matching, narrowing)

    common = scored.common_conditions(members)
    if of == members:
        yield part(members)
    elif of & scored.matching(common) == members:
        yield part(members, *scored.terms(common))
    else:
        data_sets: dict[str, list[int]] = defaultdict(list)
        for n, result in scored.items(members):
            data_sets[result.case].append(n)
        same: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for case, numbers in data_sets.items():
            same[tuple(scored.results[n].data_set for n in numbers)].append(case)
        for numbers, cases in same.items():
            some = sum(1 << n for case in cases for n in data_sets[case])
            yield part(some, Term("case", tuple(map(escape, cases))), Term("data_set", tuple(map(str, numbers))))


def _group(suite: str, backend: str, run: int, operators: Sequence[Term], parts: Sequence[_Part]) -> FailureGroup:
    first = parts[0]
    results = [result for part in parts for _, result in part.scored.items(part.members)]
    verdicts = Counter(result.verdict for result in results)
    example = min(results, key=result_sort_key)
    group = FailureGroup(
        run=run,
        text="",
        exact=first.exact,
        all_failures=all(part.members == part.scored.failed for part in parts),
        conditions=tuple(map(str, first.terms)),
        operators=tuple(part.operator or SEVERAL_NODES for part in parts),
        failures=len(results),
        matching=sum(part.matching for part in parts),
        known=sum(1 for result in results if result.known),
        verdicts={verdict: verdicts[verdict] for verdict in MOST_SEVERE_FIRST if verdict in verdicts},
        select=str(Selection((*operators, *first.narrowing, Term("verdict", tuple(sorted(verdicts)))))),
        example=Example(
            example.case,
            example.data_set,
            example.verdict,
            example.message,
            data_set_text(example),
            repro_command(suite, example.case, backend, example.data_set),
        ),
    )
    return msgspec.structs.replace(group, text=group_text(group))


def result_sort_key(result: Result) -> tuple[bool, int, str, int]:
    """Sorts the failures of a run: unexpected first, then by severity, case and data set."""
    return bool(result.known), SEVERITY[result.verdict], result.case, result.data_set


def data_set_text(result: Result) -> str:
    """The node under test, and the data set if it is not the first."""
    return f"{node_text(result.labels)}{f' data set {result.data_set}' if result.data_set else ''}"


def _sorted(groups: Sequence[FailureGroup]) -> tuple[FailureGroup, ...]:
    return tuple(sorted(groups, key=lambda group: (group.run, *group_sort_key(group))))


def group_sort_key(group: FailureGroup) -> tuple[bool, int, bool, int, str]:
    """Sorts the groups of a run: unexpected first, then by severity, groups with a cause, and number of failures."""
    severity = SEVERITY[next(iter(group.verdicts))]
    return group.known == group.failures, severity, not group.exact, -group.failures, group.select
