"""What operators of two broadcast tensors share: how their shapes meet in each version, and the inputs that try it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from harness.numbers.rounding import ulp
from harness.oracles.draw import Draw, Values
from harness.oracles.operator import FLAG, OMITTED, Inputs, Operator, Sample, operator
from harness.spec.element_types import BY_NAME, ElementType
from harness.spec.schema import schema

Shape: TypeAlias = tuple[int, ...]
Pair: TypeAlias = tuple[np.ndarray, np.ndarray]
Drawing: TypeAlias = Callable[[Draw, Shape, Shape], Pair]
"""Draws the two inputs of an operator, of the given shapes; its name and docstring are those of an input group."""
Function: TypeAlias = Callable[[Any, Any, ElementType], Any]
"""What an operator makes of two tensors whose shapes NumPy broadcasts, and of their element type."""

ALIKE: Final = (3, 6, 8)
"""The shape of both inputs where shapes are not the point: room for each of 12 values beside each."""
FLAT: Final = (144,)
"""A shape for floats of every magnitude: in one case with ordinary ones their bounds would widen its rtol and atol."""
APART: Final = (2, 5)
"""A shape for inputs that may end a process, so that they are a case of their own."""

MULTIDIRECTIONAL: Final[tuple[tuple[Shape, Shape], ...]] = (
    ((), ()),
    ((2, 3, 4), ()),
    ((), (2, 3, 4)),
    ((1,), (3, 5)),
    ((3, 5), (1,)),
    ((4,), (2, 3, 4)),
    ((2, 3, 4), (3, 4)),
    ((2, 1, 4), (3, 1)),
    ((1, 3, 1), (2, 1, 4)),
    ((3, 1), (4,)),
    ((1, 1, 1, 1), (4,)),
    ((2, 1, 1, 5), (2, 3, 4, 1)),
    ((2, 3, 4, 5), (1, 1, 4, 1)),
    ((5,), (2, 1, 3, 1, 1)),
    ((0,), ()),
    ((1, 3), (0, 1)),
    ((2, 0, 4), (2, 1, 1)),
    ((0, 1), (1, 0)),
)
"""Shapes that NumPy's rules broadcast to one another: either side smaller, ones, missing leading axes, no elements."""

SUFFIXES: Final[tuple[Shape, ...]] = ((), (1, 1), (5,), (4, 5))
"""Shapes that meet ``WHOLE`` without an ``axis``, as the document of Add-1 has them."""
WHOLE: Final = (2, 3, 4, 5)
_ALONG: Final[dict[Any, Shape]] = {OMITTED: WHOLE, 0: (2,), 1: (3, 4), 2: (4,)}
"""``axis`` → a shape that meets ``WHOLE`` there, as that document has them."""


def unidirectional(a: np.ndarray, b: np.ndarray, axis: int | None, broadcast: int) -> np.ndarray:
    """``b`` ready to meet ``a`` before version 7: its axes are those of ``a`` from ``axis`` on, the last by default.

    A ``b`` of one element meets all of ``a``. Without ``broadcast`` the shapes are the same.
    """
    if not broadcast:
        return b
    if b.size == 1:
        return b.reshape(())
    start = a.ndim - b.ndim if axis is None else axis
    return b.reshape(b.shape + (1,) * (a.ndim - start - b.ndim))


class Family(NamedTuple):
    """An operator of two tensors: its newest version, and the older ones of either manner of broadcasting."""

    newest: Operator
    older: tuple[Operator, ...]

    @property
    def all(self) -> tuple[Operator, ...]:
        """Newest first."""
        return (self.newest, *self.older)


def binary(
    name: str,
    function: Function,
    *,
    newest: int,
    older: tuple[int, ...] = (),
    legacy: tuple[int, ...] = (),
    exact: bool = False,
) -> Family:
    """Declares an operator without further attributes, whose ``legacy`` versions broadcast as ``limited`` has it."""

    def multidirectional(A: np.ndarray, B: np.ndarray, /, *, T: ElementType) -> Any:
        """The function of each pair of elements, shapes broadcast to one another as NumPy does."""
        return function(A, B, T)

    multidirectional.__module__ = function.__module__  # the operator's file, which stands in its category
    others = (operator(name, since=older, exact=exact)(multidirectional),) if older else ()
    others += limited(name, function, legacy, exact=exact) if legacy else ()
    return Family(operator(name, since=newest, exact=exact)(multidirectional), others)


def limited(name: str, function: Function, since: tuple[int, ...], *, exact: bool = False) -> tuple[Operator, Operator]:
    """Declares versions before 7, where ``broadcast`` asks for the second tensor to be broadcast to the first.

    It is one meaning in two plans, for an older version gets each value of an attribute once, and
    that need not be a row of ``broadcast=1`` without ``axis``, suffix matching, which has its own.
    Where version 6 is among them, version 1 has an attribute ``consumed_inputs``, which means nothing.
    """

    def towards_the_first(
        A: np.ndarray, B: np.ndarray, /, *, axis: int | None, broadcast: int, T: ElementType, **_: Any
    ) -> Any:
        """The function of each pair of elements, the second tensor broadcast to the first if it is asked for."""
        return function(A, unidirectional(A, B, axis, broadcast), T)

    towards_the_first.__module__ = function.__module__
    lead = _lead(schema(name, since[-1]).variables["T"])

    def explicit(T: str, axis: object, broadcast: object) -> bool:
        """All other values in one type, ``axis`` where it means something."""
        return lead == T and (axis != OMITTED) == (broadcast == 1)

    nothing: dict[str, Any] = {"consumed_inputs": (OMITTED, [0])} if 6 in since else {}
    declare = functools.partial(operator, name, since=since, exact=exact, **nothing)
    return (
        declare(axis=(OMITTED,), broadcast=(1,))(towards_the_first),
        declare(axis=tuple(_ALONG), broadcast=FLAG, constraints=[explicit])(towards_the_first),
    )


