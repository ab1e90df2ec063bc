import warnings

import numpy as np
import pytest

from tagsift.annotators import Wawa
from tagsift.annotators.ballots import read_ballots


def test_weights_are_those_of_crowd_kit():
    pandas = pytest.importorskip("pandas")
    aggregation = pytest.importorskip("crowdkit.aggregation")
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=200)  # [N]
    lies = rng.random((200, 5)) < np.array([0.1, 0.2, 0.3, 0.5, 0.7])  # [N, A]
    votes = np.where(lies, rng.integers(3, size=(200, 5)), truth[:, None])  # [N, A]
    classes = ("A", "B", "C")
    said = [[tuple(classes[k] for k in row) for row in votes]]
    ballots = read_ballots(said, classes, np.array([200]), names=tuple("vwxyz"))
    found = Wawa()._posterior(ballots)  # [N, L]
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
    votes = [[("A", "A", "B"), ("B", "B", "A"), ("A", "A", "B"), ("B", None, "A")]]
    ballots = read_ballots(votes, ("A", "B"), np.array([4]), names=("v", "w", "x"))
    found = Wawa()._posterior(ballots)  # [N, L]
    # The tie goes to A: v agrees in 3 of 4 votes, w in 3 of 3, x in 1 of 4.
    np.testing.assert_allclose(found[3], [0.25, 0.75], atol=1e-8)
