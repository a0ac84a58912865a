"""Input groups that every operator has that moves values: values of which no bit may change, and large tensors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.oracles.draw import Draw, Values
from harness.oracles.operator import Inputs, Operator, Sample

Make = Callable[[Sequence[int]], np.ndarray]
"""Makes a tensor of a shape."""
Ask = Callable[[Draw, Make], Iterable[Inputs | Sample]]
"""Yields inputs whose values are made so."""

FLOAT = "tensor(float)"
LINE, BLOCK, DEEP = (4, 1031), (5, 33, 31), (2, 3, 1, 2, 5, 17)
"""Shapes of two, three and six axes: long lines, sizes beyond 16 and 32, and small ones."""


def numbered(values: Values) -> Make:
    """Makes tensors whose elements count up to 1,020 and then start again."""
    return lambda shape: values((np.arange(int(np.prod(shape))) % 1021).reshape(shape))


def try_wide_values(
    op: Operator, ask: Ask, variable: str = "T", when: Callable[..., bool] | None = None, *, of: str = "tensor({})"
) -> None:
    """Gives an operator the groups of values of which no bit may change; each row has two data sets at least.

    ``of`` spells the types that the variable stands for, by element type.
    """

    def wide(draw: Draw) -> Iterator[Any]:
        for _ in range(2):
            yield from ask(draw, getattr(draw, variable).wide)

    integers: Any = {variable: tuple(map(of.format, ("int64", "uint64")))}
    floats: Any = {variable: tuple(map(of.format, ("float", "double", "float16", "bfloat16")))}

    @op.inputs(when, **integers)
    def wide_integers(draw: Draw) -> Iterator[Any]:
        """Integers beyond 32 bits and beyond those that a double holds, and the ends of their range."""
        yield from wide(draw)

    @op.inputs(when, **floats)
    def wide_floats(draw: Draw) -> Iterator[Any]:
        """NaN with several bits, infinities, -0, subnormal and extreme numbers: no bit of them changes."""
        yield from wide(draw)


def try_sizes(
    op: Operator, ask: Ask, variable: str = "T", when: Callable[..., bool] | None = None, *, of: Any = FLOAT
) -> None:
    """Gives an operator the group of large tensors, as far as its attributes allow them."""
    types: Any = {variable: of}

    @op.inputs(when, **types)
    def large_tensors(draw: Draw) -> Iterator[Any]:
        """More than 1,024 elements along an axis, more than 4,096 in all, axes beyond 16 and 32, and six axes."""
        yield from ask(draw, numbered(getattr(draw, variable)))
