"""The pytest plugin, in separate pytest sessions with small suites and miniature backends."""

import fnmatch
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest
import tiny_runs as tools

from harness.suite.cases import DataSet
from harness.suite.generate import generate
from harness.suite.select import Selection

pytest_plugins = ["pytester"]

SUPPORT = Path(__file__).parent / "support"


FUSSY = """
    import miniatures

    class Fussy(miniatures.Right):
        def run(self, y):
            if y.flat[0] == 1:
                raise ValueError("one")
            return [y]
"""
"""A backend that fails in the second data set of each case of the tiny suite."""

RECORDER = """
    import os
    import miniatures

    def note(*words):
        with open("noted.txt", "a") as file:
            print(*words, file=file)

    class Recorder(miniatures.Right):
        def prepare(self, model):
            note("prepare", os.getpid())
            return super().prepare(model)

        def run(self, y):
            note("run", int(y.flat[0]))
            return [y]
"""
"""A backend that logs its calls. The first element of data set ``n`` of the tiny suite is ``n``."""


@pytest.fixture(autouse=True)
def _strict(pytester, monkeypatch):
    """Sessions can import the miniatures, treat warnings as errors, and must leave no files or processes behind."""
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    monkeypatch.setenv("TMPDIR", str(pytester.path))
    monkeypatch.setenv("MINIATURE_MARK", str(pytester.path / "mark"))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("CI", raising=False)
    pytester.makeini("[pytest]\naddopts = --strict-markers -p no:hypothesispytest\nfilterwarnings = error\n")
    yield
    assert not list(pytester.path.glob("onnx-conformance-*")), "a scratch folder was not removed"
    assert tools.await_gone(str(pytester.path)), "a worker is still running"


@pytest.fixture
def tiny(pytester):
    """Two cases of three data sets."""
    return tools.tiny_suite(pytester.path / "tiny", cases=2)


@pytest.fixture
def session(pytester, tiny):
    """Runs pytest on a suite with miniature backends."""

    def run(*backends, suite="tiny", arguments=()):
        specs = [spec if ":" in spec else f"miniatures:{spec}" for spec in backends]
        options = [f"--onnx-backend={spec}" for spec in specs]
        # Half as long as in a process of its own; what pytest-xdist starts would inherit too much of ours.
        start = pytester.runpytest_subprocess if "-n2" in arguments else pytester.runpytest_inprocess
        return start(f"--onnx-suite={suite}", *options, "-v", *arguments)

    return run


@pytest.fixture(scope="module")
def cumprod(tmp_path_factory):
    path = tmp_path_factory.mktemp("generated") / "matrix"
    suite, _ = generate(path, selection=Selection.parse("op=CumProd"))
    return suite


def outcomes(result):
    """Test name → outcome."""
    found = re.findall(
        r"^(?:\[gw\d\] \[ *\d+%\] )?(?:(PASSED|FAILED|SKIPPED|XFAIL) )?\S+manifest\.jsonl::(\S+?)"
        r"(?: (PASSED|FAILED|SKIPPED|XFAIL)\b.*)?$",
        result.stdout.str().partition("= FAILURES =")[0].partition("short test summary")[0],
        re.MULTILINE,
    )
    return {name: before or after for before, name, after in found if before or after}


def report(pytester):
    return ET.parse(pytester.path / "report.xml").getroot()  # noqa: S314 - pytest wrote it


def names(result):
    return [line.partition("::")[2] for line in result.outlines if "manifest.jsonl::" in line]


