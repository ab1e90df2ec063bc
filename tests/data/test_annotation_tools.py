"""Exports of annotation tools: spans over characters become tags, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tagsift.data import (
    VoteCorpus,
    bundled,
    read_doccano,
    read_label_studio,
    spans,
    write_doccano,
    write_label_studio,
)
from tagsift.errors import DataError, InputError

TEXT = "Ms. May left New York."


def save(folder: Path, content: Any, name: str = "file.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "label": [[4, 7, "PER"], [13, 21, "LOC"]]},
        {"text": TEXT, "labels": [[13, 21, "LOC"], [4, 7, "PER"]], "id": 1},
        {
            "text": TEXT,
            "entities": [
                {"start_offset": 4, "end_offset": 7, "label": "PER"},
                {"start_offset": 13, "end_offset": 21, "label": "LOC"},
            ],
        },
        {"text": TEXT, "label": [[4, 8, "PER"], [12, 20, "LOC"]]},  # sloppy ends
    ],
)
def test_doccano(tmp_path: Path, record: dict[str, Any]) -> None:
    path = save(tmp_path, record)
    corpus = read_doccano(path)
    assert corpus.tokens == [["Ms", ".", "May", "left", "New", "York", "."]]
    assert corpus.labels == [["O", "O", "B-PER", "O", "B-LOC", "I-LOC", "O"]]
    spaced = read_doccano(path, scheme="iobes", tokenize="spaces")
    assert spaced.tokens == [["Ms.", "May", "left", "New", "York."]]
    assert spaced.labels == [["O", "S-PER", "O", "B-LOC", "E-LOC"]]
    plain = read_doccano(path, scheme="plain", tokenize=lambda text: [(4, 7), (13, 21)])
    assert plain.tokens == [["May", "New York"]]
    assert plain.labels == [["PER", "LOC"]]


def test_doccano_round_trip(tmp_path: Path) -> None:
    for task in ("ner", "pos"):
        corpus = bundled(task)[:50].columns(1)
        write_doccano(tmp_path / "a.jsonl", corpus)
        again = read_doccano(
            tmp_path / "a.jsonl", scheme=corpus.scheme, tokenize="spaces"
        )
        assert again == corpus


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"label": []}, "expected 'text', found the keys"),
        ({"text": "a"}, "expected 'label' with a list"),
        ({"text": "a", "entities": 3}, "expected 'entities' with a list, found int"),
        ({"text": "a", "entities": {"a": 1}}, "with a list, found dict"),
        ({"text": "a", "entities": [3]}, "a span of two numbers and a type"),
        ({"text": "a b", "label": [[0, 1]]}, "two numbers and a type"),
        ({"text": "a b", "label": [["0", 1, "X"]]}, "two numbers and a type"),
        ({"text": "a b", "label": [[0, 1, ""]]}, "two numbers and a type"),
        ({"text": "a b", "label": [[0, 1, "X|Y"]]}, "two numbers and a type"),
        ({"text": "a b", "entities": [3]}, "two numbers and a type"),
        ({"text": "a b", "entities": 1.5}, "'entities' with a list, found float"),
        ({"text": "a b", "entities": True}, "'entities' with a list, found bool"),
        ({"text": "a b", "label": [[1, 2, "X"]]}, "at least one token of the 3"),
        ({"text": "a b", "label": [[1, 1, "X"]]}, "at least one token"),
        ({"text": "a b", "label": [[0, 9, "X"]]}, "found 'X' at 0:9"),
        ({"text": "a b", "label": [[0, 3, "X"], [2, 3, "Y"]]}, "do not overlap"),
    ],
)
def test_refused_doccano(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    path = save(tmp_path, '{"text": "fine", "label": []}\n' + json.dumps(record))
    with pytest.raises(DataError, match=message) as caught:
        read_doccano(path)
    assert (caught.value.line, caught.value.path) == (2, str(path))


def annotation(who: Any, *marks: tuple[int, int, str], **more: Any) -> dict[str, Any]:
    return {
        "completed_by": who,
        "result": [
            {"type": "labels", "value": {"start": a, "end": b, "labels": [t]}}
            for a, b, t in marks
        ],
        **more,
    }


def test_label_studio(tmp_path: Path) -> None:
    tasks = [
        {
            "data": {"text": TEXT},
            "annotations": [
                annotation(3, (4, 7, "PER"), (13, 21, "LOC")),
                annotation({"id": 9, "email": "ann"}, (0, 7, "PER")),
                annotation(3, (13, 21, "LOC"), was_cancelled=True),
                annotation(5, (4, 7, "PER"), (13, 21, "LOC"), ground_truth=True),
            ],
        },
        {
            "data": {"text": "May fell"},
            "annotations": [
                annotation(3, (0, 3, "PER")),
                annotation(3),
                annotation(5, ground_truth=True),
            ],
        },
    ]
    tasks[0]["annotations"][0]["result"].append({"type": "choices", "value": {}})
    corpus = read_label_studio(save(tmp_path, tasks), tokenize="spaces")
    assert corpus.annotators == ("3", "ann")
    assert corpus.tokens == [["Ms.", "May", "left", "New", "York."], ["May", "fell"]]
    assert corpus.votes[0] == [
        ("O", "B-PER"),
        ("B-PER", "I-PER"),
        ("O", "O"),
        ("B-LOC", "O"),
        ("I-LOC", "O"),
    ]
    assert corpus.votes[1] == [("O", None), ("O", None)]
    assert corpus.gold == [["O", "B-PER", "O", "B-LOC", "I-LOC"], ["O", "O"]]
    del tasks[1]["annotations"][2]
    assert read_label_studio(save(tmp_path, tasks)).gold is None


def test_label_studio_round_trip(tmp_path: Path) -> None:
    gold = bundled("ner")[:30].columns(1)
    silent = [[None] * len(labels) for labels in gold.labels]
    outside = [["O"] * len(labels) for labels in gold.labels]
    votes = [
        list(zip(a, b, c if n % 2 else d, strict=True))
        for n, (a, b, c, d) in enumerate(
            zip(gold.labels, outside, gold.labels, silent, strict=True)
        )
    ]
    corpus = VoteCorpus(gold.rows, votes, ("ann", "bob", "eve"), gold.labels, "iob2")
    write_label_studio(tmp_path / "a.json", corpus)
    again = read_label_studio(tmp_path / "a.json", tokenize="spaces")
    assert again == corpus
    exported = json.loads((tmp_path / "a.json").read_text())
    first = exported[0]["annotations"][0]["result"]
    texts = [result["value"]["text"] for result in first]
    chunks = spans(gold.labels[0], "iob2")
    assert texts == [" ".join(gold.tokens[0][s.start : s.end]) for s in chunks]


def test_refused_votes_are_not_written(tmp_path: Path) -> None:
    rows = [[("a",), ("b",)]]
    corpus = VoteCorpus(rows, [[("O",), (None,)]], ("ann",), None, "iob2")
    with pytest.raises(InputError, match="'ann' to have labelled all 2 tokens"):
        write_label_studio(tmp_path / "a.json", corpus)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected JSON"),
        ("{}", "expected a list of tasks"),
        ("[]", "expected a list of tasks"),
        ([{"data": {}}], "task 0: expected 'data' with 'text'"),
        ([{"data": {"text": 3}, "annotations": []}], "task 0: expected 'data'"),
        ([{"data": {"text": "a"}}], "'annotations'"),
        ([{"data": {"text": "a"}, "annotations": []}], "found none"),
        ([{"data": {"text": "a"}, "annotations": [{}]}], "'result'"),
        (
            [{"data": {"text": "a"}, "annotations": [annotation(1, (0, 5, "X"))]}],
            "task 0: .*found 'X' at 0:5",
        ),
        (
            [
                {
                    "data": {"text": "a"},
                    "annotations": [
                        {
                            "completed_by": 1,
                            "result": [
                                {
                                    "type": "labels",
                                    "value": {
                                        "start": 0,
                                        "end": 1,
                                        "labels": ["X", "Y"],
                                    },
                                }
                            ],
                        }
                    ],
                }
            ],
            "task 0: expected one label per span",
        ),
    ],
)
def test_refused_label_studio(tmp_path: Path, content: Any, message: str) -> None:
    path = save(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        read_label_studio(path)
    assert caught.value.path == str(path)


def test_refused_settings(tmp_path: Path) -> None:
    path = save(tmp_path, {"text": "a", "label": []})
    with pytest.raises(InputError, match="found 'chars'"):
        read_doccano(path, tokenize="chars")
    with pytest.raises(InputError, match="found 'bio'"):
        read_doccano(path, scheme="bio")
