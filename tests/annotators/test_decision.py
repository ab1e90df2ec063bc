"""Labels of highest expected F1, against all label sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift.annotators.cross_fit import ScoredPart, TextScores
from tagsift.annotators.decision import decide
from tagsift.annotators.rounds import Consensus
from tagsift.chain.layout import ChainLayout
from tagsift.chain.span_bonus import expected_f1, span_bonus
from tagsift.data import spans

CLASSES = ("B-X", "I-X", "O")
CALM = 0.8


@pytest.fixture
def found() -> Consensus:
    """Six sentences of four tokens, whose text and votes are known."""
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 25, 4)
    part = ScoredPart(
        np.arange(24),
        rng.normal(size=(24, 3)) + [0.0, 0.0, 1.0],
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
        ChainLayout.from_offsets(offsets),
    )
    model, evidence = TextScores([part], 24), rng.normal(size=(24, 3))
    return Consensus(
        labels=model.best(evidence),
        confidences=model.marginals(evidence, CALM),
        text=model.marginals(),
        evidence=evidence,
        log_pi=np.zeros((0, 3, 1, 3)),
        temper=1.0,
        calm=CALM,
        history=[],
        model=model,
    )


def likeliest(found: Consensus, evidence: np.ndarray, bonus: float) -> list[int]:
    """The best of all label sequences, sentence by sentence."""
    part, best = found.model.parts[0], []
    for lo in range(0, 24, 4):
        U = part.U[lo : lo + 4] + evidence[lo : lo + 4]  # [4, L]

        def score(labels: tuple[int, ...], U: np.ndarray = U) -> float:
            names = [CLASSES[k] for k in labels]
            moves = sum(part.T[a, b] for a, b in itertools.pairwise(labels))
            own = U[np.arange(4), labels].sum() + part.start[labels[0]]
            return float(own + moves + bonus * len(spans(names, "iob2")))

        best += max(itertools.product(range(3), repeat=4), key=score)
    return best


def test_labels_and_bonus_by_enumeration(found: Consensus):
    inside = np.array([True, True, False])
    f1 = expected_f1(found.labels, found.confidences, inside)
    text = np.array(likeliest(found, np.zeros((24, 3)), 0.0))
    of_text = expected_f1(text, found.confidences, inside)
    decided, bonus = decide(found, CLASSES, "iob2")
    wanted = likeliest(found, found.evidence, span_bonus(f1) / CALM)
    assert decided.labels.tolist() == wanted
    assert wanted != found.labels.tolist()
    assert bonus == pytest.approx(span_bonus(of_text, 1 / CALM))
    assert bonus > span_bonus(f1, 1 / CALM)  # the text alone knows less


def test_plain_tags_are_left_as_they_are(found: Consensus):
    decided, bonus = decide(found, ("A", "B", "C"), "plain")
    assert decided is found and bonus == 0.0
