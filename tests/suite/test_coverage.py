from collections.abc import Mapping

import msgspec

from harness.suite.cases import Case, DataSet
from harness.suite.coverage import VersionCoverage, counts, coverage, render
from harness.suite.manifest import Suite


def of(found: list[Case]) -> dict[str, VersionCoverage]:
    return {v.op: v for v in coverage(found, "matrix", "0" * 64).versions if v.cases}


def test_the_matrix_exercises_every_pair_every_attribute_and_every_combination(cases: Mapping[str, Case]):
    found = of(list(cases.values()))
    for version in found.values():
        assert version.pairs == version.pairs_possible
        assert not version.missing_attributes
        assert version.combinations == version.combinations_possible
        assert all(set(values) == {"omitted", "0", "1"} for values in version.attributes.values())
    assert found["CumProd"].pairs == 8 + 2
    assert found["Trilu"].pairs == 16
    assert (found["CumProd"].combinations, found["Trilu"].combinations) == (16 * 9, 16 * 3)


def test_what_cannot_fail_does_not_count(cases: Mapping[str, Case]):
    case = cases["test_cumprod_1d"]
    unspecified = msgspec.structs.replace(case, data_sets=(DataSet("a", elements=3, unspecified="the text is silent"),))
    insensitive = msgspec.structs.replace(case, data_sets=(DataSet("a", elements=3, insensitive=3),))
    sharp = msgspec.structs.replace(case, data_sets=(DataSet("a", elements=3, insensitive=2),))
    empty = msgspec.structs.replace(case, data_sets=(DataSet("a", elements=0),))
    assert [counts(c) for c in (unspecified, insensitive, sharp, empty)] == [0, 0, 1, 1]
    assert of([unspecified, insensitive])["CumProd"].pairs == 0
    assert of([unspecified, sharp])["CumProd"].pairs == 2


def test_no_whole_data_set_of_the_matrix_is_insensitive(cases: Mapping[str, Case]):
    assert not [c.name for c in cases.values() for s in c.data_sets if s.elements and s.insensitive == s.elements]


def test_the_text_has_denominators(matrix: Suite):
    text = render(coverage(matrix.cases(), matrix.name, matrix.digest))
    assert "26 of 2,986 pairs" in text
    assert "10/10" in text
    assert "144/144" in text
