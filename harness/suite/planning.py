"""Which rows of an operator's factors a suite holds: covering arrays over types, attributes and input groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from covertable import make

from harness.operators.operator import Group, Operator
from harness.spec.schema import Schema

Strength: TypeAlias = Literal["each", "pairs", "full"]
"""``each`` value once · every ``pair`` of values, and the product of types and attributes where that is affordable · the ``full`` product."""

STRENGTHS: tuple[Strength, ...] = get_args(Strength)

PRODUCT_LIMIT = 400
"""The product of types × attributes is planned whole up to this many rows, so that every cell of a report is filled."""

_GROUP = "\0group"


class Row(msgspec.Struct, frozen=True):
    """One planned combination: the inputs of one group are drawn for it."""

    types: dict[str, str]
    """Type variable → the type it stands for, as the schema spells it."""
    attributes: dict[str, Any]
    """Attribute → its value, or ``OMITTED``."""
    group: Group


class Plan(msgspec.Struct, frozen=True):
    """What a suite holds of one version, and out of how many."""

    rows: tuple[Row, ...]
    possible: int
    """Rows of the full product; what is planned less than that is dropped."""


def plan(operator: Operator, version: Schema, strength: Strength = "pairs") -> Plan:
    """The rows for one version of an operator, in an order that depends on nothing but its factors.

    The first group is ordinary and gets the product of types × attributes up to ``PRODUCT_LIMIT`` rows
    (``pairs``); the other groups are spread so that each pair of factor values is there that can be.
    """
    factors: dict[str, Sequence[Any]] = {**version.variables, **{a.name: operator.attributes[a.name] for a in version.attributes}}
    first, *others = operator.groups
    product = math.prod(map(len, factors.values()))
    possible = sum(_admitted(group, version) for group in operator.groups) * math.prod(
        len(operator.attributes[a.name]) for a in version.attributes
    )
    if strength == "full":
        rows = [(*row, group) for group in operator.groups for row in itertools.product(*factors.values())]
    elif strength == "pairs" and product <= PRODUCT_LIMIT:
        rows = [(*row, first) for row in itertools.product(*factors.values())]
        rows += _covering(factors, others, 2)
    else:
        rows = _covering(factors, operator.groups, 1 if strength == "each" else 2)
    variables = list(version.variables)
    planned = (
        Row(dict(zip(variables, row, strict=False)), dict(zip(list(factors)[len(variables) :], row[len(variables) : -1], strict=True)), row[-1])
        for row in rows
    )
    return Plan(tuple(row for row in planned if row.group.admits(row.types)), possible)


def _admitted(group: Group, version: Schema) -> int:
    """How many type combinations a group is about."""
    names = list(version.variables)
    return sum(group.admits(dict(zip(names, types, strict=True))) for types in itertools.product(*version.variables.values()))


def _covering(factors: Mapping[str, Sequence[Any]], groups: Sequence[Group], strength: int) -> list[tuple[Any, ...]]:
    """A covering array over the factors and the groups, in which groups meet only the types that they are about.

    It is made over indices, for values may be of any kind, and sorted.
    """
    if not groups:
        return []
    indices = {name: list(range(len(values))) for name, values in factors.items()} | {_GROUP: list(range(len(groups)))}
    narrow = sorted({variable for group in groups for variable in group.only})

    def admitted(row: Mapping[str, int]) -> bool:
        return groups[row[_GROUP]].admits({v: factors[v][row[v]] for v in narrow})

    constraints = [{"operator": "fn", "requires": [*narrow, _GROUP], "evaluate": admitted}] if narrow else []
    array = make(indices, strength=min(strength, len(indices)), constraints=constraints)
    ordered = sorted(tuple(row[name] for name in indices) for row in array)
    pools = [*factors.values(), groups]
    return [tuple(pool[i] for pool, i in zip(pools, row, strict=True)) for row in ordered]
