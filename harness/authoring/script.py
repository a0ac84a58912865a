"""Templates of the scripts that ``repro`` prints: plain Python, for readers who do not know this project."""

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
    """The value in a file of the test; ``of`` is its type, such as tensor(float)."""
    proto, value_in = {
        "tensor": (onnx.TensorProto, lambda proto: numpy_helper.to_array(proto).copy()),  # the copy is writable
        "seq": (onnx.SequenceProto, numpy_helper.to_list),
        "optional": (onnx.OptionalProto, numpy_helper.to_optional),
        "map": (onnx.MapProto, numpy_helper.to_dict),
    }[of.partition("(")[0]]
    return value_in(proto.FromString(data))


def type_and_shape(value):
    """The type and shape of a value, such as float32[2,3]."""
    if isinstance(value, np.ndarray):
        name = "string" if value.dtype.kind in "OUT" else value.dtype.name
        return f"{name}[{','.join(map(str, value.shape))}]"
    if isinstance(value, (list, tuple)):
        return f"sequence of {len(value)}"
    return "nothing" if value is None else type(value).__name__


def print_value(title, value):
    """Print a value; a large array is abbreviated."""
    print(f"{title}: {type_and_shape(value)}")
    print(np.array2string(value, threshold=100, separator=", ") if isinstance(value, np.ndarray) else value)


def equal_elements(got, want):
    """Which elements are equal. NaN equals NaN, and +0 equals -0."""
    if np.iscomplexobj(want):
        return equal_elements(got.real, want.real) & equal_elements(got.imag, want.imag)
    return np.asarray((got == want) | ((got != got) & (want != want)), bool)


$judgement


def tensor_differences(got, want, bound):
    """Yield a line for each difference between two tensors."""
    if type_and_shape(got) != type_and_shape(want):
        yield f" is {type_and_shape(got)}, want {type_and_shape(want)}"
        return
    distance = distances(got, want, bound)
$compare_bits    wrong = np.argwhere(~(distance <= MAX_DISTANCE)).tolist()
    for index in map(tuple, wrong[:20]):
        yield f"{list(index) or ''} = {got[index]}, want {want[index]} ({DISTANCE_TEXT.format(distance[index])})"
    if wrong:
        yield f": {len(wrong)} of {want.size} differ"

$structures$bits$unspecified
def differences(i, got, expected, bounds):
    """The differences of the output number ``i`` from the expected one, as lines."""
    _, of, data, *alternatives = expected[i]
    want = decode(data, of)
    for other in (decode(data, of) for data in alternatives):  # accepted element by element
        if type_and_shape(got) == type_and_shape(want):
            want = np.where(equal_elements(got, other), other, want)
$skip_unspecified    return list($differences(got, want, decode(*bounds[i]) if bounds[i] else None))


def main():
    """Run the model, compare its outputs and print the result. Returns the exit status."""
    np.seterr(all="ignore")
    inputs = [decode(data, of) for _, of, data in INPUTS]
    for (name, of, _), value in zip(INPUTS, inputs):
        print_value(f"input {name}, {of}", value)
    outputs = run(MODEL, inputs)
    passed = len(outputs) == len(EXPECTED)
    if not passed:
        print(f"\\n{len(outputs)} outputs, want {len(EXPECTED)}")
    for i, got in enumerate(outputs[: len(EXPECTED)]):
        name, of, data, *_ = EXPECTED[i]
        print()
        print_value(f"output {name}, {of}, want", decode(data, of))
        print_value(f"output {name}, got", got)
        wrong = differences(i, got, EXPECTED, BOUNDS)
        print(*(f"{name}{line}" for line in wrong or [" is correct"]), sep="\\n")
        passed = passed and not wrong
$try_readings    print("\\npassed" if passed else "\\nfailed")
    return 0 if passed else 1


$nodes
MODEL = b64decode("""
$model
""")

INPUTS = [$inputs]

EXPECTED = [$expected]

