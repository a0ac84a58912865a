"""SVMClassifier and SVMRegressor: weighted sums of a kernel between the features and support vectors."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.numbers.branches import greater
from harness.operators.traditionalml.post_transform import NONE, OPEN, reals, top, transformed
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, operator

FLOAT = "tensor(float)"
ROWS, FEATURES = 5, 4
VECTORS = [0.5, -1.0, 1.0, 1.5, -0.5, 0.5, 1.0, -1.5, 2.0, 0.5, -1.0, 0.0]
WEIGHTS = [0.5, -0.75, 1.25]
MILD = [0.0625, -0.03125, 0.03125]
NOTHING, SQUARE, CUBE = [0.0, 0.0, 0.0], [0.5, 1.0, 2.0], [0.5, -0.5, 3.0]


def kernels(X: np.ndarray, support_vectors: Any, kernel_type: str, kernel_params: Any) -> np.ndarray:
    """The kernel of each example and each support vector [N, S], from "gamma, coef0, and degree, in that order".

    The texts name the kernels; these are the formulas to which the names and those of the parameters belong.
    """
    x = reals(np.atleast_2d(X))
    vectors = reals(support_vectors).reshape(-1, x.shape[1])
    gamma, coef0, degree = kernel_params or (0, 0, 0)
    match kernel_type:
        case "POLY":
            return (gamma * (x @ vectors.T) + coef0) ** int(float(degree))
        case "RBF":
            return np.exp(-gamma * ((x[:, np.newaxis] - vectors) ** 2).sum(axis=2))
        case "SIGMOID":
            return np.tanh(gamma * (x @ vectors.T) + coef0)
        case _:
            return x @ vectors.T


def svm_regressor(
    X: np.ndarray,
    *,
    coefficients: Any,
    kernel_params: Any,
    kernel_type: str,
    one_class: int,
    post_transform: str,
    rho: Any,
    support_vectors: Any,
    **_: int,
) -> np.ndarray:
    """The kernels weighted by the "Support vector coefficients", and rho: "one score per target per example".

    What rho is the text does not say, so that every decided answer has it 0.
    """
    scores = kernels(X, support_vectors, kernel_type, kernel_params) @ reals(coefficients) + reals(rho)
    if one_class:
        scores = np.where(greater(scores, 0), 1, -1)
    return transformed(scores[:, np.newaxis], post_transform)


RHO = "SVMRegressor-1 lists the attribute rho without a description: whether it is added or subtracted is not said."
ONE_CLASS = (
    'SVMRegressor-1, one_class: "Flag indicating whether the regression is a one-class SVM or not." What is put out '
    "then, a score, 1 and -1 or 1 and 0, is not said."
)
ONE_EXAMPLE = (
    'SVMRegressor-1, T: "either [C] or [N,C]"; Y: "one score per target per example". Whether the scores of [C] have '
    "an axis of examples is not said."
)


def declare_regressor(*, exact: bool = False, **pools: Any) -> Operator:
    """Declares the regressor: three support vectors, no rho, a linear kernel unless another is stated."""
    given: dict[str, Any] = {
        "coefficients": (WEIGHTS,),
        "kernel_params": (NOTHING,),
        "kernel_type": (OMITTED,),
        "one_class": (OMITTED,),
        "post_transform": (OMITTED,),
        "rho": ([0.0],),
        **pools,
    }
    return operator(
        "SVMRegressor",
        domain="ai.onnx.ml",
        since=1,
        exact=exact,
        full_product=True,
        n_supports=(len(WEIGHTS),),
        support_vectors=(VECTORS,),
        **given,
    )(svm_regressor)


REGRESSORS = (
    declare_regressor(
        exact=True,
        kernel_type=(OMITTED, "LINEAR"),
        kernel_params=(OMITTED, NOTHING),
        one_class=(OMITTED, 0),
        post_transform=NONE,
        constraints=[
            lambda kernel_type, kernel_params: (kernel_type == OMITTED) == (kernel_params is OMITTED),
            lambda T, kernel_type, one_class: one_class == OMITTED or (T == FLOAT and kernel_type == OMITTED),
            lambda T, kernel_type, post_transform: post_transform == OMITTED or (T == FLOAT and kernel_type == OMITTED),
        ],
    ),
    declare_regressor(exact=True, kernel_type=("POLY",), kernel_params=(SQUARE, CUBE)),
    declare_regressor(kernel_type=("RBF",), kernel_params=([0.25, 0.0, 0.0],)),
    declare_regressor(kernel_type=("SIGMOID",), kernel_params=([0.125, 0.25, 0.0],)),
    declare_regressor(post_transform=("SOFTMAX", "LOGISTIC")),
)


def only_float(T: str) -> bool:
    """Where types are not the point."""
    return T == FLOAT


OPEN_REGRESSORS = (
    (declare_regressor(rho=([0.5],), constraints=[only_float]), RHO),
    (declare_regressor(one_class=(1,), constraints=[only_float]), ONE_CLASS),
    (
        declare_regressor(
            coefficients=(MILD,), rho=([0.5],), post_transform=("SOFTMAX_ZERO", "PROBIT"), constraints=[only_float]
        ),
        "",
    ),
)


def features(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    """Multiples of 1/2 from -2 to 2, whole numbers of integer types; from -1 to 1 where a transform is open."""
    values = draw.T1 if "T1" in draw.types else draw.T
    if draw.attributes["post_transform"] in OPEN:
        return values.integers(-1, 1, shape)
    if values.element.format:
        return values(values.integers(-4, 4, shape) / 2)
    return values.integers(-2, 2, shape)


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Several examples of small features."""
    yield Sample({"X": features(draw, (ROWS, FEATURES))}, unspecified=OPEN.get(draw.attributes["post_transform"], ""))


