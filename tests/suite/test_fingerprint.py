"""Suites that are up to date: told by what they were made from, and by every byte of their files."""

from pathlib import Path

import pytest

from harness.suite.fingerprint import fingerprint, is_complete, is_up_to_date, request_text
from harness.suite.generate import EVERYTHING, generate
from harness.suite.manifest import FINGERPRINT, INCOMPLETE, MANIFEST
from harness.suite.select import Selection

ONE = Selection.parse("op=Det since=11")
MADE_OF_ONE = fingerprint(request_text("each", ONE))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return generate(tmp_path / "matrix", "each", selection=ONE)[0].path


def test_what_was_made_just_now_is_up_to_date(suite: Path):
    assert is_up_to_date(suite, MADE_OF_ONE)
    assert not is_up_to_date(suite, fingerprint(request_text("pairs", ONE)))
    assert not is_up_to_date(suite, fingerprint(request_text("each", Selection.parse("op=Det"))))
    assert not is_up_to_date(suite.parent / "another", MADE_OF_ONE)


def test_a_changed_file_is_noticed(suite: Path):
    file = next(suite.rglob("output_0.pb"))
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert not is_up_to_date(suite, MADE_OF_ONE)
    file.write_bytes(data)
    assert is_up_to_date(suite, MADE_OF_ONE)
    file.unlink()
    assert not is_up_to_date(suite, MADE_OF_ONE)


@pytest.mark.parametrize("name", [FINGERPRINT, MANIFEST])
def test_a_suite_that_does_not_say_what_it_is_is_made_anew(suite: Path, name: str):
    (suite / name).write_bytes(b"\xff")
    assert not is_up_to_date(suite, MADE_OF_ONE)
    (suite / name).unlink()
    assert not is_up_to_date(suite, MADE_OF_ONE)


def test_an_interrupted_suite_is_not_up_to_date(suite: Path):
    (suite / MANIFEST).rename(suite / INCOMPLETE)
    assert not is_up_to_date(suite, MADE_OF_ONE)


def test_a_part_is_not_complete(suite: Path):
    assert not is_complete(suite)
    for strength, complete in (("each", False), ("pairs", True), ("full", True)):
        (suite / FINGERPRINT).write_text(fingerprint(request_text(strength, EVERYTHING)), encoding="ascii")
        assert is_complete(suite) is complete
    (suite / FINGERPRINT).unlink()
    assert not is_complete(suite)
