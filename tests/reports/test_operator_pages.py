import re
import warnings
from pathlib import Path

import msgspec
import onnx
import pytest
from markdown_it import MarkdownIt
from onnx.backend.test.case import node as onnx_examples

from harness.reports.gather import gather
from harness.reports.operator_pages import rendering
from harness.reports.operator_pages.document import operator_document
from harness.reports.operator_pages.examples import _python_names
from harness.reports.operator_pages.page import operator_page, operator_pages
from harness.reports.operator_pages.rendering import UnescapedText, operator_files, page_text
from harness.reports.testdata import SuiteMismatch, matching_suite
from harness.results.lines import Result
from harness.spec.codec import decode
from harness.spec.schema import schema, schemas
from harness.spec.values import parse_type
from harness.suite.cases import Labels
from harness.suite.generate import generate
from harness.suite.manifest import NoSuite
from harness.suite.select import Selection

DOCUMENTS = Path(__file__).parents[1] / "suite" / "documents"
SECTIONS = [
    "Results",
    "Version",
    "Summary",
    "Attributes",
    "Inputs",
    "Outputs",
    "Type constraints",
    "Examples",
    "Results in detail",
]
SHOWN = "op=BitCast,CumProd,LabelEncoder,Pad,Trilu since=2,4,14,26"
"""Operators with examples: of 2-bit types and strings, of old versions and other domains."""


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("testdata") / "matrix", selection=Selection.parse(SHOWN))[0]


@pytest.fixture
def report_of(matrix, make_run):
    """A report of two runs. The first passes, the second fails the given case."""

    def made(failing="", testdata=matrix.path.parent, digest=matrix.digest, **changes):
        right = [Result(case.name, 0, "passed", case.labels_of(0)) for case in matrix.cases()]
        wrong = [
            msgspec.structs.replace(result, verdict="wrong_value", message="y[0] = 1, want 2", **changes)
            if result.case == failing
            else result
            for result in right
        ]
        runs = [make_run(right, "numpy", digest=digest), make_run(wrong, "runtime", digest=digest)]
        return gather(runs, testdata=testdata)

    return made


def parsed(text):
    return MarkdownIt("commonmark").enable("table").parse(text)


def flat(tokens):
    return [child for token in tokens for child in (token, *(token.children or ()))]


def headings(tokens, tag):
    return [tokens[n + 1].content for n, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", tag)]


def words(text):
    """The text with normalized quotes, which are curly on ONNX's web pages, and white space."""
    return re.sub(r"\s+", " ", re.sub(r"[‘’“”]", "'", text.replace('"', "'"))).strip()  # noqa: RUF001


def seen(text):
    blocks = [token.children for token in parsed(text) if token.type == "inline"]
    return words(" ".join("".join(" " if c.type == "softbreak" else c.content for c in block) for block in blocks))


def test_every_version_has_a_page_with_all_sections():
    living = [version for version in schemas().values() if not version.deprecated]
    assert len(living) == 654
    for version in living:
        tokens = parsed(page_text(operator_page(version, [])))
        assert headings(tokens, "h1") == [version.title]
        assert headings(tokens, "h2") == SECTIONS, version.title
        tags = {token.content for token in flat(tokens) if token.type.startswith("html")}
        assert tags <= {"<br>", "<br/>"}, version.title
        code = [token.content for token in flat(tokens) if token.type in {"code_block", "fence", "code_inline"}]
        assert not any(re.search(r"\\[<*_#=-]", one) for one in code), version.title


def test_headings_and_tags_in_documentation_are_not_rendered():
    text = rendering._onnx("# a\nb\n---\nc\n  ===\nTensor<T> of 2*3*4 keys_* `<x>`\n```\n# d<T>\n```\n")
    assert not [token for token in parsed(text) if token.type == "heading_open"]
    assert seen(text) == "# a b --- c === Tensor<T> of 2*3*4 keys_* <x>"
    assert [token.content for token in parsed(text) if token.type == "fence"] == ["# d<T>\n"]


def facts_of(name, section, following):
    text = (DOCUMENTS / name).read_text()
    return [line for line in text.split(f"\n{section}\n", 1)[1].split(f"\n{following}", 1)[0].splitlines() if line]


@pytest.mark.parametrize(
    ("section", "following"),
    [("Inputs", "Outputs"), ("Outputs", "Attributes"), ("Attributes", "Type Constraints")],
)
def test_page_of_cumprod_matches_onnx(section, following):
    text = page_text(operator_page(schema("CumProd", 26), []))
    part = seen(text.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0])
    facts = facts_of("cumprod.txt", section, following)
    assert facts
    for fact in facts:
        name, of, description = re.fullmatch(r"(\w+) \((\w+)\): (.*)", fact).groups()
        kind = "(INT, default 0)" if of == "int" else f"- {of}"
        assert words(f"{name} {kind}: {description}") in part


