"""What `clean` leaves in documents: whole spans, or nothing where one was."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tagsift as package
from tagsift.data import Document, Layer, Mark, spans
from tests.io.formats.files import read as read_documents

TEXT = "Wir fuhren nach Bad Tölz. Anna blieb in Neu Ulm."
#: Whole names, and the parts of them that some annotators marked.
BAD, TÖLZ, ANNA, NEU, ULM = (16, 24), (20, 24), (26, 30), (40, 47), (44, 47)
KINDS = dict.fromkeys((BAD, TÖLZ, NEU, ULM), "LOC") | {ANNA: "PER"}


def documents() -> list[Document]:
    made = []
    for n in range(9):
        said = {
            "ann": (BAD, ANNA, NEU),
            "bob": (BAD if n % 3 else TÖLZ, ANNA, NEU if n % 2 else ULM),
            "eve": (TÖLZ if n % 2 else BAD, *([ANNA] * bool(n % 4)), ULM),
        }
        layers = tuple(
            Layer(
                who, marks=tuple(Mark(*x, ("PER" if x == ANNA else "LOC",)) for x in s)
            )
            for who, s in said.items()
        )
        made.append(Document(str(n + 1), TEXT, layers=layers))
    return made


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    package.write(documents(), path, "label-studio")
    return path


def scored(path: Path) -> list[dict[tuple[int, int, str], float]]:
    """Spans of the predictions of every task, with their scores."""
    return [
        {
            (r["value"]["start"], r["value"]["end"], *r["value"]["labels"]): r["score"]
            for r in task["predictions"][0]["result"]
        }
        for task in json.loads(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("least", [0.9, 0.998])
def test_a_span_stays_or_goes_as_a_whole(tagsift, export, tmp_path, least):
    options = ["--to", "label-studio", "-m", "dawid-skene", "-q", "-o"]
    assert tagsift("clean", export, *options, tmp_path / "all.json").status == 0
    sure = ["--min-confidence", least]
    outcome = tagsift("clean", export, *options, tmp_path / "sure.json", *sure)
    assert outcome.status == 0, outcome.err
    whole, left = scored(tmp_path / "all.json"), scored(tmp_path / "sure.json")
    assert left == [
        {span: score for span, score in one.items() if score >= least} for one in whole
    ]
    size, gone = sum(map(len, whole)), sum(map(len, whole)) - sum(map(len, left))
    assert 0 < gone < size
    assert f"{gone} of {size} spans are less sure than asked for" in outcome.out
    assert "without a label" not in outcome.err


@pytest.mark.parametrize("name", ["hf", "csv", "jsonl"])
def test_tokens_of_an_unsure_span_are_all_open(tagsift, export, tmp_path, name):
    """Where a format keeps tokens, none of a span that goes keeps its label."""
    tokens = tmp_path / "tokens.jsonl"
    done = [one.cut(package.data.cut_text) for one in documents()]
    package.write(done, tokens, "jsonl")
    options = ["--to", name, "-m", "dawid-skene", "-q", "-o"]
    assert tagsift("clean", tokens, *options, tmp_path / "all").status == 0
    sure = ["--min-confidence", 0.9]
    assert tagsift("clean", tokens, *options, tmp_path / "sure", *sure).status == 0
    whole, left = (tagged(tmp_path / one, name) for one in ("all", "sure"))
    assert left != whole
    for before, after in zip(whole, left, strict=True):
        exact = ["O" if tag is None else tag for tag in after]
        assert set(spans(exact, "iob2")) <= set(spans(before, "iob2"))


def test_a_table_comes_back_as_a_table(tagsift, tmp_path):
    """As a spreadsheet saved it, and with all that a column file would say."""
    path, out = tmp_path / "votes.csv", tmp_path / "out.csv"
    rows = ["Bad;B-LOC;B-LOC;O", "Tölz;I-LOC;I-LOC;B-LOC", "Ulm;O;O;B-LOC"]
    lines = [f"{n};{row}" for n in range(9) for row in rows]
    lines = ["\ufeffSatz;word;ann;bob;eve", *lines, ""]
    path.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    options = ["clean", path, "--votes", "3:5", "-m", "dawid-skene", "-q", "-o"]
    assert tagsift(*options, out).status == 0
    content = out.read_text(encoding="utf-8")
    assert content.startswith("\ufeffSatz;word;vote:ann;vote:bob;vote:eve;")
    table = content.removeprefix("\ufeff").splitlines()
    cells = list(csv.DictReader(filter(None, table), delimiter=";"))
    assert tagsift(*options, tmp_path / "columns").status == 0
    columns = (tmp_path / "columns").read_text(encoding="utf-8").splitlines()
    columns = [line.split("\t") for line in columns if line]
    assert len(columns) == len(cells) == 27
    for (word, label, sure, tally, differs), row in zip(columns, cells, strict=True):
        assert (row["word"], row["model:tagsift"]) == (word, label)
        assert float(row["confidence:tagsift"]) == float(sure)
        said = row["tally:tagsift"], row["differs:tagsift"]
        assert said == (tally, differs)
    again = tmp_path / "again.csv"
    assert tagsift("convert", out, again).status == 0
    assert again.read_bytes() == out.read_bytes()
    assert read_documents(out)[0].rows[0] == ("Bad",)  # nothing became a feature
    outcome = tagsift("agree", out, "--votes", "3:5", "--quick")
    assert "from 3 annotators" in outcome.out
    assert "labels that is not among the votes, left out" in outcome.err


def tagged(path: Path, name: str) -> list[list[str]]:
    """Tags that were found, by document."""
    found = []
    for one in read_documents(path, name):
        (layer,) = (layer for layer in one.layers if layer.annotator == "tagsift")
        found.append(list(layer.tags))
    return found
