"""Bad input: one sentence on standard error, status 2, no file left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import LIMIT

COMMAND = [sys.executable, "-m", "tagsift"]
HEAD = b"the\tDT\tB-NP\n"


def refused(outcome, *words: str) -> None:
    assert outcome.status == 2
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("tagsift: error: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty file"]),
        (HEAD + b"dog\tNN\n", ["line 2", "3 columns", "found 2"]),
        (HEAD + b"dog\tNN\t\n", ["line 2", "column 3 empty"]),
        (HEAD + b"d\0g\tNN\tO\n", ["line 2", "NUL"]),
        (HEAD + b"d\xffg\tNN\tO\n", ["line 2", "UTF-8", "0xff"]),
        (HEAD + b"dog\tNN\tO|B-NP\n", ["sentence 1, token 2", "'B-NP|O'"]),
    ],
    ids=["empty", "ragged", "no-label", "nul", "latin-1", "candidates"],
)
def test_bad_gold_files(tagsift, tmp_path, content, words):
    path, out = tmp_path / "gold.conll", tmp_path / "out.conll"
    path.write_bytes(content)
    refused(tagsift("corrupt", path, "-o", out, "--cl", 3), str(path), *words)
    assert sorted(os.listdir(tmp_path)) == ["gold.conll"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"dog\tNN\tB-NP||O\n", ["line 2", "empty one"]),
        (b"dog\tNN\tB-NP|?\n", ["line 2", "'?' alone"]),
        (b"dog\tNN\tB-XX\n", ["line 2", "'B-XX'", "labels"]),
    ],
    ids=["empty-candidate", "any-among-others", "unknown-label"],
)
def test_bad_candidates(tagsift, tmp_path, line, words):
    path, out = tmp_path / "partial.conll", tmp_path / "model"
    path.write_bytes(HEAD + line)
    outcome = tagsift(
        "fit", path, "-o", out, "-m", "word-counts", "--labels", "B-NP,I-NP,O"
    )
    refused(outcome, str(path), *words)
    assert not out.exists()


@pytest.mark.parametrize("verb", ["corrupt", "fit", "clean"])
def test_missing_file_and_directory(tagsift, tmp_path, verb):
    out = tmp_path / "out"
    more = ["--cl", "3"] if verb == "corrupt" else ["-m", "word-counts"]
    refused(tagsift(verb, tmp_path / "none", "-o", out, *more), "none", "found none")
    refused(tagsift(verb, tmp_path, "-o", out, *more), "directory")
    assert os.listdir(tmp_path) == []


def test_output_is_a_directory(tagsift, gold, tmp_path):
    refused(tagsift("corrupt", gold, "-o", tmp_path, "--cl", 3), "directory")
    target = tmp_path / "none" / "out"
    refused(tagsift("corrupt", gold, "-o", target, "--cl", 3), "cannot write")


@pytest.mark.parametrize("verb", ["fit", "clean", "rank", "tag", "corrupt", "demo"])
def test_outputs_are_tried_before_the_work(
    tagsift, gold, model, tmp_path, verb, monkeypatch
):
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("nothing may be read or fitted yet")

    for name in ("read", "load", "bundled"):
        monkeypatch.setattr(f"tagsift.{name}", work, raising=False)
    first = {"tag": [model, gold], "demo": []}.get(verb, [gold])
    out = tmp_path if verb == "demo" else tmp_path / "none" / "out"
    refused(tagsift(verb, *first, "-o", out), str(out))
    assert not (tmp_path / "none").exists()


def test_a_failed_run_keeps_the_old_output(tagsift, gold, tmp_path):
    out = tmp_path / "out"
    out.write_text("old")
    gold.write_text("a\tO\nb\n")
    refused(tagsift("fit", gold, "-o", out), "line 2")
    refused(tagsift("clean", gold, "-o", out), "line 2")
    assert out.read_text() == "old"


def test_lengths_of_gold_and_prediction_differ(tagsift, gold, tmp_path):
    pred = tmp_path / "pred.conll"
    text = gold.read_text()
    pred.write_text(text + "one\tCD\tO\n")
    refused(tagsift("score", "--pred", pred, gold), "20 sentences", "found 21")
    pred.write_text(text.replace("barks\tVBZ\tB-VP\n", "", 1))
    refused(tagsift("score", "--pred", pred, gold), "sentence 1", "2 tokens here and 3")
    pred.write_text(text.replace("dog", "fox", 1))
    refused(tagsift("score", "--pred", pred, gold), "'fox' here and 'dog'")


def test_score_wants_the_right_number_of_files(tagsift, gold, model):
    refused(tagsift("score", gold), "MODEL and GOLD")
    refused(tagsift("score", "--pred", gold, model, gold), "found 2 files and --pred")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["corrupt", "{gold}", "-o", "{out}"], ["either cl or r"]),
        (["corrupt", "{gold}", "-o", "{out}", "--cl", "0"], ["at least 1"]),
        (["corrupt", "{gold}", "-o", "{out}", "--cl", "x"], ["--cl", "integer"]),
        (["corrupt", "{gold}", "-o", "{out}", "--cl", "2000000000"], ["at most 10000"]),
        (["corrupt", "{gold}", "-o", "{out}", "--r", "2"], ["[0, 1]"]),
        (["corrupt", "{gold}", "-o", "{out}", "--cl", "3", "--labels", "A,A"], ["A,A"]),
        (["corrupt", "{gold}", "-o", "{out}", "--cl", "3", "--labels", "A,B"], ["A"]),
        (["corrupt", "{gold}", "-o", "{out}", "--cl", "3", "--scheme", "x"], ["'x'"]),
        (["corrupt", "{gold}"], ["--out"]),
        (["fit", "{part}", "--gold", "-o", "{out}", "-m", "nothing"], ["'nothing'"]),
        (
            ["fit", "{part}", "--gold", "-o", "{out}", "-m", "word-counts"]
            + ["--set", "colour=red"],
            ["colour"],
        ),
        (
            ["fit", "{part}", "--gold", "-o", "{out}", "--set", "colour"],
            ["NAME=VALUE"],
        ),
        (
            ["fit", "{votes}", "-o", "{out}", "--votes", "0:3", "-m", "word-counts"],
            ["counted from 1"],
        ),
        (
            ["fit", "{votes}", "-o", "{out}", "--votes", "2:50000000"],
            ["at most 100000"],
        ),
        (
            ["fit", "{votes}", "-o", "{out}", "--votes", "2:9", "-m", "word-counts"],
            ["1:5"],
        ),
        (
            ["fit", "{votes}", "-o", "{out}", "--votes", "2:4", "--labels", "A"],
            ["--labels"],
        ),
        (["rank", "{part}", "--gold", "--by", "disagreement"], ["--votes"]),
        (["agree", "{votes}"], ["--votes 2:6"]),
        (["agree", "{votes}", "--from", "label-studio"], ["JSON"]),
        (["agree", "{votes}", "--from", "jsonl"], ["no JSON"]),
        (
            ["fit", "{part}", "-o", "{out}", "--from", "jsonl", "--gold"],
            ["--gold", "column files"],
        ),
        (["rank", "{part}", "--gold", "--by", "luck"], ["luck"]),
        (
            ["clean", "{part}", "-o", "{out}", "--model", "{model}", "-m", "wknn"],
            ["--model"],
        ),
        (["tag", "{gold}", "{gold}"], ["safetensors"]),
        (["info", "{tmp}"], ["directory"]),
        (["info", "{tmp}/none"], ["no such model file"]),
        (["dance"], ["dance"]),
        (["methods", "--colour"], ["--colour"]),
    ],
    ids=lambda value: "-".join(value)[:60] if isinstance(value, list) else None,
)
def test_misuse(tagsift, gold, partial, votes, model, tmp_path, arguments, words):
    out = tmp_path / "out"
    places = {
        "gold": gold,
        "part": partial,
        "votes": votes,
        "model": model,
        "tmp": tmp_path,
        "out": out,
    }
    before = sorted(os.listdir(tmp_path))
    outcome = tagsift(*(text.format(**places) for text in arguments))
    refused(outcome, *words)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_fault_of_our_own_is_one_sentence(tagsift, monkeypatch):
    monkeypatch.setattr("tagsift.methods", lambda: 1 / 0, raising=False)
    refused(tagsift("methods"), "a fault in tagsift itself", "ZeroDivisionError")
    monkeypatch.setenv("TAGSIFT_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        tagsift("methods")


def test_not_enough_memory_is_one_sentence(tagsift, monkeypatch):
    def hungry() -> None:
        raise MemoryError

    monkeypatch.setattr("tagsift.methods", hungry, raising=False)
    refused(tagsift("methods"), "not enough memory")


def test_ctrl_c_is_130(tagsift, monkeypatch):
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tagsift.methods", stop, raising=False)
    outcome = tagsift("methods")
    assert outcome.status == 130
    assert "Ctrl-C" in outcome.err


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_exit_status_of_the_program(gold: Path, tmp_path: Path):
    assert run("--version").returncode == 0
    missing = run("corrupt", tmp_path / "none", "-o", tmp_path / "o", "--cl", 3)
    assert missing.returncode == 2
    assert missing.stderr.count("\n") == 1
    assert "Traceback" not in missing.stderr
    wrong = tmp_path / "wrong"
    wrong.write_text(gold.read_text().replace("\tB-NP\n", "\tO\n"))
    short = run("score", "--pred", wrong, gold, "--fail-under", 0.9)
    assert short.returncode == 1
    percent = run("score", "--pred", gold, gold, "--fail-under", 90)
    assert percent.returncode == 2 and "less than or equal to 1" in percent.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission(gold: Path, tmp_path: Path):
    gold.chmod(0)
    refused_read = run("corrupt", gold, "-o", tmp_path / "out", "--cl", 3)
    gold.chmod(0o600)
    assert refused_read.returncode == 2
    assert "permission denied" in refused_read.stderr
    tmp_path.chmod(0o500)
    refused_write = run("corrupt", gold, "-o", tmp_path / "out", "--cl", 3)
    tmp_path.chmod(0o700)
    assert refused_write.returncode == 2
    assert "permission denied" in refused_write.stderr
    assert os.listdir(tmp_path) == ["gold.conll"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(gold: Path, unbuffered: str):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        outcome = subprocess.run(
            [*COMMAND, "score", "--pred", str(gold), str(gold)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert outcome.returncode == 2
    assert "no space left" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_a_closed_pipe_is_quiet(text: Path, model: Path, tmp_path: Path):
    long = tmp_path / "long.conll"
    long.write_text(text.read_text() * 5000)
    with subprocess.Popen(
        [*COMMAND, "tag", str(model), str(long)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == ""
        assert program.wait(timeout=LIMIT) == 141


def test_a_closed_pipe_as_output_file_is_quiet(text: Path, model: Path, tmp_path: Path):
    long = tmp_path / "long.conll"
    long.write_text(text.read_text() * 5000)
    with subprocess.Popen(
        [*COMMAND, "tag", str(model), str(long), "-o", "/dev/stdout"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == ""
        assert program.wait(timeout=LIMIT) == 141


def test_start_up_without_arguments_is_help():
    outcome = run()
    assert outcome.returncode in (0, 2)
    assert "Usage" in outcome.stdout + outcome.stderr
    assert "Traceback" not in outcome.stderr
