"""What a vendor implements: ``from harness.backend import Backend, Description, Unsupported``."""

from harness.backend.interface import Backend, Description, MissingRequirement, PreparedModel, Unsupported
from harness.spec.values import Value

__all__ = ["Backend", "Description", "MissingRequirement", "PreparedModel", "Unsupported", "Value"]
