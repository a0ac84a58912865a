"""RNN: the simple recurrent network, whose hidden state is all that it remembers."""

from typing import Any

import numpy as np

from harness.operators.rnn.recurrence import Cell, Setting, functions, parts, recurrence, transposed
from harness.oracles.operator import FLAG, OMITTED

GATES = 1


def rnn(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    *,
    activations: Any,
    activation_alpha: Any,
    activation_beta: Any,
    clip: Any,
    direction: str,
    **others: Any,
) -> tuple[np.ndarray, ...]:
    """``Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)``."""
    f = functions(activations, activation_alpha, activation_beta, clip)

    def step(d: int, x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray]:
        wb, rb = parts(B, d, 2)
        return (f[d](W[d] @ x + R[d] @ h + wb + rb),)

    layout = others.get("layout", 0)
    return recurrence(step, X, R, sequence_lens, initial_h, direction=direction, layout=layout)


def rnn_1(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    **attributes: Any,
) -> tuple[np.ndarray, ...]:
    """``Ht = f(Xt*(Wi^T) + Ht-1*Ri + Wbi + Rbi)``; ``output_sequence`` only says whether Y may be left out."""
    return rnn(X, W, transposed(R, GATES), B, sequence_lens, initial_h, **attributes)


SETTINGS: list[Setting] = [
    (["Relu"], OMITTED, OMITTED),
    (["Tanh"], OMITTED, OMITTED),
    (["Sigmoid"], OMITTED, OMITTED),
    (["Affine"], [0.75], [-0.25]),
    (["Affine"], OMITTED, OMITTED),
    (["LeakyRelu"], OMITTED, OMITTED),
    (["LeakyRelu"], [0.1], OMITTED),
    (["ThresholdedRelu"], OMITTED, OMITTED),
    (["ThresholdedRelu"], [0.5], OMITTED),
    (["ScaledTanh"], [1.5], [0.75]),
    (["ScaledTanh"], OMITTED, OMITTED),
    (["HardSigmoid"], OMITTED, OMITTED),
    (["HardSigmoid"], [0.3], [0.6]),
    (["HardSigmoid"], [0.3], OMITTED),
    (["HardSigmoid"], OMITTED, [0.6]),
    (["Elu"], OMITTED, OMITTED),
    (["Elu"], [0.5], OMITTED),
    (["Softsign"], OMITTED, OMITTED),
    (["Softplus"], OMITTED, OMITTED),
    (["Relu", "Softsign"], OMITTED, OMITTED),
    (["Affine", "ScaledTanh"], [0.75, 1.5], [-0.25, 0.75]),
    (["LeakyRelu", "Elu"], [0.1, 0.5], OMITTED),
    (["ThresholdedRelu", "Softplus"], [0.25], OMITTED),
    (["Tanh", "LeakyRelu"], [0.1], OMITTED),
    (["Elu", "HardSigmoid"], OMITTED, OMITTED),
]
OLDER: list[Setting] = [
    (["Relu"], OMITTED, OMITTED),
    (["Sigmoid", "Tanh"], OMITTED, OMITTED),
    (["Affine", "ScaledTanh"], [0.75, 1.5], [-0.25, 0.75]),
    (["LeakyRelu", "ThresholdedRelu"], [0.1, 0.5], OMITTED),
    (["HardSigmoid", "Elu"], OMITTED, OMITTED),
    (["Softsign", "Softplus"], OMITTED, OMITTED),
]

RNN = Cell("RNN", ("Tanh",), GATES)
RNN_1 = Cell("RNN", ("Tanh",), GATES, symmetric=True)

RNN.declare(rnn, 22, SETTINGS, layout=((OMITTED, 1), (0,)))
RNN.declare(rnn, 14, OLDER, layout=((OMITTED, 1), (0,)))
RNN.declare(rnn, 7, OLDER)
RNN_1.declare(rnn_1, 1, OLDER, output_sequence=(FLAG, FLAG))
