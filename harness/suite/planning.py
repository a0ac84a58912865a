"""Which rows of an operator's factors a suite holds: covering arrays over types, attributes and input groups."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from covertable import make

from harness.oracles.operator import Group, Operator
from harness.spec.schema import Schema
from harness.suite.strength import Strength

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
    """Rows of the full product of types, attributes and groups, whether or not they make sense together."""


def plan(operator: Operator, version: Schema, strength: Strength = "pairs") -> Plan:
    """The rows for one version of an operator, in an order that depends on nothing but its factors.

    The first group is ordinary and gets the product of types × attributes up to ``PRODUCT_LIMIT`` rows
    (``pairs``), or however large it is if the operator is to be tried ``whole``; the other groups are spread so that
    each pair of factor values is there that can be.
    """
    factors = _Factors(operator, version)
    first, *others = operator.groups
    product = math.prod(map(len, factors.pools))
    if strength == "full":
        rows = [(*row, group) for group in operator.groups for row in factors.product()]
    elif strength == "pairs" and (operator.full_product or product <= PRODUCT_LIMIT):
        rows = [(*row, first) for row in factors.product()]
        rows += _covering(factors, others, 2)
    elif strength == "each" and operator.full_product:
        rows = [(*row, first) for row in _with_news(factors.product())] + _covering(factors, others, 1)
    else:
        rows = _covering(factors, operator.groups, 1 if strength == "each" else 2)
    return Plan(tuple(factors.row(row) for row in rows if factors.admits(row)), product * len(operator.groups))


def plan_sweeps(operator: Operator, version: Schema) -> Plan:
    """The rows of an operator's sweeps: each type they are about and each value of an attribute at least once."""
    factors = _Factors(operator, version)
    rows = _covering(factors, operator.sweeps, 1)
    possible = math.prod(map(len, factors.pools)) * len(operator.sweeps)
    return Plan(tuple(factors.row(row) for row in rows if factors.admits(row)), possible)


class _Factors:
    """The factors of one version but for the groups: its type variables and its attributes, each with its values."""

    def __init__(self, operator: Operator, version: Schema) -> None:
        self.variables = list(version.variables)
        self.names = [*self.variables, *(a.name for a in version.attributes)]
        self.pools: list[Sequence[Any]] = [
            *version.variables.values(),
            *(operator.attributes[a.name] for a in version.attributes),
        ]
        needs = [(constraint, list(inspect.signature(constraint).parameters)) for constraint in operator.constraints]
        self.constraints = [
            (constraint, [self.names.index(name) for name in names])
            for constraint, names in needs
            if set(names) <= set(self.names)
        ]
        """Constraints and the places of their factors; one on a factor that this version lacks does not bind it."""

    def product(self, *chosen: Any) -> Iterator[tuple[Any, ...]]:
        """Every row, without a group, that meets the constraints and begins with what is chosen, in order.

        Each constraint is asked as soon as its last factor has a value, for a few may leave little of a huge product.
        """
        place = len(chosen)
        if place == len(self.pools):
            yield chosen
            return
        due = [(constraint, places) for constraint, places in self.constraints if max(places, default=0) == place]
        for value in self.pools[place]:
            row = (*chosen, value)
            if all(constraint(*(row[i] for i in places)) for constraint, places in due):
                yield from self.product(*row)

    def row(self, values: Sequence[Any]) -> Row:
        """The row of these values, the group last."""
        types = dict(zip(self.variables, values, strict=False))
        attributes = zip(self.names[len(types) :], values[len(types) : -1], strict=True)
        stated = {k: v(types) if callable(v) else v for k, v in attributes}
        return Row(types, stated, values[-1])

    def admits(self, values: Sequence[Any]) -> bool:
        """Whether the values meet the constraints and are what their group is about."""
        met = all(constraint(*(values[i] for i in places)) for constraint, places in self.constraints)
        return met and values[-1].admits(dict(zip(self.names, values, strict=False)))


def _with_news(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The rows that have a value of some factor which none before them has."""
    met: set[tuple[int, str]] = set()
    for row in rows:
        values = {(place, repr(value)) for place, value in enumerate(row)}
        if not values <= met:
            met |= values
            yield row


def _covering(factors: _Factors, groups: Sequence[Group], strength: int) -> list[tuple[Any, ...]]:
    """A covering array over the factors and the groups, whose rows all meet the constraints.

    It is made over indices, for values may be of any kind, and sorted; the library may give a row twice.
    """
    if not groups:
        return []
    pools = (*factors.pools, groups)
    last = len(pools) - 1
    narrow = [i for i, name in enumerate(factors.names) if any(name in group.factors for group in groups)]

    def is_about(*indices: int) -> bool:
        values = {factors.names[i]: factors.pools[i][n] for i, n in zip(narrow, indices, strict=False)}
        return groups[indices[-1]].admits(values)

    def condition(places: Sequence[int], holds: Callable[..., bool]) -> dict[str, Any]:
        known = cache(holds)  # the library asks of the same few values over and over
        return {"operator": "fn", "requires": list(places), "evaluate": lambda row: known(*[row[i] for i in places])}

    def of_values(constraint: Callable[..., bool], places: Sequence[int]) -> Callable[..., bool]:
        return lambda *indices: constraint(*(pools[i][index] for i, index in zip(places, indices, strict=True)))

    conditions = [condition(places, of_values(constraint, places)) for constraint, places in factors.constraints]
    if narrow:
        conditions.append(condition([*narrow, last], is_about))
    indices = [list(range(len(pool))) for pool in pools]
    array: Any = make(indices, strength=min(strength, len(pools)), constraints=conditions)
    return [tuple(pool[i] for pool, i in zip(pools, row, strict=True)) for row in sorted(set(map(tuple, array)))]
