"""Labels in whole spans, against loops over sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tagsift.annotators import VoteTable
from tagsift.annotators.initialise import union_evidence
from tagsift.annotators.whole_spans import confined, without_neighbours
from tagsift.data.schemes import Span, spans, tags
from tests.reference.annotators import cast, table_of
from tests.reference.corpora import corpora, law


def settled_by_loop(labels, sentence, scheme, sources):
    """Neighbouring spans of one type: the whole, or the parts that somebody marked."""
    marked = Counter[Span]()
    for row in sentence.votes.values():
        single = [one if isinstance(one, str) else "?" for one in row]
        piece: list[str] = []
        for t, name in enumerate([*single, "?"]):
            if t < len(row) and row[t] is not None:
                piece.append("O" if name == "?" else name)
                continue
            for one in spans(piece, scheme):
                at = t - len(piece)
                marked[Span(one.type, one.start + at, one.end + at)] += 1
            piece = []
    groups: list[list[Span]] = []
    for one in spans(labels, scheme):
        before = groups[-1][-1] if groups else None
        if before and (before.end, before.type) == (one.start, one.type):
            groups[-1].append(one)
        else:
            groups.append([one])
    kept: list[Span] = []
    for group in groups:
        whole = Span(group[0].type, group[0].start, group[-1].end)
        best = max(marked[one] for one in group)
        wins = marked[whole] >= best and (marked[whole] or sources)
        if len(group) > 1 and wins:
            kept.append(whole)
        else:
            stay = len(group) == 1 or not sources
            kept += [one for one in group if stay or marked[one]]
    return list(tags(kept, len(labels), scheme))


@law
@given(corpora(), st.integers(0, 999))
def test_neighbours_are_settled_as_by_loops(corpus, seed):
    if corpus.scheme == "plain" or "O" not in corpus.label_set:
        return
    names, rng = corpus.label_set.names, np.random.default_rng(seed)
    table = VoteTable(corpus)
    labels = rng.integers(table.n_labels, size=table.n_tokens)
    found = without_neighbours(labels, table)
    for s, sentence in enumerate(corpus):
        lo, hi = corpus.bounds[s : s + 2]
        row = [names[k] for k in labels[lo:hi]]
        expected = settled_by_loop(row, sentence, corpus.scheme, table.abstains.all())
        if set(expected) <= set(names):
            mine = [names[k] for k in found[lo:hi]]
            assert spans(mine, corpus.scheme) == spans(expected, corpus.scheme)


def test_parts_that_nobody_marked_go_and_as_good_a_whole_wins():
    votes = [
        [("B-X", "O"), ("I-X", "B-X"), ("O", "I-X")],
        [("B-X", "B-X"), ("B-X", "I-X"), ("O", "O")],
    ]
    labels = np.array([0, 0, 1, 0, 0, 2])  # B B I, B B O
    people, sources = table_of(votes), table_of(votes, abstaining="ab")
    assert without_neighbours(labels, people).tolist() == [0, 0, 1, 0, 1, 2]
    assert without_neighbours(labels, sources).tolist() == [2, 0, 1, 0, 1, 2]


@law
@given(corpora(exact=True))
def test_sources_confine_types_and_the_union_is_what_was_said(corpus):
    table, names = VoteTable(corpus), corpus.label_set.names
    said = [set[int]() for _ in range(table.n_tokens)]
    people, looked = [False] * table.n_tokens, [False] * table.n_tokens
    for one in cast(table):
        looked[one.token] = True
        people[one.token] |= not table.abstains[one.annotator]
        if not one.silent:
            said[one.token] |= set(one.labels)
    free = confined(np.zeros((table.n_tokens, table.n_labels)), table) == 0
    union = union_evidence(table) == 0
    plain = corpus.scheme == "plain"
    for n in range(table.n_tokens):
        types = {names[k].partition("-")[2] for k in said[n]}
        open_ = people[n] or not looked[n] or table.exact[n] >= 0
        for k, name in enumerate(names):
            if not plain:
                outside = not spans([name], corpus.scheme)
                named = outside or name.partition("-")[2] in types
                assert free[n, k] == (open_ or named)
            there = said[n] | ({table.outside} if table.abstains.any() else set())
            expected = k in there or not there - {-1}
            if table.exact[n] >= 0:
                expected = k == table.exact[n]
            assert union[n, k] == expected


def test_labels_that_are_known_exactly_stay(monkeypatch):
    votes = [[("B-X", "B-X"), ("B-X", "I-X")]]
    table = table_of(votes)
    corpus = replace(table.corpus, exact_codes=np.array([-1, 0]))
    from tagsift.annotators import whole_spans

    class Text:
        def best(self, evidence):
            return np.array([0, 0])

    found = whole_spans.settled(Text(), np.zeros((2, 3)), VoteTable(corpus))
    assert found.tolist() == [0, 0]
