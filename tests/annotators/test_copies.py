"""Who copies whom, against the rule pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.annotators import VoteTable
from tagsift.annotators.copies import copy_groups, copy_weights
from tests.reference.annotators import careful, corpus_of, table_of
from tests.reference.corpora import law


def slow_groups(votes, abstains):
    """Pairs that say the same wherever either says more than all do, or stands alone.

    `votes` are codes of at most three labels, [N, A], −1 where there is none.
    """
    usual = np.bincount(votes[votes >= 0]).argmax()
    people = votes.shape[1]
    group = list(range(people))

    def alike(pairs):
        return len(pairs) >= 20 and np.mean([x == y for x, y in pairs]) >= 0.95

    for a, b in combinations(range(people), 2):
        spoken, apart, company = [], [], 0
        for row in votes:
            x, y = row[a], row[b]
            if min(x, y) < 0:
                continue
            rest = [v for k, v in enumerate(row) if k not in (a, b) and v >= 0]
            others = np.bincount(rest).argmax() if rest else -1
            if not x == y == usual:
                spoken.append((x, y))
                company += others >= 0
            if rest and not x == y == others:
                apart.append((x, y))
        sure = abstains[a] or abstains[b] or people == 2 or not company
        if alike(spoken) and (sure or alike(apart)):
            group = [group[a] if g == group[b] else g for g in group]
    groups = [tuple(a for a in range(people) if group[a] == g) for g in set(group)]
    return sorted(members for members in groups if len(members) > 1)


@settings(law, max_examples=200)
@given(st.integers(0, 9999))
def test_copies_are_those_of_every_pair(seed):
    """Copies with slips, gaps, annotators who never meet, and some who abstain."""
    rng = np.random.default_rng(seed)
    n, people, slip = *rng.integers([25, 2], [150, 8]), rng.choice([0.02, 0.1])
    truth, shape = rng.choice(3, size=(n, 1), p=[0.2, 0.2, 0.6]), (n, people)
    votes = np.where(rng.random(shape) < 0.7, truth, rng.integers(3, size=shape))
    for a in range(1, people):
        if rng.random() < 0.5:
            own = rng.random(n) < slip
            votes[:, a] = np.where(own, votes[:, a], votes[:, rng.integers(a)])
    votes[rng.random(votes.shape) < rng.choice([0, 0.3, 0.7])] = -1
    if rng.random() < 0.5:
        votes[: n // 2, people // 2 :] = votes[n // 2 :, : people // 2] = -1
    quiet = "ab"[: rng.integers(3)]
    table = table_of(votes, abstaining=quiet)
    groups = copy_groups(table)
    assert groups == slow_groups(votes, table.abstains)
    weights = np.ones(people)
    for members in groups:
        for a in members:
            shared = [(row[list(members)] >= 0).sum() for row in votes if row[a] >= 0]
            weights[a] = np.mean(1 / np.array(shared)) if shared else 1.0
    np.testing.assert_allclose(copy_weights(table, groups), weights)


def test_good_annotators_are_no_copies():
    chances = {"ann": 0.1, "bob": 0.3, "cat": 0.35, "dan": 0.5}
    people = corpus_of({name: careful(chance) for name, chance in chances.items()})
    assert copy_groups(VoteTable(people)) == []
