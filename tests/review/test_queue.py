"""What comes next, and under which filter."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.review.corpus_view import CorpusView
from tagsift.review.http_errors import Refusal
from tagsift.review.queue import Filter, Marks, matching
from tagsift.review.state import first_look, queue_order
from tests.review.conftest import corpus_of


def slow_order(scores: list[float], sentences: list[int]) -> list[int]:
    """Groups one by one: the first of a sentence, and what is half as doubtful."""
    groups = []
    for s in sorted(set(sentences)):
        rest = [k for k in range(len(scores)) if sentences[k] == s]
        top = max(scores[k] for k in rest)
        while rest:
            bound = top / 2
            group = [k for k in rest if scores[k] > bound]
            if group:
                groups.append((-max(scores[k] for k in group), s, group))
            rest = [k for k in rest if k not in group]
            top = bound
    return [k for _, _, group in sorted(groups) for k in group]


def test_the_order_is_that_of_the_slow_twin():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.random(40) ** 3
        sentences = np.sort(rng.integers(6, size=40))
        made = queue_order(scores, sentences).tolist()
        assert made == slow_order(scores.tolist(), sentences.tolist())
        # No look is worth less than half of the best one that is left.
        for place, k in enumerate(made):
            assert scores[k] >= 0.5 * scores[made[place:]].max()


def test_votes_that_are_split_come_first(view: CorpusView):
    found = first_look(view)
    first = [int(found.sentence[k]) for k in found.order[:5]]
    assert set(first) == {0, 1}
    split = found.kinds[found.order[0]]
    assert found.reason(int(found.order[0])) == "annotators are split", split
    assert found.reason(int(found.order[-1])) == ""


def shown(view: CorpusView, marks: Marks, **wanted) -> list[tuple[int, str]]:
    found = first_look(view)
    marks.over(found)
    mask = matching(found, marks, "ann", Filter.of(wanted))
    begin = found.begin
    words = [word for row in view.words for word in row]
    return [
        (int(found.sentence[k]), " ".join(words[begin[k] : begin[k + 1]]))
        for k in np.flatnonzero(mask)
    ]


def test_filters(view: CorpusView):
    marks = Marks(first_look(view))
    assert len(shown(view, marks)) == 14  # 16 tokens, two spans of two
    assert shown(view, marks, label="LOC") == [(0, "New York"), (1, "Paris")]
    assert shown(view, marks, label=["LOC"], q="bob") == [(1, "Paris")]
    assert shown(view, marks, annotator="bob") == [(0, "Ann Lee"), (1, "Paris")]
    split = [(0, "New York"), (0, "Ann Lee"), (1, "Bob"), (1, "Paris")]
    assert shown(view, marks, kind="split") == split
    assert shown(view, marks, q="NOBODY", label="O") == [
        (2, "Nobody"),
        (2, "came"),
        (2, "."),
    ]
    assert shown(view, marks, label="nothing") == []
    assert shown(view, marks, annotator="nobody", kind="none") == []


def test_states(view: CorpusView):
    marks = Marks(first_look(view))
    marks.checked[1:3] = True  # New York
    marks.flagged[3] = True  # Ann
    marks.skipped["ann"] = np.zeros_like(marks.checked)
    marks.skipped["ann"][7] = True  # Ann of the second sentence
    left = shown(view, marks)
    assert not {(0, "New York"), (0, "Ann Lee"), (1, "Ann")} & set(left)
    assert shown(view, marks, state="checked") == [(0, "New York")]
    assert shown(view, marks, state="flagged") == [(0, "Ann Lee")]
    assert shown(view, marks, state="skipped") == [(1, "Ann")]


@pytest.mark.parametrize(
    "told", [{"state": "x"}, {"q": "x" * 201}, {"label": {"a": 1}}, {"q": ["a"]}]
)
def test_filters_that_are_none_are_refused(told):
    with pytest.raises(Refusal):
        Filter.of(told)


def test_candidate_sets_have_a_queue_too():
    partial = corpus_of().union()
    found = first_look(CorpusView(partial))
    first = int(found.order[0])
    assert len(partial[int(found.sentence[first])].candidates) > 1
    assert found.chance[found.worst[first]] == pytest.approx(np.log(2), abs=1e-3)


def test_labels_that_a_decision_may_need_are_there():
    votes = corpus_of([["Paris", "is"]], [[["B-LOC", "B-LOC"]] * 3])
    assert set(CorpusView(votes).classes) == {"B-LOC", "I-LOC", "O"}
    plain = corpus_of([["Paris", "is"]], [[["NN", "VB"]] * 3], scheme="plain")
    assert CorpusView(plain).classes == ("NN", "VB")
    assert CorpusView(plain).types == ("NN", "VB")
