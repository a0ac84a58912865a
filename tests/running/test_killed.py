"""Killed at any moment, a run loses no line, counts none twice, leaves no process, and goes on."""

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
from harness.running.run import Options, run
from harness.suite.manifest import open_suite

try:
    run(open_suite(Path(sys.argv[1])), sys.argv[3], Options(workers=2), Path(sys.argv[2]), resume=True)
except Interrupted as error:
    print(error, error.advice, sep="\\n", file=sys.stderr)
    sys.exit(error.status)
"""


@pytest.fixture
def many(tools, tmp_path):
    return tools.Runs(tools.tiny_suite(tmp_path / "many", cases=CASES, data_sets=2), tmp_path / "reports")


def start(many, backend="miniatures:Slow"):
    """A run in a process of its own, which resumes what is there."""
    command = [sys.executable, "-c", SCRIPT, str(many.suite.path), str(many.folder), backend]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def lines(many):
    path = many.folder / RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_at(tools, many, process, number, kill):
    """Kill once so many lines are written; a run that is over by then is as good a moment."""
    assert tools.await_true(lambda: lines(many) >= number or process.poll() is not None)
    if process.poll() is None:
        kill(process)
    _, errors = process.communicate(timeout=60)
    return errors


def same(many, run):
    """Each data set exactly once, all passed, as undisturbed."""
    assert run.finished
    assert [(r.case, r.data_set) for r in run.results] == [
        (f"test_identity_{c:03d}", d) for c in range(CASES) for d in range(2)
    ]
    text = (many.folder / RESULTS).read_text()
    assert text.count('"kind":"result"') == 2 * CASES, "once in the file too"
    assert text.count('"kind":"header"') == text.count('"kind":"footer"') == 1
    assert run.footers[0].counts == {"passed": 2 * CASES}


def test_a_killed_parent_leaves_nothing_and_is_resumed(tools, many, tmp_path):
    moments = random.Random(7)
    for _ in range(4):
        process = start(many)
        kill_at(tools, many, process, lines(many) + moments.randrange(40), subprocess.Popen.kill)
        assert tools.await_gone(str(tmp_path)), "an orphan"
    for scratch in tmp_path.glob("onnx-conformance-*"):  # SIGKILL is the one end that nobody can tidy up after
        for file in scratch.iterdir():
            file.unlink()
        scratch.rmdir()
    same(many, many("Slow", resume=True, memory=4 << 30))


def test_programs_of_a_killed_parent_die_with_it(tools, many, tmp_path):
    process = start(many, f"command:{shlex.join([sys.executable, str(tools.HERE / 'program.py'), 'lingers'])}")
    assert tools.await_true(lambda: len(tools.processes_with(str(tmp_path))) >= 3)
    process.kill()
    process.communicate()
    assert tools.await_gone(str(tmp_path)), "an orphan"
    for scratch in tmp_path.glob("onnx-conformance-*"):
        scratch.rmdir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_tidies_up_and_tells_how_to_go_on(tools, many, number):
    process = start(many)
    errors = kill_at(tools, many, process, 20, lambda p: p.send_signal(number))
    assert process.returncode == 128 + number
    assert f"Stopped by {number.name} after" in errors
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert read_run(many.folder / RESULTS).finished is False
    same(many, many("Slow", resume=True, memory=4 << 30))


def test_a_run_stops_while_a_backend_hangs_in_loading(tools, many, tmp_path):
    process = start(many, f"command:{shlex.quote(sys.executable)} -c 'import time; time.sleep(3600)'")
    assert tools.await_true(lambda: len(tools.processes_with(str(tmp_path))) >= 3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Stopped by SIGINT after 0 of 120" in errors) == (130, True)


def test_killed_workers_are_replaced(tools, many, tmp_path):
    moments = random.Random(11)
    process = start(many)
    for _ in range(4):
        number = lines(many) + 5 + moments.randrange(15)
        assert tools.await_true(lambda number=number: lines(many) >= number or process.poll() is not None)
        workers = [pid for pid in tools.processes_with(str(tmp_path)) if pid != process.pid]
        if workers:
            os.kill(moments.choice(workers), signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == 0
    run = read_run(many.folder / RESULTS)
    same(many, run)
    notes = {r.message for r in run.results if r.message}
    assert notes <= {"the worker went at first (was killed by SIGKILL), and not again alone"}