def support_vectors(draw: Draw) -> Iterator[Sample]:
    """Examples that are the support vectors themselves, one of zeros, and one far from all."""
    if (draw.T1 if "T1" in draw.types else draw.T).element.format:
        x = np.array([*VECTORS, 0, 0, 0, 0, 2, -2, -2, 2]).reshape(ROWS, FEATURES)
        yield Sample({"X": draw.T(x)})


def few_examples(draw: Draw) -> Iterator[Sample]:
    """One example, and none."""
    for rows in (1, 0):
        yield Sample({"X": features(draw, (rows, FEATURES))})


for one in REGRESSORS:
    one.inputs()(ordinary)
    one.inputs()(support_vectors)
REGRESSORS[0].inputs(T=FLOAT)(few_examples)
for one, why in OPEN_REGRESSORS:
    one.inputs(unspecified=why)(ordinary)


@REGRESSORS[0].inputs(T="float", unspecified=ONE_EXAMPLE)
def one_vector(draw: Draw) -> Iterator[Sample]:
    """A vector of features."""
    yield Sample({"X": features(draw, (FEATURES,))})


NO_FORMULA = (
    'SVMClassifier-1: "Support Vector Machine classifier". It describes neither support_vectors, coefficients, '
    "vectors_per_class and rho nor how scores and classes come of them and of prob_a and prob_b."
)
EXTRA = ("tensor(float)", "tensor(int64)")


@operator(
    "SVMClassifier",
    domain="ai.onnx.ml",
    since=1,
    full_product=True,
    constraints=[
        lambda T1, T2: T1 == FLOAT or T2 != "tensor(string)",
        lambda T1, T2, kernel_type: kernel_type == OMITTED or (T1, T2) == EXTRA,
        lambda kernel_type, kernel_params: (kernel_type == OMITTED) == (kernel_params is OMITTED),
        lambda T1, T2, post_transform: post_transform == OMITTED or (T1, T2) == EXTRA,
        lambda kernel_type, post_transform: OMITTED in (kernel_type, post_transform),
        lambda T1, T2, prob_a: prob_a is OMITTED or (T1, T2) == EXTRA,
        lambda kernel_type, post_transform, prob_a: prob_a is OMITTED or kernel_type == post_transform == OMITTED,
        lambda prob_a, prob_b: (prob_a is OMITTED) == (prob_b is OMITTED),
    ],
    classlabels_ints=(lambda types: [7, -2, 3] if types["T2"] == "tensor(int64)" else OMITTED,),
    classlabels_strings=(lambda types: [b"cat", b"", b"a"] if types["T2"] == "tensor(string)" else OMITTED,),
    coefficients=([0.5, -0.75, 1.25, 1.0, -0.5, 0.25, -1.0, 0.75],),
    kernel_params=(OMITTED, SQUARE),
    kernel_type=(OMITTED, "LINEAR", "POLY", "RBF", "SIGMOID"),
    post_transform=(OMITTED, "NONE", "SOFTMAX", "LOGISTIC"),
    prob_a=(OMITTED, [-1.5, -0.5, -1.0]),
    prob_b=(OMITTED, [0.25, -0.25, 0.5]),
    rho=([0.0625, -0.125, 0.1875],),
    support_vectors=([*VECTORS, 1.0, 1.0, -0.5, -1.0],),
    vectors_per_class=([1, 2, 1],),
)
def svm_classifier(
    X: np.ndarray,
    *,
    classlabels_ints: list[int] | None,
    classlabels_strings: list[bytes] | None,
    coefficients: Any,
    kernel_params: Any,
    kernel_type: str,
    post_transform: str,
    rho: Any,
    support_vectors: Any,
    vectors_per_class: list[int],
    **_: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Each pair of classes decides for one of them, as in LIBSVM, and the votes are the scores.

    The document says neither this nor anything else; all of it is silent, and these answers are for show.
    """
    found = kernels(X, support_vectors, kernel_type, kernel_params)
    ends = np.cumsum([0, *vectors_per_class])
    weights = reals(coefficients).reshape(-1, ends[-1])
    votes = np.zeros((len(found), len(vectors_per_class)), np.int64)
    pairs = [(i, j) for i in range(len(vectors_per_class)) for j in range(i + 1, len(vectors_per_class))]
    for (i, j), offset in zip(pairs, reals(rho), strict=True):
        of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        score = found[:, of_i] @ weights[j - 1, of_i] + found[:, of_j] @ weights[i, of_j] + offset
        votes[np.arange(len(votes)), np.where(greater(score, 0), i, j)] += 1
    scores = reals(votes)
    return top(scores, classlabels_ints or classlabels_strings or []), transformed(scores, post_transform)


svm_classifier.inputs(unspecified=NO_FORMULA)(ordinary)
