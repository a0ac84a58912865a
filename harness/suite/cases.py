"""The case as data: what a manifest line and a ``data.json`` say of one test directory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.numbers.distributions import Distribution
from harness.spec.element_types import BY_NAME, Bits
from harness.spec.values import SparseTensorType, TensorType, ValueType


class Labels(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a case stands: the coordinates that selections, tables and names are made of. All values are text."""

    op: str
    """Operator; empty for a graph of several nodes."""
    domain: str = ""
    """Empty for ai.onnx."""
    since: int = 0
    """since_version of the operator's schema; 0 for a graph of several nodes."""
    category: str = ""
    """ONNX's own ``defs/`` folder: math, tensor, nn …"""
    types: dict[str, str] = {}
    """Type variable → element type (``float16``), or the whole type where it is no tensor (``seq(tensor(float))``)."""
    attributes: dict[str, str] = {}
    """Every attribute of the schema → its value as text, or ``omitted``."""
    omitted: tuple[str, ...] = ()
    """The optional inputs and outputs that the node leaves out, by name."""
    group: str = ""
    """What the data set tries: the name of its input group."""


class DataSet(msgspec.Struct, frozen=True, omit_defaults=True):
    """A set of inputs and the outputs they must give."""

    group: str
    about: str = ""
    """The input group's docstring."""
    seed: str = ""
    """What the draws were seeded with."""
    elements: int = 0
    """Elements in the expected outputs."""
    insensitive: int = 0
    """Of these, how many have a bound so wide that they cannot fail; where all are, the set counts for no coverage."""
    unspecified: str = ""
    """Why the specification leaves the answer open, with its clause: all of it, which is then run and never scored, or
    ``unspecified_elements``."""
    unspecified_elements: int = 0
    """How many elements are open, if not all are; ``unspecified_I.pb`` marks them. The others are scored."""
    bits: Bits = ""
    """What else must match because the text is about it: the signs of zeros, or all bits, those of NaN included."""
    exercises: tuple[str, ...] | None = None
    """The attributes whose value this data set is the first of its version to show: another gives another answer.

    None if that is not known, as of tests from elsewhere.
    """
    numbers: bool = False
    """Strings in the outputs spell numbers: another spelling of the same number is as good."""
    hidden: bool = False
    """Only this harness can judge it: its files lie where other runners do not look for them."""

    @property
    def is_scored(self) -> bool:
        """Whether the specification decides at least one element of the answer."""
        return not self.unspecified or self.unspecified_elements > 0

    @property
    def can_fail(self) -> bool:
        """Whether it is scored and has an element, or none at all, whose value a wrong answer would miss."""
        undecided = self.insensitive + self.unspecified_elements
        return self.is_scored and (undecided < self.elements or not self.elements)


FORMAT = 2
"""The format of ``data.json`` and ``manifest.jsonl``; both state it as ``format``."""


class Case(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="format", tag=FORMAT):
    """One test directory; ``data.json`` is all of it but ``name`` and ``files``, the manifest line is all of it."""

    name: str
    labels: Labels
    """Without ``group``, which belongs to each data set."""
    inputs: tuple[str, ...]
    """Type of each graph input, e.g. ``tensor(float16)``."""
    outputs: tuple[str, ...]
    data_sets: tuple[DataSet, ...]
    rtol: float
    """For foreign runners (``onnx.backend.test``); they pass whatever the bounds pass."""
    atol: float
    judged: Literal["bounds", "tolerance", "property"]
    """``bounds``: by bound_N.pb, bit for bit where there is none. ``tolerance``: by rtol and atol.
    ``property``: by ``distributions``; output_N.pb is an example."""
    distributions: tuple[Distribution, ...] = ()
    """The law that each output follows, where answers are random."""
    clause: str = ""
    """The sentence of the spec, where one needs quoting."""
    files: dict[str, str] = {}
    """Path inside the directory → SHA-256."""

    def file_prefix(self, data_set: int) -> str:
        """What the paths of a data set's files begin with: ``test_data_set_N/``, or ``hidden_data_set_N_``.

        Hidden ones have no folder: onnxruntime's ``onnx_test_runner`` takes each folder of a case for a data set.
        """
        return f"hidden_data_set_{data_set}_" if self.data_sets[data_set].hidden else f"test_data_set_{data_set}/"

    def labels_of(self, data_set: int) -> Labels:
        """The labels of one data set, ``group`` included."""
        return msgspec.structs.replace(self.labels, group=self.data_sets[data_set].group)


class Built(msgspec.Struct, frozen=True):
    """A case and the contents of its files, by path inside its directory."""

    case: Case
    files: dict[str, bytes]


def mask_type(of: ValueType) -> ValueType:
    """The type of the mask beside an output: bool tensors in the structure of the output."""
    if isinstance(of, TensorType | SparseTensorType):
        return TensorType(BY_NAME["bool"])
    return msgspec.structs.replace(of, of=mask_type(of.of))


OF_THE_DIRECTORY = ("name", "files")
"""The fields of a case that its ``data.json`` leaves out."""


def finish(case: Case, files: Mapping[str, bytes]) -> Built:
    """The case with its ``data.json`` and the SHA-256 of every file."""
    fields = {k: v for k, v in msgspec.to_builtins(case).items() if k not in OF_THE_DIRECTORY}
    contents = {"data.json": msgspec.json.format(msgspec.json.encode(fields), indent=2) + b"\n", **files}
    return Built(msgspec.structs.replace(case, files=hashes(contents)), contents)


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each file, by path in order, as ``Case.files`` has them."""
    return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())}
