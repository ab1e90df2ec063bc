"""Laws of a corpus: views, counting and agreement, beside slow twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagsift.data.annotators import Annotator
from tagsift.data.column_corpus import read_columns, write_columns
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import spans, tags
from tagsift.data.span_table import span_table, tag_codes, types_of
from tagsift.errors import InputError

TAGS = {
    "iob1": ("B-X", "I-X", "I-Y", "B-Y", "O"),
    "iob2": ("B-X", "I-X", "B-Y", "I-Y", "O"),
    "iobes": ("B-X", "I-X", "E-X", "S-X", "S-Y", "B-Y", "E-Y", "O"),
    "plain": ("NN", "VB", "O"),
}


@st.composite
def corpora(draw: Any, schemes: Sequence[str] = tuple(TAGS)) -> Corpus:
    """Votes of annotators who each label some of the sentences, sets among them."""
    scheme = draw(st.sampled_from(schemes))
    names = TAGS[scheme]
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    label = st.sampled_from(names)
    vote = st.one_of(label, label, label, st.frozensets(label, min_size=2, max_size=2))
    people = draw(st.integers(1, 5))
    votes = {}
    for a in range(people):
        votes[f"a{a}"] = [
            draw(
                st.one_of(
                    st.none(),
                    st.lists(st.one_of(vote, st.none()), min_size=n, max_size=n),
                )
            )
            for n in lengths
        ]
    rows = [[(f"w{s}.{t}", "POS") for t in range(n)] for s, n in enumerate(lengths)]
    quiet = draw(st.lists(st.booleans(), min_size=people, max_size=people))
    return Corpus.from_lists(
        rows,
        votes=votes,
        annotators=[
            Annotator(n, abstains=q) for n, q in zip(votes, quiet, strict=True)
        ],
        gold=[[draw(label) for _ in range(n)] for n in lengths],
        label_set=sorted(names),
        scheme=scheme,
    )


def said(corpus: Corpus, s: int, t: int) -> dict[str, Any]:
    """What annotators say of a token, by name; the `O` of who abstains is nothing."""
    quiet = {one.name for one in corpus.annotators if one.abstains}
    heard = {name: row[t] for name, row in corpus[s].votes.items()}
    return {
        name: vote
        for name, vote in heard.items()
        if vote is not None and not (vote == "O" and name in quiet)
    }


def type_of(tag: str, scheme: str) -> str:
    found = spans([tag], scheme)
    return found[0].type if found else "O"


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

    labels, ties = [], []
    for s, sentence in enumerate(corpus):
        kinds, tied = [], []
        for total in counts[s]:
            most = max(total.values(), default=0)
            best = [k for k, n in total.items() if abs(n - most) < 1e-9]
            kinds.append(min(best, key=rank) if best else "O")
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
    turned = Corpus.from_lists(
        corpus.rows,
        votes={name: [one.votes.get(name) for one in corpus] for name in names},
        annotators=[people[name] for name in names],
        label_set=corpus.label_set,
        scheme=corpus.scheme,
    )
    assert turned.majority().labels == found
    assert turned.agreement().krippendorff_alpha == pytest.approx(
        corpus.agreement().krippendorff_alpha, nan_ok=True
    )


@given(corpora())
def test_views_say_the_same(corpus: Corpus):
    again = Corpus.from_lists(
        corpus.rows,
        votes={
            one.name: [s.votes.get(one.name) for s in corpus]
            for one in corpus.annotators
        },
        annotators=corpus.annotators,
        gold=corpus.gold,
        label_set=corpus.label_set,
        scheme=corpus.scheme,
    )
    assert again == corpus
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


@given(corpora(schemes=["iob2", "plain"]))
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


@given(corpora())
def test_agreement_is_that_of_pairs(corpus: Corpus):
    found = corpus.agreement()
    equal: Counter[tuple[str, str]] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    hits: Counter[tuple[str, str]] = Counter()
    size: Counter[tuple[str, str]] = Counter()
    cast = 0
    for s, sentence in enumerate(corpus):
        for t in range(len(sentence)):
            single = {n: v for n, v in said(corpus, s, t).items() if isinstance(v, str)}
            cast += len(single)
            for pair in combinations(sorted(single), 2):
                shared[pair] += 1
                equal[pair] += single[pair[0]] == single[pair[1]]
        chunks = {
            name: set(
                spans([v if isinstance(v, str) else "O" for v in row], corpus.scheme)
            )
            for name, row in sentence.votes.items()
            if any(v is not None for v in row)
        }
        for pair in combinations(sorted(chunks), 2):
            hits[pair] += len(chunks[pair[0]] & chunks[pair[1]])
            size[pair] += len(chunks[pair[0]]) + len(chunks[pair[1]])
    assert found.votes_per_token == pytest.approx(cast / corpus.n_tokens)
    assert {(p.first, p.second): p.shared for p in found.pairs} == shared
    for pair in found.pairs:
        key = pair.first, pair.second
        assert pair.agreement == pytest.approx(equal[key] / shared[key])
        f1 = 2 * hits[key] / size[key] if size[key] else float("nan")
        assert pair.span_f1 == pytest.approx(f1, nan_ok=True)


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
