import itertools
import math

import msgspec
import pytest

from harness.oracles.operator import OMITTED, Operator, TypeOf, find, operators
from harness.spec.values import type_code
from harness.suite.planning import PRODUCT_LIMIT, Plan, plan
from harness.suite.strength import STRENGTHS

NEWEST = [o for o in operators() if o.name in ("CumProd", "Trilu")]


def admitted_pairs(one: Operator) -> set[tuple[object, ...]]:
    """Every pair of two factors' values that some admitted row has."""
    return pairs_of(plan(one, one.schemas[0], "full"))


def pairs_of(planned: Plan) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for row in planned.rows:
        values = [*row.types.items(), *row.attributes.items(), ("group", row.group.name)]
        found |= set(itertools.combinations(values, 2))
    return found


@pytest.mark.parametrize("one", NEWEST, ids=lambda o: o.name)
def test_pairs_are_all_there(one: Operator):
    assert pairs_of(plan(one, one.schemas[0], "pairs")) == admitted_pairs(one)


@pytest.mark.parametrize("one", NEWEST, ids=lambda o: o.name)
def test_each_has_each_value(one: Operator):
    version = one.schemas[0]
    rows = plan(one, version, "each").rows
    for name, types in version.variables.items():
        assert {row.types[name] for row in rows} == set(types)
    for a in version.attributes:
        assert {row.attributes[a.name] for row in rows} == set(one.attributes[a.name])
    assert {row.group.name for row in rows} == {group.name for group in one.groups}


@pytest.mark.parametrize("one", NEWEST, ids=lambda o: o.name)
def test_every_cell_of_types_and_attributes_is_filled_where_that_is_affordable(one: Operator):
    version = one.schemas[0]
    pools = [*version.variables.values(), *(one.attributes[a.name] for a in version.attributes)]
    product = list(itertools.product(*pools))
    cells = {(*row.types.values(), *row.attributes.values()) for row in plan(one, version).rows}
    assert len(product) <= PRODUCT_LIMIT
    assert cells == set(product)


@pytest.mark.parametrize("one", NEWEST, ids=lambda o: o.name)
def test_groups_meet_only_what_they_are_about_and_the_full_product_is_counted(one: Operator):
    for strength in STRENGTHS:
        planned = plan(one, one.schemas[0], strength)
        assert all(row.group.admits(row.types) for row in planned.rows)
        assert len(planned.rows) < planned.possible
    version = one.schemas[0]
    pools = [*version.variables.values(), *(one.attributes[a.name] for a in version.attributes), one.groups]
    assert planned.possible == math.prod(map(len, pools))


def test_constraints_hold_in_every_row_and_pairs_that_meet_them_are_all_there():
    """As an operator with a dtype attribute needs them: left out, it means float."""
    cumprod = next(o for o in NEWEST if o.name == "CumProd")
    attributes = cumprod.attributes | {"exclusive": (OMITTED, TypeOf("T"))}
    is_float = lambda exclusive, T: exclusive is not OMITTED or T == "tensor(float)"  # noqa: E731
    one = msgspec.structs.replace(cumprod, attributes=attributes, constraints=(is_float,))
    for strength in STRENGTHS:
        rows = plan(one, one.schemas[0], strength).rows
        assert all(is_float(row.attributes["exclusive"], row.types["T"]) for row in rows)
        stated = {(row.types["T"], row.attributes["exclusive"]) for row in rows} - {("tensor(float)", OMITTED)}
        assert stated | {("tensor(float)", 1)} == {(of, type_code(of)) for of in one.schemas[0].variables["T"]}
    planned, admitted = pairs_of(plan(one, one.schemas[0], "pairs")), admitted_pairs(one)
    # A stated type follows its variable, so what it meets beside it is a matter of three factors.
    stated_types = {("exclusive", type_code(of)) for of in one.schemas[0].variables["T"]}
    assert {pair for pair in admitted - planned if stated_types.isdisjoint(pair)} == set()


def test_plans_of_other_sizes_grow_with_strength():
    for one in NEWEST:
        each, pairs, full = (len(plan(one, one.schemas[0], strength).rows) for strength in STRENGTHS)
        assert each < pairs < full


def test_a_group_is_given_the_rows_it_is_about():
    """Also those that no other group is given keep their type: nothing is planned and then not drawn."""
    loop = find("Loop", 25)
    assert loop
    rows = plan(loop, loop.schemas[0]).rows
    met = {row.attributes["body"].name for row in rows if row.group.name == "condition_alone"}
    assert met == {"queue", "stop"}
    assert {row.types["V"] for row in rows} == set(loop.schemas[0].variables["V"])
    every = next(group for group in loop.groups if group.name == "condition_alone")
    assert not every.admits({"V": "tensor(float)", "body": loop.attributes["body"][0]})
    assert not every.admits({"V": "tensor(int8)", "body": loop.attributes["body"][2]})
    assert every.admits({"V": "tensor(float)", "body": loop.attributes["body"][2]})
    assert every.admits({"V": "tensor(float)"})  # of a version that has no bodies
