"""What RNN, GRU and LSTM share: time, directions, layouts, lengths and activations, and the inputs that try them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np

from harness.numbers.balls import constant
from harness.numbers.branches import clip as bounded
from harness.numbers.branches import greater_equal, maximum, where
from harness.operators.math.activations import (
    elu,
    float_literal,
    hard_sigmoid,
    leaky_relu,
    sigmoid,
    softplus,
    softsign,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, operator

Function: TypeAlias = Callable[..., Any]
Step: TypeAlias = Callable[..., tuple[Any, ...]]
"""Takes the direction's number, the input at one time and the states; gives the next states, the hidden one first."""
Setting: TypeAlias = tuple[list[str], Any, Any]
"""Values of ``activations``, ``activation_alpha`` and ``activation_beta`` that belong together."""

BACKWARDS: Final = {"forward": (False,), "foward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Whether each direction goes back in time; GRU-1 spells its default ``foward``."""


def _affine(x: Any, alpha: Any, beta: Any) -> Any:
    return alpha * x + beta


def _thresholded_relu(x: Any, alpha: Any) -> Any:
    """``x if x >= alpha else 0``: the operator ThresholdedRelu has ``x > alpha``."""
    return where(greater_equal(x, alpha), x, 0)


def _scaled_tanh(x: Any, alpha: Any, beta: Any) -> Any:
    return alpha * np.tanh(beta * x)


def _default(of: Operator, name: str) -> str:
    """The default of "the corresponding ONNX operator", to its last digit: it is a float."""
    return str(Decimal(next(a.default for a in of.schemas[0].attributes if a.name == name)))


FUNCTIONS: Final[dict[str, tuple[Function, dict[str, str]]]] = {
    "Relu": (lambda x: maximum(0, x), {}),
    "Tanh": (np.tanh, {}),
    "Sigmoid": (sigmoid.oracle, {}),
    "Affine": (_affine, {"alpha": "1", "beta": "0"}),
    "LeakyRelu": (leaky_relu.oracle, {"alpha": _default(leaky_relu, "alpha")}),
    "ThresholdedRelu": (_thresholded_relu, {"alpha": "1"}),
    "ScaledTanh": (_scaled_tanh, {"alpha": "1", "beta": "1"}),
    "HardSigmoid": (hard_sigmoid.oracle, {p: _default(hard_sigmoid, p) for p in ("alpha", "beta")}),
    "Elu": (elu.oracle, {"alpha": _default(elu, "alpha")}),
    "Softsign": (softsign.oracle, {}),
    "Softplus": (softplus.oracle, {}),
}
"""Activation → the function and its parameters' defaults; of Affine and ScaledTanh, which are no operators, any."""


def functions(
    names: Sequence[Any], alpha: Sequence[Any] | None, beta: Sequence[Any] | None, clip: Any
) -> list[Function]:
    """The activations with their values, "consumed in the order of activation functions", and with clipped inputs.

    ``clip`` "bounds the elements of a tensor in the range of [-threshold, +threshold] and is applied to the input of
    activations".
    """
    values = {"alpha": iter(alpha or ()), "beta": iter(beta or ())}

    def function(name: str) -> Function:
        of, defaults = FUNCTIONS[name]
        given = {p: next(values[p], None) for p in defaults}
        parameters = {p: float_literal(constant(defaults[p])) if v is None else v for p, v in given.items()}
        return lambda x: of(x if clip is None else bounded(x, -clip, clip), **parameters)

    return [function(name.decode() if isinstance(name, bytes) else name) for name in names]


def parts(of: np.ndarray | None, direction: int, count: int) -> Sequence[Any]:
    """The concatenated matrices or vectors of one direction; "if not specified - assumed to be 0"."""
    return [0] * count if of is None else np.split(of[direction], count)


def recurrence(
    step: Step, X: np.ndarray, R: np.ndarray, lengths: Any, *initial: np.ndarray | None, direction: str, layout: int = 0
) -> tuple[np.ndarray, ...]:
    """``Y`` and the last of each state: each sequence of the batch by itself, over the time steps that it has.

    ``Y[t]`` is what the step at time ``t`` gives, in reverse too, as official data have it; it is 0 after the
    sequence, which the text leaves open.
    """
    x = X.swapaxes(0, 1) if layout else X
    steps, batch = x.shape[:2]
    directions, hidden = len(R), R.shape[-1]
    y = np.zeros((steps, directions, batch, hidden), X.dtype)
    last = [np.zeros((directions, batch, hidden), X.dtype) for _ in initial]
    for d, b in np.ndindex(directions, batch):
        times = range(steps if lengths is None else int(lengths[b]))
        states = tuple(
            zeros[d, b] if first is None else first[b, d] if layout else first[d, b]
            for first, zeros in zip(initial, last, strict=True)
        )
        for t in reversed(times) if BACKWARDS[direction][d] else times:
            states = step(d, x[t, b], *states)
            y[t, d, b] = states[0]
        for state, value in zip(last, states, strict=True):
            state[d, b] = value
    if layout:
        return y.transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in last)
    return y, *last


