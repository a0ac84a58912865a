"""A comparison as text: Markdown for a terminal or a pull request, and JSON for programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from harness.reports.comparison import KINDS, REGRESSIONS, Change, Comparison, Counts, Kind, Side, SuiteComparison
from harness.reports.groups import SEVERITY
from harness.reports.markdown_text import code, grid, shown
from harness.reports.text import count, counted, measure, one_line, title, verdict_words

CASES = 3
"""Data sets shown of a group of regressions; of other groups one is."""
GROUPS = 12
"""Groups of regressions shown."""
OTHERS = 6
"""Groups shown of each other kind."""
OPERATORS = 20
"""Operator versions in the table."""
_LONG = 240
"""Characters shown of a message or a node, so that the whole fits into a comment of 65,536 where names are usual."""

LEGEND = """\
*Broken* passed in OLD and does not in NEW, whatever it does instead; *lost* passed in OLD and is not there in NEW,
which was to run it. These are regressions. *Fixed* passes in NEW and did not in OLD. *Changed* has another verdict
without a pass won or lost. *Drifted* keeps its verdict while the error moved: the larger is above 2 bounds, of which 4
pass, and at least twice the other."""

_SECTIONS: tuple[tuple[Kind, str], ...] = (
    ("broken", "Broken"),
    ("lost", "Lost"),
    ("drifted", "Drifted"),
    ("changed", "Changed"),
    ("fixed", "Fixed"),
    ("gone", "Gone"),
    ("new", "New"),
)

_Group = list[tuple[str, Change]]
"""Changes alike, each with the name of its suite."""


def comparison_json(comparison: Comparison) -> str:
    """All of it, indented, UTF-8 once encoded."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=1).decode() + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """What a maintainer must see, regressions first; what is left out of long lists is counted.

    Text from backends and models stands in code spans unless it is plain words and numbers.
    """
    return "\n".join(_lines(comparison))


def summary(comparison: Comparison) -> str:
    """The whole in a sentence: ``4 regressions, 1,928 data sets fixed.``"""
    fixed = sum(suite.counts.kinds.get("fixed", 0) for suite in comparison.suites)
    regressions = counted(comparison.regressions, "regression") if comparison.regressions else "No regression"
    lacking = counted(comparison.unreached, "data set")
    unreached = f"; NEW is unfinished and lacks {lacking} that passed" if comparison.unreached else ""
    return f"{regressions}, {counted(fixed, 'data set')} fixed{unreached}."


def _lines(comparison: Comparison) -> Iterator[str]:
    pairs = dict.fromkeys((suite.old.label, suite.new.label) for suite in comparison.suites)
    yield f"# Comparison: {'; '.join(f'{shown(old)} → {shown(new)}' for old, new in pairs)}"
    yield ""
    yield f"**{summary(comparison)}**"
    yield ""
    if comparison.selection:
        yield f"Only {code(comparison.selection)} is compared."
        yield ""
    yield from _notes(comparison)
    yield from _counts("suite", [(suite.name, suite.counts) for suite in comparison.suites])
    yield LEGEND
    yield ""
    for kind, heading in _SECTIONS:
        some = [(suite.name, one) for suite in comparison.suites for one in suite.changes if one.kind == kind]
        several = len(comparison.suites) > 1
        if some and kind in REGRESSIONS:
            yield from _section(heading, some, GROUPS, CASES, several=several)
        elif some:
            yield from _section(heading, some, OTHERS, 1, several=several)
    yield from _operators(comparison)
    yield from _runs(comparison)


def _notes(comparison: Comparison) -> Iterator[str]:
    notes = [("", note) for note in comparison.notes]
    several = len(comparison.suites) > 1
    notes += [(suite.name if several else "", note) for suite in comparison.suites for note in suite.notes]
    for suite, note in notes:
        words = (
            suite and f"{shown(suite)}:",
            note.run and f"**{note.run}**",
            note.text,
            note.detail and code(note.detail),
        )
        yield f"- {' '.join(filter(None, words))}"
    yield from [""] if notes else []


def _counts(what: str, rows: Sequence[tuple[str, Counts]]) -> list[str]:
    """A table of counts, without the kinds that do not occur."""
    kinds: list[Kind] = [kind for kind in KINDS if any(counts.kinds.get(kind) for _, counts in rows)]
    cells = [
        [
            shown(name),
            f"{count(counts.old_passed)}/{count(counts.old_scored)}",
            f"{count(counts.new_passed)}/{count(counts.new_scored)}",
            *(count(counts.kinds.get(kind, 0)) for kind in kinds),
            count(counts.total),
        ]
        for name, counts in rows
    ]
    return grid(cells, [what, "passed in OLD", "in NEW", *kinds, "data sets"])


def _section(heading: str, changes: _Group, most: int, cases: int, *, several: bool) -> Iterator[str]:
    yield f"## {heading}: {counted(len(changes), 'data set')}"
    yield ""
    groups = _groups(changes)
    for alike in groups[:most]:
        yield from _group(alike, cases, several=several)
    rest = groups[most:]
    if rest:
        yield f"- and {counted(sum(map(len, rest)), 'data set')} more, in {counted(len(rest), 'group')}"
    yield ""


def _groups(changes: _Group) -> list[_Group]:
    """The changes by their verdicts and by operator version, or by the failure's message where several say the same.

    The gravest first, then the largest.
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
    return title(change.labels.op, change.labels.domain, change.labels.since)


