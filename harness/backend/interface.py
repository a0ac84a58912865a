"""The backend interface and its exceptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from harness.errors import UsageError
from harness.spec.values import Value

PreparedModel = Callable[[Sequence[Value]], Sequence[Value]]
"""What ``prepare`` returns: a function from the graph's inputs to the graph's outputs, both in graph order."""


class Description(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a backend says about itself."""

    name: str
    version: str
    device: str = "CPU"
    configuration: dict[str, str] = {}


class Unsupported(Exception):
    """The backend declines a model; the message is the reason. Every other exception is an error."""


class MissingRequirement(Exception):
    """The machine lacks something that the backend needs for a model, such as a locale.

    The message names what is missing and how to install it. The verdict is ``not_run``, which is not a failure.
    """


class Backend(Protocol):
    """Executes models. The harness creates it without arguments, in a worker process."""

    def describe(self) -> Description:
        """Return the name, version, device and configuration of the runtime."""
        ...

    def prepare(self, model: bytes) -> PreparedModel:
        """Prepare a serialized ModelProto to run on any number of data sets.

        ``prepare`` and the function it returns may raise Unsupported and MissingRequirement.
        """
        ...


class UnknownBackend(UsageError):
    """The value of ``--backend`` names a backend, module or class that does not exist."""


class BrokenAdapter(UsageError):
    """The adapter cannot be imported or created, or it is not a backend."""
