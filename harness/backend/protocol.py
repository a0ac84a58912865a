"""The protocol between the harness and a backend: JSON lines on standard input and output, tensors as file paths.

The harness starts the program once and sends it many requests. The program reads one request per line from standard
input, writes each answer as one line to standard output, flushes it, and exits when its input ends. Standard error is
free for anything else.

The first request asks the backend to describe itself::

    {"do":"describe","protocol":2}
    {"protocol":2,"description":{"name":"mine","version":"1.2","device":"CPU","configuration":{"passes":"all"}}}

If the backend cannot start, the answer has a ``message`` (and perhaps an ``advice``) instead of a description.

Every other request is a case: a model, and the data sets to run it on. The next case may arrive before the last one is
answered::

    {"do":"case","id":7,"model":"/…/model.onnx","inputs":["tensor(float)"],"outputs":["tensor(float)"],
     "data_sets":[{"inputs":["/…/input_0.pb"],"outputs":["/…/output_0.pb"]},{"inputs":["/…"],"outputs":["/…"]}]}

``inputs`` and ``outputs`` are the types of the graph's inputs and outputs, spelled as in ONNX's schemas. Each ``.pb``
file holds the proto that ONNX's own tests use for that type: TensorProto, SparseTensorProto, SequenceProto,
OptionalProto or MapProto. The program runs the model on each data set, writes the outputs to new files at the given
paths, and answers with one line per data set, in order::

    {"id":7,"data_set":0,"status":"ok","outputs":["tensor(float)"],"seconds":0.0003,"prepare_seconds":0.002}
    {"id":7,"data_set":1,"status":"error","message":"RuntimeError: axis 4 is out of range"}

- ``data_set`` is the index in the request's ``data_sets``.
- ``status`` is ``ok``, ``unsupported`` (the backend declines), ``error`` (the backend fails) or
  ``missing_requirement`` (the machine lacks something that the backend needs, such as a locale; the verdict is
  ``not_run``). All but ``ok`` take a ``message``.
- ``outputs`` lists the actual type of every value that the backend returned, even if it differs from the declared type.
  If the backend returned more values than there are paths, list all types and write only the first values.
- ``seconds`` and ``prepare_seconds`` are optional.

An answer without ``data_set`` applies to all data sets of the case that have no answer yet, for example if the model
cannot be prepared::

    {"id":8,"status":"unsupported","message":"no kernel for Trilu"}
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.backend.interface import Description

PROTOCOL_VERSION = 2
CANNOT_WRITE_STATUS = 74
"""Exit status of the Python worker if it cannot write an output file, which is not the backend's fault (EX_IOERR)."""


class DescribeRequest(msgspec.Struct, frozen=True, tag_field="do", tag="describe"):
    """The first request: asks the backend to describe itself."""

    protocol: int = PROTOCOL_VERSION


class DataSetPaths(msgspec.Struct, frozen=True):
    """The files of one data set: those to read and those to write."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class CaseRequest(msgspec.Struct, frozen=True, tag_field="do", tag="case"):
    """Every other request: asks the backend to run a model on these data sets."""

    id: int
    model: str
    inputs: tuple[str, ...]
    """Type of each graph input."""
    outputs: tuple[str, ...]
    """Declared type of each graph output."""
    data_sets: tuple[DataSetPaths, ...]


Request: TypeAlias = DescribeRequest | CaseRequest


class DescribeAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to ``describe``: a description, or a message if the backend cannot start."""

    protocol: int
    description: Description | None = None
    message: str = ""
    """Why the backend cannot start."""
    advice: str = ""
    """What the user can do about it."""


class CaseAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer for one data set of a case or, without ``data_set``, for all that have no answer yet."""

    id: int
    status: Literal["ok", "unsupported", "error", "missing_requirement"]
    data_set: int | None = None
    outputs: tuple[str, ...] = ()
    """Type of every value that the backend returned."""
    seconds: float = 0.0
    """Time in the prepared model's call."""
    prepare_seconds: float = 0.0
    """Time in ``prepare``; in the first answer of a case only."""
    message: str = ""
