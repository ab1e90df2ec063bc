"""Columns of labels that would become features, and labels renamed as they are read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tagsift as package
from tests.cli.conftest import VOTES, column_text
from tests.io.formats.files import read as read_documents

#: Part of speech, chunk, and three votes; the truth is behind the token or last.
TRUTH = [(("Ann", "B-PER"), ("Lee", "I-PER"), ("left", "O"), ("Rome", "B-LOC"))]
POS = {"Ann": "NNP", "Lee": "NNP", "left": "VBD", "Rome": "NNP"}
CHUNK = {"Ann": "B-NP", "Lee": "I-NP", "left": "B-VP", "Rome": "B-NP"}


def save(path: Path, *columns: str, header: str = "", sign: str = "\t") -> Path:
    """Columns by name: word, truth, pos, chunk, vote."""
    cells = {
        "word": lambda word, label: word,
        "truth": lambda word, label: label,
        "pos": lambda word, label: POS[word],
        "chunk": lambda word, label: CHUNK[word],
        "vote": lambda word, label: "O" if word == "Lee" else label,
    }
    rows = [
        [tuple(cells[name](*pair) for name in columns) for pair in sentence]
        for sentence in TRUTH * 6
    ]
    text = column_text(rows).replace("\t", sign)
    path.write_text(header and f"{header}\n" + text or text, encoding="utf-8")
    return path


def test_the_hint_leaves_columns_of_labels_out(tagsift: Any, tmp_path: Path) -> None:
    names = ("word", "truth", "pos", "vote", "vote", "vote", "truth")
    path, out = save(tmp_path / "a.tsv", *names), tmp_path / "out.tsv"
    options = ["-m", "majority", "--quiet", "-o", out]
    outcome = tagsift("clean", path, "--votes", "4:6", "--gold", *options)
    assert outcome.status == 2 and not out.exists()
    (hint,) = re.findall(r"--columns ([^;]+);", outcome.err)
    assert hint == "token,-,x,vote,vote,vote,gold"
    before, after = outcome.err.split(hint)
    assert "leave it out" in before and "--features-hold-labels" in after
    assert tagsift("clean", path, "--columns", hint, *options).status == 0
    first = out.read_text(encoding="utf-8").split("\t")
    assert first[:3] == ["Ann", "NNP", "B-PER"] and first[3].startswith("0.")

    leaky = hint.replace("-", "x")
    outcome = tagsift("clean", path, "--columns", leaky, *options)
    assert outcome.status == 2 and "column 2 holds labels of the file" in outcome.err
    insist = ["--features-hold-labels", *options]
    assert tagsift("clean", path, "--columns", leaky, *insist).status == 0
    with pytest.raises(package.errors.DataError, match="column 2 holds labels"):
        package.read(path, columns=leaky)
    votes = package.read(path, columns=leaky, features_hold_labels=True)
    assert votes.rows[0][0] == ("Ann", "B-PER", "NNP")


def test_a_hint_of_many_columns_is_not_cut_inside_a_number(
    tagsift: Any, tmp_path: Path
) -> None:
    path = save(tmp_path / "a.conll", "word", *["vote"] * 47, "pos", "truth")
    outcome = tagsift("fit", path, "-o", tmp_path / "m.tagsift")
    assert outcome.status == 2
    assert "--votes 2:48 --gold" in outcome.err and "--votes 2:48,50" in outcome.err
    assert "--columns token,-,…,-,x,label;" in outcome.err
    assert " … " not in outcome.err  # which is where a long sentence is cut
    outcome = tagsift("clean", path, "--votes", "3:48", "-o", tmp_path / "out.tsv")
    assert "columns 2,50 hold" in outcome.err
    assert "--columns token,-,vote,…,vote,x,-;" in outcome.err


def test_features_of_csv_and_other_formats(tagsift: Any, tmp_path: Path) -> None:
    header = "word,truth,ann,bob"
    columns = ("word", "truth", "vote", "vote")
    path = save(tmp_path / "a.csv", *columns, header=header, sign=",")
    out = tmp_path / "out.csv"
    options = ["-m", "majority", "--quiet", "-o", out, "--votes", "3:4"]
    outcome = tagsift("clean", path, *options)
    assert outcome.status == 2 and "the feature truth holds labels" in outcome.err
    named = ["--columns", "token,-,vote,vote"]
    assert tagsift("clean", path, *named, *options).status == 0
    outcome = tagsift("convert", path, tmp_path / "a.jsonl", "--votes", "3:4")
    assert outcome.status == 2 and not (tmp_path / "a.jsonl").exists()
    insist = ["--votes", "3:4", "--features-hold-labels"]
    assert tagsift("convert", path, tmp_path / "a.jsonl", *insist).status == 0
    with pytest.raises(package.errors.DataError, match="holds labels of the file"):
        read_documents(tmp_path / "a.jsonl")
    documents = read_documents(tmp_path / "a.jsonl", features_hold_labels=True)
    assert documents[0].rows[0] == ("Ann", "B-PER")


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (("word", "pos", "chunk", "truth"), "token,pos,chunk,label"),  # names
        (("word", "pos", "truth", "chunk"), "token,pos,-,label"),  # chunks
        (("word", "chunk", "pos"), "token,chunk,label"),  # parts of speech
        (("word", "pos", "chunk", "vote", "vote"), "token,pos,chunk,vote,vote"),
    ],
)
def test_other_tags_are_features(
    tagsift: Any, tmp_path: Path, columns: tuple[str, ...], named: str
) -> None:
    path = save(tmp_path / "a.conll", *columns)
    options = ["-m", "majority"] if "vote" in columns else ["-m", "word-counts"]
    options += ["--columns", named, "--quiet", "-o", tmp_path / "out.tagsift"]
    assert tagsift("fit", path, *options).status == 0


# Other names for labels ---------------------------------------------------------

RENAMED = "PER=person,LOC=O"


def labels_in(path: Path) -> set[str]:
    return {name for row in package.read(path, "conll").labels for name in row}


def test_labels_are_renamed_in_columns(tagsift: Any, tmp_path: Path) -> None:
    votes = save(tmp_path / "v.tsv", "word", "vote", "vote", "vote", "truth")
    out = tmp_path / "m.tagsift"
    options = ["--votes", "2:4", "--gold", "-m", "word-counts", "--json", "-o", out]
    outcome = tagsift("fit", votes, *options, "--labels", RENAMED)
    assert outcome.json["labels"] == ["B-person", "O"]
    gold = save(tmp_path / "g.conll", "word", "truth")
    options = ["-m", "word-counts", "--quiet", "-o", tmp_path / "m.tagsift"]
    assert tagsift("fit", gold, *options, "--labels", RENAMED).status == 0
    score = tagsift("score", tmp_path / "m.tagsift", gold, "--labels", RENAMED)
    assert score.status == 0 and "unknown" not in score.err
    corpus = package.read(gold, "conll", labels={"PER": "person", "B-LOC": "O"})
    assert corpus.labels[0] == ["B-person", "I-person", "O", "O"]


def test_labels_are_renamed_in_every_format(tagsift: Any, tmp_path: Path) -> None:
    gold = save(tmp_path / "g.conll", "word", "truth")
    for name in ("a.csv", "a.jsonl", "brat"):
        to = ["--to", "brat"] if name == "brat" else []
        assert tagsift("convert", gold, tmp_path / name, *to).status == 0
        corpus = package.read(tmp_path / name, labels={"PER": "person", "LOC": "O"})
        labels = {name for row in corpus.labels for name in row}
        assert labels == {"B-person", "I-person", "O"}
        out = tmp_path / f"{name}.conll"
        renamed = tagsift("convert", tmp_path / name, out, "--labels", RENAMED)
        assert renamed.status == 0
        assert labels_in(out) == labels


def test_two_labels_of_one_name_are_one(tmp_path: Path) -> None:
    label = [[0, 3, "PER"], [0, 3, "human"], [4, 7, "human"]]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "Ann Lee", "label": label}), encoding="utf-8")
    (document,) = read_documents(path, labels={"human": "PER"})
    marks = [(mark.start, mark.labels) for mark in document.layers[0].marks or ()]
    assert marks == [(0, ("PER",)), (4, ("PER",))]


def test_a_misspelt_name_of_a_label_is_said(tagsift: Any, votes: Path) -> None:
    for labels, status, words in (
        ("VB=NP", 0, "no label is called 'VB'"),
        ("NP=X,O", 2, "and not both"),
        ("NP=", 2, "and not both"),
        ("NP=a|b", 2, "expected one label without '|'"),
        ("NP,O", 2, "--labels: a label set is for candidates"),
    ):
        options = ["--votes", "2:4", "--gold", "--quick", "--labels", labels]
        outcome = tagsift("agree", votes, *options)
        assert (outcome.status, words in outcome.err) == (status, True), outcome.err
    assert len(VOTES) == 2
