"""SGPPSL as users meet it: switches, warnings, honest numbers, files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from tagsift.data import corrupt, generate
from tagsift.errors import (
    ConvergenceWarning,
    InputError,
    NotSupportedError,
    NumericalWarning,
    ResourceError,
)
from tagsift.metrics import recovery
from tagsift.registry import load
from tagsift.sgppsl import SGPPSL, carriers, hyperparameters, predictive
from tagsift.sgppsl import estimator as module
from tests.reference.comparing import all_close

DECODERS = ("weighted", "viterbi", "argmax", "log", "log-weighted")
#: Quick: nothing is learnt about the kernel.
FIXED = {"hyperparameters": "fixed"}


def data(seed=0, lengths=(5, 4, 6, 1, 5), n_labels=3, n_features=4, spread=0.4):
    """Sentences of clusters, one per label; the truth among up to three candidates."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * np.random.default_rng(99).normal(size=(n_labels, n_features))
    X, y, truth = [], [], []
    for length in lengths:
        labels = rng.integers(n_labels, size=length)
        X.append(centres[labels] + spread * rng.normal(size=(length, n_features)))
        mask = rng.random((length, n_labels)) < 0.3
        mask[np.arange(length), labels] = True
        y.append(mask)
        truth.append(labels.tolist())
    return X, y, truth


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = data()
    return SGPPSL(**FIXED).fit(X, y)


def finite(model, X):
    """Everything that users can ask for is a number, and probabilities are."""
    for marginals in model.predict_proba(X):
        assert np.isfinite(marginals).all()
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    for array in (*model.predict_latent(X)[0], *model.predict_latent(X)[1]):
        assert np.isfinite(array).all()
    assert all((var >= 0).all() for var in model.predict_latent(X)[1])
    for C in model.confidences_:
        assert np.isfinite(C).all()
        np.testing.assert_allclose(C.sum(axis=1), 1.0)
    for decoder in DECODERS:
        model.set_params(decoder=decoder)
        predicted = model.predict(X)
        assert [len(p) for p in predicted] == [len(x) for x in X]
    assert np.isfinite(model.lower_bound_)
    return model


# What it learns ----------------------------------------------------------------


def test_it_finds_the_truth_among_the_candidates():
    X, y, truth = data(lengths=(8,) * 8)
    model = SGPPSL(**FIXED).fit(X, y)
    found = [k for labels in model.transduction_ for k in labels]
    hidden = [k for labels in truth for k in labels]
    assert np.mean(np.equal(found, hidden)) > 0.9
    new, _, gold = data(seed=7, lengths=(8,) * 4)
    for decoder in DECODERS:
        predicted = model.set_params(decoder=decoder).predict(new)
        hits = np.equal(np.concatenate(predicted), np.concatenate(gold))
        assert hits.mean() > 0.85, decoder


@pytest.mark.parametrize("way", ["jensen", "tilted", "sampled", "laplace"])
@pytest.mark.parametrize("likelihood", ["piecewise", "chain"])
@pytest.mark.parametrize("posterior", ["dense", "inducing"])
def test_every_combination_fits(way, likelihood, posterior):
    X, y, _ = data(1)
    model = SGPPSL(**FIXED, expectation=way, likelihood=likelihood, posterior=posterior)
    finite(model.fit(X, y), X)
    assert model.gp_.dense == (posterior == "dense")


@pytest.mark.parametrize(
    "switch",
    [
        {"weighting": "literal"},
        {"confidence": "literal"},
        {"neighbour_floor": "literal"},
        {"amplitude": 1.0},
    ],
    ids=lambda switch: "-".join(switch),
)
def test_literal_switches_change_the_answer(switch, monkeypatch):
    X, y, _ = data(2, lengths=(6, 5, 6))
    base = SGPPSL(**FIXED, n_neighbours=1).fit(X, y)
    other = SGPPSL(**{**FIXED, **switch}, n_neighbours=1).fit(X, y)
    if "neighbour_floor" in switch:
        factors = []

        def spy(emission, transition, layout, *, tau, tau_T):
            factors.append(tau)
            return tau.argmax(axis=1)

        monkeypatch.setattr(predictive, "weighted_viterbi", spy)
        for model in (base, other):
            model.predict(X)
        one, two = factors
    else:
        one, two = (np.concatenate(m.predict_proba(X)) for m in (base, other))
    assert not np.allclose(one, two)


def test_auto_takes_inducing_points_above_its_limit(monkeypatch):
    X, y, _ = data(3)
    monkeypatch.setattr(carriers, "_EXACT_TOKENS", 21)
    assert SGPPSL(**FIXED).fit(X, y).gp_.dense
    monkeypatch.setattr(carriers, "_EXACT_TOKENS", 20)
    assert not SGPPSL(**FIXED, n_inducing=8).fit(X, y).gp_.dense


