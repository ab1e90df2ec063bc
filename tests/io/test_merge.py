"""Several files of the same texts: whose labels are whose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.io.formats.files import Read, read

TEXTS = [f"Ann {number} left." for number in range(6)]


def doccano(path: Path, numbers: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    records = [{"text": TEXTS[n], "label": [[0, 3, "PER"]]} for n in numbers]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path


def prodigy(path: Path, *who: tuple[int, str]) -> Path:
    records = [
        {"text": TEXTS[n], "spans": [], "answer": "accept", "_annotator_id": name}
        | {"_input_hash": n}
        for n, name in who
    ]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path


def said(documents: Read) -> dict[str, list[int]]:
    """Which texts each annotator has labelled."""
    found: dict[str, list[int]] = {}
    for document in documents:
        for layer in document.layers:
            number = TEXTS.index(str(document.text))
            found.setdefault(layer.annotator, []).append(number)
    return found


def test_files_without_names_are_of_different_people(tmp_path: Path) -> None:
    paths = [
        doccano(tmp_path / "ann.jsonl", range(4)),
        doccano(tmp_path / "bob.jsonl", range(2, 6)),
        doccano(tmp_path / "eve.jsonl", [5]),
        doccano(tmp_path / "again" / "bob.jsonl", [0, 5]),
    ]
    assert said(read(paths, ["doccano"] * len(paths))) == {
        "ann": [0, 1, 2, 3],
        "bob": [2, 3, 4, 5],
        "bob 2": [0, 5],
        "eve": [5],
    }


def test_a_name_is_the_same_person_unless_both_files_have_it(tmp_path: Path) -> None:
    one = prodigy(tmp_path / "one.jsonl", (0, "ann"), (1, "ann"), (1, "bob"))
    two = prodigy(tmp_path / "two.jsonl", (1, "bob"), (2, "bob"), (2, "ann"))
    assert said(read([one, two], ["prodigy"] * 2)) == {
        "ann": [0, 1, 2],
        "bob": [1],
        "bob (two)": [1, 2],
    }


def test_a_file_of_other_texts_is_counted(tmp_path: Path) -> None:
    paths = [doccano(tmp_path / f"{n}.jsonl", [n]) for n in range(2)]
    documents = read(paths, ["doccano"] * len(paths))
    assert said(documents) == {"0": [0], "1": [1]}
    kind = "file of which no text is in the files before"
    assert documents.losses.cases == {kind: ["1"]}


def test_a_text_that_stands_twice_is_not_joined_by_its_words(tmp_path: Path) -> None:
    one = doccano(tmp_path / "one.jsonl", [0])
    two = doccano(tmp_path / "two.jsonl", [0, 0])
    two.write_text(two.read_text().replace("{", '{"id": 8, ', 1))
    assert len(read([one, two], ["doccano"] * 2)) == 3
