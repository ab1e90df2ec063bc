"""Which format a file has, the views of documents, and what comes back from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import DataError, InputError
from tagsift.io.formats import detect
from tests.io.formats.files import read, write

TEXT = "Ms. May left New York."
LOC, PER = Mark(13, 21, ("LOC",)), Mark(4, 7, ("PER",))


def save(folder: Path, name: str, *records: object) -> Path:
    path = folder / name
    text = "\n".join(json.dumps(record) for record in records)
    path.write_text(text, encoding="utf-8")
    return path


DOCCANO = {"text": TEXT, "label": [[4, 7, "PER"], [13, 21, "LOC"]]}


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", {"text": "a"}, "jsonl"),
        ("a.jsonl", DOCCANO, "doccano"),
        ("a", DOCCANO, "doccano"),
        ("a.jsonl", {"text": "a", "spans": [], "answer": "accept"}, "prodigy"),
        ("a.json", [{"data": {"text": "a"}, "annotations": []}], "label-studio"),
        ("a.json", [{"fields": {"text": "a"}, "responses": {}}], "argilla"),
        ("a.jsonl", {"text": "a", "extractions": []}, "llm"),
        ("a.jsonl", {"text": "a", "m": [{"label": "X", "quote": "a"}]}, "llm"),
    ],
)
def test_content_tells(tmp_path: Path, name: str, content: object, format: str) -> None:
    assert detect(save(tmp_path, name, content)).name == format


def test_a_long_first_record_tells_too(tmp_path: Path) -> None:
    task = {"data": {"text": "a"}, "annotations": [], "note": ["x" * 70_000]}
    assert detect(save(tmp_path, "a.json", [task])).name == "label-studio"
    results = [{"value": {"start": n, "end": n + 1}} for n in range(3000)]
    late = {"id": 1, "annotations": [{"result": results}], "data": {"text": "a"}}
    assert detect(save(tmp_path, "a.json", [late])).name == "label-studio"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.spam", {"spam": 1}, "neither its name nor its content"),
        ("a.jsonl", {"spam": 1}, "its content does not look like it"),
        ("a.jsonl", {"text": "a", "answer": "accept", "label": []}, "prodigy"),
    ],
)
def test_what_is_not_clear_is_asked(
    tmp_path: Path, name: str, content: object, message: str
) -> None:
    with pytest.raises(DataError, match="--from FORMAT") as caught:
        detect(save(tmp_path, name, content))
    assert message in str(caught.value)
    with pytest.raises(InputError, match="expected --from"):
        detect("-")
    with pytest.raises(
        InputError, match="there is no format 'wiki'; choose one of con"
    ):
        read(tmp_path / name, "wiki")


def test_where_to_write(tmp_path: Path) -> None:
    documents = [Document("1", TEXT, layers=(Layer("ann", marks=(LOC,)),))]
    with pytest.raises(InputError, match="expected --to with the format to write"):
        write(documents, tmp_path / "a.json")
    with pytest.raises(InputError, match="is read only"):
        write(documents, tmp_path / "a.jsonl", "llm")
    write(documents, tmp_path / "a.json", "label-studio")
    again = read(tmp_path / "a.json")
    write(again, tmp_path / "b.json")  # as they came
    assert detect(tmp_path / "b.json").name == "label-studio"
    assert again == documents


def test_documents_of_the_same_id_and_text_are_one(tmp_path: Path) -> None:
    one = {"id": 1, "text": TEXT, "answer": "accept", "_annotator_id": "ann"}
    path = save(
        tmp_path, "a.jsonl", one, {**one, "id": 2}, {**one, "_annotator_id": "bob"}
    )
    documents = read(path)
    assert [len(d.layers) for d in documents] == [2, 1]


def test_more_annotators_from_other_files(tmp_path: Path) -> None:
    people = save(tmp_path, "a.jsonl", DOCCANO, {"text": "May fell", "label": []})
    models = save(
        tmp_path,
        "b.jsonl",
        {"id": "z", "text": TEXT, "models": {"m": [], "doccano": []}},
        {"id": "y", "text": "other", "models": {"m": []}},
    )
    documents = read([people, models])
    assert [d.id for d in documents] == ["1", "2", "y"]
    assert [layer.annotator for layer in documents[0].layers] == ["a", "m", "b"]