def test_hyperparameters_are_learnt_or_kept():
    X, y, _ = data(5)
    learnt = SGPPSL().fit(X, y)
    assert len(np.unique(learnt.kernel_.theta)) == 1
    climbed = SGPPSL(hyperparameters="bound").fit(X, y)
    assert len(np.unique(climbed.kernel_.theta)) == 3
    given = SGPPSL(theta=0.7, amplitude=1.0).fit(X, y)
    assert (given.kernel_.theta == 0.7).all() and (given.kernel_.amplitude == 1.0).all()
    half = SGPPSL(amplitude=1.0).fit(X, y)
    assert (half.kernel_.amplitude == 1.0).all()
    fixed = SGPPSL(**FIXED).fit(X, y)
    assert (fixed.kernel_.amplitude == 100.0).all()


def test_the_search_takes_part_of_the_sentences(monkeypatch):
    X, y, _ = data(6, lengths=(5,) * 8)
    monkeypatch.setattr(hyperparameters, "_LEARN_TOKENS", 12)
    seen = []
    search = hyperparameters.search_held_out

    def spy(kernel, problem, free):
        seen.append(problem.new.shape)
        return search(kernel, problem, free)

    monkeypatch.setattr(hyperparameters, "search_held_out", spy)
    SGPPSL().fit(X, y)
    assert seen == [(10, 5)]


def test_labels_that_were_never_candidates_are_never_predicted():
    X, y, _ = data(9)
    wide = [np.pad(mask, ((0, 0), (0, 2))) for mask in y]
    model = finite(SGPPSL(**FIXED).fit(X, wide), X)
    assert model.decoding_.available.tolist() == [True, True, True, False, False]
    for decoder in DECODERS:
        predicted = model.set_params(decoder=decoder).predict(X)
        assert max(k for labels in predicted for k in labels) < 3
    assert all((m[:, 3:] == 0).all() for m in model.predict_proba(X))


# What it says ------------------------------------------------------------------


def test_history_records_watched_tokens():
    X, y, _ = data(11)
    model = SGPPSL(**FIXED, watch=[(2, 1), (0, 0)]).fit(X, y)
    assert len(model.history_) == model.n_iter_
    last = model.history_[-1]
    np.testing.assert_array_equal(last["watched"][0], model.confidences_[2][1])
    np.testing.assert_array_equal(last["watched"][1], model.confidences_[0][0])
    assert last["bound"] == model.lower_bound_
    assert set(last) == {"bound", "change", "mean_confidence", "refreshed", "watched"}


@pytest.mark.parametrize("watch", [[(9, 0)], [(0, 99)], [(-1, 0)]])
def test_watching_what_is_not_there(watch):
    X, y, _ = data(11)
    with pytest.raises(InputError, match="watch names sentence .* X does not have"):
        SGPPSL(**FIXED, watch=watch).fit(X, y)


