"""``tagsift tag --engine``: folders in and out, and what cannot be done."""

from __future__ import annotations

import json

import pytest

import tagsift as package
from tagsift.data import bundled

pytest.importorskip("pyarrow", reason="needs the extra arrow")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    corpus = bundled("ner").with_columns(1)[:20]
    package.make("partial-crf").fit(corpus.tokens, corpus.labels).save(tmp_path / "m")
    (tmp_path / "texts").mkdir()
    for n in range(2):
        line = json.dumps({"id": n, "body": "Denver held Phoenix."})
        (tmp_path / "texts" / f"{n}.jsonl").write_text(line + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_tagged_once(tagsift, folder):
    tag = ["tag", "m", "texts", "out", "--engine", "local", "--text-key", "body"]
    told = tagsift(*tag, "--prefix", "my_")
    assert told.status == 0, told.err
    assert "out: 2 shards; 2 rows, 8 tokens" in told.out
    assert "out: 0 of 2 shards are there" in told.err
    record = json.loads((folder / "out" / "1.jsonl").read_text())
    assert list(record)[:3] == ["id", "body", "my_tokens"]
    again = tagsift(*tag, "--prefix", "my_", "-q", "--json")
    assert again.json["there_before"] == again.json["shards"] == 2
    assert again.err == ""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["texts", "--engine", "ray"], "expected a folder to read and one to write"),
        (["texts", "out"], "are for folders, with --engine"),
        (["texts", "--workers", "2"], "are for folders, with --engine"),
        (["texts", "out", "--engine", "local", "--workers", "2"], "--workers belongs"),
        (["texts", "out", "--engine", "local", "--spans"], "--spans is for single"),
        (
            ["texts", "out", "--engine", "local", "--from", "csv"],
            "--from is for single",
        ),
        (["none", "out", "--engine", "local"], "none: there is no such file or folder"),
        (["m", "out", "--engine", "local"], "m: expected shards that end in .parquet"),
        (["texts", "texts", "--engine", "local"], "expected a folder outside of texts"),
        (["texts", "m/out", "--engine", "local"], "m/out: cannot write the shard"),
        (["texts", "out", "--engine", "local"], "texts/0.jsonl: expected one column"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(tagsift, folder, options, sentence):
    told = tagsift("tag", "m", "-q", *options)
    assert told.status == 2
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert not list(folder.glob("out/*.jsonl"))
