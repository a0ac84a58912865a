"""ReverseSequence: along one axis, the first elements in reverse, as many as a length for each place of another."""

from collections.abc import Iterator

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import FLAG, OMITTED, Inputs, operator


def axes_differ(T: str, batch_axis: int | str, time_axis: int | str) -> bool:
    """The axes are 0 and 1, either way round; the default of one beside the other's own value is tried in one type."""
    if OMITTED in (batch_axis, time_axis):
        return batch_axis == time_axis or (T == "tensor(float)" and (batch_axis == 1 or time_axis == 0))
    return batch_axis != time_axis


@operator("ReverseSequence", since=(28, 10), exact=True, constraints=[axes_differ], batch_axis=FLAG, time_axis=FLAG)
def reverse_sequence(input: np.ndarray, sequence_lens: np.ndarray, *, batch_axis: int, time_axis: int) -> np.ndarray:
    """Slice ``i`` has ``y[t] = x[length - 1 - t]`` for ``t < length``, its own length, and ``y[t] = x[t]`` beyond.

    A length may be 0, as it is in an official example: none of the "first sequence_lens[i] elements".
    """
    y = input.copy()
    source, target = (np.moveaxis(x, (batch_axis, time_axis), (0, 1)) for x in (input, y))
    for i, length in enumerate(sequence_lens):
        for t in range(length):
            target[i, t] = source[i, length - 1 - t]
    return y


def sequences(draw: Draw, lengths: list[int], time: int, rest: tuple[int, ...] = ()) -> Inputs:
    """Sequences of these lengths in a tensor, batch and time on the row's axes."""
    axes = (len(lengths), time) if draw.attributes["batch_axis"] == 0 else (time, len(lengths))
    return {"input": draw.T.ordinary((*axes, *rest)), "sequence_lens": np.array(lengths, np.int64)}


@reverse_sequence.inputs()
def ordinary(draw: Draw) -> Iterator[Inputs]:
    """Four sequences of up to five steps: all of them, none, one, and a part."""
    yield sequences(draw, [3, 5, 0, 1], 5, (2,))


@reverse_sequence.inputs(T=("int16", "string"))
def all_alike(draw: Draw) -> Iterator[Inputs]:
    """Lengths that are all the same: 0 and 1, which change nothing, and all of the steps."""
    for length in (0, 1, 5):
        yield sequences(draw, [length] * 4, 5, (2,))


@reverse_sequence.inputs(T=("double", "string"))
def shapes(draw: Draw) -> Iterator[Inputs]:
    """A matrix, a tensor of rank 4, one sequence."""
    yield sequences(draw, [2, 4, 3, 0, 1], 4)
    yield sequences(draw, [3, 2], 3, (4, 1))
    yield sequences(draw, [4], 4, (3,))


@reverse_sequence.inputs(T="string")
def empty(draw: Draw) -> Iterator[Inputs]:
    """No sequences, no steps, no elements in a step."""
    yield sequences(draw, [], 3, (2,))
    yield sequences(draw, [0, 0], 0, (3,))
    yield sequences(draw, [3, 1], 3, (0,))


@reverse_sequence.inputs(T=("float", "signed", "unsigned"))
def special_values(draw: Draw) -> Iterator[Inputs]:
    """The type's special values, which come through as they are."""
    inputs = dict(sequences(draw, [5, 2, 4, 3], 5, (2,)))
    yield inputs | {"input": np.resize(draw.T.specials(), inputs["input"].shape)}


EXAMPLE = np.arange(16.0, dtype=np.float32).reshape(4, 4)

reverse_sequence.example(
    "test_reversesequence_time",
    EXAMPLE.T.copy(),
    [4, 3, 2, 1],
    time_axis=0,
    batch_axis=1,
    gives=np.array([[3, 6, 9, 12], [2, 5, 8, 13], [1, 4, 10, 14], [0, 7, 11, 15]], np.float32),
)
reverse_sequence.example(
    "test_reversesequence_batch",
    EXAMPLE,
    [1, 2, 3, 4],
    time_axis=1,
    batch_axis=0,
    gives=np.array([[0, 1, 2, 3], [5, 4, 6, 7], [10, 9, 8, 11], [15, 14, 13, 12]], np.float32),
)