def transposed(R: np.ndarray, gates: int) -> np.ndarray:
    """Each gate's recurrence weights transposed, for equations that have ``Ht-1*Ri``; later ones transpose them too."""
    hidden = R.shape[-1]
    return R.reshape(len(R), gates, hidden, hidden).swapaxes(2, 3).reshape(R.shape)


STEPS, HIDDEN, BATCH, INPUT = 3, 4, 5, 6
"""The sizes where they are not the point: distinct, and other than the number of directions."""
NEWEST = 22
FLOAT = "tensor(float)"
TURNS = (OMITTED, "reverse", "bidirectional")
LENGTHS = ((3, 1, 2, 3, 1), (2, 1, 2, 1, 1))
"""Of the sequences in a batch; the second are all shorter than the axis."""

UNTRANSPOSED = (
    "{0}-{1} has Xt*(Wi^T) + Ht-1*Ri, without the transpose that version 7 has of the recurrence weights, which are "
    "square; no official data says whether that was meant."
)
AFTER_THE_END = (
    '"sequence_lens: Optional tensor specifying lengths of the sequences in a batch" does not say what Y, "all the '
    'intermediate output values of the hidden", holds after the end of a sequence.'
)
NO_STEP = '"Y_h: The last output value of the hidden" does not say what it is of a sequence that has no step.'
COUPLED = (
    '"Couple the input and forget gates if 1" does not say whose weights the two gates then have, nor that they add '
    "up to 1."
)
NO_DEFAULT = '"Default values are the same as of corresponding ONNX operators", and there is no operator {0}.'
BY_PLACE = (
    'Alpha and beta "are consumed in the order of activation functions", which does not say whether one that has no '
    "such parameter consumes a value too."
)


