"""A frozen view of ONNX's operator schemas: every version of every operator that the installed onnx defines."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec
import onnx
import onnx.defs

from harness.errors import UsageError

Option = Literal["single", "optional", "variadic"]


class Parameter(msgspec.Struct, frozen=True):
    """A formal input or output."""

    name: str
    type_str: str
    """A type variable (``T``) or a concrete type (``tensor(int64)``)."""
    types: tuple[str, ...]
    """The types it may have, as the schema spells them, sorted."""
    option: Option
    homogeneous: bool
    min_arity: int
    description: str


class Attribute(msgspec.Struct, frozen=True):
    """An attribute: ``kind`` is AttributeProto's name for its type (INT, FLOATS, GRAPH …)."""

    name: str
    kind: str
    required: bool
    default: Any
    """The value it has when omitted; None where there is none."""
    description: str


class Schema(msgspec.Struct, frozen=True):
    """One version of an operator."""

    op: str
    domain: str
    """Empty for ai.onnx."""
    since: int
    category: str
    """The folder of ONNX's own ``defs/``."""
    deprecated: bool
    doc: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: tuple[Attribute, ...]
    """In alphabetical order, as ``onnx.defs`` has them."""
    variables: dict[str, tuple[str, ...]]
    """Type variable → the types it may stand for, sorted; only variables that an input or output bears."""

    @property
    def title(self) -> str:
        """``CumProd-26``, with the domain before it where it is not ai.onnx."""
        return f"{self.domain}.{self.op}-{self.since}" if self.domain else f"{self.op}-{self.since}"


class UnknownOperator(UsageError):
    """An operator, domain or version that the installed onnx does not define."""


def _name(member: Any) -> str:
    """Of an enumeration's member; the stubs of ``onnx.defs`` lack the attribute."""
    return member.name


def _parameter(p: onnx.defs.OpSchema.FormalParameter) -> Parameter:
    option: Option = _name(p.option).lower()  # pyright: ignore[reportAssignmentType]
    return Parameter(p.name, p.type_str, tuple(sorted(p.types)), option, p.is_homogeneous, p.min_arity, p.description)


def _attribute(a: onnx.defs.OpSchema.Attribute) -> Attribute:
    default = onnx.helper.get_attribute_value(a.default_value) if a.default_value.type else None
    if isinstance(default, bytes):
        default = default.decode()
    return Attribute(a.name, _name(a.type), a.required, default, a.description)


def _schema(s: onnx.defs.OpSchema) -> Schema:
    inputs, outputs = tuple(map(_parameter, s.inputs)), tuple(map(_parameter, s.outputs))
    used = {p.type_str for p in (*inputs, *outputs)}
    return Schema(
        op=s.name,
        domain=s.domain,
        since=s.since_version,
        category=s.file.replace("\\", "/").rsplit("/defs/", 1)[-1].split("/", 1)[0],
        deprecated=s.deprecated,
        doc=s.doc or "",
        inputs=inputs,
        outputs=outputs,
        attributes=tuple(_attribute(a) for _, a in sorted(s.attributes.items())),
        variables={
            c.type_param_str: tuple(sorted(c.allowed_type_strs)) for c in s.type_constraints if c.type_param_str in used
        },
    )


@cache
def schemas() -> dict[tuple[str, str, int], Schema]:
    """Every version of every operator, deprecated ones too, by (domain, op, since); sorted."""
    found = map(_schema, onnx.defs.get_all_schemas_with_history())
    return dict(sorted(((s.domain, s.op, s.since), s) for s in found))


@cache
def schema(op: str, since: int, domain: str = "") -> Schema:
    """The version of an operator that bears exactly this since_version. Raises UnknownOperator."""
    found = schema_at(op, since, domain)
    if found.since != since:
        raise _unknown(op, since, domain)
    return found


@cache
def schema_at(op: str, opset: int, domain: str = "") -> Schema:
    """The version of an operator that a model importing ``opset`` of the domain uses. Raises UnknownOperator."""
    try:
        return _schema(onnx.defs.get_schema(op, opset, domain))
    except onnx.defs.SchemaError:
        raise _unknown(op, opset, domain) from None


def newest(of: Schema) -> int:
    """The since_version of the newest version of the same operator."""
    return max(since for domain, op, since in schemas() if (domain, op) == (of.domain, of.op))


def _unknown(op: str, version: int, domain: str) -> UnknownOperator:
    return UnknownOperator(
        f"onnx {onnx.__version__} has no {op}-{version} in the domain {domain or 'ai.onnx'}.",
        "Versions are the since_version numbers on its operator page.",
    )
