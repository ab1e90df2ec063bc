"""Hugging Face datasets, made and read by the real package."""

from __future__ import annotations

import sys

import pytest

import tagsift
from tagsift import cli
from tagsift.data.documents import Document
from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.io import to_table
from tagsift.io.formats import CorpusInfo, Options
from tagsift.io.tables import table_documents
from tests.io.formats.files import read
from tests.io.test_arrow import BARE, EMPTY, FULL, WORDS

datasets = pytest.importorskip("datasets", reason="needs datasets (extra hf)")

CORPUS = tagsift.bundled("ner").with_columns(1)[:30]


def from_dataset(dataset, **options):
    return list(table_documents(dataset, Options.of(options)))


def to_dataset(documents, **options):
    if isinstance(documents, tagsift.Corpus):
        return documents.to("datasets", **options)
    return to_table("datasets", documents, CorpusInfo(), **options)


def test_a_dataset_holds_everything(tmp_path):
    documents = [FULL, BARE, WORDS, EMPTY]
    made = to_dataset(documents)
    assert list(from_dataset(made)) == documents
    made.save_to_disk(tmp_path / "saved")
    assert list(from_dataset(datasets.load_from_disk(tmp_path / "saved"))) == documents
    made.to_parquet(tmp_path / "a.parquet")
    again = datasets.Dataset.from_parquet(
        str(tmp_path / "a.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert list(from_dataset(again)) == documents
    assert list(read(tmp_path / "a.parquet")) == documents
    assert list(read(tmp_path / "saved")) == documents
    assert list(from_dataset(made.select([1, 0]))) == [BARE, FULL]


def test_a_row_is_a_sentence_with_numbers():
    partial = tagsift.corrupt(CORPUS, cl=2, p=0.5, random_state=0)
    made = to_dataset(partial, rows="sentences")
    names = made.features["ner_tags"].feature.names
    assert names[0] == "O" and set(names) == set(partial.label_set.names)
    for row, sets in zip(made, partial.candidates, strict=True):
        for tag, names_of in zip(row["ner_tags"], sets, strict=True):
            assert {names[tag]} == names_of if tag >= 0 else len(names_of) > 1
    again = from_dataset(made)
    assert [document.tokens for document in again] == [tuple(t) for t in CORPUS.tokens]
    exact = [[len(names) == 1 for names in sets] for sets in partial.candidates]
    for document, known in zip(again, exact, strict=True):
        (layer,) = document.layers
        assert [tag is not None for tag in layer.tags] == known


def test_labels_come_back(tmp_path):
    made = to_dataset(CORPUS, rows="sentences")
    assert tagsift.read(made).labels == CORPUS.labels
    truth = tagsift.corrupt(CORPUS, cl=2, p=0.5, random_state=0)
    gold = [replace_layers(d) for d in from_dataset(to_dataset(truth))]
    assert tagsift.read(to_dataset(gold, rows="sentences")).labels == CORPUS.labels


def replace_layers(document: Document) -> Document:
    kept = tuple(layer for layer in document.layers if layer.kind == "gold")
    return Document(document.id, rows=document.rows, layers=kept)


def test_sentences_of_a_document_have_ids():
    made = to_dataset([FULL], rows="sentences", layer="bob")
    assert made["id"][:] == ["a/1-0", "a/1-1"]
    assert made["tokens"][:] == [["Zoë", "saw"], ["Łódź"]]


def test_rows_of_labels_found_are_those_of_the_command_line(tmp_path):
    """Where annotators disagree, the labels found are what is trained on."""
    votes = tagsift.data.simulate_votes(tagsift.bundled("ner")[:12])
    export = tmp_path / "export.json"
    tagsift.write(votes, export, "label-studio")
    cleaned = tagsift.clean(tagsift.read(export), tagsift.make("dawid-skene"))
    wanted = cleaned.sentences
    made = cleaned.to("datasets", soft=True)
    assert [len(row) for row in made["soft_labels"]] == list(map(len, wanted))
    out, lines = tmp_path / "train.parquet", tmp_path / "found.jsonl"
    options = ["--to", "hf", "--shape", "sentences"]
    clean = ["clean", str(export), "-m", "dawid-skene", "-q", "-o"]
    assert cli.main([*clean, str(out), *options]) == 0
    assert cli.main([*clean, str(lines), "--to", "jsonl"]) == 0
    again = tmp_path / "again.parquet"
    assert cli.main(["convert", str(lines), str(again), *options]) == 0
    for path in (None, out, again):
        rows = made
        if path is not None:
            folder = str(tmp_path / path.stem)
            rows = datasets.Dataset.from_parquet(str(path), cache_dir=folder)
        names = rows.features["ner_tags"].feature.names
        assert [[names[k] for k in row] for row in rows["ner_tags"]] == wanted


def test_several_annotators_are_asked_for(tmp_path, capsys):
    first, second = "ann", "bob"
    votes = tagsift.Corpus.from_lists(
        [["Ann", "ran"]],
        votes={first: [["B-X", "O"]], second: [["O", "O"]]},
        gold=[["B-X", "O"]],
    )
    path, out = tmp_path / "votes.jsonl", tmp_path / "rows.jsonl"
    tagsift.write(votes, path)
    with pytest.raises(InputError, match=f"{first}, {second}; say whose with --layer"):
        to_dataset(votes, rows="sentences")
    options = ["convert", str(path), str(out), "--to", "hf", "--shape", "sentences"]
    assert cli.main(options) == 2
    assert f"{first}, {second}; say whose" in capsys.readouterr().err
    assert not out.exists()
    made = to_dataset(votes, rows="sentences", layer=second)
    names = made.features["ner_tags"].feature.names
    tags = [[names[k] for k in row] for row in made["ner_tags"]]
    assert cli.main([*options, "--layer", second]) == 0
    assert [one.layers[0].tags for one in read(out, "hf")] == list(map(tuple, tags))
    with pytest.raises(InputError, match=f"{first}, {second}, gold, found 'eve'"):
        to_dataset(votes, rows="sentences", layer="eve")


def test_columns_of_several_annotators():
    rows = {"tokens": [["Ann", "ran"]], "a1": [["B-X", "O"]], "a2": [["O", "O"]]}
    made = datasets.Dataset.from_dict(rows)
    votes = tagsift.read(made, label_key=["a1", "a2"])
    assert votes[0].votes == {"a1": ["B-X", "O"], "a2": ["O", "O"]}
    with pytest.raises(DataError, match="expected 'a3'"):
        from_dataset(made, label_key=["a1", "a3"])
    with pytest.raises(InputError, match="names of columns"):
        from_dataset(made, label_key=["a1", 2])


@pytest.mark.parametrize("streamed", [False, True])
def test_datasets_of_others_are_read(streamed):
    label = datasets.ClassLabel(names=["O", "B-PER"])
    features = datasets.Features(
        {
            "id": datasets.Value("int64"),
            "tokens": datasets.Sequence(datasets.Value("string")),
            "pos_tags": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(label),
            "url": datasets.Value("string"),
        }
    )
    rows = {
        "id": [7, 8],
        "tokens": [["Ann", "ran"], []],
        "pos_tags": [["N", "V"], []],
        "ner_tags": [[1, 0], []],
        "url": ["a", "b"],
    }
    made = datasets.Dataset.from_dict(rows, features=features)
    if streamed:
        made = made.to_iterable_dataset()
    with pytest.raises(DataError, match="found pos_tags, chunk_tags; say which"):
        from_dataset(made.rename_column("ner_tags", "chunk_tags"))
    first, second = from_dataset(made)
    assert first.id == "7" and first.tokens == ("Ann", "ran")
    assert first.layers[0].tags == ("B-PER", "O")
    assert first.meta == {"pos_tags": ["N", "V"], "url": "a"}
    assert second.tokens == ()
    assert from_dataset(made, label_key="pos_tags")[0].layers[0].tags == ("N", "V")


def test_numbers_need_names():
    made = datasets.Dataset.from_dict({"tokens": [["a", "b"]], "t": [[1, -100]]})
    (document,) = from_dataset(made)
    assert document.layers == () and document.meta == {"t": [1, -100]}
    (document,) = from_dataset(made, label_key="t", labels=["O", "X"])
    assert document.layers[0].tags == ("X", None)
    with pytest.raises(DataError, match=r"row 0.*labels="):
        from_dataset(made, label_key="t")
    with pytest.raises(DataError, match="number of a label, found 1"):
        from_dataset(made, label_key="t", labels=["O"])


def test_text_is_enough():
    made = datasets.Dataset.from_dict({"text": ["a b", "c"]})
    assert [document.text for document in from_dataset(made)] == ["a b", "c"]
    assert list(from_dataset(made.select([]))) == []


def test_other_things_are_refused(monkeypatch):
    made = datasets.Dataset.from_dict({"a": [1]})
    with pytest.raises(InputError, match="'tokens' or 'text', found a"):
        from_dataset(made)
    with pytest.raises(InputError, match="found train, test; choose one"):
        from_dataset(datasets.DatasetDict(train=made, test=made))
    with pytest.raises(InputError, match="found list"):
        from_dataset([{"text": "a"}])
    with pytest.raises(DataError, match="'x'"):
        from_dataset(datasets.Dataset.from_dict({"tokens": [["a"]]}), label_key="x")
    with pytest.raises(InputError, match="documents or sentences"):
        to_dataset([BARE], rows="tokens")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[hf\]'"):
        to_dataset([BARE])
