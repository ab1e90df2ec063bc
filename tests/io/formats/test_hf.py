"""Hugging Face's files: made by datasets and pyarrow, and read by datasets again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tagsift.data.documents import Document, Layer
from tagsift.data.lossy import Losses
from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.io.formats import Options, detect, read_documents, write_documents

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
ROWS: dict[str, list[Any]] = {
    "id": ["a", "b", "c"],
    "tokens": [["Ann", "Lee", "left"], ["in", "Köln"], []],
    "pos_tags": [[0, 0, 1], [1, 0], []],
    "ner_tags": [[1, 2, -100], [0, 3], []],
    "year": [1999, 2001, None],
}
FOUND = [("B-PER", "I-PER", None), ("O", "B-LOC"), ()]


def read(path: Path, name: str | None = None, **told: Any) -> list[Document]:
    return list(read_documents(path, name, Options(**told)))


def said(documents: list[Document]) -> list[Any]:
    return [one.layers[0].tags for one in documents]


@pytest.fixture
def dataset() -> Any:
    datasets = pytest.importorskip("datasets", reason="the extra hf")
    tags = datasets.ClassLabel(names=NAMES)
    pos = datasets.ClassLabel(names=["N", "V"])
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "tokens": datasets.Sequence(datasets.Value("string")),
            "pos_tags": datasets.Sequence(pos),
            "ner_tags": datasets.Sequence(tags),
            "year": datasets.Value("int32"),
        }
    )
    return datasets.Dataset.from_dict(ROWS, features=features)


@pytest.mark.parametrize("form", ["parquet", "disk", "splits", "jsonl"])
def test_what_datasets_made(dataset: Any, tmp_path: Path, form: str) -> None:
    import datasets

    path, told = tmp_path / "d", {}
    if form == "parquet":
        path = tmp_path / "d.parquet"
        dataset.to_parquet(path)
    elif form == "disk":
        dataset.save_to_disk(path, num_shards=2)
    elif form == "splits":
        datasets.DatasetDict(
            {"train": dataset.select([0, 1]), "test": dataset.select([2])}
        ).save_to_disk(path)
    else:
        path, told = tmp_path / "d.jsonl", {"labels": NAMES}
        dataset.to_json(path)
    assert detect(path).name == "hf"
    docs = read(path, **told)
    assert [one.id for one in docs] == ["a", "b", "c"]
    assert [list(one.tokens) for one in docs] == ROWS["tokens"]
    assert said(docs) == FOUND
    meta: dict[str, Any] = {"pos_tags": ["N", "N", "V"], "year": 1999}
    if form == "jsonl":
        meta["pos_tags"] = [0, 0, 1]
    elif form == "splits":
        meta["split"] = "train"
    assert docs[0].meta == meta and "year" not in docs[2].meta
    if form == "parquet":
        wide = read(path, columns="tokens,pos_tags")
        assert wide[0].rows == (("Ann", "N"), ("Lee", "N"), ("left", "V"))
        other = read(path, label_key="pos_tags")
        assert said(other)[0] == ("N", "N", "V")


def test_datasets_reads_what_we_write(dataset: Any, tmp_path: Path) -> None:
    import datasets

    dataset.to_parquet(tmp_path / "a.parquet")
    docs = read(tmp_path / "a.parquet")
    options = Options(losses=Losses(strict=True), labels=NAMES)
    write_documents(docs, tmp_path / "b.parquet", "hf", options)
    assert read(tmp_path / "b.parquet") == docs
    again = datasets.Dataset.from_parquet(
        str(tmp_path / "b.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert again.features["ner_tags"].feature.names == NAMES
    assert again["ner_tags"][:] == ROWS["ner_tags"]
    assert again["year"][:] == ROWS["year"]
    write_documents(docs, tmp_path / "c.jsonl", "hf")
    lines = datasets.Dataset.from_json(
        str(tmp_path / "c.jsonl"), cache_dir=str(tmp_path / "cache")
    )
    assert lines["ner_tags"][0] == ["B-PER", "I-PER", None]


def test_metadata_of_mixed_kinds_and_labels_that_nobody_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra arrow")
    layers = (Layer("m", "model", tags=("B-X",), scores=(0.5,)),)
    meta = {"a": [1.5, 2], "b": {"c": [1, "x"]}, "d": None, "e": True}
    document = Document("1", rows=(("x",),), layers=layers, meta=meta)
    for name in ("a.jsonl", "a.parquet"):
        losses = Losses()
        write_documents([document], tmp_path / name, "hf", Options(losses=losses))
        (one,) = read(tmp_path / name, "hf")
        assert one.layers == layers and "d" not in one.meta
        if name == "a.jsonl":
            assert one.meta == {k: v for k, v in meta.items() if k != "d"}
            assert not losses.counts
        else:
            assert one.meta["b"] == json.dumps(meta["b"])
            assert list(losses.counts) == ["metadata of mixed kinds, now JSON text"]
    with pytest.raises(InputError, match="add it to labels="):
        options = Options(labels=["O"])
        write_documents([document], tmp_path / "b.parquet", "hf", options)
    assert not (tmp_path / "b.parquet").exists()


def test_candidates_and_odd_metadata_are_counted(tmp_path: Path) -> None:
    losses = Losses()
    both = frozenset({"A", "B"})
    document = Document(
        "1",
        rows=(("x", "N"),),
        layers=(Layer("labels", tags=(both,)), Layer("ann", tags=("A",))),
        meta={"ner_tags": 3, "conll": {"columns": ["pos"]}},
    )
    write_documents([document], tmp_path / "a.jsonl", "hf", Options(losses=losses))
    assert len(losses.counts) == 2
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {
        "id": "1",
        "tokens": ["x"],
        "vote:labels": [None],
        "vote:ann": ["A"],
        "pos": ["N"],
    }


@pytest.mark.parametrize(
    ("record", "told", "message"),
    [
        ({"words": ["a"], "x_tags": [0]}, {}, "--labels"),
        ({"tokens": ["a"], "ner_tags": [5]}, {"labels": ["O"]}, "number of a label"),
        ({"tokens": ["a"], "ner_tags": []}, {}, "a tag for each of the 1 tokens"),
        ({"tokens": ["a"], "x_tags": ["O"], "y_tags": ["O"]}, {}, "--label-key"),
        ({"tokens": [1], "ner_tags": ["O"]}, {}, r"tokens\[0\]: expected a text"),
        ({"ner_tags": ["O"]}, {}, "expected 'tokens'"),
        ({"tokens": ["a"], "text": "a", "offsets": [[0, 9]]}, {}, "in 1 char"),
        ({"tokens": ["a"], "text": "a", "offsets": [0]}, {}, "two whole numbers"),
        ({"tokens": ["a"], "sentences": [1]}, {}, "in order from 0 to 1"),
        (
            {"tokens": ["a"], "ner_tags": ["O"], "scores": []},
            {},
            "a score for every tag",
        ),
        ({"tokens": ["a"]}, {"label_key": "x"}, "expected 'x'"),
        ({"tokens": ["a"], "id": []}, {}, "a name or a number"),
    ],
)
def test_bad_rows(
    tmp_path: Path, record: dict[str, Any], told: dict[str, Any], message: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match=message):
        read(path, "hf", **told)


def test_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="the extra arrow")
    for name in ("a.parquet", "a.arrow"):
        for content in (b"", b"PAR1", b"PAR1" + b"\0" * 90 + b"PAR1", b"ARROW1", b"x",
                        b"PAR1" + b"\x0f" * 64 + b"\x10\0\0\0PAR1"):  # fmt: skip
            (tmp_path / name).write_bytes(content)
            with pytest.raises(DataError, match=name) as caught:
                read(tmp_path / name, "hf")
            assert "\n" not in str(caught.value)
    for name, content in (
        ("state.json", "{}"),
        ("state.json", '{"_data_files": [{"filename": "../a.parquet"}]}'),
        ("state.json", '{"_data_files": [1]}'),
        ("dataset_dict.json", '{"splits": [".."]}'),
        ("dataset_dict.json", '{"splits": ["train"]}'),
    ):
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(content)
        with pytest.raises(DataError, match="data"):
            read(folder, "hf")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[arrow\]'"):
        read(tmp_path / "a.parquet", "hf")
