import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.running import scratch
from harness.running.scratch import NoScratchFolder, create_scratch_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def test_it_is_in_tmpdir_and_private(here: Path):
    first, second = Path(create_scratch_folder()), Path(create_scratch_folder())
    assert first.parent == second.parent == here
    assert first != second
    assert first.stat().st_mode & 0o777 == 0o700


def test_only_folders_of_killed_runs_are_removed(here: Path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (here / f"onnx-conformance-{gone.pid}-x").mkdir()
    (here / f"onnx-conformance-{gone.pid}-x" / "1_0_0.pb").touch()
    (here / f"onnx-conformance-{os.getpid()}-y").mkdir()
    (here / "onnx-conformance-notes").mkdir()
    ours = Path(create_scratch_folder())
    assert {p.name for p in here.iterdir()} == {
        ours.name,
        f"onnx-conformance-{os.getpid()}-y",
        "onnx-conformance-notes",
    }


def test_it_is_on_disk_if_memory_has_no_room(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(scratch, "_MIN_FREE_MEMORY", 1 << 62)
    monkeypatch.setattr("tempfile.tempdir", str(here))
    assert Path(create_scratch_folder()).parent == here


def test_a_folder_that_cannot_be_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(NoScratchFolder, match="nowhere"):
        create_scratch_folder()
