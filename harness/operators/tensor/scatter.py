"""Scatter, ScatterElements and ScatterND: updates written to, or combined with, the places that indices name."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from harness.operators.tensor.gather import (
    AXES,
    SHAPE,
    another_shape,
    anywhere,
    axis_of,
    element,
    is_tried,
    permuted,
    sized,
    special,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, operator

FUNCTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "none": lambda _, update: update,
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
REDUCTIONS: Final = (OMITTED, *FUNCTIONS)
NONE: Final = (OMITTED, "none")

OVERFLOW: Final = "{} does not say what a sum or product is that T cannot hold; two's complement is what most return."
NAN: Final = "{} does not say what the max or min of NaN is: IEEE 754-2008 has maxNum, later maximum."


def elements_scattered(
    data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, axis: int, reduction: str
) -> np.ndarray:
    """``output[i][indices[i][j]] = f(output[i][indices[i][j]], updates[i][j]) if axis = 1``, of a copy of the data.

    "No duplicate entries" are about places: the document's own first example has equal indices in different lines.
    """
    output = data.copy()
    for place in np.ndindex(updates.shape):
        target = output[*element(place, axis % data.ndim, indices[place]), ...]
        target[...] = FUNCTIONS[reduction](target, updates[place])
    return output


def slices_scattered(data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, reduction: str) -> np.ndarray:
    """``output[tuple(indices[idx])] = f(output[tuple(indices[idx])], updates[idx])``, of a copy of the data."""
    output = data.copy()
    for idx in np.ndindex(indices.shape[:-1]):
        target = output[*indices[idx], ...]
        target[...] = FUNCTIONS[reduction](target, updates[idx])
    return output


def elements_replaced(data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, axis: int) -> np.ndarray:
    """``output[i][indices[i][j]] = updates[i][j] if axis = 1``, of a copy of the data."""
    return elements_scattered(data, indices, updates, axis=axis, reduction="none")


def slices_replaced(data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """``output[tuple(indices[idx])] = updates[idx]``, of a copy of the data."""
    return slices_scattered(data, indices, updates, reduction="none")


def is_defined(T: str, reduction: str) -> bool:
    """No text says what a sum or maximum of strings or Booleans is, or an order of complex numbers.

    "none" is the default and tried of one type.
    """
    if reduction in NONE:
        return reduction == OMITTED or T == "tensor(int64)"
    return T not in ("tensor(string)", "tensor(bool)") and ("complex" not in T or reduction in ("add", "mul"))


TRIED_WITH: Final = {OMITTED: OMITTED, "none": 1, "add": -1, "mul": 1, "max": 2, "min": -3}
"""The axis that each reduction is tried with: so each type meets both types of indices and all axes."""


def is_tried_reduced(T: str, Tind: str, axis: int | str, reduction: str) -> bool:
    """Every axis of int64 without the attribute; one for each reduction of each type."""
    return is_tried("tensor(int64)", Tind, axis) and (
        axis == TRIED_WITH[reduction] or (T, reduction) == ("tensor(int64)", OMITTED)
    )


IN_ELEMENTS: Final = [is_defined, is_tried_reduced]

scatter = operator("Scatter", since=9, exact=True, constraints=[is_tried], axis=AXES)(elements_replaced)
scatter_elements_11 = operator("ScatterElements", since=(13, 11), exact=True, constraints=[is_tried], axis=AXES)(
    elements_replaced
)
scatter_elements_16 = operator(
    "ScatterElements", since=16, exact=True, constraints=IN_ELEMENTS, axis=AXES, reduction=REDUCTIONS[:4]
)(elements_scattered)
scatter_elements = operator(
    "ScatterElements", since=18, exact=True, full_product=True, constraints=IN_ELEMENTS, axis=AXES, reduction=REDUCTIONS
)(elements_scattered)
scatternd_11 = operator("ScatterND", since=(13, 11), exact=True)(slices_replaced)
scatternd_16 = operator("ScatterND", since=16, exact=True, constraints=[is_defined], reduction=REDUCTIONS[:4])(
    slices_scattered
)
scatternd = operator("ScatterND", since=18, exact=True, constraints=[is_defined], reduction=REDUCTIONS)(
    slices_scattered
)


def reduction_of(draw: Draw) -> str:
    """The row's reduction, "none" where it is left out or unknown."""
    given = draw.attributes.get("reduction", OMITTED)
    return "none" if given == OMITTED else given


