"""Pages: `report`, and `--html` of other verbs."""

from __future__ import annotations

import pytest

import tagsift as package
from tagsift.data import Document, Layer, Mark

VOTES = ("--votes", "2:5")
FAST = ("--method", "majority", "-q")


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.fixture
def page(tmp_path):
    return tmp_path / "page.html"


def test_clean_and_fit_write_a_page_too(tagsift, votes, page, tmp_path):
    for verb in ("clean", "fit"):
        out = tmp_path / verb
        outcome = tagsift(verb, votes, *VOTES, *FAST, "-o", out, "--html", page)
        assert outcome.status == 0, outcome.err
        assert out.exists()
        for heading in ("Who is reliable", "Against the majority vote"):
            assert heading in text_of(page)
        assert "votes.tsv" in text_of(page)
        page.unlink()


def test_score_writes_a_page_too(tagsift, model, gold, page):
    assert tagsift("score", model, gold, "--html", page).status == 0
    assert "Scores on gold.conll" in text_of(page)
    assert "Confused labels" in text_of(page)
    plain = tagsift("score", "--pred", gold, gold, "--html", page, "--json").json
    assert plain["spans"]["micro"]["f1"] == 1.0
    assert "100.0 %" in text_of(page)


@pytest.mark.parametrize("verb", ["clean", "fit", "score"])
def test_a_page_that_cannot_be_written_is_told_first(
    tagsift, model, votes, gold, tmp_path, verb
):
    nowhere, out = tmp_path / "no" / "page.html", tmp_path / "out"
    given = [model, gold] if verb == "score" else [votes, *VOTES, *FAST, "-o", out]
    outcome = tagsift(verb, *given, "--html", nowhere)
    assert outcome.status == 2 and "no/page.html" in outcome.err
    assert not out.exists() and not outcome.out


@pytest.mark.parametrize("verb", ["clean", "fit"])
def test_a_page_does_not_take_the_place_of_a_result(tagsift, votes, tmp_path, verb):
    out = tmp_path / "out"
    outcome = tagsift(verb, votes, *VOTES, *FAST, "-o", out, "--html", out)
    assert outcome.status == 2 and "the same file" in outcome.err
    assert not out.exists()


@pytest.mark.parametrize("verb", ["clean", "fit", "rank", "report", "corrupt", "tag"])
def test_nothing_is_written_over_what_is_read(
    tagsift, model, gold, partial, tmp_path, verb
):
    given = {"tag": [model, gold, "--gold"], "corrupt": [gold, "--cl", 2]}
    arguments = given.get(verb, [partial, "--gold"])
    read = arguments[1] if verb == "tag" else arguments[0]
    before, other = read.read_bytes(), tmp_path / "link"
    other.symlink_to(read)
    for out in (read, other):
        outcome = tagsift(verb, *arguments, "-o", out)
        assert outcome.status == 2 and "take its place" in outcome.err
        assert read.read_bytes() == before


def test_a_model_against_labels_that_leave_nothing_open(tagsift, model, gold, page):
    told = tagsift("report", gold, "--model", model, "-o", page, "--json").json
    assert told["ambiguous_tokens"] == 0
    for heading in ("Scores", "What to check first", "How sure the labels are"):
        assert heading in text_of(page)


def test_labels_that_leave_nothing_open_are_one_annotators(tagsift, gold, page):
    quick = ("--set", "rounds=1", "--set", "folds=2", "-m", "partial-crf")
    told = tagsift("report", gold, *quick, "-o", page, "--json").json
    assert told["method"] == "vote-tagger"
    for heading in ("What to check first", "Against the majority vote"):
        assert heading in text_of(page)


def test_a_fitted_model_on_votes_and_candidates(
    tagsift, model, votes, partial, page, tmp_path
):
    assert (
        tagsift("report", partial, "--gold", "--model", model, "-o", page).status == 0
    )
    assert "What the candidates became" in text_of(page)
    known = tmp_path / "votes.tagsift"
    quick = ("--set", "rounds=1", "--set", "folds=2", "-m", "partial-crf", "-q")
    assert tagsift("fit", votes, *VOTES, *quick, "-o", known).status == 0
    outcome = tagsift("report", votes, *VOTES, "--model", known, "-o", page)
    assert outcome.status == 0, outcome.err
    assert "Who is reliable" in text_of(page)
    both = tagsift("report", votes, *VOTES, "--model", known, *FAST, "-o", page)
    assert both.status == 2 and "leave out --method" in both.err


def test_documents_with_and_without_labels(tagsift, page, tmp_path):
    words = "May saw Ann in Bonn today . "
    marks = [Mark(0, 3, ("PER",)), Mark(15, 19, ("LOC",))]
    layers = [Layer(name, marks=tuple(marks)) for name in ("ann", "bob")]
    for kept in (2, 1, 0):
        documents = [
            Document(str(n), words, layers=tuple(layers[:kept])) for n in range(6)
        ]
        path = tmp_path / f"{kept}.jsonl"
        package.write(documents, path)
    made = tmp_path / "m.tagsift"
    train = ("-m", "word-counts", "-q", "-o", made)
    assert tagsift("fit", tmp_path / "1.jsonl", *train).status == 0
    for kept in (2, 1, 0):
        path = tmp_path / f"{kept}.jsonl"
        outcome = tagsift("report", path, "--model", made, "-o", page)
        assert outcome.status == 0, outcome.err
        assert "At a glance" in text_of(page)
    page.unlink()
    outcome = tagsift("report", tmp_path / "0.jsonl", "-o", page)
    assert outcome.status == 2 and "found none" in outcome.err
    assert not page.exists()
