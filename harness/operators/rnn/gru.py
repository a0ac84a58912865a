"""GRU: the gated recurrent unit, in the two forms of its reset gate."""

from typing import Any

import numpy as np

from harness.operators.rnn.recurrence import Cell, Setting, functions, parts, recurrence, transposed
from harness.oracles.operator import FLAG, OMITTED

GATES = 3


def gru(
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
    """``Ht = (1 - zt) (.) ht + zt (.) Ht-1``, with the gates ``z``, ``r`` and ``h`` in this order.

    ``zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)``, ``rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)``,
    ``ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh)``, or
    ``g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh)`` when ``linear_before_reset != 0``.
    """
    fs = functions(activations or ["Sigmoid", "Tanh"] * 2, activation_alpha, activation_beta, clip)

    def step(d: int, x: np.ndarray, before: np.ndarray) -> tuple[np.ndarray]:
        f, g = fs[2 * d : 2 * d + 2]
        wz, wr, wh = parts(W, d, GATES)
        rz, rr, rh = parts(R, d, GATES)
        wbz, wbr, wbh, rbz, rbr, rbh = parts(B, d, 2 * GATES)
        z = f(wz @ x + rz @ before + wbz + rbz)
        r = f(wr @ x + rr @ before + wbr + rbr)
        if others.get("linear_before_reset", 0):
            h = g(wh @ x + r * (rh @ before + rbh) + wbh)
        else:
            h = g(wh @ x + rh @ (r * before) + rbh + wbh)
        return ((1 - z) * h + z * before,)

    layout = others.get("layout", 0)
    return recurrence(step, X, R, sequence_lens, initial_h, direction=direction, layout=layout)


def gru_1(
    X: np.ndarray,
    W: np.ndarray,
    R: np.ndarray,
    B: np.ndarray | None = None,
    sequence_lens: np.ndarray | None = None,
    initial_h: np.ndarray | None = None,
    **attributes: Any,
) -> tuple[np.ndarray, ...]:
    """As later, with ``Ht-1*Rz``, ``Ht-1*Rr`` and ``*Rh``; ``output_sequence`` only says whether Y may be left out.

    ``linear_before_reset`` came with version 3.
    """
    return gru(X, W, transposed(R, GATES), B, sequence_lens, initial_h, **attributes)


SETTINGS: list[Setting] = [
    (["HardSigmoid", "Affine"], [0.3, 0.75], [0.6, -0.25]),
    (["Affine", "HardSigmoid"], [0.75, 0.3], [-0.25, 0.6]),
    (["ScaledTanh", "LeakyRelu"], [1.5, 0.1], [0.75]),
    (["HardSigmoid", "ScaledTanh"], [0.3, 1.5], [0.6, 0.75]),
    (["HardSigmoid", "Tanh"], OMITTED, OMITTED),
    (["HardSigmoid", "Tanh"], [0.3], [0.6]),
    (["LeakyRelu", "ThresholdedRelu"], OMITTED, OMITTED),
    (["ThresholdedRelu", "Elu"], [0.5, 0.75], OMITTED),
    (["Elu", "HardSigmoid"], OMITTED, OMITTED),
    (["Relu", "Softsign"], OMITTED, OMITTED),
    (["Softsign", "Softplus"], OMITTED, OMITTED),
    (["Softplus", "Relu"], OMITTED, OMITTED),
    (["Tanh", "Sigmoid"], OMITTED, OMITTED),
    (["Sigmoid", "Tanh", "HardSigmoid", "Softsign"], OMITTED, OMITTED),
    (["ScaledTanh", "HardSigmoid", "Elu", "LeakyRelu"], [1.5, 0.3, 0.75, 0.1], [0.75, 0.6]),
]
OLDER: list[Setting] = [
    (["HardSigmoid", "Tanh"], OMITTED, OMITTED),
    (["HardSigmoid", "Affine", "ScaledTanh", "LeakyRelu"], [0.3, 0.75, 1.5, 0.1], [0.6, -0.25, 0.75]),
    (["Elu", "ThresholdedRelu", "Sigmoid", "Softsign"], [0.75, 0.5], OMITTED),
    (["Softplus", "Relu", "Tanh", "Sigmoid"], OMITTED, OMITTED),
]
OLDEST: list[Setting] = [(["Tanh", "Sigmoid"], OMITTED, OMITTED), *OLDER[1:]]
"""Version 1 does not say that there are defaults of alpha and beta."""

GRU = Cell("GRU", ("Sigmoid", "Tanh"), GATES)
GRU_3 = Cell("GRU", ("Sigmoid", "Tanh"), GATES, symmetric=True)
GRU_1 = Cell("GRU", ("Sigmoid", "Tanh"), GATES, symmetric=True, last_required=True)

RESET = ((OMITTED, 0, 1), (0, 2))
GRU.declare(gru, 22, SETTINGS, layout=((OMITTED, 1), (0,)), linear_before_reset=RESET)
GRU.declare(gru, 14, OLDER, layout=((OMITTED, 1), (0,)), linear_before_reset=RESET)
GRU.declare(gru, 7, OLDER, linear_before_reset=RESET)
GRU_3.declare(gru_1, 3, OLDER, output_sequence=(FLAG, FLAG), linear_before_reset=RESET)
GRU_1.declare(gru_1, 1, OLDEST, output_sequence=(FLAG, FLAG))
