"""doccano, Prodigy, Argilla and language models, in the shapes that they document."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import DataError, InputError
from tests.io.formats.files import found_in, read, write

TEXT = "Ms. May left New York."


def save(path: Path, *records: Any) -> Path:
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text(text, encoding="utf-8")
    return path


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


ENTITY = {"id": 7, "label": "PER", "start_offset": 4, "end_offset": 7}


@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "text": TEXT, "label": [[4, 7, "PER"]], "Comments": [], "by": "x"},
        {"id": 1, "text": TEXT, "labels": [[4, 7, "PER"]]},
        {"id": 1, "text": TEXT, "entities": [ENTITY], "relations": [{"id": 0}]},
        {"id": 1, "data": TEXT, "label": [[4, 7, "PER"]]},
        {"id": 1, "text": TEXT, "label": []},
    ],
)
def test_doccano_comes_back_as_it_was(tmp_path: Path, record: dict[str, Any]) -> None:
    documents = read(save(tmp_path / "a.jsonl", record))
    write(documents, tmp_path / "b.jsonl")
    assert lines(tmp_path / "b.jsonl") == [record]
    write(documents, tmp_path / "c.jsonl", "doccano", shape="entities")
    (other,) = read(tmp_path / "c.jsonl")
    assert [m.labels for m in other.layers[0].marks] == [
        m.labels for m in documents[0].layers[0].marks
    ]


@pytest.mark.parametrize("packed", [False, True])
def test_doccano_has_a_file_a_user(tmp_path: Path, packed: bool) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    one, two = {"id": 1, "text": TEXT}, {"id": 2, "text": "May fell"}
    save(folder / "ann.jsonl", one | {"label": [[4, 7, "PER"]]}, two | {"label": []})
    save(folder / "bob.jsonl", two | {"label": [[0, 3, "PER"]]})
    path = folder
    if packed:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as target:
            for file in folder.iterdir():
                target.write(file, f"../{file.name}")
    documents = read(path)
    said = {d.id: [layer.annotator for layer in d.layers] for d in documents}
    assert said == {"1": ["ann"], "2": ["ann", "bob"]}
    out = tmp_path / ("out.zip" if packed else "out")
    write(documents, out, "doccano")
    again = read(out)
    assert sorted(again, key=lambda d: d.id) == sorted(documents, key=lambda d: d.id)
    if packed:
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(DataError, match="expected a zip file"):
            read(path, "doccano")
    else:
        with pytest.raises(DataError, match="a new or an empty folder"):
            write(documents, out, "doccano")


def test_names_of_users_stay_in_the_folder(tmp_path: Path) -> None:
    layers = (Layer("../../etc", marks=()), Layer(".._.._etc", marks=()))
    write([Document("1", "a", layers=layers)], tmp_path / "out", "doccano")
    assert [one.parent for one in tmp_path.rglob("*.jsonl")] == [tmp_path / "out"] * 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"label": []}, "expected 'text' with a text, found label"),
        ({"text": "a", "entities": 3}, "entities: expected a list, found a whole"),
        ({"text": "a", "entities": [3]}, r"entities\[0\]: expected a span of two"),
        ({"text": "a b", "label": [[0, 1]]}, "a span of two numbers and a label"),
        ({"text": "a b", "label": [["0", 1, "X"]]}, "two whole numbers as offsets"),
        ({"text": "a b", "label": [[0, 1, ""]]}, "the name of a label"),
        (
            {"text": "a b", "label": [[0, 9, "X"]]},
            r"label\[0\]: .*found 0:9; see --off",
        ),
        ({"text": "a b", "label": [[2, 1, "X"]]}, "found 2:1"),
        ({"text": "a b", "label": [[0, True, "X"]]}, "two whole numbers"),
    ],
)
def test_refused_doccano(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    path = save(tmp_path / "a.jsonl", {"text": "fine", "label": []}, record)
    with pytest.raises(DataError, match=message) as caught:
        read(path, "doccano")
    assert (caught.value.line, caught.value.path) == (2, str(path))
    with pytest.raises(InputError, match="expected the shape label"):
        write([], tmp_path / "b.jsonl", "doccano", shape="x")


def token(number: int, text: str, start: int, ws: bool = True) -> dict[str, Any]:
    end = start + len(text)
    return {"text": text, "start": start, "end": end, "id": number, "ws": ws}


#: As `prodigy db-out` gives it after ner.manual.
PRODIGY = {
    "text": "May left York.",
    "_input_hash": -1234,
    "_task_hash": 99,
    "tokens": [
        token(0, "May", 0),
        token(1, "left", 4),
        {**token(2, "York", 9, False), "disabled": True},
        token(3, ".", 13, False),
    ],
    "_session_id": "ner-ann",
    "_view_id": "ner_manual",
    "spans": [
        {"start": 9, "end": 13, "token_start": 2, "token_end": 2, "label": "LOC"}
    ],
    "answer": "accept",
    "_timestamp": 1700000000,
    "meta": {"source": "x"},
}


def test_prodigy_comes_back_as_it_was(tmp_path: Path) -> None:
    records = [
        {**PRODIGY, "_annotator_id": "ann"},
        {**PRODIGY, "_session_id": "ner-bob", "spans": []},
        {**PRODIGY, "_session_id": "ner-eve", "answer": "reject"},
        {**PRODIGY, "_session_id": "ner-joe", "answer": "ignore", "spans": []},
        {"text": "May fell", "meta": {"n": 1}},
        {"text": "x", "spans": [{"start": 0, "end": 1, "label": "A", "score": 0.5}]},
    ]
    documents = read(save(tmp_path / "a.jsonl", *records))
    first, second, third = documents
    assert first.id == "-1234" and first.meta["source"] == "x"
    assert [layer.annotator for layer in first.layers] == ["ann", "ner-bob"]
    assert third.layers[0].kind == "model"
    assert third.layers[0].marks == (Mark(0, 1, ("A",), 0.5),)
    assert documents.losses.counts == {
        "answer reject, no vote": 1,
        "answer ignore, no vote": 1,
    }
    write(documents, tmp_path / "b.jsonl", "prodigy")
    assert lines(tmp_path / "b.jsonl") == records


def test_prodigy_counts_tokens_with_their_last(tmp_path: Path) -> None:
    span = {"token_start": 0, "token_end": 2, "label": "X"}
    path = save(tmp_path / "a.jsonl", {**PRODIGY, "spans": [span]})
    (mark,) = read(path)[0].layers[0].marks
    assert (mark.start, mark.end) == (0, 13)
    bad = save(tmp_path / "b.jsonl", {**PRODIGY, "spans": [{**span, "token_end": 4}]})
    with pytest.raises(DataError, match=r"spans\[0\]: expected tokens among the 4"):
        read(bad)


SPANS = [{"start": 4, "end": 7, "label": "PER"}]
#: As `dataset.records.to_json` of version 2 writes it.
ARGILLA = {
    "id": "abc",
    "fields": {"body": TEXT},
    "metadata": {"n": 1},
    "suggestions": {
        "ents": {"value": SPANS, "score": [0.5], "agent": "v1"},
        "kind": {"value": "news", "score": None, "agent": None},
    },
    "responses": {
        "ents": [
            {"value": SPANS, "user_id": "u1"},
            {"value": [], "user_id": "u2"},
            {"value": SPANS, "user_id": "u3", "status": "discarded"},
        ],
        "kind": [{"value": "news", "user_id": "u1"}],
    },
    "vectors": {},
    "status": "pending",
    "_server_id": "s",
}
#: The lists of version 1.
OLD = {
    "fields": {"text": TEXT},
    "responses": [
        {"user_id": "u1", "status": "submitted", "values": {"ents": {"value": SPANS}}},
        {"user_id": "u2", "status": "draft", "values": {"ents": {"value": SPANS}}},
    ],
    "suggestions": [
        {"question_name": "ents", "value": SPANS, "agent": "v1", "score": 0.5}
    ],
    "external_id": "e1",
    "metadata": {},
}


def test_argilla(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([ARGILLA]), encoding="utf-8")
    documents = read(path)
    (document,) = documents
    named = [(layer.annotator, layer.kind) for layer in document.layers]
    assert named == [("u1", "person"), ("u2", "person"), ("v1", "model")]
    assert document.layers[2].marks[0].score == 0.5
    assert document.meta["n"] == 1 and document.id == "abc"
    assert list(documents.losses.counts) == ["response discarded, no vote"]
    write(documents, tmp_path / "b.json")
    (again,) = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    for one in again["responses"]["ents"][:2]:
        assert one.pop("status") == "submitted"
    assert again == ARGILLA


def test_older_argilla(tmp_path: Path) -> None:
    documents = read(save(tmp_path / "a.jsonl", OLD))
    (document,) = documents
    assert document.id == "e1"
    assert [layer.annotator for layer in document.layers] == ["u1", "v1"]
    assert list(documents.losses.counts) == ["response draft, no vote"]
    found = found_in(documents, [["O"] * 6])
    losses = write(found, tmp_path / "b.json", "argilla")
    (again,) = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert again["suggestions"]["ents"]["agent"] == "tagsift"
    beside = "labels beside those of tagsift, which a suggestion cannot hold"
    assert losses.counts[beside] == 1


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "models": {"a": [{"label": "PER", "quote": "May"}]}},
        {"text": TEXT, "a": [{"label": "PER", "quote": "may"}]},
        {"text": TEXT, "model": "a", "entities": [{"type": "PER", "text": "May"}]},
        {
            "text": TEXT,
            "models": {"a": '```json\n[{"label":"PER","quote":"May"}]\n```'},
        },
        {"text": TEXT, "models": {"a": '{"entities":[{"label":"PER","quote":"May"}]}'}},
        {"text": TEXT, "annotations": {"a": [{"label": "PER", "quote": "May"}]}},
        {
            "text": TEXT,
            "models": [{"model": "a", "spans": [{"label": "PER", "quote": "May"}]}],
        },
    ],
)
def test_quotes_are_found(tmp_path: Path, record: dict[str, Any]) -> None:
    (document,) = read(save(tmp_path / "a.jsonl", record), "llm")
    (layer,) = document.layers
    assert (layer.annotator, layer.kind) == ("a", "model")
    assert layer.marks == (Mark(4, 7, ("PER",)),)


@pytest.mark.parametrize(
    "answer",
    [
        'Here they are:\n\n[{"label":"PER","quote":"May"}]\n\nI hope that helps [1].',
        'First none: []. ```json\n[{"label":"PER","quote":"May"}]\n``` {"a": 1}',
        'In {braces}: {"reason": "x", "entities": [{"label":"PER","quote":"May"}]}.',
    ],
)
def test_a_list_is_found_in_what_a_model_says(tmp_path: Path, answer: str) -> None:
    record = {"text": TEXT, "models": {"a": answer}}
    (document,) = read(save(tmp_path / "a.jsonl", record), "llm")
    assert [mark.labels for mark in document.layers[0].marks or ()] == [("PER",)]


@pytest.mark.parametrize(
    "answer", ["[no] idea", '{"first": [], "entities": [{"label": "PE', "", "[1, 2]"]
)
def test_an_answer_cut_short_says_nothing(tmp_path: Path, answer: str) -> None:
    record = {"text": TEXT, "models": {"a": answer, "b": "None: []"}}
    documents = read(save(tmp_path / "a.jsonl", record), "llm")
    assert documents.annotators == ("b",)
    assert list(documents.losses.counts) == [
        "answer without a list of labels and quotes, left out"
    ]


def test_who_answered_and_who_did_not(tmp_path: Path) -> None:
    said = [{"label": "PER", "quote": "May"}]
    records = [
        {"text": TEXT, "model": "a", "prediction": said},
        {"text": TEXT, "model": 7, "answer": said},
        {"text": TEXT, "model": "c"},
    ]
    documents = read(save(tmp_path / "a.jsonl", *records), "llm")
    assert documents.annotators == ("a", "7") and len(documents) == 1
    assert documents.losses.counts.total() == 1
    record = {"text": TEXT, "models": {"a": said}, "keywords": []}
    (document,) = read(save(tmp_path / "a.jsonl", record), "llm")
    assert [layer.annotator for layer in document.layers] == ["a"]
    assert document.meta == {"keywords": []}


def test_a_misspelt_key_of_an_answer_is_no_metadata(tmp_path: Path) -> None:
    record = {"text": TEXT, "a": [{"label": "PER", "quote": "May"}], "b": []}
    record["b"] = [{"labl": "PER", "quote": "May"}]
    documents = read(save(tmp_path / "a.jsonl", record), "llm")
    assert documents.annotators == ("a",) and not documents[0].meta
    assert documents.losses.counts == {
        "part of an answer without a label or a quote, left out": 1,
        "answer without a list of labels and quotes, left out": 1,
    }


def test_offsets_of_a_model_that_fit_its_quote(tmp_path: Path) -> None:
    for key in ("quote", "text", "span"):
        item = {"label": "PER", key: "May", "start": 8, "end": 11}
        record = {"text": "May met May.", "models": {"a": [item]}}
        (document,) = read(save(tmp_path / "a.jsonl", record), "llm")
        assert [mark.start for mark in document.layers[0].marks or ()] == [8]


@pytest.mark.parametrize(
    ("text", "quotes", "places"),
    [
        ("Annual Ann Ann", ["Ann", "Ann"], [(7, 10), (11, 14)]),
        ("Annual report by ANN.", ["Ann", "Ann"], [(17, 20), (0, 3)]),
        ("a b a b", ["b", "a", "b"], [(2, 3), (0, 1), (6, 7)]),
        ("New  \n york", ["New York"], [(0, 11)]),
        ("U.S.-based", ["U.S."], [(0, 4)]),
        ("東京に行く", ["東京"], [(0, 2)]),
        ("🦉 owl", [" owl "], [(2, 5)]),
        ("pre-war", ["war"], [(4, 7)]),
        ("subway", ["way"], [(3, 6)]),
    ],
)
def test_where_quotes_are(
    tmp_path: Path, text: str, quotes: list[str], places: list[tuple[int, int]]
) -> None:
    said = [{"label": "X", "quote": quote} for quote in quotes]
    documents = read(save(tmp_path / "a.jsonl", {"text": text, "m": said}))
    marks = documents[0].layers[0].marks
    assert [(mark.start, mark.end) for mark in marks] == places


def test_what_is_not_found_is_listed(tmp_path: Path) -> None:
    said = [{"label": "X", "quote": q} for q in ("Bob", "May", "May", "")]
    path = save(tmp_path / "a.jsonl", {"text": TEXT, "models": {"m": said, "n": "no"}})
    documents = read(path)
    assert documents.losses.counts == {
        "quote that is not in the text, left out": 2,
        "quote that stands more often in an answer than in the text": 1,
        "answer without a list of labels and quotes, left out": 1,
    }
    cases = documents.losses.cases["quote that is not in the text, left out"]
    assert cases == ["1, m, 'Bob'", "1, m, ''"]
    assert documents.annotators == ("m",)


def test_langextract(tmp_path: Path) -> None:
    def extraction(text: str, interval: Any) -> dict[str, Any]:
        return {
            "extraction_class": "PER",
            "extraction_text": text,
            "char_interval": interval,
            "alignment_status": "match_exact" if interval else None,
            "extraction_index": 1,
            "attributes": {"sex": "f"},
        }

    record = {
        "extractions": [
            extraction("May", {"start_pos": 4, "end_pos": 7}),
            extraction("New York", None),
        ],
        "text": TEXT,
        "document_id": "doc_1",
    }
    (document,) = read(save(tmp_path / "a.jsonl", record))
    assert document.id == "doc_1"
    first, second = document.layers[0].marks
    assert (first.start, first.end, second.start, second.end) == (4, 7, 13, 21)
    assert first.meta["llm"]["attributes"] == {"sex": "f"}
    bad = {**record, "extractions": [extraction("x", {"start_pos": 4, "end_pos": 99})]}
    with pytest.raises(DataError, match=r"1 of 1 quotes do not stand at their off"):
        read(save(tmp_path / "b.jsonl", bad))
