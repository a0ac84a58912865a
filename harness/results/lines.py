"""The result lines: ``results.jsonl`` holds a header, a line a case and data set, and a footer."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.backend.interface import Description
from harness.spec.element_types import Bits
from harness.suite.cases import Labels

Verdict: TypeAlias = Literal[
    "passed",
    "wrong_value",
    "wrong_shape",
    "wrong_type",
    "wrong_count",
    "unsupported",
    "error",
    "crashed",
    "timed_out",
    "not_run",
    "unspecified",
    "insensitive",
]
VERDICTS: tuple[Verdict, ...] = Verdict.__args__  # pyright: ignore[reportAttributeAccessIssue]

FORMAT = 2
"""The format of ``results.jsonl``; its header states it."""

UNSCORED: frozenset[Verdict] = frozenset({"unspecified", "insensitive"})
"""Verdicts of data sets that do not count: the text leaves the answer open, or no answer of a sound size can fail."""

Measure: TypeAlias = float | Literal["inf"]
"""JSON has no infinity, so an unbounded error is the word; ``float()`` reads both."""


class Header(msgspec.Struct, frozen=True, tag_field="kind", tag="header"):
    """First line: what was run, on what, by what."""

    format: int
    """``FORMAT``."""
    suite: str
    digest: str
    """SHA-256 of the suite's manifest."""
    suite_data_sets: int
    """Data sets in the whole suite; the run covers ``data_sets`` of them."""
    cases: int
    data_sets: int
    backend: str
    """The name it was asked for by; ``description`` is what it says of itself."""
    description: Description
    versions: dict[str, str]
    machine: dict[str, str]
    options: dict[str, str]
    """What changes results: select, shard, limit, memory …"""
    started: str
    """ISO 8601, UTC."""


class Result(msgspec.Struct, frozen=True, tag_field="kind", tag="result", omit_defaults=True):
    """One data set's outcome."""

    case: str
    data_set: int
    verdict: Verdict
    labels: Labels
    error: Measure | None = None
    """Worst |got - expected| / bound; 0 where nothing differs, None where there was nothing to measure by bounds."""
    ulps: Measure | None = None
    """Worst difference in units in the last place of the expected value."""
    onnx_tolerance: bool | None = None
    """Whether ONNX's own rtol 1e-3 and atol 1e-7 would pass it; None without values to compare."""
    elements: int = 0
    differing: int = 0
    """Elements outside what is allowed."""
    zero_signs: int = 0
    """Zeros of the other sign: they match, and are counted."""
    seconds: float = 0.0
    """In the backend's run call."""
    prepare_seconds: float = 0.0
    message: str = ""
    """The first difference, the backend's reason, or its exception."""
    known: str = ""
    """The reason that the backend's expectations give for this failure; empty where none was expected."""


class Footer(msgspec.Struct, frozen=True, tag_field="kind", tag="footer"):
    """Last line of a finished run; a file without one is unfinished."""

    counts: dict[str, int]
    """Verdict → data sets; their sum is the header's ``data_sets``."""
    unexpected: int
    """Results neither passed nor silent that no expectation covers; ``unsupported`` is among them: it is no pass."""
    stale: tuple[str, ...]
    """Expectations that match nothing or no longer hold."""
    seconds: float
    """Wall time of the run."""
    transport: dict[str, Bits] = {}
    """Element type → which bits of floats come back unchanged from an Identity; more than these are not compared.

    Only types in which an answer differed in such bits alone are asked about.
    """
    skipped_expectations: int = 0
    """Expectations that match no case of the suite and were not checked, because the suite is a part."""


Line: TypeAlias = Header | Result | Footer


class Run(msgspec.Struct, frozen=True):
    """A results file as read: one backend over one suite, whole, in shards or unfinished."""

    path: str
    headers: tuple[Header, ...]
    results: tuple[Result, ...]
    """In the order of case name and data set; one a data set."""
    footers: tuple[Footer, ...]

    @property
    def finished(self) -> bool:
        """Whether every header has its footer."""
        return len(self.footers) == len(self.headers) > 0
