"""VoteTagger and the methods that count, on small corpora with known truth."""

from __future__ import annotations

import numpy as np
import pytest

import tagsift
from tagsift.annotators import MACE, DawidSkene, MajorityVote, VoteTagger
from tagsift.chain_gp import ChainGP
from tagsift.errors import InputError, TagsiftWarning
from tagsift.metrics import span_scores
from tests.reference.annotators import careful, corpus_of
from tests.reference.corpora import votes_of, with_votes


def f1(corpus, labels):
    return span_scores(corpus.gold, labels, scheme=corpus.scheme).f1


@pytest.fixture(scope="module")
def people():
    chances = {"ann": 0.1, "bob": 0.3, "cat": 0.35, "dan": 0.5}
    return corpus_of({name: careful(chance) for name, chance in chances.items()})


@pytest.fixture(scope="module")
def fitted(people):
    return VoteTagger(rounds=3).fit(people)


def test_labels_are_better_than_any_annotator_and_than_counting(people, fitted):
    found = f1(people, fitted.transduction_)
    for method in (MajorityVote(), DawidSkene(), MACE()):
        assert found > f1(people, method.fit(people).transduction_)
    assert found > f1(people, votes_of(people)["ann"])


def test_what_a_fit_tells(people, fitted):
    names = [report.name for report in fitted.annotators_]
    assert names == [one.name for one in people.annotators]
    reliability = [report.reliability for report in fitted.annotators_]
    assert reliability == sorted(reliability, reverse=True)
    assert len(fitted.history_) == 3
    assert 0 < fitted.vote_weight_ <= 1.5
    for table, text in zip(fitted.confidences_, fitted.text_marginals_, strict=True):
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
    kept, fitted_ = ([one.name for one in m.annotators_] for m in (again, fitted))
    assert kept == fitted_


def test_a_fit_can_be_repeated_whatever_the_jobs(people, fitted):
    again = VoteTagger(rounds=3, n_jobs=2).fit(people)
    assert again.transduction_ == fitted.transduction_
    assert again.predict(people.rows) == fitted.predict(people.rows)


def test_chain_gp_can_be_the_text_model(people, tmp_path):
    small = people.take(range(40))
    model = VoteTagger(ChainGP(rbf=False), rounds=2, folds=2)
    model.fit(small)
    assert f1(small, model.transduction_) > f1(small, small.majority().labels)
    model.save(tmp_path / "m.tagsift")
    again = tagsift.load(tmp_path / "m.tagsift")
    assert again.predict(small.rows) == model.predict(small.rows)
    assert again.estimator_.kernel_ == model.estimator_.kernel_


def test_known_labels_are_kept_and_teach(people):
    exact = [[None] * len(sentence) for sentence in people.gold]
    exact[5] = people.gold[5]
    model = VoteTagger(rounds=2).fit(people.with_exact(exact))
    assert model.transduction_[5] == people.gold[5]
    model.update(people.with_exact(people.gold))
    assert model.transduction_ == people.gold
    assert model.rounds == 2


def test_votes_can_be_sets_and_may_be_missing(people):
    """Every third of ann's is with O; one sentence has nobody's, one has ann's only."""
    votes = votes_of(people)
    votes["ann"] = [
        [{vote, "O"} if t % 3 == 0 else vote for t, vote in enumerate(row)]
        for row in votes["ann"]
    ]
    for name, rows in votes.items():
        rows[0] = None
        rows[1] = rows[1] if name == "ann" else None
    model = VoteTagger(rounds=2).fit(with_votes(people, votes))
    assert f1(people, model.transduction_) > 0.7
    alone = people.select(annotators=["ann"])
    assert f1(people, VoteTagger(rounds=2).fit(alone).transduction_) > 0.75


def test_the_order_of_annotators_changes_no_label(people, fitted):
    turned = with_votes(people, votes_of(people), annotators=people.annotators[::-1])
    other = VoteTagger(rounds=3).fit(turned)
    assert other.transduction_ == fitted.transduction_
    np.testing.assert_allclose(other.log_pi_, fitted.log_pi_[::-1], atol=1e-6)


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
    abstain = VoteTagger(rounds=2, o_means="abstain").fit(corpus)
    spoken = MajorityVote(o_means="abstain").fit(corpus)
    counted = MajorityVote().fit(corpus)
    assert f1(corpus, spoken.transduction_) > f1(corpus, counted.transduction_) + 0.1
    assert f1(corpus, abstain.transduction_) > f1(corpus, spoken.transduction_)
    by_name = VoteTagger(rounds=1, o_means=dict.fromkeys(rules, "abstain"))
    by_name.fit(corpus)
    assert all(report.abstains for report in by_name.annotators_)


