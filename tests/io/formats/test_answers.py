"""Answers of language models in the shapes that people get, and those that are bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.errors import DataError
from tests.io.formats.files import read, write

TEXT = "Ms. May left New York."
MAY, YORK = (4, 7, ("PER",)), (13, 21, ("LOC",))
UNREAD = "answer without a list of labels and quotes, left out"


def save(path: Path, *records: Any) -> Path:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def marks_of(document: tagsift.Document, who: int = 0) -> list[Any]:
    marks = document.layers[who].marks or ()
    return sorted((mark.start, mark.end, mark.labels) for mark in marks)


def chat(content: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"object": "chat.completion", "model": "gpt", "choices": [
        {"index": 0, "message": message, "finish_reason": "stop"}
    ]}  # fmt: skip


LABELS = {"PER": ["May"], "LOC": ["New York"], "ORG": []}
PAIRS = [{"label": "PER", "text": "May"}, {"label": "LOC", "text": "New York"}]
#: Every one says the same.
ANSWERS = {
    "labels with quotes": LABELS,
    "labels with one quote each": {"PER": "May", "LOC": "New York", "ORG": None},
    "none of one": {**LABELS, "ORG": ["None"], "DATE": "N/A"},
    "labels with objects": {"PER": [{"text": "May"}], "LOC": [{"quote": "New York"}]},
    "labels under a key": {"entities": LABELS, "explanation": "Both are names."},
    "objects": PAIRS,
    "under two keys": {"result": {"entities": PAIRS}},
    "type and value": [
        {"type": "PER", "value": "May"},
        {"Entity Type": "LOC", "Entity": "New York"},
    ],
    "name and category": [
        {"name": "May", "category": "PER"},
        {"name": "New York", "category": "LOC"},
    ],
    "aggregated": [
        {"entity_group": "PER", "score": 0.9, "word": "May", "start": 4, "end": 7},
        {"entity": "LOC", "score": 0.9, "word": "New York", "start": 13, "end": 21},
    ],
    "span in an object": [
        {"label": "PER", "span": {"start": 4, "end": 7, "quote": "May"}},
        {"label": "LOC", "span": [13, 21], "text": "New York"},
    ],
    "one label an object": [{"PER": ["May"]}, {"LOC": "New York"}],
    "text": json.dumps(LABELS),
    "fenced": f"Sure!\n```json\n{json.dumps(PAIRS, indent=1)}\n```\nAnything else?",
    "thought": f'<think>{{"ORG": ["May"]}}?</think>{json.dumps(LABELS)}',
    "lines": "\n".join(map(json.dumps, PAIRS)),
    "one comma more": '{"PER": ["May",], "LOC": ["New York"],}',
    "text in an object": {"response": json.dumps({"entities": PAIRS})},
    "chat": chat(f"```json\n{json.dumps(LABELS)}\n```"),
    "batch": {"status_code": 200, "body": chat(json.dumps(LABELS))},
    "message": {"content": [{"type": "text", "text": json.dumps(PAIRS)}]},
    "tool": {"content": [
        {"type": "text", "text": "I shall use the tool."},
        {"type": "tool_use", "name": "extract", "input": {"entities": PAIRS}},
    ]},
}  # fmt: skip
#: Where an answer stands in its record.
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "models": lambda answer: {"models": {"gpt": answer}},
    "outputs": lambda answer: {"outputs": {"gpt": answer}},
    "key": lambda answer: {"gpt": answer, "source": "x", "tags": {"topic": ["trade"]}},
    "answer": lambda answer: {"model": "gpt", "answer": answer},
    "completion": lambda answer: {"model": "gpt", "prompt": "?", "completion": answer},
    "list": lambda answer: {"responses": [{"model": "gpt", "output": answer}]},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", ANSWERS)
def test_shapes_of_answers(tmp_path: Path, shape: str, place: str) -> None:
    record = {"id": 7, "text": TEXT, **PLACES[place](ANSWERS[shape])}
    documents = read(save(tmp_path / "a.jsonl", record), "llm")
    assert documents.annotators == ("gpt",) and documents[0].id == "7"
    assert marks_of(documents[0]) == [MAY, YORK]
    assert not documents.losses.counts
    assert "gpt" not in str(documents[0].meta)


@pytest.mark.parametrize("key", ["response", "entities", "completion"])
def test_an_answer_whose_model_nobody_names(tmp_path: Path, key: str) -> None:
    answer = chat(json.dumps(LABELS)) if key == "response" else LABELS
    path = save(tmp_path / "a.jsonl", {"custom_id": "x", "text": TEXT, key: answer})
    (document,) = read(path)
    assert document.id == "x" and marks_of(document) == [MAY, YORK]
    named = "gpt" if key == "response" else "model"
    assert [layer.annotator for layer in document.layers] == [named]
    (document,) = read(path, annotator="mine")
    assert [layer.annotator for layer in document.layers] == ["mine"]


@pytest.mark.parametrize(
    "record",
    [
        {"models": {"gpt": LABELS}},
        {"model": "gpt", "answer": LABELS},
        {"model": "gpt", "response": f"```\n{json.dumps(LABELS)}\n```"},
        {"gpt": LABELS},
        {"gpt": f"Here: {json.dumps(PAIRS)}"},
        {"entities": PAIRS},
    ],
)
def test_content_tells(tmp_path: Path, record: dict[str, Any]) -> None:
    path = save(tmp_path / "a.jsonl", {"text": TEXT, **record})
    assert tagsift.io.format_of(path).name == "llm"
    empty = {key: "[]" if key == "gpt" else value for key, value in record.items()}
    path = save(tmp_path / "a.jsonl", {"text": TEXT, **empty}, {"text": TEXT, **record})
    assert tagsift.io.format_of(path).name == "llm"


@pytest.mark.parametrize("nothing", [[], {}, "[]", "```json\n{}\n```", {"PER": []}])
def test_an_answer_that_there_is_nothing_is_one(tmp_path: Path, nothing: Any) -> None:
    for place in PLACES.values():
        records = [{"text": f"{n} {TEXT}", **place(nothing)} for n in range(5)]
        records += [{"text": TEXT, **place(LABELS)}]
        documents = read(save(tmp_path / "a.jsonl", *records), "llm")
        assert [len(marks_of(one)) for one in documents] == [0] * 5 + [2]
        assert not documents.losses.counts


BAD = [
    "I cannot help with that.",
    '{"entities": [{"label": "PER", "quote": "May"}, {"label": "LO',
    None,
    ["May", "New York"],
    [{"labl": "PER", "quote": "May"}],
    {"error": {"code": 429}},
    [3],
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_answer_stops_no_file(tmp_path: Path, bad: Any, place: str) -> None:
    answers = [bad, *[LABELS] * 4, bad]
    records = [
        {"text": f"{n} {TEXT}", **PLACES[place](answer)}
        for n, answer in enumerate(answers)
    ]
    path = save(tmp_path / "a.jsonl", *records)
    documents = read(path, "llm")
    assert [len(one.layers) for one in documents] == [0, 1, 1, 1, 1, 0]
    assert documents.losses.counts[UNREAD] == 2
    assert documents.losses.cases[UNREAD][0] == "1, gpt"
    with pytest.raises(DataError, match=r"1, gpt.*--strict"):
        read(path, "llm", losses=tagsift.data.Losses(strict=True))


def test_a_key_that_comes_late_is_counted_from_the_first(tmp_path: Path) -> None:
    say = "I cannot say."
    records = [{"text": TEXT, "a": LABELS, "b": say} for _ in range(300)]
    records += [{"text": TEXT, "a": LABELS, "b": LABELS}]
    documents = read(save(tmp_path / "a.jsonl", *records), "llm")
    assert documents.annotators == ("a", "b")
    assert documents.losses.counts == {UNREAD: 300}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("bad", BAD)
def test_most_answers_must_say_something(tmp_path: Path, bad: Any, place: str) -> None:
    answers = [LABELS, [], bad, bad, bad, bad]
    records = [
        {"text": f"{n} {TEXT}", **PLACES[place](answer)}
        for n, answer in enumerate(answers)
    ]
    path = save(tmp_path / "a.jsonl", *records)
    with pytest.raises(DataError, match="4 of 6 answers yield no label") as caught:
        read(path, "llm")
    assert "(first: 3, gpt, answer without" in str(caught.value)
    out = tmp_path / "out.jsonl"
    with pytest.raises(DataError):
        write(tagsift.io.iter_documents(path, "llm"), out, "jsonl")
    assert not out.exists()


def test_quotes_of_another_text_are_refused(tmp_path: Path) -> None:
    records = [{"text": "Nothing here.", "models": {"a": LABELS}}] * 3
    with pytest.raises(DataError, match="3 of 3 answers .* none of whose quotes is"):
        read(save(tmp_path / "a.jsonl", *records))


def test_a_file_without_answers_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", {"text": TEXT, "topic": "x", "PER": ["May"]})
    with pytest.raises(DataError, match="found topic, PER; put them under 'models'"):
        read(path, "llm")


def test_what_a_model_was_asked_is_no_answer(tmp_path: Path) -> None:
    prompt = 'Answer such as:\n```json\n{"PER": ["May"]}\n```\n' + TEXT
    record = {"text": TEXT, "prompt": prompt, "model": "gpt", "output": LABELS}
    (document,) = read(save(tmp_path / "a.jsonl", record), "llm")
    assert [layer.annotator for layer in document.layers] == ["gpt"]
    assert document.meta == {"prompt": prompt}


def quoted(off: int) -> dict[str, Any]:
    start = 4 + off
    return {"label": "PER", "text": "May", "start": start, "end": start + 3}


def test_offsets_that_contradict_most_quotes_are_refused(tmp_path: Path) -> None:
    answers = [[quoted(0)], [quoted(0)], [quoted(2)]]
    records = [{"text": TEXT, "models": {"a": answer}} for answer in answers]
    documents = read(save(tmp_path / "a.jsonl", *records))
    assert [marks_of(one) for one in documents] == [[MAY]] * 3
    assert documents.losses.counts == {
        "quote that does not stand at its offsets, looked for elsewhere": 1
    }
    path = save(tmp_path / "a.jsonl", *records[1:], records[2])
    with pytest.raises(DataError, match=r"2 of 3 quotes do not stand .*2, a, 'May'"):
        read(path)
    documents = read(path, offsets="characters")
    assert [marks_of(one) for one in documents] == [[MAY]] * 3


def test_offsets_of_another_unit(tmp_path: Path) -> None:
    item = {**quoted(0), "start": 5, "end": 8}
    path = save(tmp_path / "a.jsonl", {"text": f"🦉 {TEXT[2:]}", "a": [item]})
    documents = read(path, "llm")
    assert [mark.start for mark in documents[0].layers[0].marks or ()] == [4]


def test_labels_that_nobody_else_gives_are_said(tmp_path: Path) -> None:
    other = {"person": ["May"], "LOC": ["New York"]}
    path = save(tmp_path / "m.jsonl", {"text": TEXT, "models": {"gpt": other}})
    people = save(tmp_path / "p.jsonl", {"text": TEXT, "label": [[4, 7, "PER"]]})
    documents = read([path, people], ["llm", "doccano"])
    lines = documents.losses.lines()
    assert any(
        "label of gpt that nobody else gives (person, LOC; the" in x for x in lines
    )
    documents = read(
        [path, people], ["llm", "doccano"], labels={"person": "PER", "LOC": "O"}
    )
    assert not documents.losses.counts
    assert [marks_of(documents[0], who) for who in (0, 1)] == [[MAY], [MAY]]
    both = {"a": {"person": ["May"]}, "b": {"PER": ["May"]}}
    losses = tagsift.data.Losses()
    path = save(tmp_path / "b.jsonl", {"text": TEXT, "models": both})
    tagsift.read(path, losses=losses)
    assert len(losses.counts) == 2
