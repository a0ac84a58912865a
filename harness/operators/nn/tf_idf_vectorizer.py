"""TfIdfVectorizer: how often each n-gram of a pool is found in a sequence, or in each row of them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, Types, operator

WORDS: Final = {
    -(2**31): "two words",
    -1: "",
    0: "zero",
    1: "a",
    2: "é",
    3: "e\u0301",
    4: "Ä",
    5: "b",
    6: "onnx",
    7: "日本語",
    8: "🧮",
    9: "omega",
    2**31 - 1: "A",
    2**32 + 3: "\t",
}
"""Numbers and the words that stand for them, so that one pool does for both kinds."""
STRANGER: Final = 9
"""A token that no pool has."""


class Pool(NamedTuple):
    """The n-grams to look for, with the coordinate and the weight of each."""

    grams: tuple[tuple[int, ...], ...]
    """In order of their lengths."""
    indexes: list[int]
    weights: list[float]
    """A few bits each, so that no product is rounded."""
    levels: int
    """The lengths that ``ngram_counts`` has."""
    searches: tuple[tuple[int, int, int], ...]
    """The least and the greatest length looked for, and how many tokens are skipped."""

    @property
    def numbers(self) -> list[int]:
        """``pool_int64s``."""
        return [token for gram in self.grams for token in gram]

    @property
    def words(self) -> list[bytes]:
        """``pool_strings``."""
        return [WORDS[token].encode() for token in self.numbers]

    @property
    def counts(self) -> list[int]:
        """``ngram_counts``: how much of the pool the shorter n-grams take up."""
        return [sum(len(gram) for gram in self.grams if len(gram) <= n) for n in range(self.levels)]


ORDINARY: Final = Pool(
    ((2,), (3,), (5,), (4,), (5, 6), (7, 8), (6, 7)),
    [6, 0, 3, 1, 2, 5, 4],  # in no order, for weights go by the place in the pool
    [0.5, -1.25, 3.0, 0.0, 2.0, 0.75, 10.0],
    levels=2,
    searches=((1, 2, 1), (1, 2, 0), (1, 2, 5), (1, 1, 1), (2, 2, 1)),
)
SPARSE: Final = Pool(
    ((3, 3), (5, 6), (6, 5)),
    [8, 0, 3],  # and others that no n-gram has
    [0.25, -2.0, 1.5],
    levels=2,
    searches=((2, 2, 2), (2, 2, 0)),
)
LONG: Final = Pool(
    ((3,), (6,), (3, 5), (5, 6), (3, 5, 6), (5, 6, 5), (3, 3, 3)),
    [3, 1, 0, 2, 6, 4, 5],
    [1.0, 0.5, -0.5, 4.0, 1.5, 0.125, -3.0],
    levels=3,
    searches=((1, 3, 0), (2, 3, 0), (3, 3, 0), (1, 2, 2), (1, 3, 2)),
)
EXTREME: Final = Pool(
    # The ends of 32 bits, what is congruent to 3 there, and no 2-grams.
    ((-(2**31),), (2**31 - 1,), (2**32 + 3,), (-1,), (0, 1, 0)),
    [4, 2, 0, 1, 3],
    [2.0, 0.5, -1.0, 8.0, 0.375],
    levels=3,
    searches=((1, 3, 0),),
)

POOLS: Final = (ORDINARY, SPARSE, LONG, EXTREME)

SPREAD: Final = (
    'TfIdfVectorizer-9: "If the number of skips is 2, we should skip two tokens when scanning through the original '
    'sequence", but max_skip_count: "Maximum number of items (integers/strings) to be skipped when constructing an '
    'n-gram from X": for a 3-gram, whether at each of its steps or in all.'
)


def are_words(types: Types) -> bool:
    """The rule: "If pool_strings is set, the input must be a string tensor", and integers if ``pool_int64s`` is."""
    return types["T"] == "tensor(string)"


def declared(pool: Pool, search: tuple[int, int, int]) -> Operator:
    """The operator with attributes that go together: the meaning is one, but each pool needs plans of its own.

    A pool's first search is made in every mode, with and without weights the first of all.
    """

    def tf_idf_vectorizer(
        X: np.ndarray,
        *,
        max_gram_length: int,
        max_skip_count: int,
        min_gram_length: int,
        mode: str,
        ngram_counts: list[int],
        ngram_indexes: list[int],
        pool_int64s: list[int] | None,
        pool_strings: list[bytes] | None,
        weights: list[float] | None,
    ) -> np.ndarray:
        """At ``ngram_indexes[i]`` "the times that the i-th n-gram is found", in IDF once at most.

        ``weights[i]`` scales them if the mode is not TF; an n-gram whose length is not looked for is not counted.
        """
        flat = pool_int64s if pool_strings is None else [word.decode() for word in pool_strings]
        y = np.zeros((*X.shape[:-1], max(ngram_indexes) + 1))
        for row in np.ndindex(X.shape[:-1]):
            for i, gram in enumerate(grams(flat or [], ngram_counts)):
                if min_gram_length <= len(gram) <= max_gram_length:
                    times = found(X[row].tolist(), gram, max_skip_count)
                    weight = weights[i] if weights and mode != "TF" else 1
                    y[(*row, ngram_indexes[i])] += (min(times, 1) if mode == "IDF" else times) * weight
        return y

    least, greatest, skipped = search
    in_all_modes = search == pool.searches[0]
    return operator(
        "TfIdfVectorizer",
        since=9,
        exact=True,
        mode=("TF", "IDF", "TFIDF") if in_all_modes else ("TFIDF",),
        max_gram_length=(greatest,),
        min_gram_length=(least,),
        max_skip_count=(skipped,),
        ngram_counts=(pool.counts,),
        ngram_indexes=(pool.indexes,),
        pool_int64s=(lambda types: OMITTED if are_words(types) else pool.numbers,),
        pool_strings=(lambda types: pool.words if are_words(types) else OMITTED,),
        weights=(OMITTED, pool.weights) if pool is ORDINARY and in_all_modes else (pool.weights,),
    )(tf_idf_vectorizer)


def grams(pool: Sequence[Any], counts: Sequence[int]) -> Iterator[Sequence[Any]]:
    """The n-grams of a pool: ``counts[n - 1]`` is where those of length ``n`` begin."""
    ends = [*counts[1:], len(pool)]
    for n, (start, end) in enumerate(zip(counts, ends, strict=True), 1):
        for at in range(start, end, n):
            yield pool[at : at + n]


def found(sequence: Sequence[Any], gram: Sequence[Any], most: int) -> int:
    """At how many indexes the n-gram stands, with 0, 1 … ``most`` tokens skipped between each two of its own.

    A 1-gram has no tokens between, so it is counted once at each index, as in the official examples.
    """
    n = len(gram)
    indexes = {
        tuple(range(start, start + n * (skip + 1), skip + 1))
        for skip in range(most + 1)
        for start in range(len(sequence) - (n - 1) * (skip + 1))
    }
    return sum(all(sequence[i] == token for i, token in zip(at, gram, strict=True)) for at in indexes)


def tokens(draw: Draw, numbers: Any) -> np.ndarray:
    """The numbers in the row's type, or their words; what 32 bits cannot hold is congruent in them."""
    if draw.T.element.kind == "string":
        return np.array([WORDS[n] for n in np.ravel(numbers).tolist()], object).reshape(np.shape(numbers))
    return np.asarray(numbers, np.int64).astype(draw.T.element.dtype)


