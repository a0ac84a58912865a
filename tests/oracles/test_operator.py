import numpy as np
import pytest

from harness.oracles import operator as mechanism
from harness.oracles.operator import FLAG, OMITTED, Operator, OracleMismatch, Sample, find, operator, operators
from harness.spec.schema import schemas
from harness.spec.values import Typed


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch):
    operators()  # the real ones are registered before the list is swapped
    monkeypatch.setattr(mechanism, "_OPERATORS", [])


def test_an_oracle_with_other_inputs_than_its_schema_is_refused():
    with pytest.raises(
        OracleMismatch, match=r"CumProd-26 takes inputs \['x', 'axis'\], but its oracle takes \['x', 'dim'\]"
    ):

        @operator("CumProd", since=26, exclusive=FLAG, reverse=FLAG)
        def cumprod(x, dim, *, exclusive, reverse):
            return x


def test_an_oracle_with_other_attributes_is_refused():
    with pytest.raises(OracleMismatch, match=r"takes attributes \['exclusive', 'reverse'\]"):

        @operator("CumProd", since=26, exclusive=FLAG, reverse=FLAG)
        def cumprod(x, axis, *, exclusive):
            return x


def test_every_attribute_needs_values():
    with pytest.raises(OracleMismatch, match=r"no values are given: \['reverse'\]"):

        @operator("CumProd", since=26, exclusive=FLAG)
        def cumprod(x, axis, *, exclusive, reverse):
            return x


def test_an_optional_input_needs_a_default():
    with pytest.raises(OracleMismatch, match="input k is optional"):

        @operator("Trilu", since=14, upper=FLAG)
        def trilu(input, k, *, upper):
            return input


def test_a_required_attribute_cannot_be_omitted():
    with pytest.raises(OracleMismatch, match="to is required"):

        @operator("Cast", since=13, to=(OMITTED, 1))
        def cast(input, *, to):
            return input


def test_every_version_is_checked():
    with pytest.raises(OracleMismatch, match="Trilu-14"):

        @operator("Trilu", since=[14], upper=FLAG)
        def trilu(x, k=None, *, upper):
            return x


def test_an_attribute_that_no_version_has_is_refused():
    with pytest.raises(OracleMismatch, match=r"no attributes \['lower'\]"):

        @operator("Trilu", since=14, upper=FLAG, lower=FLAG)
        def trilu(input, k=None, *, upper):
            return input


def test_a_variadic_input_is_starred():
    with pytest.raises(OracleMismatch, match="data_0 is variadic"):

        @operator("Sum", since=13)
        def sum_(data_0):
            return data_0

    @operator("Sum", since=(13, 8))
    def sum_too(*data_0):
        return sum(data_0)

    assert [sum_too] == mechanism._OPERATORS


def test_families_take_inputs_without_names_but_of_the_right_number():
    @operator("Abs", since=13)
    def absolute(x, /):
        return abs(x)

    with pytest.raises(OracleMismatch, match=r"takes inputs \['X'\]"):

        @operator("Abs", since=13)
        def other(x, y, /):
            return abs(x)

    assert [absolute] == mechanism._OPERATORS


def test_attributes_that_mean_nothing_may_be_taken_together():
    @operator("Abs", since=(13, 1), consumed_inputs=(OMITTED, [0]))
    def absolute(X, **_):
        return abs(X)

    assert absolute.attributes == {"consumed_inputs": (OMITTED, [0])}


def test_a_group_needs_a_docstring():
    @operator("Trilu", since=14, upper=FLAG)
    def trilu(input, k=None, *, upper):
        return input

    with pytest.raises(OracleMismatch, match="no docstring"):

        @trilu.inputs()
        def ordinary(draw):
            yield {}


def test_groups_are_about_kinds_or_names():
    @operator("Trilu", since=14, upper=FLAG)
    def trilu(input, k=None, *, upper):
        return input

    @trilu.inputs(T=("float", "int8"))
    def some(draw):
        """Floats of every width, and int8."""
        yield {}

    (group,) = trilu.groups
    assert group.admits({"T": "tensor(bfloat16)"})
    assert group.admits({"T": "tensor(int8)"})
    assert not group.admits({"T": "tensor(int16)"})


def test_operators_are_found_by_version():
    found = find("CumProd", 26)
    assert isinstance(found, Operator)
    assert found.schemas[0].title == "CumProd-26"
    assert find("CumProd", 25) is None
    assert find("Trilu", 14, "ai.onnx.ml") is None


@pytest.mark.parametrize("one", operators(), ids=lambda o: o.name)
def test_files_stand_in_their_category(one: Operator):
    module = one.oracle.__module__.split(".")
    assert module[:2] == ["harness", "operators"]
    assert {v.category for v in one.schemas} == {module[2]}


@pytest.mark.parametrize("one", operators(), ids=lambda o: o.name)
def test_oracles_do_not_write_to_their_inputs(one: Operator):
    from harness.oracles.draw import Draw
    from harness.oracles.evaluate import answer
    from harness.oracles.node import Call, Scope, opsets_of
    from harness.suite.planning import plan

    def frozen(value):
        match value:
            case tuple() | list():
                return type(value)(map(frozen, value))
            case Typed():
                return Typed(value.of, frozen(value.value))
            case dict():
                return {key: frozen(item) for key, item in value.items()}
            case None:
                return None
            case _:
                array = np.array(value)
                array.flags.writeable = False
                return array

    for row in plan(one, one.schemas[0], "each").rows:
        for drawn in row.group.generate(Draw("test", row.types, row.attributes)):
            inputs = drawn.inputs if isinstance(drawn, Sample) else drawn
            given = {name: frozen(value) for name, value in inputs.items()}
            nodes = drawn.nodes if isinstance(drawn, Sample) else ()
            outer = drawn.outer if isinstance(drawn, Sample) else {}
            held = {name: frozen(value) for name, value in outer.items()}
            scope = Scope(opsets_of(one.schemas[0], row.attributes, nodes), held, nodes)
            outputs = drawn.outputs if isinstance(drawn, Sample) else 0
            answer(Call(one, one.schemas[0], row.types, given, row.attributes, outputs, scope))


def test_every_version_of_every_operator_has_an_oracle():
    """A newer onnx that brings a version without one fails here: read what changed, and say what it means."""
    missing = [
        v.title for (domain, op, since), v in schemas().items() if not v.deprecated and not find(op, since, domain)
    ]
    assert not missing
