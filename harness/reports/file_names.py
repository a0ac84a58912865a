"""File names that are valid on all file systems, made from arbitrary labels."""

import re
from collections.abc import Iterable

_MAX_LENGTH = 100


def file_names(labels: Iterable[str]) -> list[str]:
    """A name for each label: characters ``[A-Za-z0-9_.-]``, no leading dot, unique also if case is ignored."""
    names: list[str] = []
    taken: set[str] = set()
    for label in labels:
        stem = re.sub(r"(?:[^A-Za-z0-9_.]|\.\.)+", "-", label).strip("-.")[:_MAX_LENGTH] or "unnamed"
        name, number = stem, 1
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names
