"""Probes with Identity models which bits of floats a backend's adapter preserves."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TypeProto, helper

from harness.judging.judge import judge
from harness.judging.measures import bits_differ
from harness.judging.outcome import Outcome, Task
from harness.results.lines import Result
from harness.running.pool import Pool
from harness.spec.codec import BrokenValue, decode, encode
from harness.spec.element_types import ELEMENT_TYPES, Bits, ElementType
from harness.spec.values import TensorType, element_in, parse_type, proto_of_type
from harness.suite.cases import Built, Case, DataSet, Labels, finish
from harness.suite.directories import write_case

_OPSETS = (13, 25)
"""Identity-13 is enough for types of 16 bits and more; Identity-25 has the narrower ones."""


def differs_in_bits_alone(outcome: Outcome, result: Result) -> bool:
    """Whether an answer fails only because zeros have the other sign or NaN has other bits."""
    required = outcome.case.data_sets[outcome.data_set].bits
    return bool(required) and result.verdict == "wrong_value" and judge(outcome, _VALUES_ALONE).verdict == "passed"


def probe_transport(pool: Pool, outcomes: Sequence[Outcome]) -> dict[str, Bits]:
    """The bits that the backend returns unchanged, by element type, for the types of the outputs of ``outcomes``.

    Only these bits are compared, since a runtime is not to blame for what its adapter cannot preserve. If the backend
    cannot run Identity for a type, only values are compared.
    """
    types = {element_in(parse_type(of)) for outcome in outcomes for of in outcome.case.outputs}
    probed = [of for of in ELEMENT_TYPES if of in types and of.format]
    preserved: dict[str, Bits] = {}
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-transport-") as folder:
        tasks: list[Task] = []
        for built in map(_probe, probed):
            write_case(Path(folder), built)
            tasks.append(Task.of_suite(folder, built.case, (0,)))
        for outcome in pool.run(tasks):
            preserved[outcome.case.labels.types["T"]] = _preserved_bits(outcome)
    return preserved


_VALUES_ALONE: dict[str, Bits] = dict.fromkeys((of.name for of in ELEMENT_TYPES), "")


def _preserved_bits(outcome: Outcome) -> Bits:
    (of,) = (of for of in ELEMENT_TYPES if of.name == outcome.case.labels.types["T"])
    if outcome.status != "ok" or len(outcome.outputs) != 1:
        return ""
    want = _patterns(of)
    try:
        got = decode(outcome.outputs[0], TensorType(of))
    except BrokenValue:
        return ""
    if not isinstance(got, np.ndarray) or got.shape != want.shape or got.dtype != want.dtype:
        return ""
    if not bits_differ(got, want, of, "all").any() and _same_nan(got, want):
        return "all"
    return "" if bits_differ(got, want, of, "signs").any() else "signs"


def _same_nan(got: np.ndarray, want: np.ndarray) -> bool:
    with np.errstate(invalid="ignore"):  # of signalling NaN
        return bool(((got != got) == (want != want)).all())  # noqa: PLR0124 - NaN of any dtype


def _patterns(of: ElementType) -> np.ndarray:
    """Zeros of both signs, and quiet and signalling NaN with several bit patterns, as far as the type has them: [n]."""
    assert of.format
    part = of.bits // 2 if of.kind == "complex" else of.bits
    width = max(part, 8) // 8
    sign, top = 1 << (part - 1), (1 << (part - 1)) - 1
    fraction = of.format.precision - 1
    infinity = top ^ ((1 << fraction) - 1)
    patterns = [0, *([sign] if of.format.negative_zero else [])]
    if of.format.infinity:  # as in IEEE 754, NaN has the exponent of infinity and a fraction that is not 0
        quiet = infinity | (1 << (fraction - 1))
        patterns += [quiet, quiet | 1, quiet | sign, *([infinity | 1] if fraction > 1 else [])]
    return np.array(patterns, f"<u{width}").repeat(2 if of.kind == "complex" else 1).view(of.dtype)


def _probe(of: ElementType) -> Built:
    type_ = TensorType(of)
    values = _patterns(of)
    opset = _OPSETS[0] if of.bits > 8 else _OPSETS[1]
    infos = []
    for name in ("x", "y"):
        proto: TypeProto = proto_of_type(type_, values.shape)
        infos.append(helper.make_value_info(name, proto))
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "transport", infos[:1], infos[1:])
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets))
    case = Case(
        name=f"test_transport_{of.name}",
        labels=Labels(op="Identity", since=opset, category="tensor", types={"T": of.name}),
        inputs=(str(type_),),
        outputs=(str(type_),),
        data_sets=(DataSet(group="transport", elements=values.size),),
        rtol=0.0,
        atol=0.0,
        judged="bounds",
    )
    files = {f"test_data_set_0/{name}_0.pb": encode(values, type_) for name in ("input", "output")}
    return finish(case, {"model.onnx": model.SerializeToString(), **files})
