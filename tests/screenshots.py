"""Writes the screenshots in the README: the explorer with the results in reports/, in Chromium."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from harness.reports.explorer.page import explorer
from harness.reports.gather import gather
from harness.results.recording import read_run

VIEWS = {
    "overview": "#/overview?suite=matrix",
    "operators": "#/map?suite=matrix&of={last}",
    "case": "#/case/{case}/0?suite=matrix",
}
COLOURS = 128


def main() -> None:
    results = sorted(path for path in Path("reports").rglob("results.jsonl") if path.parent.parent.name == "matrix")
    if not results:
        sys.exit("There are no results in reports/matrix; make conformance writes them.")
    report = gather([read_run(path) for path in results])
    # A wrong value with a moderate error, so that both numbers are readable.
    near = (r for run in report.results[0] for r in run if r.verdict == "wrong_value" and r.data_set == 0)
    case = min(near, key=lambda result: (abs(float(result.error or "inf") - 30), result.case)).case
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("There is no Chromium here; Debian's package is called chromium.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder, "report.html")
        file.write_text(explorer(report), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        for name, address in VIEWS.items():
            page.goto("about:blank")
            page.goto(file.as_uri() + address.format(case=case, last=quote(report.summary.suites[0].runs[-1].label)))
            page.wait_for_selector("html[data-ready]")
            expect(page.locator("h1")).to_be_visible()
            expect(page.locator("[aria-busy=true]")).to_have_count(0)  # the tensors are decompressed
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
            to = Path("reports", f"explorer-{name}.png")
            shot.save(to, optimize=True)
            print(f"{to}: {to.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
