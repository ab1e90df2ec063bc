"""Files of every format on the command line, and labels back in the same place."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import tagsift as package
from tagsift.data import Document, Layer, Mark
from tests.io.formats.files import read as read_documents

TEXT = "Ms. May left New York. 🦉 May fell."


def marks(*labels: str) -> tuple[Mark, ...]:
    places = ((4, 7), (13, 21), (25, 28))
    return tuple(
        Mark(a, b, (label,))
        for (a, b), label in zip(places, labels, strict=True)
        if label
    )


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """Label Studio's tasks, three people each."""
    said = {
        "ann": marks("PER", "LOC", "PER"),
        "bob": marks("PER", "LOC", ""),
        "eve": marks("", "ORG", "PER"),
    }
    layers = tuple(Layer(name, marks=found) for name, found in said.items())
    docs = [Document(str(40 + n), TEXT, layers=layers, meta={"n": n}) for n in range(6)]
    path = tmp_path / "export.json"
    package.write(docs, path, "label-studio")
    return path


def tasks(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_predictions_go_back_into_label_studio(tagsift, export, tmp_path):
    out = tmp_path / "tasks.json"
    options = ["-m", "dawid-skene", "-o", out, "--json"]
    outcome = tagsift("clean", export, "--to", "label-studio", *options)
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""  # nothing was lost
    before, after = tasks(export), tasks(out)
    assert [t["id"] for t in after] == [t["id"] for t in before] == list(range(40, 46))
    for old, new in zip(before, after, strict=True):
        assert new["annotations"] == []  # an import would refuse the people
        assert new["data"] == old["data"]
        (made,) = new["predictions"]
        assert made["model_version"] == "tagsift"
        found = [
            (r["value"]["text"], r["value"]["labels"], TEXT[slice(*_bounds(r))])
            for r in made["result"]
        ]
        assert found == [
            ("May", ["PER"], "May"),
            ("New York", ["LOC"], "New York"),
            ("May", ["PER"], "May"),
        ]
        assert all(0 < r["score"] <= 1 for r in made["result"])
    by_ending = tmp_path / "again.json"
    assert tagsift("clean", export, *options[:-3], "-o", by_ending, "-q").status == 0
    assert tasks(by_ending) == after
    full = tmp_path / "full.json"
    assert tagsift("clean", export, *options, "--shape", "full", "-o", full).status == 0
    assert tasks(full) == [
        old | {"predictions": new["predictions"]}
        for old, new in zip(before, after, strict=True)
    ]


def _bounds(result: dict) -> tuple[int, int]:
    return result["value"]["start"], result["value"]["end"]


def test_columns_without_to(tagsift, export, tmp_path):
    out = tmp_path / "clean.tsv"
    options = ["-m", "dawid-skene", "--json"]
    told = tagsift("clean", export, *options, "-o", out).json
    assert told["tokens"] == 6 * 10
    assert out.read_text(encoding="utf-8").startswith("Ms.\tO\t")


def test_rank_puts_the_doubtful_first(tagsift, export, tmp_path):
    changed = tasks(export)
    for one in changed[:4]:  # all agree
        result = one["annotations"][0]["result"]
        one["annotations"] = [{**a, "result": result} for a in one["annotations"]]
    export.write_text(json.dumps(changed), encoding="utf-8")
    out = tmp_path / "first.json"
    options = ["-m", "dawid-skene", "-o", out, "--to", "label-studio", "-q"]
    outcome = tagsift("rank", export, *options)
    assert outcome.status == 0, outcome.err
    assert "the most doubtful first" in outcome.out
    found = tasks(out)
    assert {t["id"] for t in found[:2]} == {44, 45}
    doubts = [t["data"]["doubt"] for t in found]
    assert doubts == sorted(doubts, reverse=True)
    assert [t["annotations"] for t in found] == [[]] * 6  # as an import takes them
    assert [len(t["predictions"]) for t in found] == [1] * 6
    assert tagsift("rank", export, "--to", "label-studio").status == 2


def test_fit_agree_report_and_score(tagsift, export, tmp_path):
    model = tmp_path / "m.tagsift"
    assert tagsift("fit", export, "-m", "dawid-skene", "-o", model, "-q").status == 0
    told = tagsift("agree", export, "--quick", "--json").json
    assert [one["name"] for one in told["annotators"]] == ["ann", "bob", "eve"]
    page = tmp_path / "page.html"
    assert tagsift("report", export, "-o", page, "-q").status == 0
    gold = tmp_path / "gold.jsonl"
    truth = Layer("gold", "gold", marks=marks("PER", "LOC", "PER"))
    package.write([Document("1", TEXT, layers=(truth,))], gold)
    assert tagsift("score", model, gold, "--json").status == 0
    same = tagsift("score", "--pred", gold, gold, "--json").json
    assert same["spans"]["micro"]["f1"] == 1.0


def test_more_annotators_with_another_file(tagsift, export, tmp_path):
    models = tmp_path / "models.jsonl"
    quotes = [{"label": "PER", "quote": "May"}, {"label": "LOC", "quote": "new york"}]
    lines = [
        {"id": n, "text": TEXT, "models": {"a": quotes, "b": quotes[:1]}}
        for n in range(40, 46)
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    models.write_text(text, encoding="utf-8")
    told = tagsift("agree", export, "--with", models, "--quick", "--json").json
    named = [one["name"] for one in told["annotators"]]
    assert named == ["ann", "bob", "eve", "a", "b"]
    out = tmp_path / "all.jsonl"
    assert tagsift("convert", export, out, "--with", models).status == 0
    assert len(read_documents(out).annotators) == 5


def test_convert(tagsift, export, tmp_path):
    lines, again = tmp_path / "a.jsonl", tmp_path / "again.json"
    outcome = tagsift("convert", export, lines)
    assert outcome.status == 0, outcome.err
    assert "6 documents with 18 annotations, from label-studio to jsonl" in outcome.out
    assert tagsift("convert", lines, again, "--to", "label-studio").status == 0
    assert tasks(again) == tasks(export)
    one = ["convert", lines, tmp_path / "b.jsonl.gz", "--to", "doccano", "--json"]
    told = tagsift(*one, "--layer", "bob").json
    assert (told["documents"], told["annotations"]) == (6, 6)
    assert "annotator's name, which doccano does not keep" in told["losses"]
    columns = tmp_path / "a.conll"
    assert tagsift("convert", lines, columns).status == 0
    votes = tagsift("agree", columns, "--votes", "2:4", "--quick", "--json")
    assert votes.status == 0, votes.err


@pytest.mark.parametrize("to", ["doccano", "conllu"])
def test_a_file_for_one_annotator_takes_one_of_several(tagsift, export, tmp_path, to):
    out = tmp_path / f"a.{to}"
    outcome = tagsift("convert", export, out, "--to", to)
    assert outcome.status == 2 and not out.exists()
    assert "found those of ann, bob, eve; say whose with --layer" in outcome.err
    assert ("or write a folder or a .zip file" in outcome.err) == (to == "doccano")
    assert tagsift("convert", export, out, "--to", to, "--layer", "eve").status == 0
    key = [] if to == "doccano" else ["--label-key", "NER"]
    back = tmp_path / "back.json"
    again = ["convert", out, back, "--from", to, "--to", "label-studio", *key]
    assert tagsift(*again, "--annotator", "eve").status == 0
    quotes = [
        [(r["value"]["text"], *r["value"]["labels"]) for r in one["result"]]
        for task in tasks(back)
        for one in task["annotations"]
    ]
    assert [name for one in quotes for name in one] == 6 * [
        ("New York", "ORG"),
        ("May", "PER"),
    ]
    outcome = tagsift("convert", export, out, "--to", to, "--layer", "dan")
    assert outcome.status == 2 and "one of ann, bob, eve, found 'dan'" in outcome.err
    assert tagsift("convert", export, tmp_path / "users", "--to", "doccano").status == 0
    assert len(list((tmp_path / "users").iterdir())) == 3
    # labels found are what a file of one annotator is for
    found = tmp_path / "found"
    options = ["-m", "dawid-skene", "-q", "-o", found]
    assert tagsift("clean", export, "--to", to, *options).status == 0


def test_models_share_one_suggestion_of_argilla(tagsift, tmp_path):
    path, out = tmp_path / "a.jsonl", tmp_path / "b.json"
    layers = tuple(Layer(name, "model", marks=marks("PER", "LOC", "")) for name in "xy")
    package.write([Document("1", TEXT, layers=layers)], path)
    outcome = tagsift("convert", path, out, "--to", "argilla")
    assert outcome.status == 2 and "found those of x, y; say whose" in outcome.err
    outcome = tagsift("convert", path, out, "--to", "argilla", "--layer", "y")
    assert outcome.status == 0
    (record,) = tasks(out)
    assert record["suggestions"]["spans"]["agent"] == "y"


def test_strict_leaves_nothing_behind(tagsift, export, tmp_path):
    out = tmp_path / "a.jsonl"
    options = ["--to", "doccano", "--layer", "ann", "--strict"]
    outcome = tagsift("convert", export, out, *options)
    assert outcome.status == 2 and "--strict forbids it" in outcome.err
    assert not out.exists()


def test_standard_input_and_output(tagsift, export, monkeypatch, capsys):
    content = export.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    options = ["--from", "label-studio", "--to", "jsonl"]
    outcome = tagsift("convert", "-", "-", *options)
    assert outcome.status == 0
    assert len(outcome.out.splitlines()) == 6
    assert "6 documents" in outcome.err
    asked = tagsift("convert", "-", "-", "--to", "jsonl")
    assert asked.status == 2 and "--from" in asked.err


def test_spans_off_the_tokens_of_the_source(tagsift, tmp_path):
    path, out = tmp_path / "a.jsonl", tmp_path / "out.conll"
    span = {"start": 3, "end": 7, "label": "LOC"}
    tokens = [{"text": "Newyork", "start": 0, "end": 7, "id": 0, "ws": True},
              {"text": "is", "start": 8, "end": 10, "id": 1, "ws": False}]  # fmt: skip
    record = {"text": "Newyork is", "tokens": tokens, "spans": [span]}
    path.write_text(json.dumps(record), encoding="utf-8")
    outcome = tagsift("convert", path, out)
    assert "span off the token bounds, widened to tokens" in outcome.err
    assert out.read_text(encoding="utf-8").startswith("Newyork\tB-LOC\n")
    assert tagsift("convert", path, out, "--misaligned", "drop").status == 0
    assert out.read_text(encoding="utf-8").startswith("Newyork\tO\n")
    refused = tagsift("convert", path, out, "--misaligned", "error")
    assert refused.status == 2 and "see --misaligned" in refused.err
    wrong = tagsift("convert", path, out, "--misaligned", "x")
    assert wrong.status == 2 and "expand, contract, drop, error" in wrong.err


def test_labels_of_one_annotator_are_exact_candidates(tagsift, tmp_path):
    corpus = package.bundled("ner")[:12]
    package.write(corpus, tmp_path / "a.jsonl", "doccano")
    out = tmp_path / "clean.tsv"
    options = ["--method", "word-counts", "-o", out]
    outcome = tagsift("clean", tmp_path / "a.jsonl", *options)
    assert outcome.status == 0, outcome.err
    assert "0 of them were ambiguous" in outcome.out
    votes = tagsift("agree", tmp_path / "a.jsonl")
    assert votes.status == 2 and "votes of several annotators, found 1" in votes.err


def test_an_unknown_format_is_refused_by_name(tagsift, tmp_path):
    (tmp_path / "a.x").write_text("x\n", encoding="utf-8")
    outcome = tagsift("fit", tmp_path / "a.x", "--from", "wiki", "-o", tmp_path / "m")
    assert outcome.status == 2
    assert "label-studio, doccano" in outcome.err
    out = tmp_path / "o.json"
    outcome = tagsift("clean", tmp_path / "a.x", "--to", "llm", "-o", out)
    assert outcome.status == 2 and "read only" in outcome.err


def test_tables_with_columns_of_votes(tagsift, tmp_path):
    """As a spreadsheet saves them: a mark at the start, semicolons, quoted cells."""
    path, out = tmp_path / "votes.csv", tmp_path / "out.jsonl"
    rows = ['1;"Ann";PER;PER;O', '1;"a ""b"" ;";O;O;O', "2;Bob;PER;O;PER"]
    table = "\ufeffsentence;word;ann;bob;eve\r\n" + "\r\n".join(rows) + "\r\n"
    path.write_text(table, encoding="utf-8", newline="")
    assert tagsift("convert", path, out, "--votes", "3:5").status == 0
    assert read_documents(out, "jsonl").annotators == ("ann", "bob", "eve")
    how = ("--votes", "3:5", "-m", "majority", "--scheme", "plain", "--to", "jsonl")
    assert tagsift("clean", path, *how, "-o", out).status == 0
    found = [one.layers[-1].tags for one in read_documents(out, "jsonl")]
    assert found == [("PER", "O"), ("PER",)]
    outcome = tagsift("agree", path, "--votes", "3:9")
    assert outcome.status == 2
    assert "columns of votes among the 5, found 9" in outcome.err