def test_outcomes_of_verdicts(pytester, session):
    data = [[np.array([[n, 0.0, np.nan], [5, 2.5, -1.0]], np.float32)] for n in range(3)]
    root = pytester.path / "one"
    case = tools.write_case(root, "test_one", data)
    unspecified = DataSet("group_0", unspecified="Identity-14 does not say.")
    case = msgspec.structs.replace(case, data_sets=(*case.data_sets[:2], unspecified))
    tools.write_suite(root, [case])
    expected = {
        "Right": "passed passed skipped",
        "OneBoundOff": "failed failed skipped",
        "WrongType": "failed failed skipped",
        "WrongShape": "failed failed skipped",
        "WrongCount": "failed failed skipped",
        "Declines": "skipped skipped skipped",
        "MissingLocale": "skipped skipped skipped",
        "Raises": "failed failed skipped",
        "SegfaultsSecond": "passed failed skipped",
        "HangsSecond": "passed failed skipped",
    }
    result = session(*expected, suite="one", arguments=["--onnx-limit=0.5", "-rs"])
    found = outcomes(result)
    assert len(found) == 30
    for backend, wanted in expected.items():
        assert [found[f"test_one[miniatures-{backend}-{n}]"].lower() for n in range(3)] == wanted.split(), backend
    result.stdout.fnmatch_lines_random(
        [
            "SKIPPED [[]10[]] *: unspecified: Identity-14 does not say.",
            "SKIPPED [[]2[]] *: unsupported: no kernel for it",
            "SKIPPED [[]2[]] *: missing requirement: the locale tlh_QO is not installed",
            "wrong type: y: tensor(double), want tensor(float)",
            "wrong shape: y: shape *3,2*, want *2,3*",
            "wrong count: 2 outputs, want 1",
            "error: ValueError: axis 4 is out of range",
            "crashed: was killed by SIGSEGV, twice",
            "timed out: no answer within 0.5 s",
        ]
    )


