"""Miniature backends: one for each verdict and each kind of misbehaviour.

Workers find this module through PYTHONPATH. A model is an Identity, or an Add of its two inputs.
"""

# ruff: noqa: T201 - some of them print

import ctypes
import mmap
import os
import signal
import sys
import time
import unittest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx

from harness.backend import Description, MissingRequirement, Unsupported


class Right:
    """Every answer is right."""

    def describe(self):
        return Description(type(self).__name__, "1", configuration={"size": "mini"})

    def prepare(self, model):
        node = onnx.load_from_string(model).graph.node[0]
        return lambda inputs: self.run(inputs[0] if node.op_type == "Identity" else inputs[0] + inputs[1])

    def run(self, y):
        return [y]


class LosesZeros(Right):
    """Its adapter makes every -0 a +0."""

    def run(self, y):
        return [y + np.zeros_like(y)]


class SwapsZeros(Right):
    """Its Add makes -0 a +0; an Identity is right."""

    def prepare(self, model):
        run, is_add = super().prepare(model), onnx.load_from_string(model).graph.node[0].op_type == "Add"
        return (lambda inputs: [y + np.zeros_like(y) for y in run(inputs)]) if is_add else run


class WrongType(Right):
    def run(self, y):
        return [y.astype(np.float64)]


class WrongShape(Right):
    def run(self, y):
        return [y.reshape(y.shape[::-1])]


class WrongCount(Right):
    def run(self, y):
        return [y, y]


class NoOutput(Right):
    def run(self, y):
        return []


class OneBoundOff(Right):
    def run(self, y):
        y = y.copy()
        y.flat[0] += np.float32(5e-3)  # five bounds of the miniature suite
        return [y]


class HalfTheAllowance(Right):
    def run(self, y):
        return [y + np.float32(2e-3)]


class SwapsNan(Right):
    def run(self, y):
        return [np.where(np.isnan(y), np.float32(0), np.where(y == y.flat[0], np.float32(np.nan), y))]


SIGNALLING = {"float16": 0x7D01, "bfloat16": 0x7F81, "float32": 0x7F800001, "float64": 0x7FF0000000000001}
"""Bit patterns of a signalling NaN."""


def signalling_nans(dtype, shape):
    """An array of signalling NaNs, whose conversion raises the invalid-operation flag; complex ones in both parts."""
    parts = 2 if dtype.kind == "c" else 1
    name = f"float{8 * dtype.itemsize // 2}" if parts == 2 else dtype.name
    patterns = np.full((*shape, parts), SIGNALLING[name], f"u{dtype.itemsize // parts}")
    return patterns.view(dtype).reshape(shape)


class SignallingNan(Right):
    def run(self, y):
        return [signalling_nans(y.dtype, y.shape)]


class FlipsZero(Right):
    def run(self, y):
        return [np.where(y == 0, -y, y)]


class Mutates(Right):
    """Writes into its inputs after reading them."""

    def prepare(self, model):
        def run(inputs):
            y = inputs[0].copy()
            inputs[0][...] = 7
            return [y]

        return run


class Chatty(Right):
    def run(self, y):
        print("this is no protocol line")
        sys.stdout.flush()
        os.write(1, b"nor is this\n")
        print("nor this", file=sys.stderr)
        return [y]


class ReadsInput(Right):
    def run(self, y):
        return [y] if sys.stdin.read() == "" and os.read(0, 10) == b"" else []


class Raises(Right):
    def run(self, y):
        raise ValueError("axis 4\n  is out of range")


class RaisesInPrepare(Right):
    def prepare(self, model):
        raise RuntimeError("no kernel today")


class PanicException(BaseException):
    """What a Rust extension raises when it panics."""


class Panics(Right):
    def run(self, y):
        raise PanicException("index out of bounds")


class RaisesRudely(Right):
    def run(self, y):
        class RudeError(Exception):
            def __str__(self):
                raise ValueError

        raise RudeError


class Declines(Right):
    def prepare(self, model):
        raise Unsupported("no kernel for it")


class DeclinesLater(Right):
    def run(self, y):
        raise Unsupported("not of this shape")


class MissingLocale(Right):
    def run(self, y):
        raise MissingRequirement("the locale tlh_QO is not installed")


class NoCallable(Right):
    def prepare(self, model):
        return None


class HangsInPrepare(Right):
    def prepare(self, model):
        signal.pause()


class HangsSecond(Right):
    """Hangs in the second data set of each case."""

    def prepare(self, model):
        calls = []

        def run(inputs):
            calls.append(1)
            if len(calls) == 2:
                signal.pause()
            return [inputs[0]]

        return run


