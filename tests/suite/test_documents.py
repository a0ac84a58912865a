"""The 27 examples of the operators' documents, parsed from the documents and held against the written cases."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from harness.spec.codec import decode
from harness.spec.values import parse_type
from harness.suite.cases import Case
from harness.suite.manifest import Suite
from harness.suite.show import show

CUMPROD = [
    "test_cumprod_1d",
    "test_cumprod_1d_exclusive",
    "test_cumprod_1d_int32_exclusive",
    "test_cumprod_1d_reverse",
    "test_cumprod_1d_reverse_exclusive",
    "test_cumprod_2d_axis_0",
    "test_cumprod_2d_axis_1",
    "test_cumprod_2d_int32",
    "test_cumprod_2d_negative_axis",
]


@pytest.mark.parametrize("name", CUMPROD)
def test_cumprod_examples_are_shown_as_the_document_prints_them(
    name: str, matrix: Suite, cases: Mapping[str, Case], documents: Path
):
    text = (documents / "cumprod.txt").read_text()
    start = text.index(f"{name}\n\nNode:")
    following = re.search(r"\n\ntest_\w+\n\nNode:", text[start + 1 :])
    printed = text[start : start + 1 + following.start()] if following else text[start:]
    assert show(matrix.path / name, cases[name]).strip() == printed.strip()


def printed_arrays(block: str) -> list[np.ndarray]:
    """The arrays in the comments of one example of Trilu's document: what X is, and what is expected."""
    comments = "\n".join(line.removeprefix("#") for line in block.splitlines() if line.startswith("#"))
    found = re.findall(r"(?:X|expect result):\n([\s\S]*?)(?=\n\s*(?:X|expect result):|\Z)", comments)
    return [np.array(ast.literal_eval(text.strip()), np.int64) for text in found]


def trilu_examples() -> list[tuple[str, str]]:
    text = (Path(__file__).parent / "documents" / "trilu.txt").read_text()
    blocks = re.findall(r"import numpy as np\n[\s\S]*?expect\(.*name=\"\w+\"\)", text)
    return [(re.search(r"name=\"(\w+)\"\)$", block)[1], block) for block in blocks]  # type: ignore[index]


@pytest.mark.parametrize(("name", "block"), trilu_examples(), ids=lambda v: v if v.startswith("test_") else "")
def test_trilu_examples_have_the_values_of_the_documents_comments(
    name: str, block: str, matrix: Suite, cases: Mapping[str, Case]
):
    case = cases[name]
    folder = matrix.path / name / "test_data_set_0"
    values = [
        decode((folder / file).read_bytes(), parse_type(of))
        for file, of in (("input_0.pb", case.inputs[0]), ("output_0.pb", case.outputs[0]))
    ]
    size = ast.literal_eval(re.search(r"size=(\(.*?\))\)", block)[1])  # type: ignore[index]
    for value, printed in zip(values, printed_arrays(block), strict=True):
        assert value.dtype == np.int64
        assert value.shape == size
        assert value.tolist() == printed.reshape(size).tolist()
    k = re.search(r"k = np\.array\((-?\d+)\)\.astype\(np\.int64\)", block)
    assert ("k" in case.labels.omitted) == (k is None)
    if k:
        assert decode((folder / "input_1.pb").read_bytes(), parse_type("tensor(int64)")).item() == int(k[1])
    assert case.labels.attributes == {"upper": "0" if "upper=0" in block else "omitted"}


def test_there_are_27_examples(cases: Mapping[str, Case]):
    names = [*CUMPROD, *(name for name, _ in trilu_examples())]
    assert len(names) == 27
    assert {c.name for c in cases.values() if c.data_sets[0].group == "example"} == set(names)
