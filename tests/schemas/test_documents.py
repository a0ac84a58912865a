"""The published schemas are what the code says, and the files that are written keep them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from harness.cli import main
from harness.commands.shared import AS_EXPECTED, NOT_AS_EXPECTED, WRONG_USAGE
from harness.schemas import documents
from harness.schemas.documents import DOCUMENTS, file_name, schema, schema_text

PUBLISHED = Path(documents.__file__).parent
LABELS = {"op": "Add", "since": 14}
RESULT = {"kind": "result", "case": "test_a", "data_set": 0, "verdict": "wrong_value", "labels": LABELS}


def read(text):
    """JSON as the standard has it: no NaN, no Infinity."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def closed(part):
    """A schema that allows nothing that it does not name, so that what is missing from it is found."""
    if isinstance(part, dict):
        extra = {"additionalProperties": False} if "properties" in part else {}
        return {**{key: closed(value) for key, value in part.items()}, **extra}
    return [closed(one) for one in part] if isinstance(part, list) else part


def validate(name, texts):
    validator = jsonschema.Draft202012Validator(closed(schema(name)))
    count = 0
    for text in texts:
        validator.validate(read(text))
        count += 1
    assert count


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small suites of which one has laws, run by a backend that is right and one that is not, and all reports."""
    path = tmp_path_factory.mktemp("all files")
    testdata, reports = ["--testdata", str(path / "testdata")], ["--reports", str(path / "reports")]
    select = ["--select", "op=CumProd,Bernoulli,RandomUniform,Dropout", "since=7,13,15,22,26"]
    assert main(["generate", *testdata, "--suite", "matrix", "--jobs", "1", *select]) == AS_EXPECTED
    for backend in ("numpy", "onnx-reference"):
        main(["run", "--backend", backend, *testdata, *reports, "--workers", "1", "--quiet"])
    assert main(["report", *testdata, *reports]) == AS_EXPECTED
    for name in ("badges", "ctrf"):
        assert main(["report", *testdata, *reports, "--format", name, "--output", str(path / "reports")]) == AS_EXPECTED
    return path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_published_is_what_the_code_says(name):
    published = (PUBLISHED / file_name(name)).read_text(encoding="utf-8")
    assert published == schema_text(name), "make schemas"


def test_nothing_else_is_published():
    assert {path.name for path in PUBLISHED.glob("*.json")} == set(map(file_name, DOCUMENTS))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_is_a_schema_without_words_of_others(name):
    """Strict readers refuse words that the standard does not have, such as OpenAPI's discriminator."""
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    assert re.fullmatch("urn:[a-z-]+:schema:[a-z]+", found["$id"])
    words = set()

    def walk(part):
        if isinstance(part, dict):
            words.update(part)
            for key, value in part.items():
                for one in value.values() if key in {"properties", "$defs"} else [value]:
                    walk(one) if key != "default" else None
        elif isinstance(part, list):
            for one in part:
                walk(one)

    walk(found)
    assert words <= {
        "$schema", "$id", "$ref", "$defs", "title", "description", "default", "type", "enum", "anyOf", "items",
        "properties", "required", "additionalProperties", "propertyNames",
    }  # fmt: skip
    for part in found["$defs"].values():
        assert part["title"]
        assert part["description"]


def test_the_same_bytes_from_any_process():
    program = (
        "from harness.schemas.documents import DOCUMENTS, schema_text\n"
        "print(*map(schema_text, DOCUMENTS), sep='', end='')"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, encoding="utf-8", check=True
        )
        assert done.stdout == "".join(map(schema_text, DOCUMENTS))


