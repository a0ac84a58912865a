"""Benchmark of the explorer with 60,000 data sets × 5 backends: time to write, open and scroll, and memory.

Labels are those of testdata/matrix, verdicts and errors are random. It needs Chromium.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec
from playwright.sync_api import Browser, sync_playwright
from tabulate import tabulate

from harness.backend.interface import Description
from harness.reports.explorer.page import explorer
from harness.reports.gather import gather
from harness.results.lines import VERDICTS, Footer, Header, Result, Run
from harness.suite.manifest import open_suite

DATA_SETS, BACKENDS = 60_000, 5
ROUNDS = int(os.environ.get("ROUNDS", "3"))
WEIGHTS = (60, 5, 1, 1, 1, 20, 5, 1, 1, 1, 3, 1)
"""The weights of the verdicts, in the order of ``VERDICTS``."""

SCROLL = """
async () => {
  const box = document.querySelector("[data-name=cases]");
  const frames = [];
  let before = performance.now();
  for (let i = 0; i < 200; i++) {
    box.scrollTop += 1500;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - before);
    before = now;
  }
  return frames;
}
"""


def random_runs() -> list[Run]:
    chance = random.Random(0)
    suite = open_suite(Path("testdata/matrix"))
    rows: list[tuple[str, int, object]] = []
    while len(rows) < DATA_SETS:
        turn = len(rows)
        rows += [(f"{c.name}_{turn}", n, c.labels_of(n)) for c in suite.cases() for n in range(len(c.data_sets))]
    runs: list[Run] = []
    for number in range(BACKENDS):
        results = [random_result(chance, case, n, labels) for case, n, labels in rows[:DATA_SETS]]
        counts = dict(Counter(result.verdict for result in results))
        name = f"backend-{number}"
        header = Header(
            *(2, "matrix", suite.digest, DATA_SETS, DATA_SETS, DATA_SETS, name, Description(name, "1.0")),
            *({}, {}, {}, "2027-01-01T00:00:00+00:00"),
        )
        runs.append(Run(f"{name}/results.jsonl", (header,), tuple(results), (Footer(counts, 0, (), 60.0),)))
    return runs


def random_result(chance: random.Random, case: str, data_set: int, labels: object) -> Result:
    verdict = chance.choices(VERDICTS, WEIGHTS)[0]
    wrong = verdict == "wrong_value"
    measured = verdict == "passed" or wrong
    error = chance.choice([0.0, chance.random(), chance.random()]) if not wrong else 10 ** chance.uniform(0.7, 9)
    message = f"y[{chance.randrange(9)},{chance.randrange(9)}] = {chance.random():.4g}, want 1" if wrong else ""
    return Result(
        *(case, data_set, verdict, labels),  # pyright: ignore[reportArgumentType] - as they come from a case
        error=error if measured else None,
        ulps=error if measured else None,
        onnx_tolerance=verdict == "passed" if measured else None,
        message=message or {"unsupported": "no kernel", "error": "it failed"}.get(verdict, ""),
    )


def measure_page(browser: Browser, file: Path) -> dict[str, float]:
    """Seconds to the first frame, to each view and per frame while scrolling; and bytes of the heap."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=60_000)
    ready = float(page.evaluate("document.documentElement.dataset.ready"))
    start = time.perf_counter()
    page.evaluate("() => { location.hash = '#/cases' }")
    page.wait_for_selector("[data-name=cases] [data-row='0']")
    cases = time.perf_counter() - start
    start = time.perf_counter()
    page.evaluate("() => { location.hash = '#/map' }")
    page.wait_for_selector("[data-name=map] [data-row='0']")
    heat = time.perf_counter() - start
    page.evaluate("() => { location.hash = '#/cases' }")
    page.wait_for_selector("[data-name=cases] [data-row='0']")
    frames = page.evaluate(SCROLL)
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")
    page.close()
    return {
        "ready": ready / 1000,
        "cases": cases,
        "map": heat,
        "frame": statistics.median(frames) / 1000,
        "longest": max(frames) / 1000,
        "heap": heap["usedSize"] + heap.get("backingStorageSize", 0),
    }


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("Chromium is not installed: the explorer is not measured.")
        return
    runs = random_runs()
    start = time.perf_counter()
    report = gather(runs)
    gathered = time.perf_counter() - start
    start = time.perf_counter()
    text = explorer(msgspec.structs.replace(report, testdata=Path("nowhere")))
    wrote = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder, "report.html")
        file.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        turns = [measure_page(browser, file) for _ in range(ROUNDS)]
        browser.close()
    figures = {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"\nThe explorer, {DATA_SETS:,} data sets × {BACKENDS} backends; medians of {ROUNDS} rounds")
    rows = [
        ("gather results and find causes", f"{gathered:.1f} s", ""),
        ("write the page", f"{wrote:.1f} s", ""),
        ("    size", f"{len(text) / 1e6:.1f} MB", ""),
        ("    peak memory of the process", f"{peak / 1e6:.0f} MB", ""),
        ("open in Chromium, first frame", f"{figures['ready']:.2f} s", "≤ 2 s"),
        ("    list of all data sets", f"{figures['cases']:.2f} s", ""),
        ("    operators × types", f"{figures['map']:.2f} s", ""),
        (
            "    frame while scrolling: median, longest",
            f"{figures['frame'] * 1e3:.0f} ms, {figures['longest'] * 1e3:.0f} ms",
            "",
        ),
        ("    memory of the page", f"{figures['heap'] / 1e6:.0f} MB", ""),
    ]
    print(tabulate(rows, ["", "measured", "goal"], disable_numparse=True))


if __name__ == "__main__":
    main()