class Cell(msgspec.Struct, frozen=True):
    """One of the operators in some of its versions, and the groups of inputs that are given to it."""

    name: str
    default: tuple[str, ...]
    """The activations of a direction."""
    gates: int
    states: tuple[str, ...] = ("initial_h",)
    peepholes: int = 0
    steps_in_bfloat16: int = 2
    """Of more, nothing remains to be seen in bfloat16."""
    symmetric: bool = False
    """The recurrence weights of each gate are symmetric, since the text leaves open whether they are transposed."""
    last_required: bool = False
    """Y_h is no optional output."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Their names."""
        return ("Y", "Y_h", "Y_c")[: 1 + len(self.states)]

    @property
    def optional(self) -> tuple[str, ...]:
        """The inputs that are of the element type and may be left out."""
        return ("B", *self.states, *(("P",) if self.peepholes else ()))

    def steps(self, draw: Draw) -> int:
        """Of a type; not as many as directions."""
        if draw.T.element.name != "bfloat16":
            return STEPS
        return 1 if draw.attributes["direction"] == "bidirectional" else self.steps_in_bfloat16

    def inputs(
        self,
        draw: Draw,
        given: Sequence[str] = (),
        *,
        steps: int | None = None,
        batch: int = BATCH,
        size: int = INPUT,
        symmetric: bool | None = None,
    ) -> dict[str, Any]:
        """X, W, R and the given ones, such that the inputs of activations are of the size of 1."""
        directions = 2 if draw.attributes["direction"] == "bidirectional" else 1
        batchwise = draw.attributes.get("layout") == 1

        def some(scale: float, *shape: int) -> np.ndarray:
            return draw.T(draw.T.ordinary(shape).astype(np.float64) * scale)

        steps = self.steps(draw) if steps is None else steps
        recurrent = some(1 / 8, directions, self.gates, HIDDEN, HIDDEN)
        if self.symmetric if symmetric is None else symmetric:
            recurrent = np.tril(recurrent) + np.tril(recurrent, -1).swapaxes(2, 3)
        found = {
            "X": some(1 / 2, *((batch, steps) if batchwise else (steps, batch)), size),
            "W": some(1 / 4, directions, self.gates * HIDDEN, size),
            "R": recurrent.reshape(directions, self.gates * HIDDEN, HIDDEN),
            "B": some(1 / 8, directions, 2 * self.gates * HIDDEN),
            "P": some(1 / 4, directions, self.peepholes * HIDDEN),
        }
        for state in self.states:
            found[state] = some(1 / 4, *((batch, directions) if batchwise else (directions, batch)), HIDDEN)
        if draw.attributes.get("input_forget") == 1:
            for name, gates in (("W", 4), ("R", 4), ("B", 4), ("P", 3)):
                _opposite(found[name], gates)
        return {name: value for name, value in found.items() if name in ("X", "W", "R", *given)}

    def declare(self, oracle: Function, since: int, settings: Sequence[Setting], **own: tuple[Any, Any]) -> None:
        """Declares a version in two plans: the default activations in all circumstances, and all activations.

        ``own`` gives an attribute that only some versions have its values in either. The newest version gets more.
        """
        newest = since == NEWEST
        attributes = {name: values[0] for name, values in own.items()}
        one = operator(
            self.name,
            since=since,
            activations=(OMITTED, [*self.default], [*self.default, *self.default]),
            activation_alpha=(OMITTED,),
            activation_beta=(OMITTED,),
            clip=(OMITTED, 0.5, 2.0),
            direction=TURNS,
            hidden_size=(HIDDEN, OMITTED),
            constraints=[self.fits, _sized, _timewise, _sized_or_timewise],
            **attributes,
        )(oracle)
        for group in (self.ordinary, self.required_only):
            one.inputs()(group)
        float_only = [self.inputs_left_out, self.lengths]
        if newest:
            one.inputs()(self.saturated)
            float_only += [self.outputs_left_out, self.empty, self.sizes, self.not_a_number, self.open_lengths]
        elif not self.last_required:
            float_only.append(self.hidden_only)
        for group in float_only:
            one.inputs(T=FLOAT)(group)
        if "input_forget" in own and newest:
            one.inputs(T=FLOAT, unspecified=COUPLED)(self.gates_apart)
        if self.symmetric:
            one.inputs(T=FLOAT, unspecified=UNTRANSPOSED.format(self.name, since))(self.not_symmetric)

        def together(activations: Any, activation_alpha: Any, activation_beta: Any) -> bool:
            return (activations, activation_alpha, activation_beta) in settings

        attributes = {name: values[1] for name, values in own.items()}
        one = operator(
            self.name,
            since=since,
            activations=[*map(list, dict.fromkeys(tuple(names) for names, *_ in settings))],
            activation_alpha=_each(alpha for _, alpha, _ in settings),
            activation_beta=_each(beta for *_, beta in settings),
            clip=(OMITTED,),
            direction=("forward", "reverse", "bidirectional"),
            hidden_size=(HIDDEN,),
            constraints=[self.fits, together, *([] if newest else [_float])],
            **attributes,
        )(oracle)
        one.inputs()(self.activated)

    def fits(self, activations: Any, direction: Any) -> bool:
        """Whether there are as many activations as the direction asks for."""
        wanted = len(self.default) * (2 if direction == "bidirectional" else 1)
        return activations is OMITTED or len(activations) == wanted

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """All inputs but the lengths, all outputs."""
        yield Sample(self.inputs(draw, self.optional))

    def required_only(self, draw: Draw) -> Iterator[Sample]:
        """X, W and R alone: the others are 0."""
        yield Sample(self.inputs(draw))

    def inputs_left_out(self, draw: Draw) -> Iterator[Sample]:
        """One of the optional inputs left out, another one for each direction."""
        left_out = self.optional[_number(draw) :: len(TURNS)]
        for name in left_out or self.optional[:1]:
            yield Sample(self.inputs(draw, [other for other in self.optional if other != name]))

    def outputs_left_out(self, draw: Draw) -> Iterator[Sample]:
        """Optional outputs left out: each choice that leaves one, spread over the directions."""
        choices = [
            left_out for n in range(1, len(self.outputs)) for left_out in itertools.combinations(self.outputs, n)
        ]
        for left_out in choices[_number(draw) :: len(TURNS)] or choices[:1]:
            yield Sample(self.inputs(draw, self.optional), without=left_out)

    def hidden_only(self, draw: Draw) -> Iterator[Sample]:
        """Y left out, which is optional if ``output_sequence`` is 0."""
        if draw.attributes.get("output_sequence") != 1:
            yield Sample(self.inputs(draw, ["B"]), without=("Y",))

    def lengths(self, draw: Draw) -> Iterator[Sample]:
        """Lengths that are those of the axis; shorter ones, of which the last values are those at their ends.

        In reverse the last element of each sequence comes first, and what is after it has no part in it.
        """
        inputs = self.inputs(draw, self.optional)
        yield Sample(inputs | {"sequence_lens": np.full(BATCH, STEPS, np.int32)})
        if draw.attributes.get("output_sequence") != 1:
            for lengths in LENGTHS:
                yield Sample(inputs | {"sequence_lens": np.array(lengths, np.int32)}, without=("Y",))

    def open_lengths(self, draw: Draw) -> Iterator[Sample]:
        """All outputs of shorter sequences; the last values of sequences of which some have no step."""
        inputs = self.inputs(draw, self.optional)
        yield Sample(inputs | {"sequence_lens": np.array(LENGTHS[0], np.int32)}, unspecified=AFTER_THE_END)
        no_steps = np.array([2, 0, 3, 1, 0], np.int32)
        yield Sample(inputs | {"sequence_lens": no_steps}, without=("Y",), unspecified=NO_STEP)

    def empty(self, draw: Draw) -> Iterator[Sample]:
        """No sequences; sequences of no steps, whose Y has no elements and whose last values are open."""
        yield Sample(self.inputs(draw, self.optional, batch=0))
        no_steps = self.inputs(draw, self.optional, steps=0)
        yield Sample(no_steps, without=self.outputs[1:])
        yield Sample(no_steps, without=("Y",), unspecified=NO_STEP)

    def sizes(self, draw: Draw) -> Iterator[Sample]:
        """One step of one sequence of one number; a longer sequence alone."""
        yield Sample(self.inputs(draw, self.optional, steps=1, batch=1, size=1))
        yield Sample(self.inputs(draw, self.optional, steps=7, batch=1, size=3))

    def saturated(self, draw: Draw) -> Iterator[Sample]:
        """Inputs of activations far beyond where Sigmoid is 0 or 1, and exp overflows, on either side."""
        inputs = self.inputs(draw, self.optional)
        yield Sample(inputs | {"X": draw.T(inputs["X"].astype(np.float64) * 2.0**10)})

    def not_a_number(self, draw: Draw) -> Iterator[Sample]:
        """NaN at one time in one sequence: it spreads from there on in the direction, and not to other sequences."""
        if draw.attributes["clip"] == OMITTED:
            inputs = self.inputs(draw, self.optional)
            inputs["X"][(3, 1, 2) if draw.attributes.get("layout") == 1 else (1, 3, 2)] = np.nan
            yield Sample(inputs)

    def gates_apart(self, draw: Draw) -> Iterator[Sample]:
        """Coupled gates with weights of their own each."""
        if draw.attributes["input_forget"] == 1:
            inputs = self.inputs(draw, self.optional)
            inputs["W"] = draw.T(draw.T.ordinary(inputs["W"].shape).astype(np.float64) / 4)
            yield Sample(inputs)

    def not_symmetric(self, draw: Draw) -> Iterator[Sample]:
        """Recurrence weights that are not symmetric."""
        yield Sample(self.inputs(draw, self.optional, symmetric=False))

    def activated(self, draw: Draw) -> Iterator[Sample]:
        """X, W and R alone, and as few outputs as there may be; thresholds are met: "x if x >= alpha else 0"."""
        names, alpha, _ = (draw.attributes[f"activation{suffix}"] for suffix in ("s", "_alpha", "_beta"))
        first, *_ = names
        unspecified = NO_DEFAULT.format(first) if first in ("Affine", "ScaledTanh") and alpha is OMITTED else ""
        if alpha is not OMITTED and "alpha" not in FUNCTIONS[first][1]:
            unspecified = BY_PLACE
        inputs = self.inputs(draw)
        left_out = () if self.last_required else self.outputs[1:]
        yield Sample(
            inputs | {"X": draw.T(2 * inputs["X"].astype(np.float64))}, without=left_out, unspecified=unspecified
        )
        if names == ["ThresholdedRelu"]:
            chosen = np.zeros(inputs["W"].shape)
            chosen[:, np.arange(HIDDEN), np.arange(HIDDEN)] = 1
            halves = draw.T.integers(-3, 3, inputs["X"].shape).astype(np.float64) / 2
            yield Sample({"X": draw.T(halves), "W": draw.T(chosen), "R": 0 * inputs["R"]}, without=left_out)


