"""VoteTagger and the methods that count, on small corpora with known truth."""

from __future__ import annotations

import numpy as np
import pytest

import tagsift
from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTagger
from tagsift.annotators.ballots import read_ballots
from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data import VoteCorpus
from tagsift.errors import InputError, TagsiftWarning
from tagsift.metrics import span_scores
from tests.reference.annotators import careful, corpus_of


def f1(corpus, labels):
    return span_scores(corpus.gold, labels, scheme=corpus.scheme).f1


@pytest.fixture(scope="module")
def people():
    chances = {"ann": 0.1, "bob": 0.3, "cat": 0.35, "dan": 0.5}
    return corpus_of({name: careful(chance) for name, chance in chances.items()})


@pytest.fixture(scope="module")
def fitted(people):
    return VoteTagger(rounds=3).fit(people.rows, people)


def test_labels_are_better_than_any_annotator_and_than_counting(people, fitted):
    found = f1(people, fitted.recovered_)
    for method in (MajorityVote(), DawidSkene(), MACE()):
        assert found > f1(people, method.fit(people.rows, people).recovered_)
    best = [[entry[0] for entry in sentence] for sentence in people.votes]
    assert found > f1(people, best)


def test_what_a_fit_tells(people, fitted):
    names = [report.name for report in fitted.annotators_]
    assert names == list(people.annotators)
    reliability = [report.reliability for report in fitted.annotators_]
    assert reliability == sorted(reliability, reverse=True)
    assert len(fitted.history_) == 3
    assert 0 < fitted.temperature_ <= 1.5
    for table, text in zip(fitted.confidences_, fitted.text_, strict=True):
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        np.testing.assert_allclose(text.sum(axis=1), 1.0)


def test_the_tagger_obeys_the_scheme_and_survives_a_file(people, fitted, tmp_path):
    predicted = fitted.predict(people.rows)
    assert f1(people, predicted) > 0.6
    for sentence in predicted:
        for before, label in zip(["O", *sentence], sentence, strict=False):
            assert label[:1] != "I" or before[2:] == label[2:]
    fitted.save(tmp_path / "m.tagsift")
    again = tagsift.load(tmp_path / "m.tagsift")
    assert again.predict(people.rows) == predicted
    assert [a.name for a in again.annotators_] == list(people.annotators)


def test_a_fit_can_be_repeated_whatever_the_jobs(people, fitted):
    again = VoteTagger(rounds=3, n_jobs=2).fit(people.rows, people)
    assert again.recovered_ == fitted.recovered_
    assert again.predict(people.rows) == fitted.predict(people.rows)


def test_chain_gp_can_be_the_text_model(people, tmp_path):
    small = people.take(range(40))
    model = VoteTagger(ChainGP(rbf=False), rounds=2, folds=2)
    model.fit(small.rows, small)
    majority = [list(sentence.labels) for sentence in small.majority().sentences]
    assert f1(small, model.recovered_) > f1(small, majority)
    model.save(tmp_path / "m.tagsift")
    again = tagsift.load(tmp_path / "m.tagsift")
    assert again.predict(small.rows) == model.predict(small.rows)
    assert again.estimator_.kernel_ == model.estimator_.kernel_


def test_known_labels_are_kept_and_teach(people):
    exact = [[None] * len(sentence) for sentence in people.gold]
    exact[5] = list(people.gold[5])
    model = VoteTagger(rounds=2).fit(people.rows, people, exact=exact)
    assert model.recovered_[5] == people.gold[5]
    model.update(people.rows, people, exact=[list(s) for s in people.gold])
    assert model.recovered_ == people.gold
    assert model.rounds == 2


def test_votes_can_be_sets(people):
    votes = [
        [
            (frozenset([entry[0], "O"]), *entry[1:]) if t % 3 == 0 else entry
            for t, entry in enumerate(sentence)
        ]
        for sentence in people.votes
    ]
    unsure = VoteCorpus(people.rows, votes, people.annotators, people.gold, "iob2")
    model = VoteTagger(rounds=2).fit(unsure.rows, unsure)
    assert f1(unsure, model.recovered_) > 0.7


