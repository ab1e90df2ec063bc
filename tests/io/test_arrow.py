"""Documents as Arrow tables: nothing is lost, and simple tables are read."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given, settings

import tagsift
from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import InputError, MissingExtraError
from tagsift.io.arrow import arrow_schema, arrow_table, iter_arrow
from tests.io.formats.files import read
from tests.io.formats.strategies import marked, tagged
from tests.io.frames import from_pandas, to_pandas

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow (extra arrow)")

TEXT = "Zoë 👩🏽‍🔬 saw Łódź.\r\nשלום\t東京"
FULL = Document(
    "a/1",
    TEXT,
    (("Zoë", "NNP"), ("saw", "VBD"), ("Łódź", "NNP")),
    ((0, 3), (9, 12), (13, 17)),
    (0, 2, 3),
    (
        Layer("ann", marks=(Mark(0, 3, ("PER", "ORG"), 0.5, meta={"id": "T1"}),)),
        Layer("bob", marks=()),
        Layer("ann", marks=(Mark(0, 17, ("X",), pieces=((0, 3), (13, 17))),)),
        Layer(
            "m-1",
            "model",
            tags=("B-PER", None, frozenset({"B-LOC", "O"})),
            scheme="iob2",
            scores=(0.9, None, 0.4),
            meta={"version": [1, {"a": None}]},
        ),
        Layer("truth", "gold", tags=("B-PER", "O", "B-LOC")),
    ),
    {"source": {"page": 3}, "ü": "ä"},
)
BARE = Document("b", "only text")
WORDS = Document("c", None, (("one",), ("two",)))
EMPTY = Document("d", "", (), (), (0,))


def test_the_table_holds_everything():
    documents = [FULL, BARE, WORDS, EMPTY]
    table = arrow_table(documents)
    assert table.schema == arrow_schema()
    assert list(iter_arrow(table)) == documents
    assert arrow_table(iter_arrow(table)) == table


@settings(max_examples=60)
@given(tagged() | marked())
def test_any_document_comes_back(drawn):
    made, _ = drawn
    assert list(iter_arrow(arrow_table(made))) == made
    pytest.importorskip("pandas", reason="frames need pandas (extra pandas)")
    assert list(from_pandas(to_pandas(made))) == made


def test_the_table_of_nothing_has_the_columns():
    table = arrow_table([])
    assert table.schema == arrow_schema()
    assert list(iter_arrow(table)) == []


def test_what_is_plain_is_read_without_python_types():
    row = arrow_table([FULL]).to_pylist()[0]
    assert row["tokens"] == ["Zoë", "saw", "Łódź"]
    assert row["offsets"][2] == {"start": 13, "end": 17}
    assert [(s["label"], s["annotator"]) for s in row["spans"]] == [
        ("PER", "ann"),
        ("X", "ann"),
    ]
    assert row["tags"][1]["labels"] == ["B-PER", "O", "B-LOC"]
    assert json.loads(row["meta"]) == FULL.meta
    assert TEXT[slice(*row["offsets"][2].values())] == "Łódź"


def test_a_file_of_documents_holds_everything(tmp_path):
    documents = [FULL, BARE, WORDS, EMPTY]
    path = tmp_path / "documents.parquet"
    losses = tagsift.write(documents, path, to="hf", shape="documents")
    assert not losses.counts
    assert list(read(path)) == documents
    many = [Document(str(n), str(n**99)) for n in range(2000)]
    tagsift.write(many, path, to="hf", shape="documents")
    assert path.stat().st_size > 3 << 16  # its head does not show the columns
    assert list(read(path)) == many


def test_streams_and_batches_are_read():
    table = arrow_table([FULL, BARE])
    assert list(iter_arrow(table.to_reader())) == [FULL, BARE]
    assert list(iter_arrow(table.to_batches()[0])) == [FULL, BARE]


def test_the_order_of_fields_says_nothing():
    record = {"text": "ab", "tokens": ["ab"], "offsets": [{"end": 2, "start": 0}]}
    assert next(iter_arrow(pa.Table.from_pylist([record]))).offsets == ((0, 2),)


def test_simple_tables_are_read():
    table = pa.table({"text": ["a b", "c"], "page": [1, 2]})
    assert list(iter_arrow(table)) == [
        Document("0", "a b", meta={"page": 1}),
        Document("1", "c", meta={"page": 2}),
    ]
    (document,) = iter_arrow(pa.table({"tokens": [["a", "b"]], "tags": [["X", None]]}))
    assert document.tokens == ("a", "b")
    assert document.layers == (Layer("annotator", tags=("X", None)),)
    span = {"start": 0, "end": 1, "label": "X"}
    spans = [[span | {"annotator": "ann"}, span | {"annotator": "bob"}]]
    (document,) = iter_arrow(pa.table({"text": ["a b"], "spans": spans}))
    assert document.layers == (
        Layer("ann", marks=(Mark(0, 1, ("X",)),)),
        Layer("bob", marks=(Mark(0, 1, ("X",)),)),
    )


def test_tables_that_a_model_tagged_are_documents():
    corpus = tagsift.bundled("ner").with_columns(1)
    model = tagsift.make("partial-crf").fit(corpus.tokens[:40], corpus.labels[:40])
    text = "Denver held Phoenix on Tuesday. Mark May said so."
    table = tagsift.tag_table(model, pa.table({"id": ["a"], "text": [text]}))
    (document,) = iter_arrow(table)
    (expected,) = model.tag([Document("a", text)])
    assert document.spans == expected.spans
    assert document.layers[0].kind == "model"
    assert document.meta == {}
    (mine,) = iter_arrow(pa.table({"tokens": [["a"]], "labels": [["X"]]}))
    assert mine.layers == (Layer("annotator", tags=("X",)),)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"page": [1]}, "expected 'text' or 'tokens', found page"),
        ({"text": ["a"], "spans": [[{"start": 0}]]}, "expected the columns"),
        ({"text": ["a"], "meta": ["[1]"]}, "JSON object"),
        ({"text": ["a"], "meta": ["{"]}, "row 0"),
        ({"tokens": [["a", "b"]], "columns": [[["X"]]]}, "row 0"),
        ({"text": ["a"], "offsets": [[1, 2]]}, "row 0"),
        ({"text": [7]}, "text: expected a text, found a whole number"),
        ({"tokens": [["a", None]]}, r"tokens\[1\]: expected a word"),
        ({"tokens": [[1]]}, r"tokens\[0\]: expected a word"),
        ({"tokens": ["ab"]}, "a string of tokens"),
        ({"tokens": [["a"]], "tags": [["X", "Y"]]}, "each of the 1 tokens, found 2"),
        ({"text": ["a"], "tags": [["X"]]}, "each of the 0 tokens"),
        ({"tokens": [["a"]], "sentences": [[0, 9]]}, "numbers of tokens.*from 0 to 1"),
        ({"tokens": [["a"]], "sentences": [[1, 0]]}, "numbers of tokens"),
        (
            {"text": ["a"], "tokens": [["a"]], "offsets": [[{"start": 0, "end": 5}]]},
            "in order, in 1 characters",
        ),
        (
            {"text": ["a"], "spans": [[{"start": -1, "end": 1, "label": "X"}]]},
            "found -1:1",
        ),
        (
            {"text": ["a"], "spans": [[{"start": 0, "end": 2**40, "label": "X"}]]},
            "1 characters of text, found 0:",
        ),
    ],
)
def test_other_tables_are_refused(columns, said):
    with pytest.raises(InputError, match=said):
        list(iter_arrow(pa.table(columns)))


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="found list"):
        list(iter_arrow([{"text": "a"}]))


def test_metadata_that_json_cannot_hold_are_refused():
    with pytest.raises(InputError, match="document 'b'.*JSON"):
        arrow_table([Document("b", "t", meta={"when": object()})])


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[arrow\]'"):
        arrow_table([])
