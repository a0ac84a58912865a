"""What a suite's cases exercise of an operator version, as its result lines tell: what stands beside every rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from harness.reports.text import OMITTED, count, counted
from harness.results.lines import Result


class Coverage(msgspec.Struct, frozen=True):
    """What the scored data sets of an operator version exercise, whatever backends answer."""

    data_sets: int
    types: dict[str, int]
    """Type variable → its element types."""
    attribute_values: int
    """Pairs of an attribute and a value, omitted included."""
    attribute_combinations: int
    type_combinations: int
    combinations: int
    """Type combinations × attribute combinations that occur together."""

    def __str__(self) -> str:
        if not self.data_sets:
            return "nothing that is scored"
        variables = f" ({' × '.join(self.types)})" if len(self.types) > 1 else ""
        numbers = " × ".join(map(str, self.types.values()))
        plural = "" if numbers == "1" else "s"
        types = f"{numbers} element type{plural}{variables}" if self.types else "no type variable"
        if not self.attribute_values:
            return f"{types}, no attributes"
        product = self.type_combinations * self.attribute_combinations
        return (
            f"{types}, {counted(self.attribute_values, 'attribute value')} in "
            f"{counted(self.attribute_combinations, 'combination')}; "
            f"{count(self.combinations)} of {count(product)} combinations of types and attributes"
        )

    @property
    def product(self) -> str:
        """``16×3``: combinations of types × combinations of attributes, with how many of these where not all.

        Empty where there are neither types nor attributes.
        """
        if not self.types and not self.attribute_values:
            return ""
        whole = self.type_combinations * self.attribute_combinations
        some = "" if self.combinations == whole else f"{self.combinations} of "
        return f"{some}{self.type_combinations}×{self.attribute_combinations}"


def coverage(results: Iterable[Result], variables: Iterable[str], attributes: Iterable[str]) -> Coverage:
    """The coverage of results of one operator version, by any number of runs."""
    data_sets: set[tuple[str, int]] = set()
    combinations: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for result in results:
        if result.verdict != "unspecified":
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


def label_values(labels: Mapping[str, str], names: Iterable[str], lacking: str) -> tuple[str, ...]:
    """The values of ``names``, with ``missing_requirement`` for those that the labels do not have."""
    return tuple([labels.get(name, lacking) for name in names])
