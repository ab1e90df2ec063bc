"""Votes on one token, added up."""

from __future__ import annotations

import pytest

from tagsift.annotators.tally import differs, looks_abstaining, spoken, tally_text
from tagsift.data import VoteCorpus


def test_tallies_for_people():
    assert tally_text(("O", "B-LOC", None, "B-LOC")) == "B-LOC:2 O:1"
    assert tally_text(("O", "B-LOC")) == "B-LOC:1 O:1"
    assert tally_text((None, None)) == "-"
    assert tally_text((frozenset({"I-X", "B-X"}), "O")) == "B-X|I-X:1 O:1"


def test_who_abstains_has_said_nothing():
    votes = ("O", "B-X", frozenset({"B-X", "I-X"}), None)
    assert spoken(votes, (True, False, False, False)) == {"B-X": 2, "I-X": 1}
    assert spoken(votes, (False,) * 4)["O"] == 1


@pytest.mark.parametrize(
    ("label", "votes", "silent", "expected"),
    [
        ("O", ("O", "O", "B-X"), (), False),
        ("B-X", ("O", "O", "B-X"), (), True),
        ("B-X", ("O", "B-X"), (), False),  # a tie
        ("B-X", ("O", "O", "B-X"), (0, 1), False),
        ("O", ("O", "O", "B-X"), (0, 1), True),
        ("B-X", ("O", "O", None), (0, 1), True),
        ("B-X", (None, None, None), (), False),
    ],
)
def test_labels_that_differ_from_the_majority(label, votes, silent, expected):
    assert differs(label, votes, [a in silent for a in range(3)][: len(votes)]) is (
        expected
    )


def test_columns_that_look_like_abstaining():
    token = ("B-X", "O", "B-X", None)
    votes = [[token] * 10 + [("O", "O", "O", "O")] * 5] * 3
    rows = [[(f"w{t}",) for t in range(15)]] * 3
    corpus = VoteCorpus(rows, votes, ("ann", "dict", "bob", "eve"), None, "iob2")
    assert looks_abstaining(corpus) == {"dict": 1.0}
    assert looks_abstaining(corpus, but=("dict",)) == {}
    assert looks_abstaining(corpus[:1]) == {}
