"""ArrayFeatureExtractor: elements of the last axis, by index."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import Inputs, Sample, operator

FLOAT = "tensor(float)"


@operator("ArrayFeatureExtractor", domain="ai.onnx.ml", since=1, exact=True)
def array_feature_extractor(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """``Z[..., i] = X[..., Y[i]]``: "The indices are applied to the last axes of the tensor."

    The length of the last axis is "the total amount of indices", as shape inference has it, whatever their shape.
    """
    return X[..., Y.astype(np.int64).reshape(-1)]


@array_feature_extractor.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Two of five columns, the later one first."""
    yield {"X": draw.T.ordinary((3, 5)), "Y": np.array([4, 1])}


@array_feature_extractor.inputs()
def repeated(draw: Draw) -> Iterator[Inputs]:
    """Indices several times, in any order, and more of them than there are columns."""
    for indices in ([2, 0, 4, 4, 0, 2, 2], [4, 4, 4, 3, 0, 0, 0]):
        yield {"X": draw.T.ordinary((3, 5)), "Y": np.array(indices)}


@array_feature_extractor.inputs(T=(FLOAT, "string"))
def ranks(draw: Draw) -> Iterator[Inputs]:
    """Tensors of ranks 3 and 4: all axes but the last stay."""
    for shape in ((2, 3, 4), (3, 1, 2, 5)):
        yield {"X": draw.T.ordinary(shape), "Y": np.array([3, 0])}


@array_feature_extractor.inputs(T=(FLOAT, "string"))
def shapes_of_indices(draw: Draw) -> Iterator[Inputs]:
    """Indices in tensors of ranks 2 and 3, each of which counts as one more element of the last axis."""
    for shape in ((1, 4), (2, 3), (2, 1, 2), (1,)):
        indices = [draw.integer(0, 4) for _ in range(np.prod(shape))]
        yield {"X": draw.T.ordinary((3, 5)), "Y": np.array(indices).reshape(shape)}


@array_feature_extractor.inputs(T=(FLOAT, "string"))
def empty(draw: Draw) -> Iterator[Inputs]:
    """No rows, and no indices."""
    yield {"X": draw.T.ordinary((0, 5)), "Y": np.array([4, 1])}
    yield {"X": draw.T.ordinary((3, 5)), "Y": np.array([], np.int64)}


@array_feature_extractor.inputs(T=("float", "signed"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """The special values of the type, in reverse."""
    specials = draw.T.specials()
    yield {"X": np.stack([specials, np.roll(specials, 3)]), "Y": np.arange(len(specials))[::-1].copy()}


@array_feature_extractor.inputs(T=(FLOAT, "string"))
def open_shapes(draw: Draw) -> Iterator[Sample]:
    """A vector of data, then a scalar as the index."""
    of_vector = (
        "ArrayFeatureExtractor-1 does not say what the shape of Z is where X has one axis, and shape inference states "
        "none there."
    )
    of_scalar = (
        "ArrayFeatureExtractor-1 does not say whether a scalar index leaves an axis of length 1, and shape inference "
        "states no length there."
    )
    yield Sample({"X": draw.T.ordinary((5,)), "Y": np.array([4, 1, 1])}, unspecified=of_vector)
    yield Sample({"X": draw.T.ordinary((3, 5)), "Y": np.array(2)}, unspecified=of_scalar)


array_feature_extractor.example(
    "test_ai_onnx_ml_array_feature_extractor",
    np.arange(12, dtype=np.float32).reshape(3, 4),
    [0, 1],
    gives=np.array([[0, 1], [4, 5], [8, 9]], np.float32),
)
