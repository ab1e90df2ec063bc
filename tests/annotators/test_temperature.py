"""The factor of the confidences, and what it is estimated from, against slow twins."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagsift
from tagsift.annotators import VoteTable, VoteTagger
from tagsift.annotators.confusion import vote_evidence
from tagsift.annotators.temperature import confidence_temperature, contradiction
from tagsift.annotators.vote_weight import judge_score, preferred_weight
from tests.reference.annotators import careful, cast, corpus_of, table_of
from tests.reference.corpora import corpora, law


def draw(n=400, seed=0, differ=0.3, people=3, abstaining=()):
    """Labels, text, evidence of votes, table: who differs says any other label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    other = (labels[:, None] + rng.integers(1, 3, size=(n, people))) % 3
    votes = np.where(rng.random(other.shape) < differ, other, labels[:, None])
    text = rng.dirichlet(np.ones(3), size=n) * 0.5 + 0.5 * np.eye(3)[labels]
    evidence = 2.0 * np.eye(3)[votes].sum(axis=1)
    return labels, text, evidence, table_of(votes, abstaining=abstaining)


def factor(labels, text, evidence, table, weights=None):
    weights = np.ones(table.n_annotators) if weights is None else weights
    preferred = preferred_weight(text, evidence)
    return confidence_temperature(labels, table, weights, preferred)


@law
@given(corpora(exact=True), st.integers(0, 999))
def test_contradiction_is_that_of_a_loop(corpus, seed):
    table, rng = VoteTable(corpus), np.random.default_rng(seed)
    labels = rng.integers(table.n_labels, size=table.n_tokens)
    weights = rng.choice([0.5, 1.0], size=table.n_annotators)
    heard = defaultdict[int, list[tuple[float, bool]]](list)
    for n, a, said, *_ in cast(table):
        if labels[n] != table.outside and table.exact[n] < 0:
            heard[n].append((weights[a], labels[n] not in said))
    several = [votes for votes in heard.values() if sum(w for w, _ in votes) > 1]
    votes = [vote for some in several for vote in some]
    against = sum(weight * differs for weight, differs in votes)
    share = against / sum(weight for weight, _ in votes) if votes else 0.0
    found, n_tokens = contradiction(labels, table, weights)
    assert (found, n_tokens) == (pytest.approx(share), len(several))


def test_the_preferred_weight_is_where_the_score_is_flat():
    _, text, evidence, _ = draw(seed=1)
    temper = preferred_weight(text, evidence)
    assert 0.05 < temper < 1.4
    h = 1e-3 * temper
    up, down = (judge_score(text, evidence, temper + s) for s in (h, -h))
    middle = judge_score(text, evidence, temper)
    bend = (up + down - 2 * middle) / h**2
    assert bend < 0
    assert abs((up - down) / (2 * h) / bend) < 2e-3 * temper


@pytest.mark.parametrize("differ", [0.0, 0.2, 0.35, 0.5])
def test_the_factor_is_that_of_the_formula(differ):
    labels, text, evidence, table = drawn = draw(differ=differ, n=3000)
    d, n = contradiction(labels, table, np.ones(3))
    weight, own = preferred_weight(text, evidence), n / (n + 100)
    d, weight = own * d + (1 - own) / 2, own * weight + (1 - own) / 2
    expected = 0.48 * (weight * max(d, 0.05) ** 2) ** (-1 / 6)
    assert factor(*drawn) == pytest.approx(min(expected, 1.0))


def test_contradicted_labels_are_less_sure():
    found = [factor(*draw(differ=share, n=3000)) for share in (0.0, 0.2, 0.35, 0.5)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.85 > found[-1] > 0.5


def test_a_text_that_believes_the_votes_is_less_sure():
    labels, text, evidence, table = draw(n=3000)
    votes = np.exp(evidence) / np.exp(evidence).sum(axis=1, keepdims=True)
    assert factor(labels, votes, evidence, table) < factor(
        labels, text, evidence, table
    )


def test_nothing_to_learn_from_is_a_typical_corpus():
    typical = 0.48 * 8 ** (1 / 6)
    assert factor(*draw(people=1)) == pytest.approx(typical)
    labels, text, evidence, table = draw()
    mine = table.annotator == table.token % 3
    apart = replace(table, corpus=table.corpus.with_votes(mine))
    assert factor(labels, text, evidence, apart) == pytest.approx(typical)
    copies = draw(people=2, differ=0.0)
    assert factor(*copies, np.array([0.5, 0.5])) == pytest.approx(typical)


def test_confidences_are_the_mean_of_two_posteriors_and_a_file_keeps_the_factor(
    tmp_path,
):
    corpus = corpus_of({"ann": careful(0.1), "bob": careful(0.3)}, n=40)
    model = VoteTagger(rounds=1, folds=2).fit(corpus)
    found, weights = model._seen
    votes = vote_evidence(found.log_pi, found.table, weights)
    both = [
        found.model.marginals(weight * votes, model.temperature_)
        for weight in found.weights
    ]
    np.testing.assert_allclose(np.concatenate(model.confidences_), np.mean(both, 0))
    model.save(tmp_path / "model.tagsift")
    assert tagsift.load(tmp_path / "model.tagsift").temperature_ == model.temperature_
