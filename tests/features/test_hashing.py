"""Hashed features: a loop twin, a size that is chosen, and the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import tagsift
from tagsift.baselines import PartialCRF
from tagsift.data import bundled
from tagsift.errors import InputError
from tagsift.features import SequenceVectorizer
from tagsift.features.hashing import HashedIndicators, _hash

CORPUS = bundled()[:25]
MASK = 2**64 - 1


def loop(vectorizer, sentences, n_columns):
    """Columns of every token, one feature at a time, in Python's own numbers."""
    from tagsift.features.templates import attribute

    found = []
    for rows in sentences:
        for t in range(len(rows)):
            columns = set()
            for number, template in enumerate(vectorizer._indicators.templates, 1):
                key = number
                for name, place in template.parts:
                    if not 0 <= t + place < len(rows):
                        break
                    if name in ("begin", "end"):
                        edge = 0 if name == "begin" else len(rows) - 1
                        value = "yes" if t + place == edge else None
                    else:
                        one = attribute(name)
                        value = one.value(rows[t + place][one.column])
                    if value is None:
                        break
                    key = ((key ^ _hash(name, value)) * 0x9E3779B97F4A7C15) & MASK
                    key ^= key >> 29
                else:
                    columns.add((key >> 16) % n_columns)
            found.append(columns)
    return found


@pytest.mark.parametrize("n_columns", [7, 1000, 2**20])
def test_equals_the_loop(n_columns):
    vectorizer = SequenceVectorizer(hashing=n_columns).fit(CORPUS.rows)
    features = vectorizer.transform(CORPUS.rows)
    assert features.columns == (("hashed", n_columns, True),) == vectorizer.columns
    block = features.block("hashed")
    assert (block.data == 1).all()
    rows = [set(block[n].indices.tolist()) for n in range(features.n_tokens)]
    assert rows == loop(vectorizer, CORPUS.rows, n_columns)


def test_different_features_seldom_meet():
    counted = SequenceVectorizer().fit_transform(CORPUS.rows).stacked()
    hashed = SequenceVectorizer(hashing=2**24).fit_transform(CORPUS.rows).stacked()
    used = len(np.unique(hashed.indices))
    assert used > 0.999 * counted.shape[1]
    assert hashed.nnz > 0.999 * counted.nnz


def test_unseen_words_have_features_and_models_are_saved(tmp_path):
    model = PartialCRF(features=SequenceVectorizer(hashing=512), max_iter=20, tol=1e-2)
    model.fit(CORPUS.rows, CORPUS.labels)
    model.save(tmp_path / "model.tagsift")
    loaded = tagsift.load(tmp_path / "model.tagsift")
    new = [[("Unheard-of", "NNP"), ("words", "NNS")]]
    assert loaded.vectorizer_.transform(new).stacked().nnz > 10
    for X in (CORPUS.rows, new):
        assert loaded.predict(X) == model.predict(X)
    assert loaded.vectorizer_.hashing == 512
    words = {w for row in CORPUS.rows for w, *_ in row if w.istitle() and len(w) > 5}
    assert len(words) > 10
    data = (tmp_path / "model.tagsift").read_bytes()
    assert not any(word.encode() in data for word in words)


def test_bad_settings_are_one_sentence():
    with pytest.raises(InputError, match="min_count and hashing both choose"):
        SequenceVectorizer(hashing=8, min_count=2).fit([["a"]])
    for bad in (0, 1.5, 2**31):
        with pytest.raises(InputError, match="hashing must be a number of columns"):
            SequenceVectorizer(hashing=bad).fit([["a"]])
    with pytest.raises(InputError, match="the tokens have 1"):
        HashedIndicators.learn(tagsift.features.default_templates(["pos"]), 1, 8)
