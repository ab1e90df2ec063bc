"""One record of agreement, against its parts and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.metrics import annotator_agreement, dawid_skene, fleiss_kappa

VOTES = np.array([[0, 0, 0], [0, 0, 1], [1, 1, -1], [0, 1, 1], [0, 0, -1]])
GOLD = np.array([0, 0, 1, 1, -1])


def test_figures_by_hand():
    found = annotator_agreement(VOTES, ["O", "B"], ["ann", "bob", "cid"], GOLD)
    assert found.tokens == 5
    assert found.votes_per_token == pytest.approx(13 / 5)
    assert found.commonest_label == "O"
    # Equal pairs: 3 of 3, 1 of 3, 1 of 1, 1 of 3, 1 of 1.
    assert found.pairwise_agreement == pytest.approx(7 / 11)
    assert found.fleiss_kappa == fleiss_kappa(VOTES, 2)
    ann, bob, cid = found.annotators
    # Majorities: O, O, B, B, O.
    assert ann.agrees_with_majority == pytest.approx(4 / 5)
    assert bob.agrees_with_majority == 1.0
    assert cid.agrees_with_majority == pytest.approx(2 / 3)
    # A gold label that nobody ever gave is never right.
    assert (ann.accuracy, bob.accuracy) == (3 / 5, 4 / 5)
    assert (ann.accuracy_rare, bob.accuracy_rare) == (1 / 3, 2 / 3)
    assert cid.tokens == 3
    np.testing.assert_allclose(
        [ann.reliability, bob.reliability, cid.reliability],
        dawid_skene(VOTES, 2).reliability(),
    )
    assert [(pair.first, pair.second, pair.shared) for pair in found.pairs] == [
        ("ann", "bob", 5),
        ("ann", "cid", 3),
        ("bob", "cid", 3),
    ]


def test_without_gold():
    found = annotator_agreement(VOTES, ["O", "B"], ["a", "b", "c"])
    assert found.annotators[0].accuracy is None
    assert found.as_dict()["annotators"][0]["accuracy_rare"] is None


def test_a_silent_annotator_and_strangers():
    votes = np.array([[0, -1, -1], [-1, 1, -1]])
    found = annotator_agreement(votes, ["O", "B"], ["a", "b", "c"])
    assert found.pairs == ()
    assert np.isnan(found.pairwise_agreement)
    assert np.isnan(found.annotators[2].agrees_with_majority)


def test_names_must_fit():
    with pytest.raises(InputError, match="each of the 2 annotators"):
        annotator_agreement(VOTES, ["O", "B"], ["a", "b"])