def test_the_message_of_a_failure(session):
    result = session("OneBoundOff", arguments=["-k", "000 and Off-1"])
    text = result.stdout.str()
    case, backend = "test_identity_000", "miniatures:OneBoundOff"
    body = text.partition("= FAILURES =")[2].partition("= short test summary")[0]
    assert body.splitlines()[2:-1] == [
        "wrong value: y[0,0] = 1.005, want 1 (float; 5 bounds, 4 allowed); 1 of 6 differ",
        "Identity-14 T=float",
        f"reproduce: onnx-conformance repro {case} --backend {backend} --data-set 1 --suite tiny --testdata .",
    ]
    assert "Traceback" not in text
    result.stdout.fnmatch_lines(["FAILED tiny/manifest.jsonl::test_identity_000[[]miniatures-OneBoundOff-1[]]*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_last_failed(pytester, session):
    pytester.makepyfile(fussy=FUSSY)
    session("fussy:Fussy").assert_outcomes(passed=4, failed=2)
    again = session("fussy:Fussy", "Right", arguments=["--lf"])
    assert outcomes(again) == {f"test_identity_00{c}[fussy-Fussy-1]": "FAILED" for c in range(2)}


def test_a_backend_that_does_not_restart_fails_the_remaining_tests(session):
    result = session("FailsToStartAgain")
    result.assert_outcomes(failed=6)
    result.stdout.fnmatch_lines(["not run: The backend 'miniatures:FailsToStartAgain' does not start: *"])


def test_a_case_is_prepared_once_and_skipped_tests_never_run(pytester, session):
    pytester.makepyfile(recorder=RECORDER)
    pytester.makeconftest("""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.name.startswith("test_identity_001") and item.name.endswith("-1]"):
                    item.add_marker(pytest.mark.skip)
    """)
    session("recorder:Recorder").assert_outcomes(passed=5, skipped=1)
    noted = [line.split() for line in (pytester.path / "noted.txt").read_text().splitlines()]
    assert [int(what) for word, what in noted if word == "run"] == [0, 1, 2, 0, 2]
    workers = [what for word, what in noted if word == "prepare"]
    assert len(workers) == 3, "one for the first case, two for the second, in whose midst one is skipped"
    assert len(set(workers)) == 1


def test_a_crash_fails_one_test_and_tests_can_be_reordered(pytester, session):
    pytester.makepyfile(test_mine="def test_mine(): pass")
    pytester.makeconftest("def pytest_collection_modifyitems(items): items.sort(key=lambda item: item.name[::-1])")
    result = session("Right", "SegfaultsSecond", arguments=["test_mine.py"])
    result.assert_outcomes(passed=11, failed=2)
    assert [name[-2:] for name in outcomes(result)] == ["0]"] * 4 + ["1]"] * 4 + ["2]"] * 4
    failed = [name for name, outcome in outcomes(result).items() if outcome == "FAILED"]
    assert failed == [f"test_identity_00{c}[miniatures-SegfaultsSecond-1]" for c in range(2)]


def test_xdist(pytester, session):
    pytester.makepyfile(test_mine="def test_mine(): pass")
    pytester.makepyfile(fussy=FUSSY)
    result = session("fussy:Fussy", "Declines", arguments=["-n2", "test_mine.py", "--junitxml=report.xml"])
    result.assert_outcomes(passed=5, failed=2, skipped=6)
    cases = report(pytester).findall(".//testcase")
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases) == 13
    failures = [case.find("failure").get("message") for case in cases if case.find("failure") is not None]
    assert len(failures) == 2
    assert all(text.startswith("error: ValueError: one\nIdentity-14 T=float\nreproduce: ") for text in failures)
    skipped = [case.find("skipped").get("message") for case in cases if case.find("skipped") is not None]
    assert skipped == ["unsupported: no kernel for it"] * 6
    assert not [case for case in cases if case.find("properties") is not None]


def test_known_failures(pytester, session):
    pytester.makefile(
        ".toml",
        known="""
        [[expect]]
        select = "case=*_000 data_set=1"
        verdict = "error"
        reason = "it is fussy about ones"

        [[expect]]
        select = "case=*_001 data_set=0"
        verdict = ["crashed", "timed_out"]
        reason = "it was slow"

        [[expect]]
        select = "case=*_001 data_set=2"
        verdict = ["passed", "wrong_value"]
        reason = "it depends"
        """,
    )
    pytester.makepyfile(fussy=FUSSY)
    result = session("fussy:Fussy", arguments=["--onnx-expected=known.toml", "-rx"])
    result.assert_outcomes(passed=3, failed=2, xfailed=1)
    result.stdout.fnmatch_lines_random(
        [
            "XFAIL tiny/manifest.jsonl::test_identity_000[[]*-1[]] - error: it is fussy about ones",
            "[[]XPASS(strict)[]] expected crashed or timed out: it was slow",
            "expectation: case=*_001 data_set=0",
        ]
    )
    taken_as_they_are = session("fussy:Fussy", arguments=["--onnx-expected=known.toml", "--runxfail"])
    taken_as_they_are.assert_outcomes(passed=4, failed=2)


def test_labels_are_keywords_and_a_marker(pytester, cumprod):
    def collected(*arguments):
        options = (f"--onnx-suite={cumprod.path}", "--onnx-backend=numpy", "--co", "-q")
        return names(pytester.runpytest_inprocess(*options, *arguments))

    everything = collected()
    assert len(everything) == sum(len(case.data_sets) for case in cumprod.cases())
    half = collected("--onnx-select=T=float16", "--onnx-select", "reverse=1")
    assert half
    assert half == collected("-m", "onnx(op='CumProd', T='float16', reverse='1', since=26)")
    words = collected("-k", "cumprod and float16 and not bfloat16 and reverse_1 and math and NUMPY")
    assert words == half
    assert set(words) < set(collected("-k", "float16 and reverse_1")), "parts of words match: bfloat16"
    assert collected("-m", "not onnx") == []


def test_generated_cases_pass_and_can_be_selected_by_node_id(pytester, cumprod):
    options = (f"--onnx-suite={cumprod.path}", "--onnx-backend=numpy", "-v")
    result = pytester.runpytest_inprocess(*options, "--onnx-select=T=float16", "--durations=1", "-pno:cacheprovider")
    found = outcomes(result)
    assert set(found.values()) == {"PASSED"}
    name = list(found)[-1]
    node = f"{cumprod.path}/manifest.jsonl::{name}"
    result.stdout.fnmatch_lines([f"{node.replace('[', '[[]', 1)[:-1]}[]] PASSED*", "*s call *manifest.jsonl::*"])
    assert names(pytester.runpytest_inprocess(*options, node, "--co", "-q", "-q")) == [name]


HOSTILE = """
    import miniatures

    class Hostile(miniatures.Right):
        def run(self, y):
            raise ValueError("\\x1b[31m]]><script>\\x00\\u202e %s {}" + "é" * 2000)
"""


def test_text_from_a_backend_is_escaped(pytester, session):
    pytester.makepyfile(hostile=HOSTILE)
    result = session("hostile:Hostile", arguments=["--junitxml=report.xml", "-k", "000 and Hostile-0"])
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"error: ValueError: \x1b[31m]]><script>\x00\u202e %s {}" in text
    failure = report(pytester).find(".//failure")
    assert r"\x1b[31m]]><script>" in failure.get("message")


@pytest.mark.parametrize("distributed", [[], ["-n2"]])
def test_a_damaged_suite_stops_the_session(session, tiny, distributed):
    path = tiny.path / "test_identity_000" / "test_data_set_1" / "output_0.pb"
    path.write_bytes(path.read_bytes()[:-1])
    result = session("Right", arguments=["--maxfail=9", *distributed])
    assert result.ret == pytest.ExitCode.INTERRUPTED
    message = f"{path} is not the file that the manifest lists (SHA-256)."
    result.stdout.fnmatch_lines(
        [message, "  Write the suite again: onnx-conformance generate --force.", f"!*{message}*"]
    )
    if not distributed:
        result.assert_outcomes(passed=1, failed=1)
    assert "Traceback" not in result.stdout.str()


def test_a_broken_manifest_is_a_collection_error(session, tiny):
    with (tiny.path / "manifest.jsonl").open("a") as manifest:
        manifest.write("{}\n")
    result = session("Right")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*tiny/manifest.jsonl:3 is no case: *", "  Write the suite again: *"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--onnx-suite=none", "--onnx-backend=numpy"], "There is no suite at */none.\n  Write it: *"),
        (["--onnx-suite=tiny"], "No backend is given.\n  Add one: --onnx-backend numpy or *"),
        (["--onnx-backend=numpy"], "No suite is given.\n  Add one: *"),
        (
            ["--onnx-suite=tiny", "--onnx-backend=a:b", "--onnx-backend=a-b"],
            "'a:b' and 'a-b' have the same name *, a-b.*\n  *",
        ),
        (["--onnx-suite=tiny", "--onnx-backend=numpy", "--onnx-select=op="], "No case has op=; op is Identity."),
        (["--onnx-suite=tiny", "--onnx-backend=numpy", "--onnx-select=op=Identify"], "*; did you mean op=Identity?"),
        (["--onnx-suite=tiny", "--onnx-backend=numpy", "--onnx-select=a!b"], "'a!b' is no term of a selection.\n  *"),
        (["--onnx-suite=tiny", "--onnx-backend=numpy", "--onnx-limit=-1"], "--onnx-limit -1 is not a positive *\n  *"),
        (
            ["--onnx-suite=tiny", "--onnx-backend=numpy", "--onnx-expected=x.toml"],
            "The expectations file x.toml does not *",
        ),
    ],
)
def test_wrong_usage_is_reported_before_anything_runs(pytester, tiny, arguments, message):
    with pytest.raises(pytest.UsageError) as error:
        pytester.parseconfigure(*arguments)
    assert fnmatch.fnmatchcase(str(error.value), message), str(error.value)


