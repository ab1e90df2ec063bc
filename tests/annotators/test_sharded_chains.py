"""VoteTagger in shards: the labels and the tagger of one machine."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.annotators import VoteTagger
from tagsift.annotators.sharded_chains import ShardedChains
from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.engine import LocalEngine
from tagsift.chain_gp import ChainGP
from tagsift.data import bundled
from tagsift.errors import DataError, InputError
from tagsift.features import FeatureMatrix
from tests.reference.annotators import simulated

VOTES = simulated(bundled("ner").with_columns(1)[:30])


def fitted(engine, **settings):
    model = VoteTagger(rounds=2, folds=3, engine=engine, **settings)
    return model.fit(VOTES)


@pytest.mark.parametrize(("n_shards", "on_disk"), [(3, False), (2, True)])
def test_labels_tables_and_tagger_are_those_of_one_machine(n_shards, on_disk, tmp_path):
    engine = LocalEngine(n_shards, tmp_path if on_disk else None)
    one, other = fitted(None), fitted(engine)
    assert one.transduction_ == other.transduction_
    np.testing.assert_allclose(one.log_pi_, other.log_pi_, atol=1e-8)
    for a, b in zip(one.confidences_, other.confidences_, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    assert one.predict(VOTES.rows) == other.predict(VOTES.rows)
    a, b = (model.estimator_.weights_ for model in (one, other))
    np.testing.assert_allclose(a.emissions, b.emissions, atol=1e-3)
    np.testing.assert_allclose(
        one.marginals_without_exact_, other.marginals_without_exact_, atol=1e-4
    )


def test_a_killed_fit_goes_on_with_its_round(tmp_path, monkeypatch):
    kept = Checkpoint(tmp_path / "rounds")
    engine = LocalEngine(2, checkpoint=kept)
    settings = {"rounds": 3, "folds": 2}
    whole = VoteTagger(engine=LocalEngine(2), **settings).fit(VOTES)
    fit, done = ShardedChains.fit, []

    def killed(self, evidence, max_iter):
        if len(done) == 5:  # of seven: two beginnings, five rounds
            raise KeyboardInterrupt
        done.append(max_iter)
        return fit(self, evidence, max_iter)

    monkeypatch.setattr(ShardedChains, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        VoteTagger(engine=engine, **settings).fit(VOTES)
    del done[:2]  # two rounds are left to do, and the last one is done again
    again = VoteTagger(engine=engine, **settings).fit(VOTES)
    assert (
        again.transduction_ == whole.transduction_ and again.history_ == whole.history_
    )
    np.testing.assert_array_equal(again.log_pi_, whole.log_pi_)
    a, b = (model.estimator_.weights_ for model in (again, whole))
    np.testing.assert_array_equal(a.emissions, b.emissions)
    with pytest.raises(DataError, match="found those of other data or settings"):
        VoteTagger(engine=engine, rounds=3, folds=3).fit(VOTES)


def test_one_fold_and_more_shards_than_sentences_of_a_part():
    settings = {"rounds": 1, "folds": 1}
    one, other = (
        VoteTagger(engine=engine, **settings).fit(VOTES)
        for engine in (None, LocalEngine(20))
    )
    assert one.transduction_ == other.transduction_


def test_what_an_engine_cannot_do_is_one_sentence():
    with pytest.raises(InputError, match="the estimator must be a PartialCRF"):
        fitted(LocalEngine(2), estimator=ChainGP())
    X = FeatureMatrix(("vectors",), (np.ones((VOTES.n_tokens, 2)),), VOTES.bounds)
    with pytest.raises(InputError, match="takes templates, no word vectors"):
        VoteTagger(engine=LocalEngine(2)).fit(X, VOTES)
