"""Compares two runs of a suite data set by data set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from harness.errors import UsageError
from harness.reports.comparison import (
    KINDS,
    Change,
    Comparison,
    Counts,
    Difference,
    Kind,
    OperatorRow,
    SideResult,
    SuiteComparison,
)
from harness.reports.gather import EVERYTHING, Note
from harness.reports.runs import RunInfo, run_info, run_labels, run_sort_key, sanitized_run
from harness.reports.text import format_count, node_text, plural, repro_command
from harness.results.lines import UNSCORED, Header, Result, Run
from harness.suite.select import Selection, select_results

SMALL_ERROR = 2.0
"""Differences between errors below this are ignored. In bounds; half of what passes."""
LARGE_ERROR = 64.0
"""Differences between errors above this are ignored. In bounds. Uninitialized memory causes arbitrary errors."""

_MAX_LISTED = 8
"""The maximum number of runs that an error message lists."""


class SeveralRuns(UsageError):
    """A side of a comparison has more than one run of a suite."""

    advice = "Select one of them."


class NothingShared(UsageError):
    """The two sides have no suite or no data set in common."""

    advice = "Pass two results.jsonl files of one suite, or folders that contain some."


class DifferentSuites(UsageError):
    """The two runs used different versions of a suite."""

    advice = "Run both on the same suite, or use --force to compare data sets by name."


class _SideRun(msgspec.Struct, frozen=True):
    """The run of a suite on one side."""

    facts: RunInfo
    results: dict[tuple[str, int], Result]

    @property
    def header(self) -> Header:
        return self.facts.headers[0]


class _Pair(msgspec.Struct, frozen=True):
    """The results of a data set in the two runs. One of them may be absent."""

    kind: Kind
    old: Result | None
    new: Result | None

    @property
    def last(self) -> Result:
        """The new result, or the old one if there is no new one."""
        result = self.new or self.old
        assert result
        return result


def compare(
    old: Sequence[Run], new: Sequence[Run], selection: Selection = EVERYTHING, *, force: bool = False
) -> Comparison:
    """Compares two sides with one run per suite each. A data set is selected if either of its results is.

    Raises SeveralRuns, NothingShared, NothingSelected, and DifferentSuites unless ``force`` is set.
    """
    before, after = _side("OLD", old), _side("NEW", new)
    names = sorted(before.keys() & after.keys())
    if not names:
        raise NothingShared(
            f"OLD and NEW have no suite in common: OLD has {_suite_names(before)}, NEW has {_suite_names(after)}."
        )
    pairs = [(before[name], after[name]) for name in names]
    for name, (one, other) in zip(names, pairs, strict=True):
        if one.header.digest != other.header.digest and not force:
            raise DifferentSuites(_different_digests(name, one, other))
    suites = [
        _suite(name, one, other, keys)
        for name, (one, other), keys in zip(names, pairs, _selected_keys(pairs, selection), strict=True)
        if keys or not selection.terms
    ]
    return Comparison(
        format=2,
        selection=str(selection),
        notes=(*_suites_in_one_side("OLD", before, after), *_suites_in_one_side("NEW", after, before)),
        regressions=sum(suite.counts.regressions for suite in suites),
        not_yet_run=sum(suite.not_yet_run for suite in suites),
        suites=tuple(suites),
    )


def drifted(old: Result, new: Result) -> bool:
    """Whether the verdict is the same but the error has changed by a factor of at least 2.

    The larger error must exceed ``SMALL_ERROR``. Both are clamped to ``LARGE_ERROR``. Unscored results never drift.
    """
    if old.verdict != new.verdict or old.verdict in UNSCORED or old.error is None or new.error is None:
        return False
    small, large = sorted(min(float(error), LARGE_ERROR) for error in (old.error, new.error))
    return large > SMALL_ERROR and large >= 2 * small


def _side(which: str, runs: Sequence[Run]) -> dict[str, _SideRun]:
    """Suite name → run."""
    suites: dict[str, list[Run]] = defaultdict(list)
    for run in map(sanitized_run, runs):
        suites[run.headers[0].suite].append(run)
    return {name: _only(which, name, sorted(found, key=run_sort_key)) for name, found in suites.items()}


def _only(which: str, suite: str, runs: Sequence[Run]) -> _SideRun:
    labels = run_labels(runs)
    if len(runs) > 1:
        some = [f"{label} ({run.path})" for label, run in zip(labels[:_MAX_LISTED], runs, strict=False)]
        rest = [f"{format_count(len(runs) - _MAX_LISTED)} more"] if len(runs) > _MAX_LISTED else []
        raise SeveralRuns(f"{which} has {len(runs)} runs of the suite {suite}: {', '.join([*some, *rest])}.")
    results = {(result.case, result.data_set): result for result in runs[0].results}
    return _SideRun(run_info(runs[0], labels[0]), results)


def _suite_names(names: Iterable[str]) -> str:
    return " and ".join(sorted(names)) or "nothing"


def _suites_in_one_side(which: str, side: Mapping[str, _SideRun], other: Mapping[str, _SideRun]) -> list[Note]:
    alone = side.keys() - other.keys()
    return (
        [Note(which, "is the only side with results of these suites, which are not compared:", _suite_names(alone))]
        if alone
        else []
    )


def _different_digests(name: str, old: _SideRun, new: _SideRun) -> str:
    return (
        f"OLD and NEW used different versions of the suite {name}, with digests {old.header.digest[:12]} and "
        f"{new.header.digest[:12]}. They have {_shared_text(old, new)}."
    )


def _shared_text(old: _SideRun, new: _SideRun) -> str:
    shared = plural(len(old.results.keys() & new.results.keys()), "data set")
    sizes = f"OLD has {format_count(len(old.results))}, NEW has {format_count(len(new.results))}"
    return f"{shared} with the same name in common ({sizes})"


def _selected_keys(pairs: Sequence[tuple[_SideRun, _SideRun]], selection: Selection) -> list[set[tuple[str, int]]]:
    """The data sets to compare, for each pair of runs."""
    runs = [list(chain(old.results.values(), new.results.values())) for old, new in pairs]
    if not any(runs):
        raise NothingShared("OLD and NEW have no results.", "Run the suites again.")
    everything = chain.from_iterable(runs)
    selected = {id(result) for result in (select_results(everything, selection) if selection.terms else everything)}
    return [{(result.case, result.data_set) for result in results if id(result) in selected} for results in runs]


def _suite(name: str, old: _SideRun, new: _SideRun, keys: set[tuple[str, int]]) -> SuiteComparison:
    required = old.header.digest == new.header.digest and new.facts.finished and _covers(new.facts, old.facts)
    found = [(old.results.get(key), new.results.get(key)) for key in sorted(keys)]
    pairs = [_Pair(_kind(one, other, required=required), one, other) for one, other in found]
    versions: dict[tuple[str, str, int], list[_Pair]] = defaultdict(list)
    for pair in pairs:
        labels = pair.last.labels
        versions[(labels.op, labels.domain, labels.since) if labels.op else ("", "", 0)].append(pair)
    rows = sorted(versions.items(), key=lambda item: (not item[0][0], item[0]))
    return SuiteComparison(
        name=name,
        old=old.facts,
        new=new.facts,
        differences=tuple(_differences(old.facts, new.facts)),
        notes=tuple(_notes(old, new)),
        counts=_counts(pairs),
        operators=tuple(OperatorRow(*version, _counts(of)) for version, of in rows),
        changes=tuple(_change(name, old, new, pair) for pair in pairs if pair.kind != "same"),
        not_yet_run=0 if new.facts.complete else sum(p.kind == "removed" and p.last.verdict == "passed" for p in pairs),
    )


def _kind(old: Result | None, new: Result | None, *, required: bool) -> Kind:
    """The kind of a data set. ``required`` means that the new run finished and selected it."""
    if old is None:
        return "added"
    if new is None:
        return "missing" if required and old.verdict == "passed" else "removed"
    if old.verdict == new.verdict:
        return "drifted" if drifted(old, new) else "same"
    if not UNSCORED.isdisjoint((old.verdict, new.verdict)):
        return "changed"
    if "passed" in (old.verdict, new.verdict):
        return "fixed" if new.verdict == "passed" else "broken"
    return "changed"


def _covers(new: RunInfo, old: RunInfo) -> bool:
    """Whether the new run selected all that the old one did: the whole suite, or the same parts."""
    return new.data_sets >= new.headers[0].suite_data_sets or _parts(old) <= _parts(new)


def _parts(run: RunInfo) -> set[tuple[str, ...]]:
    return {tuple(header.options.get(key, "") for key in ("select", "profile", "shard")) for header in run.headers}


def _counts(pairs: Sequence[_Pair]) -> Counts:
    kinds = Counter(pair.kind for pair in pairs)
    old = Counter(pair.old.verdict for pair in pairs if pair.old)
    new = Counter(pair.new.verdict for pair in pairs if pair.new)
    return Counts(
        total=len(pairs),
        kinds={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        old_passed=old["passed"],
        old_scored=sum(n for verdict, n in old.items() if verdict not in UNSCORED),
        new_passed=new["passed"],
        new_scored=sum(n for verdict, n in new.items() if verdict not in UNSCORED),
    )


def _change(suite: str, old: _SideRun, new: _SideRun, pair: _Pair) -> Change:
    result = pair.last
    backend = (new if pair.new else old).facts.backend
    return Change(
        kind=pair.kind,
        case=result.case,
        data_set=result.data_set,
        labels=result.labels,
        node=node_text(result.labels),
        old=_side_result(pair.old),
        new=_side_result(pair.new),
        reproduce=repro_command(suite, result.case, backend, result.data_set),
    )


def _side_result(result: Result | None) -> SideResult | None:
    return result and SideResult(result.verdict, result.error, result.message, result.known)


def _differences(old: RunInfo, new: RunInfo) -> Iterator[Difference]:
    one, other = _facts(old.headers), _facts(new.headers)
    for fact in dict.fromkeys((*one, *other)):
        if one.get(fact, "") != other.get(fact, ""):
            yield Difference(fact, one.get(fact, ""), other.get(fact, ""))


def _facts(headers: Sequence[Header]) -> dict[str, str]:
    """The facts in the headers of a run, without the time. If shards differ, all their values are listed."""
    facts: dict[str, list[str]] = defaultdict(list)
    for header in headers:
        of = header.description
        values = {"digest": header.digest, "backend": header.backend, "name": of.name, "version": of.version}
        values["device"] = of.device
        for group, pairs in (
            ("configuration", of.configuration),
            ("options", header.options),
            ("versions", header.versions),
            ("machine", header.machine),
        ):
            values |= {f"{group}.{key}": value for key, value in sorted(pairs.items())}
        for fact, value in values.items():
            facts[fact].append(value)
    return {fact: "; ".join(sorted(set(values))) for fact, values in facts.items()}


def _notes(old: _SideRun, new: _SideRun) -> Iterator[Note]:
    if old.header.digest != new.header.digest:
        yield Note(
            "",
            f"The suites differ, so data sets with the same name may differ too. They have {_shared_text(old, new)}.",
        )
    for which, run in (("OLD", old.facts), ("NEW", new.facts)):
        whole = run.headers[0].suite_data_sets
        if not run.complete:
            hides = ", which may hide regressions. Finish it with --resume" if which == "NEW" else ""
            yield Note(
                which,
                f"is unfinished: {format_count(run.executed)} of {format_count(run.data_sets)} data sets run{hides}.",
            )
        if run.data_sets < whole:
            yield Note(
                which, f"covers part of the suite: {format_count(run.data_sets)} of {format_count(whole)} data sets."
            )
