"""Methods that look at votes alone, against loops, laws and another package."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagsift
from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTable, Wawa
from tagsift.annotators.dawid_skene import dawid_skene
from tagsift.annotators.initialise import vote_shares
from tagsift.baselines import PartialCRF
from tagsift.cleaned import clean
from tagsift.data.annotators import NO_VOTES, Votes
from tagsift.data.span_table import types_of
from tagsift.errors import InputError
from tests.reference.annotators import cast, table_of
from tests.reference.annotators import simulated as demo_votes
from tests.reference.corpora import corpora, law, votes_of, with_votes


def simulated(seed: int):
    """Truth, accuracies, and votes of four on most of 3,000 tokens, [N, 4]."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=3000, p=[0.7, 0.2, 0.1])
    accuracy = np.array([0.95, 0.85, 0.7, 0.4])
    votes = np.empty((3000, 4), dtype=int)
    for a, right in enumerate(accuracy):
        wrong = (truth + rng.integers(1, 3, size=3000)) % 3
        votes[:, a] = np.where(rng.random(3000) < right, truth, wrong)
    votes[rng.random(votes.shape) < 0.2] = -1
    return truth, accuracy, votes


def estimate(votes, n_labels=3, **more):
    token, annotator = np.nonzero(votes >= 0)
    cast = Votes(token, annotator, votes[token, annotator])
    return dawid_skene(cast, *votes.shape, n_labels, **more)


def slow_dawid_skene(table, strength, max_iter):
    """Loops over votes; a set of labels is one vote in equal parts."""
    people, n_labels = table.n_annotators, table.n_labels
    votes = [one for one in cast(table) if not one.silent]
    q = {n: np.zeros(n_labels) for n, *_ in votes}
    for n, _, labels, *_ in votes:
        q[n][labels] += 1 / len(labels)
    q = {n: shares / shares.sum() for n, shares in q.items()}
    for _ in range(max_iter):
        prior = (sum(q.values()) + 1 / n_labels) / (len(q) + 1)
        counts = np.zeros((people, n_labels, n_labels))
        for n, a, labels, *_ in votes:
            for v in labels:
                counts[a, :, v] += q[n] / len(labels)
        pooled = counts.sum(axis=0) + 1 / n_labels
        pooled /= pooled.sum(axis=1, keepdims=True)
        confusion = counts + strength * pooled
        confusion /= confusion.sum(axis=2, keepdims=True)
        q = {n: prior.copy() for n in q}
        for n, a, labels, *_ in votes:
            for v in labels:
                q[n] *= confusion[a, :, v] ** (1 / len(labels))
        q = {n: likely / likely.sum() for n, likely in q.items()}
    posterior = np.tile(prior, (table.n_tokens, 1))
    for n, likely in q.items():
        posterior[n] = likely
    return prior, confusion, posterior


@law
@given(corpora(), st.integers(1, 3), st.floats(0.5, 20))
def test_dawid_skene_by_loops(corpus, max_iter, strength):
    table = VoteTable(corpus)
    *votes, part = table.spoken
    sizes = table.n_tokens, table.n_annotators, table.n_labels
    more = {"strength": strength, "max_iter": max_iter, "tol": 0.0}
    if not len(part):
        with pytest.raises(InputError, match="nobody labelled"):
            dawid_skene(NO_VOTES, *sizes)
        return
    found = dawid_skene(Votes(*votes), *sizes, part=part, **more)
    prior, confusion, posterior = slow_dawid_skene(table, strength, found.n_iter)
    np.testing.assert_allclose(found.prior, prior)
    np.testing.assert_allclose(found.confusion, confusion)
    np.testing.assert_allclose(found.posterior, posterior)
    assert found.n_iter == max_iter or found.converged


def test_dawid_skene_finds_simulated_reliabilities():
    truth, accuracy, votes = simulated(0)
    found = estimate(votes)
    assert found.converged
    np.testing.assert_allclose(found.reliability(), accuracy, atol=0.03)
    voted = (votes >= 0).any(axis=1)
    counts = np.stack([(votes == k).sum(axis=1) for k in range(3)], axis=1)
    right = (found.posterior.argmax(axis=1) == truth)[voted].mean()
    assert right > (counts.argmax(axis=1) == truth)[voted].mean()
    assert (~voted).any() and (found.posterior[~voted] == found.prior).all()
    only = found.reliability(np.array([False, True, False]))
    np.testing.assert_allclose(only, found.confusion[:, 1, 1])
    assert np.isnan(found.reliability(np.zeros(3, dtype=bool))).all()


def test_an_annotator_with_no_vote_is_judged_as_the_pool():
    _, _, votes = simulated(1)
    found = estimate(np.hstack([votes, np.full((len(votes), 1), -1)]))
    weights = (votes >= 0).sum(axis=0)
    pooled = np.average(found.reliability()[:4], weights=weights)
    assert found.reliability()[4] == pytest.approx(pooled, abs=0.02)


# All methods -------------------------------------------------------------------------

METHODS = [MajorityVote(), DawidSkene(), MACE(n_steps=3), Wawa()]


@law
@given(corpora(exact=True), st.randoms(use_true_random=False))
def test_order_changes_nothing_else(corpus, random):
    """Of annotators and sentences; that of labels breaks ties where there are any."""

    def mixed(things):
        things = list(things)
        random.shuffle(things)
        return things

    people, order = mixed(corpus.annotators), mixed(range(len(corpus)))
    names = mixed(corpus.label_set)
    columns = [corpus.label_set.index(name) for name in names]
    for method in METHODS:
        found = method._posterior(VoteTable(corpus))
        parts = np.split(found, corpus.bounds[1:-1])
        cases = [
            (with_votes(corpus, votes_of(corpus), annotators=people), found),
            (corpus.take(order), np.concatenate([parts[s] for s in order])),
        ]
        if isinstance(method, DawidSkene | MACE):
            cases.append((corpus.with_labels(names), found[:, columns]))
        for other, expected in cases:
            posterior = method._posterior(VoteTable(other))
            np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
            np.testing.assert_allclose(posterior, expected, atol=1e-6)