def test_one_annotator_only(people):
    one = people.without(["bob", "cat", "dan"])
    model = VoteTagger(rounds=2).fit(one.rows, one)
    assert f1(one, model.recovered_) > 0.75


def test_a_token_that_nobody_labelled_gets_a_label(people):
    votes = [list(sentence) for sentence in people.votes]
    votes[0] = [(None,) * 4] * len(votes[0])
    some = VoteCorpus(people.rows, votes, people.annotators, people.gold, "iob2")
    model = VoteTagger(rounds=2).fit(some.rows, some)
    assert len(model.recovered_[0]) == len(votes[0])


def test_sources_that_abstain():
    def rule(kept, wrong):
        def vote(labels, rng):
            found = []
            for label in labels:
                fires = label != "O" and (
                    rng.random() < kept if label[0] == "B" else found[-1:] != ["O"]
                )
                odd = label == "O" and rng.random() < wrong
                found.append(label if fires else "B-LOC" if odd else "O")
            return found

        return vote

    rules = {f"r{k}": rule(0.35, 0.002) for k in range(6)}
    corpus = corpus_of(rules, n=300)
    abstain = VoteTagger(rounds=2, o_means="abstain").fit(corpus.rows, corpus)
    spoken = MajorityVote(o_means="abstain").fit(corpus.rows, corpus)
    counted = MajorityVote().fit(corpus.rows, corpus)
    assert f1(corpus, spoken.recovered_) > f1(corpus, counted.recovered_) + 0.1
    assert f1(corpus, abstain.recovered_) > f1(corpus, spoken.recovered_)
    by_name = VoteTagger(rounds=1, o_means=dict.fromkeys(rules, "abstain"))
    by_name.fit(corpus.rows, corpus)
    assert all(report.abstains for report in by_name.annotators_)


def test_copies_are_found_and_count_as_one(people):
    votes = [[(*e, e[3], e[3]) for e in sentence] for sentence in people.votes]
    names = (*people.annotators, "copy", "copy2")
    corpus = VoteCorpus(people.rows, votes, names, people.gold, "iob2")
    lengths = np.array([len(sentence) for sentence in votes])
    ballots = read_ballots(votes, corpus.label_set.names, lengths, names=names)
    assert copy_groups(ballots) == [(3, 4, 5)]
    np.testing.assert_allclose(
        copy_weights(ballots, [(3, 4, 5)]), [1, 1, 1, 1 / 3, 1 / 3, 1 / 3]
    )
    model = VoteTagger(rounds=2).fit(corpus.rows, corpus)
    alone = VoteTagger(rounds=2).fit(people.rows, people)
    assert f1(people, model.recovered_) > f1(people, alone.recovered_) - 0.03
    assert "says the same as dan" in model.annotators_[4].flags[0]


def test_good_annotators_are_no_copies(people):
    lengths = np.array([len(sentence) for sentence in people.votes])
    ballots = read_ballots(
        people.votes, people.label_set.names, lengths, names=people.annotators
    )
    assert copy_groups(ballots) == []


def test_candidate_sets_are_taken_too(people):
    gold = [list(sentence) for sentence in people.gold]
    model = VoteTagger(PartialCRF(l2=1.0)).fit(people.rows, gold)
    plain = PartialCRF(l2=1.0).fit(people.rows, gold)
    assert model.predict(people.rows) == plain.predict(people.rows)
    assert model.annotators_ == ()


def test_what_cannot_be(people):
    with pytest.raises(InputError, match="ChainGP or PartialCRF"):
        VoteTagger(MACE()).fit(people.rows, people)
    with pytest.raises(InputError, match="o_means must be"):
        VoteTagger(o_means={"ann": "silent"}).fit(people.rows, people)
    with pytest.raises(InputError, match="no weights"):
        VoteTagger().fit(people.rows, people, [1.0] * len(people))


