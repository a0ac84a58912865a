"""What it costs: generation, and running beside a raw loop and beside onnx's own runner. A benchmark, not a test.

Every figure comes from this run. Machines are noisy: rounds go through all the ways in turn, medians are
printed, and what counts are the ratios. Needs testdata/official; `make bench` sees to that.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tabulate import tabulate

from harness.suite.manifest import open_suite

CATEGORIES = "math,logical,reduction,generator,quantization"
ROUNDS = int(os.environ.get("ROUNDS", "3"))
NODE_TESTS = "group=node,expanded,graph"
ONE_TEST = "case=test_abs"

RAW_LOOP = """
import sys, time, pathlib
import onnxruntime
from harness.spec.codec import decode
from harness.spec.values import parse_type
from harness.suite.manifest import open_suite
from harness.suite.select import Selection, select_cases

onnxruntime.set_default_logger_severity(4)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
options.log_severity_level = 4
suite = open_suite(pathlib.Path(sys.argv[1]))
loaded = []
for case, _ in select_cases(suite.cases(), Selection.parse(sys.argv[2])):
    folder = suite.path / case.name
    inputs = [decode((folder / f"test_data_set_0/input_{i}.pb").read_bytes(), parse_type(of))
              for i, of in enumerate(case.inputs)]
    loaded.append(((folder / "model.onnx").read_bytes(), inputs))
start = time.perf_counter()
for model, inputs in loaded:
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        session.run(None, {value.name: array for value, array in zip(session.get_inputs(), inputs)})
    except Exception:
        pass  # declined or failed: that takes its time too
print(time.perf_counter() - start, len(loaded))
"""

ONNX_RUNNER = """
import onnx.backend.test
import onnxruntime.backend

backend_test = onnx.backend.test.BackendTest(onnxruntime.backend, __name__)
backend_test.exclude("_cuda$")
globals().update({"Node": backend_test.test_cases["OnnxBackendNodeModelTest"]})
"""

GENERATION = """
import sys, time, pathlib
from harness.oracles.operator import operators
from harness.suite.generate import generate
from harness.suite.select import Selection

if __name__ == "__main__":
    operators()
    start = time.perf_counter()
    _, planned = generate(pathlib.Path(sys.argv[1]), jobs=1, selection=Selection.parse("op=CumProd,Trilu"))
    print(time.perf_counter() - start, sum(len(p.cases) for p in planned))
"""


def printed(code: str, *arguments: str) -> list[float]:
    """The numbers that a program prints."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def whole(*arguments: str) -> tuple[float, int]:
    """The wall time of a command of ours, and the most memory that its own process had, in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "harness", *arguments], stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, resident(process.pid))
        time.sleep(0.02)
    return time.perf_counter() - start, peak


def resident(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return 1024 * next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def generated(folder: Path) -> tuple[float, int, int]:
    """The suite of the categories, by two processes: wall time, cases, and bytes on the disk as ``du`` counts."""
    select = f"category={CATEGORIES}"
    took, _ = whole("generate", "--suite", "matrix", "--testdata", str(folder), "--jobs", "2", "--select", select)
    suite = open_suite(folder / "matrix")
    files = (suite.path, *suite.path.rglob("*"))
    return took, sum(1 for _ in suite.cases()), sum(file.lstat().st_blocks * 512 for file in files)


def ours(folder: Path, workers: int, select: str) -> tuple[float, int]:
    """From the suite's files to the finished reports, with start-up."""
    run = ("run", "--quiet", "--report", "--suite", "official", "--backend", "onnxruntime", "--workers", str(workers))
    return whole(*run, "--reports", str(folder), "--select", select)


def theirs(folder: Path) -> float:
    """onnx's own runner on the same backend under pytest, in one process."""
    file = folder / "test_onnx_runner.py"
    file.write_text(ONNX_RUNNER)
    start = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(file)]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> None:
    seconds: dict[str, list[float]] = defaultdict(list)
    counts: dict[str, float] = {}
    memory = 0
    # Nothing is removed before the end: for some time after that a file system makes new files more slowly.
    with tempfile.TemporaryDirectory() as name:
        for turn in range(1, ROUNDS + 1):
            print(f"round {turn} of {ROUNDS} …", file=sys.stderr)
            folder = Path(name, str(turn))
            folder.mkdir()
            took, counts["generated"] = printed(GENERATION, str(folder / "matrix"))
            seconds["generation"].append(took)
            took, counts["tests"] = printed(RAW_LOOP, "testdata/official", NODE_TESTS)
            seconds["raw"].append(took)
            for key, workers, select in (
                ("one", 1, NODE_TESTS),
                ("two", 2, NODE_TESTS),
                ("start one", 1, ONE_TEST),
                ("start two", 2, ONE_TEST),
            ):
                took, peak = ours(folder / key.replace(" ", "_"), workers, select)
                seconds[key].append(took)
                memory = max(memory, peak)
            seconds["onnx"].append(theirs(folder))
        print("the whole suite, once …", file=sys.stderr)
        took, counts["cases"], counts["bytes"] = generated(Path(name, "whole"))
        seconds["whole"].append(took)
    report({key: statistics.median(values) for key, values in seconds.items()}, counts, memory)


def report(median: dict[str, float], counts: dict[str, float], memory: int) -> None:
    rate = counts["generated"] / median["generation"]
    gain = (median["one"] - median["start one"]) / (median["two"] - median["start two"])
    raw, one, two = median["raw"], median["one"], median["two"]
    most = 1.25 * raw + 1.5
    cases = f"{counts['generated']:.0f} cases in {median['generation']:.2f} s"
    rows = [
        ("CumProd and Trilu generated on one core", cases, f"{rate:,.0f} a second", "≥ 1,000 a second"),
        (
            "math … quantization generated on two cores",
            f"{counts['cases']:,.0f} cases in {median['whole']:.1f} s",
            f"{counts['cases'] / median['whole']:,.0f} a second",
            "≤ 9,000 cases, ≤ 120 s",
        ),
        ("    on the disk", f"{counts['bytes'] / 2**20:.0f} MiB", "", "≤ 300 M, as du counts"),
        ("(a) raw loop: prepare and run", f"{raw:.2f} s", "", ""),
        ("(b) ours, one worker, files to reports", f"{one:.2f} s", "", f"≤ 1.25 (a) + 1.5 s = {most:.2f} s"),
        ("    of that start-up: one test alone", f"{median['start one']:.2f} s", "", ""),
        ("(c) ours, two workers", f"{two:.2f} s", f"{gain:.2f} times faster, start-up taken off both", "≥ 1.6"),
        ("(d) onnx's runner under pytest", f"{median['onnx']:.2f} s", f"{median['onnx'] / one:.1f} times (b)", "≥ 6"),
        ("most memory of our own process", f"{memory / 1e6:.0f} MB", "", "≤ 200 MB"),
    ]
    print(f"onnxruntime on {counts['tests']:.0f} official node tests; medians of {ROUNDS} rounds")
    print(tabulate(rows, ["what", "measured", "as a ratio", "wanted"], disable_numparse=True))


if __name__ == "__main__":
    main()
