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
from tagsift.annotators.temperature import calm_factor, contradiction
from tagsift.annotators.vote_weight import judge_score, preferred_temper
from tagsift.baselines import PartialCRF
from tagsift.data.corpus import Corpus
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


def factor(*drawn, weights=None):
    table = drawn[-1]
    weights = np.ones(table.n_annotators) if weights is None else weights
    return calm_factor(*drawn, weights)


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
    labels, text, evidence, table = draw(n=3000)
    votes = np.exp(evidence) / np.exp(evidence).sum(axis=1, keepdims=True)
    assert factor(labels, votes, evidence, table) < factor(
        labels, text, evidence, table
    )


def test_nothing_to_learn_from_is_a_typical_corpus():
    alone = draw(people=1)
    assert factor(*alone) == 0.7
    assert factor(*draw(people=1, abstaining="a")) == 0.55
    labels, text, evidence, table = draw()
    mine = table.annotator == table.token % 3
    apart = replace(table, corpus=table.corpus.with_votes(mine))
    assert factor(labels, text, evidence, apart) == 0.7
    copies = draw(people=2, differ=0.0)
    assert factor(*copies, weights=np.array([0.5, 0.5])) == 0.7


def test_few_tokens_are_drawn_to_a_typical_corpus():
    many, few = (factor(*draw(n=n, differ=0.0)) for n in (5000, 30))
    assert 0.7 < few < many < 0.7**0.3
    assert abs(np.log(few / 0.7)) < 0.3 * abs(np.log(many / 0.7))


def test_the_scale_of_a_text_model_is_a_factor():
    *told, table = draw()
    weights = np.ones(3)
    calm = calm_factor(*told, table, weights)
    assert calm_factor(*told, table, weights, 0.5) == pytest.approx(0.5 * calm)


def test_votes_of_models_have_their_own_factor():
    *told, table = draw(n=3000)
    people, half, more, models = (
        calm_factor(*told, table, np.ones(3), 0.8, share) for share in (0, 0.5, 0.8, 1)
    )
    assert models == pytest.approx(0.8 * 0.4)
    assert models < more < half < people


def test_a_fit_tells_models_from_people():
    gold, votes = tagsift.bundled(), {}
    for k, name in enumerate("abc"):
        few = [n for n in range(len(gold)) if n % 20 == k]
        labels = [gold.labels[n] for n in few]
        tagger = PartialCRF(scheme=gold.scheme).fit([gold.rows[n] for n in few], labels)
        votes[name] = tagger.predict(gold.rows)
    models = Corpus.from_lists(gold.rows, votes=votes, scheme=gold.scheme)
    people = corpus_of({name: careful(0.3) for name in "abc"}, n=len(gold))
    one, other = (VoteTagger(rounds=2, folds=2).fit(c) for c in (models, people))
    assert (one.temperature_, one.vote_weight_) == (
        pytest.approx(0.4),
        pytest.approx(0.7),
    )
    assert other.temperature_ > 0.55


def test_a_fit_tells_its_factor_and_a_file_keeps_it(tmp_path):
    corpus = corpus_of({"ann": careful(0.1), "bob": careful(0.3)}, n=40)
    model = VoteTagger(rounds=1, folds=2).fit(corpus)
    found, *_ = model._seen
    assert model.temperature_ == found.calm != 0.7
    calmed = found.model.marginals(found.evidence, model.temperature_)
    np.testing.assert_allclose(np.concatenate(model.confidences_), calmed)
    model.save(tmp_path / "model.tagsift")
    assert tagsift.load(tmp_path / "model.tagsift").temperature_ == model.temperature_