def scanned(draw: Draw, pool: Pool, count: int) -> list[int]:
    """A sequence with many of the pool's n-grams in it, whole or with others between, and strangers."""
    numbers: list[int] = []
    while len(numbers) < count:
        gram = pool.grams[draw.integer(0, len(pool.grams) - 1)]
        between = [STRANGER] * draw.integer(0, 1)
        numbers += [gram[0], *between, *gram[1:]] if draw.integer(0, 2) == 0 else gram
    return numbers[:count]


def tried(draw: Draw, numbers: Any) -> Sample:
    """The numbers as input, open where 3-grams may skip."""
    spread = draw.attributes["max_gram_length"] > 2 and draw.attributes["max_skip_count"] > 0
    return Sample({"X": tokens(draw, numbers)}, unspecified=SPREAD if spread else "")


def try_out(op: Operator, pool: Pool) -> None:
    """Gives the operator with a pool its groups."""

    @op.inputs()
    def ordinary(draw: Draw) -> Iterator[Sample]:
        """A sequence with the pool's n-grams in it, whole or with others between, and tokens of no pool."""
        yield tried(draw, scanned(draw, pool, 13))

    @op.inputs()
    def found_often(draw: Draw) -> Iterator[Sample]:
        """One token over and over, so that n-grams overlap; all of the pool in reverse."""
        for gram in ((3,), tuple(reversed(pool.numbers))):
            yield tried(draw, np.resize(gram, 13))


