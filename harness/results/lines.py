"""The lines of ``results.jsonl``: a header, one line per data set, and a footer."""

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
"""The version of the format of ``results.jsonl``, stated in its header."""

UNSCORED: frozenset[Verdict] = frozenset({"unspecified", "insensitive"})
"""Verdicts that do not count: the specification leaves the answer open, or the bounds are too wide to fail it."""

Measure: TypeAlias = float | Literal["inf"]
"""A number, or ``"inf"`` since JSON has no infinity; ``float()`` accepts both."""


class Header(msgspec.Struct, frozen=True, tag_field="kind", tag="header"):
    """The first line: which suite, backend, machine and options the run had."""

    format: int
    """The format version, ``FORMAT``."""
    suite: str
    digest: str
    """SHA-256 of the suite's manifest."""
    suite_data_sets: int
    """Number of data sets in the whole suite."""
    cases: int
    """Number of cases that the run covers."""
    data_sets: int
    """Number of data sets that the run covers."""
    backend: str
    """The value of ``--backend``; ``description`` is the backend's own."""
    description: Description
    versions: dict[str, str]
    machine: dict[str, str]
    options: dict[str, str]
    """The options that affect results: select, profile, shard, limit, memory."""
    started: str
    """ISO 8601, UTC."""


class Result(msgspec.Struct, frozen=True, tag_field="kind", tag="result", omit_defaults=True):
    """The result of one data set."""

    case: str
    data_set: int
    verdict: Verdict
    labels: Labels
    error: Measure | None = None
    """The largest |got - expected| / bound; 0 if nothing differs, None if nothing was compared by bounds."""
    ulps: Measure | None = None
    """The largest difference in units in the last place of the expected value."""
    onnx_tolerance: bool | None = None
    """Whether it passes by ONNX's own rtol 1e-3 and atol 1e-7; None if no values were compared."""
    elements: int = 0
    """Number of elements compared."""
    differing: int = 0
    """Number of elements that do not pass."""
    zero_signs: int = 0
    """Number of zeros that have the other sign; they pass."""
    seconds: float = 0.0
    """Time in the prepared model's call."""
    prepare_seconds: float = 0.0
    """Time in ``prepare``; in the first result of a case only."""
    message: str = ""
    """The first difference, the backend's reason for declining, or its exception."""
    known: str = ""
    """The reason that the backend's expectations give for this failure; empty if it was not expected."""


class Footer(msgspec.Struct, frozen=True, tag_field="kind", tag="footer"):
    """The last line of a finished run; a file without a footer is unfinished."""

    counts: dict[str, int]
    """Number of data sets by verdict; the sum is the header's ``data_sets``."""
    unexpected: int
    """Number of results that are neither passed nor expected, including ``unsupported``; unscored ones do not count."""
    stale: tuple[str, ...]
    """Expectations that match nothing in the suite or no longer hold."""
    seconds: float
    """Wall-clock time of the run."""
    transport: dict[str, Bits] = {}
    """The bits of floats that the backend returns unchanged from an Identity, by element type; only these are compared.

    Only types in which an answer differed in such bits alone are listed.
    """
    skipped_expectations: int = 0
    """Expectations that match no case of the suite and were not checked, because the suite is a part."""


Line: TypeAlias = Header | Result | Footer


class Run(msgspec.Struct, frozen=True):
    """The contents of a results file: one backend over one suite, complete, in shards or unfinished."""

    path: str
    headers: tuple[Header, ...]
    results: tuple[Result, ...]
    """One per data set, ordered by case name and data set."""
    footers: tuple[Footer, ...]

    @property
    def finished(self) -> bool:
        """Whether there is a footer for every header."""
        return len(self.footers) == len(self.headers) > 0
