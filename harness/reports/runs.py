"""Runs in reports: sanitized text, and a unique label for each run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from harness.backend.interface import Description
from harness.errors import UsageError
from harness.reports.text import printable, printable_lines, printable_tree
from harness.results.lines import Footer, Header, Result, Run
from harness.results.recording import RESULTS


class NoHeader(UsageError):
    """A results file without a header line."""


class RunInfo(msgspec.Struct, frozen=True):
    """The facts about a run. Each run is a column in the tables of its suite."""

    label: str
    """Name and version of the backend, with a suffix if necessary to make it unique in the suite."""
    headers: tuple[Header, ...]
    """One, or one per shard."""
    path: str
    """The results file."""
    data_sets: int
    """Data sets that the run selected. The suite has ``suite_data_sets`` in total."""
    executed: int
    """Data sets with a result. Fewer than ``data_sets`` if the run is unfinished."""
    finished: bool
    seconds: float
    """Wall time of the finished shards."""
    stale: tuple[str, ...]
    """Expectations that match no data set or no longer hold."""

    @property
    def backend(self) -> str:
        """The backend spec that the run was started with."""
        return self.headers[0].backend

    @property
    def description(self) -> Description:
        """The backend's description of itself."""
        return self.headers[0].description

    @property
    def complete(self) -> bool:
        """Whether it finished with a result for each selected data set, and at least one result."""
        return self.finished and self.executed == self.data_sets > 0


def sanitized_run(run: Run) -> Run:
    """Escapes unprintable characters in a run and sorts its results by case and data set. Raises NoHeader."""
    if not run.headers:
        raise NoHeader(f"{printable(run.path)} has no header line.", "Run again with onnx-conformance run.")
    results = sorted(map(_sanitized_result, run.results), key=lambda result: (result.case, result.data_set))
    headers = [msgspec.convert(printable_tree(msgspec.to_builtins(header)), Header) for header in run.headers]
    footers = [msgspec.convert(printable_tree(msgspec.to_builtins(footer)), Footer) for footer in run.footers]
    headers.sort(key=lambda header: (sorted(header.options.items()), header.started))
    return Run(printable(run.path), tuple(headers), tuple(results), tuple(footers))


def _sanitized_result(result: Result) -> Result:
    labels = result.labels
    texts = (result.case, result.message, result.known, labels.op, labels.domain, labels.category, labels.group)
    named = (*labels.omitted, *chain.from_iterable((*labels.types.items(), *labels.attributes.items())))
    if all(map(str.isprintable, texts)) and all(map(str.isprintable, named)):
        return result
    return msgspec.convert(
        {**printable_tree(msgspec.to_builtins(result)), "message": printable_lines(result.message)},
        Result,
    )


def run_sort_key(run: Run) -> tuple[object, ...]:
    """Sorts the runs of a suite."""
    header = run.headers[0]
    configuration = sorted(header.description.configuration.items())
    return _name(header), header.backend, configuration, header.started, run.path


def _name(header: Header) -> str:
    return " ".join(filter(None, (header.description.name or header.backend, header.description.version)))


def _folder_name(run: Run) -> str:
    """The name of the results folder, which ``run --name`` sets. Empty if the file is not called results.jsonl."""
    path = Path(run.path)
    return path.parent.name if path.name == RESULTS else ""


def run_labels(runs: Sequence[Run]) -> list[str]:
    """A unique label for each run: the name of the backend, with a suffix if necessary."""
    headers = [run.headers[0] for run in runs]
    configurations = [set(header.description.configuration.items()) for header in headers]
    shared = configurations[0].intersection(*configurations)
    labels = [_name(header) for header in headers]
    for facts in (
        [_folder_name(run) for run in runs],
        [header.backend for header in headers],
        [", ".join(f"{key}={value}" for key, value in sorted(own - shared)) for own in configurations],
        [f"#{n}" for n in range(1, len(runs) + 1)],
    ):
        same_label: dict[str, list[int]] = defaultdict(list)
        for n, label in enumerate(labels):
            same_label[label].append(n)
        for label, group in same_label.items():
            if len({facts[n] for n in group}) > 1:
                for n in group:
                    labels[n] = f"{label} ({facts[n]})" if facts[n] else label
    return labels


def run_info(run: Run, label: str) -> RunInfo:
    """The facts about a sanitized run."""
    parts = {tuple(sorted(header.options.items())): header.data_sets for header in run.headers}
    return RunInfo(
        label=label,
        headers=run.headers,
        path=run.path,
        data_sets=sum(parts.values()),
        executed=len(run.results),
        finished=run.finished,
        seconds=math.fsum(footer.seconds for footer in run.footers),
        stale=tuple(sorted({stale for footer in run.footers for stale in footer.stale})),
    )
