"""The majority tagger, with every number worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.baselines import WordCounts

X = [["a", "dog"], ["a", "run"]]
Y = [["D", {"N", "V"}], [{"D", "N"}, {"N", "V"}]]
# Shares of the four tokens over D, N, V:
#   a    1    0    0
#   dog  0    1/2  1/2
#   a    1/2  1/2  0
#   run  0    1/2  1/2
# Sums over all tokens: 3/2, 3/2, 1; divided by four tokens: 3/8, 3/8, 1/4.
PRIOR = np.array([3, 3, 2]) / 8
COUNTS = {"a": [1.5, 0.5, 0.0], "dog": [0.0, 0.5, 0.5], "run": [0.0, 0.5, 0.5]}


@pytest.fixture
def model() -> WordCounts:
    return WordCounts().fit(X, Y)


def test_the_prior_is_the_mean_share(model: WordCounts):
    assert model.classes_ == ("D", "N", "V")
    np.testing.assert_allclose(model.prior_, PRIOR)


def test_marginals_are_counts_with_a_tenth_of_a_token_of_the_prior(model: WordCounts):
    (marginals,) = model.predict_proba([["a", "dog", "run"]])
    for row, (word, counts) in zip(marginals, COUNTS.items(), strict=True):
        smooth = np.array(counts) + 0.1 * PRIOR
        np.testing.assert_allclose(row, smooth / smooth.sum(), err_msg=word)
    # a: (1.5375, 0.5375, 0.025) / 2.1
    np.testing.assert_allclose(marginals[0], [0.732143, 0.255952, 0.011905], atol=1e-6)
    # dog: (0.0375, 0.5375, 0.525) / 1.1
    np.testing.assert_allclose(marginals[1], [0.034091, 0.488636, 0.477273], atol=1e-6)


def test_an_unseen_word_gets_the_prior_and_ties_the_first_label(model: WordCounts):
    (marginals,) = model.predict_proba([["cat"]])
    np.testing.assert_allclose(marginals, PRIOR[None])
    assert model.predict([["cat"]]) == [["D"]]  # D and N tie


def test_confidences_are_marginals_over_the_candidates(model: WordCounts):
    first, second = model.confidences_
    np.testing.assert_allclose(first[0], [1, 0, 0])
    # dog, N or V: 0.5375 and 0.525 of 1.0625
    np.testing.assert_allclose(first[1], [0, 0.505882, 0.494118], atol=1e-6)
    # a, D or N: 1.5375 and 0.5375 of 2.075
    np.testing.assert_allclose(second[0], [0.740964, 0.259036, 0], atol=1e-6)
    assert model.transduction_ == [["D", "N"], ["D", "N"]]


def test_without_words_all_tokens_get_the_prior():
    model = WordCounts().fit([np.eye(2)], [["D", {"D", "N"}]])
    np.testing.assert_allclose(
        model.predict_proba([np.ones((1, 2))])[0], [[0.75, 0.25]]
    )
