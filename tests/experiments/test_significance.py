"""Tests of significance against scipy, published tables and hand-worked values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.paper.comparison import critical_difference, holm, ranking, wilcoxon

# Table 5(a) of Demšar (2006): critical values of the two-tailed Nemenyi test.
Q_05 = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102,
        10: 3.164}  # fmt: skip


@pytest.mark.parametrize(("n_methods", "quantile"), Q_05.items())
def test_critical_values_equal_the_published_table(n_methods, quantile):
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert critical_difference(n_methods, 14) == pytest.approx(expected, rel=5e-4)


def test_wilcoxon_by_hand():
    # Differences 1, 2, 3, 4, 5, −6: the negative rank sum is 6, the exact two-sided
    # p-value 2 · #{subsets of ranks 1 … 6 with sum ≤ 6} / 64 = 2 · 14 / 64.
    assert wilcoxon([1, 2, 3, 4, 5, -6]) == pytest.approx(28 / 64)


def test_wilcoxon_without_a_difference():
    assert wilcoxon([0.0, 0.0]) == 1.0


def test_holm_by_hand():
    # Sorted: .01·3 = .03, .02·2 = .04, .5·1 = .5.
    np.testing.assert_allclose(holm([0.02, 0.5, 0.01]), [0.04, 0.5, 0.03])
    # .03·2 = .06 pulls the second, .04·1, up to .06.
    np.testing.assert_allclose(holm([0.03, 0.04]), [0.06, 0.06])
    assert holm([0.9, 0.9]).max() == 1.0


def test_ranking_groups_by_hand():
    # Ten settings in the same order: ranks 1 … 4, critical difference 1.483, so only
    # neighbours cannot be told apart.
    scores = np.tile([0.9, 0.7, 0.8, 0.6], (10, 1))
    result = ranking(scores, ["a", "b", "c", "d"])
    assert result.methods == ("a", "c", "b", "d")
    assert result.ranks == (1.0, 2.0, 3.0, 4.0)
    assert result.critical_difference == pytest.approx(1.483, abs=1e-3)
    assert result.groups == (("a", "c"), ("c", "b"), ("b", "d"))
    assert result.n_settings == 10


def test_no_groups_when_all_differ():
    scores = np.tile([3.0, 2.0, 1.0], (100, 1))
    assert ranking(scores, ["a", "b", "c"]).groups == ()
    few = ranking(scores[:2], ["a", "b", "c"])
    assert few.groups == (("a", "b", "c"),)


def ranks_of(scores):
    """Mean ranks in the order of the columns."""
    result = ranking(scores, [str(i) for i in range(scores.shape[1])])
    place = dict(zip(result.methods, result.ranks, strict=True))
    return np.array([place[str(i)] for i in range(scores.shape[1])])


@settings(max_examples=40, derandomize=True)
@given(st.integers(1, 8), st.integers(2, 6), st.integers(0, 10**6), st.data())
def test_ranks_sum_and_permute(n, m, seed, data):
    scores = np.random.default_rng(seed).integers(0, 4, size=(n, m)).astype(float)
    names = [str(i) for i in range(m)]
    ranks = ranks_of(scores)
    assert ranks.sum() == pytest.approx(m * (m + 1) / 2)
    assert ((ranks >= 1) & (ranks <= m)).all()
    rows = data.draw(st.permutations(range(n)))
    columns = data.draw(st.permutations(range(m)))
    np.testing.assert_allclose(ranks_of(scores[rows][:, columns]), ranks[columns])
    for group in ranking(scores, names).groups:
        assert len(group) > 1
