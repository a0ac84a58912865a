"""The explorer in a real browser: its content, its use by mouse and keyboard, accessibility and security."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import msgspec
import onnx.defs
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from harness.cli import main
from harness.reports.explorer.page import explorer
from harness.reports.gather import Report, gather
from harness.reports.text import printable, verdict_text
from harness.results.lines import UNSCORED, VERDICTS, Result, Run
from harness.results.recording import read_run
from harness.suite.cases import Labels
from harness.suite.select import NothingSelected, Selection, select_results

HERE = Path(__file__).parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)

TIMEOUT = 30_000
"""Milliseconds to wait for the page on a busy machine. Passing tests do not wait that long."""
expect.set_options(timeout=TIMEOUT)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM and not os.environ.get("CI"):
        pytest.skip("there is no Chromium here; Debian's package is called chromium")
    assert CHROMIUM, "there is no Chromium, which CI has to install"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


class Watched:
    """A page with its console messages, errors, dialogs and requests."""

    def __init__(self, context: BrowserContext) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.messages.append(f"dialog {dialog.message}"), dialog.close_input()))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, file: Path, address: str = "") -> Page:
        self.page.goto("about:blank")
        self.page.goto(f"{file.as_uri()}{address}")
        self.page.wait_for_selector("html[data-ready]")
        return self.page


@pytest.fixture
def watched(chromium: Browser) -> Iterator[Watched]:
    """A page that fails the test on any console message, error or dialog, and on requests other than its own file."""
    context = chromium.new_context(
        viewport={"width": 1300, "height": 900}, color_scheme="light", reduced_motion="reduce"
    )
    context.set_offline(offline=True)
    page = Watched(context)
    yield page
    context.close()
    assert page.messages == []
    assert {url.partition("#")[0] for url in page.requests if not url.startswith("file:")} == set()
    assert len({url.partition("#")[0] for url in page.requests}) <= 1


@pytest.fixture(scope="session")
def cumprod(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """Page and report of two backends on CumProd, in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("the explorer")
    where = ["--testdata", str(folder / "testdata")]
    assert main(["generate", *where, "--suite", "matrix", "--jobs", "1", "--select", "op=CumProd"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HERE))
        backends = ("--backend", "numpy", "--backend", "forgetful:Forgetful")
        assert main(["run", *where, *backends, "--reports", str(folder), "--workers", "1", "--quiet"]) == 1
    assert main(["report", *where, str(folder), "--format", "html", "--output", str(folder / "report.html")]) == 0
    runs = [read_run(path) for path in sorted(folder.rglob("results.jsonl"))]
    return folder / "report.html", gather(runs, testdata=folder / "testdata")


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Report], Path]:
    def write(report: Report) -> Path:
        (tmp_path / "page.html").write_text(explorer(report), encoding="utf-8")
        return tmp_path / "page.html"

    return write


def expect_rows(page: Page, name: str, number: int) -> None:
    """Wait until a table has this many rows, visible or not."""
    expect(page.locator(f"[data-name={name}] table")).to_have_attribute("aria-rowcount", str(number + 1))


def go(page: Page, address: str) -> None:
    """Navigate as the address bar does. The page changes asynchronously."""
    page.evaluate("hash => { location.hash = hash }", address)


