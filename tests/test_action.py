"""The GitHub action: the tests run its steps in order, except for those that install, cache and upload."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
ACTION = YAML(typ="safe").load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{\s*([^}]*?)\s*\}\}")
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
ADAPTERS = """
from harness.backend.interface import Unsupported
from harness.backend.interface import Description


class Mine:
    def describe(self):
        return Description("mine $(touch injected)", "1")

    def prepare(self, model):
        return lambda inputs: [inputs[0] * 0]


class Declines(Mine):
    def prepare(self, model):
        raise Unsupported("not yet")
"""


def expressions(part):
    """Every expression in a part of the action."""
    if isinstance(part, dict):
        return [one for value in part.values() for one in expressions(value)]
    if isinstance(part, list):
        return [one for value in part for one in expressions(value)]
    return EXPRESSION.findall(part) if isinstance(part, str) else []


class Runner:
    """As much of a runner as the action needs."""

    def __init__(self, workspace: Path, temp: Path, **inputs):
        self.workspace, self.temp = workspace, temp
        self.inputs = {name: of.get("default", "") for name, of in ACTION["inputs"].items()} | inputs
        self.outputs, self.status, self.log = {}, 0, ""
        self.summary = workspace / "summary.md"

    def value(self, text):
        """A text with its expressions looked up; one that is not known fails."""

        def found(match):
            where, _, name = match[1].partition(".")
            if where == "inputs":
                return self.inputs[name]
            step, _, output = name.partition(".outputs.")
            assert where == "steps"
            return self.outputs[step].get(output, "")

        return EXPRESSION.sub(found, str(text))

    def run(self):
        """Every step of the shell in order, until one fails."""
        for step in STEPS:
            if "run" not in step or step["id"] == "install":
                continue
            output = self.temp / "output"
            output.write_text("")
            done = subprocess.run(
                [*BASH, "-c", step["run"]],
                cwd=self.workspace / self.value(step.get("working-directory", ".")),
                env=os.environ
                | {name: self.value(value) for name, value in step.get("env", {}).items()}
                | {
                    "GITHUB_OUTPUT": str(output),
                    "GITHUB_STEP_SUMMARY": str(self.summary),
                    "RUNNER_TEMP": str(self.temp),
                },
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            self.log += done.stdout + done.stderr
            self.outputs[step["id"]] = dict(line.split("=", 1) for line in output.read_text().splitlines())
            self.status = done.returncode
            if self.status:
                break
        return SimpleNamespace(
            **{name: self.value(of["value"]) for name, of in ACTION["outputs"].items()} if "run" in self.outputs else {}
        )


@pytest.fixture
def runner(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory):
    """A runner in a folder with a space in its name, whose suites stay from test to test as in the cache."""
    temp = tmp_path_factory.getbasetemp() / "action cache"
    temp.mkdir(exist_ok=True)
    workspace = tmp_path / "a workspace"
    (workspace / "mine").mkdir(parents=True)
    (workspace / "mine" / "adapter.py").write_text(ADAPTERS)
    inputs = {"python": sys.executable, "suites": "matrix\n", "operators": "op=CumProd", "workers": "1"}
    return lambda **more: Runner(workspace, temp, **inputs, **more)


def test_as_expected(runner):
    run = runner(backend="numpy", select="T=float16", profile="quick")
    run.summary.write_text("What another step has said.\n")
    outputs = run.run()
    assert run.status == 0, run.log
    assert outputs.status == "0"
    reports = Path(outputs.reports)
    assert reports == run.workspace / "onnx-conformance-reports"
    there = {path.relative_to(reports).as_posix() for path in reports.rglob("*.*") if "matrix/" not in f"{path}"}
    assert there >= {
        "report.md", "report.json", "report.csv", "junit.xml", "badges/matrix-numpy-0.1.0.json",
        "ctrf/matrix-numpy-0.1.0.json",
    }  # fmt: skip
    summary = run.summary.read_text(encoding="utf-8")
    assert summary.startswith("What another step has said.\n## ONNX conformance")
    assert "<code>numpy 0.1.0</code>" in summary
    assert "No failures." in summary


def test_not_as_expected(runner):
    run = runner(
        backend="mine.adapter:Mine", select="T=float exclusive=1", reports="some reports", formats="", summary="false"
    )
    outputs = run.run()
    assert (run.status, outputs.status) == (1, "1"), run.log
    assert (run.workspace / "some reports" / "junit.xml").exists()
    assert not run.summary.exists()
    assert not (run.workspace / "some reports" / "ctrf").exists()


def test_what_is_known_to_fail(runner):
    run = runner(**{"backend": "adapter:Declines", "working-directory": "mine", "expected": "known.toml"})
    (run.workspace / "mine" / "known.toml").write_text(
        '[[expect]]\nselect = "op=CumProd"\nverdict = "unsupported"\nreason = "not yet"\n'
    )
    outputs = run.run()
    assert (run.status, outputs.status) == (0, "0"), run.log
    assert Path(outputs.reports) == run.workspace / "mine" / "onnx-conformance-reports"
    assert re.search(
        r"Known failures: [34]\d\d data sets in 1 operator version", run.summary.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(
    "inputs",
    [
        {"backend": "nunpy"},
        {"backend": "numpy", "select": "op=CumPrd"},
        {"backend": "numpy", "suites": "matrics"},
        {"backend": "numpy", "profile": "quick'; touch injected; '"},
        {"backend": "$(touch injected)"},
        {"backend": "numpy", "operators": '"; touch injected; "'},
    ],
)
def test_wrong_usage_ends_it_and_nothing_is_run_from_inputs(inputs, runner):
    run = runner(backend=inputs.pop("backend"))
    run.inputs |= inputs
    run.run()
    assert run.status == 2, run.log
    assert "onnx-conformance:" in run.log
    assert not list(run.workspace.rglob("injected"))
    assert not run.summary.exists()


def test_inputs_are_declared_and_used():
    used = {name.removeprefix("inputs.") for name in expressions([STEPS, ACTION["outputs"]]) if "inputs." in name}
    used |= {name for step in STEPS for name in re.findall(r"inputs\.([a-z-]+)", step.get("if", ""))}
    assert used == set(ACTION["inputs"])
    assert all(of["description"] for of in [*ACTION["inputs"].values(), *ACTION["outputs"].values()])


def test_outputs_of_steps_are_written_before_they_are_read():
    written = set()
    for step in STEPS:
        read = {name for name in expressions(step) if name.startswith("steps.")}
        assert read <= written
        written |= {f"steps.{step['id']}.outputs.{name}" for name in re.findall(r'echo "(\w+)=', step.get("run", ""))}
    assert {name for name in expressions(ACTION["outputs"]) if name.startswith("steps.")} <= written


@pytest.mark.parametrize("step", [step for step in STEPS if "run" in step], ids=lambda step: step["id"])
def test_scripts_are_valid_and_take_nothing_but_their_environment(step):
    assert step["shell"] == "bash"
    assert "${{" not in step["run"]
    subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
    known = {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ACTION_PATH", "RUNNER_TEMP"}
    assert known.isdisjoint(step["env"])
    used = set(re.findall(r"\$\{?([A-Z_]+)", step["run"])) | set(re.findall(r"\[\[ (?:-n )?\$([A-Z]+)", step["run"]))
    assert used - known == set(step["env"])
    assert list(step["env"]) == sorted(step["env"])


def test_the_example_gives_inputs_that_there_are():
    example = YAML(typ="safe").load(
        (ROOT / ".github" / "workflows" / "conformance-example.yml").read_text(encoding="utf-8")
    )
    (step,) = (step for step in example["jobs"]["conformance"]["steps"] if step.get("uses") == "./")
    assert step["with"].keys() <= ACTION["inputs"].keys()
    required = {name for name, of in ACTION["inputs"].items() if of.get("required")}
    assert required <= step["with"].keys()
    assert set(expressions(example)) == {f"steps.{step['id']}.outputs.{name}" for name in ("reports",)}


@pytest.mark.parametrize(
    ("schema", "path"),
    [("vendor.github-actions", "action.yml"), ("vendor.github-workflows", ".github/workflows/conformance-example.yml")],
)
def test_they_keep_githubs_schemas(schema, path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, textwrap.indent(done.stdout + done.stderr, "  ")


@pytest.mark.parametrize("path", ["action.yml", ".github/workflows/conformance-example.yml"])
def test_actions_of_others_are_pinned(path):
    used = re.findall(r"uses: (\S+)(.*)", (ROOT / path).read_text(encoding="utf-8"))
    assert used
    for name, comment in used:
        assert name == "./" or (re.search(r"@[0-9a-f]{40}$", name) and re.search(r"# v\d+\.\d+\.\d+$", comment))
