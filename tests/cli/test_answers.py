"""Answers of language models on the command line: read, counted, renamed, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TEXT = "Ms. May left New York."
LABELS = {"person": ["May"], "place": ["New York"]}


def save(path: Path, answers: list[Any], key: str = "gpt") -> Path:
    records = [{"id": n, "text": TEXT, key: one} for n, one in enumerate(answers)]
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    marks = [[4, 7, "PER"], [13, 21, "LOC"]]
    return save(tmp_path / "people.jsonl", [marks] * 6, "label")


@pytest.mark.parametrize("answer", [LABELS, f"```json\n{json.dumps(LABELS)}\n```"])
def test_answers_become_annotations(
    tagsift: Any, tmp_path: Path, people: Path, answer: Any
) -> None:
    path, out = (
        save(tmp_path / "a.jsonl", [answer] * 5 + ["Sorry."]),
        tmp_path / "b.jsonl",
    )
    outcome = tagsift("convert", path, out, "--to", "jsonl")
    assert outcome.status == 0
    assert "6 documents with 5 annotations" in outcome.out
    assert "1 time: answer without a list of labels and quotes" in outcome.err
    assert "(first: 5, gpt)" in outcome.err
    agree = ["agree", path, "--with", people, "--quick", "--json"]
    outcome = tagsift(*agree)
    assert outcome.json["pairwise_span_f1"] == 0
    assert (
        "10 times: label of gpt that nobody else gives (person, place;" in outcome.err
    )
    outcome = tagsift(*agree, "--labels", "person=PER,place=LOC")
    assert outcome.json["pairwise_span_f1"] == 1
    assert "nobody else gives" not in outcome.err


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Sorry.", "5 of 6 answers yield no label in their text (first: 1, gpt"),
        ({"person": ["Bob"]}, "5 of 6 answers yield no label"),
        (
            [{"label": "person", "quote": "May", "start": 0, "end": 3}],
            "5 of 5 quotes do not stand at their offsets (first: 1, gpt, 'May')",
        ),
    ],
)
def test_a_file_of_bad_answers_is_refused(
    tagsift: Any, tmp_path: Path, answer: Any, words: str
) -> None:
    path, out = (
        save(tmp_path / "a.jsonl", [LABELS] + [answer] * 5),
        tmp_path / "b.jsonl",
    )
    convert = ["convert", path, out, "--from", "llm", "--to", "jsonl"]
    outcome = tagsift(*convert)
    assert (outcome.status, out.exists()) == (2, False)
    assert words in outcome.err
    if "offsets" in words:
        assert tagsift(*convert, "--offsets", "characters").status == 0
