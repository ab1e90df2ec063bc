"""The command line: what is looked at, and by which model. Nothing is served here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra 'review' is absent")

import tagsift
from tagsift.annotators import VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.cli import main
from tagsift.data import corrupt, simulate_votes
from tagsift.io.columns import write_columns
from tagsift.review import serving

CORPUS = tagsift.bundled("ner").with_columns(1)[:12]


class Seen:
    """What the command would serve."""

    def __init__(self) -> None:
        self.desk = self.model = self.fitted = None


@pytest.fixture
def seen(monkeypatch, tmp_path) -> Seen:
    found = Seen()
    monkeypatch.chdir(tmp_path)

    class Idle:
        model, busy, failed = "", False, None

        def __init__(self, view, model, *, fitted=False):
            found.model, found.fitted = model, fitted

        def learn(self, exact, then, revision):
            found.exact = exact

        def close(self):
            pass

    def serve(desk, taken, *, password, ready):
        found.desk, found.password = desk, password
        ready(f"http://127.0.0.1:{taken.getsockname()[1]}/?token=x")

    monkeypatch.setattr(tagsift.review, "Worker", Idle)
    monkeypatch.setattr(serving, "serve", serve)
    return found


def review(*arguments: object) -> int:
    return main(["review", *map(str, arguments), "--port", "0"])


def test_votes(seen, capsys):
    write_columns("votes.tsv", simulate_votes(CORPUS, random_state=0), gold=False)
    assert review("votes.tsv", "--votes", "2:6", "--abstain", "w04") == 0
    told = capsys.readouterr()
    assert "Review: http://127.0.0.1" in told.out
    assert "0 decisions are in votes.tsv.review.db" in told.out
    assert Path("votes.tsv.review.db").exists()
    assert isinstance(seen.model, VoteTagger) and not seen.fitted
    view = seen.desk.view
    assert view.title == "votes.tsv"
    assert [one.name for one in view.corpus.annotators if one.abstains] == ["w04"]
    assert seen.exact == {} and seen.password is None


def test_candidate_sets(seen):
    tagsift.write(
        corrupt(CORPUS, cl=3, p=0.2, random_state=0), "partial.conll", gold=False
    )
    assert review("partial.conll", "--method", "partial-crf") == 0
    assert not seen.desk.view.counted.has_votes and isinstance(seen.model, PartialCRF)


def test_exact_labels_are_the_votes_of_one(seen):
    tagsift.write(CORPUS, "gold.conll", gold=False)
    assert review("gold.conll") == 0
    view = seen.desk.view
    assert [one.name for one in view.corpus.annotators] == ["labels"]
    assert isinstance(seen.model, VoteTagger)
    assert seen.desk.ledger.labels() == [list(row) for row in CORPUS.labels]


def test_documents_of_an_annotation_tool(seen):
    lines = [
        {"text": "Ann met Bob in Paris.", "label": [[0, 3, "PER"], [15, 20, "LOC"]]},
        {"text": "Nobody came. Ann went.", "label": [[13, 16, "PER"]]},
    ]
    Path("d.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert review("d.jsonl", "--from", "doccano", "--store", "mine.db") == 0
    view = seen.desk.view
    assert Path("mine.db").exists() and view.types == ("PER", "LOC")
    assert [place.document for place in view.places] == ["1", "2", "2"]


def test_text_and_a_model(seen, capsys):
    PartialCRF().fit(CORPUS).save("m.tagsift")
    Path("letters.txt").write_text("Ann met Bob in Paris.\n\nNobody came.\n")
    told = ("letters.txt", "--from", "text")
    assert review(*told) == 2
    assert "expected labels" in capsys.readouterr().err
    assert review(*told, "--model", "m.tagsift") == 0
    assert seen.fitted and set(seen.desk.view.types) == {
        "LOC",
        "MISC",
        "ORG",
        "PER",
    }


def test_for_machines(seen, capsys):
    write_columns("votes.tsv", simulate_votes(CORPUS, random_state=0), gold=False)
    assert review("votes.tsv", "--votes", "2:6", "--o-means", "outside", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["address"].startswith("http://127.0.0.1:")
    assert told["store"] == "votes.tsv.review.db" and told["sentences"] == 12


def test_others_are_let_in_by_a_password(seen, capsys):
    write_columns("votes.tsv", simulate_votes(CORPUS, random_state=0), gold=False)
    Path("password").touch(mode=0o600)
    Path("password").write_text("open sesame\nand no more\n")
    told = ("--host", "0.0.0.0", "--password-file", "password")
    assert review("votes.tsv", "--votes", "2:6", *told) == 0
    assert seen.password == "open sesame"
    assert "nothing is encrypted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (("--method", "pl-svm"), "gives no confidences"),
        (("--set", "nonsense=1"), "has no setting"),
        (("--method", "nonsense"), "nonsense"),
    ],
)
def test_methods_that_do_not_do(seen, capsys, told, sentence):
    write_columns("votes.tsv", simulate_votes(CORPUS, random_state=0), gold=False)
    assert review("votes.tsv", "--votes", "2:6", *told) == 2
    assert sentence in capsys.readouterr().err
    assert not list(Path().glob("*.db"))


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_extra_it_is_one_sentence(monkeypatch, capsys, package):
    for name in [*sys.modules]:
        if name.startswith((package, "tagsift.review.app", "tagsift.review.serving")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert review("votes.tsv", "--votes", "2:6") == 2
    told = capsys.readouterr().err
    assert f"needs the package '{package}'" in told and "'.[review]'" in told