@pytest.mark.parametrize("arguments", [[], ["-n2"]])
def test_a_missing_backend_is_wrong_usage(session, arguments):
    result = session("Rihgt", arguments=arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: The backend 'miniatures:Rihgt' names 'Rihgt', which miniatures does not have.", "  *"]
    )
    assert "INTERNALERROR" not in result.stdout.str()


@pytest.mark.parametrize("arguments", [[], ["-n2"]])
def test_an_interrupted_session_leaves_no_process(pytester, tiny, arguments):
    command = [sys.executable, "-m", "pytest", "--onnx-suite=tiny", "--onnx-backend=miniatures:HangsInPrepare"]
    process = pytester.popen([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mark = str(pytester.path)
    assert tools.await_true(lambda: list(pytester.path.glob("onnx-conformance-*")))
    workers = 1 + len(arguments)
    assert tools.await_true(lambda: sum(map(is_worker, tools.processes_with(mark))) >= workers)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert tools.await_gone(mark)


def is_worker(pid):
    try:
        return b"miniatures:HangsInPrepare" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def test_a_session_without_a_suite_imports_only_the_options():
    code = "import sys, pytest, harness.pytest_plugin; print([m for m in sys.modules if m.startswith('harness')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['harness', 'harness.pytest_plugin']"