def try_shapes(op: Operator, pool: Pool) -> None:
    """Gives the operator with a pool the groups of inputs in other shapes than one long sequence."""

    @op.inputs()
    def rows(draw: Draw) -> Iterator[Sample]:
        """A tensor [N, C]: n-grams end where a row does."""
        yield tried(draw, np.resize(scanned(draw, pool, 21), (3, 7)))

    @op.inputs()
    def short(draw: Draw) -> Iterator[Sample]:
        """Sequences that have as many tokens as an n-gram, or fewer."""
        if pool is ORDINARY and draw.attributes["mode"] == "IDF":
            for shape in ((1,), (3, 2), (4, 1)):
                yield tried(draw, np.resize((5, 6), shape))

    @op.inputs()
    def empty(draw: Draw) -> Iterator[Sample]:
        """No tokens, or no rows: nothing is found in what is empty."""
        if pool is ORDINARY and draw.attributes["mode"] == "TF":
            for shape in ((0,), (3, 0), (0, 4)):
                yield tried(draw, np.zeros(shape, np.int64))


FIRST, *OTHERS = [(declared(pool, search), pool) for pool in POOLS for search in pool.searches]
for vectorizer, pool in (FIRST, *OTHERS):
    try_out(vectorizer, pool)
    if len(vectorizer.attributes["mode"]) > 1:
        try_shapes(vectorizer, pool)

SEQUENCE: Final = np.array([1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8], np.int32)
BATCH: Final = SEQUENCE.reshape(2, 6)


def example(
    name: str, x: np.ndarray, gives: Any, least: int, skip: int, counts: tuple[int, ...] = (0, 4), numbers: Any = ()
) -> None:
    """One of the document's, all of which have the mode TF and 2-grams at most."""
    pool = list(numbers or (2, 3, 5, 4, 5, 6, 7, 8, 6, 7))
    FIRST[0].example(
        name,
        x,
        gives=np.array(gives, np.float32),
        mode="TF",
        min_gram_length=least,
        max_gram_length=2,
        max_skip_count=skip,
        ngram_counts=list(counts),
        ngram_indexes=list(range(np.shape(gives)[-1])),
        pool_int64s=pool,
    )


example("test_tfidfvectorizer_tf_only_bigrams_skip0", SEQUENCE, [0, 0, 0, 0, 1, 1, 1], 2, 0)
example("test_tfidfvectorizer_tf_onlybigrams_skip5", SEQUENCE, [0, 0, 0, 0, 1, 3, 1], 2, 5)
example("test_tfidfvectorizer_tf_uniandbigrams_skip5", SEQUENCE, [0, 3, 1, 0, 1, 3, 1], 1, 5)
example("test_tfidfvectorizer_tf_batch_onlybigrams_skip0", BATCH, [[0] * 7, [0, 0, 0, 0, 1, 0, 1]], 2, 0)
example("test_tfidfvectorizer_tf_batch_onlybigrams_skip5", BATCH, [[0] * 7, [0, 0, 0, 0, 1, 1, 1]], 2, 5)
example(
    "test_tfidfvectorizer_tf_batch_uniandbigrams_skip5",
    BATCH,
    [[0, 3, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 1, 1]],
    1,
    5,
)
example("test_tfidfvectorizer_tf_onlybigrams_levelempty", SEQUENCE, [1, 1, 1], 2, 0, (0, 0), (5, 6, 7, 8, 6, 7))