def expect_complete(page: Page) -> None:
    """Wait until all parts of the view are decompressed."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def test_overview(watched: Watched, cumprod: tuple[Path, Report]):
    file, report = cumprod
    page = watched.open(file)
    tallies = report.summary.suites[0].tallies
    for run, tally in zip(report.summary.suites[0].runs, tallies, strict=True):
        line = page.locator(".totals tr", has_text=run.label)
        expect(line).to_contain_text(f"{tally.passed}/{tally.scored}")
    forgetful = page.locator(".totals tr", has_text="forgetful")
    assert tallies[0].verdicts["wrong_value"] > 50
    expect(forgetful.get_by_role("link", name=str(tallies[0].verdicts["wrong_value"]), exact=True)).to_be_visible()
    assert len(report.summary.suites[0].operators) == 1
    expect_rows(page, "operators", 1)
    expect(page.get_by_text("exclusive=1", exact=False).first).to_be_visible()  # the cause of the failures


def test_from_the_overview_to_an_element(watched: Watched, cumprod: tuple[Path, Report]):
    file, report = cumprod
    wrong = report.summary.suites[0].tallies[0].verdicts["wrong_value"]
    page = watched.open(file)
    page.locator(".totals tr", has_text="forgetful").get_by_role("link", name=str(wrong), exact=True).click()
    expect(page.locator("h1")).to_have_text("Data sets")
    expect_rows(page, "cases", wrong)
    link = page.locator("[data-name=cases] tbody a[href*=float16]").first
    case = link.inner_text()
    link.click()
    expect(page.locator("h1")).to_have_text(case)
    expect(page.locator(".answer", has_text="forgetful")).to_contain_text("wrong value")
    command = f"onnx-conformance repro {case} --backend forgetful:Forgetful"
    expect(page.get_by_text(command).first).to_be_visible()
    result = next(r for r in report.results[0][0] if r.case == case and f"/{r.data_set}?" in page.url.partition("#")[2])
    expect(page.locator("pre.message")).to_have_text(result.message)
    # the first difference in the message is marked, with both numbers
    found = re.match(r"\w+(\[[\d,]*\]|) = (\S+), want (\S+) \(", result.message)
    assert found
    line = page.locator(".compared tbody tr").filter(has=page.get_by_role("rowheader", name=found[1], exact=True))
    assert float(line.locator("td").first.inner_text()) == pytest.approx(float(found[3]), rel=1e-2)
    assert float(line.locator("td.wrong").first.inner_text().removeprefix("≠")) == pytest.approx(
        float(found[2]), rel=1e-2
    )
    expect(page.locator(".compared td.wrong .sign")).to_have_count(min(result.differing, 48))
    page.get_by_label("only wrong elements").check()
    expect(page.locator(".compared tbody tr")).to_have_count(min(result.differing, 48))
    page.get_by_role("link", name="next", exact=True).click()
    expect(page.locator("h1")).not_to_have_text(case)
    page.go_back()
    expect(page.locator("h1")).to_have_text(case)


def test_cells_of_both_heat_maps_open_their_data_sets(watched: Watched, cumprod: tuple[Path, Report]):
    file, report = cumprod
    page = watched.open(file, "#/map?suite=matrix&of=forgetful+0.1")
    page.get_by_role("link", name=re.compile(r"^CumProd-26, double: .* unsupported")).click()
    unsupported = report.summary.suites[0].tallies[0].verdicts["unsupported"]
    total = sum(r.labels.types["T"] == "double" for r in report.results[0][0])
    assert total >= unsupported > 10
    expect_rows(page, "cases", total)
    page.get_by_role("link", name="clear all filters").click()
    page.get_by_role("link", name="Operators × types").click()
    page.get_by_role("link", name="CumProd-26", exact=True).click()
    cell = page.locator("[data-name=combinations]").get_by_role(
        "link", name=re.compile("T=float16 T2=int32 exclusive=1")
    )
    cell.first.click()
    expect(page.locator("h1")).to_have_text("Data sets")
    shown = page.locator("#select").input_value()
    chosen = list(select_results(report.results[0][0], Selection.parse(shown)))
    assert chosen
    expect_rows(page, "cases", len(chosen))
    assert {r.labels.attributes["exclusive"] for r in chosen} == {"1"}


def test_documentation_of_an_operator(watched: Watched, cumprod: tuple[Path, Report]):
    page = watched.open(cumprod[0], "#/op/CumProd-26")
    page.get_by_text("Summary, attributes, inputs").click()
    expect(page.locator(".prose")).to_contain_text(onnx.defs.get_schema("CumProd", 26).doc.strip().splitlines()[0])
    expect(page.locator(".document")).to_contain_text("exclusive (INT, default 0)")


SELECTIONS = (
    "",
    "op=Trilu",
    "T=float*",
    "T!=float",
    "axis=0,-1 T2!=string",
    "omitted=k",
    "omitted!=*",
    "verdict=wrong_value,error",
    "verdict!=passed",
    "!test_1?",
    "*_[1-3]* data_set=1",
    "[a-t]*",
    "T=[!f]*",
    "types.T=string attributes.axis!=omitted",
    "group!=''",
    "domain=ai.onnx.ml",
    "since!=14 category=math",
    "mode='a | b || c'",
    "T='seq(tensor(float))'",
)


def with_consistent_labels(runs: list[Run]) -> list[Run]:
    """The runs with the same labels for all data sets of a case, as in real suites. Groups may differ."""
    of: dict[str, Labels] = {}
    groups: dict[tuple[str, int], str] = {}

    def alike(result: Result) -> Result:
        labels = of.setdefault(result.case, result.labels)
        group = groups.setdefault((result.case, result.data_set), result.labels.group)
        return msgspec.structs.replace(result, labels=msgspec.structs.replace(labels, group=group))

    return [msgspec.structs.replace(run, results=tuple(map(alike, run.results))) for run in runs]


def test_selections_match_the_command_line(watched: Watched, written: Callable[[Report], Path], random_runs):
    """The page selects the same data sets as ``--select``."""
    report = gather(with_consistent_labels(random_runs(6, hostile=True)))
    page = watched.open(written(report))
    for suite, results in zip(report.summary.suites, report.results, strict=True):
        for text in SELECTIONS:
            go(page, f"#/cases?{urlencode({'suite': suite.name, 'select': text})}")
            chosen: set[tuple[str, int]] = set()
            for run in results:
                try:
                    chosen |= {(r.case, r.data_set) for r in select_results(run, Selection.parse(text))}
                except NothingSelected:
                    continue
            whole = len({(r.case, r.data_set) for run in results for r in run})
            expect(page.locator("#suite")).to_have_value(suite.name)
            expect(page.locator("#select")).to_have_value(text)
            expect(page.locator("#match-count")).to_have_text(re.compile(rf"^{len(chosen)} of {whole} data sets"))


def test_invalid_selections_are_reported(watched: Watched, cumprod: tuple[Path, Report]):
    page = watched.open(cumprod[0])
    page.locator("#select").fill("op=CumProd =3")
    page.locator("#select").press("Enter")
    expect(page.locator("#match-count")).to_contain_text("=3 is not a valid selection term")
    page.locator("#select").fill("upper=1")
    page.locator("#select").press("Enter")
    expect(page.locator("#match-count")).to_contain_text("No data set has the label upper")


def test_a_view_is_a_link(watched: Watched, cumprod: tuple[Path, Report]):
    page = watched.open(cumprod[0])
    page.locator("#select").fill("T=float16")
    page.locator("#select").press("Enter")
    page.locator("#search").fill("exclusive")
    page.get_by_label("only where backends disagree").check()
    page.locator("#verdict").select_option("wrong_value")
    page.get_by_role("link", name="Data sets", exact=True).click()
    expect(page.locator("h1")).to_have_text("Data sets")
    matches, link = page.locator("#match-count").inner_text(), page.url
    again = watched.open(cumprod[0], link.partition("#")[1] + link.partition("#")[2])
    expect(again.locator("h1")).to_have_text("Data sets")
    expect(again.locator("#match-count")).to_have_text(matches)
    expect(again.locator("#search")).to_have_value("exclusive")
    expect(again.locator("#select")).to_have_value("T=float16 verdict=wrong_value")
    expect(again.get_by_label("only where backends disagree")).to_be_checked()
    expect(again.locator("[data-name=cases] [data-row='0']")).to_be_visible()


def test_keyboard(watched: Watched, cumprod: tuple[Path, Report]):
    page = watched.open(cumprod[0])
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("d")
    expect(page.locator("h1")).to_have_text("Data sets")
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("float16")
    page.keyboard.press("Escape")
    matching = [r for r in cumprod[1].results[0][0] if "float16" in r.case]
    assert 0 < len(matching) < len(cumprod[1].results[0][0])
    expect_rows(page, "cases", len(matching))
    page.locator("[data-name=cases]").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-row='0'] a").first).to_be_focused()
    page.keyboard.press("End")
    last = page.locator(f"[data-row='{len(matching) - 1}'] a").first
    expect(last).to_be_focused()
    name = last.inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(name)
    page.keyboard.press("p")
    page.keyboard.press("o")
    expect(page.locator("h1")).to_have_text("Overview")
    page.keyboard.press("?")
    expect(page.get_by_text("next and previous data set")).to_be_visible()
    page.get_by_label("only where backends disagree").check()
    page.keyboard.press("m")  # a checkbox takes no letters
    expect(page.locator("h1")).to_have_text("Operators × types")
    expect(page.locator("h1")).to_be_focused()


PRESS = """
keys => {
  for (const key of keys) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
"""
"""Dispatches shortcut keys in one task, so that the page cannot render in between."""


@pytest.mark.parametrize("keys", ["d/", "o/", "od/", "ds"])
def test_a_field_keeps_the_focus_while_the_page_changes(keys, watched: Watched, cumprod: tuple[Path, Report]):
    page = watched.open(cumprod[0], "#/map")
    field = page.locator("#select" if keys[-1] == "s" else "#search")
    page.evaluate(PRESS, list(keys))
    heading = "Data sets" if "d" in keys else "Overview"
    expect(page.locator("h1")).to_have_text(heading)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(field).to_be_focused()
    page.keyboard.type("odomop")
    expect(field).to_have_value("odomop")
    expect(page.locator("h1")).to_have_text(heading)


def test_typing_without_a_pause(watched: Watched, cumprod: tuple[Path, Report]):
    """Fast typing on a slow machine loses no keys, and no letter of a search acts as a shortcut."""
    names = sorted({(r.case, r.data_set) for r in cumprod[1].results[0][0] if "float16" in r.case})
    page = watched.open(cumprod[0])
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    for key in ("o", "m", "d", "/", *"float16", "Escape"):
        page.keyboard.press(key)
    expect(page.locator("#search")).to_have_value("float16")
    expect(page.locator("h1")).to_have_text("Data sets")
    expect_rows(page, "cases", len(names))
    page.get_by_role("link", name="case", exact=True).click()
    expect(page.locator("[data-name=cases] [data-row='0'] a")).to_have_text(names[0][0])
    page.locator("[data-name=cases]").focus()
    for key in ("ArrowDown", "j", "ArrowDown", "PageDown", "PageDown", "k"):
        page.keyboard.press(key)
    expect(page.locator("[data-row='41'] a")).to_be_focused()
    expect(page.locator("[data-row='41'] td").first).to_be_in_viewport(ratio=1)
    for key in ("Home", "End", "Enter", "p", "p", "n"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_have_text(names[-2][0])
    for key in ("/", *"zzz", "Escape", "o"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_have_text("Overview")
    expect(page.locator("#search")).to_have_value("float16zzz")
    expect(page.locator("#match-count")).to_contain_text(re.compile(r"^0 of "))


def test_a_search_that_is_cleared_immediately_does_not_return(watched: Watched, cumprod: tuple[Path, Report]):
    page = watched.open(cumprod[0], "#/cases?search=int32")
    page.locator("#search").fill("float16")
    page.get_by_role("link", name="clear all filters").click()
    expect(page.locator("#search")).to_have_value("")
    page.evaluate("() => new Promise((done) => setTimeout(done, 300))")  # twice the delay of a search
    expect(page.locator("#search")).to_have_value("")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(watched: Watched, cumprod: tuple[Path, Report], scheme):
    """Names, roles, order and contrast by the rules of WCAG 2 A and AA, checked by axe-core."""
    from axe_playwright_python.sync_playwright import Axe

    watched.page.emulate_media(color_scheme=scheme)
    case = next(r.case for r in cumprod[1].results[0][0] if r.verdict == "wrong_value")
    addresses = ["", f"#/case/{case}/0"]
    if scheme == "light":  # the dark scheme differs only in colours
        addresses += ["#/map", "#/op/CumProd-26", "#/cases?select=T%3Dfloat"]
    for address in addresses:
        page = watched.open(cumprod[0], address)
        expect_complete(page)
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "best-practice"]})
        assert found.violations_count == 0, f"{address}: {found.generate_report()}"


def test_dark_and_light(watched: Watched, cumprod: tuple[Path, Report]):
    def paper() -> str:
        return watched.page.evaluate("getComputedStyle(document.body).backgroundColor")

    page = watched.open(cumprod[0])
    light = paper()
    page.get_by_role("button", name="switch theme").click()
    dark = paper()
    assert dark != light
    page.emulate_media(color_scheme="dark")
    assert paper() == dark
    page.get_by_role("button", name="switch theme").click()
    assert paper() == light


def test_hostile_text_is_shown_and_never_run(watched: Watched, written, make_run, hostile_texts: tuple[str, ...]):
    def hurt(n: int) -> str:
        return f"{n}<img src=x onerror=alert(1)>{hostile_texts[n]}</script><script>document.title='run'</script>"

    results: list[Result] = []
    for n in range(len(hostile_texts)):
        labels = Labels("Add", "", 14, hurt(n), {"T": hurt(n)}, {"axis": hurt(n)}, (hurt(n),), hurt(n))
        results.append(Result(f"test_{hurt(n)}", 0, "wrong_value", labels, 9.0, message=hurt(n), known=hurt(n)))
    errors = [msgspec.structs.replace(result, verdict="error") for result in results]
    report = gather([make_run(results, hurt(0), hurt(1)), make_run(errors, hurt(2), hurt(1))])
    page = watched.open(written(report), "#/cases")
    for n in range(len(hostile_texts)):
        shown = printable(hurt(n))
        go(page, f"#/case/{quote('test_' + shown, safe='')}/0")
        expect(page.locator("h1")).to_have_text(re.compile(re.escape(" ".join(f"test_{shown}".split()))))
        assert shown in page.locator("pre.message").first.text_content().replace("\r\n", "\n") or "\n" in hurt(n)
    for address in ("#/overview", "#/map", "#/op/Add-14", "#/cases"):
        for n in range(len(hostile_texts)):
            go(page, f"{address}?select={quote(printable(hurt(n)))}&of={quote(printable(hurt(n)))}")
            expect(page.locator("#select")).to_have_value(" ".join(printable(hurt(n)).split("\n")))
        go(page, address)
        expect(page.locator("#select")).to_have_value("")
        expect(page.locator("#match-count")).to_have_text(f"{len(results)} of {len(results)} data sets")
        expect_complete(page)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 4  # the results, the documents and two programs
    assert "run" not in page.title()


def test_no_results(watched: Watched, written: Callable[[Report], Path]):
    page = watched.open(written(gather([])))
    expect(page.locator("#page")).to_have_text("This report has no results.")


def test_without_the_suite(watched: Watched, written: Callable[[Report], Path], two_operators):
    page = watched.open(written(gather(two_operators)))
    expect(page.get_by_text(re.compile("failing data sets are not included"))).to_be_visible()
    page.get_by_role("link", name="Data sets", exact=True).click()
    page.locator("[data-name=cases] tbody a[href*=trilu]").first.click()
    expect(page.get_by_text(re.compile("^onnx-conformance show test_trilu_"))).to_be_visible()


def test_disagreements_are_listed_first(watched: Watched, written: Callable[[Report], Path], two_operators):
    page = watched.open(written(gather(two_operators)), "#/cases")
    first = page.locator("[data-name=cases] [data-row='0']")
    expect(first).to_be_visible()
    words = {cell.strip() for cell in first.locator(".verdict").all_inner_texts()}
    assert len(words) > 1
    page.get_by_label("only where backends disagree").check()
    everyone = {(r.case, r.data_set) for run in two_operators for r in run.results}
    differing = [
        key
        for key in everyone
        if len({r.verdict for run in two_operators for r in run.results if (r.case, r.data_set) == key}) > 1
    ]
    expect(page.locator("#match-count")).to_contain_text(f"{len(differing)} of {len(everyone)} data sets")


def test_operators_are_sorted_by_failures(watched: Watched, written: Callable[[Report], Path], two_operators):
    page = watched.open(written(gather(two_operators)), "#/map")
    first = page.locator("[data-name=map] [data-row='0'] th a")
    header = page.get_by_role("link", name="all", exact=True)
    header.click()
    expect(first).to_have_text("Trilu-14")
    header.click()
    expect(first).to_have_text("graphs of several nodes")


def test_every_verdict_has_a_sign_and_a_place(watched: Watched, written: Callable[[Report], Path], make_run):
    results = [Result(f"test_{verdict}", 0, verdict, Labels("Add", since=14)) for verdict in VERDICTS]
    page = watched.open(written(gather([make_run(results)])))
    legend = page.locator("footer .verdict").all_inner_texts()
    signs = [text.partition(" ")[0] for text in legend]
    assert [text.partition(" ")[2] for text in legend] == [verdict_text(verdict) for verdict in VERDICTS]
    assert len(set(signs)) == len(VERDICTS)
    assert "undefined" not in signs
    expect(page.locator(".totals tbody td.mix")).to_have_text(f"1/{len(VERDICTS) - len(UNSCORED)}")
    for verdict in VERDICTS:
        go(page, f"#/cases?select=verdict%3D{verdict}")
        expect(page.locator("[data-name=cases] [data-row='0'] a")).to_have_text(f"test_{verdict}")
        expect_rows(page, "cases", 1)
