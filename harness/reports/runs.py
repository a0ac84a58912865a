"""Runs as reports tell of them: their text made harmless, each under a label of its own."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import msgspec

from harness.backend.interface import Description
from harness.errors import UsageError
from harness.reports.text import plain, plain_lines, plain_tree
from harness.results.lines import Footer, Header, Result, Run


class NoHeader(UsageError):
    """A results file that does not say what was run."""


class RunFacts(msgspec.Struct, frozen=True):
    """What a run was: one column of every table of its suite."""

    label: str
    """The backend's name and version, with what tells it apart from the other runs of the suite."""
    headers: tuple[Header, ...]
    """One, or one a shard."""
    path: str
    """The results file, which has every result."""
    data_sets: int
    """What the run was to cover, of the suite's ``suite_data_sets``."""
    ran: int
    """Result lines there are; fewer than ``data_sets`` where the run did not finish."""
    finished: bool
    seconds: float
    """Wall time of the finished parts."""
    stale: tuple[str, ...]
    """Expectations that match nothing or no longer hold."""

    @property
    def backend(self) -> str:
        """The name it was asked for by."""
        return self.headers[0].backend

    @property
    def description(self) -> Description:
        """What the backend says of itself."""
        return self.headers[0].description

    @property
    def complete(self) -> bool:
        """Whether it finished with a result for each data set it was to cover, and at least one."""
        return self.finished and self.ran == self.data_sets > 0


def clean_run(run: Run) -> Run:
    """The run in printable characters and line feeds, its results by case and data set. Raises NoHeader."""
    if not run.headers:
        raise NoHeader(f"{plain(run.path)} has no header line.", "Run again: onnx-conformance run writes it first.")
    results = sorted(map(_clean_result, run.results), key=lambda result: (result.case, result.data_set))
    headers = [msgspec.convert(plain_tree(msgspec.to_builtins(header)), Header) for header in run.headers]
    footers = [msgspec.convert(plain_tree(msgspec.to_builtins(footer)), Footer) for footer in run.footers]
    headers.sort(key=lambda header: (sorted(header.options.items()), header.started))
    return Run(plain(run.path), tuple(headers), tuple(results), tuple(footers))


def _clean_result(result: Result) -> Result:
    labels = result.labels
    texts = (result.case, result.message, result.known, labels.op, labels.domain, labels.category, labels.group)
    named = (*labels.omitted, *chain.from_iterable((*labels.types.items(), *labels.attributes.items())))
    if all(map(str.isprintable, texts)) and all(map(str.isprintable, named)):
        return result
    return msgspec.convert(
        {**plain_tree(msgspec.to_builtins(result)), "message": plain_lines(result.message)},
        Result,
    )


def run_order(run: Run) -> tuple[object, ...]:
    """What sorts the runs of a suite."""
    header = run.headers[0]
    configuration = sorted(header.description.configuration.items())
    return _name(header), header.backend, configuration, header.started, run.path


def _name(header: Header) -> str:
    return " ".join(filter(None, (header.description.name or header.backend, header.description.version)))


def run_labels(runs: Sequence[Run]) -> list[str]:
    """A different label for each run: its name, with what else it takes to tell it apart."""
    headers = [run.headers[0] for run in runs]
    configurations = [set(header.description.configuration.items()) for header in headers]
    shared = configurations[0].intersection(*configurations)
    labels = [_name(header) for header in headers]
    for facts in (
        [header.backend for header in headers],
        [", ".join(f"{key}={value}" for key, value in sorted(own - shared)) for own in configurations],
        [f"#{n}" for n in range(1, len(runs) + 1)],
    ):
        twins: dict[str, list[int]] = defaultdict(list)
        for n, label in enumerate(labels):
            twins[label].append(n)
        for label, group in twins.items():
            if len({facts[n] for n in group}) > 1:
                for n in group:
                    labels[n] = f"{label} ({facts[n]})" if facts[n] else label
    return labels


def run_facts(run: Run, label: str) -> RunFacts:
    """What is to be told of a clean run under a label."""
    parts = {tuple(sorted(header.options.items())): header.data_sets for header in run.headers}
    return RunFacts(
        label=label,
        headers=run.headers,
        path=run.path,
        data_sets=sum(parts.values()),
        ran=len(run.results),
        finished=run.finished,
        seconds=math.fsum(footer.seconds for footer in run.footers),
        stale=tuple(sorted({stale for footer in run.footers for stale in footer.stale})),
    )
