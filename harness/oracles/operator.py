"""The operator: an oracle held against its schema, the inputs that try it and the examples of its document."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import onnx

import harness.operators
from harness.errors import ConformanceError
from harness.spec.element_types import Bits
from harness.spec.schema import Schema, schema
from harness.spec.values import TensorType, Typed, parse_type, type_code

OMITTED: Final = "omitted"
"""The attribute value, or the input, that is not there."""

FLAG: Final = (OMITTED, 0, 1)
"""An INT attribute that schemas use as a Boolean."""

NODES: Final = "nodes"
"""The parameter of an oracle that takes the nodes of the graph around its own; no attribute is called so."""

READING: Final = "reading"
"""The parameter of an oracle that takes one of the operator's ``readings``; no attribute is called so."""

Inputs: TypeAlias = Mapping[str, Any]
"""Input name → value, a tuple of values for a variadic input; an optional input that is left out is not in it.

A value may be ``Typed`` where it has another type than the parameter's type variable stands for.
"""


class Sample(msgspec.Struct, frozen=True, eq=False):
    """A set of inputs with more to say; generators may yield it in place of the inputs alone."""

    inputs: Inputs
    without: tuple[str, ...] = ()
    """The optional outputs that the node leaves out."""
    unspecified: str = ""
    """Why the specification leaves these answers open, with the clause."""
    unspecified_elements: Mapping[str, Any] = {}
    """Output name → True or a bool array of its shape (a list of them for a sequence): only these elements are open.

    Of a variadic output x, x_0 is the first and x means all of them.
    """
    alternatives: Mapping[str, tuple[Any, ...]] = {}
    """Output name → further answers, of the dtype and shape of its value: an element may have that of any of them."""
    outputs: int = 0
    """How many outputs the node has for a variadic one; 0 where the inputs and attributes say it."""
    outer: Mapping[str, Typed] = {}
    """Values of the graph that are no inputs of the node, by name: graphs in its attributes see them."""
    nodes: tuple[onnx.NodeProto, ...] = ()
    """Nodes that stand before it, of ai.onnx, for an operator that is about the graph around it."""

    def leaving_open(self, why: str, **elements: Any) -> Sample:
        """The sample with some elements of its outputs open, by output name; itself if no element is marked."""
        marked = {name: mask for name, mask in elements.items() if np.any(mask)}
        return msgspec.structs.replace(self, unspecified=why, unspecified_elements=marked) if marked else self


def as_sample(inputs: Inputs | Sample) -> Sample:
    """What a generator yields, as a sample."""
    return inputs if isinstance(inputs, Sample) else Sample(inputs)


Types: TypeAlias = Mapping[str, str]
"""Type variable → a type it may stand for, as the schema spells it."""


class TypeOf(msgspec.Struct, frozen=True):
    """An attribute's value that states the type a variable stands for: ``to=[TypeOf("T2")]``.

    As every value of an attribute that can be called, it gives the value for the types of a row.
    """

    variable: str

    def __call__(self, types: Types) -> int:
        """The type's number in TensorProto."""
        return type_code(types[self.variable])


class OracleMismatch(ConformanceError):
    """An operator's file disagrees with the schema it claims to implement."""

    advice = (
        "Make the oracle's signature the schema's: inputs positional, attributes keyword-only, all by ONNX's names."
    )


Generator: TypeAlias = Callable[..., Iterable[Any]]
"""Takes a ``Draw``, yields ``Inputs`` or ``Sample``."""