def test_copies_count_as_one(people, fitted):
    votes = votes_of(people)
    votes |= {"copy": votes["dan"], "copy2": votes["dan"]}
    model = VoteTagger(rounds=3).fit(with_votes(people, votes, annotators=None))
    assert f1(people, model.transduction_) > f1(people, fitted.transduction_) - 0.03
    assert "says the same as dan" in model.annotators_[4].flags[0]
    assert [one.weight for one in model.annotators_] == [1] * 3 + [1 / 3] * 3


def test_what_cannot_be(people):
    with pytest.raises(InputError, match="ChainGP or PartialCRF"):
        VoteTagger(MACE()).fit(people)
    with pytest.raises(InputError, match="o_means must be"):
        VoteTagger(o_means={"ann": "silent"}).fit(people)
    with pytest.raises(InputError, match="no weights"):
        VoteTagger().fit(people, sample_weight=[1.0] * len(people))
    for candidates in ((people.rows, people.gold), (people.union(),)):
        with pytest.raises(InputError, match="expected .* votes, found .* ChainGP"):
            VoteTagger().fit(*candidates)


def test_a_given_weight_of_the_votes_is_taken(people):
    model = VoteTagger(rounds=2, folds=2, temper=0.7).fit(people)
    assert model.vote_weight_ == 0.7
    assert [step["temper"] for step in model.history_] == [0.7, 0.7]


def test_without_context_and_without_cross_fitting(people):
    plain = VoteTagger(rounds=1, folds=1, context=False).fit(people)
    n_labels = len(plain.classes_)
    assert plain.log_pi_.shape == (len(people.annotators), n_labels, 1, n_labels)
    # A text that has seen the votes agrees with the labels more than one that has not.
    fair = VoteTagger(rounds=1, folds=5, context=False).fit(people)
    own, other = (
        np.mean([p[np.arange(len(p)), _columns(m, row)].mean() for p, row in pairs])
        for m in (plain, fair)
        for pairs in [zip(m.text_marginals_, m.transduction_, strict=True)]
    )
    assert own > other


def _columns(model, labels):
    return [model.classes_.index(label) for label in labels]


def test_a_source_that_seems_to_abstain_is_named(people):
    nothing = [["O"] * n for n in people.lengths]
    votes = {**votes_of(people), "rule": nothing}
    corpus = with_votes(people, votes, annotators=None)
    with pytest.warns(TagsiftWarning, match="rule hardly ever say anything but O"):
        model = VoteTagger(rounds=1).fit(corpus)
    assert "looks like a source that abstains" in model.annotators_[-1].flags[-1]
    VoteTagger(rounds=1, o_means="outside").fit(corpus)
    VoteTagger(rounds=1, o_means={"rule": "abstain"}).fit(corpus)


def test_checked_labels_that_break_the_scheme_hold(people):
    """A reviewer may say I-X after O; that is kept, and nothing fails."""
    exact = [[None] * len(sentence) for sentence in people.rows]
    inside = next(str(name) for name in people.label_set if str(name).startswith("I-"))
    exact[0] = ["O", inside, *exact[0][2:]]
    exact[1][0] = inside
    model = VoteTagger(rounds=2, folds=2).fit(people.with_exact(exact))
    assert model.transduction_[0][:2] == ["O", inside]
    assert model.transduction_[1][0] == inside


def test_the_text_does_not_overrule_two_annotators_who_agree():
    corpus = corpus_of({"ann": careful(0.35), "bob": careful(0.4)}, n=25)
    model = VoteTagger().fit(corpus)
    kept = [
        found == said
        for rows in zip(model.transduction_, *votes_of(corpus).values(), strict=True)
        for found, said, other in zip(*rows, strict=True)
        if said == other != "O"
    ]
    assert len(kept) > 50
    assert np.mean(kept) > 0.9
