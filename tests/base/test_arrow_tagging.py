import pytest

import tagsift
from tagsift.errors import InputError
from tests.base.test_tagging import LABELS, TEXTS

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def model():
    return tagsift.make("partial-crf").fit(TEXTS * 3, LABELS * 3)


RAW = ["Ann lives in Rome. Bob left.", None, "", "\U0001f469\u200d\U0001f467 Bob Ross"]


def test_a_table_of_texts(model):
    table = pa.table({"id": [7, 8, 9, 10], "text": RAW})
    found = tagsift.tag_table(model, table)
    assert found.column_names == [
        "id", "text", "tokens", "offsets",
        "sentences", "labels", "confidences", "spans",
    ]  # fmt: skip
    assert found.select(["id", "text"]) == table
    rows = found.to_pylist()
    for row in rows:
        if row["text"] is None:
            assert row["labels"] is row["spans"] is row["tokens"] is None
            continue
        document = model.tag(row["text"])
        assert tuple(row["tokens"]) == document.tokens
        assert tuple(row["labels"]) == document.layers[-1].tags
        assert row["confidences"] == pytest.approx(document.layers[-1].scores)
        assert tuple(row["sentences"]) == document.sentences
        for span, mark in zip(row["spans"], document.spans, strict=True):
            assert (span["start"], span["end"]) == (mark.start, mark.end)
            words = row["tokens"][span["first"] : span["last"]]
            assert " ".join(words) == row["text"][mark.start : mark.end]
    assert rows[2]["labels"] == []


def test_a_table_of_tokens(model):
    table = pa.table({"words": [*TEXTS, None, []]})
    found = tagsift.tag_table(model, table, tokens="words").to_pylist()
    assert [row["labels"] for row in found[:2]] == model.predict(TEXTS)
    assert found[2]["labels"] is None and found[3]["labels"] == []
    last = found[1]["spans"][0]
    assert (last["first"], last["last"], last["start"], last["end"]) == (0, 2, 0, 8)


def test_tokens_with_columns():
    rows = [[[w, "X"] for w in s] for s in TEXTS]
    pairs = [[tuple(row) for row in s] for s in rows]
    model = tagsift.make("partial-crf").fit(pairs, LABELS)
    found = tagsift.tag_table(model, pa.table({"tokens": rows}))
    assert found["labels"].to_pylist() == model.predict(pairs)
    with pytest.raises(InputError, match="2 columns that the model was trained on"):
        tagsift.tag_table(model, pa.table({"tokens": TEXTS}))


def test_other_shapes_of_tables(model):
    table = pa.table({"text": RAW * 600})
    whole = tagsift.tag_table(model, table)
    (batch,) = table.combine_chunks().to_batches()
    tagged = tagsift.tag_table(model, batch)
    assert isinstance(tagged, pa.RecordBatch)
    assert tagged["labels"].to_pylist() == whole["labels"].to_pylist()
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(7))
    assert tagsift.tag_table(model, stream).num_rows == 2400
    packed = pa.table({"text": table["text"].combine_chunks().dictionary_encode()})
    assert tagsift.tag_table(model, packed)["spans"] == whole["spans"]
    for empty in (table[:0], table[:0].to_batches() or [batch.slice(0, 0)]):
        given = empty[0] if isinstance(empty, list) else empty
        found = tagsift.tag_table(model, given)
        assert found.num_rows == 0 and found.schema == whole.schema


def test_what_cannot_be_tagged(model):
    for table, words in (
        (pa.table({"a": ["x"]}), "expected one column 'text or tokens'"),
        (pa.table({"text": [1]}), "to hold texts or tokens, found int64"),
        (pa.table({"text": ["a"], "labels": [1]}), "column 'labels' already"),
        (pa.table({"tokens": [["a", None]]}), "row 0: expected tokens as strings"),
        ([1], "expected an Arrow table or stream, found list"),
    ):
        with pytest.raises(InputError, match=words):
            tagsift.tag_table(model, table)
    both = pa.table({"text": ["a"], "tokens": [["a"]]})
    with pytest.raises(InputError, match="'tokens' already"):
        tagsift.tag_table(model, both)
    with pytest.raises(InputError, match="name one column"):
        tagsift.tag_table(model, both, text="text", tokens="tokens")
    assert "new_tokens" in tagsift.tag_table(model, both, prefix="new_").column_names
