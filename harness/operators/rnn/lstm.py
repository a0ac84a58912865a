"""LSTM: the long short-term memory, with a state of its cells, peepholes and coupled gates."""

from typing import Any

import numpy as np

from harness.operators.rnn.recurrence import Cell, Setting, functions, parts, recurrence, transposed
from harness.oracles.operator import FLAG, OMITTED

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
    gates that ``input_forget`` couples are taken to be ``ft = 1 - it``.
    """
    fs = functions(activations or ["Sigmoid", "Tanh", "Tanh"] * 2, activation_alpha, activation_beta, clip)

    def step(d: int, x: np.ndarray, before: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f, g, h = fs[3 * d : 3 * d + 3]
        wi, wo, wf, wc = parts(W, d, GATES)
        ri, ro, rf, rc = parts(R, d, GATES)
        wbi, wbo, wbf, wbc, rbi, rbo, rbf, rbc = parts(B, d, 2 * GATES)
        pi, po, pf = parts(P, d, 3)
        i = f(wi @ x + ri @ before + pi * cell + wbi + rbi)
        forget = 1 - i if input_forget else f(wf @ x + rf @ before + pf * cell + wbf + rbf)
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

LSTM = Cell("LSTM", ("Sigmoid", "Tanh", "Tanh"), GATES, ("initial_h", "initial_c"), peepholes=3, steps_in_bfloat16=1)
LSTM_1 = Cell("LSTM", ("Sigmoid", "Tanh", "Tanh"), GATES, ("initial_h", "initial_c"), peepholes=3, symmetric=True)

COUPLING = ((OMITTED, 1), (0,))
LSTM.declare(lstm, 22, SETTINGS, layout=((OMITTED, 1), (0,)), input_forget=COUPLING)
LSTM.declare(lstm, 14, OLDER, layout=((OMITTED, 1), (0,)), input_forget=COUPLING)
LSTM.declare(lstm, 7, OLDER, input_forget=COUPLING)
LSTM_1.declare(lstm_1, 1, OLDER, output_sequence=(FLAG, FLAG), input_forget=COUPLING)
