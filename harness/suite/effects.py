"""Which attributes an answer depends on: those of which another value gives another answer for the same inputs."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import msgspec
import numpy as np

from harness.numbers.distributions import Random
from harness.oracles.evaluate import answer, oracle_outputs
from harness.oracles.node import Node
from harness.oracles.operator import Sample
from harness.spec.values import SparseTensor, Typed

_MOST_OTHERS = 4
"""Other values that are tried for an attribute."""
_MOST_TRIES = 40
"""Samples that are tried for a value."""
_MARGIN = 64
"""Units in the last place of the largest element that two answers must differ by: more than their bounds."""


class Effects:
    """The attribute values of one operator version that are known to matter: each is looked for until it is found."""

    def __init__(self) -> None:
        self._found: set[tuple[str, str]] = set()
        self._tries: Counter[tuple[str, str]] = Counter()

    def shown_by(self, node: Node, sample: Sample) -> tuple[str, ...]:
        """The attributes whose value in this node matters for this sample and was not known to matter before.

        A value matters if another one gives another answer on an element that is scored.
        """
        shown: list[str] = []
        for a in node.version.attributes:
            key = (a.name, repr(node.attributes[a.name]))
            if key in self._found or self._tries[key] >= _MOST_TRIES:
                continue
            self._tries[key] += 1
            if matters(node, sample, a.name):
                self._found.add(key)
                shown.append(a.name)
        return tuple(shown)


def matters(node: Node, sample: Sample, name: str) -> bool:
    """Whether another value of the attribute gives another answer on a scored element.

    A value that the oracle does not take for these inputs gives none.
    """
    own, masks = _outputs(node, sample), _masks(node, sample)
    others = itertools.islice(_others(node, name), _MOST_OTHERS)
    return any(_gives_another_answer(node, sample, {name: value}, own, masks) for value in others)


def _gives_another_answer(
    node: Node, sample: Sample, attributes: Mapping[str, Any], own: Sequence[Any], masks: Sequence[Any]
) -> bool:
    """False also if the oracle does not take these attributes for the inputs."""
    changed = msgspec.structs.replace(node, attributes={**node.attributes, **attributes})
    try:
        return _differ(own, _outputs(changed, sample), masks)
    except Exception:  # noqa: BLE001 - whatever an oracle raises for inputs that are not for it
        return False


def _others(node: Node, name: str) -> Iterator[Any]:
    """The operator's other values of an attribute that the constraints allow beside the rest of the node."""
    own = repr(node.attributes[name])
    for value in node.operator.attributes[name]:
        stated = value(node.types) if callable(value) else value
        values: Mapping[str, Any] = {**node.types, **node.attributes, name: stated}
        if repr(stated) != own and node.operator.allows(values):
            yield stated


def _outputs(node: Node, sample: Sample) -> list[Any]:
    call = node.call(sample)
    if node.operator.random:
        return [found for found, _ in oracle_outputs(call)]
    return list(answer(call))


def _masks(node: Node, sample: Sample) -> list[Any]:
    """The mask of each output, None for those that are scored whole."""
    return [sample.unspecified_elements.get(p.name) for p in node.version.outputs]


def _differ(own: Sequence[Any], other: Sequence[Any], masks: Sequence[Any]) -> bool:
    if len(own) != len(other):
        return True
    return any(_value_differs(a, b, mask) for a, b, mask in itertools.zip_longest(own, other, masks[: len(own)]))


def _value_differs(a: Any, b: Any, mask: Any) -> bool:
    match a, b:
        case Typed(), Typed():
            return str(a.of) != str(b.of) or _value_differs(a.value, b.value, mask)
        case np.ndarray(), np.ndarray():
            return a.shape != b.shape or a.dtype != b.dtype or _array_differs(a, b, mask)
        case list(), list():
            pairs = itertools.zip_longest(a, b)
            return len(a) != len(b) or any(_value_differs(x, y, None) for x, y in pairs)
        case dict(), dict():
            return a.keys() != b.keys() or any(_value_differs(a[key], b[key], None) for key in a)
        case SparseTensor(), SparseTensor():
            return _value_differs(a.values, b.values, None) or not np.array_equal(a.indices, b.indices)
        case Random(), Random():
            return a != b
        case _:
            return type(a) is not type(b)


def _array_differs(a: np.ndarray, b: np.ndarray, mask: Any) -> bool:
    if a.dtype == object or a.dtype.kind not in "fcV" or a.dtype.itemsize == 1:
        differing = np.asarray(a != b)
        with np.errstate(all="ignore"):
            differing &= ~np.asarray((a != a) & (b != b))  # noqa: PLR0124 - NaN
    else:
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            x, y = a.astype(wide), b.astype(wide)
            size = np.max(np.abs(x), where=np.isfinite(x), initial=0.0)
            near = np.abs(x - y) <= _MARGIN * _epsilon(a.dtype) * size
            differing = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
    if mask is not None:
        differing = differing & ~np.broadcast_to(np.asarray(mask, bool), differing.shape)
    return bool(differing.any())


def _epsilon(dtype: np.dtype[Any]) -> float:
    """2^-p of a float or complex dtype of p bits."""
    return float(ml_dtypes.finfo(dtype).eps) / 2
