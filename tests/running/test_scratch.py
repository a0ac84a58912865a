import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.running import scratch
from harness.running.scratch import NoScratchFolder, scratch_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def test_it_is_where_tmpdir_says_and_nobody_elses(here: Path):
    first, second = Path(scratch_folder()), Path(scratch_folder())
    assert first.parent == second.parent == here
    assert first != second
    assert first.stat().st_mode & 0o777 == 0o700


def test_those_of_killed_runs_are_removed_and_no_others(here: Path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (here / f"onnx-conformance-{gone.pid}-x").mkdir()
    (here / f"onnx-conformance-{gone.pid}-x" / "1_0_0.pb").touch()
    (here / f"onnx-conformance-{os.getpid()}-y").mkdir()
    (here / "onnx-conformance-notes").mkdir()
    ours = Path(scratch_folder())
    assert {p.name for p in here.iterdir()} == {
        ours.name,
        f"onnx-conformance-{os.getpid()}-y",
        "onnx-conformance-notes",
    }


def test_without_room_in_memory_it_is_on_disk(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(scratch, "_ROOM", 1 << 62)
    monkeypatch.setattr("tempfile.tempdir", str(here))
    assert Path(scratch_folder()).parent == here


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(NoScratchFolder, match="nowhere"):
        scratch_folder()
