"""Sentences and corpora as records."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from tagsift.errors import InputError
from tagsift.io import Corpus, Sentence


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_lists(
        [
            [("Rates", "NNS"), ("fell", "VBD")],
            [("Oil", "NN"), ("prices", "NNS"), ("rose", "VBD")],
            [],
        ],
        [["B-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"], []],
    )


def test_views(corpus: Corpus) -> None:
    assert corpus.tokens == [["Rates", "fell"], ["Oil", "prices", "rose"], []]
    assert corpus.rows[0] == [("Rates", "NNS"), ("fell", "VBD")]
    assert corpus.labels[1] == ["B-NP", "I-NP", "B-VP"]
    assert corpus.label_set.names == ("B-NP", "B-VP", "I-NP")
    assert (len(corpus), corpus.n_tokens, corpus.n_spans) == (3, 5, 4)
    assert corpus.scheme == "iob2"
    assert repr(corpus) == "Corpus(3 sentences, 5 tokens, scheme='iob2')"


def test_slices_and_takes_are_corpora(corpus: Corpus) -> None:
    assert isinstance(corpus[0], Sentence)
    assert corpus[1:].tokens == corpus.tokens[1:]
    assert corpus.take([2, 0]).tokens == [[], ["Rates", "fell"]]
    assert corpus[:1].label_set.names == ("B-NP", "B-VP")
    assert [s.tokens for s in corpus] == [tuple(t) for t in corpus.tokens]


def test_columns_keeps_the_first_ones(corpus: Corpus) -> None:
    assert corpus.columns(1).rows[0] == [("Rates",), ("fell",)]
    assert corpus.columns(2) == corpus
    assert corpus.columns(1).labels == corpus.labels
    with pytest.raises(InputError, match="between 1 and 2, found 3"):
        corpus.columns(3)


def test_words_alone_make_one_column() -> None:
    made = Corpus.from_lists([["a", "b"]], [["NN", "VB"]])
    assert made.rows == [[("a",), ("b",)]]
    assert made.scheme == "plain"


def test_records_are_frozen_equal_and_picklable(corpus: Corpus) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus.scheme = "iob1"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus[0].labels = None  # type: ignore[misc]
    assert corpus.n_spans == 4
    assert pickle.loads(pickle.dumps(corpus)) == corpus


def test_refusals(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="2 tokens and 1 labels"):
        Sentence((("a",), ("b",)), ("O",))
    with pytest.raises(InputError, match="1 sentences and 2 sequences of labels"):
        Corpus.from_lists([["a"]], [["O"], ["O"]])
    with pytest.raises(InputError, match="found 'bio'"):
        Corpus(corpus.sentences, "bio")
    unlabelled = Corpus((Sentence((("a",),), None),), "iob2")
    assert unlabelled.tokens == [["a"]]
    with pytest.raises(InputError, match="none in sentence 0"):
        _ = unlabelled.labels
