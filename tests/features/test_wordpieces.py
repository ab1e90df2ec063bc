from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.errors import DataError, MissingExtraError
from tagsift.features.wordpieces import WordPieces, windows, word_vectors

tokenizers = pytest.importorskip("tokenizers", reason="the extra 'encoder' is absent")


def test_words_to_pieces(tiny_bert):
    vocabulary = (tiny_bert / "vocab.txt").read_text().split()
    tokenizer = WordPieces(tiny_bert)
    assert [vocabulary[k] for k in tokenizer.before] == ["[CLS]"]
    assert [vocabulary[k] for k in tokenizer.after] == ["[SEP]"]
    words = ["The", "cutting", "cuts", "x", "", "\u200b", "\ud800", "§", "cuts"]
    pieces = [[vocabulary[k] for k in word] for word in tokenizer(words)]
    assert pieces == [
        ["the"],
        ["cut", "##ting"],
        ["cut", "##s"],
        ["x"],
        *[["[UNK]"]] * 4,
        ["cut", "##s"],
    ]


def test_settings_of_the_tokenizer(tiny_bert):
    (tiny_bert / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    tokenizer = WordPieces(tiny_bert)
    assert tokenizer(["The"]) == tokenizer(["§"])
    assert tokenizer(["the"]) != tokenizer(["§"])


def test_tokenizer_json_without_its_cutting_and_padding(tiny_bert):
    ours = tokenizers.BertWordPieceTokenizer(str(tiny_bert / "vocab.txt"))
    ours.enable_truncation(5)
    ours.enable_padding(length=5)
    ours.save(str(tiny_bert / "tokenizer.json"))
    words = ["the", "abcdefghijklm", "x"]
    found = WordPieces(tiny_bert)(words)
    (tiny_bert / "tokenizer.json").unlink()
    assert found == WordPieces(tiny_bert)(words)
    assert [len(word) for word in found] == [1, 13, 1]


def test_refused(tiny_bert, monkeypatch):
    (tiny_bert / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match="cannot use the tokenizer"):
        WordPieces(tiny_bert)
    for name in ("tokenizer.json", "vocab.txt"):
        (tiny_bert / name).unlink()
    with pytest.raises(DataError, match=r"needs a tokenizer\.json or a vocab\.txt"):
        WordPieces(tiny_bert)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[encoder\]'"):
        WordPieces(tiny_bert)


@settings(max_examples=200, derandomize=True)
@given(n_pieces=st.integers(1, 300), capacity=st.integers(1, 60))
def test_windows_cover_every_piece_once(n_pieces, capacity):
    found = windows(n_pieces, capacity)
    kept = [p for w in found for p in range(w.keep_start, w.keep_stop)]
    assert kept == list(range(n_pieces))
    for w in found:
        assert 0 <= w.start <= w.keep_start <= w.keep_stop <= w.stop <= n_pieces
        assert w.stop - w.start == min(capacity, n_pieces)
    for p in range(n_pieces):
        # Steps to the nearest cut; the ends of the sentence are none.
        steps = [
            min(
                p - w.start if w.start else n_pieces,
                w.stop - 1 - p if w.stop < n_pieces else n_pieces,
            )
            for w in found
            if w.start <= p < w.stop
        ]
        (own,) = (w for w in found if w.keep_start <= p < w.keep_stop)
        mine = min(
            p - own.start if own.start else n_pieces,
            own.stop - 1 - p if own.stop < n_pieces else n_pieces,
        )
        assert mine == max(steps)


def test_pooling():
    states = np.arange(10, dtype=np.float32).reshape(5, 2)
    sizes = np.array([1, 3, 1])
    assert word_vectors(states, sizes, "mean").tolist() == [[0, 1], [4, 5], [8, 9]]
    assert word_vectors(states, sizes, "first").tolist() == [[0, 1], [2, 3], [8, 9]]
    assert word_vectors(states, sizes, "last").tolist() == [[0, 1], [6, 7], [8, 9]]
