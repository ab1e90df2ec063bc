"""Sampling: the truth stays inside, and the sizes have the distribution they should."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tagsift.data import LabelSet, bundled, corrupt
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError
from tagsift.io import read_columns


def plain_corpus(sentences: list[list[str]]) -> Corpus:
    return Corpus.from_lists(
        [["w"] * len(s) for s in sentences],
        sentences,
        label_set=sorted({label for row in sentences for label in row}) or ["A"],
        scheme="plain",
    )


def sizes(partial: Corpus) -> Counter[int]:
    return Counter(len(c) for sentence in partial.candidates for c in sentence)


def expected_sizes(n_labels: int, cl: int) -> dict[int, float]:
    """Distribution of the size of a set, by writing out all draws of the negatives.

    All ``(n_labels - 1) ** (cl - 1)`` ordered draws with replacement are equally
    likely; the set is the truth and the distinct negatives among them.
    """
    draws = list(itertools.product(range(n_labels - 1), repeat=cl - 1))
    counts = Counter(1 + len(set(draw)) for draw in draws)
    return {size: count / len(draws) for size, count in counts.items()}


def test_expected_sizes_by_hand() -> None:
    """Three labels, cl = 4: three draws of two negatives agree in 2 of 8 cases."""
    assert expected_sizes(3, 4) == {2: 0.25, 3: 0.75}
    assert expected_sizes(9, 2) == {2: 1.0}


@pytest.mark.parametrize(("n_labels", "cl"), [(3, 4), (3, 3), (9, 3), (22, 4), (2, 4)])
def test_sizes_of_the_lists(n_labels: int, cl: int) -> None:
    labels = [f"L{i:02d}" for i in range(n_labels)]
    corpus = plain_corpus([[labels[i % n_labels] for i in range(10_000)]])
    partial = corrupt(corpus, cl=cl, random_state=1)
    wanted = expected_sizes(n_labels, cl)
    found = sizes(partial)
    assert set(found) <= set(wanted)
    order = sorted(wanted)
    chances = [10_000 * wanted[size] for size in order]
    test = stats.chisquare([found[size] for size in order], chances)
    assert len(order) == 1 or test.pvalue > 1e-3


def test_negatives_are_uniform() -> None:
    """With cl = 2 the one negative is each other label equally often."""
    labels = [f"L{i}" for i in range(9)]
    corpus = plain_corpus([["L4"] * 10_000])
    partial = corrupt(corpus, cl=2, labels=labels, random_state=2)
    counts = Counter(min(c - {"L4"}) for c in partial.candidates[0])
    assert set(counts) == set(labels) - {"L4"}
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("r", [0.05, 0.75])
def test_sizes_of_the_flips(r: float) -> None:
    """Every negative by itself with chance r: the size is one and a binomial number."""
    labels = [f"L{i}" for i in range(9)]
    corpus = plain_corpus([["L3"] * 10_000])
    partial = corrupt(corpus, r=r, labels=labels, random_state=3)
    found = sizes(partial)
    flips = np.arange(9)
    chances = stats.binom.pmf(flips, 8, r)
    keep = 10_000 * chances >= 5
    seen = np.array([found[1 + k] for k in flips])
    observed = np.append(seen[keep], seen[~keep].sum())
    expected = np.append(chances[keep], chances[~keep].sum()) * 10_000
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize(
    ("p", "n", "exact"),
    [(0.0, 10, 0), (0.1, 10, 1), (0.3, 7, 2), (0.5, 5, 2), (0.5, 7, 4), (1.0, 6, 6)],
)
def test_exactly_so_many_sequences_stay_exact(p: float, n: int, exact: int) -> None:
    """Round half to even: 2.5 gives 2, 3.5 gives 4."""
    corpus = plain_corpus([["A", "B"]] * n)
    partial = corrupt(corpus, cl=2, p=p, labels=["A", "B", "C"])
    kept = [all(len(c) == 1 for c in sentence) for sentence in partial.candidates]
    mixed = [any(len(c) == 1 for c in sentence) for sentence in partial.candidates]
    assert sum(kept) == exact
    assert kept == mixed


def test_the_same_seed_gives_the_same_sets_and_larger_p_keeps_more() -> None:
    corpus = plain_corpus([["A", "B", "C"]] * 40)
    low = corrupt(corpus, cl=3, p=0.1, random_state=5)
    assert low == corrupt(corpus, cl=3, p=0.1, random_state=5)
    assert low == corrupt(corpus, cl=3, p=0.1, random_state=np.random.default_rng(5))
    assert low.candidates != corrupt(corpus, cl=3, p=0.1, random_state=6).candidates
    high = corrupt(corpus, cl=3, p=0.5, random_state=5)
    exact = [{g} for g in corpus.labels[0]]
    for fewer, more in zip(low.candidates, high.candidates, strict=True):
        assert more == fewer or more == exact
        assert fewer != exact or more == exact


def test_a_fold_draws_from_the_whole_label_set() -> None:
    fold = plain_corpus([["A", "A"]] * 50)
    whole = LabelSet(("C", "B", "A"))
    partial = corrupt(fold, cl=4, labels=whole)
    assert partial.label_set is whole
    seen = frozenset().union(*(c for s in partial.candidates for c in s))
    assert seen == {"A", "B", "C"}


def test_what_else_is_known_of_the_labels_is_not_handed_on() -> None:
    corpus = bundled("ner")[:5]
    told = replace(corpus.with_exact(corpus.labels), weights=np.ones((60, 9)))
    hidden = corrupt(told, cl=3)
    assert hidden == corrupt(corpus, cl=3)
    assert hidden.exact is None and hidden.weights is None
    assert hidden.gold == corpus.labels


def test_labels_that_a_part_does_not_use_are_no_candidates() -> None:
    """A part of a corpus keeps its label set; the draws are those of its own labels."""
    part = plain_corpus([["A", "B"], ["C", "C"]])[:1]
    assert part.label_set.names == ("A", "B", "C")
    assert corrupt(part, r=1.0).label_set.names == ("A", "B")


@settings(max_examples=80, derandomize=True)
@given(
    st.lists(st.lists(st.sampled_from("ABCD"), max_size=5), max_size=8),
    st.integers(1, 5),
    st.floats(0, 1),
    st.floats(0, 1) | st.none(),
    st.integers(0, 5),
)
def test_the_truth_stays_inside(
    sentences: list[list[str]], cl: int, p: float, r: float | None, seed: int
) -> None:
    corpus = plain_corpus(sentences)
    partial = corrupt(
        corpus,
        cl=cl if r is None else None,
        r=r,
        p=p,
        random_state=seed,
        labels="ABCD",
    )
    assert partial.gold == corpus.labels
    assert partial.rows == corpus.rows
    for labels, sets in zip(corpus.labels, partial.candidates, strict=True):
        assert all(g in c for g, c in zip(labels, sets, strict=True))
        assert all(r is not None or len(c) <= cl for c in sets)
    exact = sum(all(len(c) == 1 for c in s) for s in partial.candidates)
    assert exact >= round(p * len(sentences))


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({}, "expected either cl or r, found neither"),
        ({"cl": 2, "r": 0.1}, "expected either cl or r, found both"),
        ({"cl": 0}, "whole number of at least 1, found 0"),
        ({"cl": 2.5}, "whole number of at least 1, found 2.5"),
        ({"cl": True}, "whole number of at least 1, found True"),
        ({"cl": 2, "p": 1.5}, r"expected p to lie in \[0, 1\], found 1.5"),
        ({"cl": 2, "p": float("nan")}, "found nan"),
        ({"r": -0.1}, r"expected r to lie in \[0, 1\], found -0.1"),
        ({"cl": 2, "labels": ["A"]}, "sentence 0, token 1: .*found 'B'"),
    ],
)
def test_refusals(settings_: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        corrupt(plain_corpus([["A", "B"]]), **settings_)  # type: ignore[arg-type]


def test_one_label_has_no_negatives() -> None:
    corpus = plain_corpus([["A", "A"]])
    with pytest.raises(InputError, match="at least 2 labels to draw negatives"):
        corrupt(corpus, cl=2)
    assert corrupt(corpus, cl=1).n_ambiguous == 0
    assert corrupt(corpus, r=1.0).n_ambiguous == 0


def test_base_np_with_four_candidates(corpora: Path) -> None:
    """Three labels, cl = 4: a quarter of the sets has two members, the rest all."""
    corpus = read_columns(corpora / "basenp" / "train.conll")[:500]
    partial = corrupt(corpus, cl=4, p=0.1)
    assert corpus.label_set.names == ("B", "I", "O")
    assert partial.scheme == "iob1"
    exact = [all(len(c) == 1 for c in s) for s in partial.candidates]
    assert sum(exact) == 50
    found = sizes(partial)
    assert found[2] / (found[2] + found[3]) == pytest.approx(0.25, abs=0.02)
    pairs = zip(partial.gold or [], partial.candidates, strict=True)
    assert all(g in c for gs, cs in pairs for g, c in zip(gs, cs, strict=True))


def test_absurd_lengths_are_refused_and_long_ones_end_early() -> None:
    corpus = plain_corpus([["A", "B", "C"]])
    with pytest.raises(InputError, match="at most 10000, found 2000000000"):
        corrupt(corpus, cl=2_000_000_000)
    assert sizes(corrupt(corpus, cl=10_000)) == {3: 3}
