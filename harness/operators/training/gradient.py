"""Gradient: partial derivatives of a tensor of the graph that the node stands in, at the values given to the node."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
import onnx
import onnx.parser

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator
from harness.spec.values import Typed, parse_type, type_code

Function: TypeAlias = Callable[..., Any]


def _sum_all(x: np.ndarray, keepdims: int = 1) -> np.ndarray:
    total = np.asarray(x.sum())
    return total.reshape((1,) * x.ndim) if keepdims else total


# Operator → what it gives for its inputs; and, for the slope of its output and for its inputs, the slope of each of
# these, None for one of which it is no function that has slopes. ReduceSum is that over all axes.
RULES: dict[str, tuple[Function, Function]] = {
    "Identity": (lambda x: x, lambda d, _x: (d,)),
    "Neg": (lambda x: -x, lambda d, _x: (-d,)),
    "Add": (lambda a, b: a + b, lambda d, _a, _b: (d, d)),
    "Sub": (lambda a, b: a - b, lambda d, _a, _b: (d, -d)),
    "Mul": (lambda a, b: a * b, lambda d, a, b: (d * b, d * a)),
    "Div": (lambda a, b: a / b, lambda d, a, b: (d / b, -d * a / (b * b))),
    "Exp": (np.exp, lambda d, x: (d * np.exp(x),)),
    "ReduceSum": (_sum_all, lambda d, x, **_: (np.asarray(d).reshape((1,) * x.ndim) + np.zeros_like(x),)),
    "Size": (lambda x: np.asarray(float(x.size)), lambda _d, _x: (None,)),
    "Cast": (lambda x, **_: x, lambda d, _x, **_: (d,)),
}


class Formula(msgspec.Struct, frozen=True):
    """How ``y`` is computed, in nodes that name the node's inputs, and of what the gradient is asked for."""

    xs: list[str]
    steps: tuple[str, ...]
    zs: list[str] | None = None
    shapes: tuple[tuple[int, ...], ...] = ((2, 3), (2, 3))


FORMULAS = {
    "sum_of_products": Formula(
        ["Inputs_0", "Inputs_1"], ("p = Mul (Inputs_0, Inputs_1)", "sum_of_products = ReduceSum <keepdims = 0> (p)")
    ),
    "sum_of_quotients": Formula(
        ["Inputs_0"],
        ("q = Div (Inputs_0, Inputs_1)", "sum_of_quotients = ReduceSum <keepdims = 1> (q)"),
        ["Inputs_1"],
    ),
    "sum_of_broadcast_differences": Formula(
        ["Inputs_1", "Inputs_0"],
        (
            "d = Sub (Inputs_1, Inputs_0)",
            "s = Mul (d, d)",
            "sum_of_broadcast_differences = ReduceSum <keepdims = 0> (s)",
        ),
        shapes=((2, 3, 4), (3, 1)),
    ),
    "sum_of_exponentials": Formula(
        ["Inputs_0"],
        (
            "e = Exp (Inputs_0)",
            "n = Neg (e)",
            "twice = Add (n, e)",
            "more = Add (twice, e)",
            "sum_of_exponentials = ReduceSum <keepdims = 0> (more)",
        ),
        shapes=((5,),),
    ),
    # The node is given another value of h than the graph has: "dY/dH when H = H_1".
    "product_with_h": Formula(
        ["h", "Inputs_1"],
        ("h = Exp (w)", "p = Mul (h, Inputs_1)", "product_with_h = ReduceSum <keepdims = 0> (p)"),
    ),
    "counted": Formula(
        ["Inputs_0"],
        (
            "n = Size (Inputs_1)",
            "f = Cast <to = {to}> (n)",
            "p = Mul (Inputs_0, f)",
            "counted = ReduceSum <keepdims = 0> (p)",
        ),
        ["Inputs_1"],
        ((2, 3), (7,)),
    ),
}
"""The name of ``y`` → what it is."""

