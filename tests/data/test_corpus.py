"""Laws of a corpus: views and counting, beside slow twins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsift.data.annotators import Annotator
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import spans, tags
from tagsift.data.span_table import span_table, tag_codes, types_of
from tagsift.errors import InputError
from tagsift.io.columns import read_columns, write_columns
from tests.reference.corpora import (
    TAGS,
    corpora,
    law,
    said,
    type_of,
    votes_of,
    with_votes,
)


def slow_majority(corpus: Corpus) -> tuple[list[list[str]], list[list[bool]]]:
    """Majority vote on types, then bounds, by loops."""
    scheme = corpus.scheme
    plain = scheme == "plain"

    def shares(vote: Any) -> Counter[str]:
        names = [vote] if isinstance(vote, str) else list(vote)
        kinds: Counter[str] = Counter()
        for name in names:
            kinds[name if plain else type_of(name, scheme)] += 1 / len(names)
        return kinds

    tokens: Counter[str] = Counter()
    counts: list[list[Counter[str]]] = []
    for s, sentence in enumerate(corpus):
        counts.append([])
        for t in range(len(sentence)):
            total: Counter[str] = Counter()
            for vote in said(corpus, s, t).values():
                total.update(shares(vote))
            counts[-1].append(total)
            tokens.update(list(total))
    quiet = {one.name for one in corpus.annotators if one.abstains}
    order = sorted(corpus.label_set) if plain else ["X", "Y"]

    def rank(kind: str) -> tuple[bool, int, int]:
        place = order.index(kind) if kind in order else len(order)
        return kind == "O", -tokens[kind], place

    silent = "O" if "O" in corpus.label_set else min(order, key=rank)
    labels, ties = [], []
    for s, sentence in enumerate(corpus):
        kinds, tied = [], []
        for total in counts[s]:
            most = max(total.values(), default=0)
            best = [k for k, n in total.items() if abs(n - most) < 1e-9]
            kinds.append(min(best, key=rank) if best else silent)
            tied.append(len(best) > 1)
        ties.append(tied)
        if plain:
            labels.append(kinds)
            continue
        chunks: list[tuple[str, int, int]] = []
        for t, kind in enumerate(kinds):
            if kind == "O":
                continue
            began = voters = 0
            for name, row in sentence.votes.items():
                vote = row[t]
                if name in quiet or not isinstance(vote, str):
                    continue
                if type_of(vote, scheme) != kind:
                    continue
                before = row[t - 1] if t else None
                lead = before if isinstance(before, str) else "O"
                voters += 1
                begins = {x.start for x in spans([lead, vote], scheme)}
                began += 1 in begins
            goes_on = t > 0 and kinds[t - 1] == kind and not 2 * began > voters
            if goes_on:
                name_, first, _ = chunks.pop()
                chunks.append((name_, first, t + 1))
            else:
                chunks.append((kind, t, t + 1))
        labels.append(tags(chunks, len(kinds), scheme))
    return labels, ties


@law
@given(corpora())
def test_majority_is_that_of_loops(corpus: Corpus):
    if not len(corpus.votes.code):
        with pytest.raises(InputError, match="at least one vote"):
            corpus.majority()
        return
    found = corpus.majority()
    labels, ties = slow_majority(corpus)
    assert found.labels == labels
    assert found.ties == ties


@law
@given(corpora(), st.randoms(use_true_random=False))
def test_order_of_annotators_and_sentences_changes_nothing_else(
    corpus: Corpus, random: Any
):
    if not len(corpus.votes.code):
        return
    order = list(range(len(corpus)))
    random.shuffle(order)
    found = corpus.majority().labels
    assert corpus.take(order).majority().labels == [found[s] for s in order]
    names = [one.name for one in corpus.annotators]
    random.shuffle(names)
    people = {one.name: one for one in corpus.annotators}
    turned = with_votes(
        corpus, votes_of(corpus), annotators=[people[name] for name in names]
    )
    assert turned.majority().labels == found


@law
@given(corpora(), st.integers(1, 3))
def test_tallies_and_unions_are_those_of_loops(corpus: Corpus, least: int):
    union, full, n = corpus.union(least), corpus.label_set.full, 0
    assert union.annotators == corpus.annotators and not len(union.votes.token)
    for s, sentence in enumerate(corpus):
        for t in range(len(sentence)):
            cast = [row[t] for row in sentence.votes.values() if row[t] is not None]
            cast = [[vote] if isinstance(vote, str) else sorted(vote) for vote in cast]
            said = Counter("|".join(vote) for vote in cast)
            order = sorted(said.items(), key=lambda pair: (-pair[1], pair[0]))
            assert list(corpus.tally(n).items()) == order
            text = " ".join(f"{name}:{times}" for name, times in order)
            assert corpus.tally_text(n) == (text or "-")
            counts = Counter(name for vote in cast for name in vote)
            most = min(least, max(counts.values(), default=0))
            names = {name for name, times in counts.items() if times >= most}
            assert union.candidates[s][t] == (names or full)  # type: ignore[index]
            n += 1


@law
@given(corpora())
def test_views_say_the_same(corpus: Corpus):
    assert with_votes(corpus, votes_of(corpus)) == corpus
    assert corpus[:] == corpus == corpus.take(range(len(corpus)))
    first = corpus.annotators[0].name
    alone = corpus.select(annotators=[first])
    assert [one.votes for one in alone] == [
        {k: v for k, v in one.votes.items() if k == first} for one in corpus
    ]
    twice = corpus.take([0, 0])
    assert twice[0].votes == twice[1].votes == corpus[0].votes
    assert twice.gold == [corpus.gold[0]] * 2  # type: ignore[index]
    assert len(repr(corpus)) < 150 and len(repr(corpus[0])) < 100


@law
@given(corpora(schemes=["iob2", "plain"], least=1))
def test_columns_read_back_equal(tmp_path_factory: Any, corpus: Corpus):
    if not len(corpus.votes.code):
        return
    path = Path(tmp_path_factory.mktemp("columns")) / "votes.tsv"
    write_columns(path, corpus)
    width = 2 + len(corpus.annotators)
    columns = ["token", "pos", *["vote"] * (width - 2), "gold"]
    again = read_columns(
        path, columns=columns, scheme=corpus.scheme, labels=corpus.label_set
    )
    names = {f"w{a:02d}": one for a, one in enumerate(corpus.annotators)}
    assert [one.votes for one in again] == [
        {
            code: one.votes[person.name]
            for code, person in names.items()
            if any(v is not None for v in one.votes.get(person.name, []))
        }
        for one in corpus
    ]
    assert again.gold == corpus.gold and again.columns == corpus.columns
    assert again.annotators == tuple(map(Annotator, names))


@law
@given(st.sampled_from(list(TAGS)), st.data())
def test_spans_as_arrays_are_those_of_lists(scheme: str, data: Any):
    names = sorted(TAGS[scheme])
    rows = data.draw(
        st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=6), max_size=4)
    )
    flat = [name for row in rows for name in row]
    codes = np.array([names.index(name) for name in flat], dtype=np.int64)
    first = np.array([t == 0 for row in rows for t in range(len(row))], dtype=bool)
    table = span_table(codes, first, names, scheme)
    types, _ = types_of(names, scheme)
    at, slow = 0, []
    for row in rows:
        slow += [(x.start + at, x.end + at, x.type) for x in spans(row, scheme)]
        at += len(row)
    where = zip(*(part.tolist() for part in table), strict=True)
    assert [(a, b, types[k]) for a, b, k in where] == slow
    back, written = tag_codes(table, first, types, scheme)
    expected = [
        tag for row in rows for tag in tags(spans(row, scheme), len(row), scheme)
    ]
    assert [written[k] for k in back] == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"votes": {"ann": [["A"]]}}, "votes of ann for every token"),
        ({"votes": {"ann": [[1, "A"]]}}, "expected a label"),
        ({"votes": {"ann": [[frozenset(), "A"]]}}, "an empty set"),
        ({"gold": [["A"]]}, "gold labels for every token"),
        ({"annotators": ["bob"]}, "votes of bob, found votes of 'ann'"),
        ({"label_set": ["B"]}, "expected one of the 1 labels"),
        ({"scheme": "bio"}, "expected scheme to be one of"),
    ],
)
def test_what_is_no_corpus_is_refused(change: dict[str, Any], message: str):
    usual = {"votes": {"ann": [["A", None]]}}
    with pytest.raises(InputError, match=message):
        Corpus.from_lists([["x", "y"]], **{**usual, **change})


def test_nothing_can_be_changed():
    corpus = Corpus.from_lists([["x", "y"]], [["A", {"A", "B"}]])
    with pytest.raises(ValueError, match="read-only"):
        corpus.candidate_codes[0] = 1  # type: ignore[index]
    assert corpus.candidates == [[frozenset("A"), frozenset("AB")]]
    assert corpus.n_ambiguous == 1
    with pytest.raises(InputError, match="one label per token"):
        _ = corpus.labels


def test_a_notebook_shows_spans_in_lanes_and_nothing_unescaped():
    word, name = "<script>", "<b>eve</b>"
    corpus = Corpus.from_lists(
        [[word, "York", "fell"]],
        votes={name: [["B-<i>", "I-<i>", "O"]], "bo": [[{"B-<i>", "O"}, None, "O"]]},
        gold=[["O", "B-<i>", "O"]],
    )
    page = corpus._repr_html_()
    assert not any(text in page for text in (word, name, "<i>"))
    assert "&lt;script&gt;" in page and 'colspan="2"' in page
    assert page.count("<tr>") == 4  # words, two annotators, the truth
