"""The check of an adapter: small models with known answers, run as a run does, and a report to its author."""

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

from harness.authoring.diagnosis import LACKING, Diagnosis, diagnose, how_to_decline
from harness.authoring.probes import Probe, probes
from harness.backend.interface import Description
from harness.backend.loading import COMMAND
from harness.judging.judge import judge, make_task
from harness.judging.outcome import Outcome
from harness.running.pool import Limits, Pool, StartFailed
from harness.spec.codec import decode
from harness.spec.values import Value, parse_type
from harness.suite.cases import Built
from harness.suite.directories import write_case
from harness.text import shortened

_WIDTH = 110


class Finding(msgspec.Struct, frozen=True):
    """What came of a probe."""

    verdict: Literal["passed", "declined", "FAULT"]
    title: str
    carries: str = ""
    """The element type, for the probes that only differ in it."""
    tried: str = ""
    came: str = ""
    """The answer that did not pass, or the reason for which it was declined."""
    diagnosis: Diagnosis = Diagnosis("", "")


def check_backend(spec: str) -> tuple[str, int]:
    """What is wrong with the adapter of a backend, as text, and the number of faults.

    Everything runs in a worker process, as in a run. Raises UsageError and NoStart for a backend that does not start.
    """
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-check-") as folder, Pool(spec, 1, Limits()) as pool:
        description = _start(pool, spec)
        findings = [_of_description(description), *_find(pool, Path(folder), spec)]
    findings.append(_of_all(findings))
    return "\n".join(_report(description, findings)), _count(findings, "FAULT")


def _start(pool: Pool, spec: str) -> Description:
    try:
        return pool.start()
    except StartFailed as error:
        command = f"python -m harness.backend.worker {shlex.quote(spec)}"
        if spec.startswith(COMMAND):
            command = spec.removeprefix(COMMAND)
        request = '{"do":"describe","protocol":2}'
        raise StartFailed(str(error), f"Start it by hand and see what it says: echo '{request}' | {command}") from error


def _find(pool: Pool, folder: Path, spec: str) -> Iterator[Finding]:
    """A finding for each probe, which had its second chance where the first was declined."""
    asked = list(probes())
    answers = _ask(pool, folder, [probe.built for probe in asked])
    instead = _ask(pool, folder, [p.instead for p in asked if p.instead and _declined(answers[p.built.case.name])])
    for probe in asked:
        outcomes = answers[probe.built.case.name]
        second = instead.get(probe.instead.case.name, []) if probe.instead else []
        if probe.instead and second and second[0].status == "ok":
            yield _of_answer(msgspec.structs.replace(probe, built=probe.instead), second, spec)
        elif probe.want == "answer":
            yield _of_answer(probe, outcomes, spec)
        else:
            yield _of_refusal(probe, outcomes[0], spec)


def _ask(pool: Pool, folder: Path, cases: Sequence[Built]) -> dict[str, list[Outcome]]:
    """The outcomes of every data set, by the names of the cases."""
    for built in cases:
        write_case(folder, built)
    tasks = [make_task(str(folder), one.case, tuple(range(len(one.case.data_sets)))) for one in cases]
    answers: dict[str, list[Outcome]] = {}
    for outcome in pool.run(tasks):
        answers.setdefault(outcome.case.name, []).append(outcome)
    return answers


def _declined(outcomes: Iterable[Outcome]) -> bool:
    return all(outcome.status == "unsupported" for outcome in outcomes)


# From answers to findings.


def _of_description(description: Description) -> Finding:
    title = "says its name and its version"
    lacks = " and no ".join(word for word in ("name", "version") if not getattr(description, word).strip())
    if not lacks:
        return Finding("passed", title)
    means = "Results are kept, and compared, by what the backend says it is."
    do = "Give the runtime's name and version, as importlib.metadata.version has it."
    return Finding("FAULT", title, "", "describe", f"no {lacks}", Diagnosis(means, do))


def _of_answer(probe: Probe, outcomes: Sequence[Outcome], spec: str) -> Finding:
    results = [judge(outcome) for outcome in outcomes]
    bad = next((result for result in results if result.verdict != "passed"), None)
    if bad is None:
        return Finding("passed", probe.title, probe.carries)
    if bad.verdict == "unsupported":
        return Finding("declined", probe.title, probe.carries, came=bad.message or "no reason given")
    came = f"{bad.verdict.replace('_', ' ')}: {bad.message}"
    diagnosis = diagnose(probe, bad.verdict, bad.message, spec)
    return Finding("FAULT", probe.title, probe.carries, _tried(probe.built, bad.data_set), came, diagnosis)


