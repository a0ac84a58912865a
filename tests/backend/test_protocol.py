"""The protocol's docstring, its JSON Schema and its structs agree."""

import json
import re

import jsonschema
import msgspec
import pytest

from harness.backend import protocol
from harness.backend.interface import Description
from harness.backend.protocol import CaseAnswer, CaseRequest, DataSetPaths, DescribeAnswer, DescribeRequest, Request
from harness.schemas.documents import schema

LINES = re.findall(r"^    (\{.*?\}(?:\]\})?)$", protocol.__doc__.replace("\n     ", ""), re.MULTILINE)


def valid(line):
    jsonschema.Draft202012Validator(schema("protocol")).validate(json.loads(line))


def test_the_docstring_shows_every_kind_of_line():
    assert len(LINES) == 6
    requests, answers = [0, 2], [3, 4, 5]
    for n in requests:
        msgspec.json.decode(LINES[n], type=Request)
    msgspec.json.decode(LINES[1], type=DescribeAnswer)
    for n in answers:
        msgspec.json.decode(LINES[n], type=CaseAnswer)


@pytest.mark.parametrize("line", LINES)
def test_the_lines_of_the_docstring_are_valid(line):
    valid(line)


@pytest.mark.parametrize(
    "message",
    [
        DescribeRequest(),
        CaseRequest(1, "/m.onnx", ("tensor(float)",), ("tensor(float)",), (DataSetPaths(("/i",), ("/o",)),)),
        DescribeAnswer(1, Description("mine", "1")),
        DescribeAnswer(1, message="no licence", advice="buy one"),
        CaseAnswer(3, "ok", 0, ("tensor(float)",), 0.1, 0.2),
        CaseAnswer(3, "unsupported", message="no kernel"),
    ],
)
def test_messages_are_valid(message):
    valid(msgspec.json.encode(message))


@pytest.mark.parametrize("line", ['{"do":"dance"}', '{"id":1,"status":"fine"}', '{"status":"ok"}', "[]"])
def test_other_lines_are_invalid(line):
    with pytest.raises(jsonschema.ValidationError):
        valid(line)
