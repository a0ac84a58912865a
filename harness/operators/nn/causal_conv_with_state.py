"""CausalConvWithState: each channel of a sequence under a kernel of its own that looks back, and what it remembers."""

from collections.abc import Iterator

import numpy as np

from harness.operators.nn.conv import convolved, per_channel
from harness.operators.nn.sliding import sliding, special_images
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Sample, operator


@operator("CausalConvWithState", since=27, activation=(OMITTED, "none", "silu", "swish"))
def causal_conv_with_state(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    past_state: np.ndarray | None = None,
    *,
    activation: str,
) -> tuple[np.ndarray, np.ndarray]:
    """The input after the state, convolved channel by channel, and "the last (k - 1) values" of both.

    Without a state, "padding is zero". SiLU is ``y * Sigmoid(y)`` in the function's body.
    """
    batch, channels, _ = input.shape
    before = weight.shape[2] - 1
    past = np.zeros((batch, channels, before), input.dtype) if past_state is None else past_state
    sequence = np.concatenate([past, input], axis=2)
    y = convolved(sequence, weight, sliding(sequence.shape[2:], weight.shape[2:], None, None, None), channels)
    y = y if bias is None else y + per_channel(bias, y)
    y = y if activation == "none" else y * (1 / (1 + np.exp(-y)))
    return y, sequence[:, :, sequence.shape[2] - before :]


BATCH, CHANNELS, LENGTH, KERNEL = 2, 3, 7, 5


def _random_outputs(
    draw: Draw, batch: int = BATCH, channels: int = CHANNELS, length: int = LENGTH, kernel: int = KERNEL
) -> dict[str, np.ndarray]:
    return {
        "input": draw.T.ordinary((batch, channels, length)),
        "weight": draw.T.ordinary((channels, 1, kernel)),
        "bias": draw.T.ordinary((channels,)),
        "past_state": draw.T.ordinary((batch, channels, kernel - 1)),
    }


def _without(given: dict[str, np.ndarray], *names: str) -> Sample:
    return Sample({name: value for name, value in given.items() if name not in names})


OPTIONAL = ((), ("bias",), ("past_state",), ("bias", "past_state"))


@causal_conv_with_state.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """With a bias and a state, with one of them, and with none."""
    for names in OPTIONAL:
        yield _without(_random_outputs(draw), *names)


@causal_conv_with_state.inputs()
def short_inputs(draw: Draw) -> Iterator[Sample]:
    """Inputs of one step and of two, so that part of the state, or of the zeros before it, stays in the state."""
    for length in (1, 2):
        yield _without(_random_outputs(draw, length=length))
        yield _without(_random_outputs(draw, length=length), "bias", "past_state")


@causal_conv_with_state.inputs(T=("float16", "bfloat16"))
def other_kernels(draw: Draw) -> Iterator[Sample]:
    """A kernel of one element, which leaves no state, and one that is longer than the input."""
    yield _without(_random_outputs(draw, kernel=1))
    yield _without(_random_outputs(draw, kernel=1), "past_state")
    yield _without(_random_outputs(draw, length=4, kernel=9), "past_state")


@causal_conv_with_state.inputs(T="tensor(float)")
def single_and_empty(draw: Draw) -> Iterator[Sample]:
    """One channel of one sequence; no sequences; no steps, which leave the state as it was."""
    yield _without(_random_outputs(draw, batch=1, channels=1), "bias")
    yield _without(_random_outputs(draw, batch=0))
    yield _without(_random_outputs(draw, length=0))


@causal_conv_with_state.inputs()
def special_values(draw: Draw) -> Iterator[Sample]:
    """NaN, infinities, the least and large numbers in the input and in the state: only what looks back to them changes.

    The kernel is positive; no sum is a negative infinity where there is an activation.
    """
    given = _random_outputs(draw) | {"weight": draw.T.near(1, (CHANNELS, 1, KERNEL))}
    for name in ("input", "past_state"):
        for x in special_images(draw, given[name]):
            lowest = draw.attributes["activation"] in (OMITTED, "none")
            yield Sample(given | {name: x if lowest else np.where(np.isneginf(x), -x, x)})
