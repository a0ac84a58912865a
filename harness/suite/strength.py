"""How thoroughly suites cover what there is, by name."""

from typing import Literal, TypeAlias, get_args

Strength: TypeAlias = Literal["each", "pairs", "full"]
"""``each`` value, all ``pairs`` of values (and the product of types × attributes where that is small), or ``full``."""

STRENGTHS: tuple[Strength, ...] = get_args(Strength)

PROFILES = {"standard": ("matrix", "official"), "exhaustive": ("matrix", "official", "exhaustive")}
"""The suites that are generated."""
