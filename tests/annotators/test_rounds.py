"""The rounds: where they begin, and how readily the tagger sees spans in new text."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift.annotators.cross_fit import ScoredPart, TextScores
from tagsift.annotators.rounds import Consensus, vote_likelihood
from tagsift.chain.layout import ChainLayout
from tests.reference.annotators import table_of

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
        table=table_of(np.zeros((24, 1), dtype=int)),
        labels=model.best(evidence),
        confidences=model.marginals(evidence, CALM),
        text=model.marginals(),
        evidence=evidence,
        log_pi=np.zeros((0, 3, 1, 3)),
        weights=(1.0, 1.0),
        temperature=CALM,
        history=[],
        model=model,
    )


def test_the_bonus_by_enumeration(found: Consensus):
    """The best sequences of the text, and what text and votes say of them."""
    part, p = found.model.parts[0], found.confidences
    hits = both = 0.0
    for lo in range(0, 24, 4):
        U = part.U[lo : lo + 4]  # [4, L]

        def score(labels: tuple[int, ...], U: np.ndarray = U) -> float:
            moves = sum(part.T[a, b] for a, b in itertools.pairwise(labels))
            own = U[np.arange(4), labels].sum() + part.start[labels[0]]
            return float(own + moves)

        best = max(itertools.product(range(3), repeat=4), key=score)
        for row, label in zip(p[lo : lo + 4], best, strict=True):
            hits += row[label] if CLASSES[label] != "O" else 0.0
            both += (CLASSES[label] != "O") + row[:2].sum()
    f1 = 2 * hits / both
    expected = np.log((2 - f1) / f1) / CALM
    assert 0.2 < f1 < 0.9
    assert found.bonus_of_new_text(CLASSES, "iob2") == pytest.approx(expected)


def test_plain_tags_have_none(found: Consensus):
    assert found.bonus_of_new_text(("A", "B", "C"), "plain") == 0.0


def test_the_likelihood_of_votes_by_loops():
    rng = np.random.default_rng(1)
    text, votes = rng.dirichlet(np.ones(3), size=7), rng.normal(size=(7, 3))
    voted = np.arange(7) % 3 > 0
    expected = sum(
        np.log(sum(q * np.exp(e) for q, e in zip(text[n], votes[n], strict=True)))
        for n in np.flatnonzero(voted)
    )
    assert vote_likelihood(text, votes, voted) == pytest.approx(expected, abs=1e-6)
