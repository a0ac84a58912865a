"""Gradient: partial derivatives of a tensor of the graph that the node stands in, at the values that the node is given.

It is no oracle of a case yet: a case has one node, and this one means nothing without those that compute ``y``.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx

Function: TypeAlias = Callable[..., Any]


def _sum_all(x: np.ndarray, keepdims: int = 1) -> np.ndarray:
    total = np.asarray(x.sum())
    return total.reshape((1,) * x.ndim) if keepdims else total


# Operator → what it gives for its inputs; and, for the slope of its output and for its inputs, the slope of each of
# these. ReduceSum is that over all axes.
RULES: dict[str, tuple[Function, Function]] = {
    "Identity": (lambda x: x, lambda d, _x: (d,)),
    "Neg": (lambda x: -x, lambda d, _x: (-d,)),
    "Add": (lambda a, b: a + b, lambda d, _a, _b: (d, d)),
    "Sub": (lambda a, b: a - b, lambda d, _a, _b: (d, -d)),
    "Mul": (lambda a, b: a * b, lambda d, a, b: (d * b, d * a)),
    "Div": (lambda a, b: a / b, lambda d, a, b: (d / b, -d * a / (b * b))),
    "Exp": (np.exp, lambda d, x: (d * np.exp(x),)),
    "ReduceSum": (_sum_all, lambda d, x, **_: (np.asarray(d).reshape((1,) * x.ndim) + np.zeros_like(x),)),
}


def gradient(
    *Inputs: np.ndarray, xs: Sequence[str], y: str, zs: Sequence[str] | None, nodes: Sequence[onnx.NodeProto]
) -> tuple[np.ndarray, ...]:
    """The derivative of a ``y`` of one element "with respect to each of tensors specified in the attribute "xs"".

    "The i-th input is the value of the i-th tensor specified in the concatenated list of the attribute "xs" and the
    attribute "zs"", and stands "for all the occurrences" of it, whatever the graph has there. ``nodes`` are those of
    the graph, in their order. What the gradient of a ``y`` of several elements is, the text does not say. Raises
    KeyError where ``xs`` and ``zs`` do not determine ``y``, or by operators that have no rule here.
    """
    known = dict(zip([*xs, *(zs or ())], Inputs, strict=True))
    taken: list[tuple[onnx.NodeProto, dict[str, Any]]] = []
    for node in nodes:
        if node.output[0] not in known and all(name in known for name in node.input):
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            forward, _ = RULES[node.op_type]
            known[node.output[0]] = np.asarray(forward(*(known[name] for name in node.input), **attributes))
            taken.append((node, attributes))
    slopes = {name: np.zeros_like(value) for name, value in known.items()}
    slopes[y] = np.full_like(known[y], 1)
    for node, attributes in reversed(taken):
        values = [known[name] for name in node.input]
        _, backward = RULES[node.op_type]
        for name, value, slope in zip(
            node.input, values, backward(slopes[node.output[0]], *values, **attributes), strict=True
        ):
            slopes[name] = slopes[name] + _gathered(np.asarray(slope), value.shape)
    return tuple(np.asarray(slopes[x]) for x in xs)


def _gathered(slope: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum over the axes along which a tensor of this shape was broadcast."""
    added = slope.ndim - len(shape)
    stretched = [i + added for i, size in enumerate(shape) if size == 1 and slope.shape[i + added] != 1]
    return slope.sum(axis=(*range(added), *stretched)).reshape(shape)
