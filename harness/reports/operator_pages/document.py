"""ONNX's documentation of an operator version, as data."""

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
    """``optional``, ``variadic``, or ``heterogeneous`` (the values of a variadic parameter may differ in type)."""
    description: str


class AttributeText(msgspec.Struct, frozen=True):
    """An attribute."""

    name: str
    kind: str
    """The AttributeProto type: INT, FLOATS, GRAPH …"""
    use: str
    """``required``, ``default 1`` or ``optional``."""
    description: str


class ConstraintText(msgspec.Struct, frozen=True):
    """The types that a type variable allows."""

    name: str
    types: tuple[str, ...]
    """Type strings of the schema, sorted."""
    description: str


class Document(msgspec.Struct, frozen=True):
    """The documentation in the schema of an operator version. Descriptions and summary are ONNX's own Markdown."""

    title: str
    """``Trilu-14``, ``ai.onnx.ml.Scaler-1``."""
    op: str
    domain: str
    """``ai.onnx`` if that of the schema is empty."""
    since: int
    category: str
    deprecated: bool
    function: bool
    """Whether ONNX also defines it as a function of other operators."""
    support_level: str
    shape_inference: bool
    summary: str
    attributes: tuple[AttributeText, ...]
    input_count: str
    """``Between 1 and 2 inputs.``"""
    inputs: tuple[ParameterText, ...]
    output_count: str
    """``1 output.``"""
    outputs: tuple[ParameterText, ...]
    constraints: tuple[ConstraintText, ...]


def operator_document(of: Schema) -> Document:
    """The documentation of a version that the installed onnx defines."""
    # Schema has only what oracles need. The rest comes from onnx.
    whole: Any = onnx.defs.get_schema(of.op, of.since, of.domain)  # Any: the stubs of onnx are incomplete
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
        input_count=_number(whole.min_input, whole.max_input, "input"),
        inputs=tuple(map(_parameter, of.inputs)),
        output_count=_number(whole.min_output, whole.max_output, "output"),
        outputs=tuple(map(_parameter, of.outputs)),
        constraints=tuple(
            ConstraintText(c.type_param_str, tuple(sorted(c.allowed_type_strs)), inspect.cleandoc(c.description))
            for c in whole.type_constraints
        ),
    )


def _plain_margin(text: str) -> str:
    """Removes the common indentation. Unindented lines with only ``<br>`` are ignored for that."""
    return inspect.cleandoc(re.sub(r"^<br>$", "", text, flags=re.MULTILINE))


def _parameter(of: Parameter) -> ParameterText:
    # ONNX's web pages show the opposite of the schema's is_homogeneous. This follows the schema.
    notes = [*([of.option] if of.option != "single" else []), *([] if of.homogeneous else ["heterogeneous"])]
    return ParameterText(of.name, of.type_str, tuple(notes), inspect.cleandoc(of.description))


def _attribute(of: Attribute) -> AttributeText:
    use = "required" if of.required else "optional" if of.default is None else f"default {_default(of.default)}"
    return AttributeText(of.name, of.kind, use, inspect.cleandoc(of.description))


def _default(value: object) -> str:
    return repr(value) if isinstance(value, str) else attribute_label(value)


_ANY_NUMBER = 2**31 - 1
"""The maximum in schemas that means unlimited."""


def _number(least: int, most: int, noun: str) -> str:
    if most == _ANY_NUMBER:
        return f"{_counted(least, noun)} or more."
    return f"{_counted(least, noun)}." if least == most else f"Between {least} and {_counted(most, noun)}."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
