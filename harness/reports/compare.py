"""How two runs over one suite are compared: paired data set by data set, sorted into kinds, counted."""

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
    Side,
    SuiteComparison,
)
from harness.reports.gather import ALL, Note
from harness.reports.runs import RunFacts, clean_run, run_facts, run_labels, run_order
from harness.reports.text import count, counted, node, reproduce
from harness.results.lines import Header, Result, Run
from harness.suite.select import Selection, select_results

NEAR = 2.0
"""Errors up to this many bounds, half of what passes, are as good as each other."""
FAR = 64.0
"""Errors from this many bounds on are as bad as each other: what reads memory that nobody wrote has any error."""

_NAMED = 8
"""Candidates that an error names."""


class SeveralRuns(UsageError):
    """A side of a comparison with more than one run over a suite."""

    advice = "Name one of them."


class NothingShared(UsageError):
    """Two sides that have no suite, or no data set, to compare."""

    advice = "Name two results.jsonl of one suite, or folders that hold such."


class DifferentSuites(UsageError):
    """Two runs over suites of one name and different content."""

    advice = "Run both over one suite, or compare what has the same name with --force."


class _Ran(msgspec.Struct, frozen=True):
    """One side's run over a suite."""

    facts: RunFacts
    results: dict[tuple[str, int], Result]

    @property
    def header(self) -> Header:
        return self.facts.headers[0]


class _Pair(msgspec.Struct, frozen=True):
    """A data set in the two runs; one of them may lack it."""

    kind: Kind
    old: Result | None
    new: Result | None

    @property
    def last(self) -> Result:
        """The new result where there is one."""
        result = self.new or self.old
        assert result
        return result


def compare(old: Sequence[Run], new: Sequence[Run], selection: Selection = ALL, *, force: bool = False) -> Comparison:
    """The comparison of two sides, each of one run a suite, narrowed to data sets of which either result is selected.

    Raises SeveralRuns, NothingShared, DifferentSuites unless forced, and NothingSelected.
    """
    before, after = _side("OLD", old), _side("NEW", new)
    names = sorted(before.keys() & after.keys())
    if not names:
        raise NothingShared(f"OLD is over {_listed(before)}, NEW over {_listed(after)}: there is no suite in both.")
    pairs = [(before[name], after[name]) for name in names]
    for name, (one, other) in zip(names, pairs, strict=True):
        if one.header.digest != other.header.digest and not force:
            raise DifferentSuites(_refusal(name, one, other))
    suites = [
        _suite(name, one, other, keys)
        for name, (one, other), keys in zip(names, pairs, _chosen(pairs, selection), strict=True)
        if keys or not selection.terms
    ]
    return Comparison(
        format=2,
        selection=str(selection),
        notes=(*_unpaired("OLD", before, after), *_unpaired("NEW", after, before)),
        regressions=sum(suite.counts.regressions for suite in suites),
        unreached=sum(suite.unreached for suite in suites),
        suites=tuple(suites),
    )


def drifted(old: Result, new: Result) -> bool:
    """Whether a verdict stayed and its error moved: the larger is above ``NEAR`` bounds and at least twice the other.

    What lies beyond ``FAR`` bounds counts as that. Errors of unspecified data sets are not looked at.
    """
    if old.verdict != new.verdict or old.verdict == "unspecified" or old.error is None or new.error is None:
        return False
    small, large = sorted(min(float(error), FAR) for error in (old.error, new.error))
    return large > NEAR and large >= 2 * small


def _side(which: str, runs: Sequence[Run]) -> dict[str, _Ran]:
    """One run a suite, by the suite's name."""
    suites: dict[str, list[Run]] = defaultdict(list)
    for run in map(clean_run, runs):
        suites[run.headers[0].suite].append(run)
    return {name: _only(which, name, sorted(found, key=run_order)) for name, found in suites.items()}


def _only(which: str, suite: str, runs: Sequence[Run]) -> _Ran:
    labels = run_labels(runs)
    if len(runs) > 1:
        some = [f"{label} ({run.path})" for label, run in zip(labels[:_NAMED], runs, strict=False)]
        rest = [f"{count(len(runs) - _NAMED)} more"] if len(runs) > _NAMED else []
        raise SeveralRuns(f"{which} holds {len(runs)} runs over the suite {suite}: {', '.join([*some, *rest])}.")
    results = {(result.case, result.data_set): result for result in runs[0].results}
    return _Ran(run_facts(runs[0], labels[0]), results)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(names)) or "nothing"


def _unpaired(which: str, side: Mapping[str, _Ran], other: Mapping[str, _Ran]) -> list[Note]:
    alone = side.keys() - other.keys()
    return (
        [Note(which, "alone has results over these suites, which are not compared:", _listed(alone))] if alone else []
    )


def _refusal(name: str, old: _Ran, new: _Ran) -> str:
    return (
        f"OLD and NEW are over different suites {name}, of digest {old.header.digest[:12]} and "
        f"{new.header.digest[:12]}: they have {_shared(old, new)}."
    )