class Group(msgspec.Struct, frozen=True):
    """A generator of inputs and what it is for; its name and docstring travel into the data."""

    name: str
    about: str
    generate: Callable[..., Iterable[Inputs | Sample]]
    """Takes a ``Draw`` and yields sets of inputs; those with the same shapes become data sets of one case."""
    only: dict[str, tuple[str, ...]]
    """Type variable → the kinds or types that the group is about (``_kinds``); others are not given to it."""
    unspecified: str
    """Why the spec leaves these answers open, with the clause; empty where it does not."""
    when: Callable[..., bool] | None = None
    """A function of type variables and attributes, by name, that says which rows the group is about; None for all."""

    @property
    def factors(self) -> frozenset[str]:
        """The type variables and attributes that say whether a row is given to the group."""
        return frozenset((*self.only, *(inspect.signature(self.when).parameters if self.when else ())))

    def admits(self, values: Mapping[str, Any]) -> bool:
        """Whether the group is about a row of these types and attributes; what a version lacks does not bind it."""
        if not all(not _kinds(values[variable]).isdisjoint(kinds) for variable, kinds in self.only.items()):
            return False
        if self.when is None:
            return True
        names = inspect.signature(self.when).parameters
        return not names.keys() <= values.keys() or self.when(**{name: values[name] for name in names})


@cache
def _kinds(text: str) -> frozenset[str]:
    """What a group may call a type: as schemas do, a tensor by its element type or kind, others by their first word.

    ``float`` is both a type and a kind, and means the kind.
    """
    of = parse_type(text)
    words = (of.element.name, of.element.kind) if isinstance(of, TensorType) else (text.partition("(")[0],)
    return frozenset((text, *words))


class Example(msgspec.Struct, frozen=True, eq=False):
    """An example of the operator's document: the test's own name, its inputs and what they give, as printed there."""

    name: str
    inputs: Inputs
    attributes: dict[str, Any]
    gives: tuple[np.ndarray, ...]


