"""Test data: small runs on two operators, and random runs with hostile text."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import pytest

from harness.backend.interface import Description
from harness.results.lines import UNSCORED, VERDICTS, Footer, Header, Result, Run
from harness.suite.cases import Labels

HOSTILE = (
    "<script>alert(1)</script>",
    "a | b || c",
    "`x` ``y`` [link](http://evil.example) ![i](http://evil.example) **bold** www.evil.example @all",
    "two\nlines\r\n# heading\n\n- item\n---",
    "\x1b[31mred\x1b[0m\x00\x07\x9b",
    "lone \ud800 surrogate \udcff and \ufffe",
    "bidi \u202e override \u2028 separator",
    "]]> & &lt; <![CDATA[ \"'",
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@x",
    "",
    " ",
    "`",
)


def make_run(results: Sequence[Result], backend: str = "numpy", suite: str = "matrix", **changes: object) -> Run:
    header = Header(
        format=2,
        suite=suite,
        digest="ab" * 32,
        suite_data_sets=len(results),
        cases=len({result.case for result in results}),
        data_sets=len(results),
        backend=backend,
        description=Description(backend, "1.0"),
        versions={"onnx": "1.23.2"},
        machine={"cpu": "x86_64"},
        options={},
        started="2027-01-01T10:00:00Z",
    )
    finished = changes.pop("finished", True)
    stale = changes.pop("stale", ())
    header = msgspec.structs.replace(header, **changes)
    footer = Footer(dict(Counter(r.verdict for r in results)), 0, stale, 1.5)  # pyright: ignore[reportArgumentType]
    return Run(f"reports/{backend}/results.jsonl", (header,), tuple(results), (footer,) if finished else ())


@pytest.fixture(scope="session")
def two_operators() -> list[Run]:
    """Trilu and CumProd on three backends: one passes, one fails for strings, one declines double and crashes."""
    labels = [
        *(
            Labels("Trilu", "", 14, "tensor", {"T": t}, {"upper": upper}, omitted, group)
            for t, upper, omitted, group in itertools.product(
                ("float", "string"), ("omitted", "0", "1"), ((), ("k",)), ("plain", "empty")
            )
        ),
        *(
            Labels("CumProd", "", 26, "math", {"T": t, "T2": t2}, {"exclusive": e, "reverse": r}, (), "plain")
            for t, t2, e, r in itertools.product(("float", "double"), ("int32", "int64"), "01", "01")
        ),
        Labels("", category="simple", group="plain"),
    ]

    def answer(backend: str, number: int, of: Labels) -> Result:
        result = Result(f"test_{(of.op or 'graph').lower()}_{number}", 0, "passed", of, error=0.31, ulps=0.5)
        changes: dict[str, object] = {}
        if backend == "reference" and of.types.get("T") == "string":
            known = "integer zeros" if of.omitted else ""
            changes = {"verdict": "wrong_value", "error": "inf", "message": f"y[{number}] = 0", "known": known}
        if backend == "runtime" and of.types.get("T") == "double":
            changes = {"verdict": "unsupported", "error": None, "message": "no kernel"}
        if backend == "runtime" and of.attributes.get("upper") == "1":
            changes = {"verdict": "crashed", "error": None, "message": "SIGSEGV"}
        if of.group == "empty":
            changes = {"verdict": "unspecified", "error": None}
        return msgspec.structs.replace(result, **changes)

    backends = ("runtime", "numpy", "reference")
    return [make_run([answer(b, n, of) for n, of in enumerate(labels)], b) for b in backends]


def _results(chance: random.Random, *, hostile: bool) -> list[Result]:
    """Up to 60 results with random labels, verdicts and texts."""
    texts = HOSTILE if hostile else ("", "y[0] = 1, want 2", "no kernel")
    results: list[Result] = []
    for number in range(chance.randrange(60)):
        op = chance.choice(["Trilu", "CumProd", "Scaler", "", *(HOSTILE[:6] if hostile else ())])
        labels = Labels(
            op,
            "ai.onnx.ml" if op == "Scaler" else "",
            chance.choice([1, 14]),
            chance.choice(["math", "tensor", "", texts[0]]),
            {v: chance.choice(["float", "string", "seq(tensor(float))"]) for v in ("T", "T2") if chance.random() < 0.7},
            {a: chance.choice(["omitted", "0", "-1", *texts]) for a in ("axis", "mode") if chance.random() < 0.7},
            tuple(name for name in ("k", "y") if chance.random() < 0.3),
            chance.choice(texts),
        )
        measure = chance.choice([None, 0.0, 0.31, 12.0, 2e6, "inf"])
        verdict = chance.choice(VERDICTS)
        known = chance.choice(texts) if verdict != "passed" and verdict not in UNSCORED else ""
        results.append(
            Result(
                f"test_{number // 2}",
                number % 2,
                verdict,
                labels,
                error=measure,
                ulps=measure,
                onnx_tolerance=chance.choice([None, True, False]),
                message=chance.choice(texts),
                known=known,
                seconds=0.25,
            )
        )
    return results


def random_runs(seed: int, *, hostile: bool = False) -> list[Run]:
    """One to four runs of two backends on two suites."""
    chance = random.Random(seed)
    runs: list[Run] = []
    for number in range(1 + chance.randrange(4)):
        name = chance.choice(HOSTILE if hostile else ("numpy", "runtime"))
        suite = chance.choice(("matrix", "official", *(HOSTILE[:3] if hostile else ())))
        changes = {"started": f"2027-01-0{number + 1}", "finished": chance.random() < 0.5}
        runs.append(make_run(_results(chance, hostile=hostile), name, suite, **changes))
    return runs


@pytest.fixture(scope="session", name="make_run")
def _make_run() -> Callable[..., Run]:
    return make_run


@pytest.fixture(scope="session", name="random_runs")
def _random_runs() -> Callable[..., list[Run]]:
    return random_runs


def _assert_same(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype == object:
        assert got.tolist() == want.tolist()
        return
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    numbers = ~np.asarray(want != want, bool)  # noqa: PLR0124
    assert (numbers == ~np.asarray(got != got, bool)).all()  # noqa: PLR0124
    assert got[numbers].tobytes() == want[numbers].tobytes()


@pytest.fixture(scope="session")
def assert_same() -> Callable[[np.ndarray, np.ndarray], None]:
    """Asserts that two arrays have the same dtype, shape and bits. NaN payloads may differ."""
    return _assert_same


@pytest.fixture(scope="session", params=HOSTILE, ids=lambda text: ascii(text)[:20])
def hostile(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def hostile_texts() -> tuple[str, ...]:
    return HOSTILE


@pytest.fixture(scope="session", params=range(15))
def seed(request: pytest.FixtureRequest) -> int:
    """Seeds of random runs. Fixed, because failures could not be shrunk anyway."""
    return request.param
