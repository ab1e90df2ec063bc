"""ChainGP: mode, equivalence, constraints, temperature, variances, sets, files."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tagsift
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data import allowed_transitions, corrupt, generate, spans
from tagsift.errors import ConvergenceWarning, InputError
from tagsift.features import SequenceVectorizer
from tests.reference.comparing import all_close, all_equal
from tests.reference.label_sequences import sequences


@pytest.fixture(scope="module")
def data():
    corpus = generate(75, 0, task="chunk")
    train, test = corpus[:60], corpus[60:]
    return corrupt(train, cl=3, p=0.3, random_state=1), test


@pytest.fixture(scope="module")
def fitted(data):
    partial, _ = data
    return ChainGP().fit(partial.rows, partial.candidates)


def unit_kernel(rows) -> dict:
    names = SequenceVectorizer().fit_transform(rows).names
    ones = dict.fromkeys(names, 1.0)
    return {"linear": ones, "rbf": {}, "transition": 1.0, "bias": 1.0}


@pytest.mark.parametrize("bans", [False, True])
def test_equals_the_partial_crf_without_its_additions(data, bans):
    partial, test = data
    plain = ChainGP(
        kernel=unit_kernel(partial.rows),
        constraints="scheme" if bans else "none",
        temperature=1.0,
        span_bonus=0.0,
        tol=1e-9,
        max_iter=1000,
    ).fit(partial.rows, partial.candidates)
    crf = PartialCRF(l2=1.0, tol=1e-9, max_iter=1000, bans=bans).fit(
        partial.rows, partial.candidates
    )
    assert all(part.all() for part in plain.allowed_) != bans
    assert plain.log_posterior_ == pytest.approx(crf.objective_, rel=1e-6)
    ours, theirs = (m.predict_proba(test.rows) for m in (plain, crf))
    all_close(ours, theirs, atol=0.001)
    by_one_view = plain.recover(partial.rows, partial.candidates)[0]
    assert by_one_view == crf.transduction_
    assert plain.predict(test.rows) == crf.predict(test.rows)


def test_the_mode_is_stationary(data):
    """At the mode the prior pulls every emission weight as hard as the data."""
    partial, _ = data
    features = SequenceVectorizer().fit_transform(partial.rows)
    model = ChainGP(
        kernel=unit_kernel(partial.rows), temperature=1.0, tol=1e-12, max_iter=2000
    ).fit(features, partial.candidates)
    full = np.vstack(model.predict_proba(features))
    masks = np.vstack(
        [
            np.array([[c in one for c in model.classes_] for one in sentence])
            for sentence in partial.candidates
        ]
    )
    restricted = model._restricted(features, np.where(masks, 0.0, -np.inf))[1]
    pull = features.stacked().T @ (restricted - full)
    possible = model.weights_.possible
    np.testing.assert_allclose(
        model.weights_.emissions[:, possible], pull[:, possible], atol=1e-3
    )


def test_constraints_hold_wherever_the_scheme_is_known(data):
    partial, test = data
    model = ChainGP(
        kernel=unit_kernel(partial.rows), temperature=1.0, scheme="iob2", max_iter=3
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(partial.rows, partial.candidates)
    names = [str(c) for c in model.classes_]
    allowed, first, last = allowed_transitions(names, "iob2")
    for sentence in model.predict(test.rows):
        at = [names.index(label) for label in sentence]
        assert first[at[0]] and last[at[-1]]
        assert all(allowed[a, b] for a, b in zip(at, at[1:], strict=False))


def test_forbidden_transitions_begin_far_down(fitted):
    allowed, _, _ = fitted.allowed_
    transitions = fitted.weights_.transitions
    assert not allowed.all()
    assert transitions[~allowed].max() < transitions[allowed].mean()


def test_a_guessed_scheme_forbids_nothing():
    X = [["the", "cat"], ["a", "dog"]] * 6
    y = [[{"B-X", "O"}, {"I-X", "O"}], [{"B-X", "I-X"}, {"O", "B-X"}]] * 6
    model = ChainGP().fit(X, y)
    assert all(part.all() for part in model.allowed_)
    exact = ChainGP(scheme="iob2").fit(X, y)
    assert not exact.allowed_[0].all()


def test_temperature_flattens_marginals_and_keeps_labels(data):
    partial, test = data
    kernel = unit_kernel(partial.rows)
    cold, hot = (
        ChainGP(kernel=kernel, temperature=t, span_bonus=0.5).fit(
            partial.rows, partial.candidates
        )
        for t in (0.5, 2.0)
    )
    assert (cold.temperature_, hot.temperature_) == (0.5, 2.0)
    assert cold.predict(test.rows) == hot.predict(test.rows)
    assert (cold.confidence_temperature_, hot.confidence_temperature_) == (0.5, 2.0)
    tops = [np.vstack(m.predict_proba(test.rows)).max(axis=1) for m in (cold, hot)]
    assert tops[0].mean() > tops[1].mean()


def test_confidences_are_the_mean_of_two_views_of_the_training_tokens(data):
    partial, _ = data
    told = partial.rows, partial.candidates
    fitted = ChainGP(temperature=1.3).fit(*told)
    kernel = fitted.kernel_.nearer()
    assert kernel is not None
    near = ChainGP(kernel=kernel.as_dict(), temperature=1.3, tol=1e-4).fit(*told)
    views = [np.vstack(model.recover(*told)[1]) for model in (fitted, near)]
    np.testing.assert_allclose(np.vstack(fitted.confidences_), sum(views) / 2)


def test_exact_labels_are_seen_once(data):
    _, test = data
    model = ChainGP(verbose=False).fit(test.rows, test.labels)
    once = model.recover(test.rows, test.labels)[1]
    np.testing.assert_allclose(np.vstack(model.confidences_), np.vstack(once))


def test_too_few_sentences_have_the_usual_temperature():
    X = [["the", "cat"], ["a", "dog"]] * 5
    y = [[{"D"}, {"N", "D"}], [{"D", "V"}, {"N"}]] * 5
    few = ChainGP().fit(X[:9], y[:9])
    assert few.temperature_ == 1.25
    assert few.confidence_temperature_ == pytest.approx(1.15 * 1.25)
    assert ChainGP().fit(X, y).temperature_ != 1.25


def test_a_kernel_used_again_gives_the_same_fit(data, fitted):
    partial, test = data
    again = ChainGP(kernel=fitted.kernel_.as_dict())
    again.fit(partial.rows, partial.candidates)
    assert again.kernel_ == fitted.kernel_
    assert again.temperature_ == fitted.temperature_
    all_equal(fitted.predict_proba(test.rows), again.predict_proba(test.rows))


def test_kernels_that_do_not_fit_are_refused(data):
    partial, _ = data
    with pytest.raises(InputError, match="kernel_.as_dict"):
        ChainGP(kernel={"linear": {}}).fit(partial.rows, partial.candidates)
    kernel = unit_kernel(partial.rows)
    del kernel["linear"]["word"]
    with pytest.raises(InputError, match="feature groups"):
        ChainGP(kernel=kernel).fit(partial.rows, partial.candidates)


def test_rbf_parts_are_for_dense_groups(data, fitted):
    partial, _ = data
    assert fitted.kernel_.rbf == {} and fitted.columns_ == {}
    X = [np.eye(3)[: len(row) % 3 + 1] for row in partial.rows]
    y = [row[: len(x)] for x, row in zip(X, partial.candidates, strict=True)]
    assert set(ChainGP().fit(X, y).columns_) == {"array"}
    assert ChainGP(rbf=False).fit(X, y).columns_ == {}


def test_variances_grow_away_from_the_training_data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(5, 2)) for _ in range(30)]
    y = [[{"A"} if row[0] > 0 else {"B"} for row in table] for table in X]
    model = ChainGP(n_inducing=40).fit(X, y)
    seen = np.vstack(model.predict_latent(X)[1]).mean()
    direction = np.array([1.0, 1.0]) / np.sqrt(2)
    means = [
        model.predict_latent([direction[None] * r])[1][0].mean() for r in (1, 4, 16)
    ]
    assert seen < means[1] < means[2]


def test_the_marginal_decoder(data, fitted):
    _, test = data
    labels = fitted.predict(test.rows)
    fitted.set_params(decoder="marginal")
    try:
        found = fitted.predict(test.rows)
    finally:
        fitted.set_params(decoder="viterbi")
    names = np.array(fitted.classes_)
    for got, table in zip(found, fitted.predict_proba(test.rows), strict=True):
        assert got == list(names[table.argmax(axis=1)])
    same = [
        a == b
        for s, t in zip(found, labels, strict=True)
        for a, b in zip(s, t, strict=True)
    ]
    assert np.mean(same) > 0.9


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_label_sets_cover(fitted, alpha: float):
    """Exchangeable sentences: coverage of at least 1 − alpha, within sampling error."""
    fresh = generate(240, 5, task="chunk")
    fitted.calibrate_sets(fresh[:120].rows, fresh[:120].labels)
    sets = fitted.predict_sets(fresh[120:].rows, alpha=alpha)
    inside = [
        label in one
        for labels, row in zip(fresh[120:].labels, sets, strict=True)
        for label, one in zip(labels, row, strict=True)
    ]
    slack = 4 * np.sqrt(alpha * (1 - alpha) / 1000)
    assert np.mean(inside) >= 1 - alpha - slack
    assert all(one for row in sets for one in row)


def test_label_sets_need_calibration_and_a_sensible_alpha(data):
    partial, test = data
    model = ChainGP(kernel=unit_kernel(partial.rows), temperature=1.0)
    model.fit(partial.rows, partial.candidates)
    with pytest.raises(InputError, match="calibrate_sets"):
        model.predict_sets(test.rows)
    with pytest.raises(InputError, match="at least one"):
        model.calibrate_sets([], [])
    model.calibrate_sets(test.rows, test.labels)
    with pytest.raises(InputError, match="alpha"):
        model.predict_sets(test.rows, alpha=1.5)


def test_save_and_load(fitted, data, tmp_path):
    _, test = data
    fitted.calibrate_sets(test.rows, test.labels)
    path = tmp_path / "model.tagsift"
    fitted.save(path)
    loaded = tagsift.load(path)
    assert loaded.kernel_ == fitted.kernel_
    assert loaded.temperature_ == fitted.temperature_
    assert loaded.predict(test.rows) == fitted.predict(test.rows)
    assert loaded.predict_sets(test.rows) == fitted.predict_sets(test.rows)
    all_close(loaded.predict_latent(test.rows)[1], fitted.predict_latent(test.rows)[1])


def test_large_corpora_are_judged_by_a_part(data, monkeypatch: pytest.MonkeyPatch):
    partial, _ = data
    whole = ChainGP().fit(partial.rows, partial.candidates)
    monkeypatch.setattr("tagsift.chain_gp.held_out.FEW_TOKENS", 500)
    part = ChainGP().fit(partial.rows, partial.candidates)
    assert part.temperature_ != whole.temperature_
    np.testing.assert_array_equal(part.weights_.emissions, whole.weights_.emissions)


def test_the_bonus_finds_more_spans(data, fitted):
    """Every span adds it to the score, so their number never falls as it grows."""
    _, test = data
    found = []
    for bonus in (-4.0, 0.0, 0.5, 4.0):
        model = copy.copy(fitted)
        model.span_bonus_ = bonus
        labels = model.predict(test.rows)
        found.append(sum(len(spans(row, "iob2")) for row in labels))
    assert found == sorted(found) and found[0] < found[-1]


def test_the_bonus_by_enumeration(fitted, data):
    """The sequence of the highest score plus the bonus of its spans."""
    row, names = data[1].rows[0][:3], fitted.classes_
    U, chain = fitted.predict_latent([row])[0][0], fitted.weights_
    scored = [
        (
            score + fitted.span_bonus_ * len(spans(labels, fitted.scheme_)),
            labels,
        )
        for path, score in sequences(
            U, chain.transitions, start=chain.start, allowed=fitted.allowed_
        )
        for labels in [[names[y] for y in path]]
    ]
    assert fitted.predict([row]) == [max(scored)[1]]


def test_max_iter_warns(data):
    partial, _ = data
    model = ChainGP(kernel=unit_kernel(partial.rows), temperature=1.0, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model.fit(partial.rows, partial.candidates)
