"""What a vendor implements: ``from harness.backend import Backend, Description, Unsupported``."""

from harness.backend.interface import Backend, Description, MissingRequirement, Runner, Unsupported

__all__ = ["Backend", "Description", "MissingRequirement", "Runner", "Unsupported"]
