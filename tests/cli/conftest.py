"""Small files, and the command line run in process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tagsift.cli import main

SENTENCES = [
    [("the", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("barks", "VBZ", "B-VP")],
    [("a", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sleeps", "VBZ", "B-VP")],
    [("dogs", "NNS", "B-NP"), ("chase", "VBP", "B-VP"), ("cats", "NNS", "B-NP")],
    [("#", "SYM", "O"), ("the", "DT", "B-NP"), ("cat", "NN", "I-NP")],
]
VOTES = [
    [("the", "B-NP", "B-NP", "O", "B-NP"), ("dog", "I-NP", "I-NP", "I-NP", "I-NP")],
    [("barks", "O", "?", "?", "O"), ("dog", "B-NP", "?", "I-NP", "B-NP")],
]


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def column_text(sentences: list[list[tuple[str, ...]]]) -> str:
    return "".join(
        "".join("\t".join(row) + "\n" for row in sentence) + "\n"
        for sentence in sentences
    )


@pytest.fixture
def tagsift(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command line in process."""

    def run(*arguments: object) -> Outcome:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conll"
    path.write_text(column_text(SENTENCES * 5), encoding="utf-8")
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.conll"
    rows = [[row[:-1] for row in sentence] for sentence in SENTENCES]
    path.write_text(column_text(rows), encoding="utf-8")
    return path


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.tsv"
    path.write_text(column_text(VOTES * 6), encoding="utf-8")
    return path


@pytest.fixture
def partial(tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "partial.conll"
    options = ["--cl", "3", "--p", "0.2", "--keep-gold"]
    assert main(["corrupt", str(gold), "-o", str(path), *options]) == 0
    capsys.readouterr()
    return path


@pytest.fixture
def model(tmp_path: Path, partial: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "model.tagsift"
    options = ["--gold", "--method", "word-counts"]
    assert main(["fit", str(partial), "-o", str(path), *options]) == 0
    capsys.readouterr()
    return path
