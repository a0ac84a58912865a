"""The quick choice among a suite's cases: newest versions, and of them each value of every label once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.spec.schema import schemas
from harness.suite.cases import Case


def each_value_once(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases of newest versions that bring a type, an attribute's value, a group or an omission not met before.

    Graphs of several nodes, which have no version, are left out.
    """
    newest = {(domain, op): since for domain, op, since in schemas()}  # which are sorted
    met: set[tuple[str, ...]] = set()
    for case in cases:
        of = case.labels
        if newest.get((of.domain, of.op)) != of.since:
            continue
        values = {
            *(("type", variable, value) for variable, value in of.types.items()),
            *(("attribute", name, value) for name, value in of.attributes.items()),
            *(("group", data_set.group) for data_set in case.data_sets),
            *(("omitted", name) for name in of.omitted),
        }
        fresh = {(of.domain, of.op, *value) for value in values} - met
        if fresh or (of.domain, of.op) not in met:
            met |= fresh | {(of.domain, of.op)}
            yield case