def _lead(types: Sequence[str]) -> str:
    """The type that every shape is tried in: float if there is one, else 32 bits, else Booleans."""
    return next(of for of in ("tensor(float)", "tensor(int32)", "tensor(uint32)", "tensor(bool)") if of in types)


def ordinary(family: Family, drawing: Drawing) -> None:
    """Registers the groups of shapes: alike, one pair that is broadcast, and all pairs in one type."""
    newest = family.newest.schemas[0]
    lead = _lead(newest.variables["T"])
    group(*family.all)(_named("ordinary", "Ordinary values; the shapes are alike unless the attributes say.", drawing))
    about = "Shapes that are broadcast to one another, another pair for each type."
    for each in family.all:
        if "broadcast" not in each.attributes:
            give(each, _named("broadcast", about, drawing), _one_pair)

    def all_pairs(draw: Draw) -> Iterable[tuple[Shape, Shape]]:
        choices = list(itertools.product(*family.newest.attributes.values()))
        start = choices.index(tuple(draw.attributes.values()))
        return MULTIDIRECTIONAL[start :: len(choices)] if draw.types["T"] == lead else ()

    about = (
        "Every way for two shapes to meet: 0-D, ones, missing leading axes, no elements; dealt out to the attributes."
    )
    give(family.newest, _named("every_shape", about, drawing), all_pairs, T=BY_NAME[lead[7:-1]].kind)


def group(
    *operators: Operator, shape: Shape = ALIKE, unspecified: str = "", **only: str | tuple[str, ...]
) -> Callable[[Drawing], Drawing]:
    """Registers a drawing as an input group of operators: both of one shape, unless their attributes ask otherwise."""

    def shapes(draw: Draw) -> Iterable[tuple[Shape, Shape]]:
        if draw.attributes.get("broadcast") != 1:
            return [(shape, shape)]
        if draw.attributes["axis"] != OMITTED:
            return [(WHOLE, _ALONG[draw.attributes["axis"]])]
        if draw.types["T"] in {"tensor(float)", "tensor(bool)"}:
            return [(WHOLE, suffix) for suffix in SUFFIXES]
        return [(WHOLE, SUFFIXES[draw.integer(0, len(SUFFIXES) - 1)])]

    def register(drawing: Drawing) -> Drawing:
        for each in operators:
            give(each, drawing, shapes, unspecified=unspecified, **only)
        return drawing

    return register


def _one_pair(draw: Draw) -> Iterable[tuple[Shape, Shape]]:
    return [MULTIDIRECTIONAL[draw.integer(0, len(MULTIDIRECTIONAL) - 1)]]


def _named(name: str, about: str, drawing: Drawing) -> Drawing:
    def named(draw: Draw, a: Shape, b: Shape) -> Pair:
        return drawing(draw, a, b)

    named.__name__, named.__doc__ = name, about
    return named


def give(
    to: Operator,
    drawing: Drawing,
    shapes: Callable[[Draw], Iterable[tuple[Shape, Shape]]],
    unspecified: str = "",
    **only: str | tuple[str, ...],
) -> None:
    """Registers a drawing as an input group of an operator, at the shapes that the row of a plan asks for."""
    names = [p.name for p in to.schemas[0].inputs]

    @functools.wraps(drawing)
    def generate(draw: Draw) -> Iterator[Inputs | Sample]:
        for a, b in shapes(draw):
            yield dict(zip(names, drawing(draw, a, b), strict=True))

    to.inputs(unspecified=unspecified, **only)(generate)


def crossed(xs: np.ndarray, ys: np.ndarray, a: Shape, b: Shape) -> Pair:
    """Each of ``xs`` beside each of ``ys``, as far as the shapes have places, or over and over."""
    return np.resize(np.repeat(xs, len(ys)), a), np.resize(np.tile(ys, len(xs)), b)


def some_but_zero(values: Values, shape: Shape) -> np.ndarray:
    """Ordinary values, 1 in place of zeros."""
    some = values.ordinary(shape)
    return np.where(some == 0, np.ones_like(some), some)


def neighbours(values: Values, a: Shape, b: Shape) -> Pair:
    """Numbers of a type, integers from its whole range, beside themselves, what is next above, and next below."""
    steps = np.resize([0, 1, -1], b)
    if values.element.format:
        first = values.ordinary(a)
        second = np.resize(first, b).astype(np.float64)
        return first, values(second + steps * ulp(second, values.element))
    first = values.integers(values.element.minimum + 1, values.element.maximum - 1, a)
    return first, values(np.resize(first, b).astype(object) + steps.astype(object))
