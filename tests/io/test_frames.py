"""Documents as pandas frames of documents, spans and tokens."""

from __future__ import annotations

import sys

import pytest

import tagsift
from tagsift.data import simulate_votes
from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import InputError, MissingExtraError
from tagsift.io.arrow import arrow_table
from tests.io.frames import from_pandas, to_pandas
from tests.io.test_arrow import BARE, EMPTY, FULL, WORDS

pd = pytest.importorskip("pandas", reason="frames need pandas (extra pandas)")


def test_a_frame_of_documents_holds_everything():
    documents = [FULL, BARE, WORDS, EMPTY]
    frame = to_pandas(documents)
    assert list(frame["id"]) == ["a/1", "b", "c", "d"]
    assert frame["tokens"][0] == ["Zoë", "saw", "Łódź"]
    assert list(from_pandas(frame)) == documents
    assert list(from_pandas(frame[frame["id"] == "b"])) == [BARE]


def test_a_frame_goes_through_a_file(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow (extra arrow)")
    documents = [FULL, BARE, WORDS, EMPTY]
    arrow_table(documents).to_pandas().to_parquet(tmp_path / "a.parquet")
    assert list(from_pandas(pd.read_parquet(tmp_path / "a.parquet"))) == documents


def test_a_row_is_a_span():
    frame = to_pandas([FULL, BARE], rows="spans")
    ann = frame[frame["annotator"] == "ann"]
    assert list(ann["label"]) == ["PER", "ORG", "X"]
    assert list(ann["text"]) == ["Zoë", "Zoë", FULL.text[:17]]
    gold = frame[frame["kind"] == "gold"]
    assert list(zip(gold["start"], gold["end"], gold["label"], strict=True)) == [
        (0, 3, "PER"),
        (13, 17, "LOC"),
    ]
    assert len(to_pandas([BARE], rows="spans")) == 0
    assert list(to_pandas([], rows="spans").columns) == list(frame.columns)


def test_spans_and_texts_are_documents_again():
    documents = [
        Document(
            "7", "Ann saw Bo", layers=(Layer("x", marks=(Mark(0, 3, ("PER",)),)),)
        ),
        Document("8", "nobody"),
    ]
    frame = to_pandas(documents, rows="spans")
    texts = pd.Series({7: "Ann saw Bo", 8: "nobody"})
    assert list(from_pandas(frame, texts=texts)) == documents
    with pytest.raises(InputError, match="no text of the document '7'"):
        from_pandas(frame, texts={"8": "nobody"})


def test_a_row_is_a_token():
    votes = simulate_votes(tagsift.bundled("ner").with_columns(1)[:20])
    frame = votes.to("pandas", rows="tokens")
    assert len(frame) == votes.n_tokens
    assert list(frame["word"]) == [row[0] for rows in votes.rows for row in rows]
    again = tagsift.read(frame, gold="gold", scheme=votes.scheme)
    names = [one.name for one in votes.annotators]
    assert sorted(one.name for one in again.annotators) == sorted(names)
    assert [row.votes for row in again] == [row.votes for row in votes]
    assert again.gold == votes.gold
    share = (frame[names[0]] == frame["gold"]).mean()
    said = [row.votes.get(names[0], [None] * len(row)) for row in votes]
    flat = [vote for row in said for vote in row]
    gold = [label for labels in votes.gold for label in labels]
    assert share == sum(a == b for a, b in zip(flat, gold, strict=True)) / len(gold)


def test_tokens_of_text_keep_their_place():
    frame = to_pandas([FULL], rows="tokens")
    assert list(zip(frame["start"], frame["end"], strict=True)) == list(FULL.offsets)
    assert list(frame["sentence"]) == [0, 0, 1]
    assert list(frame["m-1"]) == ["B-PER", None, frozenset({"B-LOC", "O"})]
    assert list(frame["ann'"]) == ["O", "O", "B-X"]  # the second layer of an annotator
    (again,) = from_pandas(frame)
    assert again.tokens == FULL.tokens and again.sentences == FULL.sentences


def test_frames_of_others_are_read():
    """The usual shape of released token tables, its columns renamed."""
    frame = pd.DataFrame(
        {
            "Sentence #": ["s1", "s1", "s2"],
            "Word": ["Ann", "ran", "Bo"],
            "Tag": ["B-PER", "O", None],
        }
    ).rename(columns={"Sentence #": "id", "Word": "word"})
    corpus = tagsift.read(frame)
    assert corpus.tokens == [["Ann", "ran"], ["Bo"]]
    assert corpus.candidates[0] == [{"B-PER"}, {"O"}]
    assert corpus.candidates[1] == [{"B-PER", "O"}]


def test_other_frames_are_refused(monkeypatch):
    with pytest.raises(InputError, match="found the columns a, b"):
        from_pandas(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(InputError, match="no column 'truth'"):
        from_pandas(pd.DataFrame({"id": [1], "word": ["a"]}), gold="truth")
    with pytest.raises(InputError, match="documents or tokens or spans"):
        to_pandas([BARE], rows="lines")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[pandas\]'"):
        to_pandas([BARE])