def _each(values: Iterable[Any]) -> list[Any]:
    """Those that are not the same."""
    return list({repr(value): value for value in values}.values())


def _sized(hidden_size: Any, clip: Any, activations: Any) -> bool:
    """The hidden size is left out only where little else is given, for a backend that wants it shows nothing more."""
    return hidden_size is not OMITTED or (clip is OMITTED and activations is OMITTED)


def _timewise(layout: Any, clip: Any, activations: Any) -> bool:
    """The same of the other layout."""
    return layout is OMITTED or (clip is OMITTED and activations is OMITTED)


def _sized_or_timewise(hidden_size: Any, layout: Any) -> bool:
    return hidden_size is not OMITTED or layout is OMITTED


def _float(T: str) -> bool:
    return T == FLOAT


def _number(draw: Draw) -> int:
    return TURNS.index(draw.attributes["direction"])


def _opposite(of: np.ndarray, gates: int) -> None:
    """Makes the forget gate's weights those of the input gate with the other sign, which couples the two by itself.

    ``Sigmoid(-x)`` is ``1 - Sigmoid(x)``: whichever gate is left to itself, and if both are, they add up to 1.
    """
    each = of.reshape(len(of), -1, gates, HIDDEN, *of.shape[2:])
    each[:, :, 2] = -each[:, :, 0]
