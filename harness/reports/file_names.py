"""File names that any file system takes, for what has names of its own."""

import re
from collections.abc import Iterable

_LONGEST = 100


def file_names(labels: Iterable[str]) -> list[str]:
    """A name for each label: of ``[A-Za-z0-9_.-]``, not hidden, and different from the others also in one case."""
    names: list[str] = []
    taken: set[str] = set()
    for label in labels:
        stem = re.sub(r"(?:[^A-Za-z0-9_.]|\.\.)+", "-", label).strip("-.")[:_LONGEST] or "unnamed"
        name, number = stem, 1
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names
