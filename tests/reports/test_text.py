import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.text import (
    format_measure,
    node_text,
    one_line,
    operator_title,
    percent,
    printable,
    printable_lines,
)
from harness.suite.cases import Labels


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.0, "0"),
        (1e-9, "<0.01"),
        (0.31, "0.31"),
        (0.5, "0.5"),
        (4.04, "4.04"),
        (12.0, "12"),
        (12.345, "12.35"),
        (123456.7, "123,457"),
        (1e6, "1,000,000"),
        (2e6, ">1e6"),
        ("inf", "inf"),
        (float("inf"), "inf"),
    ],
)
def test_measure(value, text):
    assert format_measure(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, ""),
        (0, 3, "0.0 %"),
        (3, 3, "100.0 %"),
        (59_999, 60_000, "99.9 %"),
        (1, 60_000, "<0.1 %"),
        (2, 3, "66.6 %"),
    ],
)
def test_percent(part, whole, text):
    assert percent(part, whole) == text


@given(st.text(st.characters()))
def test_printable(text):
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)
    assert all(line.isprintable() for line in printable_lines(text).split("\n"))
    assert one_line(printable_lines(text), 20).isprintable()
    assert len(one_line(printable_lines(text), 20)) <= 20


def test_node():
    labels = Labels(
        "Scaler", "ai.onnx.ml", 1, types={"T": "float"}, attributes={"a": "0", "b": "omitted"}, omitted=("k",)
    )
    assert node_text(labels) == "ai.onnx.ml.Scaler-1 T=float a=0, without b, k"
    assert node_text(Labels("")) == operator_title("", "", 0) == "graphs of several nodes"
