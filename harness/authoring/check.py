"""check-backend: runs the probes on a backend as a run does, and reports faults to the author of the adapter."""

from __future__ import annotations

import shlex
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import onnx
import onnx.printer

from harness.authoring.diagnosis import MISSING_REQUIREMENT, Diagnosis, diagnose, how_to_decline
from harness.authoring.probes import Probe, probes
from harness.backend.interface import Description
from harness.backend.loading import COMMAND_PREFIX
from harness.backend.protocol import PROTOCOL_VERSION
from harness.judging.judge import judge
from harness.judging.outcome import Outcome, Task
from harness.running.pool import Limits, Pool, StartFailed
from harness.spec.codec import decode
from harness.spec.values import Value, parse_type
from harness.suite.cases import Built
from harness.suite.directories import write_case
from harness.text import shortened

_WIDTH = 110


class Finding(msgspec.Struct, frozen=True):
    """The result of a probe."""

    verdict: Literal["passed", "declined", "FAULT"]
    title: str
    element_type: str = ""
    """Set for the probes that differ only in it."""
    model: str = ""
    """The model and its inputs as text."""
    result: str = ""
    """The answer that did not pass, or the reason for declining."""
    diagnosis: Diagnosis = Diagnosis("", "")


def check_backend(spec: str) -> tuple[str, int]:
    """Probe a backend in a worker process. Returns the report as text and the number of faults.

    Raises UsageError or StartFailed if the backend does not start.
    """
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-check-") as folder, Pool(spec, 1, Limits()) as pool:
        description = _start(pool, spec)
        findings = [_check_description(description), *_run_probes(pool, Path(folder), spec)]
    findings.append(_check_any_ran(findings))
    return "\n".join(_report(description, findings)), _count(findings, "FAULT")


def _start(pool: Pool, spec: str) -> Description:
    try:
        return pool.wait_until_ready()
    except StartFailed as error:
        command = f"python -m harness.backend.worker {shlex.quote(spec)}"
        if spec.startswith(COMMAND_PREFIX):
            command = spec.removeprefix(COMMAND_PREFIX)
        request = f'{{"do":"describe","protocol":{PROTOCOL_VERSION}}}'
        raise StartFailed(str(error), f"Start it by hand to see its output: echo '{request}' | {command}") from error


def _run_probes(pool: Pool, folder: Path, spec: str) -> Iterator[Finding]:
    """A finding for each probe. If a probe is declined, its fallback runs."""
    todo = list(probes())
    answers = _run(pool, folder, [probe.built for probe in todo])
    fallbacks = [p.fallback for p in todo if p.fallback and _all_declined(answers[p.built.case.name])]
    fallback_answers = _run(pool, folder, fallbacks)
    for probe in todo:
        outcomes = answers[probe.built.case.name]
        second = fallback_answers.get(probe.fallback.case.name, []) if probe.fallback else []
        if probe.fallback and second and second[0].status == "ok":
            yield _check_answer(msgspec.structs.replace(probe, built=probe.fallback), second, spec)
        elif probe.expects == "answer":
            yield _check_answer(probe, outcomes, spec)
        else:
            yield _check_refusal(probe, outcomes[0], spec)


def _run(pool: Pool, folder: Path, cases: Sequence[Built]) -> dict[str, list[Outcome]]:
    """The outcomes of every data set, by case name."""
    for built in cases:
        write_case(folder, built)
    tasks = [Task.of_suite(str(folder), one.case, tuple(range(len(one.case.data_sets)))) for one in cases]
    answers: dict[str, list[Outcome]] = {}
    for outcome in pool.run(tasks):
        answers.setdefault(outcome.case.name, []).append(outcome)
    return answers


def _all_declined(outcomes: Iterable[Outcome]) -> bool:
    return all(outcome.status == "unsupported" for outcome in outcomes)


# From answers to findings.


def _check_description(description: Description) -> Finding:
    title = "reports its name and version"
    missing = " and no ".join(word for word in ("name", "version") if not getattr(description, word).strip())
    if not missing:
        return Finding("passed", title)
    cause = "Results are stored and compared under the name and version that the backend reports."
    fix = "Return the runtime's name and version, for example from importlib.metadata.version."
    return Finding("FAULT", title, "", "describe", f"no {missing}", Diagnosis(cause, fix))


def _check_answer(probe: Probe, outcomes: Sequence[Outcome], spec: str) -> Finding:
    results = [judge(outcome) for outcome in outcomes]
    bad = next((result for result in results if result.verdict != "passed"), None)
    if bad is None:
        return Finding("passed", probe.title, probe.element_type)
    if bad.verdict == "unsupported":
        return Finding("declined", probe.title, probe.element_type, result=bad.message or "no reason given")
    result = f"{bad.verdict.replace('_', ' ')}: {bad.message}"
    diagnosis = diagnose(probe, bad.verdict, bad.message, spec)
    model = _model_text(probe.built, bad.data_set)
    return Finding("FAULT", probe.title, probe.element_type, model, result, diagnosis)


