"""LinearClassifier and LinearRegressor: weighted sums of features."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.operators.traditionalml.post_transform import NAMED, NONE, OPEN, reals, top, transformed
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, Types, operator

FLOAT = "tensor(float)"
ROWS, FEATURES = 5, 4
WEIGHTS = [0.5, -1.0, 0.25, 1.5, -0.5, 0.75, 1.0, -0.25, 2.0, 0.25, -1.5, 0.5]
"""Multiples of 1/4, as the features are: their products are multiples of 1/16."""
OFFSETS = [1 / 64, -1.0 + 2 / 64, 0.5 + 3 / 64]
"""No two scores that have them are equal."""
MILD = [0.125, -0.0625, 0.0625, -0.125, 0.0625, 0.125, -0.125, 0.0625, -0.125, 0.125, -0.0625, 0.0625]
MIDDLE = [0.5 + 1 / 64, 0.5 + 2 / 64, 0.5 + 3 / 64]
"""With features from -1 to 1 every score is between 0 and 1."""


def linear_scores(X: np.ndarray, coefficients: Any, intercepts: Any, count: int) -> np.ndarray:
    """``X[n] · coefficients[i] + intercepts[i]``: "the coefficients for each target are contiguous" [N, count]."""
    scores = reals(np.atleast_2d(X)) @ reals(coefficients).reshape(count, -1).T
    return scores if intercepts is None else scores + reals(intercepts)


def linear_classifier(
    X: np.ndarray,
    *,
    coefficients: Any,
    intercepts: Any,
    classlabels_ints: list[int] | None,
    classlabels_strings: list[bytes] | None,
    post_transform: str,
    **_: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The label of the greatest of the scores, "one score for each class and example", and these transformed.

    X is "of shape [N,C] or [C]. In the latter case, it will be treated as [1,C]".
    """
    labels = classlabels_ints or classlabels_strings or []
    count = len(coefficients) // X.shape[-1]
    scores = linear_scores(X, coefficients, intercepts, count)
    if count < len(labels):
        scores = np.concatenate([-scores, scores], axis=1)
    return top(scores, labels), transformed(scores, post_transform)


BINARY = (
    "LinearClassifier-1: shape inference has two scores where there are two labels and one intercept. What the other "
    "one is, and which of them decides, is not said."
)
MULTINOMIAL = (
    'LinearClassifier-1, multi_class: "Indicates whether to do OvR or multinomial (0=OvR is the default)." What '
    "multinomial does to the scores is not said."
)


def declare_classifier(classes: int, *, exact: bool, transforms: Sequence[str], **pools: Any) -> Operator:
    """Declares the classifier with so many labels, these transforms, and other attributes where they are stated."""

    def labels(types: Types, of: str, values: list[Any]) -> Any:
        return values[:classes] if types["T2"] == of else OMITTED

    given: dict[str, Any] = {
        "coefficients": (WEIGHTS[: classes * FEATURES],),
        "intercepts": (OFFSETS[:classes],),
        "multi_class": (OMITTED,),
        "constraints": (),
        **pools,
    }
    return operator(
        "LinearClassifier",
        domain="ai.onnx.ml",
        since=1,
        exact=exact,
        full_product=True,
        classlabels_ints=(lambda types: labels(types, "tensor(int64)", [7, -2, 2**53 + 1]),),
        classlabels_strings=(lambda types: labels(types, "tensor(string)", [b"cat", "Grüße".encode(), b""]),),
        post_transform=transforms,
        **given,
    )(linear_classifier)


def in_one_type(T1: str, T2: str) -> bool:
    """Where the types are not the point."""
    return (T1, T2) == (FLOAT, "tensor(int64)")


CLASSIFIERS = (
    declare_classifier(
        3,
        exact=True,
        transforms=NONE,
        multi_class=(OMITTED, 0, 1),
        constraints=[
            lambda T1, multi_class: multi_class == OMITTED or T1 == FLOAT,
            lambda T1, post_transform: post_transform == OMITTED or T1 == FLOAT,
        ],
    ),
    declare_classifier(2, exact=True, transforms=NONE[:1]),
    declare_classifier(3, exact=False, transforms=NAMED[:2], constraints=[lambda T2: T2 == "tensor(int64)"]),
    declare_classifier(
        3, exact=False, transforms=NAMED[2:], coefficients=(MILD,), intercepts=(MIDDLE,), constraints=[in_one_type]
    ),
)
BINARY_CLASSIFIER = declare_classifier(
    2,
    exact=False,
    transforms=(OMITTED, "SOFTMAX", "LOGISTIC"),
    coefficients=(WEIGHTS[:4],),
    intercepts=(OFFSETS[:1],),
    constraints=[in_one_type],
)


