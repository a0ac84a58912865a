"""A run that is killed at any moment loses no line, leaves no process, and can be resumed."""

import os
import random
import shlex
import signal
import subprocess
import sys

import pytest

from harness.results.recording import RESULTS, read_run

CASES = 60
SCRIPT = """
import sys
from pathlib import Path
from harness.running.interruption import Interrupted
from harness.running.pool import Limits
from harness.running.run import Options, run
from harness.suite.manifest import open_suite

try:
    options = Options(workers=2, limits=Limits(600.0))
    run(open_suite(Path(sys.argv[1])), sys.argv[3], options, Path(sys.argv[2]), resume=True)
except Interrupted as error:
    print(error, error.advice, sep="\\n", file=sys.stderr)
    sys.exit(error.status)
"""


@pytest.fixture
def many(tools, tmp_path):
    return tools.Runs(tools.tiny_suite(tmp_path / "many", cases=CASES, data_sets=2), tmp_path / "reports")


def start(many, backend="miniatures:Slow"):
    """Start a run in a new process; it resumes an earlier run."""
    command = [sys.executable, "-c", SCRIPT, str(many.suite.path), str(many.folder), backend]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def resume(many, backend):
    """The same run in this process, to its end."""
    return many(backend, resume=True, seconds=600.0, memory=4 << 30)


def lines(many):
    path = many.folder / RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_at(tools, many, process, number, kill):
    """Kill the process when the file has this many lines, unless it has ended by then."""
    assert tools.await_true(lambda: lines(many) >= number or process.poll() is not None)
    if process.poll() is None:
        kill(process)
    _, errors = process.communicate(timeout=60)
    return errors


def same(many, run):
    """Check that the run is complete and has each data set exactly once."""
    assert run.finished
    assert [(r.case, r.data_set) for r in run.results] == [
        (f"test_identity_{c:03d}", d) for c in range(CASES) for d in range(2)
    ]
    text = (many.folder / RESULTS).read_text()
    assert text.count('"kind":"result"') == 2 * CASES, "also once in the file"
    assert text.count('"kind":"header"') == text.count('"kind":"footer"') == 1
    assert run.footers[0].counts == {"passed": 2 * CASES}


def test_a_killed_parent_leaves_nothing_and_is_resumed(tools, many, tmp_path):
    moments = random.Random(7)
    for _ in range(4):
        process = start(many)
        kill_at(tools, many, process, lines(many) + moments.randrange(40), subprocess.Popen.kill)
        assert tools.await_gone(str(tmp_path)), "an orphan"
    for scratch in tmp_path.glob("onnx-conformance-*"):  # nothing can clean up after SIGKILL
        for file in scratch.iterdir():
            file.unlink()
        scratch.rmdir()
    same(many, resume(many, "Slow"))


def test_programs_of_a_killed_parent_die_with_it(tools, many, tmp_path):
    process = start(many, f"command:{shlex.join([sys.executable, str(tools.HERE / 'program.py'), 'lingers'])}")
    assert tools.await_true(lambda: len(tools.processes_with(str(tmp_path))) >= 3)
    process.kill()
    process.communicate()
    assert tools.await_gone(str(tmp_path)), "an orphan"
    for scratch in tmp_path.glob("onnx-conformance-*"):
        scratch.rmdir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_cleans_up_and_can_be_resumed(tools, many, tmp_path, number):
    process = start(many, "miniatures:Gated")
    assert tools.await_true(lambda: lines(many) == 1 + 2 * 10), "both workers wait at the gate"
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert f"Stopped by {number.name} after 20 of 120 data sets" in errors
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert read_run(many.folder / RESULTS).finished is False
    (tmp_path / "gate").touch()
    same(many, resume(many, "Gated"))


def test_a_run_stops_while_a_backend_hangs_in_loading(tools, many, tmp_path):
    process = start(many, f"command:{shlex.quote(sys.executable)} -c 'import time; time.sleep(3600)'")
    assert tools.await_true(lambda: len(tools.processes_with(str(tmp_path))) >= 3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Stopped by SIGINT after 0 of 120" in errors) == (130, True)


def test_killed_workers_are_replaced(tools, many, tmp_path):
    choose = random.Random(11)
    process = start(many, "miniatures:Gated")
    for killed in range(4):
        assert tools.await_true(lambda killed=killed: lines(many) == 1 + 10 * (2 + killed)), "all wait at the gate"
        workers = [pid for pid in tools.processes_with(str(tmp_path)) if pid != process.pid]
        os.kill(choose.choice(workers), signal.SIGKILL)
    (tmp_path / "gate").touch()
    process.communicate(timeout=60)
    assert process.returncode == 0
    run = read_run(many.folder / RESULTS)
    same(many, run)
    notes = [r.message for r in run.results if r.message]
    assert (
        notes
        == ["the worker was killed by SIGKILL at the first attempt, but not when the data set ran again alone"] * 4
    )
