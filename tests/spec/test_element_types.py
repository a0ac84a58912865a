import ml_dtypes
import numpy as np
import onnx
import pytest

from harness.spec.element_types import BY_NAME, ELEMENT_TYPES, ElementType, UnknownElementType, element_type
from harness.spec.schema import schemas
from harness.spec.values import parse_type


def test_every_type_that_a_schema_allows_has_a_row():
    for schema in schemas().values():
        for parameter in (*schema.inputs, *schema.outputs):
            for text in parameter.types:
                parse_type(text)


def test_every_data_type_of_tensor_proto_has_a_row():
    codes = {code for name, code in onnx.TensorProto.DataType.items() if name != "UNDEFINED"}
    assert {t.code for t in ELEMENT_TYPES} == codes
    assert len(ELEMENT_TYPES) == len(BY_NAME) == 28


@pytest.mark.parametrize("of", ELEMENT_TYPES, ids=str)
def test_names_and_dtypes_are_those_of_onnx(of: ElementType):
    assert of.name.upper() == onnx.TensorProto.DataType.Name(of.code)
    assert of.dtype == onnx.helper.tensor_dtype_to_np_dtype(of.code)
    assert element_type(of.name) is element_type(of.code) is of
    assert element_type(of.dtype) is of


@pytest.mark.parametrize("of", [t for t in ELEMENT_TYPES if t.kind == "float"], ids=str)
def test_formats_are_those_of_the_dtype(of: ElementType):
    assert of.format is not None
    info = ml_dtypes.finfo(of.dtype)
    assert float(info.max) == of.format.maximum
    assert info.nmant + 1 == of.format.precision
    assert float(info.smallest_normal) == 2.0**of.format.emin


@pytest.mark.parametrize("of", [t for t in ELEMENT_TYPES if t.kind == "float" and t.bits <= 8], ids=str)
def test_formats_describe_every_code(of: ElementType):
    assert of.format is not None
    codes = np.arange(2**of.bits, dtype=np.uint8).view(of.dtype).astype(np.float64)
    finite = codes[np.isfinite(codes)]
    assert np.isnan(codes).any() == of.format.nan
    assert np.isinf(codes).any() == of.format.infinity
    assert (finite == 0).any() == of.format.zero
    assert (np.signbit(finite) & (finite == 0)).any() == of.format.negative_zero
    assert (finite < 0).any() == of.format.signed
    assert np.abs(finite).max() == of.format.maximum
    smallest = np.abs(finite[finite != 0]).min()
    assert smallest == 2.0 ** (of.format.smallest if of.format.zero else of.format.emin)


@pytest.mark.parametrize("of", [t for t in ELEMENT_TYPES if t.kind in ("signed", "unsigned")], ids=str)
def test_integer_ranges_are_those_of_the_dtype(of: ElementType):
    info = ml_dtypes.iinfo(of.dtype)
    assert (of.minimum, of.maximum) == (int(info.min), int(info.max))


def test_byte_order_and_width_of_text_do_not_matter():
    assert element_type(np.dtype(">f4")) is BY_NAME["float"]
    assert element_type(np.dtype("U5")) is BY_NAME["string"]
    assert element_type(np.dtypes.StringDType()) is BY_NAME["string"]


@pytest.mark.parametrize("key", ["float32", 0, 99, np.dtype("M8[s]"), np.dtype("f2,f4")])
def test_what_is_no_element_type_is_refused(key: object):
    with pytest.raises(UnknownElementType):
        element_type(key)