REALS = ("tensor(float16)", "tensor(float)", "tensor(double)")


def _is_real(T1: str, T2: str) -> bool:
    """Inputs of T1 are differentiated in their own type, or counted beside one of T2."""
    return T1 == T2 or T1 not in REALS


def _counts(T1: str, y: str) -> bool:
    """What is no real number is counted."""
    return (y == "counted") == (T1 not in REALS)


@operator(
    "Gradient",
    domain="ai.onnx.preview.training",
    since=1,
    constraints=[
        _is_real,
        _counts,
        lambda xs, y: FORMULAS[y].xs == xs,
        lambda y, zs: (FORMULAS[y].zs or OMITTED) == zs,
    ],
    xs=[of for i, of in enumerate(f.xs for f in FORMULAS.values()) if of not in [f.xs for f in FORMULAS.values()][:i]],
    y=tuple(FORMULAS),
    zs=(OMITTED, ["Inputs_1"]),
)
def gradient(
    *Inputs: np.ndarray, xs: Sequence[Any], y: str, zs: Sequence[Any] | None, nodes: Sequence[onnx.NodeProto]
) -> tuple[np.ndarray, ...]:
    """The derivative of a ``y`` of one element "with respect to each of tensors specified in the attribute "xs"".

    "The i-th input is the value of the i-th tensor specified in the concatenated list of the attribute "xs" and the
    attribute "zs"", and stands "for all the occurrences" of it, whatever the graph has there. ``nodes`` are those of
    the graph, in their order. What the gradient of a ``y`` of several elements is, the text does not say. Raises
    KeyError where ``xs`` and ``zs`` do not determine ``y``, or by operators that have no rule here.
    """
    asked, others = ([name.decode() if isinstance(name, bytes) else name for name in of or ()] for of in (xs, zs))
    known = dict(zip([*asked, *others], Inputs, strict=True))
    taken: list[tuple[onnx.NodeProto, dict[str, Any]]] = []
    for node in nodes:
        if node.op_type in RULES and node.output[0] not in known and all(name in known for name in node.input):
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            forward, _ = RULES[node.op_type]
            known[node.output[0]] = np.asarray(forward(*(known[name] for name in node.input), **attributes))
            taken.append((node, attributes))
    slopes: dict[str, Any] = dict.fromkeys(known, 0)
    slopes[y] = np.full_like(known[y], 1)
    for node, attributes in reversed(taken):
        values = [known[name] for name in node.input]
        _, backward = RULES[node.op_type]
        for name, value, slope in zip(
            node.input, values, backward(slopes[node.output[0]], *values, **attributes), strict=True
        ):
            if slope is not None:
                slopes[name] = slopes[name] + _gathered(np.asarray(slope), value.shape)
    return tuple(np.asarray(slopes[x] + np.zeros_like(known[x])) for x in asked)


def _gathered(slope: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum over the axes along which a tensor of this shape was broadcast."""
    added = slope.ndim - len(shape)
    stretched = [i + added for i, size in enumerate(shape) if size == 1 and slope.shape[i + added] != 1]
    return np.asarray(slope.sum(axis=(*range(added), *stretched))).reshape(shape)


@gradient.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Ordinary values; each formula differentiates by what it is asked for, and by nothing else."""
    formula = FORMULAS[draw.attributes["y"]]
    steps = tuple(onnx.parser.parse_node(step.format(to=type_code(draw.types["T2"]))) for step in formula.steps)
    of, real = parse_type(draw.types["T1"]), parse_type(draw.types["T2"])
    values = [Typed(real, draw.T2.ordinary(formula.shapes[0]))]
    values += [Typed(of, draw.T1.ordinary(shape)) for shape in formula.shapes[1:]]
    outer = {"w": Typed(real, draw.T2.ordinary((2, 3)))} if "h" in formula.xs else {}
    yield Sample({"Inputs": tuple(values)}, outputs=len(formula.xs), outer=outer, nodes=steps)