def _shared(old: _Ran, new: _Ran) -> str:
    return (
        f"{counted(len(old.results.keys() & new.results.keys()), 'data set')} of the same case name and number, "
        f"of {count(len(old.results))} in OLD and {count(len(new.results))} in NEW"
    )


def _chosen(pairs: Sequence[tuple[_Ran, _Ran]], selection: Selection) -> list[set[tuple[str, int]]]:
    """Of each pair the data sets to compare."""
    runs = [list(chain(old.results.values(), new.results.values())) for old, new in pairs]
    if not any(runs):
        raise NothingShared("Neither OLD nor NEW has a result.", "Run again: both executed nothing.")
    everything = chain.from_iterable(runs)
    selected = {id(result) for result in (select_results(everything, selection) if selection.terms else everything)}
    return [{(result.case, result.data_set) for result in results if id(result) in selected} for results in runs]


def _suite(name: str, old: _Ran, new: _Ran, keys: set[tuple[str, int]]) -> SuiteComparison:
    owed = old.header.digest == new.header.digest and new.facts.finished and _covers(new.facts, old.facts)
    found = [(old.results.get(key), new.results.get(key)) for key in sorted(keys)]
    pairs = [_Pair(_kind(one, other, owed=owed), one, other) for one, other in found]
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
        unreached=0 if new.facts.complete else sum(p.kind == "gone" and p.last.verdict == "passed" for p in pairs),
    )


def _kind(old: Result | None, new: Result | None, *, owed: bool) -> Kind:
    """What became of a data set; ``owed`` says that the new run was to cover it and finished."""
    if old is None:
        return "new"
    if new is None:
        return "lost" if owed and old.verdict == "passed" else "gone"
    if old.verdict == new.verdict:
        return "drifted" if drifted(old, new) else "same"
    if "unspecified" in (old.verdict, new.verdict):
        return "changed"
    if "passed" in (old.verdict, new.verdict):
        return "fixed" if new.verdict == "passed" else "broken"
    return "changed"


def _covers(new: RunFacts, old: RunFacts) -> bool:
    """Whether the new run was to cover all that the old one was: the whole suite, or no other part of it."""
    return new.data_sets >= new.headers[0].suite_data_sets or _parts(old) <= _parts(new)


def _parts(run: RunFacts) -> set[tuple[str, ...]]:
    return {tuple(header.options.get(key, "") for key in ("select", "profile", "shard")) for header in run.headers}


def _counts(pairs: Sequence[_Pair]) -> Counts:
    kinds = Counter(pair.kind for pair in pairs)
    old = Counter(pair.old.verdict for pair in pairs if pair.old)
    new = Counter(pair.new.verdict for pair in pairs if pair.new)
    return Counts(
        total=len(pairs),
        kinds={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        old_passed=old["passed"],
        old_scored=old.total() - old["unspecified"],
        new_passed=new["passed"],
        new_scored=new.total() - new["unspecified"],
    )


def _change(suite: str, old: _Ran, new: _Ran, pair: _Pair) -> Change:
    result = pair.last
    backend = (new if pair.new else old).facts.backend
    return Change(
        kind=pair.kind,
        case=result.case,
        data_set=result.data_set,
        labels=result.labels,
        node=node(result.labels),
        old=_told(pair.old),
        new=_told(pair.new),
        reproduce=reproduce(suite, result.case, backend, result.data_set),
    )


def _told(result: Result | None) -> Side | None:
    return result and Side(result.verdict, result.error, result.message, result.known)


def _differences(old: RunFacts, new: RunFacts) -> Iterator[Difference]:
    one, other = _facts(old.headers), _facts(new.headers)
    for fact in dict.fromkeys((*one, *other)):
        if one.get(fact, "") != other.get(fact, ""):
            yield Difference(fact, one.get(fact, ""), other.get(fact, ""))


def _facts(headers: Sequence[Header]) -> dict[str, str]:
    """What headers say of how a run was made, but for when; what differs between shards is given for each."""
    facts: dict[str, list[str]] = defaultdict(list)
    for header in headers:
        of = header.description
        told = {"digest": header.digest, "backend": header.backend, "name": of.name, "version": of.version}
        told["device"] = of.device
        for group, pairs in (
            ("configuration", of.configuration),
            ("options", header.options),
            ("versions", header.versions),
            ("machine", header.machine),
        ):
            told |= {f"{group}.{key}": value for key, value in sorted(pairs.items())}
        for fact, value in told.items():
            facts[fact].append(value)
    return {fact: "; ".join(sorted(set(values))) for fact, values in facts.items()}


def _notes(old: _Ran, new: _Ran) -> Iterator[Note]:
    if old.header.digest != new.header.digest:
        yield Note("", f"The suites differ, and what bears the same name may be another test: {_shared(old, new)}.")
    for which, run in (("OLD", old.facts), ("NEW", new.facts)):
        whole = run.headers[0].suite_data_sets
        if not run.complete:
            hides = ", which may hide regressions; finish it with --resume" if which == "NEW" else ""
            yield Note(which, f"is unfinished: {count(run.ran)} of {count(run.data_sets)} data sets run{hides}.")
        if run.data_sets < whole:
            yield Note(which, f"covers part of the suite: {count(run.data_sets)} of {count(whole)} data sets.")