def test_cases_keep_it(folder: Path, capsys: pytest.CaptureFixture[str]):
    matrix = folder / "testdata" / "matrix"
    validate("data", (file.read_text(encoding="utf-8") for file in matrix.glob("*/data.json")))
    lines = (matrix / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    validate("manifest", lines)
    assert {
        distribution["distribution"] for line in lines for distribution in json.loads(line).get("distributions", ())
    } >= {
        "bernoulli",
        "uniform",
    }
    capsys.readouterr()
    assert main(["list", "--json", "--testdata", str(folder / "testdata")]) == AS_EXPECTED
    assert capsys.readouterr().out.splitlines() == lines


def test_runs_keep_it(folder: Path):
    lines = [line for file in folder.rglob("results.jsonl") for line in file.read_text(encoding="utf-8").splitlines()]
    validate("results", lines)
    assert {json.loads(line)["kind"] for line in lines} == {"header", "result", "footer"}
    assert {"passed", "wrong_type"} <= {json.loads(line).get("verdict") for line in lines}


def test_reports_keep_it(folder: Path, capsys: pytest.CaptureFixture[str]):
    validate("report", [(folder / "reports" / "report.json").read_text(encoding="utf-8")])
    validate("badge", (file.read_text(encoding="utf-8") for file in (folder / "reports" / "badges").iterdir()))
    capsys.readouterr()
    assert main(["coverage", "--json", "--testdata", str(folder / "testdata")]) == AS_EXPECTED
    validate("coverage", capsys.readouterr().out.splitlines())
    runs = [str(folder / "reports" / "matrix" / backend) for backend in ("numpy", "onnx-reference")]
    assert main(["compare", *runs, "--format", "json"]) == NOT_AS_EXPECTED
    validate("compare", [capsys.readouterr().out])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results", {**RESULT, "error": "inf"}),
        ("results", {**RESULT, "error": 0.5, "ulps": 3}),
        ("results", {**RESULT, "labels": {"op": ""}}),
        ("results", {"kind": "footer", "counts": {}, "unexpected": 0, "stale": [], "seconds": 1}),
        ("protocol", {"do": "describe"}),
    ],
)
def test_what_is_right_is_valid(name, text):
    validate(name, [json.dumps(text)])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results", {**RESULT, "error": "Infinity"}),
        ("results", {**RESULT, "verdict": "right"}),
        ("results", {key: value for key, value in RESULT.items() if key != "labels"}),
        ("results", {key: value for key, value in RESULT.items() if key != "kind"}),
        ("results", {**RESULT, "kind": "header"}),
        ("results", {**RESULT, "kind": "distribution"}),
        ("manifest", {"name": "test_a"}),
        ("badge", {"label": "x", "message": "y", "color": "mauve", "schemaVersion": 1}),
        ("badge", {"label": "x", "message": "y", "color": "red", "schemaVersion": 2}),
        ("protocol", {"do": "case"}),
        ("report", {"format": 1, "selection": ""}),
    ],
)
def test_what_is_wrong_is_not(name, text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema(name)).validate(text)


@pytest.mark.parametrize(
    "distribution", [{"distribution": "poisson"}, {"mean": 0.0, "scale": 1.0}, {"distribution": "normal", "mean": 0.0}]
)
def test_a_law_that_is_none(distribution, folder: Path):
    line = json.loads((folder / "testdata" / "matrix" / "manifest.jsonl").read_text(encoding="utf-8").splitlines()[0])
    validator = jsonschema.Draft202012Validator(schema("manifest"))
    validator.validate(line)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**line, "distributions": [distribution]})


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["schema"]) == AS_EXPECTED
    assert set(DOCUMENTS) <= {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert main(["schema", "results"]) == AS_EXPECTED
    assert capsys.readouterr().out == schema_text("results")
    assert main(["schema", "--output", str(tmp_path / "a folder")]) == AS_EXPECTED
    assert {path.name for path in (tmp_path / "a folder").iterdir()} == set(map(file_name, DOCUMENTS))
    capsys.readouterr()
    assert main(["schema", "result"]) == WRONG_USAGE
    assert "Did you mean results?" in capsys.readouterr().err
