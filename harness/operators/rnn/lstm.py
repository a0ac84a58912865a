"""LSTM: the long short-term memory, with a state of its cells, peepholes and coupled gates."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from harness.operators.rnn.recurrence import (
    COUPLED,
    TRANSPOSED,
    Cell,
    Setting,
    functions,
    parts,
    recurrence,
    transposed,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, Sample

GATES = 4


def lstm(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    P: np.ndarray | None = None,
    *,
    activations: Any,
    activation_alpha: Any,
    activation_beta: Any,
    clip: Any,
    direction: str,
    input_forget: int,
    **others: Any,
) -> tuple[np.ndarray, ...]:
    """``Ct = ft (.) Ct-1 + it (.) ct`` and ``Ht = ot (.) h(Ct)``, with the gates in the order ``iofc``.

    ``it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Pi (.) Ct-1 + Wbi + Rbi)``,
    ``ft = f(Xt*(Wf^T) + Ht-1*(Rf^T) + Pf (.) Ct-1 + Wbf + Rbf)``,
    ``ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc)``,
    ``ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Po (.) Ct + Wbo + Rbo)``;
    gates that ``input_forget`` couples are ``ft = 1 - it``, or ``it = 1 - ft`` by the other reading.
    """
    names = activations or ["Sigmoid", "Tanh", "Tanh"] * 2
    fs = functions(names, activation_alpha, activation_beta, clip)
    if others.get("h_is_clipped") is False:
        fs[2::3] = functions(names, activation_alpha, activation_beta, None)[2::3]

    def step(d: int, x: np.ndarray, before: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f, g, h = fs[3 * d : 3 * d + 3]
        wi, wo, wf, wc = parts(W, d, GATES)
        ri, ro, rf, rc = parts(R, d, GATES)
        wbi, wbo, wbf, wbc, rbi, rbo, rbf, rbc = parts(B, d, 2 * GATES)
        pi, po, pf = parts(P, d, 3)
        i = f(wi @ x + ri @ before + pi * cell + wbi + rbi)
        forget = f(wf @ x + rf @ before + pf * cell + wbf + rbf)
        if input_forget:
            i, forget = (1 - forget, forget) if others.get("reading") == COUPLED[1] else (i, 1 - i)
        c = g(wc @ x + rc @ before + wbc + rbc)
        new = forget * cell + i * c
        o = f(wo @ x + ro @ before + po * new + wbo + rbo)
        return o * h(new), new

    layout = others.get("layout", 0)
    return recurrence(step, X, R, sequence_lens, initial_h, initial_c, direction=direction, layout=layout)


def lstm_1(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    P: np.ndarray | None = None,
    **attributes: Any,
) -> tuple[np.ndarray, ...]:
    """As later, with ``Ht-1*Ri`` and so on; ``output_sequence`` only says whether Y may be left out."""
    return lstm(X, W, transposed(R, GATES), B, sequence_lens, initial_h, initial_c, P, **attributes)


def lstm_coupled(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    P: np.ndarray | None = None,
    *,
    reading: str,
    **attributes: Any,
) -> tuple[np.ndarray, ...]:
    """As the others, with input and forget gates that are coupled in one way or the other."""
    return lstm(X, W, R, B, sequence_lens, initial_h, initial_c, P, reading=reading, **attributes)


def lstm_coupled_1(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    P: np.ndarray | None = None,
    *,
    reading: str,
    **attributes: Any,
) -> tuple[np.ndarray, ...]:
    """As later, with ``Ht-1*Ri`` and so on."""
    return lstm(X, W, transposed(R, GATES), B, sequence_lens, initial_h, initial_c, P, reading=reading, **attributes)


def lstm_either_way(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    initial_c: np.ndarray | None = None,
    P: np.ndarray | None = None,
    *,
    reading: str,
    **attributes: Any,
) -> tuple[np.ndarray, ...]:
    """As version 1, with the recurrence weights transposed or not."""
    weights = transposed(R, GATES) if reading == TRANSPOSED[0] else R
    return lstm(X, W, weights, B, sequence_lens, initial_h, initial_c, P, **attributes)


def cell_within_clip(draw: Draw, sample: Sample) -> Sample | None:
    """The sample with such weights of the cell gate and initial cells that no cell is beyond ``clip``, if it can be.

    That ``clip`` reaches the input of h, which is the cell, has a group of its own.
    """
    if draw.attributes["clip"] is OMITTED:
        return sample
    given = dict(sample.inputs)
    for _ in range(_HALVINGS):
        if not _reaches_h(given, draw.attributes):
            return msgspec.structs.replace(sample, inputs=given)
        for name, blocks in (("W", GATES), ("R", GATES), ("B", 2 * GATES)):
            if name in given:
                each = given[name].astype(np.float64).reshape(len(given[name]), blocks, -1)
                each[:, GATES - 1 :: GATES] /= 2
                given[name] = draw.T(each.reshape(given[name].shape))
        if "initial_c" in given:
            given["initial_c"] = draw.T(given["initial_c"].astype(np.float64) / 2)
    return None


_HALVINGS = 8


def _reaches_h(given: Inputs, attributes: Mapping[str, Any]) -> bool:
    """Whether clipping the input of h changes any output."""
    plain = {name: x.astype(np.int64 if name == "sequence_lens" else np.float64) for name, x in given.items()}
    stated = {name: None if value is OMITTED else value for name, value in attributes.items()}
    stated |= {"direction": stated["direction"] or "forward", "layout": stated.get("layout") or 0, "input_forget": 0}
    with np.errstate(all="ignore"):
        clipped, free = (lstm(**plain, **stated, h_is_clipped=one) for one in (True, False))
    return any(not np.array_equal(one, other, equal_nan=True) for one, other in zip(clipped, free, strict=True))


SETTINGS: list[Setting] = [
    (["HardSigmoid", "ScaledTanh", "Affine"], [0.3, 1.5, 0.75], [0.6, 0.75, -0.25]),
    (["Affine", "HardSigmoid", "ScaledTanh"], [0.75, 0.3, 1.5], [-0.25, 0.6, 0.75]),
    (["ScaledTanh", "Affine", "HardSigmoid"], [1.5, 0.75, 0.3], [0.75, -0.25, 0.6]),
    (["HardSigmoid", "Tanh", "Tanh"], OMITTED, OMITTED),
    (["HardSigmoid", "Tanh", "Tanh"], [0.3], [0.6]),
    (["LeakyRelu", "Elu", "ThresholdedRelu"], [0.1, 0.75, -0.5], OMITTED),
    (["Elu", "ThresholdedRelu", "LeakyRelu"], OMITTED, OMITTED),
    (["ThresholdedRelu", "LeakyRelu", "Elu"], [-0.5, 0.1], OMITTED),
    (["Relu", "Softsign", "Softplus"], OMITTED, OMITTED),
    (["Softsign", "Softplus", "Relu"], OMITTED, OMITTED),
    (["Softplus", "Relu", "Softsign"], OMITTED, OMITTED),
    (["Tanh", "Sigmoid", "Sigmoid"], OMITTED, OMITTED),
    (["Sigmoid", "Tanh", "Tanh", "HardSigmoid", "Softsign", "Relu"], OMITTED, OMITTED),
    (
        ["HardSigmoid", "ScaledTanh", "Affine", "LeakyRelu", "Elu", "ThresholdedRelu"],
        [0.3, 1.5, 0.75, 0.1, 0.75, -0.5],
        [0.6, 0.75, -0.25],
    ),
]
OLDER: list[Setting] = [(["HardSigmoid", "Tanh", "Tanh"], OMITTED, OMITTED), *SETTINGS[8:9], *SETTINGS[-2:]]

_CELL: Any = {
    "name": "LSTM",
    "default": ("Sigmoid", "Tanh", "Tanh"),
    "gates": GATES,
    "states": ("initial_h", "initial_c"),
    "peepholes": 3,
    "steps_in_bfloat16": 1,
    "settle": cell_within_clip,
}
LSTM, LSTM_1 = Cell(**_CELL), Cell(**_CELL, symmetric=True)

FREE = ((OMITTED, 0), (0,))
LSTM.declare(lstm, 22, SETTINGS, layout=((OMITTED, 1), (0,)), input_forget=FREE)
LSTM.declare(lstm, 14, OLDER, layout=((OMITTED, 1), (0,)), input_forget=FREE)
LSTM.declare(lstm, 7, OLDER, input_forget=FREE)
LSTM_1.declare(lstm_1, 1, OLDER, output_sequence=(FLAG, FLAG), input_forget=FREE)
LSTM_1.declare_readings(
    lstm_either_way, 1, TRANSPOSED, LSTM_1.not_symmetric, output_sequence=(OMITTED,), input_forget=(0,)
)
for _since in (22, 14):
    LSTM.declare_readings(lstm_coupled, _since, COUPLED, LSTM.gates_apart, layout=(OMITTED, 1), input_forget=(1,))
LSTM.declare_readings(lstm_coupled, 7, COUPLED, LSTM.gates_apart, input_forget=(1,))
LSTM_1.declare_readings(lstm_coupled_1, 1, COUPLED, LSTM_1.gates_apart, output_sequence=(OMITTED, 1), input_forget=(1,))
