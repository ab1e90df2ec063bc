"""Agreement against published and hand-worked values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tagsift.annotators import (
    dawid_skene,
    encode_votes,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
)
from tagsift.errors import InputError

# Fleiss (1971) as retold in textbooks: 10 subjects, 14 raters, 5 categories; the counts
# of every category. κ = (0.378 − 0.213) / (1 − 0.213) = 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Krippendorff, "Computing Krippendorff's alpha-reliability", example C: four observers,
# twelve units, missing data; nominal α = 0.743.
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]


def test_fleiss_kappa_is_the_published_one():
    votes = np.array([np.repeat(np.arange(5), row) for row in FLEISS])
    assert fleiss_kappa(votes, 5) == pytest.approx(0.210, abs=5e-4)


def test_krippendorff_alpha_is_the_published_one():
    votes = np.array(KRIPPENDORFF).T - 1
    assert krippendorff_alpha(votes, 5) == pytest.approx(0.743, abs=5e-4)


def test_pairwise_agreement_by_hand():
    # a and b share tokens 0, 1, 2 and agree on 0 and 1: 2/3. Where b voted, a said
    # 0, 1, 1; b said 0, 1, 0: chance = (1·2 + 2·1) / 9 = 4/9; κ = (6/9 − 4/9) / (5/9).
    votes = np.array([[0, 0, -1], [1, 1, -1], [1, 0, -1], [0, -1, -1]])
    found = pairwise_agreement(votes, 2)
    assert found.shared.tolist() == [[4, 3, 0], [3, 3, 0], [0, 0, 0]]
    assert found.share[0, 1] == pytest.approx(2 / 3)
    assert found.kappa[0, 1] == pytest.approx(2 / 5)
    assert np.isnan(found.share[0, 2])
    assert found.mean_share == pytest.approx(2 / 3)


def test_kappa_is_that_of_scikit_learn():
    votes = np.random.default_rng(0).integers(0, 3, size=(60, 4))
    found = pairwise_agreement(votes, 3)
    for a in range(4):
        for b in range(4):
            expected = cohen_kappa_score(votes[:, a], votes[:, b])
            assert found.kappa[a, b] == pytest.approx(expected)


@pytest.mark.parametrize("statistic", [fleiss_kappa, krippendorff_alpha])
def test_undefined_is_nan(statistic):
    assert np.isnan(statistic(np.array([[0, -1], [-1, 1]]), 2))  # no two votes
    assert np.isnan(statistic(np.zeros((4, 3), dtype=int), 2))  # one label only


@given(
    st.lists(
        st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=2, max_size=8
    )
)
@settings(max_examples=60, derandomize=True)
def test_order_of_annotators_and_names_of_labels_do_not_matter(rows):
    votes = np.array(rows)
    renamed = np.where(votes >= 0, 2 - votes, -1)[:, ::-1]
    for statistic in (fleiss_kappa, krippendorff_alpha):
        first, second = statistic(votes, 3), statistic(renamed, 3)
        assert first == pytest.approx(second, nan_ok=True)
        assert not first > 1.0


def simulated(seed: int):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=3000, p=[0.7, 0.2, 0.1])
    accuracy = np.array([0.95, 0.85, 0.7, 0.4])
    votes = np.empty((3000, 4), dtype=int)
    for a, right in enumerate(accuracy):
        wrong = (truth + rng.integers(1, 3, size=3000)) % 3
        votes[:, a] = np.where(rng.random(3000) < right, truth, wrong)
    votes[rng.random(votes.shape) < 0.2] = -1
    return truth, accuracy, votes


def test_dawid_skene_finds_simulated_reliabilities():
    truth, accuracy, votes = simulated(0)
    found = dawid_skene(votes, 3)
    assert found.converged
    np.testing.assert_allclose(found.reliability(), accuracy, atol=0.03)
    np.testing.assert_allclose(found.confusion.sum(axis=2), 1.0)
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)
    voted = (votes >= 0).any(axis=1)
    estimated = found.posterior.argmax(axis=1)
    counts = np.stack([(votes == k).sum(axis=1) for k in range(3)], axis=1)
    right = (estimated == truth)[voted].mean()
    assert right > (counts.argmax(axis=1) == truth)[voted].mean()
    assert (~voted).any()
    assert (found.posterior[~voted] == found.prior).all()


def test_dawid_skene_one_round_by_loops():
    votes = np.array([[0, 0], [0, 1], [1, -1]])
    found = dawid_skene(votes, 2, strength=2.0, max_iter=1)
    q = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    prior = (q.sum(axis=0) + 0.5) / 4.0
    table = np.zeros((2, 2, 2))
    for n in range(3):
        for a in range(2):
            if votes[n, a] >= 0:
                table[a, :, votes[n, a]] += q[n]
    pooled = table.sum(axis=0) + 0.5
    pooled /= pooled.sum(axis=1, keepdims=True)
    confusion = table + 2.0 * pooled
    confusion /= confusion.sum(axis=2, keepdims=True)
    posterior = np.zeros((3, 2))
    for n in range(3):
        for k in range(2):
            posterior[n, k] = prior[k]
            for a in range(2):
                if votes[n, a] >= 0:
                    posterior[n, k] *= confusion[a, k, votes[n, a]]
        posterior[n] /= posterior[n].sum()
    np.testing.assert_allclose(found.prior, prior)
    np.testing.assert_allclose(found.confusion, confusion)
    np.testing.assert_allclose(found.posterior, posterior)
    assert not found.converged


def test_an_annotator_with_no_vote_is_judged_as_the_pool():
    _, _, votes = simulated(1)
    silent = np.hstack([votes, np.full((len(votes), 1), -1)])
    found = dawid_skene(silent, 3)
    weights = (votes >= 0).sum(axis=0)
    pooled = np.average(found.reliability()[:4], weights=weights)
    assert found.reliability()[4] == pytest.approx(pooled, abs=0.02)


def test_reliability_on_some_labels():
    _, _, votes = simulated(2)
    found = dawid_skene(votes, 3)
    only = found.reliability(np.array([False, True, False]))
    np.testing.assert_allclose(only, found.confusion[:, 1, 1])
    assert np.isnan(found.reliability(np.zeros(3, dtype=bool))).all()


def test_votes_are_encoded():
    votes = [[("A", None), ("B", "A")], [], [(None, "B")]]
    assert encode_votes(votes, ["A", "B"]).tolist() == [[0, -1], [1, 0], [-1, 1]]
    with pytest.raises(InputError, match="'C' is not among the 2 labels"):
        encode_votes([[("C",)]], ["A", "B"])
    with pytest.raises(InputError, match="one vote"):
        encode_votes([[("A",), ("A", "B")]], ["A", "B"])


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        (np.zeros((0, 2), dtype=int), "something in it"),
        (np.zeros((2, 2)), "integer array"),
        (np.array([[5]]), "between"),
    ],
)
def test_bad_votes_are_refused(votes, message):
    with pytest.raises(InputError, match=message):
        fleiss_kappa(votes, 2)


def test_nobody_voted():
    with pytest.raises(InputError, match="nobody labelled"):
        dawid_skene(np.array([[-1, -1]]), 2)
