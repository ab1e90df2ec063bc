"""``tagsift tag``: raw text and other formats, streamed."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import tagsift as package
from tests.io.formats.files import read as read_documents
from tests.waiting import LIMIT

COMMAND = [sys.executable, "-m", "tagsift"]
TEXTS = [["Ann", "lives", "in", "Rome", "."], ["Bob", "Ross", "left", "Oslo", "."]]
LABELS = [["B-PER", "O", "O", "B-LOC", "O"], ["B-PER", "I-PER", "O", "B-LOC", "O"]]
RAW = "Ann lives in Rome. Bob Ross left.\n\nBob\u00a0Ross left Oslo.\r\n"


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "words.tagsift"
    package.make("partial-crf").fit(TEXTS * 3, LABELS * 3).save(path)
    return path


@pytest.fixture
def raw(tmp_path) -> Path:
    path = tmp_path / "raw.txt"
    path.write_bytes(RAW.encode())
    return path


@pytest.fixture
def stdin(monkeypatch):
    def put(text: str) -> None:
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
        monkeypatch.setattr(sys, "stdin", stream)

    return put


def test_raw_text_becomes_columns(tagsift, words, raw, tmp_path):
    found = tagsift("tag", words, raw)
    assert found.status == 0, found.err
    blocks = found.out.split("\n\n")
    assert [len(block.split("\n")) for block in blocks[:-1]] == [5, 4, 5]
    assert blocks[0].startswith("Ann\tB-PER\nlives\tO\n")
    assert blocks[2].startswith("Bob\tB-PER\nRoss\tI-PER\n")
    out = tmp_path / "out.conll.gz"
    assert tagsift("tag", words, raw, "-o", out).status == 0
    assert gzip.decompress(out.read_bytes()).decode() == found.out
    told = tagsift("tag", words, raw, "-o", out, "--json").json
    assert (told["sentences"], told["tokens"]) == (3, 14)


def test_spans(tagsift, words, raw):
    found = tagsift("tag", words, raw, "--spans")
    first, second = map(json.loads, found.out.splitlines())
    assert first["id"] == "1" and second["id"] == "3"
    for record in (first, second):
        for span in record["spans"]:
            assert record["text"][span["start"] : span["end"]] == span["text"]
            assert 0 < span["score"] <= 1
    assert [(s["text"], s["label"]) for s in second["spans"]] == [
        ("Bob\u00a0Ross", "PER"),
        ("Oslo", "LOC"),
    ]


def test_any_format_in_and_out(tagsift, words, raw, tmp_path):
    out = tmp_path / "out.jsonl"
    assert tagsift("tag", words, raw, "--to", "jsonl", "-o", out).status == 0
    first, second = read_documents(out)
    assert (first.text, second.id) == (RAW.split("\n")[0], "3")
    assert first.layers[-1].annotator == "tagsift"
    assert tagsift("tag", words, out).out == tagsift("tag", words, raw).out
    assert tagsift("tag", words, out, "--to", "text").status == 2
    assert "read only" in tagsift("tag", words, out, "--to", "text").err


@pytest.mark.parametrize("name", ["label-studio", "doccano", "argilla", "brat"])
def test_tokens_made_for_the_model_are_no_loss(tagsift, words, raw, tmp_path, name):
    out = tmp_path / "out"
    outcome = tagsift("tag", words, raw, "--to", name, "-o", out)
    assert outcome.status == 0 and "tokens" not in outcome.err
    assert read_documents(out, name)[0].layers[-1].marks


def test_documents_come_back_as_they_came(tagsift, words, tmp_path):
    """Ids, offsets and data stay; labels are predictions; nothing else is lost."""
    result = {
        "id": "r1",
        "from_name": "ner",
        "to_name": "txt",
        "type": "labels",
        "value": {"start": 3, "end": 11, "text": "Bob Ross", "labels": ["PER"]},
    }
    task = {
        "id": 17,
        "data": {"text": "\U0001f989. Bob Ross left Oslo. Bye", "src": 3},
        "annotations": [{"id": 3, "completed_by": 5, "result": [result]}],
    }
    path, out = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(json.dumps([task]))
    options = ("--to", "label-studio", "--strict", "-o", out)
    found = tagsift("tag", words, path, *options, "--shape", "full")
    assert found.status == 0, found.err
    (full,) = json.loads(out.read_text())
    assert full["annotations"] == task["annotations"]
    found = tagsift("tag", words, path, *options)
    assert found.status == 0, found.err
    (back,) = json.loads(out.read_text())
    assert back["annotations"] == [] and back["predictions"] == full["predictions"]
    assert back["id"] == 17 and back["data"] == task["data"]
    (said,) = back["predictions"]
    spans = [(r["value"]["start"], r["value"]["text"]) for r in said["result"]]
    assert {(3, "Bob Ross"), (17, "Oslo")} <= set(spans)
    assert all(0 < r["score"] <= 1 for r in said["result"])


def test_standard_input_is_raw_text(tagsift, words, raw, stdin):
    stdin(RAW)
    expected = tagsift("tag", words, raw).out
    assert tagsift("tag", words, "-").out == expected
    stdin(RAW)
    assert tagsift("tag", words, "-", "--json").json["sentences"][0] == {
        "tokens": ["Ann", "lives", "in", "Rome", "."],
        "labels": ["B-PER", "O", "O", "B-LOC", "O"],
    }
    stdin(expected)
    columns = ["--columns", "token,label"]
    assert tagsift("tag", words, "-", *columns).out == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ann\tB-PER\nleft\tO\n\n", "conll"),
        ("Ann\nleft\n\nBob\nstays\nhere\n", "conll"),
        ('{"text": "Ann"}\n', "jsonl"),
    ],
)
def test_other_things_on_standard_input_are_asked_about(
    tagsift, words, stdin, tmp_path, text, name
):
    stdin(text)
    found = tagsift("tag", words, "-")
    assert found.status == 2 and found.out == ""
    assert f"--from {name}" in found.err and "standard input" in found.err
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert tagsift("tag", words, path).status == 2
    assert tagsift("tag", words, path, "--from", "text").status == 0


def test_how_text_is_cut(tagsift, words, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Ann's wrapped\nline.\n")
    cut = tagsift("tag", words, path, "--tokenizer", "spaces").out
    assert cut.split()[::2] == ["Ann's", "wrapped", "line."]
    joined = tagsift("tag", words, path, "--from-shape", "paragraphs").out
    assert joined.count("\n\n") == 1
    assert tagsift("tag", words, path).out.count("\n\n") == 2
    assert "--tokenizer" in tagsift("tag", "--help").out
    assert tagsift("tag", words, path, "--tokenizer", "x").status == 2


def test_one_kind_of_output(tagsift, words, raw):
    found = tagsift("tag", words, raw, "--spans", "--marginals")
    assert found.status == 2 and "choose one" in found.err
    table = tagsift("tag", words, raw, "--marginals").out.splitlines()[0].split("\t")
    assert table[:2] == ["Ann", "B-PER"] and len(table) == 3 + 4
    assert float(table[2]) > 0.5


def test_the_ending_of_the_output(tagsift, words, raw, tmp_path):
    expected = tagsift("tag", words, raw).out
    for name in ("a.conll", "a.tsv", "a", "a.out"):
        assert tagsift("tag", words, raw, "-o", tmp_path / name).status == 0
        assert (tmp_path / name).read_text() == expected
    assert tagsift("tag", words, raw, "--to", "conll").out == expected
    lines = tmp_path / "a.jsonl"
    found = tagsift("tag", words, raw, "-o", lines)
    assert found.status == 2 and "expected --to" in found.err
    assert not lines.exists()
    assert tagsift("tag", words, raw, "-o", lines, "--spans").status == 0
    assert tagsift("tag", words, raw, "-o", lines, "--to", "jsonl").status == 0
    again = tmp_path / "b.jsonl"
    assert tagsift("tag", words, lines, "-o", again).status == 0
    assert len(read_documents(again)[0].layers) == 2


def test_a_model_remembers_the_tokenizer_of_its_documents(tagsift, tmp_path):
    train, model = tmp_path / "train.jsonl", tmp_path / "m.tagsift"
    marks = [{"start": 0, "end": 5, "label": "PER"}]
    layer = {"annotator": "eve", "spans": marks}
    records = [{"text": f"Ann's cat, {k}.", "layers": [layer]} for k in ("one", "two")]
    train.write_text("".join(json.dumps(one) + "\n" for one in records))
    options = ("-m", "partial-crf", "--tokenizer", "spaces", "-q")
    assert tagsift("fit", train, "-o", model, *options).status == 0
    assert package.load(model).tag("Ann's cat.").tokens == ("Ann's", "cat.")
    assert "raw text is cut by spaces" in tagsift("info", model).out


def test_nothing_to_tag(tagsift, words, tmp_path, stdin):
    empty = tmp_path / "a.txt"
    empty.write_text("\n \n")
    assert tagsift("tag", words, empty).out == ""
    stdin("")
    assert tagsift("tag", words, "-").status == 0


def test_a_closed_standard_input_is_empty(words):
    line = f"{sys.executable} -m tagsift tag {words} - <&-"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(
        line, shell=True, capture_output=True, env=env, timeout=LIMIT
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")


def start(model: Path, *options: str, **pipes: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "tag", str(model), "-", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        **pipes,
    )


def test_a_line_is_answered_before_the_next_one_comes(words):
    with start(words, "--spans", stdin=subprocess.PIPE) as program:
        assert program.stdin and program.stdout
        for name in ("Ann", "Bob"):
            program.stdin.write(f"{name} left Oslo.\n".encode())
            program.stdin.flush()
            said = json.loads(program.stdout.readline())
            assert said["text"] == f"{name} left Oslo."
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=LIMIT)
    assert program.returncode == 130
    assert err.count(b"\n") == 1 and b"Ctrl-C" in err


@pytest.mark.parametrize("options", [(), ("--spans",), ("--to", "jsonl")])
def test_text_without_end_and_a_reader_who_goes(words, options):
    with subprocess.Popen(["yes", "Ann left."], stdout=subprocess.PIPE) as yes:
        assert yes.stdout
        with start(words, *options, stdin=yes.stdout.fileno()) as program:
            yes.stdout.close()
            assert program.stdout and program.stderr
            assert b"Ann" in program.stdout.readline()
            program.stdout.close()
            assert program.stderr.read() == b""
            assert program.wait(timeout=LIMIT) == 141
