"""spaCy's files: made by spaCy, read, written, and read by spaCy again."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from tagsift.data.documents import Document, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.io.formats import Options, detect, read_documents, write_documents

spacy = pytest.importorskip("spacy", reason="the extra spacy")
from spacy.tokens import Doc, DocBin, Span, SpanGroup  # noqa: E402

TEXT = "Ann  Lee left.\n\nBob \n came to New York 🦉."


def read(path: Path, **told: Any) -> list[Document]:
    return list(read_documents(path, None, Options(**told)))


def docs_of(path: Path) -> list[Any]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def save(path: Path, *docs: Any) -> Path:
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


@pytest.fixture
def doc() -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    made = nlp(TEXT)
    made.set_ents(
        [made.char_span(0, 8, "PER", kb_id="Q1"), made.char_span(30, 38, "LOC")]
    )
    group = [made.char_span(0, 8, "A"), made.char_span(0, 3, "B")]
    made.spans["sc"] = SpanGroup(made, name="sc", attrs={"by": "bob"}, spans=group)
    made.cats = {"news": 1.0}
    made.user_data["source"] = {"url": "x", "n": [1, 2]}
    for token in made:
        token.tag_, token.lemma_, token.pos_ = "T", token.lower_, "NOUN"
    return made


def test_what_spacy_made_comes_back(doc: Any, tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    path = save(tmp_path / "a.spacy", doc, nlp("no entities"), nlp(""))
    assert detect(path).name == "spacy"
    docs = read(path)
    first = docs[0]
    assert first.text == TEXT and len(docs) == 3 and docs[1].layers == ()
    assert first.tokens[:5] == ("Ann", "Lee", "left", ".", "Bob")
    assert first.sentences == (0, 4, len(first.tokens))
    groups, entities = first.layers
    assert groups.annotator == "sc" and groups.meta == {"spacy": {"by": "bob"}}
    assert [m.labels for m in groups.marks or ()] == [("A",), ("B",)]
    assert [(m.start, m.end, m.labels) for m in entities.marks or ()] == [
        (0, 8, ("PER",)),
        (30, 38, ("LOC",)),
    ]
    assert first.meta["spacy"]["cats"] == {"news": 1.0}
    write_documents(docs, tmp_path / "b.spacy", options=Options(losses=Losses(True)))
    assert read(tmp_path / "b.spacy") == docs
    same = docs_of(tmp_path / "b.spacy")[0]
    ours = same.user_data.pop("tagsift.document", None)
    assert ours is None or set(ours) <= {"id", "annotator"}
    for old, now in zip(doc, same, strict=True):
        for name in ("text", "whitespace_", "tag_", "lemma_", "pos_", "ent_iob_",
                     "ent_type_", "is_sent_start", "ent_kb_id_"):  # fmt: skip
            assert getattr(old, name) == getattr(now, name), (old, name)
    assert same.cats == doc.cats and same.user_data["source"]["url"] == "x"
    assert [(s.start, s.end, s.label_) for s in same.spans["sc"]] == [
        (s.start, s.end, s.label_) for s in doc.spans["sc"]
    ]


def test_one_group_or_attribute_is_asked_for(doc: Any, tmp_path: Path) -> None:
    path = save(tmp_path / "a.spacy", doc)
    losses = Losses()
    (one,) = read(path, spans_key="sc", losses=losses)
    assert [layer.annotator for layer in one.layers] == ["sc"]
    assert list(losses.counts) == ["entities besides what was asked for"]
    (two,) = read(path, label_key="POS")
    assert two.layers[0].tags == ("NOUN",) * len(two.tokens)
    with pytest.raises(InputError, match="attribute of spaCy's tokens"):
        read(path, label_key="nothing")


def test_tokens_without_label_stay_so(tmp_path: Path) -> None:
    made = spacy.blank("en")("Ann left us")
    made.set_ents([made.char_span(0, 3, "PER")], outside=[made[1:2]], default="missing")
    path = save(tmp_path / "a.spacy", made)
    (one,) = read(path)
    assert one.layers[0].tags == ("B-PER", "O", None)
    write_documents([one], tmp_path / "b.spacy", options=Options(losses=Losses(True)))
    assert [t.ent_iob_ for t in docs_of(tmp_path / "b.spacy")[0]] == ["B", "O", ""]


def test_words_that_no_tokenizer_of_spacy_gives(tmp_path: Path) -> None:
    made = Doc(
        spacy.blank("en").vocab,
        words=["a", "\n", "\n", "b", " "],
        spaces=[False, True, False, True, False],
    )
    path = save(tmp_path / "a.spacy", made)
    docs = read(path)
    write_documents(docs, tmp_path / "b.spacy")
    (same,) = docs_of(tmp_path / "b.spacy")
    assert [t.text_with_ws for t in same] == [t.text_with_ws for t in made]


def test_annotators_and_scores(tmp_path: Path) -> None:
    text = "Ann lives in New York."
    rows = tuple((w,) for w in ("Ann", "lives", "in", "New", "York", "."))
    document = Document(
        "id-7",
        text,
        rows,
        ((0, 3), (4, 9), (10, 12), (13, 16), (17, 21), (21, 22)),
        (0, 6),
        (
            Layer("ann", marks=(Mark(0, 3, ("PER",)), Mark(0, 9, ("X",), 0.5))),
            Layer("lf", "rule", marks=()),
            Layer("us", "model", marks=(Mark(13, 21, ("LOC",), 0.75),)),
        ),
        {"url": "x"},
    )
    path = tmp_path / "a.spacy"
    write_documents([document], path, options=Options(losses=Losses(True)))
    assert read(path) == [document]
    (made,) = docs_of(path)
    if not Span.has_extension("score"):
        Span.set_extension("score", default=None)
    assert [(e.text, e.label_, e._.score) for e in made.ents] == [
        ("New York", "LOC", 0.75)
    ]
    assert made.spans["ann"].attrs["scores"] == [None, 0.5]
    write_documents([document], path, options=Options(spans_key="all"))
    (grouped,) = docs_of(path)
    assert set(grouped.spans) == {"ann", "lf", "us"} and not grouped.ents


def test_plain_tags_are_tags_of_tokens(tmp_path: Path) -> None:
    layer = Layer("eve", "model", tags=("NOUN", None), scheme="plain")
    document = Document("1", rows=(("Ann",), ("left",)), layers=(layer,))
    path = tmp_path / "a.spacy"
    write_documents([document], path)
    assert [t.tag_ for t in docs_of(path)[0]] == ["NOUN", ""]
    assert read(path)[0].layers == (layer,)


def test_what_entities_cannot_hold(tmp_path: Path) -> None:
    marks = (
        Mark(1, 9, ("OFF",)),
        Mark(0, 3, ("OVER",)),
        Mark(10, 22, ("A", "B"), pieces=((10, 12), (13, 21))),
    )
    text, cuts = (
        "Ann lives in New York.",
        ((0, 3), (4, 9), (10, 12), (13, 21), (21, 22)),
    )
    document = Document(
        "1",
        text,
        tuple((text[a:b],) for a, b in cuts),
        cuts,
        layers=(Layer("spacy", marks=marks),),
    )
    path = tmp_path / "a.spacy"
    losses = Losses()
    write_documents([document], path, options=Options(losses=losses))
    assert [(e.text, e.label_) for e in docs_of(path)[0].ents] == [
        ("Ann lives", "OFF"),
        ("New York", "A"),
    ]
    assert len(losses.counts) == 4
    for told in ({"misaligned": "error"}, {"overlap": "error"}):
        with pytest.raises(DataError):
            write_documents([document], tmp_path / "c.spacy", options=Options(**told))  # type: ignore[arg-type]
    write_documents([document], path, options=Options(misaligned="drop"))
    assert [e.text for e in docs_of(path)[0].ents] == ["Ann", "New York"]


def test_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.spacy"
    for content in (b"", b"{}", zlib.compress(b"\xc1"), zlib.compress(b"\x80")):
        path.write_bytes(content)
        with pytest.raises(DataError, match="a.spacy"):
            read(path)
    save(path)
    with pytest.raises(DataError, match="found none"):
        read(path)
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[spacy\]'"):
        read(path)