def test_types_of_cumprod_match_onnx():
    constraints = {one.name: one for one in operator_document(schema("CumProd", 26)).constraints}
    facts = facts_of("cumprod.txt", "Type Constraints", "Examples")
    assert len(facts) == len(constraints) == 2
    for fact in facts:
        name, description, types = re.fullmatch(r"(\w+): (.*) Allowed types: (.*)\.", fact).groups()
        assert constraints[name].types == tuple(types.split(", "))
        assert constraints[name].description.rstrip(".") == description.rstrip(".")


def as_pages_say(fact):
    """A line of ONNX's documentation of Trilu in the wording of our page.

    The web pages write heterogeneous where the schemas say homogeneous.
    """
    fact = re.sub(r"(, )?heterogeneous|\(GitHub\)|SupportType\.", "", fact).replace(" ()", "")
    if re.match(r"\w+ in \( ", fact):
        fact = fact.replace("( ", "").replace(" )", "")
    return fact.replace("upper:", "upper (INT, default 1):").replace("domain: main", "domain: main (ai.onnx)")


def test_page_of_trilu_matches_onnx():
    page = page_text(operator_page(schema("Trilu", 14), []))
    facts = facts_of("trilu.txt", "Version", "Examples")
    titles = {"Summary", "Attributes", "Inputs", "Outputs", "Type Constraints"}
    assert {fact.capitalize() for fact in titles} <= set(headings(parsed(page), "h2"))
    since = "This version of the operator has been available since version 14."  # as since_version says
    listed = [fact for fact in facts if fact not in titles and fact != since]
    assert len(listed) == 13
    for fact in listed:
        assert words(as_pages_say(fact)) in seen(page)


def test_examples_run_and_reproduce_the_cases(report_of, matrix, assert_same):
    """Runs each example and compares its values with the files of the case."""
    pages = list(operator_pages(report_of()))
    examples = [(page, example) for page in pages for example in page.examples]
    cases = {case.name: case for case in matrix.cases()}
    assert {example.title for _, example in examples} == {
        name for name, case in cases.items() if case.data_sets[0].group == "example"
    }
    assert not any(example.shortened for _, example in examples)
    for page, example in examples:
        case = cases[example.title]
        onnx_examples._existing_names.clear()
        onnx_examples._NodeTestCases.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(example.code, example.title, "exec"), {})  # noqa: S102
        test = onnx_examples._NodeTestCases[0]
        model = onnx.load(matrix.path / example.title / "model.onnx")
        assert read_back(test.model.graph.node[0]) == read_back(model.graph.node[0])
        assert schema_of(test.model) == (page.document.op, page.document.since)
        ((inputs, outputs),) = test.data_sets
        for stem, types, values in (("input", case.inputs, inputs), ("output", case.outputs, outputs)):
            assert len(values) == len(types)
            for i, (of, value) in enumerate(zip(types, values, strict=True)):
                file = matrix.path / example.title / "test_data_set_0" / f"{stem}_{i}.pb"
                assert_same(value, decode(file.read_bytes(), parse_type(of)))
    onnx_examples._existing_names.clear()
    onnx_examples._NodeTestCases.clear()


def read_back(node):
    return node.op_type, node.domain, list(node.input), list(node.output), sorted(map(str, node.attribute))


def schema_of(model):
    (opset,) = model.opset_import
    node = model.graph.node[0]
    return node.op_type, onnx.defs.get_schema(node.op_type, opset.version, opset.domain).since_version


def test_python_names():
    names = _python_names(["x", "lambda", "x.1", "x_1", "1", "np", "", "é"])
    assert names == ["x", "_lambda", "x_1", "x_1_3", "_1", "_np", "_", "__7"]
    assert all(map(str.isidentifier, names))


def test_results_are_shown_with_an_example(report_of):
    report = report_of("test_triu_neg", known="k is `taken` as |k|")
    page = next(page for page in operator_pages(report) if page.document.title == "Trilu-14")
    text = page_text(page)
    assert re.search(r"\| \[test_triu\]\(#test_triu\) +\| matrix +\| +passed \| +passed \|", text)
    assert re.search(r"\| \[test_triu_neg\]\(#test_triu_neg\) +\| matrix +\| +passed \| +\*\*wrong value\*\* \|", text)
    section = text.split("\n### test_triu_neg\n", 1)[1].split("\n### ", 1)[0]
    assert "\nPassed by numpy 1.0.\n" in section
    assert "- **runtime 1.0**, wrong value: `y[0] = 1, want 2`, known: ``k is `taken` as |k|``" in section
    assert "  - reproduce: `onnx-conformance repro test_triu_neg --backend runtime`" in section
    assert "\nPassed by numpy 1.0, runtime 1.0.\n" in text.split("\n### test_triu\n", 1)[1]
    assert re.search(r"\| matrix +\| +272/272 \| +271/272 · 1 wrong value \|", text)


