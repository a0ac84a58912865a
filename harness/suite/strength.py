"""How thoroughly suites cover what there is, by name."""

from typing import Literal, TypeAlias, get_args

Strength: TypeAlias = Literal["each", "pairs", "full"]
"""``each`` value, all ``pairs`` of values (and the product of types × attributes where that is small), or ``full``."""

Planning: TypeAlias = Strength | Literal["sweeps"]
"""What a generated suite holds: a covering array of some strength, or the ``sweeps`` of the exhaustive suite."""

STRENGTHS: tuple[Strength, ...] = get_args(Strength)

PROFILES = {"standard": ("matrix", "official"), "exhaustive": ("matrix", "official", "exhaustive")}
"""The suites that are generated."""
