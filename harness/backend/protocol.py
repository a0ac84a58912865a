"""The protocol between the harness and a backend: JSON lines on standard input and output, tensors as file paths.

A program is started once and asked many times. It reads a request a line from standard input, writes an answer a line
to standard output, flushed, and ends when its input ends. It may write anything it likes to standard error.

First it is asked what it is, and says so::

    {"do":"describe","protocol":2}
    {"protocol":2,"description":{"name":"mine","version":"1.2","device":"CPU","configuration":{"passes":"all"}}}

Then it gets cases, the next perhaps before it has answered the last. A case is a model, and data sets to run it on::

    {"do":"case","id":7,"model":"/…/model.onnx","inputs":["tensor(float)"],"outputs":["tensor(float)"],
     "data_sets":[{"inputs":["/…/input_0.pb"],"outputs":["/…/output_0.pb"]},{"inputs":["/…"],"outputs":["/…"]}]}

``inputs`` and ``outputs`` state the types of the graph's inputs and outputs as ONNX's schemas spell them. A ``.pb``
file holds the proto that ONNX's own tests keep: TensorProto, SparseTensorProto, SequenceProto, OptionalProto or
MapProto, as the type says. The program runs the model on each data set, writes its outputs to new files of the names
given for them, and answers a line a data set, in their order::

    {"id":7,"data_set":0,"status":"ok","outputs":["tensor(float)"],"seconds":0.0003,"prepare_seconds":0.002}
    {"id":7,"data_set":1,"status":"error","message":"RuntimeError: axis 4 is out of range"}

``data_set`` is the place in the request's list. ``outputs`` states the type of every value that the backend gave, be it
what was declared or not; where it gave more values than there are files, the rest are stated and not written. Seconds
may be left out. ``status`` is ``ok``, ``unsupported`` (the backend declines), ``error`` (it fails) or
``missing_requirement`` (the machine lacks something that the backend needs, such as a locale; the verdict is
``not_run``). The last three take a message. An answer
without ``data_set`` stands for all data sets of the case that have none yet: the model could not be prepared::

    {"id":8,"status":"unsupported","message":"no kernel for Trilu"}
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.backend.interface import Description

PROTOCOL = 2
"""The version of this protocol."""
CANNOT_WRITE = 74
"""Exit status of our own worker where it cannot write an answer, which is nobody's verdict (``EX_IOERR``)."""


class Describe(msgspec.Struct, frozen=True, tag_field="do", tag="describe"):
    """The first request: what are you?"""

    protocol: int = PROTOCOL


class Files(msgspec.Struct, frozen=True):
    """One data set: the files to read, and those to write."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class RunCase(msgspec.Struct, frozen=True, tag_field="do", tag="case"):
    """The other request: run this model on these data sets."""

    id: int
    model: str
    inputs: tuple[str, ...]
    """Type of each graph input."""
    outputs: tuple[str, ...]
    """Declared type of each graph output."""
    data_sets: tuple[Files, ...]


Request: TypeAlias = Describe | RunCase


class Described(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to ``describe``: a description, or a message that says why the backend cannot start."""

    protocol: int
    description: Description | None = None
    message: str = ""
    advice: str = ""
    """With a message: what to do about it."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to one data set, or (``data_set`` left out) to all of the case that have none yet."""

    id: int
    status: Literal["ok", "unsupported", "error", "missing_requirement"]
    data_set: int | None = None
    outputs: tuple[str, ...] = ()
    """Type of every value the backend gave."""
    seconds: float = 0.0
    """In the backend's run."""
    prepare_seconds: float = 0.0
    """In the backend's prepare; with the case's first answer."""
    message: str = ""
