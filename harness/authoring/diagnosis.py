"""Explains the answer to a probe: its likely cause in the adapter, and how to fix it."""

from __future__ import annotations

import re

import msgspec

from harness.authoring.probes import Probe
from harness.backend.loading import COMMAND_PREFIX, ONNX_PREFIX
from harness.results.lines import Verdict
from harness.spec.element_types import BY_NAME


class Diagnosis(msgspec.Struct, frozen=True):
    """Advice for a person who is writing their first adapter."""

    cause: str
    fix: str


MISSING_REQUIREMENT = Diagnosis(
    "The machine lacks something that the backend needs, which is not a fault of the backend.",
    "Install what the message names.",
)


def how_to_decline(spec: str) -> str:
    """How a backend of this kind declines a model, as an instruction."""
    if spec.startswith(COMMAND_PREFIX):
        return 'answer with "status":"unsupported" and the reason as "message"'
    if spec.startswith(ONNX_PREFIX):
        return "raise onnx.backend.test.runner.BackendIsNotSupposedToImplementIt(reason), or let is_compatible be False"
    return "raise harness.backend.Unsupported(reason)"


def diagnose(probe: Probe, verdict: Verdict, message: str, spec: str) -> Diagnosis:
    """Explain why a probe that wants an answer did not pass; ``verdict`` and ``message`` are those of its result."""
    match verdict:
        case "wrong_value" | "wrong_shape":
            return Diagnosis(probe.cause, probe.fix)
        case "wrong_type":
            return _diagnose_type(probe, message, spec)
        case "wrong_count":
            return Diagnosis(
                "The adapter returns more or fewer outputs than the graph has.",
                "Return each output that graph.output declares exactly once, and nothing else.",
            )
        case "crashed":
            return Diagnosis(
                "The worker process ended. In a run, every such case restarts the backend.",
                "Read the last line of standard error, quoted above. Decline the models that crash the runtime.",
            )
        case "timed_out":
            return Diagnosis(
                "There was no answer within the default time limit of a run.",
                "Look for a lock, a prompt or a download. If the backend is only slow, run it with a longer --limit.",
            )
        case "not_run" if message.startswith("missing requirement"):
            return MISSING_REQUIREMENT
        case "not_run":
            return Diagnosis("The backend did not start again after a crash.", "Fix the crash first.")
        case _:
            return _diagnose_error(message, spec)


def _diagnose_type(probe: Probe, message: str, spec: str) -> Diagnosis:
    cause = (
        "The output has another type than the graph declares: it was converted, or its bytes were read as that type."
    )
    wanted = re.search(r"want tensor\((\w+)\)$", message)
    element = BY_NAME.get(wanted[1]) if wanted else None
    if spec.startswith(COMMAND_PREFIX):
        return Diagnosis(cause, 'Write the tensor with its own data_type, and state that type in "outputs".')
    if element is None:  # not a tensor
        return Diagnosis(cause, probe.fix)
    if element.kind == "string" or element.dtype.isbuiltin == 1:
        return Diagnosis(
            cause,
            f"Return the runtime's output in its own type. If the runtime lacks that type, {how_to_decline(spec)}.",
        )
    return Diagnosis(
        cause,
        "NumPy itself has no such type. Return the bytes with the type of ml_dtypes, such as "
        "raw.view(ml_dtypes.bfloat16).",
    )


def _diagnose_error(message: str, spec: str) -> Diagnosis:
    for pattern, cause, fix in _ERRORS:
        if re.search(pattern, message):
            return Diagnosis(cause, fix)
    return Diagnosis(
        "The backend failed. A run reports this as an error of the backend; a feature that it lacks must be declined.",
        f"If the runtime does not support this, {how_to_decline(spec)}. Otherwise fix the failure.",
    )


_ERRORS = (
    (
        r"^The backend returned .* want a list",
        "The outputs are always a list with one value per output, even for a graph with a single output.",
        "Return [y] instead of y, or list(outputs.values()).",
    ),
    (
        r"prepare returned .* want a callable",
        "prepare must return a function that takes the list of inputs and returns the list of outputs.",
        "Return a function: lambda inputs: session.run(inputs).",
    ),
    (
        r"(prepare|run|<lambda>)\(\) (takes|missing|got an unexpected)",
        "A function of the adapter has other parameters than it is called with.",
        "Write describe(self) and prepare(self, model); prepare returns run(inputs) with one list.",
    ),
    (
        r"A string tensor holds",
        "A tensor of strings has elements that are not text.",
        "Return an array of dtype object whose elements are str.",
    ),
    (
        r"ONNX (value|element type)|^output_\d+ is ",
        "An output is not an ONNX value. It may be a Python number, or a tensor of another library.",
        "Convert tensors with numpy.asarray(y). A list is a sequence, a dict a map, None an empty optional.",
    ),
    (
        r"for output_\d+",
        "The answer lists an output, but its file does not exist or is invalid.",
        'Write every output to the path in "outputs" of its data set before you answer.',
    ),
    (
        r"^the backend answered with ",
        "Standard output holds a line that is not a valid answer of the protocol.",
        "Write only answers to standard output, one per line. Write everything else to standard error.",
    ),
)
"""Patterns for messages of the worker, the pool and Python, with cause and fix. The first that matches applies."""