@law
@given(corpora(exact=True))
def test_the_majority_and_its_confidences(corpus):
    """Shares of the votes; those of tags of the type that won may change places."""
    table, method = VoteTable(corpus), MajorityVote()
    shares, found = vote_shares(table), method._posterior(table)
    labels = method._labels(table, found)
    np.testing.assert_array_equal(np.sort(found), np.sort(shares))
    types, of_label = types_of(corpus.label_set.names, corpus.scheme)
    of_label = of_label % (len(types) + 1)
    for n, label in enumerate(labels.tolist()):
        same = of_label == of_label[label]
        assert found[n, label] == found[n, same].max()
        assert (found[n, ~same] == shares[n, ~same]).all()
    if not len(corpus.votes.token):
        return
    counted = [name for row in corpus.majority().labels for name in row]
    for n, (label, name) in enumerate(zip(labels.tolist(), counted, strict=True)):
        if table.exact[n] >= 0:
            assert label == table.exact[n]
        elif name in corpus.label_set:
            assert corpus.label_set.names[label] == name
        else:
            (kind,), _ = types_of([name], corpus.scheme)
            assert types[of_label[label]] == kind


@pytest.mark.parametrize("others", [(), (None,)])
def test_dawid_and_skene_believe_who_stands_alone(others):
    """Nobody can be judged where no two annotators meet: rare labels were mixed up."""
    votes = np.repeat([0, 1, 2], [8, 4, 120])[:, None]
    votes = np.hstack([votes, *([np.full_like(votes, -1)] * len(others))])
    posterior = DawidSkene()._posterior(table_of(votes))
    np.testing.assert_array_equal(posterior.argmax(axis=1), votes[:, 0])


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_silence_is_no_vote(method):
    votes = np.tile([[0, 2, 0], [2, 2, 2], [2, 2, 2]], (20, 1))
    posterior = method._posterior(table_of(votes, abstaining="abc"))
    assert posterior.argmax(axis=1).tolist() == [0, 2, 2] * 20


def test_wawa_weighs_as_crowd_kit_does():
    pandas = pytest.importorskip("pandas")
    aggregation = pytest.importorskip("crowdkit.aggregation")
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=200)  # [N]
    lies = rng.random((200, 5)) < np.array([0.1, 0.2, 0.3, 0.5, 0.7])  # [N, A]
    votes = np.where(lies, rng.integers(3, size=(200, 5)), truth[:, None])  # [N, A]
    found = Wawa()._posterior(table_of(votes, "ABC", scheme="plain"))  # [N, L]
    rows = [(n, a, votes[n, a]) for n in range(200) for a in range(5)]
    table = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about how crowd-kit calls it
        skills = aggregation.Wawa().fit(table).skills_.sort_index().to_numpy()  # [A]
    expected = np.stack([(votes == k) @ skills for k in range(3)], axis=1)  # [N, L]
    expected /= expected.sum(axis=1, keepdims=True)
    # Their majority breaks ties by chance, so that skills differ a little.
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_careless_annotators_count_less():
    votes = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 1], [1, -1, 0]])
    found = Wawa()._posterior(table_of(votes, "AB", scheme="plain"))  # [N, L]
    # The tie goes to A: v agrees in 3 of 4 votes, w in 3 of 3, x in 1 of 4.
    np.testing.assert_allclose(found[3], [0.25, 0.75], atol=1e-8)


def test_a_tagger_is_fitted_when_it_is_first_needed(tmp_path, monkeypatch):
    gold = tagsift.bundled()[:40]
    corpus = demo_votes(gold)
    fits = []
    fit = PartialCRF._fit
    monkeypatch.setattr(
        PartialCRF, "_fit", lambda self, train: fits.append(1) or fit(self, train)
    )
    model = MajorityVote().fit(corpus)
    assert model.transduction_ == corpus.majority().labels and not fits
    labels, confidences = model.recover(corpus)
    assert labels == model.transduction_ and not fits
    np.testing.assert_allclose(confidences[0], model.confidences_[0])
    again = pickle.loads(pickle.dumps(model))
    predicted = model.predict(corpus.rows)
    assert len(fits) == 1 and model.predict(corpus.rows) == predicted
    again.save(tmp_path / "m.tagsift")
    assert len(fits) == 2
    assert tagsift.load(tmp_path / "m.tagsift").predict(corpus.rows) == predicted
    assert model.fit(corpus[:20]) is model and len(fits) == 2
    assert len(model.transduction_) == 20


@pytest.mark.parametrize("method", [MajorityVote, DawidSkene, MACE])
def test_a_fitted_method_cleans_other_votes(method):
    corpus = demo_votes(tagsift.bundled()[:40])
    model = method().fit(corpus)
    cleaned = clean(corpus[:10], model)
    assert (
        cleaned.sentences
        == method(labels=model.classes_).fit(corpus[:10]).transduction_
    )


def test_features_of_other_sentences_are_refused_at_once():
    corpus = demo_votes(tagsift.bundled()[:10])
    with pytest.raises(InputError, match="sentences of other lengths"):
        MajorityVote().fit(tagsift.bundled()[1:11].rows, corpus)
