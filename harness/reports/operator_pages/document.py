"""ONNX's document of an operator version, as plain data."""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec
import onnx.defs

from harness.spec.schema import Attribute, Parameter, Schema
from harness.suite.names import attribute_label


class ParameterText(msgspec.Struct, frozen=True):
    """An input or an output."""

    name: str
    type: str
    """A type variable (``T``) or a concrete type (``tensor(int64)``)."""
    notes: tuple[str, ...]
    """``optional``, ``variadic``; ``heterogeneous`` where the values of a variadic one may differ in type."""
    description: str


class AttributeText(msgspec.Struct, frozen=True):
    """An attribute."""

    name: str
    kind: str
    """AttributeProto's name for its type: INT, FLOATS, GRAPH …"""
    use: str
    """``required``, ``default 1`` or ``optional``."""
    description: str


class ConstraintText(msgspec.Struct, frozen=True):
    """What a type variable may stand for."""

    name: str
    types: tuple[str, ...]
    """As the schema spells them, sorted."""
    description: str


class Document(msgspec.Struct, frozen=True):
    """All that the schema of one operator version says; descriptions and summary are ONNX's own Markdown."""

    title: str
    """``Trilu-14``, ``ai.onnx.ml.Scaler-1``."""
    op: str
    domain: str
    """``ai.onnx`` where the schema's is empty."""
    since: int
    category: str
    deprecated: bool
    function: bool
    """Whether ONNX defines it as a function of other operators, too."""
    support_level: str
    shape_inference: bool
    summary: str
    attributes: tuple[AttributeText, ...]
    takes: str
    """How many inputs: ``Between 1 and 2 inputs.``"""
    inputs: tuple[ParameterText, ...]
    gives: str
    """How many outputs."""
    outputs: tuple[ParameterText, ...]
    constraints: tuple[ConstraintText, ...]


def operator_document(of: Schema) -> Document:
    """The document of a version that the installed onnx defines."""
    # What no oracle needs is not in the view: the constraints' descriptions, and what is said of the version.
    whole: Any = onnx.defs.get_schema(of.op, of.since, of.domain)  # whose stubs lack a part of it
    return Document(
        title=of.title,
        op=of.op,
        domain=of.domain or "ai.onnx",
        since=of.since,
        category=of.category,
        deprecated=of.deprecated,
        function=whole.has_function or whole.has_context_dependent_function,
        support_level=str(whole.support_level).rpartition(".")[2],
        shape_inference=whole.has_type_and_shape_inference_function,
        summary=_plain_margin(of.doc),
        attributes=tuple(map(_attribute, of.attributes)),
        takes=_number(whole.min_input, whole.max_input, "input"),
        inputs=tuple(map(_parameter, of.inputs)),
        gives=_number(whole.min_output, whole.max_output, "output"),
        outputs=tuple(map(_parameter, of.outputs)),
        constraints=tuple(
            ConstraintText(c.type_param_str, tuple(sorted(c.allowed_type_strs)), inspect.cleandoc(c.description))
            for c in whole.type_constraints
        ),
    )


def _plain_margin(text: str) -> str:
    """The text from its own left margin on, which a line that only breaks a line does not set."""
    return inspect.cleandoc(re.sub(r"^<br>$", "", text, flags=re.MULTILINE))


def _parameter(of: Parameter) -> ParameterText:
    # ONNX's web pages call heterogeneous what its schemas call homogeneous; here the schema holds.
    notes = [*([of.option] if of.option != "single" else []), *([] if of.homogeneous else ["heterogeneous"])]
    return ParameterText(of.name, of.type_str, tuple(notes), inspect.cleandoc(of.description))


def _attribute(of: Attribute) -> AttributeText:
    use = "required" if of.required else "optional" if of.default is None else f"default {_default(of.default)}"
    return AttributeText(of.name, of.kind, use, inspect.cleandoc(of.description))


def _default(value: object) -> str:
    return repr(value) if isinstance(value, str) else attribute_label(value)


_ANY_NUMBER = 2**31 - 1
"""How schemas say that there is no most."""


def _number(least: int, most: int, noun: str) -> str:
    if most == _ANY_NUMBER:
        return f"{_counted(least, noun)} or more."
    return f"{_counted(least, noun)}." if least == most else f"Between {least} and {_counted(most, noun)}."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