def test_a_selection_limits_the_examples(report_of, matrix, make_run):
    results = [Result("test_triu", 0, "passed", next(c for c in matrix.cases() if c.name == "test_triu").labels_of(0))]
    report = gather([make_run(results, digest=matrix.digest)], testdata=matrix.path.parent)
    assert [[one.title for one in page.examples] for page in operator_pages(report)] == [["test_triu"]]


def test_a_node_test_of_the_same_name_is_not_shown_twice(matrix, make_run, tmp_path):
    (tmp_path / "testdata").mkdir()
    for name in ("matrix", "official"):
        (tmp_path / "testdata" / name).symlink_to(matrix.path)
    results = [Result(case.name, 0, "passed", case.labels_of(0)) for case in matrix.cases()]
    runs = [make_run(results, suite=name, digest=matrix.digest) for name in ("official", "matrix")]
    report = gather(runs, testdata=tmp_path / "testdata")
    page = next(page for page in operator_pages(report) if page.document.title == "Trilu-14")
    assert [example.title for example in page.examples].count("test_triu") == 1
    assert [results.suite for results in page.results] == ["matrix", "official"]


def test_a_missing_suite_is_reported_on_the_page(report_of, tmp_path):
    for report, reason in (
        (report_of(testdata=tmp_path / "no where"), "The suite matrix is not available."),
        (report_of(digest="0" * 64), "but the results are from digest 000000000000."),
    ):
        pages = list(operator_pages(report))
        assert not any(page.examples for page in pages)
        text = page_text(next(page for page in pages if page.document.title == "Trilu-14"))
        assert "The examples of a suite are missing:" in text
        assert reason in text


def test_only_the_suite_that_was_run_is_used(report_of, make_run, matrix):
    (suite,) = report_of(digest="0" * 64).summary.suites
    with pytest.raises(SuiteMismatch, match="the results are from digest 000000000000"):
        matching_suite(suite, matrix.path.parent)
    for name in ("../matrix", "x" * 5000, "a\nb", ""):
        (suite,) = gather([make_run([], suite=name)]).summary.suites
        with pytest.raises(NoSuite):
            matching_suite(suite, matrix.path.parent)


def test_the_index_links_to_every_page(report_of, make_run):
    report = report_of("test_triu")
    files = dict(operator_files(report))
    index = files.pop("operators/README.md")
    links = re.findall(r"\]\(([^)#]*\.md)\)", index)
    assert {f"operators/{link}" for link in links} == set(files)
    assert "## traditionalml (`ai.onnx.ml`)\n" in index
    assert re.search(r"\| \[Trilu-14\]\(Trilu-14\.md\) +\| matrix +\| +272/272 \| +\*\*271/272\*\* \|", index)
    for text in files.values():
        others = set(re.findall(r"\]\(([^)#]*\.md)\)", text)) - {"README.md"}
        assert {f"operators/{other}" for other in others} <= set(files)


def test_what_onnx_does_not_define_has_no_page(make_run):
    results = [Result("test_a", 0, "passed", Labels("../../x", "evil/", 1)), Result("test_b", 0, "passed", Labels(""))]
    ((path, text),) = operator_files(gather([make_run(results)]))
    assert path == "operators/README.md"
    assert "These operator versions are not defined in the installed onnx: `evil/.../../x-1`." in text


def test_names_of_pages_differ_in_more_than_case():
    titles = [version.title.casefold() for version in schemas().values()]
    assert len(set(titles)) == len(titles)


def test_hostile_text_is_shown_and_never_rendered(seed, random_runs):
    for path, text in operator_files(gather(random_runs(seed, hostile=True))):
        tokens = flat(parsed(text.split("\n## Summary\n")[0] + text.partition("\n## Examples\n")[2]))
        assert not [token for token in tokens if token.type.startswith(("html", "image", "hr", "blockquote"))], path
        links = [token.attrs["href"] for token in tokens if token.type == "link_open"]
        assert all(re.fullmatch(r"(\w[\w.-]*\.md)?(#[\w-]+)?", link) for link in links)
        plain = " ".join(token.content for token in tokens if token.type == "text")
        assert not re.search(r"https?:|www\.|[<@]", plain)


def test_unescaped_text_is_an_error():
    with pytest.raises(UnescapedText, match="<b>"):
        rendering._environment().from_string("{{ text }}").render(text="<b>")
    assert rendering._environment().from_string("{{ text | code }}").render(text="<b>") == "`<b>`"
