"""Adagrad, Adam and Momentum: one step of a gradient descent for any number of tensors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, operator

DOMAIN = "ai.onnx.preview.training"
NORM = (OMITTED, 0.3)
SHAPE = (3, 5)


def _for_each(step: Callable[..., tuple[Any, ...]], inputs: Sequence[np.ndarray], roles: int) -> tuple[Any, ...]:
    """The step of each tensor by itself: all X come first, then what belongs to them, role by role; so do the results.

    "For example, if two tensor "X_1" and "X_2" are optimized, The input list would be ["X_1", "X_2", gradient of "X_1",
    gradient of "X_2", …]."
    """
    count = len(inputs) // roles
    results = [step(*inputs[i::count]) for i in range(count)]
    return tuple(value for role in zip(*results, strict=True) for value in role)


def one_of_two(a: Any, b: Any) -> bool:
    """Whether one attribute is given and the other left out."""
    return (a is OMITTED) != (b is OMITTED)


# The step's size is computed from scalars of T1, and no text says in which type they then meet the tensors.
@operator(
    "Adagrad",
    domain=DOMAIN,
    since=1,
    working_type="T1",
    constraints=[
        lambda T1, T3, norm_coefficient: T1 == T3 or norm_coefficient is not OMITTED,
        lambda T1, T3, decay_factor: T1 == T3 or decay_factor is not OMITTED,
        lambda T1, T3, epsilon: T1 == T3 or epsilon is not OMITTED,
        lambda T3, decay_factor, epsilon: T3 == "tensor(float)" or not one_of_two(decay_factor, epsilon),
    ],
    norm_coefficient=NORM,
    decay_factor=(OMITTED, 0.1),
    epsilon=(OMITTED, 0.05),
)
def adagrad(
    R: np.ndarray, T: np.ndarray, *inputs: np.ndarray, norm_coefficient: float, decay_factor: float, epsilon: float
) -> tuple[np.ndarray, ...]:
    """``X_new = X - r * G_regularized / (Sqrt(H_new) + epsilon)`` and ``H_new = H + G_regularized * G_regularized``."""
    r = R / (1 + int(T) * decay_factor)

    def step(X: np.ndarray, G: np.ndarray, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g = norm_coefficient * X + G
        h = H + g * g
        return X - r * g / (np.sqrt(h) + epsilon), h

    return _for_each(step, inputs, 3)


@operator(
    "Adam",
    domain=DOMAIN,
    since=1,
    working_type="T1",
    # Each pair of values of two attributes in 8 rows, of the 32 that the five have together.
    constraints=[
        lambda T1, T3, alpha: T1 == T3 or alpha is not OMITTED,
        lambda T1, T3, beta: T1 == T3 or beta is not OMITTED,
        lambda T1, T3, epsilon: T1 == T3 or epsilon is not OMITTED,
        lambda alpha, beta, norm_coefficient: one_of_two(alpha, beta) == (norm_coefficient is not OMITTED),
        lambda alpha, epsilon, norm_coefficient_post: (
            one_of_two(alpha, epsilon) == (norm_coefficient_post is not OMITTED)
        ),
    ],
    alpha=(OMITTED, 0.7),
    beta=(OMITTED, 0.6),
    epsilon=(OMITTED, 0.05),
    norm_coefficient=NORM,
    norm_coefficient_post=(OMITTED, 0.7),
)
def adam(
    R: np.ndarray,
    T: np.ndarray,
    *inputs: np.ndarray,
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
    norm_coefficient_post: float,
) -> tuple[np.ndarray, ...]:
    """``X_final = (1 - norm_coefficient_post) * (X - R_adjusted * V_new / (Sqrt(H_new) + epsilon))``.

    ``V_new = alpha * V + (1 - alpha) * G_regularized``, ``H_new = beta * H + (1 - beta) * G_regularized *
    G_regularized``, and "R_adjusted = T > 0 ? R * Sqrt(1 - beta**T) / (1 - alpha**T) : R".
    """
    t = int(T)
    r = R * np.sqrt(1 - beta**t) / (1 - alpha**t) if t > 0 else R

    def step(X: np.ndarray, G: np.ndarray, V: np.ndarray, H: np.ndarray) -> tuple[np.ndarray, ...]:
        g = norm_coefficient * X + G
        v = alpha * V + (1 - alpha) * g
        h = beta * H + (1 - beta) * g * g
        return (1 - norm_coefficient_post) * (X - r * v / (np.sqrt(h) + epsilon)), v, h

    return _for_each(step, inputs, 4)


@operator(
    "Momentum",
    domain=DOMAIN,
    since=1,
    constraints=[
        lambda T1, T3, beta: T1 == T3 or beta != 1.0,
        lambda alpha, beta: (alpha == STEADY) == (beta == 1.0),
        lambda T3, beta, norm_coefficient: T3 == "tensor(float)" or (beta == 1.0) == (norm_coefficient == 0.0),
    ],
    alpha=(STEADY := 0.95, -0.3),
    beta=(1.0, 0.6),
    mode=("standard", "nesterov"),
    norm_coefficient=(0.0, 0.3),
)
def momentum(
    R: np.ndarray,
    T: np.ndarray,
    *inputs: np.ndarray,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> tuple[np.ndarray, ...]:
    """``V_new = alpha * V + beta_adjusted * G_regularized``, where beta is 1 in the first iteration (T = 0).

    ``X_new = X - R * V_new``, or of Nesterov ``X - R * (G_regularized + alpha * V_new)``.
    """
    beta_adjusted = beta if int(T) > 0 else 1

    def step(X: np.ndarray, G: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g = norm_coefficient * X + G
        v = alpha * V + beta_adjusted * g
        return X - R * (g + alpha * v if mode == "nesterov" else v), v

    return _for_each(step, inputs, 3)


class Groups(msgspec.Struct, frozen=True):
    """The input groups of an optimizer."""

    one: Operator
    roles: str
    """X, its gradient G, its momentum V and its squared gradients H, as far as there are such, in the inputs' order."""

    def register(self) -> None:
        """Gives them to the optimizer, those that are not about types for the most usual ones."""
        self.one.inputs()(self.ordinary)
        self.one.inputs(lambda T1, T3: T1 == T3)(self.several_tensors)
        for group in (self.counts, self.hardly_a_gradient, self.special_values):
            self.one.inputs(T1="tensor(float)", T3="tensor(float)")(group)

    def drawn(self, draw: Draw, count: int, *tensors: dict[str, np.ndarray]) -> Sample:
        """A step of these tensors, each a dict of its roles."""
        inputs = tuple(tensor[role] for role in self.roles for tensor in tensors)
        results = len(tensors) * (len(self.roles) - 1)
        return Sample({"R": draw.T1(0.3), "T": draw.T2(count), "inputs": inputs}, outputs=results)

    def tensor(self, draw: Draw, *shape: int) -> dict[str, np.ndarray]:
        """Ordinary values; sums of squares are not negative."""
        values = {role: draw.T3.ordinary(shape) for role in self.roles}
        return {role: np.asarray(np.abs(x)) if role == "H" else x for role, x in values.items()}

    def ordinary(self, draw: Draw) -> Iterator[Sample]:
        """One tensor, at one of the update counts 0, 1, 2 and 7."""
        yield self.drawn(draw, (0, 1, 2, 7)[draw.integer(0, 3)], self.tensor(draw, *SHAPE))

    def counts(self, draw: Draw) -> Iterator[Sample]:
        """The first update, whether it is counted 0 or 1, and a late one."""
        for count in (0, 1, 1000):
            yield self.drawn(draw, count, self.tensor(draw, *SHAPE))

    def several_tensors(self, draw: Draw) -> Iterator[Sample]:
        """Two tensors of different shapes at once, or three, some without axes or without elements."""
        shapes = (((2, 3), (4,)), ((), (3, 2)), ((4,), (2, 0), ()))[draw.integer(0, 2)]
        yield self.drawn(draw, 2, *(self.tensor(draw, *shape) for shape in shapes))

    def hardly_a_gradient(self, draw: Draw) -> Iterator[Sample]:
        """From zeros, with gradients of 0 and of the size of an epsilon: what keeps from a division by zero counts."""
        tensor = {role: draw.T3(np.zeros(SHAPE)) for role in self.roles}
        tensor["G"] = draw.T3(np.resize([0, 2**-20, -(2**-18), 2**-5, -(2**-23), 2**-15], SHAPE))
        yield self.drawn(draw, 3, tensor)

    def special_values(self, draw: Draw) -> Iterator[Sample]:
        """NaN and infinities in the gradient, and what has gathered of them: no other element knows."""
        tensor = self.tensor(draw, *SHAPE)
        tensor["G"][0, :3] = draw.T3([np.nan, np.inf, -np.inf])
        for i, role in enumerate(self.roles[2:]):
            tensor[role][1 + i, :2] = draw.T3([np.nan, np.inf])
        yield self.drawn(draw, 2, tensor)


Groups(adagrad, "XGH").register()
Groups(adam, "XGVH").register()
Groups(momentum, "XGV").register()
