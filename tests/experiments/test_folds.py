from __future__ import annotations

import pytest

from experiments.folds import (
    TASKS,
    Split,
    corrupted,
    data_folder,
    make_fold,
    read_head,
    stable_seed,
)
from experiments.paper.results import WATCHED, find
from tagsift.errors import InputError

SPLIT = Split("ner", 20, 5, 0, 0)


def test_a_seed_is_the_same_on_every_machine():
    assert stable_seed("ner", 3, 0.1) == 827819331
    assert stable_seed("ner", 3, 0.1) != stable_seed("ner", 3, 0.3)


def test_folds_cover_every_sentence_once():
    rows: list[object] = []
    for number in range(5):
        fold = make_fold(None, Split("ner", 20, 5, number, 0))
        assert len(fold.train) == 16 and len(fold.test) == 4
        assert fold.train_features.n_tokens == fold.train.n_tokens
        assert fold.test_features.n_tokens == fold.test.n_tokens
        rows += fold.test.rows
    head = read_head(None, "ner", 20)
    assert sorted(map(tuple, rows)) == sorted(map(tuple, head.rows))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_exactly_the_asked_share_of_sentences_stays_exact(p: float):
    fold = make_fold(None, SPLIT)
    partial = corrupted(fold, SPLIT, cl=3, p=p, r=None)
    exact = [all(len(c) == 1 for c in s) for s in partial.candidates]
    assert sum(exact) == round(p * len(fold.train))
    for truth, sets in zip(fold.train.labels, partial.candidates, strict=True):
        assert all(label in s for label, s in zip(truth, sets, strict=True))


def test_corrupted_folds_depend_on_the_setting_alone():
    fold = make_fold(None, SPLIT)
    first = corrupted(fold, SPLIT, cl=3, p=0.1, r=None)
    assert corrupted(fold, SPLIT, cl=3, p=0.1, r=None).candidates == first.candidates
    other = corrupted(fold, SPLIT, cl=2, p=0.1, r=None)
    assert other.candidates != first.candidates
    assert set(first.label_set) == set(read_head(None, "ner", 20).label_set)


def test_a_random_subset_is_seeded_and_another_than_the_head():
    one = read_head(None, "chunking", 30, "random-1")
    assert one == read_head.__wrapped__(None, "chunking", 30, "random-1")
    assert one != read_head(None, "chunking", 30, "random-2")
    assert one != read_head(None, "chunking", 30)


def test_base_np_is_made_of_the_bundled_chunks():
    corpus = read_head(None, "base-np", 50)
    assert tuple(corpus.label_set) == ("B", "I", "O")
    assert sum(row.count("B") for row in corpus.labels) > 50


def test_too_many_sentences_are_refused():
    with pytest.raises(InputError, match="100000 were asked for"):
        read_head(None, "ner", 100_000)


def test_a_missing_folder_of_corpora_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGSIFT_DATA", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="expected the folder of the corpora"):
        data_folder()
    assert data_folder(tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("task", "labels"), [("base-np", 3), ("chunking", 19), ("ner", 9)]
)
def test_heads_of_the_real_corpora(corpora, task: str, labels: int):
    head = read_head(corpora, task, TASKS[task].n_sentences)
    assert len(head.label_set) == labels
    assert {len(row) for sentence in head.rows for row in sentence} == {2}


@pytest.mark.parametrize(
    ("word", "sentence", "truth"),
    [("holding", 24, "O"), ("German", 3, "B-MISC"), ("heavily", 4, "I-ADVP")],
)
def test_the_watched_words_are_near_the_top(corpora, word, sentence, truth):
    watched = WATCHED[word]
    head = read_head(corpora, watched.task, TASKS[watched.task].n_sentences)
    s, t = find(head, watched)
    assert (s, head.tokens[s][t], head.labels[s][t]) == (sentence, word, truth)


def test_a_watched_word_that_is_not_there_is_told():
    with pytest.raises(InputError, match="the watched word 'German' is not in"):
        find(read_head(None, "ner", 10), WATCHED["German"])