def test_a_given_weight_of_the_votes_is_taken(people):
    model = VoteTagger(rounds=2, folds=2, temper=0.7).fit(people.rows, people)
    assert model.temperature_ == 0.7
    assert [step["temper"] for step in model.history_] == [0.7, 0.7]


def test_without_context_and_without_cross_fitting(people):
    plain = VoteTagger(rounds=1, folds=1, context=False).fit(people.rows, people)
    n_labels = len(plain.classes_)
    assert plain.log_pi_.shape == (len(people.annotators), n_labels, 1, n_labels)
    # A text that has seen the votes agrees with the labels more than one that has not.
    fair = VoteTagger(rounds=1, folds=5, context=False).fit(people.rows, people)
    own, other = (
        np.mean([p[np.arange(len(p)), _columns(m, row)].mean() for p, row in pairs])
        for m in (plain, fair)
        for pairs in [zip(m.text_, m.recovered_, strict=True)]
    )
    assert own > other


def _columns(model, labels):
    return [model.classes_.index(label) for label in labels]


def test_a_tie_is_no_reason_to_see_nothing():
    rows = [[("a",), ("b",)]]
    votes = [[("O", "B-X"), ("O", "O")]]
    corpus = VoteCorpus(rows, votes, ("ann", "bob"), None, "iob2")
    assert MajorityVote().fit(corpus.rows, corpus).recovered_ == [["B-X", "O"]]


@pytest.mark.parametrize("method", [MajorityVote, DawidSkene, MACE])
def test_counting_does_not_take_silence_for_a_vote(method):
    rows = [[("fever",), ("is",), ("bad",)]] * 20
    votes = [[("B-X", "O", "B-X"), ("O", "O", "O"), ("O", "O", "O")]] * 20
    names = ("rule", "list", "table")
    corpus = VoteCorpus(rows, votes, names, None, "iob2", abstaining=names)
    assert method().fit(corpus.rows, corpus).recovered_[0] == ["B-X", "O", "O"]


def test_a_source_that_seems_to_abstain_is_named(people):
    votes = [[(*entry, "O") for entry in sentence] for sentence in people.votes]
    corpus = VoteCorpus(
        people.rows, votes, (*people.annotators, "rule"), people.gold, people.scheme
    )
    with pytest.warns(TagsiftWarning, match="rule hardly ever say anything but O"):
        model = VoteTagger(rounds=1).fit(corpus.rows, corpus)
    assert "looks like a source that abstains" in model.annotators_[-1].flags[-1]
    VoteTagger(rounds=1, o_means="outside").fit(corpus.rows, corpus)
    VoteTagger(rounds=1, o_means={"rule": "abstain"}).fit(corpus.rows, corpus)


def test_checked_labels_that_break_the_scheme_hold(people):
    """A reviewer may say I-X after O; that is kept, and nothing fails."""
    exact = [[None] * len(sentence) for sentence in people.rows]
    inside = next(str(name) for name in people.label_set if str(name).startswith("I-"))
    exact[0] = ["O", inside, *exact[0][2:]]
    exact[1][0] = inside
    model = VoteTagger(rounds=2, folds=2).fit(people.rows, people, exact=exact)
    assert model.recovered_[0][:2] == ["O", inside]
    assert model.recovered_[1][0] == inside


def test_the_text_does_not_overrule_two_annotators_who_agree():
    corpus = corpus_of({"ann": careful(0.35), "bob": careful(0.4)}, n=25)
    model = VoteTagger().fit(corpus.rows, corpus)
    kept = [
        found == said
        for labels, votes in zip(model.recovered_, corpus.votes, strict=True)
        for found, (said, other) in zip(labels, votes, strict=True)
        if said == other != "O"
    ]
    assert len(kept) > 50
    assert np.mean(kept) > 0.9