BOUNDS = [$bounds]
$masks$readings
sys.exit(main())
''')

EQUALITY = """\
MAX_DISTANCE, DISTANCE_TEXT = 0, "must be equal"


def distances(got, want, bound):
    \"\"\"The distance of each element from the expected one: 0 if they are equal, otherwise inf.\"\"\"
    return np.where(equal_elements(got, want), 0.0, np.inf)"""

BOUNDS = """\
MAX_DISTANCE, DISTANCE_TEXT = 4, "{:.3g} bounds, 4 allowed"


def distances(got, want, bound):
    \"\"\"The distance of each element from the expected one in bounds; without a bound 0 if equal, otherwise inf.\"\"\"
    if np.iscomplexobj(want) and bound is not None:
        return np.hypot(distances(got.real, want.real, bound), distances(got.imag, want.imag, bound))
    distance = np.inf if bound is None else absolute_difference(got, want) / bound.astype(np.float64)
    return np.where(equal_elements(got, want), 0.0, np.where(np.isnan(distance), np.inf, distance))


def absolute_difference(got, want):
    \"\"\"|got - want|. Infinity counts as the power of two after the largest number: overflow is a rounding.\"\"\"
    if "float" not in want.dtype.name:
        return np.asarray(abs(got.astype(object) - want.astype(object)), np.float64)
    half_infinity = 2.0 ** (ml_dtypes.finfo(want.dtype).maxexp - 1)
    got, want = (x.astype(np.float64) / 2 for x in (got, want))  # halves, to avoid overflow
    got, want = (np.where(np.isinf(x), np.copysign(half_infinity, x), x) for x in (got, want))
    return np.abs(got - want) * 2"""

TOLERANCE = Template("""\
RTOL, ATOL = $rtol, $atol
MAX_DISTANCE, DISTANCE_TEXT = 1, f"{{:.3g}} times what rtol {RTOL} and atol {ATOL} allow"


def distances(got, want, bound):
    \"\"\"The distance of each element from the expected one, divided by what ONNX's own test runner allows.\"\"\"
    if type_and_shape(want).startswith(("string", "bool")):
        return np.where(equal_elements(got, want), 0.0, np.inf)
    rtol = max(RTOL, 2.0**-6) if want.dtype.name == "bfloat16" else RTOL
    g, w = (x.astype(np.complex128 if np.iscomplexobj(x) else np.float64) for x in (got, want))
    distance = np.abs(g - w) / (ATOL + rtol * np.abs(w))
    return np.where(equal_elements(got, want), 0.0, np.where(np.isnan(distance), np.inf, distance))""")

STRUCTURES = '''

def value_differences(got, want, bound):
    """Yield a line for each difference between two values: tensors, sequences, maps, or None for an empty optional."""
    if got is None and want is None:
        return
    if isinstance(want, dict) and isinstance(got, dict):
        if got.keys() != want.keys():
            yield f" has the keys {list(got)}, want {list(want)}"
            return
    elif not isinstance(want, list) or type_and_shape(got) != type_and_shape(want):
        yield from tensor_differences(got, want, bound)
        return
    for key in want if isinstance(want, dict) else range(len(want)):
        for line in value_differences(got[key], want[key], bound and bound[key]):
            yield f"[{key!r}]{line}"

'''

BITS = Template('''
def bits_differ(got, want):
    """Which elements are equal but differ in $which."""
    if np.iscomplexobj(want):
        return bits_differ(got.real, want.real) | bits_differ(got.imag, want.imag)
    compared = $compared
    patterns = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(x.shape) for x in (got, want)]
    return compared & (patterns[0] != patterns[1])

''')

COMPARE_BITS = """\
    if want.dtype.kind in "fcV":
        distance = np.where(bits_differ(got, want), np.inf, distance)
"""

UNSPECIFIED = '''
def without_unspecified(got, want, mask):
    """``got`` with the expected value of each element that the specification leaves open: the mask is True."""
    if isinstance(want, np.ndarray) and type_and_shape(got) == type_and_shape(want):
        return np.where(mask, want, got)
    if isinstance(want, list) and isinstance(got, (list, tuple)) and len(got) == len(want):
        return [without_unspecified(*items) for items in zip(got, want, mask)]
    if isinstance(want, dict) and isinstance(got, dict) and got.keys() == want.keys():
        return {key: without_unspecified(got[key], want[key], mask[key]) for key in want}
    return got

'''

SKIP_UNSPECIFIED = """\
    if i in UNSPECIFIED:
        got = without_unspecified(got, want, decode(*UNSPECIFIED[i]))
"""

TRY_READINGS = """\
    for expected, bounds in READINGS if len(outputs) == len(EXPECTED) and not passed else []:
        if not any(differences(i, got, expected, bounds) for i, got in enumerate(outputs)):
            print("\\nThe outputs match another reading of the specification.")
            passed = True
"""

RUN_COMMAND = Template('''\
import json
import subprocess
import tempfile
from pathlib import Path

PROGRAM = $program


def run(model, inputs):
    """Run the program with the protocol of onnx-conformance: JSON lines that name files."""
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
            sys.exit(f"The program exited with status {ended.returncode} after it had printed {ended.stdout!r}")
        answer = json.loads(ended.stdout.splitlines()[1])
        if answer["status"] != "ok":
            sys.exit(f"{answer['status']}: {answer.get('message', '')}")
        paths = zip(map(Path, files["outputs"]), answer["outputs"])
        surplus = [None] * (len(answer["outputs"]) - len(EXPECTED))
        return [decode(path.read_bytes(), of) for path, of in paths] + surplus''')

RUN_ONNX_BACKEND = Template('''\
import os

sys.path.append(os.getcwd())
$load


def run(model, inputs):
    """Run the model; inputs and outputs are lists in graph order."""
    outputs = Backend.prepare(onnx.load_from_string(model), "CPU").run(inputs)
    return [np.asarray(value) if isinstance(value, np.generic) else value for value in outputs]''')

RUN_ADAPTER = Template('''\
from harness.backend.loading import load_backend


def run(model, inputs):
    """Run the model; inputs and outputs are lists in graph order."""
    return load_backend($spec).prepare(model)(inputs)''')
