"""JUnit XML: valid, complete, within the size limit, and with unique names."""

from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from harness.reports.gather import gather
from harness.reports.junit import junit
from harness.results.lines import Result
from harness.suite.cases import Labels

WRONG = ("wrong_value", "wrong_shape", "wrong_type", "wrong_count")
SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "standards" / "junit.xsd"))


def read(runs, **options):
    """The validated root elements of the files of a report."""
    roots = []
    for _, text in junit(gather(runs), **options):
        root = etree.fromstring(text.encode())
        SCHEMA.assertValid(root)
        roots.append(root)
    return roots


def test_the_schema_rejects_invalid_files(two_operators):
    """Wrong order, duplicate names, and attributes that one of the two schemas forbids."""
    ((_, text),) = junit(gather(two_operators))
    suite = text[text.index("<testsuite ") : text.index("</testsuite>")] + "</testsuite>"
    for broken in (
        text.replace("<testsuites>", '<testsuites name="onnx">'),
        text.replace("<system-out/>\n", ""),
        text.replace("</testsuites>", f"{suite}</testsuites>"),
        text.replace("<skipped ", '<skipped type="unspecified" '),
        text.replace('timestamp="2027-01-01T10:00:00"', 'timestamp="2027-01-01T10:00:00Z"'),
        text.replace('errors="0"', 'errors=""'),
    ):
        assert broken != text
        assert not SCHEMA.validate(etree.fromstring(broken.encode()))


def test_counts_agree(seed, random_runs):
    runs = random_runs(seed, hostile=True)
    report = gather(runs)
    (root,) = read(runs)
    results = [result for suite in report.results for run in suite for result in run]
    unfinished = sum(not run.complete for suite in report.summary.suites for run in suite.runs)
    passed = Counter(result.verdict for result in results)["passed"]
    new = [result.verdict for result in results if not result.known]
    failures = sum(verdict in WRONG for verdict in new)
    errors = sum(verdict in {"error", "crashed", "timed_out", "not_run"} for verdict in new) + unfinished
    total = {name: sum(int(suite.attrib[name]) for suite in root) for name in root[0].attrib if name.endswith("s")}
    assert total["tests"] == len(results) + unfinished
    assert total["failures"] == failures
    assert total["errors"] == errors
    assert sum(int(suite.attrib["skipped"]) for suite in root) == len(results) - passed - failures - errors + unfinished
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[counted]) == len(suite.findall(f"testcase/{tag}"))
        assert all(outcome.attrib["message"] for outcome in suite.findall("testcase/*"))
    assert [suite.attrib["id"] for suite in root] == [str(n) for n in range(len(root))]


def test_names_and_reasons(two_operators):
    (root,) = read(two_operators)
    names = [suite.attrib["name"] for suite in root]
    assert len(names) == 9
    assert "matrix / runtime 1.0 / CumProd-26" in names
    assert len(list(root.iter("testcase"))) == 123
    reasons = {skipped.attrib["message"].split(".")[0] for skipped in root.iter("skipped")}
    assert reasons == {
        "unspecified: the specification leaves the answer open",
        "known wrong_value: integer zeros",
        "unsupported: no kernel",
    }
    first = next(root.iter("failure"))
    assert first.attrib["type"] == "wrong_value"
    assert first.text.splitlines()[1:] == [
        "Trilu-14 T=string, without upper",
        "reproduce: onnx-conformance repro test_trilu_12 --backend reference",
    ]
    assert {p.attrib["name"]: p.attrib["value"] for p in root[0].iter("property")} == {
        "backend": "numpy", "version": "1.0", "device": "CPU", "digest": "ab" * 32,
    }  # fmt: skip


def test_text_is_shown(hostile, make_run):
    (root,) = read([make_run([Result("test_a", 0, "error", Labels("Add", since=1), message=f"<{hostile}>")])])
    text = next(root.iter("error")).text
    want = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in hostile if c not in "\r\n")
    assert text.replace("\n", "").startswith(f"<{want}>")


def test_names_are_unique_after_escaping(make_run):
    names = ["test_a", "test_\a", r"test_\x07", "test a", "test  a", " test a"]
    runs = [
        make_run([Result(name, 0, "passed", Labels("Add", since=1)) for name in names], version)
        for version in ("x.y", "x_y")
    ]
    (root,) = read(runs)
    names = {case.attrib["name"] for case in root.iter("testcase")}
    assert {r"test_\x07[0]", r"test_\x07[0] #2", "test a[0]", "test a[0] #2", "test a[0] #3"} <= names


@pytest.mark.parametrize("limit", [5_000, 20_000, 25_000])
def test_big_reports_are_split(limit, two_operators, make_run):
    many = make_run([Result(f"test_{n:04}", 0, "error", Labels("Add", since=14), message="é" * 99) for n in range(60)])
    runs = [*two_operators, many]
    files = list(junit(gather(runs), limit))
    assert len(files) > 1
    assert [name for name, _ in files] == ["junit.xml", *(f"junit-{n}.xml" for n in range(2, len(files) + 1))]
    assert all(len(text.encode()) <= limit for _, text in files)
    if limit > 20_000:
        assert max(len(text.encode()) for _, text in files) > limit - 10_000  # files are filled
    cases = [
        (case.attrib["classname"], case.attrib["name"])
        for root in read(runs, limit=limit)
        for case in root.iter("testcase")
    ]
    (whole,) = read(runs)
    assert cases == [(c.attrib["classname"], c.attrib["name"]) for c in whole.iter("testcase")]
    names = [suite.attrib["name"] for root in read(runs, limit=limit) for suite in root]
    assert len(names) == len(set(names))


def test_a_testcase_above_the_limit_has_its_own_file(make_run):
    results = [Result(f"test_{n}", 0, "error", Labels("Add", since=14), message="x" * 3000) for n in range(3)]
    assert [len(list(root.iter("testcase"))) for root in read([make_run(results)], limit=2_000)] == [1, 1, 1]


def test_times_out_of_range(make_run):
    labels = Labels("Add", since=14)
    times = [-1.0, 1e300, float("inf"), float("nan"), 0.25]
    results = [Result(f"test_{n}", 0, "passed", labels, seconds=time) for n, time in enumerate(times)]
    for started in ("", "yesterday", "0001-01-01T00:00:00+14:00", "0999-01-01"):
        (root,) = read([make_run(results, started=started)])
        assert root[0].attrib["time"] == "0.250"
    (root,) = read([make_run(results, started="2027-01-01T10:00:00+02:00")])
    assert root[0].attrib["timestamp"] == "2027-01-01T08:00:00"


def test_very_long_messages_are_truncated(make_run):
    (root,) = read([make_run([Result("test_a", 0, "error", Labels("Add", since=14), message="x" * 1_000_000)])])
    assert "980,000 more characters" in next(root.iter("error")).text
    assert len(etree.tostring(root)) < 30_000
