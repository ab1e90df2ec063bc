"""Where text is cut, marked spans stay whole: tokens, sentences, options, losses."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagsift
from tagsift.data import Document, Layer, Mark
from tagsift.data.span_alignment import with_labels
from tagsift.errors import DataError, InputError

PEOPLE = ("ann", "bob", "eve")


def document(text: str, *spans: tuple[int, int], people: Any = PEOPLE) -> Document:
    marks = tuple(Mark(a, b, ("X",)) for a, b in spans)
    return Document("1", text, layers=tuple(Layer(one, marks=marks) for one in people))


def stored(folder: Path, *documents: Document, name: str = "a.jsonl") -> Path:
    tagsift.write(documents, folder / name)
    return folder / name


def marked_by_most(corpus: tagsift.Corpus) -> list[str]:
    """What the majority marks, as words, after spans were tags of tokens."""
    labels = corpus.majority().labels
    labelled = with_labels(corpus.documents(), labels, corpus.scheme)
    return [(one.text or "")[m.start : m.end] for one in labelled for m in one.spans]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Wir kommen am 3. Mai an.", ["3. Mai"]),
        ("Ihr Telekom-Techniker war da.", ["Telekom"]),
        ("Ihr Ex-Telekom-Chef war da.", ["Telekom", "Chef"]),
        ("Er rief: Ja! Nein! Dann ging er.", ["Ja! Nein"]),
        ("Title\n\nJo\n\nBo. Bye. Now", ["Title\n\nJo\n\nBo. Bye", "Now"]),
        ("Frisch: e\u0301te\u0301.", ["e", "\u0301te"]),
        ("da \U0001f469\u200d\U0001f467 da", ["\U0001f469"]),
        ("東京に行く。𠮷野家。", ["行く。𠮷"]),
        ("x@y.example", ["y", "example"]),
        ("a-b-c", ["a", "b", "c"]),
    ],
)
def test_spans_come_back_whole(text: str, marked: list[str], tmp_path: Path) -> None:
    spans, at = [], 0
    for words in marked:
        at = text.index(words, at)
        spans.append((at, at + len(words)))
        at += len(words)
    path = stored(tmp_path, document(text, *spans))
    corpus = tagsift.read(path, losses=tagsift.data.Losses(strict=True))
    assert marked_by_most(corpus) == marked


SIGNS = "abÄ.!? \n-'\u0301\u200d\u200b東。1🦉"


@settings(max_examples=60)
@given(
    st.text(SIGNS, min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 9)), max_size=4),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 9)), max_size=4),
    st.sampled_from(
        [None, "spaces", lambda t: [m.span() for m in re.finditer("a", t)]]
    ),
)
def test_any_span_of_any_text(
    text: str, mine: Any, theirs: Any, tokenizer: Any
) -> None:
    """Whatever others mark, spans come back but for blanks at their ends."""
    text = "a" + text
    marks, last = [(0, 1)], 1
    for start, size in sorted((a % len(text), n) for a, n in mine):
        end = min(start + size, len(text))
        if last <= start and text[start:end].strip(" \n\u200b"):
            marks.append((start, end))
            last = end
    all_ = [(a, min(a + n, len(text))) for a, n in theirs if a < len(text)]
    whole = document(text, *marks)
    whole = whole.with_layers(document(text, *all_, people=["joe"]).layers)
    with tempfile.TemporaryDirectory() as folder:
        corpus = tagsift.read(stored(Path(folder), whole), tokenizer=tokenizer)
    assert marked_by_most(corpus) == [text[a:b].strip(" \n\u200b") for a, b in marks]
    (cut,) = corpus.documents()
    flat = [at for bounds in cut.offsets or () for at in bounds]
    assert flat == sorted(flat)
    assert all(
        text[a:b] == word for (a, b), word in zip(cut.offsets, cut.tokens, strict=True)
    )


def test_pieces_are_marks_too(tmp_path: Path) -> None:
    mark = Mark(0, 16, ("X",), pieces=((0, 2), (5, 11)))
    layers = tuple(Layer(one, marks=(mark,)) for one in PEOPLE)
    path = stored(tmp_path, Document("1", "leftmost atrial. Is", layers=layers))
    assert marked_by_most(tagsift.read(path)) == ["ost at"]
    assert tuple(tagsift.read(path).tokens[0][:3]) == ("le", "ftm", "ost")


def test_what_is_changed_is_counted_by_kind(tmp_path: Path) -> None:
    text = "Ann left Rome. Bob left Oslo."
    ours = document(text, (3, 9), (9, 14), people=["eve"])
    tokens = ((0, 3), (4, 8), (9, 13), (13, 14), (15, 18), (19, 23), (24, 28), (28, 29))
    given = {"offsets": tokens, "rows": tuple((text[a:b],) for a, b in tokens)}
    theirs = document(text, (3, 9), (10, 13), (9, 18), people=["eve"])
    source = Document("2", text, sentences=(0, 4, 8), layers=theirs.layers, **given)
    losses = tagsift.data.Losses()
    tagsift.read(stored(tmp_path, ours, source), losses=losses, overlap="first")
    assert dict(losses.counts) == {
        "span with blanks at its ends, which are trimmed": 2,
        "span off the token bounds, widened to tokens": 1,
        "overlapping span, of which the first stays": 1,
        "span over the end of a sentence, cut there": 1,
    }
    crossing = replace(source, layers=document(text, (9, 18), people=["eve"]).layers)
    for one in (ours, source, crossing):
        strict = tagsift.data.Losses(strict=True)
        with pytest.raises(DataError, match="--strict forbids it"):
            tagsift.read(stored(tmp_path, one), losses=strict)


def test_a_span_longer_than_a_model_can_see_is_refused(tmp_path: Path) -> None:
    text = "So it goes on. " * 600
    path = stored(tmp_path, document(text, (0, 14 * 15 - 1), (15, len(text) - 1)))
    with pytest.raises(DataError) as caught:
        tagsift.read(path)
    assert re.match(r"document '1', \w+, 15:8999: expected a span", str(caught.value))
    assert "at most 2,000 tokens" in str(caught.value) and "2,995" in str(caught.value)
    assert "--sentences none" in str(caught.value)
    assert len(tagsift.read(path, sentences="none")) == 1
    short = stored(tmp_path, document(text, (0, 14 * 15 - 1)))
    assert len(tagsift.read(short)) == 600 - 13


def test_tokens_are_cut_when_all_files_have_said_what_they_mark(tmp_path: Path) -> None:
    text = "Am 3. Mai kam der Telekom-Techniker!"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    one = stored(tmp_path, document(text, (3, 9), people=["ann"]), name="b.jsonl")
    two = stored(tmp_path, document(text, (18, 25), people=["bob"]), name="c.jsonl")
    losses = tagsift.data.Losses()
    corpus = tagsift.read([tmp_path / "a.txt", one, two], losses=losses)
    (sentence,) = corpus
    assert {"Telekom", "-Techniker"} <= set(sentence.tokens)
    assert losses.counts == {}
    spoken = [sum(v != "O" for v in column) for column in sentence.votes.values()]
    assert spoken == [2, 1]


def test_tokens_of_one_file_are_those_of_all(tmp_path: Path) -> None:
    text = "New York is big"
    marks = stored(tmp_path, document(text, (0, 8), people=["ann"]), name="a.jsonl")
    tags = {"text": text, "tokens": ["New York", "is", "big"],
            "layers": [{"annotator": "bob", "tags": ["B-X", "O", "O"]}]}  # fmt: skip
    other = {"text": text, "tokens": ["New", "York is", "big"],
             "layers": [{"annotator": "eve", "tags": ["B-X", "I-X", "O"]}]}  # fmt: skip
    for name, record in (("b.jsonl", tags), ("c.jsonl", other)):
        (tmp_path / name).write_text(json.dumps(record) + "\n")
    for order in ((marks, tmp_path / "b.jsonl"), (tmp_path / "b.jsonl", marks)):
        votes = tagsift.read(list(order))
        assert votes.tokens == [["New York", "is", "big"]]
        assert list(votes[0].votes.values()) == [["B-X", "O", "O"]] * 2
    losses = tagsift.data.Losses()
    corpus = tagsift.read([tmp_path / "b.jsonl", tmp_path / "c.jsonl"], losses=losses)
    assert corpus[0].votes == {"bob": ["B-X", "O", "O"], "eve": ["B-X", "I-X", "O"]}
    kind = "labels of other tokens than those of the first file, as spans"
    assert losses.counts[kind] == 1


def sentences(corpus: tagsift.Corpus) -> list[str]:
    return [" ".join(tokens) for tokens in corpus.tokens]


def test_how_sentences_are_found(tmp_path: Path) -> None:
    text = "Eggs. Milk\nA cup. Of tea\n\nEnd"
    path = stored(tmp_path, document(text, (0, 4)))
    auto = ["Eggs .", "Milk A cup .", "Of tea", "End"]
    assert sentences(tagsift.read(path)) == auto
    assert sentences(tagsift.read(path, sentences="auto")) == auto
    lines = ["Eggs . Milk", "A cup . Of tea", "End"]
    assert sentences(tagsift.read(path, sentences="lines")) == lines
    assert sentences(tagsift.read(path, sentences="none")) == [" ".join(lines)]
    half = tagsift.read(path, sentences=lambda text: [(0, 17), (17, len(text))])
    assert sentences(half) == ["Eggs . Milk A cup .", "Of tea End"]
    spaces = tagsift.read(path, tokenizer="spaces", sentences="none")
    assert sentences(spaces) == ["Eggs . Milk A cup. Of tea End"]
    tagsift.write(half, tmp_path / "b.conll")
    assert (tmp_path / "b.conll").read_text().count("\n\n") == 2
    for wrong in ("words", 3, ["lines"]):
        with pytest.raises(
            InputError, match="expected sentences to be 'auto', 'lines'"
        ):
            tagsift.read(path, sentences=wrong)
    for wrong in (str.split, lambda text: [(0, "end")]):
        with pytest.raises(InputError, match="expected the function of sentences to"):
            tagsift.read(path, sentences=wrong)


def test_a_marked_span_joins_sentences_however_they_are_found(tmp_path: Path) -> None:
    path = stored(tmp_path, document("Bad\nTölz liegt\nin Bayern", (0, 8)))
    corpus = tagsift.read(path, sentences="lines")
    assert sentences(corpus) == ["Bad Tölz liegt", "in Bayern"]
    assert marked_by_most(corpus) == ["Bad\nTölz"]


def test_tokens_of_a_pipeline_are_cut_too(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    text = "Ihr Telekom-Techniker kam am 3. Mai."
    path = stored(tmp_path, document(text, (4, 11), (29, 35)))
    corpus = tagsift.read(path, tokenizer=spacy.blank("de"))
    assert marked_by_most(corpus) == ["Telekom", "3. Mai"]
    assert corpus.tokens[0][:3] == ["Ihr", "Telekom", "-Techniker"]


def test_what_is_written_is_cut_as_it_was_read(tmp_path: Path) -> None:
    path = stored(tmp_path, document("Ann's cat. It left", (0, 3), people=["ann"]))
    corpus = tagsift.read(path, tokenizer="spaces", sentences="none")
    tagsift.write(corpus, tmp_path / "b.conll")
    assert tagsift.read(tmp_path / "b.conll", "conll").tokens == [
        ["Ann", "'s", "cat.", "It", "left"]
    ]
    frame = corpus.to("pandas", rows="tokens")
    assert list(frame["word"]) == ["Ann", "'s", "cat.", "It", "left"]
