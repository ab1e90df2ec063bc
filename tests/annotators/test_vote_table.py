"""What is derived of votes, against loops over them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tagsift.annotators import VoteTable
from tagsift.annotators.initialise import vote_shares
from tests.reference.annotators import cast
from tests.reference.corpora import corpora, law


@law
@given(corpora(exact=True), st.booleans())
def test_a_table_is_what_loops_find(corpus, context):
    table = VoteTable(corpus, context)
    n_tokens, n_labels = table.n_tokens, table.n_labels
    counts, shares = np.zeros((2, n_tokens, n_labels))
    cells, votes = Counter(), {}
    for one in cast(table):
        votes[one.token, one.annotator] = set(one.labels)
        for k in one.labels:
            cells[one.annotator, one.before, k, one.token] += 1 / len(one.labels)
            if not one.silent:
                counts[one.token, k] += 1 / len(one.labels)
    shape = (table.n_annotators, table.n_contexts, n_labels, n_tokens)
    found = table.cells.toarray().reshape(shape)
    assert {tuple(cell): found[tuple(cell)] for cell in np.argwhere(found)} == cells
    np.testing.assert_allclose(table.counts, counts)
    token, annotator, label, part = table.spoken
    np.add.at(shares, (token, label), part)
    np.testing.assert_allclose(shares, counts)
    everywhere = np.indices((n_tokens, table.n_annotators)).reshape(2, -1)
    said = table.of(*everywhere)
    assert {
        (n, a): set(np.flatnonzero(table.members[code]))
        for n, a, code in zip(*everywhere, said, strict=True)
        if code >= 0
    } == votes
    assert set(np.flatnonzero(table.voted)) == {n for n, _ in votes}
    # Shares: a little for every label, twice that for O, which silence speaks for.
    exact = [k for row in corpus.exact for k in row]
    for n, name in enumerate(exact):
        little = np.full(n_labels, 1e-3)
        if table.outside >= 0:
            quiet = table.abstains.any() and not counts[n].any()
            little[table.outside] += 1e-3 + quiet
        expected = (counts[n] + little) / (counts[n] + little).sum()
        if name is not None:
            expected = np.eye(n_labels)[corpus.label_set.index(name)]
        np.testing.assert_allclose(vote_shares(table)[n], expected)
        with np.errstate(divide="ignore"):
            pinned = np.log(expected) if name is not None else np.zeros(n_labels)
        np.testing.assert_array_equal(table.pinned[n], pinned)