def _of_refusal(probe: Probe, outcome: Outcome, spec: str) -> Finding:
    """Of a probe that has no right answer."""
    wanted = probe.want if probe.want == "unsupported" else "error"
    # An empty file is, taken by the letter, a model without outputs.
    if outcome.status == wanted or (wanted == "error" and outcome.status == "ok" and not outcome.types):
        return Finding("passed", probe.title)
    match outcome.status:
        case "error":
            diagnosis = Diagnosis(
                "What the runtime has not got counts as its failure, among the things it does wrong.",
                f"When the runtime says so, {how_to_decline(spec)}; leave every other exception alone.",
            )
        case "unsupported":
            diagnosis = Diagnosis(
                "What fails counts as declined, so that faults of the runtime are hidden.",
                "Decline only what the runtime says it has not got; leave every other exception alone.",
            )
        case "ok":
            diagnosis = Diagnosis(
                "There is an answer to a model that has none; it may be that of another model.",
                "Prepare the very model that is given, and let its failure be one.",
            )
        case "missing_requirement":
            diagnosis = LACKING
        case status:
            diagnosis = diagnose(probe, status, outcome.message, spec)
    status = "an answer" if outcome.status == "ok" else outcome.status.replace("_", " ")
    came = ": ".join(filter(None, (status, outcome.message)))
    return Finding("FAULT", probe.title, "", _tried(probe.built, 0), came, diagnosis)


def _of_all(findings: Sequence[Finding]) -> Finding:
    """A backend that declines every model has not been checked."""
    title = "runs at least one of these models"
    declined = [finding for finding in findings if finding.verdict == "declined"]
    if len(declined) < sum(probe.want == "answer" for probe in probes()):
        return Finding("passed", title)
    means = "Nothing was executed, so this check says nothing of the adapter."
    do = "Decline only what the runtime says it has not got; the reason above is the first of them."
    return Finding("FAULT", title, "", "all of them", f"declined: {declined[0].came}", Diagnosis(means, do))


def _tried(built: Built, data_set: int) -> str:
    """The model in ONNX's own words, and its inputs."""
    model = built.files["model.onnx"]
    try:
        graph = onnx.load_from_string(model).graph
    except Exception:  # noqa: BLE001 - whatever the installed protobuf raises
        return f"the first {len(model)} bytes of a model"
    if not model:
        return "a model file of 0 bytes"
    nodes = [onnx.printer.to_text(node).strip() for node in graph.node]
    names = [info.name for info in graph.input]
    path = f"{built.case.folder_of(data_set)}/input_"
    values = [decode(built.files[f"{path}{i}.pb"], parse_type(of)) for i, of in enumerate(built.case.inputs)]
    given = [f"{name} = {_brief(value)}" for name, value in zip(names, values, strict=False)]
    return "; ".join([*(nodes or ["a graph without nodes"]), *given])


def _brief(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, value))}]"
    return str(value.tolist()) if isinstance(value, np.ndarray) else str(value)


# The report.


def _report(description: Description, findings: Sequence[Finding]) -> Iterator[str]:
    configuration = " ".join(f"{key}={value}" for key, value in description.configuration.items())
    yield " ".join(filter(None, (description.name, description.version, description.device, configuration)))
    yield ""
    yield from _passed([finding for finding in findings if finding.verdict == "passed"])
    yield from _declined_ones([finding for finding in findings if finding.verdict == "declined"])
    by_diagnosis: dict[Diagnosis, list[Finding]] = {}
    for finding in findings:
        if finding.verdict == "FAULT":
            by_diagnosis.setdefault(finding.diagnosis, []).append(finding)
    for diagnosis, (first, *others) in by_diagnosis.items():
        yield from _fault(diagnosis, first, others)
    yield ""
    counts = [f"{_count(findings, verdict)} {verdict}" for verdict in ("passed", "declined")]
    yield f"{len(findings)} probes: {', '.join(counts)}, {_count(findings, 'FAULT')} faults"


def _passed(findings: Sequence[Finding]) -> Iterator[str]:
    yield from (f"passed    {finding.title}" for finding in findings if not finding.carries)
    carried = ", ".join(finding.carries for finding in findings if finding.carries)
    if carried:
        yield from _wrapped("passed    ", f"carries {carried}")


def _declined_ones(findings: Sequence[Finding]) -> Iterator[str]:
    """With their reasons; of the element types those of the first, for they differ in a name at most."""
    for finding in findings:
        if not finding.carries:
            yield shortened(f"declined  {finding.title}: {finding.came}", _WIDTH)
    carried = [finding for finding in findings if finding.carries]
    if carried:
        types = ", ".join(finding.carries for finding in carried)
        yield from _wrapped("declined  ", f"carries {types}: {shortened(carried[0].came, _WIDTH)}")


def _fault(diagnosis: Diagnosis, first: Finding, others: Sequence[Finding]) -> Iterator[str]:
    yield ""
    yield f"FAULT     {first.title}"
    for title, text in (("tried", first.tried), ("came", first.came), ("means", diagnosis.means), ("do", diagnosis.do)):
        yield from _wrapped(f"  {title:<8}", text)
    for finding in others:
        yield shortened(f"  {'so too':<8}{finding.title} ({finding.came})", _WIDTH)


def _wrapped(before: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=before, subsequent_indent=" " * len(before), break_on_hyphens=False
    )


def _count(findings: Iterable[Finding], verdict: str) -> int:
    return sum(finding.verdict == verdict for finding in findings)
