import onnx
import pytest

from harness.spec.schema import UnknownOperator, schema, schema_at, schemas


def test_every_version_of_the_installed_onnx_is_there():
    everything = onnx.defs.get_all_schemas_with_history()
    assert len(schemas()) == len(everything)
    assert sum(not s.deprecated for s in schemas().values()) == 654


def test_categories_are_the_folders_of_onnx():
    assert {s.category for s in schemas().values()} == {
        "controlflow", "generator", "image", "logical", "math", "nn", "object_detection", "optional", "preview",
        "quantization", "reduction", "rnn", "sequence", "tensor", "text", "traditionalml", "training",
    }  # fmt: skip


def test_a_schema_says_what_its_document_says():
    trilu = schema("Trilu", 14)
    assert [(p.name, p.option, p.type_str) for p in trilu.inputs] == [
        ("input", "single", "T"),
        ("k", "optional", "tensor(int64)"),
    ]
    assert [(a.name, a.kind, a.default, a.required) for a in trilu.attributes] == [("upper", "INT", 1, False)]
    assert len(trilu.variables["T"]) == 16
    assert trilu.title == "Trilu-14"
    assert "tensor" in trilu.doc


def test_string_defaults_are_text():
    by_name = {a.name: a for a in schema("Cast", 25).attributes}
    assert by_name["round_mode"].default == "up"
    assert by_name["to"].required


def test_a_model_uses_the_newest_version_up_to_its_opset():
    assert schema_at("Softmax", 12).since == 11
    assert schema_at("Softmax", 13).since == 13


@pytest.mark.parametrize(
    ("op", "since", "domain"), [("Trilu", 15, ""), ("Trillu", 14, ""), ("Trilu", 14, "ai.onnx.ml")]
)
def test_a_version_that_is_none_is_refused(op: str, since: int, domain: str):
    with pytest.raises(UnknownOperator, match=op):
        schema(op, since, domain)
