"""Token scores against scikit-learn and hand-worked values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from sklearn.metrics import confusion_matrix as sklearn_confusion

from tagsift.errors import InputError
from tagsift.metrics import confusion_matrix, token_accuracy, token_scores

LABELS = ["B", "I", "O", "Z"]


def cut(flat: np.ndarray, seed: int) -> list[list[str]]:
    """Cut stacked tokens into sentences, some of them empty."""
    places = np.sort(np.random.default_rng(seed).integers(0, len(flat) + 1, size=8))
    return [part.tolist() for part in np.split(flat, places)]


@pytest.mark.parametrize("seed", range(10))
def test_equals_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    gold = rng.choice(LABELS[:3], size=60, p=[0.2, 0.1, 0.7])
    predicted = np.where(rng.random(60) < 0.4, rng.choice(LABELS, size=60), gold)
    scores = token_scores(cut(gold, seed), cut(predicted, seed))
    assert scores.accuracy == pytest.approx(accuracy_score(gold, predicted))
    assert scores.accuracy == token_accuracy(cut(gold, seed), cut(predicted, seed))
    in_gold = sorted(set(gold))
    assert scores.weighted_f1 == pytest.approx(
        f1_score(gold, predicted, average="weighted", zero_division=0)
    )
    assert scores.macro_f1 == pytest.approx(
        f1_score(gold, predicted, labels=in_gold, average="macro", zero_division=0)
    )
    per_label = precision_recall_fscore_support(
        gold, predicted, labels=list(scores.per_label), zero_division=0
    )
    ours = [(s.precision, s.recall, s.f1, s.n_gold) for s in scores.per_label.values()]
    np.testing.assert_allclose(np.array(ours).T, per_label)
    names, counts = confusion_matrix(cut(gold, seed), cut(predicted, seed), LABELS)
    assert names == tuple(LABELS)
    np.testing.assert_array_equal(
        counts, sklearn_confusion(gold, predicted, labels=LABELS)
    )


def test_by_hand_all_outside():
    # 3 of 4 tokens are O. O: precision 3/4, recall 1, F1 6/7; B: 0.
    scores = token_scores([["O", "B"], ["O", "O"], []], [["O", "O"], ["O", "O"], []])
    assert scores.accuracy == 0.75
    assert scores.sentence_accuracy == 0.5  # the empty sentence is left out
    assert scores.n_sentences == 2
    assert scores.weighted_f1 == pytest.approx(6 / 7 * 3 / 4)
    assert scores.macro_f1 == pytest.approx(3 / 7)
    assert scores.per_label["B"].n_gold == 1


def test_unknown_labels_and_lengths_are_named():
    with pytest.raises(InputError, match=r"Sentence 1, token 0 .* predicted label 'X'"):
        token_scores([["A"], ["A"]], [["A"], ["X"]], labels=["A", "B"])
    with pytest.raises(InputError, match="gold label 'A' is not among the 1 known"):
        token_scores([["A"]], [["B"]], labels=["B"])
    with pytest.raises(InputError, match="Sentence 0 .* 1 gold labels and 2 predicted"):
        token_scores([["A"]], [["A", "A"]])
    with pytest.raises(InputError, match="there twice"):
        token_scores([["A"]], [["A"]], labels=["A", "A"])
    with pytest.raises(InputError, match="…"):
        token_scores([["A"]], [["A"]], labels=[f"L{i}" for i in range(20)])


LABELLINGS = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=5),
    min_size=1,
    max_size=6,
).filter(lambda sentences: any(sentences))


@settings(max_examples=60, derandomize=True)
@given(LABELLINGS, st.randoms())
def test_bounds_and_order(sentences, random):
    def score(pairs):
        return token_scores(
            [[g for g, _ in s] for s in pairs], [[p for _, p in s] for s in pairs]
        )

    scores = score(sentences)
    for value in (scores.accuracy, scores.weighted_f1, scores.macro_f1):
        assert 0.0 <= value <= 1.0
    assert scores.sentence_accuracy <= scores.accuracy or scores.accuracy < 1.0
    assert (scores.accuracy == 1.0) == (scores.sentence_accuracy == 1.0)
    shuffled = list(sentences)
    random.shuffle(shuffled)
    assert score(shuffled) == scores