def _check_refusal(probe: Probe, outcome: Outcome, spec: str) -> Finding:
    """The finding of a probe whose model has no right answer."""
    expected = probe.expects if probe.expects == "unsupported" else "error"
    # Strictly, an empty file is a model without outputs, so no outputs is also a right answer.
    if outcome.status == expected or (expected == "error" and outcome.status == "ok" and not outcome.types):
        return Finding("passed", probe.title)
    match outcome.status:
        case "error":
            diagnosis = Diagnosis(
                "A feature that the runtime lacks is reported as an error, like a real failure.",
                f"If the runtime says that it lacks something, {how_to_decline(spec)}. "
                "Do not catch any other exception.",
            )
        case "unsupported":
            diagnosis = Diagnosis(
                "A failure is reported as unsupported, which hides faults of the runtime.",
                "Decline only what the runtime says it lacks. Do not catch any other exception.",
            )
        case "ok":
            diagnosis = Diagnosis(
                "The adapter answers for a model that has no answer, perhaps with another model.",
                "Prepare exactly the given model, and let its failure be an error.",
            )
        case "missing_requirement":
            diagnosis = MISSING_REQUIREMENT
        case status:
            diagnosis = diagnose(probe, status, outcome.message, spec)
    status = "an answer" if outcome.status == "ok" else outcome.status.replace("_", " ")
    result = ": ".join(filter(None, (status, outcome.message)))
    return Finding("FAULT", probe.title, "", _model_text(probe.built, 0), result, diagnosis)


def _check_any_ran(findings: Sequence[Finding]) -> Finding:
    """A fault if the backend declines every model, since then nothing was checked."""
    title = "runs at least one of these models"
    declined = [finding for finding in findings if finding.verdict == "declined"]
    if len(declined) < sum(probe.expects == "answer" for probe in probes()):
        return Finding("passed", title)
    cause = "No model was executed, so this check says nothing about the adapter."
    fix = "Decline only what the runtime says it lacks. The result above is the first reason given."
    return Finding("FAULT", title, "", "all of them", f"declined: {declined[0].result}", Diagnosis(cause, fix))


def _model_text(built: Built, data_set: int) -> str:
    """The model in ONNX's textual form, and its inputs."""
    model = built.files["model.onnx"]
    try:
        graph = onnx.load_from_string(model).graph
    except Exception:  # noqa: BLE001 - whatever the installed protobuf raises
        return f"the first {len(model)} bytes of a model"
    if not model:
        return "a model file of 0 bytes"
    nodes = [onnx.printer.to_text(node).strip() for node in graph.node]
    names = [info.name for info in graph.input]
    path = f"{built.case.file_prefix(data_set)}input_"
    values = [decode(built.files[f"{path}{i}.pb"], parse_type(of)) for i, of in enumerate(built.case.inputs)]
    inputs = [f"{name} = {_value_text(value)}" for name, value in zip(names, values, strict=False)]
    return "; ".join([*(nodes or ["a graph without nodes"]), *inputs])


def _value_text(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value_text, value))}]"
    return str(value.tolist()) if isinstance(value, np.ndarray) else str(value)


# The report.


def _report(description: Description, findings: Sequence[Finding]) -> Iterator[str]:
    configuration = " ".join(f"{key}={value}" for key, value in description.configuration.items())
    yield " ".join(filter(None, (description.name, description.version, description.device, configuration)))
    yield ""
    yield from _passed_lines([finding for finding in findings if finding.verdict == "passed"])
    yield from _declined_lines([finding for finding in findings if finding.verdict == "declined"])
    by_diagnosis: dict[Diagnosis, list[Finding]] = {}
    for finding in findings:
        if finding.verdict == "FAULT":
            by_diagnosis.setdefault(finding.diagnosis, []).append(finding)
    for diagnosis, (first, *others) in by_diagnosis.items():
        yield from _fault_lines(diagnosis, first, others)
    yield ""
    passed, declined, faults = (_count(findings, verdict) for verdict in ("passed", "declined", "FAULT"))
    yield f"{len(findings)} probes: {passed} passed, {declined} declined, {faults} fault{'s' * (faults != 1)}"


def _passed_lines(findings: Sequence[Finding]) -> Iterator[str]:
    yield from (f"passed    {finding.title}" for finding in findings if not finding.element_type)
    types = ", ".join(finding.element_type for finding in findings if finding.element_type)
    if types:
        yield from _wrapped("passed    ", f"keeps tensors of {types}")


def _declined_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """With reasons; for element types only the first reason, since the others differ at most in the type's name."""
    for finding in findings:
        if not finding.element_type:
            yield shortened(f"declined  {finding.title}: {finding.result}", _WIDTH)
    of_types = [finding for finding in findings if finding.element_type]
    if of_types:
        types = ", ".join(finding.element_type for finding in of_types)
        yield from _wrapped("declined  ", f"tensors of {types}: {shortened(of_types[0].result, _WIDTH)}")


def _fault_lines(diagnosis: Diagnosis, first: Finding, others: Sequence[Finding]) -> Iterator[str]:
    yield ""
    yield f"FAULT     {first.title}"
    fields = {"model": first.model, "result": first.result, "cause": diagnosis.cause, "fix": diagnosis.fix}
    for title, text in fields.items():
        yield from _wrapped(f"  {title:<8}", text)
    for finding in others:
        yield shortened(f"  {'also':<8}{finding.title} ({finding.result})", _WIDTH)


def _wrapped(prefix: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=prefix, subsequent_indent=" " * len(prefix), break_on_hyphens=False
    )


def _count(findings: Iterable[Finding], verdict: str) -> int:
    return sum(finding.verdict == verdict for finding in findings)