def test_stopping_early_is_said():
    X, y, _ = data(12)
    with pytest.warns(
        ConvergenceWarning,
        match=r"stopped after max_iter=2 outer steps with the bound at -?\d.* raise "
        r"max_iter or tol=0.0003",
    ) as said:
        model = SGPPSL(**FIXED, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert said[0].filename == __file__  # where fit was called


def test_settings_that_mean_nothing_are_refused():
    X, y, _ = data(13)
    with pytest.raises(InputError, match="weighting='literal' counts a token once per"):
        SGPPSL(weighting="literal", expectation="tilted").fit(X, y)
    with pytest.raises(InputError, match="use hyperparameters='held-out'"):
        SGPPSL(hyperparameters="bound", expectation="laplace").fit(X, y)
    with pytest.raises(InputError, match="'decoder' parameter of SGPPSL must be"):
        SGPPSL(decoder="greedy").fit(X, y)


def test_the_mode_converges_at_large_amplitudes():
    # Variances are large where a label is certain: confidences must not see them.
    corpus = generate(20, 0, task="ner")
    partial = corrupt(corpus, cl=3, p=0.1, random_state=0, labels=corpus.label_set)
    found = {}
    for way in ("jensen", "laplace"):
        model = SGPPSL(amplitude=100.0, expectation=way, hyperparameters="fixed")
        model.fit(partial.rows, partial.candidates)  # a warning would be an error
        gold, sets = partial.gold, partial.candidates
        found[way] = recovery(gold, model.transduction_, sets).ambiguous
    assert found["laplace"] > found["jensen"] - 0.02 > 0.8


def test_jitter_of_the_final_fit_is_said(monkeypatch):
    X, y, _ = data(14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SGPPSL(**FIXED, posterior="inducing").fit(X, y)
    whiten = module.Distances.covariance

    def shaky(self, kernel):
        covariance, roots = whiten(self, kernel)
        return type(covariance)(
            covariance.A, covariance.norms, covariance.amplitude, 1e-4
        ), roots

    monkeypatch.setattr(module.Distances, "covariance", shaky)
    with pytest.warns(NumericalWarning, match="needed 1e-04 of its diagonal") as said:
        SGPPSL(posterior="inducing").fit(X, y)
    assert said[0].filename == __file__


def test_too_little_memory_is_said_before_the_work(monkeypatch):
    X, y, _ = data(15)
    monkeypatch.setattr(carriers, "free_bytes", lambda where: 1000)
    monkeypatch.setattr(hyperparameters, "search_held_out", None)  # must not be reached
    with pytest.raises(ResourceError, match="use posterior='inducing'"):
        SGPPSL(posterior="dense").fit(X, y)
    with pytest.raises(ResourceError, match="lower n_inducing"):
        SGPPSL(posterior="inducing").fit(X, y)


# Numerical honesty -------------------------------------------------------------


@pytest.mark.parametrize("amplitude", [1e-3, 1e-1, 1e1, 1e3])
@pytest.mark.parametrize("posterior", ["dense", "inducing"])
def test_amplitudes_over_six_decades(amplitude, posterior):
    X, y, _ = data(20)
    model = SGPPSL(amplitude=amplitude, theta=0.2, posterior=posterior, max_iter=300)
    finite(model.fit(X, y), X)


@pytest.mark.parametrize("theta", [1e-9, 1e9])
@pytest.mark.parametrize("posterior", ["dense", "inducing"])
def test_extreme_widths(theta, posterior):
    X, y, _ = data(21)
    finite(SGPPSL(theta=theta, amplitude=5.0, posterior=posterior).fit(X, y), X)


@pytest.mark.parametrize("posterior", ["dense", "inducing"])
def test_duplicate_rows(posterior):
    X, y, _ = data(22)
    model = SGPPSL(**FIXED, posterior=posterior)
    finite(model.fit([*X, *X, *X], [*y, *y, *y]), X)


@pytest.mark.parametrize("posterior", ["dense", "inducing"])
def test_constant_features(posterior):
    _, y, _ = data(23)
    X = [np.ones((len(mask), 2)) for mask in y]
    model = finite(SGPPSL(posterior=posterior).fit(X, y), X)
    rows = np.concatenate(model.predict_proba(X))
    np.testing.assert_allclose(rows, np.broadcast_to(rows[0], rows.shape))


def test_features_far_from_the_origin():
    X, y, _ = data(24)
    near = SGPPSL(**FIXED).fit(X, y)
    far = SGPPSL(**FIXED).fit([x + 1e6 for x in X], y)
    all_close(
        near.predict_proba(X), far.predict_proba([x + 1e6 for x in X]), atol=0.0001
    )


def test_data_without_information_is_said():
    X, y, _ = data(26)
    full = [np.ones_like(mask) for mask in y]
    with pytest.warns(NumericalWarning, match="the labels carry no information"):
        model = SGPPSL().fit(X, full)
    finite(model, X)


@pytest.mark.parametrize("lengths", [(1,), (7,)], ids=["one token", "one sentence"])
@pytest.mark.parametrize("posterior", ["dense", "inducing"])
def test_very_little_data(lengths, posterior):
    X, y, _ = data(27, lengths=lengths)
    y[0][0] = [True, True, False]
    finite(SGPPSL(posterior=posterior).fit(X, y), X)


def test_forty_labels():
    X, y, _ = data(29, lengths=(10, 10, 10), n_labels=40)
    finite(SGPPSL(**FIXED, max_iter=400).fit(X, y), X)


# Files -------------------------------------------------------------------------


def test_without_neighbours_the_weighted_decoder_says_what_it_lacks(
    fitted, tmp_path: Path
):
    X, _, _ = data(42)
    path = tmp_path / "model.tagsift"
    fitted.set_params(decoder="weighted").save(path, neighbours=False)
    assert fitted.predict(X)  # the model in memory keeps its own
    bare = load(path)
    with pytest.raises(NotSupportedError, match="saved without its training neighbou"):
        bare.predict(X)
    for decoder in ("viterbi", "argmax", "log"):
        expected = fitted.set_params(decoder=decoder).predict(X)
        assert bare.set_params(decoder=decoder).predict(X) == expected
    bare.save(path)
    with pytest.raises(NotSupportedError):
        load(path).set_params(decoder="weighted").predict(X)
