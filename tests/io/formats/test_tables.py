"""Columns and tables: who said what, and where sentences end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.data import bundled, corrupt
from tagsift.data.documents import Document
from tagsift.data.lossy import Losses
from tagsift.errors import DataError, InputError
from tagsift.io.formats import Options, detect, read_documents, write_documents


def save(folder: Path, content: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def read(path: Path, name: str | None = None, **told: Any) -> list[Document]:
    return list(read_documents(path, name, Options(**told)))


def said(documents: list[Document]) -> list[dict[str, tuple[Any, ...] | None]]:
    return [{x.annotator: x.tags for x in one.layers} for one in documents]


def test_columns_are_read_as_before(tmp_path: Path) -> None:
    partial = corrupt(bundled("ner")[:40], cl=3, p=0.2)
    path = tmp_path / "a.conll"
    tagsift.write(partial, path)
    docs = read(path, gold=True)
    old = tagsift.read(path, gold=True)
    assert [list(one.rows or ()) for one in docs] == old.rows
    full = old.label_set.full
    sets = [
        [
            full if t is None else {t} if isinstance(t, str) else t
            for t in d.layers[0].tags or ()
        ]
        for d in docs
    ]
    assert sets == old.candidates
    assert [list(one.layers[1].tags or ()) for one in docs] == old.gold
    write_documents(docs, tmp_path / "b.conll")
    assert read(tmp_path / "b.conll", gold=True) == docs
    write_documents([d for d in docs][:0], tmp_path / "c.conll")
    assert (tmp_path / "c.conll").read_bytes() == b""


VOTES = "token\tpos\tann\tbob\tgold\nAnn\tN\tB\t?\tB\n\nleft\tV\tB|O\tO\tO\n\n"


def test_columns_of_votes(tmp_path: Path) -> None:
    path = save(tmp_path, VOTES, "a.conll")
    with pytest.raises(DataError, match="the first line looks like a header"):
        read(path)
    docs = read(path, "conll", votes="3:4", gold=True, header=True)
    assert said(docs) == [
        {"ann": ("B",), "gold": ("B",)},
        {"ann": (frozenset("BO"),), "bob": ("O",), "gold": ("O",)},
    ]
    losses = Losses(strict=True)
    options = Options(header=True, losses=losses)
    write_documents(docs, tmp_path / "b.conll", options=options)
    assert (tmp_path / "b.conll").read_text() == VOTES
    losses = Losses()
    write_documents(docs, tmp_path / "c.conll", options=Options(losses=losses))
    assert (tmp_path / "c.conll").read_text() == VOTES.partition("\n")[2]
    assert list(losses.counts) == [
        "name or kind of an annotator, which conll cannot hold"
    ]
    named = read(path, "conll", columns="token,-,vote,vote,gold", header=True)
    assert said(named) == said(docs) and named[0].rows == (("Ann",),)
    with pytest.raises(InputError, match="found both"):
        read(path, "conll", columns="token,-,vote,vote,gold", votes="3:4")


def test_columns_that_are_something_else(tmp_path: Path) -> None:
    """The documents come one by one, and the sentence at the end."""
    path = save(tmp_path, "1\tAnn\tO\n2\tleft\tO\n3\tus\tB\n", "a.conll")
    reader = read_documents(path)
    assert next(reader).tokens == ("1", "2", "3")
    with pytest.raises(DataError, match="counts the tokens"):
        next(reader)
    (one,) = read(save(tmp_path, "Ann\nleft\n", "b.conll"))
    assert one.tokens == ("Ann", "left") and one.layers == ()
    write_documents([one], tmp_path / "c.conll")
    assert (tmp_path / "c.conll").read_text() == "Ann\nleft\n\n"


KAGGLE = """\
Sentence #,Word,POS,Tag
Sentence: 1,"He, said",PRP,O
,New York,NNP,B-geo
Sentence: 2,Ann,NNP,
"""


def test_sentences_named_in_their_first_row(tmp_path: Path) -> None:
    docs = read(save(tmp_path, KAGGLE))
    assert [one.id for one in docs] == ["Sentence: 1", "Sentence: 2"]
    assert docs[0].rows == (("He, said", "PRP"), ("New York", "NNP"))
    assert said(docs) == [{"labels": ("O", "B-geo")}, {}]
    called = {"sentence": "Sentence #", "token": "Word", "label": "Tag"}
    assert docs[0].meta == {"csv": {"columns": ["POS"], "called": called}}
    write_documents(docs, tmp_path / "b.tsv", "csv")
    assert (tmp_path / "b.tsv").read_text().startswith("Sentence #\tWord\tPOS\tTag\n")
    assert detect(tmp_path / "b.tsv").name == "csv"
    assert read(tmp_path / "b.tsv") == docs


def test_blank_lines_end_sentences(tmp_path: Path) -> None:
    path = save(tmp_path, "word;label\na;O\n;\nb;O\n\n\nc;B\n", "a.csv")
    assert [one.tokens for one in read(path)] == [("a",), ("b",), ("c",)]
    named = read(path, columns="token,vote")
    assert said(named)[2] == {"label": ("B",)}
    chosen = read(path, votes="2")
    assert said(chosen) == said(named)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "found an empty file"),
        ("a,b\nc,d\n", 1, "expected a column named 'token'"),
        ("token,word\na,b\n", 1, "one column of each token"),
        ("token,label\n", None, "at least one token"),
        ("token,label\na\n", 2, "expected 2 cells"),
        ("\ntoken,label\na,O\n,O\n", 4, "expected a token"),
        ("token,label\na,B||O\n", 2, "an empty one"),
        ('token,label\n"a,O\n', 2, "bad row"),
        ("token,vote:a,vote:a\na,O,O\n", 1, "different names"),
    ],
)
def test_bad_tables(
    tmp_path: Path, content: str, line: int | None, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(save(tmp_path, content), "csv")
    assert caught.value.line == line


def test_columns_named_for_another_width(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="as many as were named"):
        read(save(tmp_path, KAGGLE), columns="token,label")


def rows_of(name: str, sentences: int, sign: str = ",") -> str:
    """A table of sentences of ten words, by a column that is called so."""
    rows = [f"{s}{sign}w{t}{sign}O" for s in range(sentences) for t in range(10)]
    return "\n".join([f"{name}{sign}word{sign}ann", *rows]) + "\n"


@pytest.mark.parametrize(
    "name",
    "Sentence#|sentence_idx|SentenceId|sent-no|seq_id|Satz|doc|docid|doc_no|article_id|"
    "filename|text_id".split("|"),
)
def test_names_that_columns_of_sentences_have(tmp_path: Path, name: str) -> None:
    docs = read(save(tmp_path, rows_of(name, 3)), votes="3")
    assert [len(one.tokens) for one in docs] == [10] * 3
    assert [one.id for one in docs] == ["0", "1", "2"]
    assert all(len(row) == 1 for one in docs for row in one.rows or ())


def test_a_table_that_nothing_divides_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, rows_of("Absatznr", 150))
    with pytest.raises(DataError, match="--columns sentence,word,vote ") as caught:
        read(path, votes="3")
    assert caught.value.line == 2
    assert len(read(path, columns="sentence,token,vote")) == 150
    with pytest.raises(DataError, match="found 1,000 rows without"):
        read(path, columns="-,token,vote")
    long = save(tmp_path, "doc;word\n" + "a;b\n" * 1200, "b.csv")
    losses = Losses()
    assert [len(one.tokens) for one in read(long, losses=losses)] == [1200]
    assert list(losses.counts) == ["sentence of 1,000 tokens or more; see --columns"]


@pytest.mark.parametrize("name", ["sentence", "sent_id", "document"])
def test_a_column_of_sentences_in_a_column_file(tmp_path: Path, name: str) -> None:
    path = save(tmp_path, rows_of("s", 30, "\t"), "a.tsv")
    named = {"columns": f"{name},token,vote", "header": True}
    docs = read(path, "conll", **named)
    start = int(name == "document")  # which names no sentence
    assert [one.id for one in docs] == [str(n + start) for n in range(30)]
    assert all(one.rows == tuple((f"w{t}",) for t in range(10)) for one in docs)
    columns = f"{name},token,label"
    assert tagsift.read(path, "conll", columns=columns, header=True).rows == [
        list(one.rows or ()) for one in docs
    ]
    twice = save(tmp_path, rows_of("s", 2, "\t") + rows_of("s", 2, "\t"), "c.tsv")
    told = {"columns": "sentence,token,-", "losses": Losses(strict=True)}
    ids = [one.id for one in read(twice, "conll", **told)]
    assert ids == ["s", "0", "1", "s~2", "0~2", "1~2"]
    save(tmp_path, rows_of(name, 30, "\t"), "b.tsv")
    with pytest.raises(DataError, match="say --header"):
        read(tmp_path / "b.tsv", "conll", columns=f"{name},token,vote")
