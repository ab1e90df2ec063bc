"""Counts of parts add up to the counts of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.features import SequenceVectorizer


def sentences(n=40, seed=0):
    rng = np.random.default_rng(seed)
    words = ["The", "the", "Dog", "dogs", "ran", "1990", "U.S.", "fast", "x-ray"]
    words += [f"w{k}" for k in range(60)]
    tags = ["DT", "NN", "VB"]
    return [
        [
            (str(rng.choice(words)), str(rng.choice(tags)))
            for _ in range(rng.integers(8))
        ]
        for _ in range(n)
    ]


def features_by_name(vectorizer, X):
    names = vectorizer.get_feature_names_out()
    return names.tolist(), vectorizer.transform(X).stacked().toarray()


@pytest.mark.parametrize("min_count", [1, 2, 5])
@pytest.mark.parametrize("n_parts", [1, 3, 40])
def test_templates(min_count, n_parts):
    X = sentences()
    whole = SequenceVectorizer(min_count=min_count).fit(X)
    parts = np.array_split(np.arange(len(X)), n_parts)
    counts = [SequenceVectorizer().count([X[s] for s in part]) for part in parts]
    total = counts[0]
    for other in counts[1:]:
        total = total + other
    summed = SequenceVectorizer(min_count=min_count).learn(total)
    (names, table), (others, twin) = (
        features_by_name(each, X) for each in (whole, summed)
    )
    assert names == others
    np.testing.assert_array_equal(table, twin)


def test_a_feature_is_kept_from_min_count_on_and_values_of_lost_ones_are_forgotten():
    X = sentences()
    whole = SequenceVectorizer().fit(X)
    names, rows = features_by_name(whole, X)
    table = dict(zip(names, rows.sum(axis=0), strict=True))
    pruned = SequenceVectorizer(min_count=4).fit(X)
    kept, columns = features_by_name(pruned, X)
    assert kept == [name for name in names if table[name] >= 4]
    np.testing.assert_array_equal(columns, rows[:, [n in set(kept) for n in names]])
    words = pruned._indicators.vocabularies["word"]
    assert set(words) == {
        n.partition("=")[2] for n in kept if n.startswith("word: word")
    }
    assert 0 < len(words) < len(whole._indicators.vocabularies["word"])


@pytest.mark.parametrize("kind", ["dict", "array"])
def test_dicts_and_arrays(kind):
    rng = np.random.default_rng(1)
    if kind == "dict":
        X = [[{"w": str(rng.integers(5)), "n": 1.5}] * 3 for _ in range(9)]
    else:
        X = [rng.normal(size=(3, 4)) for _ in range(9)]
    total = SequenceVectorizer().count(X[:4]) + SequenceVectorizer().count(X[4:])
    found = SequenceVectorizer().learn(total)
    expected = SequenceVectorizer().fit(X)
    assert found.columns == expected.columns
    a, b = (
        np.asarray(v.transform(X).block(kind).sum(axis=0)) for v in (found, expected)
    )
    np.testing.assert_allclose(a, b)


def test_parts_of_different_kinds_are_refused():
    count = SequenceVectorizer().count
    with pytest.raises(InputError, match="different kinds"):
        count([["a"]]) + count([[("a", "NN")]])
    assert (count([[]]) + count([["a"]])).kind == "columns"