class Exits(Right):
    def run(self, y):
        sys.stderr.write("out of luck\n")
        sys.exit(3)


class Segfaults(Right):
    def run(self, y):
        sys.stderr.write("about to go\n")
        sys.stderr.flush()
        ctypes.string_at(0)


class SegfaultsInPrepare(Right):
    def prepare(self, model):
        os.kill(os.getpid(), signal.SIGSEGV)


class SegfaultsSecond(Right):
    """Crashes in the second data set of each case."""

    def prepare(self, model):
        def run(inputs):
            if inputs[0].flat[0] == 1:
                os.kill(os.getpid(), signal.SIGSEGV)
            return [inputs[0]]

        return run


class SegfaultsOnce(Right):
    """Crashes once per run: the first worker, after its first answer."""

    answered = 0

    def run(self, y):
        self.answered += 1
        if self.answered == 2:
            try:
                os.close(os.open(os.environ["MINIATURE_MARK"], os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return [y]
            os.kill(os.getpid(), signal.SIGSEGV)
        return [y]


class EatsMemory(Right):
    def run(self, y):
        hoard = []
        while True:
            hoard.append(bytearray(b"x") * (16 << 20))


class EatsSharedMemory(Right):
    """Takes shared memory, which RLIMIT_DATA does not count."""

    def run(self, y):
        hoard = mmap.mmap(-1, 512 << 20)
        for offset in range(0, len(hoard), mmap.PAGESIZE):
            hoard[offset] = 1
        signal.pause()


class Leaks(Right):
    """Leaks 32 MiB in every case."""

    def __init__(self):
        self.hoard = []

    def run(self, y):
        self.hoard.append(mmap.mmap(-1, 32 << 20))
        for offset in range(0, 32 << 20, mmap.PAGESIZE):
            self.hoard[-1][offset] = 1
        time.sleep(0.05)  # so that at most five cases, 160 MiB, come between two looks at its memory
        return [y]


class HighIdleMemory(Right):
    """Uses more than half of the allowed memory from the start."""

    def __init__(self):
        self.hoard = mmap.mmap(-1, 160 << 20)
        for offset in range(0, len(self.hoard), mmap.PAGESIZE):
            self.hoard[offset] = 1


class GivesNumber(Right):
    def run(self, y):
        return [1.5]


class GivesArray(Right):
    def run(self, y):
        return y


class GivesMixedList(Right):
    def run(self, y):
        return [[y, y.astype(np.float64)]]


class GivesNone(Right):
    def run(self, y):
        return [None]


class GivesObjects(Right):
    def run(self, y):
        return [np.array([object()] * y.size, dtype=object)]


class Forks(Right):
    """Exits, and leaves a child that holds the worker's descriptors."""

    def run(self, y):
        if os.fork() == 0:
            signal.pause()
        os._exit(5)


class Slow(Right):
    """Takes 5 ms per data set, so that a run can be killed while it runs."""

    def run(self, y):
        time.sleep(0.005)
        return [y]


class Gated(Right):
    """Answers ten data sets, then waits until a file is there."""

    answered = 0

    def run(self, y):
        self.answered += 1
        while self.answered > 10 and not Path(os.environ["MINIATURE_GATE"]).exists():
            time.sleep(0.01)
        return [y]


class FailsToStartAgain(Right):
    """Starts once, and is killed in its first case."""

    def __init__(self):
        try:
            os.close(os.open(os.environ["MINIATURE_MARK"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise RuntimeError("the licence server is away") from None

    def run(self, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Instant(Right):
    def prepare(self, model):
        return lambda inputs: [inputs[0]]


class NoMethods:
    pass


class NoDescription(Right):
    def describe(self):
        return "mine"


class NeedsArgument(Right):
    def __init__(self, path):
        pass


# Backends for onnx's own backend tests.


class BackendIsNotSupposedToImplementIt(unittest.SkipTest):
    """Recognized by its name only."""


class Outputs(NamedTuple):
    y: np.ndarray


class OnnxRight:
    @classmethod
    def supports_device(cls, device):
        return device == "CPU"

    @classmethod
    def is_compatible(cls, model):
        return model.graph.node[0].op_type != "Add"

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        class Prepared:
            def run(self, inputs, **kwargs):
                return Outputs(*inputs)

        return Prepared()


class OnnxElsewhere(OnnxRight):
    @classmethod
    def supports_device(cls, device):
        return device == "CUDA"


class OnnxDeclines(OnnxRight):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        raise BackendIsNotSupposedToImplementIt("not this one")
