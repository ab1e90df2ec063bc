import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.annotators import VoteTagger
from tagsift.annotators.cross_fit import CrossFit
from tagsift.annotators.text_views import text_views
from tagsift.chain.objective import ChainProblem
from tagsift.data import bundled, simulate_votes
from tagsift.features import FeatureMatrix, SequenceVectorizer


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    blocks = (
        sp.csr_matrix(rng.integers(2, size=(60, 5)).astype(float)),
        rng.normal(size=(60, 4)).astype(np.float32),
    )
    return ChainProblem(
        FeatureMatrix(("word", "vectors"), blocks, np.arange(0, 61, 6)), 3.0
    )


def test_without_vectors_there_are_two_penalties(problem):
    sparse = ChainProblem(problem.features.sparse, 3.0)
    first, second = text_views(sparse, None, seed=0)
    assert first.features is second.features
    assert second.l2 == pytest.approx(10.0)


def test_with_vectors_there_are_three_kinds_of_columns(problem):
    found = text_views(problem, problem.features.dense, seed=0)
    assert [view.features.names for view in found] == [
        ("word", "vectors"),
        ("word",),
        ("waves",),
    ]


def test_a_tagger_reads_the_words_and_their_vectors():
    votes = simulate_votes(bundled("ner")[:40])
    vectors = np.random.default_rng(0).normal(size=(votes.n_tokens, 3))
    words = SequenceVectorizer().fit_transform(votes.rows)
    both = FeatureMatrix(
        (*words.names, "vectors"), (*words.blocks, vectors), words.offsets
    )
    tagger = VoteTagger(random_state=0, rounds=1).fit(both, votes)
    assert len(tagger.predict(both)) == len(votes)


def test_the_smooth_view_is_an_rbf_kernel(problem):
    """Inner products of the waves tend to 36 exp(-d^2 / (2 * 1.3^2))."""
    vectors = problem.features.dense
    Z = vectors.blocks[0] - vectors.blocks[0].mean(axis=0)
    Z = Z / np.linalg.norm(Z, axis=1).mean()
    exact = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / (2 * 1.3**2))
    found = [
        text_views(problem, vectors, seed=k)[2].features.blocks[0] for k in range(20)
    ]
    mean = np.mean([F @ F.T for F in found], axis=0) / 36
    assert np.abs(mean - exact).max() < 0.05


def test_scores_are_the_mean_over_views(problem):
    """One part alone: scores of the three chains, fitted apart, averaged."""
    views = text_views(problem, problem.features.dense, seed=1)
    evidence = np.random.default_rng(1).normal(size=(60, 3))
    whole = CrossFit(views, 1, seed=0).fit(evidence, 10)
    apart = [CrossFit([view], 1, seed=0).fit(evidence, 10) for view in views]
    mean = np.mean([one.parts[0].U for one in apart], axis=0)
    np.testing.assert_allclose(whole.parts[0].U, mean, atol=1e-8)
