"""A comparison as Markdown, for a terminal or a pull request, and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from harness.reports.comparison import KINDS, REGRESSIONS, Change, Comparison, Counts, Kind, SideResult, SuiteComparison
from harness.reports.groups import SEVERITY
from harness.reports.markdown_text import code_span, inline, table_lines
from harness.reports.text import format_count, format_measure, one_line, operator_title, plural, verdict_text

MAX_DATA_SETS = 3
"""The maximum number of data sets shown for a group of regressions. Other groups show one."""
MAX_GROUPS = 12
"""The maximum number of groups shown for each kind of regression."""
MAX_OTHER_GROUPS = 6
"""The maximum number of groups shown for each other kind."""
MAX_OPERATORS = 20
"""The maximum number of operator versions in the table."""
_MAX_CHARACTERS = 240
"""The maximum length of a message or node, so that the text usually fits into a GitHub comment (65,536)."""

LEGEND = """\
**Regressions** are *broken* data sets (passed in OLD, do not pass in NEW) and *missing* ones (passed in OLD, no result
in NEW although NEW selected them). *Fixed*: passes in NEW, did not pass in OLD. *Changed*: another verdict, but neither
broken nor fixed. *Drifted*: same verdict, but the error changed by a factor of 2 or more and exceeds 2 bounds (up to 4
pass). *Added* and *removed*: only in NEW, only in OLD."""

_SECTIONS: tuple[tuple[Kind, str], ...] = (
    ("broken", "Broken"),
    ("missing", "Missing"),
    ("drifted", "Drifted"),
    ("changed", "Changed"),
    ("fixed", "Fixed"),
    ("removed", "Removed"),
    ("added", "Added"),
)

_Group = list[tuple[str, Change]]
"""Changes that are shown together, each with the name of its suite."""


def comparison_json(comparison: Comparison) -> str:
    """The comparison as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=1).decode() + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown, regressions first. Long lists are truncated, with the number of hidden data sets.

    Text from backends and models is in code spans unless it is only words and numbers.
    """
    return "\n".join(_lines(comparison))


def summary(comparison: Comparison) -> str:
    """The comparison in one sentence: ``4 regressions, 1,928 data sets fixed.``"""
    fixed = sum(suite.counts.kinds.get("fixed", 0) for suite in comparison.suites)
    regressions = plural(comparison.regressions, "regression") if comparison.regressions else "No regressions"
    missing = plural(comparison.not_yet_run, "data set")
    unfinished = f" NEW is unfinished: {missing} that passed in OLD did not run yet." if comparison.not_yet_run else ""
    return f"{regressions}, {plural(fixed, 'data set')} fixed.{unfinished}"


def _lines(comparison: Comparison) -> Iterator[str]:
    pairs = dict.fromkeys((suite.old.label, suite.new.label) for suite in comparison.suites)
    yield f"# Comparison: {'; '.join(f'{inline(old)} → {inline(new)}' for old, new in pairs)}"
    yield ""
    yield f"**{summary(comparison)}**"
    yield ""
    if comparison.selection:
        yield f"Selection: {code_span(comparison.selection)}."
        yield ""
    yield from _notes(comparison)
    yield from _counts("suite", [(suite.name, suite.counts) for suite in comparison.suites])
    yield LEGEND
    yield ""
    for kind, heading in _SECTIONS:
        some = [(suite.name, one) for suite in comparison.suites for one in suite.changes if one.kind == kind]
        several = len(comparison.suites) > 1
        if some and kind in REGRESSIONS:
            yield from _section(heading, some, MAX_GROUPS, MAX_DATA_SETS, several=several)
        elif some:
            yield from _section(heading, some, MAX_OTHER_GROUPS, 1, several=several)
    yield from _operators(comparison)
    yield from _runs(comparison)


def _notes(comparison: Comparison) -> Iterator[str]:
    notes = [("", note) for note in comparison.notes]
    several = len(comparison.suites) > 1
    notes += [(suite.name if several else "", note) for suite in comparison.suites for note in suite.notes]
    for suite, note in notes:
        words = (
            suite and f"{inline(suite)}:",
            note.run and f"**{note.run}**",
            note.text,
            note.detail and code_span(note.detail),
        )
        yield f"- {' '.join(filter(None, words))}"
    yield from [""] if notes else []


def _counts(what: str, rows: Sequence[tuple[str, Counts]]) -> list[str]:
    """A table of counts, with a column for each kind that occurs."""
    kinds: list[Kind] = [kind for kind in KINDS if any(counts.kinds.get(kind) for _, counts in rows)]
    cells = [
        [
            inline(name),
            f"{format_count(counts.old_passed)}/{format_count(counts.old_scored)}",
            f"{format_count(counts.new_passed)}/{format_count(counts.new_scored)}",
            *(format_count(counts.kinds.get(kind, 0)) for kind in kinds),
            format_count(counts.total),
        ]
        for name, counts in rows
    ]
    return table_lines(cells, [what, "passed in OLD", "in NEW", *kinds, "data sets"])


def _section(heading: str, changes: _Group, max_groups: int, max_data_sets: int, *, several: bool) -> Iterator[str]:
    yield f"## {heading}: {plural(len(changes), 'data set')}"
    yield ""
    groups = _groups(changes)
    for group in groups[:max_groups]:
        yield from _group(group, max_data_sets, several=several)
    rest = groups[max_groups:]
    if rest:
        yield f"- {plural(sum(map(len, rest)), 'more data set')} in {plural(len(rest), 'group')}"
    yield ""


def _groups(changes: _Group) -> list[_Group]:
    """Groups changes by verdicts and by message, or by operator version if no other operator has that message.

    Most severe first, then largest first.
    """
    titles: dict[str, set[str]] = defaultdict(set)
    for _, change in changes:
        titles[_failure(change)].add(_title(change))
    groups: dict[tuple[str, ...], _Group] = defaultdict(list)
    for suite, change in changes:
        message = _failure(change)
        cause = ("", message) if message and len(titles[message]) > 1 else (_title(change), "")
        groups[suite, _verdict(change.old), _verdict(change.new), *cause].append((suite, change))
    return [
        groups[key] for key in sorted(groups, key=lambda key: (_severity(groups[key][0][1]), -len(groups[key]), key))
    ]


def _severity(change: Change) -> int:
    verdict = change.new.verdict if change.new else "passed"
    return SEVERITY.get(verdict, len(SEVERITY))


def _title(change: Change) -> str:
    return operator_title(change.labels.op, change.labels.domain, change.labels.since)


def _verdict(side: SideResult | None) -> str:
    return side.verdict if side else ""


def _failure(change: Change) -> str:
    """The message of the old side if it failed, otherwise that of the new side."""
    sides = (change.old, change.new)
    return next((side.message for side in sides if side and side.verdict in SEVERITY), "")


def _group(group: _Group, max_data_sets: int, *, several: bool) -> Iterator[str]:
    suite, first = group[0]
    titles = dict.fromkeys(_title(change) for _, change in group)
    where = f"{format_count(len(titles))} operator versions" if len(titles) > 1 else inline(next(iter(titles)))
    shared = _failure(first) if len(titles) > 1 else ""
    yield (
        f"- **{where}**{f' in {inline(suite)}' if several else ''}, {plural(len(group), 'data set')}: {_from_to(first)}"
        f"{f' with the message {code_span(_short(shared))}' if shared else ''}"
    )
    for _, change in group[:max_data_sets]:
        more = f", data set {change.data_set}" if change.data_set else ""
        yield f"  - {code_span(_short(change.node))}{more}"
        for which, side in (("OLD", change.old), ("NEW", change.new)):
            if side:
                yield f"    - {which}: {_side(side, shared)}"
        yield f"    - reproduce: {code_span(change.reproduce)}"
    if len(group) > max_data_sets:
        yield f"  - {plural(len(group) - max_data_sets, 'more data set')}"


def _from_to(change: Change) -> str:
    match change.old, change.new:
        case None, SideResult() as new:
            return f"{verdict_text(new.verdict)} in NEW"
        case SideResult() as old, None:
            return f"{verdict_text(old.verdict)} in OLD"
        case SideResult() as old, SideResult() as new if old.verdict == new.verdict:
            return f"still {verdict_text(new.verdict)}"
        case _:
            return f"{_verdict_or_nothing(change.old)} → {_verdict_or_nothing(change.new)}"


def _verdict_or_nothing(side: SideResult | None) -> str:
    return verdict_text(side.verdict) if side else "nothing"


def _side(side: SideResult, shared: str) -> str:
    """The verdict, the error, and the message unless the whole group shares it."""
    error = f", {format_measure(side.error)} bounds" if side.error is not None else ""
    known = ", known" if side.known else ""
    message = f": {code_span(_short(side.message))}" if side.message and side.message != shared else ""
    return f"{verdict_text(side.verdict)}{error}{known}{message}"


def _short(text: str) -> str:
    """The text on one line. If it is too long, the middle is cut: its start and end usually matter most."""
    line = one_line(text, len(text) * 3)
    return (
        line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS // 3]}…{line[-_MAX_CHARACTERS * 2 // 3 :]}"
    )


def _operators(comparison: Comparison) -> Iterator[str]:
    """The operator versions with differences, sorted by number of regressions, then of differences."""
    several = len(comparison.suites) > 1
    rows = [
        (f"{row.title} in {suite.name}" if several else row.title, row.counts)
        for suite in comparison.suites
        for row in suite.operators
        if row.counts.differing
    ]
    if not rows:
        return
    rows.sort(key=lambda row: (-row[1].regressions, -row[1].differing))
    yield "## By operator version"
    yield ""
    yield from _counts("operator", rows[:MAX_OPERATORS])
    if rows[MAX_OPERATORS:]:
        rest = sum(counts.differing for _, counts in rows[MAX_OPERATORS:])
        versions = plural(len(rows) - MAX_OPERATORS, "more operator version")
        yield f"{versions} with {plural(rest, 'differing data set')}."
        yield ""


def _runs(comparison: Comparison) -> Iterator[str]:
    """The two runs, and the facts that differ between them."""
    yield "## Runs"
    yield ""
    for suite in comparison.suites:
        yield from table_lines(list(_facts(suite)), [inline(suite.name), "OLD", "NEW"], labels=3)


def _facts(suite: SuiteComparison) -> Iterator[list[str]]:
    runs = (suite.old, suite.new)
    yield ["run", *(inline(run.label) for run in runs)]
    yield ["started", *(inline(min(header.started for header in run.headers)) for run in runs)]
    yield ["data sets run", *(f"{format_count(run.executed)} of {format_count(run.data_sets)}" for run in runs)]
    for one in suite.differences:
        yield [inline(one.fact), *(inline(_short(side)) or "–" for side in (one.old, one.new))]
