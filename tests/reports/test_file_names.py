import re

from hypothesis import given
from hypothesis import strategies as st

from harness.reports.file_names import file_names


def test_valid_names_are_unchanged():
    assert file_names(["matrix-onnxruntime 1.32.0", "a_b"]) == ["matrix-onnxruntime-1.32.0", "a_b"]
    assert file_names(["x", "X", "x", "x-2", "é", "", "../.x"]) == [
        "x",
        "X-2",
        "x-3",
        "x-2-2",
        "unnamed",
        "unnamed-2",
        "x-4",
    ]


@given(st.lists(st.text(st.characters()) | st.sampled_from(["a", "A", "..", "a/../b", "a" * 300, ".hidden", "a-2"])))
def test_names_are_valid_on_any_file_system(labels):
    names = file_names(labels)
    assert len({name.lower() for name in names}) == len(labels)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,110}", name)
        assert ".." not in name
