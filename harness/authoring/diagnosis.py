"""What an answer to a probe says of the adapter, and what its author should do."""

from __future__ import annotations

import re

import msgspec

from harness.authoring.probes import Probe
from harness.backend.loading import COMMAND, ONNX
from harness.results.lines import Verdict
from harness.spec.element_types import BY_NAME


class Diagnosis(msgspec.Struct, frozen=True):
    """For a person who wrote their first adapter an hour ago."""

    means: str
    do: str


LACKING = Diagnosis("The machine lacks what the backend needs; that is no fault of the backend's.", "Install it.")


def how_to_decline(spec: str) -> str:
    """What a backend that comes in this way does to say that it has not got something."""
    if spec.startswith(COMMAND):
        return 'answer with "status":"unsupported" and the reason as "message"'
    if spec.startswith(ONNX):
        return "raise onnx.backend.test.runner.BackendIsNotSupposedToImplementIt(reason), or let is_compatible be False"
    return "raise harness.backend.loading.Unsupported(reason)"


def diagnose(probe: Probe, verdict: Verdict, message: str, spec: str) -> Diagnosis:
    """Why a probe that wants an answer did not pass; ``verdict`` and ``message`` are those of its result line."""
    match verdict:
        case "wrong_value" | "wrong_shape":
            return Diagnosis(probe.means, probe.do)
        case "wrong_type":
            return _of_type(probe, message, spec)
        case "wrong_count":
            return Diagnosis(
                "The graph's outputs and what is returned are not the same in number.",
                "Return the outputs that graph.output declares, each once, and nothing else.",
            )
        case "crashed":
            return Diagnosis(
                "The process ended; in a run that costs a restart of the backend for every such case.",
                "See what the library prints: the worker's standard error is quoted above. Decline what crashes it.",
            )
        case "timed_out":
            return Diagnosis(
                "Nothing came within the limit that a run has by default.",
                "Look for a lock, a prompt or a download; a backend that is only slow is run with a longer --limit.",
            )
        case "not_run" if message.startswith("the machine lacks"):
            return LACKING
        case "not_run":
            return Diagnosis("The backend could not be started again after a crash.", "Mend the crash first.")
        case _:
            return _of_error(message, spec)


def _of_type(probe: Probe, message: str, spec: str) -> Diagnosis:
    means = "The output is of another type than the graph declares: it was converted, or its bytes are read as such."
    wanted = re.search(r"want tensor\((\w+)\)$", message)
    element = BY_NAME.get(wanted[1]) if wanted else None
    if spec.startswith(COMMAND):
        return Diagnosis(means, 'Write the tensor with its own data_type, and state that type in "outputs".')
    if element is None:  # a sequence, or what should be one
        return Diagnosis(means, probe.do)
    if element.kind == "string" or element.dtype.isbuiltin == 1:
        return Diagnosis(
            means,
            f"Return what the runtime gives in its own type; where it has not got that type, {how_to_decline(spec)}.",
        )
    return Diagnosis(
        means, "NumPy has no such type: return the bytes as ml_dtypes has it, e.g. raw.view(ml_dtypes.bfloat16)."
    )


def _of_error(message: str, spec: str) -> Diagnosis:
    for pattern, means, do in _ERRORS:
        if re.search(pattern, message):
            return Diagnosis(means, do)
    return Diagnosis(
        "The backend failed, which a run reports as its fault; what it has not got, it declines.",
        f"If the runtime has not got this, {how_to_decline(spec)}; if it has, mend what failed.",
    )


_ERRORS = (
    (
        r"The run gave .* want a list",
        "Whatever the graph gives, the outputs are a list, one value an output.",
        "Return [y] instead of y, or list(outputs.values()).",
    ),
    (
        r"prepare gave .* want a callable",
        "prepare gives what runs the model: a function from the list of inputs to the list of outputs.",
        "Return a function: lambda inputs: session.run(inputs).",
    ),
    (
        r"(prepare|run|<lambda>)\(\) (takes|missing|got an unexpected)",
        "A function of the adapter has other parameters than it is called with.",
        "They are describe(self), prepare(self, model) and, for what prepare returns, run(inputs) with one list.",
    ),
    (
        r"holds .* which is no text",
        "A tensor of strings holds things that are none.",
        "Return an array of dtype object whose elements are str.",
    ),
    (
        r"no ONNX (value|element type)|^output_\d+ is ",
        "An output is nothing that ONNX knows: it may be a number, or a tensor of another library.",
        "Wrap tensors: numpy.asarray(y). A list is a sequence, a dict a map, None an absent optional.",
    ),
    (
        r"for output_\d+",
        "An output was stated, and its file is not there or is none.",
        'Write every output to the file that "outputs" of its data set names, before you answer.',
    ),
    (
        r"^the backend answered with ",
        "On standard output there was something that is no answer of the protocol.",
        "Write answers there and nothing else, one a line; what else there is to say goes to standard error.",
    ),
)
"""Messages of the worker, the pool and Python, and what they say of the adapter; the first that fits counts."""
