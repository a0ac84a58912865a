"""``make faults``: faults of runtimes around each oracle, as a table of operator × fault.

Each fault changes what goes into a node or what comes out of it, as a runtime with that fault would: 64-bit integers
carried in 32 bits, NaN lost, every element after the 64th wrong. A fault is noticed if a scored data set of the version
fails with it. Where it changes nothing that a
data set holds, or nothing that the text is about, the table has ``-``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
from data import Trial, copied, trials  # tests/planted/data.py, beside this file
from tabulate import tabulate

from harness.oracles.operator import operators
from harness.spec.schema import newest
from harness.spec.values import Value, tensors_in
from harness.suite.cases import Case, Labels
from harness.suite.manifest import open_suite
from harness.suite.select import Selection

Change = Callable[[np.ndarray], np.ndarray]


def _through(source: str, narrow: Any) -> Change:
    """Values of one dtype go through a narrower one and come back."""

    def change(x: np.ndarray) -> np.ndarray:
        if x.dtype != np.dtype(source):
            return x
        with np.errstate(all="ignore"):
            return x.astype(narrow).astype(x.dtype)

    return change


def _floats_only(change: Change) -> Change:
    def only(x: np.ndarray) -> np.ndarray:
        is_float = x.dtype.kind in "fc" or (x.dtype.kind == "V" and "float" in x.dtype.name)
        return change(x) if is_float and x.size else x

    return only


@_floats_only
def _nan_to_zero(x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(x != x, np.zeros((), x.dtype), x)  # noqa: PLR0124 - NaN of any dtype


@_floats_only
def _negative_zero_lost(x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(x == 0, np.zeros((), x.dtype), x)


@_floats_only
def _subnormals_to_zero(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        return x
    with np.errstate(all="ignore"):
        tiny = ml_dtypes.finfo(x.dtype).smallest_normal
        return np.where((x != 0) & (np.abs(x) < tiny), np.zeros((), x.dtype), x)


def _wrong_after(count: int) -> Change:
    """Every element from the given one on is that of the first place."""

    def change(x: np.ndarray) -> np.ndarray:
        if x.size <= count:
            return x
        flat = x.ravel().copy()
        flat[count:] = np.roll(flat[count:], 1) if len(set(map(repr, flat[count:].tolist()))) > 1 else flat[0]
        return flat.reshape(x.shape)

    return change


INPUTS: dict[str, Change] = {
    "int64 in 32 bits": _through("int64", np.int32),
    "uint64 in 32 bits": _through("uint64", np.uint32),
    "int64 in double": _through("int64", np.float64),
    "int32 in float": _through("int32", np.float32),
    "double in float": _through("float64", np.float32),
    "float in float16": _through("float32", np.float16),
    "float in bfloat16": _through("float32", ml_dtypes.bfloat16),
    "NaN to 0": _nan_to_zero,
    "-0 to 0": _negative_zero_lost,
    "subnormals to 0": _subnormals_to_zero,
}
"""Changes of what goes in and of what comes out."""
OUTPUTS: dict[str, Change] = {f"wrong after {n:,}": _wrong_after(n) for n in (16, 64, 256, 1024)}
"""Changes of what comes out."""
OTHERS = ("rank above 4 refused", "empty refused", "first data set again", "outputs swapped", "optional input ignored")
FAULTS = (*INPUTS, *OUTPUTS, *OTHERS)


class Row(msgspec.Struct, frozen=True):
    """One operator version: for each fault whether it is noticed; None where it has no meaning."""

    title: str
    newest: bool
    noticed: dict[str, bool | None]


def _mapped(value: Value, change: Change) -> Value:
    if isinstance(value, np.ndarray):
        return value if value.dtype == object else np.asarray(change(value))
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    return value


def _same(one: Sequence[Value], other: Sequence[Value]) -> bool:
    arrays = [list(tensors_in(list(values))) for values in (one, other)]
    return all(a.tobytes() == b.tobytes() for a, b in zip(*arrays, strict=True) if a.dtype != object)


def _around(trial: Trial, change: Change, *, inputs: bool) -> bool | None:
    """Whether a change of the inputs and the outputs is noticed; None if it changes neither."""
    given = [_mapped(copied(v), change) for v in trial.inputs] if inputs else [copied(v) for v in trial.inputs]
    touched = inputs and not _same(given, trial.inputs)
    expected = trial.answers[0].outputs
    if not touched and _same([_mapped(v, change) for v in expected], expected):
        return None
    try:
        with np.errstate(all="ignore"):
            outputs = [_mapped(value, change) for value in trial.run(given)]
    except Exception:
        return True
    return trial.notices(outputs)


def _is_meant(name: str, trial: Trial) -> bool:
    """Whether the text, or the rule by which answers are judged, makes a difference of what a fault changes.

    Zeros of the other sign match unless the text is about signs; where results are rounded, subnormals may be flushed.
    """
    if name == "-0 to 0":
        return bool(trial.data_set.bits)
    return name != "subnormals to 0" or all(trial.answers[0].bounds(i) is None for i in range(len(trial.case.outputs)))


def _any(found: Iterator[bool | None]) -> bool | None:
    """True if one is, else False if one says so, else None."""
    known = None
    for one in found:
        if one:
            return True
        known = False if one is False else known
    return known


def _again(every: Sequence[Trial]) -> bool | None:
    by_case: dict[str, list[Trial]] = defaultdict(list)
    for trial in every:
        by_case[trial.case.name].append(trial)
    pairs = ((first, later) for first, *rest in by_case.values() for later in rest)
    return _any(later.notices([copied(v) for v in first.answers[0].outputs]) for first, later in pairs)


def _swapped(trial: Trial) -> bool | None:
    outputs = list(trial.answers[0].outputs)
    if len(outputs) < 2 or trial.case.outputs[0] != trial.case.outputs[1]:
        return None
    return trial.notices([outputs[1], outputs[0], *outputs[2:]])


def _row(path: str, index: int, number: int) -> Row:
    suite = open_suite(Path(path))
    operator = operators()[index]
    version = operator.schemas[number]
    key = (version.domain, version.op, version.since)
    cases: list[Case] = [c for c in suite.cases() if (c.labels.domain, c.labels.op, c.labels.since) == key]
    every = list(trials(suite, version, cases))
    noticed: dict[str, bool | None] = {}
    for name, change in INPUTS.items():
        noticed[name] = _any(_around(trial, change, inputs=True) for trial in every if _is_meant(name, trial))
    for name, change in OUTPUTS.items():
        noticed[name] = _any(_around(trial, change, inputs=False) for trial in every)
    arrays = [array for trial in every for array in tensors_in(list(trial.inputs))]
    ranks = any(array.ndim > 4 for array in arrays)
    noticed["rank above 4 refused"] = ranks or None
    noticed["empty refused"] = any(array.size == 0 for array in arrays) or None
    noticed["first data set again"] = _again(every)
    noticed["outputs swapped"] = _any(_swapped(trial) for trial in every)
    optional = {p.name for p in version.inputs if p.option == "optional"}
    omitted = [set(c.labels.omitted) & optional for c in cases]
    noticed["optional input ignored"] = (
        (any(omitted) and any(len(o) < len(optional) for o in omitted)) if optional else None
    )
    return Row(version.title, version.since == newest(version), noticed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=Path, default=Path("testdata/matrix"), help="default: testdata/matrix")
    parser.add_argument("--select", nargs="*", default=[], metavar="TERM", help="op=Pad since=2, category=nn …")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    selection = Selection.parse(" ".join(options.select))
    units = [
        (i, n)
        for i, operator in enumerate(operators())
        for n, v in enumerate(operator.schemas)
        if selection.matches("", Labels(v.op, v.domain, v.since, v.category))
    ]
    began = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = [future.result() for future in as_completed([pool.submit(_row, str(options.suite), *u) for u in units])]
    rows.sort(key=lambda row: row.title)
    mark = {True: "yes", False: "NO", None: "-"}
    print(tabulate([(row.title, *(mark[row.noticed[name]] for name in FAULTS)) for row in rows], ("version", *FAULTS)))
    for name in FAULTS:
        counted = [row.noticed[name] for row in rows if row.noticed[name] is not None]
        print(f"{name}: noticed in {sum(counted)} of {len(counted)} versions in which it changes something")
    missed = sum(value is False for row in rows for value in row.noticed.values())
    print(f"{missed} not noticed; {time.monotonic() - began:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