@operator(
    "LinearRegressor",
    domain="ai.onnx.ml",
    since=1,
    exact=True,
    constraints=[
        lambda coefficients, targets: len(coefficients) == FEATURES * (1 if targets == OMITTED else targets),
        lambda T, post_transform: post_transform == OMITTED or T == FLOAT,
        lambda T, targets: targets != 1 or T == FLOAT,
        lambda intercepts, targets: intercepts is OMITTED or len(intercepts) == (1 if targets == OMITTED else targets),
    ],
    coefficients=(WEIGHTS, WEIGHTS[:4]),
    intercepts=(OMITTED, OFFSETS, OFFSETS[1:2]),
    post_transform=NONE,
    targets=(OMITTED, 1, 3),
)
def linear_regressor(
    X: np.ndarray, *, coefficients: Any, intercepts: Any, post_transform: str, targets: int
) -> np.ndarray:
    """A weighted sum and its intercept for each target, transformed: "M results … for each input n in N"."""
    return transformed(linear_scores(X, coefficients, intercepts, targets), post_transform)


def declare_regressor(
    transforms: Sequence[str], targets: int, coefficients: Any, intercepts: Any, types: Sequence[str]
) -> Operator:
    """Declares the regressor with transforms that round."""
    return operator(
        "LinearRegressor",
        domain="ai.onnx.ml",
        since=1,
        constraints=[lambda T: T in types],
        coefficients=(coefficients,),
        intercepts=(intercepts,),
        post_transform=transforms,
        targets=(targets,),
    )(linear_regressor.oracle)


EVERY_TYPE = (FLOAT, "tensor(double)", "tensor(int32)", "tensor(int64)")
REGRESSORS = (
    linear_regressor,
    declare_regressor(("SOFTMAX", "LOGISTIC"), 3, WEIGHTS, OFFSETS, EVERY_TYPE),
    declare_regressor(("SOFTMAX", "LOGISTIC"), 1, WEIGHTS[:4], OFFSETS[1:2], EVERY_TYPE[:1]),
    declare_regressor(("SOFTMAX_ZERO", "PROBIT"), 3, MILD, MIDDLE, EVERY_TYPE[:1]),
)


def features(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    """Multiples of 1/4 from -2 to 2, whole numbers of integer types; from -1 to 1 where a transform is open."""
    values = draw.T1 if "T1" in draw.types else draw.T
    if draw.attributes["post_transform"] in OPEN:
        return values.integers(-1, 1, shape)
    if values.element.format:
        return values(values.integers(-8, 8, shape) / 4)
    return values.integers(-2, 2, shape)


def openness(draw: Draw) -> str:
    """Why the attributes leave answers open, or nothing."""
    if draw.attributes.get("multi_class") == 1:
        return MULTINOMIAL
    return OPEN.get(draw.attributes["post_transform"], "")


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Several examples of small features, whose weighted sums no type rounds."""
    yield Sample({"X": features(draw, (ROWS, FEATURES))}, unspecified=openness(draw))


def few_examples(draw: Draw) -> Iterator[Sample]:
    """One example, and none."""
    for rows in (1, 0):
        yield Sample({"X": features(draw, (rows, FEATURES))}, unspecified=openness(draw))


def single_features(draw: Draw) -> Iterator[Sample]:
    """An example of zeros, which leaves the intercepts, and one of a single 1 for each feature."""
    x = np.eye(ROWS, FEATURES, -1)
    yield Sample({"X": (draw.T1 if "T1" in draw.types else draw.T)(x)}, unspecified=openness(draw))


for one in (*CLASSIFIERS, *REGRESSORS):
    one.inputs()(ordinary)
    one.inputs()(single_features)
CLASSIFIERS[0].inputs(T1=FLOAT)(few_examples)
linear_regressor.inputs(T=FLOAT)(few_examples)
BINARY_CLASSIFIER.inputs(unspecified=BINARY)(ordinary)


@CLASSIFIERS[0].inputs()
def one_vector(draw: Draw) -> Iterator[Sample]:
    """A vector: "it will be treated as [1,C]"."""
    yield Sample({"X": features(draw, (FEATURES,))}, unspecified=openness(draw))