def picked(draw: Draw, values: Any, shape: Sequence[int]) -> np.ndarray:
    """Any of the values at each place."""
    return draw.T(np.asarray(values)[draw.words(math.prod(shape)).reshape(shape) % np.uint64(len(values))])


def coins(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Zeros and ones: whether an index counts from the back."""
    return (draw.words(math.prod(shape)).reshape(shape) % np.uint64(2)).astype(np.int64)


def addends(draw: Draw, shape: Sequence[int]) -> np.ndarray:
    """Numbers of which a few have the same sum in every order: quarters up to 4, small integers."""
    quarters = np.arange(-16, 17) / 4
    match draw.T.element.kind:
        case "float":
            return picked(draw, quarters, shape)
        case "complex":
            return picked(draw, quarters, shape) + draw.T(1j) * picked(draw, quarters, shape)
        case _:
            return draw.T.ordinary(shape)


FACTORS: Final = {
    "float": (1, -1, 2, -2, 0.5, -0.5),
    "complex": (1, -1, 2, 1j, -1j, 1 + 1j),
    "signed": (1, -1, 2),
    "unsigned": (1, 2),
}
"""By which a few products are the same in every order."""

Both = tuple[np.ndarray, np.ndarray]
Operands = Callable[[Draw, Sequence[int], Sequence[int]], Both]
"""Makes data and updates of these shapes."""


def operands(draw: Draw, shape: Sequence[int], of_updates: Sequence[int]) -> Both:
    """Data and updates, of which up to four at one place have one result in every order."""
    of = draw.T
    match reduction_of(draw):
        case "add":
            return addends(draw, shape), addends(draw, of_updates)
        case "mul":
            least = {"signed": -3, "unsigned": 0}.get(of.element.kind)
            data = addends(draw, shape) if least is None else of.integers(least, 3, shape)
            return data, picked(draw, FACTORS[of.element.kind], of_updates)
        case _:
            return of.ordinary(shape), of.ordinary(of_updates)


def special_operands(draw: Draw, shape: Sequence[int], of_updates: Sequence[int]) -> Both:
    """The special values, of which the result is the same in every order, none beyond an integer type."""
    of, reduction = draw.T, reduction_of(draw)
    if reduction == "none":
        return special(draw, shape), special(draw, of_updates)
    if reduction in ("max", "min"):
        values = of.specials()
        beside = of.ordinary((2,)) if of.element.format else of([int(of.lowest) + 1, int(of.largest) - 1])
        values = np.concatenate([values[values == values], beside])  # noqa: PLR0124  NaN alone differs from itself
        return picked(draw, values, shape), picked(draw, values, of_updates)
    if of.element.format:
        data = picked(draw, (1.5, -0.5, np.inf, -np.inf, 0, np.nan), shape)
        return data, picked(draw, (1, -1, 0.5, 2, 1, 2, 0, np.inf), of_updates)
    top = int(of.largest) - 12 if reduction == "add" else int(of.largest) // 16
    data = picked(draw, np.array([top - i for i in range(5)], of.element.dtype), shape)
    return data, picked(draw, (1, 2) if reduction == "mul" else (0, 1, 2, 3), of_updates)


def try_values(op: Operator, ask: Callable[[Draw, Operands], Inputs]) -> None:
    """The groups about values: ``ask`` puts the indices of ordinary shapes beside operands."""
    title = op.schemas[0].title

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Updates at another place each, or with a reduction several at some places, one at others, none at others.

        Of floats and int64 then again, with NaN, infinities, zeros of both signs, subnormal and extreme numbers.
        """
        yield ask(draw, operands)
        if draw.T.element.kind == "float" or draw.T.element.name == "int64":
            yield ask(draw, special_operands)

    if "max" not in op.attributes.get("reduction", ()):
        return

    @op.inputs(T=("int8", "uint32"), unspecified=OVERFLOW.format(title))
    def overflow(draw: Draw) -> Iterator[Inputs]:
        """Sums and products beyond the range of an integer type."""
        if reduction_of(draw) in ("add", "mul"):
            largest = np.array([draw.T.largest], draw.T.element.dtype)
            yield ask(draw, lambda _, *shapes: (picked(draw, largest, shapes[0]), picked(draw, (2, 3), shapes[1])))

    @op.inputs(T="float", unspecified=NAN.format(title))
    def nan(draw: Draw) -> Iterator[Inputs]:
        """NaN among the data and among the updates."""
        if reduction_of(draw) in ("max", "min"):
            numbers = (np.nan, 1, -2, np.inf)
            yield ask(draw, lambda _, *shapes: (picked(draw, numbers, shapes[0]), picked(draw, numbers, shapes[1])))


def elements(
    draw: Draw, shape: Sequence[int], of_updates: Sequence[int], make: Operands = operands, *, negative: bool
) -> Inputs:
    """Operands, and indices that name each place of a line once at most, or with a reduction as it comes."""
    axis = axis_of(draw)
    size, lines = shape[axis], sized(of_updates, axis, shape[axis])
    if reduction_of(draw) == "none":
        indices = np.take(permuted(draw, lines, axis), np.arange(of_updates[axis]), axis)
        indices = indices - negative * size * coins(draw, indices.shape)
    else:
        indices = anywhere(draw, size, of_updates)
    data, updates = make(draw, shape, of_updates)
    return {"data": data, "indices": draw.Tind(indices), "updates": updates}


def try_elements(op: Operator, *, negative: bool, duplicates: str) -> None:
    """The groups of ScatterElements and Scatter, whose indices may be negative or not; why duplicates are open."""
    asked = partial(elements, negative=negative)

    def ask(draw: Draw, make: Operands) -> Inputs:
        count = SHAPE[axis_of(draw)] - 1 if reduction_of(draw) == "none" else 4
        return asked(draw, SHAPE, sized(SHAPE, axis_of(draw), count), make)

    try_values(op, ask)

    @op.inputs(T="int64")
    def fewer_lines(draw: Draw) -> Iterator[Inputs]:
        """Fewer updates than the tensor has lines beside the axis."""
        yield asked(draw, SHAPE, (2, 4, 3))

    @op.inputs(T="int64")
    def other_ranks(draw: Draw) -> Iterator[Inputs]:
        """One, two or four axes."""
        shape = another_shape(draw)
        yield asked(draw, shape, sized(shape, axis_of(draw), shape[axis_of(draw)] - 1))

    @op.inputs(T="int64")
    def empty(draw: Draw) -> Iterator[Inputs]:
        """No updates; of the first axis also no lines of the updates, no lines at all and no elements at all."""
        if reduction_of(draw) not in ("none", "add"):
            return
        shape, axis = (3, 2, 4), axis_of(draw)
        no_lines, nothing = sized(shape, axis + 1, 0), sized(shape, axis, 0)
        yield asked(draw, shape, nothing)
        if axis == 0:
            yield asked(draw, shape, no_lines)
            yield asked(draw, no_lines, no_lines)
            yield {
                "data": draw.T.ordinary(nothing),
                "indices": draw.Tind(np.zeros(nothing)),
                "updates": draw.T.ordinary(nothing),
            }

    @op.inputs(T="int64", unspecified=duplicates)
    def duplicate_indices(draw: Draw) -> Iterator[Inputs]:
        """Several updates of one place, and no reduction."""
        if reduction_of(draw) == "none":
            inputs = ask(draw, operands)
            yield {**inputs, "indices": inputs["indices"] // 2}


def slices(draw: Draw, shape: Sequence[int], count: Sequence[int], depth: int, make: Operands = operands) -> Inputs:
    """Operands, and as many index-tuples: of different places, or with a reduction of three at most."""
    axes, number = shape[:depth], math.prod(count)
    places = permuted(draw, (math.prod(axes),), 0)
    chosen = range(number) if reduction_of(draw) == "none" else draw.words(number) % np.uint64(3)
    indices = np.stack(np.unravel_index(places[chosen], axes), axis=-1) - np.array(axes) * coins(draw, (number, depth))
    data, updates = make(draw, shape, (*count, *shape[depth:]))
    return {"data": data, "indices": indices.reshape(*count, depth), "updates": updates}


def try_slices(op: Operator, duplicates: str) -> None:
    """The groups of ScatterND; why duplicates are open."""
    try_values(op, lambda draw, make: slices(draw, SHAPE, (4,), 2, make))

    @op.inputs(T="int64")
    def depths(draw: Draw) -> Iterator[Inputs]:
        """Tuples of one index, which take a slice of two axes, and of three, an element's whole place."""
        yield slices(draw, SHAPE, (2,), 1)
        yield slices(draw, SHAPE, (6,), 3)

    @op.inputs(T="int64")
    def ranks_of_indices(draw: Draw) -> Iterator[Inputs]:
        """A single tuple, tuples along three axes, and a tensor of one axis."""
        if reduction_of(draw) not in ("none", "add"):
            return
        yield slices(draw, SHAPE, (), 2)
        yield slices(draw, (4, 5, 3), (2, 1, 6), 2)
        yield slices(draw, (9,), (4,), 1)

    @op.inputs(T="int64")
    def empty(draw: Draw) -> Iterator[Inputs]:
        """No tuples; slices without elements."""
        if reduction_of(draw) not in ("none", "add"):
            return
        yield slices(draw, SHAPE, (0,), 2)
        yield slices(draw, (3, 5, 0), (4,), 2)

    @op.inputs(T="int64", unspecified=duplicates)
    def duplicate_indices(draw: Draw) -> Iterator[Inputs]:
        """Several updates of one place, and no reduction."""
        if reduction_of(draw) == "none":
            inputs = slices(draw, SHAPE, (4,), 2)
            yield {**inputs, "indices": inputs["indices"][[0, 1, 0, 1]]}


UNORDERED = '{} does not say which of two updates of one place remains: "where i and j are loop counters" is no order.'
UNSAID = "{} does not say which of two updates of one place remains."
UNIQUE = '{}, "In cases where reduction is set to "none", indices should not have duplicate entries".'
UNSUPPORTED = '{}, "two or more updates for the same index-location is not supported".'

try_elements(scatter, negative=False, duplicates=UNORDERED.format("Scatter-9"))
try_elements(scatter_elements_11, negative=True, duplicates=UNSAID.format("ScatterElements-11"))
for _op in (scatter_elements_16, scatter_elements):
    try_elements(_op, negative=True, duplicates=UNIQUE.format(_op.schemas[0].title))
try_slices(scatternd_11, UNSUPPORTED.format("ScatterND-11"))
for _op in (scatternd_16, scatternd):
    try_slices(_op, UNIQUE.format(_op.schemas[0].title))


@scatter.inputs(
    T="int64",
    unspecified="Scatter-9 does not say what a negative index is; from version 11 on bounds are [-s, s-1].",
)
def indices_from_the_back(draw: Draw) -> Iterator[Inputs]:
    """Negative indices, as later versions have them."""
    axis = axis_of(draw)
    indices = -1 - permuted(draw, SHAPE, axis)
    yield {"data": draw.T.ordinary(SHAPE), "indices": draw.Tind(indices), "updates": draw.T.ordinary(SHAPE)}


def floats(*values: object) -> np.ndarray:
    """The examples are of floats."""
    return np.array(values, np.float32)


LINE = floats([1, 2, 3, 4, 5])
MOVED = floats([1.1, 2.1])
scatter.example("test_scatter_with_axis", LINE, [[1, 3]], MOVED, axis=1, gives=floats([1, 1.1, 3, 2.1, 5]))
scatter_elements.example(
    "test_scatter_elements_without_axis",
    np.zeros((3, 3), np.float32),
    [[1, 0, 2], [0, 2, 1]],
    floats([1, 1.1, 1.2], [2, 2.1, 2.2]),
    gives=floats([2, 1.1, 0], [1, 0, 2.2], [0, 2.1, 1.2]),
)
scatter_elements.example(
    "test_scatter_elements_with_negative_indices",
    LINE,
    [[1, -3]],
    MOVED,
    axis=1,
    gives=floats([1, 1.1, 2.1, 4, 5]),
)
scatter_elements.example(
    "test_scatter_elements_with_reduction_max",
    LINE,
    [[1, 1]],
    MOVED,
    axis=1,
    reduction="max",
    gives=floats([1, 2.1, 3, 4, 5]),
)
