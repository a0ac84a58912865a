"""DepthToSpace and SpaceToDepth: channels laid out as blocks of pixels, and the way back."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Inputs, Operator, operator

SIZES = (2, 1, 3)
MODES = (OMITTED, "DCR", "CRD")


def layout(depth: int, blocksize: int, mode: str) -> Iterator[tuple[int, int, np.ndarray]]:
    """For each place in a block, its row, its column, and the channels [depth] whose values go there.

    DCR counts channels as ``[blocksize, blocksize, c // (blocksize**2)]``, CRD as
    ``[c // (blocksize ** 2), blocksize, blocksize]``.
    """
    for row, column in np.ndindex(blocksize, blocksize):
        place, channel = row * blocksize + column, np.arange(depth)
        yield row, column, place * depth + channel if mode == "DCR" else channel * blocksize**2 + place


def usual(T: str, blocksize: int, mode: str) -> bool:
    """Float meets everything; other types, which have no part in it, meet blocks of 2 in both orders."""
    return T == "tensor(float)" or (blocksize == SIZES[0] and mode is not OMITTED)


@operator("DepthToSpace", since=28, exact=True, constraints=[usual], blocksize=SIZES, mode=MODES)
def depth_to_space(input: np.ndarray, *, blocksize: int, mode: str) -> np.ndarray:
    """Blocks of ``blocksize`` by ``blocksize`` pixels in place of the channels of one."""
    b, c, h, w = input.shape
    depth = c // blocksize**2
    output = np.empty_like(input, shape=(b, depth, h * blocksize, w * blocksize))
    for row, column, channels in layout(depth, blocksize, mode):
        output[:, :, row::blocksize, column::blocksize] = input[:, channels]
    return output


depth_to_space_11 = operator(
    "DepthToSpace", since=(13, 11), exact=True, constraints=[usual], blocksize=SIZES, mode=MODES
)(depth_to_space.oracle)


@operator("DepthToSpace", since=1, exact=True, blocksize=SIZES)
def depth_to_space_1(input: np.ndarray, *, blocksize: int) -> np.ndarray:
    """As later; the order, of which this text says nothing, is that of the official example and the later default."""
    return depth_to_space.oracle(input, blocksize=blocksize, mode="DCR")


@operator("SpaceToDepth", since=28, exact=True, constraints=[usual], blocksize=SIZES, mode=MODES)
def space_to_depth(input: np.ndarray, *, blocksize: int, mode: str) -> np.ndarray:
    """Channels of one pixel in place of a block's: what DepthToSpace is "the reverse transformation of"."""
    b, c, h, w = input.shape
    output = np.empty_like(input, shape=(b, c * blocksize**2, h // blocksize, w // blocksize))
    for row, column, channels in layout(c, blocksize, mode):
        output[:, channels] = input[:, :, row::blocksize, column::blocksize]
    return output


@operator("SpaceToDepth", since=(13, 1), exact=True, blocksize=SIZES)
def space_to_depth_1(input: np.ndarray, *, blocksize: int) -> np.ndarray:
    """As later; the order, of which these texts say nothing, is that of the official example and the later default."""
    return space_to_depth.oracle(input, blocksize=blocksize, mode="DCR")


def try_out(newest: Operator, older: Sequence[Operator], images: Callable[[Draw, tuple[int, ...]], np.ndarray]) -> None:
    """Gives one direction its groups; ``images`` draws such as are [b, c, h, w] in blocks."""

    def ordinary(draw: Draw) -> Iterator[Inputs]:
        """Two images with more than one channel on either side, and blocks along both axes."""
        yield {"input": images(draw, (2, 3, 1, 4))}

    def special_values(draw: Draw) -> Iterator[Inputs]:
        """The type's special values at every place: they move as any others do."""
        yield {"input": np.resize(draw.T.specials(), images(draw, (2, 3, 1, 4)).shape)}

    for op in (newest, *older):
        op.inputs()(ordinary)
        op.inputs(T=("float16", "bfloat16", "double", "uint64", "int64"))(special_values)

    @newest.inputs(T="double")
    def shapes(draw: Draw) -> Iterator[Inputs]:
        """A single block, a column of them, several on both axes."""
        for shape in ((1, 1, 1, 1), (2, 1, 3, 1), (1, 4, 2, 3)):
            yield {"input": images(draw, shape)}

    @newest.inputs(T="int32")
    def empty(draw: Draw) -> Iterator[Inputs]:
        """No images, and no columns."""
        for shape in ((0, 2, 1, 4), (3, 2, 1, 0)):
            yield {"input": images(draw, shape)}


def deep(draw: Draw, blocks: tuple[int, ...]) -> np.ndarray:
    """Images whose channels are to become blocks."""
    b, c, h, w = blocks
    return draw.T.ordinary((b, c * draw.attributes["blocksize"] ** 2, h, w))


def wide(draw: Draw, blocks: tuple[int, ...]) -> np.ndarray:
    """Images of blocks that are to become channels."""
    b, c, h, w = blocks
    return draw.T.ordinary((b, c, h * draw.attributes["blocksize"], w * draw.attributes["blocksize"]))


try_out(depth_to_space, [depth_to_space_11, depth_to_space_1], deep)
try_out(space_to_depth, [space_to_depth_1], wide)

CHANNELS = (9 * np.arange(8, dtype=np.float32)[:, np.newaxis] + np.arange(6, dtype=np.float32)).reshape(1, 8, 2, 3)
DCR = [
    [
        [
            [0, 18, 1, 19, 2, 20],
            [36, 54, 37, 55, 38, 56],
            [3, 21, 4, 22, 5, 23],
            [39, 57, 40, 58, 41, 59],
        ],
        [
            [9, 27, 10, 28, 11, 29],
            [45, 63, 46, 64, 47, 65],
            [12, 30, 13, 31, 14, 32],
            [48, 66, 49, 67, 50, 68],
        ],
    ]
]
CRD = [
    [
        [
            [0, 9, 1, 10, 2, 11],
            [18, 27, 19, 28, 20, 29],
            [3, 12, 4, 13, 5, 14],
            [21, 30, 22, 31, 23, 32],
        ],
        [
            [36, 45, 37, 46, 38, 47],
            [54, 63, 55, 64, 56, 65],
            [39, 48, 40, 49, 41, 50],
            [57, 66, 58, 67, 59, 68],
        ],
    ]
]
for _mode, _space in (("DCR", np.array(DCR, np.float32)), ("CRD", np.array(CRD, np.float32))):
    _name = "example" if _mode == "DCR" else "crd_mode_example"
    depth_to_space.example(f"test_depthtospace_{_name}", CHANNELS, gives=_space, blocksize=2, mode=_mode)
    space_to_depth.example(
        f"test_spacetodepth_{_mode.lower()}_mode_example", _space, gives=CHANNELS, blocksize=2, mode=_mode
    )