class Operator(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One meaning of an operator, and the versions of the schema that have it."""

    name: str
    domain: str
    since: tuple[int, ...]
    """Versions, newest first, that share this meaning."""
    oracle: Callable[..., Any]
    attributes: dict[str, tuple[Any, ...]]
    """Attribute → the values that are worth trying, ``OMITTED`` among them where it may be."""
    exact: bool | Callable[..., bool]
    """No rounding is involved for any type: answers are compared bit for bit. Or a function of attributes, by name,
    that says whether."""
    working_type: str
    """The type variable, or the element type, whose precision the formula is worked in where outputs have more."""
    body_type: str
    """The element type that the function body computes in whatever the types of the outputs; empty if it names none."""
    extra_parameters: tuple[str, ...]
    """The type variables whose element types the oracle takes, the variadic output whose number it takes, ``NODES``."""
    constraints: tuple[Callable[..., bool], ...]
    """Functions of type variables and attributes, by name, that a planned row must meet."""
    groups: list[Group] = msgspec.field(default_factory=list[Group])
    """Filled while the operator's file is imported; the first is the ordinary one, which every row of a plan gets."""
    examples: list[Example] = msgspec.field(default_factory=list[Example])
    sweeps: list[Group] = msgspec.field(default_factory=list[Group])
    """Groups of all the values that there are, for the exhaustive suite."""
    full_product: bool = False
    """Every combination of types and attributes that meets the constraints is planned, however many there may be; in
    older versions every combination of types."""
    random: bool = False
    """The oracle may return distributions (``Random``) instead of values; answers are tested against them."""
    readings: tuple[str, ...] = ()
    """What the text may mean, if it has more than one meaning: the oracle is evaluated for each, and the answer of any
    one of them is accepted."""
    bits: Bits = ""
    """Which bits of equal floats must match because the text is about them."""
    numbers: bool | Callable[..., bool] = False
    """Strings in the outputs spell numbers, and any spelling of the same number is right. Or a function of type
    variables and attributes, by name, that says whether."""
    moves: bool | Callable[..., bool] = False
    """Values are only moved: nothing rounds, floats reach the oracle as they are stored, in the dtype of their type,
    and all bits of the answers must match. Or a function of attributes, by name, that says whether."""
    on_storage: bool = False
    """The oracle takes and gives values as they are stored, in the dtypes of their types, since it is about bits."""

    @property
    def schemas(self) -> tuple[Schema, ...]:
        """The schema of each version."""
        return tuple(schema(self.name, since, self.domain) for since in self.since)

    def allows(self, values: Mapping[str, Any]) -> bool:
        """Whether these types and attributes, by name, meet the constraints; one on what is missing does not bind."""
        for constraint in self.constraints:
            names = list(inspect.signature(constraint).parameters)
            if set(names) <= values.keys() and not constraint(*(values[name] for name in names)):
                return False
        return True

    def inputs(
        self,
        when: Callable[..., bool] | None = None,
        /,
        *,
        unspecified: str = "",
        **only: str | tuple[str, ...],
    ) -> Callable[..., Any]:
        """Registers a generator as an input group, e.g. ``@cumprod.inputs(T="float")``.

        ``only`` names, by type variable, the kinds (``float``, ``signed``, ``seq`` …), element types (``float16``) or
        types (``tensor(float)``) that it is about; ``when`` is a function of type variables and attributes, as a
        constraint, of which rows. A generator that yields nothing for a row it is given takes that row from others.
        """

        def register(generate: Generator) -> Generator:
            about = inspect.getdoc(generate) or ""
            if not about:
                raise OracleMismatch(f"Input group {generate.__name__} of {self.name} has no docstring.")
            kinds = {name: (kind,) if isinstance(kind, str) else kind for name, kind in only.items()}
            self.groups.append(Group(generate.__name__, about, generate, kinds, unspecified, when))
            return generate

        return register

    def example(self, name: str, *inputs: Any, gives: Any, **attributes: Any) -> None:
        """Registers an example of the document: inputs in the schema's order, several outputs as a tuple.

        Plain numbers have NumPy's default types, as in the documents.
        """
        named: dict[str, Any] = {}
        for i, p in enumerate(self.schemas[0].inputs[: len(inputs)]):
            named[p.name] = tuple(map(np.asarray, inputs[i:])) if p.option == "variadic" else np.asarray(inputs[i])
        given = gives if isinstance(gives, tuple) else (gives,)
        self.examples.append(Example(name, named, attributes, tuple(map(np.asarray, given))))


_OPERATORS: list[Operator] = []


def operator(
    name: str,
    *,
    since: int | Sequence[int],
    domain: str = "",
    exact: bool | Callable[..., bool] = False,
    working_type: str = "",
    body_type: str = "",
    constraints: Sequence[Callable[..., bool]] = (),
    full_product: bool = False,
    random: bool = False,
    readings: Sequence[str] = (),
    bits: Bits = "",
    numbers: bool | Callable[..., bool] = False,
    moves: bool | Callable[..., bool] = False,
    on_storage: bool = False,
    **attributes: Sequence[Any],
) -> Callable[[Callable[..., Any]], Operator]:
    """Declares the decorated function the oracle of these versions, checked at once against their schemas.

    ``attributes`` gives each attribute of the schemas the values worth trying, or functions that make them for a row's
    types. FLOAT attributes are float32 values.
    The function takes the schema's inputs by name (``None`` by default where one is optional, ``*name`` for a
    variadic one; positional-only parameters bear no names, which families want) and, keyword-only, the attributes;
    ``**_`` takes those that mean nothing. A keyword-only parameter named like a type variable gets the element type
    that it stands for, which quantization needs; one named like a variadic output gets the number of the node's
    outputs there, and ``nodes`` gets the nodes of the graph that it stands in. It returns a value, or a tuple of
    them, each of a variadic output for itself. An attribute that is a graph is given as a function, and the values
    are then not plain ones but ``Typed``, as those it takes and returns. A constraint is a function of type
    variables and attributes, by name: rows of which it is false are not planned, and all others are if the operator
    has ``full_product``. A ``random`` one's oracle gives the law and the shape of each output (``Random``), or
    the exact value of each where nothing is left to chance. An operator that is about bits works
    ``on_storage``: it takes and returns arrays in the dtypes of their element types.
    Raises OracleMismatch.
    """
    versions = (since,) if isinstance(since, int) else tuple(since)

    def declare(oracle: Callable[..., Any]) -> Operator:
        values = {key: tuple(value) for key, value in attributes.items()}
        schemas = [schema(name, version, domain) for version in versions]
        for version in schemas:
            _check(version, oracle, values)
        variables = {variable for version in schemas for variable in version.variables}
        variables |= {p.name for version in schemas for p in version.outputs if p.option == "variadic"}
        extra_parameters = tuple(
            name for name in inspect.signature(oracle).parameters if name in {*variables, NODES, READING}
        )
        declared = Operator(
            name=name,
            domain=domain,
            since=versions,
            oracle=oracle,
            attributes=values,
            exact=exact,
            working_type=working_type,
            body_type=body_type,
            extra_parameters=extra_parameters,
            constraints=tuple(constraints),
            full_product=full_product,
            random=random,
            readings=tuple(readings),
            bits=bits,
            numbers=numbers,
            moves=moves,
            on_storage=on_storage,
        )
        if unknown := values.keys() - {a.name for version in schemas for a in version.attributes}:
            raise OracleMismatch(f"{name} has no attributes {sorted(unknown)} in any of the versions {versions}.")
        _OPERATORS.append(declared)
        return declared

    return declare


def _check(version: Schema, oracle: Callable[..., Any], attributes: Mapping[str, tuple[Any, ...]]) -> None:
    parameters = list(inspect.signature(oracle).parameters.values())
    positional = [p for p in parameters if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    inputs, named = [p.name for p in version.inputs], [p.name for p in positional]
    nameless = any(p.kind == p.POSITIONAL_ONLY for p in positional)
    if len(inputs) != len(named) if nameless else inputs != named:
        raise OracleMismatch(f"{version.title} takes inputs {inputs}, but its oracle takes {named}.")
    wanted = {a.name for a in version.attributes}
    counts = {p.name for p in version.outputs if p.option == "variadic"}
    keywords = (
        {p.name for p in parameters if p.kind == p.KEYWORD_ONLY} - version.variables.keys() - counts - {NODES, READING}
    )
    others_too = any(p.kind == p.VAR_KEYWORD for p in parameters)
    if not keywords <= wanted or (wanted != keywords and not others_too):
        raise OracleMismatch(
            f"{version.title} takes attributes {sorted(wanted)}, but its oracle takes {sorted(keywords)}."
        )
    if missing := wanted - attributes.keys():
        raise OracleMismatch(
            f"{version.title} has attributes for which no values are given: {sorted(missing)}.",
            "Give each attribute the values worth trying in @operator(…).",
        )
    for p, parameter in zip(version.inputs, positional, strict=True):
        if p.option != _OPTIONS.get(parameter.kind, "optional" if parameter.default is None else "single"):
            raise OracleMismatch(f"{version.title}: input {p.name} is {p.option}, and its oracle's parameter is not.")
    for a in version.attributes:
        if a.required and OMITTED in attributes[a.name]:
            raise OracleMismatch(f"{version.title}: attribute {a.name} is required, so it cannot be omitted.")


_OPTIONS = {inspect.Parameter.VAR_POSITIONAL: "variadic"}


@cache
def operators() -> tuple[Operator, ...]:
    """Every operator that has an oracle, by domain and name; imports all operator files."""
    for category in _submodules(harness.operators):
        if category.ispkg:
            package = importlib.import_module(category.name)
            for module in _submodules(package):
                importlib.import_module(module.name)
    return tuple(sorted(_OPERATORS, key=lambda o: (o.domain, o.name, -o.since[0])))


def _submodules(package: Any) -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.iter_modules(package.__path__, package.__name__ + ".")


@cache
def find(name: str, since: int, domain: str = "") -> Operator | None:
    """The operator that gives this version its meaning; None where there is no oracle yet."""
    return next((o for o in operators() if (o.name, o.domain) == (name, domain) and since in o.since), None)
