"""The pieces of the scripts that ``repro`` prints: plain Python, for people who have never seen this project."""

from string import Template

SCRIPT = Template('''\
"""$about
"""

import sys
from base64 import b64decode

${ml_dtypes}import numpy as np
import onnx
from onnx import numpy_helper

$run


def decode(data, of):
    """The value in a file of the test, of a type such as tensor(float)."""
    proto, value_in = {
        "tensor": (onnx.TensorProto, lambda proto: numpy_helper.to_array(proto).copy()),  # to be written to
        "seq": (onnx.SequenceProto, numpy_helper.to_list),
        "optional": (onnx.OptionalProto, numpy_helper.to_optional),
        "map": (onnx.MapProto, numpy_helper.to_dict),
    }[of.partition("(")[0]]
    return value_in(proto.FromString(data))


def told(value):
    """A value in a few words, for an array float32[2,3]."""
    if isinstance(value, np.ndarray):
        name = "string" if value.dtype.kind in "OUT" else value.dtype.name
        return f"{name}[{','.join(map(str, value.shape))}]"
    if isinstance(value, (list, tuple)):
        return f"sequence of {len(value)}"
    return "nothing" if value is None else type(value).__name__


def printed(title, value):
    """Print a value; a long one without its middle."""
    print(f"{title}: {told(value)}")
    print(np.array2string(value, threshold=100, separator=", ") if isinstance(value, np.ndarray) else value)


def same(got, want):
    """Which elements are the same; NaN is NaN, and the sign of a zero does not matter."""
    if np.iscomplexobj(want):
        return same(got.real, want.real) & same(got.imag, want.imag)
    return np.asarray((got == want) | ((got != got) & (want != want)), bool)


$judgement


def faults(got, want, bound):
    """What is wrong with a tensor, a line each."""
    if told(got) != told(want):
        yield f" is {told(got)}, want {told(want)}"
        return
    far = distances(got, want, bound)
    wrong = np.argwhere(~(far <= ALLOWED)).tolist()
    for index in map(tuple, wrong[:20]):
        yield f"{list(index) or ''} = {got[index]}, want {want[index]} ({HOW.format(far[index])})"
    if wrong:
        yield f": {len(wrong)} of {want.size} differ"

$structures
def main():
    """Run, compare and tell; the exit status."""
    np.seterr(all="ignore")
    inputs = [decode(data, of) for _, of, data in INPUTS]
    for (name, of, _), value in zip(INPUTS, inputs):
        printed(f"input {name}, {of}", value)
    outputs = run(MODEL, inputs)
    passed = len(outputs) == len(EXPECTED)
    if not passed:
        print(f"\\n{len(outputs)} outputs, want {len(EXPECTED)}")
    for (name, of, data, *also), bound, got in zip(EXPECTED, BOUNDS, outputs):
        want = decode(data, of)
        print()
        printed(f"output {name}, {of}, want", want)
        printed(f"output {name}, got", got)
        for other in (decode(data, of) for data in also):  # near-ties may fall either way, element by element
            if told(got) == told(other):
                want = np.where(same(got, other), other, want) if told(want) == told(other) else other
        wrong = list($faults(got, want, decode(*bound) if bound else None))
        print(*(f"{name}{line}" for line in wrong or [" is right"]), sep="\\n")
        passed = passed and not wrong
    print("\\npassed" if passed else "\\nfailed")
    return 0 if passed else 1


$nodes
MODEL = b64decode("""
$model
""")

INPUTS = [$inputs]

EXPECTED = [$expected]

BOUNDS = [$bounds]

sys.exit(main())
''')

EQUALITY = """\
ALLOWED, HOW = 0, "must be equal"


def distances(got, want, bound):
    \"\"\"How far elements are from those wanted: not at all, or infinitely.\"\"\"
    return np.where(same(got, want), 0.0, np.inf)"""

