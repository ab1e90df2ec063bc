"""What is said beside a result: once, quietly where asked; no number for nothing."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
import typer.main

from tagsift.cli import app

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands
TEXT = "Eva Braun kam nach Berlin."


@pytest.fixture
def overlapping(tmp_path: Path) -> Path:
    """Prodigy's answers of two people, with spans that overlap."""
    path = tmp_path / "answers.jsonl"
    spans = [(0, 9, "PER"), (4, 9, "PER"), (19, 25, "LOC")]
    marked = [{"start": a, "end": b, "label": label} for a, b, label in spans]
    lines = [
        {"text": TEXT, "spans": marked, "answer": "accept", "_annotator_id": who}
        for who in ("ann", "bob")
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.mark.parametrize("verb", ["clean", "rank"])
def test_notes_are_said_once_a_command(tagsift, overlapping, tmp_path, verb):
    """Spans are put on tokens to be learnt from, and again to be written."""
    options = ("-m", "majority", "--to", "conll", "-o", tmp_path / "out.tsv")
    told = tagsift(verb, overlapping, *options, "--json")
    assert told.status == 0, told.err
    notes = told.err.splitlines()
    kinds = [re.sub(r" \(first: .*", "", line) for line in notes]
    assert sum("overlapping span" in kind for kind in kinds) == 1
    assert len(set(kinds)) == len(kinds)
    again = tagsift(verb, overlapping, *options, "--json")
    assert again.err == told.err  # every command says its own


@pytest.mark.parametrize(
    "arguments",
    [
        ["clean", "-m", "word-counts", "--to", "conll", "-o", "{out}"],
        ["rank", "-m", "majority"],
        ["fit", "-m", "majority", "-o", "{out}"],
        ["agree", "--quick"],
        ["report", "-m", "majority", "-o", "{out}"],
        ["convert", "{out}", "--to", "conll"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_quiet_silences_notes_and_no_errors(tagsift, overlapping, tmp_path, arguments):
    out = tmp_path / "out"
    verb, *options = (part.format(out=out) for part in arguments)
    told = tagsift(verb, overlapping, *options)
    assert told.status == 0 and "note: " in told.err
    told = tagsift(verb, overlapping, *options, "--quiet")
    assert (told.status, told.err) == (0, "")
    told = tagsift(verb, overlapping, *options, "--quiet", "--strict")
    assert told.status == 2 and "--strict forbids it" in told.err


def test_tag_writes_the_shape_that_is_asked_for(tagsift, overlapping, tmp_path):
    model, text, out = (
        tmp_path / "m.tagsift",
        tmp_path / "text.txt",
        tmp_path / "out.jsonl",
    )
    assert tagsift("fit", overlapping, "-m", "majority", "-o", model).status == 0
    text.write_text(f"{TEXT}\n", encoding="utf-8")
    for shape in ("label", "entities"):
        options = ("--to", "doccano", "--shape", shape, "-o", out)
        assert tagsift("tag", model, text, *options).status == 0
        assert shape in json.loads(out.read_text(encoding="utf-8"))


def test_only_what_writes_documents_says_in_which_shape():
    writers = {"clean", "convert", "rank", "tag"}
    for name, command in COMMANDS.items():
        options = {option for one in command.params for option in one.opts}
        assert ("--shape" in options) == (name in writers)
        assert "--out" not in options or name != "agree"


# Nobody to agree with -------------------------------------------------------------


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """Votes of one annotator, and of one who labelled nothing."""
    path = tmp_path / "votes.tsv"
    rows = "Rome\tB-LOC\t?\nand\tO\t?\nEva\tB-PER\t?\nfell\tO\t?\n\n"
    path.write_text(rows * 30, encoding="utf-8")
    return path


@pytest.mark.parametrize("quick", [["--quick"], []])
def test_one_annotator_agrees_with_nobody(tagsift, alone, quick):
    options = ("--votes", "2:3", "-q", *quick)
    told = tagsift("agree", alone, *options)
    assert told.status == 0, told.err
    assert not re.search(r"\d%|\d %", told.out)
    figures = tagsift("agree", alone, *options, "--json").json
    for name in ("pairwise_agreement", "fleiss_kappa", "krippendorff_alpha"):
        assert figures[name] is None
    for one, flag in zip(
        figures["annotators"], ("labelled alone", "labelled nothing"), strict=True
    ):
        for name in ("reliability", "precision", "recall", "f1"):
            assert one[name] is None
        assert one["flags"][0].startswith(flag)
    assert "from 1 annotator\n" in tagsift("agree", alone, "--votes", "2:2", "-q").out


def test_the_truth_judges_one_annotator(tagsift, alone, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text(alone.read_text(encoding="utf-8").replace("?", "O"))
    told = tagsift("agree", path, "--votes", "2:2", "--gold", "--quick", "--json").json
    assert told["annotators"][0]["reliability"] is None
    assert told["annotators"][0]["true_f1"] == 0.0


def test_those_who_share_no_token_are_not_judged_by_votes(tagsift, tmp_path):
    path = tmp_path / "votes.tsv"
    one, other = "Rome\tB-LOC\t?\nfell\tO\t?\n\n", "Rome\t?\tB-LOC\nfell\t?\tO\n\n"
    path.write_text((one + other) * 20, encoding="utf-8")
    people = tagsift("agree", path, "--votes", "2:3", "--quick", "--json").json
    assert [one["reliability"] for one in people["annotators"]] == [None, None]
    # Nor is there anybody beside a source that says nothing of any token.
    path.write_text("Rome\tB-LOC\tO\nfell\tO\tO\n\n" * 20, encoding="utf-8")
    options = ("--votes", "2:3", "--quick", "--json", "--abstain", "w01")
    people = tagsift("agree", path, *options).json
    assert [one["reliability"] for one in people["annotators"]] == [None, None]


def test_who_is_silent_has_no_reliability_beside_others(tagsift, votes, tmp_path):
    path = tmp_path / "silent.tsv"
    lines = votes.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{line}\t?\n" if line else "\n" for line in lines))
    options = ("--votes", "2:6", "--quick")
    *others, silent = tagsift("agree", path, *options, "--json").json["annotators"]
    assert silent["reliability"] is None and silent["tokens"] == 0
    assert all(0.0 <= one["reliability"] <= 1.0 for one in others)
    drawn = tagsift("agree", path, *options).out
    assert re.search(r"w04 +│ +– │ +0 │", drawn)
    assert drawn.index("w00") < drawn.index("w04")


def test_the_report_has_no_number_for_one_annotator(tagsift, alone, tmp_path):
    page = tmp_path / "page.html"
    options = ("--votes", "2:2", "-q", "-m", "majority", "-o", page)
    assert tagsift("report", alone, *options).status == 0
    text = page.read_text(encoding="utf-8")
    assert "1 annotator labelled" in text
    section = text.split('id="who-is-reliable"')[1].split("</table>")[0]
    assert (
        "labelled alone: nobody to compare with" in section and "100.0" not in section
    )


# Plain text -----------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_no_markup(tagsift, name):
    assert "`" not in tagsift(name, "--help").out


def test_pages_have_no_markup(tagsift, gold, tmp_path):
    page = tmp_path / "page.html"
    assert tagsift("report", gold, "-m", "word-counts", "-q", "-o", page).status == 0
    assert "`" not in page.read_text(encoding="utf-8")


def test_messages_have_no_markup():
    """What `raise`, `warn_user` and the command line say is shown as it stands."""
    for path in (ROOT / "tagsift").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func).rpartition(".")[2]
            if name.endswith("Error") or name in (
                "complain",
                "note",
                "say",
                "warn_user",
            ):
                assert "`" not in ast.unparse(call), f"{path}: {ast.unparse(call)[:90]}"
