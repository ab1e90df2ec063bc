"""The tables of annotators, the evidence of votes and the judge, against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from tagsift.annotators import VoteTable
from tagsift.annotators.confusion import confusion_tables, count_votes, vote_evidence
from tagsift.annotators.initialise import first_tables, vote_shares
from tagsift.annotators.kinds import context_ratio
from tagsift.annotators.mace import mace
from tagsift.annotators.vote_weight import (
    WeightLimits,
    choose_weight,
    judge_score,
    least_weight,
    preferred_weight,
)
from tests.reference.annotators import cast, table_of
from tests.reference.corpora import corpora, law


@law
@given(corpora(exact=True), st.integers(0, 999))
def test_counts_and_evidence_are_those_of_loops(corpus, seed):
    rng, table = np.random.default_rng(seed), VoteTable(corpus)
    q = rng.dirichlet(np.ones(table.n_labels), table.n_tokens)
    shape = (table.n_annotators, table.n_labels, table.n_contexts, table.n_labels)
    counts, evidence = np.zeros(shape), np.zeros_like(q)
    for one in cast(table):
        weight = 5.0 if table.exact[one.token] >= 0 else 1.0
        for v in one.labels:
            cell = counts[one.annotator, :, one.before, v]
            cell += weight * q[one.token] / len(one.labels)
    np.testing.assert_allclose(count_votes(q, table), counts, atol=1e-12)
    log_pi = confusion_tables(counts, table.abstains)
    np.testing.assert_allclose(np.exp(log_pi).sum(axis=3), 1.0)
    weights = rng.random(table.n_annotators)
    for one in cast(table):
        rows = log_pi[one.annotator, :, one.before][:, one.labels]
        evidence[one.token] += weights[one.annotator] * logsumexp(rows, axis=1)
    found = vote_evidence(log_pi, table, weights)
    np.testing.assert_allclose(found, evidence, atol=1e-10)


@pytest.fixture
def table():
    """Two people, who leave out some tokens, and a rule."""
    rng = np.random.default_rng(3)
    votes = rng.integers(3, size=(14, 3))
    votes[rng.random(votes.shape) < [0.2, 0.2, 0]] = -1
    return table_of(votes, abstaining="c")


def test_whoever_labelled_nothing_is_judged_like_the_others():
    counts = np.zeros((2, 2, 1, 2))
    counts[0] = np.array([[80.0, 20.0], [10.0, 90.0]])[:, None]
    log_pi = confusion_tables(counts, np.zeros(2, dtype=bool))
    np.testing.assert_allclose(
        np.exp(log_pi[1, :, 0]), [[0.8, 0.2], [0.1, 0.9]], atol=0.02
    )


def test_tables_of_models_are_averaged_with_those_without_context(table):
    counts = count_votes(vote_shares(table), table)
    context = confusion_tables(counts, table.abstains)
    plain = confusion_tables(counts, table.abstains, context=0.0)
    for a, kind in ((0, [0, 1]), (1, [0, 1]), (2, [2])):
        for y in range(3):
            pooled = counts[kind][:, y].sum(axis=(0, 1)) + 0.1 + 2.0 * np.eye(3)[y]
            own = counts[a, y].sum(axis=0) + 20 * pooled / pooled.sum()
            for b in range(counts.shape[2]):
                np.testing.assert_allclose(np.exp(plain[a, y, b]), own / own.sum())
    third = confusion_tables(counts, table.abstains, context=1 / 3)
    np.testing.assert_allclose(third, context / 3 + plain * 2 / 3)
    one = confusion_tables(counts, table.abstains, context=np.array([1, 1 / 3, 1]))
    np.testing.assert_allclose(one, [context[0], third[1], context[2]])
    evidence = [vote_evidence(pi, table) for pi in (context, plain)]
    expected = evidence[0] / 3 + evidence[1] * 2 / 3
    np.testing.assert_allclose(vote_evidence(third, table), expected)


def test_votes_that_the_text_knows_token_by_token_are_those_of_models():
    rng = np.random.default_rng(5)
    plain = 3.0 * rng.normal(size=(300, 3))
    text = np.exp(0.4 * plain + 0.5 * rng.normal(size=(300, 3)))
    text /= text.sum(axis=1, keepdims=True)
    ratio = []
    for blur in (0.0, 0.5, 0.75, 3.0):
        context = plain + blur * rng.normal(size=(300, 3))
        apart = []
        for e in (context, plain):
            temper = preferred_weight(text, e)
            prior = np.log(text.mean(axis=0))
            total = 0.0
            for q, row in zip(text, temper * e + prior, strict=True):
                said = row - logsumexp(row)
                total += sum(q * (np.log(q) - said))
            apart.append(total)
        ratio.append(apart[0] / apart[1])
        assert context_ratio(text, context, plain) == pytest.approx(ratio[-1])
    assert ratio[0] == 1.0 and ratio == sorted(ratio)


def test_sources_that_abstain_are_counted_once(table):
    shares = vote_shares(table)
    counts = count_votes(mace(table, shares), table)
    once = confusion_tables(counts, table.abstains)
    found = first_tables(shares, table, n_steps=2)
    np.testing.assert_allclose(found[2], once[2])
    assert not np.allclose(found[0], once[0])
    np.testing.assert_allclose(first_tables(shares, table), once)  # few tokens


def test_the_judge_finds_the_temper_that_made_the_text():
    rng = np.random.default_rng(1)
    e = 6.0 * rng.normal(size=(4000, 3))
    text = np.exp(0.5 * e)
    text /= text.sum(axis=1, keepdims=True)
    voted = np.ones(4000, dtype=bool)
    weight, score = choose_weight(text, e, voted, WeightLimits(0.3, 0.25))
    assert weight == pytest.approx(0.5, abs=0.051)
    assert score >= judge_score(text, e, 0.25)
    assert choose_weight(text, e, voted, WeightLimits(0.3, 0.9))[0] == 0.9
    assert choose_weight(text, e, ~voted, WeightLimits(0.3, 0.4)) == (0.4, 0.0)


def test_a_text_that_knows_much_takes_votes_at_most_at_the_given_weight():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=400)  # [N]
    text = np.where(np.eye(3)[truth] > 0, 0.96, 0.02)  # [N, L]
    evidence = np.log(np.where(np.eye(3)[truth] > 0, 0.6, 0.2))  # [N, L]
    voted = np.ones(400, dtype=bool)
    free, _ = choose_weight(text, evidence, voted, WeightLimits(0.3, 0.25))
    assert free > 0.3
    limits = WeightLimits(0.3, 0.25, 0.3)
    assert choose_weight(text, evidence, voted, limits)[0] == 0.3


@pytest.mark.parametrize(
    ("weights", "kind", "limits"),  # before any text, and least later
    [
        ([1.0, 1.0], "person", (0.55, 0.55)),  # two votes a token
        ([0.5, 0.5], "person", (0.6, 0.6)),  # copies count as one
        ([0.9] * 4, "unknown", (1.1 / 3.6, 1.1 / 3.6)),
        ([1.0] * 6, "person", (0.3, 0.25)),  # many, as in large crowds
        ([1.0] * 3, "model", (0.7, 0.7)),
        ([1.0] * 6, "model", (0.35, 0.35)),
        ([1.0, 1.0], "source", (0.65, 0.65)),
        ([1.0] * 13, "source", (0.1, 0.1)),  # 1.3 votes' worth, however many repeat it
    ],
)
def test_the_fewer_votes_on_a_token_the_more_each_is_worth(weights, kind, limits):
    names = "abcdefghijklm"[: len(weights)]
    votes = np.repeat([[1], [0], [-1]], len(weights), axis=1)
    table = table_of(votes, names=names, abstaining=names * (kind == "source"))
    people = tuple(replace(one, kind=kind) for one in table.corpus.annotators)
    table = VoteTable(replace(table.corpus, annotators=people))
    found = WeightLimits.of(table, np.array(weights))
    assert (found.first, found.least) == pytest.approx(limits)
    assert WeightLimits.of(table, np.array(weights), True).most == found.first


@pytest.mark.parametrize("found", [0.0, 0.25, 0.4, 0.5, 0.6, 1.0])
@pytest.mark.parametrize("least", [0.2, 0.6, 1.3])
def test_votes_weigh_more_beside_a_text_that_finds_few_rare_labels(found, least):
    """Twenty spans, of which the text finds some: (½ / share)² times, at most four."""
    said = np.repeat([2, 0], [80, 20])  # [N]  O, and 20 spans
    heard = said.copy()
    heard[80 + round(20 * found) :] = 2  # the text says O of the rest
    text = np.where(np.eye(3)[heard] > 0, 0.9, 0.05)  # [N, L]
    evidence = np.where(np.eye(3)[said] > 0, 20.0, 0.0)  # [N, L]
    by_chance = (0.9 * 20 * found + 0.05 * (100 - 20 * found)) / 100
    share = (found - by_chance) / (1 - by_chance)
    more = (0.5 / min(max(share, 0.25), 0.5)) ** 2
    expected = max(least, min(least * more, 1.2))
    assert least_weight(text, evidence, least) == pytest.approx(expected)
    assert least_weight(text[said == 2], evidence[said == 2], least) == least
