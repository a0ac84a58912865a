"""What a vendor implements: the backend interface and its exceptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from harness.errors import UsageError
from harness.spec.values import Value

Runner = Callable[[Sequence[Value]], Sequence[Value]]
"""A prepared model: from the graph's inputs, in order, to its outputs, in order."""


class Description(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a backend says of itself."""

    name: str
    version: str
    device: str = "CPU"
    configuration: dict[str, str] = {}


class Unsupported(Exception):
    """The backend declines, and says why; every other exception is an error."""


class MissingRequirement(Exception):
    """The machine lacks what the backend needs for this, a locale say: its message says what, and where to get it.

    That is no fault of the backend's: the verdict is ``not_run``.
    """


class Backend(Protocol):
    """What executes models: an adapter's class, made without arguments in a process of its own."""

    def describe(self) -> Description:
        """What this is: its name, version, device and configuration."""
        ...

    def prepare(self, model: bytes) -> Runner:
        """Make a serialized ModelProto ready to run on any number of data sets.

        Raises Unsupported and Lacking, also when run.
        """
        ...


class UnknownBackend(UsageError):
    """A name that no backend has, or a path to a class that is not there."""


class BrokenAdapter(UsageError):
    """An adapter that does not import, or whose class is no backend."""