BOUNDS = """\
ALLOWED, HOW = 4, "{:.3g} bounds, 4 allowed"


def distances(got, want, bound):
    \"\"\"How far elements are from those wanted, in bounds; where there is no bound, not at all or infinitely.\"\"\"
    if np.iscomplexobj(want) and bound is not None:
        return np.hypot(distances(got.real, want.real, bound), distances(got.imag, want.imag, bound))
    far = np.inf if bound is None else apart(got, want) / bound.astype(np.float64)
    return np.where(same(got, want), 0.0, np.where(np.isnan(far), np.inf, far))


def apart(got, want):
    \"\"\"|got - want|. Infinity counts as the power of two after the largest number: overflow is a rounding, too.\"\"\"
    if "float" not in want.dtype.name:
        return np.asarray(abs(got.astype(object) - want.astype(object)), np.float64)
    half_infinity = 2.0 ** (ml_dtypes.finfo(want.dtype).maxexp - 1)
    got, want = (x.astype(np.float64) / 2 for x in (got, want))  # of halves, for even these may overflow
    got, want = (np.where(np.isinf(x), np.copysign(half_infinity, x), x) for x in (got, want))
    return np.abs(got - want) * 2"""

TOLERANCE = Template("""\
RTOL, ATOL = $rtol, $atol
ALLOWED, HOW = 1, f"{{:.3g}} times what rtol {RTOL} and atol {ATOL} allow"


def distances(got, want, bound):
    \"\"\"How far elements are from those wanted, in parts of what onnx's own test runner allows.\"\"\"
    if told(want).startswith(("string", "bool")):
        return np.where(same(got, want), 0.0, np.inf)
    rtol = max(RTOL, 2.0**-6) if want.dtype.name == "bfloat16" else RTOL
    g, w = (x.astype(np.complex128 if np.iscomplexobj(x) else np.float64) for x in (got, want))
    far = np.abs(g - w) / (ATOL + rtol * np.abs(w))
    return np.where(same(got, want), 0.0, np.where(np.isnan(far), np.inf, far))""")

STRUCTURES = '''

def faults_within(got, want, bound):
    """What is wrong with a sequence, a map, a tensor, or one of them that may be absent: None; a line each."""
    if got is None and want is None:
        return
    if isinstance(want, dict) and isinstance(got, dict):
        if got.keys() != want.keys():
            yield f" has the keys {list(got)}, want {list(want)}"
            return
    elif not isinstance(want, list) or told(got) != told(want):
        yield from faults(got, want, bound)
        return
    for key in want if isinstance(want, dict) else range(len(want)):
        for fault in faults_within(got[key], want[key], bound and bound[key]):
            yield f"[{key!r}]{fault}"

'''

OF_COMMAND = Template('''\
import json
import subprocess
import tempfile
from pathlib import Path

PROGRAM = $program


def run(model, inputs):
    """Ask the program, over the protocol of onnx-conformance: JSON lines that name files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"inputs": [f"{folder}/input_{i}.pb" for i in range(len(INPUTS))]}
        files["outputs"] = [f"{folder}/output_{i}.pb" for i in range(len(EXPECTED))]
        for path, data in zip([folder / "model.onnx", *files["inputs"]], [model, *(data for _, _, data in INPUTS)]):
            Path(path).write_bytes(data)
        case = {"do": "case", "id": 1, "model": f"{folder}/model.onnx", "data_sets": [files]}
        case |= {"inputs": [of for _, of, _ in INPUTS], "outputs": [of for _, of, _ in EXPECTED]}
        requests = [{"do": "describe", "protocol": $protocol}, case]
        lines = "".join(json.dumps(request) + "\\n" for request in requests)
        ended = subprocess.run(PROGRAM, input=lines, stdout=subprocess.PIPE, text=True)
        if ended.stdout.count("\\n") < 2:
            sys.exit(f"The program ended with status {ended.returncode}, having said {ended.stdout!r}")
        answer = json.loads(ended.stdout.splitlines()[1])
        if answer["status"] != "ok":
            sys.exit(f"{answer['status']}: {answer.get('message', '')}")
        paths = zip(map(Path, files["outputs"]), answer["outputs"])
        surplus = [None] * (len(answer["outputs"]) - len(EXPECTED))
        return [decode(path.read_bytes(), of) for path, of in paths] + surplus''')

OF_ONNX = Template('''\
import os

sys.path.append(os.getcwd())
$load


def run(model, inputs):
    """The model's outputs, in order, from its inputs, in order."""
    outputs = Backend.prepare(onnx.load_from_string(model), "CPU").run(inputs)
    return [np.asarray(value) if isinstance(value, np.generic) else value for value in outputs]''')

OF_ADAPTER = Template('''\
from harness.backend.loading import load_backend


def run(model, inputs):
    """The model's outputs, in order, from its inputs, in order."""
    return load_backend($spec).prepare(model)(inputs)''')
