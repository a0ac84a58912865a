"""Adapters with one typical fault each. Workers find this module through PYTHONPATH."""

import os
import signal

import ml_dtypes
import numpy as np
import onnx

from backends.onnxruntime import OnnxRuntimeBackend
from harness.backend import Description, Unsupported


class Right(OnnxRuntimeBackend):
    """Has no fault; the others override one of its steps."""

    def prepare(self, model):
        run = super().prepare(self.model(model))
        return lambda inputs: self.outputs(inputs, run(self.inputs(inputs, model)), model)

    def model(self, model):
        return model

    def inputs(self, inputs, model):
        return inputs

    def outputs(self, inputs, outputs, model):
        return [self.output(y) for y in outputs]

    def output(self, y):
        return y


class Chatty(Right):
    def output(self, y):
        print("done", flush=True)  # noqa: T201 - this is the fault
        return y


class NoVersion(Right):
    def describe(self):
        return Description("mine", " ")


class SortsInputs(Right):
    def inputs(self, inputs, model):
        names = [value.name for value in onnx.load_from_string(model).graph.input]
        return [value for _, value in sorted(zip(names, inputs, strict=True), key=lambda pair: pair[0])]


class SortsOutputs(Right):
    def outputs(self, inputs, outputs, model):
        names = [value.name for value in onnx.load_from_string(model).graph.output]
        return [value for _, value in sorted(zip(names, outputs, strict=True), key=lambda pair: pair[0])]


class FirstOutputOnly(Right):
    def outputs(self, inputs, outputs, model):
        return outputs[:1]


class BareOutput(Right):
    def outputs(self, inputs, outputs, model):
        return outputs[0] if isinstance(outputs[0], np.ndarray) else outputs


class ClosesUpInputs(Right):
    def model(self, model):
        proto = onnx.load_from_string(model)
        for node in proto.graph.node:
            names = [name for name in node.input if name]
            node.ClearField("input")
            node.input.extend(names)
        return proto.SerializeToString()


class ForgetsInitializers(Right):
    def model(self, model):
        proto = onnx.load_from_string(model)
        for tensor in proto.graph.initializer:
            tensor.CopyFrom(onnx.helper.make_tensor(tensor.name, tensor.data_type, tensor.dims, [0] * tensor.dims[0]))
        return proto.SerializeToString()


class FillsLastInput(Right):
    def model(self, model):
        proto = onnx.load_from_string(model)
        if proto.graph.node and proto.graph.node[0].op_type == "Trilu":
            proto.graph.node[0].input.append("k")
            proto.graph.initializer.append(onnx.helper.make_tensor("k", 7, [], [-1]))
        return proto.SerializeToString()


class InputsShape(Right):
    def outputs(self, inputs, outputs, model):
        if "Shape" in {node.op_type for node in onnx.load_from_string(model).graph.node}:
            return [np.broadcast_to(outputs[0][1], inputs[0].shape)]
        return outputs


class NoScalars(Right):
    def output(self, y):
        return np.atleast_1d(y) if isinstance(y, np.ndarray) and y.dtype == np.float32 else y


class PythonScalars(Right):
    def output(self, y):
        return y.item() if isinstance(y, np.ndarray) and y.shape == () else y


class FlatWhenEmpty(Right):
    def output(self, y):
        return y.reshape(-1) if isinstance(y, np.ndarray) and not y.size else y


class ThroughJson(Right):
    def output(self, y):
        return np.asarray(np.nan_to_num(y)) if isinstance(y, np.ndarray) and y.dtype == np.float32 else y


class KeepsOutputs(Right):
    def prepare(self, model):
        run, outputs = super().prepare(model), []

        def once(inputs):
            outputs.append(outputs[0] if outputs else run(inputs))
            return outputs[0]

        return once


class Float16AsFloat(Right):
    def output(self, y):
        return y.astype(np.float32) if isinstance(y, np.ndarray) and y.dtype == np.float16 else y


class BytesOfBfloat16(Right):
    def output(self, y):
        return y.view(np.uint16) if isinstance(y, np.ndarray) and y.dtype == ml_dtypes.bfloat16 else y


class DoubleThroughFloat(Right):
    def output(self, y):
        narrow = isinstance(y, np.ndarray) and y.dtype == np.float64
        with np.errstate(all="ignore"):
            return y.astype(np.float32).astype(np.float64) if narrow else y


class StringsAsBytes(Right):
    def output(self, y):
        is_text = isinstance(y, np.ndarray) and y.dtype == object
        return np.array([[ord(text[:1] or "0") for text in row] for row in y], object) if is_text else y


class SequenceAsArray(Right):
    def output(self, y):
        return np.concatenate(y) if isinstance(y, list) else y


class SequenceBackwards(Right):
    def inputs(self, inputs, model):
        return [value[::-1] if isinstance(value, list) else value for value in inputs]


class AbsentAsEmpty(Right):
    def inputs(self, inputs, model):
        return [np.zeros(0, np.float32) if value is None else value for value in inputs]


class DeclinesOptionals(Right):
    def prepare(self, model):
        if b"Optional" in model:
            raise Unsupported("no optionals")
        return super().prepare(model)


class UnknownOperatorIsError(Right):
    def prepare(self, model):
        try:
            return super().prepare(model)
        except Unsupported as error:
            if b"Frobnicate" in model:
                raise RuntimeError(str(error)) from error
            raise


class DeclinesWhatFails(Right):
    def prepare(self, model):
        try:
            return super().prepare(model)
        except Exception as error:
            raise Unsupported("failed") from error


class DiesOfEmptyModel(Right):
    def prepare(self, model):
        if not model:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().prepare(model)


class TakesInputsOneByOne(Right):
    def prepare(self, model):
        prepared = super().prepare(model)

        def run(*inputs, session):
            return prepared(list(inputs))

        return run


class PreparesSession(Right):
    def prepare(self, model):
        super().prepare(model)
        return "session"


class DeclinesEverything(Right):
    def prepare(self, model):
        if onnx.load_from_string(model).ir_version:
            raise Unsupported("not today")
        raise ValueError("no model")
