"""Adapters with a SCRIPT, some of them broken."""

from harness.backend import Description


class PassesThrough:
    SCRIPT = """
def run(model, inputs):
    return inputs
"""

    def describe(self):
        return Description(type(self).__name__, "1")

    def prepare(self, model):
        return list


class GivesTwo(PassesThrough):
    SCRIPT = """
def run(model, inputs):
    return inputs * 2
"""


class PrintsWhenCreated(PassesThrough):
    def __init__(self):
        print("welcome")  # noqa: T201 - this is the fault


class BrokenScript(PassesThrough):
    SCRIPT = "def run(model, inputs): retrun inputs"
