"""Text that all formats share: numbers, rates, verdicts, nodes, and escaped text from backends."""

import shlex
from typing import Any

from harness.results.lines import Measure
from harness.suite.cases import Labels

SEVERAL_NODES = "graphs of several nodes"
OMITTED = "omitted"
"""The label value of an attribute that the node omits."""


def printable(text: str) -> str:
    """Escapes everything that is not printable.

    This includes line ends, control characters, ANSI sequences, bidirectional overrides and lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def printable_lines(text: str) -> str:
    """Applies ``printable`` to every line of a text. Lines end with LF or CR LF."""
    return "\n".join(map(printable, text.replace("\r\n", "\n").split("\n")))


def printable_tree(value: Any) -> Any:
    """Applies ``printable`` to every string in nested dicts, lists and tuples, including keys."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {printable_tree(key): printable_tree(item) for key, item in value.items()}
        case list() | tuple():
            return [printable_tree(item) for item in value]
        case _:
            return value


def one_line(text: str, width: int = 500) -> str:
    """Joins the lines of a text from ``printable_lines`` and truncates the result to ``width`` characters."""
    joined = " ⏎ ".join(line.strip() for line in text.split("\n") if line.strip())
    return joined if len(joined) <= width else f"{joined[: width - 1]}…"


def format_count(number: int) -> str:
    """``2,010``."""
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """``1 data set``, ``2,010 data sets``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(part: int, whole: int) -> str:
    """A rate, never rounded up to 100 % or down to 0 %. Empty if ``whole`` is 0."""
    if not whole:
        return ""
    tenths = part * 1000 // whole
    return "<0.1 %" if part and not tenths else f"{tenths / 10:.1f} %"


def format_measure(value: Measure | None) -> str:
    """An error or a duration: ``0.31``, ``12``, ``>1e6``, ``inf``. Empty if nothing was measured."""
    if value is None:
        return ""
    number = float(value)
    if number == float("inf"):
        return "inf"
    if number > 1e6:
        return ">1e6"
    if number >= 100:
        return f"{number:,.0f}"
    if 0 < number < 0.01:
        return "<0.01"
    return f"{number:.2f}".rstrip("0").rstrip(".")


def verdict_text(verdict: str) -> str:
    """``wrong value`` for ``wrong_value``."""
    return verdict.replace("_", " ")


def operator_title(op: str, domain: str, since: int) -> str:
    """The title of an operator version in ONNX's documentation: ``Trilu-14``, ``ai.onnx.ml.Scaler-1``."""
    if not op:
        return SEVERAL_NODES
    return f"{domain}.{op}-{since}" if domain else f"{op}-{since}"


_OMITTED_SHOWN = 4
"""The maximum number of omitted attributes, inputs and outputs that are listed."""


def node_text(labels: Labels) -> str:
    """The node under test on one line: ``Trilu-14 T=string upper=0, without k``."""
    words = [operator_title(labels.op, labels.domain, labels.since)]
    words += [f"{variable}={of}" for variable, of in labels.types.items()]
    words += [f"{name}={value}" for name, value in labels.attributes.items() if value != OMITTED]
    absent = [*(name for name, value in labels.attributes.items() if value == OMITTED), *labels.omitted]
    more = f" and {len(absent) - _OMITTED_SHOWN} more" if len(absent) > _OMITTED_SHOWN else ""
    return " ".join(words) + (f", without {', '.join(absent[:_OMITTED_SHOWN])}{more}" if absent else "")


def repro_command(suite: str, case: str, backend: str, data_set: int = 0) -> str:
    """The command that prints a script to rerun one data set of a case on one backend."""
    words = ["onnx-conformance", "repro", case, "--backend", backend]
    words += ["--data-set", str(data_set)] if data_set else []
    return shlex.join(words if suite == "matrix" else [*words, "--suite", suite])