def _verdict(side: Side | None) -> str:
    return side.verdict if side else ""


def _failure(change: Change) -> str:
    """What the failing side says: the old one of what is fixed or was a failure before, else the new one."""
    sides = (change.old, change.new)
    return next((side.message for side in sides if side and side.verdict not in ("passed", "unspecified")), "")


def _group(alike: _Group, cases: int, *, several: bool) -> Iterator[str]:
    suite, first = alike[0]
    titles = dict.fromkeys(_title(change) for _, change in alike)
    where = f"{count(len(titles))} operator versions" if len(titles) > 1 else shown(next(iter(titles)))
    told = _failure(first) if len(titles) > 1 else ""
    yield (
        f"- **{where}**{f' in {shown(suite)}' if several else ''}, {counted(len(alike), 'data set')}: {_from_to(first)}"
        f"{f', all saying {code(_short(told))}' if told else ''}"
    )
    for _, change in alike[:cases]:
        more = f", data set {change.data_set}" if change.data_set else ""
        yield f"  - {code(_short(change.node))}{more}"
        for which, side in (("OLD", change.old), ("NEW", change.new)):
            if side:
                yield f"    - {which}: {_side(side, told)}"
        yield f"    - reproduce: {code(change.reproduce)}"
    if len(alike) > cases:
        yield f"  - and {counted(len(alike) - cases, 'data set')} more"


def _from_to(change: Change) -> str:
    match change.old, change.new:
        case None, Side() as new:
            return f"{verdict_words(new.verdict)} in NEW"
        case Side() as old, None:
            return f"{verdict_words(old.verdict)} in OLD"
        case Side() as old, Side() as new if old.verdict == new.verdict:
            return f"still {verdict_words(new.verdict)}"
        case _:
            return f"{_words(change.old)} → {_words(change.new)}"


def _words(side: Side | None) -> str:
    return verdict_words(side.verdict) if side else "nothing"


def _side(side: Side, told: str) -> str:
    """The verdict, the error, and the message where it is not what has been told of the whole group."""
    error = f", {measure(side.error)} bounds" if side.error is not None else ""
    known = ", known" if side.known else ""
    message = f": {code(_short(side.message))}" if side.message and side.message != told else ""
    return f"{verdict_words(side.verdict)}{error}{known}{message}"


def _short(text: str) -> str:
    """In one line, without its middle where it is long: where it was is told first, and what was wrong last."""
    line = one_line(text, len(text) * 3)
    return line if len(line) <= _LONG else f"{line[: _LONG // 3]}…{line[-_LONG * 2 // 3 :]}"


def _operators(comparison: Comparison) -> Iterator[str]:
    """Those that have something to tell: the most regressions first, then the most of anything."""
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
    yield from _counts("operator", rows[:OPERATORS])
    if rows[OPERATORS:]:
        rest = sum(counts.differing for _, counts in rows[OPERATORS:])
        versions = counted(len(rows) - OPERATORS, "operator version")
        yield f"And {versions} more, with {counted(rest, 'data set')} that differ."
        yield ""


def _runs(comparison: Comparison) -> Iterator[str]:
    """What was compared, and what else than the backends' answers may be behind it."""
    yield "## The two runs"
    yield ""
    for suite in comparison.suites:
        yield from grid(list(_facts(suite)), [shown(suite.name), "OLD", "NEW"], labels=3)


def _facts(suite: SuiteComparison) -> Iterator[list[str]]:
    runs = (suite.old, suite.new)
    yield ["run", *(shown(run.label) for run in runs)]
    yield ["started", *(shown(min(header.started for header in run.headers)) for run in runs)]
    yield ["data sets run", *(f"{count(run.ran)} of {count(run.data_sets)}" for run in runs)]
    for one in suite.differences:
        yield [shown(one.fact), *(shown(_short(side)) or "–" for side in (one.old, one.new))]
