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
"""``each`` value, all ``pairs`` of values (and the product of types × attributes where that is small), or ``full``."""

STRENGTHS: tuple[Strength, ...] = get_args(Strength)

PRODUCT_LIMIT = 400
"""The product of types × attributes is planned whole up to this many rows, so that every cell of a report is filled."""


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
    pools = [*version.variables.values(), *(operator.attributes[a.name] for a in version.attributes)]
    first, *others = operator.groups
    if strength == "full":
        rows = [(*row, group) for group in operator.groups for row in itertools.product(*pools)]
    elif strength == "pairs" and math.prod(map(len, pools)) <= PRODUCT_LIMIT:
        rows = [(*row, first) for row in itertools.product(*pools)]
        rows += _covering(pools, others, list(version.variables), 2)
    else:
        rows = _covering(pools, operator.groups, list(version.variables), 1 if strength == "each" else 2)
    planned = (_row(version, row) for row in rows)
    return Plan(tuple(row for row in planned if row.group.admits(row.types)), _possible(operator, version))


def _row(version: Schema, values: tuple[Any, ...]) -> Row:
    count = len(version.variables)
    types = dict(zip(version.variables, values[:count], strict=True))
    attributes = {a.name: value for a, value in zip(version.attributes, values[count:-1], strict=True)}
    return Row(types, attributes, values[-1])


def _possible(operator: Operator, version: Schema) -> int:
    """Rows of the full product in which each group meets only the types that it is about."""
    combinations = (
        dict(zip(version.variables, types, strict=True)) for types in itertools.product(*version.variables.values())
    )
    admitted = sum(group.admits(types) for types in combinations for group in operator.groups)
    return admitted * math.prod(len(operator.attributes[a.name]) for a in version.attributes)


def _covering(
    pools: Sequence[Sequence[Any]], groups: Sequence[Group], variables: Sequence[str], strength: int
) -> list[tuple[Any, ...]]:
    """A covering array over the pools and the groups; groups meet only types (of the first pools) they are about.

    It is made over indices, for values may be of any kind, and sorted.
    """
    if not groups:
        return []
    narrow = [i for i, variable in enumerate(variables) if any(variable in group.only for group in groups)]

    def admitted(row: Mapping[int, int]) -> bool:
        return groups[row[len(pools)]].admits({variables[i]: pools[i][row[i]] for i in narrow})

    array: Any = make(
        [list(range(len(pool))) for pool in (*pools, groups)],
        strength=min(strength, len(pools) + 1),
        constraints=[{"operator": "fn", "requires": [*narrow, len(pools)], "evaluate": admitted}] if narrow else [],
    )
    return [tuple(pool[i] for pool, i in zip((*pools, groups), row, strict=True)) for row in sorted(array)]
