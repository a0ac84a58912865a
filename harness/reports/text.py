"""The wording that all formats share: numbers, rates, verdicts, nodes, and text from backends made harmless."""

import shlex
from typing import Any

from harness.results.lines import Measure
from harness.suite.cases import Labels

SEVERAL_NODES = "graphs of several nodes"
OMITTED = "omitted"
"""How labels write an attribute that the node leaves out."""


def plain(text: str) -> str:
    """The text with everything but printable characters spelt as escapes, so that it cannot act.

    Line ends, control characters, ANSI sequences, bidirectional overrides and lone surrogates are among these.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def plain_lines(text: str) -> str:
    """``plain`` of every line of a text; lines end at LF or CR LF."""
    return "\n".join(map(plain, text.replace("\r\n", "\n").split("\n")))


def plain_tree(value: Any) -> Any:
    """``plain`` of every string in nested dicts, lists and tuples, keys included."""
    match value:
        case str():
            return plain(value)
        case dict():
            return {plain_tree(key): plain_tree(item) for key, item in value.items()}
        case list() | tuple():
            return [plain_tree(item) for item in value]
        case _:
            return value


def one_line(text: str, width: int = 500) -> str:
    """The text, of ``plain_lines``, with its lines run together and cut at ``width`` characters."""
    joined = " ⏎ ".join(line.strip() for line in text.split("\n") if line.strip())
    return joined if len(joined) <= width else f"{joined[: width - 1]}…"


def count(number: int) -> str:
    """``2,010``."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """``1 data set``, ``2,010 data sets``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(part: int, whole: int) -> str:
    """The rate, never rounded up to 100 % nor down to 0 %; empty where there is nothing to divide by."""
    if not whole:
        return ""
    tenths = part * 1000 // whole
    return "<0.1 %" if part and not tenths else f"{tenths / 10:.1f} %"


def measure(value: Measure | None) -> str:
    """An error as people write it: ``0.31``, ``12``, ``>1e6``, ``inf``; empty where nothing was measured."""
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


def verdict_words(verdict: str) -> str:
    """``wrong value`` for ``wrong_value``."""
    return verdict.replace("_", " ")


def title(op: str, domain: str, since: int) -> str:
    """An operator version as ONNX's documents write it: ``Trilu-14``, ``ai.onnx.ml.Scaler-1``."""
    if not op:
        return SEVERAL_NODES
    return f"{domain}.{op}-{since}" if domain else f"{op}-{since}"


_NAMED = 4
"""How many of the attributes, inputs and outputs that a node leaves out are named."""


def node(labels: Labels) -> str:
    """The node under test in one line: ``Trilu-14 T=string upper=0, without k``."""
    words = [title(labels.op, labels.domain, labels.since)]
    words += [f"{variable}={of}" for variable, of in labels.types.items()]
    words += [f"{name}={value}" for name, value in labels.attributes.items() if value != OMITTED]
    absent = [*(name for name, value in labels.attributes.items() if value == OMITTED), *labels.omitted]
    more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
    return " ".join(words) + (f", without {', '.join(absent[:_NAMED])}{more}" if absent else "")


def reproduce(suite: str, case: str, backend: str, data_set: int = 0) -> str:
    """The command that prints a script which runs one data set of a case on one backend again."""
    words = ["onnx-conformance", "repro", case, "--backend", backend]
    words += ["--data-set", str(data_set)] if data_set else []
    return shlex.join(words if suite == "matrix" else [*words, "--suite", suite])
