"""What the document of TfIdfVectorizer says, as literal values, and how it is planned."""

from typing import Any

import numpy as np
import pytest

from harness.operators.nn.tf_idf_vectorizer import FIRST, OTHERS, POOLS, Pool
from harness.oracles.evaluate import answer
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED
from harness.suite.planning import plan

VECTORIZER = FIRST[0]
SCHEMA = VECTORIZER.schemas[0]
FIVE = np.array([94, 17, 36, 12, 28], np.int64)


def counted(x: np.ndarray, pool: list[Any], *, of: str = "int64", **given: Any) -> list[Any]:
    """TF of 2-grams without skips, unless it is said otherwise."""
    attributes: dict[str, Any] = {
        "mode": "TF",
        "min_gram_length": 2,
        "max_gram_length": 2,
        "max_skip_count": 0,
        "ngram_counts": [0, 0],
        "weights": OMITTED,
        "pool_int64s": OMITTED,
        "pool_strings": OMITTED,
        ("pool_strings" if of == "string" else "pool_int64s"): pool,
    }
    types = {"T": f"tensor({of})", "T1": "tensor(float)"}
    found = answer(Call(VECTORIZER, SCHEMA, types, {"X": x}, attributes | given), exact=True)[0].value
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float32
    return found.tolist()


def test_the_documents_examples_of_skips():
    """With 2 skips the 2-grams are [94, 12] and [17, 28]; with 0 they are the four of neighbours."""
    two, none = [94, 12, 17, 28], [94, 17, 17, 36, 36, 12, 12, 28]
    both: dict[str, Any] = {"ngram_indexes": [0, 1]}
    assert counted(FIVE, two, max_skip_count=2, **both) == [1, 1]
    assert counted(FIVE, two, max_skip_count=1, **both) == [0, 0]
    assert counted(FIVE, none, ngram_indexes=[0, 1, 2, 3]) == [1, 1, 1, 1]
    assert counted(FIVE, none, max_skip_count=2, ngram_indexes=[0, 1, 2, 3]) == [1, 1, 1, 1], "all skips up to S"


def test_the_documents_example_of_indexes():
    """If ngram_indexes is [1, 0], Y[0] counts [17, 36] and Y[1] counts [94, 17]."""
    x = np.array([94, 17, 94, 17, 36], np.int64)
    assert counted(x, [94, 17, 17, 36], ngram_indexes=[1, 0]) == [1, 2]


def test_modes_and_weights():
    x = np.array([94, 17, 94, 17, 36], np.int64)
    given: dict[str, Any] = {"ngram_indexes": [1, 0], "weights": [0.5, -4.0]}
    assert counted(x, [94, 17, 17, 36], **given) == [1, 2], "TF takes no weights"
    assert counted(x, [94, 17, 17, 36], mode="IDF", **given) == [-4, 0.5]
    assert counted(x, [94, 17, 17, 36], mode="TFIDF", **given) == [-4, 1]
    assert counted(x, [94, 17, 17, 36], mode="IDF", ngram_indexes=[1, 0]) == [1, 1], "all-one by default"


def test_lengths_and_levels():
    x = np.array([[3, 3, 3], [5, 6, 3]], np.int64)
    pool: dict[str, Any] = {"ngram_counts": [0, 1, 5], "ngram_indexes": [0, 1, 2, 5]}
    tokens = [3, 3, 3, 5, 6, 3, 3, 3]
    assert counted(x, tokens, **pool) == [[0, 2, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]
    every: dict[str, Any] = {"min_gram_length": 1, "max_gram_length": 3}
    assert counted(x, tokens, **pool, **every) == [[3, 2, 0, 0, 0, 1], [1, 0, 1, 0, 0, 0]]
    ones: dict[str, Any] = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 5}
    assert counted(x, tokens, **pool, **ones) == [[3, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], "once, however many skips"


def test_words_are_compared_as_they_are():
    x = np.array(["é", "e\u0301", "É", "é"], object)
    one: dict[str, Any] = {"min_gram_length": 1, "max_gram_length": 1, "ngram_counts": [0], "ngram_indexes": [0, 1]}
    assert counted(x, ["é".encode(), "e\u0301".encode()], of="string", **one) == [2, 1]


def test_nothing_is_found_in_nothing():
    assert counted(np.zeros(0, np.int32), [3, 4], of="int32", ngram_indexes=[2]) == [0, 0, 0]
    assert counted(np.zeros((0, 3), np.int32), [3, 4], of="int32", ngram_indexes=[2]) == []


def test_a_pool_of_int64_is_not_cut_to_the_inputs_32_bits():
    one: dict[str, Any] = {"min_gram_length": 1, "max_gram_length": 1, "ngram_counts": [0], "ngram_indexes": [0]}
    assert counted(np.array([3], np.int32), [2**32 + 3], of="int32", **one) == [0]


@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_has_a_coordinate_and_a_weight_for_each_of_its_n_grams(pool: Pool):
    assert len(pool.grams) == len(set(pool.grams)) == len(set(pool.indexes)) == len(pool.weights)
    assert [len(gram) for gram in pool.grams] == sorted(map(len, pool.grams))
    assert pool.indexes != sorted(pool.indexes), "coordinates in the pool's order would hide whose weight is taken"


def test_each_type_meets_its_pool_in_every_mode():
    rows = [row for one, _ in (FIRST, *OTHERS) for row in plan(one, SCHEMA).rows]
    met = {(row.types["T"], row.attributes["mode"], row.attributes["pool_int64s"] == OMITTED) for row in rows}
    words = {"tensor(string)": True, "tensor(int32)": False, "tensor(int64)": False}
    assert met == {(of, mode, are_words) for of, are_words in words.items() for mode in ("TF", "IDF", "TFIDF")}
    assert all(
        (row.attributes["pool_strings"] == OMITTED) != (row.attributes["pool_int64s"] == OMITTED) for row in rows
    )
    ordinary = [row for row in rows if row.group.name == "ordinary"]
    assert len({repr((row.types, row.attributes)) for row in ordinary}) == len(ordinary)
