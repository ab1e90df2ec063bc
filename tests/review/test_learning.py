"""Fits with what was decided, here and in a process of their own."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tagsift
from tagsift.annotators import VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.data import simulate_votes
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError
from tagsift.review.corpus_view import CorpusView
from tagsift.review.learning import Student, Worker
from tests.waiting import LIMIT, until

SENTENCES = 40


@pytest.fixture(scope="module")
def votes() -> Corpus:
    text = tagsift.bundled("ner").with_columns(1)[:SENTENCES]
    return simulate_votes(text, random_state=0)


@pytest.fixture(scope="module")
def view(votes) -> CorpusView:
    return CorpusView(votes)


def said_by(corpus: Corpus) -> dict[str, list[list[str | None]]]:
    """What every annotator said of every sentence, by name."""
    return {
        who.name: [one.votes.get(who.name, [None] * len(one)) for one in corpus]
        for who in corpus.annotators
    }


def tagger(**more) -> VoteTagger:
    return VoteTagger(PartialCRF(l2=3.0), rounds=2, folds=2, random_state=0, **more)


def test_a_fit_is_that_of_the_tagger(view, votes):
    found = Student(view, tagger()).study({})
    model = tagger().fit(votes)
    assert [found.cleaned.sentences[s] for s in range(SENTENCES)] == model.transduction_
    looks = [look for look in model.looks("span")]
    order = np.argsort(-found.chance[found.worst], kind="stable")
    assert [found.chance[found.worst[k]] for k in order] == pytest.approx(
        [look.score for look in looks]
    )
    named = {(one.name, one.reliability) for one in found.annotators}
    assert named == {(one.name, one.reliability) for one in model.annotators_}
    first = int(order[0])
    s = int(found.sentence[first])
    place = (s, int(found.begin[first] - view.offsets[s]))
    assert (looks[0].sentence, looks[0].start) == place
    assert found.reason(first) == looks[0].reason


def test_what_was_decided_is_exact_in_the_next_fit(view):
    student = Student(view, tagger())
    before = student.study({})
    s = int(before.sentence[before.order[0]])
    row: list[str | None] = [None] * view.lengths[s]
    row[0] = "B-MISC" if before.cleaned.sentences[s][0] != "B-MISC" else "O"
    after = student.study({s: row})
    assert after.revision == 2 and after.cleaned.sentences[s][0] == row[0]
    n = int(view.offsets[s])
    assert after.chance[n] == 0 and after.cleaned.confidences[n].max() == pytest.approx(
        1
    )
    # Nothing of this process's view was changed by it.
    assert view.corpus.exact is None and view.counted.corpus.exact is None


def test_a_label_that_nobody_gave_is_learnt(votes):
    """E.g. the first span of two tokens of a type whose spans were all single."""
    only = {
        name: [[v if v and v[0] == "B" else "O" for v in row] for row in rows]
        for name, rows in said_by(votes).items()
    }
    few = Corpus.from_lists(votes.rows, votes=only)
    view = CorpusView(few)
    assert "I-LOC" in view.classes and "I-LOC" not in few.label_set
    student = Student(view, tagger())
    student.study({})
    row: list[str | None] = [None] * view.lengths[0]
    row[:2] = ["B-LOC", "I-LOC"]
    assert student.study({0: row}).cleaned.sentences[0][:2] == ["B-LOC", "I-LOC"]


def test_candidate_sets_become_exact(votes):
    view = CorpusView(votes.union())
    student = Student(view, PartialCRF())
    student.study({})
    row: list[str | None] = ["B-MISC", *[None] * (view.lengths[3] - 1)]
    found = student.study({3: row})
    assert found.cleaned.sentences[3][0] == "B-MISC" and found.annotators == ()
    assert {found.reason(int(k)) for k in found.order[:3]} <= {
        "the text leaves it open",
        "",
    }


def test_a_fitted_model_is_asked_first_and_learns_then(view, votes):
    model = tagger().fit(votes[:30])
    student = Student(view, model, fitted=True)
    found = student.study({})
    labels, _ = model.recover(votes)
    assert [found.cleaned.sentences[s] for s in range(SENTENCES)] == labels
    row: list[str | None] = ["B-MISC", *[None] * (view.lengths[35] - 1)]
    assert student.study({35: row}).cleaned.sentences[35][0] == "B-MISC"


def test_text_that_nobody_has_labelled_needs_a_model(votes):
    """Its beliefs hold where nothing was decided, and give way where it was."""
    model = PartialCRF().fit(votes[:30].union())
    labels = tuple(model.classes_)
    bare = [[None] * len(row) for row in votes.rows]
    text = Corpus.from_lists(votes.rows, bare, label_set=labels, scheme="iob2")
    student = Student(CorpusView(text, known=labels), model, fitted=True)
    found = student.study({})
    said, _ = model.recover(text)
    assert [found.cleaned.sentences[s] for s in range(SENTENCES)] == said
    row: list[str | None] = ["B-MISC", *[None] * (len(said[35]) - 1)]
    again = student.study({35: row})
    assert again.cleaned.sentences[35][0] == "B-MISC"
    same = [a == b for a, b in zip(again.labels, found.labels, strict=True)]
    assert np.mean(same) > 0.9


def test_a_text_model_judges_the_labels_of_one_annotator(votes):
    """A label that the model does not believe comes first; later fits weigh it."""
    gold = tagsift.bundled("ner").with_columns(1)[:SENTENCES]
    model = PartialCRF().fit(gold.rows, gold.labels)
    said = [list(row) for row in gold.labels]
    place = next(t for t, name in enumerate(said[5]) if name == "O")
    said[5][place] = "B-LOC"
    one = Corpus.from_lists(gold.rows, votes={"labels": said})
    student = Student(CorpusView(one), model, fitted=True)
    found = student.study({})
    assert found.cleaned.sentences[5][place] == "B-LOC"
    first = int(found.order[0])
    assert found.sentence[first] == 5 and found.reason(first).startswith("the text")
    row: list[str | None] = [None] * len(said[5])
    row[place] = "O"
    again = student.study({5: row})
    assert (
        isinstance(student.model, VoteTagger)
        and again.cleaned.sentences[5][place] == "O"
    )
    assert again.annotators[0].name == "labels"


def test_a_fitted_model_that_counts_votes(view, votes):
    """It has no memory of annotators: first the union of the votes, then the votes."""
    model = tagsift.DawidSkene().fit(votes[:30])
    student = Student(view, model, fitted=True)
    assert student.study({}).revision == 1
    row: list[str | None] = ["B-MISC", *[None] * (view.lengths[35] - 1)]
    assert student.study({35: row}).cleaned.sentences[35][0] == "B-MISC"


def test_labels_that_only_the_model_knows(votes):
    few = votes[:10]
    model = tagger().fit(votes)
    labels = tuple(model.classes_)
    outside = [["O"] * len(row) for row in few.rows]
    only = Corpus.from_lists(
        few.rows,
        votes=dict.fromkeys(said_by(few), outside),
        annotators=few.annotators,
        scheme="iob2",
    )
    student = Student(CorpusView(only, known=labels), model, True)
    assert student.study({}).view.types == ("LOC", "MISC", "ORG", "PER")


def test_a_method_without_confidences_is_refused(view):
    with pytest.raises(InputError, match="gives no confidences"):
        Student(view, tagsift.make("pl-svm")).study({})


class Inbox:
    """Waits for what a fit finds."""

    def __init__(self) -> None:
        self.found, self.there = None, threading.Event()

    def __call__(self, found, content) -> None:
        self.found = found
        self.there.set()

    def wait(self):
        assert self.there.wait(LIMIT)
        return self.found


def test_a_process_fits_and_fails_in_one_sentence(view):
    worker = Worker(view, tagger())
    try:
        inbox = Inbox()
        worker.learn({}, inbox)
        assert worker.busy
        found = inbox.wait()
        same = Student(view, tagger()).study({})
        assert (found.labels == same.labels).all() and found.order.tolist() == (
            same.order.tolist()
        )
        assert found.view is view and not worker.busy and not worker.failed
        bad: list[str | None] = ["NO SUCH LABEL"] * view.lengths[0]
        worker.learn({0: bad}, inbox)
        until(lambda: not worker.busy)
        assert worker.failed is not None and worker.failed.endswith(".")
        # A process that is gone is started again.
        worker._process.kill()
        worker._process.join()
        until(lambda: not worker._listener.is_alive())
        inbox = Inbox()
        worker.learn({}, inbox, 1)
        assert inbox.wait().revision == 2 and worker.failed is None
    finally:
        worker.close()
