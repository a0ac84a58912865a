"""What tries the Reduce… operators: sets of values, laid along the axes of tensors."""

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np

from harness.operators.reduction.sets import ANY, TELLING, Telling, ordinary_sets
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, Sample

EXTREMES = ("ReduceMax", "ReduceMin")
SOME = ("float16", "double", "int64", "uint32")
"""Types enough for what is about shapes."""
MOST = 3
"""Tensors of one input group: those of older versions may have room for one set only."""
LENGTHS = {"bfloat16": 8, "float16": 64}
"""Of more terms nothing could be told of them."""


def add_inputs(op: Operator, *, stated: bool = True) -> None:
    """Registers the groups of one operator; ``stated`` if its document says what a reduction of nothing yields."""
    by_input = "axes" not in op.attributes

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Ordinary values, with results that every type holds: of integers, none that would have to be rounded."""
        yield _ordinary(op, draw, _shape(draw))

    @op.inputs(T=SOME if by_input else ANY)
    def one_element(draw: Draw) -> Iterator[Inputs]:
        """A scalar, all of whose axes are none; where axes are given, a tensor of one element."""
        given = draw.attributes.get("axes", OMITTED) is not OMITTED
        yield _ordinary(op, draw, (1, 1, 1) if given else (), None)

    if by_input:
        _of_axes(op)
    if op.name not in EXTREMES:
        _of_many(op)
    if by_input or (stated and op.name != "ReduceMean"):
        _of_nothing(op)
    for group in TELLING:
        if op.name in (*group.sets, *group.open) and (by_input or group.old):
            _add(group, op)


def _of_axes(op: Operator) -> None:
    @op.inputs(T=SOME)
    def no_axes(draw: Draw) -> Iterator[Inputs]:
        """The axes left out, then empty: all of them, or if noop_with_empty_axes none, each element by itself."""
        yield _ordinary(op, draw, _shape(draw), None)
        yield _ordinary(op, draw, _shape(draw), ())

    @op.inputs(T=("double", "int32"))
    def every_axis(draw: Draw) -> Iterator[Inputs]:
        """The first, several and all axes in any order, each counted from either end."""
        yield _ordinary(op, draw, (4, 2, 3), (0,))
        yield _ordinary(op, draw, (3, 2, 4), (1, 2, 0))
        yield _ordinary(op, draw, (2, 1, 3, 5), (3, 1))


def _of_many(op: Operator) -> None:
    @op.inputs(T="float")
    def many(draw: Draw) -> Iterator[Inputs]:
        """As many values as the type can bear: 8 in bfloat16, 64 in float16, 300 in float and double."""
        length = LENGTHS.get(draw.T.element.name, 300)
        yield _ordinary(op, draw, [length if axis == _along(draw, 3)[0] else 1 for axis in range(3)])


def _of_nothing(op: Operator) -> None:
    logarithm = op.name.startswith("ReduceLog")

    @op.inputs(T="float" if logarithm and "axes" in op.attributes else ANY)
    def empty(draw: Draw) -> Iterator[Inputs | Sample]:
        """No values to reduce, and in some types nothing to reduce them for."""
        if draw.T.element.name in ("double", "int64"):
            yield _ordinary(op, draw, (0, 3, 4))
        unspecified = ""
        if op.name == "ReduceMean":
            unspecified = "Reduction over an empty set of values yields undefined."
        elif logarithm and draw.T.element.format is None:
            unspecified = (
                "Reduction over an empty set of values yields minus infinity (if supported …) or undefined otherwise."
            )
        yield Sample(_ordinary(op, draw, (2, 0, 4)), unspecified=unspecified)


def _add(group: Telling, op: Operator) -> None:
    def generate(draw: Draw) -> Iterator[Inputs | Sample]:
        """Tensors of the ordinary shape, or of the group's own, until each set has had its place."""
        for make, unspecified in ((group.sets.get(op.name), ""), (group.open.get(op.name), group.unspecified)):
            if make:
                for inputs in _filled(draw, draw.T(make(draw.T)), group.shape or _shape(draw)):
                    yield Sample(inputs, unspecified=unspecified)

    generate.__name__, generate.__doc__ = group.name, group.about
    op.inputs(T=group.kinds)(generate)


def _filled(draw: Draw, sets: np.ndarray, shape: Sequence[int]) -> Iterator[Inputs]:
    """Tensors near the shape, with sets of three along their axes, the first sets first."""
    first, *others = _along(draw, 3)
    sizes = [3 if axis == first else 1 if axis in others else size for axis, size in enumerate(shape)]
    each = prod(sizes) // 3
    for start in range(0, min(len(sets), MOST * each), each):
        taken = np.resize(sets[start : start + each], (each, 3))
        yield _laid(draw, sizes, lambda *_, taken=taken: taken)


def _shape(draw: Draw) -> tuple[int, ...]:
    return (1, 3, 4) if draw.T.element.name == "bfloat16" else (2, 3, 4)


def _along(draw: Draw, rank: int, axes: Sequence[int] | None = (1,)) -> list[int]:
    """The axes that are reduced: those of the attribute, or else of the input that is ``axes``."""
    given = draw.attributes.get("axes", axes)
    if given is None or given == OMITTED or not given:
        return [] if draw.attributes.get("noop_with_empty_axes") == 1 else list(range(rank))
    return [axis % rank for axis in given]


def _laid(
    draw: Draw, shape: Sequence[int], make: Callable[[int, int], np.ndarray], axes: Sequence[int] | None = (1,)
) -> Inputs:
    """A tensor of which the sets along the axes are those that ``make`` gives for their number and their length."""
    data = np.empty(shape, draw.T.element.dtype)
    along = _along(draw, data.ndim, axes)
    lines = np.moveaxis(data, along, range(-len(along), 0))
    size = prod(data.shape[axis] for axis in along)
    count = prod(lines.shape[: data.ndim - len(along)])
    lines[...] = make(count, size).reshape(lines.shape)
    if "axes" in draw.attributes or axes is None:
        return {"data": data}
    return {"data": data, "axes": np.array([axis - data.ndim * draw.integer(0, 1) for axis in axes], np.int64)}


def _ordinary(op: Operator, draw: Draw, shape: Sequence[int], axes: Sequence[int] | None = (1,)) -> Inputs:
    if op.name == "ReduceLogSumExp" and draw.T.element.format is None:  # the only whole one is that of a single 0
        along = _along(draw, len(shape), axes)
        shape = [1 if axis in along else size for axis, size in enumerate(shape)]
    return _laid(draw, shape, lambda count, size: ordinary_sets(op.name, draw.T, (count, size)), axes)
