"""Adapters that give scripts their part, or disturb them."""

from harness.backend.interface import Description


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


class PrintsWhenMade(PassesThrough):
    def __init__(self):
        print("welcome")  # noqa: T201 - this is the fault


class BrokenScript(PassesThrough):
    SCRIPT = "def run(model, inputs): retrun inputs"
