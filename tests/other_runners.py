"""Whether ONNX's own runner passes what we pass: `make other-runners`. A check of a whole suite, not a test.

It runs each backend over testdata/matrix, then ONNX's runner over the cases of which every data set that it sees
has passed. The exit status is 1 if one of these fails there.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

from harness.running.run import Options, run
from harness.suite.manifest import open_suite
from tests.support.onnx_runner import OnnxRunner, passing_cases

SUITE = Path("testdata/matrix")
BACKENDS = ("numpy", "onnxruntime")
WORKERS = 2
PER_TASK = 50

_runner = cache(OnnxRunner)


def _failures(backend: str, cases: Sequence[str]) -> list[str]:
    found = [(case, _runner(SUITE, backend).failure(case)) for case in cases]
    return [f"{case}: {failure}" for case, failure in found if failure]


def check(backend: str, folder: Path) -> int:
    """Print the cases of one backend that pass here and fail there; their number comes back."""
    suite = open_suite(SUITE)
    results = run(suite, backend, Options(workers=WORKERS), folder, quiet=True).results
    names = [case.name for case in passing_cases(suite.cases(), results)]
    with ProcessPoolExecutor(WORKERS) as pool:
        parts = [names[i : i + PER_TASK] for i in range(0, len(names), PER_TASK)]
        failures = [failure for part in pool.map(partial(_failures, backend), parts) for failure in part]
    for failure in failures:
        print(failure)
    print(f"{backend}: {len(names)} cases pass here, {len(failures)} of them fail with ONNX's runner")
    return len(failures)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        failures = [check(backend, Path(folder, backend)) for backend in sys.argv[1:] or BACKENDS]
        sys.exit(any(failures))
