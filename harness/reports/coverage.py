"""How much of an operator version the data sets cover, counted from the result lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from harness.reports.text import OMITTED, format_count, plural
from harness.results.lines import UNSCORED, Result


class Coverage(msgspec.Struct, frozen=True):
    """What the scored data sets of an operator version cover, whatever the backends return."""

    data_sets: int
    types: dict[str, int]
    """Type variable → the number of its element types."""
    attribute_values: int
    """Pairs of attribute and value. Omitted counts as a value."""
    attribute_combinations: int
    type_combinations: int
    combinations: int
    """Pairs of type combination and attribute combination that occur."""

    def __str__(self) -> str:
        if not self.data_sets:
            return "no scored data sets"
        variables = f" ({' × '.join(self.types)})" if len(self.types) > 1 else ""
        numbers = " × ".join(map(str, self.types.values()))
        ending = "" if numbers == "1" else "s"
        types = f"{numbers} element type{ending}{variables}" if self.types else "no type variables"
        if not self.attribute_values:
            return f"{types}, no attributes"
        product = self.type_combinations * self.attribute_combinations
        return (
            f"{types}, {plural(self.attribute_values, 'attribute value')} in "
            f"{plural(self.attribute_combinations, 'combination')}; "
            f"{format_count(self.combinations)} of {format_count(product)} combinations of types and attributes"
        )

    @property
    def types_by_attributes(self) -> str:
        """``16×3``: type combinations × attribute combinations; ``40 of 16×3`` if some do not occur.

        Empty if there are neither types nor attributes.
        """
        if not self.types and not self.attribute_values:
            return ""
        whole = self.type_combinations * self.attribute_combinations
        some = "" if self.combinations == whole else f"{self.combinations} of "
        return f"{some}{self.type_combinations}×{self.attribute_combinations}"


def coverage(results: Iterable[Result], variables: Iterable[str], attributes: Iterable[str]) -> Coverage:
    """The coverage of one operator version, from the results of any number of runs."""
    data_sets: set[tuple[str, int]] = set()
    combinations: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for result in results:
        if result.verdict not in UNSCORED:
            data_sets.add((result.case, result.data_set))
            labels = result.labels
            combinations.add(
                (label_values(labels.types, variables, ""), label_values(labels.attributes, attributes, OMITTED))
            )
    types = {types for types, _ in combinations}
    values = {values for _, values in combinations}
    return Coverage(
        data_sets=len(data_sets),
        types={
            name: len(set(column) - {""}) for name, column in zip(variables, zip(*types, strict=True), strict=False)
        },
        attribute_values=sum(len(set(column)) for column in zip(*values, strict=True)),
        attribute_combinations=len(values),
        type_combinations=len(types),
        combinations=len(combinations),
    )


def label_values(labels: Mapping[str, str], names: Iterable[str], default: str) -> tuple[str, ...]:
    """The value of each name, or ``default`` if the labels do not have it."""
    return tuple([labels.get(name, default) for name in names])
