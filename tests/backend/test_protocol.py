"""The protocol's text, its JSON Schema and its structs say the same."""

import json
import re

import jsonschema
import msgspec
import pytest

from harness.backend import protocol
from harness.backend.interface import Description
from harness.backend.protocol import Answer, Describe, Described, Files, Request, RunCase
from harness.schemas.documents import schema

LINES = re.findall(r"^    (\{.*?\}(?:\]\})?)$", protocol.__doc__.replace("\n     ", ""), re.MULTILINE)


def valid(line):
    jsonschema.Draft202012Validator(schema("protocol")).validate(json.loads(line))


def test_the_text_shows_every_kind_of_line():
    assert len(LINES) == 6
    requests, answers = [0, 2], [3, 4, 5]
    for n in requests:
        msgspec.json.decode(LINES[n], type=Request)
    msgspec.json.decode(LINES[1], type=Described)
    for n in answers:
        msgspec.json.decode(LINES[n], type=Answer)


@pytest.mark.parametrize("line", LINES)
def test_the_lines_of_the_text_are_valid(line):
    valid(line)


@pytest.mark.parametrize(
    "message",
    [
        Describe(),
        RunCase(1, "/m.onnx", ("tensor(float)",), ("tensor(float)",), (Files(("/i",), ("/o",)),)),
        Described(1, Description("mine", "1")),
        Described(1, message="no licence", advice="buy one"),
        Answer(3, "ok", 0, ("tensor(float)",), 0.1, 0.2),
        Answer(3, "unsupported", message="no kernel"),
    ],
)
def test_what_is_sent_is_valid(message):
    valid(msgspec.json.encode(message))


@pytest.mark.parametrize("line", ['{"do":"dance"}', '{"id":1,"status":"fine"}', '{"status":"ok"}', "[]"])
def test_what_is_none_is_invalid(line):
    with pytest.raises(jsonschema.ValidationError):
        valid(line)
