"""The files that are written in JSON, by name, and the JSON Schema (2020-12) of each from the structs that write it."""

from __future__ import annotations

import ast
import difflib
import inspect
import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec.inspect import StructType, type_info

from harness.backend.protocol import CaseAnswer, CaseRequest, DescribeAnswer, DescribeRequest
from harness.errors import UsageError
from harness.reports.badges import Badge
from harness.reports.comparison import Comparison
from harness.reports.gather import Summary
from harness.results.lines import Footer, Header, Result
from harness.suite.cases import OF_THE_DIRECTORY, Case
from harness.suite.coverage import Coverage


class NoSuchSchema(UsageError):
    """A name that no document has."""


class Document(msgspec.Struct, frozen=True):
    """One kind of JSON text: a file, or a line of one."""

    about: str
    types: tuple[type[msgspec.Struct], ...]
    """It is one of these."""
    without: tuple[str, ...] = ()
    """Fields that it leaves out."""


DOCUMENTS: Mapping[str, Document] = {
    "data": Document("data.json of a test directory", (Case,), OF_THE_DIRECTORY),
    "manifest": Document("a line of manifest.jsonl, and of onnx-conformance list --json", (Case,)),
    "results": Document("a line of results.jsonl", (Header, Result, Footer)),
    "report": Document("report.json", (Summary,)),
    "compare": Document("what onnx-conformance compare --format json prints", (Comparison,)),
    "coverage": Document("a line of onnx-conformance coverage --json", (Coverage,)),
    "badge": Document("badges/<suite>-<backend>.json", (Badge,)),
    "protocol": Document(
        "a line between the harness and a command: backend, either way",
        (DescribeRequest, CaseRequest, DescribeAnswer, CaseAnswer),
    ),
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a document: titles are the structs' names, descriptions their docstrings and their fields'.

    Fields may be added in time, so what is not named here is allowed. Raises NoSuchSchema.
    """
    document = _document(name)
    _, parts = msgspec.json.schema_components(document.types, ref_template="#/$defs/{name}")
    parts = msgspec.json.decode(msgspec.json.encode(parts), type=dict[str, dict[str, Any]])  # no tuples among defaults
    for of in set(_structs(document.types)):
        for field, text in _documented(of).items():
            parts[of.__name__]["properties"][field].setdefault("description", text)
    for of in document.types:
        for field in document.without:
            del parts[of.__name__]["properties"][field]
            parts[of.__name__]["required"] = [one for one in parts[of.__name__]["required"] if one != field]
    references = [{"$ref": f"#/$defs/{of.__name__}"} for of in document.types]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:onnx-conformance:schema:{name}",
        "title": f"onnx-conformance {name}",
        "description": f"The form of {document.about}.",
        **(references[0] if len(references) == 1 else {"anyOf": references}),
        "$defs": {part: _without_discriminators(parts[part]) for part in sorted(parts)},
    }


def schema_text(name: str) -> str:
    """``schema`` as it is published: indented, with a line feed at its end."""
    return msgspec.json.format(msgspec.json.encode(schema(name)), indent=2).decode() + "\n"


def file_name(name: str) -> str:
    """What the published schema is called."""
    return f"{name}.schema.json"


def _document(name: str) -> Document:
    if name in DOCUMENTS:
        return DOCUMENTS[name]
    near = difflib.get_close_matches(name, DOCUMENTS, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise NoSuchSchema(f"There is no schema {name!r}.{meant}", f"There are {', '.join(DOCUMENTS)}.")


def _structs(types: Sequence[type]) -> Iterator[type[msgspec.Struct]]:
    """The structs that some types consist of, themselves included."""
    seen: set[type] = set()

    def walk(of: Any) -> Iterator[type[msgspec.Struct]]:
        if isinstance(of, tuple):
            for one in of:
                yield from walk(one)
        elif isinstance(of, StructType):
            if of.cls not in seen:
                seen.add(of.cls)
                yield of.cls
                yield from walk(tuple(field.type for field in of.fields))
        elif isinstance(of, msgspec.inspect.Type):
            yield from walk(tuple(getattr(of, name) for name in of.__struct_fields__))

    yield from walk(tuple(map(type_info, types)))


@cache
def _documented(of: type[msgspec.Struct]) -> Mapping[str, str]:
    """The docstrings that stand below the fields of a struct, by the names that the fields have in JSON."""
    names = dict(zip(of.__struct_fields__, of.__struct_encode_fields__, strict=True))
    found: dict[str, str] = {}
    for base in reversed(of.__mro__):
        if not issubclass(base, msgspec.Struct) or base is msgspec.Struct:
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for field, text in itertools.pairwise(body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(told))):
                    found[names[name]] = inspect.cleandoc(told)
                case _:
                    pass
    return found


def _without_discriminators(part: Any) -> Any:
    """Without what OpenAPI adds to a union of tagged structs, a word that JSON Schema does not have.

    The tags themselves are constants in the structs, so the union stays one.
    """
    match part:
        case dict():
            union = "anyOf" in part
            return {
                key: _without_discriminators(value)
                for key, value in part.items()
                if not (union and key == "discriminator")
            }
        case list():
            return [_without_discriminators(one) for one in part]
        case _:
            return part
