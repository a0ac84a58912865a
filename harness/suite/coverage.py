"""What a suite exercises, told from its manifest and the schemas alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec
from tabulate import tabulate

from harness.oracles.operator import OMITTED
from harness.spec.schema import Schema, schemas
from harness.spec.values import parse_type
from harness.suite.cases import Case
from harness.suite.names import label_type


class VersionCoverage(msgspec.Struct, frozen=True):
    """What the cases of one operator version exercise. Data sets that are silent or wholly insensitive do not count."""

    op: str
    domain: str
    since: int
    category: str
    newest: bool
    cases: int
    data_sets: int
    pairs: int
    """(type variable, type) pairs exercised."""
    pairs_possible: int
    missing_pairs: tuple[str, ...]
    """Those that are not: ``T=float16``."""
    attributes: dict[str, tuple[str, ...]]
    """Attribute → the values it is given, ``omitted`` among them."""
    missing_attributes: tuple[str, ...]
    """Attributes that no case gives a value."""
    combinations: int
    """Combinations of types and attribute values exercised."""
    combinations_possible: int
    """The product of the types the schema allows and the attribute values that the suite uses anywhere."""


class Coverage(msgspec.Struct, frozen=True):
    """A suite's coverage: a row each version of the installed onnx that is not deprecated."""

    suite: str
    digest: str
    versions: tuple[VersionCoverage, ...]
    graphs: int
    """Cases of several nodes, which exercise no version by themselves."""

    def total(self, field: str, *, newest: bool = False) -> int:
        """The sum of a field over all versions, or over the newest of each operator."""
        return sum(getattr(v, field) for v in self.versions if v.newest or not newest)


def coverage(cases: Iterable[Case], suite: str, digest: str) -> Coverage:
    """Counts what the cases exercise of every version that the schemas define."""
    by_version: dict[tuple[str, str, int], list[Case]] = defaultdict(list)
    graphs = 0
    for case in cases:
        if case.labels.op:
            by_version[case.labels.domain, case.labels.op, case.labels.since].append(case)
        else:
            graphs += 1
    newest = {(domain, op): since for domain, op, since in schemas()}
    rows = [
        _of_version(version, by_version.get(key, []), newest=newest[key[:2]] == key[2])
        for key, version in schemas().items()
        if not version.deprecated
    ]
    return Coverage(suite, digest, tuple(rows), graphs)


def render(found: Coverage) -> str:
    """The coverage as text: totals with their denominators, then a row each version that has cases."""
    there = [v for v in found.versions if v.cases]
    cases = f"{sum(v.cases for v in there):,} cases of one node, {found.graphs:,} of several"
    lines = [f"{found.suite}: {cases}; sha256 {found.digest[:16]}…"]
    for title, newest in (("of the newest versions", True), ("of all versions", False)):
        versions = [v for v in found.versions if v.newest or not newest]
        given = sum(len(v.attributes) - len(v.missing_attributes) for v in versions)
        lines.append(
            f"  {title}: {sum(v.cases > 0 for v in versions)} of {len(versions)} operators, "
            f"{found.total('pairs', newest=newest):,} of {found.total('pairs_possible', newest=newest):,} pairs "
            f"(type variable, type), {given:,} of {sum(len(v.attributes) for v in versions):,} attributes"
        )
    rows = [
        (
            f"{v.domain}.{v.op}-{v.since}".lstrip("."),
            f"{v.cases:,}",
            f"{v.data_sets:,}",
            f"{v.pairs}/{v.pairs_possible}",
            f"{len(v.attributes) - len(v.missing_attributes)}/{len(v.attributes)}",
            f"{v.combinations:,}/{v.combinations_possible:,}",
            _shortened(", ".join((*v.missing_pairs, *v.missing_attributes))),
        )
        for v in there
    ]
    headers = ("operator", "cases", "data sets", "type pairs", "attributes", "types × attributes", "missing")
    table = tabulate(rows, headers, colalign=("left", *["right"] * 5, "left")) if rows else ""
    notes = (
        "Data sets count if they can fail: not unspecified, and not all elements insensitive. Types × attributes are\n"
        "out of all types that the schema allows times all attribute values, omitted included, that the suite uses."
    )
    return "\n".join([*lines, "", table, "", notes]) + "\n"


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(", ", 1)[0] + ", …"


def counts(case: Case) -> int:
    """How many of a case's data sets can fail: neither silent nor wholly insensitive."""
    return sum(data_set.can_fail for data_set in case.data_sets)


def _of_version(version: Schema, cases: list[Case], *, newest: bool) -> VersionCoverage:
    sharp = [case for case in cases if counts(case)]
    wanted = {f"{name}={parse_type(of)}" for name, types in version.variables.items() for of in types}
    found = {f"{name}={label_type(of)}" for case in sharp for name, of in case.labels.types.items()} & wanted
    values: dict[str, set[str]] = {a.name: set() for a in version.attributes}
    for case in sharp:
        for name, value in case.labels.attributes.items():
            values.setdefault(name, set()).add(value)
    combinations = {(tuple(case.labels.types.items()), tuple(case.labels.attributes.items())) for case in sharp}
    possible = 1
    for choices in (*version.variables.values(), *values.values()):
        possible *= max(1, len(choices))
    return VersionCoverage(
        op=version.op,
        domain=version.domain,
        since=version.since,
        category=version.category,
        newest=newest,
        cases=len(cases),
        data_sets=sum(map(counts, cases)),
        pairs=len(found),
        pairs_possible=len(wanted),
        missing_pairs=tuple(
            sorted(pair.replace("tensor(", "", 1)[:-1] if "=tensor(" in pair else pair for pair in wanted - found)
        ),
        attributes={name: tuple(sorted(given)) for name, given in values.items()},
        missing_attributes=tuple(name for name, given in values.items() if not given - {OMITTED}),
        combinations=len(combinations),
        combinations_possible=possible,
    )
