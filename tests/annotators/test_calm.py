"""The factor of the confidences, and what it is estimated from, against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tagsift
from tagsift.annotators import VoteTagger
from tagsift.annotators.ballots import read_ballots
from tagsift.annotators.calm import calm_factor, contradiction
from tagsift.annotators.judge import judge_score, preferred_temper
from tagsift.baselines import PartialCRF
from tagsift.data import VoteCorpus
from tests.reference.annotators import careful, corpus_of

CLASSES = ("B-X", "I-X", "O")


def draw(n=400, seed=0, differ=0.3, names=("ann", "bob", "cat"), abstaining=()):
    """Labels, text, evidence of votes, ballots: who differs says any other label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    other = (labels[:, None] + rng.integers(1, 3, size=(n, len(names)))) % 3
    votes = np.where(rng.random(other.shape) < differ, other, labels[:, None])
    told = [[tuple(CLASSES[v] for v in row) for row in votes]]
    ballots = read_ballots(
        told, CLASSES, np.array([n]), names=names, abstaining=abstaining
    )
    text = rng.dirichlet(np.ones(3), size=n) * 0.5 + 0.5 * np.eye(3)[labels]
    evidence = 2.0 * np.eye(3)[votes].sum(axis=1)
    return labels, text, evidence, ballots


def factor(*drawn, weights=None):
    ballots = drawn[-1]
    weights = np.ones(ballots.n_annotators) if weights is None else weights
    return calm_factor(*drawn, weights)


def test_contradiction_is_that_of_a_loop():
    labels, _, _, ballots = draw(seed=3)
    votes = ballots.votes.copy()
    votes[np.random.default_rng(4).random(votes.shape) < 0.4] = -1
    exact = np.where(np.arange(len(labels)) % 7 == 0, labels, -1)
    members = np.vstack([ballots.members, [[True, True, False]]])
    votes[5] = len(members) - 1
    ballots = replace(ballots, votes=votes, exact=exact, members=members)
    weights = np.array([1.0, 0.5, 0.5])
    against = heard = tokens = 0.0
    for n, label in enumerate(labels):
        cast = [a for a in range(3) if votes[n, a] >= 0]
        several = sum(weights[a] for a in cast) > 1
        if not several or CLASSES[label] == "O" or exact[n] >= 0:
            continue
        tokens += 1
        for a in cast:
            heard += weights[a]
            against += weights[a] * (not members[votes[n, a], label])
    found, n_tokens = contradiction(labels, ballots, weights)
    assert n_tokens == tokens
    assert found == pytest.approx(against / heard)


def test_the_preferred_weight_is_where_the_score_is_flat():
    _, text, evidence, _ = draw(seed=1)
    temper = preferred_temper(text, evidence)
    assert 0.05 < temper < 1.4
    h = 1e-3 * temper
    up, down = (judge_score(text, evidence, temper + s) for s in (h, -h))
    middle = judge_score(text, evidence, temper)
    bend = (up + down - 2 * middle) / h**2
    assert bend < 0
    assert abs((up - down) / (2 * h) / bend) < 2e-3 * temper


def test_contradicted_labels_are_less_sure_within_limits():
    found = [factor(*draw(differ=share, n=3000)) for share in (0.0, 0.2, 0.35, 0.5)]
    assert found == sorted(found, reverse=True)
    assert 0.85 < found[0] < 1.0
    assert 0.4 <= found[-1] < 0.8


def test_a_text_that_believes_the_votes_is_less_sure():
    labels, text, evidence, ballots = draw(n=3000)
    votes = np.exp(evidence) / np.exp(evidence).sum(axis=1, keepdims=True)
    assert factor(labels, votes, evidence, ballots) < factor(
        labels, text, evidence, ballots
    )


def test_nothing_to_learn_from_is_a_typical_corpus():
    alone = draw(names=("ann",))
    assert factor(*alone) == 0.7
    assert factor(*draw(names=("rule",), abstaining=("rule",))) == 0.55
    labels, text, evidence, ballots = draw()
    mine = np.arange(3) == np.arange(len(labels))[:, None] % 3
    apart = replace(ballots, votes=np.where(mine, ballots.votes, -1))
    assert factor(labels, text, evidence, apart) == 0.7
    copies = draw(names=("ann", "bob"), differ=0.0)
    assert factor(*copies, weights=np.array([0.5, 0.5])) == 0.7


def test_few_tokens_are_drawn_to_a_typical_corpus():
    many, few = (factor(*draw(n=n, differ=0.0)) for n in (5000, 30))
    assert 0.7 < few < many < 0.7**0.3
    assert abs(np.log(few / 0.7)) < 0.3 * abs(np.log(many / 0.7))


def test_the_scale_of_a_text_model_is_a_factor():
    *told, ballots = draw()
    weights = np.ones(3)
    calm = calm_factor(*told, ballots, weights)
    assert calm_factor(*told, ballots, weights, 0.5) == pytest.approx(0.5 * calm)


def test_votes_of_models_have_their_own_factor():
    *told, ballots = draw(n=3000)
    people, half, more, models = (
        calm_factor(*told, ballots, np.ones(3), 0.8, share)
        for share in (0, 0.5, 0.8, 1)
    )
    assert models == pytest.approx(0.8 * 0.4)
    assert models < more < half < people


def test_a_fit_tells_models_from_people():
    gold = tagsift.bundled()
    rows = [list(sentence.rows) for sentence in gold.sentences]
    labels = [list(sentence.labels) for sentence in gold.sentences]
    read = []
    for k in range(3):
        few = [n for n in range(len(rows)) if n % 20 == k]
        known = [[{label} for label in labels[n]] for n in few]
        tagger = PartialCRF(scheme=gold.scheme).fit([rows[n] for n in few], known)
        read.append(tagger.predict(rows))
    columns = [[str(label) for one in column for label in one] for column in read]
    entries = iter(zip(*columns, strict=True))
    votes = [[next(entries) for _ in sentence] for sentence in rows]
    found = []
    for told in (votes, corpus_of({n: careful(0.3) for n in "abc"}, n=len(rows)).votes):
        corpus = VoteCorpus(rows, told, ("a", "b", "c"), labels, gold.scheme)
        model = VoteTagger(rounds=2, folds=2).fit(rows, corpus)
        found.append((model.calm_, model.temperature_))
    models, people = found
    assert models == (pytest.approx(0.4), pytest.approx(0.7)) and people[0] > 0.55


def test_a_fit_tells_its_factor_and_a_file_keeps_it(tmp_path):
    corpus = corpus_of({"ann": careful(0.1), "bob": careful(0.3)}, n=40)
    model = VoteTagger(rounds=1, folds=2).fit(corpus.rows, corpus)
    found, *_ = model._seen
    assert model.calm_ == found.calm != 0.7
    calmed = found.model.marginals(found.evidence, model.calm_)
    np.testing.assert_allclose(np.concatenate(model.confidences_), calmed)
    model.save(tmp_path / "model.tagsift")
    assert tagsift.load(tmp_path / "model.tagsift").calm_ == model.calm_
