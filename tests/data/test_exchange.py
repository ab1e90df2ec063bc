"""Candidate sets as JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagsift.data import (
    PartialCorpus,
    bundled,
    corrupt,
    read_jsonl,
    read_partial,
    write_jsonl,
    write_partial,
)
from tagsift.errors import DataError, InputError

GOOD = '{"tokens": ["a", "b"], "candidates": [["B-X", "O"], "O"]}\n'


def save(folder: Path, content: str) -> Path:
    path = folder / "file.jsonl"
    path.write_text(content)
    return path


def test_reading(tmp_path: Path) -> None:
    path = save(
        tmp_path,
        GOOD + '\n{"tokens": [["c", "NN"]], "candidates": [null], "id": 7}\n'
        '{"tokens": ["d"], "candidates": ["?"]}\n'
        '{"tokens": [], "candidates": []}',
    )
    corpus = read_jsonl(path)
    assert corpus.rows == [[("a",), ("b",)], [("c", "NN")], [("d",)], []]
    full = frozenset({"B-X", "O"})
    assert corpus.candidates == [[full, {"O"}], [full], [full], []]
    assert corpus.scheme == "iob2"
    assert corpus.gold is None
    wide = read_jsonl(path, labels=["O", "B-X", "I-X"], scheme="iob1")
    assert wide.label_set.names == ("O", "B-X", "I-X")
    assert wide.scheme == "iob1"


@pytest.mark.parametrize("gold", [True, False])
def test_round_trip_and_the_same_as_columns(tmp_path: Path, gold: bool) -> None:
    partial = corrupt(bundled("ner")[:40], cl=3, p=0.2)
    write_jsonl(tmp_path / "a.jsonl", partial, gold=gold)
    write_partial(tmp_path / "a.conll", partial, gold=gold)
    again = read_jsonl(tmp_path / "a.jsonl", labels=partial.label_set)
    assert again == read_partial(
        tmp_path / "a.conll", labels=partial.label_set, gold=gold
    )
    assert (again == partial) == gold
    assert again.candidates == partial.candidates


def test_text_is_kept(tmp_path: Path) -> None:
    partial = PartialCorpus.from_lists([["é\t\u2028", "🦉"]], [["O", "O"]])
    write_jsonl(tmp_path / "a.jsonl", partial)
    assert read_jsonl(tmp_path / "a.jsonl") == partial
    with pytest.raises(InputError, match="with gold labels"):
        write_jsonl(tmp_path / "b.jsonl", partial, gold=True)
    assert not (tmp_path / "b.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "found an empty file"),
        (GOOD + "{", 2, "expected one JSON object per line"),
        (GOOD + "[1]", 2, "expected a JSON object, found list"),
        ('{"candidates": []}', 1, "expected a list under 'tokens', found none"),
        ('{"tokens": ["a"]}', 1, "expected a list under 'candidates', found none"),
        ('{"tokens": "a", "candidates": []}', 1, "under 'tokens', found str"),
        ('{"tokens": [1], "candidates": ["O"]}', 1, "words or lists of columns"),
        ('{"tokens": [[]], "candidates": ["O"]}', 1, "words or lists of columns"),
        ('{"tokens": ["a"], "candidates": []}', 1, "1 tokens and 0 candidate lists"),
        ('{"tokens": ["a"], "candidates": [[]]}', 1, "found an empty list"),
        ('{"tokens": ["a"], "candidates": [3]}', 1, "one label or null, found 3"),
        ('{"tokens": ["a"], "candidates": ["A|B"]}', 1, "one label without '|'"),
        ('{"tokens": ["a"], "candidates": [["?", "O"]]}', 1, "stands for any label"),
        ('{"tokens": ["a"], "candidates": [null]}', None, "give labels="),
        ('{"tokens": ["a\\ud800"], "candidates": ["O"]}', 1, "half of a character"),
        (
            '{"tokens": ["a"], "candidates": ["O"], "gold": []}',
            1,
            "a gold label for each of the 1 tokens",
        ),
        (
            GOOD + '{"tokens": ["a"], "candidates": ["O"], "gold": ["O"]}',
            2,
            "gold labels in all lines or in none",
        ),
        (
            '{"tokens": ["a"], "candidates": ["O"], "gold": ["O"]}\n' + GOOD,
            2,
            "gold labels in all lines or in none",
        ),
    ],
)
def test_refused_files(
    tmp_path: Path, content: str, line: int | None, message: str
) -> None:
    path = save(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read_jsonl(path)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.path) == (line, str(path))


def test_refused_labels(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD)
    with pytest.raises(DataError, match="1 labels given, found 'B-X'"):
        read_jsonl(path, labels=["O"])
    bad = save(tmp_path, GOOD.replace("B-X", "NN"))
    with pytest.raises(DataError, match="line 1: expected a tag of the scheme iob2"):
        read_jsonl(bad, scheme="iob2")
    with pytest.raises(InputError, match="found 'bio'"):
        read_jsonl(path, scheme="bio")
